//! Power fails. What is left is the flash with its metadata, and what is in protected RAM.

use crate::flow::power::power_loss_image::{Kept, KeptFrom, PowerLossImage, Privilege, Worn};
use crate::ftl::Ftl;
use crate::state::block::Phase;
use crate::state::op::{NONE, OpId, Owner};
use crate::state::trim::AllTrims;
use std::collections::BTreeSet;
use wordline_counters::OpKind;
use wordline_units::BlockId;

impl Ftl {
    /// Cut the power while the arrays work on `spoiled`. All other work in progress leaves no trace, except in
    /// protected RAM.
    pub fn power_cut(mut self, spoiled: &[OpId]) -> PowerLossImage {
        for id in spoiled {
            let op = &self.state.ops[*id];
            let (block, slot) = (self.state.geometry.block_of(op.ppn), self.state.geometry.slot_of(op.ppn));
            match op.kind {
                OpKind::Read => {}
                OpKind::Program => self.store.tear_program(block, slot..slot + op.slots as u32),
                OpKind::Erase => {
                    self.hold_trims_of(block);
                    self.store.tear_erase(block, self.state.geometry.slot_shift);
                }
            }
        }
        let in_flight = self.requests.in_flight();
        let (kept, which) = if self.ack.answers_from_ram() {
            (self.kept_in_buffer(), AllTrims::Kept)
        } else {
            (self.kept_in_program_buffers(), AllTrims::Held)
        };
        let mut trims = self.state.trims.kept(which);
        for id in self.protected_programs() {
            trims.extend(self.state.trims.record(id, self.state.ops[id].lpn));
        }
        trims.sort_unstable();
        let under_way = self.state.staging.iter().map(|s| s.lpn());
        let stale_map = self.state.demand.as_ref().map_or_else(BTreeSet::new, |map| map.stale(under_way));
        let wear = self.worn();
        let (media, base) = self.store.lose_power();
        PowerLossImage { media, base, counters: self.state.counters, wear, in_flight, trims, stale_map, kept }
    }

    /// Wear of the flash.
    pub fn worn(&self) -> Worn {
        let lives = self.state.blocks.iter().map(|b| b.life_used).collect();
        let is_lost = |b: &BlockId| self.state.blocks[b.index()].phase == Phase::Retired;
        let lost = (0..self.state.geometry.blocks).map(BlockId).filter(is_lost).collect();
        Worn { lives, ages: self.state.aging.ages(), drive: self.state.wear.clone(), lost }
    }

    /// A protected buffer holds the newest data of every page on its way.
    fn kept_in_buffer(&mut self) -> Vec<Kept> {
        let mut kept = vec![];
        for stage in self.state.staging.entries() {
            let entry = self.state.staging.get(stage);
            let (lpn, mask) = (entry.lpn(), entry.mask());
            if mask.is_empty() || self.state.is_metadata(lpn) {
                continue;
            }
            let page = self.store.staged(stage);
            kept.push(Kept { lpn, mask, page, version: self.requests.version(), from: KeptFrom::Buffer });
        }
        kept
    }

    /// Programs of moved data that have left their old place for a protected program buffer.
    fn protected_programs(&self) -> Vec<OpId> {
        let mut programs = self.state.ops.alive();
        programs.retain(|id| {
            let op = &self.state.ops[*id];
            op.kind == OpKind::Program && op.owner == Owner::Nobody && op.stage != NONE
        });
        programs
    }

    /// What protected program buffers hold.
    fn kept_in_program_buffers(&mut self) -> Vec<Kept> {
        let mut kept = vec![];
        for id in self.protected_programs() {
            let op = &self.state.ops[id];
            let (lpn, version) = (op.lpn, op.version);
            let all = op.mask;
            let mask = self.state.staging.get(op.stage).relocating(id);
            if self.state.is_metadata(lpn) {
                continue; // what it says is kept, and programmed again
            }
            let (route, plane, cause) = (op.route, op.plane, op.cause);
            let privileged = Privilege(op.privileged);
            let page = self.store.page(id);
            for (part, version) in self.store.versions_of(id, all, version) {
                // What of it has been trimmed since is not programmed any more, and so is lost.
                self.state.trims.hold(lpn, part, version);
                let (mask, page) = (mask.and(part), page.clone());
                if !mask.is_empty() {
                    let from = KeptFrom::ProgramBuffer { route, plane, cause, privileged };
                    kept.push(Kept { lpn, mask, page, version, from });
                }
            }
        }
        kept
    }
}
