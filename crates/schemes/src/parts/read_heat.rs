//! Moves of frequently read data to cells with fewer bits: read counts per place or logical page, and conversion
//! of blocks in both directions. Each scheme decides which pages to move.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use crate::parts::read_class::{self, Class, Classes, Reads, X, Y, Z, made_for};
use crate::parts::reclaim::{self, Known};
use crate::parts::reclaim_memory::{self, Reclaim};
use serde::{Deserialize, Serialize};
use wordline_flash::SlotClass;
use wordline_ftl::{
    Collect, DriveInfo, FreeOrder, Gather, Grain, Hooks, IdleHold, IdleWork, Layout, MapKind, Move, Need,
    Origin, Parcel, Place, PlanePick, Pool, PoolId, ReadSeen, Refusal, Region, RegionId, Route, View,
};
use wordline_units::{BlockId, CellMode, HostRequest, Lpn, PlaneId, Ppn, Rate, SimDuration, SimTime};

/// The modes of the regions, by their numbers.
const MODES: [(&str, CellMode); 3] = [("Z", CellMode::Qlc), ("Y", CellMode::Tlc), ("X", CellMode::Slc)];

const DECAY: Parameter = Parameter::new(
    "decay",
    "off",
    "halve the read counts every N pages read by the host, or off; 4000000 with reclaim",
);

const HEAT: Parameter = Parameter::new(
    "heat",
    "physical",
    "physical or logical: count reads of a physical page, from 0 after a move, or of a logical page",
);

/// Parameters of schemes that move pages by read count.
pub(crate) const PARAMETERS: [Parameter; 11] = [
    read_class::WARM,
    read_class::HOT,
    read_class::CLASS,
    read_class::PERIOD,
    read_class::HOT_WITHIN,
    read_class::WARM_WITHIN,
    HEAT,
    DECAY,
    reclaim_memory::RECLAIM,
    reclaim_memory::RECLAIM_BELOW,
    layout::IDLE_AFTER,
];

/// Subject of read counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Heat {
    /// The place that was read, until its block is erased.
    Physical,
    /// The logical page, wherever it lies.
    Logical,
}

/// Read counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Learnt {
    /// How often each place was, [`Heat::Physical`], or each logical page.
    of: Reads,
    /// Erase count of each block when its places were first counted; empty for logical pages.
    erases: Vec<u32>,
    /// Pages since these counts were last halved.
    reads: u64,
    reclaim: reclaim_memory::Memory,
}

/// Three modes of one pool, and the read counts of their data.
#[derive(Clone, Debug)]
pub(crate) struct ByReadHeat {
    heat: Heat,
    classes: Classes,
    decay: Option<u64>,
    idle_after: SimDuration,
    reclaim: Option<Reclaim>,
    learnt: Learnt,
    /// Wordlines of a block, and slots of a page, set by `layout`.
    wordlines: u32,
    units_per_page: u32,
    /// Erased blocks of a plane at which no data stay in sparse blocks.
    least_free: u32,
}

impl ByReadHeat {
    pub fn from_parameters(p: &mut Parameters) -> ByReadHeat {
        let classes = Classes::from_parameters(p);
        let decay = if p.is("decay", "off") { None } else { Some(p.whole("decay", 1..=u32::MAX) as u64) };
        let heat = [("physical", Heat::Physical), ("logical", Heat::Logical)];
        let heat = p.choice("heat", &heat);
        let reclaim = Reclaim::from_parameters(p);
        if reclaim.is_some() && p.has("decay") && decay.is_none() {
            p.refuse(
                "decay",
                "reclaim=on requires decaying read counts; set a number of pages, such as 4000000",
            );
        }
        ByReadHeat {
            heat,
            classes,
            decay: decay.or(reclaim.map(|_| reclaim_memory::DECAY)),
            idle_after: layout::take_idle_after(p),
            reclaim,
            learnt: Learnt::default(),
            wordlines: 0,
            units_per_page: 1,
            least_free: 0,
        }
    }

    /// All blocks in one pool, which takes its mode block by block.
    ///
    /// # Errors
    /// A refusal where the flash lacks one of the modes.
    pub fn layout(
        &mut self,
        drive: &DriveInfo,
        refuse: impl Fn(String) -> Refusal,
    ) -> Result<Layout, Refusal> {
        let medium = layout::only_medium(drive, &refuse)?;
        if let Some((_, mode)) = MODES.iter().find(|(_, mode)| medium.mode(*mode).is_none()) {
            return Err(refuse(format!(
                "it moves data between SLC, TLC and QLC blocks, but this flash has no {mode} mode; add \
                 [medium.{}.{}]",
                medium.name,
                mode.key()
            )));
        }
        let region = |(name, mode): (&'static str, CellMode)| -> Region {
            let one_shot = medium.mode(mode).is_some_and(|t| t.pages_per_program > 1);
            layout::region(drive, name, PoolId(0), mode, layout::rule(mode, one_shot))
        };
        let blocks = drive.geometry.blocks as usize;
        let (places, counted) = match self.heat {
            Heat::Physical => (drive.geometry.ppn(BlockId(blocks as u32), 0).index(), blocks),
            Heat::Logical => (drive.logical_pages as usize, 0),
        };
        (self.learnt.of, self.learnt.erases) = (Reads::of(places, &self.classes), vec![0; counted]);
        self.wordlines = medium.wordlines_per_block;
        self.units_per_page = drive.geometry.units_per_page(0);
        self.least_free = drive.spec.gc.hard_reserve.max(MODES.len() as u32);
        if let Some(reclaim) = &mut self.reclaim {
            reclaim.unit = drive.spec.unit.0;
        }
        let reclaims = Hooks::ADMIT.union(Hooks::IDLE);
        let needless = if self.reclaim.is_some() { Hooks::NONE } else { reclaims };
        Ok(Layout {
            pools: vec![Pool {
                medium: 0,
                blocks_per_plane: medium.blocks_per_plane,
                free: FreeOrder::LeastErased,
            }],
            regions: MODES.into_iter().map(region).collect(),
            home: Z,
            second_home: None,
            map: MapKind::Page,
            merges: None,
            enabled_hooks: Hooks::ALL.without(needless),
            tick_every_writes: 0,
            idle_after: self.idle_after,
            idle_hold: IdleHold::Grain,
            idle_rate: Rate::OFF,
        })
    }

    /// Position of the read count of a page, if it was read since its data were programmed.
    fn counted(&self, lpn: Lpn, view: &View) -> Option<usize> {
        match self.heat {
            Heat::Logical => Some(lpn.index()),
            Heat::Physical => {
                view.locate(lpn).filter(|ppn| self.counts_since(view, *ppn)).map(|ppn| ppn.index())
            }
        }
    }

    /// Read count of a page, at its current place or overall.
    pub fn reads_of(&self, lpn: Lpn, view: &View) -> u32 {
        self.counted(lpn, view).map_or(0, |at| self.learnt.of.count(at))
    }

    /// Whether the counts of a place belong to the current data of its block.
    fn counts_since(&self, view: &View, ppn: Ppn) -> bool {
        let block = view.geometry().block_of(ppn);
        self.learnt.erases.get(block.index()).copied().unwrap_or(0) == view.erases(block)
    }

    pub fn class(&self, lpn: Lpn, view: &View) -> Class {
        let read = self.learnt.reclaim.pages_read();
        self.counted(lpn, view).map_or(Class::Cold, |at| self.learnt.of.class(at, read, &self.classes))
    }

    /// Count a read, and say how hot its page is.
    pub fn read(&mut self, seen: &ReadSeen, view: &View) -> Class {
        let counted = match self.heat {
            Heat::Logical => seen.lpn.index(),
            Heat::Physical => {
                if !self.counts_since(view, seen.ppn) || seen.ppn.index() >= self.learnt.of.len() {
                    self.begin_block(view, view.geometry().block_of(seen.ppn));
                }
                seen.ppn.index()
            }
        };
        self.learnt.reads += 1;
        let halve = self.decay.is_some_and(|decay| self.learnt.reads >= decay);
        if halve {
            self.learnt.reads = 0;
        }
        let class = self.learnt.of.read(counted, self.learnt.reclaim.pages_read(), halve, &self.classes);
        self.learnt.reclaim.read();
        class
    }

    /// Nothing in a block was read since its last erase.
    fn begin_block(&mut self, view: &View, block: BlockId) {
        let first = |block| view.geometry().ppn(block, 0).index();
        let past = first(BlockId(block.0 + 1));
        // The layout is of the pool alone, and on a drive that is shared its blocks are not the first ones.
        if past > self.learnt.of.len() {
            self.learnt.of.grow(past, &self.classes);
            self.learnt.erases.resize(block.index() + 1, 0);
        }
        self.learnt.of.forget(first(block)..past);
        self.learnt.erases[block.index()] = view.erases(block);
    }

    /// The move of a page that has just been read.
    pub fn to(seen: &ReadSeen, region: RegionId) -> Move {
        Move {
            lpn: seen.lpn,
            seen: seen.ppn,
            plane: PlanePick::Home,
            route: Route::to(region, SlotClass::Next),
        }
    }

    /// Whether a plane needs the space that sparse blocks take.
    pub fn is_short(&self, plane: PlaneId, view: &View) -> bool {
        view.free_blocks(Z, plane) <= self.least_free
    }

    /// The host writes to QLC; a page that GC copies stays in its mode while it is warm and there is space, and
    /// with reclaim, while it is hot enough for it.
    pub fn place(&self, parcel: &Parcel, view: &View) -> Place {
        let region = match parcel.origin {
            Origin::Host(_) | Origin::Sealed => Z,
            Origin::Collected(from) | Origin::Moved(from) => {
                let stays = |lpn| match self.reclaim {
                    Some(_) => self.belongs(lpn, from, view),
                    None => self.class(lpn, view) > Class::Cold,
                };
                let stays = parcel.spans.first().is_some_and(|s| stays(s.lpn));
                if !stays || self.is_short(parcel.home, view) { Z } else { from }
            }
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route: Route::to(region, SlotClass::Next) }
    }

    /// Among the regions' own victims, the one that frees the most wordlines, since wordlines are what modes
    /// have in common; or a block to reclaim, if that is urgent.
    pub fn collect(&self, need: Need, view: &View) -> Option<Collect> {
        if self.is_pressed(view)
            && let Some(collect) = self.coldest(need.plane, view, |_| true)
        {
            return Some(collect);
        }
        let short = self.is_short(need.plane, view);
        let sectors = view.geometry().sectors_per_unit * self.units_per_page;
        let gain = |region: RegionId| {
            let live = view.live_sectors(view.best(region, need.plane)?).div_ceil(sectors);
            let to = if short { Z } else { region };
            let kept = live.div_ceil(MODES[to.0 as usize].1.bits());
            Some((self.wordlines.checked_sub(kept).filter(|gain| *gain > 0)?, region))
        };
        // Of equals the densest.
        let best = [X, Y, Z].into_iter().filter_map(gain).max_by_key(|(gain, _)| *gain);
        best.map(|(_, region)| Collect { region, block: None })
    }

    /// What it has learnt, for a saved state.
    pub fn memory(&mut self) -> &mut Learnt {
        &mut self.learnt
    }

    /// The host writes.
    pub fn admit(&mut self, write: &HostRequest, now: SimTime) {
        self.learnt.reclaim.write(write.bytes(), now);
    }

    /// Whether a page has a reason to stay in its mode.
    fn belongs(&self, lpn: Lpn, region: RegionId, view: &View) -> bool {
        self.class(lpn, view) >= made_for(region).1
    }

    /// Whether the free capacity is too small to wait for idle time.
    fn is_pressed(&self, view: &View) -> bool {
        self.reclaim.is_some_and(|r| {
            let stored = view.mapped() * r.unit;
            view.usable_bytes().saturating_sub(stored) < r.below.of(stored)
        })
    }

    /// Whether the host is unlikely to need the free space before a block is reclaimed.
    fn has_time(&self, view: &View) -> bool {
        let unit = self.reclaim.map_or(0, |r| r.unit);
        self.learnt.reclaim.demand(view.now) < (view.free_slots_in(Z) * unit) as f64
    }

    /// The block of a plane whose reclaim gains most.
    fn coldest(&self, plane: PlaneId, view: &View, may: impl Fn(BlockId) -> bool) -> Option<Collect> {
        let belongs = |lpn, region| self.belongs(lpn, region, view);
        reclaim::coldest(plane, view, &Known { belongs, reads_of: |lpn| self.reads_of(lpn, view) }, may)
    }

    /// Work for an idle die: the next page of the block that it reclaims in this idle time.
    pub fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        if view.draining() {
            return None;
        }
        let under_way = [X, Y].into_iter().find_map(|region| {
            view.collecting(region, plane).map(|block| Collect { region, block: Some(block) })
        });
        if let Some(collect) = under_way {
            return Some(IdleWork::Collect(collect, Grain::Page));
        }
        let die = view.geometry().die_of(plane);
        if self.learnt.reclaim.has_given(die) || self.is_short(plane, view) {
            return None;
        }
        let full = [X, Y].into_iter().flat_map(|region| view.full_blocks(region, plane));
        self.learnt.reclaim.look(full, view);
        let pressed = self.is_pressed(view);
        if !pressed && !self.has_time(view) {
            return None;
        }
        // What came lately has not had the time to show whether it stays hot.
        let (memory, rest) = (&self.learnt.reclaim, self.decay.unwrap_or(reclaim_memory::DECAY) / 2);
        let collect = self.coldest(plane, view, |b| pressed || memory.has_rested(b, rest))?;
        self.learnt.reclaim.give(die);
        Some(IdleWork::Collect(collect, Grain::Page))
    }
}
