//! All state of the translation layer that is independent of stored data: blocks, map, staging, pending
//! operations. It is plain data: each part keeps its fields to itself.

use crate::file::saved::{Saved, saved};
use crate::file::table::Table;
use crate::map::Map;
use crate::plan::layout::{DriveInfo, Hooks, Layout, Refusal};
use crate::plan::region::MapKind;
use crate::state::addressing::Addressing;
use crate::state::aging::Aging;
use crate::state::backlog::Backlog;
use crate::state::blocks::at_rest::recount;
use crate::state::blocks::{Blocks, make};
use crate::state::counters::Counters;
use crate::state::demand_map::DemandMap;
use crate::state::idle_gc_copies::IdleGcCopies;
use crate::state::latency::LatencyBreakdown;
use crate::state::layout_check;
use crate::state::op::{OpId, Ops};
use crate::state::refresh::Refreshing;
use crate::state::staging::Staging;
use crate::state::times::ArrayTimes;
use crate::state::trim::TrimLog;
use crate::state::wear::Wear;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use wordline_device::{Ack, Allocation, GcSpec, UnwrittenReads};
use wordline_flash::{Geometry, Refresh};
use wordline_units::{Bytes, Lpn, SimTime};

/// What device file and layout state, and never changes.
pub(crate) struct Config {
    pub gc: GcSpec,
    pub logical_pages: u32,
    pub unwritten: UnwrittenReads,
    /// How the plane of a write is chosen.
    pub allocation: Allocation,
    pub ack: Ack,
    /// Size of the write buffer, where there is one.
    pub buffer_pages: Option<u32>,
    pub addressing: Addressing,
    pub array: ArrayTimes,
    /// The kind of map.
    map_kind: MapKind,
    /// Whether the sizes of updates are counted by region.
    pub counts_updates: bool,
}

/// The whole state except the data and the scheme.
pub struct State {
    pub(crate) geometry: Arc<Geometry>,
    pub(crate) config: Config,
    pub(crate) blocks: Blocks,
    pub(crate) map: Map,
    pub(crate) trims: TrimLog,
    /// What of the map is in RAM, where it lies on flash.
    pub(crate) demand: Option<Box<DemandMap>>,
    pub(crate) idle_gc_copies: IdleGcCopies,
    pub(crate) aging: Aging,
    pub(crate) wear: Wear,
    pub(crate) refreshing: Refreshing,
    pub(crate) staging: Staging,
    pub(crate) ops: Ops,
    pub(crate) counters: Counters,
    pub(crate) backlog: Backlog,
    pub(crate) outstanding: u32,
    /// Pages in the write buffer.
    pub(crate) buffered: u64,
    /// Logical pages of the host in one-shot groups that wait to be full for as long as it takes.
    pub(crate) incomplete_units: u64,
    pub(crate) draining: bool,
    pub(crate) now: SimTime,
    /// What the operation has been through that ends in this call, told before it; none otherwise.
    pub(crate) breakdown: LatencyBreakdown,
    /// Host programs that need wait no longer, while they are not on their way yet: none between two calls.
    pub(crate) ready: VecDeque<OpId>,
    /// The error of the scheme, if it failed.
    pub(crate) complaint: OnceLock<Box<str>>,
}

impl Saved for State {
    saved! { State,
        values: [trims, demand, staging, ops, counters, outstanding, buffered, incomplete_units, draining, now],
        parts: [backlog, blocks, map, idle_gc_copies, aging, wear, refreshing],
        rebuilt: [geometry, config, breakdown, ready, complaint],
    }
}

impl Config {
    /// Whether a write may go to any plane.
    #[inline(always)]
    pub fn goes_anywhere(&self) -> bool {
        !matches!(self.allocation, Allocation::Static(_))
    }

    fn new(drive: &DriveInfo, layout: &Layout) -> Config {
        let (spec, geometry) = (drive.spec, &drive.geometry);
        Config {
            gc: spec.gc,
            logical_pages: drive.logical_pages,
            unwritten: spec.unwritten,
            allocation: spec.allocation,
            ack: match spec.ack {
                Ack::Merge if layout.merges.is_none() => Ack::Program,
                ack => ack,
            },
            buffer_pages: match spec.ack {
                Ack::Program | Ack::Merge => None,
                Ack::Buffer(pages) => Some(pages),
            },
            addressing: Addressing::new(geometry),
            array: ArrayTimes::new(drive, layout),
            map_kind: layout.map,
            counts_updates: layout.regions.len() > 1 && geometry.sectors_per_unit > 1,
        }
    }
}

impl State {
    pub(crate) fn new(
        drive: &DriveInfo,
        layout: &Layout,
        refuse: impl Fn(String) -> Refusal,
    ) -> Result<State, Refusal> {
        let geometry = Arc::new(drive.geometry.clone());
        layout_check::check(drive, layout).map_err(&refuse)?;
        let wear = Wear::new(drive.spec.wear);
        let unmapped = |e| refuse(format!("cannot allocate its tables: {e}"));
        let idles = layout.enabled_hooks.contains(Hooks::IDLE);
        let watched = if idles { (geometry.blocks as usize) << geometry.slot_shift } else { 0 };
        let trims = TrimLog::new(&geometry, layout.map, drive.logical_pages);
        let demand = DemandMap::new(&drive.spec.dram, Bytes(geometry.unit), drive.logical_pages, trims.end());
        let pages = demand.as_ref().map_or(trims.end(), |map| map.end());
        let map = Map::new(layout.map, &geometry, pages).map_err(unmapped)?;
        let table = Table::zeroed(geometry.blocks as usize).map_err(unmapped)?;
        let mut blocks = make::blocks(drive, layout, &wear, (geometry.clone(), table));
        layout_check::check_reserves(blocks.pools(), &wear).map_err(&refuse)?;
        recount(&mut blocks, &map);
        Ok(State {
            config: Config::new(drive, layout),
            counters: Counters::new(layout.regions.len(), drive.spec),
            blocks,
            map,
            trims,
            demand,
            idle_gc_copies: IdleGcCopies::new(watched).map_err(unmapped)?,
            wear,
            aging: Aging::new(drive.spec.errors.as_ref(), geometry.blocks as usize).map_err(unmapped)?,
            refreshing: Refreshing::new(
                drive.spec.errors.as_ref().map_or_else(Refresh::default, |e| e.refresh),
            ),
            staging: Staging::new(if layout.map.knows_sectors() { geometry.sectors_per_unit } else { 0 }),
            ops: Ops::served(drive.spec.service.order),
            backlog: Backlog::new(&geometry, drive.spec.parallel_unit),
            outstanding: 0,
            buffered: 0,
            incomplete_units: 0,
            draining: false,
            now: SimTime(0),
            breakdown: LatencyBreakdown::NONE,
            ready: VecDeque::new(),
            complaint: OnceLock::new(),
            geometry,
        })
    }

    /// Logical pages (page map) or sectors (sector map) that hold the host's data.
    pub(crate) fn mapped(&self) -> u64 {
        let each = if self.map_kind().is_by_page() { 1 } else { self.geometry.sectors_per_unit as u64 };
        let tables = self.trims.pages() * each + self.demand.as_ref().map_or(0, |map| map.mapped());
        // Pages of these may be on their way through a protected program buffer, and not mapped.
        self.map.mapped().saturating_sub(tables)
    }

    /// The kind of map.
    #[inline(always)]
    pub(crate) fn map_kind(&self) -> MapKind {
        self.config.map_kind
    }

    /// Whether a page is one of the drive's own tables, behind the last logical page.
    #[inline(always)]
    pub(crate) fn is_metadata(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.config.logical_pages
    }

    /// The page behind the last of all, those of the drive's own tables among them.
    pub(crate) fn end_of_pages(&self) -> u32 {
        self.demand.as_ref().map_or(self.trims.end(), |map| map.end())
    }
}
