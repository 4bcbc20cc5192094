//! Explain the latency of requests by a rerun with a probe: what the last operation of each waited for in its
//! plane, at its array and bus, and why.

use crate::ask::setup::Setup;
use crate::error::RunError;
use crate::execute::{Progress, perform, ready, run_recorded};
use crate::record::recorder::{Files, Recording};
use crate::record::timeline::Window;
use crate::study::rerun::{came_out_otherwise, setup_of};
use crate::study::watcher::Watcher;
use crate::study::why_sums::{Sums, WhyAsked, floor};
use std::ops::ControlFlow;
use std::time::Instant;
use wordline_report::{Report, Story, WHY_SCHEMA, Why, WhySummary};
use wordline_units::HostOp;

/// Rerun a report as far as needed, and explain the latency of requests. `workload` stands in for the recorded
/// path where the file has moved. Of replicas, the first is rerun.
///
/// # Errors
/// As for [`crate::rerun`], if the run has no such requests, or if the result differs from the report.
pub fn why(
    report: &Report,
    asked: &WhyAsked,
    workload: Option<&str>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Why, RunError> {
    let setup = setup_of(report, workload, &asked.registry)?;
    let scheme = setup.spec.scheme.clone();
    let timeline =
        asked.timeline.as_ref().map(|file| Files { timeline: Some(file.clone()), ..Files::default() });
    if let Some(files) = &timeline {
        Recording::open(files)?; // known before the run
    }
    let (stories, summaries) = watched(&setup, &scheme, report, asked, progress)?;
    if let (Some(files), Some(first)) = (timeline, stories.first()) {
        let recording = Recording::open(&Files { window: Window::Around(first.number), ..files })?;
        run_recorded(&setup, &scheme, recording, progress)?;
    }
    Ok(Why {
        schema: WHY_SCHEMA.to_string(),
        version: crate::ask::spec::VERSION.to_string(),
        scheme: report.scheme.name.clone(),
        device: report.device.name.clone(),
        workload: report.workload.name.clone(),
        seed: report.seed,
        summaries,
        stories,
    })
}

fn watched(
    setup: &Setup,
    scheme: &str,
    report: &Report,
    asked: &WhyAsked,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Vec<Story>, Vec<WhySummary>), RunError> {
    let spelling = setup.scheme(scheme)?;
    let kinds =
        [HostOp::Read, HostOp::Write].into_iter().filter(|op| asked.op.is_none_or(|asked| asked == *op));
    let floor = kinds.map(|op| floor(report, op, asked.slowest as u64)).max().unwrap_or_default();
    let sums = match asked.summed {
        Some(summed) if asked.numbers.is_empty() => Sums::of(summed, asked.op, report)?,
        _ => vec![],
    };
    let watcher = Watcher::new(setup, asked).with(floor, sums);
    let (mut device, start) = ready(setup, &spelling, watcher)?;
    let regions = device.ftl().layout().regions.iter();
    let regions = regions.map(|r| (r.name.to_string(), r.mode.key().to_string())).collect();
    device.probe_mut().name_regions(regions);
    let told = device.probe().has_told_all();
    let done = perform(setup, &spelling, 0, (&mut device, start), Instant::now(), &mut |p| {
        if told.get() { ControlFlow::Break(()) } else { progress(p) }
    });
    match done {
        Err(RunError::Interrupted) if told.get() => {}
        Err(e) => return Err(e),
        Ok(again) if again.result_hash != report.result_hash => {
            return Err(came_out_otherwise(report, &again));
        }
        Ok(_) => {}
    }
    let stories = device.probe_mut().stories(asked, report)?;
    Ok((stories, device.probe().summaries()))
}
