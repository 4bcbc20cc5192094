//! Drives taken to wear-out: what `wordline lifetime` found of each scheme. This is the schema
//! `wordline.lifetime/1`. All that is written, and all time, is counted as the drive would see it: what was
//! simulated, times the acceleration.

use crate::number::{self, Quantity};
use crate::replicas::Estimate;
use crate::report::{DeviceInfo, SchemeInfo, WorkloadInfo};
use crate::rows;
use crate::said::{self, Said};
use crate::steady::TOGETHER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The name of the schema that [`Lifetimes`] follows.
pub const LIFETIME_SCHEMA: &str = "wordline.lifetime/1";

/// How far results at an acceleration and at half of it may be apart: 5 %.
pub const ACCELERATION_TOLERANCE: f64 = 0.05;

/// The lives of a drive under several schemes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Wordline lifetimes")]
pub struct Lifetimes {
    /// Always `wordline.lifetime/1`.
    pub schema: String,
    /// The version of Wordline that ran.
    pub version: String,
    /// The drive.
    pub device: DeviceInfo,
    /// What the host asked in each phase.
    pub workload: WorkloadInfo,
    /// Device, workload and initial state with every default filled in, under the first scheme.
    pub config: Value,
    /// Bytes that the host can address.
    pub logical_bytes: u64,
    /// Cycles that each simulated erase stands for.
    pub acceleration: u32,
    /// Time on the shelf after each phase, in seconds: data grow older, and nothing wears.
    pub shelf_s: f64,
    /// What ended a life, as `--end` spells it; a write that finds no place did so in any case.
    #[serde(default = "out_of_space")]
    pub end: String,
    /// Whether it was stopped before every life had ended: the figures are those until then.
    #[serde(default)]
    pub stopped: bool,
    /// What became of the drive under each scheme, the baseline first.
    pub schemes: Vec<SchemeLife>,
}

/// What ended every life before there was a choice.
fn out_of_space() -> String {
    "out-of-space".to_string()
}

/// A drive under one scheme, once for each seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchemeLife {
    /// The scheme.
    pub scheme: SchemeInfo,
    /// One life a seed.
    pub lives: Vec<Life>,
    /// The first life again at half the acceleration; null where that is 1 already.
    pub check: Option<Life>,
}

/// One drive from its first write to the one that found no place any more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Life {
    /// The seed of workload, initial state and lives of blocks.
    pub seed: u64,
    /// Cycles that each simulated erase stood for.
    pub acceleration: u32,
    /// What ended it: `capacity`, `usable:SHARE`, `spare:SHARE`, `uncorrectable`, `out-of-space`, or `stopped`.
    #[serde(default = "out_of_space")]
    pub ended_by: String,
    /// Share of their lives that the blocks had used up on average by then.
    #[serde(default)]
    pub life_used: f64,
    /// What the host had written by the end, in bytes.
    pub total_bytes_written: f64,
    /// The same in logical capacities.
    pub drive_writes: f64,
    /// The same a day over five years.
    pub drive_writes_per_day: f64,
    /// How long the drive lasted at the pace of the workload, in years, without time on the shelf.
    pub years: f64,
    /// Write amplification over the life; null where the host's pages are not known.
    pub waf: Option<f64>,
    /// Write latency over the life.
    pub write: Option<AgedLatency>,
    /// Read latency over the life.
    pub read: Option<AgedLatency>,
    /// Retries of a page that the host read, on average; null where no errors are modelled.
    pub retries: Option<f64>,
    /// Pages that the host could not read, as simulated; null where no errors are modelled.
    pub uncorrectable: Option<u64>,
    /// Blocks of the drive.
    pub blocks: u64,
    /// Blocks that were bad from the beginning.
    pub bad_blocks: u64,
    /// Blocks that retired.
    pub retired_blocks: u64,
    /// Blocks whose data static wear levelling moved.
    pub levelled_blocks: u64,
    /// The life in phases, each one pass of the workload; of very many, every so many.
    pub phases: Vec<LifePhase>,
    /// A hash of the result hashes of all phases.
    pub result_hash: String,
}

/// A latency, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgedLatency {
    /// Mean, in microseconds.
    pub mean: f64,
    /// 99th percentile, in microseconds.
    pub p99: f64,
}

/// A pass of the workload, and the drive after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LifePhase {
    /// What the host had written after it, in logical capacities.
    pub drive_writes: f64,
    /// Years at the pace of the workload until then, without time on the shelf.
    pub years: f64,
    /// Blocks that had retired by then.
    pub retired_blocks: u64,
    /// What the drive could hold then, in bytes.
    pub usable_bytes: u64,
    /// Share of their lives that the blocks had used up on average.
    pub life_used: f64,
    /// Write amplification in the phase; null where the host wrote nothing.
    pub waf: Option<f64>,
    /// Write latency in the phase.
    pub write: Option<AgedLatency>,
    /// Read latency in the phase.
    pub read: Option<AgedLatency>,
    /// Retries of a page that the host read, on average.
    pub retries: Option<f64>,
}

impl Life {
    /// What ended a life that did not come to its end.
    pub const STOPPED: &str = "stopped";

    /// Whether it was stopped before its end.
    pub fn is_stopped(&self) -> bool {
        self.ended_by == Life::STOPPED
    }

    /// How it ended, in a few words.
    fn ending(&self) -> String {
        match self.ended_by.split_once(':') {
            _ if self.is_stopped() => format!("stopped at {} wear", Quantity::Share.show(self.life_used)),
            Some(("usable", share)) => format!("less than {share} of its capacity left"),
            Some(("spare", share)) => format!("{share} of its spare left"),
            _ => match self.ended_by.as_str() {
                "capacity" => "holds less than its capacity".to_string(),
                "uncorrectable" => "a page could not be read".to_string(),
                "out-of-space" => "a write found no place".to_string(),
                other => other.to_string(),
            },
        }
    }
}

/// A figure of a life: name, quantity, value.
pub(crate) type LifeFigure = (&'static str, Quantity, fn(&Life) -> Option<f64>);

/// The figures of a life that are compared.
pub(crate) const FIGURES: [LifeFigure; 11] = [
    ("written in all", Quantity::Bytes, |l| Some(l.total_bytes_written)),
    ("drive writes", Quantity::Waf, |l| Some(l.drive_writes)),
    ("drive writes a day", Quantity::Waf, |l| Some(l.drive_writes_per_day)),
    ("years at this pace", Quantity::Waf, |l| Some(l.years)),
    ("WAF", Quantity::Waf, |l| l.waf),
    ("write mean", Quantity::Latency, |l| Some(l.write?.mean)),
    ("write p99", Quantity::Latency, |l| Some(l.write?.p99)),
    ("read mean", Quantity::Latency, |l| Some(l.read?.mean)),
    ("read p99", Quantity::Latency, |l| Some(l.read?.p99)),
    ("retries a page", Quantity::Waf, |l| l.retries),
    ("blocks retired", Quantity::Count, |l| Some(l.retired_blocks as f64)),
];

/// The figures by which two accelerations are held against each other.
const CHECKED: [&str; 5] = ["written in all", "WAF", "write mean", "read mean", "retries a page"];

impl SchemeLife {
    /// How its lives ended, each way once.
    pub(crate) fn endings(&self) -> String {
        let mut ways: Vec<String> = self.lives.iter().map(Life::ending).collect();
        ways.sort();
        ways.dedup();
        if ways.is_empty() { "not begun".to_string() } else { ways.join("; ") }
    }

    /// A figure over all lives: its mean, with the interval where chance had a part.
    pub(crate) fn estimate(&self, of: fn(&Life) -> Option<f64>) -> Option<Estimate> {
        let values: Vec<f64> = self.lives.iter().map(of).collect::<Option<_>>()?;
        let alike = values.windows(2).all(|w| w[0] == w[1]);
        match Estimate::of(&values) {
            Some(estimate) if !alike => Some(estimate),
            _ => Some(Estimate { mean: *values.first()?, sd: None, half_width_95: None }),
        }
    }

    /// By how much each figure of the first life moves when an erase stands for half as many, as a share.
    pub fn deviations(&self) -> BTreeMap<&'static str, f64> {
        let (Some(life), Some(half)) = (self.lives.first(), &self.check) else { return BTreeMap::new() };
        let moves = |(name, _, of): &LifeFigure| {
            let (at, at_half) = (of(life)?, of(half)?);
            // What is next to nothing may double and still be next to nothing.
            (at.abs() > 1e-3).then(|| (*name, at_half / at - 1.0))
        };
        FIGURES.iter().filter(|f| CHECKED.contains(&f.0)).filter_map(moves).collect()
    }

    /// Whether results at both accelerations agree; `None` where there is but one.
    pub fn agrees(&self) -> Option<bool> {
        if self.lives.first()?.is_stopped() || self.check.as_ref()?.is_stopped() {
            return None;
        }
        Some(self.deviations().values().all(|d| d.abs() <= ACCELERATION_TOLERANCE))
    }
}

impl Lifetimes {
    /// As indented JSON, ending in a newline.
    ///
    /// # Errors
    /// Never for finite numbers; the error is serde's.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Lifetimes from their JSON.
    ///
    /// # Errors
    /// A text for people, where it is no such JSON, or of another schema.
    pub fn from_json(text: &str) -> Result<Lifetimes, String> {
        let found: Lifetimes =
            serde_json::from_str(text).map_err(|e| format!("this is no JSON of lifetimes: {e}"))?;
        if found.schema != LIFETIME_SCHEMA {
            return Err(format!("its schema is {:?}; {LIFETIME_SCHEMA:?} is read", found.schema));
        }
        Ok(found)
    }

    /// Each scheme, its phases and its lives as rows of CSV.
    pub fn to_csv(&self) -> String {
        let mut out = String::from(
            "scheme,seed,acceleration,phase,drive_writes,years,retired_blocks,usable_bytes,life_used,waf,\
             write_mean_us,write_p99_us,read_mean_us,read_p99_us,retries_per_page\n",
        );
        for s in &self.schemes {
            for life in s.lives.iter().chain(&s.check) {
                for (number, p) in life.phases.iter().enumerate() {
                    let name = match s.scheme.name.contains([',', '"']) {
                        true => format!("\"{}\"", s.scheme.name.replace('"', "\"\"")),
                        false => s.scheme.name.clone(),
                    };
                    let text = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x}"));
                    let row = [
                        name,
                        life.seed.to_string(),
                        life.acceleration.to_string(),
                        (number + 1).to_string(),
                        p.drive_writes.to_string(),
                        p.years.to_string(),
                        p.retired_blocks.to_string(),
                        p.usable_bytes.to_string(),
                        p.life_used.to_string(),
                        text(p.waf),
                        text(p.write.map(|l| l.mean)),
                        text(p.write.map(|l| l.p99)),
                        text(p.read.map(|l| l.mean)),
                        text(p.read.map(|l| l.p99)),
                        text(p.retries),
                    ];
                    out += &row.join(",");
                    out.push('\n');
                }
            }
        }
        out
    }

    /// What was done, as (what, value) pairs.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let seeds = |s: &SchemeLife| (s.lives.first().map(|l| l.seed), s.lives.last().map(|l| l.seed));
        let seeds = match self.schemes.first().map(seeds) {
            Some((Some(first), Some(last))) if first != last => format!("{first} to {last}"),
            Some((Some(first), _)) => first.to_string(),
            _ => number::NONE.to_string(),
        };
        let mut facts = vec![
            ("device", rows::device_label(&self.device)),
            ("capacity", number::bytes(self.logical_bytes)),
            ("workload", rows::workload_label(&self.workload)),
            ("an erase stands for", format!("{} cycles", number::count(self.acceleration as u64))),
            ("ends at", self.end.clone()),
            ("seeds", seeds),
        ];
        if self.shelf_s > 0.0 {
            facts.insert(
                4,
                ("shelf after each phase", format!("{} days", number::significant(self.shelf_s / 86_400.0))),
            );
        }
        facts
    }

    /// What half the acceleration says of the schemes.
    pub(crate) fn checks(&self) -> Vec<Said> {
        let said = |(i, s): (usize, &SchemeLife)| {
            let agrees = s.agrees()?;
            let half = s.check.as_ref()?.acceleration;
            let moves: Vec<String> = s
                .deviations()
                .into_iter()
                .filter(|(_, d)| agrees || d.abs() > ACCELERATION_TOLERANCE)
                .map(|(name, d)| format!("{name} {:+.1} %", d * 100.0))
                .collect();
            let text = if agrees {
                format!(
                    "an erase that stands for {half} instead of {} gives the same within 5 % ({})",
                    self.acceleration,
                    moves.join(", ")
                )
            } else {
                format!(
                    "an erase that stands for {half} instead of {} does NOT give the same within 5 %: {}; \
                     choose a smaller --acceleration",
                    self.acceleration,
                    moves.join(", ")
                )
            };
            Some((i, text))
        };
        let names: Vec<String> = self.schemes.iter().map(|s| s.scheme.name.clone()).collect();
        let said = self.schemes.iter().enumerate().filter_map(said).collect();
        let said = said::once(said, &names, TOGETHER);
        // Of a few schemes each is named, also where it is all of them.
        let named = |said: Said| if said.who.is_empty() { Said { who: names.clone(), ..said } } else { said };
        if names.len() < TOGETHER { said.into_iter().map(named).collect() } else { said }
    }

    /// In a sentence, who lasts longest.
    pub(crate) fn verdict(&self) -> String {
        let written = |s: &SchemeLife| s.estimate(|l| Some(l.total_bytes_written)).map_or(0.0, |e| e.mean);
        let (Some(base), Some(best)) =
            (self.schemes.first(), self.schemes.iter().max_by(|a, b| written(a).total_cmp(&written(b))))
        else {
            return "Nothing was run.".to_string();
        };
        let takes = |s: &SchemeLife| Quantity::Bytes.show(written(s));
        if self.stopped {
            return "Stopped before the end: the figures are those until then, and tell nothing of who lasts longer."
                .to_string();
        }
        if self.schemes.len() == 1 {
            return format!("Under {} the drive takes {} until it wears out.", base.scheme.name, takes(base));
        }
        if std::ptr::eq(base, best) {
            return format!("None lasts longer than {}, which takes {}.", base.scheme.name, takes(base));
        }
        format!(
            "Under {} the drive takes {} until it wears out, {} what it takes under {}.",
            best.scheme.name,
            takes(best),
            number::times(written(best) / written(base)),
            base.scheme.name
        )
    }
}
