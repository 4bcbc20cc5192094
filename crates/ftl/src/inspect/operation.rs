//! What an operation works on: for probes, reports and searches.

use crate::plan::region::RegionId;
use crate::state::blocks::free_space::{free_blocks, free_slots};
use crate::state::job::{GcReason, Job};
use crate::state::op::{Collecting, Op, OpId, Owner, Part, Reason};
use crate::state::state::State;
use crate::state::wordline::wordline_of;
use wordline_counters::OpKind;
use wordline_units::{BlockId, CellMode, Lpn, PageType, Ppn, SectorMask};

/// An operation in flight, read-only.
#[derive(Clone, Copy)]
pub struct Operation<'a> {
    state: &'a State,
    id: OpId,
    /// Whether any region is written in windows of wordlines that are reprogrammed.
    has_windows: bool,
}

impl<'a> Operation<'a> {
    pub(crate) fn new(state: &'a State, id: OpId, has_windows: bool) -> Operation<'a> {
        Operation { state, id, has_windows }
    }

    fn op(self) -> &'a Op {
        &self.state.ops[self.id]
    }

    /// The page that it reads or writes; for a program of several pages the first.
    pub fn lpn(self) -> Lpn {
        self.op().lpn
    }

    /// The cell mode and page type that an operation works on, once it is bound.
    pub fn page(self) -> (CellMode, PageType) {
        let (mode, bit) = wordline_of(self.state, self.has_windows, self.op());
        (mode, PageType::ALL[bit])
    }

    /// The region that owns the block of an operation, once it is bound.
    pub fn region(self) -> RegionId {
        self.state.blocks.region_of(self.state.geometry.block_of(self.op().ppn))
    }

    /// Number of slots of an operation from its place on; all slots of a block for an erase.
    pub fn slots(self) -> u32 {
        let op = self.op();
        match op.kind {
            OpKind::Read => {
                let sectors = u32::BITS - op.mask.0.leading_zeros();
                let units = self.state.geometry.units_per_page(self.state.geometry.medium_index(op.plane));
                sectors.div_ceil(self.state.geometry.sectors_per_unit).clamp(1, units)
            }
            OpKind::Program => op.slots as u32,
            OpKind::Erase => self.state.blocks.region(self.region()).slots_per_block,
        }
    }

    /// The logical pages of an operation, once it is bound; none for an erase, nor for a read of GC, which takes all
    /// valid pages.
    pub fn parts(self) -> impl Iterator<Item = Part> + use<'a> {
        let (state, lead) = (self.state, self.op());
        let all = SectorMask::first(state.geometry.sectors_per_unit);
        let chain = state.ops.chain(self.id).map(|part| &state.ops[part]);
        chain.filter(|op| !op.lpn.is_none()).map(move |op| Part {
            lpn: op.lpn,
            ppn: if lead.kind == OpKind::Program { Ppn(lead.ppn.0 + op.slot as u32) } else { op.ppn },
            // The lead of a read stands for all that it senses; its own part comes first.
            sectors: op.mask.and(all).count(),
            cause: op.cause,
        })
    }

    /// The source block of a program's first data, if it moves data.
    pub fn source(self) -> Option<BlockId> {
        let op = self.op();
        let moves = op.kind == OpKind::Program && op.from != Ppn::NONE;
        moves.then(|| self.state.geometry.block_of(op.from))
    }

    /// The block being emptied, if the operation is a part of that.
    pub fn collecting(self) -> Option<Collecting> {
        let op = self.op();
        let block = match op.kind {
            OpKind::Program => self.source()?,
            OpKind::Read | OpKind::Erase => self.state.geometry.block_of(op.ppn),
        };
        let (region, plane) = (self.state.blocks.region_of(block), self.state.geometry.plane_of(block));
        let job = self.state.blocks.at(region, plane).job.filter(|job| job.block == block)?;
        let collects = op.kind != OpKind::Read || matches!(op.owner, Owner::Job(_));
        let reason = match job {
            Job { why: GcReason::Levelling, .. } => Reason::Levelling,
            Job { why: GcReason::Due, .. } => Reason::Refresh,
            Job { idle: true, .. } => Reason::Idleness,
            _ => Reason::Shortage,
        };
        let free_blocks = free_blocks(&self.state.blocks, region, plane);
        let free_slots = free_slots(&self.state.blocks, region, plane);
        let holds = self.state.blocks.region(region).slots_per_block * self.state.geometry.sectors_per_unit;
        let live = self.state.blocks.block(block).live as u64;
        let valid_percent = (live * 100).div_ceil(holds.max(1) as u64).min(100) as u8;
        collects.then_some(Collecting { block, region, reason, free_blocks, free_slots, valid_percent })
    }

    /// Bytes of data in a program, without padding.
    pub fn data_bytes(self) -> u64 {
        self.parts().map(|p| p.sectors as u64 * self.state.geometry.sector).sum()
    }
}
