//! # Hierarchy
//!
//! ## Source
//! L. Cai, Z. Sha, J. Li et al., "A Two-level SLC Cache Hierarchy for Hybrid SSDs", 2025, section III,
//! Algorithm 1.
//!
//! ## Idea
//! Writes of less than a page waste a page-granular SLC cache. Packed together they fill it better, but a page
//! is then found in pieces. So the cache has two levels: L1 holds packed parts of pages, which are hot, L2
//! whole pages; and how the cache is shared follows the sizes of the writes.
//!
//! ## Algorithm
//! 1. A whole page goes to L2 (lines 19 to 22), and replaces what L1 holds of it.
//! 2. A part of a page waits in the merge buffer for others until they fill a page (line 14); a part that
//!    completes what waits of its page makes it a whole one.
//! 3. A merged page goes to L1 on a channel where none of its pages lie in L2 or the dense region (lines 15 to
//!    17), so that both are read at once; where each channel has some, on those that have fewest.
//! 4. With each write request a page of the cache changes sides: to L2 while its share is below the target, to
//!    L1 otherwise (lines 5 to 11).
//! 5. Every 1024 write requests the target becomes the share of L2's writes among all (eq. 1, lines 25 to 30),
//!    but not below a half: L1 has at most half of the cache.
//! 6. A level that holds its share collects a block of its own when it opens another. Of L2 the pages go to
//!    the dense region as they are: what L1 holds of them is newer and hot.
//! 7. Of L1 each page is merged with its parts in L2, in other pages of L1 or in the dense region, goes there
//!    whole, and all those are dead.
//! 8. Pages collected in the dense region stay there.
//!
//! ## Symbols
//! L1, L2: the levels. D: the dense region. wS, wL: merged and whole pages written in the window. cur_ratio:
//! share of L2. ratio_L2: its target.
//!
//! ## Parameters
//! - `static_blocks`: SLC blocks of each plane; default from the device file's `[slc_cache]`.
//! - `division`: `block` (default): a level may own the blocks that its share comes to, rounded; `page`: it may
//!   have so many pages programmed, the literal reading.
//! - `window`: write requests between two targets; default 1024 (section IV-A).
//! - `runs`: `one` (default): a part takes along what L1 holds of its page, after a read, so that a page lies in
//!   two places at most: section III-B has one entry of the sector table for a page, with one `Sector_Flag` and
//!   one offset "inside the flash page". `any`: the parts of a page may lie in several pages of L1, as updates
//!   leave them, which takes an entry for each; (3) keeps away from none of them, since the paper speaks of
//!   conflicts between L1 and L2.
//! - `slot`: with what a page of the cache changes sides in (4): `request` (default), with each write request, since
//!   Algorithm 1 services one; `page`, with each page that is written to L1 or L2, since lines 17 and 21 write to the
//!   slot `src` that lines 6 and 9 have taken.
//! - `merged_to`: where a merged page goes in (3). `load` (default): of the channels without conflict, to the plane with
//!   the least to do; of equals each in turn, where the lowest number would wear the first channel out. `next`: to the
//!   next channel without conflict from that of its first part on, since line 16 has no load in it, and there to the
//!   plane that lies as the first part's home does.
//! - `ws_unit`: what wS counts: `page` (default), merged pages, or `request`, the parts of pages that are
//!   written. The paper's text says merged writes, and eq. 1 is a ratio of space.
//!
//! ## Differs
//! - RECONSTRUCTED: when a merged write is acknowledged (the paper is silent): the device file's `ack` says, and
//!   its `[merge]` how long parts wait.
//! - RECONSTRUCTED: shares are shares of the blocks that the trigger leaves in use. A level begins to collect
//!   with the block past its share, and waits only when that one is full, too, as the Baseline does; so it may
//!   own one block more than its share.
//! - RECONSTRUCTED: lines 5 to 11 decide which level gives up a slot, not where the write goes, which depends
//!   on its size alone.
//!
//! ## Not modelled
//! The time to look the sector table up.
//!
//! ## Checked by
//! `the division follows a step of the writes as fast as a page a write allows`, `the division is that of algorithm 1
//! line by line`, `the example of figure 3 puts merged parts on the other channel`, `hierarchy takes the next channel
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

/// How it stands in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "SLC cache with two levels: packed partial pages, and whole pages", |p| {
        Box::new(Hierarchy::from_parameters(p))
    })
    .docs(include_str!("hierarchy.rs"))
    .takes(packing::STATIC_BLOCKS)
    .takes(Parameter::new("division", "block", "block or page: unit of the levels' shares"))
    .takes(Parameter::new("runs", "one", "one or any: number of L1 pages over which the parts of a page may be spread"))
    .takes(Parameter::new("window", "1024", "write requests from one adaptation of the shares to the next"))
    .takes(Parameter::new("ws_unit", "page", "page or request: unit in which writes to L1 are counted"))
    .takes(Parameter::new("slot", "request", "request or page: whether a whole request or a page moves between the levels"))
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

/// What it has learnt.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Known {
    /// Pages of the cache on L2's side: cur_ratio times all of them.
    l2_pages: u64,
    /// ratio_L2.
    target: f64,
    ws: u64,
    wl: u64,
    page_writes: u64,
    /// cur_ratio, what L1 has of what both have (blocks, or pages), and the blocks that each owns, over host
    /// page writes.
    ratios: Vec<[f64; 2]>,
    shares: Vec<[f64; 2]>,
    owned: [Vec<[f64; 2]>; 2],
}

/// A two-level SLC cache.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    asked: Option<u32>,
    division: Division,
    /// What a part takes along of its page.
    gather: Gather,
    window: u32,
    counted: Counted,
    /// With what a page of the cache changes sides.
    slot: Counted,
    merged_to: MergedTo,
    /// CACHE_SIZE, and what a plane has in use, set by `layout`.
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

    /// Channels to keep away from: those where the pages of some spans lie outside L1, or if these are all,
    /// those that have more of them than others.
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
