//! The table with one column per scheme, the best of each row marked, the ratio to the first scheme next to
//! it.

use crate::terminal::text::{Line, Look, Page};
use crate::words::label;
use crate::words::row::{Group, Row};
use unicode_width::UnicodeWidthStr;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ratios {
    Show,
    Hide,
}

/// Width of one scheme: digits before and after the decimal point, half-width of the interval, and ratio.
struct Column {
    name: String,
    whole: usize,
    rest: usize,
    spread: usize,
    ratio: usize,
}

pub(crate) struct Columns {
    stub: usize,
    unit: usize,
    columns: Vec<Column>,
}

impl Columns {
    pub(crate) fn new(labels: &[String], groups: &[Group]) -> Columns {
        let rows = || groups.iter().flat_map(|g| &g.rows);
        let columns = labels
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let texts: Vec<(String, String)> = rows().map(|r| r.spread_texts().swap_remove(i)).collect();
                let most = |of: &dyn Fn(&(String, String)) -> usize| texts.iter().map(of).max().unwrap_or(0);
                Column {
                    name: name.clone(),
                    whole: most(&|t| split(&t.0).0.width()).max(1),
                    rest: most(&|t| split(&t.0).1.width()),
                    spread: most(&|t| t.1.width()),
                    ratio: rows().filter_map(|r| ratio_text(r, i)).map(|t| t.width()).max().unwrap_or(0),
                }
            })
            .collect();
        let wide = |r: &Row| name(r).iter().map(|l| indent(r).len() + l.width()).max();
        let stub = rows().filter_map(wide).max().unwrap_or(0);
        let unit = rows().map(|r| r.unit().sign.width()).max().unwrap_or(0);
        Columns { stub, unit, columns }
    }

    pub(crate) fn width(&self, ratios: Ratios) -> usize {
        self.stub + 1 + self.unit + self.columns.iter().map(|c| c.width(ratios)).sum::<usize>()
    }

    pub(crate) fn draw(&self, page: &mut Page, groups: &[Group], eligible: &[bool], ratios: Ratios) {
        if self.columns.iter().any(|c| !c.name.is_empty()) {
            self.head(page, ratios);
        }
        for group in groups {
            page.push(Line::of(group.title, Look::Bold));
            for row in &group.rows {
                let mut lines = name(row).into_iter().map(|text| {
                    let mut line = Line::of(indent(row), Look::Plain);
                    line.add(&text, if row.is_part() { Look::Dim } else { Look::Plain });
                    line
                });
                let mut line = lines.next_back().unwrap_or_default();
                lines.for_each(|line| page.push(line));
                line.pad_to(self.stub + 1);
                line.add(row.unit().sign, Look::Dim);
                line.pad_to(self.stub + 1 + self.unit);
                let (texts, best) = (row.spread_texts(), row.best(eligible));
                for (i, c) in self.columns.iter().enumerate() {
                    let end = line.width() + c.width(ratios);
                    let (whole, rest) = split(&texts[i].0);
                    let look = match (best[i], row.is_part()) {
                        (true, _) => Look::Best,
                        (false, true) => Look::Dim,
                        (false, false) => Look::Plain,
                    };
                    line.pad_to(line.width() + 2 + c.whole - whole.width());
                    line.add(&format!("{whole}{rest}"), look);
                    line.pad_to(line.width() + c.rest - rest.width());
                    let spread_end = line.width() + c.spread_width();
                    if !texts[i].1.is_empty() {
                        line.add(&format!(" ± {}", texts[i].1), Look::Dim);
                    }
                    line.pad_to(spread_end);
                    line.add(if best[i] && !page.has_colors() { "*" } else { " " }, Look::Plain);
                    if let (Ratios::Show, Some(ratio)) = (ratios, ratio_text(row, i)) {
                        line.right(&ratio, end, Look::Dim);
                    }
                    line.pad_to(end);
                }
                page.push(line);
            }
        }
    }
}

impl Columns {
    /// The names above the columns, whole, in as many lines as the longest needs.
    fn head(&self, page: &mut Page, ratios: Ratios) {
        let names: Vec<Vec<String>> =
            self.columns.iter().map(|c| broken(&c.name, c.width(ratios) - 2)).collect();
        let rows = names.iter().map(Vec::len).max().unwrap_or(1);
        for row in 0..rows {
            let mut line = Line::default();
            line.pad_to(self.stub + 1 + self.unit);
            for (c, name) in self.columns.iter().zip(&names) {
                let (start, all) = (line.width(), c.width(ratios));
                let widest = name.iter().map(|n| n.width()).max().unwrap_or(0);
                let value_end = start + 2 + c.whole + c.rest + c.spread_width();
                let end = if start + 2 + widest <= value_end { value_end } else { start + all };
                // Shorter names are at the bottom.
                if let Some(part) = (row + name.len()).checked_sub(rows).and_then(|i| name.get(i)) {
                    line.right(part, end, Look::Bold);
                }
                line.pad_to(start + all);
            }
            page.push(line);
        }
    }
}

impl Column {
    /// Room for ` ± 0.04`, if any row needs it.
    fn spread_width(&self) -> usize {
        if self.spread == 0 { 0 } else { 3 + self.spread }
    }

    fn width(&self, ratios: Ratios) -> usize {
        let ratio = if ratios == Ratios::Show && self.ratio > 0 { self.ratio + 1 } else { 0 };
        let widest = broken(&self.name, NAME_WIDTH).iter().map(|n| n.width()).max().unwrap_or(0);
        let least = widest + 3;
        (2 + self.whole + self.rest + self.spread_width() + 1 + ratio).max(least)
    }
}

/// A longer name above a column is broken into lines.
pub(crate) const NAME_WIDTH: usize = 14;

/// A longer name before a row is broken into lines.
const LABEL_WIDTH: usize = 28;

/// A name in lines of at most `width` columns, without what could move the cursor.
pub(crate) fn broken(name: &str, width: usize) -> Vec<String> {
    let clean: String = name.chars().filter(|c| !c.is_control()).collect();
    label::lines(&clean, |line| line.width() <= width.max(1))
}

/// A row's name, in lines if it is a user's long one.
fn name(row: &Row) -> Vec<String> {
    broken(&row.label, LABEL_WIDTH)
}

fn indent(row: &Row) -> &'static str {
    if row.is_part() { "    " } else { "  " }
}

fn ratio_text(row: &Row, run: usize) -> Option<String> {
    row.against(run, 0).map(|text| if text.contains('%') { text } else { format!("({text})") })
}

/// A number before its decimal point, and from it on.
fn split(text: &str) -> (&str, &str) {
    text.split_at(text.find('.').unwrap_or(text.len()))
}
