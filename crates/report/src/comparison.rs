//! Several runs side by side: schemes on one device and workload, one of them the baseline. What
//! every picture and table needs to agree on is here: how a run is labelled, which runs may be
//! called best, and the sentence that says what came out.

use crate::number;
use crate::report::{Latency, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}

impl Comparison {
    /// A comparison against the first of the reports.
    pub fn new(reports: Vec<Report>) -> Comparison {
        Comparison { schema: COMPARISON_SCHEMA.to_string(), baseline: 0, reports }
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

/// Which runs may be called best: those that answered every request. A drive that refused work
/// is fast for the wrong reason.
pub(crate) fn eligible(reports: &[Report]) -> Vec<bool> {
    reports.iter().map(|r| r.host.failures() == 0).collect()
}

/// Advice of all runs and our own warnings, each once, with the runs that it is about.
pub(crate) fn hints(reports: &[Report]) -> Vec<String> {
    let labels = labels(reports);
    let mut hints: Vec<(String, Vec<&str>)> = Vec::new();
    let mut add = |text: String, label| match hints.iter_mut().find(|(t, _)| *t == text) {
        Some((_, who)) => who.push(label),
        None => hints.push((text, vec![label])),
    };
    for (r, label) in reports.iter().zip(&labels) {
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
            add(text, label);
        }
    }
    for (r, label) in reports.iter().zip(&labels) {
        for hint in &r.hints {
            add(hint.clone(), label);
        }
    }
    hints
        .into_iter()
        .map(
            |(text, who)| {
                if who.len() == reports.len() { text } else { format!("{}: {text}", who.join(", ")) }
            },
        )
        .collect()
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
    // The run to speak of: of those that answered everything, the one with the shortest mean write,
    // or read where nothing was written.
    let mean = |r: &Report| r.latency_us.write.or(r.latency_us.read).map_or(f64::INFINITY, |l| l.mean);
    let rival = (0..reports.len())
        .filter(|i| *i != baseline && ok[*i])
        .min_by(|a, b| mean(&reports[*a]).total_cmp(&mean(&reports[*b])));
    let Some(rival) = rival else {
        return "Every scheme but the baseline failed requests, so nothing can be said of speed.".to_string();
    };
    let pair = |pick: fn(&Report) -> Option<Latency>| Some((pick(&reports[rival])?, pick(base)?));
    let write = pair(|r| r.latency_us.write);
    let read = pair(|r| r.latency_us.read);
    let mut clauses: Vec<String> = Vec::new();
    if let Some((a, b)) = write {
        clauses.extend(speed("writes", &[("at the median", b.p50 / a.p50), ("at p99.9", b.p999 / a.p999)]));
    }
    if let Some((a, b)) = read {
        clauses.extend(speed("reads", &[("at the median", b.p50 / a.p50), ("at p99.9", b.p999 / a.p999)]));
    }
    let waf = match (&reports[rival].waf, &base.waf) {
        (Some(a), Some(b)) if b.total > 0.0 && a.total.is_finite() => Some(format!(
            "its WAF is {} against {}{}",
            number::significant(a.total),
            number::significant(b.total),
            if number::significant(a.total) == number::significant(b.total) {
                String::new()
            } else {
                format!(" ({})", number::ratio(a.total / b.total))
            }
        )),
        _ => None,
    };
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
    if reports.len() > 2 && (write.is_none() || mean(base) < mean(&reports[rival])) {
        text = format!(
            "Of {} schemes, {} comes next to {}: it ",
            reports.len(),
            labels[rival],
            labels[baseline]
        );
    }
    text.push_str(&if clauses.is_empty() { "measures the same".to_string() } else { clauses.join(", and ") });
    if let Some(waf) = waf {
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
    for (what, latency) in [("writes", r.latency_us.write), ("reads", r.latency_us.read)] {
        if let Some(l) = latency {
            parts.push(format!(
                "{what} take {} at the median and {} at p99.9",
                number::latency(l.p50),
                number::latency(l.p999)
            ));
        }
    }
    if let Some(w) = &r.waf {
        parts.push(format!("the WAF is {}", number::significant(w.total)));
    }
    let failures = match r.host.failures() {
        0 => String::new(),
        n => format!(", {} of which failed", number::count(n)),
    };
    let body = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
    format!("{label} answered {} requests{failures}{body}.", number::count(r.host.requests))
}
