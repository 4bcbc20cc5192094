//! Which page of a block may be programmed next.
//!
//! A rule is a pure function of a few counters of the block. It offers, for each class of slot
//! that it knows, at most one page: the only one of that class that may be programmed now. A block
//! may offer pages of several classes at once.

use serde::Serialize;
use thiserror::Error;
use wordline_units::PageType;

/// The kind of slot that a decision asks for. A rule offers some of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[repr(u8)]
pub enum SlotClass {
    /// Whatever comes next in the block's own order.
    Next = 0,
    /// The next page of the least significant bit.
    Lsb = 1,
    /// The next page of the second bit.
    Csb = 2,
    /// The next page of the third bit.
    Msb = 3,
}

impl SlotClass {
    /// How many classes there are.
    pub const COUNT: usize = 4;
}

/// Wordlines of a block and bits of a wordline in its present mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockShape {
    /// Wordlines.
    pub wordlines: u16,
    /// Bits a cell holds, the pages of a wordline.
    pub bits: u8,
}

impl BlockShape {
    /// Pages of the block. Page p is bit `p % bits` of wordline `p / bits`.
    #[inline(always)]
    pub const fn pages(self) -> u32 {
        self.wordlines as u32 * self.bits as u32
    }

    /// The bit of its wordline that a page is.
    #[inline(always)]
    pub fn page_type(self, page: u32) -> PageType {
        PageType::ALL[(page % self.bits as u32) as usize]
    }
}

/// What a rule remembers of a block: pages programmed in each of up to three orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct BlockState {
    /// Pages (or wordlines) programmed so far, by order; a sequential rule uses the first.
    pub programmed: [u16; 3],
}

/// A program that the chip refuses.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{rule:?} does not allow page {page} as {class:?} after {state:?}")]
pub struct IllegalProgram {
    /// The block's rule.
    pub rule: ProgramRule,
    /// The page that was to be programmed, the first of them for a one-shot program.
    pub page: u32,
    /// The class under which it was asked for.
    pub class: SlotClass,
    /// The block's counters.
    pub state: BlockState,
}

/// The order in which the pages of a block may be programmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramRule {
    /// Page by page, wordline by wordline.
    Sequential,
    /// The k pages of a wordline in one operation, wordline by wordline.
    OneShot(u8),
    /// LSB pages in order, and CSB pages in order behind them: two classes open at once. It stands
    /// in for the page-type rules in tests of the machinery.
    #[cfg(feature = "test-rules")]
    TwoLanes,
}

impl ProgramRule {
    /// The page that may be programmed next in a class, if any.
    #[inline]
    pub fn next(self, shape: BlockShape, state: &BlockState, class: SlotClass) -> Option<u32> {
        match (self, class) {
            (ProgramRule::Sequential | ProgramRule::OneShot(_), SlotClass::Next) => {
                let page = state.programmed[0] as u32;
                (page < shape.pages()).then_some(page)
            }
            #[cfg(feature = "test-rules")]
            (ProgramRule::TwoLanes, SlotClass::Lsb) => {
                let wordline = state.programmed[0];
                (wordline < shape.wordlines).then_some(wordline as u32 * 2)
            }
            #[cfg(feature = "test-rules")]
            (ProgramRule::TwoLanes, SlotClass::Csb) => {
                let wordline = state.programmed[1];
                let ahead = (wordline + 2).min(shape.wordlines);
                (wordline < shape.wordlines && ahead <= state.programmed[0])
                    .then_some(wordline as u32 * 2 + 1)
            }
            _ => None,
        }
    }

    /// Record that `page` is programmed (with the pages that follow it in a one-shot program).
    ///
    /// # Errors
    /// When the rule does not offer that page in that class now; the state is then unchanged.
    #[inline]
    pub fn apply(
        self,
        shape: BlockShape,
        state: &mut BlockState,
        class: SlotClass,
        page: u32,
    ) -> Result<(), IllegalProgram> {
        if self.next(shape, state, class) != Some(page) {
            return Err(IllegalProgram { rule: self, page, class, state: *state });
        }
        match self {
            ProgramRule::Sequential => state.programmed[0] += 1,
            ProgramRule::OneShot(k) => state.programmed[0] += k as u16,
            #[cfg(feature = "test-rules")]
            ProgramRule::TwoLanes => state.programmed[(class == SlotClass::Csb) as usize] += 1,
        }
        Ok(())
    }

    /// Pages that one program operation writes.
    #[inline(always)]
    pub const fn pages_per_program(self) -> u32 {
        match self {
            ProgramRule::OneShot(k) => k as u32,
            _ => 1,
        }
    }

    /// The classes a block under this rule can offer.
    pub const fn classes(self) -> &'static [SlotClass] {
        match self {
            ProgramRule::Sequential | ProgramRule::OneShot(_) => &[SlotClass::Next],
            #[cfg(feature = "test-rules")]
            ProgramRule::TwoLanes => &[SlotClass::Lsb, SlotClass::Csb],
        }
    }

    /// Whether a block still has pages of a class, legal now or later.
    #[inline]
    pub fn has_left(self, shape: BlockShape, state: &BlockState, class: SlotClass) -> bool {
        match (self, class) {
            (ProgramRule::Sequential | ProgramRule::OneShot(_), SlotClass::Next) => {
                (state.programmed[0] as u32) < shape.pages()
            }
            #[cfg(feature = "test-rules")]
            (ProgramRule::TwoLanes, SlotClass::Lsb) => state.programmed[0] < shape.wordlines,
            #[cfg(feature = "test-rules")]
            (ProgramRule::TwoLanes, SlotClass::Csb) => state.programmed[1] < shape.wordlines,
            _ => false,
        }
    }

    /// Pages programmed so far.
    #[inline(always)]
    pub fn programmed(self, state: &BlockState) -> u32 {
        match self {
            ProgramRule::Sequential | ProgramRule::OneShot(_) => state.programmed[0] as u32,
            #[cfg(feature = "test-rules")]
            ProgramRule::TwoLanes => state.programmed[0] as u32 + state.programmed[1] as u32,
        }
    }

    /// The state of a block whose first `pages` pages, by number, have been programmed.
    pub fn filled(self, pages: u32) -> BlockState {
        match self {
            ProgramRule::Sequential | ProgramRule::OneShot(_) => {
                BlockState { programmed: [pages as u16, 0, 0] }
            }
            #[cfg(feature = "test-rules")]
            ProgramRule::TwoLanes => {
                BlockState { programmed: [pages.div_ceil(2) as u16, pages as u16 / 2, 0] }
            }
        }
    }

    /// The state of a block in which these pages are found programmed. With a torn page among them,
    /// the last of which is named, its wordline takes no more: cells of unknown charge hold no
    /// further bit.
    pub fn found(
        self,
        shape: BlockShape,
        programmed: impl Iterator<Item = u32>,
        last_torn: Option<u32>,
    ) -> BlockState {
        match self {
            ProgramRule::Sequential | ProgramRule::OneShot(_) => {
                let bits = shape.bits as u32;
                let closed = last_torn.map_or(0, |page| (page / bits + 1) * bits);
                BlockState { programmed: [programmed.map(|p| p + 1).fold(closed, u32::max) as u16, 0, 0] }
            }
            #[cfg(feature = "test-rules")]
            ProgramRule::TwoLanes => {
                let mut state = BlockState::default();
                for page in programmed {
                    let lane = &mut state.programmed[(page % 2) as usize];
                    *lane = (*lane).max(page as u16 / 2 + 1);
                }
                state
            }
        }
    }

    /// Whether a page has been programmed since the last erase.
    #[inline]
    pub fn is_programmed(self, state: &BlockState, page: u32) -> bool {
        match self {
            ProgramRule::Sequential | ProgramRule::OneShot(_) => page < state.programmed[0] as u32,
            #[cfg(feature = "test-rules")]
            ProgramRule::TwoLanes => page / 2 < state.programmed[(page % 2) as usize] as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TLC: BlockShape = BlockShape { wordlines: 4, bits: 3 };

    #[test]
    fn sequential_offers_each_page_once_and_in_order() {
        let mut s = BlockState::default();
        for page in 0..12 {
            assert_eq!(ProgramRule::Sequential.next(TLC, &s, SlotClass::Next), Some(page));
            ProgramRule::Sequential.apply(TLC, &mut s, SlotClass::Next, page).unwrap();
        }
        assert_eq!(ProgramRule::Sequential.next(TLC, &s, SlotClass::Next), None);
    }

    #[test]
    fn one_shot_offers_whole_wordlines() {
        let rule = ProgramRule::OneShot(3);
        let mut s = BlockState::default();
        for wordline in 0..4 {
            let page = rule.next(TLC, &s, SlotClass::Next).unwrap();
            assert_eq!(page, wordline * 3);
            rule.apply(TLC, &mut s, SlotClass::Next, page).unwrap();
        }
        assert!(!rule.has_left(TLC, &s, SlotClass::Next));
    }

    #[test]
    fn a_block_is_found_as_it_was_left_and_a_torn_wordline_takes_no_more() {
        for pages in 0..=12 {
            let found = ProgramRule::Sequential.found(TLC, 0..pages, None);
            assert_eq!(found, ProgramRule::Sequential.filled(pages));
        }
        let found = ProgramRule::Sequential.found(TLC, 0..5, Some(4));
        assert_eq!(ProgramRule::Sequential.next(TLC, &found, SlotClass::Next), Some(6));
        let found = ProgramRule::Sequential.found(TLC, 0..8, Some(4));
        assert_eq!(ProgramRule::Sequential.next(TLC, &found, SlotClass::Next), Some(8));
    }

    #[test]
    fn an_illegal_program_is_refused_and_changes_nothing() {
        let mut s = BlockState::default();
        let e = ProgramRule::Sequential.apply(TLC, &mut s, SlotClass::Next, 1).unwrap_err();
        assert_eq!((e.page, s), (1, BlockState::default()));
        assert!(ProgramRule::Sequential.apply(TLC, &mut s, SlotClass::Msb, 0).is_err());
        assert!(e.to_string().contains("does not allow page 1"));
    }
}
