//! What decides between schemes: the verdict, and the few measures that it rests on. Terminal, page and JSON take it from here.

use crate::schema::comparison::Comparison;
use crate::schema::decision::{Decision, Measure};
use crate::schema::report::Report;
use crate::words::figures::figure::Better;
use crate::words::labels::eligible;
use crate::words::number::Quantity;
use crate::words::row::{Group, Row};
use crate::words::rows;

/// The most measures that a person weighs against each other.
const MOST: usize = 10;

/// Of all rows of these runs those that decide: figures marked so in the table of figures, without latencies of an
/// overloaded drive, which measure the length of the run. Beside latencies and WAF only what differs between runs.
pub(crate) fn decisive(mut groups: Vec<Group>, reports: &[Report]) -> Vec<Group> {
    let overloaded = reports.iter().any(|report| report.overload().is_some());
    let mut left = MOST;
    let mut decides = |row: &Row| {
        let is_said = row.figure.is_some_and(|figure| figure.decides)
            && !(overloaded && row.quantity == Quantity::Latency)
            && (reports.len() == 1
                || row.quantity == Quantity::Latency
                || row.is("waf.total")
                || differs(row));
        let shown = is_said && left > 0;
        left -= usize::from(shown);
        shown
    };
    groups.iter_mut().for_each(|group| group.rows.retain(&mut decides));
    groups.retain(|group| !group.rows.is_empty());
    groups
}

/// Whether at least two runs have it, and not all the same.
fn differs(row: &Row) -> bool {
    row.values.iter().flatten().count() > 1 && !row.is_alike()
}

/// A comparison with its verdict and the measures that decide.
pub fn decided(comparison: Comparison) -> Comparison {
    Comparison { decision: Some(decision(&comparison)), ..comparison }
}

fn decision(comparison: &Comparison) -> Decision {
    let may_be_best = eligible(&comparison.reports);
    let measure = |heading: &str, row: &Row| {
        let best = row.best(&may_be_best);
        Measure {
            path: row.figure.map_or("", |figure| figure.path).to_string(),
            name: format!("{heading}: {}", row.label),
            unit: row.quantity.stored().to_string(),
            better: match row.better {
                Better::Lower => Some("lower".to_string()),
                Better::Higher => Some("higher".to_string()),
                Better::Neither => None,
            },
            values: row.values.clone(),
            best: (0..best.len()).filter(|run| best[*run]).collect(),
        }
    };
    let measures = decisive(rows::groups(&comparison.reports), &comparison.reports);
    let measures = measures.iter().flat_map(|group| group.rows.iter().map(|row| measure(group.title, row)));
    Decision { verdict: comparison.verdict(), measures: measures.collect() }
}
