//! Definition of a trace format.

use crate::reading::detection::{Detection, Miss, Sample, Settings};
use crate::reading::example::Example;
use crate::reading::record::{Input, RecordReader};
use crate::reading::units::TIME;
use crate::reading::writing::Writing;
use crate::text::parameter::Parameter;

/// A trace format.
pub struct Format {
    /// The word that `format=` takes.
    pub name: &'static str,
    /// One-line description.
    pub title: &'static str,
    /// The grammar, in full.
    pub grammar: &'static str,
    /// Options that only this format has.
    pub parameters: &'static [Parameter],
    /// Whether its files are in order of time.
    pub order: Order,
    /// The clock of its files.
    pub timing: Timing,
    pub(crate) extents: Extents,
    pub(crate) quirks: Quirks,
    pub(crate) detect: fn(&Sample, &Settings) -> Result<Detection, Miss>,
    pub(crate) open: fn(&Settings, Input) -> Box<dyn RecordReader>,
    /// A writer with these settings, or the option that it cannot go by.
    pub(crate) write: fn(&Settings) -> Result<Writing, Miss>,
    /// A small file in it.
    pub example: Example,
}

/// Its special properties.
pub(crate) struct Quirks {
    /// Whether its times are dates, and not times since a start.
    pub dated: bool,
    /// Whether it must be named, since no content identifies it.
    pub needs_settings: bool,
    /// Whether a file with these settings can have no times.
    pub may_lack_clock: fn(&Settings) -> bool,
    /// Whether these settings say the unit of time.
    pub tells_time: fn(&Settings) -> bool,
    /// The length of every request, where files have addresses alone.
    pub length: Option<fn(&Settings) -> u64>,
    /// Assumptions about what its files do not state, in a sentence; for reports.
    pub stands_in: Option<&'static str>,
    /// File extensions, besides its own name.
    pub endings: &'static [&'static str],
    /// How a file that no format fits would be read in it.
    pub proposal: Option<fn(&Format, &Sample) -> Option<String>>,
}

impl Quirks {
    /// None at all.
    pub const NONE: Quirks = Quirks {
        dated: false,
        needs_settings: false,
        may_lack_clock: |_| false,
        tells_time: |settings| settings.contains_key(TIME.key),
        length: None,
        stands_in: None,
        endings: &[],
        proposal: None,
    };
}

/// Whether the requests of a file are in order of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// They are; one that is not is a fault of the file.
    Kept,
    /// Not guaranteed by the format, so they are sorted unless set otherwise.
    Loose,
}

/// The clock of a format's files.
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
    /// Not in the file: the unit is inferred, or set.
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
            Timing::Open => "not in the file: inferred, or set by time=".to_string(),
            Timing::Told => "as set with the column".to_string(),
            Timing::Absent => "none: a closed loop".to_string(),
        }
    }
}

/// The unit of addresses and sizes in a grammar.
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

impl Format {
    /// Whether traces are written in it, too.
    pub fn is_written(&self) -> bool {
        (self.write)(&Settings::new()).is_ok()
    }

    /// The first lines of its grammar, and the clock of its files.
    pub fn outline(&self) -> String {
        let lines = self.grammar.lines().take_while(|l| !l.trim().is_empty());
        let rows: Vec<&str> = lines.map(str::trim_end).collect();
        rows.join("\n")
    }

    /// Whether it must be asked for by name, since no content shows it.
    pub fn needs_settings(&self) -> bool {
        self.quirks.needs_settings
    }

    /// The settings with this unit of time.
    pub(crate) fn with_time(&self, settings: &Settings, unit: &str) -> Settings {
        let mut settings = settings.clone();
        let value = match settings.get(TIME.key).filter(|_| self.timing == Timing::Told) {
            Some(column) => format!("{column}:{unit}"),
            None => unit.to_string(),
        };
        settings.insert(TIME.key, value);
        settings
    }
}
