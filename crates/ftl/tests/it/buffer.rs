//! What waits in RAM: one-shot groups, pages that are merged and gathered, the write buffer, the read cache.

use crate::bench::{self, A, B, Bench, Plan};
use wordline_device::Trigger;
use wordline_flash::{ProgramRule, SlotClass};
use wordline_ftl::{
    Cause, Collect, Gather, Grain, Hooks, IdleWork, Join, MapKind, Move, MovedIn, OpKind, Place, PlanePick,
    Region, RegionId, Route,
};
use wordline_units::{BlockId, CellMode, Lpn};

/// Pages programmed, and pages of padding, by region.
fn pages(b: &Bench, region: RegionId) -> (u64, u64) {
    let region = &b.ftl.counters().regions[usize::from(region.0)];
    let padded = region.program_pages[Cause::Pad as usize];
    (region.program_pages.iter().sum::<u64>() - padded, padded)
}

fn programs(b: &Bench) -> u64 {
    b.ftl.counters().regions.iter().map(|r| r.ops.program_operations).sum()
}

#[test]
fn pages_wait_for_a_full_wordline_or_the_delay() {
    let mut b = Bench::new(bench::one_shot(), &[]);
    b.write(0, 0, 4);
    b.let_pass(100_000);
    let second = b.write(1, 0, 4);
    b.settle();
    assert!(b.queue.is_empty() && !b.has_ended(second));
    b.write(2, 0, 4);
    b.settle();
    assert_eq!((programs(&b), pages(&b, A)), (1, (3, 0)));
    // The timer of a group that has gone says nothing of the next one.
    b.write(3, 0, 4);
    assert!(b.ring());
    assert!(b.now.0 < 510_000 && b.queue.is_empty(), "{:?}", b.now);
    assert!(b.ring());
    assert!(b.now.0 > 600_000 && b.queue.len() == 1, "{:?}", b.now);
    b.settle();
    assert_eq!((programs(&b), pages(&b, A)), (2, (4, 2)));
    b.verify();
}

#[test]
fn a_flush_pads_what_waits_and_ends_after_it() {
    let mut b = Bench::new(bench::one_shot(), &[]);
    b.write(0, 0, 4);
    let flush = b.flush();
    let program = b.queued(OpKind::Program, Cause::Host).unwrap();
    let later = b.write(1, 0, 4);
    assert!(!b.has_ended(flush));
    b.perform(program);
    assert!(b.has_ended(flush) && !b.has_ended(later));
    let empty = b.flush();
    assert!(!b.has_ended(empty));
    b.settle();
    assert!(b.has_ended(empty));
    b.verify();
}

/// Pages of two mapping units, which writes share.
const PACKED: [(&str, &str); 3] =
    [("mapping.unit", "1KiB"), ("mapping.sector", "512B"), ("mapping.packing", "page")];

/// Bytes of padding, in mapping units.
fn units_padded(b: &Bench) -> u64 {
    b.ftl.counters().program_bytes(Cause::Pad) / b.drive.spec.unit.0
}

#[test]
fn units_of_several_writes_share_a_page() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &PACKED);
    let first = b.write(1, 2, 2);
    b.settle();
    assert!(b.queue.is_empty() && !b.has_ended(first));
    let read = b.read(1, 2, 2);
    assert!(b.has_ended(read), "it is in RAM");
    b.write(6, 0, 2);
    b.settle();
    assert_eq!((programs(&b), pages(&b, A), units_padded(&b)), (1, (1, 0), 0));
    assert_eq!(b.log[0].parts.iter().map(|p| p.lpn.0).collect::<Vec<_>>(), [3, 12]);
    // A write that fills a page shares it with no other; one that does not waits its time.
    b.write(2, 0, 2);
    b.write(4, 0, 4);
    b.settle();
    assert_eq!((programs(&b), units_padded(&b)), (2, 0));
    assert!(b.ring() && b.queue.is_empty(), "the timer of the first page says nothing of the next one");
    assert!(b.ring());
    b.settle();
    assert_eq!((programs(&b), units_padded(&b)), (3, 1));
    b.verify();
}

#[test]
fn flush_and_fua_close_the_page_being_packed() {
    let keys = [&PACKED[..], &[("ack.mode", "buffer"), ("ack.pages", "8")]].concat();
    let mut b = Bench::new(bench::one(CellMode::Slc).with(|r| r.pad_after = None), &keys);
    let write = b.write(0, 0, 2);
    assert!(b.has_ended(write) && b.timers.is_empty());
    let flush = b.flush();
    b.settle();
    assert!(b.has_ended(flush));
    assert_eq!((programs(&b), units_padded(&b)), (1, 1));
    b.write(2, 0, 2);
    let forced = b.forced(3, 0, 2);
    b.settle();
    assert!(b.has_ended(forced));
    assert_eq!((programs(&b), units_padded(&b)), (2, 1));
    let forced = b.forced(4, 0, 2);
    assert!(!b.has_ended(forced) && b.ring());
    b.settle();
    assert!(b.has_ended(forced));
    assert_eq!((programs(&b), units_padded(&b)), (3, 2));
    b.verify();
}

#[test]
fn a_full_buffer_closes_pages_that_are_being_packed() {
    let keys = [&PACKED[..], &[("ack.mode", "buffer"), ("ack.pages", "1")]].concat();
    let mut b = Bench::new(bench::one(CellMode::Slc).with(|r| r.pad_after = None), &keys);
    let writes = [b.write(0, 0, 2), b.write(1, 0, 2), b.write(2, 0, 2)];
    b.settle();
    assert!(writes.iter().all(|write| b.has_ended(*write)));
    assert_eq!((programs(&b), units_padded(&b)), (2, 2));
    b.verify();
}

#[test]
fn pages_that_are_packed_fill_a_wordline() {
    let mut b = Bench::new(bench::one_shot(), &PACKED);
    (0..5).for_each(|page| _ = b.write(page, 0, 2));
    b.settle();
    assert_eq!(programs(&b), 0);
    b.write(5, 0, 2);
    b.settle();
    assert_eq!((programs(&b), pages(&b, A), units_padded(&b)), (1, (3, 0), 0));
    // Two pages and a unit; then a whole page closes the group, and the unit waits on.
    (0..5).for_each(|page| _ = b.write(page, 2, 2));
    b.write(6, 0, 4);
    b.settle();
    assert_eq!((programs(&b), units_padded(&b)), (2, 0));
    assert!(b.ring());
    b.run();
    assert_eq!((programs(&b), units_padded(&b)), (3, 5));
    b.verify();
}

#[test]
fn units_that_a_scheme_sends_elsewhere_share_no_page() {
    let mut b = Bench::new(bench::cache().with(|r| r.rule = ProgramRule::Sequential), &PACKED);
    let along = |route| Place { gather: Gather::Fill, plane: PlanePick::Home, route };
    let (one, other) = (Route::to(A, SlotClass::Next), Route::to(A, SlotClass::Next).or(B, SlotClass::Next));
    for (page, route) in (0..).zip([one, other, other]) {
        b.orders().host = Some(along(route));
        b.write(page, 0, 2);
    }
    b.settle();
    let parts: Vec<Vec<u32>> = b.log.iter().map(|op| op.parts.iter().map(|p| p.lpn.0).collect()).collect();
    assert_eq!(parts, [vec![0], vec![2, 4]]);
    b.verify();
}

#[test]
fn parts_of_pages_find_company_and_share_a_slot() {
    for plan in [bench::overlay(), bench::extent()] {
        let mut b = Bench::new(plan, &[]);
        let writes = [b.write(0, 0, 2), b.write(1, 1, 1)];
        b.settle();
        assert!(b.queue.is_empty() && writes.iter().all(|write| !b.has_ended(*write)));
        b.write(2, 3, 1);
        b.settle();
        assert_eq!(programs(&b), 1);
        assert_eq!(
            b.log[0].parts.iter().map(|p| (p.lpn.0, p.sectors)).collect::<Vec<_>>(),
            [(0, 2), (1, 1), (2, 1)]
        );
        assert!(writes.iter().all(|write| b.has_ended(*write)));
        b.verify();
        // What is written anew while it waits takes the place of the older; the rest waits its time.
        b.write(3, 0, 2);
        b.write(3, 1, 1);
        b.trim(3, 0, 1);
        b.settle();
        assert_eq!(programs(&b), 1);
        assert!(b.ring());
        b.run();
        assert_eq!(programs(&b), 2);
        b.verify();
    }
}

#[test]
fn parts_of_a_slot_are_padded_after_a_volatile_wait() {
    let by_order = |r: &mut Region| (r.trigger, r.protected) = (Trigger::Never, false);
    let mut b = Bench::new(bench::extent().with(by_order).asking(Hooks::IDLE), &[]);
    for (one, other) in [(0, 1), (2, 3), (2, 3), (2, 3)] {
        b.write(one, 0, 2);
        b.write(other, 0, 2);
        b.run();
    }
    b.trim(2, 0, 8);
    // Of block 0 lives one slot, with parts of two pages.
    let job = IdleWork::Collect(Collect { region: A, block: Some(BlockId(0)) }, Grain::Block);
    b.orders().idle.push_back(job);
    b.rest();
    b.run();
    b.verify();
}

#[test]
fn open_page_takes_only_parts_its_rule_allows() {
    for join in [Join::First, Join::SameKey, Join::FewestChannels] {
        let mut plan = bench::overlay();
        plan.layout.merges = Some(join);
        let mut b = Bench::new(plan, &[("merge.pages", "2")]);
        (0..6).for_each(|page| _ = b.write(page, 0, 3));
        b.settle();
        // A third page that fills seals the fullest.
        assert_eq!(programs(&b), 4, "{join:?}");
        b.drain();
        assert_eq!(programs(&b), 6, "{join:?}");
        b.verify();
    }
}

// Where it acknowledges writes.
#[test]
fn merge_buffer_is_written_on_flush_or_idle() {
    let keys = [("ack.mode", "merge"), ("merge.idle", "3ms")];
    let mut b = Bench::new(bench::overlay(), &keys);
    let write = b.write(0, 0, 2);
    assert!(b.has_ended(write));
    assert_eq!(programs(&b), 0);
    let forced = b.forced(1, 0, 1);
    assert!(!b.has_ended(forced));
    b.settle();
    assert!(b.has_ended(forced));
    b.write(2, 0, 1);
    let flush = b.flush();
    b.settle();
    assert!(b.has_ended(flush));
    b.write(3, 0, 1);
    let before = programs(&b);
    while b.ring() {}
    b.settle();
    assert!(b.now.0 >= 3_000_000);
    assert_eq!(programs(&b), before + 1);
    b.verify();
    b.write(3, 1, 1);
    b.verify();
    let mut b = b.cut();
    b.verify();
}

#[test]
fn page_with_collected_runs_is_reassembled() {
    let mut b = Bench::new(bench::overlay(), &[]);
    b.fill([0, 1]);
    (0..40).for_each(|i| {
        b.write(i % 3, i % 4, 1);
        b.write(3 + i % 2, 0, 3);
        b.settle();
    });
    b.run();
    assert!(b.ftl.counters().regions[0].counts.erases > 0);
    let gathered = b.log.iter().filter(|op| op.cause == Cause::Migrate && op.kind == OpKind::Program).count();
    assert!(gathered > 0);
    b.verify();
    b.drain();
    b.verify();
}

#[test]
fn sectors_placed_apart_are_programmed_apart() {
    let mut b = Bench::new(bench::sectors().asking(Hooks::SPLIT_WRITE), &[]);
    b.write(0, 0, 4);
    b.write(1, 1, 1);
    b.run();
    assert_eq!(programs(&b), 3);
    assert_eq!(
        b.ftl.tables().locate(Lpn(0)).iter().map(|at| at.mask.0).collect::<Vec<_>>(),
        [0b0101, 0b1010]
    );
    b.verify();
}

const WRITE_BUFFER: [(&str, &str); 5] = [
    ("ack.mode", "buffer"),
    ("ack.pages", "8"),
    ("ack.flush", "when-full"),
    ("ack.high", "100%"),
    ("ack.low", "50%"),
];

#[test]
fn page_rewritten_in_the_buffer_is_programmed_once() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &WRITE_BUFFER);
    for page in (0..7).chain([0; 5]) {
        let write = b.write(page, 0, 4);
        assert!(b.has_ended(write));
    }
    b.run();
    assert_eq!(programs(&b), 0);
    // The eighth fills it: the four that were written least recently go.
    b.write(7, 0, 4);
    b.run();
    let on_flash: Vec<u32> = (0..8).filter(|page| !b.ftl.tables().locate(Lpn(*page)).is_empty()).collect();
    assert_eq!(on_flash, [1, 2, 3, 4]);
    let forced = b.forced(5, 0, 4);
    assert!(!b.has_ended(forced));
    b.run();
    assert_eq!(programs(&b), 5);
    b.trim(6, 0, 4);
    let flush = b.flush();
    b.run();
    assert!(b.has_ended(flush));
    assert_eq!(b.ftl.inspect().unplaced_bytes(), 0);
    b.verify();
}

#[test]
fn what_the_buffer_has_answered_outlives_a_cut() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &WRITE_BUFFER);
    (0..6).for_each(|page| _ = b.write(page, 0, 4));
    b.write(2, 1, 2);
    b.run();
    assert_eq!(b.ftl.inspect().buffer_bytes(), 8 * 2048);
    let mut b = b.cut_with(&[], |image| assert_eq!(image.protected_pages().count(), 6));
    b.verify();
}

#[test]
fn write_held_by_a_full_buffer_enters_with_room() {
    let keys = [("ack.mode", "buffer"), ("ack.pages", "2")];
    let mut b = Bench::new(bench::one_shot(), &keys);
    let writes: Vec<u64> = (0..4).map(|page| b.write(page, 0, 4)).collect();
    let ended: Vec<bool> = writes.iter().map(|write| b.has_ended(*write)).collect();
    assert_eq!(ended, [true, true, false, false]);
    b.run();
    assert!(writes.iter().all(|write| b.has_ended(*write)));
    b.drain();
    b.verify();
}

#[test]
fn page_read_twice_is_sensed_once_until_it_changes() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &[("dram.read_cache", "4KiB")]);
    b.fill(0..3);
    let reads = |b: &Bench| b.ftl.counters().regions[0].reads[Cause::Host as usize];
    let read = |b: &mut Bench, page| {
        b.read(page, 0, 4);
        b.run();
        (reads(b), b.ftl.counters().flash.reads_cached.unwrap())
    };
    assert_eq!(read(&mut b, 0), (1, 0));
    assert_eq!(read(&mut b, 0), (1, 1));
    b.fill([0]);
    assert_eq!(read(&mut b, 0), (2, 1));
    assert_eq!(read(&mut b, 1), (3, 1));
    assert_eq!(read(&mut b, 0), (3, 2));
    // The page used least recently makes room.
    assert_eq!(read(&mut b, 2), (4, 2));
    assert_eq!(read(&mut b, 1), (5, 2));
    b.trim(1, 0, 4);
    b.verify();
}

/// Two units share a page of flash.
const TWO_UNITS: (&str, &str) = ("medium.flash.page", "4KiB");

/// Host data go to SLC, and from there to pages of two units.
fn two_units(moved_in: MovedIn) -> Plan {
    let s = bench::region("S", 0, CellMode::Slc, ProgramRule::Sequential);
    let d = bench::region("D", 1, CellMode::Mlc, ProgramRule::Sequential);
    let mut plan: Plan = bench::plan(&[4, 6], vec![s, d], MapKind::Page);
    plan.host.route = Route::to(A, SlotClass::Next);
    plan.parts = plan.host;
    plan.with(|r| r.moved_in = moved_in)
}

#[test]
fn moved_units_share_pages_as_their_region_says() {
    for moved_in in [MovedIn::Packed, MovedIn::Alone, MovedIn::Rewritten, MovedIn::Through(2)] {
        let mut b = Bench::new(two_units(moved_in), &[TWO_UNITS, ("capacity.logical", "64KiB")]);
        b.fill((0..120).map(|i| i * 5 % 32));
        b.drain();
        let moved = b.ftl.counters().regions[1].program_bytes[Cause::Migrate as usize];
        let padded = b.ftl.counters().regions[usize::from(B.0)].program_bytes[Cause::Pad as usize];
        let alone = matches!(moved_in, MovedIn::Alone | MovedIn::Rewritten);
        let is_right = if alone { padded >= moved } else { padded * 4 < moved };
        assert!(moved > 0 && is_right, "{moved_in:?}: {moved} moved, {padded} padded");
        b.verify();
    }
}

#[test]
fn a_moved_unit_is_written_with_the_other_of_its_page() {
    let keys = [TWO_UNITS, ("capacity.logical", "64KiB")];
    let mut b = Bench::new(two_units(MovedIn::Rewritten).asking(Hooks::READ), &keys);
    b.fill(0..4);
    b.orders().read = Some(Route::to(B, SlotClass::Next));
    for page in 0..2 {
        b.read(page, 0, 4);
        b.run();
    }
    let counters = &b.ftl.counters().regions[1];
    assert_eq!((counters.reads[Cause::Rmw as usize], counters.ops.program_operations), (1, 2));
    let at = [0, 1].map(|page| b.ftl.tables().locate(Lpn(page))[0].ppn.0);
    assert_eq!(at[0] / 2, at[1] / 2);
    b.verify();
}

#[test]
fn moves_the_host_waits_for_start_with_buffer_room() {
    let keys = [TWO_UNITS, ("capacity.logical", "64KiB")];
    let mut b = Bench::new(two_units(MovedIn::Through(1)).asking(Hooks::MAKE_ROOM), &keys);
    b.fill(0..4);
    for page in 0..2 {
        let seen = b.ftl.tables().locate(Lpn(page))[0].ppn;
        let route = Route::to(B, SlotClass::Next);
        b.orders().room.push_back(Move { lpn: Lpn(page), seen, plane: PlanePick::Home, route });
    }
    b.write(8, 0, 4);
    let second = b.write(9, 0, 4);
    let reads = |b: &Bench| b.queue.iter().filter(|id| b.ftl.op(**id).kind == OpKind::Read).count();
    assert_eq!(reads(&b), 1);
    b.settle();
    assert!(!b.has_ended(second) && !b.ftl.view().takes_moves(B));
    b.run();
    assert!(b.has_ended(second) && b.ftl.view().takes_moves(B));
    let moved = [0, 1].map(|page| b.ftl.view().owner(b.ftl.view().locate(Lpn(page)).unwrap()).1);
    assert_eq!(moved, [B, B]);
    b.verify();
}
