//! Where things stand in a picture of several runs: few curves share a plot and a legend, few strips lie below each
//! other, and many runs get a small plot each, in two columns on common scales, with the name above it.

use crate::pictures::cast::Named;
use crate::pictures::figure::WIDTH;
use crate::pictures::svg::{Anchor, Canvas, drawn, escape, px, text_width};

/// The most runs that share a plot, or lie below each other: more would hide one another, and their colors could
/// not be told apart.
pub(crate) const TOGETHER: usize = 4;
/// Where a plot ends at the right.
pub(crate) const RIGHT: f64 = WIDTH - 7.0;
/// A line of text.
const LINE: f64 = 15.0;
/// Between the columns of small plots.
const GUTTER: f64 = 14.0;
/// Between a name and the note at the other end of its line.
const APART: f64 = 12.0;

/// The names of curves with a piece of each, in as many rows as they need from `top` on; returns where they end.
/// `shown` are positions in the cast, in the order of the curves.
pub(crate) fn legend(c: &mut Canvas, (labels, inks): Named, shown: &[usize], top: f64) -> f64 {
    const SAMPLE: f64 = 22.0;
    let (mut x, mut y) = (0.0, top);
    for (i, run) in shown.iter().enumerate() {
        let lines = drawn(&labels[*run], WIDTH - SAMPLE - 8.0);
        let wide = lines.iter().map(|l| text_width(l) * 1.08).fold(0.0, f64::max) + SAMPLE + 8.0;
        if x > 0.0 && (x + wide > WIDTH || lines.len() > 1) {
            (x, y) = (0.0, y + LINE + 2.0);
        }
        let ink = &inks[*run];
        c.raw(&format!(
            r#"<path class="{}" fill="none" stroke="{}" stroke-width="2.4"{} d="M{} {}h{SAMPLE}"/>"#,
            ink.class,
            escape(&ink.colour),
            ink.dash(),
            px(x),
            px(y + 7.0),
        ));
        for (n, line) in lines.iter().enumerate() {
            let at = (x + SAMPLE + 6.0, y + 11.0 + n as f64 * LINE);
            c.run_name(&ink.class, &ink.colour, at, i, line);
        }
        y += (lines.len() - 1) as f64 * LINE;
        x += wide + 10.0;
    }
    y + LINE + 4.0
}

/// Plots of one size, one a run.
pub(crate) struct Panels {
    columns: usize,
    count: usize,
    top: f64,
    left: f64,
    height: f64,
    /// Lines of text above each.
    rows: usize,
}

/// One of them.
pub(crate) struct Panel {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// At the left, where the scale is written.
    pub first: bool,
    /// The lowest of its column, where time is written.
    pub last: bool,
    /// Baseline of the last line above it.
    name: f64,
}

impl Panels {
    /// Room for the runs from `top` on, behind `left` for the scale. Notes stand behind names where there is one
    /// column.
    pub(crate) fn new(
        labels: &[String],
        shown: &[usize],
        notes: &[String],
        (top, left): (f64, f64),
    ) -> Panels {
        let columns = if shown.len() > TOGETHER { 2 } else { 1 };
        let height = match (columns, shown.len()) {
            (2, _) => 64.0,
            (_, 1) => 170.0,
            (_, 2) => 92.0,
            _ => 70.0,
        };
        let mut panels = Panels { columns, count: shown.len(), top, left, height, rows: 1 };
        let lines = |(i, run): (usize, &usize)| panels.name(&labels[*run], note(notes, i)).len();
        panels.rows = shown.iter().enumerate().map(lines).max().unwrap_or(1);
        panels
    }

    /// Whether each run has a strip of the whole width.
    pub(crate) fn are_strips(&self) -> bool {
        self.columns == 1
    }

    fn width(&self) -> f64 {
        (RIGHT - self.left - GUTTER * (self.columns - 1) as f64) / self.columns as f64
    }

    fn pitch(&self) -> f64 {
        self.rows as f64 * LINE + 5.0 + self.height + 10.0
    }

    fn name(&self, label: &str, note: &str) -> Vec<String> {
        let taken = if self.are_strips() && !note.is_empty() { text_width(note) + APART } else { 0.0 };
        drawn(label, self.width() - taken)
    }

    pub(crate) fn at(&self, i: usize) -> Panel {
        let left = self.left + (i % self.columns) as f64 * (self.width() + GUTTER);
        let row = self.top + (i / self.columns) as f64 * self.pitch();
        let top = row + self.rows as f64 * LINE + 5.0;
        Panel {
            left,
            right: left + self.width(),
            top,
            bottom: top + self.height,
            first: i.is_multiple_of(self.columns),
            last: i + self.columns >= self.count,
            name: top - 7.0,
        }
    }

    /// Where the first plot begins and the last row ends.
    pub(crate) fn span(&self) -> (f64, f64) {
        (self.at(0).top, self.at(self.count.saturating_sub(1)).bottom)
    }

    /// The name of the `i`th run above its plot, and a note at the right where strips have room.
    pub(crate) fn head(&self, c: &mut Canvas, (labels, inks): Named, (i, run): (usize, usize), note: &str) {
        let (panel, ink) = (self.at(i), &inks[run]);
        let lines = self.name(&labels[run], note);
        for (n, line) in lines.iter().enumerate() {
            let y = panel.name - (lines.len() - 1 - n) as f64 * LINE;
            let class = format!("name {}", ink.class);
            c.coloured_text(&class, &ink.colour, (panel.left, y), Anchor::Start, line);
        }
        if self.are_strips() && !note.is_empty() {
            c.text("note", (panel.right, panel.name), Anchor::End, note);
        }
    }

    /// An invisible sheet over a small plot that says what is in it when pointed at.
    pub(crate) fn says(&self, c: &mut Canvas, i: usize, says: &str) {
        let p = self.at(i);
        c.bar("sheet", "transparent", (p.left, p.top), (p.right - p.left, p.bottom - p.top), says);
    }
}

impl Panel {
    /// The only plot of a picture.
    pub(crate) fn alone((left, right): (f64, f64), (top, bottom): (f64, f64)) -> Panel {
        Panel { left, right, top, bottom, first: true, last: true, name: top }
    }

    /// About how many ticks its scale has room for.
    pub(crate) fn ticks(&self) -> usize {
        if self.bottom - self.top > 90.0 { 4 } else { 2 }
    }
}

pub(crate) fn note(notes: &[String], i: usize) -> &str {
    notes.get(i).map_or("", String::as_str)
}

/// Move labels apart so that each has `room`, as near as can be to where it belongs, between `low`
/// and `high`. Returns the positions in the order given.
pub(crate) fn spread(wanted: &[f64], room: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut at = wanted.to_vec();
    let mut floor = low;
    for i in &order {
        at[*i] = at[*i].max(floor);
        floor = at[*i] + room;
    }
    let mut ceiling = high;
    for i in order.iter().rev() {
        at[*i] = at[*i].min(ceiling);
        ceiling = at[*i] - room;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_spread_until_none_covers_another() {
        let at = spread(&[50.0, 51.0, 49.0], 10.0, 0.0, 100.0);
        assert_eq!(at, [59.0, 69.0, 49.0]);
        let at = spread(&[98.0, 99.0], 10.0, 0.0, 100.0);
        assert_eq!(at, [90.0, 100.0]);
    }
}
