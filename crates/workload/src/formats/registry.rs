//! The list of formats, [`FORMATS`], and what is said of a format by its name.

use crate::formats::detection::Settings;
use crate::formats::format::{Format, Timing};
use crate::formats::units::TIME;
use crate::formats::{
    addresses, alibaba, blkparse, blktrace, csv, etw, fio, fiu, five_columns, ftrace, msr, oracle_general,
    spc, systor, tencent, vscsi, vscsi_csv, wiscsee, wordline,
};

/// Every format that is known, in the order in which detection tries them.
pub static FORMATS: &[&Format] = &[
    &wordline::FORMAT,
    &blktrace::FORMAT,
    &vscsi::V1,
    &vscsi::V2,
    &vscsi_csv::FORMAT,
    &msr::FORMAT,
    &systor::FORMAT,
    &spc::FORMAT,
    &alibaba::FORMAT,
    &tencent::FORMAT,
    &fio::FORMAT,
    &blkparse::FORMAT,
    &ftrace::FORMAT,
    &etw::FORMAT,
    &fiu::FORMAT,
    &wiscsee::FORMAT,
    &five_columns::FORMAT,
    &oracle_general::FORMAT,
    &addresses::FORMAT,
    &csv::FORMAT,
];

/// Looks a format up by name.
pub fn format_named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|f| f.name == name)
}

impl Format {
    /// Whether traces are written in it, too.
    pub fn is_written(&self) -> bool {
        (self.write)(&Settings::new()).is_ok()
    }

    /// What stands in for what its files do not say, in a sentence; for reports.
    pub(crate) fn stands_in(&self) -> Option<&'static str> {
        match self.name {
            name if name == oracle_general::FORMAT.name => Some(
                "the trace has objects and neither operations nor addresses; each record is one request for an \
                 object, laid out by first use.",
            ),
            name if name == addresses::FORMAT.name => {
                Some("the trace has addresses only; operation and size of every request are assumed or told.")
            }
            _ => None,
        }
    }

    /// The first lines of its grammar, and what its files say of their clock.
    pub fn outline(&self) -> String {
        let lines = self.grammar.lines().take_while(|l| !l.trim().is_empty());
        let rows: Vec<&str> = lines.map(str::trim_end).collect();
        rows.join("\n")
    }

    /// Whether it must be asked for by name, since no content shows it.
    pub fn must_be_told(&self) -> bool {
        self.name == csv::FORMAT.name
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

    /// Whether the settings say the unit of time.
    pub(crate) fn tells_time(&self, settings: &Settings) -> bool {
        match self.timing {
            Timing::Told => csv::plan::tells_time(settings),
            _ => settings.contains_key(TIME.key),
        }
    }
}
