//! The page of a trace, in the style of a run's page, with the result of `trace inspect` in its heading.

use crate::page::parts::{Heading, Page};
use crate::pictures::svg::escape;
use crate::pictures::trace::trace_figures;
use crate::words::number::{self, Quantity};
use crate::words::phrases::Said;
use wordline_trace::{Inspection, Profile};

/// The page of a trace.
pub fn trace_html(inspection: &Inspection, profile: &Profile) -> String {
    let name = inspection.file.rsplit('/').next().unwrap_or(&inspection.file);
    let mut page = Page::begin(name);
    let facts = facts(inspection).into_iter().map(|(what, value)| (what.to_string(), value)).collect();
    let (title, lead) = (name.to_string(), verdict(inspection, profile));
    page.open_heading(&Heading { title, lead, facts, ..Heading::default() });
    page.html().push_str("</header>\n<main>\n");
    page.contents("Summary");
    let refused = |text: &String| ("warn", Said { who: vec![], text: format!("A run rejects it: {text}") });
    page.notes("Faults", "", &inspection.refusals.iter().map(refused).collect::<Vec<_>>());
    let figures = trace_figures(inspection, profile);
    for (title, id, names) in SECTIONS {
        let shown: Vec<_> = figures.iter().filter(|f| names.contains(&&*f.name)).cloned().collect();
        if !shown.is_empty() {
            page.section(title, id, "");
            page.figures(&shown);
            page.end_section();
        }
    }
    page.html().push_str("</main>\n");
    page.end(&[
        format!("{}, SHA-256 <code>{}</code>", escape(&inspection.file), escape(&inspection.sha256)),
        format!("{}: {}", escape(&inspection.format), escape(&inspection.reason)),
        format!("Wordline {}", env!("CARGO_PKG_VERSION")),
    ])
}

/// The pictures, by heading.
const SECTIONS: [(&str, &str, &[&str]); 3] = [
    ("Requests", "requests", &["arrivals-over-time", "interarrival-cdf", "request-sizes"]),
    ("Footprint", "touched", &["footprint-over-time", "hot-spots-over-time"]),
    ("Reuse", "reuse", &["lru-hit-curve", "reuse-distances"]),
];

fn verdict(i: &Inspection, p: &Profile) -> String {
    let mut text = format!(
        "{} in {}, {} % of them writes.",
        number::requests(i.requests),
        Quantity::Time.show(i.span_s),
        number::significant(i.write_fraction * 100.0)
    );
    let tenth = p.reuse.pages / 10;
    if let Some(hits) = p.reuse.hits_at(tenth.max(1) * 4096).all {
        text += &format!(
            " A cache of 10 % of the footprint ({}) has a hit rate of {} %.",
            number::bytes(tenth.max(1) * 4096),
            number::significant(hits * 100.0)
        );
    }
    text
}

fn facts(i: &Inspection) -> Vec<(&'static str, String)> {
    const GIB: f64 = (1u64 << 30) as f64;
    let size = |gib: f64| Quantity::Bytes.show(gib * GIB);
    let mut facts = vec![
        ("Format", i.format.clone()),
        ("Requests/s", number::significant(i.requests_per_s)),
        ("Read", size(i.read_gib)),
        ("Written", size(i.write_gib)),
        ("Footprint", size(i.footprint_gib)),
        ("Footprint written", size(i.written_footprint_gib)),
        ("Addresses up to", size(i.address_space_gib)),
    ];
    let kinds = [
        (i.trims, "Trims"),
        (i.flushes, "Flushes"),
        (i.fua_writes, "FUA writes"),
        (i.stream_writes, "Writes in streams"),
    ];
    for (count, what) in kinds {
        if count > 0 {
            facts.push((what, number::count(count)));
        }
    }
    if i.volumes.len() > 1 {
        facts.push(("Volumes", number::count(i.volumes.len() as u64)));
    }
    facts
}
