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
    /// Options of this format only.
    pub parameters: &'static [Parameter],
    /// Whether requests in its files are in order of time.
    pub order: Order,
    /// The clock of its files.
    pub timing: Timing,
    pub(crate) extents: Extents,
    pub(crate) quirks: Quirks,
    pub(crate) detect: fn(&Sample, &Settings) -> Result<Detection, Miss>,
    pub(crate) open: fn(&Settings, Input) -> Box<dyn RecordReader>,
    /// Returns a writer with these settings, or the invalid option.
    pub(crate) write: fn(&Settings) -> Result<Writing, Miss>,
    /// A small file in this format.
    pub example: Example,
}

/// Special properties of a format.
pub(crate) struct Quirks {
    /// Whether its times are dates rather than times since a start.
    pub dated: bool,
    /// Whether it must be named, because its content does not identify it.
    pub needs_settings: bool,
    /// Whether a file with these settings may have no times.
    pub may_lack_clock: fn(&Settings) -> bool,
    /// Whether these settings state the unit of time.
    pub tells_time: fn(&Settings) -> bool,
    /// The length of every request, if files have only addresses.
    pub length: Option<fn(&Settings) -> u64>,
    /// Assumptions about what its files do not state, in a sentence for reports.
    pub stands_in: Option<&'static str>,
    /// File extensions other than its own name.
    pub endings: &'static [&'static str],
    /// Proposes options for a file that no format fits.
    pub proposal: Option<fn(&Format, &Sample) -> Option<String>>,
}

impl Quirks {
    /// No special properties.
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
    /// They are; a request out of order is an error.
    Kept,
    /// Not guaranteed by the format, so they are sorted unless options say otherwise.
    Loose,
}

/// The clock of a format's files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// This unit, by definition of the format.
    Exact(&'static str),
    /// The unit that the grammar states, and whether times have decimals.
    Stated {
        /// A word of `time=`.
        unit: &'static str,
        /// Whether numbers have decimals.
        decimals: bool,
    },
    /// Not in the file: the unit is inferred, or set by an option.
    Open,
    /// The user names the column with its unit.
    Told,
    /// There is no clock.
    Absent,
}

impl Timing {
    /// A description for a list.
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
    /// Not stated.
    Open,
    /// Sizes are in bytes; the unit of addresses is not questioned.
    Bytes,
    /// Addresses are in sectors of 512 bytes, sizes in bytes.
    SectorsAndBytes,
    /// Both are in sectors of 512 bytes.
    Sectors,
    /// They are fixed by the format or by the user.
    Fixed,
}

impl Format {
    /// Whether traces can be written in it.
    pub fn is_written(&self) -> bool {
        (self.write)(&Settings::new()).is_ok()
    }

    /// The first lines of its grammar, and the clock of its files.
    pub fn outline(&self) -> String {
        let lines = self.grammar.lines().take_while(|l| !l.trim().is_empty());
        let rows: Vec<&str> = lines.map(str::trim_end).collect();
        rows.join("\n")
    }

    /// Whether it must be named, because its content does not identify it.
    pub fn needs_settings(&self) -> bool {
        self.quirks.needs_settings
    }

    /// The settings, with this unit of time.
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
