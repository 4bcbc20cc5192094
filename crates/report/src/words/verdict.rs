//! The sentence that says what came out of a comparison.

use crate::schema::comparison::Comparison;
use crate::schema::replicas::mean;
use crate::schema::report::{Latency, Report};
use crate::words::labels::{eligible, labels};
use crate::words::names::waf_name;
use crate::words::{command, number};

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
    Some(format!("its {} is {own} against {other}{ratio}", waf_name(reports)))
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

impl Comparison {
    /// One sentence or two that say what came out.
    pub fn verdict(&self) -> String {
        verdict(&self.reports, self.baseline_index()).replace(number::NO_BREAK, " ")
    }

    /// The words of the command that makes all of it again; none where the runs differ in more than the scheme.
    pub fn command(&self) -> Option<Vec<String>> {
        command::of_all(&self.reports)
    }
}
