//! Properties of a trace, as text.

use crate::inspect::inspect::{CACHE_SHARES, GIB, Inspection};
use crate::reading::record::Position;
use crate::source::compression::Compression;
use crate::text::numbers::{grouped, readable_bytes};
use crate::trace::scan::place;
use std::fmt::Write;

/// A number with about three digits.
fn figure(x: f64) -> String {
    match x {
        0.0 => "0".to_string(),
        x if x >= 1000.0 => grouped(x.round() as u64),
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x if x >= 0.1 => format!("{x:.2}"),
        x if x >= 0.001 => format!("{x:.4}"),
        x => format!("{x:.1e}"),
    }
}

/// A size as text.
fn size(gib: f64) -> String {
    readable_bytes((gib * GIB) as u64)
}

/// Days to a tenth, whole from a hundred on.
fn days(days: f64) -> String {
    if days < 99.95 { format!("{days:.1}") } else { grouped(days.round() as u64) }
}

/// A time as text.
fn span(seconds: f64) -> String {
    match seconds {
        s if s >= 2.0 * 86_400.0 => format!("{} s ({} days)", figure(s), days(s / 86_400.0)),
        s if s >= 2.0 * 3_600.0 => format!("{} s ({:.1} h)", figure(s), s / 3_600.0),
        s if s >= 120.0 => format!("{} s ({:.1} min)", figure(s), s / 60.0),
        s if s >= 1.0 || s == 0.0 => format!("{} s", figure(s)),
        s if s >= 1e-3 => format!("{} ms", figure(s * 1e3)),
        s => format!("{} us", figure(s * 1e6)),
    }
}

/// Breaks a sentence into lines of about 76 characters; all but the first are indented.
fn wrapped(text: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 76 {
            let _ = write!(out, "\n{:indent$}", "");
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += length;
    }
    out
}

const INDENT: usize = 14;
/// Maximum number of volumes to list.
const SHOWN_VOLUMES: usize = 12;
/// Characters of the longest bar.
const BAR: u64 = 40;

/// The text of an inspection for a terminal.
pub fn render_inspection(inspection: &Inspection) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let mut row = |label: &str, text: String| {
        let _ = writeln!(out, "{label:INDENT$}{text}");
    };
    row(
        "file",
        format!(
            "{} ({}, {})",
            inspection.file,
            readable_bytes(inspection.file_bytes),
            match inspection.compression {
                Compression::Plain => "uncompressed".to_string(),
                packed => format!("compressed with {}", packed.name()),
            }
        ),
    );
    row("sha256", inspection.sha256.clone());
    row("format", format!("{} ({})", inspection.format, inspection.confidence.name()));
    row("because", wrapped(&inspection.reason, INDENT));
    for remark in &inspection.remarks {
        row("note", wrapped(remark, INDENT));
    }
    for file in &inspection.left_out {
        row("left out", wrapped(file, INDENT));
    }
    // The confidence in the format does not apply to given options.
    for (label, is_told) in [("read with", false), ("as set", true)] {
        let of = inspection.options.iter().filter(|(k, _)| inspection.told.contains(k) == is_told);
        let options: Vec<String> = of.map(|(k, v)| format!("{k}={v}")).collect();
        if !options.is_empty() {
            row(label, options.join(","));
        }
    }
    out.push('\n');
    let mut row = |label: &str, text: String| {
        let _ = writeln!(out, "{label:INDENT$}{text}");
    };
    let mut kinds = vec![
        format!("{} reads", grouped(inspection.reads)),
        format!("{} writes", grouped(inspection.writes)),
    ];
    for (count, name) in [
        (inspection.trims, "trims"),
        (inspection.flushes, "flushes"),
        (inspection.fua_writes, "of the writes with FUA"),
        (inspection.stream_writes, "of the writes in streams"),
    ] {
        if count > 0 {
            kinds.push(format!("{} {name}", grouped(count)));
        }
    }
    row(
        "requests",
        format!(
            "{}: {} ({:.1} % writes)",
            grouped(inspection.requests),
            kinds.join(", "),
            inspection.write_fraction * 100.0
        ),
    );
    row("span", format!("{}, {} requests/s", span(inspection.span_s), figure(inspection.requests_per_s)));
    if let Some(at) = inspection.largest_gap_at {
        row(
            "longest gap",
            format!(
                "{} before {}",
                span(inspection.largest_gap_s),
                place(inspection.largest_gap_in.as_deref(), at)
            ),
        );
    }
    row("read", format!("{}, mean {} KiB", size(inspection.read_gib), figure(inspection.mean_read_kib)));
    row("written", format!("{}, mean {} KiB", size(inspection.write_gib), figure(inspection.mean_write_kib)));
    row(
        "footprint",
        format!(
            "{} in distinct 4 KiB pages, {} of it written",
            size(inspection.footprint_gib),
            size(inspection.written_footprint_gib)
        ),
    );
    if inspection.write_gib > inspection.written_footprint_gib {
        row(
            "overwrites",
            format!(
                "each written page {} times on average",
                figure(inspection.write_gib / inspection.written_footprint_gib)
            ),
        );
    }
    let dispersion: Vec<String> =
        [(inspection.arrivals.dispersion_1s, "1 s"), (inspection.arrivals.dispersion_60s, "60 s")]
            .into_iter()
            .filter_map(|(index, window)| Some(format!("{} in windows of {window}", figure(index?))))
            .collect();
    if !dispersion.is_empty() {
        row("dispersion", format!("{} (1 if arrivals were independent)", dispersion.join(", ")));
    }
    let side = if inspection.volumes.len() > 1 {
        format!(
            "; {} with {} volumes concatenated",
            size(inspection.address_space_gib),
            inspection.volumes.len()
        )
    } else {
        String::new()
    };
    row("addresses", format!("up to {}{side}", size(inspection.highest_address_gib)));
    if inspection.unaligned > 0 {
        row("rounded", format!("{} requests to whole blocks of 512 B", grouped(inspection.unaligned)));
    }
    if inspection.reordered > 0 {
        row("sorted", format!("{} requests were out of order", grouped(inspection.reordered)));
    }
    if inspection.open_end {
        row(
            "last line",
            "has no newline; if the file was truncated there, its last number may be wrong".into(),
        );
    }
    if inspection.asides > 0 {
        row("set aside", format!("{} entries that are not requests", grouped(inspection.asides)));
    }
    render_sizes(inspection, &mut out);
    render_cache(inspection, &mut out);
    render_volumes(inspection, &mut out);
    render_faults(inspection, &mut out);
    out
}

fn render_sizes(inspection: &Inspection, out: &mut String) {
    let most = inspection.sizes.iter().map(|c| c.reads + c.writes).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let _ = writeln!(out, "\n{:>12}  {:>12}  {:>12}", "size up to", "reads", "writes");
    for c in &inspection.sizes {
        let bar = ((c.reads + c.writes) * BAR).div_ceil(most) as usize;
        let reads = (bar as u64 * c.reads / (c.reads + c.writes)) as usize;
        let _ = writeln!(
            out,
            "{:>12}  {:>12}  {:>12}  {}{}",
            readable_bytes(c.up_to_bytes),
            grouped(c.reads),
            grouped(c.writes),
            "░".repeat(reads),
            "█".repeat(bar - reads)
        );
    }
    let _ = writeln!(out, "{:42}░ reads █ writes", "");
}

fn render_cache(inspection: &Inspection, out: &mut String) {
    let Some(cache) = &inspection.cache else { return };
    let percent = |share: Option<f64>| share.map_or("–".to_string(), |s| format!("{:.1} %", s * 100.0));
    let _ = writeln!(
        out,
        "\n{:>12}  {:>12}  {:>12}  {:>12}  {:>12}",
        "LRU cache", "of footprint", "reads hit", "writes hit", "all"
    );
    for (h, share) in cache.hits.iter().zip(CACHE_SHARES) {
        let _ = writeln!(
            out,
            "{:>12}  {:>12}  {:>12}  {:>12}  {:>12}",
            readable_bytes(h.cache_bytes),
            format!("{share} %"),
            percent(h.reads),
            percent(h.writes),
            percent(h.all)
        );
    }
    if cache.sampled_pages < 1.0 {
        let one_in = grouped((1.0 / cache.sampled_pages).round() as u64);
        let _ = writeln!(out, "From one page in {one_in}, chosen by a hash (SHARDS).");
    }
}

fn render_volumes(inspection: &Inspection, out: &mut String) {
    if inspection.volumes.len() < 2 {
        return;
    }
    let _ =
        writeln!(out, "\n{:>12}  {:>12}  {:>12}  {:>12}", "volume", "requests", "reaches to", "laid out at");
    for v in inspection.volumes.iter().take(SHOWN_VOLUMES) {
        let _ = writeln!(
            out,
            "{:>12}  {:>12}  {:>12}  {:>12}",
            v.label,
            grouped(v.requests),
            readable_bytes(v.highest_bytes),
            readable_bytes(v.base_bytes)
        );
    }
    if inspection.volumes.len() > SHOWN_VOLUMES {
        let _ = writeln!(out, "{:>12}  and {} more", "", inspection.volumes.len() - SHOWN_VOLUMES);
    }
    let _ = writeln!(out, "Each volume has its own address space; a run concatenates them in this order.");
}

fn render_faults(inspection: &Inspection, out: &mut String) {
    if let Some(first) = &inspection.backwards.first {
        let _ = writeln!(
            out,
            "\n{} requests are out of order, by up to {} s; the first at {}",
            grouped(inspection.backwards.count),
            figure(inspection.backwards.largest_ns as f64 / 1e9),
            place(first.file.as_deref(), first.at)
        );
    }
    if inspection.unusable.places > 0 {
        let first = inspection.unusable.first.first();
        let binary = first.is_some_and(|u| !matches!(u.at, Position::Line(_)));
        let part = if binary { "record" } else { "line" };
        let s = if inspection.unusable.count == 1 { "" } else { "s" };
        let _ = match inspection.unusable.count {
            0 => writeln!(out, "\nThe file is damaged, but none of its requests is known to be lost:"),
            _ => writeln!(out, "\n{} {part}{s} cannot be used:", inspection.unusable.counted()),
        };
        for u in &inspection.unusable.first {
            let _ = writeln!(out, "  {:>12}  {}", place(u.file.as_deref(), u.at), u.reason);
        }
        let more = inspection.unusable.places - inspection.unusable.first.len() as u64;
        if more > 0 {
            let _ = writeln!(out, "  {:>12}  and {} more", "", grouped(more));
        }
    }
    if !inspection.refusals.is_empty() {
        let _ = writeln!(out, "\nA run rejects this trace unchanged:");
        for refusal in &inspection.refusals {
            let _ = writeln!(out, "  {}", refusal.replace('\n', "\n  "));
        }
    }
}
