//! The queues of the planes: which operation is the first of each, what it is noted to wait for, and what
//! becomes of programs that find no page.

use crate::device::Device;
use crate::error::DeviceError;
use crate::probe::Probe;
use crate::state::agenda::Ask;
use crate::state::plane::{Place, Plane, Want};
use wordline_ftl::drive;
use wordline_ftl::{BusyTime, Class, OpKind, QueueEntry};

impl<P: Probe> Device<P> {
    /// An operation arrives at a plane. With nothing else to do there, and its array or bus free, it begins, as it
    /// would by way of the queue.
    #[inline(always)]
    pub(crate) fn come(&mut self, entry: QueueEntry) {
        let plane = entry.plane.index();
        let p = &mut self.planes[plane];
        let Place { array, channel, die, .. } = p.place;
        let (array, channel) = (array as usize, channel as usize);
        if p.is_free() && !self.arrays.goes_by_commands() && !self.ftl.is_held(die) {
            if !entry.is_program() && self.arrays.is_idle(array) {
                self.begin_at_once_on_array(array, entry);
                return self.serve();
            }
            if entry.is_program() && self.buses.is_idle(channel) {
                self.begin_program(entry);
                return self.serve();
            }
        }
        p.queue.push(entry);
        if self.arrays.is_multiplane() {
            self.agenda.ask_later(plane as u32);
        } else if p.registers.may_begin() {
            self.serve_plane(plane);
        }
        if self.arrays.suspends() {
            self.interrupt(entry);
        }
    }

    /// More is in the queue of a plane: it offers what is first, or with multi-plane commands does so when all have
    /// been queued.
    pub(crate) fn has_more(&mut self, plane: usize) {
        if self.arrays.is_multiplane() {
            self.agenda.ask_later(plane as u32);
        } else if self.planes[plane].registers.may_begin() {
            self.serve_plane(plane);
        }
    }

    /// How long a plane has been busy, with the operation that it is at, as one of a kind sees it that would begin.
    #[inline(always)]
    pub(crate) fn busy_until_now(&mut self, plane: usize, kind: OpKind) -> BusyTime {
        let registers = &mut self.planes[plane].registers;
        if registers.is_one() {
            registers.busy_until(self.clock.now())
        } else {
            registers.busy_for(kind, self.clock.now())
        }
    }

    /// The operation that a plane would begin next, if it has a register for it.
    #[inline(always)]
    pub(crate) fn first(&self, plane: usize) -> Option<QueueEntry> {
        self.first_in(&self.planes[plane])
    }

    #[inline(always)]
    fn first_in(&self, p: &Plane) -> Option<QueueEntry> {
        let mut queued = p.queue.queued();
        if self.ftl.is_held(p.place.die) {
            queued &= 1 << Class::Held as u8;
        }
        if self.arrays.serves_reads_alone(p.place.array as usize) {
            queued &= 1 << Class::Read as u8;
        }
        if queued == 0 {
            return None;
        }
        let rank = match &self.fair {
            None => queued.trailing_zeros() as usize,
            Some(fair) => fair.rank(p.place.array, queued),
        };
        let first = p.queue.first(rank);
        (p.registers.is_one() || p.registers.suit(&first)).then_some(first)
    }

    /// Note what a plane wants next of its array or bus.
    pub(crate) fn post(&mut self, plane: usize) {
        self.withdraw(plane);
        if let Some(first) = self.first(plane) {
            self.want(first);
        }
    }

    /// Take back what a plane wants next.
    #[inline(always)]
    fn withdraw(&mut self, plane: usize) {
        let p = &mut self.planes[plane];
        match std::mem::replace(&mut p.wants, Want::Nothing) {
            Want::Nothing => {}
            Want::Array => self.arrays.withdraw(p.place.array as usize, plane),
            Want::Bus => self.buses.withdraw(p.place.channel as usize, plane),
        }
    }

    #[inline(always)]
    fn want(&mut self, first: QueueEntry) {
        let plane = first.plane.index();
        let p = &mut self.planes[plane];
        if first.is_program() {
            p.wants = Want::Bus;
            self.buses.want(p.place.channel as usize, plane, first.key);
        } else {
            p.wants = Want::Array;
            self.arrays.want(p.place.array as usize, plane, first.key);
        }
    }

    /// A plane continues with an operation on what its register holds: only the bus is wanted.
    pub(crate) fn continue_with(&mut self, entry: QueueEntry) {
        self.occupy(entry);
        let plane = entry.plane.index();
        let p = &mut self.planes[plane];
        p.registers.note_goes_on(entry.op, self.clock.now());
        let channel = p.place.channel as usize;
        self.buses.want(channel, plane, entry.key);
        self.agenda.ask_if(self.buses.is_due(channel), Ask::Bus(channel as u32));
    }

    /// Begin what a plane would do next, or note that it waits for its array or bus.
    #[inline]
    pub(crate) fn offer(&mut self, plane: usize) {
        self.withdraw(plane);
        let p = &self.planes[plane];
        let Some(first) = self.first_in(p) else { return };
        let Place { array, channel, .. } = p.place;
        let (array, channel) = (array as usize, channel as usize);
        if first.is_program() {
            if self.buses.is_idle(channel) {
                self.planes[plane].queue.pop(first.rank());
                self.begin_program(first);
            } else {
                self.want(first);
                self.agenda.ask_if(self.buses.is_due(channel), Ask::Bus(channel as u32));
            }
        } else if self.arrays.is_idle(array) {
            self.planes[plane].queue.pop(first.rank());
            self.begin_at_once_on_array(array, first);
        } else {
            self.want(first);
            self.agenda.ask_if(self.arrays.is_due(array), Ask::Array(array as u32));
        }
    }

    /// The operation that a plane offered under a key, taken off its queue. A hold that has
    /// begun since withdraws the offer, and the plane posts what it wants now.
    #[inline(always)]
    pub(crate) fn take(&mut self, plane: usize, key: u64) -> Option<QueueEntry> {
        self.planes[plane].wants = Want::Nothing;
        let Some(first) = self.first(plane).filter(|first| first.key == key) else {
            self.post(plane);
            return None;
        };
        self.planes[plane].queue.pop(first.rank());
        Some(first)
    }

    /// What has been queued at one moment has all been queued before any of it begins, so that what is alike goes
    /// together: its planes say what they want, and then their buses and arrays serve.
    pub(crate) fn begin_newly_queued(&mut self) {
        let mut planes = self.agenda.take_later();
        planes.retain(|plane| self.planes[*plane as usize].registers.may_begin());
        planes.iter().for_each(|plane| self.post(*plane as usize));
        for plane in &planes {
            let Place { array, channel, .. } = self.planes[*plane as usize].place;
            self.serve_bus(channel as usize);
            self.serve_array(array as usize);
        }
        self.agenda.reuse(planes);
    }

    /// Nothing is pending: what waits for space is let go, sent elsewhere or given up, in the order of docs/progress.md.
    /// Returns whether that changes anything.
    #[cold]
    pub(crate) fn last_resort(&mut self) -> Result<bool, DeviceError> {
        // Nothing has come since the last one that changed nothing: another would draw lots again for nothing, and who
        // asks when would count.
        let come = self.clock.events_set() + self.submitted();
        if self.last_resorts.have_changed_nothing(come) {
            return Ok(false);
        }
        let ended = self.submitted() - u64::from(self.outstanding());
        let awaited = self.outstanding() > 0;
        let changes = drive::last_resort(self, awaited);
        if !changes && !awaited {
            self.last_resorts.note_nothing_changed(come);
            return Ok(false);
        }
        if !changes || self.last_resorts.are_in_vain(self.ftl.counters().flash_ops() + ended) {
            return Err(DeviceError::Stuck {
                outstanding: self.outstanding(),
                now: self.clock.now(),
                left: self.ftl.inspect().leftovers(),
            });
        }
        self.no_fault()?;
        Ok(true)
    }
}
