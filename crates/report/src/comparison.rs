//! Several runs side by side: schemes on one device and workload, one of them the baseline. What
//! every picture and table needs to agree on is here: how a run is labelled, which runs may be
//! called best, and the sentence that says what came out.

use crate::command;
use crate::number;
use crate::replicas::{Estimate, differences_percent, mean};
use crate::report::{Latency, Report};
use crate::rows;
use crate::said::{self, Said};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the schema that [`Comparison`] follows.
pub const COMPARISON_SCHEMA: &str = "wordline.comparison/1";

/// Reports of several schemes on one device and workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Wordline comparison")]
pub struct Comparison {
    /// Always `wordline.comparison/1`.
    pub schema: String,
    /// Position in `reports` of the run that the others are measured against.
    #[serde(default)]
    pub baseline: usize,
    /// The runs, in the order in which they are shown.
    pub reports: Vec<Report>,
    /// For each report, by how many per cent each of its figures differs from the baseline's, by
    /// its path: the mean over the replicas, paired by seed, with its interval. Absent without
    /// replicas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences_percent: Vec<BTreeMap<String, Estimate>>,
    /// Schemes that the device does not admit, where all that it admits were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedScheme>,
}

/// A scheme that a device does not admit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedScheme {
    /// Its name.
    pub scheme: String,
    /// Why, in a sentence.
    pub reason: String,
}

impl Comparison {
    /// A comparison against the first of the reports.
    pub fn new(reports: Vec<Report>) -> Comparison {
        let replicated = reports.len() > 1 && reports.iter().all(|r| r.replicas.is_some());
        let differences_percent = match reports.first().filter(|_| replicated) {
            Some(baseline) => reports.iter().map(|r| differences_percent(r, baseline)).collect(),
            None => vec![],
        };
        Comparison {
            schema: COMPARISON_SCHEMA.to_string(),
            baseline: 0,
            reports,
            differences_percent,
            refused: vec![],
        }
    }

    /// The comparison as indented JSON, ending in a newline.
    ///
    /// # Errors
    /// Never for reports of finite numbers; the error is serde's.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Read a comparison back.
    ///
    /// # Errors
    /// When the text is not JSON, or not a comparison.
    pub fn from_json(text: &str) -> Result<Comparison, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// One sentence or two that say what came out.
    pub fn verdict(&self) -> String {
        verdict(&self.reports, self.baseline_index()).replace(number::NO_BREAK, " ")
    }

    /// The words of the command that makes all of it again; none where the runs differ in more than the scheme.
    pub fn command(&self) -> Option<Vec<String>> {
        command::of_all(&self.reports)
    }

    /// The baseline's position, 0 if the file names one that is not there.
    pub(crate) fn baseline_index(&self) -> usize {
        if self.baseline < self.reports.len() { self.baseline } else { 0 }
    }
}

/// A name for each run that no other run has: the scheme's, numbered where it comes twice.
pub(crate) fn labels(reports: &[Report]) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::with_capacity(reports.len());
    reports
        .iter()
        .map(|r| {
            let name = r.scheme.name.as_str();
            seen.push(name);
            match seen.iter().filter(|s| **s == name).count() {
                1 => name.to_string(),
                n => format!("{name} ({n})"),
            }
        })
        .collect()
}

/// What ± and % mean where there are replicas; `None` where none of them has an interval.
pub(crate) fn replicas(reports: &[Report]) -> Option<String> {
    let count = reports.iter().filter_map(|r| r.replicas.as_ref()).find(|r| !r.are_alike())?.runs.len();
    let paired = if reports.len() > 1 { "; differences are taken seed by seed" } else { "" };
    Some(format!(
        "Means of {count} replicas, ± half the width of the 95 % confidence interval (Student's t){paired}."
    ))
}

/// Which runs may be called best: those that answered every request. A drive that refused work
/// is fast for the wrong reason.
pub(crate) fn eligible(reports: &[Report]) -> Vec<bool> {
    reports.iter().map(|r| failures(r) == 0.0).collect()
}

/// Requests that came out with an error, the mean over the replicas.
fn failures(report: &Report) -> f64 {
    mean(report, &|r| Some(r.host.failures() as f64)).unwrap_or(0.0)
}

/// Advice of all runs and our own warnings, each once, with the runs that it is about.
pub(crate) fn hints(reports: &[Report]) -> Vec<Said> {
    let mut hints: Vec<(usize, String)> = Vec::new();
    let mut add = |text: String, run| hints.push((run, text));
    for (run, r) in reports.iter().enumerate() {
        if r.host.failures() > 0 {
            let outcomes: Vec<String> = r
                .host
                .failed
                .iter()
                .filter(|(_, n)| **n > 0)
                .map(|(outcome, n)| format!("{} {}", number::count(*n), outcome.replace('_', " ")))
                .collect();
            let text = format!(
                "{} of {} requests failed ({}); latencies and WAF cover the others, and are not marked best.",
                number::count(r.host.failures()),
                number::count(r.host.requests),
                outcomes.join(", ")
            );
            add(text, run);
        }
        if r.host.unplaced_bytes > 0 {
            let text = format!(
                "{} of acknowledged writes are in the drive's buffer at the end: the drive is full, and has no \
                 place for them on flash; a power cut would not lose them, and a trim makes room.",
                number::bytes(r.host.unplaced_bytes)
            );
            add(text, run);
        }
    }
    for (run, r) in reports.iter().enumerate() {
        for hint in &r.hints {
            add(hint.clone(), run);
        }
        if let Some(replicas) = r.replicas.as_ref().filter(|r| r.are_alike()) {
            let text = format!(
                "all {} replicas have the same result, so no figure has an interval: no result of this run \
                 depends on its seed.",
                replicas.runs.len()
            );
            add(text, run);
        }
    }
    said::once(hints, &labels(reports), 2)
}

fn verdict(reports: &[Report], baseline: usize) -> String {
    let Some(base) = reports.get(baseline) else {
        return "There is nothing to compare.".to_string();
    };
    let labels = labels(reports);
    if reports.len() == 1 {
        return alone(base, &labels[baseline]);
    }
    let ok = eligible(reports);
    if !ok[baseline] {
        return format!(
            "{} failed {} of its {} requests, so nothing can be measured against it.",
            labels[baseline],
            number::count(base.host.failures()),
            number::count(base.host.requests)
        );
    }
    let overloaded: Vec<usize> = (0..reports.len()).filter(|i| reports[*i].overload().is_some()).collect();
    if !overloaded.is_empty() {
        return under_overload(reports, &labels, baseline, &overloaded);
    }
    // The run to speak of: of those that answered everything, the one with the shortest mean write,
    // or read where nothing was written.
    let mean_us = |r: &Report| {
        let mean = mean(r, &|r| Some(r.latency_us.write.or(r.latency_us.read)?.mean));
        mean.unwrap_or(f64::INFINITY)
    };
    let rival = (0..reports.len())
        .filter(|i| *i != baseline && ok[*i])
        .min_by(|a, b| mean_us(&reports[*a]).total_cmp(&mean_us(&reports[*b])));
    let Some(rival) = rival else {
        return "Every scheme but the baseline failed requests, so nothing can be said of speed.".to_string();
    };
    let pair = |pick| Some((middle_and_tail(&reports[rival], pick)?, middle_and_tail(base, pick)?));
    let write = pair(|r| r.latency_us.write);
    let read = pair(|r| r.latency_us.read);
    let mut clauses: Vec<String> = Vec::new();
    if let Some((a, b)) = write {
        clauses.extend(speed("writes", &[("at the median", b.0 / a.0), ("at p99.9", b.1 / a.1)]));
    }
    if let Some((a, b)) = read {
        clauses.extend(speed("reads", &[("at the median", b.0 / a.0), ("at p99.9", b.1 / a.1)]));
    }
    let mut text = if reports.len() > 2 {
        format!(
            "Of {} schemes, {} is the fastest to write: against {}, it ",
            reports.len(),
            labels[rival],
            labels[baseline]
        )
    } else {
        format!("Against {}, {} ", labels[baseline], labels[rival])
    };
    if reports.len() > 2 && (write.is_none() || mean_us(base) < mean_us(&reports[rival])) {
        text = format!(
            "Of {} schemes, {} comes next to {}: it ",
            reports.len(),
            labels[rival],
            labels[baseline]
        );
    }
    text.push_str(&if clauses.is_empty() { "measures the same".to_string() } else { clauses.join(", and ") });
    if let Some(waf) = waf_against(reports, rival, baseline) {
        text.push_str("; ");
        text.push_str(&waf);
    }
    text.push('.');
    let failed = ok.iter().filter(|o| !**o).count();
    if failed > 0 {
        let who: Vec<&str> = (0..reports.len()).filter(|i| !ok[*i]).map(|i| labels[i].as_str()).collect();
        text.push_str(&format!(" {} failed requests and is left out.", who.join(" and ")));
    }
    text
}

/// "its WAF is 2.33 against 1.28 (1.82×)", where both have one.
fn waf_against(reports: &[Report], rival: usize, baseline: usize) -> Option<String> {
    let waf = |i: usize| mean(&reports[i], &|r| r.waf.as_ref().map(|w| w.total));
    let (a, b) = (waf(rival)?, waf(baseline)?);
    if !(b > 0.0 && a.is_finite()) {
        return None;
    }
    let (own, other) = (number::significant(a), number::significant(b));
    let ratio = if own == other { String::new() } else { format!(" ({})", number::ratio(a / b)) };
    Some(format!("its {} is {own} against {other}{ratio}", rows::waf_name(reports)))
}

/// What can be said where requests came faster than some drives served them: throughput, and no latency.
fn under_overload(reports: &[Report], labels: &[String], baseline: usize, overloaded: &[usize]) -> String {
    let who = match (overloaded.len(), reports.len()) {
        (n, all) if n == all => "every scheme".to_string(),
        (1..=3, _) => overloaded.iter().map(|i| labels[*i].as_str()).collect::<Vec<_>>().join(" and "),
        (n, all) => format!("{n} of {all} schemes"),
    };
    let mut text = format!(
        "The drive is overloaded under {who}: requests come faster than it serves them, so the queue grows and \
         latencies say how long the run was. Compare throughput:"
    );
    let served = |i: usize| mean(&reports[i], &|r| Some(r.throughput.iops)).unwrap_or(0.0);
    let ok = eligible(reports);
    let others = (0..reports.len()).filter(|i| *i != baseline && ok[*i]);
    let Some(rival) = others.max_by(|a, b| served(*a).total_cmp(&served(*b))) else {
        return text + " every scheme but the baseline failed requests.";
    };
    let (a, b) = (served(rival), served(baseline));
    text.push_str(&format!(
        " {} serves {} requests/s against {} of {} ({})",
        labels[rival],
        number::significant(a),
        number::significant(b),
        labels[baseline],
        number::ratio(a / b)
    ));
    if let Some(waf) = waf_against(reports, rival, baseline) {
        text.push_str("; ");
        text.push_str(&waf);
    }
    text + "."
}

type Pick = fn(&Report) -> Option<Latency>;

/// Median and p99.9 of a latency, the mean of the replicas.
fn middle_and_tail(r: &Report, pick: Pick) -> Option<(f64, f64)> {
    let at = |value: fn(Latency) -> f64| mean(r, &|r| pick(r).map(value));
    Some((at(|l| l.p50)?, at(|l| l.p999)?))
}

/// "writes 3.1× faster at the median but 1.2× slower at p99.9", or nothing without numbers.
/// Each point is a place in the distribution and how many times faster it is there.
fn speed(verb: &str, points: &[(&str, f64)]) -> Option<String> {
    let mut text = verb.to_string();
    let mut last = None;
    for (at, times) in points.iter().filter(|(_, t)| t.is_finite() && *t > 0.0) {
        let (sign, says) = if (0.95..1.05).contains(times) {
            (0, format!("as fast {at}"))
        } else if *times > 1.0 {
            (1, format!("{} faster {at}", number::times(*times)))
        } else {
            (-1, format!("{} slower {at}", number::times(1.0 / times)))
        };
        text.push_str(match last {
            None => " ",
            Some(before) if before == sign => " and ",
            Some(_) => " but ",
        });
        text.push_str(&says);
        last = Some(sign);
    }
    last.map(|_| text)
}

fn alone(r: &Report, label: &str) -> String {
    let mut parts = Vec::new();
    let kinds: [(&str, Pick); 2] = [("writes", |r| r.latency_us.write), ("reads", |r| r.latency_us.read)];
    if let Some(overload) = r.overload() {
        parts.push(format!(
            "requests came faster than the drive serves them ({} were under way on average, and it admits {} at \
             once), so latencies measure the queue; it serves {} requests/s",
            number::significant(overload.under_way),
            number::count(overload.admitted),
            number::significant(r.throughput.iops)
        ));
    }
    for (what, pick) in kinds.into_iter().filter(|_| r.overload().is_none()) {
        if let Some((p50, p999)) = middle_and_tail(r, pick) {
            parts.push(format!(
                "{what} take {} at the median and {} at p99.9",
                number::latency(p50),
                number::latency(p999)
            ));
        }
    }
    if let Some(waf) = mean(r, &|r| r.waf.as_ref().map(|w| w.total)) {
        parts.push(format!("the WAF is {}", number::significant(waf)));
    }
    let failures = match r.host.failures() {
        0 => String::new(),
        n => format!(", {} of which failed", number::count(n)),
    };
    let body = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
    format!("{label} answered {} requests{failures}{body}.", number::count(r.host.requests))
}
