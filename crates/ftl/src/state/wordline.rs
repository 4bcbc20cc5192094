//! Which page of which wordline an operation works on, and in what mode.

use crate::state::op::Op;
use crate::state::state::State;
use wordline_counters::OpKind;
use wordline_flash::Geometry;
use wordline_units::CellMode;

/// The number of an operation's page in its block.
#[inline(always)]
pub(crate) fn page_number(geometry: &Geometry, op: &Op) -> u32 {
    let units = geometry.units_per_page(geometry.medium_index(op.plane));
    let slot = geometry.slot_of(op.ppn);
    if units == 1 { slot } else { slot / units }
}

/// The mode in which an operation finds its wordline, and which bit of it the page is. `has_windows`: whether any region
/// is written in windows of wordlines that are reprogrammed.
#[inline(always)]
pub(crate) fn wordline_of(state: &State, has_windows: bool, op: &Op) -> (CellMode, usize) {
    let block = state.blocks.block(state.geometry.block_of(op.ppn));
    let mode = block.mode();
    let page = page_number(&state.geometry, op);
    if has_windows && op.kind != OpKind::Erase {
        let r = &state.blocks.regions()[block.region as usize];
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
