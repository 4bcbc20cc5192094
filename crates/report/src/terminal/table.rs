//! The comparison as a terminal shows it: in columns where they fit, or else with a line a scheme.

use crate::schema::comparison::Comparison;
use crate::terminal::by_scheme::transposed;
use crate::terminal::columns::{Columns, Ratios};
use crate::terminal::sentences::{advice, again, heading, refusals, steadiness};
use crate::terminal::text::{Look, Page, TerminalStyle};
use crate::words::conditions::{conditions, sentence};
use crate::words::labels::{eligible, intervals, labels, replicas};
use crate::words::rows;

/// Several runs side by side, the first of them the baseline.
pub fn table(comparison: &Comparison, style: TerminalStyle) -> String {
    let reports = comparison.reports.as_slice();
    let mut page = Page::new(style);
    if reports.is_empty() {
        page.wrap("", "There is nothing to compare.", Look::Plain);
        return page.finish();
    }
    let labels = labels(reports);
    heading(&mut page, reports, &labels.join(" · "));
    let groups = rows::groups(reports);
    let columns = Columns::new(&labels, &groups);
    let ratios = if reports.len() == 1 { Ratios::Hide } else { Ratios::Show };
    let mark = if style.colour { "Green" } else { "*" };
    let mut explained = replicas(reports);
    let key = if columns.width(ratios) <= page.width {
        columns.draw(&mut page, &groups, &eligible(reports), ratios);
        let sign = if explained.is_some() { "%" } else { "×" };
        format!("{mark} is the best of its row; {sign} is against {}.", labels[0])
    } else if columns.width(Ratios::Hide) <= page.width {
        columns.draw(&mut page, &groups, &eligible(reports), Ratios::Hide);
        explained = intervals(reports).map(|text| text + "; differences need a wider terminal, or --out.");
        format!("{mark} is the best of its row.")
    } else {
        transposed(&mut page, &labels, &groups, &eligible(reports));
        let sign = if explained.is_some() { format!("; % is against {}", labels[0]) } else { String::new() };
        format!("{mark} is the best of its column; w is write latency, r read latency{sign}.")
    };
    if reports.len() > 1 {
        page.blank();
        page.wrap("", &key, Look::Dim);
    }
    if let Some(text) = explained {
        page.wrap("", &text, Look::Dim);
    }
    let alike = sentence(&conditions(reports), &labels);
    if reports.len() > 1 && !alike.is_empty() {
        page.blank();
        page.wrap("drive ", &format!("{alike}."), Look::Plain);
    }
    steadiness(&mut page, reports, &labels);
    advice(&mut page, reports);
    refusals(&mut page, &comparison.refused);
    again(&mut page, comparison.command());
    page.finish()
}
