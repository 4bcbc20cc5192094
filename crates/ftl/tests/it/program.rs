//! Bound late, committed late: which program gets which slot, and which of several has the say.

use crate::bench::{self, A, Bench, Plan};
use wordline_ftl::{Cause, OpKind};
use wordline_units::{CellMode, Lpn, Ppn, SimDuration};

fn one() -> Bench {
    Bench::new(bench::one(CellMode::Slc), &[])
}

fn programs(b: &Bench) -> u64 {
    b.ftl.counters().regions.iter().map(|r| r.ops.program_operations).sum()
}

#[test]
fn newer_write_wins_though_the_older_is_programmed_last() {
    let mut b = one();
    b.write(3, 0, 4);
    b.write(3, 0, 4);
    let [older, newer] = b.queue[..] else { panic!("{:?}", b.queue) };
    b.perform(newer);
    b.perform(older);
    assert_eq!(b.ftl.tables().locate(Lpn(3)).iter().map(|at| at.ppn).collect::<Vec<_>>(), [Ppn(0)]);
    assert_eq!(b.ftl.counters().born_invalid, 1);
    b.verify();
}

#[test]
fn page_is_bound_when_its_program_begins() {
    let mut b = one();
    (0..4).for_each(|page| _ = b.write(page, 0, 4));
    let queued = b.queue.clone();
    for id in queued.into_iter().rev() {
        assert_eq!(b.ftl.op(id).ppn, Ppn::NONE);
        b.perform(id);
    }
    let places: Vec<u32> = (0..4).map(|page| b.ftl.tables().locate(Lpn(page))[0].ppn.0).collect();
    assert_eq!(places, [3, 2, 1, 0]);
}

#[test]
fn what_is_on_its_way_is_read_from_ram() {
    let mut b = one();
    b.write(0, 0, 4);
    let reads = [b.read(0, 1, 2), b.read(0, 0, 4)];
    assert!(reads.iter().all(|read| b.has_ended(*read)));
    assert_eq!(b.ftl.counters().flash.reads_from_ram, 2);
    b.read(1, 0, 4);
    assert_eq!(b.ftl.counters().reads_unmapped, 1);
    b.verify();
}

#[test]
fn later_writes_join_a_program_waiting_for_sectors() {
    let mut b = one();
    b.fill([0]);
    let joins = [b.write(0, 1, 1), b.write(0, 2, 1)];
    assert_eq!(b.queue.len(), 1);
    let read = b.queued(OpKind::Read, Cause::Rmw).unwrap();
    assert_eq!(b.ftl.transfer_sectors(read), 3);
    b.perform(read);
    assert!(joins.iter().all(|write| !b.has_ended(*write)));
    b.run();
    assert_eq!(programs(&b), 2);
    assert!(joins.iter().all(|write| b.has_ended(*write)));
    b.verify();
    // With nothing missing any more the read is not waited for.
    b.write(0, 0, 1);
    b.write(0, 1, 3);
    let program = b.queued(OpKind::Program, Cause::Host).unwrap();
    b.perform(program);
    b.verify();
    assert_eq!(programs(&b), 3);
}

#[test]
fn fill_reads_do_not_replace_newer_sectors_in_ram() {
    let mut b = one();
    b.fill([0]);
    // The second write joins with a sector that the read brings, too.
    b.write(0, 0, 1);
    let read = b.queued(OpKind::Read, Cause::Rmw).unwrap();
    b.begin(read);
    b.write(0, 2, 2);
    b.end(read);
    b.read(0, 0, 4);
    b.verify();
}

#[test]
fn a_trim_is_newer_than_the_programs_that_it_meets() {
    let mut b = one();
    b.fill([0]);
    b.write(0, 0, 4);
    b.trim(0, 0, 4);
    b.run();
    assert!(b.ftl.tables().locate(Lpn(0)).is_empty());
    assert_eq!((b.ftl.counters().born_invalid, b.ftl.inspect().mapped()), (1, 0));
    // Half a page is not forgotten by a map of pages.
    b.fill([0]);
    b.trim(0, 0, 3);
    b.verify();
    // A program that waits for missing sectors goes without them.
    b.write(0, 1, 1);
    b.trim(0, 0, 4);
    assert!(b.queued(OpKind::Program, Cause::Host).is_some());
    b.verify();
    b.write(0, 1, 1);
    b.verify();
}

#[test]
fn under_a_map_of_sectors_each_has_a_place_of_its_own() {
    let mut b = Bench::new(bench::sectors(), &[]);
    b.fill([0]);
    b.write(0, 1, 2);
    b.run();
    assert_eq!(b.ftl.tables().locate(Lpn(0)).len(), 2);
    assert_eq!(b.ftl.counters().regions[0].reads[Cause::Rmw as usize], 0);
    b.trim(0, 2, 2);
    assert_eq!(b.ftl.inspect().mapped(), 2);
    b.verify();
    let older = b.write(0, 0, 2);
    let newer = b.write(0, 1, 2);
    let [first, second] = b.queue[..] else { panic!("{:?}", b.queue) };
    b.perform(second);
    b.perform(first);
    assert!(b.has_ended(older) && b.has_ended(newer));
    b.verify();
}

#[test]
fn an_operation_takes_the_time_of_its_page() {
    let times = |plan: Plan| {
        let mut b = Bench::new(plan, &[]);
        b.fill(0..6);
        (0..6).for_each(|page| _ = b.read(page, 0, 4));
        b.run();
        let of =
            |kind| b.log.iter().filter(|op| op.kind == kind).map(|op| op.time.0 / 1000).collect::<Vec<_>>();
        (of(OpKind::Program), of(OpKind::Read))
    };
    assert_eq!(times(bench::one(CellMode::Slc)), (vec![20; 6], vec![3; 6]));
    assert_eq!(times(bench::one(CellMode::Mlc)), (vec![30, 60, 30, 60, 30, 60], vec![4, 6, 4, 6, 4, 6]));
    let again = wordline_ftl::EarlierBits::RereadIn(SimDuration(5_000));
    let reread = bench::one(CellMode::Mlc).with(|r| r.earlier_bits = again);
    assert_eq!(times(reread).0, [30, 65, 30, 65, 30, 65]);
    let reread = bench::one(CellMode::Mlc).with(|r| r.earlier_bits = wordline_ftl::EarlierBits::Reread);
    assert_eq!(times(reread).0, [30, 64, 30, 64, 30, 64]);
}

#[test]
fn energy_counts_each_operation_and_each_byte_moved() {
    let mut b = one();
    b.fill([0]);
    b.read(0, 0, 2);
    b.run();
    let energy = &b.ftl.counters().energy.as_ref().unwrap()[Cause::Host as usize];
    let moved = 2 * (2048 + 1024); // pJ at two ends are one figure of the device
    assert_eq!((energy.read_j.0, energy.program_j.0, energy.erase_j.0), (1_000, 10_000, 0));
    assert_eq!(energy.transfer_j.0, moved);
}

#[test]
fn block_open_for_two_page_types_grants_the_asked_one() {
    let mut b = Bench::new(bench::lanes(), &[]);
    b.fill(0..4);
    // Least significant bits first, as far as the rule of the block lets them.
    let types = b.ftl.counters().regions[A.0 as usize].page_types;
    assert_eq!(types[1].iter().sum::<u64>(), 4);
    assert_eq!(types[1][0], 4, "{types:?}");
    b.fill((0..16).chain(0..16).chain(0..16));
    b.verify();
}

#[test]
fn two_programs_are_alike_if_they_are_on_like_pages() {
    let planes = ("medium.flash.planes_per_die", "2");
    for (pages, alike) in [("any", true), ("same", false)] {
        let keys = [planes, ("parallel.multiplane", "opportunistic"), ("parallel.multiplane_pages", pages)];
        let mut b = Bench::new(bench::one(CellMode::Slc), &keys);
        b.fill([0]);
        (0..2).for_each(|page| _ = b.write(page, 0, 4));
        let [one, other] = b.queue[..] else { panic!("{:?}", b.queue) };
        assert!(b.begin(one) && b.begin(other));
        assert_ne!(b.ftl.op(one).plane, b.ftl.op(other).plane);
        assert_eq!(b.ftl.are_alike(one, other), alike);
        assert!(b.ftl.entry_of(one).may_be_cached());
        b.verify();
    }
}

/// A page whose sectors are known, as under `mapping.partial = "valid-sectors"`.
fn by_valid_sectors() -> Bench {
    Bench::new(bench::one(CellMode::Slc), &[("mapping.partial", "valid-sectors")])
}

#[test]
fn only_valid_sectors_are_read_before_a_partial_write() {
    let mut b = by_valid_sectors();
    // The same sectors again need nothing of the page.
    for _ in 0..2 {
        b.write(0, 1, 2);
        assert!(b.queued(OpKind::Read, Cause::Rmw).is_none());
        b.run();
    }
    assert_eq!(programs(&b), 2);
    // Others do: those that were written, and no more.
    b.write(0, 2, 2);
    let read = b.queued(OpKind::Read, Cause::Rmw).unwrap();
    assert_eq!(b.ftl.transfer_sectors(read), 1);
    b.run();
    b.verify();
    assert_eq!(b.ftl.tables().locate(Lpn(0)).iter().map(|at| at.mask.count()).sum::<u32>(), 3);
    // A page map without them reads in both cases.
    let mut whole = one();
    whole.write(0, 1, 2);
    whole.run();
    whole.write(0, 1, 2);
    let read = whole.queued(OpKind::Read, Cause::Rmw).unwrap();
    assert_eq!(whole.ftl.transfer_sectors(read), 2);
}

#[test]
fn unwritten_sectors_are_not_read_from_flash() {
    let mut b = by_valid_sectors();
    b.write(0, 1, 2);
    b.run();
    let never = b.read(0, 3, 1);
    assert!(b.has_ended(never) && b.queue.is_empty());
    let some = b.read(0, 0, 4);
    let read = b.queued(OpKind::Read, Cause::Host).unwrap();
    assert_eq!(b.ftl.transfer_sectors(read), 2);
    b.run();
    assert!(b.has_ended(some));
    b.verify();
}

#[test]
fn parts_of_a_page_leave_by_trim_and_move_as_one() {
    let mut b = by_valid_sectors();
    b.fill([0, 1]);
    b.trim(0, 0, 3);
    assert_eq!(b.ftl.tables().locate(Lpn(0)).iter().map(|at| at.mask.count()).sum::<u32>(), 1);
    b.write(0, 3, 1);
    assert!(b.queued(OpKind::Read, Cause::Rmw).is_none());
    b.run();
    b.verify();
    let mut again = b.cut();
    again.verify();
}
