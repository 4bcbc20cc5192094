//! Pages that Python writes, and their colors.

use pyo3::prelude::*;
use wordline_report::{Heading, Section, palette};

/// A page of any kind: its heading and a body in HTML; the footer has the version.
#[pyfunction]
pub(crate) fn page(
    title: String,
    lead: String,
    facts: Vec<(String, String)>,
    command: Option<String>,
    body: &str,
) -> String {
    let heading = Heading { title, lead, facts, command };
    wordline_report::page(&heading, body, &[format!("Wordline {}", wordline_run::VERSION)])
}

/// Sections, each of title, HTML, finding and id, below a list of contents, which calls the head of the page `head`.
#[pyfunction]
pub(crate) fn parts(found: Vec<(String, String, String, String)>, head: &str) -> String {
    let section = |(title, html, finding, id)| Section { title, html, finding, id };
    wordline_report::sections(&found.into_iter().map(section).collect::<Vec<_>>(), head)
}

/// The baseline's color, and those of the other schemes in order.
#[pyfunction]
pub(crate) fn colours() -> (&'static str, [&'static str; 7]) {
    (palette::BASELINE, palette::SCHEMES)
}

/// The color of a program cause, by its key.
#[pyfunction]
pub(crate) fn cause_colour(cause: &str) -> &'static str {
    palette::cause(cause)
}
