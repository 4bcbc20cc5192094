//! The rows of a comparison, once for the terminal and the page: the table of figures with the value of every run.

use crate::schema::report::Report;
use crate::words::figures::figure::{Entry, Figure, Section, Shown};
use crate::words::figures::table::SECTIONS;
use crate::words::row::{Group, Row};

/// Every row that says something about at least one of the runs.
pub(crate) fn groups(reports: &[Report]) -> Vec<Group> {
    let group = |section: &Section| Group { title: section.title, rows: rows(section, reports) };
    SECTIONS.iter().map(group).filter(|group| !group.rows.is_empty()).collect()
}

fn rows(section: &Section, reports: &[Report]) -> Vec<Row> {
    let mut rows = vec![];
    for entry in section.entries {
        match entry {
            Entry::One(figure, value) => rows.extend(row(figure, "", reports, value)),
            Entry::Each(names, figures) => {
                for name in (names.of)(reports) {
                    let title = (names.title)(&name);
                    let of_name = figures.iter();
                    rows.extend(
                        of_name.filter_map(|(f, value)| row(f, &title, reports, |r| value(r, &name))),
                    );
                }
            }
        }
    }
    rows
}

/// The row of a figure, where it has one.
fn row(
    figure: &'static Figure,
    name: &str,
    reports: &[Report],
    value: impl Fn(&Report) -> Option<f64>,
) -> Option<Row> {
    let row = Row::of(figure, name, reports, value);
    let is_shown = match figure.shown {
        Shown::Always => true,
        Shown::IfAny => row.any(),
        Shown::WhereAny(is) => reports.iter().any(is),
    };
    (is_shown && row.values.iter().any(Option::is_some)).then_some(row)
}
