//! What a drive can be before its first request.

use crate::bench::{self, Bench, Plan};
use wordline_ftl::{
    BlockLife, Initial, InitialError, Known, Law, Mapped, Order, SteadyError, UNTOUCHED, Updates,
};
use wordline_units::{BlockId, CellMode, Fraction, Lpn, SectorMask, SimDuration};

fn begun(plan: Plan, initial: &Initial) -> Bench {
    let mut b = Bench::new(plan, &[]);
    b.ftl.setup().precondition(initial, 7).unwrap();
    b.check();
    b
}

fn lives(b: &Bench) -> [usize; 3] {
    let all: Vec<BlockLife> =
        (0..10).map(|block| b.ftl.inspect().block_status(BlockId(block)).life).collect();
    [BlockLife::Erased, BlockLife::Open, BlockLife::Full]
        .map(|life| all.iter().filter(|other| **other == life).count())
}

#[test]
fn data_of_before_lie_as_the_initial_state_says() {
    let holding = Initial { order: Order::Sequential, ..Initial::holding(Mapped::First(14)) };
    let table = [
        (Initial::fresh(), [10, 0, 0], 0),
        (holding.clone(), [6, 1, 3], 14),
        (Initial { order: Order::Random, ..holding.clone() }, [6, 1, 3], 14),
        (Initial { valid: Fraction::percent(75), ..holding.clone() }, [5, 0, 5], 14),
        (Initial { mapped: Mapped::Set((3..9).map(Lpn).collect()), ..holding.clone() }, [8, 1, 1], 6),
    ];
    for (initial, expected, mapped) in table {
        let b = begun(bench::one(CellMode::Slc), &initial);
        assert_eq!((lives(&b), b.ftl.inspect().mapped()), (expected, mapped), "{initial:?}");
    }
}

#[test]
fn a_drive_that_holds_data_goes_on_like_any() {
    let initial = Initial {
        valid: Fraction::percent(75),
        aged_invalid: Fraction::percent(50),
        cycles: [10; 4],
        more_cycles: [5; 4],
        retention: SimDuration(1_000),
        ..Initial::holding(Mapped::First(16))
    };
    for plan in [bench::one(CellMode::Slc), bench::one(CellMode::Mlc), bench::one_shot(), bench::sectors()] {
        let mut b = begun(plan, &initial);
        assert!(b.ftl.inspect().wear().all(|(_, cycles)| (10..=15).contains(&cycles)));
        assert!(b.ftl.inspect().life_used().is_some_and(|(mean, most)| mean > 0.0 && most <= 0.015));
        assert_eq!(b.ftl.inspect().programmed().count(), 10 - lives(&b)[0]);
        // What the base holds reads as zeros, which the truth knows as blank.
        b.verify();
        b.fill((0..60).map(|i| i * 7 % 16));
        b.trim(3, 0, 4);
        b.flush();
        b.verify();
        let mut b = b.cut();
        b.verify();
    }
}

#[test]
fn sectors_that_pages_lack_are_not_there() {
    let lacking = vec![(Lpn(2), SectorMask(0b0110))];
    let mut b = begun(bench::sectors(), &Initial { lacking, ..Initial::holding(Mapped::First(4)) });
    assert_eq!(b.ftl.inspect().mapped(), 14);
    assert_eq!(b.ftl.tables().locate(Lpn(2)).iter().map(|at| at.mask.0).sum::<u32>(), 0b1001);
}

#[test]
fn data_that_do_not_fit_are_refused() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &[]);
    let valid = Fraction::percent(25);
    let too_much = b.ftl.setup().precondition(&Initial { valid, ..Initial::holding(Mapped::First(16)) }, 1);
    assert!(matches!(too_much, Err(InitialError::TooMuch { needed: 16, .. })), "{too_much:?}");
    let beyond = Bench::new(bench::one(CellMode::Slc), &[])
        .ftl
        .setup()
        .precondition(&Initial::holding(Mapped::First(17)), 1);
    assert!(matches!(beyond, Err(InitialError::BeyondDrive { last: 16, logical_pages: 16 })), "{beyond:?}");
}

const OPEN_LOOP: Known<'static> = Known::Outstanding(None, &[]);

fn law(pages: usize) -> Law {
    Law { class_of: vec![0; pages], shares: vec![1.0], lengths: vec![(1, 1.0)], aligned: false }
}

#[test]
fn steady_drive_was_written_until_waf_settled() {
    let larger = [("medium.flash.wordlines_per_block", "16"), ("capacity.logical", "128KiB")];
    let mut b = Bench::new(bench::one(CellMode::Slc), &larger);
    let all = Initial::holding(Mapped::First(64));
    let begun = b.ftl.setup().precondition_steady(&all, Updates::Law(&law(64)), OPEN_LOOP, 3).unwrap();
    assert!(begun.waf >= 1.0 && begun.sampled_pages == 64, "{begun:?}");
    b.check();
    assert_eq!(b.ftl.inspect().mapped(), 64);
    b.fill((0..40).map(|i| i * 3 % 64));
    b.verify();
    let mut b = Bench::new(bench::one(CellMode::Slc), &larger);
    let mut stream = (0..4000u32).map(|i| i * 37 % 64..i * 37 % 64 + 1);
    let begun = b.ftl.setup().precondition_steady(&all, Updates::Stream(&mut stream), OPEN_LOOP, 3).unwrap();
    assert!(begun.drive_writes > 1.0, "{begun:?}");
    b.check();
    b.verify();
}

/// Planes that hold more and less begin so, and a drive that begins with their contents has them, too.
#[test]
fn uneven_planes_keep_their_shares() {
    let planes = [("medium.flash.channels", "4"), ("medium.flash.wordlines_per_block", "16")];
    let keys = [&planes[..], &[("capacity.logical", "640KiB"), ("allocation.order", "dynamic")]].concat();
    let (all, law) = (Initial::holding(Mapped::First(320)), law(320));
    let asked = [1.05, 0.9, 1.02, 1.03];
    let is_close = |shares: &[f64], to: &[f64]| shares.iter().zip(to).all(|(a, b)| (a - b).abs() < 0.02);
    let mut first = Bench::new(bench::one(CellMode::Slc), &keys);
    let known = Known::Outstanding(None, &asked);
    let begun = first.ftl.setup().precondition_steady(&all, Updates::Law(&law), known, 3).unwrap();
    first.check();
    assert!(is_close(&first.ftl.spread(320).shares, &asked), "{:?}", first.ftl.spread(320).shares);
    let contents = first.ftl.setup().contents(&all, &law, begun, true).unwrap();
    let mut second = Bench::new(bench::one(CellMode::Slc), &keys);
    second.ftl.setup().precondition_steady(&all, Updates::Law(&law), Known::Contents(&contents), 3).unwrap();
    second.check();
    second.verify();
    assert!(is_close(&second.ftl.spread(320).shares, &asked), "{:?}", second.ftl.spread(320).shares);
    let even = first.ftl.setup().contents(&all, &law, begun, false).unwrap();
    let mut third = Bench::new(bench::one(CellMode::Slc), &keys);
    third.ftl.setup().precondition_steady(&all, Updates::Law(&law), Known::Contents(&even), 3).unwrap();
    assert!(is_close(&third.ftl.spread(320).shares, &[1.0; 4]), "{:?}", third.ftl.spread(320).shares);
}

#[test]
fn law_says_what_part_of_the_data_is_replaced() {
    let mut law = law(100);
    assert!((law.replaced(&Mapped::First(100), 1.0) - (1.0 - libm::exp(-1.0))).abs() < 1e-12);
    // Half of the pages get nine of ten writes, and a quarter none.
    law.class_of = (0..100).map(|page| [0, 0, 1, UNTOUCHED][page % 4]).collect();
    law.shares = vec![0.9, 0.1];
    let after = |drive_writes: f64| law.replaced(&Mapped::First(100), drive_writes);
    assert!((after(1e-6) / 1e-6 - 1.0).abs() < 1e-3 && after(0.5) < 0.5);
    assert!((after(1e6) - 0.75).abs() < 1e-12);
}

#[test]
fn what_cannot_be_steady_is_refused_with_its_reason() {
    let refused = |plan: Plan, keys: &[(&str, &str)], pages| {
        let mut b = Bench::new(plan, keys);
        let initial = Initial::holding(Mapped::First(pages));
        let law = Law { class_of: vec![UNTOUCHED; 16], ..law(16) };
        b.ftl.setup().precondition_steady(&initial, Updates::Law(&law), OPEN_LOOP, 3).unwrap_err()
    };
    let one = || bench::one(CellMode::Slc);
    assert!(matches!(refused(bench::cache(), &[], 4), SteadyError::Scheme { .. }));
    assert!(matches!(refused(bench::sectors(), &[], 4), SteadyError::Scheme { .. }));
    assert_eq!(refused(one(), &[], 0), SteadyError::Empty);
    assert_eq!(refused(one(), &[("dram.map_cache", "2KiB")], 4), SteadyError::MapCache);
    let superblocks = [("parallel.superblock", "die"), ("medium.flash.planes_per_die", "2")];
    assert_eq!(refused(one(), &superblocks, 4), SteadyError::Superblocks);
    assert_eq!(refused(one(), &[("wear.bad_blocks", "10%")], 4), SteadyError::BadBlocks);
}

#[test]
fn counts_begin_anew_and_the_drive_stays() {
    let mut b = begun(bench::one(CellMode::Slc), &Initial::fresh());
    b.fill(0..16);
    let mapped = b.ftl.inspect().mapped();
    b.ftl.setup().start_anew();
    assert_eq!(b.ftl.counters().integers().iter().sum::<u64>(), 0);
    assert_eq!(b.ftl.inspect().mapped(), mapped);
    b.now = wordline_units::SimTime(0);
    b.verify();
}
