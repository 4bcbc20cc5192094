//! Multi-plane commands: operations of several planes of a die that share its array's time.
//!
//! When an array begins an operation, those that stand ready in its other planes and are alike
//! (`Ftl::are_alike`) go with it, and the array is taken until the longest is done. Programs are moved one after
//! the other before they begin: while the bus brings one to a plane of the die, a like one waits for it. What
//! goes together is a list by the link `next`, which an operation that stands in no queue does not use.

use super::{Device, NOTHING};
use crate::probe::Probe;
use wordline_ftl::{Media, OpId, OpKind};
use wordline_units::SimTime;

impl<P: Probe, M: Media> Device<P, M> {
    /// Let what is ready and like the operation that begins go with it, in the order of service. Returns
    /// when the last of them is done.
    pub(super) fn join(&mut self, array: usize, lead: OpId, end: SimTime) -> SimTime {
        self.ftl.op_mut(lead).next = OpId::NONE;
        if self.arrays.shared[array].waiting == 0 {
            return end;
        }
        let mut ready: Vec<(u64, usize)> = self
            .geometry
            .planes_of_die(self.planes[self.ftl.op(lead).plane.index()].die)
            .map(|plane| (self.arrays.wants[plane as usize], plane as usize))
            .filter(|(key, plane)| *key != NOTHING && self.is_like(lead, *plane, *key))
            .collect();
        ready.sort_unstable();
        let (mut last, mut end) = (lead, end);
        for (key, plane) in ready {
            self.arrays.withdraw(array, plane);
            let mut id = self.planes[plane].current;
            if id.is_none() {
                let Some(first) = self.take(plane, key) else { continue };
                self.occupy(plane, first);
                id = first;
            }
            self.ftl.op_mut(last).next = id;
            self.ftl.op_mut(id).next = OpId::NONE;
            last = id;
            let time = self.ftl.begin_on_array(id);
            self.planes[plane].again = time.again;
            end = end.max(self.now + time.all);
        }
        end
    }

    /// Whether the program that an array would begin is like one that the bus is just bringing to another of
    /// its planes.
    pub(super) fn expects_company(&mut self, array: usize) -> bool {
        let Some(plane) = self.arrays.first(array) else { return false };
        let (channel, lead) = (self.planes[plane].channel as usize, self.planes[plane].current);
        let Some(coming) = self.buses.shared[channel].busy else { return false };
        let op = self.ftl.op(coming);
        !lead.is_none()
            && op.kind == OpKind::Program
            && self.planes[op.plane.index()].array as usize == array
            && self.ftl.are_alike(lead, coming)
    }

    /// Whether what a plane wants an array for may go with an operation.
    fn is_like(&self, lead: OpId, plane: usize, key: u64) -> bool {
        let current = self.planes[plane].current;
        let wanted = if current.is_none() { self.first(plane) } else { current };
        !wanted.is_none() && self.ftl.op(wanted).key == key && self.ftl.are_alike(lead, wanted)
    }

    /// The operations that an array does together, in the order of service.
    pub(super) fn together(&self, lead: OpId) -> impl Iterator<Item = OpId> + '_ {
        std::iter::successors(Some(lead), |id| self.goes_with(*id))
    }

    /// The next of those that an array does together.
    pub(super) fn goes_with(&self, id: OpId) -> Option<OpId> {
        Some(self.ftl.op(id).next).filter(|next| self.pairs && !next.is_none())
    }

    /// An array is through with all that it did together. It stays taken until the last has had its effect,
    /// and all reads ask for their bus before it serves any.
    pub(super) fn end_together(&mut self, array: usize, lead: OpId) {
        let op = self.ftl.op(lead);
        let (kind, is_read) = (op.kind as usize, op.kind == OpKind::Read);
        if !op.next.is_none() {
            self.metrics.multiplane.commands[kind] += 1;
            self.metrics.multiplane.operations[kind] += self.together(lead).count() as u64;
        }
        let channel = self.planes[op.plane.index()].channel as usize;
        let mut at = Some(lead);
        while let Some(id) = at {
            at = self.goes_with(id);
            self.arrays.shared[array].busy = at;
            let plane = self.ftl.op(id).plane.index();
            if is_read {
                self.sensed(id, plane);
            } else {
                self.end(id, plane);
            }
        }
        if is_read {
            self.try_bus(channel);
        }
    }
}
