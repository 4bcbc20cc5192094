//! Multi-plane commands: operations of several planes of a die that share its array's time.
//!
//! When an array begins an operation, those that stand ready in its other planes and are alike
//! (`Ftl::are_alike`) go with it, and the array is taken until the longest is done. Programs are moved one after
//! the other before they begin: while the bus brings one to a plane of the die, a like one waits for it. What each
//! further plane adds to a command is the device's (`Medium::further_plane`): to reads and erases on the array, for all
//! of them, to programs on the bus. What goes together is a list by the link `next`, which an operation that stands in
//! no queue does not use.

use crate::device::Device;
use crate::probe::Probe;
use crate::state::plane::Want;
use crate::state::resources::NOTHING;
use wordline_ftl::{Class, OpId, OpKind};
use wordline_units::{SimDuration, SimTime};

impl<P: Probe> Device<P> {
    /// Let what is ready and like the operation that begins go with it, in the order of service. Returns
    /// when the last of them is done.
    pub(crate) fn join(&mut self, array: usize, lead: OpId, end: SimTime) -> SimTime {
        self.ftl.op_mut(lead).next = OpId::NONE;
        if self.arrays.shared[array].waiting == 0 {
            return end;
        }
        // While something is set aside, reads of the host alone.
        let suspended = self.suspension.is_some() && self.interrupted[array].suspended().is_some();
        let may_join = |key: u64| key != NOTHING && (!suspended || key >> 56 == Class::Read as u64);
        let mut ready: Vec<(u64, usize)> = self
            .geometry
            .planes_of_die(self.planes[self.ftl.op(lead).plane.index()].die)
            .map(|plane| (self.arrays.wants[plane as usize], plane as usize))
            .filter(|(key, _)| may_join(*key))
            .filter(|(_, plane)| self.wanted(*plane).is_some_and(|id| self.ftl.are_alike(lead, id)))
            .collect();
        ready.sort_unstable();
        let (mut last, mut end, mut further) = (lead, end, 0);
        for (key, plane) in ready {
            self.arrays.withdraw(array, plane);
            if self.planes[plane].wants == Want::Array {
                let Some(first) = self.take(plane, key) else { continue };
                self.occupy(plane, first);
            }
            let id = self.planes[plane].current.op;
            self.ftl.op_mut(last).next = id;
            self.ftl.op_mut(id).next = OpId::NONE;
            last = id;
            further += 1;
            let time = self.ftl.begin_on_array(id);
            self.planes[plane].current.again = time.again;
            end = end.max(self.now + time.all);
        }
        let lead = self.ftl.op(lead);
        let more = &self.command_further[self.planes[lead.plane.index()].medium as usize];
        end + match lead.kind {
            OpKind::Read => SimDuration(more.read.0 * further),
            OpKind::Erase => SimDuration(more.erase.0 * further),
            // Its command has gone over the bus before its data.
            OpKind::Program => SimDuration::ZERO,
        }
    }

    /// Time of the command of a program that has been bound and goes to its plane: that of a further plane where a like
    /// one has been brought to another plane of the die and waits for the array.
    #[inline(always)]
    pub(crate) fn command_of_program(&self, plane: usize, id: OpId) -> u64 {
        let medium = self.planes[plane].medium as usize;
        let (alone, further) = (self.command_program[medium], self.command_further[medium].program.0);
        // Looked for only where it makes a difference.
        if self.pairs && further != alone && self.joins_a_program(plane, id) { further } else { alone }
    }

    fn joins_a_program(&self, plane: usize, id: OpId) -> bool {
        let array = self.planes[plane].array as usize;
        self.arrays.shared[array].waiting > 0
            && self.geometry.planes_of_die(self.planes[plane].die).any(|other| {
                let other = other as usize;
                let waits = self.arrays.wants[other] != NOTHING && self.planes[other].wants != Want::Array;
                other != plane
                    && waits
                    && self.wanted(other).is_some_and(|brought| {
                        self.ftl.op(brought).kind == OpKind::Program && self.ftl.are_alike(brought, id)
                    })
            })
    }

    /// What has been queued at one moment has all been queued before any of it begins, so that what is alike goes
    /// together: its planes say what they want, and then their buses and arrays serve.
    pub(crate) fn begin_newly_queued(&mut self) {
        let mut planes = std::mem::take(&mut self.newly_queued);
        planes.retain(|plane| self.may_begin(*plane));
        planes.iter().for_each(|plane| self.post(*plane));
        for plane in planes.drain(..) {
            let (array, channel) = (self.planes[plane].array as usize, self.planes[plane].channel as usize);
            self.try_bus(channel);
            self.try_array(array);
        }
        self.newly_queued = planes;
    }

    /// Whether the program that an array would begin is like one that the bus is just bringing to another of
    /// its planes, for which nothing else there stands before the array.
    pub(crate) fn expects_sibling_plane(&mut self, array: usize) -> bool {
        let Some(plane) = self.arrays.first(array) else { return false };
        let Some(lead) = self.wanted(plane) else { return false };
        let Some(coming) = self.buses.shared[self.planes[plane].channel as usize].busy else { return false };
        let op = self.ftl.op(coming);
        let to = &self.planes[op.plane.index()];
        op.kind == OpKind::Program
            && to.array as usize == array
            && (to.current.op == coming || to.current.op.is_none())
            && self.ftl.are_alike(lead, coming)
    }

    /// What a plane wants its array for, if it wants it: the first of its queue, or what has its register.
    fn wanted(&self, plane: usize) -> Option<OpId> {
        let p = &self.planes[plane];
        let id = if p.wants == Want::Array { self.first(plane) } else { p.current.op };
        Some(id).filter(|id| !id.is_none() && self.ftl.op(*id).key == self.arrays.wants[plane])
    }

    /// The operations that an array does together, in the order of service.
    pub(crate) fn together(&self, lead: OpId) -> impl Iterator<Item = OpId> + '_ {
        std::iter::successors(Some(lead), |id| self.goes_with(*id))
    }

    /// The next of those that an array does together.
    pub(crate) fn goes_with(&self, id: OpId) -> Option<OpId> {
        Some(self.ftl.op(id).next).filter(|next| self.pairs && !next.is_none())
    }

    /// An array is through with all that it did together. It stays taken until the last has had its effect.
    pub(crate) fn end_together(&mut self, array: usize, lead: OpId) {
        let kind = self.ftl.op(lead).kind as usize;
        if self.goes_with(lead).is_some() {
            self.metrics.multiplane.commands[kind] += 1;
            self.metrics.multiplane.operations[kind] += self.together(lead).count() as u64;
        }
        let mut at = Some(lead);
        while let Some(id) = at {
            at = self.goes_with(id);
            self.arrays.shared[array].busy = at;
            self.array_is_through(id);
        }
    }
}
