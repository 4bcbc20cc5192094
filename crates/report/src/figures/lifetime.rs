//! How long a drive lasts under each scheme, and how it ages: lines over what the host has written, with the
//! 95 % interval over the seeds as a band as long as all of them live.

use super::{Csv, Figure, Ink, data, ink_of, short, spread};
use crate::lifetime::{LifePhase, Lifetimes, SchemeLife};
use crate::number::{self, Quantity};
use crate::replicas::Estimate;
use crate::svg::{Anchor, Canvas, Scale, ScaleKind, footnote, path, px, text_width, tick_text};
use std::fmt::Write;

const WIDTH: f64 = 480.0;
const LEFT: f64 = 52.0;
const PITCH: f64 = 46.0;

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
        axis: "bytes that the blocks left can hold",
        column: "usable_bytes",
        quantity: Quantity::Bytes,
        kind: ScaleKind::Linear,
        of: |p| Some(p.usable_bytes as f64),
    },
    Aging {
        name: "lifetime-waf",
        title: "Write amplification as the drive ages",
        axis: "bytes programmed / bytes written, of each phase",
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
        title: "Write latency, p99, as the drive ages",
        axis: "p99 of write latency, log scale",
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
        title: "Read latency, p99, as the drive ages",
        axis: "p99 of read latency, log scale",
        column: "read_p99_us",
        quantity: Quantity::Latency,
        kind: ScaleKind::Log,
        of: |p| Some(p.read?.p99),
    },
    Aging {
        name: "lifetime-retries",
        title: "Read retries as the drive ages",
        axis: "retries of a page that the host reads",
        column: "retries_per_page",
        quantity: Quantity::Waf,
        kind: ScaleKind::Linear,
        of: |p| p.retries,
    },
    Aging {
        name: "lifetime-life-used",
        title: "Wear as the drive ages",
        axis: "share of their lives that blocks have used up, mean",
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
    let doubts = lifetimes.schemes.iter().filter(|s| s.agrees() == Some(false)).count();
    let mut says = format!("an erase stands for {} cycles", lifetimes.acceleration);
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
    let own = |s: &SchemeLife| s.scheme.colour.clone();
    lifetimes.schemes.iter().enumerate().map(|(i, s)| ink_of(i, 0, own(s).as_deref())).collect()
}

/// What the host can write, a bar a scheme.
fn totals(lifetimes: &Lifetimes) -> Figure {
    let title = "Written until the drive wears out";
    let estimates: Vec<Estimate> = lifetimes
        .schemes
        .iter()
        .map(|s| s.estimate(|l| Some(l.total_bytes_written)).unwrap_or_default())
        .collect();
    let end = |e: &Estimate| e.mean + e.half_width_95.unwrap_or(0.0);
    let most = estimates.iter().map(end).fold(0.0, f64::max);
    let unit = Quantity::Bytes.unit_for(std::iter::once(most));
    let (top, right) = (8.0, 350.0);
    let bottom = top + PITCH * lifetimes.schemes.len() as f64;
    let x = Scale::from_zero(most / unit.size, 5, 2.0, right);
    let mut c = Canvas::new(WIDTH, bottom + 38.0);
    for tick in x.ticks(5) {
        c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (tick.at, top), (tick.at, bottom));
        c.text("tick", (tick.at.max(5.0), bottom + 15.0), Anchor::Middle, &tick_text(tick.value));
    }
    c.text("note", (right, bottom + 32.0), Anchor::End, &format!("written by the host ({})", unit.sign));
    let mut csv = Csv::new("scheme,total_bytes_written,half_width_95,at_half_the_acceleration");
    for (i, ((s, e), ink)) in lifetimes.schemes.iter().zip(&estimates).zip(inks(lifetimes)).enumerate() {
        let y = top + PITCH * i as f64 + 4.0;
        let class = format!("name {}", ink.class);
        c.coloured_text(&class, &ink.colour, (6.0, y + 10.0), Anchor::Start, &short(&s.scheme.name));
        let to = x.at(e.mean / unit.size);
        let says = format!("{}: {}", s.scheme.name, Quantity::Bytes.show(e.mean));
        c.bar(&ink.class, &ink.colour, (2.0, y + 15.0), (to - 2.0, 18.0), &says);
        let middle = y + 24.0;
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
        name: "lifetime-written",
        title: title.to_string(),
        caption: "Means over the seeds with their 95 % intervals; a ring is the first seed at half the acceleration."
            .to_string(),
        svg: c.finish(title, &data("lifetime", &[])),
        csv: csv.0,
    }
}

/// A point of a scheme's line: what was written, the mean, and half the width of its interval.
type Point = (f64, f64, Option<f64>);

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
    let end = lines.iter().flatten().map(|p| p.0).fold(0.0, f64::max);
    if most <= 0.0 || end <= 0.0 {
        return None;
    }
    let names: Vec<String> = lifetimes.schemes.iter().map(|s| short(&s.scheme.name)).collect();
    let widest = names.iter().map(|n| text_width(n) * 1.08).fold(0.0, f64::max).min(180.0);
    let (right, top, bottom) = (WIDTH - widest - 10.0, 30.0, 230.0);
    let unit = aging.quantity.unit_for(std::iter::once(most));
    let x = Scale::from_zero(end, 5, LEFT, right);
    let x = Scale { max: end, ..x };
    let y = match aging.kind {
        ScaleKind::Linear => Scale::from_zero(most / unit.size, 4, bottom, top),
        ScaleKind::Log => Scale::log(least / unit.size, most / unit.size, bottom, top),
    };
    let mut c = Canvas::new(WIDTH, bottom + 42.0);
    let axis =
        if unit.sign.is_empty() { aging.axis.to_string() } else { format!("{} ({})", aging.axis, unit.sign) };
    c.text("note", (0.0, 12.0), Anchor::Start, &axis);
    for tick in y.ticks(4).iter().filter(|t| t.major) {
        c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (LEFT, tick.at), (right, tick.at));
        c.text("tick", (LEFT - 7.0, tick.at + 4.0), Anchor::End, &tick_text(tick.value));
    }
    c.line("axis", (LEFT, bottom), (right, bottom));
    for tick in x.ticks(5) {
        c.line("axis", (tick.at, bottom), (tick.at, bottom + 4.0));
        c.text("tick", (tick.at, bottom + 17.0), Anchor::Middle, &tick_text(tick.value));
    }
    c.text("note", (right, bottom + 35.0), Anchor::End, "written by the host (drive writes)");
    let ends: Vec<f64> =
        lines.iter().map(|l| l.last().map_or(bottom, |p| y.at(p.1 / unit.size)) + 4.0).collect();
    let places = spread(&ends, 16.0, top + 4.0, bottom);
    let mut csv = Csv::new(&format!("scheme,drive_writes,{},half_width_95", aging.column));
    for (i, (line, ink)) in lines.iter().zip(inks(lifetimes)).enumerate() {
        let at = |p: &Point, by: f64| {
            let value = (p.1 + by * p.2.unwrap_or(0.0)) / unit.size;
            (x.at(p.0), y.at(if aging.kind == ScaleKind::Log { value.max(y.min) } else { value.max(0.0) }))
        };
        if line.iter().any(|p| p.2.is_some()) {
            let there = line.iter().map(|p| at(p, 1.0));
            let back = line.iter().rev().map(|p| at(p, -1.0));
            let band: Vec<String> = there.chain(back).map(|(x, y)| format!("{} {}", px(x), px(y))).collect();
            c.raw(&format!(
                r#"<path class="area {}" fill="{}" fill-opacity="0.16" d="M{}Z"/>"#,
                ink.class,
                ink.colour,
                band.join("L")
            ));
        }
        c.raw(&format!(
            r#"<path class="line {}" fill="none" stroke="{}" stroke-width="1.8" stroke-linejoin="round" stroke-linecap="round" d="{}"/>"#,
            ink.class,
            ink.colour,
            path(line.iter().map(|p| Some(at(p, 0.0))))
        ));
        if !line.is_empty() {
            let class = format!("name {}", ink.class);
            c.coloured_text(&class, &ink.colour, (right + 7.0, places[i]), Anchor::Start, &names[i]);
        }
        for p in line {
            csv.row(&[&lifetimes.schemes[i].scheme.name], &[Some(p.0), Some(p.1), p.2]);
        }
    }
    Some(Figure {
        name: aging.name,
        title: aging.title.to_string(),
        caption: if lifetimes.schemes.iter().any(|s| s.lives.len() > 1) {
            "A line is the mean over the seeds as long as all of them live, the band its 95 % interval."
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
        csv: csv.0,
    })
}
