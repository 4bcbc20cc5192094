//! Parity across the planes of a superblock: once all other programs of a superpage have their slots, a program without
//! data of the host takes the last.
//!
//! The controller adds pages up while they pass through its RAM, so parity reads nothing. Its page is never mapped: a
//! block with parity has less to collect. The programs of a superpage are counted, not matched by page number, since a
//! page goes to the least filled plane.

use crate::ftl::Ftl;
use crate::plan::decision::{Route, Target};
use crate::state::op::{Class, Op, OpId, Owner};
use wordline_counters::{Cause, OpKind};
use wordline_units::PlaneId;

impl Ftl {
    /// A program has its slot: if only parity is missing from its superpage, that is programmed next.
    #[inline(never)]
    pub(crate) fn complete_superpage(&mut self, id: OpId, target: Target) {
        let Target { region, class: slot_class } = target;
        let op = &self.state.ops[id];
        let (plane, class, idle, privileged) = (op.plane, op.class, op.idle, op.privileged);
        if op.owner == Owner::Parity || !self.state.has_superblocks(region) {
            return;
        }
        let planes = self.state.superblock_planes(region, plane);
        if !self.state.superblocks.count_program(region, planes.clone()) {
            return;
        }
        let plane = self.state.emptiest_plane(region, PlaneId(planes.start));
        // A die that is held is so for the job alone.
        let class = if class == Class::Held { Class::Urgent } else { class };
        let mut parity = Op::new(OpKind::Program, plane, Cause::Parity, class);
        (parity.owner, parity.route) = (Owner::Parity, Route::to(region, slot_class));
        (parity.idle, parity.privileged, parity.in_window) = (idle, privileged, false);
        let r = &self.state.regions[region.index()];
        parity.slots = (r.units_per_page * r.pages_per_program) as u8;
        self.add_and_emit(parity);
    }

    /// Parity found no slot anywhere: its superpage stays without.
    #[cold]
    pub(crate) fn give_up_parity(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        self.state.backlog.take(op.plane, op.kind);
        self.state.ops.remove(id);
    }
}
