//! # Hierarchy
//!
//! ## Source
//! L. Cai, Z. Sha, J. Li et al., "A Two-level SLC Cache Hierarchy for Hybrid SSDs", 2025, section III, Algorithm 1.
//!
//! ## Idea
//! Partial-page writes waste a page-granular SLC cache. Packing several into a page fills the cache better, but spreads
//! a logical page over several flash pages. The cache therefore has two levels: L1 holds packed partial pages, which
//! are hot, and L2 holds whole pages. The write sizes determine the share of each level.
//!
//! ## Algorithm
//! 1. A whole page goes to L2 (lines 19 to 22) and replaces its parts in L1.
//! 2. A partial page waits in the merge buffer until several fill a page (line 14). If parts in the buffer add up to
//!    a whole logical page, it is treated as one.
//! 3. A merged page goes to L1 on a channel where none of its logical pages lie in L2 or D (lines 15 to 17), so that
//!    both can be read in parallel. If no channel is free of conflicts, it goes to one with the fewest.
//! 4. With each write request, one cache page changes levels: to L2 while the share of L2 is below its target, else to
//!    L1 (lines 5 to 11).
//! 5. Every 1024 write requests, the target becomes the share of L2 in all writes (eq. 1, lines 25 to 30), but at least
//!    one half: L1 gets at most half of the cache.
//! 6. A level that has used its share runs GC on one of its blocks when it opens another. Pages of L2 migrate to D
//!    unmerged, because their parts in L1 are newer and hot.
//! 7. A page of L1 is merged with its parts in L2, in other pages of L1 and in D, and migrates to D as a whole; all old
//!    copies become invalid.
//! 8. GC in D copies pages within D.
//!
//! ## Symbols
//! L1, L2: the levels. D: the TLC/QLC region. wS, wL: merged and whole pages written in the window. cur_ratio: share of
//! L2. ratio_L2: its target. Metrics: cur_ratio; l1_share, the share of L1 in both levels; l1_owned and l2_owned, the
//! blocks of each.
//!
//! ## Parameters
//! - `static_blocks`: SLC blocks per plane; default from `[slc_cache]` of the device file.
//! - `division`: `block` (default): a level owns its share of the blocks, rounded; `page`: a level may program its share
//!   of the pages, which is the literal reading.
//! - `window`: write requests from one adaptation of the shares to the next; default 1024 (section IV-A).
//! - `runs`: `one` (default): a partial write also reads and rewrites the parts of its page in L1, so that a page lies
//!   in at most two places. Section III-B has one sector table entry per page, with one `Sector_Flag` and one offset
//!   "inside the flash page". `any`: the parts of a page may lie in several pages of L1, with an entry for each; step 3
//!   ignores these, because the paper speaks of conflicts between L1 and L2.
//! - `slot`: when a cache page changes levels in step 4. `request` (default): with each write request, since Algorithm 1
//!   services one. `page`: with each page written to L1 or L2, since lines 17 and 21 write to the slot `src` chosen in
//!   lines 6 and 9.
//! - `merged_to`: where a merged page goes in step 3. `load` (default): to the plane with the fewest queued operations
//!   on a conflict-free channel; ties rotate, because always taking the lowest number would wear out the first channel.
//!   `next`: to the first conflict-free channel after that of its first part, since line 16 does not consider load, and
//!   there to the plane with the same position as the home plane of the first part.
//! - `ws_unit`: unit of wS: `page` (default), merged pages, or `request`, partial pages written. The paper's text
//!   says merged writes, and eq. 1 is a ratio of space.
//!
//! ## Differs
//! - RECONSTRUCTED: the completion of a merged write, on which the paper is silent. It follows `ack` of the device file,
//!   and `[merge]` limits how long parts wait.
//! - RECONSTRUCTED: shares refer to the blocks that the trigger leaves in use. A level starts GC with the first block
//!   beyond its share and waits only when that block is full, as the Baseline does, so it can own one block more than
//!   its share.
//! - RECONSTRUCTED: lines 5 to 11 decide which level gives up a slot. The target level of a write depends only on its
//!   size.
//!
//! ## Not modelled
//! The lookup time of the sector table.
//!
//! ## Checked by
//! `division follows a step at one page per write`, `the division is that of algorithm 1
//! line by line`, `figure 3 example merges on the other channel`, `hierarchy takes the next channel
//! without conflict`, `the sector tables are of the paper's size`, `reference model`, golden rows.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use crate::parts::packing::{self, Cache, MergedTo};
use crate::registry::Entry;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use wordline_device::Trigger;
use wordline_flash::SlotClass;
use wordline_ftl::{
    ChannelSet, Command, DriveInfo, Gather, Join, Layout, MapKind, Memory, Metrics, Origin, Parcel, Place,
    PlanePick, Refusal, Region, RegionId, RegionSet, Route, Scheme, Span, Tag, View,
};
use wordline_units::{ChannelId, HostRequest, SectorMask};

const L1: RegionId = RegionId(0);
const L2: RegionId = RegionId(1);
const D: RegionId = RegionId(2);

pub(crate) const NAME: &str = "hierarchy";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "SLC cache with two levels: packed partial pages, and whole pages", |p| {
        Box::new(Hierarchy::from_parameters(p))
    })
    .docs(include_str!("hierarchy.rs"))
    .takes(packing::STATIC_BLOCKS)
    .takes(Parameter::new("division", "block", "block or page: unit of the levels' shares"))
    .takes(Parameter::new(
        "runs",
        "one",
        "one or any: number of L1 pages over which the parts of a page may be spread",
    ))
    .takes(Parameter::new("window", "1024", "write requests from one adaptation of the shares to the next"))
    .takes(Parameter::new("ws_unit", "page", "page or request: unit in which writes to L1 are counted"))
    .takes(Parameter::new(
        "slot",
        "request",
        "request or page: whether a whole request or a page moves between the levels",
    ))
    .takes(packing::merged_to("load or next: how to choose among conflict-free channels for a merged page"))
    .small("window=16")
    .small("division=page,runs=any,window=8")
    .small("slot=page,merged_to=next,window=8")
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Division {
    Block,
    Page,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counted {
    Page,
    Request,
}

impl Counted {
    const WORDS: [(&'static str, Counted); 2] = [("page", Counted::Page), ("request", Counted::Request)];
}

/// Its learned state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Known {
    /// Pages of the cache on L2's side: cur_ratio times all of them.
    l2_pages: u64,
    /// ratio_L2.
    target: f64,
    ws: u64,
    wl: u64,
    page_writes: u64,
    /// cur_ratio, the share of L1 in both levels (blocks or pages), and the blocks owned by each, over host page
    /// writes.
    ratios: Vec<[f64; 2]>,
    shares: Vec<[f64; 2]>,
    owned: [Vec<[f64; 2]>; 2],
}

/// A two-level SLC cache.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    asked: Option<u32>,
    division: Division,
    /// Which data of its page a partial write takes along.
    gather: Gather,
    window: u32,
    counted: Counted,
    /// When a cache page changes levels.
    slot: Counted,
    merged_to: MergedTo,
    /// CACHE_SIZE, and the used blocks of a plane, set by `layout`.
    cache_pages: u64,
    usable: u32,
    pages_per_block: u32,
    all: SectorMask,
    known: Known,
}

impl Hierarchy {
    fn from_parameters(p: &mut Parameters) -> Hierarchy {
        Hierarchy {
            asked: packing::take_static_blocks(p),
            division: p.choice("division", &[("block", Division::Block), ("page", Division::Page)]),
            gather: p.choice("runs", &[("one", Gather::Fill), ("any", Gather::AsIs)]),
            window: p.whole("window", 1..=1 << 24),
            counted: p.choice("ws_unit", &Counted::WORDS),
            slot: p.choice("slot", &Counted::WORDS),
            merged_to: packing::take_merged_to(p, "next"),
            cache_pages: 1,
            usable: 1,
            pages_per_block: 1,
            all: SectorMask::EMPTY,
            known: Known::default(),
        }
    }

    fn cur_ratio(&self) -> f64 {
        self.known.l2_pages as f64 / self.cache_pages as f64
    }

    /// (4): a page of the cache changes sides, towards the target.
    fn move_slot(&mut self) {
        if self.known.target > self.cur_ratio() {
            self.known.l2_pages += 1;
        } else {
            self.known.l2_pages = self.known.l2_pages.saturating_sub(1);
        }
    }

    /// Blocks, and pages, of a plane that each level may have, with one block for the time in which another
    /// is collected.
    fn quotas(&self) -> [(RegionId, u32, u64); 2] {
        let (usable, each) = (self.usable as f64, self.pages_per_block as u64);
        let l2 = (self.cur_ratio() * usable).round() as u32;
        let l2_pages = (self.cur_ratio() * usable * each as f64).round() as u64;
        let all = self.usable as u64 * each;
        match self.division {
            Division::Block => {
                [(L1, self.usable - l2.min(self.usable) + 1, u64::MAX), (L2, l2 + 1, u64::MAX)]
            }
            Division::Page => [(L1, all - l2_pages.min(all)), (L2, l2_pages)]
                .map(|(level, pages)| (level, u32::MAX, pages.max(each) + each)),
        }
    }

    /// Channels to avoid: those that hold pages of these spans outside L1; if all channels do, those that hold more than
    /// the minimum.
    fn conflicts(spans: &[Span], view: &View) -> ChannelSet {
        let g = view.geometry();
        let mut members: SmallVec<[u32; 16]> = SmallVec::from_elem(0, g.channels as usize);
        for ppn in spans.iter().filter_map(|span| view.locate(span.lpn)) {
            members[g.channel_of(g.die_of(view.owner(ppn).0)).index()] += 1;
        }
        let least = members.iter().copied().min().unwrap_or(0);
        let busy = (0..).zip(&members).filter(|(_, n)| **n > least);
        busy.fold(ChannelSet::default(), |set, (channel, _)| set.and(ChannelId(channel)))
    }
}

#[wordline_ftl::hooks]
impl Scheme for Hierarchy {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let cache = Cache::of(drive, self.asked, layout::refuser(NAME, drive))?;
        (self.cache_pages, self.usable) = (cache.pages(), cache.usable());
        self.pages_per_block = cache.pages_per_block;
        self.all = SectorMask::first(drive.geometry.sectors_per_unit);
        (self.known.l2_pages, self.known.target) = (self.cache_pages / 2, 0.5);
        let quotas = self.quotas();
        let level = |name, at: usize| Region {
            quota: quotas[at].1,
            slot_quota: quotas[at].2,
            trigger: Trigger::LastBlock, // (6)
            ..cache.region(name)
        };
        let levels = vec![level("L1", 0), level("L2", 1)];
        let map = MapKind::Overlay(RegionSet::of(L1), (self.cache_pages / 2) as u32);
        let layout = cache.layout(levels, map, Join::FewestChannels);
        Ok(Layout { tick_every_writes: self.window, ..layout })
    }

    fn admit(&mut self, _: &HostRequest, _: &View) -> Tag {
        if self.slot == Counted::Request {
            self.move_slot(); // (4)
        }
        Tag::default()
    }

    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        let to = |region| Route::to(region, SlotClass::Next);
        let is_whole = packing::is_whole(parcel.spans, self.all);
        if self.slot == Counted::Page
            && (parcel.origin == Origin::Sealed || matches!(parcel.origin, Origin::Host(_)) && is_whole)
        {
            self.move_slot();
        }
        let (gather, plane, route) = match parcel.origin {
            Origin::Host(_) => {
                self.known.page_writes += 1;
                if is_whole {
                    self.known.wl += 1;
                    (Gather::AsIs, PlanePick::Home, to(L2)) // (1)
                } else {
                    self.known.ws += (self.counted == Counted::Request) as u64;
                    (self.gather, PlanePick::Home, Route::into_buffer(0)) // (2)
                }
            }
            Origin::Sealed => {
                self.known.ws += (self.counted == Counted::Page) as u64;
                let conflicts = Hierarchy::conflicts(parcel.spans, view);
                let plane = match self.merged_to {
                    MergedTo::Load => PlanePick::Avoid(conflicts),
                    MergedTo::Fixed => PlanePick::NextChannel(conflicts),
                };
                (Gather::AsIs, plane, to(L1)) // (3)
            }
            Origin::Collected(L1) => (Gather::Whole, PlanePick::Home, to(D)), // (7)
            Origin::Collected(_) | Origin::Moved(_) => (Gather::AsIs, PlanePick::Home, to(D)), // (6), (8)
        };
        Place { gather, plane, route }
    }

    fn tick(&mut self, view: &View, out: &mut Vec<Command>) {
        let Known { ws, wl, page_writes, .. } = self.known;
        if ws + wl > 0 {
            self.known.target = (wl as f64 / (ws + wl) as f64).clamp(0.5, 1.0); // (5)
        }
        (self.known.ws, self.known.wl) = (0, 0);
        for (level, blocks, pages) in self.quotas() {
            out.push(match self.division {
                Division::Block => Command::SetQuota(level, blocks),
                Division::Page => Command::SetSlotQuota(level, pages),
            });
        }
        let taken = [L1, L2].map(|level| match self.division {
            Division::Block => view.taken(level).0,
            Division::Page => view.taken(level).1,
        });
        let share = taken[0] as f64 / (taken[0] + taken[1]).max(1) as f64;
        let ratio = self.cur_ratio();
        for (level, owned) in [L1, L2].into_iter().zip(&mut self.known.owned) {
            owned.push([page_writes as f64, view.taken(level).0 as f64]);
        }
        self.known.ratios.push([page_writes as f64, ratio]);
        self.known.shares.push([page_writes as f64, share]);
    }

    fn metrics(&self) -> Metrics<'_> {
        let Known { ratios, shares, owned: [l1, l2], .. } = &self.known;
        vec![
            ("cur_ratio".into(), ratios.into()),
            ("l1_share".into(), shares.into()),
            ("l1_owned".into(), l1.into()),
            ("l2_owned".into(), l2.into()),
        ]
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Some(&mut self.known)
    }
}
