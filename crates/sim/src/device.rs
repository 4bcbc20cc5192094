//! One drive at work: planes that run one operation each, arrays and buses that they share, and the
//! clock over all of them.
//!
//! A plane is busy with an operation from its start to its end, because its one register is: a read
//! senses on the die's array, then moves its data out over the channel's bus; a program moves its
//! data in, then works on the array; an erase needs the array alone. Arrays and buses are serial,
//! and take whoever waits first by (class, arrival). A plane offers only its first operation, so
//! operations of one class are served in order within a plane. A program is bound to its page when
//! its transfer begins: from there to the array nothing can come between in that plane.

use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::probe::{Event, Probe};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use thiserror::Error;
use wordline_device::{DeviceSpec, HostLink, ParallelUnit};
use wordline_flash::Geometry;
use wordline_ftl::{
    Binding, Class, Drive, Effect, Fault, Ftl, Media, OpId, OpKind, Outcome, Refusal, RequestError,
    RequestId, Scheme, Timer,
};
use wordline_units::{DieId, HostOp, HostRequest, PlaneId, SimDuration, SimTime};

const NOTHING: u64 = u64::MAX;

/// A request that has ended.
#[derive(Clone, Debug)]
pub struct Completion {
    /// Its number, counted from 0 in the order of submission.
    pub number: u64,
    /// What was asked, with the time it arrived.
    pub request: HostRequest,
    /// When it ended.
    pub at: SimTime,
    /// How it ended.
    pub outcome: Outcome,
    /// What a read found, sector by sector, where media keep bytes.
    pub data: Vec<u8>,
}

/// Why a device cannot go on.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeviceError {
    /// A request that it cannot take.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A request submitted for a time that has passed.
    #[error("request {number} is submitted for {} ns, but the device is at {} ns", at.0, now.0)]
    Late {
        /// Its number.
        number: u64,
        /// The time given.
        at: SimTime,
        /// The device's time.
        now: SimTime,
    },
    /// An illegal decision, or an internal fault.
    #[error(transparent)]
    Fault(Fault),
    /// Requests are outstanding and nothing can happen any more.
    #[error("{outstanding} requests can never complete: nothing is pending at {} ns; please report it", now.0)]
    Stuck {
        /// How many.
        outstanding: u32,
        /// Since when.
        now: SimTime,
    },
}

#[derive(Clone, Debug)]
struct Plane {
    head: [OpId; Class::COUNT],
    tail: [OpId; Class::COUNT],
    /// A bit for each class with an operation waiting.
    queued: u8,
    /// The operation that has the plane.
    current: OpId,
    array: u32,
    channel: u32,
    die: DieId,
    medium: u32,
    /// Programs that found no slot, in the order they came.
    waiting: VecDeque<OpId>,
}

/// A serial resource that some neighbouring planes share.
#[derive(Clone, Debug)]
struct Shared {
    busy: OpId,
    first: u32,
    count: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Alarm {
    Pad(u32),
    Idle(u64),
}

/// A drive under a scheme, with a probe that watches it and media that keep its data.
pub struct Device<P: Probe, M: Media> {
    /// The translation layer.
    pub ftl: Ftl<M>,
    /// What watches the flash.
    pub probe: P,
    /// What is measured of the requests.
    pub metrics: Metrics,
    geometry: Geometry,
    planes: Vec<Plane>,
    arrays: Vec<Shared>,
    buses: Vec<Shared>,
    /// What each plane wants of its array and of its bus: an operation's key, or [`NOTHING`].
    wants_array: Vec<u64>,
    wants_bus: Vec<u64>,
    /// Bus time by medium and sectors moved.
    transfer: Vec<Vec<u64>>,
    command_program: Vec<u64>,
    clock: Clock,
    now: SimTime,
    link: HostLink,
    link_is_free: bool,
    link_free_at: SimTime,
    link_queue: VecDeque<(SimTime, RequestId)>,
    alarms: BinaryHeap<Reverse<(SimTime, u64, Alarm)>>,
    pads: Vec<Timer>,
    free_pads: Vec<u32>,
    alarm_count: u64,
    held_up: VecDeque<(HostRequest, u64, Vec<u8>)>,
    ready: VecDeque<Completion>,
    submitted: u64,
    effects: Vec<Effect>,
    ended: Vec<RequestId>,
    idle: bool,
    idle_after: SimDuration,
    idle_epoch: u64,
}

impl<P: Probe, M: Media> Device<P, M> {
    /// A fresh drive.
    ///
    /// # Errors
    /// A refusal with its reason where scheme and device do not fit.
    pub fn new(
        spec: &DeviceSpec,
        geometry: &Geometry,
        scheme: Box<dyn Scheme>,
        probe: P,
    ) -> Result<Device<P, M>, Refusal> {
        let logical_pages = (spec.logical_bytes() / spec.unit.0).min(u32::MAX as u64 - 1) as u32;
        let ftl = Ftl::new(&Drive { spec, geometry, logical_pages }, scheme)?;
        let mut planes = vec![];
        let mut arrays: Vec<Shared> = vec![];
        let mut buses: Vec<Shared> = vec![];
        for p in 0..geometry.planes {
            let die = geometry.die_of(PlaneId(p));
            let channel = geometry.channel_of(die);
            let array = match spec.parallel_unit {
                ParallelUnit::Die => die.0,
                ParallelUnit::Plane => p,
            };
            for (shared, index) in [(&mut arrays, array), (&mut buses, channel.0)] {
                if shared.len() <= index as usize {
                    shared.push(Shared { busy: OpId::NONE, first: p, count: 0 });
                }
                shared[index as usize].count += 1;
            }
            planes.push(Plane {
                head: [OpId::NONE; Class::COUNT],
                tail: [OpId::NONE; Class::COUNT],
                queued: 0,
                current: OpId::NONE,
                array,
                channel: channel.0,
                die,
                medium: geometry.medium_index(PlaneId(p)) as u32,
                waiting: VecDeque::new(),
            });
        }
        let most_sectors = geometry.media.iter().map(|m| m.page.0 * 4 / geometry.sector).max().unwrap_or(0);
        Ok(Device {
            transfer: geometry
                .media
                .iter()
                .map(|m| (0..=most_sectors).map(|s| m.bus.time_for(s * geometry.sector).0).collect())
                .collect(),
            command_program: geometry.media.iter().map(|m| m.command.program.0).collect(),
            wants_array: vec![NOTHING; planes.len()],
            wants_bus: vec![NOTHING; planes.len()],
            clock: Clock::new(arrays.len() + buses.len() + 2),
            planes,
            arrays,
            buses,
            now: SimTime(0),
            link: spec.host,
            link_is_free: spec.host.rate.is_off()
                && spec.host.read_overhead == SimDuration::ZERO
                && spec.host.write_overhead == SimDuration::ZERO,
            link_free_at: SimTime(0),
            link_queue: VecDeque::new(),
            alarms: BinaryHeap::new(),
            pads: vec![],
            free_pads: vec![],
            alarm_count: 0,
            held_up: VecDeque::new(),
            ready: VecDeque::new(),
            submitted: 0,
            effects: vec![],
            ended: vec![],
            idle: false,
            idle_after: ftl.layout().idle_after,
            idle_epoch: 0,
            geometry: geometry.clone(),
            metrics: Metrics::default(),
            ftl,
            probe,
        })
    }

    /// The device's time.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Requests submitted and not yet complete.
    pub fn outstanding(&self) -> u32 {
        self.ftl.view().outstanding() + self.held_up.len() as u32
    }

    /// Requests submitted so far.
    pub fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Submit a request at a time that has not passed; everything due until then happens first.
    /// Returns its number.
    ///
    /// # Errors
    /// When the request reaches past the drive or covers nothing, or the time has passed; the device
    /// is then as before.
    pub fn submit(&mut self, request: HostRequest, at: SimTime) -> Result<u64, DeviceError> {
        self.submit_with(request, at, &[])
    }

    /// The same with the bytes of a write, from its first sector on.
    ///
    /// # Errors
    /// As [`Self::submit`].
    pub fn submit_with(
        &mut self,
        request: HostRequest,
        at: SimTime,
        data: &[u8],
    ) -> Result<u64, DeviceError> {
        let number = self.submitted;
        if at < self.now {
            return Err(DeviceError::Late { number, at, now: self.now });
        }
        self.ftl.validate(&request, number)?;
        self.advance_to(at)?;
        if !self.held_up.is_empty() || !self.ftl.admits(&request) {
            self.held_up.push_back((request, number, data.to_vec()));
        } else {
            self.ftl.submit(request, number, data);
        }
        self.submitted += 1;
        self.idle = false;
        self.settle();
        self.no_fault()?;
        Ok(number)
    }

    /// Let everything happen that is due until a time, which becomes the device's time.
    ///
    /// # Errors
    /// On an illegal decision or an internal fault.
    pub fn advance_to(&mut self, time: SimTime) -> Result<(), DeviceError> {
        while self.step(time) {
            self.no_fault()?;
        }
        self.now = self.now.max(time);
        self.ftl.set_now(self.now);
        Ok(())
    }

    /// The next request to end by a time, if any does; the device's time is then when it ended. With
    /// none, everything due until that time has happened.
    ///
    /// # Errors
    /// On an illegal decision or an internal fault, or when requests can never end.
    #[inline]
    pub fn next_completion(&mut self, until: SimTime) -> Result<Option<Completion>, DeviceError> {
        loop {
            if let Some(c) = self.ready.pop_front() {
                return Ok(Some(c));
            }
            if self.step(until) {
                self.no_fault()?;
            } else if self.clock.next().is_some() || self.outstanding() == 0 {
                return Ok(None);
            } else if !self.give_up() {
                return Err(DeviceError::Stuck { outstanding: self.outstanding(), now: self.now });
            }
        }
    }

    /// A request that has ended already, without letting time pass.
    #[inline]
    pub fn poll(&mut self) -> Option<Completion> {
        self.ready.pop_front()
    }

    /// Let everything pending happen, with no more requests: collections end, groups are padded, and
    /// the scheme's idle work runs until it has none.
    ///
    /// # Errors
    /// On an illegal decision or an internal fault, or when requests can never end.
    pub fn drain(&mut self) -> Result<(), DeviceError> {
        self.ftl.drain();
        self.idle = true;
        self.settle();
        self.ask_all_idle();
        loop {
            while self.step(SimTime::NEVER) {
                self.no_fault()?;
            }
            if self.outstanding() == 0 {
                // A collection that ended meanwhile may have left a group that nothing else pads.
                self.ftl.drain();
                if self.ftl.effects().is_empty() {
                    return self.no_fault();
                }
                self.settle();
            } else if !self.give_up() {
                return Err(DeviceError::Stuck { outstanding: self.outstanding(), now: self.now });
            }
        }
    }

    /// The time of the next event, if anything is pending.
    pub fn next_event(&self) -> Option<SimTime> {
        self.clock.next().map(|(t, _)| t)
    }

    fn no_fault(&self) -> Result<(), DeviceError> {
        match self.ftl.fault() {
            None => Ok(()),
            Some(f) => Err(DeviceError::Fault(f.clone())),
        }
    }

    /// One event, if it is due by a time.
    #[inline]
    fn step(&mut self, until: SimTime) -> bool {
        let Some((time, resource)) = self.clock.next().filter(|(t, _)| *t <= until) else { return false };
        debug_assert!(time >= self.now);
        self.now = time;
        self.ftl.set_now(time);
        let arrays = self.arrays.len();
        if resource < arrays {
            self.array_done(resource);
            if self.arrays[resource].busy.is_none() {
                self.clock.clear(resource);
            }
        } else if resource < arrays + self.buses.len() {
            self.bus_done(resource - arrays);
            if self.buses[resource - arrays].busy.is_none() {
                self.clock.clear(resource);
            }
        } else {
            self.clock.clear(resource);
            if resource == arrays + self.buses.len() { self.link_done() } else { self.ring() }
        }
        self.settle();
        true
    }

    /// Act on what the translation layer asks for, and end the requests that have ended.
    #[inline]
    fn settle(&mut self) {
        while !(self.ftl.effects().is_empty() && self.ftl.completed().is_empty() && self.held_up.is_empty()) {
            let mut effects = std::mem::take(&mut self.effects);
            std::mem::swap(&mut effects, self.ftl.effects());
            for effect in effects.drain(..) {
                match effect {
                    Effect::Queue(op) => self.enqueue(op),
                    Effect::Wake(plane) => self.wake(plane),
                    Effect::Hold(die) => self.refresh_die(die),
                    Effect::Timer(at, timer) => {
                        let slot = match self.free_pads.pop() {
                            Some(slot) => slot,
                            None => {
                                self.pads.push(timer);
                                self.pads.len() as u32 - 1
                            }
                        };
                        self.pads[slot as usize] = timer;
                        self.alarm(at, Alarm::Pad(slot));
                    }
                }
            }
            self.effects = effects;
            let mut ended = std::mem::take(&mut self.ended);
            std::mem::swap(&mut ended, self.ftl.completed());
            for id in ended.drain(..) {
                self.queue_on_link(id);
            }
            self.ended = ended;
            while let Some((request, number, data)) = self.held_up.front()
                && self.ftl.admits(request)
            {
                self.ftl.submit(*request, *number, data);
                self.held_up.pop_front();
            }
            if self.ftl.effects().is_empty() && self.ftl.completed().is_empty() {
                return;
            }
        }
    }

    #[inline]
    fn enqueue(&mut self, id: OpId) {
        let op = self.ftl.op_mut(id);
        op.next = OpId::NONE;
        let (plane, class) = (op.plane.index(), (op.key >> 56) as usize);
        let p = &mut self.planes[plane];
        let tail = std::mem::replace(&mut p.tail[class], id);
        if tail.is_none() {
            p.head[class] = id;
            p.queued |= 1 << class;
        } else {
            self.ftl.op_mut(tail).next = id;
        }
        if self.planes[plane].current.is_none() {
            self.offer(plane);
        }
    }

    /// The operation that a free plane would begin next.
    #[inline(always)]
    fn first(&self, plane: usize) -> OpId {
        let p = &self.planes[plane];
        let queued = if self.ftl.is_held(p.die) { p.queued & 1 } else { p.queued };
        if queued == 0 { OpId::NONE } else { p.head[queued.trailing_zeros() as usize] }
    }

    fn pop(&mut self, plane: usize, id: OpId) {
        let class = (self.ftl.op(id).key >> 56) as usize;
        let next = self.ftl.op(id).next;
        let p = &mut self.planes[plane];
        debug_assert!(p.head[class] == id);
        p.head[class] = next;
        if next.is_none() {
            p.tail[class] = OpId::NONE;
            p.queued &= !(1 << class);
        }
    }

    /// Note what a free plane wants of its array or bus. Returns what it is.
    #[inline]
    fn post(&mut self, plane: usize) -> Option<OpKind> {
        let first = self.first(plane);
        (self.wants_array[plane], self.wants_bus[plane]) = (NOTHING, NOTHING);
        if first.is_none() {
            return None;
        }
        let op = self.ftl.op(first);
        if op.kind == OpKind::Program {
            self.wants_bus[plane] = op.key;
        } else {
            self.wants_array[plane] = op.key;
        }
        Some(op.kind)
    }

    /// The same, and begin it if array or bus is free.
    #[inline]
    fn offer(&mut self, plane: usize) {
        match self.post(plane) {
            Some(OpKind::Program) => self.try_bus(self.planes[plane].channel as usize),
            Some(_) => self.try_array(self.planes[plane].array as usize),
            None => {}
        }
    }

    /// The operation that a free plane offered under a key, taken off its queue. A hold that has
    /// begun since withdraws the offer, and the plane posts what it wants now.
    #[inline]
    fn take(&mut self, plane: usize, key: u64) -> Option<OpId> {
        let first = self.first(plane);
        if first.is_none() || self.ftl.op(first).key != key {
            self.post(plane);
            return None;
        }
        self.pop(plane, first);
        Some(first)
    }

    #[inline(always)]
    fn most_urgent(wants: &[u64], shared: &Shared) -> Option<usize> {
        let (first, count) = (shared.first as usize, shared.count as usize);
        let mut best = NOTHING;
        let mut at = first;
        for (i, key) in wants[first..first + count].iter().enumerate() {
            if *key < best {
                (best, at) = (*key, first + i);
            }
        }
        (best != NOTHING).then_some(at)
    }

    #[inline]
    fn try_array(&mut self, array: usize) {
        if !self.arrays[array].busy.is_none() {
            return;
        }
        while let Some(plane) = Self::most_urgent(&self.wants_array, &self.arrays[array]) {
            let key = std::mem::replace(&mut self.wants_array[plane], NOTHING);
            if self.planes[plane].current.is_none() {
                let Some(first) = self.take(plane, key) else { continue };
                self.planes[plane].current = first;
            }
            let id = self.planes[plane].current;
            self.arrays[array].busy = id;
            let end = self.now + self.ftl.array_time(id);
            self.clock.set(array, end);
            if P::WATCHES {
                self.watch_array(id, plane, end);
            }
            return;
        }
    }

    fn watch_array(&mut self, id: OpId, plane: usize, end: SimTime) {
        let (mode, page) = self.ftl.page_of(id);
        let op = self.ftl.op(id);
        let event = Event::Array {
            op: id,
            kind: op.kind,
            cause: op.cause(),
            die: self.planes[plane].die,
            plane: PlaneId(plane as u32),
            ppn: op.ppn,
            mode,
            page,
            start: self.now,
            end,
        };
        self.probe.event(event);
    }

    #[inline]
    fn try_bus(&mut self, channel: usize) {
        if !self.buses[channel].busy.is_none() {
            return;
        }
        while let Some(plane) = Self::most_urgent(&self.wants_bus, &self.buses[channel]) {
            let key = std::mem::replace(&mut self.wants_bus[plane], NOTHING);
            let medium = self.planes[plane].medium as usize;
            let mut time = 0;
            if self.planes[plane].current.is_none() {
                let Some(first) = self.take(plane, key) else { continue };
                let binding = self.ftl.bind(first);
                if binding != Binding::Bound {
                    if binding == Binding::Blocked && self.ftl.blocked(first) {
                        self.planes[plane].waiting.push_back(first);
                    }
                    if matches!(self.post(plane), Some(OpKind::Read | OpKind::Erase)) {
                        self.try_array(self.planes[plane].array as usize);
                    }
                    continue;
                }
                self.planes[plane].current = first;
                time += self.command_program[medium];
            }
            let id = self.planes[plane].current;
            self.buses[channel].busy = id;
            let sectors = self.ftl.transfer_sectors(id);
            time += self.transfer[medium][sectors as usize];
            let end = self.now + SimDuration(time);
            self.clock.set(self.arrays.len() + channel, end);
            if P::WATCHES {
                let channel = wordline_units::ChannelId(channel as u32);
                let bytes = sectors as u64 * self.geometry.sector;
                let event =
                    Event::Bus { op: id, channel, plane: PlaneId(plane as u32), bytes, start: self.now, end };
                self.probe.event(event);
            }
            return;
        }
    }

    #[inline]
    fn array_done(&mut self, array: usize) {
        let id = std::mem::replace(&mut self.arrays[array].busy, OpId::NONE);
        let op = self.ftl.op(id);
        let plane = op.plane.index();
        if op.kind == OpKind::Read {
            self.wants_bus[plane] = op.key;
            self.try_bus(self.planes[plane].channel as usize);
        } else {
            self.end(id, plane);
        }
        self.try_array(array);
    }

    #[inline]
    fn bus_done(&mut self, channel: usize) {
        let id = std::mem::replace(&mut self.buses[channel].busy, OpId::NONE);
        let op = self.ftl.op(id);
        let plane = op.plane.index();
        if op.kind == OpKind::Read {
            self.end(id, plane);
        } else {
            self.wants_array[plane] = op.key;
            self.try_array(self.planes[plane].array as usize);
        }
        self.try_bus(channel);
    }

    /// An operation is over, and its plane free.
    #[inline]
    fn end(&mut self, id: OpId, plane: usize) {
        if P::WATCHES {
            self.probe.event(Event::Ready { op: id, plane: PlaneId(plane as u32), at: self.now });
        }
        self.planes[plane].current = OpId::NONE;
        self.ftl.done(id);
        if self.idle {
            let die = self.planes[plane].die;
            if self.ftl.idle_jobs(die) == 0 {
                self.ftl.idle(die);
            }
        }
        self.offer(plane);
    }

    /// Space may have come up: programs that waited at a plane try again, in their order.
    fn wake(&mut self, plane: PlaneId) {
        let plane = plane.index();
        while let Some(id) = self.planes[plane].waiting.pop_back() {
            let class = (self.ftl.op(id).key >> 56) as usize;
            let head = std::mem::replace(&mut self.planes[plane].head[class], id);
            self.planes[plane].queued |= 1 << class;
            self.ftl.op_mut(id).next = head;
            if head.is_none() {
                self.planes[plane].tail[class] = id;
            }
        }
        if self.planes[plane].current.is_none() {
            self.offer(plane);
        }
    }

    fn refresh_die(&mut self, die: DieId) {
        for plane in 0..self.planes.len() {
            if self.planes[plane].die == die && self.planes[plane].current.is_none() {
                self.offer(plane);
            }
        }
    }

    /// Nothing is pending and requests wait: the programs that wait for space never will have it.
    fn give_up(&mut self) -> bool {
        let mut gave_up = false;
        for plane in 0..self.planes.len() {
            for id in std::mem::take(&mut self.planes[plane].waiting) {
                if self.ftl.can_fail(id) {
                    self.ftl.fail(id);
                    gave_up = true;
                } else {
                    self.planes[plane].waiting.push_back(id);
                }
            }
        }
        self.settle();
        gave_up
    }

    // --- the host's side -----------------------------------------------------------------------

    #[inline]
    fn queue_on_link(&mut self, id: RequestId) {
        if self.link_is_free {
            return self.complete(id);
        }
        let request = self.ftl.pending(id).request;
        let overhead = match request.op {
            HostOp::Read => self.link.read_overhead,
            HostOp::Write => self.link.write_overhead,
            HostOp::Trim | HostOp::Flush => return self.complete(id),
        };
        let begin = self.link_free_at.max(self.now);
        let end = begin + overhead + self.link.rate.time_for(request.bytes());
        self.link_free_at = end;
        if self.link_queue.is_empty() {
            self.clock.set(self.arrays.len() + self.buses.len(), end);
        }
        self.link_queue.push_back((end, id));
    }

    fn link_done(&mut self) {
        if let Some((_, id)) = self.link_queue.pop_front() {
            self.complete(id);
        }
        if let Some((next, _)) = self.link_queue.front() {
            self.clock.set(self.arrays.len() + self.buses.len(), *next);
        }
    }

    #[inline]
    fn complete(&mut self, id: RequestId) {
        let pending = self.ftl.pending(id);
        let (number, request, outcome) = (pending.number, pending.request, pending.outcome);
        let span = (request.arrival, self.now);
        let fresh = self.metrics.complete(number, request.op, request.bytes(), span, outcome);
        if fresh || number & 1023 == 0 {
            let free = self.ftl.free_share(self.ftl.layout().home);
            self.metrics.sample(self.now, self.ftl.counters(), free);
        }
        let data = self.ftl.release(id);
        self.ready.push_back(Completion { number, request, at: self.now, outcome, data });
        if self.outstanding() == 0 && self.ftl.works_when_idle() {
            self.idle_epoch = self.submitted;
            self.alarm(self.now + self.idle_after, Alarm::Idle(self.idle_epoch));
        }
    }

    // --- timers and idle time ------------------------------------------------------------------

    fn alarm(&mut self, at: SimTime, alarm: Alarm) {
        self.alarm_count += 1;
        self.alarms.push(Reverse((at, self.alarm_count, alarm)));
        self.arm();
    }

    fn arm(&mut self) {
        let resource = self.arrays.len() + self.buses.len() + 1;
        match self.alarms.peek() {
            Some(Reverse((at, ..))) => self.clock.set(resource, *at),
            None => self.clock.clear(resource),
        }
    }

    fn ring(&mut self) {
        if let Some(Reverse((_, _, alarm))) = self.alarms.pop() {
            match alarm {
                Alarm::Pad(slot) => {
                    self.free_pads.push(slot);
                    self.ftl.timer(self.pads[slot as usize]);
                }
                Alarm::Idle(epoch) => {
                    if epoch == self.submitted && self.outstanding() == 0 {
                        self.idle = true;
                        self.ask_all_idle();
                    }
                }
            }
        }
        self.arm();
    }

    fn ask_all_idle(&mut self) {
        for die in 0..self.geometry.dies {
            self.ftl.idle(DieId(die));
        }
        self.settle();
    }
}
