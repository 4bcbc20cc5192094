//! The rows of a comparison, for terminal and page: the table of figures with the value of every run.

use crate::schema::report::Report;
use crate::words::figures::figure::{Figure, Section, Shown};
use crate::words::figures::reading::Trees;
use crate::words::figures::table::SECTIONS;
use crate::words::row::{Group, Row};

/// Every row with a value for at least one run.
pub(crate) fn groups(reports: &[Report]) -> Vec<Group> {
    let trees = Trees::of(reports);
    let group =
        |section: &'static Section| Group { title: section.title, rows: rows(section, reports, &trees) };
    SECTIONS.iter().map(group).filter(|group| !group.rows.is_empty()).collect()
}

/// Figures with names are grouped by name.
fn rows(section: &'static Section, reports: &[Report], trees: &Trees) -> Vec<Row> {
    let each = |figure: &Figure| figure.names.map(|names| names.each);
    let mut rows = vec![];
    for figures in section.figures.chunk_by(|a, b| each(a) == each(b)) {
        let named =
            figures[0].names.map(|names| (names.of)(reports).into_iter().map(|n| ((names.title)(&n), n)));
        let names = named.map_or_else(|| vec![Default::default()], Iterator::collect);
        for (title, name) in names {
            rows.extend(figures.iter().filter_map(|figure| row(figure, (&title, &name), reports, trees)));
        }
    }
    summed(rows)
}

/// Parts of a sum have its unit: that of the last row of their quantity that is not a part.
fn summed(mut rows: Vec<Row>) -> Vec<Row> {
    for at in 1..rows.len() {
        let (before, rest) = rows.split_at_mut(at);
        let part = &mut rest[0];
        if part.is_part() {
            let whole = before.iter().rev().find(|row| !row.is_part() && row.quantity == part.quantity);
            part.sum_unit = whole.map(Row::unit);
        }
    }
    rows
}

/// The row of a figure, where it has one.
fn row(
    figure: &'static Figure,
    (title, name): (&str, &str),
    reports: &[Report],
    trees: &Trees,
) -> Option<Row> {
    let row = Row::of(figure, title, reports, |report| trees.value(report, figure, name));
    let is_shown = match figure.shown {
        Shown::Always => true,
        Shown::IfAny => row.any(),
        Shown::WhereAny(is) => reports.iter().any(is),
    };
    (is_shown && row.values.iter().any(Option::is_some)).then_some(row)
}
