//! The table with one line per scheme, for more of them than columns fit.

use crate::terminal::columns::{NAME_WIDTH, broken};
use crate::terminal::text::{Line, Look, Page};
use crate::words::metrics;
use crate::words::number;
use crate::words::row::{Group, Row};
use unicode_width::UnicodeWidthStr;

/// The label of write amplification itself; other figures under its heading are kinds of it.
const WAF: &str = "WAF";

/// The head of a column: `w p99` for a write latency, else the label, under the heading if that is clearer.
fn head(row: &Row, heading: &str) -> Vec<String> {
    if heading.ends_with(" latency") {
        return vec![row.name(heading).replacen("write ", "w ", 1).replacen("read ", "r ", 1)];
    }
    let mut lines = match heading {
        "Throughput" | "Requests" | metrics::TITLE => vec![],
        "Write amplification" if row.label == WAF => vec![],
        "Write amplification" => vec![WAF.to_string()],
        heading => broken(heading, NAME_WIDTH),
    };
    lines.extend(broken(&row.label, NAME_WIDTH));
    lines
}

/// More schemes than columns fit: one line per scheme, in as many tables as the measures need.
pub(crate) fn transposed(page: &mut Page, labels: &[String], groups: &[Group], eligible: &[bool]) {
    let names: Vec<Vec<String>> = labels.iter().map(|l| broken(l, page.width() / 3)).collect();
    let stub = names.iter().flatten().map(|l| l.width()).max().unwrap_or(0);
    let rows = groups.iter().flat_map(|group| group.rows.iter().map(|row| (row, group.title)));
    let shown: Vec<Measure> = rows
        .filter(|(row, _)| !row.is_part())
        .map(|(row, heading)| Measure::new(row, head(row, heading)))
        .collect();
    let mut rest = shown.as_slice();
    while !rest.is_empty() {
        let mut width = stub;
        let fits = rest.iter().take_while(|measure| {
            width += measure.width();
            width <= page.width()
        });
        let (these, others) = rest.split_at(fits.count().max(1));
        by_scheme(page, (stub, &names), these, eligible);
        rest = others;
        if !rest.is_empty() {
            page.blank();
        }
    }
}

/// A measure of all schemes: its row, the head of its column in lines, and its cells.
struct Measure<'a> {
    row: &'a Row,
    title: Vec<String>,
    /// The value of each scheme, with the half-width of its interval if there are replicas.
    values: Vec<String>,
    /// Difference of each from the first by replicas; empty without them.
    differences: Vec<String>,
}

impl<'a> Measure<'a> {
    fn new(row: &'a Row, title: Vec<String>) -> Measure<'a> {
        let texts = row.spread_texts();
        let half = widest(texts.iter().map(|(_, half)| half));
        let cell = |(value, spread): &(String, String)| match (half, spread.as_str()) {
            (0, _) => value.clone(),
            (_, "") => format!("{value}{}", " ".repeat(half + 3)),
            (_, spread) => format!("{value} ± {spread}{}", " ".repeat(half - spread.width())),
        };
        let values = texts.iter().map(cell).collect();
        let difference = |run| match row.difference(run, 0) {
            Some(d) => number::change(d.mean, d.half_width_95),
            None => String::new(),
        };
        Measure { row, title, values, differences: (0..texts.len()).map(difference).collect() }
    }

    /// Room for a value, and two columns before it.
    fn value_width(&self) -> usize {
        2 + widest(self.values.iter().chain(&self.title)).max(self.row.unit().sign.width())
    }

    /// Room for the mark of the best, and for a difference.
    fn width(&self) -> usize {
        let difference = widest(self.differences.iter());
        self.value_width() + 1 + if difference > 0 { 1 + difference } else { 0 }
    }
}

fn widest<'t>(texts: impl Iterator<Item = &'t String>) -> usize {
    texts.map(|t| t.width()).max().unwrap_or(0)
}

/// One table of measures, a line per scheme.
fn by_scheme(page: &mut Page, (stub, names): (usize, &[Vec<String>]), shown: &[Measure], eligible: &[bool]) {
    let head = |text: &dyn Fn(&Measure) -> String, look: Look| {
        let mut line = Line::default();
        line.pad_to(stub);
        for measure in shown {
            let start = line.width();
            line.right(&text(measure), start + measure.value_width(), look);
            line.pad_to(start + measure.width());
        }
        line
    };
    let lines = shown.iter().map(|m| m.title.len()).max().unwrap_or(1);
    for i in 0..lines {
        // Shorter titles are at the bottom.
        let part = |m: &Measure| (i + m.title.len()).checked_sub(lines).and_then(|i| m.title.get(i).cloned());
        page.push(head(&|m| part(m).unwrap_or_default(), Look::Bold));
    }
    if shown.iter().any(|m| !m.row.unit().sign.is_empty()) {
        page.push(head(&|m| m.row.unit().sign.to_string(), Look::Dim));
    }
    for (i, name) in names.iter().enumerate() {
        let (last, before) = name.split_last().map_or(("", &[][..]), |(l, b)| (l.as_str(), b));
        before.iter().for_each(|part| page.push(Line::of(part, Look::Plain)));
        let mut line = Line::of(last, Look::Plain);
        line.pad_to(stub);
        for measure in shown {
            let start = line.width();
            let best = measure.row.best(eligible)[i];
            let look = if best { Look::Best } else { Look::Plain };
            line.right(&measure.values[i], start + measure.value_width(), look);
            line.add(if best && !page.has_colors() { "*" } else { " " }, Look::Plain);
            line.right(&measure.differences[i], start + measure.width(), Look::Dim);
        }
        page.push(line);
    }
}
