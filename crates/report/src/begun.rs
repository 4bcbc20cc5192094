//! How a drive was put into a steady state before the first request, and whether it was one.

use crate::number;
use crate::report::Report;
use crate::said::{self, Said};
use crate::steady::TOGETHER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A drive that began in the steady state of its workload, as untimed writes found it, beside what the
/// run then measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BegunSteady {
    /// What the drive was written with: `law`, independent writes at the rates of the workload, or
    /// `stream`, the workload's own writes in their order.
    pub by: String,
    /// Write amplification, without padding, of the untimed writes.
    pub expected_waf: f64,
    /// Whether it stood still when they ended.
    pub settled: bool,
    /// By how much it was higher two drive writes before, relatively; null where there were too few.
    pub drift: Option<f64>,
    /// Untimed writes, in multiples of the data in the planes that were written.
    pub untimed_drive_writes: f64,
    /// Logical pages in the planes that were written.
    pub sampled_pages: u64,
    /// Requests of the first tenth of the run.
    pub first_requests: u64,
    /// Write amplification over them, with padding; null where the host wrote nothing.
    pub first_waf: Option<f64>,
    /// `first_waf` over `expected_waf`, less one: what the steady state misses, padding included.
    pub residual: Option<f64>,
}

/// A sentence about the beginning of each run that began steady, with the runs that it is about.
pub(crate) fn sentences(reports: &[Report], labels: &[String]) -> Vec<Said> {
    let said = reports.iter().enumerate().filter_map(|(run, r)| Some((run, sentence(r)?)));
    said::once(said.collect(), labels, TOGETHER)
}

/// One sentence about the beginning of a run; `None` where it did not begin steady.
pub(crate) fn sentence(report: &Report) -> Option<String> {
    let b = report.begun_steady.as_ref()?;
    let figure = number::significant;
    let still = if b.settled { "" } else { ", which had not come to rest" };
    let then = match (b.first_waf, b.residual) {
        (Some(waf), Some(residual)) => {
            format!("; the first tenth of the run has {} ({:+.1} %)", figure(waf), residual * 100.0)
        }
        _ => String::new(),
    };
    let text = format!(
        "begun with {} drive writes without time by the {} of the workload, WAF {}{still}{then}.",
        figure(b.untimed_drive_writes),
        b.by,
        figure(b.expected_waf)
    );
    Some(text.replace(" %", &format!("{}%", number::NO_BREAK)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(said.contains("WAF 2.50; the first tenth of the run has 2.55 (+2.0"), "{said}");
        let restless = BegunSteady { settled: false, first_waf: None, ..begun };
        let said = sentence(&Report { begun_steady: Some(restless), ..Report::default() });
        assert!(said.is_some_and(|s| s.ends_with("which had not come to rest.")));
        assert_eq!(sentence(&Report::default()), None);
    }
}
