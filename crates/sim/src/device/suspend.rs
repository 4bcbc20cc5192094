//! Suspension: a program or an erase makes way for reads of the host.
//!
//! When a read is queued at an array that is at a program or an erase, the array stops after the time that the
//! command takes, what it was at is set aside, and all host reads that wait for the array are served. When none is
//! left and the plane is free, the array goes on with the rest. In between nothing else begins there. The flash keeps
//! the data of a suspended program in latches of its own, so that the plane's register serves the reads. A multi-plane
//! command is suspended as one and goes on as one, when all of its planes are free.

use crate::device::Device;
use crate::probe::Probe;
use crate::state::plane::Plane;
use crate::state::queue_delay::Work;
use crate::state::registers::RegisterUse;
use wordline_ftl::{Class, OpId, OpKind};
use wordline_units::SimDuration;

impl<P: Probe> Device<P> {
    /// An array begins on an operation.
    pub(crate) fn begin_interruptible(&mut self, array: usize) {
        let i = &mut self.interrupted[array];
        i.since = self.now;
        if i.suspended.is_none() {
            i.times = 0;
        }
    }

    /// A read of the host is queued at a plane: what its array is at may have to stop for it.
    pub(crate) fn interrupt(&mut self, id: OpId, plane: usize) {
        let Some(rule) = self.suspension else { return };
        let p = &self.planes[plane];
        let array = p.array as usize;
        let i = &self.interrupted[array];
        let Some(at) = self.arrays.shared[array].busy else { return };
        let stop = match self.ftl.op(at).kind {
            OpKind::Read => None,
            OpKind::Program => rule.program,
            OpKind::Erase => rule.erase,
        };
        let Some(stop) = stop else { return };
        let left = self.arrays.shared[array].until.since(self.now);
        if self.ftl.op(id).key >> 56 != Class::Read as u64
            || self.ftl.is_held(p.die)
            || i.stops
            || i.times >= rule.limit
            || left <= stop
        {
            return;
        }
        let i = &mut self.interrupted[array];
        (i.stops, i.left, i.times) = (true, left, i.times + 1);
        let end = self.now + stop;
        self.arrays.shared[array].leave_at(end);
        self.clock.set(array as u32, end);
    }

    /// An array's event: whether the array is through with what it is at. An event at any other time than its end
    /// is what a suspension has made void.
    pub(crate) fn is_through(&mut self, array: usize) -> bool {
        if self.arrays.shared[array].until != self.now {
            return false;
        }
        self.watch_interruptible(array);
        let stops = std::mem::take(&mut self.interrupted[array].stops);
        if stops {
            self.suspend(array);
        }
        !stops
    }

    /// The probe learns of a use that might have been cut short when it is over.
    fn watch_interruptible(&mut self, array: usize) {
        if P::WATCHES
            && let Some(id) = self.arrays.shared[array].busy
        {
            let since = self.interrupted[array].since;
            let mut at = Some(id);
            while let Some(id) = at {
                self.watch_array(id, self.ftl.op(id).plane.index(), since, self.now);
                at = self.goes_with(id);
            }
        }
    }

    /// An array has stopped. To those who wait, what it was at ends here, and what is left is queued anew.
    fn suspend(&mut self, array: usize) {
        let Some(lead) = self.arrays.shared[array].busy.take() else { return };
        self.metrics.suspensions[self.ftl.op(lead).kind as usize] += 1;
        let mut at = Some(lead);
        while let Some(id) = at {
            self.leave_plane(id);
            at = self.goes_with(id);
        }
        self.interrupted[array].suspended = Some(lead);
        self.look_again_beside(self.ftl.op(lead).plane.index());
        self.try_array(array);
        self.go_on_with_rest(array);
    }

    /// An operation that is suspended gives its plane free.
    fn leave_plane(&mut self, id: OpId) {
        let (plane, cause) = (self.ftl.op(id).plane.index(), self.ftl.op(id).cause());
        if self.ftl.op(id).is_idle_work() {
            self.charge_idle_work(id, plane);
        }
        let p = &mut self.planes[plane];
        let held = std::mem::replace(&mut p.current, RegisterUse::NOTHING);
        let busy = p.busy;
        p.busy.add(cause, self.now.since(held.began).0);
        if self.ftl.serves_host(id) {
            let resumed = self.queue_delays.is_continued(id);
            let work = if resumed { Work::Rest } else { Work::Program };
            let breakdown = self.queue_delays.breakdown(id, &held, busy, self.now, work);
            self.queue_delays.continue_later(id, breakdown, self.now, p.busy);
        }
    }

    /// An array goes on with what was set aside, if no read wants it and its planes are free.
    pub(crate) fn go_on_with_rest(&mut self, array: usize) {
        let i = self.interrupted[array];
        let Some(lead) = i.suspended else { return };
        let plane = |id: OpId| self.ftl.op(id).plane.index();
        let resume = self.suspension.map_or(SimDuration::ZERO, |rule| rule.resume);
        let is_free = self.arrays.shared[array].busy.is_none()
            && self.together(lead).all(|id| self.planes[plane(id)].current.op.is_none());
        if !is_free || self.arrays.first_of(array, Class::Read).is_some() {
            return;
        }
        let held =
            RegisterUse { began: self.now, turned: self.now, sensed: self.now, ..RegisterUse::NOTHING };
        let mut at = Some(lead);
        while let Some(id) = at {
            self.planes[self.ftl.op(id).plane.index()].current = RegisterUse { op: id, ..held };
            at = self.goes_with(id);
        }
        self.arrays.shared[array].busy = Some(lead);
        let end = self.now + resume + i.left;
        self.arrays.shared[array].take_until(self.now, end);
        self.clock.set(array as u32, end);
        self.begin_interruptible(array);
        self.interrupted[array].suspended = None;
        self.look_again_beside(self.ftl.op(lead).plane.index());
    }

    /// Whether something has been set aside, so that only reads of the host may begin: also before what holds the die,
    /// since such a read may have the very plane that the rest waits for.
    #[inline(always)]
    pub(crate) fn serves_reads_alone(&self, array: usize) -> bool {
        self.suspension.is_some() && self.interrupted[array].suspended.is_some()
    }

    /// The planes that share a plane's array look again at what they may begin, itself too. All have said what they
    /// want before any of them gets it.
    fn look_again_beside(&mut self, plane: usize) {
        let Plane { die, array, channel, .. } = self.planes[plane];
        for other in self.geometry.planes_of_die(die).map(|p| p as usize) {
            if self.planes[other].array == array && self.may_begin(other) {
                self.post(other);
            }
        }
        self.try_bus(channel as usize);
    }
}
