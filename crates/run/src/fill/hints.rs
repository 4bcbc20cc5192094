//! Advice if a run is less conclusive than it looks, one sentence each.

use crate::ask::initial::{Filled, InitialSpec};
use crate::begin::{KEEPS_COPIES_APART, filled_spelling};
use crate::fill::growth::{GROWTH_MAX, late_growth};
use crate::fill::outcome::Outcome;
use serde_json::Value;
use wordline_device::{Ack, Copies, GcClass, Packing, ProgramBuffer};
use wordline_ftl::{Cause, RegionCounters, RegionId};
use wordline_report::{Reached, Report, overload};
use wordline_trace::{PageSet, Touched};
use wordline_units::{Fraction, HostOp, SimDuration, grouped};

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
            "{} % of the pages read came from RAM, so read latencies hardly reflect the flash.",
            percent(counters.flash.reads_from_ram, parts)
        ));
    }
    let full = run.device.metrics.out_of_space;
    if full > 0 {
        let first =
            run.device.ftl.inspect().first_full().map_or(String::new(), |text| format!(", first {text}"));
        let blocks: u64 = report.capacity.regions.iter().map(|region| region.blocks).sum();
        let erased = report.balance.as_ref().map_or(0, |b| b.end.free_blocks);
        let remedy = if 2 * erased > blocks {
            format!(
                "{} of {} blocks are erased, but the scheme allows these data no region with room; let its \
                 place() name another one.",
                grouped(erased),
                grouped(blocks)
            )
        } else {
            format!(
                "use more over-provisioning than {:.1} %, or a workload with a smaller footprint.",
                report.capacity.over_provisioning * 100.0
            )
        };
        hints.push(format!("the drive ran out of space {} times{first}: {remedy}", grouped(full)));
    }
    let lost = run.device.metrics.uncorrectable;
    if lost > 0 {
        hints.push(format!(
            "{lost} reads were uncorrectable: the wear or the retention time exceeds what the error model \
             can correct."
        ));
    }
    hints.extend(instant_writes(report, run));
    hints.extend(growing(report, run));
    hints.extend(padded(run));
    let name = report.scheme.name.split(':').next().unwrap_or_default();
    if name == "raro" && run.setup.device.errors.is_none() {
        hints.push(
            "no error model is set, so no read needed a retry and raro moved nothing; set one with --set \
             errors.model=raro."
                .to_string(),
        );
    }
    let keeps_copies_apart = |scheme: &str| scheme.split(':').next() == Some(KEEPS_COPIES_APART);
    if run.setup.device.gc.copies == Copies::Apart && !report.scheme.name.split('+').any(keeps_copies_apart) {
        let why = "gc.copies=apart has no effect: only scheme conventional places copies by it.";
        hints.push(why.to_string());
    }
    if run.setup.initial.retention > SimDuration::ZERO && run.setup.device.errors.is_none() {
        let mut parts = run.setup.spec.initial.split('+').map(str::trim);
        let part = parts.find(|part| part.starts_with("retention")).unwrap_or_default();
        hints.push(format!(
            "no error model is set, so {part} of the initial state has no effect; set one with --set \
             errors.model=raro."
        ));
    }
    hints.extend(saturated(report, run));
    hints
}

/// Why no write took any time.
fn instant_writes(report: &Report, run: &Outcome) -> Option<String> {
    let host = &run.setup.device.host;
    let is_instant = report.latency_us.write.is_some_and(|l| l.max == 0.0);
    let is_free = matches!(run.setup.device.ack, Ack::Buffer(_)) && host.write_latency == SimDuration::ZERO;
    (is_instant && is_free).then(|| {
        "writes take 0 µs: this device completes them in its write buffer, which never filled, and gives them \
         no time of the controller; set one with --set host.write_latency=5us."
            .to_string()
    })
}

/// A steady run whose drive holds just what it touches, where a longer one touches more.
fn growing(report: &Report, run: &Outcome) -> Option<String> {
    let setup = run.setup;
    let is_steady = report.steady_state.as_ref().is_some_and(|s| s.reached == Reached::Yes);
    let held = u64::from(setup.state.mapped.count()) * setup.device.unit.0;
    let grows = matches!(setup.initial.filled, Filled::Preload(_)) && setup.workload.is_drawn();
    if !(is_steady && grows && setup.from_state.is_none() && held < setup.device.logical_bytes()) {
        return None;
    }
    let half = (report.host.requests / 2, report.host.requests);
    let touches = |op| matches!(op, HostOp::Read | HostOp::Write);
    late_growth(run, PageSet::default(), half, touches).filter(|rate| *rate > GROWTH_MAX)?;
    Some(format!(
        "the drive holds the {} that this run touches, and its later half still touches others: a longer \
         run holds more data and has a higher WAF; --initial fill:100% holds all from the start.",
        bytes(held)
    ))
}

/// The share of pages with data if no GC happened; all, if the host reads.
const FILL: Fraction = Fraction::percent(90);

/// Maximum factor on the requests of a run in advice.
const LONGER: f64 = 1000.0;

/// A run without GC, and how to reach it.
fn no_collection(report: &Report, run: &Outcome) -> Vec<String> {
    let erases: u64 = report.flash.erases.values().sum();
    // A collection that has begun may not have come to its erase.
    let moved: u64 = ["gc", "migration"].iter().filter_map(|cause| report.flash.reads.get(*cause)).sum();
    let began = erases + moved > 0;
    let Some(drives) = report.drive_writes().filter(|_| report.host.moved().write_bytes > 0 && !began) else {
        return vec![];
    };
    // Apart, so that what is the same of several runs is said once.
    let statement = format!("{} drive writes: no GC happened.", figure(drives));
    std::iter::once(statement).chain(to_collect(report, run)).collect()
}

/// How to reach GC on this drive under this scheme.
fn to_collect(report: &Report, run: &Outcome) -> Option<String> {
    let (ftl, setup) = (run.device.ftl, run.setup);
    let took = |r: &RegionCounters| r.program_bytes[Cause::Host as usize];
    let most = ftl.counters().regions.iter().map(took).enumerate().max_by_key(|(_, bytes)| *bytes)?;
    let region = RegionId(most.0 as u8);
    let name = &ftl.layout().regions[most.0].name;
    let begins_filled =
        setup.from_state.is_some() || !matches!(setup.initial.filled, Filled::Fresh | Filled::Preload(_));
    let share = if report.host.asked().read_requests > 0 { Fraction::ONE } else { FILL };
    let fill = ftl
        .inspect()
        .fill_short_of_collection(share)
        .filter(|_| !begins_filled && ftl.layout().is_at_rest(region));
    if let Some(fill) = fill {
        let state = filled_spelling(fill);
        return Some(format!("--initial {state} starts with few free blocks."));
    }
    let left = ftl.inspect().bytes_to_collection(region).filter(|left| most.1 > 0 && *left > 0)?;
    let enough = enough(report, run, (most.1 + left) as f64 / most.1 as f64);
    let work = if ftl.layout().is_at_rest(region) { "GC" } else { "migration or GC" };
    Some(format!("region {name} has room for {} more before {work} starts{enough}.", bytes(left)))
}

/// The number of requests that writes this many times as much, if the run has one.
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
    let what = format!("{share} % of the pages read were unmapped and took no flash time");
    let proposed = match setup.initial.filled {
        _ if setup.from_state.is_some() => None,
        Filled::Preload(Touched::AtAll) | Filled::Steady(_) | Filled::Windows(_) => None,
        Filled::Share(Fraction::ONE) => None,
        Filled::Share(_) => {
            let full = run.device.ftl.inspect().fill_short_of_collection(Fraction::ONE);
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
        None => format!("{what}, because they were trimmed or never written."),
    }
}

/// If more than a tenth of the programmed bytes is padding: how to fill wordlines.
fn padded(run: &Outcome) -> Option<String> {
    let counters = run.device.ftl.counters();
    let (padding, all) = (counters.program_bytes(Cause::Pad), counters.programmed_bytes());
    if padding * 10 <= all {
        return None;
    }
    let spec = &run.setup.device;
    let wordlines: u64 = spec.media.iter().map(|m| u64::from(m.topology.planes() * m.densest().bits())).sum();
    let room = (2 * wordlines * spec.media[0].page.0).div_ceil(spec.unit.0);
    let advice = match (spec.ack, spec.pad_after) {
        _ if could_pack(run) => format!(
            "a page of {} holds mapping units of a single write; --set mapping.packing=page packs several \
             writes into it",
            spec.media[0].page
        ),
        (Ack::Program | Ack::Merge, _) => format!(
            "writes complete after programming, so a partly filled wordline is padded after {}; a \
             protected write buffer avoids this (--set ack.mode=buffer --set ack.pages={room})",
            spec.pad_host_after
        ),
        (Ack::Buffer(_), Some(after)) => {
            let protected = spec.program_buffer == ProgramBuffer::Protected;
            let and = if protected { "" } else { " --set program.buffer=protected" };
            format!(
                "partly filled wordlines are padded after {after}; avoid this with --set \
                     program.pad_after=never{and}"
            )
        }
        (Ack::Buffer(pages), None) if u64::from(pages) < room => format!(
            "the write buffer of {pages} pages is too small for the open wordlines; enlarge it (--set \
             ack.pages={room})"
        ),
        (Ack::Buffer(_), None) => "FLUSH, FUA and partial-page writes close wordlines early".to_string(),
    };
    Some(format!("{} % of the programmed bytes are padding: {advice}.", percent(padding, all)))
}

/// Whether writes could share pages but do not.
fn could_pack(run: &Outcome) -> bool {
    let (ftl, view) = (&run.device.ftl, run.device.ftl.view());
    let holds_several =
        (0..view.geometry().media.len()).any(|medium| view.geometry().units_per_page(medium) > 1);
    run.setup.device.packing == Packing::Off
        && holds_several
        && ftl.layout().packing_refusal(view.geometry()).is_none()
}

/// An overloaded open loop, and the rate that the drive sustains.
fn saturated(report: &Report, run: &Outcome) -> Vec<String> {
    let Some(overload) = overload(report) else { return vec![] };
    let details = &report.workload.details;
    let served = report.host.completed as f64 / report.simulated_s.max(1e-9);
    let slower = (served * 0.7).floor();
    let asked = details
        .get("parameters")
        .and_then(|p| p.get("rate_per_s"))
        .and_then(Value::as_f64)
        .filter(|rate| *rate > 0.0);
    let statement = format!(
        "the drive is overloaded: requests arrive faster than it completes them ({} per second). On \
         average {} were outstanding, and the drive admits {}; latencies grow with the length of the run, \
         and none is marked best.",
        figure(served),
        figure(overload.under_way),
        figure(overload.admitted as f64)
    );
    let advice = if asked.is_some_and(|rate| slower >= 1.0 && slower < rate) {
        Some(format!("--set workload.rate={slower:.0} is a rate that the drive sustains."))
    } else if details.get("speedup").and_then(Value::as_str) == Some("1") && !run.setup.workload.is_drawn() {
        Some("--set workload.closed=32 replays the trace as a closed loop.".to_string())
    } else {
        None
    };
    std::iter::once(statement).chain(advice).collect()
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
        x if x >= 1000.0 => grouped(x.round() as u64),
        x if x >= 10.0 => format!("{x:.0}"),
        x if x >= 0.1 => format!("{x:.1}"),
        x if x > 0.0 => format!("{x:.*}", 1 + (-x.log10()).ceil() as usize),
        x => format!("{x:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of 80 ppm of a drive once had "0.000 drive writes".
    #[test]
    fn small_figures_keep_two_digits() {
        let of = [0.0, 0.000_081_9, 0.005_73, 0.02, 0.5, 12.3, 12_345.6].map(figure);
        assert_eq!(of, ["0", "0.000082", "0.0057", "0.020", "0.5", "12", "12,346"]);
    }
}
