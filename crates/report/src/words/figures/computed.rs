//! Figures that are computed instead of read from their JSON path, and the names that `*` stands for.

use crate::schema::activity::{CAUSES, REPROGRAM};
use crate::schema::jobs::{JobRequests, QueueActivity};
use crate::schema::report::Report;
use crate::words::metrics;
use crate::words::names::{cause_title, causes, mode_title, modes, ordered};
use wordline_counters::EnergyOf;

/// A value of a report, under a name where the figure has `*`; `None` where it does not exist.
pub(crate) type Value = fn(&Report, &str) -> Option<f64>;

/// The names that `*` stands for in some reports, and their labels.
#[derive(Debug)]
pub(crate) struct Names {
    /// Its spelling in the table of figures.
    pub each: &'static str,
    pub of: fn(&[Report]) -> Vec<String>,
    pub title: fn(&str) -> String,
}

/// Maximum number of queues in a table: the rest is on the page and in the JSON.
const QUEUES_MAX: usize = 8;

pub(crate) static NAMES: [Names; 7] = [
    Names {
        each: "each queue",
        of: |all| distinct(all.iter().flat_map(|r| r.queues.iter().map(|q| &q.name)), QUEUES_MAX),
        title: str::to_string,
    },
    Names { each: "each cause", of: causes, title: |cause| cause_title(cause).to_string() },
    Names { each: "each cause of energy", of: energy_causes, title: |cause| cause_title(cause).to_string() },
    Names { each: "each mode", of: modes, title: mode_title },
    Names {
        each: "each table",
        of: |all| distinct(all.iter().flat_map(|r| r.memory.tables.iter().map(|t| &t.name)), usize::MAX),
        title: str::to_string,
    },
    Names { each: "each metric", of: metrics::owned, title: str::to_string },
    Names { each: "each reason", of: reasons, title: reason_title },
];

fn energy_causes(reports: &[Report]) -> Vec<String> {
    let all = reports.iter().filter_map(|r| r.flash.energy.as_ref()).flat_map(|e| e.by_cause.keys());
    ordered(&CAUSES, &all.collect::<Vec<_>>())
}

fn reasons(reports: &[Report]) -> Vec<String> {
    let mut all = distinct(reports.iter().flat_map(|r| r.without_effect.keys()), usize::MAX);
    all.sort();
    all
}

fn reason_title(reason: &str) -> String {
    let (what, why_not) = reason.split_once('_').unwrap_or(("", reason));
    format!("{what}: {}", why_not.replace('_', " "))
}

/// Distinct names in order of appearance, at most `most` of them.
fn distinct<'a>(names: impl Iterator<Item = &'a String>, most: usize) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for name in names {
        if !found.contains(name) && found.len() < most {
            found.push(name.clone());
        }
    }
    found
}

/// Figures that differ from the value at their path, or are 0 if nothing is there.
const COMPUTED: [(&str, Value); 23] = [
    ("queues.*.read.requests", |r, name| queue(r, name).map(|q| q.requests() as f64 / q.span_s())),
    ("queues.*.read.mean_ns", |r, name| mean(queue(r, name)?.read.as_ref())),
    ("queues.*.read.percentiles_ns", |r, name| p99(queue(r, name)?.read.as_ref())),
    ("queues.*.write.mean_ns", |r, name| mean(queue(r, name)?.write.as_ref())),
    ("queues.*.write.percentiles_ns", |r, name| p99(queue(r, name)?.write.as_ref())),
    ("waf.per_host_byte", |r, _| r.waf.as_ref().map(|w| w.per_host_byte.unwrap_or(w.total))),
    ("waf.paper", |r, _| r.waf.as_ref().map(|w| w.paper.unwrap_or(w.total))),
    ("waf.parts.*", |r, cause| Some(r.waf.as_ref()?.cause(cause))),
    ("waf.parts.*.reprogram", |r, _| Some(r.waf.as_ref()?.kind(REPROGRAM))),
    ("flash.energy.by_cause.*", |r, cause| {
        Some(r.flash.energy.as_ref()?.by_cause.get(cause).map_or(0.0, EnergyOf::total_j))
    }),
    ("flash.page_types.writes_dominated_by.lsb", |r, _| dominated(r, "lsb")),
    ("flash.page_types.writes_dominated_by.csb", |r, _| dominated(r, "csb")),
    ("flash.page_types.writes_dominated_by.msb", |r, _| dominated(r, "msb")),
    ("flash.page_types.writes_dominated_by.tsb", |r, _| dominated(r, "tsb")),
    ("idle.program_bytes.gc", |r, _| idle_bytes(r, "gc")),
    ("idle.program_bytes.migration", |r, _| idle_bytes(r, "migration")),
    ("memory.tables.*.bytes", |r, name| {
        Some(r.memory.tables.iter().filter(|t| t.name == name).map(|t| t.bytes).sum::<u64>() as f64)
    }),
    ("metrics.*", |r, name| metrics::last(r.metrics.get(name)?)),
    ("metrics.* mean", |r, name| metrics::mean(r.metrics.get(name)?)),
    ("without_effect.*", |r, why| Some(r.without_effect.get(why).copied().unwrap_or(0) as f64)),
    ("balance.end.free_blocks", |r, _| Some(r.balance?.change(|h| h.free_blocks))),
    ("balance.end.slc_bytes", |r, _| Some(r.balance?.change(|h| h.slc_bytes))),
    ("balance.end.buffered_bytes", |r, _| Some(r.balance?.change(|h| h.buffered_bytes))),
];

/// How a figure is computed, if it is; for two with one path, the second by its label, too.
pub(crate) fn computed(path: &str, label: &str) -> Option<Value> {
    let by = |key: &str| COMPUTED.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
    by(&format!("{path} {label}")).or_else(|| by(path))
}

fn queue<'r>(report: &'r Report, name: &str) -> Option<&'r QueueActivity> {
    report.queues.iter().find(|q| q.name == name)
}

fn mean(requests: Option<&JobRequests>) -> Option<f64> {
    Some(requests?.mean_ns / 1e3)
}

fn p99(requests: Option<&JobRequests>) -> Option<f64> {
    Some(requests?.percentile_ns(99.0)? as f64 / 1e3)
}

fn dominated(report: &Report, page: &str) -> Option<f64> {
    report.flash.page_types.as_ref()?.dominated_share(page)
}

fn idle_bytes(report: &Report, cause: &str) -> Option<f64> {
    Some(report.idle.as_ref()?.program_bytes.get(cause).copied().unwrap_or(0) as f64)
}
