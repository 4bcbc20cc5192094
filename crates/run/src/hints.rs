//! Advice where a run says less than it seems to, one sentence each.

use crate::fill::Outcome;
use wordline_report::Report;
use wordline_sim::Pacing;

/// Below this share of the mean latency, waiting for admission is not worth a word.
const SATURATED_US: f64 = 1e6;

/// What a reader of this report should know.
pub(crate) fn hints(report: &Report, run: &Outcome) -> Vec<String> {
    let mut hints = vec![];
    let host = &report.host;
    let erases: u64 = report.flash.erases.values().sum();
    if let Some(drives) = report.drive_writes().filter(|_| host.write_bytes > 0)
        && erases == 0
    {
        hints.push(format!(
            "{} drive writes: no collection happened; try a longer workload, a smaller drive \
             (--set capacity.logical=... with fewer blocks), or --initial fill:90%,valid=80%.",
            figure(drives)
        ));
    }
    let counters = run.device.ftl.counters();
    let flash_reads = report.flash.reads.get("host").copied().unwrap_or(0);
    let parts = flash_reads + counters.reads_from_ram + counters.reads_unmapped;
    if counters.reads_unmapped * 20 > parts {
        hints.push(format!(
            "{} % of the pages read were never written and cost no flash time; --initial preload maps them.",
            percent(counters.reads_unmapped, parts)
        ));
    }
    if counters.reads_from_ram * 5 > parts {
        hints.push(format!(
            "{} % of the pages read were answered from RAM, so read latencies say little of the flash.",
            percent(counters.reads_from_ram, parts)
        ));
    }
    if host.failures() > 0 {
        hints.push(format!(
            "the drive was full {} times: give it more over-provisioning, or let the workload touch less.",
            host.failures()
        ));
    }
    if let Some(hint) = saturated(report, run) {
        hints.push(hint);
    }
    hints
}

/// An open loop that the drive cannot follow: waiting then dwarfs the drive's own time.
fn saturated(report: &Report, run: &Outcome) -> Option<String> {
    if !matches!(run.setup.pacing(), Pacing::Open { .. }) {
        return None;
    }
    let kinds = [report.latency_us.read, report.latency_us.write];
    let worst = kinds.into_iter().flatten().map(|l| l.p50).fold(0.0, f64::max);
    (worst > SATURATED_US).then(|| {
        format!(
            "requests arrived faster than the drive could serve them: half of them waited over {} s, so \
             latencies measure the queue; slow the workload down (speedup=0.5 on a trace) or run it closed \
             (closed=32).",
            figure(worst / 1e6)
        )
    })
}

fn percent(part: u64, whole: u64) -> String {
    figure(part as f64 * 100.0 / whole.max(1) as f64)
}

/// Two digits or so.
fn figure(x: f64) -> String {
    match x {
        x if x >= 10.0 => format!("{x:.0}"),
        x if x >= 0.1 => format!("{x:.1}"),
        x => format!("{x:.3}"),
    }
}
