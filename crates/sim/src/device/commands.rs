//! Array commands: multi-plane operations, and suspension by host reads.
//!
//! **Multi-plane commands.** When an array begins an operation, those that stand ready in its other planes and are alike
//! (`Ftl::are_alike`) go with it, and the array is taken until the longest is done. Programs are moved one after
//! the other before they begin: while the bus brings one to a plane of the die, a like one waits for it. What each
//! further plane adds to a command is the device's (`Medium::further_plane`): to reads and erases on the array, for all
//! of them, to programs on the bus.
//!
//! **Suspension.** When a read is queued at an array that is at a program or an erase, the array stops after the time
//! that the command takes, what it was at is set aside, and all host reads that wait for the array are served. When
//! none is left and the plane is free, the array continues with the rest. Meanwhile nothing else starts there. The
//! flash keeps the data of a suspended program in separate latches, so that the plane's register can serve the reads. A
//! multi-plane command is suspended as one and continues as one, when all of its planes are free.

use crate::device::Device;
use crate::device::watch;
use crate::probe::Probe;
use crate::state::agenda::Ask;
use crate::state::plane::{Place, Want};
use crate::state::queue_delay::Work;
use crate::state::resources::{NOTHING, User};
use wordline_ftl::{Class, QueueEntry};
use wordline_units::SimTime;

impl<P: Probe> Device<P> {
    /// Let ready and equal operations join the one that starts, in the order of service. Returns when the last of them
    /// is done.
    pub(crate) fn join(&mut self, array: usize, lead: QueueEntry, end: SimTime) -> SimTime {
        self.arrays.put_after(lead.op, None);
        if !self.arrays.is_wanted(array) {
            return end;
        }
        let place = self.planes[lead.plane.index()].place;
        // While something is set aside, reads of the host alone.
        let reads_alone = self.arrays.serves_reads_alone(array);
        let may_join = |key: u64| key != NOTHING && (!reads_alone || key >> 56 == Class::Read as u64);
        let mut ready: Vec<(u64, usize)> = self
            .geometry
            .planes_of_die(place.die)
            .map(|plane| (self.arrays.wanted(plane as usize), plane as usize))
            .filter(|(key, _)| may_join(*key))
            .filter(|(_, plane)| {
                self.wanted(*plane).is_some_and(|other| self.ftl.are_alike(lead.op, other.op))
            })
            .collect();
        ready.sort_unstable();
        let (mut last, mut end, mut further) = (lead.op, end, 0);
        for (key, plane) in ready {
            self.arrays.withdraw(array, plane);
            if self.planes[plane].wants == Want::Array {
                let Some(first) = self.take(plane, key) else { continue };
                self.occupy(first);
            }
            let op = self.planes[plane].registers.current().held.op;
            self.arrays.put_after(last, Some(User { op, plane: plane as u32 }));
            self.arrays.put_after(op, None);
            last = op;
            further += 1;
            let time = self.ftl.begin_on_array(op);
            self.planes[plane].registers.note_again(time.again);
            end = end.max(self.clock.now() + time.all);
        }
        end + self.arrays.further(place.medium as usize, lead.kind(), further)
    }

    /// Time of the command of a program that has been bound and goes to its plane: that of a further plane where a like
    /// one has been brought to another plane of the die and waits for the array.
    #[inline(always)]
    pub(crate) fn command_of_program(&self, entry: QueueEntry) -> u64 {
        let medium = self.planes[entry.plane.index()].place.medium as usize;
        // Looked for only where it makes a difference.
        match self.buses.command_further(medium) {
            Some(further) if self.arrays.is_multiplane() && self.joins_a_program(entry) => further,
            _ => self.buses.command(medium),
        }
    }

    fn joins_a_program(&self, entry: QueueEntry) -> bool {
        let plane = entry.plane.index();
        let Place { array, die, .. } = self.planes[plane].place;
        self.arrays.is_wanted(array as usize)
            && self.geometry.planes_of_die(die).any(|other| {
                let other = other as usize;
                let waits = self.arrays.wanted(other) != NOTHING && self.planes[other].wants != Want::Array;
                other != plane
                    && waits
                    && self.wanted(other).is_some_and(|brought| {
                        brought.is_program() && self.ftl.are_alike(brought.op, entry.op)
                    })
            })
    }

    /// Whether the program that an array would begin is like one that the bus is just bringing to another of
    /// its planes, for which nothing else there stands before the array.
    pub(crate) fn expects_sibling_plane(&mut self, array: usize) -> bool {
        let Some(plane) = self.arrays.first(array) else { return false };
        let Some(lead) = self.wanted(plane) else { return false };
        let Some(coming) = self.buses.user(self.planes[plane].place.channel as usize) else { return false };
        let to = &self.planes[coming.plane as usize];
        let current = to.registers.current().held.op;
        to.registers.register(coming.op).held.is_program()
            && to.place.array as usize == array
            && (current == coming.op || current.is_none())
            && self.ftl.are_alike(lead.op, coming.op)
    }

    /// What a plane wants its array for, if it wants it: the first of its queue, or what has its register.
    fn wanted(&self, plane: usize) -> Option<QueueEntry> {
        let p = &self.planes[plane];
        let entry = if p.wants == Want::Array { self.first(plane)? } else { p.registers.current().held };
        Some(entry).filter(|entry| !entry.is_none() && entry.key == self.arrays.wanted(plane))
    }

    /// An array is through with all that it did together. It stays taken until the last has had its effect.
    pub(crate) fn end_together(&mut self, array: usize, lead: User) {
        if self.arrays.goes_with(lead.op).is_some() {
            let kind = self.planes[lead.plane as usize].registers.current().held.kind();
            self.metrics.count_together(kind, self.arrays.together(lead).count() as u64);
        }
        let mut at = Some(lead);
        while let Some(user) = at {
            at = self.arrays.goes_with(user.op);
            self.arrays.pass_on(array, at);
            self.array_is_through(user);
        }
    }

    /// The probe sees that an array does a command for a time.
    pub(crate) fn watch_command(&mut self, lead: User, times: (SimTime, SimTime)) {
        for user in self.arrays.command(lead) {
            let place = self.planes[user.plane as usize].place;
            watch::array(&mut self.probe, &self.ftl, user.op, place, times);
        }
    }

    /// The probe learns of a use that might have been cut short when it is over.
    pub(crate) fn watch_interruptible(&mut self, array: usize) {
        if let Some(user) = self.arrays.user(array)
            && self.arrays.ends(array, self.clock.now())
        {
            self.watch_command(user, (self.arrays.since(array), self.clock.now()));
        }
    }

    /// A host read is queued at a plane: the operation of its array may have to stop for it.
    pub(crate) fn interrupt(&mut self, entry: QueueEntry) {
        let Place { array, die, .. } = self.planes[entry.plane.index()].place;
        let Some(at) = self.arrays.user(array as usize) else { return };
        if entry.rank() == Class::Read as usize && !self.ftl.is_held(die) {
            let kind = self.planes[at.plane as usize].registers.register(at.op).held.kind();
            if let Some((event, end)) = self.arrays.stop(array as usize, kind, self.clock.now()) {
                self.clock.set(event, end);
            }
        }
    }

    /// An array has suspended its operation. To those who wait, that ends here, and what is left is queued again.
    pub(crate) fn suspend(&mut self, lead: User) {
        let kind = self.planes[lead.plane as usize].registers.register(lead.op).held.kind();
        self.metrics.count_suspension(kind);
        for user in self.arrays.command(lead) {
            self.leave_plane(user);
        }
        self.reschedule_sibling_planes(lead.plane as usize);
        self.serve();
    }

    /// A suspended operation releases its plane.
    fn leave_plane(&mut self, User { op, plane }: User) {
        let plane = plane as usize;
        let entry = self.planes[plane].registers.current().held;
        if entry.is_idle_work() {
            self.charge_idle_work(op, plane);
        }
        let registers = &mut self.planes[plane].registers;
        let (held, busy) = registers.suspend(self.clock.now());
        if entry.serves_host() {
            let resumed = self.queue_delays.is_continued(op);
            let work = if resumed { Work::Rest } else { Work::Program };
            let breakdown = self.queue_delays.breakdown(op, &held, busy, self.clock.now(), work);
            self.queue_delays.continue_later(op, breakdown, self.clock.now(), registers.busy());
        }
    }

    /// An array continues with what was set aside, if no read wants it and its planes are free.
    pub(crate) fn go_on_with_rest(&mut self, array: usize) {
        let Some(lead) = self.arrays.rest(array) else { return };
        let command = self.arrays.command(lead);
        if !command.iter().all(|user| self.planes[user.plane as usize].registers.current().held.is_none()) {
            return;
        }
        for user in command {
            let entry = self.ftl.entry_of(user.op);
            self.planes[user.plane as usize].registers.resume(entry, self.clock.now());
        }
        if let Some((event, end)) = self.arrays.resume(array, self.clock.now()) {
            self.clock.set(event, end);
        }
        self.reschedule_sibling_planes(lead.plane as usize);
    }

    /// The planes that share a plane's array look again at what they may begin, itself too. All have said what they
    /// want before any of them gets it.
    fn reschedule_sibling_planes(&mut self, plane: usize) {
        let Place { die, array, channel, .. } = self.planes[plane].place;
        for other in self.geometry.planes_of_die(die).map(|p| p as usize) {
            if self.planes[other].place.array == array && self.planes[other].registers.may_begin() {
                self.post(other);
            }
        }
        self.agenda.ask_if(self.buses.is_due(channel as usize), Ask::Bus(channel));
    }
}
