//! What can be asked of a drive: what a scheme sees of it, what its blocks are, what its operations are about.

use crate::bench::{self, A, B, Bench, to};
use wordline_ftl::drive;
use wordline_ftl::{
    BlockLife, Cause, ChannelSet, Collect, Grain, Hooks, IdleWork, OpKind, Outcome, Place, PlanePick,
    Prefetch, Reason, RegionId,
};
use wordline_units::{BlockId, CellMode, ChannelId, DieId, HostOp, HostRequest, Lpn, PlaneId};

const P: PlaneId = PlaneId(0);
const NEXT: wordline_flash::SlotClass = wordline_flash::SlotClass::Next;

#[test]
fn a_scheme_sees_what_the_drive_holds() {
    let mut b = Bench::new(bench::cache(), &[]);
    let before = b.ftl.view().free_slots(A, P);
    b.fill(0..6);
    let view = b.ftl.view();
    assert_eq!((view.taken(A), view.taken(B)), ((2, 6), (0, 0)));
    assert_eq!((view.owned(A, P), view.owned(B, P), b.ftl.inspect().owned_blocks(A)), (2, 0, 2));
    assert_eq!(view.frontier(A, P, NEXT), Some(BlockId(1)));
    assert_eq!(view.last_frontier(A, P), None);
    assert_eq!(view.full_blocks(A, P).collect::<Vec<_>>(), [BlockId(0)]);
    assert_eq!(view.pages_in(BlockId(0)).collect::<Vec<_>>(), (0..4).map(Lpn).collect::<Vec<_>>());
    assert_eq!((view.live_units(A, P), view.live_units(B, P)), (6, 0));
    assert_eq!(view.free_slots(A, P), before - 6);
    assert_eq!(view.free_slots_in(A), before - 6);
    assert_eq!((view.logical_pages(), view.mapped()), (16, 6));
    assert_eq!((view.sectors(Lpn(5)).count(), view.sectors(Lpn(6)).count()), (4, 0));
    assert_eq!(view.owner(view.locate(Lpn(0)).unwrap()), (P, A));
    assert_eq!((view.mean_erases(A), view.life_used(BlockId(0)), view.collecting(A, P)), (0.0, 0.0, None));
    assert_eq!((view.free_pages(A), view.free_buffer_pages()), ([0; 4], None));
    assert_eq!(view.usable_bytes(), b.ftl.inspect().usable_bytes().0);
    // A scheme that has a part of the layout calls regions by its own numbers.
    let own = view.named(&[B]);
    assert_eq!((own.owned(RegionId(0), P), own.owner(view.locate(Lpn(0)).unwrap()).1), (0, RegionId::OTHER));
    b.write(6, 0, 2);
    let view = b.ftl.view();
    assert_eq!((view.outstanding(), view.backlog(DieId(0)), view.is_staged(Lpn(6))), (1, 1, true));
    assert_eq!(view.sectors(Lpn(6)).count(), 2);
    b.verify();
}

#[test]
fn pages_of_each_bit_are_counted_if_the_rule_has_types() {
    let mut b = Bench::new(bench::lanes(), &[("ack.mode", "buffer"), ("ack.pages", "5")]);
    let before = b.ftl.view().free_pages(A);
    assert!(before[0] > 0 && before[0] == before[1] && before[2] == 0, "{before:?}");
    assert_eq!(b.ftl.view().free_buffer_pages(), Some(5));
    b.write(0, 0, 4);
    assert_eq!(b.ftl.view().free_buffer_pages(), Some(4));
    b.run();
    assert_eq!(b.ftl.view().free_pages(A), [before[0] - 1, before[1], 0, 0]);
}

#[test]
fn an_operation_says_what_it_is_about() {
    let never = bench::one(CellMode::Slc).with(|r| r.trigger = wordline_device::Trigger::Never);
    let mut b = Bench::new(never.asking(Hooks::IDLE), &[]);
    b.fill((0..8).chain([0]));
    assert!(b.ftl.inspect().works_when_idle());
    let job = IdleWork::Collect(Collect { region: A, block: Some(BlockId(0)) }, Grain::Page);
    b.orders().idle.push_back(job);
    drive::ask_idle(&mut b, DieId(0));
    drive::settle(&mut b);
    let read = b.queued(OpKind::Read, Cause::Gc).unwrap();
    let collecting = b.ftl.operation(read).collecting().unwrap();
    assert_eq!((collecting.block, collecting.reason), (BlockId(0), Reason::Idleness));
    assert!(b.ftl.entry_of(read).is_idle_work() && b.ftl.inspect().idle_jobs(DieId(0)) == 1);
    assert_eq!(
        (b.ftl.operation(read).slots(), b.ftl.operation(read).region(), b.ftl.transfer_sectors(read)),
        (1, A, 4)
    );
    assert_eq!(b.ftl.operation(read).source(), None);
    b.perform(read);
    let copy = b.queued(OpKind::Program, Cause::Gc).unwrap();
    assert_eq!(b.ftl.operation(copy).source(), Some(BlockId(0)));
    assert_eq!(b.ftl.operation(copy).collecting().unwrap().block, BlockId(0));
    b.begin(copy);
    assert_eq!((b.ftl.operation(copy).data_bytes(), b.ftl.operation(copy).page().0), (2048, CellMode::Slc));
    b.end(copy);
    assert_eq!(b.ftl.inspect().block_status(BlockId(0)).life, BlockLife::Emptied);
    assert_eq!(b.ftl.inspect().block_status(BlockId(1)).live_tenths, 10);
    assert!(b.ftl.inspect().leftovers().contains("block: BlockId(0)"));
    b.verify();
}

#[test]
fn sizes_and_shares_are_those_of_the_layout() {
    let leaves = Bench::new(bench::cache().with(|r| r.evicts_to_other_pool = r.name == "S"), &[]);
    assert_eq!(leaves.ftl.inspect().lasting_bytes().0, 6 * 12 * 2048);
    let mut b = Bench::new(bench::cache(), &[]);
    assert_eq!(b.ftl.inspect().lasting_bytes().0, (4 * 4 + 6 * 12) * 2048);
    let (map, all) = b.ftl.inspect().table_bytes();
    assert!(
        map > 0
            && all > map
            && b.ftl.inspect().map_tables().is_empty()
            && b.ftl.inspect().buffer_bytes() == 0
    );
    let free = b.ftl.inspect().free_share(A);
    let mut rng = bench::Rng(4);
    b.fill((0..60).map(|_| rng.below(16)));
    assert!(b.ftl.inspect().free_share(A) < free);
    let erases = b.ftl.counters().erases;
    assert_eq!(b.ftl.inspect().erased_bytes(), (erases[0] * 4 + erases[2] * 12) * 2048);
    assert_eq!(b.ftl.counters().program_bytes(Cause::Host), 60 * 2048);
    assert!(b.ftl.counters().programmed_bytes() > 60 * 2048);
    // An overlay names the page of each sector of its slots, extents say which sectors a page has.
    let tables = |plan| Bench::new(plan, &[]).ftl.inspect().map_tables();
    let (overlay, extent) = (tables(bench::overlay()), tables(bench::extent()));
    assert_eq!((overlay[0].name, overlay[0].entries), ("SMT", 64));
    assert_eq!((extent[0].name, extent[0].entries, extent[0].entry_bits), ("extents", 16, 6));
    assert_eq!(extent[0].bytes(), 12);
}

#[test]
fn what_is_fetched_ahead_changes_nothing() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &[]);
    b.fill(0..6);
    let before = b.ftl.counters().integers();
    let (first, last) = b.ftl.pages_of(&HostRequest::new(HostOp::Read, 0, 64));
    for what in [Prefetch::Leaf(first), Prefetch::Place(first), Prefetch::Blocks(first, last)] {
        b.ftl.prefetch(what);
    }
    assert_eq!(b.ftl.counters().integers(), before);
    b.verify();
}

// And away from the channels that are to be avoided.
#[test]
fn free_page_goes_where_it_waits_least() {
    let keys = [("medium.flash.channels", "2"), ("medium.flash.planes_per_die", "2")];
    let planes = |place: Place, more: &[(&str, &str)]| {
        let mut b = Bench::new(bench::one(CellMode::Slc), &[&keys[..], more].concat());
        b.orders().host = Some(place);
        for page in 0..4 {
            b.write(page * 4, 0, 4);
        }
        let mut planes: Vec<u32> = b.queue.iter().map(|id| b.ftl.op(*id).plane.0).collect();
        planes.sort_unstable();
        b.verify();
        planes
    };
    let pick = |plane| Place { plane, ..to(A) };
    assert_eq!(planes(pick(PlanePick::Home), &[]), [0; 4]);
    assert_eq!(planes(pick(PlanePick::Any), &[]), [0, 1, 2, 3]);
    assert_eq!(planes(pick(PlanePick::Home), &[("allocation.order", "dynamic")]), [0, 1, 2, 3]);
    let first = ChannelSet::default().and(ChannelId(0));
    assert_eq!(planes(pick(PlanePick::Avoid(first)), &[]), [2, 2, 3, 3]);
    assert_eq!(planes(pick(PlanePick::NextChannel(first)), &[]), [2; 4]);
    let both = first.and(ChannelId(1));
    assert_eq!(planes(pick(PlanePick::NextChannel(both)), &[]), [0; 4]);
    assert_eq!(planes(pick(PlanePick::NextChannel(ChannelSet::default())), &[]), [0; 4]);
    assert_eq!(planes(pick(PlanePick::MostFree), &[]).len(), 4);
    assert_eq!(planes(pick(PlanePick::Level), &[]), [0, 1, 2, 3]);
    assert_eq!(planes(pick(PlanePick::At(PlaneId(3))), &[]), [3; 4]);
    // There is no such plane.
    assert_eq!(planes(pick(PlanePick::At(PlaneId(9))), &[]), [0, 1, 2, 3]);
}

// Both end as out of space.
#[test]
fn full_buffer_on_a_full_drive_fails_flushes_and_writes() {
    let keys = [("capacity.logical", "80KiB"), ("ack.mode", "buffer"), ("ack.pages", "3")];
    let mut b =
        Bench::new(bench::one(CellMode::Slc).with(|r| r.trigger = wordline_device::Trigger::Never), &keys);
    b.may_fail = true;
    b.fill(0..40);
    let flush = b.flush();
    b.run();
    let outcome = |b: &Bench, number| b.ended.iter().find(|e| e.number == number).unwrap().outcome;
    assert_eq!(outcome(&b, flush), Outcome::OutOfSpace);
    assert!(b.ftl.inspect().unplaced_bytes() > 0);
    let held_up: Vec<u64> = (0..3).map(|page| b.write(page, 0, 4)).collect();
    b.run();
    assert!(held_up.iter().any(|write| outcome(&b, *write) == Outcome::OutOfSpace));
    b.verify();
}
