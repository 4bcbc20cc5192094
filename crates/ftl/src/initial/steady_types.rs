//! Writes of a drive until its WAF is steady, and their result.

use crate::image::base::Mapped;
use crate::initial::initial::InitialError;
use std::ops::Range;
use thiserror::Error;
use wordline_units::PlaneId;

/// The class of pages that are never written.
pub const UNTOUCHED: u8 = u8::MAX;

/// Write rates of logical pages, each write independent of the others.
#[derive(Clone, Debug)]
pub struct Law {
    /// The class of each logical page of the drive, or [`UNTOUCHED`]. Pages of a class are equally likely, and
    /// neighboring classes have similar rates.
    pub class_of: Vec<u8>,
    /// Share of the page writes of each class.
    pub shares: Vec<f64>,
    /// Number of pages that a write covers, each with its frequency.
    pub lengths: Vec<(u32, f64)>,
    /// Whether each write is aligned to its length.
    pub aligned: bool,
}

impl Law {
    /// Share of the pages with data that this many drive writes overwrite.
    pub fn replaced(&self, mapped: &Mapped, drive_writes: f64) -> f64 {
        let pages = self.pages_of_classes(mapped);
        let all = pages.iter().sum::<u64>().max(1) as f64;
        let of_class = |(pages, share): (&u64, &f64)| {
            let pages = *pages as f64;
            if pages > 0.0 { pages * -libm::expm1(-drive_writes * share * all / pages) } else { 0.0 }
        };
        pages.iter().zip(&self.shares).map(of_class).sum::<f64>() / all
    }

    /// Mapped pages of each class, with those that are never written as the last.
    pub(crate) fn pages_of_classes(&self, mapped: &Mapped) -> Vec<u64> {
        let mut counts = vec![0u64; self.shares.len() + 1];
        let mut count = |lpn: usize| match self.class_of.get(lpn) {
            Some(class) if *class != UNTOUCHED => counts[*class as usize] += 1,
            _ => counts[self.shares.len()] += 1,
        };
        match mapped {
            Mapped::First(n) => (0..*n as usize).for_each(&mut count),
            Mapped::Set(set) => set.iter().for_each(|lpn| count(lpn.index())),
        }
        counts
    }

    /// Pages of a write, on average.
    pub(crate) fn mean_length(&self) -> f64 {
        let (pages, all) = self.lengths.iter().fold((0.0, 0.0), |(p, w), l| (p + l.0 as f64 * l.1, w + l.1));
        if all > 0.0 { pages / all } else { 1.0 }
    }
}

/// Source of the drive's writes.
pub enum Updates<'a> {
    /// Independent writes.
    Law(&'a Law),
    /// These, in their order, each a run of logical pages. An empty one says that the run of the drive
    /// will begin as what follows here: if there are any, writing ends at one of them.
    Stream(&'a mut dyn Iterator<Item = Range<u32>>),
}

/// Properties that depend on time and not on the order of writes: how far GC lags, how many programs are partly filled,
/// and how many writes are overwritten in flight.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Regime {
    /// Free space of a plane at victim selection, in blocks: erased blocks, and the rest of the open one.
    pub free_blocks: f64,
    /// Padded slots per programmed host page.
    pub padding: f64,
    /// Programmed host pages per written host page; less than one if newer data replace waiting ones.
    pub programmed_share: f64,
}

impl Regime {
    /// Of a drive that starts GC when it opens a block, with this many others erased, and without padding.
    pub(crate) fn unhurried(erased: f64) -> Regime {
        Regime { free_blocks: erased + 1.0, padding: 0.0, programmed_share: 1.0 }
    }
}

/// Blocks of a plane, the one closed first first and the open one last: slots programmed, and live pages of each class.
pub(crate) type PlaneBlocks = Vec<(u32, Vec<u32>)>;

/// The blocks of each plane of a running drive.
#[derive(Debug)]
pub struct Contents {
    /// How the drive was initialized.
    pub begun: Begun,
    /// Share of the data in each plane, in multiples of an equal share; empty for equal shares.
    pub shares: Vec<f64>,
    pub(crate) planes: Vec<PlaneBlocks>,
}

/// Prediction of the steady state of a drive, which does not depend on the order of its writes. Shares are those of the
/// data in each plane, as multiples of an equal share; without shares, all planes hold the same.
#[derive(Clone, Copy)]
pub enum Known<'a> {
    /// Its regime is estimated from the queue depth of a closed loop; `None` for an open loop, which is taken to leave
    /// collection the time that it needs.
    Outstanding(Option<u32>, &'a [f64]),
    /// Its regime was measured on a drive that ran for a while.
    Regime(Regime, &'a [f64]),
    /// A drive like it ran for a while. Under a law it begins with the same contents, else in the same regime.
    Contents(&'a Contents),
}

impl<'a> Known<'a> {
    pub(crate) fn shares(&self) -> &'a [f64] {
        match *self {
            Known::Outstanding(_, shares) | Known::Regime(_, shares) => shares,
            Known::Contents(contents) => &contents.shares,
        }
    }
}

/// Whether write amplification was stable at the end of the untimed writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settling {
    /// It did.
    Settled,
    /// The stream ended or the bound was reached before.
    Unsettled,
}

/// How a drive was brought into its steady state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Begun {
    /// Write amplification of the untimed writes over the last two drive writes, per host page.
    pub waf: f64,
    /// Relative difference of the previous two drive writes to `waf`.
    pub drift: f64,
    /// Untimed writes, in multiples of the data on the drive (of the sampled plane).
    pub drive_writes: f64,
    /// Pages with data in the written planes; for a stream, all of them.
    pub sampled_pages: u64,
    /// Whether `waf` was stable.
    pub settling: Settling,
    /// The regime during these writes.
    pub regime: Regime,
}

impl Begun {
    /// Of several planes that were written apart, each with its share of the data.
    pub(crate) fn of_all(planes: &[(Begun, f64)]) -> Begun {
        let all: f64 = planes.iter().map(|(_, share)| share).sum();
        let mean = |of: fn(&Begun) -> f64| planes.iter().map(|(b, share)| of(b) * share).sum::<f64>() / all;
        let unsettled = planes.iter().any(|(b, _)| b.settling == Settling::Unsettled);
        Begun {
            waf: mean(|b| b.waf),
            drift: mean(|b| b.drift),
            drive_writes: mean(|b| b.drive_writes),
            sampled_pages: planes.iter().map(|(b, _)| b.sampled_pages).sum(),
            settling: if unsettled { Settling::Unsettled } else { Settling::Settled },
            regime: planes[0].0.regime,
        }
    }
}

/// Why a drive cannot be brought into steady state.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SteadyError {
    /// An error of any initial state.
    #[error(transparent)]
    Initial(#[from] InitialError),
    /// Data move between regions by rules of the scheme's own.
    #[error("a steady-state start does not support scheme {scheme}, which {why}")]
    Scheme {
        /// Its name.
        scheme: String,
        /// The obstacle.
        why: &'static str,
    },
    /// Planes differ in their blocks.
    #[error("a steady-state start does not support factory bad blocks")]
    BadBlocks,
    /// Pages of the map are written, too, at rates that follow from the cache.
    #[error("a steady-state start does not support a flash-resident mapping table")]
    MapCache,
    /// A plane's blocks hold pages of whichever plane.
    #[error("a steady-state start does not support superblocks")]
    Superblocks,
    /// The trigger demands more free space than the data leave, so that GC never stops.
    #[error(
        "gc.trigger asks for {asked} free blocks of {total} in each plane, but at most {reachable} can be \
         free beside the data, so GC never stops and write amplification depends on the idle time of the \
         load; lower gc.trigger or capacity.logical, or fill a smaller share (steady:SHARE)"
    )]
    Unreachable {
        /// Free blocks at which collection rests.
        asked: u32,
        /// Blocks of a plane.
        total: u32,
        /// Maximum number of free blocks of a plane.
        reachable: u32,
    },
    /// There is nothing to lie anywhere.
    #[error("no logical page holds data; use a larger share (steady:SHARE)")]
    Empty,
    /// GC could never free a page.
    #[error(
        "plane {plane} holds {pages} pages in {blocks} blocks of {slots}, so GC cannot free any space; \
         lower capacity.logical, or fill a smaller share (steady:SHARE)"
    )]
    Full {
        /// The plane.
        plane: PlaneId,
        /// Pages that hold data there.
        pages: u32,
        /// Blocks for them.
        blocks: u32,
        /// Slots of a block.
        slots: u32,
    },
}
