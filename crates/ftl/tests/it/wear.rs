//! Blocks grow old: reads err, data are written anew, blocks wear out, and data at rest move.

use crate::bench::{self, Bench};
use wordline_ftl::{Due, Outcome};
use wordline_units::{CellMode, SimDuration};

const HOUR: u64 = 3_600_000_000_000;

/// Errors that grow with time and reads.
const ERRORS: [(&str, &str); 2] = [("errors.model", "fixed:2"), ("errors.decode", "1us")];

fn one(keys: &[(&str, &str)]) -> Bench {
    Bench::new(bench::one(CellMode::Slc), keys)
}

#[test]
fn a_read_is_repeated_as_often_as_its_page_has_errors() {
    for retransfer in ["false", "true"] {
        let keys = [&ERRORS[..], &[("errors.retransfer", retransfer)]].concat();
        let mut b = one(&keys);
        b.fill([0]);
        b.read(0, 0, 4);
        b.run();
        let read = b.log.last().unwrap();
        // Two retries of 3 us, each after 1 us; or each by the bus.
        assert_eq!(read.time, SimDuration(if retransfer == "true" { 3_000 } else { 11_000 }));
        let errors = b.ftl.counters().errors.as_ref().unwrap();
        assert_eq!(errors.of_mode(CellMode::Slc).iter().sum::<u64>(), 1);
        b.verify();
    }
}

#[test]
fn block_read_too_often_or_too_old_is_rewritten() {
    let refreshed = |b: &Bench, due: Due| b.ftl.counters().refresh.blocks[due as usize];
    let mut b = one(&[&ERRORS[..], &[("errors.read_reclaim", "20")]].concat());
    b.fill(0..8);
    for _ in 0..20 {
        b.read(0, 0, 4);
        b.run();
    }
    assert_eq!(refreshed(&b, Due::Reads), 1);
    assert!(b.ftl.inspect().wear().any(|(_, erases)| erases == 1));
    b.verify();

    let mut b = one(&[&ERRORS[..], &[("errors.refresh", "24h")]].concat());
    b.fill(0..8);
    b.let_pass(23 * HOUR);
    b.read(0, 0, 4);
    b.run();
    assert_eq!(refreshed(&b, Due::Age), 0);
    b.let_pass(2 * HOUR);
    b.read(0, 0, 4);
    b.run();
    b.read(0, 0, 4);
    b.run();
    assert!(refreshed(&b, Due::Age) >= 1);
    b.verify();
}

#[test]
fn worn_blocks_retire_and_the_drive_stays_readable() {
    let keys = [("wear.enforce", "true"), ("medium.flash.slc.endurance", "6"), ("wear.dynamic", "true")];
    let mut b = one(&keys);
    b.may_fail = true;
    for i in 0..900 {
        b.write(i * 7 % 16, 0, 4);
        b.run();
        if i % 50 == 0 {
            b.check();
        }
    }
    assert!(b.ftl.inspect().worn_out().is_some() && b.ftl.inspect().changes_capacity());
    assert_eq!(b.ended.last().unwrap().outcome, Outcome::WornOut);
    let (_, retired) = b.ftl.inspect().lost_blocks();
    assert!(retired > 0);
    let lost = u64::from(retired) * 4 * 2048;
    assert_eq!(b.ftl.inspect().lasting_bytes().0 - b.ftl.inspect().lasting_bytes().1, lost);
    assert_eq!(b.ftl.inspect().usable_bytes().0, 10 * 4 * 2048 - lost);
    assert!(b.ftl.inspect().wear().all(|(_, erases)| erases <= 6));
    b.verify();
    let mut b = b.cut();
    assert_eq!(b.ftl.inspect().lost_blocks().1, retired);
    b.verify();
}

#[test]
fn factory_bad_blocks_are_never_used() {
    let mut b = one(&[("wear.bad_blocks", "20%")]);
    b.ftl.setup().precondition(&wordline_ftl::Initial::fresh(), 5).unwrap();
    let (bad, _) = b.ftl.inspect().lost_blocks();
    assert!(bad > 0);
    b.fill((0..60).map(|i| i * 7 % 16));
    b.verify();
    assert_eq!(b.ftl.inspect().lost_blocks(), (bad, 0));
}

#[test]
fn data_at_rest_leave_a_block_that_they_keep_young() {
    let spread = |levels: &str| {
        let mut b = one(&[("wear.static", levels), ("wear.dynamic", "true")]);
        b.fill(0..16);
        b.fill((0..400).map(|i| 12 + i % 4));
        b.verify();
        let erases: Vec<u32> = b.ftl.inspect().wear().map(|(_, erases)| erases).collect();
        (erases.iter().max().unwrap() - erases.iter().min().unwrap(), b.ftl.inspect().lost_counts().levelled)
    };
    let ((without, none), (with, levelled)) = (spread("off"), spread("4"));
    assert!(none == 0 && levelled > 0);
    assert!(with < without && with <= 8, "{with} {without}");
}
