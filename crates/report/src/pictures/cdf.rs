//! The distribution of latencies: how many requests were answered within a time. The time is logarithmic. The
//! share is even up to nine tenths, which have half of the height, and counted from its end in the other half, so
//! that p99.9 is seen as well as the median.

use crate::pictures::cast::Cast;
use crate::pictures::figure::{Csv, Figure, WIDTH, data};
use crate::pictures::panels::{Panels, RIGHT, TOGETHER, legend};
use crate::pictures::svg::{Anchor, Canvas, Scale, ScaleKind, latency_tick, path};
use crate::schema::report::{Latency, Report};
use crate::words::number;

/// The kind of request that a picture is about.
pub(crate) struct Requests {
    name: &'static str,
    plural: &'static str,
    one: &'static str,
    points: fn(&Report) -> &[[f64; 2]],
    latency: fn(&Report) -> Option<Latency>,
}

pub(crate) const WRITES: Requests = Requests {
    name: "write-latency-cdf",
    plural: "writes",
    one: "write",
    points: |r| &r.latency_cdf.write,
    latency: |r| r.latency_us.write,
};

pub(crate) const READS: Requests = Requests {
    name: "read-latency-cdf",
    plural: "reads",
    one: "read",
    points: |r| &r.latency_cdf.read,
    latency: |r| r.latency_us.read,
};

/// The shares that have a tick, and what it says; those of small plots first.
const SHARES: [(f64, &str); 7] = [
    (0.0, "0"),
    (0.5, "50%"),
    (0.9, "90%"),
    (0.999, "99.9%"),
    (0.9999, "99.99%"),
    (0.25, "25%"),
    (0.99, "99%"),
];
/// How many of them a small plot has.
const FEW: usize = 4;
/// The share up to which the scale is even; from there on the room goes to ever rarer requests.
const EVEN: f64 = 0.9;
/// How much of the height the even part has; the page's script knows it, too.
const BODY: f64 = 0.5;
/// Decades of rarity above it: p99, p99.9, p99.99.
const DECADES: f64 = 3.0;
const LEFT: f64 = 56.0;
const PLOT: f64 = 236.0;

/// A curve: the run, and its points as (latency, height from 0 to 1).
type Curve = (usize, Vec<(f64, f64)>);

pub(crate) fn latency(cast: &Cast, requests: &Requests) -> Option<Figure> {
    let curves: Vec<Curve> = (0..cast.reports.len())
        .map(|i| (i, curve(&cast.reports[i], requests, cast.points)))
        .filter(|(_, c)| c.len() > 1)
        .collect();
    if curves.is_empty() {
        return None;
    }
    let many = curves.len() > TOGETHER;
    let (c, facts) = if many { apart(cast, requests, &curves) } else { together(cast, requests, &curves) };
    let mut csv = Csv::new("scheme,latency_us,fraction");
    for (i, _) in &curves {
        for p in thin((requests.points)(&cast.reports[*i]), cast.points) {
            csv.row(&[&cast.labels[*i]], &[Some(p[0]), Some(p[1])]);
        }
    }
    let title = format!("Distribution of {} latency", requests.one);
    let timeless: Vec<&str> = (0..cast.reports.len())
        .filter(|i| (requests.latency)(&cast.reports[*i]).is_some_and(|l| l.max == 0.0))
        .map(|i| cast.labels[i].as_str())
        .collect();
    let timeless = match timeless.as_slice() {
        [] => String::new(),
        names => format!(" Under {} each {} takes no time and has no curve.", names.join(", "), requests.one),
    };
    let grey =
        if many { format!(" The thin line is {}.", cast.labels[cast.baseline]) } else { String::new() };
    Some(Figure {
        name: requests.name.into(),
        caption: format!(
            "Further left is faster. The scale is linear up to 90%; above, each line is ten times \
             rarer.{grey}{timeless}"
        ),
        svg: c.finish(&title, &facts),
        title,
        csv: csv.into_text(),
    })
}

/// The scale of latencies that holds all curves.
fn latencies(curves: &[Curve], left: f64, right: f64) -> Scale {
    let all = || curves.iter().flat_map(|(_, c)| c.iter().map(|p| p.0));
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    Scale::log(least, most, left, right)
}

fn heights(top: f64, bottom: f64) -> Scale {
    Scale { kind: ScaleKind::Linear, min: 0.0, max: 1.0, from: bottom, to: top }
}

fn stroke(
    cast: &Cast,
    run: usize,
    width: f64,
    more: &str,
    (x, y): (&Scale, &Scale),
    curve: &Curve,
) -> String {
    let ink = &cast.inks[run];
    let d = path(curve.1.iter().map(|(us, height)| Some((x.at(*us), y.at(*height)))));
    format!(
        r#"<path class="line {}" fill="none" stroke="{}" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"{more} d="{d}"/>"#,
        ink.class, ink.colour
    )
}

/// All curves in one plot.
fn together(cast: &Cast, requests: &Requests, curves: &[Curve]) -> (Canvas, String) {
    let shown: Vec<usize> = curves.iter().map(|(run, _)| *run).collect();
    let mut c = Canvas::new(WIDTH, 0.0);
    let top = legend(&mut c, cast.named(), &shown, 0.0) + 26.0;
    let bottom = top + PLOT;
    c.end_at(bottom + 42.0);
    let (x, y) = (latencies(curves, LEFT, RIGHT), heights(top, bottom));
    c.text(
        "note",
        (0.0, top - 11.0),
        Anchor::Start,
        &format!("share of {} completed within", requests.plural),
    );
    for tick in x.ticks(4) {
        c.line(if tick.major { "grid" } else { "minor" }, (tick.at, top), (tick.at, bottom));
        if tick.major {
            c.text("tick", (tick.at, bottom + 17.0), Anchor::Middle, &latency_tick(tick.value));
        }
    }
    shares(&mut c, &y, &SHARES, (LEFT, RIGHT), true);
    c.text("note", (RIGHT, bottom + 35.0), Anchor::End, &format!("{} latency, log scale", requests.one));
    for (k, curve) in curves.iter().enumerate() {
        c.series(k, &stroke(cast, curve.0, 2.0, &cast.inks[curve.0].dash(), (&x, &y), curve));
    }
    let inks = cast.inks_data(shown.into_iter());
    let unit = "us".to_string();
    (c, data("cdf", &[("x", x.data()), ("y", y.data()), ("inks", inks), ("unit", unit)]))
}

/// A plot for each, with the baseline's curve behind it.
fn apart(cast: &Cast, requests: &Requests, curves: &[Curve]) -> (Canvas, String) {
    let shown: Vec<usize> = curves.iter().map(|(run, _)| *run).collect();
    let panels = Panels::new(&cast.labels, &shown, &[], (20.0, LEFT));
    let (_, bottom) = panels.span();
    let mut c = Canvas::new(WIDTH, bottom + 42.0);
    c.text("note", (0.0, 12.0), Anchor::Start, &format!("share of {} completed within", requests.plural));
    let baseline = curves.iter().find(|(run, _)| *run == cast.baseline);
    for (k, curve) in curves.iter().enumerate() {
        let (run, panel) = (curve.0, panels.at(k));
        let (x, y) = (latencies(curves, panel.left, panel.right), heights(panel.top, panel.bottom));
        shares(&mut c, &y, &SHARES[..FEW], (panel.left, panel.right), panel.first);
        for tick in x.major_ticks(2) {
            c.line("grid", (tick.at, panel.top), (tick.at, panel.bottom));
            if panel.last {
                c.text("tick", (tick.at, panel.bottom + 17.0), Anchor::Middle, &latency_tick(tick.value));
            }
        }
        if let Some(base) = baseline.filter(|(b, _)| *b != run) {
            c.raw(&stroke(cast, base.0, 1.4, "", (&x, &y), base));
        }
        c.raw(&stroke(cast, run, 2.0, "", (&x, &y), curve));
        panels.head(&mut c, cast.named(), (k, run), "");
        if let Some(l) = (requests.latency)(&cast.reports[run]) {
            let [p50, p99, p999] = [l.p50, l.p99, l.p999].map(number::latency);
            let says = format!("{}: p50 {p50}, p99 {p99}, p99.9 {p999}", cast.labels[run]);
            panels.says(&mut c, k, &says);
        }
    }
    c.text("note", (RIGHT, bottom + 35.0), Anchor::End, &format!("{} latency, log scale", requests.one));
    (c, data("bars", &[]))
}

/// The lines of shares, labelled where there is room.
fn shares(c: &mut Canvas, y: &Scale, shown: &[(f64, &str)], (left, right): (f64, f64), labelled: bool) {
    for (share, says) in shown {
        let at = y.at(height(-(1.0 - share).log10()));
        let class = if *share == 0.0 {
            "axis"
        } else if *share == EVEN {
            "leader"
        } else {
            "grid"
        };
        c.line(class, (left, at), (right, at));
        if labelled {
            c.text("tick", (left - 6.0, at + 4.0), Anchor::End, says);
        }
    }
}

/// Where a share stands, from 0 to 1: `rarer` is how rare what exceeds it is, in decades. Even up to nine tenths,
/// from there on in decades, so that half of the height shows most of the requests and half their tail.
fn height(rarer: f64) -> f64 {
    let share = 1.0 - 10f64.powf(-rarer);
    if share <= EVEN { share / EVEN * BODY } else { BODY + (rarer - 1.0) / DECADES * (1.0 - BODY) }
}

/// A run's curve as (latency, height), cut at p99.99. All requests together stand at the height that their
/// number can resolve.
fn curve(report: &Report, requests: &Requests, points: usize) -> Vec<(f64, f64)> {
    let count = (requests.latency)(report).map_or(1, |l| l.count).max(2);
    let resolved = (count as f64).log10();
    let mut out: Vec<(f64, f64)> = Vec::new();
    for p in thin((requests.points)(report), points) {
        let (us, share) = (p[0], p[1]);
        if !(us.is_finite() && us > 0.0 && (0.0..=1.0).contains(&share)) {
            continue;
        }
        let level = height((-(1.0 - share).log10()).min(resolved));
        match out.last().copied() {
            None => out.push((us, 0.0)),
            Some((before, below)) if level > 1.0 => {
                let part = (1.0 - below) / (level - below);
                out.push((before * (us / before).powf(part), 1.0));
                return out;
            }
            Some(_) => {}
        }
        out.push((us, level.min(1.0)));
    }
    out
}

/// At most so many of the points, the last one always among them.
fn thin(points: &[[f64; 2]], most: usize) -> impl Iterator<Item = &[f64; 2]> {
    let every = points.len().div_ceil(most.max(2)).max(1);
    let last = points.len().saturating_sub(1);
    points.iter().enumerate().filter(move |(i, _)| i % every == 0 || *i == last).map(|(_, p)| p)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Each decade of the rest has a third of the other half.
    #[test]
    fn cdf_gives_most_requests_half_the_height() {
        let at = |share: f64| height(-(1.0 - share).log10());
        for (share, expected) in [(0.0, 0.0), (0.45, 0.25), (0.9, 0.5), (0.99, 4.0 / 6.0), (0.9999, 1.0)] {
            assert!((at(share) - expected).abs() < 1e-9, "{share}: {}", at(share));
        }
    }
}
