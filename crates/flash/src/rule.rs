//! Program rules: which page of a block can be programmed next.
//!
//! A rule is a pure function of a few counters of the block. For each class of slot it offers at most one page: the
//! only page of that class that can be programmed now. A block can offer pages of several classes at a time.
//!
//! Pages of one bit are always programmed in wordline order, so under every page-wise rule one counter per bit is
//! enough. A further bit of a wordline waits until the previous bit is programmed in that wordline and its neighbors:
//! then a finished wordline suffers the interference of at most one program of the next. The strict order is the only
//! sequence that satisfies this with the fewest incomplete wordlines; the relaxed rule is the condition itself.
//!
//! Under a reprogram window, a few wordlines are programmed as SLC first and get their further bits later, pass by
//! pass, before any wordline above them is programmed.

use crate::slot::{BlockShape, BlockState, SlotClass};
use crate::window::{MOST_WINDOW_LAYERS, RuleError, Window};
use serde::Serialize;
use thiserror::Error;

/// A program that the chip refuses.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{rule:?} does not allow page {page} as {class:?} after {state:?}")]
pub struct IllegalProgram {
    /// The block's rule.
    pub rule: ProgramRule,
    /// The page to be programmed, or the first of a one-shot program.
    pub page: u32,
    /// The class under which it was asked for.
    pub class: SlotClass,
    /// The block's counters.
    pub state: BlockState,
}

/// The order in which the pages of a block can be programmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramRule {
    /// Page by page, wordline by wordline.
    Sequential,
    /// All pages of a wordline in one operation, wordline by wordline.
    OneShot(u8),
    /// Page by page along the diagonals: step t programs bit 0 of wordline t, bit 1 of wordline t - 1, bit 2 of
    /// wordline t - 2 and so on, where they exist (W. Zhang et al., "PA-SSD", ICS 2018, Fig. 4; L. Grupp et al., "The
    /// Harey Tortoise", USENIX ATC 2013).
    StrictDiagonal,
    /// Each bit in wordline order; bit k of wordline i after bit k - 1 of wordlines i - 1, i and i + 1, where they
    /// exist (PA-SSD, section 4.3.1, three constraints for three bits; J. Park et al., "flexFTL", DAC 2016, for two).
    Relaxed,
    /// Window by window upward. A window is programmed as SLC, wordline by wordline ([`SlotClass::Slc`]); once it is
    /// full, each pass adds a bit to its wordlines in turn ([`SlotClass::Reprogram`]). An empty window can also be
    /// written wordline by wordline with all bits ([`SlotClass::Next`]) (X. Yang et al., "In-place Switch", section
    /// IV-A).
    ReprogramWindow(Window),
}

impl ProgramRule {
    /// Whether blocks of a shape can follow the rule.
    ///
    /// # Errors
    /// If a window does not fit the blocks, or exceeds the limits of the flash.
    pub fn check(self, shape: BlockShape) -> Result<(), RuleError> {
        let ProgramRule::ReprogramWindow(Window { wordlines, layers }) = self else { return Ok(()) };
        if wordlines == 0 || wordlines as u16 > shape.wordlines {
            return Err(RuleError::Wordlines { given: wordlines, wordlines: shape.wordlines });
        }
        if !(1..=MOST_WINDOW_LAYERS).contains(&layers) || wordlines % layers != 0 {
            return Err(RuleError::Layers { wordlines, layers });
        }
        if shape.bits < 2 { Err(RuleError::OneBit) } else { Ok(()) }
    }

    /// The next programmable page of a class, if any.
    #[inline(always)]
    pub fn next(self, shape: BlockShape, state: &BlockState, class: SlotClass) -> Option<u32> {
        match (self, class) {
            (ProgramRule::Sequential | ProgramRule::OneShot(_), SlotClass::Next) => {
                let page = state.programmed[0] as u32;
                (page < shape.pages()).then_some(page)
            }
            (ProgramRule::StrictDiagonal, SlotClass::Next) => {
                let left = (0..shape.bits as usize).filter(|bit| state.programmed[*bit] < shape.wordlines);
                let bit = left.min_by_key(|bit| state.programmed[*bit] as usize + bit)?;
                Some(shape.page(state.programmed[bit] as u32, bit))
            }
            (ProgramRule::Relaxed, _) => {
                let bit = class.bit()?;
                let wordline = *state.programmed[..shape.bits as usize].get(bit)?;
                let ready = bit == 0 || {
                    let neighbour = (wordline + 2).min(shape.wordlines);
                    neighbour <= state.programmed[bit - 1]
                };
                (wordline < shape.wordlines && ready).then(|| shape.page(wordline as u32, bit))
            }
            (ProgramRule::ReprogramWindow(window), _) => window.next(shape, state, class),
            _ => None,
        }
    }

    /// Record that `page` is programmed (with the pages that follow it in a one-shot program).
    ///
    /// # Errors
    /// If the rule does not offer that page in that class now; the state is then unchanged.
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
        self.record(shape, state, class, page);
        Ok(())
    }

    /// Program the next page of a class, if any, and return it.
    #[inline]
    pub fn take(self, shape: BlockShape, state: &mut BlockState, class: SlotClass) -> Option<u32> {
        let page = self.next(shape, state, class)?;
        self.record(shape, state, class, page);
        Some(page)
    }

    #[inline]
    fn record(self, shape: BlockShape, state: &mut BlockState, class: SlotClass, page: u32) {
        match self {
            ProgramRule::Sequential => state.programmed[0] += 1,
            ProgramRule::OneShot(k) => state.programmed[0] += k as u16,
            ProgramRule::StrictDiagonal | ProgramRule::Relaxed => {
                state.programmed[(page % shape.bits as u32) as usize] += 1;
            }
            ProgramRule::ReprogramWindow(window) => {
                let (_, end) = window.unfinished(shape, state);
                state.programmed[(page % shape.bits as u32) as usize] += 1;
                let finished = state.programmed[shape.bits as usize - 1];
                state.direct = (class == SlotClass::Next && finished < end) as u16;
            }
        }
    }

    /// Pages that one program operation writes.
    #[inline(always)]
    pub const fn pages_per_program(self) -> u32 {
        match self {
            ProgramRule::OneShot(k) => k as u32,
            _ => 1,
        }
    }

    /// Whether bits of a wordline are programmed at different times, and so counted separately.
    #[inline(always)]
    pub const fn by_bit(self) -> bool {
        self.tells_types() || self.reprograms()
    }

    /// Whether the speed of a page follows from its type, so that the type of data can be reported.
    #[inline(always)]
    pub const fn tells_types(self) -> bool {
        matches!(self, ProgramRule::StrictDiagonal | ProgramRule::Relaxed)
    }

    /// Whether wordlines in SLC mode get further bits later.
    #[inline(always)]
    pub const fn reprograms(self) -> bool {
        matches!(self, ProgramRule::ReprogramWindow(_))
    }

    /// Current bits per cell of a page's wordline: one while it serves as SLC.
    #[inline]
    pub fn cell_bits(self, shape: BlockShape, state: &BlockState, page: u32) -> u8 {
        let wordline = page / shape.bits as u32;
        let (first, second) = (state.programmed[0] as u32, state.programmed[1] as u32);
        let as_slc = self.reprograms() && state.direct == 0 && second <= wordline && wordline < first;
        if as_slc { 1 } else { shape.bits }
    }

    /// The slot classes of a block under this rule.
    pub fn classes(self, shape: BlockShape) -> &'static [SlotClass] {
        match self {
            ProgramRule::Relaxed => &SlotClass::ALL[1..=shape.bits as usize],
            ProgramRule::ReprogramWindow(_) => &SlotClass::OF_WINDOW,
            _ => &[SlotClass::Next],
        }
    }

    /// Whether an erased block offers a page of a class.
    #[inline]
    pub fn begins_with(self, shape: BlockShape, class: SlotClass) -> bool {
        self.next(shape, &BlockState::default(), class).is_some()
    }

    /// Whether a block has pages of a class left, legal now or later. Under a reprogram window only pages legal now
    /// count: the window serves one class at a time.
    #[inline]
    pub fn has_left(self, shape: BlockShape, state: &BlockState, class: SlotClass) -> bool {
        match (self, class) {
            (ProgramRule::Relaxed, _) => class
                .bit()
                .is_some_and(|bit| bit < shape.bits as usize && state.programmed[bit] < shape.wordlines),
            (ProgramRule::ReprogramWindow(window), _) => window.next(shape, state, class).is_some(),
            (_, SlotClass::Next) => self.programmed(state) < shape.pages(),
            _ => false,
        }
    }

    /// The classes of which [`Self::has_left`] says so, one bit each by its number.
    #[inline]
    pub fn offers(self, shape: BlockShape, state: &BlockState) -> u8 {
        if let ProgramRule::ReprogramWindow(window) = self {
            return window.offers(shape, state);
        }
        let bit = |class: &SlotClass| class.bit_if(self.has_left(shape, state, *class));
        self.classes(shape).iter().map(bit).fold(0, |all, bit| all | bit)
    }

    /// Unprogrammed pages of each bit. Rules that finish a wordline before the next return all bits by wordline.
    pub fn left(self, shape: BlockShape, state: &BlockState) -> [u32; 4] {
        let mut left = [0; 4];
        for (bit, left) in left.iter_mut().enumerate().take(shape.bits as usize) {
            let programmed = match self {
                ProgramRule::Sequential | ProgramRule::OneShot(_) => {
                    (state.programmed[0] as u32 + shape.bits as u32 - 1 - bit as u32) / shape.bits as u32
                }
                _ => state.programmed[bit] as u32,
            };
            *left = shape.wordlines as u32 - programmed;
        }
        left
    }

    /// Pages programmed so far.
    #[inline(always)]
    pub fn programmed(self, state: &BlockState) -> u32 {
        match self {
            ProgramRule::Sequential | ProgramRule::OneShot(_) => state.programmed[0] as u32,
            _ => state.programmed.iter().map(|n| *n as u32).sum(),
        }
    }

    /// The state of a block after this many pages in its own order: diagonal order under the relaxed rule, wordline by
    /// wordline under a reprogram window.
    pub fn filled(self, shape: BlockShape, pages: u32) -> BlockState {
        match self {
            ProgramRule::Sequential | ProgramRule::OneShot(_) => {
                BlockState { programmed: [pages as u16, 0, 0, 0], direct: 0 }
            }
            ProgramRule::ReprogramWindow(window) => {
                let bits = shape.bits as u32;
                let mut state = BlockState::default();
                for bit in 0..bits {
                    state.programmed[bit as usize] = (pages / bits + (bit < pages % bits) as u32) as u16;
                }
                state.direct =
                    (!pages.is_multiple_of(window.wordlines as u32 * bits) && pages < shape.pages()) as u16;
                state
            }
            ProgramRule::StrictDiagonal | ProgramRule::Relaxed => {
                let mut state = BlockState::default();
                let mut left = pages.min(shape.pages());
                let mut step = 0;
                while left > 0 {
                    for bit in 0..(shape.bits as usize).min(step + 1) {
                        let here = step - bit < shape.wordlines as usize && left > 0;
                        state.programmed[bit] += here as u16;
                        left -= here as u32;
                    }
                    step += 1;
                }
                state
            }
        }
    }

    /// Granularity in pages of a partly filled block: under rules with incomplete wordlines, only the whole block.
    pub const fn fills_by(self, shape: BlockShape) -> u32 {
        match self {
            ProgramRule::StrictDiagonal | ProgramRule::Relaxed => shape.pages(),
            ProgramRule::ReprogramWindow(window) => window.wordlines as u32 * shape.bits as u32,
            ProgramRule::Sequential | ProgramRule::OneShot(_) => self.pages_per_program(),
        }
    }

    /// Granularity in pages of a partly filled block without valid data.
    pub const fn ages_by(self, shape: BlockShape) -> u32 {
        if self.tells_types() { 1 } else { self.fills_by(shape) }
    }

    /// The state of a block in which these pages were found programmed. If some are torn, the last of which is given,
    /// their wordline takes no further bits: cells with unknown charge cannot hold one. Since counters have no gaps,
    /// each bit continues after that wordline.
    pub fn found(
        self,
        shape: BlockShape,
        programmed: impl Iterator<Item = u32>,
        last_torn: Option<u32>,
    ) -> BlockState {
        let bits = shape.bits as u32;
        match self {
            ProgramRule::Sequential | ProgramRule::OneShot(_) => {
                let closed = last_torn.map_or(0, |page| (page / bits + 1) * bits);
                let programmed = programmed.map(|p| p + 1).fold(closed, u32::max);
                BlockState { programmed: [programmed as u16, 0, 0, 0], direct: 0 }
            }
            _ => {
                let mut state = BlockState::default();
                let closed = last_torn.map_or(0, |page| page / bits + 1);
                state.programmed[..bits as usize].fill(closed as u16);
                for page in programmed {
                    let count = &mut state.programmed[(page % bits) as usize];
                    *count = (*count).max((page / bits + 1) as u16);
                }
                if let ProgramRule::ReprogramWindow(window) = self {
                    // A second bit in a window that is not full as SLC: it was being written with all bits.
                    let (floor, end) = window.unfinished(shape, &state);
                    state.direct = (state.programmed[1] > floor && state.programmed[0] < end) as u16;
                }
                state
            }
        }
    }

    /// Whether a page was programmed since the last erase.
    #[inline]
    pub fn is_programmed(self, shape: BlockShape, state: &BlockState, page: u32) -> bool {
        match self {
            ProgramRule::Sequential | ProgramRule::OneShot(_) => page < state.programmed[0] as u32,
            _ => page / (shape.bits as u32) < state.programmed[(page % shape.bits as u32) as usize] as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::PageType;

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
    fn found_block_resumes_and_skips_a_torn_wordline() {
        for pages in 0..=12 {
            let found = ProgramRule::Sequential.found(TLC, 0..pages, None);
            assert_eq!(found, ProgramRule::Sequential.filled(TLC, pages));
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

    /// Order, by page type and wordline, in which a block is filled when only one class is open.
    fn strict(shape: BlockShape) -> Vec<(PageType, u32)> {
        let (rule, mut state, mut order) = (ProgramRule::StrictDiagonal, BlockState::default(), vec![]);
        while let Some(page) = rule.next(shape, &state, SlotClass::Next) {
            rule.apply(shape, &mut state, SlotClass::Next, page).unwrap();
            order.push((shape.page_type(page), page / shape.bits as u32));
        }
        order
    }

    #[test]
    fn the_strict_order_is_that_of_the_paper() {
        use PageType::{Csb, Lsb, Msb};
        let order = strict(BlockShape { wordlines: 128, bits: 3 });
        let id = |page| order.iter().position(|p| *p == page).unwrap();
        // PA-SSD, Fig. 4: ids along the diagonals, and the example of section 4.3.1: page 11 is the MSB of wordline 2,
        // and page 14 the last that interferes with it.
        assert_eq!([0, 1, 2, 3].map(|w| id((Lsb, w))), [0, 1, 3, 6]);
        assert_eq!([0, 1, 2, 3].map(|w| id((Csb, w))), [2, 4, 7, 10]);
        assert_eq!([0, 1, 2, 3].map(|w| id((Msb, w))), [5, 8, 11, 14]);
        assert_eq!(order.len(), 384);
        // Fig. 7: in a block of six wordlines page 12 is the last LSB page.
        assert_eq!(strict(BlockShape { wordlines: 6, bits: 3 })[12], (Lsb, 5));
    }

    #[test]
    fn every_strict_order_is_allowed_by_the_relaxed_rule() {
        for (wordlines, bits) in [(1, 1), (1, 3), (2, 3), (6, 3), (9, 2), (5, 4), (128, 3)] {
            let shape = BlockShape { wordlines, bits };
            let mut state = BlockState::default();
            for (count, (page, wordline)) in strict(shape).into_iter().enumerate() {
                assert_eq!(ProgramRule::Relaxed.filled(shape, count as u32), state);
                let number = shape.page(wordline, page as usize);
                ProgramRule::Relaxed.apply(shape, &mut state, SlotClass::of(page), number).unwrap();
            }
            assert_eq!(ProgramRule::Relaxed.programmed(&state), shape.pages());
        }
    }

    /// PA-SSD's three constraints in words of single pages, for any set of programmed pages.
    fn constraints_allow(shape: BlockShape, programmed: &[bool], wordline: u32, bit: usize) -> bool {
        let has = |w: i64, b: usize| {
            !(0..shape.wordlines as i64).contains(&w) || programmed[shape.page(w as u32, b) as usize]
        };
        let w = wordline as i64;
        let in_order = (0..w).all(|before| has(before, bit));
        let interference = bit == 0 || [w - 1, w, w + 1].into_iter().all(|near| has(near, bit - 1));
        in_order && interference && !has(w, bit)
    }

    #[test]
    fn relaxed_rule_admits_exactly_its_constraints() {
        // Every state that can be reached in a small block, and every page in each.
        for (wordlines, bits) in [(6, 3), (4, 2), (4, 4), (1, 3)] {
            let shape = BlockShape { wordlines, bits };
            let mut seen = std::collections::HashSet::new();
            let mut open = vec![BlockState::default()];
            while let Some(state) = open.pop() {
                if !seen.insert(state.programmed) {
                    continue;
                }
                let programmed: Vec<bool> = (0..shape.pages())
                    .map(|p| ProgramRule::Relaxed.is_programmed(shape, &state, p))
                    .collect();
                for page in 0..shape.pages() {
                    let class = SlotClass::of(shape.page_type(page));
                    let mut after = state;
                    let admitted = ProgramRule::Relaxed.apply(shape, &mut after, class, page).is_ok();
                    let (wordline, bit) = (page / bits as u32, (page % bits as u32) as usize);
                    assert_eq!(
                        admitted,
                        constraints_allow(shape, &programmed, wordline, bit),
                        "{state:?} {page}"
                    );
                    if admitted {
                        open.push(after);
                    }
                }
            }
            assert!(seen.len() > wordlines as usize);
        }
    }

    #[test]
    fn the_candidates_are_those_of_the_papers_figure_7() {
        let shape = BlockShape { wordlines: 6, bits: 3 };
        let offers = |programmed: [u16; 3]| {
            let [l, c, m] = programmed;
            let state = BlockState { programmed: [l, c, m, 0], direct: 0 };
            [SlotClass::Lsb, SlotClass::Csb, SlotClass::Msb]
                .map(|class| ProgramRule::Relaxed.next(shape, &state, class).is_some())
        };
        assert_eq!(offers([1, 0, 0]), [true, false, false]); // (a)
        assert_eq!(offers([2, 0, 0]), [true, true, false]); // (b)
        assert_eq!(offers([3, 2, 0]), [true, false, true]); // (c)
        assert_eq!(offers([5, 3, 1]), [true, true, true]); // (d)
        assert_eq!(offers([6, 4, 2]), [false, true, true]); // (e)
        assert_eq!(offers([6, 6, 4]), [false, false, true]); // (f)
    }

    #[test]
    fn a_torn_page_closes_its_wordline_for_every_bit() {
        let shape = BlockShape { wordlines: 6, bits: 3 };
        let rule = ProgramRule::Relaxed;
        let programmed = [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (1, 1)].map(|(w, b)| shape.page(w, b));
        let found = rule.found(shape, programmed.into_iter(), Some(shape.page(1, 1)));
        assert_eq!(found.programmed, [4, 2, 2, 0]);
        assert_eq!(rule.next(shape, &found, SlotClass::Msb), None);
    }
}
