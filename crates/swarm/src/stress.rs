//! Schemes that only stress the mechanism: each does something that no published scheme does.

use wordline_device::{Trigger, Victim};
use wordline_flash::{Medium, ProgramRule, SlotClass};
use wordline_ftl::{
    Collect, Command, DriveInfo, FreeOrder, Gather, Grain, Hooks, IdleHold, IdleWork, Layout, MapKind,
    Memory, Move, Origin, Parcel, Place, PlanePick, Pool, PoolId, ReadSeen, Refusal, Region, RegionId, Route,
    Scheme, View,
};
use wordline_schemes::{Entry, Registry, RegistryError};
use wordline_units::{CellMode, Fraction, PlaneId, Rate, SimDuration};

/// The stress schemes alone.
pub fn registry() -> Registry {
    // Their names are valid and distinct; a test checks that none is missing.
    over(&Registry::empty()).unwrap_or_else(|_| Registry::empty())
}

/// The schemes of a registry, followed by the stress schemes.
///
/// # Errors
/// If a scheme of the registry has the name of a stress scheme.
pub fn over(registry: &Registry) -> Result<Registry, RegistryError> {
    entries().into_iter().try_fold(registry.clone(), Registry::with)
}

fn entries() -> [Entry; 5] {
    [
        Entry::new(BySector::NAME, "a place of its own for every sector", |_| Box::new(BySector)),
        Entry::new(TwoLanes::NAME, "blocks open in two page classes in parallel", |_| Box::new(TwoLanes)),
        Entry::new(Restless::NAME, "moves, mode changes, idle work and quotas, all in parallel", |_| {
            Box::new(Restless { turn: 0 })
        }),
        Entry::new(FastThenDense::NAME, "a fast medium before a dense one", |_| Box::new(FastThenDense)),
        Entry::new(
            ProtectedBuffer::NAME,
            "one-shot blocks whose program buffer outlasts a power cut",
            |_| Box::new(ProtectedBuffer),
        ),
    ]
}

fn refusal(scheme: &str, drive: &DriveInfo, reason: &'static str) -> Refusal {
    let (scheme, device) = (scheme.into(), drive.spec.name.clone());
    Refusal { scheme, device, reason: reason.into(), has_failed: false }
}

/// The only medium of a drive.
fn only_medium<'a>(scheme: &str, drive: &DriveInfo<'a>) -> Result<&'a Medium, Refusal> {
    match &drive.geometry.media[..] {
        [medium] => Ok(medium),
        _ => Err(refusal(scheme, drive, "it knows one medium")),
    }
}

fn pool(medium: usize, blocks_per_plane: u32) -> Pool {
    Pool { medium, blocks_per_plane, free: FreeOrder::Fifo }
}

fn region(name: &'static str, pool: u8, mode: CellMode, rule: ProgramRule) -> Region {
    let partial_victims = rule == ProgramRule::Relaxed;
    Region { partial_victims, ..Region::new(name, PoolId(pool), mode, rule) }
}

fn layout(pools: Vec<Pool>, regions: Vec<Region>, map: MapKind) -> Layout {
    Layout {
        pools,
        home: RegionId(regions.len() as u8 - 1),
        second_home: None,
        regions,
        map,
        merges: None,
        enabled_hooks: Hooks::ALL,
        tick_every_writes: 0,
        idle_after: SimDuration(100_000),
        idle_hold: IdleHold::Grain,
        idle_rate: Rate::OFF,
    }
}

/// Places each sector separately.
#[derive(Clone, Debug)]
pub struct BySector;

impl BySector {
    const NAME: &str = "by-sector";
}

#[wordline_ftl::hooks]
impl Scheme for BySector {
    fn name(&self) -> &str {
        Self::NAME
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let blocks = only_medium(Self::NAME, drive)?.blocks_per_plane;
        let d = region("D", 0, CellMode::Mlc, ProgramRule::Sequential);
        Ok(layout(vec![pool(0, blocks)], vec![d], MapKind::Sector))
    }
    fn place(&mut self, _: &Parcel, _: &View) -> Place {
        Place { gather: Gather::AsIs, plane: PlanePick::Home, route: Route::to(RegionId(0), SlotClass::Next) }
    }
}

/// Keeps blocks open in two classes. Host data prefer the first, collected data the second.
#[derive(Clone, Debug)]
pub struct TwoLanes;

impl TwoLanes {
    const NAME: &str = "two-lanes";
}

#[wordline_ftl::hooks]
impl Scheme for TwoLanes {
    fn name(&self) -> &str {
        Self::NAME
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let blocks = only_medium(Self::NAME, drive)?.blocks_per_plane;
        let d = region("D", 0, CellMode::Mlc, ProgramRule::Relaxed);
        Ok(layout(vec![pool(0, blocks)], vec![d], MapKind::Page))
    }
    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let d = RegionId(0);
        let route = match parcel.origin {
            Origin::Host(_) => Route::to(d, SlotClass::Lsb).or(d, SlotClass::Csb),
            _ => Route::to(d, SlotClass::Csb).or(d, SlotClass::Lsb),
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }
}

/// Changes cell modes, moves pages when they are read, uses both kinds of idle work and changes quotas, all
/// at the same time and for no good reason.
#[derive(Clone, Debug)]
pub struct Restless {
    /// Its position in its rounds.
    pub turn: u32,
}

impl Restless {
    const NAME: &str = "restless";
    const S: RegionId = RegionId(0);
    const D: RegionId = RegionId(1);
}

#[wordline_ftl::hooks]
impl Scheme for Restless {
    fn name(&self) -> &str {
        Self::NAME
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let blocks = only_medium(Self::NAME, drive)?.blocks_per_plane;
        let mut s = region("S", 0, CellMode::Slc, ProgramRule::Sequential);
        s.quota = 3;
        let d = region("D", 0, CellMode::Tlc, ProgramRule::Sequential);
        let mut l = layout(vec![pool(0, blocks)], vec![s, d], MapKind::Page);
        l.tick_every_writes = 7;
        Ok(l)
    }
    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let route = match parcel.origin {
            Origin::Host(_) => Route::to(Self::S, SlotClass::Next).or(Self::D, SlotClass::Next),
            _ => Route::to(Self::D, SlotClass::Next),
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }
    fn read(&mut self, seen: &ReadSeen, _: &View) -> Option<Move> {
        self.turn += 1;
        let to = if seen.mode == CellMode::Slc { Self::D } else { Self::S };
        self.turn.is_multiple_of(3).then_some(Move {
            lpn: seen.lpn,
            seen: seen.ppn,
            plane: PlanePick::Home,
            route: Route::to(to, SlotClass::Next).or(Self::D, SlotClass::Next),
        })
    }
    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        let block = view.best(Self::S, plane)?;
        self.turn += 1;
        let grain = if self.turn.is_multiple_of(2) { Grain::Block } else { Grain::Page };
        Some(IdleWork::Collect(Collect { region: Self::S, block: Some(block) }, grain))
    }
    fn tick(&mut self, _: &View, out: &mut Vec<Command>) {
        self.turn += 1;
        out.push(Command::SetQuota(Self::S, 1 + self.turn % 4));
    }
    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Some(&mut self.turn)
    }
}

/// Two media with pages of different sizes. Writes go to the fast medium, and garbage collection moves them
/// to the dense one.
#[derive(Clone, Debug)]
pub struct FastThenDense;

impl FastThenDense {
    const NAME: &str = "fast-then-dense";
    const S: RegionId = RegionId(0);
    const D: RegionId = RegionId(1);
}

#[wordline_ftl::hooks]
impl Scheme for FastThenDense {
    fn name(&self) -> &str {
        Self::NAME
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let media = &drive.geometry.media;
        if media.len() != 2 {
            return Err(refusal(Self::NAME, drive, "it needs two media"));
        }
        let on = |name, m: u8, mode| Region {
            trigger: drive.spec.gc.trigger,
            victim: drive.spec.gc.victim,
            ..region(name, m, mode, ProgramRule::Sequential)
        };
        let pools = (0..2).map(|m| pool(m, media[m].blocks_per_plane));
        let regions = vec![on("S", 0, CellMode::Slc), on("D", 1, media[1].densest())];
        Ok(layout(pools.collect(), regions, MapKind::Page))
    }
    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let (region, plane) = match parcel.origin {
            Origin::Host(_) => (Self::S, PlanePick::Any),
            Origin::Collected(Self::S) => (Self::D, PlanePick::Any),
            _ => (Self::D, PlanePick::Home),
        };
        Place { gather: Gather::Fill, plane, route: Route::to(region, SlotClass::Next) }
    }
}

/// A cache in front of one-shot blocks whose program buffer survives a power cut, so that a block of the
/// cache may be erased while its last pages wait in the buffer.
#[derive(Clone, Debug)]
pub struct ProtectedBuffer;

impl ProtectedBuffer {
    const NAME: &str = "protected-buffer";
    /// Cache blocks per plane.
    const CACHE: u32 = 4;
    const TRIGGER: Trigger = Trigger::FreeBlocks(Fraction::percent(30));
}

#[wordline_ftl::hooks]
impl Scheme for ProtectedBuffer {
    fn name(&self) -> &str {
        Self::NAME
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let blocks = only_medium(Self::NAME, drive)?.blocks_per_plane;
        if blocks <= Self::CACHE {
            return Err(refusal(Self::NAME, drive, "its cache would be all of the drive"));
        }
        let s = Region {
            victim: Victim::Fifo,
            trigger: Self::TRIGGER,
            ..region("S", 0, CellMode::Slc, ProgramRule::Sequential)
        };
        let d = Region {
            trigger: Self::TRIGGER,
            pad_after: None,
            protected: true,
            ..region("D", 1, CellMode::Tlc, ProgramRule::OneShot(3))
        };
        Ok(layout(vec![pool(0, Self::CACHE), pool(0, blocks - Self::CACHE)], vec![s, d], MapKind::Page))
    }
    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let (s, d) = (RegionId(0), RegionId(1));
        let route = match parcel.origin {
            Origin::Host(_) => Route::to(s, SlotClass::Next).or(d, SlotClass::Next),
            _ => Route::to(d, SlotClass::Next),
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stress_scheme_is_registered_by_name() {
        let registry = registry();
        assert_eq!(registry.all().len(), entries().len());
        for name in registry.names() {
            assert_eq!(registry.build(name).unwrap().name(), name);
        }
        assert!(over(&registry).unwrap_err().to_string().contains("duplicate name"));
    }
}
