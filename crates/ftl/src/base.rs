//! The base image: what was on the drive before time 0, held as arithmetic instead of tables.
//!
//! A preconditioned plane is a run of blocks, each with so many pages programmed and so many of
//! them live, and a keyed permutation from its logical pages to ranks. Rank r is the r-th live slot
//! of the plane, found by a search in the prefix sums of live counts, so a filled, an aged and a
//! preloaded drive cost time and memory in proportion to their blocks, whatever they hold.

use crate::permutation::Permutation;
use crate::stripe::Stripe;
use serde::{Deserialize, Serialize};
use wordline_flash::Geometry;
use wordline_units::{BlockId, Lpn, PlaneId, Ppn};

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
    /// Live slots in all blocks before each, with the total at the end.
    pub before: Vec<u32>,
}

impl PlaneBase {
    /// So many pages, spread evenly over full blocks.
    pub fn spread(count: u32, blocks: u32, slots: u32) -> PlaneBase {
        let before = |block: u32| (count as u64 * block as u64 / blocks as u64) as u32;
        PlaneBase { programmed: vec![slots; blocks as usize], before: (0..=blocks).map(before).collect() }
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

/// The logical pages that one plane holds, in the order of their numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Residents {
    All,
    /// Positions within the plane of the pages that are mapped, increasing.
    Some(Vec<u32>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlaneImage {
    first_block: u32,
    blocks: PlaneBase,
    residents: Residents,
    order: Permutation,
}

/// The image of a whole region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BaseImage {
    stripe: Stripe,
    slot_shift: u32,
    /// Slots of the smallest unit that is programmed at once; live slots are the last of a block.
    planes: Vec<PlaneImage>,
    first_plane: u32,
    mapped: u32,
    whole: bool,
    last: u32,
}

impl BaseImage {
    /// Lay `mapped` out over the planes of a stripe, given how many live and programmed slots each
    /// block shall have. `fill` is asked for each plane with the number of its pages.
    pub fn new(
        geometry: &Geometry,
        stripe: Stripe,
        mapped: &Mapped,
        key: Option<u64>,
        first_block: impl Fn(PlaneId) -> u32,
        mut fill: impl FnMut(PlaneId, u32) -> PlaneBase,
    ) -> BaseImage {
        let planes = stripe.planes();
        let mut lists: Vec<Vec<u32>> = vec![vec![]; planes.len()];
        let mut counts = vec![0u32; planes.len()];
        match mapped {
            Mapped::First(n) => {
                for (i, plane) in planes.clone().enumerate() {
                    counts[i] = stripe.residents_below(PlaneId(plane), *n);
                }
            }
            Mapped::Set(set) => {
                for lpn in set {
                    let (plane, position) = stripe.home(*lpn);
                    lists[(plane.0 - planes.start) as usize].push(position);
                }
                for (count, list) in counts.iter_mut().zip(&lists) {
                    *count = list.len() as u32;
                }
            }
        }
        let whole = matches!(mapped, Mapped::First(_));
        let images = planes
            .clone()
            .zip(lists)
            .zip(&counts)
            .map(|((plane, list), count)| PlaneImage {
                first_block: first_block(PlaneId(plane)),
                blocks: fill(PlaneId(plane), *count),
                residents: if whole { Residents::All } else { Residents::Some(list) },
                order: match key {
                    Some(k) => Permutation::keyed(*count, k ^ (plane as u64) << 32),
                    None => Permutation::identity(*count),
                },
            })
            .collect();
        BaseImage {
            slot_shift: geometry.slot_shift,
            planes: images,
            first_plane: planes.start,
            mapped: mapped.count(),
            whole,
            last: mapped.count(),
            stripe,
        }
    }

    /// Logical pages in the image.
    pub fn mapped(&self) -> u32 {
        self.mapped
    }

    /// The blocks of a plane that hold it.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockId, u32, u32)> + '_ {
        self.planes.iter().flat_map(|p| {
            (0..p.blocks.programmed.len())
                .map(|i| (BlockId(p.first_block + i as u32), p.blocks.programmed[i], p.blocks.live(i)))
        })
    }

    /// Where a logical page lies, if it is mapped.
    pub fn place_of(&self, lpn: Lpn) -> Option<Ppn> {
        if self.whole && lpn.0 >= self.last {
            return None;
        }
        let (plane, position) = self.stripe.home(lpn);
        let image = &self.planes[(plane.0 - self.first_plane) as usize];
        let at = match &image.residents {
            Residents::All => position,
            Residents::Some(list) => list.binary_search(&position).ok()? as u32,
        };
        let rank = image.order.forward(at);
        let i = image.blocks.holding(rank);
        let dead = image.blocks.programmed[i] - image.blocks.live(i);
        let slot = dead + rank - image.blocks.before[i];
        Some(Ppn((image.first_block + i as u32) << self.slot_shift | slot))
    }

    /// The logical page that a live slot of the image holds.
    pub fn owner_of(&self, plane: PlaneId, block: BlockId, slot: u32) -> Option<Lpn> {
        let image = self.planes.get(plane.0.checked_sub(self.first_plane)? as usize)?;
        let i = block.0.checked_sub(image.first_block)? as usize;
        let programmed = *image.blocks.programmed.get(i)?;
        let dead = programmed - image.blocks.live(i);
        if slot < dead || slot >= programmed {
            return None;
        }
        let at = image.order.inverse(image.blocks.before[i] + slot - dead);
        let position = match &image.residents {
            Residents::All => at,
            Residents::Some(list) => list[at as usize],
        };
        Some(self.stripe.resident(plane, position))
    }

    /// The plane of one of the image's blocks.
    pub fn plane_of(&self, block: BlockId) -> Option<PlaneId> {
        self.planes
            .iter()
            .position(|p| {
                (p.first_block..p.first_block + p.blocks.programmed.len() as u32).contains(&block.0)
            })
            .map(|i| PlaneId(self.first_plane + i as u32))
    }

    /// The live slots of a block of the image, as a range.
    pub fn live_slots(&self, plane: PlaneId, block: BlockId) -> std::ops::Range<u32> {
        let image = &self.planes[(plane.0 - self.first_plane) as usize];
        let i = (block.0 - image.first_block) as usize;
        image.blocks.programmed[i] - image.blocks.live(i)..image.blocks.programmed[i]
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.planes
            .iter()
            .map(|p| {
                let list = match &p.residents {
                    Residents::All => 0,
                    Residents::Some(l) => l.len(),
                };
                (p.blocks.programmed.len() + p.blocks.before.len() + list) as u64 * 4
            })
            .sum()
    }
}
