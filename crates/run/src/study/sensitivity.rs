//! Sensitivity of a result to its twin's locality: the same runs with the LRU write hit rate of the twin
//! shifted down and up.

use crate::ask::setup::Setup;
use crate::ask::spec::RunSpec;
use crate::error::RunError;
use crate::execute::Progress;
use crate::study::compare::compare;
use std::ops::ControlFlow;
use wordline_report::{Comparison, Report, ShiftedRun};
use wordline_workload::with_options;

/// Shift of the hit rate in points, down and up.
pub const SHIFT_POINTS: f64 = 3.0;

/// Runs every scheme of a comparison again on the twin shifted down and up, and adds the results to the
/// reports. `spec` is what the comparison was made of.
///
/// # Errors
/// A workload that is not a twin, a shift that is too large, or an error of the runs.
pub fn sensitivity(
    spec: &RunSpec,
    schemes: &[String],
    threads: usize,
    comparison: &mut Comparison,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(), RunError> {
    let is_twin = |r: &Report| {
        let said = |key: &str| r.workload.details.get(key).and_then(|v| v.as_str());
        said("source") == Some("twin") && !r.workload.details.contains_key("burst")
    };
    if !comparison.reports.iter().all(is_twin) {
        return Err(RunError::Input(format!(
            "--twin-sensitivity: the locality of {} cannot be shifted\n  allowed: a twin with arrivals of its own \
             (`wordline list workloads`), not its original, a burst or another workload",
            spec.workload
        )));
    }
    for points in [-SHIFT_POINTS, SHIFT_POINTS] {
        let option = [("locality".to_string(), points.to_string())];
        let shifted =
            RunSpec { workload: with_options(&spec.workload, &option), save_state: None, ..spec.clone() };
        let runs = compare(&Setup::resolve(&shifted)?, schemes, threads, progress)?;
        for (report, run) in comparison.reports.iter_mut().zip(&runs.reports) {
            report.twin_sensitivity.push(shifted_run(points, run));
        }
    }
    Ok(())
}

fn shifted_run(asked_points: f64, run: &Report) -> ShiftedRun {
    let reached = run.workload.details.get("locality").and_then(|l| l.get("reached_points"));
    ShiftedRun {
        asked_points,
        reached_points: reached.and_then(|p| p.as_f64()).unwrap_or(asked_points),
        write_mean_us: run.latency_us.write.map(|l| l.mean),
        write_p99_us: run.latency_us.write.map(|l| l.p99),
        read_mean_us: run.latency_us.read.map(|l| l.mean),
        read_p99_us: run.latency_us.read.map(|l| l.p99),
        waf: run.waf.as_ref().map(|w| w.total),
        result_hash: run.result_hash.clone(),
    }
}
