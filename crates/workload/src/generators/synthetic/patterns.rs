//! Addresses of requests. The generator determines kind, size and time, and a pattern determines the address.

use crate::updates::Classes;
use serde_json::Value;
use std::str::FromStr;
use wordline_trace::{Problem, RandomStream};
use wordline_units::{Bytes, Fraction, HostOp, LBA_BYTES};

/// The part of the drive that a workload uses, in blocks of 512 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Space {
    pub blocks: u64,
    /// Addresses are multiples of this many blocks.
    pub align: u64,
    /// Maximum length of a request in blocks.
    pub largest: u64,
}

impl Space {
    /// A uniformly distributed address at which a request of this many blocks fits.
    #[inline]
    pub fn anywhere(&self, blocks: u32, random: &mut RandomStream) -> u64 {
        random.below((self.blocks - blocks as u64) / self.align + 1) * self.align
    }

    /// The last aligned address at or below `at` at which this many blocks fit.
    #[inline]
    pub fn fitting(&self, at: u64, blocks: u32) -> u64 {
        at.min((self.blocks - blocks as u64) / self.align * self.align)
    }
}

/// The next request.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub op: HostOp,
    pub blocks: u32,
}

/// A running pattern. Addresses are blocks from the beginning of the space.
pub(crate) trait Pattern: Send {
    /// The address of the next request. The request fits into the space from there.
    fn next(&mut self, wanted: Wanted, random: &mut RandomStream) -> u64;
}

/// A pattern as described by parameters, before the drive is known.
pub(crate) trait PatternSpec: Send + Sync {
    /// Start the pattern on a space.
    fn begin(&self, space: Space, random: &mut RandomStream) -> Result<Box<dyn Pattern>, Problem>;
    /// Classes of equally likely addresses, with their shares of the requests, if each draw is independent of
    /// earlier ones. `classes` receives the blocks of each class. Consecutive classes have similar rates.
    /// `random` is as in [`Self::begin`].
    fn classes(&self, _: Space, _random: &mut RandomStream, _classes: &mut Classes) -> Option<Vec<f64>> {
        None
    }
    /// All its parameters.
    fn resolved(&self) -> Value;
}

/// Part of a drive: bytes, or a share of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    Bytes(u64),
    Share(Fraction),
}

impl Extent {
    /// Number of blocks, on a drive of `whole` blocks.
    pub fn blocks_of(self, whole: u64) -> u64 {
        match self {
            Extent::Bytes(n) => n / LBA_BYTES,
            Extent::Share(f) => f.of(whole),
        }
    }
}

impl FromStr for Extent {
    type Err = String;
    fn from_str(text: &str) -> Result<Extent, String> {
        if text.ends_with('%') {
            let f: Fraction = text.parse().map_err(|e: wordline_units::QuantityError| e.to_string())?;
            return if f <= Fraction::ONE {
                Ok(Extent::Share(f))
            } else {
                Err(format!("{text:?} is more than 100 %"))
            };
        }
        let Bytes(n) = text.parse().map_err(|e: wordline_units::QuantityError| {
            format!("{e}, nor a share of the drive such as \"10%\"")
        })?;
        if n.is_multiple_of(LBA_BYTES) {
            Ok(Extent::Bytes(n))
        } else {
            Err(format!("{text:?} is not a multiple of 512 B"))
        }
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Extent::Bytes(n) => Bytes(*n).fmt(f),
            Extent::Share(s) => s.fmt(f),
        }
    }
}
