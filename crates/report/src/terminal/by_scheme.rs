//! The table with one line a scheme, for more of them than columns fit.

use crate::terminal::columns::{NAME_WIDTH, broken};
use crate::terminal::text::{Line, Look, Page};
use crate::words::followed::TITLE;
use crate::words::row::{Group, Row};
use unicode_width::UnicodeWidthStr;

/// The measures of many schemes: group, label, and the head of their column.
const KEY: [(&str, &str, &str); 10] = [
    ("Write latency", "mean", "w mean"),
    ("Write latency", "p99", "w p99"),
    ("Write latency", "p99.9", "w p99.9"),
    ("Read latency", "mean", "r mean"),
    ("Read latency", "p99", "r p99"),
    ("Read latency", "p99.9", "r p99.9"),
    ("Write amplification", "WAF", "WAF"),
    ("Throughput", "IOPS", "IOPS"),
    ("Throughput", "written", "written"),
    ("Requests", "failed", "failed"),
];

/// More schemes than columns fit: one line a scheme, in as many tables as the measures need.
pub(crate) fn transposed(page: &mut Page, labels: &[String], groups: &[Group], eligible: &[bool]) {
    let find = |group: &str, label: &str| {
        groups.iter().find(|g| g.title == group).and_then(|g| g.rows.iter().find(|r| r.is(label)))
    };
    let names: Vec<Vec<String>> = labels.iter().map(|l| broken(l, page.width / 3)).collect();
    let stub = names.iter().flatten().map(|l| l.width()).max().unwrap_or(0);
    let key =
        KEY.iter().filter_map(|(group, label, title)| Some((find(group, label)?, vec![title.to_string()])));
    let followed = groups.iter().filter(|g| g.title == TITLE).flat_map(|g| &g.rows).filter(|row| !row.part);
    let shown: Vec<Measure> = key
        .chain(followed.map(|row| (row, broken(&row.label, NAME_WIDTH))))
        .map(|(row, title)| {
            let widths = row.texts().iter().chain(&title).map(|t| t.width()).max().unwrap_or(0);
            let width = widths.max(row.unit().sign.width()) + 3;
            Measure { row, title, width }
        })
        .collect();
    let mut rest = shown.as_slice();
    while !rest.is_empty() {
        let mut width = stub;
        let fits = rest.iter().take_while(|measure| {
            width += measure.width;
            width <= page.width
        });
        let (these, others) = rest.split_at(fits.count().max(1));
        by_scheme(page, (stub, &names), these, eligible);
        rest = others;
        if !rest.is_empty() {
            page.blank();
        }
    }
}

/// A measure of all schemes: its row, the head of its column in lines, and how wide that is.
struct Measure<'a> {
    row: &'a Row,
    title: Vec<String>,
    width: usize,
}

/// One table of measures, a line a scheme.
fn by_scheme(page: &mut Page, (stub, names): (usize, &[Vec<String>]), shown: &[Measure], eligible: &[bool]) {
    let head = |text: &dyn Fn(&Measure) -> String, look: Look| {
        let mut line = Line::default();
        line.pad_to(stub);
        for measure in shown {
            let end = line.width + measure.width;
            line.right(&text(measure), end - 1, look);
            line.pad_to(end);
        }
        line
    };
    let lines = shown.iter().map(|m| m.title.len()).max().unwrap_or(1);
    for i in 0..lines {
        // Shorter titles stand at the bottom.
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
        for Measure { row, width, .. } in shown {
            let end = line.width + width;
            let best = row.best(eligible)[i];
            line.right(&row.texts()[i], end - 1, if best { Look::Best } else { Look::Plain });
            line.add(if best && !page.colour { "*" } else { " " }, Look::Plain);
        }
        page.push(line);
    }
}
