//! The base image: contents of the drive before time 0, as arithmetic instead of tables.
//!
//! A preconditioned plane is a run of blocks, each with this many pages programmed and this many of them live, and a
//! keyed permutation from its logical pages to ranks. Rank r is the r-th live slot of the plane, found by a search in
//! the prefix sums of live counts, so a filled, an aged and a preloaded drive cost time and memory in proportion to
//! their blocks, whatever they hold.

use crate::image::permutation::{Inverse, Permutation};
use crate::image::residents::Residents;
use crate::image::stripe::{Row, Stripe};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::OnceLock;
use wordline_flash::Geometry;
use wordline_units::{BlockId, Lpn, PlaneId, Ppn, SectorMask};

/// Which logical pages hold data at time 0.
#[derive(Clone, Debug)]
pub enum Mapped {
    /// The first so many.
    First(u32),
    /// These, in increasing order.
    Set(Vec<Lpn>),
}

impl Mapped {
    /// How many.
    pub fn count(&self) -> u32 {
        match self {
            Mapped::First(n) => *n,
            Mapped::Set(s) => s.len() as u32,
        }
    }
}

/// The blocks of one plane that the base image fills: the plane's pool from its first block on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PlaneBase {
    /// Slots programmed in each block.
    pub programmed: Vec<u32>,
    /// Running sum of valid slots per block, with the total at the end.
    pub before: Vec<u32>,
}

impl PlaneBase {
    /// This many pages, spread evenly over full blocks.
    pub fn spread(count: u32, blocks: u32, slots: u32) -> PlaneBase {
        let before = |block: u32| (count as u64 * block as u64 / blocks as u64) as u32;
        PlaneBase { programmed: vec![slots; blocks as usize], before: (0..=blocks).map(before).collect() }
    }

    /// This many pages in consecutive blocks with `per_block` valid slots each. If the other blocks have no invalid
    /// slots, the last block is filled in whole programs, as far as needed.
    pub fn packed(count: u32, per_block: u32, slots: u32, step: u32) -> PlaneBase {
        let mut base = PlaneBase { programmed: vec![], before: vec![0] };
        let mut left = count;
        while left > 0 {
            let live = left.min(per_block);
            left -= live;
            let whole = left > 0 || per_block < slots;
            base.programmed.push(if whole { slots } else { (live.div_ceil(step) * step).min(slots) });
            base.before.push(count - left);
        }
        base
    }

    /// This many pages, packed into blocks behind others that are full of invalid pages.
    pub fn behind(invalid: u32, packed: PlaneBase, slots: u32) -> PlaneBase {
        let blocks = invalid as usize;
        PlaneBase {
            programmed: [vec![slots; blocks], packed.programmed].concat(),
            before: [vec![0; blocks], packed.before].concat(),
        }
    }

    /// This many pages in blocks with different numbers of programmed slots, as evenly as these allow; none if they do
    /// not fit.
    pub fn windows(count: u32, blocks: u32, programmed: impl Fn(u32) -> u32) -> Option<PlaneBase> {
        let programmed: Vec<u32> = (0..blocks).map(programmed).collect();
        let all: u64 = programmed.iter().map(|n| *n as u64).sum();
        let mut sum = 0;
        let mut before = vec![0];
        for n in &programmed {
            sum += *n as u64;
            before.push((count as u64 * sum / all.max(1)) as u32);
        }
        (count as u64 <= all).then_some(PlaneBase { programmed, before })
    }

    pub fn live(&self, i: usize) -> u32 {
        self.before[i + 1] - self.before[i]
    }

    /// The block that holds the live slot of a rank. Mostly blocks are as live as each other, and it is
    /// where it would be if all were.
    fn holding(&self, rank: u32) -> usize {
        let blocks = self.before.len() - 1;
        let likely = (rank as u64 * blocks as u64 / self.before[blocks].max(1) as u64) as usize;
        let mut near = likely.saturating_sub(1)..(likely + 2).min(blocks);
        match near.find(|i| self.before[*i] <= rank && rank < self.before[i + 1]) {
            Some(i) => i,
            None => self.before.partition_point(|b| *b <= rank) - 1,
        }
    }
}

/// The mapped pages of one plane, by number.
pub(crate) struct PlanePages<'a> {
    stripe: &'a Stripe,
    pub plane: PlaneId,
    /// Number of pages.
    pub count: u32,
    residents: Residents,
}

impl<'a> PlanePages<'a> {
    /// The mapped pages of each plane of a stripe, with a run of pages after them.
    pub fn of(stripe: &'a Stripe, mapped: &Mapped, behind: &Range<u32>) -> Vec<PlanePages<'a>> {
        let planes = stripe.planes();
        let residents: Vec<(u32, Residents)> = match mapped {
            Mapped::First(n) if behind.is_empty() => planes
                .clone()
                .map(|plane| (stripe.residents_below(PlaneId(plane), *n), Residents::All))
                .collect(),
            Mapped::First(n) => {
                let of = |plane| {
                    let below = |end| stripe.residents_below(PlaneId(plane), end);
                    let gap = below(*n)..below(behind.start);
                    (below(behind.end) - gap.len() as u32, Residents::AllBut(gap))
                };
                planes.clone().map(of).collect()
            }
            Mapped::Set(set) => {
                let mut lists: Vec<Vec<u32>> = vec![vec![]; planes.len()];
                for lpn in set.iter().copied().chain(behind.clone().map(Lpn)) {
                    let (plane, position) = stripe.home(lpn);
                    lists[(plane.0 - planes.start) as usize].push(position);
                }
                lists.into_iter().map(|list| (list.len() as u32, Residents::Some(list.into()))).collect()
            }
        };
        let pages = planes.zip(residents);
        pages
            .map(|(plane, (count, residents))| PlanePages { stripe, plane: PlaneId(plane), count, residents })
            .collect()
    }

    /// The logical page with a number below `count`.
    pub fn lpn(&self, number: u32) -> Lpn {
        self.stripe.resident(self.plane, self.residents.position(number))
    }

    /// Each mapped page has a number in its home plane: the page at this position there.
    pub fn find(&self, position: u32) -> Option<u32> {
        self.residents.find(position).filter(|at| *at < self.count)
    }
}

/// Which of a plane's pages has which rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Ranks {
    /// By arithmetic.
    Keyed(Permutation),
    /// By tables, where it matters which page lies in which block: the rank of each page, and the page
    /// of each rank.
    Listed { rank_of: Vec<u32>, page_at: Vec<u32> },
}

impl Ranks {
    /// The pages in the order of their ranks: each number below the count appears once.
    pub fn listed(page_at: Vec<u32>) -> Ranks {
        let mut rank_of = vec![0; page_at.len()];
        page_at.iter().zip(0..).for_each(|(page, rank)| rank_of[*page as usize] = rank);
        Ranks::Listed { rank_of, page_at }
    }

    fn rank(&self, page: u32) -> u32 {
        match self {
            Ranks::Keyed(order) => order.forward(page),
            Ranks::Listed { rank_of, .. } => rank_of[page as usize],
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Ranks::Keyed(_) => 0,
            Ranks::Listed { rank_of, page_at } => (rank_of.len() + page_at.len()) as u64 * 4,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlaneImage {
    first_block: u32,
    blocks: PlaneBase,
    residents: Residents,
    ranks: Ranks,
    /// Of keyed ranks, once a block of the plane is emptied.
    #[serde(skip)]
    inverse: OnceLock<Inverse>,
}

/// The image of one region, over pages that are numbered along the stripe of its medium.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RegionImage {
    stripe: Stripe,
    /// Slots of the smallest unit that is programmed in one operation; live slots are the last of a block.
    planes: Vec<PlaneImage>,
    first_plane: u32,
    /// The page behind the last, where pages are not listed.
    end: Option<u32>,
}

impl RegionImage {
    fn plane(&self, plane: PlaneId) -> Option<&PlaneImage> {
        self.planes.get(plane.0.checked_sub(self.first_plane)? as usize)
    }
}

/// Random distribution of the pages of an image over home and second home: their numbers are shuffled, and the first
/// part is in the second home.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Draw {
    /// The pages by number, where they are not the first ones of the drive.
    listed: Option<Vec<u32>>,
    order: Permutation,
    in_second_home: u32,
}

impl Draw {
    /// The part that a page lies in, and its number there.
    fn part(&self, lpn: Lpn) -> Option<(usize, Lpn)> {
        let number = match &self.listed {
            Some(list) => list.binary_search(&lpn.0).ok()? as u32,
            None => Some(lpn.0).filter(|n| *n < self.order.len())?,
        };
        let at = self.order.forward(number);
        Some(match at.checked_sub(self.in_second_home) {
            Some(at) => (0, Lpn(at)),
            None => (1, Lpn(at)),
        })
    }

    /// The page with a number in a part.
    #[inline(never)]
    fn page(&self, part: usize, at: Lpn) -> Lpn {
        let number = self.order.inverse(if part == 0 { at.0 + self.in_second_home } else { at.0 });
        Lpn(self.listed.as_ref().map_or(number, |list| list[number as usize]))
    }
}

/// What a block of the image holds.
pub(crate) struct Held<'a> {
    row: Row<'a>,
    image: &'a PlaneImage,
    draw: Option<(&'a Draw, usize)>,
    /// The rank of the first live slot.
    first_rank: u32,
    /// The live slots.
    pub slots: Range<u32>,
}

impl Held<'_> {
    /// The logical page in one of the live slots.
    pub fn owner(&self, slot: u32) -> Lpn {
        match &self.image.ranks {
            Ranks::Keyed(order) => self.page(order.inverse(self.rank(slot))),
            Ranks::Listed { page_at, .. } => self.page(page_at[self.rank(slot) as usize]),
        }
    }

    /// Pass on each live slot that is wanted with its logical page.
    #[inline(always)]
    pub fn each_owner(&self, wanted: impl Fn(u32) -> bool, mut owner: impl FnMut(u32, Lpn)) {
        let slots = self.slots.clone().filter(|slot| wanted(*slot));
        match &self.image.ranks {
            Ranks::Keyed(order) => {
                let inverse = self.image.inverse.get_or_init(|| Inverse::of(*order));
                slots.for_each(|slot| owner(slot, self.page(inverse.at(self.rank(slot)))));
            }
            Ranks::Listed { page_at, .. } => {
                slots.for_each(|slot| owner(slot, self.page(page_at[self.rank(slot) as usize])));
            }
        }
    }

    #[inline(always)]
    fn rank(&self, slot: u32) -> u32 {
        self.first_rank + slot - self.slots.start
    }

    /// The logical page with a number in the plane.
    #[inline(always)]
    fn page(&self, at: u32) -> Lpn {
        let lpn = self.row.resident(self.image.residents.position(at));
        self.draw.map_or(lpn, |(draw, part)| draw.page(part, lpn))
    }
}

/// The image of a whole drive: of its home region, and of the second home where it has one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BaseImage {
    slot_shift: u32,
    parts: Vec<RegionImage>,
    draw: Option<Draw>,
    mapped: u32,
    /// Sectors that pages lack, by page; empty under a page map.
    pub lacking: Vec<(Lpn, SectorMask)>,
}

impl BaseImage {
    /// Distribute `mapped`, and a run of pages `behind` them, over the planes of a stripe. For each plane, `fill`
    /// receives its number of pages, and returns the valid and programmed slots of each block, and the rank of each
    /// page.
    pub fn new(
        geometry: &Geometry,
        stripe: Stripe,
        mapped: &Mapped,
        behind: &Range<u32>,
        first_block: impl Fn(PlaneId) -> u32,
        mut fill: impl FnMut(PlaneId, &PlanePages) -> (PlaneBase, Ranks),
    ) -> BaseImage {
        let images = PlanePages::of(&stripe, mapped, behind)
            .into_iter()
            .map(|pages| {
                let (blocks, ranks) = fill(pages.plane, &pages);
                PlaneImage {
                    first_block: first_block(pages.plane),
                    blocks,
                    residents: pages.residents,
                    ranks,
                    inverse: OnceLock::new(),
                }
            })
            .collect();
        let first_plane = stripe.planes().start;
        let end = match mapped {
            Mapped::First(n) => Some(if behind.is_empty() { *n } else { behind.end }),
            Mapped::Set(_) => None,
        };
        let part = RegionImage { stripe, planes: images, first_plane, end };
        BaseImage {
            slot_shift: geometry.slot_shift,
            parts: vec![part],
            draw: None,
            mapped: mapped.count() + behind.len() as u32,
            lacking: vec![],
        }
    }

    /// One of two images, with pages numbered from 0: those of `mapped`, selected by a key.
    pub fn drawn(home: BaseImage, second_home: BaseImage, mapped: &Mapped, key: u64) -> BaseImage {
        let listed = match mapped {
            Mapped::First(_) => None,
            Mapped::Set(set) => Some(set.iter().map(|lpn| lpn.0).collect()),
        };
        let order = Permutation::keyed(mapped.count(), key);
        let draw = Draw { listed, order, in_second_home: second_home.mapped };
        BaseImage {
            mapped: mapped.count(),
            parts: home.parts.into_iter().chain(second_home.parts).collect(),
            draw: Some(draw),
            ..home
        }
    }

    /// Logical pages in the image.
    pub fn mapped(&self) -> u32 {
        self.mapped
    }

    /// Whether all sectors of a range of pages are in the image, or none is, where that is known without a look at each page.
    pub fn uniform(&self, pages: &Range<u32>) -> Option<bool> {
        // From this page on, none is.
        let end = match (&self.draw, self.parts.as_slice()) {
            _ if self.mapped == 0 => Some(0),
            (Some(draw), _) => draw.listed.is_none().then_some(draw.order.len()),
            (None, [part]) => part.end,
            _ => None,
        };
        let end = end?;
        if end <= pages.start {
            Some(false)
        } else {
            (pages.end <= end && self.mapped == end && self.lacking.is_empty()).then_some(true)
        }
    }

    /// The blocks of a plane that contain it.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockId, u32, u32)> + '_ {
        self.parts.iter().flat_map(|part| &part.planes).flat_map(|p| {
            (0..p.blocks.programmed.len())
                .map(|i| (BlockId(p.first_block + i as u32), p.blocks.programmed[i], p.blocks.live(i)))
        })
    }

    /// Each block with its programmed slots and its valid sectors; under a page map, a page with missing sectors counts
    /// in full.
    pub fn live_sectors(&self, per_slot: u32, by_page: bool) -> Vec<(BlockId, u32, u32)> {
        let mut missing: FxHashMap<u32, u32> = FxHashMap::default();
        for (lpn, mask) in &self.lacking {
            if !by_page && let Some(ppn) = self.place_of(*lpn) {
                *missing.entry(ppn.0 >> self.slot_shift).or_default() += mask.count();
            }
        }
        let missing = |block: BlockId| missing.get(&block.0).copied().unwrap_or(0);
        self.blocks().map(|(b, programmed, live)| (b, programmed, live * per_slot - missing(b))).collect()
    }

    /// The place of a logical page, if it is mapped.
    pub fn place_of(&self, lpn: Lpn) -> Option<Ppn> {
        let (part, lpn) = match &self.draw {
            Some(draw) => draw.part(lpn)?,
            None => (0, lpn),
        };
        let part = &self.parts[part];
        if part.end.is_some_and(|end| lpn.0 >= end) {
            return None;
        }
        let (plane, position) = part.stripe.home(lpn);
        let image = &part.planes[(plane.0 - part.first_plane) as usize];
        let at = image.residents.find(position)?;
        let rank = image.ranks.rank(at);
        let i = image.blocks.holding(rank);
        let dead = image.blocks.programmed[i] - image.blocks.live(i);
        let slot = dead + rank - image.blocks.before[i];
        Some(Ppn((image.first_block + i as u32) << self.slot_shift | slot))
    }

    /// The logical page in a valid slot of the image.
    #[inline(always)]
    pub fn owner_of(&self, plane: PlaneId, block: BlockId, slot: u32) -> Option<Lpn> {
        let held = self.held(plane, block)?;
        held.slots.contains(&slot).then(|| held.owner(slot))
    }

    /// What a block of the image holds.
    #[inline(always)]
    pub fn held(&self, plane: PlaneId, block: BlockId) -> Option<Held<'_>> {
        let mut parts = self.parts.iter().enumerate();
        let (number, part, image) = parts.find_map(|(n, part)| Some((n, part, part.plane(plane)?)))?;
        let i = block.0.checked_sub(image.first_block)? as usize;
        let programmed = *image.blocks.programmed.get(i)?;
        let [before, after] = *image.blocks.before.get(i..i + 2)? else { return None };
        let slots = programmed - (after - before)..programmed;
        let draw = self.draw.as_ref().map(|draw| (draw, number));
        Some(Held { row: part.stripe.row(plane), image, draw, first_rank: before, slots })
    }

    /// The plane of one of the image's blocks.
    pub fn plane_of(&self, block: BlockId) -> Option<PlaneId> {
        self.parts.iter().find_map(|part| {
            let holds = |p: &PlaneImage| {
                (p.first_block..p.first_block + p.blocks.programmed.len() as u32).contains(&block.0)
            };
            let at = part.planes.iter().position(holds)?;
            Some(PlaneId(part.first_plane + at as u32))
        })
    }

    /// The live slots of a block of the image, as a range.
    pub fn live_slots(&self, plane: PlaneId, block: BlockId) -> Range<u32> {
        self.held(plane, block).map_or(0..0, |held| held.slots)
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let listed = self.draw.as_ref().and_then(|draw| draw.listed.as_ref()).map_or(0, Vec::len) as u64 * 4;
        let planes = self.parts.iter().flat_map(|part| &part.planes);
        let planes = planes.map(|p| {
            let blocks = (p.blocks.programmed.len() + p.blocks.before.len()) as u64 * 4;
            blocks + p.residents.bytes() + p.ranks.bytes()
        });
        planes.sum::<u64>() + listed + size_of_val(self.lacking.as_slice()) as u64
    }
}
