//! Moving what is read often into cells with fewer bits: how often each page has been read, how the blocks
//! of a drive change their mode for it, and how they change back. Which pages are worth the move is each
//! scheme's own.

use crate::layout;
use crate::reclaim::{self, Reclaim};
use crate::registry::Parameter;
use serde::{Deserialize, Serialize};
use wordline_device::config::Section;
use wordline_flash::SlotClass;
use wordline_ftl::{
    Collect, Drive, FreeOrder, Gather, Hooks, Layout, MapKind, Move, Need, Origin, Parcel, Place, PlanePick,
    Pool, PoolId, ReadSeen, Refusal, Region, RegionId, Route, View,
};
use wordline_units::{CellMode, Lpn, PlaneId, SimDuration};

/// QLC, where data rest.
pub(crate) const Z: RegionId = RegionId(0);
/// TLC.
pub(crate) const Y: RegionId = RegionId(1);
/// SLC.
pub(crate) const X: RegionId = RegionId(2);

/// The modes of the regions, by their numbers.
const MODES: [(&str, CellMode); 3] = [("Z", CellMode::Qlc), ("Y", CellMode::Tlc), ("X", CellMode::Slc)];

pub(crate) const WARM: Parameter =
    Parameter { key: "warm", default: "4", what: "reads from which on a page is warm" };
pub(crate) const HOT: Parameter =
    Parameter { key: "hot", default: "16", what: "reads from which on a page is hot; more than warm" };
pub(crate) const DECAY: Parameter = Parameter {
    key: "decay",
    default: "off",
    what: "halve the counts of reads after so many pages read by the host; or off; 4000000 with reclaim",
};

/// How often a page is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Class {
    Cold,
    Warm,
    Hot,
}

/// What has been read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Learnt {
    /// How often each logical page was.
    pages: Vec<u32>,
    /// Pages since these counts were last halved.
    reads: u64,
    pub reclaim: reclaim::Memory,
}

/// Three modes of one pool, and the heat of every logical page.
#[derive(Clone, Debug)]
pub(crate) struct ByReadHeat {
    warm: u32,
    hot: u32,
    pub decay: Option<u64>,
    idle_after: SimDuration,
    pub reclaim: Option<Reclaim>,
    pub learnt: Learnt,
    /// Wordlines of a block, and slots of a page, set by `layout`.
    wordlines: u32,
    units_per_page: u32,
    /// Erased blocks of a plane down to which nothing is kept in sparse blocks.
    least_free: u32,
}

impl ByReadHeat {
    pub fn from_parameters(p: &mut Section) -> ByReadHeat {
        let warm = p.whole("warm", 1..=u32::MAX).unwrap_or(4);
        let hot = p.whole("hot", 1..=u32::MAX).unwrap_or(16.max(warm.saturating_add(1)));
        if hot <= warm {
            p.refuse("hot", format!("{hot} reads make a page hot, which is warm from {warm} on; give more"));
        }
        let decay = match p.text("decay").as_deref() {
            None | Some("off") => None,
            Some(_) => p.whole("decay", 1..=u32::MAX).map(u64::from),
        };
        let reclaim = Reclaim::from_parameters(p);
        if reclaim.is_some() && p.has("decay") && decay.is_none() {
            p.refuse(
                "decay",
                "with reclaim=on counts must fall, or nothing ever cools; give pages, such as 4000000",
            );
        }
        ByReadHeat {
            warm,
            hot,
            decay: decay.or(reclaim.map(|_| reclaim::DECAY)),
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
    pub fn layout(&mut self, drive: &Drive, refuse: impl Fn(String) -> Refusal) -> Result<Layout, Refusal> {
        let medium = layout::only_medium(drive, &refuse)?;
        if let Some((_, mode)) = MODES.iter().find(|(_, mode)| medium.mode(*mode).is_none()) {
            return Err(refuse(format!(
                "it moves data between slc, tlc and qlc blocks, and this flash has no {mode} mode; add [medium.{}.{}]",
                medium.name,
                mode.key()
            )));
        }
        let region = |(name, mode): (&'static str, CellMode)| -> Region {
            let one_shot = medium.mode(mode).is_some_and(|t| t.pages_per_program > 1);
            layout::region(drive, name, PoolId(0), mode, layout::rule(mode, one_shot))
        };
        self.learnt.pages = vec![0; drive.logical_pages as usize];
        self.wordlines = medium.wordlines_per_block;
        self.units_per_page = drive.geometry.units_per_page(0);
        self.least_free = drive.spec.gc.hard_reserve.max(MODES.len() as u32);
        if let Some(reclaim) = &mut self.reclaim {
            reclaim.unit = drive.spec.unit.0;
        }
        let reclaims = if self.reclaim.is_some() { Hooks::ADMIT.and(Hooks::IDLE) } else { Hooks::NONE };
        Ok(Layout {
            pools: vec![Pool {
                medium: 0,
                blocks_per_plane: medium.blocks_per_plane,
                free: FreeOrder::LeastErased,
            }],
            regions: MODES.into_iter().map(region).collect(),
            home: Z,
            outpost: None,
            map: MapKind::Page,
            merges: None,
            asks: Hooks::READ.and(Hooks::COLLECT).and(reclaims),
            tick_every_writes: 0,
            idle_after: self.idle_after,
        })
    }

    pub fn reads_of(&self, lpn: Lpn) -> u32 {
        self.learnt.pages.get(lpn.index()).copied().unwrap_or(0)
    }

    pub fn class(&self, lpn: Lpn) -> Class {
        match self.reads_of(lpn) {
            reads if reads >= self.hot => Class::Hot,
            reads if reads >= self.warm => Class::Warm,
            _ => Class::Cold,
        }
    }

    /// Count a read, and say how hot that makes its page.
    pub fn read(&mut self, lpn: Lpn) -> Class {
        if let Some(reads) = self.learnt.pages.get_mut(lpn.index()) {
            *reads = reads.saturating_add(1);
        }
        self.learnt.reads += 1;
        self.learnt.reclaim.reads += 1;
        if self.decay.is_some_and(|decay| self.learnt.reads >= decay) {
            self.learnt.reads = 0;
            self.learnt.pages.iter_mut().for_each(|reads| *reads /= 2);
        }
        self.class(lpn)
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

    /// The host writes to QLC; what is collected stays in its mode while it is warm and there is room, and where
    /// blocks are reclaimed, while it is hot enough for it.
    pub fn place(&self, parcel: &Parcel, view: &View) -> Place {
        let region = match parcel.origin {
            Origin::Host(_) | Origin::Sealed => Z,
            Origin::Collected(from) | Origin::Moved(from) => {
                let stays = |lpn| match self.reclaim {
                    Some(_) => self.belongs(lpn, from),
                    None => self.class(lpn) > Class::Cold,
                };
                let stays = parcel.spans.first().is_some_and(|s| stays(s.lpn));
                if !stays || self.is_short(parcel.home, view) { Z } else { from }
            }
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route: Route::to(region, SlotClass::Next) }
    }

    /// Of the regions' own victims the one that gives back most, counted in wordlines, since a wordline is
    /// what modes have in common; or what is to be reclaimed, where that cannot wait.
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
}
