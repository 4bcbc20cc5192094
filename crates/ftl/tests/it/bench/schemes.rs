//! The schemes of the tests: one that does what it is told, on several layouts. This is the one file that implements
//! the trait.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use wordline_device::Trigger;
use wordline_flash::{ProgramRule, SlotClass};
use wordline_ftl::{
    Collect, Command, DriveInfo, FreeOrder, Gather, Hooks, IdleHold, IdleWork, Join, Layout, MapKind, Move,
    Need, Origin, Parcel, Place, PlanePick, Pool, PoolId, ReadSeen, Refusal, Region, RegionId, RegionSet,
    Route, Scheme, Span, Tag, View,
};
use wordline_units::{CellMode, Fraction, HostRequest, Lpn, PlaneId, Rate, SectorMask, SimDuration};

/// The first two regions; the last one is home.
pub const A: RegionId = RegionId(0);
pub const B: RegionId = RegionId(1);

/// What a test has the scheme do next, and what it has been asked.
#[derive(Debug, Default)]
pub struct Orders {
    /// Where host data go, instead of where the plan says.
    pub host: Option<Place>,
    /// The same of collected data.
    pub collected: Option<Place>,
    /// The same of sealed pages.
    pub sealed: Option<Place>,
    pub tick: Vec<Command>,
    pub idle: VecDeque<IdleWork>,
    pub collect: VecDeque<Collect>,
    pub room: VecDeque<Move>,
    /// Pages that have been read move along this route.
    pub read: Option<Route>,
    pub trimmed: Vec<Lpn>,
    pub tags: Vec<Tag>,
    pub seen: Vec<ReadSeen>,
}

/// A layout, and where its data go.
#[derive(Clone, Debug)]
pub struct Plan {
    pub layout: Layout,
    pub host: Place,
    pub parts: Place,
    pub collected: Place,
}

/// A scheme that does what it is told.
#[derive(Clone, Debug)]
pub struct Told {
    plan: Plan,
    orders: Arc<Mutex<Orders>>,
}

impl Told {
    pub fn new(plan: Plan) -> Told {
        Told { plan, orders: Arc::default() }
    }

    /// What it does next.
    pub fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap()
    }
}

#[wordline_ftl::hooks]
impl Scheme for Told {
    fn name(&self) -> &str {
        "told"
    }

    fn layout(&mut self, _: &DriveInfo) -> Result<Layout, Refusal> {
        Ok(self.plan.layout.clone())
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let orders = self.orders();
        let is_part = parcel.spans.iter().any(|span| span.mask.count() < 4);
        match parcel.origin {
            Origin::Host(_) => orders.host.unwrap_or(if is_part { self.plan.parts } else { self.plan.host }),
            Origin::Sealed => orders.sealed.unwrap_or(to(A)),
            Origin::Collected(_) | Origin::Moved(_) => orders.collected.unwrap_or(self.plan.collected),
        }
    }

    fn admit(&mut self, request: &HostRequest, _: &View) -> Tag {
        let tag = Tag(request.attributes.stream());
        self.orders().tags.push(tag);
        tag
    }

    fn make_room(&mut self, _: &Parcel, _: &View, out: &mut Vec<Move>) {
        out.extend(self.orders().room.pop_front());
    }

    fn split_write(&mut self, span: &Span, _: &View) -> SectorMask {
        // Even sectors first, then odd ones.
        let even = span.mask.and(SectorMask(0b0101));
        if even.is_empty() { span.mask } else { even }
    }

    fn read(&mut self, seen: &ReadSeen, _: &View) -> Option<Move> {
        let mut orders = self.orders();
        orders.seen.push(*seen);
        let route = orders.read?;
        Some(Move { lpn: seen.lpn, seen: seen.ppn, plane: PlanePick::Home, route })
    }

    fn collect(&mut self, need: Need, view: &View) -> Option<Collect> {
        assert!(view.free_blocks(need.region, need.plane) <= view.owned(need.region, need.plane) + 99);
        self.orders().collect.pop_front()
    }

    fn idle(&mut self, _: PlaneId, _: &View) -> Option<IdleWork> {
        self.orders().idle.pop_front()
    }

    fn tick(&mut self, _: &View, out: &mut Vec<Command>) {
        out.append(&mut self.orders().tick);
    }

    fn on_trim(&mut self, lpn: Lpn) {
        self.orders().trimmed.push(lpn);
    }
}

/// To the next slot of a region, in the home plane, whole.
pub const fn to(region: RegionId) -> Place {
    Place { gather: Gather::Fill, plane: PlanePick::Home, route: Route::to(region, SlotClass::Next) }
}

/// A region on a pool.
pub fn region(name: &'static str, pool: u8, mode: CellMode, rule: ProgramRule) -> Region {
    Region {
        trigger: Trigger::FreeBlocks(Fraction::percent(30)),
        partial_victims: rule == ProgramRule::Relaxed,
        ..Region::new(name, PoolId(pool), mode, rule)
    }
}

/// Regions on pools of so many blocks; none of the hooks is asked, and all goes to the last region.
pub fn plan(pools: &[u32], regions: Vec<Region>, map: MapKind) -> Plan {
    let pool = |blocks: &u32| Pool { medium: 0, blocks_per_plane: *blocks, free: FreeOrder::Fifo };
    let home = RegionId(regions.len() as u8 - 1);
    let layout = Layout {
        pools: pools.iter().map(pool).collect(),
        regions,
        home,
        second_home: None,
        map,
        merges: None,
        enabled_hooks: Hooks::NONE,
        tick_every_writes: 0,
        idle_after: SimDuration(100_000),
        idle_hold: IdleHold::Grain,
        idle_rate: Rate::OFF,
    };
    Plan { layout, host: to(home), parts: to(home), collected: to(home) }
}

/// One region, programmed page by page.
pub fn one(mode: CellMode) -> Plan {
    plan(&[10], vec![region("D", 0, mode, ProgramRule::Sequential)], MapKind::Page)
}

/// One region, of which a program writes a whole wordline.
pub fn one_shot() -> Plan {
    plan(&[10], vec![region("D", 0, CellMode::Tlc, ProgramRule::OneShot(3))], MapKind::Page)
}

/// One region whose blocks stand open for two types of pages: host data want the one, collected data the other.
pub fn lanes() -> Plan {
    let mut lanes = plan(&[10], vec![region("D", 0, CellMode::Mlc, ProgramRule::Relaxed)], MapKind::Page);
    let route = |first, second| Route::to(A, first).or(A, second);
    lanes.host.route = route(SlotClass::Lsb, SlotClass::Csb);
    lanes.parts = lanes.host;
    lanes.collected.route = route(SlotClass::Csb, SlotClass::Lsb);
    lanes
}

/// Four SLC blocks in front of TLC; with none of them free, data go to the TLC at once.
pub fn cache() -> Plan {
    let s = region("S", 0, CellMode::Slc, ProgramRule::Sequential);
    let d = region("D", 1, CellMode::Tlc, ProgramRule::OneShot(3));
    let mut cache = plan(&[4, 6], vec![s, d], MapKind::Page);
    cache.host.route = Route::to(A, SlotClass::Next).or(B, SlotClass::Next);
    cache.parts = cache.host;
    cache
}

/// One region under a map of sectors, each part of a page as it comes.
pub fn sectors() -> Plan {
    let mut sectors =
        plan(&[10], vec![region("D", 0, CellMode::Mlc, ProgramRule::Sequential)], MapKind::Sector);
    for place in [&mut sectors.host, &mut sectors.parts, &mut sectors.collected] {
        place.gather = Gather::AsIs;
    }
    sectors
}

/// Runs of sectors in two SLC blocks over pages in others; parts of pages find company in a merge buffer, and pages
/// are gathered when their runs are collected.
pub fn overlay() -> Plan {
    let runs = region("R", 0, CellMode::Slc, ProgramRule::Sequential);
    let d = region("D", 1, CellMode::Tlc, ProgramRule::OneShot(3));
    let d = Region { protected: true, ..d };
    let mut overlay = plan(&[4, 6], vec![runs, d], MapKind::Overlay(RegionSet::of(A), 16));
    overlay.layout.merges = Some(Join::First);
    overlay.parts = Place { gather: Gather::AsIs, plane: PlanePick::Home, route: Route::into_buffer(0) };
    overlay.host.gather = Gather::AsIs;
    overlay.collected.gather = Gather::Whole;
    overlay
}

/// Extents: parts of pages share slots of the SLC blocks, and of the others when they are collected.
pub fn extent() -> Plan {
    let s = region("S", 0, CellMode::Slc, ProgramRule::Sequential);
    let d = region("D", 1, CellMode::Tlc, ProgramRule::OneShot(3));
    let d = Region { protected: true, ..d };
    let mut extent = plan(&[4, 6], vec![s, d], MapKind::Extent);
    extent.layout.merges = Some(Join::First);
    extent.parts.route = Route::into_buffer(0);
    extent
}

impl Plan {
    /// The same, with these hooks asked.
    pub fn asking(mut self, hooks: Hooks) -> Plan {
        self.layout.enabled_hooks = hooks;
        self
    }

    /// The same, whose controller loop is asked after every write.
    pub fn ticking(mut self) -> Plan {
        self.layout.tick_every_writes = 1;
        self
    }

    /// The same with its regions changed.
    pub fn with(mut self, change: impl Fn(&mut Region)) -> Plan {
        self.layout.regions.iter_mut().for_each(change);
        self
    }
}
