//! The little of SVG that the pictures need: escaped text, scales with round ticks, and a canvas.
//! A picture carries its light colors as attributes, so that it stands alone in a paper; the page
//! overrides them by class, and so has a dark side.

use crate::pictures::palette::INK;
use crate::words::label::lines;
use crate::words::number;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Text that is safe inside elements and attributes. What no XML may hold becomes a question mark.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate with at most one decimal; 0 for what is not finite, so that no picture breaks.
pub(crate) fn px(x: f64) -> String {
    if !x.is_finite() {
        return "0".to_string();
    }
    let text = format!("{x:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_string(),
        Some(whole) => whole.to_string(),
        None => text,
    }
}

/// About how wide a text comes out at 12 pixels in the system's face.
pub(crate) fn text_width(text: &str) -> f64 {
    text.width() as f64 * 6.7
}

/// The ink of ticks and notes.
const SOFT: &str = "#59626d";

/// How values become positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub kind: ScaleKind,
    pub min: f64,
    pub max: f64,
    /// Position of `min`.
    pub from: f64,
    /// Position of `max`.
    pub to: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScaleKind {
    Linear,
    Log,
}

/// A tick: where, and what it says; minor ticks say nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub at: f64,
    pub value: f64,
    pub major: bool,
}

impl Scale {
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = match self.kind {
            ScaleKind::Linear => (value - self.min) / (self.max - self.min),
            ScaleKind::Log => (value / self.min).log10() / (self.max / self.min).log10(),
        };
        self.from + share.clamp(-0.01, 1.01) * (self.to - self.from)
    }

    /// From 0 to a round number not below `max`, with about `count` steps.
    pub(crate) fn from_zero(max: f64, count: usize, from: f64, to: f64) -> Scale {
        Scale::between(0.0, max, count, from, to)
    }

    /// From a round number not above `min` to one not below `max`, with about `count` steps.
    pub(crate) fn between(min: f64, max: f64, count: usize, from: f64, to: f64) -> Scale {
        let (min, max) = if max > min && (max - min).is_finite() { (min, max) } else { (0.0, 1.0) };
        let step = round_step(max - min, count);
        let (min, max) = ((min / step + 1e-9).floor() * step, (max / step - 1e-9).ceil() * step);
        Scale { kind: ScaleKind::Linear, min, max, from, to }
    }

    /// Logarithmic, from a round number not above `min` to one not below `max`.
    pub(crate) fn log(min: f64, max: f64, from: f64, to: f64) -> Scale {
        let (min, max) = if min > 0.0 && max >= min && max.is_finite() { (min, max) } else { (1.0, 10.0) };
        let below = |x: f64| {
            let decade = 10f64.powf(x.log10().floor());
            [5.0, 2.0, 1.0].iter().map(|m| m * decade).find(|v| *v <= x * 1.000_001).unwrap_or(decade)
        };
        let above = |x: f64| {
            let decade = 10f64.powf(x.log10().floor());
            [1.0, 2.0, 5.0, 10.0]
                .iter()
                .map(|m| m * decade)
                .find(|v| *v >= x * 0.999_999)
                .unwrap_or(decade * 10.0)
        };
        let (low, high) = (below(min), above(max));
        let high = if high / low < 4.0 { low * 5.0 } else { high };
        Scale { kind: ScaleKind::Log, min: low, max: high, from, to }
    }

    /// About `count` ticks, but at least two where the scale permits: a single tick shows no scale.
    pub(crate) fn two_ticks(&self, count: usize) -> Vec<Tick> {
        let mut some = (count..count + 4).map(|count| self.ticks(count));
        some.find(|ticks| ticks.len() > 1).unwrap_or_else(|| self.ticks(count))
    }

    /// The same, of ticks with a text.
    pub(crate) fn major_ticks(&self, count: usize) -> Vec<Tick> {
        let major = |count| self.ticks(count).into_iter().filter(|tick| tick.major).collect::<Vec<_>>();
        (count..count + 4).map(major).find(|ticks| ticks.len() > 1).unwrap_or_else(|| major(count))
    }

    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        match self.kind {
            ScaleKind::Linear => {
                let step = round_step(self.max - self.min, count);
                let n = ((self.max - self.min) / step + 1e-6).floor() as usize;
                (0..=n.min(64))
                    .map(|i| self.min + i as f64 * step)
                    .map(|value| Tick { at: self.at(value), value, major: true })
                    .collect()
            }
            ScaleKind::Log => {
                let decades = (self.max / self.min).log10();
                // With few decades the halves are labelled too; with many, only some decades.
                let every = (decades / count.max(1) as f64).ceil().max(1.0) as i32;
                let halves = decades < count as f64 / 2.5;
                let first = self.min.log10().floor() as i32;
                let mut ticks = Vec::new();
                for d in first..=self.max.log10().ceil() as i32 {
                    for m in 1..10 {
                        let value = f64::from(m) * 10f64.powi(d);
                        if value < self.min * 0.999_999 || value > self.max * 1.000_001 {
                            continue;
                        }
                        let major = if m == 1 {
                            (d - first) % every == 0 || halves
                        } else {
                            halves && matches!(m, 2 | 5)
                        };
                        ticks.push(Tick { at: self.at(value), value, major });
                    }
                }
                ticks
            }
        }
    }

    /// The scale for the page's script: kind and the four numbers.
    pub(crate) fn data(&self) -> String {
        let kind = if self.kind == ScaleKind::Log { "log" } else { "lin" };
        format!("{kind} {} {} {} {}", self.min, self.max, px(self.from), px(self.to))
    }
}

fn round_step(range: f64, count: usize) -> f64 {
    let raw = range / count.max(1) as f64;
    if !(raw.is_finite() && raw > 0.0) {
        return 1.0;
    }
    let decade = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0].iter().map(|m| m * decade).find(|s| *s >= raw * 0.999).unwrap_or(decade * 10.0)
}

/// A tick's text: as few digits as it needs.
pub(crate) fn tick_text(value: f64) -> String {
    if !value.is_finite() {
        return number::NONE.to_string();
    }
    if value.abs() >= 1000.0 {
        return number::significant(value);
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A latency tick, 1, 2 or 5 of something: `20 µs`.
pub(crate) fn latency_tick(us: f64) -> String {
    let unit = number::Quantity::Latency.unit_for(std::iter::once(us));
    format!("{}{}{}", tick_text(us / unit.size), number::NO_BREAK, unit.sign)
}

/// Where a text stands against its point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture while it is drawn. Colors go by class with the light value beside it.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    pub(crate) fn new(width: f64, height: f64) -> Canvas {
        Canvas { width, height, body: String::with_capacity(8192) }
    }

    /// It ends here, and not where it was begun to.
    pub(crate) fn end_at(&mut self, height: f64) {
        self.height = height;
    }

    /// A straight line of class `axis`, `grid` or `mark`.
    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (colour, width) = match class {
            "axis" => (SOFT, "1"),
            "leader" => ("#9aa3ad", "1"),
            "grid" => ("#e3e6ea", "1"),
            "minor" => ("#f1f3f5", "1"),
            _ => (INK, "1"),
        };
        let _ = write!(
            self.body,
            r#"<line class="{class}" stroke="{colour}" stroke-width="{width}" x1="{}" y1="{}" x2="{}" y2="{}"/>"#,
            px(from.0),
            px(from.1),
            px(to.0),
            px(to.1)
        );
    }

    /// A text of class `tick`, `note` (both soft) or `name` (strong).
    pub(crate) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let colour = if class == "name" { INK } else { SOFT };
        self.coloured_text(class, colour, at, anchor, text);
    }

    /// A text in the color of what it names.
    pub(crate) fn coloured_text(
        &mut self,
        class: &str,
        colour: &str,
        at: (f64, f64),
        anchor: Anchor,
        text: &str,
    ) {
        // A tick at the edge of the picture is moved in, so that nothing of it is cut off.
        let half = text_width(text) * 0.54;
        let x = match anchor {
            Anchor::Middle if at.0 + half > self.width => self.width - half,
            Anchor::Middle if at.0 < half => half,
            _ => at.0,
        };
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let weight = if class.starts_with("name") { r#" font-weight="600""# } else { "" };
        let _ = write!(
            self.body,
            r#"<text class="{class}" fill="{}" x="{}" y="{}"{anchor}{weight}>{}</text>"#,
            escape(colour),
            px(x),
            px(at.1),
            escape(text)
        );
    }

    /// The name of the `run`th curve, by which the page shows and hides it.
    pub(crate) fn run_name(&mut self, class: &str, colour: &str, at: (f64, f64), run: usize, text: &str) {
        let _ = write!(
            self.body,
            r#"<text class="name {class}" fill="{}" x="{}" y="{}" font-weight="600" data-run="{run}">{}</text>"#,
            escape(colour),
            px(at.0),
            px(at.1),
            escape(text)
        );
    }

    /// A filled rectangle that says what it is when pointed at.
    pub(crate) fn bar(&mut self, class: &str, colour: &str, at: (f64, f64), size: (f64, f64), says: &str) {
        let _ = write!(
            self.body,
            r#"<rect class="bar {class}" fill="{colour}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>"#,
            px(at.0),
            px(at.1),
            px(size.0.max(0.0)),
            px(size.1.max(0.0)),
            escape(says)
        );
    }

    /// A small square before the text of a legend.
    pub(crate) fn swatch(&mut self, class: &str, colour: &str, at: (f64, f64)) {
        let _ = write!(
            self.body,
            r#"<rect class="{class}" fill="{colour}" x="{}" y="{}" width="10" height="10" rx="2"/>"#,
            px(at.0),
            px(at.1)
        );
    }

    /// The curve of the `run`th run, which its name shows and hides.
    pub(crate) fn series(&mut self, run: usize, markup: &str) {
        let _ = write!(self.body, r#"<g class="series" data-run="{run}">{markup}</g>"#);
    }

    /// Whatever else: markup that the caller has made safe.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.body.push_str(markup);
    }

    /// The picture; `data` are attributes for the page's script.
    pub(crate) fn finish(self, title: &str, data: &str) -> String {
        format!(
            concat!(
                r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" "#,
                r#"font-family="system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif" font-size="12"{data}>"#,
                "<title>{title}</title>{body}</svg>"
            ),
            w = px(self.width),
            h = px(self.height),
            data = data,
            title = escape(title),
            body = self.body
        )
    }
}

/// Room for text under a picture: beside its lines, and for each.
const FOOT: f64 = 3.0;
const FOOT_LINE: f64 = 15.0;

/// Words on lines of a width in pixels; a word that is longer has a line to itself.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(line) + text_width(" ") + text_width(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// Writes text under a picture that [`Canvas::finish`] made, on as many lines as it needs.
pub(crate) fn footnote(svg: &str, text: &str) -> String {
    let Some((head, rest)) = svg.split_once(r#" role="img""#) else { return svg.to_string() };
    let number = |name: &str| -> Option<f64> {
        head.split_once(&format!(r#" {name}=""#))?.1.split('"').next()?.parse().ok()
    };
    let (Some(width), Some(height)) = (number("width"), number("height")) else { return svg.to_string() };
    let Some(body) = rest.strip_suffix("</svg>") else { return svg.to_string() };
    let lines = wrapped(text, width);
    let (w, h) = (px(width), px(height + FOOT + FOOT_LINE * lines.len() as f64));
    let line = |(n, line): (usize, &String)| {
        let y = px(height + FOOT_LINE * (n + 1) as f64 - 2.0);
        format!(r#"<text class="note" fill="{SOFT}" x="0" y="{y}">{}</text>"#, escape(line))
    };
    let said: String = lines.iter().enumerate().map(line).collect();
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img"{body}{said}</svg>"#
    )
}

/// A polyline through the points, broken where one is missing. A point alone becomes a dot (the
/// line's caps are round), and a flat run only its two ends.
pub(crate) fn path(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut out = String::new();
    let mut last: Option<(f64, f64)> = None;
    let mut held: Option<(f64, f64)> = None;
    let mut length = 0;
    for point in points.chain([None]) {
        let Some((x, y)) = point.filter(|p| p.0.is_finite() && p.1.is_finite()) else {
            if let Some((x, y)) = held.take() {
                let _ = write!(out, "L{} {}", px(x), px(y));
            } else if length == 1 {
                out.push_str("h0");
            }
            (last, length) = (None, 0);
            continue;
        };
        length += 1;
        match last {
            None => {
                let _ = write!(out, "M{} {}", px(x), px(y));
            }
            Some((_, before)) if (y - before).abs() < 0.05 => {
                held = Some((x, y));
                continue;
            }
            Some(_) => {
                if let Some((hx, hy)) = held.take() {
                    let _ = write!(out, "L{} {}", px(hx), px(hy));
                }
                let _ = write!(out, "L{} {}", px(x), px(y));
            }
        }
        last = Some((x, y));
    }
    out
}

/// A name in lines no wider than `room` in a picture.
pub(crate) fn drawn(name: &str, room: f64) -> Vec<String> {
    lines(name, |line| text_width(line) * 1.08 <= room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_scale() {
        let s = Scale::from_zero(2.33, 5, 0.0, 100.0);
        assert_eq!(s.max, 2.5);
        let values: Vec<f64> = s.ticks(5).iter().map(|t| t.value).collect();
        assert_eq!(values, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
        let s = Scale::log(43.0, 210_000.0, 0.0, 100.0);
        assert_eq!((s.min, s.max), (20.0, 500_000.0));
        assert!(s.ticks(5).iter().filter(|t| t.major).all(|t| t.value.log10().fract().abs() < 1e-9));
    }

    #[test]
    fn a_scale_of_nothing_is_still_a_scale() {
        for (min, max) in [(0.0, 0.0), (f64::NAN, 1.0), (5.0, f64::INFINITY), (7.0, 7.0)] {
            let s = Scale::log(min, max, 0.0, 100.0);
            assert!(s.min > 0.0 && s.max > s.min && s.max.is_finite(), "{s:?}");
            assert!(!s.ticks(4).is_empty());
        }
        assert_eq!(Scale::from_zero(f64::NAN, 4, 0.0, 1.0).max, 1.0);
    }

    #[test]
    fn a_path_breaks_at_gaps_and_drops_what_is_flat() {
        let points = [
            Some((0.0, 1.0)),
            Some((1.0, 1.0)),
            Some((2.0, 1.0)),
            Some((3.0, 5.0)),
            None,
            Some((5.0, 2.0)),
            None,
        ];
        assert_eq!(path(points.into_iter()), "M0 1L2 1L3 5M5 2h0");
        assert_eq!(path([Some((f64::NAN, 0.0))].into_iter()), "");
    }

    #[test]
    fn a_footnote_makes_room_for_itself() {
        let svg = footnote(&Canvas::new(480.0, 100.0).finish("t", r#" data-kind="x""#), "twin:a & b");
        assert!(svg.contains(r#"viewBox="0 0 480 118" width="480" height="118" role="img""#), "{svg}");
        assert!(svg.ends_with(r#"y="113">twin:a &amp; b</text></svg>"#), "{svg}");
        assert!(svg.contains("<title>t</title>"), "{svg}");
        let long =
            "one erase counts as 100 cycles; at half of that 3 of 3 are more than 5 % off; ends at capacity";
        let svg = footnote(&Canvas::new(350.0, 100.0).finish("t", ""), long);
        assert!(svg.contains(r#"height="133""#), "{svg}");
        let lines = wrapped(long, 350.0);
        assert!(lines.iter().all(|line| text_width(line) <= 350.0), "{lines:?}");
        assert_eq!(lines.join(" "), long);
    }

    #[test]
    fn a_scale_has_more_than_one_tick() {
        let scale = Scale { kind: ScaleKind::Linear, min: 0.0, max: 459.0, from: 0.0, to: 100.0 };
        assert_eq!(scale.ticks(2).len(), 1);
        assert_eq!(scale.two_ticks(2).iter().map(|t| t.value).collect::<Vec<_>>(), [0.0, 200.0, 400.0]);
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<a b=\"c\" d='e'>&\u{1b}"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;?");
    }
}
