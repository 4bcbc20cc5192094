//! Space is made: which block is taken, what becomes of its pages meanwhile, and when it is erased.

use crate::bench::{self, A, B, Bench, Order, Plan, Rng};
use wordline_device::{Trigger, Victim};
use wordline_flash::SlotClass;
use wordline_ftl::drive;
use wordline_ftl::{
    BlockLife, Cause, Class, Collect, Command, Gather, Grain, Hooks, IdleWork, Move, OpId, OpKind, Place,
    PlanePick, PoolId, Route,
};
use wordline_units::{BlockId, CellMode, DieId, Lpn, PlaneId, Ppn};

const P: PlaneId = PlaneId(0);

fn one() -> Bench {
    Bench::new(bench::one(CellMode::Slc), &[])
}

/// Nothing is collected but by order or need.
fn by_order() -> Plan {
    bench::one(CellMode::Slc).with(|r| r.trigger = Trigger::Never)
}

fn blocks(b: &Bench, life: BlockLife) -> usize {
    (0..b.drive.geometry.blocks)
        .filter(|block| b.ftl.inspect().block_status(BlockId(*block)).life == life)
        .count()
}

fn place(b: &mut Bench, page: u32) -> Ppn {
    b.ftl.tables().locate(Lpn(page))[0].ppn
}

/// Blocks 0 to 3 hold pages 0 to 15, of which these are written once more.
fn filled(plan: Plan, again: &[u64]) -> Bench {
    let mut b = Bench::new(plan, &[]);
    b.fill(0..16);
    b.fill(again.iter().copied());
    b
}

/// Pages are written until a collection reads; it has not begun to.
fn until_collected(b: &mut Bench) -> OpId {
    let mut rng = Rng(3);
    for page in (0..200).map(|_| rng.below(16)) {
        b.write(page, 0, 4);
        while let Some(program) = b.queued(OpKind::Program, Cause::Host) {
            b.perform(program);
        }
        if let Some(read) = b.queued(OpKind::Read, Cause::Gc) {
            return read;
        }
    }
    panic!("nothing was collected");
}

#[test]
fn victim_follows_the_rule_of_its_region() {
    // Live pages of blocks 0 to 3 are then 2, 1, 3 and 4.
    let again = [0, 1, 4, 5, 6, 8];
    let table = [
        (Victim::Greedy, Some(1)),
        (Victim::Fifo, Some(0)),
        (Victim::WindowedGreedy(1), Some(0)),
        (Victim::WindowedGreedy(2), Some(1)),
    ];
    for (victim, best) in table {
        let b = filled(by_order().with(|r| r.victim = victim), &again);
        assert_eq!(b.ftl.view().best(A, P), best.map(BlockId), "{victim:?}");
        let live: Vec<u32> = (0..4).map(|block| b.ftl.view().live_sectors(BlockId(block)) / 4).collect();
        assert_eq!(live, [2, 1, 3, 4]);
    }
    for victim in [Victim::DChoices(1), Victim::DChoices(3), Victim::CostBenefit] {
        let mut b = filled(by_order().with(|r| r.victim = victim), &again);
        assert!(b.ftl.view().best(A, P).is_some(), "{victim:?}");
        b.order = Order::Last;
        b.fill((0..60).map(|i| i * 7 % 16));
        b.verify();
        assert!(b.ftl.counters().collections > 0, "{victim:?}");
    }
}

#[test]
fn gc_reads_every_valid_page_once_and_no_other() {
    let mut b = filled(by_order().asking(Hooks::IDLE), &[0, 2]);
    let job = IdleWork::Collect(Collect { region: A, block: Some(BlockId(0)) }, Grain::Block);
    b.orders().idle.push_back(job);
    b.rest();
    b.run();
    let reads: Vec<Cause> = b.log.iter().filter(|op| op.kind == OpKind::Read).map(|op| op.cause).collect();
    assert_eq!(reads, [Cause::Gc; 2]);
    assert_eq!(b.ftl.counters().collected_units, 2);
    assert_eq!(b.ftl.inspect().block_status(BlockId(0)).life, BlockLife::Erased);
    assert_eq!(b.ftl.view().erases(BlockId(0)), 1);
    b.verify();
}

#[test]
fn a_page_that_dies_before_its_turn_is_never_read() {
    let mut b = filled(by_order().asking(Hooks::IDLE), &[0]);
    let job = IdleWork::Collect(Collect { region: A, block: Some(BlockId(0)) }, Grain::Block);
    b.orders().idle.push_back(job);
    drive::ask_idle(&mut b, DieId(0));
    drive::settle(&mut b);
    // Two pages are on their way at once; the third dies meanwhile.
    assert_eq!(b.queue.len(), 2);
    b.trim(3, 0, 4);
    b.settle();
    let reads = b.log.iter().filter(|op| op.kind == OpKind::Read).count();
    assert_eq!((reads, b.ftl.counters().collected_units), (2, 2));
    assert_eq!(b.ftl.inspect().block_status(BlockId(0)).life, BlockLife::Erased);
    b.verify();
}

#[test]
fn page_written_during_its_copy_keeps_the_new_data() {
    for trims in [false, true] {
        let mut b = one();
        let read = until_collected(&mut b);
        b.begin(read);
        let page = u64::from(b.ftl.view().pages_in(b.ftl.view().collecting(A, P).unwrap()).next().unwrap().0);
        b.end(read);
        let copy = b.queued(OpKind::Program, Cause::Gc).unwrap();
        let born_invalid = b.ftl.counters().born_invalid;
        if trims {
            b.trim(page, 0, 4);
        } else {
            b.write(page, 0, 4);
            let program = b.queued(OpKind::Program, Cause::Host).unwrap();
            b.perform(program);
        }
        b.perform(copy);
        assert_eq!(b.ftl.counters().born_invalid, born_invalid + 1);
        b.verify();
    }
}

#[test]
fn the_last_erased_block_is_collections_alone() {
    let mut b = Bench::new(by_order(), &[]);
    for i in 0..200 {
        b.write(i * 3 % 16, 0, 4);
        for id in b.startable() {
            if b.ftl.op(id).cause() == Cause::Host {
                b.perform(id);
            }
        }
        assert!(blocks(&b, BlockLife::Erased) >= 1);
        if b.waiting.programs().next().is_some() {
            break;
        }
    }
    assert!(b.waiting.programs().next().is_some());
    assert_eq!(blocks(&b, BlockLife::Erased), 1);
    // It is broken into by what is collected, and comes back.
    b.run();
    assert!(b.waiting.programs().next().is_none());
    b.verify();
    assert!(b.ftl.counters().stalls > 0);
}

#[test]
fn a_block_is_not_erased_while_it_is_read() {
    let mut b = one();
    let read = until_collected(&mut b);
    let victim = b.ftl.view().collecting(A, P).unwrap();
    let page = b.ftl.view().pages_in(victim).next().unwrap();
    b.read(u64::from(page.0), 0, 4);
    let slow = b.queued(OpKind::Read, Cause::Host).unwrap();
    b.kept = vec![slow];
    b.perform(read);
    b.settle();
    assert_eq!(b.ftl.inspect().block_status(victim).life, BlockLife::Emptied);
    assert_eq!(b.ftl.view().live_sectors(victim), 0);
    assert!(b.log.iter().all(|op| op.kind != OpKind::Erase));
    b.kept.clear();
    b.settle();
    assert!(b.log.iter().any(|op| op.kind == OpKind::Erase));
    b.verify();
}

#[test]
fn foreground_gc_holds_its_die_until_the_erase() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &[("gc.class", "foreground")]);
    until_collected(&mut b);
    let victim = b.ftl.view().collecting(A, P).unwrap();
    let elsewhere = |b: &mut Bench, page| {
        b.ftl.tables().locate(Lpn(page)).first().is_some_and(|at| b.drive.geometry.block_of(at.ppn) != victim)
    };
    let page = (0..16).find(|page| elsewhere(&mut b, *page)).unwrap();
    let waits = b.read(u64::from(page), 0, 4);
    assert!(b.ftl.is_held(DieId(0)) && b.ftl.inspect().holds_a_die());
    while b.ftl.is_held(DieId(0)) {
        assert!(!b.has_ended(waits));
        assert!(b.startable().iter().all(|id| b.ftl.op(*id).class() == Class::Held));
        assert!(b.step());
    }
    assert_eq!(b.log.last().unwrap().kind, OpKind::Erase);
    b.run();
    assert!(b.has_ended(waits) && !b.ftl.inspect().holds_a_die());
    b.verify();
}

// Reads of its own block that came before it.
#[test]
fn gc_that_holds_its_die_lets_earlier_reads_first() {
    let mut b = filled(by_order().asking(Hooks::IDLE), &[0]);
    let read = b.read(1, 0, 4);
    let job = IdleWork::Collect(Collect { region: A, block: Some(BlockId(0)) }, Grain::Block);
    b.orders().idle.push_back(job);
    drive::ask_idle(&mut b, DieId(0));
    drive::settle(&mut b);
    assert!(b.ftl.is_held(DieId(0)));
    b.settle();
    assert!(b.has_ended(read));
    assert_eq!(b.ftl.inspect().block_status(BlockId(0)).life, BlockLife::Erased);
    b.verify();
}

#[test]
fn idle_work_yields_after_each_page_and_before_erase() {
    let mut b = filled(by_order().asking(Hooks::IDLE), &[0]);
    let job = IdleWork::Collect(Collect { region: A, block: Some(BlockId(0)) }, Grain::Page);
    let copied = |b: &Bench| b.ftl.counters().collected_units;
    for pages in 1..=3 {
        b.orders().idle.push_back(job);
        b.rest();
        assert_eq!((copied(&b), b.ftl.inspect().idle_jobs(DieId(0))), (pages, 0));
        assert_eq!(blocks(&b, BlockLife::Emptied), 1);
    }
    assert_eq!(b.ftl.counters().idle_gc_bytes, 3 * 2048);
    // What idle time has begun goes on like any collection where space runs short.
    b.fill((0..40).map(|i| 1 + i % 15));
    assert!(b.ftl.view().erases(BlockId(0)) > 0);
    // Some of the copies died before anybody gained by them.
    assert!(b.ftl.counters().premature_units > 0);
    b.verify();
}

#[test]
fn moved_page_arrives_unless_written_meanwhile() {
    let plan = || bench::cache().asking(Hooks::READ).ticking();
    let route = Route::to(B, SlotClass::Next);
    let region = |b: &mut Bench, page| {
        let at = place(b, page);
        b.ftl.view().owner(at).1
    };
    let mut b = Bench::new(plan(), &[]);
    b.fill(0..3);
    b.orders().read = Some(route);
    (0..3).for_each(|page| _ = b.read(page, 0, 2));
    b.run();
    b.orders().read = None;
    assert_eq!((0..3).map(|page| region(&mut b, page)).collect::<Vec<_>>(), [B; 3]);
    assert_eq!(b.orders().seen.len(), 3);
    b.verify();
    // Of moves that the scheme asks for: one whose page is written first, and one of a page that has gone.
    b.fill([3]);
    let seen = place(&mut b, 3);
    let ask = |lpn| Command::Enqueue(Move { lpn: Lpn(lpn), seen, plane: PlanePick::Home, route });
    b.orders().tick.extend([ask(3), ask(4), ask(3)]);
    b.fill([3]);
    assert_eq!(b.ftl.counters().moves_dropped, 3);
    assert_eq!(region(&mut b, 3), A);
    b.verify();
}

#[test]
fn a_write_waits_for_the_moves_that_make_room_for_it() {
    let mut b = Bench::new(bench::cache().asking(Hooks::MAKE_ROOM), &[]);
    b.fill([0]);
    let (seen, route) = (place(&mut b, 0), Route::to(B, SlotClass::Next));
    b.orders().room.push_back(Move { lpn: Lpn(0), seen, plane: PlanePick::Home, route });
    let waits = b.write(1, 0, 4);
    assert!(b.queued(OpKind::Program, Cause::Host).is_none());
    let read = b.queued(OpKind::Read, Cause::Migrate).unwrap();
    b.perform(read);
    assert!(b.queued(OpKind::Program, Cause::Host).is_none() && !b.has_ended(waits));
    b.run();
    assert!(b.has_ended(waits));
    assert_ne!(place(&mut b, 0), seen);
    b.verify();
}

#[test]
fn scheme_chooses_the_victim_and_its_target() {
    let mut b = filled(by_order().asking(Hooks::COLLECT), &[4, 5, 8]);
    b.orders().collect.push_back(Collect { region: A, block: Some(BlockId(2)) });
    let any = Place { gather: Gather::Fill, plane: PlanePick::Any, route: Route::to(A, SlotClass::Next) };
    b.orders().collected = Some(any);
    b.fill((0..40).map(|i| i % 16));
    assert!(b.ftl.view().erases(BlockId(2)) > 0);
    b.verify();
}

#[test]
fn quotas_bound_what_a_region_takes_and_may_change() {
    let mut b = Bench::new(bench::cache().ticking(), &[]);
    b.orders().tick.push(Command::SetQuota(A, 1));
    b.fill(0..12);
    assert!(b.ftl.inspect().owned_blocks(A) <= 1);
    b.verify();
    b.orders().tick.push(Command::SetSlotQuota(A, 2));
    b.fill(0..12);
    b.verify();
    assert!(b.ftl.view().taken(A).1 <= 4);
}

#[test]
fn kept_blocks_are_left_to_their_region() {
    // Both regions share a pool of ten blocks; all writes go to the second.
    let most_with = |kept| {
        let mut plan = bench::cache().with(|r| (r.pool, r.kept) = (PoolId(0), 0));
        plan.layout.regions[0].kept = kept;
        plan.layout.pools.truncate(1);
        plan.layout.pools[0].blocks_per_plane = 10;
        plan.host.route = Route::to(B, SlotClass::Next);
        plan.parts = plan.host;
        let mut b = Bench::new(plan, &[]);
        let owned = (0..120).map(|i| {
            b.fill([i % 16]);
            b.ftl.inspect().owned_blocks(B)
        });
        let most = owned.max();
        b.verify();
        most
    };
    // GC begins at the same distance from what is left.
    let most: Vec<_> = (0..6).filter_map(most_with).collect();
    assert_eq!(most, [7, 6, 5, 4, 3, 2]);
}

#[test]
fn blocks_of_a_superblock_are_erased_together() {
    let keys =
        [("medium.flash.planes_per_die", "2"), ("parallel.superblock", "die"), ("capacity.logical", "80KiB")];
    let mut b = Bench::new(bench::one(CellMode::Slc), &keys);
    b.order = Order::Last;
    b.fill((0..200).map(|i| i * 7 % 40));
    b.run();
    let erases = |plane| {
        let blocks = b.drive.geometry.blocks_of(PlaneId(plane));
        blocks.map(|block| b.ftl.view().erases(BlockId(block))).collect::<Vec<_>>()
    };
    assert_eq!(erases(0), erases(1));
    assert!(erases(0).iter().sum::<u32>() > 4);
    b.verify();
}

#[test]
fn pages_are_copied_within_a_plane_where_possible() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &[("medium.flash.slc.copy_back", "21us")]);
    let mut rng = Rng(3);
    b.fill((0..80).map(|_| rng.below(16)));
    let counters = &b.ftl.counters().regions[0];
    assert!(counters.ops.copy_backs > 0);
    assert_eq!(counters.reads[Cause::Gc as usize], 0);
    b.verify();
}

#[test]
fn a_full_drive_says_so_and_keeps_what_it_has() {
    let keys = [("capacity.logical", "80KiB")];
    let mut b = Bench::new(by_order(), &keys);
    b.may_fail = true;
    b.fill((0..40).chain(0..40));
    assert!(b.ended.iter().any(|e| e.outcome == wordline_ftl::Outcome::OutOfSpace));
    b.verify();
}
