//! Names of devices, workloads, causes, modes and measures.

use crate::schema::activity::CAUSES;
use crate::schema::report::{DeviceInfo, Report, WorkloadInfo};
use wordline_units::CellMode;

/// The causes that any run has, the known ones in stacking order, then the others.
pub(crate) fn causes(reports: &[Report]) -> Vec<String> {
    let all: Vec<&String> =
        reports.iter().filter_map(|r| r.waf.as_ref()).flat_map(|w| w.parts.keys()).collect();
    ordered(&CAUSES, &all)
}

/// The modes that any run erased, from one bit to four.
pub(crate) fn modes(reports: &[Report]) -> Vec<String> {
    let all: Vec<&String> = reports.iter().flat_map(|r| r.flash.erases.keys()).collect();
    ordered(&CellMode::ALL.map(CellMode::key), &all)
}

pub(crate) fn ordered(known: &[&str], present: &[&String]) -> Vec<String> {
    let mut out: Vec<String> =
        known.iter().filter(|k| present.iter().any(|p| p == *k)).map(|k| k.to_string()).collect();
    for key in present {
        if !out.contains(key) {
            out.push(key.to_string());
        }
    }
    out
}

/// `SLC` for `slc`; any other key unchanged.
pub(crate) fn mode_title(key: &str) -> String {
    CellMode::ALL.iter().find(|m| m.key() == key).map_or_else(|| key.to_string(), CellMode::to_string)
}

/// `GC` for `gc`; any other cause unchanged.
pub(crate) fn cause_title(key: &str) -> &str {
    if key == "gc" { "GC" } else { key }
}

/// The device's name with its changed keys.
pub(crate) fn device_label(d: &DeviceInfo) -> String {
    std::iter::once(&d.name).chain(&d.changes).map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// The workload with all options as given, a file without its folder.
pub(crate) fn workload_label(w: &WorkloadInfo) -> String {
    let spelled = w.details.get("text").and_then(serde_json::Value::as_str).unwrap_or_default();
    match spelled.find(w.name.as_str()).filter(|_| !w.name.is_empty()) {
        Some(at) => spelled[at..].to_string(),
        None => w.name.clone(),
    }
}

/// Whether a workload is a twin or an original; `None` for all others.
pub(crate) fn stands_for(w: &WorkloadInfo) -> Option<String> {
    let said = |key: &str| w.details.get(key).and_then(serde_json::Value::as_str);
    match said("source")? {
        "twin" => Some("a synthetic twin, not the trace itself".to_string()),
        "original" => Some(format!("the original of {}", said("twin").unwrap_or("a twin"))),
        _ => None,
    }
}
