//! Contents of a drive before time 0: which pages, in which order, and the wear of its blocks. And where the random
//! numbers of each part begin.

use crate::image::base::Mapped;
use crate::media::error::MediaError;
use thiserror::Error;
use wordline_hash::{fnv1a, mix};
use wordline_units::{Fraction, Lpn, PlaneId, SectorMask, SimDuration};

/// The order of the pages of a filled drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// By number, as if written once from first to last.
    Sequential,
    /// By a keyed permutation within each plane, as if written at random.
    Random,
}

/// The state of a drive at time 0 (SPEC of the initial states: fresh, fill, preload, aged, worn).
#[derive(Clone, Debug)]
pub struct Initial {
    /// The logical pages that hold data.
    pub mapped: Mapped,
    /// Sectors that some of these pages lack, by page, under a map that knows sectors; never all sectors of a page.
    pub lacking: Vec<(Lpn, SectorMask)>,
    /// The order of the pages.
    pub order: Order,
    /// Share of valid pages in the blocks of these pages; the others are invalid.
    pub valid: Fraction,
    /// In each remaining block of the home region, this many pages are programmed and invalid, until this share of the
    /// plane's pages is used.
    pub aged_invalid: Fraction,
    /// Share of used blocks in the home region: the data are spread evenly over them, and the rest of these blocks is
    /// invalid. Zero to fill blocks as `valid` says.
    pub aged_blocks: Fraction,
    /// Whether aged blocks hold nothing valid, and the data lie in other blocks, as `valid` says.
    pub data_apart: bool,
    /// Where blocks of the home region are programmed by windows, the data fill the first windows of each block: of
    /// none up to this share of its windows, with each number equally frequent. Zero, and under other rules, to fill
    /// blocks as `valid` says.
    pub aged_windows: Fraction,
    /// P/E cycles of the blocks of each mode, [`CellMode::index`](wordline_units::CellMode::index).
    pub cycles: [u32; 4],
    /// Upper limit of additional cycles by which blocks of a mode differ: each number is equally frequent.
    pub more_cycles: [u32; 4],
    /// Age of the data at time 0.
    pub retention: SimDuration,
}

impl Initial {
    /// Nothing written, nothing worn.
    pub fn fresh() -> Initial {
        Initial {
            mapped: Mapped::First(0),
            lacking: vec![],
            order: Order::Random,
            valid: Fraction::ONE,
            aged_invalid: Fraction::ZERO,
            aged_blocks: Fraction::ZERO,
            data_apart: false,
            aged_windows: Fraction::ZERO,
            cycles: [0; 4],
            more_cycles: [0; 4],
            retention: SimDuration::ZERO,
        }
    }

    /// These pages written, in no particular order, with nothing invalid.
    pub fn holding(mapped: Mapped) -> Initial {
        Initial { mapped, ..Initial::fresh() }
    }
}

/// An initial state that the drive cannot have.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum InitialError {
    /// The data need more blocks than the home region has.
    #[error(
        "the initial data need {needed} blocks in plane {plane} of region {region}, which has {available} \
         after the GC reserve; {}", fits(.would_do)
    )]
    TooMuch {
        /// The plane.
        plane: PlaneId,
        /// The home region.
        region: String,
        /// Blocks needed.
        needed: u32,
        /// Blocks there are.
        available: u32,
        /// The share asked for.
        valid: Fraction,
        /// A share that would fit; none where no share does.
        would_do: Option<Fraction>,
    },
    /// A mapped page is beyond the drive.
    #[error("the initial data extend to logical page {last}, but the drive has {logical_pages}")]
    BeyondDrive {
        /// The last page.
        last: u32,
        /// Pages of the drive.
        logical_pages: u32,
    },
    /// The initial state cannot be written to the media.
    #[error("cannot write the initial state to the media: {0}")]
    Media(#[from] MediaError),
}

fn fits(valid: &Option<Fraction>) -> String {
    valid.map_or("map fewer pages".to_string(), |valid| format!("valid={valid} fits"))
}

/// Seed of a component's part, from the run's seed and their names.
pub(crate) fn stream(seed: u64, component: &str, part: &str, number: u64) -> u64 {
    let hash = fnv1a(component.bytes().chain(part.bytes()));
    mix(mix(seed ^ hash).wrapping_add(number))
}
