//! Which page of which wordline an operation works on, and in what mode.

use crate::ftl::Ftl;
use crate::state::op::Op;
use wordline_counters::OpKind;
use wordline_units::CellMode;

impl Ftl {
    /// The number of an operation's page in its block.
    #[inline(always)]
    pub(crate) fn page_number(&self, op: &Op) -> u32 {
        let g = &self.state.geometry;
        let (slot, units) = (g.slot_of(op.ppn), g.units_per_page(g.medium_index(op.plane)));
        if units == 1 { slot } else { slot / units }
    }

    /// The mode in which an operation finds its wordline, and which bit of it the page is.
    #[inline(always)]
    pub(crate) fn wordline_of(&self, op: &Op) -> (CellMode, usize) {
        let block = &self.state.blocks[self.state.geometry.block_of(op.ppn).index()];
        let mode = block.mode();
        let page = self.page_number(op);
        if self.array.has_windows && op.kind != OpKind::Erase {
            let r = &self.state.regions[block.region as usize];
            if r.region.rule.reprograms() && r.region.rule.cell_bits(r.shape, &block.state, page) == 1 {
                return (CellMode::Slc, 0);
            }
        }
        let bit = match mode {
            CellMode::Slc => 0,
            CellMode::Mlc => page % 2,
            CellMode::Tlc => page % 3,
            CellMode::Qlc => page % 4,
        };
        (mode, bit as usize)
    }
}
