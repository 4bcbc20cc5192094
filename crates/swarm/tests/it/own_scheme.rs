//! Schemes of somebody else: each is registered and run by the swarm. One of them is faulty.

use crate::swarm::quietly;
use std::collections::BTreeSet;
use wordline_flash::{ProgramRule, SlotClass};
use wordline_ftl::{
    DriveInfo, FreeOrder, Gather, Hooks, IdleHold, Layout, MapKind, Origin, Parcel, Place, PlanePick, Pool,
    PoolId, Refusal, Region, RegionId, Route, Scheme, View,
};
use wordline_schemes::{Entry, Registry};
use wordline_swarm::{Case, Failure, Outcome, Swarm};
use wordline_units::{CellMode, Rate, SimDuration};

const CACHE: RegionId = RegionId(0);
const HOME: RegionId = RegionId(1);

/// A cache of SLC before the rest of the drive; what is collected in either goes to `collected_to`.
#[derive(Clone, Debug)]
struct Cached {
    name: &'static str,
    collected_to: RegionId,
}

#[wordline_ftl::hooks]
impl Scheme for Cached {
    fn name(&self) -> &str {
        self.name
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let [medium] = &drive.geometry.media[..] else {
            let reason = "it knows one medium".into();
            let (scheme, device) = (self.name.into(), drive.spec.name.clone());
            return Err(Refusal { scheme, device, reason, has_failed: false });
        };
        let region = |name, mode| Region::new(name, PoolId(0), mode, ProgramRule::Sequential);
        let cache = Region { quota: 2, ..region("cache", CellMode::Slc) };
        Ok(Layout {
            pools: vec![Pool { medium: 0, blocks_per_plane: medium.blocks_per_plane, free: FreeOrder::Fifo }],
            regions: vec![cache, region("home", medium.densest())],
            home: HOME,
            second_home: None,
            map: MapKind::Page,
            merges: None,
            enabled_hooks: Hooks::ALL,
            tick_every_writes: 0,
            idle_after: SimDuration::ZERO,
            idle_hold: IdleHold::Grain,
            idle_rate: Rate::OFF,
        })
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let route = match parcel.origin {
            Origin::Host(_) => Route::to(CACHE, SlotClass::Next).or(HOME, SlotClass::Next),
            _ => Route::to(self.collected_to, SlotClass::Next),
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }
}

fn over(name: &'static str, collected_to: RegionId) -> Swarm {
    let entry = Entry::new(name, "a cache", move |_| Box::new(Cached { name, collected_to }));
    Swarm::over(&Registry::empty().with(entry).unwrap())
}

fn cases(swarm: &Swarm) -> Vec<Result<Outcome, Failure>> {
    quietly(|| (1..=40).map(|seed| swarm.case(seed, Swarm::length(seed))).collect())
}

#[test]
fn a_right_scheme_passes() {
    let outcomes: Result<Vec<Outcome>, Failure> = cases(&over("cached", HOME)).into_iter().collect();
    let outcomes = outcomes.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(outcomes.iter().all(|o| o.scheme.starts_with("cached")), "{outcomes:?}");
    let hashes: BTreeSet<&str> = outcomes.iter().map(|o| &*o.result_hash).collect();
    assert!(hashes.len() > outcomes.len() / 2, "the cases are all alike");
}

#[test]
fn a_cache_that_idle_time_empties_otherwise_passes() {
    // Not among the small parameters of its entry, of which the kept cases of tests/it/progress.rs are drawn.
    let ways = [
        "reclaim=used,idle_after=100us",
        "static_blocks=2,dynamic_blocks=0,reclaim=page,idle_after=100us",
        "reclaim=page,hold=channel,idle_after=100us",
        "static_blocks=2,dynamic_blocks=0,reclaim=used,hold=channel,idle_after=100us",
    ];
    let entry = wordline_schemes::find("turbo-write").unwrap().clone();
    let entry = ways.into_iter().fold(entry, |entry, way| entry.small(way));
    let found = cases(&Swarm::over(&Registry::empty().with(entry).unwrap()));
    let outcomes: Result<Vec<Outcome>, Failure> = found.into_iter().collect();
    let outcomes = outcomes.unwrap_or_else(|failure| panic!("{failure}"));
    for way in ["reclaim=used", "reclaim=page", "hold=channel"] {
        assert!(outcomes.iter().any(|o| o.scheme.contains(way)), "no case has {way}");
    }
}

#[test]
fn faulty_scheme_is_caught_and_its_shortest_case_replays() {
    // What is collected goes back to the cache, which is then full for good.
    let swarm = over("stuck", CACHE);
    let failure = cases(&swarm).into_iter().find_map(Result::err).expect("a case that fails");
    let shortest = quietly(|| swarm.shortest(failure.clone()));
    assert!(shortest.length <= failure.length && shortest.seed == failure.seed);
    assert!(shortest.scheme.starts_with("stuck") && !shortest.message.is_empty(), "{shortest}");
    assert!(shortest.device.contains("[device]"), "{}", shortest.device);
    let smallest = quietly(|| swarm.smallest(&shortest)).unwrap();
    assert!(smallest.case.requests.len() <= shortest.length as usize && !smallest.message.is_empty());
    let blocks = |case: &Case| case.drive.spec.media[0].blocks_per_plane;
    let drawn = swarm.draw(shortest.seed, shortest.length).unwrap();
    assert!(blocks(&smallest.case) < blocks(&drawn), "{smallest}");
    assert_eq!(quietly(|| swarm.case(shortest.seed, shortest.length)), Err(shortest));
}

/// A scheme that no drive suits, since it wants nine media.
#[derive(Clone, Debug)]
struct Choosy;

#[wordline_ftl::hooks]
impl Scheme for Choosy {
    fn name(&self) -> &str {
        "choosy"
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let (scheme, device) = ("choosy".into(), drive.spec.name.clone());
        Err(Refusal { scheme, device, reason: "it wants nine media".into(), has_failed: false })
    }

    fn place(&mut self, _: &Parcel, _: &View) -> Place {
        panic!("it has been laid out nowhere")
    }
}

#[test]
fn where_no_case_can_be_drawn_the_failure_says_why() {
    let of = |registry: Registry| Swarm::over(&registry).case(1, 1).unwrap_err();
    let failure = of(Registry::empty());
    assert!(failure.message.contains("has no schemes"), "{failure}");
    let choosy = Entry::new("choosy", "nine media", |_| Box::new(Choosy));
    let failure = of(Registry::empty().with(choosy).unwrap());
    assert!(
        failure.message.contains("take none of them") && failure.message.contains("nine media"),
        "{failure}"
    );
}
