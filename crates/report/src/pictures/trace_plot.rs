//! What the pictures of a trace have in common: axes, and one color each for reads and writes.

use crate::pictures::figure::WIDTH;
use crate::pictures::palette;
use crate::pictures::panels::spread;
use crate::pictures::svg::{Anchor, Canvas, Scale, ScaleKind, path, text_width, tick_text};
use crate::words::number::{self, NO_BREAK, Quantity, Unit};

pub(crate) const LEFT: f64 = 50.0;
pub(crate) const RIGHT: f64 = WIDTH - 7.0;
pub(crate) const TOP: f64 = 40.0;
pub(crate) const BOTTOM: f64 = 250.0;

/// Who is drawn: name, class, colour, and the dashes of a line that may lie on others.
#[derive(Clone, Copy)]
pub(crate) struct Ink {
    pub(crate) name: &'static str,
    pub(crate) class: &'static str,
    pub(crate) colour: &'static str,
    pub(crate) dashes: &'static str,
}

pub(crate) const READS: Ink = Ink { name: "reads", class: "s6", colour: palette::SCHEMES[5], dashes: "7 4" };
pub(crate) const WRITES: Ink =
    Ink { name: "writes", class: "s2", colour: palette::SCHEMES[1], dashes: "1.5 4" };
pub(crate) const ALL: Ink = Ink { name: "all", class: "s0", colour: palette::BASELINE, dashes: "" };

/// A line of one plot.
pub(crate) struct Line {
    pub(crate) ink: Ink,
    pub(crate) name: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
}

pub(crate) fn bytes_tick(bytes: f64) -> String {
    let unit = Quantity::Bytes.unit_for(std::iter::once(bytes));
    format!("{}{NO_BREAK}{}", tick_text(bytes / unit.size), unit.sign)
}

/// Ticks at powers of two, which suit sizes: at most `count` of them.
pub(crate) fn binary_ticks(x: &Scale, count: usize) -> Vec<(f64, f64)> {
    let (low, high) = (x.min.log2().ceil() as i32, x.max.log2().floor() as i32);
    let every = ((high - low) as usize / count.max(1) + 1) as i32;
    (low..=high).filter(|n| n.rem_euclid(every) == 0).map(|n| 2f64.powi(n)).map(|v| (x.at(v), v)).collect()
}

/// A logarithmic scale from one size to another.
pub(crate) fn size_scale(min: f64, max: f64) -> Scale {
    Scale { kind: ScaleKind::Log, min, max: max.max(min * 16.0), from: LEFT, to: RIGHT }
}

pub(crate) fn left_axis(c: &mut Canvas, y: &Scale, right: f64, text: impl Fn(f64) -> String) {
    for tick in y.ticks(4) {
        c.line(if tick.value == 0.0 { "axis" } else { "grid" }, (LEFT, tick.at), (right, tick.at));
        c.text("tick", (LEFT - 7.0, tick.at + 4.0), Anchor::End, &text(tick.value));
    }
}

/// The scale of time and its unit.
pub(crate) fn clock(seconds: f64, right: f64) -> (Scale, Unit) {
    let unit = Quantity::Time.unit_for(std::iter::once(seconds / 3.0));
    let max = (seconds / unit.size).max(f64::MIN_POSITIVE);
    (Scale { kind: ScaleKind::Linear, min: 0.0, max, from: LEFT, to: right }, unit)
}

pub(crate) fn time_axis(c: &mut Canvas, x: &Scale, unit: Unit, bottom: f64) {
    for tick in x.ticks(4) {
        c.line("axis", (tick.at, bottom), (tick.at, bottom + 4.0));
        c.text("tick", (tick.at, bottom + 17.0), Anchor::Middle, &tick_text(tick.value));
    }
    let says = format!("time since the first request ({})", unit.sign);
    c.text("note", (x.to, bottom + 35.0), Anchor::End, &says);
}

pub(crate) fn stroke(ink: Ink, width: &str, d: &str) -> String {
    let dashes = match ink.dashes {
        "" => String::new(),
        dashes => format!(r#" stroke-dasharray="{dashes}""#),
    };
    format!(
        r#"<path class="line {}" fill="none" stroke="{}" stroke-width="{width}"{dashes} stroke-linejoin="round" stroke-linecap="round" d="{d}"/>"#,
        ink.class, ink.colour
    )
}

/// Lines with their names at the right end; a dashed line lies on a solid one, which shows between its dashes.
pub(crate) fn labelled(c: &mut Canvas, x: &Scale, y: &Scale, lines: &[Line]) {
    let ends: Vec<f64> = lines.iter().map(|l| l.points.last().map_or(BOTTOM, |p| y.at(p.1)) + 4.0).collect();
    let places = spread(&ends, 16.0, TOP + 4.0, BOTTOM);
    let (solid, dashed): (Vec<_>, Vec<_>) =
        lines.iter().zip(places).partition(|(line, _)| line.ink.dashes.is_empty());
    for (line, place) in solid.into_iter().chain(dashed) {
        let d = path(line.points.iter().map(|(a, b)| Some((x.at(*a), y.at(*b)))));
        c.raw(&stroke(line.ink, "2", &d));
        let class = format!("name {}", line.ink.class);
        c.coloured_text(&class, line.ink.colour, (x.to + 7.0, place), Anchor::Start, line.name);
    }
}

/// Where the plot ends when names stand beside it.
pub(crate) fn beside(names: &[&str]) -> f64 {
    WIDTH - names.iter().map(|n| text_width(n) * 1.08).fold(0.0, f64::max) - 10.0
}

/// Swatches with names, in a row above the plot.
pub(crate) fn legend(c: &mut Canvas, inks: &[Ink]) {
    let mut at = LEFT;
    for ink in inks {
        c.swatch(ink.class, ink.colour, (at, 20.0));
        c.text("note", (at + 15.0, 29.0), Anchor::Start, ink.name);
        at += text_width(ink.name) + 34.0;
    }
}

pub(crate) fn percent(share: f64) -> String {
    format!("{}{NO_BREAK}%", number::significant(share * 100.0))
}
