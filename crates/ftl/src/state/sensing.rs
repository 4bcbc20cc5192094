//! Errors of a page at the start of its read.

use crate::plan::region::RegionId;
use crate::state::aging::{Aging, PageRead, Reading};
use crate::state::blocks::Blocks;
use crate::state::blocks::block_wear::cycles;
use crate::state::state::State;
use wordline_flash::Retries;
use wordline_units::{BlockId, CellMode, SimTime};

#[cold]
fn look_up_errors(blocks: &Blocks, aging: &mut Aging, now: SimTime, block: BlockId) {
    let info = blocks.block(block);
    let (cycles, pages) = (cycles(blocks, block), blocks.region(RegionId(info.region)).shape.pages());
    aging.look_up(block, info.mode(), Reading { pages, cycles, now });
}

/// A read begins of a page of a block whose wordline is in a mode now: how often must it be repeated?
#[inline]
pub(crate) fn sense(state: &mut State, block: BlockId, page: u32, mode: CellMode, bit: usize) -> Retries {
    let (now, aging) = (state.now, &mut state.aging);
    let block_mode = state.blocks.block(block).mode();
    if aging.is_stale(block, now) {
        look_up_errors(&state.blocks, aging, now, block);
    }
    // Each mode has its own number of bits, so that dividing by them is a shift, or a product.
    let wordline = match block_mode {
        CellMode::Slc => page,
        CellMode::Mlc => page / 2,
        CellMode::Tlc => page / 3,
        CellMode::Qlc => page / 4,
    };
    aging.read(PageRead { block, mode, is_own: mode == block_mode, wordline, bit })
}
