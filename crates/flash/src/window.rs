//! Windows of In-place Switch: the number of open layers, and the number of reprograms of a wordline.

use crate::slot::{BlockShape, BlockState, SlotClass};
use serde::Serialize;
use thiserror::Error;

/// Wordlines that are programmed as SLC together, and reprogrammed before those above them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Window {
    /// Wordlines.
    pub wordlines: u8,
    /// Layers of the stack over which they spread.
    pub layers: u8,
}

/// Layers within which cells can be reprogrammed in any order (C. Gao et al., MICRO 2019, cited by X. Yang et
/// al., "In-place Switch", section II-B).
pub const MOST_WINDOW_LAYERS: u8 = 2;

/// Reprograms of a cell between two erases (as before).
pub const MOST_REPROGRAMS: u32 = 4;

/// Programs of neighboring wordlines that a wordline tolerates between two of its own (In-place Switch,
/// section IV-D1: twelve times the interference).
pub const MOST_INTERFERENCE: u32 = 12;
const _: () = assert!(crate::timing::MAX_BITS as u32 - 1 <= MOST_REPROGRAMS);
const _: () = assert!(interference(crate::timing::MAX_BITS as u32) <= MOST_INTERFERENCE);

/// Maximum number of programs of a neighboring wordline between two of a wordline's own, under a reprogram
/// window. Within a window it is one per neighbor, twice that of a single program as in section IV-D1 of
/// In-place Switch; the first wordline of the next window gets all its bits after the last of this one is
/// complete.
pub const fn interference(bits: u32) -> u32 {
    if bits > 2 { bits } else { 2 }
}

/// A rule that blocks of a shape cannot follow.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum RuleError {
    /// Its window has no wordlines, or more than the block.
    #[error("a window of {given} wordlines is not between 1 and {wordlines}, the wordlines of a block")]
    Wordlines {
        /// Of the window.
        given: u8,
        /// Of the block.
        wordlines: u16,
    },
    /// Its window has too many layers, or a fraction of one.
    #[error(
        "a window of {wordlines} wordlines over {layers} layers: at most {MOST_WINDOW_LAYERS} layers can \
         be reprogrammed safely, each with an equal number of wordlines"
    )]
    Layers {
        /// Wordlines of the window.
        wordlines: u8,
        /// Layers of the window.
        layers: u8,
    },
    /// Its cells hold one bit.
    #[error("SLC-only flash cannot be reprogrammed to a denser mode")]
    OneBit,
}

impl Window {
    /// The first incomplete wordline of the current window, and the one after the window.
    #[inline]
    pub(crate) fn unfinished(self, shape: BlockShape, state: &BlockState) -> (u16, u16) {
        let floor = state.programmed[shape.bits as usize - 1];
        let width = self.wordlines as u16;
        (floor, (floor / width * width + width).min(shape.wordlines))
    }

    /// The classes of which it offers a page, one bit each.
    #[inline]
    pub(crate) fn offers(self, shape: BlockShape, state: &BlockState) -> u8 {
        let (floor, end) = self.unfinished(shape, state);
        let (first, second, is_direct) = (state.programmed[0], state.programmed[1], state.direct > 0);
        if floor == shape.wordlines {
            return 0;
        }
        let slc = !is_direct && first < end && second == floor;
        let reprogram = !is_direct && first >= end;
        let next = is_direct || first == floor;
        SlotClass::Slc.bit_if(slc) | SlotClass::Reprogram.bit_if(reprogram) | SlotClass::Next.bit_if(next)
    }

    #[inline]
    pub(crate) fn next(self, shape: BlockShape, state: &BlockState, class: SlotClass) -> Option<u32> {
        let (floor, end) = self.unfinished(shape, state);
        let bits = shape.bits as usize;
        let (first, second) = (state.programmed[0], state.programmed[1]);
        let bit = match class {
            _ if floor == shape.wordlines => return None,
            SlotClass::Slc => (state.direct == 0 && first < end && second == floor).then_some(0),
            SlotClass::Reprogram if first < end || state.direct > 0 => None,
            SlotClass::Reprogram => (1..bits).find(|bit| state.programmed[*bit] < end),
            SlotClass::Next if first == floor || state.direct > 0 => {
                (0..bits).find(|bit| state.programmed[*bit] == floor)
            }
            _ => None,
        };
        bit.map(|bit| shape.page(state.programmed[bit] as u32, bit))
    }
}
