//! The comparison as a terminal shows it: in columns where they fit, or else with a line per scheme.

use crate::schema::comparison::Comparison;
use crate::schema::report::Report;
use crate::terminal::by_scheme::transposed;
use crate::terminal::columns::{Columns, Ratios};
use crate::terminal::sentences::{advice, again, heading, steadiness, without_report};
use crate::terminal::text::{Look, Page, TerminalStyle};
use crate::words::conditions::{conditions, sentence};
use crate::words::figures::figure::Section;
use crate::words::figures::table::SECTIONS;
use crate::words::labels::{eligible, intervals, labels, replicas};
use crate::words::row::Group;
use crate::words::verdict::command_of;
use crate::words::verdict::headline;
use crate::words::{decision, rows};

/// Which rows a table has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rows {
    /// The decisive rows; with the option that shows all.
    Decisive(&'static str),
    /// All rows with a value for any run.
    All,
    /// All whose heading or label contains one of these, without regard to case.
    Named(Vec<String>),
}

impl Rows {
    /// The displayed rows of all rows of these runs.
    fn of(&self, mut groups: Vec<Group>, reports: &[Report]) -> Vec<Group> {
        match self {
            Rows::Decisive(_) => decision::decisive(groups, reports),
            Rows::All => groups,
            Rows::Named(_) => {
                for group in groups.iter_mut().filter(|group| !self.names(group.title)) {
                    group.rows.retain(|row| self.names(&row.label));
                }
                groups.retain(|group| !group.rows.is_empty());
                groups
            }
        }
    }

    /// Whether a heading or label is selected by name.
    fn names(&self, text: &str) -> bool {
        let Rows::Named(names) = self else { return false };
        names.iter().any(|name| text.to_lowercase().contains(&name.to_lowercase()))
    }

    /// Whether such rows exist.
    ///
    /// # Errors
    /// The existing headings, if a name matches no heading and no label.
    pub fn check(&self) -> Result<(), Vec<&'static str>> {
        let is_there = |section: &Section| {
            self.names(section.title) || section.figures.iter().any(|figure| self.names(figure.label))
        };
        if !matches!(self, Rows::Named(_)) || SECTIONS.iter().any(is_there) {
            return Ok(());
        }
        Err(SECTIONS.iter().map(|section| section.title).collect())
    }
}

/// Several runs, the first of them the baseline: their results in the selected rows.
pub fn table(comparison: &Comparison, shown: &Rows, style: TerminalStyle) -> String {
    let reports = comparison.reports.as_slice();
    let mut page = Page::new(style);
    if reports.is_empty() {
        page.wrap("", "Nothing to compare.", Look::Plain);
        return page.finish();
    }
    let labels = labels(reports);
    heading(&mut page, reports, &labels.join(" · "));
    if matches!(shown, Rows::Decisive(_)) {
        page.wrap("", &headline(comparison), Look::Bold);
        page.blank();
    }
    let count = |groups: &[Group]| groups.iter().map(|group| group.rows.len()).sum::<usize>();
    let groups = rows::groups(reports);
    let all = count(&groups);
    let groups = shown.of(groups, reports);
    let columns = Columns::new(&labels, &groups);
    let ratios = if reports.len() == 1 { Ratios::Hide } else { Ratios::Show };
    let mark = if style.colour { "Green" } else { "*" };
    let mut explained = replicas(reports);
    let key = if columns.width(ratios) <= page.width() {
        columns.draw(&mut page, &groups, &eligible(reports), ratios);
        let sign = if explained.is_some() { "%" } else { "×" };
        format!("{mark} is the best of its row; {sign} is against {}.", labels[0])
    } else if columns.width(Ratios::Hide) <= page.width() {
        columns.draw(&mut page, &groups, &eligible(reports), Ratios::Hide);
        explained = intervals(reports).map(|text| text + "; differences need a wider terminal, or --out.");
        format!("{mark} is the best of its row.")
    } else {
        transposed(&mut page, &labels, &groups, &eligible(reports));
        let sign = if explained.is_some() { format!("; % is against {}", labels[0]) } else { String::new() };
        let has_latency = groups.iter().any(|group| group.title.ends_with(" latency"));
        let short = if has_latency { "; w is write latency, r read latency" } else { "" };
        format!("{mark} is the best of its column{short}{sign}.")
    };
    if reports.len() > 1 {
        page.blank();
        let others = match (shown, all - count(&groups)) {
            (Rows::Decisive(option), further @ 1..) => format!(" {option} shows {further} more rows."),
            _ => String::new(),
        };
        page.wrap("", &(key + &others), Look::Dim);
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
    without_report(&mut page, comparison);
    again(&mut page, command_of(comparison));
    page.finish()
}
