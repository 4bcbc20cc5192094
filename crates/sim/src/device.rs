//! One drive at work: planes that run one operation each, arrays and buses that they share, and the
//! clock over all of them.
//!
//! A plane is busy with an operation from its start to its end, because its one register is: a read
//! senses on the die's array, then moves its data out over the channel's bus; a program moves its
//! data in, then works on the array; an erase needs the array alone. Arrays and buses are serial,
//! and take whoever waits first by (class, arrival). A plane offers only its first operation, so
//! operations of one class are served in order within a plane. A program is bound to its page when
//! its transfer begins: from there to the array nothing can come between in that plane. With a second
//! register a plane may be at two operations, one at the array and one at the bus (`registers.rs`).

mod multiplane;
mod power;
mod registers;
mod shares;
mod state;
mod suspend;
mod waits;

pub use power::PoweredOff;
use registers::{Held, Second};
use shares::Fair;
pub use state::{Busy, RestoreError};
use suspend::Interrupted;
use waits::{Waits, Work};

use crate::blocks::{Frame, map_rows};
use crate::clock::Clock;
use crate::metrics::{Free, Metrics, Usage};
use crate::probe::{Begin, Event, Moment, Probe};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use thiserror::Error;
use wordline_device::{DeviceSpec, HostLink, Multiplane, ParallelUnit, Suspension};
use wordline_flash::{CacheRegister, Geometry};
use wordline_ftl::{
    Behind, Binding, Blocked, Class, Drive, Effect, Fault, Ftl, LatencyPart, LatencyParts, Media, OpId,
    OpKind, Outcome, Pending, Piece, Refusal, RequestError, RequestId, Saved, Scheme, Timer, saved_fields,
};
use wordline_units::{DieId, HostOp, HostRequest, PlaneId, SimDuration, SimTime};

const NOTHING: u64 = u64::MAX;

/// A request that has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Completion {
    /// Its number, counted from 0 in the order of submission.
    pub number: u64,
    /// What was asked, with the time it arrived.
    pub request: HostRequest,
    /// When it ended.
    pub at: SimTime,
    /// How it ended.
    pub outcome: Outcome,
    /// Where its time went; the parts add up to the time since its arrival.
    pub parts: LatencyParts,
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

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Plane {
    head: [OpId; Class::COUNT],
    tail: [OpId; Class::COUNT],
    /// A bit for each class with an operation waiting.
    queued: u8,
    /// The operation that has the plane, or of two the one that has the page register.
    current: Held,
    /// What the cache register is used for.
    cache: CacheRegister,
    /// How long the plane has been busy with operations that have ended; where it has two registers, how long
    /// a read could not have begun, until `counted`.
    busy: Behind,
    /// What planes of one register do without: apart, since most have one, and each operation touches its plane.
    second: Box<Second>,
    array: u32,
    channel: u32,
    die: DieId,
    medium: u32,
    /// What its first operation waits for.
    wants: Want,
}

/// What the first operation of a plane's queue has been noted to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Want {
    Nothing,
    Array,
    Bus,
}

/// A serial resource that some planes share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Shared {
    /// What it is at. The link `next` of an operation on an array leads to those that go with it.
    busy: Option<OpId>,
    /// Planes that want it, by the key of their operation; with those that have changed their mind.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    /// Planes that want it indeed.
    waiting: u32,
    /// Time for which it has been taken, ns, and until when that is.
    taken: u64,
    until: SimTime,
}

impl Shared {
    /// Something has it from now on until a time.
    #[inline(always)]
    fn take_until(&mut self, now: SimTime, end: SimTime) {
        self.taken += end.since(now).0;
        self.until = end;
    }

    /// What has it leaves earlier than it would.
    fn leave_at(&mut self, end: SimTime) {
        self.taken -= self.until.since(end).0;
        self.until = end;
    }

    /// How long it has been busy by now, ns.
    fn used(&self, now: SimTime) -> u64 {
        self.taken - self.until.0.saturating_sub(now.0)
    }
}

/// Arrays, or buses, and what each plane wants of its own: an operation's key, or [`NOTHING`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Resources {
    shared: Vec<Shared>,
    wants: Vec<u64>,
}

impl Resources {
    fn add_plane(&mut self, index: u32) {
        if self.shared.len() <= index as usize {
            self.shared.push(Shared::default());
        }
        self.wants.push(NOTHING);
    }

    #[inline(always)]
    fn want(&mut self, index: usize, plane: usize, key: u64) {
        self.wants[plane] = key;
        let shared = &mut self.shared[index];
        shared.waiting += 1;
        shared.queue.push(Reverse((key, plane as u32)));
    }

    #[inline(always)]
    fn withdraw(&mut self, index: usize, plane: usize) {
        if std::mem::replace(&mut self.wants[plane], NOTHING) == NOTHING {
            return;
        }
        let shared = &mut self.shared[index];
        shared.waiting -= 1;
        if shared.queue.len() > 4 * shared.waiting as usize + 64 {
            let wants = &self.wants;
            shared.queue.retain(|Reverse((key, plane))| wants[*plane as usize] == *key);
        }
    }

    /// Whether the resource is free, and somebody waits for it.
    #[inline(always)]
    fn is_due(&self, index: usize) -> bool {
        let shared = &self.shared[index];
        shared.busy.is_none() && shared.waiting > 0
    }

    /// Whether the resource is free, and nobody waits for it.
    #[inline(always)]
    fn is_idle(&self, index: usize) -> bool {
        let shared = &self.shared[index];
        shared.busy.is_none() && shared.waiting == 0
    }

    /// The plane whose want comes first by class and arrival, if the resource is free; its want is
    /// taken.
    #[inline(always)]
    fn next(&mut self, index: usize) -> Option<(usize, u64)> {
        if !self.is_due(index) {
            return None;
        }
        let shared = &mut self.shared[index];
        while let Some(Reverse((key, plane))) = shared.queue.pop() {
            let want = &mut self.wants[plane as usize];
            if *want == key {
                *want = NOTHING;
                shared.waiting -= 1;
                return Some((plane as usize, key));
            }
        }
        None
    }

    /// The plane that a resource would serve next, once it is free.
    fn first(&mut self, index: usize) -> Option<usize> {
        let shared = &mut self.shared[index];
        while let Some(Reverse((key, plane))) = shared.queue.peek() {
            if self.wants[*plane as usize] == *key {
                return Some(*plane as usize);
            }
            shared.queue.pop();
        }
        None
    }
}

/// What a timer of the device is for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Alarm {
    /// The translation layer asked for it.
    Layer(Timer),
    /// The drive has been idle since so many requests were submitted.
    Idle(u64),
}

/// Forget what has been dealt with, mostly all of it.
#[inline(always)]
fn forget_first<T>(list: &mut Vec<T>, n: usize) {
    if list.len() == n {
        list.clear();
    } else {
        list.drain(..n);
    }
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
    /// Programs that found no slot, by plane, in the order they came.
    waiting: Vec<VecDeque<OpId>>,
    waits: Waits,
    arrays: Resources,
    /// Whether like operations of an array's planes go together.
    pairs: bool,
    /// What host reads interrupt, and by array what that has come to.
    suspension: Option<Suspension>,
    interrupted: Vec<Interrupted>,
    buses: Resources,
    /// What arrays have given to each kind of work, where they go by shares.
    fair: Option<Box<Fair>>,
    /// Bus time by medium and sectors moved.
    transfer: Vec<Vec<u64>>,
    command_program: Vec<u64>,
    clock: Clock,
    now: SimTime,
    link: HostLink,
    link_is_free: bool,
    link_free_at: SimTime,
    link_queue: VecDeque<(SimTime, RequestId)>,
    alarms: Vec<Alarm>,
    free_alarms: Vec<u32>,
    held_up: VecDeque<(HostRequest, u64, Vec<u8>)>,
    ready: VecDeque<Completion>,
    submitted: u64,
    idle: bool,
    /// Since when it is idle, until when that has been counted of each die's idle work.
    idle_since: SimTime,
    idle_counted: Vec<SimTime>,
    idle_after: SimDuration,
    idle_epoch: u64,
}

impl<P, M> Saved for Device<P, M>
where
    P: Probe,
    M: Media<Page: Serialize + DeserializeOwned> + Serialize + DeserializeOwned,
{
    saved_fields! { Device,
        values: [
            planes, waiting, waits, arrays, interrupted, buses, fair, clock, now, link_free_at, link_queue, alarms, free_alarms, held_up,
            ready, submitted, idle, idle_since, idle_counted, idle_epoch,
        ],
        parts: [ftl, metrics],
        rebuilt: [probe, geometry, pairs, suspension, transfer, command_program, link, link_is_free, idle_after],
    }
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
        let ftl = Ftl::new(&Self::drawing(spec, geometry), scheme)?;
        Ok(Self::around(ftl, spec, geometry, probe))
    }

    /// What a scheme is given to lay itself out on.
    fn drawing<'a>(spec: &'a DeviceSpec, geometry: &'a Geometry) -> Drive<'a> {
        let logical_pages = (spec.logical_bytes() / spec.unit.0).min(u32::MAX as u64 - 1) as u32;
        Drive { spec, geometry, logical_pages }
    }

    /// The clock and the queues of a drive.
    fn around(ftl: Ftl<M>, spec: &DeviceSpec, geometry: &Geometry, probe: P) -> Device<P, M> {
        let mut planes = vec![];
        let mut arrays = Resources::default();
        let mut buses = Resources::default();
        for p in 0..geometry.planes {
            let die = geometry.die_of(PlaneId(p));
            let channel = geometry.channel_of(die);
            let array = match spec.parallel_unit {
                ParallelUnit::Die => die.0,
                ParallelUnit::Plane => p,
            };
            arrays.add_plane(array);
            buses.add_plane(channel.0);
            planes.push(Plane {
                head: [OpId::NONE; Class::COUNT],
                tail: [OpId::NONE; Class::COUNT],
                queued: 0,
                current: Held::NOTHING,
                cache: geometry.medium_of(PlaneId(p)).cache_register,
                busy: Behind::default(),
                second: Box::default(),
                array,
                channel: channel.0,
                die,
                medium: geometry.medium_index(PlaneId(p)) as u32,
                wants: Want::Nothing,
            });
        }
        let most_sectors = geometry.media.iter().map(|m| m.page.0 * 4 / geometry.sector).max().unwrap_or(0);
        Device {
            transfer: geometry
                .media
                .iter()
                .map(|m| (0..=most_sectors).map(|s| m.bus.time_for(s * geometry.sector).0).collect())
                .collect(),
            command_program: geometry.media.iter().map(|m| m.command.program.0).collect(),
            clock: Clock::default(),
            waiting: vec![VecDeque::new(); planes.len()],
            waits: Waits::default(),
            fair: Fair::asked(spec, &planes),
            planes,
            suspension: spec.service.suspension,
            interrupted: vec![Interrupted::NOTHING; arrays.shared.len()],
            arrays,
            pairs: spec.multiplane == Multiplane::Opportunistic,
            buses,
            now: SimTime(0),
            link: spec.host,
            link_is_free: spec.host.rate.is_off()
                && spec.host.read_overhead == SimDuration::ZERO
                && spec.host.write_overhead == SimDuration::ZERO,
            link_free_at: SimTime(0),
            link_queue: VecDeque::new(),
            alarms: vec![],
            free_alarms: vec![],
            held_up: VecDeque::new(),
            ready: VecDeque::new(),
            submitted: 0,
            idle: false,
            idle_since: SimTime(0),
            idle_counted: vec![SimTime(0); geometry.dies as usize],
            idle_after: ftl.layout().idle_after,
            idle_epoch: 0,
            geometry: geometry.clone(),
            metrics: Metrics::default(),
            ftl,
            probe,
        }
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
        if P::WATCHES {
            self.probe.moment(Moment::Submitted { request: number, op: request.op, at: self.now });
        }
        if !self.held_up.is_empty() || !self.ftl.admits(&request) {
            self.ftl.make_way(&request);
            self.held_up.push_back((request, number, data.to_vec()));
        } else {
            self.ftl.submit(request, number, data);
        }
        self.submitted += 1;
        self.idle_is_over();
        self.settle();
        self.no_fault()?;
        Ok(number)
    }

    /// Let everything happen that is due until a time, which becomes the device's time.
    ///
    /// # Errors
    /// On an illegal decision or an internal fault, or when requests can never end.
    pub fn advance_to(&mut self, time: SimTime) -> Result<(), DeviceError> {
        while self.go_on(time)? {}
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
        Ok(if self.await_completion(until)? { self.ready.pop_front() } else { None })
    }

    /// Let everything happen until a request has ended or a time is reached. Returns whether one has.
    #[inline]
    pub(crate) fn await_completion(&mut self, until: SimTime) -> Result<bool, DeviceError> {
        loop {
            if !self.ready.is_empty() {
                return Ok(true);
            }
            if !self.go_on(until)? {
                return Ok(false);
            }
        }
    }

    /// A request that has ended already, without letting time pass.
    #[inline]
    pub fn poll(&mut self) -> Option<Completion> {
        self.ready.pop_front()
    }

    /// When the first request that has ended did so, of which nothing else is asked.
    #[inline]
    pub(crate) fn forget_completion(&mut self) -> Option<SimTime> {
        let at = self.ready.front()?.at;
        drop(self.ready.pop_front());
        Some(at)
    }

    /// Let everything pending happen, with no more requests: collections end, groups are padded, and
    /// the scheme's idle work runs until it has none.
    ///
    /// # Errors
    /// On an illegal decision or an internal fault, or when requests can never end.
    pub fn drain(&mut self) -> Result<(), DeviceError> {
        self.idle_is_over();
        self.ftl.drain();
        self.idle = true;
        self.settle();
        self.ask_all_idle();
        loop {
            while self.go_on(SimTime::NEVER)? {}
            // A collection that ended meanwhile may have left a group that nothing else pads.
            self.ftl.drain();
            if self.ftl.effects().is_empty() {
                self.metrics.close(self.ftl.counters());
                return self.no_fault();
            }
            self.settle();
        }
    }

    /// The time of the next event, if anything is pending.
    pub fn next_event(&self) -> Option<SimTime> {
        self.clock.next()
    }

    #[inline(always)]
    fn no_fault(&self) -> Result<(), DeviceError> {
        match self.ftl.fault() {
            None => Ok(()),
            Some(f) => Err(Self::broken(f)),
        }
    }

    #[cold]
    fn broken(fault: &Fault) -> DeviceError {
        DeviceError::Fault(fault.clone())
    }

    /// What happens next, if it does by a time: an event or, before time goes on without one, the end
    /// of requests that wait for space. When that is follows from the requests alone, and not from when
    /// anybody looks.
    #[inline(always)]
    fn go_on(&mut self, until: SimTime) -> Result<bool, DeviceError> {
        if self.step(until) {
            self.no_fault()?;
            return Ok(true);
        }
        if until <= self.now || self.clock.next().is_some() {
            return Ok(false);
        }
        if self.ftl.let_go_of_dies() || self.send_elsewhere() {
            self.settle();
        } else if self.outstanding() == 0 {
            return Ok(false);
        } else if !self.give_up() {
            return Err(DeviceError::Stuck { outstanding: self.outstanding(), now: self.now });
        }
        self.no_fault()?;
        Ok(true)
    }

    /// One event, if it is due by a time.
    #[inline]
    fn step(&mut self, until: SimTime) -> bool {
        let Some((time, what)) = self.clock.take(until) else { return false };
        debug_assert!(time >= self.now);
        self.now = time;
        self.ftl.set_now(time);
        let (arrays, link) = (self.arrays.shared.len(), self.link_event() as usize);
        let what = what as usize;
        if what < arrays {
            self.array_done(what);
        } else if what < link {
            self.bus_done(what - arrays);
        } else if what == link {
            self.link_done();
        } else {
            self.ring(what - link - 1);
            if self.ftl.holds_a_die() {
                self.let_go_at_rest();
            }
        }
        self.settle();
        true
    }

    /// Timers alone bring no space to a collection that holds its die and waits for some: it lets go where no
    /// array and no bus is at anything.
    #[cold]
    fn let_go_at_rest(&mut self) {
        self.settle();
        if self.arrays.shared.iter().chain(&self.buses.shared).all(|shared| shared.busy.is_none()) {
            self.ftl.let_go_of_dies();
        }
    }

    /// Act on what the translation layer asks for, and end the requests that have ended.
    #[inline(always)]
    fn settle(&mut self) {
        if !(self.ftl.effects().is_empty() && self.ftl.completed().is_empty() && self.held_up.is_empty()) {
            self.act();
        }
    }

    fn act(&mut self) {
        loop {
            let asked = self.ftl.effects().len();
            for i in 0..asked {
                match self.ftl.effects()[i] {
                    Effect::Queue(op) => self.enqueue(op),
                    Effect::ChangePlane(op) => self.stand_in_queue(op),
                    Effect::Wake(plane) => self.wake(plane),
                    Effect::Hold(die) => self.refresh_die(die),
                    Effect::Timer(at, timer) => self.alarm(at, Alarm::Layer(timer)),
                }
            }
            forget_first(self.ftl.effects(), asked);
            let ended = self.ftl.completed().len();
            for i in 0..ended {
                let id = self.ftl.completed()[i];
                self.queue_on_link(id);
            }
            forget_first(self.ftl.completed(), ended);
            while let Some((request, number, data)) = self.held_up.front()
                && self.ftl.admits(request)
            {
                self.ftl.submit(*request, *number, data);
                self.held_up.pop_front();
            }
            if let Some((request, ..)) = self.held_up.front() {
                self.ftl.make_way(request);
            }
            if self.ftl.effects().is_empty() && self.ftl.completed().is_empty() {
                return;
            }
        }
    }

    #[inline]
    fn enqueue(&mut self, id: OpId) {
        if P::WATCHES {
            self.watch_queued(id);
        }
        if self.ftl.serves_host(id) {
            let plane = self.ftl.op(id).plane.index();
            let busy = self.busy_until_now(plane, id);
            self.waits.queue(id, self.now, busy);
        }
        self.stand_in_queue(id);
    }

    #[inline(always)]
    fn stand_in_queue(&mut self, id: OpId) {
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
        if self.may_begin(plane) {
            self.offer(plane);
        }
        if self.suspension.is_some() {
            self.interrupt(id, plane);
        }
    }

    /// How long a plane has been busy, with the operation that it is at, as one sees it that would begin.
    #[inline(always)]
    fn busy_until_now(&mut self, plane: usize, id: OpId) -> Behind {
        let p = &self.planes[plane];
        if !p.cache.is_off() {
            return self.busy_for(plane, id);
        }
        let mut busy = p.busy;
        if !p.current.op.is_none() {
            busy.add(self.ftl.op(p.current.op).cause(), self.now.since(p.current.began).0);
        }
        busy
    }

    /// Whether a plane may have a register for another operation.
    #[inline(always)]
    fn may_begin(&self, plane: usize) -> bool {
        let p = &self.planes[plane];
        p.current.op.is_none() || !p.cache.is_off()
    }

    /// The operation that a plane would begin next, if it has a register for it.
    #[inline(always)]
    fn first(&self, plane: usize) -> OpId {
        let p = &self.planes[plane];
        let mut queued = if self.ftl.is_held(p.die) { p.queued & 1 << Class::Held as u8 } else { p.queued };
        if self.suspension.is_some() && self.interrupted[p.array as usize].aside().is_some() {
            queued &= 1 << Class::Read as u8;
        }
        if queued == 0 {
            return OpId::NONE;
        }
        let rank = match &self.fair {
            None => queued.trailing_zeros() as usize,
            Some(fair) => fair.rank(p.array, queued),
        };
        let first = p.head[rank];
        if p.cache.is_off() || self.has_register(plane, first) { first } else { OpId::NONE }
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

    /// Note what a plane wants next of its array or bus.
    fn post(&mut self, plane: usize) {
        self.withdraw(plane);
        let first = self.first(plane);
        if !first.is_none() {
            self.want(plane, first);
        }
    }

    /// Take back what a plane wants next.
    #[inline(always)]
    fn withdraw(&mut self, plane: usize) {
        let p = &mut self.planes[plane];
        match std::mem::replace(&mut p.wants, Want::Nothing) {
            Want::Nothing => {}
            Want::Array => self.arrays.withdraw(p.array as usize, plane),
            Want::Bus => self.buses.withdraw(p.channel as usize, plane),
        }
    }

    #[inline(always)]
    fn want(&mut self, plane: usize, first: OpId) {
        let op = self.ftl.op(first);
        let p = &mut self.planes[plane];
        if op.kind == OpKind::Program {
            p.wants = Want::Bus;
            self.buses.want(p.channel as usize, plane, op.key);
        } else {
            p.wants = Want::Array;
            self.arrays.want(p.array as usize, plane, op.key);
        }
    }

    /// A plane goes on with an operation on what its register holds: only the bus is wanted.
    fn continue_with(&mut self, plane: usize, id: OpId) {
        self.occupy(plane, id);
        let (key, channel) = (self.ftl.op(id).key, self.planes[plane].channel as usize);
        let held = self.planes[plane].of(id);
        (held.turned, held.sensed) = (self.now, self.now);
        self.buses.want(channel, plane, key);
        self.try_bus(channel);
    }

    /// Begin what a plane would do next, or note that it waits for its array or bus.
    #[inline]
    fn offer(&mut self, plane: usize) {
        self.withdraw(plane);
        let first = self.first(plane);
        if first.is_none() {
            return;
        }
        let p = &self.planes[plane];
        let (array, channel) = (p.array as usize, p.channel as usize);
        if self.ftl.op(first).kind == OpKind::Program {
            if self.buses.is_idle(channel) {
                self.pop(plane, first);
                if !self.begin_program(plane, first) {
                    self.try_bus(channel);
                }
            } else {
                self.want(plane, first);
                self.try_bus(channel);
            }
        } else if self.arrays.is_idle(array) {
            self.pop(plane, first);
            self.occupy(plane, first);
            self.begin_on_array(array, plane, first);
        } else {
            self.want(plane, first);
            self.try_array(array);
        }
    }

    /// The operation that a plane offered under a key, taken off its queue. A hold that has
    /// begun since withdraws the offer, and the plane posts what it wants now.
    #[inline(always)]
    fn take(&mut self, plane: usize, key: u64) -> Option<OpId> {
        self.planes[plane].wants = Want::Nothing;
        let first = self.first(plane);
        if first.is_none() || self.ftl.op(first).key != key {
            self.post(plane);
            return None;
        }
        self.pop(plane, first);
        Some(first)
    }

    /// Let an array serve the first of those that wait for it.
    #[inline(always)]
    fn try_array(&mut self, array: usize) {
        if self.arrays.is_due(array) {
            self.serve_array(array);
        }
    }

    fn serve_array(&mut self, array: usize) {
        if (self.pairs && self.expects_company(array)) || self.is_kept_for_reads(array) {
            return;
        }
        while let Some((plane, key)) = self.next_at_array(array) {
            if self.planes[plane].wants == Want::Array {
                let Some(first) = self.take(plane, key) else { continue };
                self.occupy(plane, first);
            }
            self.begin_on_array(array, plane, self.planes[plane].current.op);
            return;
        }
    }

    /// An operation has the plane from now on.
    #[inline(always)]
    fn occupy(&mut self, plane: usize, id: OpId) {
        let p = &mut self.planes[plane];
        if p.cache.is_off() {
            (p.current.op, p.current.began) = (id, self.now);
        } else {
            self.take_register(plane, id);
        }
        self.watch_begin(id, plane);
    }

    #[inline(always)]
    fn begin_on_array(&mut self, array: usize, plane: usize, id: OpId) {
        self.arrays.shared[array].busy = Some(id);
        let time = self.ftl.begin_on_array(id);
        self.planes[plane].current.again = time.again;
        let end = if self.pairs { self.join(array, id, self.now + time.all) } else { self.now + time.all };
        self.arrays.shared[array].take_until(self.now, end);
        self.clock.set(array as u32, end);
        if self.suspension.is_some() {
            return self.begin_interruptible(array);
        }
        if P::WATCHES {
            let mut at = Some(id);
            while let Some(id) = at {
                self.watch_array(id, self.ftl.op(id).plane.index(), self.now, end);
                at = self.goes_with(id);
            }
        }
        if self.fair.is_some() {
            self.charge(array, id, time.all);
        }
    }

    /// The probe sees an operation begin.
    #[inline(always)]
    fn watch_begin(&mut self, id: OpId, plane: usize) {
        if !P::WATCHES {
            return;
        }
        let (mode, page) = self.ftl.page_of(id);
        let op = self.ftl.op(id);
        let begin = Begin {
            op: op.number(),
            kind: op.kind,
            cause: op.cause(),
            region: self.ftl.region_of(id),
            channel: wordline_units::ChannelId(self.planes[plane].channel),
            die: self.planes[plane].die,
            plane: PlaneId(plane as u32),
            ppn: op.ppn,
            slots: self.ftl.slots_of(id),
            mode,
            page,
            bytes: self.ftl.transfer_sectors(id) as u64 * self.geometry.sector,
            from: self.ftl.source_of(id),
            empties: self.ftl.emptying_of(id),
        };
        self.probe.begin(&begin, self.ftl.parts_of(id));
    }

    fn watch_queued(&mut self, id: OpId) {
        let op = self.ftl.op(id);
        let (op, class, plane) = (op.number(), op.class(), op.plane);
        let empties = self.ftl.emptying_of(id);
        self.probe.moment(Moment::Queued { op, class, plane, empties, at: self.now });
    }

    /// An operation is over, and the probe sees which requests that ends.
    fn watch_done(&mut self, id: OpId, piece: Piece) {
        let (op, before) = (self.ftl.op(id).number(), self.ftl.completed().len());
        self.ftl.done(id, piece);
        for i in before..self.ftl.completed().len() {
            let ended = self.ftl.completed()[i];
            let request = self.ftl.pending(ended).number;
            self.probe.moment(Moment::Decided { request, op, at: self.now });
        }
    }

    fn watch_array(&mut self, id: OpId, plane: usize, start: SimTime, end: SimTime) {
        let (mode, page) = self.ftl.page_of(id);
        let op = self.ftl.op(id);
        let event = Event::Array {
            op: op.number(),
            kind: op.kind,
            cause: op.cause(),
            die: self.planes[plane].die,
            plane: PlaneId(plane as u32),
            ppn: op.ppn,
            mode,
            page,
            retries: op.retries().count,
            start,
            end,
        };
        self.probe.event(event);
    }

    /// Let a bus serve the first of those that wait for it.
    #[inline(always)]
    fn try_bus(&mut self, channel: usize) {
        if self.buses.is_due(channel) {
            self.serve_bus(channel);
        }
    }

    /// With multi-plane commands a bus serves whoever waits before the array looks at what it has moved.
    #[inline(always)]
    fn serve_bus_first(&mut self, channel: usize) {
        if self.pairs && self.buses.is_due(channel) {
            self.serve_bus(channel);
        }
    }

    fn serve_bus(&mut self, channel: usize) {
        while let Some((plane, key)) = self.next_at_bus(channel) {
            let p = &self.planes[plane];
            if p.wants != Want::Bus {
                return self.begin_on_bus(channel, plane, p.at_bus(), 0);
            }
            if let Some(first) = self.take(plane, key)
                && self.begin_program(plane, first)
            {
                return;
            }
        }
    }

    /// Bind a program that its plane and bus are free for, and begin its transfer. What cannot be bound
    /// waits, and the plane posts what comes next. Returns whether it began: if not, whoever asked
    /// serves the bus on. (To do so from here would nest as deep as there are programs without a place.)
    #[inline]
    fn begin_program(&mut self, plane: usize, id: OpId) -> bool {
        let binding = self.ftl.bind(id);
        let p = &mut self.planes[plane];
        let (array, channel) = (p.array as usize, p.channel as usize);
        if binding == Binding::Bound {
            let command = self.command_program[p.medium as usize];
            self.occupy(plane, id);
            self.begin_on_bus(channel, plane, id, command);
            return true;
        }
        if binding == Binding::Blocked {
            self.block(plane, id);
        }
        self.post(plane);
        // While the plane has another program to try, it has not yet said what it wants of its array.
        let next = self.first(plane);
        if !next.is_none() && self.ftl.op(next).kind != OpKind::Program {
            self.try_array(array);
        }
        false
    }

    /// A program finds no slot in its plane.
    fn block(&mut self, plane: usize, id: OpId) {
        let becomes = self.ftl.blocked(id);
        if becomes == Blocked::Dropped {
            return;
        }
        if self.ftl.serves_host(id) {
            let busy = self.busy_until_now(plane, id);
            self.waits.block(id, self.now, busy);
        }
        if P::WATCHES {
            let op = self.ftl.op(id).number();
            self.probe.moment(Moment::Blocked { op, at: self.now });
        }
        if becomes == Blocked::Waits {
            self.waiting[plane].push_back(id);
        }
    }

    #[inline(always)]
    fn begin_on_bus(&mut self, channel: usize, plane: usize, id: OpId, command: u64) {
        self.buses.shared[channel].busy = Some(id);
        let sectors = self.ftl.transfer_sectors(id);
        let time = command + self.transfer[self.planes[plane].medium as usize][sectors as usize];
        let end = self.now + SimDuration(time);
        self.buses.shared[channel].take_until(self.now, end);
        self.clock.set((self.arrays.shared.len() + channel) as u32, end);
        if P::WATCHES {
            let channel = wordline_units::ChannelId(channel as u32);
            let bytes = sectors as u64 * self.geometry.sector;
            let (op, plane) = (self.ftl.op(id).number(), PlaneId(plane as u32));
            let event = Event::Bus { op, channel, plane, bytes, start: self.now, end };
            self.probe.event(event);
        }
    }

    #[inline]
    fn array_done(&mut self, array: usize) {
        if self.suspension.is_some() && !self.is_through(array) {
            return;
        }
        let Some(id) = self.arrays.shared[array].busy.take() else { return };
        if self.pairs {
            self.end_together(array, id);
        } else {
            self.array_is_through(id);
        }
        self.try_array(array);
        if self.suspension.is_some() {
            self.go_on_with_rest(array);
        }
    }

    /// An array is through with an operation: a read goes on to its bus, any other is over.
    #[inline(always)]
    fn array_is_through(&mut self, id: OpId) {
        let op = self.ftl.op(id);
        let plane = op.plane.index();
        if op.kind == OpKind::Read {
            let (key, repeated, p) = (op.key, op.repeated(), &mut self.planes[plane]);
            if repeated == 0 {
                p.current.turned = self.now;
            }
            p.current.sensed = self.now;
            if p.cache.reads() {
                self.bring_out(plane);
            } else {
                let channel = p.channel as usize;
                if self.buses.is_idle(channel) {
                    self.begin_on_bus(channel, plane, id, 0);
                } else {
                    self.buses.want(channel, plane, key);
                    self.try_bus(channel);
                }
            }
        } else {
            self.end(id, plane);
        }
    }

    #[inline]
    fn bus_done(&mut self, channel: usize) {
        let Some(id) = self.buses.shared[channel].busy.take() else { return };
        let op = self.ftl.op(id);
        let plane = op.plane.index();
        let is_read = op.kind == OpKind::Read;
        if is_read && !self.ftl.repeat(id) {
            self.end(id, plane);
        } else if !self.planes[plane].cache.is_off() && self.planes[plane].second.cached.op == id {
            self.planes[plane].second.cached.turned = self.now;
            self.serve_bus_first(channel);
            self.bring_in(plane);
        } else {
            let (key, p) = (self.ftl.op(id).key, &mut self.planes[plane]);
            let array = p.array as usize;
            if !is_read {
                p.current.turned = self.now;
            }
            if self.arrays.is_idle(array) && !self.pairs && self.suspension.is_none() {
                self.begin_on_array(array, plane, id);
            } else {
                self.arrays.want(array, plane, key);
                self.serve_bus_first(channel);
                self.try_array(array);
            }
        }
        self.try_bus(channel);
    }

    /// An operation is over, and its plane free.
    #[inline]
    fn end(&mut self, id: OpId, plane: usize) {
        if P::WATCHES {
            let op = self.ftl.op(id).number();
            self.probe.event(Event::Ready { op, plane: PlaneId(plane as u32), at: self.now });
        }
        let (cause, is_program) = (self.ftl.op(id).cause(), self.ftl.op(id).kind == OpKind::Program);
        let piece = if self.ftl.serves_host(id) {
            let behind = self.waits.idle(id);
            if behind > SimDuration::ZERO
                && let Some(request) = self.ftl.request_of(id)
            {
                request.behind_idle = request.behind_idle.max(behind);
            }
            let work = if is_program { Work::Program } else { Work::Read };
            let p = &mut self.planes[plane];
            let busy = if p.cache.is_off() { p.busy } else { p.of(id).behind };
            if self.suspension.is_some() {
                self.waits.piece_of_all(id, p.of(id), busy, self.now, work)
            } else {
                self.waits.piece(id, p.of(id), busy, self.now, work)
            }
        } else {
            if self.ftl.op(id).is_idle_work() {
                self.count_idle_work(id, plane);
            }
            Piece::NONE
        };
        let p = &mut self.planes[plane];
        if p.cache.is_off() {
            p.busy.add(cause, self.now.since(p.current.began).0);
            p.current.op = OpId::NONE;
        } else {
            self.leave_register(plane, id);
        }
        if P::WATCHES {
            self.watch_done(id, piece);
        } else {
            self.ftl.done(id, piece);
        }
        if self.idle {
            let die = self.planes[plane].die;
            if self.ftl.idle_jobs(die) == 0 {
                self.ftl.idle(die);
            }
        }
        match self.ftl.take_continuation() {
            Some(next) => self.continue_with(plane, next),
            None if !self.planes[plane].cache.is_off() => self.go_on_in(plane),
            None => self.offer(plane),
        }
        if self.suspension.is_some() {
            self.go_on_with_rest(self.planes[plane].array as usize);
        }
    }

    /// Space may have come up: programs that waited at a plane try again, in their order.
    fn wake(&mut self, plane: PlaneId) {
        let plane = plane.index();
        while let Some(id) = self.waiting[plane].pop_back() {
            let class = (self.ftl.op(id).key >> 56) as usize;
            let head = std::mem::replace(&mut self.planes[plane].head[class], id);
            self.planes[plane].queued |= 1 << class;
            self.ftl.op_mut(id).next = head;
            if head.is_none() {
                self.planes[plane].tail[class] = id;
            }
        }
        if self.may_begin(plane) {
            self.offer(plane);
        }
    }

    fn refresh_die(&mut self, die: DieId) {
        for plane in 0..self.planes.len() {
            if self.planes[plane].die == die && self.may_begin(plane) {
                self.offer(plane);
            }
        }
    }

    /// Nothing is pending: what waits for space in its plane and has no place to stay goes to another plane.
    /// Returns whether anything does.
    #[cold]
    fn send_elsewhere(&mut self) -> bool {
        if !self.ftl.has_operations() {
            return false;
        }
        let mut any = false;
        for waiting in &mut self.waiting {
            waiting.retain(|id| {
                let goes = self.ftl.send_elsewhere(*id);
                any |= goes;
                !goes
            });
        }
        any
    }

    /// Nothing is pending and requests wait: what waits for space never will have it. Writes that
    /// are not acknowledged yet are given up. Those that are stay in the buffer; then it is the flushes
    /// that end without what they promise, and else the first request that the full buffer holds up.
    #[cold]
    fn give_up(&mut self) -> bool {
        let mut gave_up = false;
        for plane in 0..self.planes.len() {
            for id in std::mem::take(&mut self.waiting[plane]) {
                if self.ftl.can_fail(id) {
                    self.ftl.fail(id);
                    gave_up = true;
                } else {
                    self.waiting[plane].push_back(id);
                }
            }
        }
        if !gave_up {
            gave_up = self.ftl.fail_held_moves() || self.ftl.fail_flushes();
        }
        if !gave_up && let Some((request, number, _)) = self.held_up.pop_front() {
            self.ftl.refuse(request, number);
            gave_up = true;
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
            // A flush takes no time there, but says that what came before is over: it must not overtake
            // the writes that still stand on the link. A trim says nothing of others.
            HostOp::Flush if !self.link_queue.is_empty() => SimDuration::ZERO,
            HostOp::Trim | HostOp::Flush => return self.complete(id),
        };
        let begin = self.link_free_at.max(self.now);
        let moved = if request.op == HostOp::Flush { 0 } else { request.bytes() };
        let end = begin + overhead + self.link.rate.time_for(moved);
        self.link_free_at = end;
        if self.link_queue.is_empty() {
            self.clock.set(self.link_event(), end);
        }
        self.link_queue.push_back((end, id));
    }

    /// The clock's number for the host link; timers come after it.
    fn link_event(&self) -> u32 {
        (self.arrays.shared.len() + self.buses.shared.len()) as u32
    }

    fn link_done(&mut self) {
        if let Some((_, id)) = self.link_queue.pop_front() {
            self.complete(id);
        }
        if let Some((next, _)) = self.link_queue.front() {
            self.clock.set(self.link_event(), *next);
        }
    }

    fn sample(&mut self) {
        let home = self.ftl.layout().home;
        let free = Free {
            share: self.ftl.free_share(home),
            pages: self.ftl.view().free_pages(home),
            usable_bytes: self.ftl.usable_bytes().0,
        };
        let used = |resources: &Resources| resources.shared.iter().map(|r| r.used(self.now)).sum();
        let usage = Usage { at: self.now, arrays: used(&self.arrays), buses: used(&self.buses) };
        self.metrics.sample(self.now, self.ftl.counters(), free, usage);
        if self.metrics.wants_frame() {
            self.look_at_blocks();
        }
    }

    /// Note how the blocks are now that stand for all on a map.
    pub(crate) fn look_at_blocks(&mut self) {
        let cells =
            map_rows(&self.geometry).into_iter().flat_map(|row| row.blocks()).map(|b| self.ftl.look_at(b));
        self.metrics.add_frame(Frame { at: self.now, cells: cells.collect() });
    }

    /// Note for how long each array and each bus has been busy by now.
    pub(crate) fn note_usage(&mut self) {
        let used = |resources: &Resources| resources.shared.iter().map(|r| r.used(self.now)).collect();
        self.metrics.used = [used(&self.arrays), used(&self.buses)];
        self.metrics.used_at = self.now;
    }

    #[inline]
    fn complete(&mut self, id: RequestId) {
        let Pending {
            request, admitted, ended, number, outcome, mut parts, slowest_bit, behind_idle, ..
        } = *self.ftl.pending(id);
        self.metrics.dominated_by(slowest_bit);
        self.metrics.idle.delayed_by(behind_idle);
        parts[LatencyPart::Link] = self.now.since(ended).0;
        debug_assert!(request.arrival > admitted || parts.total() == self.now.since(request.arrival).0);
        let span = (request.arrival, self.now);
        let fresh = self.metrics.complete(number, request.op, request.bytes(), span, outcome, &parts);
        if fresh || number & 1023 == 0 {
            self.sample();
        }
        if self.metrics.checkpoint_is_due() {
            self.metrics.checkpoint(self.now, self.ftl.counters(), self.ftl.erased_bytes());
        }
        let data = self.ftl.release(id);
        let completion = Completion { number, request, at: self.now, outcome, parts, data };
        if P::WATCHES {
            self.probe.completion(&completion);
        }
        self.ready.push_back(completion);
        if self.outstanding() == 0 && self.ftl.works_when_idle() {
            self.idle_epoch = self.submitted;
            self.alarm(self.now + self.idle_after, Alarm::Idle(self.idle_epoch));
        }
    }

    // --- timers and idle time ------------------------------------------------------------------

    fn alarm(&mut self, at: SimTime, alarm: Alarm) {
        let slot = self.free_alarms.pop().unwrap_or(self.alarms.len() as u32);
        if slot as usize == self.alarms.len() {
            self.alarms.push(alarm);
        }
        self.alarms[slot as usize] = alarm;
        self.clock.set(self.link_event() + 1 + slot, at);
    }

    fn ring(&mut self, slot: usize) {
        self.free_alarms.push(slot as u32);
        match self.alarms[slot] {
            Alarm::Layer(timer) => self.ftl.timer(timer),
            Alarm::Idle(epoch) => {
                if epoch == self.submitted && self.outstanding() == 0 {
                    (self.idle, self.idle_since) = (true, self.now);
                    self.metrics.idle.periods += 1;
                    self.ask_all_idle();
                }
            }
        }
    }

    /// A request has come, or the run is over.
    #[inline(always)]
    fn idle_is_over(&mut self) {
        if std::mem::replace(&mut self.idle, false) && !self.ftl.view().draining() {
            self.metrics.idle.lasted += self.now.since(self.idle_since).0;
        }
    }

    /// An operation of idle work is over: count it, and what it cost those of the host that waited.
    fn count_idle_work(&mut self, id: OpId, plane: usize) {
        if !self.ftl.view().draining() {
            let op = self.ftl.op(id);
            let idle = &mut self.metrics.idle;
            match op.kind {
                OpKind::Program => idle.programmed[op.cause() as usize] += self.ftl.data_bytes(id),
                OpKind::Erase => idle.erases += 1,
                OpKind::Read => {}
            }
        }
        self.charge_idle_work(id, plane);
    }

    /// An operation of idle work has had its plane until now: count how long, and what that cost those of the host
    /// that waited.
    fn charge_idle_work(&mut self, id: OpId, plane: usize) {
        let Plane { die, array, .. } = self.planes[plane];
        let began = self.planes[plane].of(id).began;
        let from = began.max(std::mem::replace(&mut self.idle_counted[die.index()], self.now));
        if !self.ftl.view().draining() {
            self.metrics.idle.worked[self.ftl.op(id).cause() as usize] += self.now.since(began).0;
            if self.metrics.begins_bin(self.now) {
                self.sample();
            }
        }
        let held = self.ftl.is_held(die);
        for other in self.geometry.planes_of_die(die).map(|p| p as usize) {
            if !held && self.planes[other].array != array {
                continue;
            }
            let Plane { current, second, .. } = &self.planes[other];
            let cached = &second.cached;
            let waits_for_array = !current.op.is_none() && self.arrays.wants[other] != NOTHING;
            for (held, waits) in [(current, waits_for_array), (cached, cached.waits)] {
                if waits && self.ftl.serves_host(held.op) {
                    self.waits.behind_idle(held.op, from, Some(held.turned), self.now);
                }
            }
            for mut waiting in self.planes[other].head {
                while !waiting.is_none() {
                    if self.ftl.serves_host(waiting) {
                        self.waits.behind_idle(waiting, from, None, self.now);
                    }
                    waiting = self.ftl.op(waiting).next;
                }
            }
        }
    }

    fn ask_all_idle(&mut self) {
        for die in 0..self.geometry.dies {
            self.ftl.idle(DieId(die));
        }
        self.settle();
    }
}
