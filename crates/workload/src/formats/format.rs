//! What a trace format is.

use crate::formats::detection::{Detection, Miss, Sample, Settings};
use crate::formats::record::{Input, RecordReader};
use crate::formats::writing::Writing;
use crate::text::parameter::Parameter;

/// A trace format.
pub struct Format {
    /// The word that `format=` takes.
    pub name: &'static str,
    /// One line for a list.
    pub title: &'static str,
    /// The grammar, in full.
    pub grammar: &'static str,
    /// Options that only this format has.
    pub parameters: &'static [Parameter],
    /// Whether its files are in order of time.
    pub order: Order,
    /// What its files say of their clock.
    pub timing: Timing,
    /// Whether its times are dates, and not times since a start.
    pub(crate) dated: bool,
    pub(crate) extents: Extents,
    pub(crate) detect: fn(&Sample, &Settings) -> Result<Detection, Miss>,
    pub(crate) open: fn(&Settings, Input) -> Box<dyn RecordReader>,
    /// A writer with these settings, or the option that it cannot go by.
    pub(crate) write: fn(&Settings) -> Result<Writing, Miss>,
}

/// Whether the requests of a file are in order of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// They are; one that is not is a fault of the file.
    Kept,
    /// Not by the nature of the format, so they are sorted unless told otherwise.
    Loose,
}

/// What a format's files say of their clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// This unit, by the definition of the bytes.
    Exact(&'static str),
    /// The grammar states this unit, and whether it is written with decimals.
    Stated {
        /// A word of `time=`.
        unit: &'static str,
        /// Whether numbers have decimals.
        decimals: bool,
    },
    /// Nothing: the unit is found by evidence, or told.
    Open,
    /// The user names the column with its unit.
    Told,
    /// There is no clock.
    Absent,
}

impl Timing {
    /// In words, for a list.
    pub fn describe(self) -> String {
        match self {
            Timing::Exact(unit) => unit.to_string(),
            Timing::Stated { unit, decimals: true } => format!("{unit}, with decimals"),
            Timing::Stated { unit, decimals: false } => unit.to_string(),
            Timing::Open => "not in the file: by evidence, or time=".to_string(),
            Timing::Told => "as told with the column".to_string(),
            Timing::Absent => "none: a closed loop".to_string(),
        }
    }
}

/// What a grammar says of the unit of addresses and sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extents {
    /// Nothing.
    Open,
    /// Sizes are bytes, whatever addresses are.
    Bytes,
    /// Both are sectors of 512 bytes.
    Sectors,
    /// They are as the bytes or the user define.
    Fixed,
}
