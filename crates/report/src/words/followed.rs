//! What schemes have followed by themselves: under which names, and in figures.

use crate::schema::report::Report;
use crate::words::number::Quantity;
use crate::words::row::{Better, Group, Row};
use std::collections::BTreeSet;

/// The heading of what schemes have followed.
pub(crate) const TITLE: &str = "Followed by the scheme";

/// All names that schemes have followed something under, in alphabetical order.
pub(crate) fn names(reports: &[Report]) -> Vec<&str> {
    let all = reports.iter().flat_map(|r| &r.followed).filter(|(_, series)| !series.is_empty());
    all.map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The last value of each series, and its mean over the host's page writes.
pub(crate) fn group(reports: &[Report]) -> Group {
    let row = |label: &str, name: &str, value: fn(&[[f64; 2]]) -> Option<f64>| {
        Row::new(label, Quantity::Number, Better::Neither, reports, |r| value(r.followed.get(name)?))
    };
    let rows = names(reports)
        .into_iter()
        .flat_map(|name| [row(name, name, last), row("mean", name, mean).of_above()]);
    Group { title: TITLE, rows: rows.collect() }
}

/// The value that a series ends with.
pub(crate) fn last(series: &[[f64; 2]]) -> Option<f64> {
    series.last().map(|pair| pair[1])
}

/// The mean from the first pair to the last, each value by the pages that were written under it; of the values where
/// those are none.
fn mean(series: &[[f64; 2]]) -> Option<f64> {
    let (first, end) = (series.first()?, series.last()?);
    let pages = end[0] - first[0];
    if pages > 0.0 {
        return Some(series.windows(2).map(|w| w[0][1] * (w[1][0] - w[0][0])).sum::<f64>() / pages);
    }
    Some(series.iter().map(|pair| pair[1]).sum::<f64>() / series.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_by_pages_written() {
        assert_eq!(mean(&[[0.0, 1.0], [30.0, 5.0], [40.0, 7.0]]), Some(2.0));
        assert_eq!(mean(&[[8.0, 3.0]]), Some(3.0));
        assert_eq!(mean(&[]), None);
    }
}
