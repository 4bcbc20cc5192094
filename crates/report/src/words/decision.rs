//! The decision between schemes: the verdict, and its few measures. Terminal, page and JSON take it from here.

use crate::schema::comparison::Comparison;
use crate::schema::decision::{Decision, Measure, Tradeoff};
use crate::schema::lifetime::{Life, Lifetimes};
use crate::schema::overload::all_overloaded;
use crate::schema::report::Report;
use crate::words::figures::figure::Better;
use crate::words::labels::eligible;
use crate::words::lifetime;
use crate::words::number::Quantity;
use crate::words::row::{Group, Row};
use crate::words::rows;
use crate::words::verdict::verdict_of;
use crate::words::verdict::winner;

/// Maximum number of measures that a person can weigh.
const MOST: usize = 10;

/// The decisive rows of these runs: figures marked so in the table of figures, without latencies if every run is
/// overloaded, so that they measure its length. Besides latencies and WAF, only rows that differ between runs.
pub(crate) fn decisive(mut groups: Vec<Group>, reports: &[Report]) -> Vec<Group> {
    let overloaded = all_overloaded(reports);
    let mut left = MOST;
    let mut decides = |row: &Row| {
        let is_said = row.figure.is_some_and(|figure| figure.decides)
            && !(overloaded && row.quantity == Quantity::Latency)
            && (reports.len() == 1
                || row.quantity == Quantity::Latency
                || row.is("waf.total")
                || differs(row));
        let shown = is_said && left > 0;
        left -= usize::from(shown);
        shown
    };
    groups.iter_mut().for_each(|group| group.rows.retain(&mut decides));
    groups.retain(|group| !group.rows.is_empty());
    groups
}

/// Whether at least two runs have it with different values, and half of them have it at all.
fn differs(row: &Row) -> bool {
    let having = row.values.iter().flatten().count();
    having > 1 && 2 * having >= row.values.len() && !row.is_alike()
}

/// A comparison with its verdict and decisive measures.
pub fn decided(comparison: Comparison) -> Comparison {
    Comparison { decision: Some(decision(&comparison)), ..comparison }
}

/// The part shown on the page, as rows with units and intervals.
pub(crate) struct Leading {
    /// Name and row of each measure.
    pub rows: Vec<(String, Row)>,
    /// The scheme that the verdict names first.
    pub winner: Option<usize>,
    /// Positions in `rows` of gain and cost.
    pub tradeoff: Option<(usize, usize)>,
    /// Pareto-optimal runs, best gain first.
    pub frontier: Vec<usize>,
}

/// Minimum and maximum number of measures at the head of a page.
const LEAD: (usize, usize) = (6, 4);

/// The measures at the head of a page, in order, and their priority if there are more.
const FIRST: [&str; 10] = [
    "latency_us.write.p99",
    "latency_us.write.p999",
    "waf.total",
    LIFETIME,
    "latency_us.write.mean",
    "latency_us.read.p99",
    "throughput.iops",
    "host.failed",
    "flash.errors.uncorrectable",
    "latency_us.read.mean",
];
const SHOWN: [&str; 10] = [
    "host.failed",
    "flash.errors.uncorrectable",
    "throughput.iops",
    "latency_us.write.mean",
    "latency_us.write.p99",
    "latency_us.write.p999",
    "latency_us.read.mean",
    "latency_us.read.p99",
    "waf.total",
    LIFETIME,
];

/// The figure for the lifetime of a drive.
pub(crate) const LIFETIME: &str = "lifetime.total_bytes_written";

/// Host writes until the first cell mode is worn out, if every run has it.
fn lifetime(reports: &[Report]) -> Option<Row> {
    let of = |r: &Report| r.lifetime.as_ref()?.total_bytes_written;
    let row = Row::new("writes until wear-out", Quantity::Bytes, Better::Higher, reports, of);
    row.values.iter().all(Option::is_some).then_some(row.at_path(LIFETIME))
}

/// Winner, measures and trade-off of a comparison, for JSON and page.
pub(crate) fn leading(comparison: &Comparison) -> Leading {
    let reports = comparison.reports.as_slice();
    let mut found: Vec<(&str, String, Row)> = vec![];
    for group in decisive(rows::groups(reports), reports) {
        for row in group.rows {
            let path = row.path;
            let name = match group.title {
                "Erases" => format!("{} erases", row.label),
                "Usable capacity" => format!("usable capacity, {}", row.label),
                title => row.name(title),
            };
            found.push((path, name, row));
        }
    }
    // What takes no time under any scheme decides nothing.
    found.retain(|(_, _, row)| row.any() || row.quantity != Quantity::Latency || reports.len() == 1);
    // Erases of a cell mode compare schemes that all have it: with an SLC cache there are fewer of TLC.
    if reports.iter().any(|r| !r.flash.erases.keys().eq(reports[0].flash.erases.keys())) {
        found.retain(|(path, _, _)| !path.starts_with("flash.erases."));
    }
    if let Some(row) = lifetime(reports).filter(|row| reports.len() == 1 || differs(row)) {
        found.push((LIFETIME, row.label.clone(), row));
    }
    let rank = |path: &str| FIRST.iter().position(|p| *p == path).unwrap_or(FIRST.len());
    let mut ranks: Vec<usize> = found.iter().map(|(path, _, _)| rank(path)).collect();
    ranks.sort_unstable();
    let known = ranks.iter().filter(|rank| **rank < FIRST.len()).count();
    let kept = known.clamp(LEAD.1, LEAD.0).min(found.len());
    let last = ranks.get(kept.saturating_sub(1)).copied().unwrap_or(0);
    found.retain(|(path, _, _)| rank(path) <= last);
    found.sort_by_key(|(path, _, _)| SHOWN.iter().position(|p| p == path).unwrap_or(SHOWN.len()));
    found.truncate(LEAD.0);
    let at = |wanted: &[&str]| {
        let row = |path: &&str| found.iter().position(|(p, _, row)| p == path && differs(row));
        wanted.iter().find_map(row)
    };
    let gain = at(&["latency_us.write.p99", "latency_us.read.p99", "throughput.iops", "waf.total"]);
    let cost = at(&[LIFETIME, "waf.total", "latency_us.read.p99", "throughput.iops"]);
    let tradeoff = gain.zip(cost).filter(|(gain, cost)| gain != cost && reports.len() > 1);
    let ok = eligible(reports);
    let frontier = tradeoff.map_or(vec![], |(gain, cost)| frontier(&found[gain].2, &found[cost].2, &ok));
    Leading {
        rows: found.into_iter().map(|(_, name, row)| (name, row)).collect(),
        winner: winner(reports, comparison.baseline_index()),
        tradeoff,
        frontier,
    }
}

/// A measure of lifetime runs: its JSON path, name, quantity and better direction.
type OfLives = (&'static str, &'static str, (Quantity, Better), fn(&Life) -> Option<f64>);

/// The measures at the head of a lifetime page, in order.
const OF_LIVES: [OfLives; 6] = [
    ("latency_us.write.mean", "write mean", (Quantity::Latency, Better::Lower), |l| Some(l.write?.mean)),
    ("latency_us.write.p99", "write p99", (Quantity::Latency, Better::Lower), |l| Some(l.write?.p99)),
    ("latency_us.read.p99", "read p99", (Quantity::Latency, Better::Lower), |l| Some(l.read?.p99)),
    ("flash.errors.retries_per_host_page", "retries per page read", (Quantity::Waf, Better::Lower), |l| {
        l.retries
    }),
    ("waf.total", "WAF", (Quantity::Waf, Better::Lower), |l| l.waf),
    (LIFETIME, "writes until wear-out", (Quantity::Bytes, Better::Higher), |l| Some(l.total_bytes_written)),
];

/// Winner, measures and trade-off of lifetime runs: write latency against lifetime.
pub(crate) fn leading_of_lives(lifetimes: &Lifetimes) -> Leading {
    let schemes = &lifetimes.schemes;
    let row = |(path, name, kind, of): &OfLives| {
        let value = |life: &Life| Some((life.seed, of(life)?));
        let samples = schemes.iter().map(|s| s.lives.iter().filter_map(value).collect()).collect();
        Row::of_samples(path, name, *kind, samples)
    };
    let found: Vec<Row> = OF_LIVES.iter().map(row).filter(Row::any).collect();
    let at = |wanted: &[&str]| {
        wanted.iter().find_map(|path| found.iter().position(|row| row.path == *path && differs(row)))
    };
    let gain = at(&["latency_us.write.p99", "latency_us.read.p99"]);
    let tradeoff = gain.zip(at(&[LIFETIME, "waf.total"])).filter(|_| schemes.len() > 1);
    let ok = vec![true; schemes.len()];
    let frontier = tradeoff.map_or(vec![], |(gain, cost)| frontier(&found[gain], &found[cost], &ok));
    Leading {
        rows: found.into_iter().map(|row| (row.label.clone(), row)).collect(),
        winner: lifetime::winner(lifetimes),
        tradeoff,
        frontier,
    }
}

/// The Pareto-optimal runs of two rows, best of the first row first.
fn frontier(gain: &Row, cost: &Row, ok: &[bool]) -> Vec<usize> {
    // Lower is better of what is compared.
    let toward =
        |row: &Row, run: usize| row.values[run].map(|v| if row.better == Better::Higher { -v } else { v });
    let mut runs: Vec<(f64, f64, usize)> = (0..ok.len())
        .filter(|run| ok[*run])
        .filter_map(|run| Some((toward(gain, run)?, toward(cost, run)?, run)))
        .collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut least = f64::INFINITY;
    runs.retain(|(_, cost, _)| {
        let leads = *cost < least;
        least = least.min(*cost);
        leads
    });
    runs.into_iter().map(|(_, _, run)| run).collect()
}

/// A measure as JSON has it.
fn measure(name: String, row: &Row, may_be_best: &[bool]) -> Measure {
    let best = row.best(may_be_best);
    Measure {
        path: row.path.to_string(),
        name,
        unit: row.quantity.stored().to_string(),
        better: match row.better {
            Better::Lower => Some("lower".to_string()),
            Better::Higher => Some("higher".to_string()),
            Better::Neither => None,
        },
        values: row.values.clone(),
        best: (0..best.len()).filter(|run| best[*run]).collect(),
    }
}

pub(crate) fn decision(comparison: &Comparison) -> Decision {
    let may_be_best = eligible(&comparison.reports);
    let measures = decisive(rows::groups(&comparison.reports), &comparison.reports);
    let measures = measures.iter().flat_map(|group| group.rows.iter().map(|row| (group.title, row)));
    let leading = leading(comparison);
    let lead: Vec<Measure> =
        leading.rows.iter().map(|(name, row)| measure(name.clone(), row, &may_be_best)).collect();
    Decision {
        verdict: verdict_of(comparison),
        measures: measures
            .map(|(title, row)| measure(format!("{title}: {}", row.label), row, &may_be_best))
            .collect(),
        winner: leading.winner,
        tradeoff: leading.tradeoff.map(|(gain, cost)| Tradeoff {
            gain: lead[gain].clone(),
            cost: lead[cost].clone(),
            frontier: leading.frontier.clone(),
        }),
        lead,
    }
}
