//! Reprogram windows: the rule against its conditions in words of single wordlines, in every state that a
//! small block can reach.

use std::collections::HashSet;
use wordline_flash::{
    BlockShape, BlockState, MOST_INTERFERENCE, MOST_REPROGRAMS, ProgramRule, RuleError, SlotClass, Window,
    interference,
};

/// Blocks with windows that fit and that do not, of two to four bits.
const BLOCKS: [(u16, u8, u8, u8); 6] =
    [(8, 3, 4, 2), (6, 3, 4, 2), (5, 3, 2, 2), (4, 4, 1, 1), (6, 2, 3, 1), (4, 4, 2, 1)];

fn block((wordlines, bits, window, layers): (u16, u8, u8, u8)) -> (ProgramRule, BlockShape) {
    let rule = ProgramRule::ReprogramWindow(Window { wordlines: window, layers });
    let shape = BlockShape { wordlines, bits };
    rule.check(shape).unwrap();
    (rule, shape)
}

/// What lies in a block, wordline by wordline.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Model {
    bits: Vec<u8>,
    /// The wordline that is being written with all its bits at once, or was, in the current window.
    direct: bool,
}

impl Model {
    /// In-place Switch, section IV-A, and its limits of section II-B.
    fn admits(&self, all: u8, width: usize, wordline: usize, bit: u8, class: SlotClass) -> bool {
        let n = self.bits.len();
        let first = wordline / width * width;
        let window = first..(first + width).min(n);
        let below_is_done = self.bits[..first].iter().all(|b| *b == all);
        let above_is_blank = self.bits[window.end..].iter().all(|b| *b == 0);
        let (before, after) = (first..wordline, wordline + 1..window.end);
        let fits = match class {
            SlotClass::Slc => {
                let in_turn = self.bits[before].iter().all(|b| *b == 1);
                bit == 0 && in_turn && self.bits[after].iter().all(|b| *b == 0) && !self.direct
            }
            SlotClass::Reprogram => {
                let in_turn = self.bits[before].iter().all(|b| *b == bit + 1);
                bit > 0 && in_turn && self.bits[after].iter().all(|b| *b == bit) && !self.direct
            }
            SlotClass::Next => {
                let in_turn = self.bits[before].iter().all(|b| *b == all);
                let blank = self.bits[window].iter().all(|b| *b == 0);
                in_turn && self.bits[after].iter().all(|b| *b == 0) && (self.direct || blank)
            }
            _ => false,
        };
        self.bits[wordline] == bit && below_is_done && above_is_blank && fits
    }

    fn program(&mut self, all: u8, width: usize, wordline: usize, class: SlotClass) {
        self.bits[wordline] += 1;
        let end = (wordline / width * width + width).min(self.bits.len());
        let over = self.bits[..end].iter().all(|b| *b == all);
        self.direct = class == SlotClass::Next && !over;
    }
}

#[test]
fn rule_admits_exactly_the_conditions_in_every_state() {
    for case in BLOCKS {
        let (rule, shape) = block(case);
        let mut seen = HashSet::new();
        let start = Model { bits: vec![0; shape.wordlines as usize], direct: false };
        let mut open = vec![(start, BlockState::default())];
        while let Some((model, state)) = open.pop() {
            if !seen.insert(model.clone()) {
                continue;
            }
            for class in SlotClass::ALL {
                let mut offered = 0;
                for page in 0..shape.pages() {
                    let (wordline, bit) = ((page / case.1 as u32) as usize, (page % case.1 as u32) as u8);
                    let mut after = state;
                    let done = rule.apply(shape, &mut after, class, page).is_ok();
                    let admitted = model.admits(case.1, case.2 as usize, wordline, bit, class);
                    assert_eq!(done, admitted, "{case:?} {state:?} {class:?} {page}");
                    if done {
                        offered += 1;
                        let mut model = model.clone();
                        model.program(case.1, case.2 as usize, wordline, class);
                        open.push((model, after));
                    } else {
                        assert_eq!(after, state, "a refused program changes nothing");
                    }
                }
                assert!(offered <= 1);
                assert_eq!(rule.has_left(shape, &state, class), offered == 1);
                assert_eq!(rule.offers(shape, &state) >> class as u8 & 1 == 1, offered == 1);
            }
            for page in 0..shape.pages() {
                let (wordline, bit) = ((page / case.1 as u32) as usize, (page % case.1 as u32) as u8);
                assert_eq!(rule.is_programmed(shape, &state, page), model.bits[wordline] > bit);
                assert!(u32::from(model.bits[wordline]).saturating_sub(1) <= MOST_REPROGRAMS);
                if model.bits[wordline] > 0 {
                    let as_slc = model.bits[wordline] == 1 && !model.direct;
                    let bits = if as_slc { 1 } else { case.1 };
                    assert_eq!(rule.cell_bits(shape, &state, page), bits, "{case:?} {state:?} {page}");
                }
            }
        }
        assert!(seen.len() > shape.pages() as usize, "{case:?}: {}", seen.len());
    }
}

/// The pages of a block in the order in which one class after the other is taken whenever it has one.
fn life(rule: ProgramRule, shape: BlockShape, classes: &[SlotClass]) -> Vec<u32> {
    let (mut state, mut order) = (BlockState::default(), vec![]);
    while let Some((page, class)) = classes.iter().find_map(|c| Some((rule.next(shape, &state, *c)?, *c))) {
        rule.apply(shape, &mut state, class, page).unwrap();
        order.push(page);
    }
    order
}

#[test]
fn every_page_is_reached_by_reprogramming_and_directly() {
    for case in BLOCKS {
        let (rule, shape) = block(case);
        for classes in [&[SlotClass::Slc, SlotClass::Reprogram][..], &[SlotClass::Next]] {
            let order = life(rule, shape, classes);
            assert_eq!(order.iter().collect::<HashSet<_>>().len(), shape.pages() as usize);
        }
    }
}

#[test]
fn window_takes_four_slc_pages_then_two_passes_of_four() {
    // In-place Switch, Fig. 6(a): all SLC pages of two layers, then "four operations to convert two SLC pages".
    let (rule, shape) = block((128, 3, 4, 2));
    let order = life(rule, shape, &[SlotClass::Slc, SlotClass::Reprogram]);
    assert_eq!(order[..12], [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]);
    assert_eq!(order[12..16], [12, 15, 18, 21]);
}

/// Most programs of neighboring wordlines between two programs of a wordline, or after its last.
fn disturbed(order: &[u32], shape: BlockShape, near: impl Fn(u32, u32) -> bool) -> u32 {
    let of = |page: &u32| page / shape.bits as u32;
    let mut most = 0;
    for wordline in 0..shape.wordlines as u32 {
        let mut since = None;
        for other in order.iter().map(of) {
            if other == wordline {
                since = Some(0);
            } else if let Some(n) = &mut since
                && other.abs_diff(wordline) == 1
                && near(wordline, other)
            {
                *n += 1;
                most = most.max(*n);
            }
        }
    }
    most
}

#[test]
fn interference_stays_in_budget_and_doubles_in_windows() {
    let (rule, shape) = block((128, 3, 4, 2));
    let order = life(rule, shape, &[SlotClass::Slc, SlotClass::Reprogram]);
    // Section IV-D1: "twice the cell-to-cell interference from neighboring cells".
    assert_eq!(disturbed(&order, shape, |a, b| a / 4 == b / 4), 2);
    for case in BLOCKS {
        let (rule, shape) = block(case);
        for classes in [&[SlotClass::Slc, SlotClass::Reprogram][..], &[SlotClass::Next]] {
            let worst = disturbed(&life(rule, shape, classes), shape, |_, _| true);
            assert!(worst <= interference(shape.bits as u32), "{case:?}: {worst}");
        }
    }
    let (rule, shape) = block((8, 4, 4, 2));
    let order = life(rule, shape, &[SlotClass::Slc, SlotClass::Reprogram]);
    assert_eq!(disturbed(&order, shape, |_, _| true), interference(4));
    assert!(interference(4) <= MOST_INTERFERENCE);
}

#[test]
fn windows_that_the_flash_would_not_bear_are_refused() {
    let shape = BlockShape { wordlines: 8, bits: 3 };
    let check = |wordlines, layers| ProgramRule::ReprogramWindow(Window { wordlines, layers }).check(shape);
    assert_eq!(check(4, 2), Ok(()));
    assert_eq!(check(8, 2), Ok(()));
    assert_eq!(check(0, 1), Err(RuleError::Wordlines { given: 0, wordlines: 8 }));
    assert_eq!(check(10, 2), Err(RuleError::Wordlines { given: 10, wordlines: 8 }));
    assert_eq!(check(6, 3), Err(RuleError::Layers { wordlines: 6, layers: 3 }));
    assert_eq!(check(3, 2), Err(RuleError::Layers { wordlines: 3, layers: 2 }));
    assert_eq!(check(4, 0), Err(RuleError::Layers { wordlines: 4, layers: 0 }));
    let slc = BlockShape { wordlines: 8, bits: 1 };
    let rule = ProgramRule::ReprogramWindow(Window { wordlines: 4, layers: 2 });
    assert_eq!(rule.check(slc), Err(RuleError::OneBit));
}

#[test]
fn block_fills_by_wordline_and_resumes_at_a_window() {
    for case in BLOCKS {
        let (rule, shape) = block(case);
        for pages in 0..=shape.pages() {
            let state = rule.filled(shape, pages);
            for page in 0..shape.pages() {
                assert_eq!(rule.is_programmed(shape, &state, page), page < pages);
            }
            let whole = pages.is_multiple_of(rule.fills_by(shape)) && pages < shape.pages();
            assert_eq!(rule.has_left(shape, &state, SlotClass::Slc), whole, "{case:?} {pages}");
        }
    }
}

#[test]
fn block_resumes_legally_behind_a_torn_wordline() {
    for case in BLOCKS {
        let (rule, shape) = block(case);
        for classes in [&[SlotClass::Slc, SlotClass::Reprogram][..], &[SlotClass::Next]] {
            let order = life(rule, shape, classes);
            for n in 0..order.len() {
                let (done, torn) = (&order[..n], order[n]);
                let pages = done.iter().copied();
                let mut whole = rule.found(shape, pages, None);
                assert_eq!(rule.programmed(&whole) as usize, n, "{case:?}");
                let mut state = rule.found(shape, order[..=n].iter().copied(), Some(torn));
                for state in [&mut whole, &mut state] {
                    let mut closed = HashSet::new();
                    loop {
                        let next =
                            SlotClass::ALL.iter().find_map(|c| Some((rule.next(shape, state, *c)?, *c)));
                        let Some((page, class)) = next else { break };
                        rule.apply(shape, state, class, page).unwrap();
                        assert!(closed.insert(page));
                    }
                    assert_eq!(rule.programmed(state), shape.pages());
                    assert!(done.iter().all(|p| !closed.contains(p)), "{case:?}: programmed twice");
                }
                let state = rule.found(shape, order[..=n].iter().copied(), Some(torn));
                let wordline = torn / shape.bits as u32;
                for bit in 0..shape.bits as u32 {
                    assert!(rule.is_programmed(shape, &state, wordline * shape.bits as u32 + bit));
                }
            }
        }
    }
}
