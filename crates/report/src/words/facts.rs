//! What was run on what, for the head of a table or page.

use crate::schema::report::{DeviceInfo, Report, WorkloadInfo};
use crate::words::names::{stands_for, workload_label};
use crate::words::number::{self, Quantity};

/// Device, workload, seed and host writes, as (what, value) pairs.
pub(crate) fn facts(reports: &[Report]) -> Vec<(&'static str, String)> {
    let Some(r) = reports.first() else { return Vec::new() };
    let mut seeds: Vec<String> = reports.iter().map(seeds).collect();
    seeds.dedup();
    let mut facts = vec![
        ("device", device(&r.device)),
        ("workload", workload(&r.workload)),
        ("requests", number::count(r.host.requests)),
        ("simulated", Quantity::Time.show(r.simulated_s)),
    ];
    if let Some(writes) = r.drive_writes() {
        facts.push(("drive writes", number::significant(writes)));
    }
    let what = if reports.iter().any(|r| r.replicas.is_some()) { "seeds" } else { "seed" };
    facts.push((what, seeds.join(", ")));
    facts
}

/// The device with its description and changed keys.
fn device(d: &DeviceInfo) -> String {
    let described =
        if d.description.is_empty() { d.name.clone() } else { format!("{} ({})", d.name, d.description) };
    if d.changes.is_empty() { described } else { format!("{described} with {}", d.changes.join(", ")) }
}

/// The workload as given, and whether it is a twin or its original.
fn workload(w: &WorkloadInfo) -> String {
    let label = workload_label(w);
    match stands_for(w) {
        Some(what) => format!("{label} ({what})"),
        None => label,
    }
}

/// The seed of a run, or the seeds of its replicas.
fn seeds(report: &Report) -> String {
    match report.replicas.as_ref().and_then(|r| r.runs.last()) {
        Some(last) => format!("{} to {}", report.seed, last.seed),
        None => report.seed.to_string(),
    }
}
