//! Text above and below a table: what was run, whether it is steady, advice, and the command that reproduces it.

use crate::schema::comparison::Comparison;
use crate::schema::report::Report;
use crate::terminal::text::{Look, Page};
use crate::words::command::{class_without_file, shell_lines};
use crate::words::hints::hints;
use crate::words::{facts, labels, reach, steadiness, steady, steady_start};
use unicode_width::UnicodeWidthStr;

/// The command that reproduces all of it, broken before options, ready for a shell.
pub(crate) fn again(page: &mut Page, command: Option<Vec<String>>) {
    let Some(words) = command.filter(|words| !words.is_empty()) else { return };
    page.blank();
    for line in shell_lines(&words, page.width()) {
        page.verbatim(&line);
    }
    if let Some(says) = words.iter().find_map(|word| class_without_file(word)) {
        page.wrap("", says, Look::Dim);
    }
}

/// Which schemes do not support the device, and which have failed, and why.
pub(crate) fn without_report(page: &mut Page, comparison: &Comparison) {
    let refused = comparison.refused.iter().map(|r| (&r.scheme, &r.reason));
    reasons(page, "Not supported on this device:", Look::Dim, refused);
    let failed = comparison.failed.iter().map(|f| (&f.scheme, &f.reason));
    reasons(page, "Failed, and not compared:", Look::Plain, failed);
}

fn reasons<'a>(
    page: &mut Page,
    title: &str,
    look: Look,
    found: impl Iterator<Item = (&'a String, &'a String)> + Clone,
) {
    let Some(width) = found.clone().map(|(scheme, _)| scheme.width() + 2).max() else { return };
    page.blank();
    page.wrap("", title, look);
    for (scheme, reason) in found {
        page.wrap(&format!("{scheme:<width$}"), reason, look);
    }
}

pub(crate) fn heading(page: &mut Page, reports: &[Report], title: &str) {
    page.wrap("", title, Look::Bold);
    let facts: Vec<String> =
        facts::facts(reports).into_iter().map(|(what, value)| format!("{what} {value}")).collect();
    if let Some((device, others)) = facts.split_first() {
        page.wrap("", device, Look::Dim);
        page.wrap("", &others.join(" · "), Look::Dim);
    }
    for said in reach::sentences(reports, &labels::labels(reports)) {
        page.wrap("note  ", &said.whole(), Look::Plain);
    }
    page.blank();
}

/// Sentences about each run's steady state, merged if they are the same for all.
pub(crate) fn steadiness(page: &mut Page, reports: &[Report], labels: &[String]) {
    let began = steady_start::sentences(reports, labels);
    let said = steady::sentences(reports, labels);
    if !said.is_empty() || !began.is_empty() {
        page.blank();
    }
    for text in began {
        page.wrap("started ", text.whole().trim_start_matches("started "), Look::Plain);
    }
    for text in said {
        page.wrap("state ", &text.whole(), Look::Plain);
    }
    let judged = reports.iter().any(|r| r.steady_state.is_some());
    if let Some(text) = steadiness::short_advice(reports).filter(|_| judged) {
        page.wrap("longer ", &text, Look::Plain);
    }
    for text in crate::words::twins::sentences(reports, labels) {
        page.wrap("twin  ", &text, Look::Plain);
    }
}

pub(crate) fn advice(page: &mut Page, reports: &[Report]) {
    let hints = hints(reports);
    if !hints.is_empty() {
        page.blank();
    }
    for hint in hints {
        page.wrap("hint  ", &hint.whole(), Look::Plain);
    }
}
