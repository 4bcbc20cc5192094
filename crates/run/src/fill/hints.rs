//! Advice where a run says less than it seems to, one sentence each.

use crate::fill::outcome::Outcome;
use wordline_device::Ack;
use wordline_ftl::{Cause, Media};
use wordline_report::Report;

/// What a reader of this report should know.
pub(crate) fn hints<M: Media>(report: &Report, run: &Outcome<M>) -> Vec<String> {
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
        let first = run.device.ftl.first_full().map_or(String::new(), |text| format!(", first {text}"));
        hints.push(format!(
            "the drive was full {full} times: give it more over-provisioning, or let the workload touch less{first}."
        ));
    }
    let lost = run.device.metrics.uncorrectable;
    if lost > 0 {
        hints.push(format!(
            "{lost} reads had more errors than could be corrected: the drive is worn beyond what its error model \
             allows, or its data have lain too long."
        ));
    }
    hints.extend(padded(run));
    let name = report.scheme.name.split(':').next().unwrap_or_default();
    if name == "raro" && run.setup.device.errors.is_none() {
        hints.push(
            "no errors are modelled, so no read took a retry and raro moved nothing; --set errors.model=raro models them."
                .to_string(),
        );
    }
    if let Some(hint) = saturated(report) {
        hints.push(hint);
    }
    hints
}

/// Where more than a tenth of what was programmed is padding: what lets wordlines fill.
fn padded<M: Media>(run: &Outcome<M>) -> Option<String> {
    let counters = run.device.ftl.counters();
    let (padding, all) = (counters.program_bytes(Cause::Pad), counters.programmed_bytes());
    if padding * 10 <= all {
        return None;
    }
    let spec = &run.setup.device;
    let wordlines: u64 = spec.media.iter().map(|m| u64::from(m.topology.planes() * m.densest().bits())).sum();
    let room = (2 * wordlines * spec.media[0].page.0).div_ceil(spec.unit.0);
    let mend = match (spec.ack, spec.pad_after) {
        (Ack::Program | Ack::Merge, _) => format!(
            "writes are answered when they are programmed, so a wordline is padded once one has waited {}; a \
             protected buffer fills it (--set ack.mode=buffer --set ack.pages={room})",
            spec.pad_host_after
        ),
        (Ack::Buffer(_), Some(after)) => {
            format!("wordlines are padded after {after}; --set program.pad_after=never fills them")
        }
        (Ack::Buffer(pages), None) if u64::from(pages) < room => format!(
            "the write buffer of {pages} pages is too small for the wordlines that wait in it; give it more (--set \
             ack.pages={room})"
        ),
        (Ack::Buffer(_), None) => "FLUSH, FUA and parts of pages complete wordlines early".to_string(),
    };
    Some(format!("{} % of what was programmed is padding: {mend}.", percent(padding, all)))
}

/// An open loop that the drive cannot follow.
fn saturated(report: &Report) -> Option<String> {
    let overload = report.overload()?;
    Some(format!(
        "requests came faster than the drive serves them: {} were under way on average, and it admits {} at once, \
         so latencies measure a queue that grows, and none is called best; slow the workload down (speedup=0.5 on a \
         trace, write_rate= or rate= on a built-in one) or run it closed (closed=32 on a trace).",
        figure(overload.under_way),
        overload.admitted
    ))
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
