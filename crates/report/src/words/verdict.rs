//! The verdict of a comparison in a sentence.

use crate::schema::comparison::Comparison;
use crate::schema::estimate::Estimate;
use crate::schema::overload::overload;
use crate::schema::replicas::mean;
use crate::schema::report::{Latency, Report};
use crate::words::figures::figure::Better;
use crate::words::figures::table::label;
use crate::words::labels::{eligible, labels};
use crate::words::number::Quantity;
use crate::words::row::Row;
use crate::words::steadiness::{self, Settled};
use crate::words::{command, number};
use std::borrow::Borrow;

/// The verdict; as an error, what is known if the runs are too short.
fn verdict(reports: &[Report], baseline: usize) -> Result<String, String> {
    let Some(base) = reports.get(baseline) else {
        return Ok("Nothing to compare.".to_string());
    };
    let labels = labels(reports);
    if reports.len() == 1 {
        return alone(base, &labels[baseline]);
    }
    let ok = eligible(reports);
    if !ok[baseline] {
        return Ok(format!(
            "{} failed {} of its {}, so it cannot serve as the baseline.",
            labels[baseline],
            number::count(base.host.failures()),
            number::requests(base.host.requests)
        ));
    }
    let overloaded: Vec<usize> = (0..reports.len()).filter(|i| overload(&reports[*i]).is_some()).collect();
    if !overloaded.is_empty() {
        return under_overload(reports, &labels, baseline, &overloaded);
    }
    among(reports, &labels, baseline, &ok, "schemes")
}

/// The fastest of runs without overload, which are called `what`.
fn among(
    reports: &[impl Borrow<Report>],
    labels: &[String],
    baseline: usize,
    ok: &[bool],
    what: &str,
) -> Result<String, String> {
    if (0..reports.len()).all(|i| i == baseline || !ok[i]) {
        let text = "Every scheme except the baseline failed requests, so speeds cannot be compared.";
        return Ok(text.to_string());
    }
    let settled = Settled::of(reports);
    if !steadiness::stands(reports) {
        let of = reports.len();
        return Err(format!("The fastest of {of} {what} is not known: {}.", settled.words()));
    }
    let mut text = fastest(reports, labels, baseline, ok, what);
    text.push_str(&left_out(labels, ok));
    Ok(format!("{text} {}.{}", settled.words(), warm_up(reports)))
}

/// How much of the runs is warm-up, if a mean that decides lies outside the interval of the rest; empty otherwise.
fn warm_up(reports: &[impl Borrow<Report>]) -> String {
    let written = writes_decide(reports);
    let pick: Pick = if written { |r| r.latency_us.write } else { |r| r.latency_us.read };
    let rest = |r: &Report| {
        let after = r.after_warm_up()?;
        if written { after.write_latency_us } else { after.read_latency_us }
    };
    let alone = |r: &&Report| r.replicas.is_none() && overload(r).is_none();
    let runs = || reports.iter().map(Borrow::borrow).filter(alone);
    let rests: Vec<Estimate> = runs().filter_map(rest).collect();
    let outside = |r: &Report| {
        let (rest, latency) = (rest(r)?, pick(r)?);
        Some((latency.mean - rest.mean).abs() > rest.half_width_95?)
    };
    if !runs().any(|r| outside(r) == Some(true)) {
        return String::new();
    }
    let share = runs().filter_map(|r| Some(r.steady_state.as_ref()?.from?.share)).fold(0.0, f64::max);
    let (least, most) =
        rests.iter().fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), e| (a.min(e.mean), b.max(e.mean)));
    let (least, most) = (number::latency(least), number::latency(most));
    let range = if least == most { least } else { format!("{least} to {most}") };
    let share = (100.0 * share).ceil();
    format!(" Up to {share} % of a run is warm-up; after it the mean is {range}.")
}

/// Which runs failed requests; empty if none did.
fn left_out(labels: &[String], ok: &[bool]) -> String {
    let failed: Vec<&str> = (0..ok.len()).filter(|i| !ok[*i]).map(|i| labels[i].as_str()).collect();
    match failed.as_slice() {
        [] => String::new(),
        [one] => format!(" {one} failed requests and is left out."),
        several => format!(" {} failed requests and are left out.", list(several)),
    }
}

/// One latency of every run, as the table has it.
struct Measure {
    point: &'static str,
    /// Write or read latency.
    of: &'static str,
    row: Row,
}

/// Whether the latency of writes decides, rather than that of reads: there are writes, and some take time.
pub(crate) fn writes_decide(reports: &[impl Borrow<Report>]) -> bool {
    let some = |pick: Pick| reports.iter().any(|r| pick(r.borrow()).is_some());
    let longest = |r: &Report| mean(r, &|r| r.latency_us.write.map(|l| l.max));
    let slow = reports.iter().any(|r| longest(r.borrow()).is_some_and(|max| max > 0.0));
    some(|r| r.latency_us.write) && (slow || !some(|r| r.latency_us.read))
}

/// Mean, median and tail of the decisive latency: that of writes, or of reads.
fn measures(reports: &[impl Borrow<Report>]) -> [Measure; 3] {
    let written = writes_decide(reports);
    let pick: Pick = if written { |r| r.latency_us.write } else { |r| r.latency_us.read };
    let of = if written { "write latency" } else { "read latency" };
    let path = if written { "latency_us.write.mean" } else { "latency_us.read.mean" };
    let row = |value: Point| latency(reports, pick, value).within(path, reports);
    let measure = |point, value: Point| Measure { point, of, row: row(value) };
    [measure("mean", |l| l.mean), measure("p50", |l| l.p50), measure("p99.9", |l| l.p999)]
}

fn latency(reports: &[impl Borrow<Report>], pick: Pick, value: Point) -> Row {
    Row::new("", Quantity::Latency, Better::Lower, reports, |r| pick(r).map(value))
}

/// The runs with the lowest value of a row; all of them if equal.
fn lowest(row: &Row, ok: &[bool]) -> Vec<usize> {
    let best = row.best(ok);
    let marked: Vec<usize> = (0..best.len()).filter(|i| best[*i]).collect();
    let known = || (0..ok.len()).filter(|i| ok[*i] && row.values[*i].is_some()).collect();
    if marked.is_empty() { known() } else { marked }
}

/// The scheme with the lowest mean, its distance from the baseline, and the leaders of the other percentiles.
fn fastest(
    reports: &[impl Borrow<Report>],
    labels: &[String],
    baseline: usize,
    ok: &[bool],
    called: &str,
) -> String {
    let [mean, others @ ..] = &measures(reports);
    let ratio = |row: &Row, run| row.against(run, baseline).unwrap_or_else(|| number::NONE.to_string());
    let best = lowest(&mean.row, ok);
    let named = |runs: &[usize]| list(&runs.iter().map(|i| labels[*i].as_str()).collect::<Vec<_>>());
    let count = reports.len();
    let value = |run: usize| mean.row.values[run].map_or_else(String::new, number::latency);
    // The run to speak of: the fastest, or where that is the baseline the next to it.
    let speed = |run: &usize| mean.row.values[*run].unwrap_or(f64::INFINITY);
    let candidates = (0..count).filter(|i| *i != baseline && ok[*i]);
    let rival = candidates.min_by(|a, b| speed(a).total_cmp(&speed(b))).unwrap_or(baseline);
    let against = {
        let others = others.iter().map(|m| format!("{} {}", m.point, ratio(&m.row, rival)));
        let points: Vec<String> = std::iter::once(ratio(&mean.row, rival)).chain(others).collect();
        let [of_mean, others @ ..] = points.as_slice() else { return String::new() };
        format!(
            "{} against {} of {} ({of_mean}; {})",
            value(rival),
            value(baseline),
            labels[baseline],
            others.join(", ")
        )
    };
    let what = format!("{} {}", mean.point, mean.of);
    let free = !writes_decide(reports) && reports.iter().any(|r| r.borrow().latency_us.write.is_some());
    let mut text = match (best.contains(&baseline), best.as_slice()) {
        (true, [_]) => format!(
            "Of {count} {called}, {} has the lowest {what}. Next is {}: {against}.",
            labels[baseline], labels[rival]
        ),
        (true, tied) if tied.len() == count && !mean.row.is_alike() => {
            format!(
                "Among {count} {called} no difference in {what} is significant; {}: {against}.",
                labels[rival]
            )
        }
        (true, tied) if tied.len() == count => format!(
            "{} have the same {what}: {}; no difference is significant.",
            if count == 2 { format!("Both {called}") } else { format!("All {count} {called}") },
            value(baseline)
        ),
        (_, [only]) => {
            format!("Of {count} {called}, {} has the lowest {what}: {against}.", labels[*only])
        }
        (_, tied) => format!(
            "Of {count} {called}, {} have the lowest {what}, without a significant difference; {}: {against}.",
            named(tied),
            labels[rival]
        ),
    };
    if free {
        let all = if called == "schemes" { "every scheme" } else { "all others" };
        text.insert_str(0, &format!("Writes complete in 0 µs under {all}. "));
    }
    text.push_str(&besides(reports, labels, rival, baseline));
    for m in others {
        let leads = lowest(&m.row, ok);
        if leads.len() < ok.iter().filter(|ok| **ok).count() && !leads.contains(&rival) {
            let verb = if leads.len() == 1 { "has" } else { "have" };
            let at =
                leads.iter().find(|run| **run != baseline).map(|run| format!(" ({})", ratio(&m.row, *run)));
            text.push_str(&format!(
                " {} {verb} the lowest {} {}{}.",
                named(&leads),
                m.point,
                m.of,
                at.unwrap_or_default()
            ));
        }
    }
    text
}

/// The scheme that the verdict names first: the fastest if known and significant, the one with the highest throughput
/// if latencies of fewer than two runs can be compared; `None` where none leads.
pub(crate) fn winner(reports: &[impl Borrow<Report>], baseline: usize) -> Option<usize> {
    let ok = eligible(reports);
    if reports.len() < 2 || !ok[baseline] {
        return None;
    }
    let overloaded = reports.iter().any(|r| overload(r.borrow()).is_some());
    if let Some(others) = served(reports, &ok).filter(|_| overloaded) {
        return winner(&others.reports, others.baseline(baseline)).map(|run| others.runs[run]);
    }
    if !steadiness::stands(reports) {
        return None;
    }
    let row = if overloaded {
        Row::new("", Quantity::Iops, Better::Higher, reports, |r| Some(r.throughput.iops))
    } else {
        let [mean, ..] = measures(reports);
        mean.row
    };
    let marked = row.best(&ok);
    let best: Vec<usize> = (0..reports.len()).filter(|run| marked[*run]).collect();
    if best.contains(&baseline) {
        return (best.len() == 1).then_some(baseline);
    }
    let order = |run: &usize| row.values[*run].unwrap_or(f64::NAN);
    match row.better {
        Better::Higher => best.into_iter().max_by(|a, b| order(a).total_cmp(&order(b))),
        _ => best.into_iter().min_by(|a, b| order(a).total_cmp(&order(b))),
    }
}

/// Reads and write amplification of the named run.
fn besides(reports: &[impl Borrow<Report>], labels: &[String], rival: usize, baseline: usize) -> String {
    let mut also: Vec<String> = vec![];
    if writes_decide(reports) {
        let pick: Pick = |r| r.latency_us.read;
        let points: [(&str, Point); 3] = [("mean", |l| l.mean), ("p50", |l| l.p50), ("p99.9", |l| l.p999)];
        let ratios = points.iter().filter_map(|(name, value)| {
            Some(format!("{name} {}", latency(reports, pick, *value).against(rival, baseline)?))
        });
        let ratios: Vec<String> = ratios.collect();
        if !ratios.is_empty() {
            also.push(format!("read latency {}", ratios.join(", ")));
        }
    }
    also.extend(waf_against(reports, rival, baseline));
    if also.is_empty() { String::new() } else { format!(" {}: {}.", labels[rival], also.join("; ")) }
}

/// `a, b and c`.
fn list(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// "WAF 2.33 against 1.28 (1.82×)", where both have one.
fn waf_against(reports: &[impl Borrow<Report>], rival: usize, baseline: usize) -> Option<String> {
    let waf = |i: usize| mean(reports[i].borrow(), &|r| r.waf.as_ref().map(|w| w.total));
    let (a, b) = (waf(rival)?, waf(baseline)?);
    if !(b > 0.0 && a.is_finite()) {
        return None;
    }
    let (own, other) = (number::significant(a), number::significant(b));
    let ratio = if own == other { String::new() } else { format!(" ({})", number::ratio(a / b)) };
    Some(format!("{} {own} against {other}{ratio}", label("waf.total")))
}

/// The runs without overload.
struct Served<'a> {
    /// Their positions among all.
    runs: Vec<usize>,
    reports: Vec<&'a Report>,
}

impl Served<'_> {
    /// The run that the others are compared with, by its position here: the baseline of all, or else the first.
    fn baseline(&self, of_all: usize) -> usize {
        self.runs.iter().position(|run| *run == of_all).unwrap_or(0)
    }
}

/// The runs whose latencies can be compared, if there are two.
fn served<'a, R: Borrow<Report>>(reports: &'a [R], ok: &[bool]) -> Option<Served<'a>> {
    let at = |i: usize| -> &Report { reports[i].borrow() };
    let runs: Vec<usize> = (0..reports.len()).filter(|i| ok[*i] && overload(at(*i)).is_none()).collect();
    let reports = runs.iter().map(|i| at(*i)).collect();
    (runs.len() > 1).then_some(Served { runs, reports })
}

/// Text if requests arrived faster than some drives completed them: latencies of the others, or throughput where fewer
/// than two are left.
fn under_overload(
    reports: &[Report],
    labels: &[String],
    baseline: usize,
    overloaded: &[usize],
) -> Result<String, String> {
    let who = match (overloaded.len(), reports.len()) {
        (n, all) if n == all => "every scheme".to_string(),
        (1..=3, _) => list(&overloaded.iter().map(|i| labels[*i].as_str()).collect::<Vec<_>>()),
        (n, all) => format!("{n} of {all} schemes"),
    };
    let text = format!(
        "The drive is overloaded under {who}: requests arrive faster than it completes them, so latency \
         grows with the length of the run."
    );
    let ok = eligible(reports);
    if let Some(others) = served(reports, &ok) {
        let names: Vec<String> = others.runs.iter().map(|i| labels[*i].clone()).collect();
        let ok_all = vec![true; names.len()];
        let found = among(&others.reports, &names, others.baseline(baseline), &ok_all, "others");
        let with = |found: String| format!("{text} {found}{}", left_out(labels, &ok));
        return found.map(with).map_err(with);
    }
    let mut text = text + " Compare throughput:";
    let served = |i: usize| mean(&reports[i], &|r| Some(r.throughput.iops)).unwrap_or(0.0);
    let others = (0..reports.len()).filter(|i| *i != baseline && ok[*i]);
    let Some(rival) = others.max_by(|a, b| served(*a).total_cmp(&served(*b))) else {
        return Ok(text + " every scheme except the baseline failed requests.");
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
        text.push_str(&format!("; {waf}"));
    }
    Ok(format!("{text}. {}.", Settled::of(reports).words()))
}

type Pick = fn(&Report) -> Option<Latency>;

/// A point of a latency's distribution.
type Point = fn(Latency) -> f64;

/// Median and p99.9 of a latency, means over the replicas.
fn middle_and_tail(r: &Report, pick: Pick) -> Option<(f64, f64)> {
    let at = |value: Point| mean(r, &|r| pick(r).map(value));
    Some((at(|l| l.p50)?, at(|l| l.p999)?))
}

fn alone(r: &Report, label: &str) -> Result<String, String> {
    let mut parts = Vec::new();
    let kinds: [(&str, Pick); 2] = [("writes", |r| r.latency_us.write), ("reads", |r| r.latency_us.read)];
    if let Some(overload) = overload(r) {
        parts.push(format!(
            "overload: requests arrive faster than the drive completes them ({} outstanding on average, {} \
             admitted), so latency grows with the length of the run; throughput is {} requests/s",
            number::significant(overload.under_way),
            number::count(overload.admitted),
            number::significant(r.throughput.iops)
        ));
    }
    for (what, pick) in kinds.into_iter().filter(|_| overload(r).is_none()) {
        if let Some((p50, p999)) = middle_and_tail(r, pick) {
            parts.push(format!(
                "{what} take {} at the median and {} at p99.9",
                number::latency(p50),
                number::latency(p999)
            ));
        }
    }
    if let Some(waf) = mean(r, &|r| r.waf.as_ref().map(|w| w.total)) {
        parts.push(format!("the WAF is {}", Quantity::Waf.show(waf)));
    }
    let failures = match r.host.failures() {
        0 => String::new(),
        n => format!(", {} of which failed", number::count(n)),
    };
    let body = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
    let text = format!("{label} answered {}{failures}{body}.", number::requests(r.host.requests));
    let settled = Settled::of(std::slice::from_ref(r));
    if steadiness::stands(std::slice::from_ref(r)) {
        Ok(format!("{text} {}.", settled.of_one()))
    } else {
        let unsteady = match settled.runs {
            1 => format!("{}, so these figures may change with its length", settled.of_one()),
            _ => format!("These figures may change with the length of the run: {}", settled.words()),
        };
        Err(format!("{text} {unsteady}."))
    }
}

/// The verdict without the advice to run longer, which a table has in a separate line.
pub(crate) fn headline(comparison: &Comparison) -> String {
    let (Ok(text) | Err(text)) = verdict(&comparison.reports, comparison.baseline_index());
    text.replace(number::NO_BREAK, " ")
}

/// The verdict in a few sentences; if the runs are too short, the command for longer ones.
pub fn verdict_of(comparison: &Comparison) -> String {
    let advice = || format!(" {}", steadiness::advice(&comparison.reports));
    let said = verdict(&comparison.reports, comparison.baseline_index());
    said.unwrap_or_else(|text| text + &advice()).trim_end().replace(number::NO_BREAK, " ")
}

/// The words of the command that reproduces all of it; none if the runs differ in more than the scheme.
pub fn command_of(comparison: &Comparison) -> Option<Vec<String>> {
    command::of_all(&comparison.reports)
}
