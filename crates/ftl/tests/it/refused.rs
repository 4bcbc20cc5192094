//! What a scheme may not decide, and on which drives it may not be: each is refused with its reason.

use crate::bench::{self, A, B, Bench, Plan, Rng, to};
use wordline_flash::{ProgramRule, SlotClass};
use wordline_ftl::drive;
use wordline_ftl::{
    Collect, Command, Fault, Ftl, Gather, Grain, Hooks, IdleWork, MapKind, Move, MovedIn, Place, PlanePick,
    PoolId, RegionId, Route,
};
use wordline_units::{BlockId, CellMode, Lpn, Ppn};

/// Keys of a drive with their values.
type Keys = &'static [(&'static str, &'static str)];

const NOWHERE: RegionId = RegionId(9);

/// What is said of a decision that comes to light by the time that nothing is pending any more.
fn fault(b: &mut Bench) -> String {
    for _ in 0..200 {
        match b.ftl.fault() {
            Some(Fault::IllegalDecision { scheme, decision, state, .. }) => {
                assert_eq!(scheme, "told");
                return format!("{decision} ({state})");
            }
            Some(internal) => panic!("{internal}"),
            None => _ = b.step() || b.ring(),
        }
    }
    "nothing".into()
}

/// A drive under a plan that answers all hooks and has written a page.
fn written(plan: Plan) -> Bench {
    let mut b = Bench::new(plan.asking(Hooks::IDLE).ticking(), &[]);
    b.fill([1]);
    b
}

fn one() -> Bench {
    written(bench::one(CellMode::Slc))
}

fn told_to_place(place: Place) -> String {
    let mut b = one();
    b.orders().host = Some(place);
    b.write(1, 0, 2);
    fault(&mut b)
}

fn told_to(command: Command) -> String {
    let mut b = one();
    b.orders().tick.push(command);
    b.write(2, 0, 4);
    fault(&mut b)
}

fn told_when_idle(work: IdleWork) -> String {
    let mut b = one();
    b.orders().idle.push_back(work);
    drive::ask_idle(&mut b, wordline_units::DieId(0));
    drive::settle(&mut b);
    fault(&mut b)
}

fn along(route: Route) -> Place {
    Place { route, ..to(A) }
}

#[test]
fn each_illegal_decision_is_refused_with_its_reason() {
    let whole = |region, block| IdleWork::Collect(Collect { region, block }, Grain::Block);
    let lost = Move {
        lpn: Lpn(1),
        seen: Ppn(0),
        plane: PlanePick::Home,
        route: Route::to(NOWHERE, SlotClass::Next),
    };
    let said = [
        told_to_place(Place { gather: Gather::AsIs, ..to(A) }),
        told_to_place(along(Route::to(A, SlotClass::Lsb))),
        told_to_place(along(Route::into_buffer(3))),
        told_to(Command::SetQuota(NOWHERE, 1)),
        told_to(Command::SetSlotQuota(NOWHERE, 1)),
        told_to(Command::Enqueue(lost)),
        told_when_idle(whole(NOWHERE, None)),
        told_when_idle(whole(A, Some(BlockId(7)))),
    ];
    assert_eq!(
        said,
        [
            "place logical page 1 without its missing sectors (its sectors 0b1100 are stored elsewhere, and a page-level map has one entry per page)",
            "route to Lsb slots (blocks with program rule Sequential have no such slots)",
            "place into a merge buffer (the layout has no merge buffer)",
            "SetQuota(RegionId(9), 1) (unknown region)",
            "SetSlotQuota(RegionId(9), 1) (unknown region)",
            "move to region 9 (unknown region)",
            "collect region 9 in plane 0 (the region has no blocks in that plane)",
            "collect block 7 from region 0 (block 7 is Free in region 0)",
        ]
    );
}

#[test]
fn collected_and_sealed_data_obey_the_same_rules() {
    let mut b = Bench::new(bench::one(CellMode::Slc), &[]);
    b.orders().collected = Some(to(NOWHERE));
    let mut rng = Rng(3);
    for page in (0..100).map(|_| rng.below(16)) {
        if b.ftl.fault().is_none() {
            b.write(page, 0, 4);
            while b.ftl.fault().is_none() && b.step() {}
        }
    }
    assert_eq!(fault(&mut b), "place in region 9 (unknown region)");

    let mut b = Bench::new(bench::overlay(), &[]);
    b.orders().sealed = Some(along(Route::into_buffer(0)));
    b.write(0, 0, 2);
    b.write(1, 0, 2);
    assert_eq!(
        fault(&mut b),
        "place a sealed page in the merge buffer (the merge buffer takes host data only, and the page is sealed)"
    );
}

#[test]
fn group_may_not_fall_back_on_a_single_page_region() {
    let plan = bench::cache().with(|r| r.quota = if r.name == "D" { 0 } else { 4 });
    let mut b = Bench::new(plan, &[]);
    b.orders().host = Some(along(Route::to(B, SlotClass::Next).or(A, SlotClass::Next)));
    (0..3).for_each(|page| _ = b.write(page, 0, 4));
    assert_eq!(
        fault(&mut b),
        "a wordline of 3 pages falls back to region S (the wordline was assembled for region 1)"
    );
}

#[test]
fn host_data_may_not_go_to_a_missing_region() {
    assert_eq!(told_to_place(to(NOWHERE)), "place in region 9 (unknown region)");
}

#[test]
fn later_regions_of_a_route_must_exist() {
    let plan = bench::one(CellMode::Slc).with(|r| r.quota = 1);
    let mut b = Bench::new(plan, &[]);
    b.orders().host = Some(along(Route::to(A, SlotClass::Next).or(NOWHERE, SlotClass::Next)));
    (0..5).for_each(|page| _ = b.write(page, 0, 4));
    assert_eq!(fault(&mut b), "route to region 9 (plane 0 has no blocks of region 9)");
}

#[test]
fn layout_that_does_not_fit_is_refused_with_reason() {
    let one = || bench::one(CellMode::Slc);
    let changed = |change: fn(&mut wordline_ftl::Region)| one().with(change);
    let none = {
        let mut plan = one();
        plan.layout.regions.clear();
        plan
    };
    let packed: Keys = &[("mapping.unit", "1KiB"), ("mapping.packing", "page")];
    let full = {
        let mut plan =
            bench::cache().with(|r| (r.pool, r.kept) = (PoolId(1), if r.name == "S" { 6 } else { 0 }));
        plan.layout.pools[0].blocks_per_plane = 4;
        plan
    };
    let table: [(Plan, Keys, &str); 14] = [
        (none, &[], "its layout has 0 regions"),
        (full, &[], "region D has no block, since other regions keep all 6 per plane of its pool"),
        (bench::plan(&[6, 5], one().layout.regions, MapKind::Page), &[], "it needs 11 blocks per plane"),
        (changed(|r| r.mode = CellMode::Qlc), &[], "region D uses QLC mode"),
        (changed(|r| r.rule = ProgramRule::OneShot(3)), &[], "region D programs 3 pages in one operation"),
        (bench::one_shot().with(|r| r.pad_after = None), &[], "region D never pads"),
        (
            one().asking(Hooks::IDLE),
            &[("parallel.superblock", "die")],
            "its idle GC works page by page, but superblocks are collected as a whole",
        ),
        (one().asking(Hooks::COLLECT), &[("parallel.superblock", "die")], "it chooses its own victims"),
        (bench::sectors(), &[("dram.map_cache", "2KiB")], "its map tracks parts of pages"),
        (
            bench::sectors(),
            &[("ack.mode", "buffer"), ("ack.pages", "4"), ("ack.flush", "when-full")],
            "it packs parts of pages in RAM itself",
        ),
        (bench::extent(), packed, "it packs parts of pages itself, but mapping.packing = \"page\""),
        (
            changed(|r| r.moved_in = MovedIn::Alone),
            packed,
            "it decides what shares its page for each write to region D",
        ),
        (bench::lanes(), packed, "it decides its page type for each write to region D"),
        (
            one(),
            &[("wear.enforce", "true"), ("medium.flash.slc.endurance", "0")],
            "region D uses SLC mode without an endurance",
        ),
    ];
    for (plan, keys, why) in table {
        let drive = bench::drive(keys);
        let refusal = Ftl::new(&drive.info(), Box::new(bench::Told::new(plan)));
        let refusal = refusal.map(|_| ()).expect_err(why);
        assert!(refusal.reason.starts_with(why), "{refusal}");
        assert_eq!((refusal.scheme.as_str(), refusal.device.as_str()), ("told", "bench"));
    }
}

#[test]
fn empty_or_oversized_request_is_refused() {
    use wordline_units::{HostOp, HostRequest};
    let b = Bench::new(bench::one(CellMode::Slc), &[]);
    let said = |lba, blocks, op| {
        b.ftl.validate(&HostRequest::new(op, lba, blocks), 3).map_err(|e| e.to_string()).err()
    };
    assert_eq!(said(0, 0, HostOp::Flush), None);
    assert_eq!(said(63, 1, HostOp::Read), None);
    assert_eq!(
        said(0, 0, HostOp::Trim).unwrap(),
        "request 3 has length 0; a read, write or trim covers at least 512 bytes"
    );
    assert_eq!(
        said(63, 2, HostOp::Write).unwrap(),
        "request 3 covers bytes 32256 to 33280, but the capacity is 32768 bytes"
    );
    assert!(said(u64::MAX, 2, HostOp::Read).is_some());
}
