//! Text about a steady start: how the drive was brought there, and whether it was steady.

use crate::schema::report::Report;
use crate::words::number::{self, Quantity};
use crate::words::phrases::{self, Said, TOGETHER};

/// A sentence about the start of each run that started steady, with the runs concerned.
pub(crate) fn sentences(reports: &[Report], labels: &[String]) -> Vec<Said> {
    let said = reports.iter().enumerate().filter_map(|(run, r)| Some((run, sentence(r)?)));
    phrases::once(said.collect(), labels, TOGETHER)
}

/// One sentence about the start of a run; `None` where it did not begin steady.
pub(crate) fn sentence(report: &Report) -> Option<String> {
    let b = report.begun_steady.as_ref()?;
    let figure = number::significant;
    let ratio = |waf: f64| Quantity::Waf.show(waf);
    let still = if b.settled { "" } else { ", still changing" };
    let timed = match b.timed_waf {
        Some(waf) => {
            format!(", then {} in simulated time: WAF {}", figure(b.timed_drive_writes), ratio(waf))
        }
        None => String::new(),
    };
    let then = match (b.first_waf, b.residual) {
        (Some(waf), Some(residual)) => {
            format!("; first tenth of the run {} ({:+.1} %)", ratio(waf), residual * 100.0)
        }
        _ => String::new(),
    };
    let text = format!(
        "started with {} untimed drive writes from the {} of the workload: WAF {}{still}{timed}{then}.",
        figure(b.untimed_drive_writes),
        if b.by == "law" { "address distribution" } else { b.by.as_str() },
        ratio(b.expected_waf)
    );
    Some(text.replace(" %", &format!("{}%", number::NO_BREAK)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::steady_start::BegunSteady;

    #[test]
    fn a_steady_beginning_is_told_with_its_residual() {
        let begun = BegunSteady {
            by: "law".into(),
            expected_waf: 2.5,
            settled: true,
            untimed_drive_writes: 7.0,
            first_waf: Some(2.55),
            residual: Some(0.02),
            ..BegunSteady::default()
        };
        let report = Report { begun_steady: Some(begun.clone()), ..Report::default() };
        let said = sentence(&report).unwrap_or_default();
        assert!(said.contains("workload: WAF 2.50; first tenth of the run 2.55 (+2.0"), "{said}");
        let restless = BegunSteady { settled: false, first_waf: None, ..begun };
        let said = sentence(&Report { begun_steady: Some(restless), ..Report::default() });
        assert!(said.is_some_and(|s| s.ends_with(", still changing.")));
        assert_eq!(sentence(&Report::default()), None);
    }
}
