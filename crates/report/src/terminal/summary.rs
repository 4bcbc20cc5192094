//! One run, with what a comparison omits: flash operations by cause, capacity, wear and engine speed.

use crate::schema::activity::Lifetime;
use crate::schema::report::Report;
use crate::terminal::columns::{Columns, Ratios};
use crate::terminal::sentences::{advice, again, heading};
use crate::terminal::text::{Look, Page, TerminalStyle};
use crate::words::conditions::flash;
use crate::words::labels::replicas;
use crate::words::lifetime::cycles;
use crate::words::names::mode_title;
use crate::words::number::{self, Quantity, YEAR_S};
use crate::words::{rows, steadiness, steady, steady_start};

/// One run, with what the comparison leaves out: the flash by cause, capacity, wear and the engine.
pub fn summary(report: &Report, style: TerminalStyle) -> String {
    let mut page = Page::new(style);
    let reports = std::slice::from_ref(report);
    let title = if report.scheme.title.is_empty() {
        report.scheme.name.clone()
    } else {
        format!("{}: {}", report.scheme.name, report.scheme.title)
    };
    heading(&mut page, reports, &title);
    let groups = rows::groups(reports);
    Columns::new(&[String::new()], &groups).draw(&mut page, &groups, &[false], Ratios::Hide);
    if let Some(text) = replicas(reports) {
        page.blank();
        page.wrap("", &text, Look::Dim);
    }
    page.blank();
    for (what, text) in particulars(report) {
        page.wrap(&format!("{what:<15}"), &text, Look::Plain);
    }
    for text in crate::words::twins::sentences(reports, &[String::new()]) {
        page.wrap("twin           ", &text, Look::Plain);
    }
    advice(&mut page, reports);
    again(&mut page, Some(report.command.clone()));
    page.finish()
}

/// Facts of one run that are not compared.
fn particulars(r: &Report) -> Vec<(&'static str, String)> {
    let counts = |map: &mut dyn Iterator<Item = (String, u64)>| {
        map.filter(|(_, n)| *n > 0)
            .map(|(k, n)| format!("{k} {}", number::count(n)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let programs = |n: &crate::schema::activity::Programs| n.program + n.reprogram;
    let mut out = vec![
        ("flash reads", counts(&mut r.flash.reads.iter().map(|(k, n)| (k.clone(), *n)))),
        ("flash programs", counts(&mut r.flash.programs.iter().map(|(k, n)| (k.clone(), programs(n))))),
    ];
    if let Some(text) = steady::sentence(r) {
        out.insert(0, ("steady state", text.trim_end_matches('.').to_string()));
        if let Some(text) = steadiness::short_advice(std::slice::from_ref(r)) {
            out.insert(1, ("run longer", text));
        }
    }
    if let Some(text) = steady_start::sentence(r) {
        out.insert(
            0,
            ("steady start", text.trim_start_matches("started ").trim_end_matches('.').to_string()),
        );
    }
    let c = &r.capacity;
    out.push((
        "capacity",
        format!(
            "{} logical of {} ({} % over-provisioning), {} valid{}",
            number::bytes(c.logical_bytes),
            number::bytes(c.physical_bytes),
            number::significant(c.over_provisioning * 100.0),
            number::bytes(c.live_bytes),
            r.conditions
                .as_ref()
                .filter(|c| c.flash_bytes.len() > 1)
                .map_or(String::new(), |c| format!("; flash {}", flash(&c.flash_bytes)))
        ),
    ));
    for (mode, w) in &r.wear {
        let what = format!(
            "{} {} blocks, mean {} (σ {}), {} to {} cycles",
            mode_title(mode),
            number::count(w.blocks),
            number::significant(w.mean),
            number::significant(w.sigma),
            number::count(w.min),
            number::count(w.max)
        );
        out.push(("wear", what));
    }
    if let Some(l) = &r.lifetime {
        let modes = l.by_mode.iter().map(|(mode, m)| {
            let left = match m.left {
                None => "none used".into(),
                Some(left) if left <= 0.0 => "all used".into(),
                Some(left) => format!("{} times as many left as used", number::significant(left)),
            };
            format!("{}: {} cycles, {left}", mode_title(mode), number::count(m.endurance))
        });
        let mut what = modes.collect::<Vec<_>>().join("; ");
        if let Some(text) = extrapolated(r, l) {
            what.push_str(&format!("; {text}"));
        }
        out.push(("lifetime", what));
    }
    if let Some(l) = &r.lost_blocks {
        let mut what = format!(
            "{} of {} factory bad blocks, {} retired; one erase counts as {}",
            number::count(l.counts.bad),
            number::count(l.blocks),
            number::count(l.counts.retired),
            cycles(l.acceleration)
        );
        if let Some(end) = l.worn_out {
            what.push_str(&format!(
                "; worn out after {} written ({} drive writes), {} at this pace",
                Quantity::Bytes.show(end.total_bytes_written),
                number::significant(end.drive_writes),
                Quantity::Age.show(end.years * YEAR_S)
            ));
        }
        out.push(("blocks lost", what));
    }
    let mut engine = format!(
        "{} wall, {} requests/s, {} flash operations/s, {} of state",
        Quantity::Time.show(r.speed.wall_s),
        Quantity::Iops.show(r.speed.requests_per_s),
        Quantity::Iops.show(r.speed.flash_ops_per_s),
        number::bytes(r.memory.engine_bytes)
    );
    if let Some(b) = r.memory.bytes_per_mapped_page {
        engine.push_str(&format!(", {} B per mapped page", number::significant(b)));
    }
    out.push(("engine", engine));
    out.push(("result hash", r.result_hash.clone()));
    if let Some(replicas) = &r.replicas {
        let others: Vec<&str> = replicas.runs.iter().skip(1).map(|r| r.result_hash.as_str()).collect();
        out.push(("of the others", others.join(" ")));
    }
    out.retain(|(_, text)| !text.is_empty());
    out
}

/// Lifetime at the wear of this run: only if the run is steady.
fn extrapolated(r: &Report, l: &Lifetime) -> Option<String> {
    let (bytes, years, daily) = (l.total_bytes_written?, l.years?, l.drive_writes_per_day?);
    if !steadiness::stands(std::slice::from_ref(r)) {
        return Some("TBW unknown: the run is not steady; run longer".to_string());
    }
    let drive_writes = bytes / r.capacity.logical_bytes.max(1) as f64;
    Some(format!(
        "{} TB by the wear of this run: {} DWPD over 5 years, or {} years at the pace of {} DWPD",
        number::significant(bytes / 1e12),
        number::significant(daily),
        number::significant(years),
        number::significant(drive_writes / (years * 365.25)),
    ))
}
