//! The pictures of a trace: what it touches over time, how soon it comes back to it, what a cache would
//! answer, how long requests are, when they come, and where the hot spots are. Reads and writes have one
//! color each through all of them.

use crate::pictures::figure::{Csv, Figure, WIDTH, data};
use crate::pictures::palette;
use crate::pictures::svg::{Anchor, Canvas, Scale, ScaleKind, path, px, text_width, tick_text};
use crate::pictures::trace_plot::{
    ALL, BOTTOM, Ink, LEFT, Line, READS, RIGHT, TOP, WRITES, beside, binary_ticks, bytes_tick, clock,
    labelled, left_axis, legend, percent, size_scale, stroke, time_axis,
};
use crate::words::number::{self, Quantity};
use wordline_trace::{HitRatio, Hits, Inspection, Profile};

/// Bytes of the page in which footprints and reuse are counted.
const PAGE: f64 = 4096.0;
/// Shades of the heat map.
const SHADES: usize = 8;

/// Every picture for which the trace has data.
pub fn trace_figures(inspection: &Inspection, profile: &Profile) -> Vec<Figure> {
    let made = [
        footprint(profile),
        arrivals(profile),
        heat(profile),
        hit_curve(profile),
        distances(profile),
        sizes(inspection),
        gaps(profile, inspection),
    ];
    made.into_iter().flatten().collect()
}

fn footprint(p: &Profile) -> Option<Figure> {
    let most = *p.touched.last()? as f64 * PAGE;
    let unit = Quantity::Bytes.unit_for(std::iter::once(most));
    let right = beside(&["touched", "written"]);
    let (x, time) = clock(p.bin_s * p.touched.len() as f64, right);
    let y = Scale::from_zero(most / unit.size, 4, BOTTOM, TOP);
    let mut c = Canvas::new(WIDTH, BOTTOM + 42.0);
    c.text("note", (0.0, 12.0), Anchor::Start, &format!("distinct pages so far ({})", unit.sign));
    left_axis(&mut c, &y, right, tick_text);
    let line = |ink: Ink, name: &'static str, pages: &[u64]| {
        let bins = pages.iter().enumerate();
        let points =
            bins.map(|(n, v)| ((n as f64 + 1.0) * p.bin_s / time.size, *v as f64 * PAGE / unit.size));
        Line { ink, name, points: std::iter::once((0.0, 0.0)).chain(points).collect() }
    };
    labelled(&mut c, &x, &y, &[line(ALL, "touched", &p.touched), line(WRITES, "written", &p.written)]);
    time_axis(&mut c, &x, time, BOTTOM);
    let mut csv = Csv::new("time_s,touched_bytes,written_bytes");
    for (n, (touched, written)) in p.touched.iter().zip(&p.written).enumerate() {
        let bytes = |pages: u64| Some(pages as f64 * PAGE);
        csv.row(&[], &[Some((n as f64 + 1.0) * p.bin_s), bytes(*touched), bytes(*written)]);
    }
    let title = "Footprint over time";
    Some(Figure {
        name: "footprint-over-time".into(),
        title: title.to_string(),
        caption: "Pages of 4 KiB, each counted at its first access. Where the curve is flat, the trace \
                  accesses no new pages."
            .to_string(),
        svg: c.finish(title, &data("bars", &[])),
        csv: csv.into_text(),
    })
}

fn arrivals(p: &Profile) -> Option<Figure> {
    let rate = |counts: &[u64]| counts.iter().map(|n| *n as f64 / p.bin_s).collect::<Vec<f64>>();
    let strips = [(READS, rate(&p.reads)), (WRITES, rate(&p.writes))];
    let strips: Vec<_> = strips.into_iter().filter(|(_, r)| r.iter().any(|v| *v > 0.0)).collect();
    if strips.is_empty() {
        return None;
    }
    let (x, time) = clock(p.bin_s * p.reads.len() as f64, RIGHT);
    let height = if strips.len() == 1 { 200.0 } else { 88.0 };
    let mut c = Canvas::new(WIDTH, BOTTOM + 42.0);
    c.text("note", (0.0, 12.0), Anchor::Start, "requests/s");
    for (k, (ink, rates)) in strips.iter().enumerate() {
        let top = BOTTOM - height - (strips.len() - 1 - k) as f64 * (height + 28.0);
        // Of its own: where reads come a hundred times as fast, writes would lie on the axis.
        let most = rates.iter().copied().fold(0.0, f64::max);
        let y = Scale::from_zero(most, 2, top + height, top);
        for tick in y.ticks(2) {
            c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (LEFT, tick.at), (RIGHT, tick.at));
            c.text("tick", (LEFT - 7.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
        }
        // Steps, since a bin is a count and not a sample.
        let points = rates.iter().enumerate().flat_map(|(n, v)| {
            let ends = [n as f64, n as f64 + 1.0];
            ends.map(|n| Some((x.at(n * p.bin_s / time.size), y.at(*v))))
        });
        let line = path(points);
        let (zero, end) = (px(y.from), px(x.to));
        c.raw(&format!(
            r#"<path class="area {}" fill="{}" fill-opacity="0.2" d="{line}L{end} {zero}L{} {zero}Z"/>"#,
            ink.class,
            ink.colour,
            px(LEFT)
        ));
        c.raw(&stroke(Ink { dashes: "", ..*ink }, "1.1", &line));
        let class = format!("name {}", ink.class);
        c.coloured_text(&class, ink.colour, (LEFT, top - 7.0), Anchor::Start, ink.name);
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        c.text("note", (RIGHT, top - 7.0), Anchor::End, &format!("mean {}/s", number::significant(mean)));
    }
    time_axis(&mut c, &x, time, BOTTOM);
    let mut csv = Csv::new("time_s,reads_per_s,writes_per_s");
    for (n, (reads, writes)) in p.reads.iter().zip(&p.writes).enumerate() {
        csv.row(
            &[],
            &[
                Some((n as f64 + 0.5) * p.bin_s),
                Some(*reads as f64 / p.bin_s),
                Some(*writes as f64 / p.bin_s),
            ],
        );
    }
    let dispersion = [(p.arrivals.dispersion_1s, "1 s"), (p.arrivals.dispersion_60s, "60 s")];
    let said: Vec<String> = dispersion
        .iter()
        .filter_map(|(index, window)| {
            Some(format!("{} in windows of {window}", number::significant((*index)?)))
        })
        .collect();
    let mut caption = format!("Bins of {}.", Quantity::Time.show(p.bin_s));
    if strips.len() > 1 {
        caption += " Reads and writes have a scale each.";
    }
    if !said.is_empty() {
        caption += &format!(
            " The index of dispersion (variance over mean of arrivals) is {}; independent arrivals have 1.",
            said.join(" and ")
        );
    }
    let title = "Arrivals over time";
    Some(Figure {
        name: "arrivals-over-time".into(),
        title: title.to_string(),
        caption,
        svg: c.finish(title, &data("bars", &[])),
        csv: csv.into_text(),
    })
}

fn heat(p: &Profile) -> Option<Figure> {
    let most = p.heat.iter().flatten().copied().max().filter(|m| *m > 0)?;
    let (rows, columns) = (p.heat.len(), p.heat.first()?.len());
    let seconds = p.bin_s * p.touched.len() as f64;
    let size = *p.touched.last()? as f64 * PAGE;
    let unit = Quantity::Bytes.unit_for(std::iter::once(size));
    let (x, time) = clock(seconds, RIGHT);
    let y = Scale { kind: ScaleKind::Linear, min: 0.0, max: size / unit.size, from: BOTTOM, to: TOP };
    let (width, height) = ((RIGHT - LEFT) / columns as f64, (BOTTOM - TOP) / rows as f64);
    // A shade for each equal step of the logarithm.
    let shade = |n: u64| {
        let share = (n as f64).ln_1p() / (most as f64).ln_1p();
        ((share * SHADES as f64).ceil() as usize).clamp(1, SHADES) - 1
    };
    let mut shades = vec![String::new(); SHADES];
    for (row, counts) in p.heat.iter().enumerate() {
        let at = BOTTOM - (row + 1) as f64 * height;
        let mut column = 0;
        for run in counts.chunk_by(|a, b| *a > 0 && *b > 0 && shade(*a) == shade(*b) || a == b) {
            if run[0] > 0 {
                let (from, to) = (LEFT + column as f64 * width, LEFT + (column + run.len()) as f64 * width);
                // A little larger, so that no seam shows between neighbors.
                shades[shade(run[0])] +=
                    &format!("M{} {}H{}v{}H{}z", px(from), px(at), px(to + 0.1), px(height + 0.2), px(from));
            }
            column += run.len();
        }
    }
    let mut c = Canvas::new(WIDTH, BOTTOM + 42.0);
    let says = format!("touched pages in order of address ({})", unit.sign);
    c.text("note", (0.0, 12.0), Anchor::Start, &says);
    let opacity = |n: usize| 0.22 + 0.78 * n as f64 / (SHADES - 1) as f64;
    for (n, d) in shades.iter().enumerate().filter(|(_, d)| !d.is_empty()) {
        c.raw(&format!(
            r#"<path class="heat" fill="{}" fill-opacity="{:.2}" d="{d}"/>"#,
            palette::BASELINE,
            opacity(n)
        ));
    }
    for tick in y.ticks(4) {
        c.text("tick", (LEFT - 7.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
    }
    c.line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    time_axis(&mut c, &x, time, BOTTOM);
    // The scale of the shades.
    let highest = number::significant(most as f64);
    let start = RIGHT - text_width(&highest) - SHADES as f64 * 12.0 - 6.0;
    c.text("note", (start - 6.0, 29.0), Anchor::End, "page touches  1");
    for n in 0..SHADES {
        c.raw(&format!(
            r#"<rect class="heat" fill="{}" fill-opacity="{:.2}" x="{}" y="20" width="12" height="10"/>"#,
            palette::BASELINE,
            opacity(n),
            px(start + n as f64 * 12.0)
        ));
    }
    c.text("note", (RIGHT, 29.0), Anchor::End, &highest);
    let mut csv = Csv::new("time_s,page,touches");
    let pages = *p.touched.last()? as f64;
    for (row, counts) in p.heat.iter().enumerate() {
        for (column, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let at = seconds * column as f64 / columns as f64;
            csv.row(&[], &[Some(at), Some((pages * row as f64 / rows as f64).ceil()), Some(*n as f64)]);
        }
    }
    let title = "Hot spots over time";
    Some(Figure {
        name: "hot-spots-over-time".into(),
        title: title.to_string(),
        caption: "Addresses that are never accessed are left out. Strong bands are pages that are accessed \
                  repeatedly, diagonals are scans."
            .to_string(),
        svg: c.finish(title, &data("bars", &[])),
        csv: csv.into_text(),
    })
}

/// How the reuse is known, as a sentence.
fn sampled(p: &Profile) -> String {
    if p.reuse.sampled >= 1.0 {
        return "Exact, from every page.".to_string();
    }
    let one_in = number::count((1.0 / p.reuse.sampled).round() as u64);
    format!("From one page in {one_in}, chosen by a hash (SHARDS).")
}

fn hit_curve(p: &Profile) -> Option<Figure> {
    let curve = p.reuse.hit_curve();
    let end = (p.reuse.pages as f64 * PAGE).max(16.0 * PAGE);
    if curve.is_empty() {
        return None;
    }
    type Of = fn(&HitRatio) -> Option<f64>;
    let kinds: [(Ink, Of); 3] = [(READS, |h| h.reads), (WRITES, |h| h.writes), (ALL, |h| h.all)];
    let right = beside(&["writes"]);
    let x = Scale { to: right, ..size_scale(PAGE, end) };
    let most = curve.iter().flat_map(|h| [h.reads, h.writes, h.all]).flatten().fold(0.01, f64::max);
    let y = Scale::from_zero(most, 4, BOTTOM, TOP);
    let lines: Vec<Line> = kinds
        .iter()
        .map(|(ink, of)| {
            let points = curve.iter().filter_map(|h| Some((h.cache_bytes as f64, of(h)?)));
            let mut points: Vec<(f64, f64)> = points.filter(|q| q.0 <= end).collect();
            if let Some(last) = curve.last().and_then(of).filter(|_| !points.is_empty()) {
                points.push((end, last));
            }
            Line { ink: *ink, name: ink.name, points }
        })
        .filter(|l| !l.points.is_empty())
        .collect();
    // With one kind alone, both are the same curve.
    let lines = if lines.len() < 3 { &lines[..lines.len().min(1)] } else { &lines[..] };
    let mut c = Canvas::new(WIDTH, BOTTOM + 42.0);
    c.text("note", (0.0, 12.0), Anchor::Start, "hit rate (% of page accesses)");
    left_axis(&mut c, &y, right, |v| tick_text(v * 100.0));
    for (at, value) in binary_ticks(&x, 4) {
        c.line("grid", (at, TOP), (at, BOTTOM));
        c.text("tick", (at, BOTTOM + 17.0), Anchor::Middle, &bytes_tick(value));
    }
    labelled(&mut c, &x, &y, lines);
    c.text("note", (right, BOTTOM + 35.0), Anchor::End, "cache for reads and writes under LRU, log scale");
    let mut csv = Csv::new("cache_bytes,reads_hit,writes_hit,all_hit");
    for h in &curve {
        csv.row(&[], &[Some(h.cache_bytes as f64), h.reads, h.writes, h.all]);
    }
    let last = curve.last().and_then(|h| h.all).unwrap_or(0.0);
    let title = "LRU hit curve";
    Some(Figure {
        name: "lru-hit-curve".into(),
        title: title.to_string(),
        caption: format!(
            "No cache has a higher hit rate than {}: the rest are first accesses. {}",
            percent(last),
            sampled(p)
        ),
        svg: c.finish(title, &data("bars", &[])),
        csv: csv.into_text(),
    })
}

/// Stacked bars over sizes: from, to, reads, writes.
fn stacked(note: &str, axis: &str, x: &Scale, bars: &[(f64, f64, Hits)]) -> Canvas {
    let most = bars.iter().map(|b| b.2.all()).max().unwrap_or(0) as f64;
    let y = Scale::from_zero(most, 4, BOTTOM, TOP);
    let mut c = Canvas::new(WIDTH, BOTTOM + 42.0);
    c.text("note", (0.0, 12.0), Anchor::Start, note);
    legend(&mut c, &[READS, WRITES]);
    left_axis(&mut c, &y, RIGHT, tick_text);
    for (from, to, counts) in bars {
        let (left, width) = (x.at(*from) + 0.5, x.at(*to) - x.at(*from) - 1.0);
        let mut base = 0;
        for (ink, n) in [(READS, counts.reads), (WRITES, counts.writes)].into_iter().filter(|(_, n)| *n > 0) {
            let (top, bottom) = (y.at((base + n) as f64), y.at(base as f64));
            let says = format!("up to {}: {} {}", bytes_tick(*to), number::count(n), ink.name);
            c.bar(ink.class, ink.colour, (left, top), (width, bottom - top), &says);
            base += n;
        }
    }
    for (at, value) in binary_ticks(x, 4) {
        c.line("axis", (at, BOTTOM), (at, BOTTOM + 4.0));
        c.text("tick", (at, BOTTOM + 17.0), Anchor::Middle, &bytes_tick(value));
    }
    c.text("note", (RIGHT, BOTTOM + 35.0), Anchor::End, axis);
    c
}

fn distances(p: &Profile) -> Option<Figure> {
    // Classes of an eighth of an octave are finer than bars should be: a bar is an octave.
    let mut bars: Vec<(f64, f64, Hits)> = Vec::new();
    for (below, hits) in &p.reuse.again {
        let to = (*below as f64).log2().ceil().exp2() * PAGE;
        match bars.last_mut().filter(|b| b.1 == to) {
            Some(bar) => {
                bar.2.reads += hits.reads;
                bar.2.writes += hits.writes;
            }
            None => bars.push((to / 2.0, to, *hits)),
        }
    }
    let end = bars.last()?.1;
    let x = size_scale(PAGE / 2.0, end);
    let title = "Reuse distances";
    let c = stacked("page touches", "reuse distance, log scale", &x, &bars);
    let mut csv = Csv::new("distance_below_bytes,reads,writes");
    for (below, hits) in &p.reuse.again {
        csv.row(&[], &[Some(*below as f64 * PAGE), Some(hits.reads as f64), Some(hits.writes as f64)]);
    }
    let first = p.reuse.first.all() as f64 / p.reuse.touches.all().max(1) as f64;
    Some(Figure {
        name: "reuse-distances".into(),
        title: title.to_string(),
        caption: format!(
            "Distinct pages between two accesses to a page. First accesses ({}) are not shown. {}",
            percent(first),
            sampled(p)
        ),
        svg: c.finish(title, &data("bars", &[])),
        csv: csv.into_text(),
    })
}

fn sizes(inspection: &Inspection) -> Option<Figure> {
    let bars: Vec<(f64, f64, Hits)> = (inspection.sizes.iter())
        .map(|s| {
            let to = s.up_to_bytes as f64;
            (to / 2.0, to, Hits { reads: s.reads, writes: s.writes })
        })
        .collect();
    let (low, high) = (bars.first()?.0, bars.last()?.1);
    let x = size_scale(low, high);
    let title = "Request sizes";
    let c = stacked("requests", "size, up to the mark at the right of a bar, log scale", &x, &bars);
    let mut csv = Csv::new("size_up_to_bytes,reads,writes");
    for (_, to, counts) in &bars {
        csv.row(&[], &[Some(*to), Some(counts.reads as f64), Some(counts.writes as f64)]);
    }
    let mean = |kib: f64| number::significant(kib);
    Some(Figure {
        name: "request-sizes".into(),
        title: title.to_string(),
        caption: format!(
            "Mean size: reads {} KiB, writes {} KiB.",
            mean(inspection.mean_read_kib),
            mean(inspection.mean_write_kib)
        ),
        svg: c.finish(title, &data("bars", &[])),
        csv: csv.into_text(),
    })
}

fn gaps(p: &Profile, inspection: &Inspection) -> Option<Figure> {
    let count: u64 = p.gaps.iter().map(|g| g.1).sum();
    let at_once = p.gaps.first().filter(|g| g.0 == 1).map_or(0, |g| g.1);
    let mut sum = 0;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (past, n) in &p.gaps {
        sum += n;
        // Times of zero have no place on a logarithmic scale; the curve begins above them.
        if *past > 1 && (*n > 0 || points.is_empty() && sum > 0) {
            points.push(((*past - 1) as f64 / 1e3, sum as f64 / count as f64));
        }
    }
    if points.len() < 2 {
        return None;
    }
    let (first, last) = (points.first()?.0, points.last()?.0);
    let x = Scale::log(first, last, LEFT, RIGHT);
    let y = Scale { kind: ScaleKind::Linear, min: 0.0, max: 1.0, from: BOTTOM, to: TOP };
    let mut c = Canvas::new(WIDTH, BOTTOM + 42.0);
    c.text("note", (0.0, 12.0), Anchor::Start, "requests that arrive within (%)");
    // Nine lines for each of many decades would be a ground of stripes.
    let is_wide = last / first > 1e5;
    for tick in x.ticks(4).into_iter().filter(|tick| tick.major || !is_wide) {
        c.line(if tick.major { "grid" } else { "minor" }, (tick.at, TOP), (tick.at, BOTTOM));
        if tick.major {
            c.text(
                "tick",
                (tick.at, BOTTOM + 17.0),
                Anchor::Middle,
                &crate::pictures::svg::latency_tick(tick.value),
            );
        }
    }
    left_axis(&mut c, &y, RIGHT, |v| tick_text(v * 100.0));
    let d = path(points.iter().map(|(us, share)| Some((x.at(*us), y.at(*share)))));
    c.raw(&stroke(ALL, "2", &d));
    c.text("note", (RIGHT, BOTTOM + 35.0), Anchor::End, "time since the previous request, log scale");
    let mut csv = Csv::new("gap_us,fraction");
    csv.row(&[], &[Some(0.0), Some(at_once as f64 / count as f64)]);
    for (us, share) in &points {
        csv.row(&[], &[Some(*us), Some(*share)]);
    }
    let title = "Interarrival times";
    let together = at_once as f64 / count as f64;
    Some(Figure {
        name: "interarrival-cdf".into(),
        title: title.to_string(),
        caption: format!(
            "{} arrive at the same instant as the previous request; the longest gap is {}.",
            percent(together),
            Quantity::Time.show(inspection.largest_gap_s)
        ),
        svg: c.finish(title, &data("bars", &[])),
        csv: csv.into_text(),
    })
}
