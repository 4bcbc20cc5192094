//! The drive's own tables: a map on flash, and the trim log.

use crate::bench::{self, Bench, Order, Rng};
use wordline_ftl::{Cause, OpKind};
use wordline_units::{CellMode, Lpn};

/// A map page has 512 entries of 4 bytes, so the drive has several only if it has thousands of pages.
const MAP_ON_FLASH: [(&str, &str); 5] = [
    ("dram.map_cache", "2KiB"),
    ("capacity.logical", "4MiB"),
    ("medium.flash.blocks_per_plane", "400"),
    ("medium.flash.wordlines_per_block", "8"),
    ("medium.flash.planes_per_die", "1"),
];

fn with_map_on_flash(more: &[(&str, &str)]) -> Bench {
    let mut plan = bench::one(CellMode::Slc);
    plan.layout.pools[0].blocks_per_plane = 400;
    Bench::new(plan, &[&MAP_ON_FLASH[..], more].concat())
}

fn metadata(b: &Bench) -> (u64, u64) {
    let region = &b.ftl.counters().regions[0];
    (region.reads[Cause::Metadata as usize], region.program_pages[Cause::Metadata as usize])
}

fn looked_up(b: &Bench) -> (u64, u64) {
    (b.ftl.counters().map.lookups, b.ftl.counters().map.hits)
}

#[test]
fn map_miss_reads_first_and_eviction_programs() {
    let mut b = with_map_on_flash(&[]);
    b.fill([0]);
    // Nothing is on flash of any map page yet, so none is read; the second displaces the first, which has changed.
    assert_eq!((looked_up(&b), metadata(&b)), ((1, 0), (0, 0)));
    b.fill([600]);
    assert_eq!((looked_up(&b), metadata(&b)), ((2, 0), (0, 1)));
    b.fill([601]);
    assert_eq!((looked_up(&b), metadata(&b)), ((3, 1), (0, 1)));
    // Who needs an entry of the first again waits for it, and so does a second one, for the same read.
    let reads = [b.read(0, 0, 4), b.read(1, 0, 4)];
    let map_read = b.queued(OpKind::Read, Cause::Metadata).unwrap();
    assert_eq!(b.queue, [map_read]);
    b.perform(map_read);
    assert!(b.has_ended(reads[1]) && !b.has_ended(reads[0]));
    b.run();
    assert_eq!(metadata(&b), (1, 2));
    b.verify();
    assert_eq!(b.ftl.inspect().own_pages().len(), b.ftl.inspect().trim_log().len() + 4);
}

#[test]
fn partial_write_waits_for_entry_and_missing_sectors() {
    let mut b = with_map_on_flash(&[]);
    b.fill([0, 600]);
    let write = b.write(0, 1, 1);
    b.settle();
    assert!(b.has_ended(write));
    let causes: Vec<Cause> = b.log.iter().filter(|op| op.kind == OpKind::Read).map(|op| op.cause).collect();
    assert_eq!(causes, [Cause::Metadata, Cause::Rmw]);
    b.verify();
}

#[test]
fn pending_map_changes_stay_within_their_bound() {
    let mut b = with_map_on_flash(&[("dram.map_journal", "16B")]);
    b.order = Order::Shuffled(Rng(5));
    let mut rng = Rng(9);
    for _ in 0..150 {
        let (page, other) = (rng.below(2040), rng.below(2040));
        b.write(page, 0, 4);
        b.write(other, 0, 2);
        b.trim(rng.below(2040), 0, 4);
        (0..rng.below(9)).for_each(|_| _ = b.step());
    }
    b.run();
    b.check();
    assert!(b.ftl.inspect().map_journal_peak_bytes() >= 16);
    assert!(metadata(&b).0 > 10, "{:?}", metadata(&b));
    let (lookups, hits) = looked_up(&b);
    assert!(hits < lookups);
    b.verify();
}

#[test]
fn unwritten_map_is_programmed_after_a_power_cut() {
    let mut b = with_map_on_flash(&[]);
    b.fill([0, 600, 1200]);
    // The last of them is in the cache alone.
    let of_third = |b: &mut Bench| {
        let third = Lpn(b.ftl.inspect().trim_log().end + 2);
        !b.ftl.tables().locate(third).is_empty()
    };
    assert!(!of_third(&mut b));
    let now = (b.now, metadata(&b).1);
    let mut b = b.cut_without_reading();
    assert!(b.now > now.0);
    // It comes to the cache once more, and is known to be changed: displaced, it is programmed.
    b.read(1200, 0, 4);
    b.run();
    b.read(0, 0, 4);
    b.run();
    assert!(of_third(&mut b));
    b.verify();
}

#[test]
fn a_flush_logs_what_was_trimmed_since_the_last_one() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &[]);
    b.fill(0..4);
    // A page that was never written, or is trimmed twice, is not logged.
    b.trim(9, 0, 4);
    b.flush();
    b.run();
    assert_eq!(metadata(&b), (0, 0));
    b.trim(1, 0, 4);
    let flush = b.flush();
    assert!(!b.has_ended(flush));
    b.run();
    assert!(b.has_ended(flush));
    assert_eq!(metadata(&b), (0, 1));
    b.trim(1, 0, 4);
    b.flush();
    b.run();
    assert_eq!(metadata(&b), (0, 1));
    let mut b = b.cut();
    assert!(b.ftl.tables().locate(Lpn(1)).is_empty() && !b.ftl.tables().locate(Lpn(0)).is_empty());
    b.verify();
}

#[test]
fn the_trim_log_is_collected_like_any_page() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &[]);
    b.fill(0..16);
    (3..9).for_each(|page| _ = b.trim(page, 0, 4));
    b.flush();
    b.run();
    let log = b.ftl.inspect().trim_log().start;
    let first = b.ftl.tables().locate(Lpn(log));
    let mut rng = Rng(3);
    b.fill((0..90).map(|_| [0, 1, 2, 9, 10, 11, 12, 13, 14, 15][rng.below(10) as usize]));
    assert_ne!(b.ftl.tables().locate(Lpn(log)), first);
    let mut b = b.cut();
    assert!((3..9).all(|page| b.ftl.tables().locate(Lpn(page)).is_empty()));
    b.verify();
}
