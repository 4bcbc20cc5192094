//! Advice where a run says less than it seems to, one sentence each.

use crate::ask::initial::{Filled, InitialSpec};
use crate::begin::filled_spelling;
use crate::fill::outcome::Outcome;
use serde_json::Value;
use wordline_device::{Ack, GcClass, ProgramBuffer};
use wordline_ftl::{Cause, RegionCounters, RegionId};
use wordline_report::Report;
use wordline_trace::Touched;
use wordline_units::Fraction;

/// What a reader of this report should know.
pub(crate) fn hints(report: &Report, run: &Outcome) -> Vec<String> {
    let mut hints = run.setup.workload.remarks();
    hints.extend(no_collection(report, run));
    let counters = run.device.ftl.counters();
    let flash_reads = report.flash.reads.get("host").copied().unwrap_or(0);
    let parts = flash_reads
        + counters.flash.reads_from_ram
        + counters.flash.reads_cached.unwrap_or(0)
        + counters.reads_unmapped;
    if counters.reads_unmapped * 20 > parts {
        hints.push(unmapped(run, percent(counters.reads_unmapped, parts)));
    }
    if counters.flash.reads_from_ram * 5 > parts {
        hints.push(format!(
            "{} % of the pages read were answered from RAM, so read latencies say little of the flash.",
            percent(counters.flash.reads_from_ram, parts)
        ));
    }
    let full = run.device.metrics.out_of_space;
    if full > 0 {
        let first = run.device.ftl.first_full().map_or(String::new(), |text| format!(", first {text}"));
        hints.push(format!(
            "the drive ran out of space {full} times{first}: it needs more over-provisioning than {:.1} %, or a workload that \
             touches less of it.",
            report.capacity.over_provisioning * 100.0
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
    hints.extend(saturated(report, run));
    hints
}

/// The share of the pages that data fill where no collection happened; where the host reads, all hold data.
const FILL: Fraction = Fraction::percent(90);

/// More than so many times the requests of a run nobody is told to run.
const LONGER: f64 = 1000.0;

/// A run that wrote and collected nothing, and what would have made it collect.
fn no_collection(report: &Report, run: &Outcome) -> Vec<String> {
    let erases: u64 = report.flash.erases.values().sum();
    // A collection that has begun may not have come to its erase.
    let moved: u64 = ["gc", "migration"].iter().filter_map(|cause| report.flash.reads.get(*cause)).sum();
    let began = erases + moved > 0;
    let Some(drives) = report.drive_writes().filter(|_| report.host.moved().write_bytes > 0 && !began) else {
        return vec![];
    };
    // Apart, so that what is the same of several runs is said once.
    let statement = format!("{} drive writes: no collection happened.", figure(drives));
    std::iter::once(statement).chain(to_collect(report, run)).collect()
}

/// What makes this drive collect under this scheme.
fn to_collect(report: &Report, run: &Outcome) -> Option<String> {
    let (ftl, setup) = (run.device.ftl, run.setup);
    let took = |r: &RegionCounters| r.program_bytes[Cause::Host as usize];
    let most = ftl.counters().regions.iter().map(took).enumerate().max_by_key(|(_, bytes)| *bytes)?;
    let region = RegionId(most.0 as u8);
    let name = &ftl.layout().regions[most.0].name;
    let begins_filled =
        setup.from_state.is_some() || !matches!(setup.initial.filled, Filled::Fresh | Filled::Preload(_));
    let share = if report.host.asked().read_requests > 0 { Fraction::ONE } else { FILL };
    let fill =
        ftl.fill_short_of_collection(share).filter(|_| !begins_filled && ftl.layout().is_at_rest(region));
    if let Some(fill) = fill {
        let state = filled_spelling(fill);
        return Some(format!("--initial {state} begins with a drive that is short of free blocks."));
    }
    let left = ftl.bytes_to_collection(region).filter(|left| most.1 > 0 && *left > 0)?;
    let enough = enough(report, run, (most.1 + left) as f64 / most.1 as f64);
    Some(format!("region {name} can take {} more before it is collected{enough}.", bytes(left)))
}

/// The number of requests that writes so many times as much, where one is given.
fn enough(report: &Report, run: &Outcome, times: f64) -> String {
    let setup = run.setup;
    // In the background collection waits for the host, and nobody knows for how long.
    if setup.device.gc.class == GcClass::Background {
        return String::new();
    }
    if !setup.workload.is_drawn() || setup.limit().requests != Some(report.host.requests) || times > LONGER {
        return String::new();
    }
    // A half more, since planes do not fill at the same pace.
    let requests = (report.host.requests as f64 * times * 1.5).ceil();
    let option = if setup.spec.requests.is_some() { "--requests " } else { "--set workload.requests=" };
    format!(": {option}{requests:.0} is enough")
}

/// Reads of pages that hold no data.
fn unmapped(run: &Outcome, share: String) -> String {
    let setup = run.setup;
    let what = format!("{share} % of the pages read held no data and cost no flash time");
    let proposed = match setup.initial.filled {
        _ if setup.from_state.is_some() => None,
        Filled::Preload(Touched::AtAll) | Filled::Steady(_) | Filled::Windows(_) => None,
        Filled::Share(Fraction::ONE) => None,
        Filled::Share(_) => {
            let full = run.device.ftl.fill_short_of_collection(Fraction::ONE);
            full.map(|(share, valid)| InitialSpec {
                filled: Filled::Share(share),
                valid,
                ..setup.initial.clone()
            })
        }
        Filled::Fresh | Filled::Preload(_) => {
            Some(InitialSpec { filled: Filled::Preload(Touched::AtAll), ..setup.initial.clone() })
        }
    };
    match proposed {
        Some(initial) => format!("{what}; --initial {initial} maps them."),
        None => format!("{what}: they were trimmed or never written."),
    }
}

/// Where more than a tenth of what was programmed is padding: what lets wordlines fill.
fn padded(run: &Outcome) -> Option<String> {
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
            let protected = spec.program_buffer == ProgramBuffer::Protected;
            let and = if protected { "" } else { " --set program.buffer=protected" };
            format!("wordlines are padded after {after}; --set program.pad_after=never{and} fills them")
        }
        (Ack::Buffer(pages), None) if u64::from(pages) < room => format!(
            "the write buffer of {pages} pages is too small for the wordlines that wait in it; give it more (--set \
             ack.pages={room})"
        ),
        (Ack::Buffer(_), None) => "FLUSH, FUA and parts of pages complete wordlines early".to_string(),
    };
    Some(format!("{} % of what was programmed is padding: {mend}.", percent(padding, all)))
}

/// An open loop that the drive cannot follow, and the pace that it can.
fn saturated(report: &Report, run: &Outcome) -> Vec<String> {
    let Some(overload) = report.overload() else { return vec![] };
    let details = &report.workload.details;
    let served = report.host.completed as f64 / report.simulated_s.max(1e-9);
    let slower = (served * 0.7).floor();
    let asked = details
        .get("parameters")
        .and_then(|p| p.get("rate_per_s"))
        .and_then(Value::as_f64)
        .filter(|rate| *rate > 0.0);
    let statement = format!(
        "requests came faster than the drive serves them ({} a second): {} were outstanding on average, and it admits {} in \
         parallel, so latencies measure a queue that grows, and none is called best.",
        figure(served),
        figure(overload.under_way),
        overload.admitted
    );
    let mend = if asked.is_some_and(|rate| slower >= 1.0 && slower < rate) {
        Some(format!("--set workload.rate={slower:.0} is slow enough for the drive."))
    } else if details.get("speedup").and_then(Value::as_str) == Some("1") && !run.setup.workload.is_drawn() {
        Some("--set workload.closed=32 replays the trace as a closed loop.".to_string())
    } else {
        None
    };
    std::iter::once(statement).chain(mend).collect()
}

/// A number of bytes, to three digits.
fn bytes(n: u64) -> String {
    match n {
        n if n >= 10 << 30 => format!("{} GiB", n >> 30),
        n if n >= 10 << 20 => format!("{} MiB", n >> 20),
        n => format!("{} KiB", n >> 10),
    }
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
