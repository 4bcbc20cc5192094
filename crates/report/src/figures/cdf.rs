//! The distribution of latencies: how many requests were answered within a time. The time is
//! logarithmic, and the share too, counted from its end, so that p99.9 has as much room as the
//! median. Each curve is labelled where it leaves at p99.99.

use super::{Cast, Csv, Figure, data};
use crate::report::{Latency, Report};
use crate::svg::{Anchor, Canvas, Scale, ScaleKind, latency_tick, path, text_width};
use std::fmt::Write;

/// The kind of request that a picture is about.
pub(super) struct Requests {
    name: &'static str,
    plural: &'static str,
    one: &'static str,
    points: fn(&Report) -> &[[f64; 2]],
    latency: fn(&Report) -> Option<Latency>,
}

pub(super) const WRITES: Requests = Requests {
    name: "write-latency-cdf",
    plural: "writes",
    one: "write",
    points: |r| &r.latency_cdf.write,
    latency: |r| r.latency_us.write,
};

pub(super) const READS: Requests = Requests {
    name: "read-latency-cdf",
    plural: "reads",
    one: "read",
    points: |r| &r.latency_cdf.read,
    latency: |r| r.latency_us.read,
};

/// The shares that have a tick, and what it says.
const SHARES: [(f64, &str); 6] =
    [(0.0, "0"), (0.5, "50%"), (0.9, "90%"), (0.99, "99%"), (0.999, "99.9%"), (0.9999, "99.99%")];
/// The top of the tail scale: p99.99.
const TOP: f64 = 4.0;
const WIDTH: f64 = 480.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 456.0;
const PLOT: f64 = 256.0;
const LABEL_ROW: f64 = 17.0;
/// From a label to its leader.
const FLAG: f64 = 4.0;

pub(super) fn latency(cast: &Cast, requests: &Requests) -> Option<Figure> {
    let curves: Vec<(usize, Vec<(f64, f64)>)> = (0..cast.reports.len())
        .map(|i| (i, curve(&cast.reports[i], requests, cast.points)))
        .filter(|(_, c)| c.len() > 1)
        .collect();
    let all = || curves.iter().flat_map(|(_, c)| c.iter().map(|p| p.0));
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    if curves.is_empty() {
        return None;
    }
    let x = Scale::log(least, most, LEFT, RIGHT);
    let ends: Vec<f64> = curves.iter().map(|(_, c)| c.last().map_or(LEFT, |p| x.at(p.0))).collect();
    let names: Vec<&str> = curves.iter().map(|(i, _)| cast.names[*i].as_str()).collect();
    let (places, rows) = place(&ends, &names);
    let top = 26.0 + rows as f64 * LABEL_ROW;
    let bottom = top + PLOT;
    let y = Scale { kind: ScaleKind::Linear, min: 0.0, max: TOP, from: bottom, to: top };

    let mut c = Canvas::new(WIDTH, bottom + 42.0);
    c.text("note", (0.0, 12.0), Anchor::Start, &format!("share of {} answered within", requests.plural));
    for tick in x.ticks(5) {
        c.line(if tick.major { "grid" } else { "minor" }, (tick.at, top), (tick.at, bottom));
        if tick.major {
            c.text("tick", (tick.at, bottom + 17.0), Anchor::Middle, &latency_tick(tick.value));
        }
    }
    for (share, says) in SHARES {
        let at = y.at(tail(share).min(TOP));
        c.line(if share == 0.0 { "axis" } else { "grid" }, (LEFT, at), (RIGHT, at));
        c.text("tick", (LEFT - 7.0, at + 4.0), Anchor::End, says);
    }
    c.text("note", (RIGHT, bottom + 35.0), Anchor::End, &format!("{} latency, log scale", requests.one));

    for (k, (i, curve)) in curves.iter().enumerate() {
        let ink = &cast.inks[*i];
        let d = path(curve.iter().map(|(us, level)| Some((x.at(*us), y.at(*level)))));
        let mut markup = String::new();
        let _ = write!(
            markup,
            r#"<path class="line {}" fill="none" stroke="{}" stroke-width="2" stroke-linejoin="round" stroke-linecap="round" d="{d}"/>"#,
            ink.class, ink.colour
        );
        c.raw(&markup);
        let base = 26.0 + (rows - 1 - places[k]) as f64 * LABEL_ROW + 11.0;
        let end = curve.last().map_or(bottom, |p| y.at(p.1));
        c.line("leader", (ends[k], base - 9.0), (ends[k], end));
        c.coloured_text(
            &format!("name {}", ink.class),
            &ink.colour,
            (ends[k] - FLAG, base),
            Anchor::End,
            names[k],
        );
    }

    let mut csv = Csv::new("scheme,latency_us,fraction");
    for (i, _) in &curves {
        for p in thin((requests.points)(&cast.reports[*i]), cast.points) {
            csv.row(&[&cast.labels[*i]], &[Some(p[0]), Some(p[1])]);
        }
    }
    let title = format!("Distribution of {} latency", requests.one);
    let inks = cast.inks_data(curves.iter().map(|(i, _)| *i));
    let facts = data("cdf", &[("x", x.data()), ("y", y.data()), ("inks", inks), ("unit", "us".to_string())]);
    Some(Figure {
        name: requests.name,
        caption: "Further left is faster; from 90% up, each line is ten times rarer.".to_string(),
        svg: c.finish(&title, &facts),
        title,
        csv: csv.0,
    })
}

fn tail(share: f64) -> f64 {
    -(1.0 - share).log10()
}

/// A run's curve as (latency, level on the tail scale), cut at p99.99. All requests together stand
/// at the level that their number can resolve.
fn curve(report: &Report, requests: &Requests, points: usize) -> Vec<(f64, f64)> {
    let count = (requests.latency)(report).map_or(1, |l| l.count).max(2);
    let resolved = (count as f64).log10();
    let mut out: Vec<(f64, f64)> = Vec::new();
    for p in thin((requests.points)(report), points) {
        let (us, share) = (p[0], p[1]);
        if !(us.is_finite() && us > 0.0 && (0.0..=1.0).contains(&share)) {
            continue;
        }
        let level = tail(share).min(resolved);
        match out.last().copied() {
            None => out.push((us, 0.0)),
            Some((before, below)) if level > TOP => {
                let part = (TOP - below) / (level - below);
                out.push((before * (us / before).powf(part), TOP));
                return out;
            }
            Some(_) => {}
        }
        out.push((us, level.min(TOP)));
    }
    out
}

/// At most so many of the points, the last one always among them.
fn thin(points: &[[f64; 2]], most: usize) -> impl Iterator<Item = &[f64; 2]> {
    let every = points.len().div_ceil(most.max(2)).max(1);
    let last = points.len().saturating_sub(1);
    points.iter().enumerate().filter(move |(i, _)| i % every == 0 || *i == last).map(|(_, p)| p)
}

/// The row of each label above the plot (0 is the lowest), and the number of rows. A label lies to
/// the left of its leader, like a flag; it may not lie on another, nor on the leader of one above.
fn place(ends: &[f64], names: &[&str]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|a, b| ends[*a].total_cmp(&ends[*b]));
    let mut rows = vec![0; ends.len()];
    let mut placed: Vec<usize> = Vec::new();
    for i in order {
        let start = ends[i] - FLAG - text_width(names[i]) * 1.08;
        rows[i] = placed.iter().filter(|j| ends[**j] + 6.0 > start).map(|j| rows[*j] + 1).max().unwrap_or(0);
        placed.push(i);
    }
    let count = rows.iter().max().map_or(1, |r| r + 1);
    (rows, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_at_one_place_are_stacked_and_apart_share_a_row() {
        assert_eq!(place(&[300.0, 302.0, 301.0], &["one", "two", "three"]), (vec![0, 2, 1], 3));
        assert_eq!(place(&[100.0, 300.0], &["one", "two"]), (vec![0, 0], 1));
    }
}
