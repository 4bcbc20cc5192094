//! The table with one line a scheme, for more of them than columns fit.

use crate::terminal::columns::broken;
use crate::terminal::text::{Line, Look, Page};
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
    let shown: Vec<(&Row, &str, usize)> = KEY
        .iter()
        .filter_map(|(group, label, title)| {
            let row = find(group, label)?;
            let texts = row.texts();
            let widths = texts.iter().map(|t| t.width()).chain([title.width(), row.unit().sign.width()]);
            Some((row, *title, widths.max().unwrap_or(0) + 3))
        })
        .collect();
    let mut rest = shown.as_slice();
    while !rest.is_empty() {
        let mut width = stub;
        let fits = rest.iter().take_while(|(_, _, wide)| {
            width += wide;
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

/// One table of measures, a line a scheme.
fn by_scheme(
    page: &mut Page,
    (stub, names): (usize, &[Vec<String>]),
    shown: &[(&Row, &str, usize)],
    eligible: &[bool],
) {
    let (mut titles, mut units) = (Line::default(), Line::default());
    titles.pad_to(stub);
    units.pad_to(stub);
    for (row, title, width) in shown {
        let end = titles.width + width;
        titles.right(title, end - 1, Look::Bold);
        titles.pad_to(end);
        units.right(row.unit().sign, end - 1, Look::Dim);
        units.pad_to(end);
    }
    page.push(titles);
    if shown.iter().any(|(row, _, _)| !row.unit().sign.is_empty()) {
        page.push(units);
    }
    for (i, name) in names.iter().enumerate() {
        let (last, before) = name.split_last().map_or(("", &[][..]), |(l, b)| (l.as_str(), b));
        before.iter().for_each(|part| page.push(Line::of(part, Look::Plain)));
        let mut line = Line::of(last, Look::Plain);
        line.pad_to(stub);
        for (row, _, width) in shown {
            let end = line.width + width;
            let best = row.best(eligible)[i];
            line.right(&row.texts()[i], end - 1, if best { Look::Best } else { Look::Plain });
            line.add(if best && !page.colour { "*" } else { " " }, Look::Plain);
        }
        page.push(line);
    }
}
