//! Whatever the order in which operations begin and end, a read finds the newest data as it came, and all counts add up.

use crate::bench::{self, Bench, Order, Plan, Rng};
use proptest::prelude::*;
use wordline_ftl::{Cause, OpKind};

/// Plans that a random host is let loose on, with keys of their drives.
pub const CASES: usize = 14;

fn case(which: usize) -> (Plan, Vec<(&'static str, &'static str)>) {
    use wordline_units::CellMode::{Mlc, Slc};
    let two_planes = ("medium.flash.planes_per_die", "2");
    let two_map_pages = [
        ("medium.flash.page", "512B"),
        ("mapping.unit", "512B"),
        ("medium.flash.wordlines_per_block", "16"),
        ("dram.map_cache", "512B"),
        ("dram.map_journal", "16B"),
    ];
    let buffered = [("ack.mode", "buffer"), ("ack.pages", "6")];
    let packed = [("mapping.unit", "1KiB"), ("mapping.packing", "page")];
    let (plan, capacity, keys) = match which {
        0 => (bench::one(Slc), "40KiB", vec![]),
        1 => (bench::one(Mlc), "96KiB", vec![("gc.class", "foreground")]),
        2 => (bench::one_shot(), "300KiB", vec![two_planes]),
        3 => (bench::lanes(), "80KiB", vec![]),
        4 => (bench::cache(), "96KiB", vec![]),
        5 => (bench::sectors(), "64KiB", vec![]),
        6 => (bench::overlay(), "80KiB", vec![]),
        7 => (bench::extent(), "80KiB", vec![]),
        8 => (bench::one(Mlc), "96KiB", two_map_pages.to_vec()),
        9 => (bench::one(Slc), "80KiB", [&buffered[..], &[("ack.flush", "when-full"), two_planes]].concat()),
        10 => (
            bench::one(Slc),
            "80KiB",
            vec![("parallel.superblock", "die"), two_planes, ("dram.read_cache", "8KiB")],
        ),
        11 => (bench::one(Mlc), "120KiB", [&packed[..], &[two_planes]].concat()),
        12 => (
            bench::one_shot().with(|r| (r.pad_after, r.protected) = (None, true)),
            "150KiB",
            [&packed[..], &buffered].concat(),
        ),
        _ => (bench::cache().with(|r| r.protected = true), "96KiB", buffered.to_vec()),
    };
    (plan, [&keys[..], &[("capacity.logical", capacity)]].concat())
}

/// One thing that a host does, from a random number.
pub fn do_something(b: &mut Bench, rng: &mut Rng) {
    let pages = b.truth.sectors() / 4;
    // Some pages are busier than others.
    let page = rng.below(1 + rng.clone().below(pages));
    let (from, whole) = (rng.below(4), rng.below(2) == 0);
    let (from, most) = if whole { (0, 4) } else { (from, 4 - from) };
    let sectors = if whole { 4 } else { 1 + rng.below(most) as u32 };
    match rng.below(20) {
        0..9 => _ = b.write(page, from, sectors),
        9..14 => _ = b.read(page, from, sectors),
        14 if page + 2 < pages => _ = b.write(page, from, sectors + 5),
        14..17 => _ = b.trim(page, from, sectors),
        17 => _ = b.flush(),
        18 => _ = b.forced(page, from, sectors),
        _ => b.run(),
    }
    for _ in 0..rng.below(6) {
        b.step();
    }
}

pub fn live_through(which: usize, seed: u64, requests: u32) -> Bench {
    let (plan, keys) = case(which);
    let mut b = Bench::new(plan, &keys);
    let mut rng = Rng(seed);
    b.order = match seed % 4 {
        0 => Order::First,
        1 => Order::Last,
        _ => Order::Shuffled(Rng(seed ^ 1)),
    };
    for i in 0..requests {
        do_something(&mut b, &mut rng);
        if i % 16 == 0 {
            b.check();
        }
    }
    b
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_read_finds_the_newest_data_in_any_order(which in 0..CASES, seed: u64) {
        let mut b = live_through(which, seed, 200);
        b.verify();
        b.drain();
        b.verify();
    }

    #[test]
    fn power_cut_leaves_only_allowed_sector_contents(which in 0..CASES, seed: u64) {
        let mut b = live_through(which, seed, 120).cut();
        b.verify();
        b.write(0, 0, 4);
        b.verify();
        b.drain();
    }
}

#[test]
fn each_operation_is_counted_once_under_its_cause() {
    for which in 0..CASES {
        let mut b = live_through(which, 2, 500);
        b.drain();
        let counters = b.ftl.counters();
        let begun = |kind: OpKind| b.log.iter().filter(|op| op.kind == kind).count() as u64;
        let of = |kind, cause| b.log.iter().filter(|op| op.kind == kind && op.cause == cause).count() as u64;
        let regions = || counters.regions.iter();
        assert_eq!(
            regions().map(|r| r.ops.program_operations).sum::<u64>(),
            begun(OpKind::Program),
            "case {which}"
        );
        assert_eq!(regions().map(|r| r.counts.erases).sum::<u64>(), begun(OpKind::Erase), "case {which}");
        assert_eq!(counters.erases.iter().sum::<u64>(), begun(OpKind::Erase), "case {which}");
        for cause in Cause::ALL {
            let reads: u64 = regions().map(|r| r.reads[cause as usize]).sum();
            assert_eq!(reads, of(OpKind::Read, cause), "case {which}: reads of {cause:?}");
        }
        assert!(begun(OpKind::Erase) > 0, "case {which}: nothing was collected");
    }
}
