//! How figures are read from a report: from their JSON paths, unless they are computed.

use crate::schema::report::Report;
use crate::words::figures::figure::Figure;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Reports and their replicas, each with its JSON.
pub(crate) struct Trees(BTreeMap<*const Report, Json>);

impl Trees {
    pub(crate) fn of(reports: &[Report]) -> Trees {
        let replicas = reports.iter().filter_map(|r| r.replicas.as_ref()).flat_map(|r| &r.runs);
        // What cannot be written as JSON has no figures.
        let brief = |r: &Report| Report { block_map: Default::default(), ..r.in_brief() };
        let tree = |r: &Report| serde_json::to_value(brief(r)).unwrap_or_default();
        Trees(reports.iter().chain(replicas).map(|r| (std::ptr::from_ref(r), tree(r))).collect())
    }

    /// A figure of one report, with a name for `*`.
    pub(crate) fn value(&self, report: &Report, figure: &Figure, name: &str) -> Option<f64> {
        match figure.computed {
            Some(value) => value(report, name),
            None => at(self.0.get(&std::ptr::from_ref(report))?, figure.path, name),
        }
    }
}

/// The number at a path: itself, the mean of an estimate, or the sum of counts by name.
fn at(tree: &Json, path: &str, name: &str) -> Option<f64> {
    let found = path.split('.').try_fold(tree, |node, key| node.get(if key == "*" { name } else { key }))?;
    match found {
        Json::Object(parts) => match parts.get("mean") {
            Some(mean) => mean.as_f64(),
            None => Some(parts.values().filter_map(Json::as_u64).sum::<u64>() as f64),
        },
        number => number.as_f64(),
    }
}
