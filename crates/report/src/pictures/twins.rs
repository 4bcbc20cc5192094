//! Twins at a glance, a small picture each: sizes, hit curve, arrivals. All pictures of a kind have the
//! same scales, so that twins can be compared by eye.

use crate::pictures::figure::{Csv, Figure, data};
use crate::pictures::palette;
use crate::pictures::svg::{Anchor, Canvas, Scale, ScaleKind, path};
use std::fmt::Write;

/// What the pictures show of a twin.
#[derive(Clone, Debug, PartialEq)]
pub struct TwinPanel {
    /// Its name.
    pub name: String,
    /// Sizes of reads in bytes with the share of reads up to there, ascending.
    pub read_sizes: Vec<(f64, f64)>,
    /// Sizes of writes, likewise.
    pub write_sizes: Vec<(f64, f64)>,
    /// Sizes of LRU caches in bytes with their write-hit rates, ascending.
    pub hits: Vec<(f64, f64)>,
    /// The hit rates that it is held to.
    pub targets: Vec<(f64, f64)>,
    /// Requests a second in equal parts of the time.
    pub rates: Vec<f64>,
    /// Length of a part in seconds.
    pub part_s: f64,
}

const COLUMNS: usize = 5;
const CELL: (f64, f64) = (148.0, 108.0);
const PLOT: (f64, f64) = (116.0, 62.0);
const TOP: f64 = 46.0;
const LEFT: f64 = 44.0;

const WRITES: &str = palette::SCHEMES[0];
const READS: &str = palette::SCHEMES[2];

/// A picture for sizes, one for hit curves, one for arrivals; none without twins.
pub fn twin_figures(panels: &[TwinPanel]) -> Vec<Figure> {
    if panels.is_empty() {
        return vec![];
    }
    vec![sizes(panels), hits(panels), arrivals(panels)]
}

/// Where the plot of a twin stands: left, top.
fn place(index: usize) -> (f64, f64) {
    let (column, row) = (index % COLUMNS, index / COLUMNS);
    (LEFT + column as f64 * CELL.0, TOP + 18.0 + row as f64 * CELL.1)
}

fn canvas(panels: &[TwinPanel], legend: &[(&str, &str, &str)], note: &str) -> Canvas {
    let rows = panels.len().div_ceil(COLUMNS);
    let mut c = Canvas::new(LEFT + COLUMNS as f64 * CELL.0, TOP + rows as f64 * CELL.1 + 8.0);
    c.text("note", (0.0, 12.0), Anchor::Start, note);
    let mut x = 0.0;
    for (class, colour, says) in legend {
        c.swatch(class, colour, (x, 22.0));
        c.text("tick", (x + 15.0, 31.0), Anchor::Start, says);
        x += 40.0 + crate::pictures::svg::text_width(says);
    }
    c
}

/// The frame of a twin's plot: its name, a line at the bottom, ticks at the sides.
fn frame(
    c: &mut Canvas,
    index: usize,
    name: &str,
    x: (&[(f64, String)], Scale),
    y: (&[(f64, String)], Scale),
) {
    let (left, top) = place(index);
    c.text("name", (left, top - 6.0), Anchor::Start, name);
    for (value, says) in y.0 {
        let at = y.1.at(*value);
        c.line("grid", (left, at), (left + PLOT.0, at));
        if index.is_multiple_of(COLUMNS) {
            c.text("tick", (left - 4.0, at + 4.0), Anchor::End, says);
        }
    }
    c.line("axis", (left, top + PLOT.1), (left + PLOT.0, top + PLOT.1));
    for (value, says) in x.0 {
        let at = x.1.at(*value);
        c.line("axis", (at, top + PLOT.1), (at, top + PLOT.1 + 3.0));
        c.text("tick", (at, top + PLOT.1 + 14.0), Anchor::Middle, says);
    }
}

fn scales(index: usize, x: (ScaleKind, f64, f64), y: (ScaleKind, f64, f64)) -> (Scale, Scale) {
    let (left, top) = place(index);
    let bottom = top + PLOT.1;
    (
        Scale { kind: x.0, min: x.1, max: x.2, from: left, to: left + PLOT.0 },
        Scale { kind: y.0, min: y.1, max: y.2, from: bottom, to: top },
    )
}

fn line(c: &mut Canvas, class: &str, colour: &str, points: impl Iterator<Item = (f64, f64)>) {
    let mut markup = String::new();
    let _ = write!(
        markup,
        r#"<path class="line {class}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-linejoin="round" stroke-linecap="round" d="{}"/>"#,
        path(points.map(Some))
    );
    c.raw(&markup);
}

fn ticks(values: &[(f64, &str)]) -> Vec<(f64, String)> {
    values.iter().map(|(v, s)| (*v, s.to_string())).collect()
}

const KIB: f64 = 1024.0;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

fn sizes(panels: &[TwinPanel]) -> Figure {
    let legend = [("s1", WRITES, "writes"), ("s3", READS, "reads")];
    let mut c = canvas(
        panels,
        &legend,
        "synthetic twins: share of requests up to a size, from 512 B to 1 MiB, log scale",
    );
    let mut csv = Csv::new("twin,kind,size_bytes,share");
    let xs = ticks(&[(512.0, "512"), (4.0 * KIB, "4K"), (64.0 * KIB, "64K"), (1024.0 * KIB, "1M")]);
    let ys = ticks(&[(0.0, "0"), (0.5, "50%"), (1.0, "100%")]);
    for (i, p) in panels.iter().enumerate() {
        let (x, y) = scales(i, (ScaleKind::Log, 512.0, 1024.0 * KIB), (ScaleKind::Linear, 0.0, 1.0));
        frame(&mut c, i, &p.name, (&xs, x), (&ys, y));
        for (kind, class, colour, sizes) in
            [("read", "s3", READS, &p.read_sizes), ("write", "s1", WRITES, &p.write_sizes)]
        {
            let mut before = 0.0;
            let mut steps = vec![];
            for (size, share) in sizes {
                steps.extend([(x.at(*size), y.at(before)), (x.at(*size), y.at(*share))]);
                before = *share;
                csv.row(&[&p.name, kind], &[Some(*size), Some(*share)]);
            }
            if let Some(first) = steps.first().copied() {
                steps.insert(0, (x.at(512.0), first.1));
                steps.push((x.at(1024.0 * KIB), y.at(before)));
            }
            line(&mut c, class, colour, steps.into_iter());
        }
    }
    let title = "Request sizes of the twins";
    Figure {
        name: "twins-sizes".into(),
        title: title.to_string(),
        caption: "Synthetic twins, not the traces themselves.".to_string(),
        svg: c.finish(title, &data("twins", &[])),
        csv: csv.into_text(),
    }
}

fn hits(panels: &[TwinPanel]) -> Figure {
    let legend = [("s1", WRITES, "twin"), ("s2", palette::SCHEMES[1], "target, where a paper implies one")];
    let note = "synthetic twins: share of written 4 KiB pages that an LRU cache of a size holds, 1 MiB to 64 GiB, log scale";
    let mut c = canvas(panels, &legend, note);
    let mut csv = Csv::new("twin,what,cache_bytes,hit_rate");
    let (least, most) = (GIB / 1024.0, 64.0 * GIB);
    let xs = ticks(&[(least, "1M"), (GIB / 32.0, "32M"), (GIB, "1G"), (32.0 * GIB, "32G")]);
    let ys = ticks(&[(0.0, "0"), (0.5, "50%"), (1.0, "100%")]);
    for (i, p) in panels.iter().enumerate() {
        let (x, y) = scales(i, (ScaleKind::Log, least, most), (ScaleKind::Linear, 0.0, 1.0));
        frame(&mut c, i, &p.name, (&xs, x), (&ys, y));
        line(
            &mut c,
            "s1",
            WRITES,
            p.hits.iter().filter(|(cache, _)| *cache >= least).map(|(cache, hit)| (x.at(*cache), y.at(*hit))),
        );
        for (cache, hit) in &p.targets {
            let mut dot = String::new();
            let _ = write!(
                dot,
                r#"<circle class="s2" fill="{}" cx="{:.1}" cy="{:.1}" r="2.6"/>"#,
                palette::SCHEMES[1],
                x.at(*cache),
                y.at(*hit)
            );
            c.raw(&dot);
        }
        for (what, points) in [("twin", &p.hits), ("target", &p.targets)] {
            for (cache, hit) in points {
                csv.row(&[&p.name, what], &[Some(*cache), Some(*hit)]);
            }
        }
    }
    let title = "LRU write hit rate of the twins";
    Figure {
        name: "twins-hits".into(),
        title: title.to_string(),
        caption: "Synthetic twins, not the traces themselves.".to_string(),
        svg: c.finish(title, &data("twins", &[])),
        csv: csv.into_text(),
    }
}

fn arrivals(panels: &[TwinPanel]) -> Figure {
    let mut c = canvas(
        panels,
        &[("s1", WRITES, "arrival rate / mean arrival rate")],
        "synthetic twins: arrivals in all but the last of 128 to 256 equal parts of their time",
    );
    let mut csv = Csv::new("twin,begin_s,requests_per_s");
    let peak = |p: &TwinPanel| {
        let mean = p.rates.iter().sum::<f64>() / p.rates.len() as f64;
        p.rates.iter().copied().fold(0.0, f64::max) / mean
    };
    let most = panels.iter().map(peak).fold(3.0, f64::max).ceil();
    let step = (most / 4.0).ceil() as usize;
    let ys: Vec<_> = (0..=most as usize).step_by(step).map(|n| (n as f64, n.to_string())).collect();
    for (i, p) in panels.iter().enumerate() {
        // The twin ends within the last part, which is therefore no rate.
        let whole = match p.rates.split_last() {
            Some((_, before @ [_, ..])) => before,
            _ => &p.rates[..],
        };
        let span = whole.len().max(1) as f64;
        let (x, y) = scales(i, (ScaleKind::Linear, 0.0, span), (ScaleKind::Linear, 0.0, most));
        let hours = span * p.part_s / 3600.0;
        let says = if hours >= 48.0 { format!("{:.1} d", hours / 24.0) } else { format!("{hours:.1} h") };
        frame(&mut c, i, &p.name, (&[(0.0, "0".to_string()), (span, says)], x), (&ys, y));
        let mean = whole.iter().sum::<f64>() / span;
        line(
            &mut c,
            "s1",
            WRITES,
            whole.iter().enumerate().map(|(k, r)| (x.at(k as f64 + 0.5), y.at(r / mean))),
        );
        for (k, rate) in p.rates.iter().enumerate() {
            csv.row(&[&p.name], &[Some(k as f64 * p.part_s), Some(*rate)]);
        }
    }
    let title = "Arrivals of the twins";
    Figure {
        name: "twins-arrivals".into(),
        title: title.to_string(),
        caption: "Synthetic twins, not the traces themselves.".to_string(),
        svg: c.finish(title, &data("twins", &[])),
        csv: csv.into_text(),
    }
}
