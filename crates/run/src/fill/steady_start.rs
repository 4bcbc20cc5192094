//! A report's figures of a steady start.

use crate::begin::Start;
use crate::fill::outcome::Outcome;
use crate::fill::steady::WRITE;
use wordline_ftl::{Begun, Settling};
use wordline_report::BegunSteady;
use wordline_sim::Checkpoint;

/// Minimum drive writes in the first tenth of a run for a meaningful WAF: with fewer, the drive programs recent writes,
/// or empties its buffer.
const FIRST_TENTH_MIN: f64 = 0.01;

/// The part of a report on a steady-state start.
pub(crate) fn begun_steady(run: &Outcome, start: &Start) -> BegunSteady {
    let first = first_tenth(run);
    let drive_writes = first.bytes[WRITE] as f64 / run.setup.device.logical_bytes() as f64;
    let is_enough = drive_writes >= FIRST_TENTH_MIN && first.host_page_bytes > 0;
    let waf = is_enough.then(|| first.programmed as f64 / first.host_page_bytes as f64);
    let Begun { waf: expected, drift, drive_writes, sampled_pages, settling, regime } = start.begun;
    BegunSteady {
        by: start.by.to_string(),
        expected_waf: expected,
        settled: settling == Settling::Settled,
        drift: drift.is_finite().then_some(drift),
        untimed_drive_writes: drive_writes,
        timed_drive_writes: start.timed_drive_writes,
        timed_waf: start.timed_waf,
        free_blocks: regime.free_blocks,
        padding: regime.padding,
        programmed_share: regime.programmed_share,
        sampled_pages,
        first_requests: first.ended,
        first_waf: waf,
        residual: waf.filter(|_| expected > 0.0).map(|w| w / expected - 1.0),
    }
}

/// The totals after a tenth of the requests, or after all if they are too few.
fn first_tenth(run: &Outcome) -> Checkpoint {
    let metrics = run.device.metrics;
    let end = metrics.totals(run.summary.end, run.device.ftl);
    let cut = metrics.checkpoints().iter().find(|c| c.ended * 10 >= end.ended).copied();
    cut.unwrap_or(end)
}
