//! A run repeated with other seeds: the random variation of its figures. Replicas of two schemes share their
//! seeds, and so the host requests (common random numbers); differences are taken in pairs, in which most of
//! the random variation cancels.
//!
//! Source of the intervals: A. M. Law, "Simulation Modeling and Analysis", 5th ed., 2015, sections
//! 9.4 (replications), 10.2 (paired t) and 11.2 (common random numbers).

use crate::schema::estimate::Estimate;
use crate::schema::report::{Replicas, Report};
use serde_json::Value;
use std::collections::BTreeMap;

/// The replicas of a run, from their reports in the order of their seeds.
pub fn replicas(runs: Vec<Report>) -> Replicas {
    let mut replicas = Replicas { runs, figures: BTreeMap::new() };
    if replicas.are_identical() {
        return replicas;
    }
    let each: Vec<BTreeMap<String, f64>> = replicas.runs.iter().map(figures).collect();
    for path in each.first().map_or(vec![], |f| f.keys().collect()) {
        let values: Option<Vec<f64>> = each.iter().map(|f| f.get(path).copied()).collect();
        if let Some(estimate) = values.and_then(|v| Estimate::of(&v)) {
            replicas.figures.insert(path.clone(), estimate);
        }
    }
    replicas
}

/// The value of each replica with its seed; empty if there are no differing replicas, or if one lacks the
/// value.
pub(crate) fn samples(report: &Report, value: &dyn Fn(&Report) -> Option<f64>) -> Vec<(u64, f64)> {
    let Some(replicas) = report.replicas.as_ref().filter(|r| !r.are_identical()) else { return vec![] };
    let values = replicas.runs.iter().map(|r| Some((r.seed, value(r).filter(|v| v.is_finite())?)));
    values.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// A value of a report: the mean of its replicas, if any.
pub(crate) fn mean(report: &Report, value: &dyn Fn(&Report) -> Option<f64>) -> Option<f64> {
    if report.replicas.as_ref().is_none_or(Replicas::are_identical) {
        return value(report);
    }
    let values = samples(report, value);
    (!values.is_empty()).then(|| values.iter().map(|(_, v)| v).sum::<f64>() / values.len() as f64)
}

/// Difference of samples from those of a baseline in percent, paired by seed; `None` if the seeds differ, or
/// the baseline has a zero.
pub(crate) fn difference_percent(ours: &[(u64, f64)], baseline: &[(u64, f64)]) -> Option<Estimate> {
    let paired = ours.len() == baseline.len() && ours.iter().zip(baseline).all(|(a, b)| a.0 == b.0);
    if !paired || baseline.iter().any(|b| b.1 == 0.0) {
        return None;
    }
    Estimate::of(&ours.iter().zip(baseline).map(|(a, b)| (a.1 / b.1 - 1.0) * 100.0).collect::<Vec<_>>())
}

/// Difference of every figure of a report from the baseline in percent; empty without replicas.
pub(crate) fn differences_percent(report: &Report, baseline: &Report) -> BTreeMap<String, Estimate> {
    let (Some(ours), Some(theirs)) = (&report.replicas, &baseline.replicas) else { return BTreeMap::new() };
    let of = |r: &Replicas| r.runs.iter().map(|run| (run.seed, figures(run))).collect::<Vec<_>>();
    let (ours, theirs) = (of(ours), of(theirs));
    let column = |runs: &[(u64, BTreeMap<String, f64>)], path: &str| {
        let values = runs.iter().map(|(seed, f)| Some((*seed, *f.get(path)?)));
        values.collect::<Option<Vec<_>>>().unwrap_or_default()
    };
    let paths = ours.first().map_or(vec![], |(_, f)| f.keys().collect());
    let difference = |path: &String| difference_percent(&column(&ours, path), &column(&theirs, path));
    paths.into_iter().filter_map(|path| Some((path.clone(), difference(path)?))).collect()
}

/// Every number of a report that is a figure, by its path.
fn figures(report: &Report) -> BTreeMap<String, f64> {
    fn walk(path: String, value: &Value, out: &mut BTreeMap<String, f64>) {
        match value {
            Value::Object(map) => map.iter().for_each(|(k, v)| walk(format!("{path}.{k}"), v, out)),
            Value::Number(n) => out.extend(n.as_f64().map(|v| (path, v))),
            _ => {}
        }
    }
    let mut out = BTreeMap::new();
    let parts = [
        ("host", serde_json::to_value(&report.host)),
        ("simulated_s", serde_json::to_value(report.simulated_s)),
        ("latency_us", serde_json::to_value(&report.latency_us)),
        ("throughput", serde_json::to_value(report.throughput)),
        ("flash", serde_json::to_value(&report.flash)),
        ("waf", serde_json::to_value(&report.waf)),
        ("wear", serde_json::to_value(&report.wear)),
    ];
    for (name, value) in parts {
        // What cannot be written as JSON is not a figure.
        walk(name.to_string(), &value.unwrap_or(Value::Null), &mut out);
    }
    if let Some(after) = report.after_warm_up() {
        let means = [
            ("read_latency_us", after.read_latency_us),
            ("write_latency_us", after.write_latency_us),
            ("read_mb_per_s", after.read_mb_per_s),
            ("write_mb_per_s", after.write_mb_per_s),
            ("waf", after.waf),
        ];
        for (name, estimate) in means {
            out.extend(estimate.map(|e| (format!("steady_state.after.{name}"), e.mean)));
        }
    }
    out
}
