//! Units of times, addresses and sizes: those of a grammar, and the options to set others. Real files deviate
//! from their grammar (a `vscsi-csv` in seconds, an MSR excerpt in microseconds), so every text format
//! accepts `time=` and `unit=`.

use crate::reading::detection::Settings;
use crate::text::numbers::TENS;
use crate::text::parameter::{Parameter, choice};

/// Words of `time=`, with their nanoseconds.
pub(crate) const TIME_UNITS: [(&str, u64); 5] =
    [("ns", 1), ("100ns", 100), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Words of `unit=`, with their bytes.
pub(crate) const ADDRESS_UNITS: [(&str, u64); 4] =
    [("sector", 512), ("byte", 1), ("KiB", 1_024), ("4KiB", 4_096)];

/// The unit of the time column.
pub(crate) const TIME: Parameter = choice(
    "time",
    "as the grammar defines",
    "ns, 100ns, us, ms, s",
    &["ns", "100ns", "us", "ms", "s"],
    "unit of the time column",
);

/// The unit of addresses and sizes.
pub(crate) const UNIT: Parameter = choice(
    "unit",
    "as the grammar defines",
    "sector, byte, KiB, 4KiB",
    &["sector", "byte", "KiB", "4KiB"],
    "unit of address and size; a sector is 512 bytes",
);

/// Both options, for formats whose grammar states the units.
pub(crate) const STATED: &[Parameter] = &[TIME, UNIT];

/// Nanoseconds of a word of `time=`.
pub(crate) fn time_ns(word: &str) -> Option<u64> {
    TIME_UNITS.iter().find(|(w, _)| *w == word).map(|(_, ns)| *ns)
}

/// Bytes of a word of `unit=`.
pub(crate) fn unit_bytes(word: &str) -> Option<u64> {
    ADDRESS_UNITS.iter().find(|(w, _)| *w == word).map(|(_, bytes)| *bytes)
}

/// The units of a file's columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Units {
    /// Nanoseconds.
    pub time: u64,
    /// Bytes.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

impl Units {
    /// The units of the grammar.
    pub const fn stated(time: u64, offset: u64, size: u64) -> Units {
        Units { time, offset, size }
    }

    /// These units, except for those set by options.
    pub fn with_settings(self, settings: &Settings) -> Units {
        let word = |key: &str| settings.get(key).map(String::as_str);
        let both = word("unit").and_then(unit_bytes);
        Units {
            time: word("time").and_then(time_ns).unwrap_or(self.time),
            offset: both.unwrap_or(self.offset),
            size: both.unwrap_or(self.size),
        }
    }
}

/// A second in nanoseconds.
pub(crate) const SECOND: u64 = TENS[9];
