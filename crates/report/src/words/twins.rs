//! Text about the twin of a report: how the result depends on the twin's locality.

use crate::schema::report::{Report, ShiftedRun};
use crate::words::number::Quantity;

/// One sentence for each run that was repeated with another locality.
pub(crate) fn sentences(reports: &[Report], labels: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    for (report, label) in reports.iter().zip(labels) {
        let who = if reports.len() > 1 { format!("{label}: ") } else { String::new() };
        out.extend(
            report.twin_sensitivity.iter().map(|shifted| format!("{who}{}", sentence(report, shifted))),
        );
    }
    out
}

fn sentence(report: &Report, shifted: &ShiftedRun) -> String {
    let (write, read) = (report.latency_us.write, report.latency_us.read);
    let waf = report.waf.as_ref().map(|w| w.total);
    let time = |us: f64| Quantity::Time.show(us / 1e6);
    let ratio = |x: f64| format!("{x:.3}");
    let parts = [
        part("mean write latency", write.map(|l| l.mean), shifted.write_mean_us, &time),
        part("p99", write.map(|l| l.p99), shifted.write_p99_us, &time),
        part("mean read latency", read.map(|l| l.mean), shifted.read_mean_us, &time),
        part("p99", read.map(|l| l.p99), shifted.read_p99_us, &time),
        part("WAF", waf, shifted.waf, &ratio),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("with {:+.1} points of LRU write hits, {}.", shifted.reached_points, parts.join(", "))
}

fn part(what: &str, before: Option<f64>, after: Option<f64>, show: &dyn Fn(f64) -> String) -> Option<String> {
    let (before, after) = (before?, after?);
    let change =
        if before > 0.0 { format!(" ({:+.1} %)", (after / before - 1.0) * 100.0) } else { String::new() };
    Some(format!("{what} {}{change}", show(after)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::report::Latency;

    #[test]
    fn a_shift_is_told_with_what_it_changed() {
        let mut report = Report::default();
        report.latency_us.write = Some(Latency { mean: 100.0, p99: 200.0, ..Latency::default() });
        report.twin_sensitivity = vec![ShiftedRun {
            reached_points: -2.98,
            write_mean_us: Some(110.0),
            write_p99_us: Some(200.0),
            ..ShiftedRun::default()
        }];
        let said = sentences(&[report], &["a".to_string()]);
        assert_eq!(said.len(), 1);
        assert!(
            said[0].starts_with("with -3.0 points of LRU write hits, mean write latency 110"),
            "{said:?}"
        );
        assert!(said[0].contains("(+10.0 %)") && said[0].contains("(+0.0 %)"), "{said:?}");
    }
}
