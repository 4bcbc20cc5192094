//! Scheme metrics: their names, and their figures.

use crate::schema::report::Report;
use std::collections::BTreeSet;

/// The heading of what schemes record.
pub(crate) const TITLE: &str = "Scheme metrics";

/// All names of scheme metrics, in alphabetical order.
pub(crate) fn names(reports: &[Report]) -> Vec<&str> {
    let all = reports.iter().flat_map(|r| &r.metrics).filter(|(_, series)| !series.is_empty());
    all.map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The same as owned strings.
pub(crate) fn owned(reports: &[Report]) -> Vec<String> {
    names(reports).into_iter().map(str::to_string).collect()
}

/// The value that a series ends with.
pub(crate) fn last(series: &[[f64; 2]]) -> Option<f64> {
    series.last().map(|pair| pair[1])
}

/// The mean from the first pair to the last, weighted by the pages written under each value; the plain mean if there
/// are none.
pub(crate) fn mean(series: &[[f64; 2]]) -> Option<f64> {
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
