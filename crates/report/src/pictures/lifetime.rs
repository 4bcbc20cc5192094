//! How long a drive lasts under each scheme, and how it ages: lines over what the host has written, with the
//! 95 % interval over the seeds as a band as long as all of them live.

use crate::pictures::cast::{self, Ink};
use crate::pictures::figure::{Csv, Figure, WIDTH, data};
use crate::pictures::panels::{Panel, Panels, RIGHT, TOGETHER, legend};
use crate::pictures::svg::{Anchor, Canvas, Scale, ScaleKind, drawn, footnote, path, px, tick_text};
use crate::pictures::tradeoff::capital;
use crate::schema::estimate::Estimate;
use crate::schema::lifetime::{LifePhase, Lifetimes, SchemeLife};
use crate::words::lifetime as text;
use crate::words::number::{self, Quantity};
use std::fmt::Write;

const LEFT: f64 = 50.0;
/// A bar, and a line of the name above it.
const BAR: f64 = 16.0;
const LINE: f64 = 15.0;

type Of = fn(&LifePhase) -> Option<f64>;

/// A quantity that changes as the drive ages.
struct Aging {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    column: &'static str,
    quantity: Quantity,
    kind: ScaleKind,
    of: Of,
}

const AGING: [Aging; 9] = [
    Aging {
        name: "lifetime-blocks-retired",
        title: "Blocks lost as the drive ages",
        axis: "blocks retired",
        column: "retired_blocks",
        quantity: Quantity::Count,
        kind: ScaleKind::Linear,
        of: |p| Some(p.retired_blocks as f64),
    },
    Aging {
        name: "lifetime-usable-capacity",
        title: "Usable capacity as the drive ages",
        axis: "remaining physical capacity",
        column: "usable_bytes",
        quantity: Quantity::Bytes,
        kind: ScaleKind::Linear,
        of: |p| Some(p.usable_bytes as f64),
    },
    Aging {
        name: "lifetime-waf",
        title: "Write amplification as the drive ages",
        axis: "media writes / host writes, per phase",
        column: "waf",
        quantity: Quantity::Waf,
        kind: ScaleKind::Linear,
        of: |p| p.waf,
    },
    Aging {
        name: "lifetime-write-mean",
        title: "Mean write latency as the drive ages",
        axis: "mean write latency, log scale",
        column: "write_mean_us",
        quantity: Quantity::Latency,
        kind: ScaleKind::Log,
        of: |p| Some(p.write?.mean),
    },
    Aging {
        name: "lifetime-write-p99",
        title: "p99 write latency as the drive ages",
        axis: "p99 write latency, log scale",
        column: "write_p99_us",
        quantity: Quantity::Latency,
        kind: ScaleKind::Log,
        of: |p| Some(p.write?.p99),
    },
    Aging {
        name: "lifetime-read-mean",
        title: "Mean read latency as the drive ages",
        axis: "mean read latency, log scale",
        column: "read_mean_us",
        quantity: Quantity::Latency,
        kind: ScaleKind::Log,
        of: |p| Some(p.read?.mean),
    },
    Aging {
        name: "lifetime-read-p99",
        title: "p99 read latency as the drive ages",
        axis: "p99 read latency, log scale",
        column: "read_p99_us",
        quantity: Quantity::Latency,
        kind: ScaleKind::Log,
        of: |p| Some(p.read?.p99),
    },
    Aging {
        name: "lifetime-retries",
        title: "Read retries as the drive ages",
        axis: "retries per page read",
        column: "retries_per_page",
        quantity: Quantity::Waf,
        kind: ScaleKind::Linear,
        of: |p| p.retries,
    },
    Aging {
        name: "lifetime-life-used",
        title: "Wear as the drive ages",
        axis: "mean share of endurance used",
        column: "life_used",
        quantity: Quantity::Share,
        kind: ScaleKind::Linear,
        of: |p| Some(p.life_used),
    },
];

/// Every picture for which there are data.
pub fn lifetime_figures(lifetimes: &Lifetimes) -> Vec<Figure> {
    let mut figures = vec![totals(lifetimes)];
    figures.extend(AGING.iter().filter_map(|aging| over_life(lifetimes, aging)));
    let doubts = lifetimes.schemes.iter().filter(|s| text::accelerations_agree(s) == Some(false)).count();
    let mut says = format!("one erase counts as {}", text::cycles_of(lifetimes));
    if doubts > 0 {
        let _ =
            write!(says, "; at half of that {doubts} of {} are more than 5 % off", lifetimes.schemes.len());
    }
    if lifetimes.stopped {
        says += "; stopped before the end";
    } else {
        let _ = write!(says, "; ends at {}", lifetimes.end);
    }
    for figure in &mut figures {
        figure.svg = footnote(&figure.svg, &says);
    }
    figures
}

fn inks(lifetimes: &Lifetimes) -> Vec<Ink> {
    let own: Vec<_> = lifetimes.schemes.iter().map(|s| s.scheme.colour.as_deref()).collect();
    cast::inks(&own, 0, text::winner(lifetimes))
}

/// What the host can write, a bar a scheme.
fn totals(lifetimes: &Lifetimes) -> Figure {
    let title = "Host writes until the drive wears out";
    let estimates: Vec<Estimate> = lifetimes
        .schemes
        .iter()
        .map(|s| text::estimate(s, |l| Some(l.total_bytes_written)).unwrap_or_default())
        .collect();
    let end = |e: &Estimate| e.mean + e.half_width_95.unwrap_or(0.0);
    let most = estimates.iter().map(end).fold(0.0, f64::max);
    let unit = Quantity::Bytes.unit_for(std::iter::once(most));
    let (top, right) = (4.0, WIDTH - 100.0);
    let names: Vec<_> = lifetimes.schemes.iter().map(|s| drawn(&s.scheme.name, WIDTH - 8.0)).collect();
    let pitch = |i: usize| names[i].len() as f64 * LINE + BAR + 12.0;
    let bottom = top + (0..names.len()).map(pitch).sum::<f64>();
    let x = Scale::from_zero(most / unit.size, 5, 2.0, right);
    let mut c = Canvas::new(WIDTH, bottom + 38.0);
    for tick in x.ticks(5) {
        c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (tick.at, top), (tick.at, bottom));
        c.text("tick", (tick.at.max(5.0), bottom + 15.0), Anchor::Middle, &tick_text(tick.value));
    }
    c.text("note", (right, bottom + 32.0), Anchor::End, &format!("written by the host ({})", unit.sign));
    let mut csv = Csv::new("scheme,total_bytes_written,half_width_95,at_half_the_acceleration");
    let mut y = top;
    for (i, ((s, e), ink)) in lifetimes.schemes.iter().zip(&estimates).zip(inks(lifetimes)).enumerate() {
        for (n, line) in names[i].iter().enumerate() {
            let (class, at) = (format!("name {}", ink.class), (6.0, y + LINE * (n + 1) as f64 - 2.0));
            c.coloured_text(&class, &ink.colour, at, Anchor::Start, line);
        }
        let bar = y + LINE * names[i].len() as f64 + 3.0;
        y += pitch(i);
        let to = x.at(e.mean / unit.size);
        let says = format!("{}: {}", s.scheme.name, Quantity::Bytes.show(e.mean));
        c.bar(&ink.class, &ink.colour, (2.0, bar), (to - 2.0, BAR), &says);
        let middle = bar + BAR / 2.0;
        let mut after = to;
        if let Some(half) = e.half_width_95 {
            let (low, high) = (x.at((e.mean - half) / unit.size), x.at((e.mean + half) / unit.size));
            c.line("mark", (low, middle), (high, middle));
            for at in [low, high] {
                c.line("mark", (at, middle - 5.0), (at, middle + 5.0));
            }
            after = after.max(high);
        }
        let half = s.check.as_ref().map(|l| l.total_bytes_written);
        if let Some(at) = half.map(|b| x.at(b / unit.size)) {
            c.raw(&format!(
                r##"<circle class="hollow" fill="none" stroke="#1d232b" stroke-width="1.4" cx="{}" cy="{}" r="4"/>"##,
                px(at),
                px(middle)
            ));
            after = after.max(at + 4.0);
        }
        let (mean, spread) = Quantity::Bytes.with_spread(e.mean, e.half_width_95, unit);
        let text = if spread.is_empty() { mean } else { format!("{mean} ± {spread}") };
        c.text("tick", (after + 8.0, middle + 4.0), Anchor::Start, &text);
        csv.row(&[&s.scheme.name], &[Some(e.mean), e.half_width_95, half]);
    }
    Figure {
        name: "lifetime-written".into(),
        title: title.to_string(),
        caption: shown(lifetimes),
        svg: c.finish(title, &data("bars", &[])),
        csv: csv.into_text(),
    }
}

/// Explains whiskers and rings, if there are any.
fn shown(lifetimes: &Lifetimes) -> String {
    let has_intervals = lifetimes.schemes.iter().any(|s| s.lives.len() > 1);
    let has_rings = lifetimes.schemes.iter().any(|s| s.check.is_some());
    let parts = [
        (has_intervals, "mean and 95 % confidence interval over seeds"),
        (has_rings, "a ring is the first seed at half the acceleration"),
    ];
    let said: Vec<&str> = parts.into_iter().filter_map(|(is_there, says)| is_there.then_some(says)).collect();
    if said.is_empty() { String::new() } else { capital(&said.join("; ")) + "." }
}

/// A point of a scheme's line: what was written, the mean, and half the width of its interval.
type Point = (f64, f64, Option<f64>);

/// The most by which a band raises the scale above the highest mean.
const BAND: f64 = 2.5;

/// The phases in which every life goes on to its end, mean and interval of each.
fn points(s: &SchemeLife, of: Of) -> Vec<Point> {
    let whole = |phases: &[LifePhase]| phases.len().saturating_sub((phases.len() > 1) as usize);
    let count = s.lives.iter().map(|l| whole(&l.phases)).min().unwrap_or(0);
    let point = |i: usize| {
        let values: Vec<f64> = s.lives.iter().map(|l| of(&l.phases[i])).collect::<Option<_>>()?;
        let at = s.lives.iter().map(|l| l.phases[i].drive_writes).sum::<f64>() / s.lives.len() as f64;
        let alike = values.windows(2).all(|w| w[0] == w[1]);
        match Estimate::of(&values).filter(|_| !alike) {
            Some(e) => Some((at, e.mean, e.half_width_95)),
            None => Some((at, *values.first()?, None)),
        }
    };
    (0..count).filter_map(point).collect()
}

fn over_life(lifetimes: &Lifetimes, aging: &Aging) -> Option<Figure> {
    let lines: Vec<Vec<Point>> = lifetimes.schemes.iter().map(|s| points(s, aging.of)).collect();
    let all = || lines.iter().flatten().map(|p| p.1);
    let (least, most) = (all().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    // Bands fit into the plot, unless that would flatten the lines.
    let band = lines.iter().flatten().map(|p| p.1 + p.2.unwrap_or(0.0)).fold(0.0, f64::max);
    let top_value = band.min(BAND * most);
    let end = lines.iter().flatten().map(|p| p.0).fold(0.0, f64::max);
    // A point alone shows no course.
    if most <= 0.0 || end <= 0.0 || lines.iter().all(|line| line.len() < 2) {
        return None;
    }
    let inks = inks(lifetimes);
    let labels: Vec<String> = lifetimes.schemes.iter().map(|s| s.scheme.name.clone()).collect();
    let unit = aging.quantity.unit_for(std::iter::once(most));
    let axis =
        if unit.sign.is_empty() { aging.axis.to_string() } else { format!("{} ({})", aging.axis, unit.sign) };
    let runs: Vec<usize> = (0..lines.len()).collect();
    // Few schemes share a plot, many have one each.
    let mut c = Canvas::new(WIDTH, 0.0);
    let plots = if runs.len() > TOGETHER {
        let panels = Panels::new(&labels, &runs, &[], (20.0, LEFT));
        c.text("note", (0.0, 12.0), Anchor::Start, &axis);
        runs.iter().for_each(|run| panels.head(&mut c, (&labels, &inks), (*run, *run), ""));
        runs.iter().map(|run| (panels.at(*run), vec![*run])).collect::<Vec<_>>()
    } else {
        let top = legend(&mut c, (&labels, &inks), &runs, 0.0) + 30.0;
        c.text("note", (0.0, top - 13.0), Anchor::Start, &axis);
        vec![(Panel::alone((LEFT, RIGHT), (top, top + 180.0)), runs)]
    };
    let bottom = plots.iter().map(|(p, _)| p.bottom).fold(0.0, f64::max);
    c.end_at(bottom + 42.0);
    for (panel, runs) in &plots {
        let x = Scale::from_zero(end, 5, panel.left, panel.right);
        let x = Scale { max: end, ..x };
        let y = match aging.kind {
            ScaleKind::Linear => {
                Scale::from_zero(top_value / unit.size, panel.ticks(), panel.bottom, panel.top)
            }
            ScaleKind::Log => Scale::log(least / unit.size, top_value / unit.size, panel.bottom, panel.top),
        };
        frame(&mut c, panel, &x, &y);
        for run in runs {
            let markup = line(&lines[*run], &inks[*run], (&x, &y), unit.size);
            c.series(*run, &markup);
        }
    }
    c.text("note", (RIGHT, bottom + 35.0), Anchor::End, "written by the host (drive writes)");
    let mut csv = Csv::new(&format!("scheme,drive_writes,{},half_width_95", aging.column));
    for (line, name) in lines.iter().zip(&labels) {
        line.iter().for_each(|p| csv.row(&[name], &[Some(p.0), Some(p.1), p.2]));
    }
    Some(Figure {
        name: aging.name.into(),
        title: aging.title.to_string(),
        caption: if lifetimes.schemes.iter().any(|s| s.lives.len() > 1) {
            "Mean over seeds while all drives are alive, with the 95 % confidence interval as a band."
                .to_string()
        } else {
            format!(
                "Of seed {}.",
                lifetimes
                    .schemes
                    .iter()
                    .find_map(|s| Some(s.lives.first()?.seed))
                    .map_or(number::NONE.to_string(), |s| s.to_string())
            )
        },
        svg: c.finish(aging.title, &data("lifetime", &[])),
        csv: csv.into_text(),
    })
}

/// The scales of a plot: values where it is the first of its row, what was written where it is the last.
fn frame(c: &mut Canvas, panel: &Panel, x: &Scale, y: &Scale) {
    for tick in y.ticks(panel.ticks()).iter().filter(|t| t.major) {
        let class = if tick.value == 0.0 { "axis" } else { "grid" };
        c.line(class, (panel.left, tick.at), (panel.right, tick.at));
        if panel.first {
            c.text("tick", (panel.left - 6.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
        }
    }
    c.line("axis", (panel.left, panel.bottom), (panel.right, panel.bottom));
    let count = if panel.right - panel.left > 200.0 { 5 } else { 2 };
    for tick in x.two_ticks(count).iter().filter(|_| panel.last) {
        c.line("axis", (tick.at, panel.bottom), (tick.at, panel.bottom + 4.0));
        c.text("tick", (tick.at, panel.bottom + 17.0), Anchor::Middle, &tick_text(tick.value));
    }
}

/// A scheme's line, and its interval as a band.
fn line(points: &[Point], ink: &Ink, (x, y): (&Scale, &Scale), unit: f64) -> String {
    let at = |p: &Point, by: f64| {
        let value = ((p.1 + by * p.2.unwrap_or(0.0)) / unit).min(y.max);
        (x.at(p.0), y.at(if y.kind == ScaleKind::Log { value.max(y.min) } else { value.max(0.0) }))
    };
    let mut markup = String::new();
    if points.iter().any(|p| p.2.is_some()) {
        let there = points.iter().map(|p| at(p, 1.0));
        let back = points.iter().rev().map(|p| at(p, -1.0));
        let band: Vec<String> = there.chain(back).map(|(x, y)| format!("{} {}", px(x), px(y))).collect();
        let _ = write!(
            markup,
            r#"<path class="area {}" fill="{}" fill-opacity="0.16" d="M{}Z"/>"#,
            ink.class,
            ink.colour,
            band.join("L")
        );
    }
    let _ = write!(
        markup,
        r#"<path class="line {}" fill="none" stroke="{}" stroke-width="1.8" stroke-linejoin="round" stroke-linecap="round"{} d="{}"/>"#,
        ink.class,
        ink.colour,
        ink.dash(),
        path(points.iter().map(|p| Some(at(p, 0.0))))
    );
    markup
}
