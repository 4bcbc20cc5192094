//! Advice where a run says less than it seems to, one sentence each.

use crate::fill::Outcome;
use wordline_report::Report;
use wordline_sim::Pacing;

/// What a reader of this report should know.
pub(crate) fn hints(report: &Report, run: &Outcome) -> Vec<String> {
    let mut hints = run.setup.workload.remarks();
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
    let parts = flash_reads + counters.reads_from_ram + counters.reads_cached + counters.reads_unmapped;
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
    let full = run.device.metrics.out_of_space;
    if full > 0 {
        hints.push(format!(
            "the drive was full {full} times: give it more over-provisioning, or let the workload touch less."
        ));
    }
    let lost = run.device.metrics.uncorrectable;
    if lost > 0 {
        hints.push(format!(
            "{lost} reads had more errors than could be corrected: the drive is worn beyond what its error model \
             allows, or its data have lain too long."
        ));
    }
    let name = report.scheme.name.split(':').next().unwrap_or_default();
    if name == "raro" && run.setup.device.errors.is_none() {
        hints.push(
            "no errors are modelled, so no read took a retry and raro moved nothing; --set errors.model=raro models them."
                .to_string(),
        );
    }
    if let Some(hint) = saturated(report, run) {
        hints.push(hint);
    }
    hints
}

/// An open loop that the drive cannot follow: by Little's law, more requests are under way on
/// average than it admits at once, so most of a latency is waiting for admission.
fn saturated(report: &Report, run: &Outcome) -> Option<String> {
    let Some(Pacing::Open { queue_depth }) = run.setup.pacing() else { return None };
    let kinds = [report.latency_us.read, report.latency_us.write];
    let sum_us: f64 = kinds.into_iter().flatten().map(|l| l.mean * l.count as f64).sum();
    let under_way = sum_us / 1e6 / report.simulated_s.max(1e-9);
    (under_way > queue_depth as f64).then(|| {
        format!(
            "requests came faster than the drive serves them: {} were under way on average, and it admits \
             {queue_depth} at once, so latencies measure the queue; slow the workload down (speedup=0.5 on a \
             trace, write_rate= or rate= on a built-in one) or run it closed (closed=32 on a trace).",
            figure(under_way)
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
