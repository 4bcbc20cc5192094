//! The result of each section of a comparison's page, as a line next to the title of the folded section.

use crate::pictures::cast::Cast;
use crate::pictures::sections::Section;
use crate::schema::comparison::Comparison;
use crate::schema::replicas::mean;
use crate::schema::report::Report;
use crate::words::conditions::conditions;
use crate::words::figures::terms::latency_part;
use crate::words::hints::hints;
use crate::words::names::cause_title;
use crate::words::number::{self, significant};
use crate::words::row::Group;
use crate::words::steadiness::Settled;
use crate::words::verdict::writes_decide;
use std::collections::BTreeMap;

/// Parts below this share of a whole are not named.
const NAMED: f64 = 0.1;

/// From this share on a wait is nearly all of a latency, and dies are busy nearly all of the time.
const MOSTLY: f64 = 0.8;

/// The result of a section's figures. Empty if it does not fit in a line.
pub(crate) fn of(section: Section, cast: &Cast) -> String {
    match section {
        Section::Why => why(cast),
        Section::Programs => programs(cast),
        Section::Latency => tails(cast),
        _ => String::new(),
    }
}

/// The runs to name: the baseline, and the winner or else the run with the largest value.
fn spoken_of(cast: &Cast, value: impl Fn(usize) -> Option<f64>) -> Vec<usize> {
    let runs = 0..cast.reports.len();
    let others = runs.filter(|run| *run != cast.baseline && value(*run).is_some());
    let largest = || others.max_by(|a, b| value(*a).unwrap_or(0.0).total_cmp(&value(*b).unwrap_or(0.0)));
    let other = cast.winner.filter(|run| *run != cast.baseline).or_else(largest);
    std::iter::once(cast.baseline).chain(other).collect()
}

/// The largest parts of a whole, each with its share, such as `97 % waiting for GC`.
fn largest(parts: &[(String, f64)]) -> String {
    let whole: f64 = parts.iter().map(|p| p.1).sum();
    let mut named: Vec<&(String, f64)> = parts.iter().filter(|p| p.1 >= NAMED * whole && p.1 > 0.0).collect();
    named.sort_by(|a, b| b.1.total_cmp(&a.1));
    let share = |(name, value): &&(String, f64)| format!("{:.0} % {name}", 100.0 * value / whole);
    named.iter().take(2).map(share).collect::<Vec<_>>().join(", ")
}

/// The largest parts of the mean write latency, or of the mean read latency if nothing is written.
fn why(cast: &Cast) -> String {
    let written = writes_decide(cast.reports);
    let what = if written { "write" } else { "read" };
    let pick = |r: &Report| -> BTreeMap<String, f64> {
        let parts = &r.latency_parts_us;
        if written { parts.write.clone() } else { parts.read.clone() }
    };
    let parts = |run: usize| -> Vec<(String, f64)> {
        let of = |key: &String| mean(&cast.reports[run], &|r| pick(r).get(key).copied()).unwrap_or(0.0);
        pick(&cast.reports[run]).keys().map(|key| (latency_part(key), of(key))).collect()
    };
    let whole = |run: usize| Some(parts(run).iter().map(|p| p.1).sum::<f64>()).filter(|sum| *sum > 0.0);
    let each = spoken_of(cast, whole).into_iter().filter_map(|run| {
        let says = format!("{} of it {}", number::latency(whole(run)?), largest(&parts(run)));
        Some(if cast.reports.len() == 1 { says } else { format!("{} {says}", cast.labels[run]) })
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() {
        return String::new();
    }
    let waits = |run: usize| {
        let admission = mean(&cast.reports[run], &|r| pick(r).get("admission").copied()).unwrap_or(0.0);
        whole(run).is_some_and(|whole| admission >= MOSTLY * whole)
    };
    let busy = spoken_of(cast, whole).into_iter().filter(|run| waits(*run)).filter_map(|run| work(cast, run));
    let busy: Vec<String> = busy.collect();
    let root = match busy.is_empty() {
        true => String::new(),
        false => format!(" Dies are busy meanwhile: {}.", busy.join("; ")),
    };
    format!("Mean {what} latency: {}.{root}", each.join("; ").replace(" of it ", ", "))
}

/// What keeps the dies busy while requests wait for them: the largest causes of programs. `None` if they are idle for a
/// good part of the run, or unknown.
fn work(cast: &Cast, run: usize) -> Option<String> {
    let report = &cast.reports[run];
    let busy = report.utilisation.as_ref()?.dies_mean;
    let parts = causes(report).filter(|_| busy >= MOSTLY)?;
    let name = if cast.reports.len() == 1 { String::new() } else { format!("{} ", cast.labels[run]) };
    Some(format!("{name}{:.0} %, programs {}", 100.0 * busy, largest(&parts)))
}

/// The write amplification by cause.
fn causes(report: &Report) -> Option<Vec<(String, f64)>> {
    let parts = report.waf.as_ref()?.parts.iter();
    Some(parts.map(|(cause, kinds)| (cause_title(cause).to_string(), kinds.values().sum())).collect())
}

/// Write amplification and its largest causes.
fn programs(cast: &Cast) -> String {
    let total = |run: usize| mean(&cast.reports[run], &|r| r.waf.as_ref().map(|w| w.total));
    let each = spoken_of(cast, total).into_iter().filter_map(|run| {
        let parts = causes(&cast.reports[run])?;
        let name = if cast.reports.len() == 1 { String::new() } else { format!("{} ", cast.labels[run]) };
        Some(format!("{name}{} ({})", significant(total(run)?), largest(&parts)))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { String::new() } else { format!("WAF: {}.", each.join("; ")) }
}

/// Median and tail latency.
fn tails(cast: &Cast) -> String {
    let written = writes_decide(cast.reports);
    let what = if written { "Writes" } else { "Reads" };
    let pick = |r: &Report| if written { r.latency_us.write } else { r.latency_us.read };
    let p999 = |run: usize| mean(&cast.reports[run], &|r| pick(r).map(|l| l.p999));
    let each = spoken_of(cast, p999).into_iter().filter_map(|run| {
        let p50 = mean(&cast.reports[run], &|r| pick(r).map(|l| l.p50))?;
        let name = if cast.reports.len() == 1 { String::new() } else { format!("{} ", cast.labels[run]) };
        Some(format!("{name}{} and {}", number::latency(p50), number::latency(p999(run)?)))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { String::new() } else { format!("{what}, p50 and p99.9: {}.", each.join("; ")) }
}

/// The number of measures.
pub(crate) fn measures(groups: &[Group]) -> String {
    let rows = groups.iter().map(|group| group.rows.len()).sum::<usize>();
    format!("{rows} measures of every run.")
}

/// Steadiness, conditions that differ, and the number of hints.
pub(crate) fn trust(comparison: &Comparison) -> String {
    let reports = &comparison.reports;
    let mut said = vec![Settled::of(reports).words()];
    let conditions = conditions(reports);
    let differing: Vec<&str> = conditions.iter().filter(|c| c.differs()).map(|c| c.name).collect();
    match (differing.as_slice(), conditions.is_empty() || reports.len() < 2) {
        (_, true) => {}
        ([], false) => said.push("the same drive for all".to_string()),
        (names, false) => said.push(format!("drives differ in {}", names.join(", "))),
    }
    match hints(reports).len() {
        0 => {}
        1 => said.push("1 hint".to_string()),
        n => said.push(format!("{n} hints")),
    }
    said.join("; ") + "."
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::activity::Waf;
    use crate::schema::blocks::Utilisation;
    use crate::schema::report::Latency;

    /// "100 % waiting for queue or buffer" once was all that the page said.
    #[test]
    fn wait_for_buffer_names_what_keeps_dies_busy() {
        let of = |pairs: &[(&str, f64)]| pairs.iter().map(|(key, us)| (key.to_string(), *us)).collect();
        let parts = [("gc", 0.6), ("host", 0.4)];
        let parts =
            parts.map(|(cause, share)| (cause.to_string(), BTreeMap::from([("program".into(), share)])));
        let mut report = Report {
            utilisation: Some(Utilisation { dies_mean: 0.97, ..Default::default() }),
            waf: Some(Waf { total: 1.0, parts: parts.into(), ..Default::default() }),
            ..Report::default()
        };
        report.latency_us.write = Some(Latency { mean: 100.0, max: 200.0, count: 5, ..Default::default() });
        report.latency_parts_us.write = of(&[("admission", 95.0), ("bus", 5.0)]);
        let said = |report: &Report| {
            let comparison = Comparison::new(vec![report.clone()]);
            why(&Cast::new(&comparison, 10)).replace(number::NO_BREAK, " ")
        };
        let wait = "Mean write latency: 100 µs, 95 % waiting for queue or buffer.";
        assert_eq!(
            said(&report),
            format!("{wait} Dies are busy meanwhile: 97 %, programs 60 % GC, 40 % host.")
        );
        report.utilisation = Some(Utilisation { dies_mean: 0.3, ..Default::default() });
        assert_eq!(said(&report), wait);
    }
}
