//! Check of a twin: its measured figures against its table, each with a criterion.

use crate::generators::twin::addresses::UNIT;
use crate::generators::twin::by_name::{Named, PREFIX, named};
use crate::generators::twin::catalogue::Spelled;
use crate::generators::twin::statistics::{Depth, Statistics};
use crate::generators::twin::stream::requests_of;
use crate::workload::workload::Workload;
use rustc_hash::FxHashMap;
use serde::Serialize;
use wordline_trace::{DriveShape, Overrides, WorkloadError, aligned, going_on, readable_bytes};
use wordline_units::grouped;
use wordline_units::{Fraction, LBA_BYTES};

/// The seed of a check.
const SEED: u64 = 1;
/// Number of requests in a check of an endless workload: half to find the popular pages, half to count their
/// requests.
const REQUESTS: u64 = 8_000_000;

/// The shortest window whose dispersion is reported: 10 ms.
const DISPERSION_FROM: u64 = 10_000_000;

/// The tolerance of a figure.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// Equal.
    Exact,
    /// Within this many percentage points.
    Points(f64),
    /// Within this many percent of the figure.
    Percent(f64),
    /// At most this many times the figure, and at least the figure divided by it.
    Factor(f64),
    /// Between the target and this value, with a tolerance of this many points.
    Range {
        /// The upper end of the range.
        to: f64,
        /// Tolerance at either end, in percentage points.
        points: f64,
    },
    /// For information only, without a tolerance.
    Told,
}

/// The unit of a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Requests.
    Count,
    /// A share.
    Share,
    /// Bytes of a request.
    Bytes,
    /// A total in bytes.
    Volume,
    /// A time in seconds.
    Seconds,
    /// A time in microseconds.
    Latency,
    /// A plain number.
    Number,
}

/// A figure of a twin, with that of the table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Name of the figure.
    pub statistic: String,
    /// Its unit.
    pub unit: Unit,
    /// The value of the table; absent if it has none.
    pub target: Option<f64>,
    /// The value of the twin.
    pub found: f64,
    /// The tolerance.
    pub criterion: Criterion,
}

/// A checked twin.
#[derive(Clone)]
pub struct Checked {
    /// Its name, as for `--workload`.
    pub name: String,
    /// Its one-line title.
    pub title: String,
    /// The figures.
    pub rows: Vec<Row>,
    /// All measured figures; empty for a workload that needs no twin.
    pub statistics: Option<Statistics>,
}

impl Row {
    /// A figure, compared with the table's.
    pub fn new(
        statistic: impl Into<String>,
        unit: Unit,
        target: Option<f64>,
        found: f64,
        criterion: Criterion,
    ) -> Row {
        Row { statistic: statistic.into(), unit, target, found, criterion }
    }

    /// Deviation of the twin from the table: in points for shares, otherwise in percent.
    pub fn deviation(&self) -> Option<f64> {
        let target = self.target?;
        if self.unit == Unit::Share {
            let nearest = match self.criterion {
                Criterion::Range { to, .. } => self.found.clamp(target, to),
                _ => target,
            };
            return Some((self.found - nearest) * 100.0);
        }
        (target != 0.0).then(|| (self.found / target - 1.0) * 100.0)
    }

    /// Whether it is within its tolerance.
    pub fn holds(&self) -> bool {
        let Some(target) = self.target else { return true };
        // Only 0 itself is within any percentage of 0.
        let near = |most: f64| self.deviation().map_or(self.found == target, |d| d.abs() <= most);
        match self.criterion {
            Criterion::Exact => self.found == target,
            Criterion::Points(most) | Criterion::Percent(most) => near(most),
            Criterion::Factor(most) => self.factor().is_none_or(|f| f <= most),
            Criterion::Range { points, .. } => near(points),
            Criterion::Told => true,
        }
    }

    /// Ratio of the larger to the smaller of the two values.
    pub fn factor(&self) -> Option<f64> {
        let ratio = self.found / self.target.filter(|t| *t > 0.0)?;
        Some(ratio.max(1.0 / ratio))
    }

    /// A figure in its unit.
    fn figure(&self, x: f64) -> String {
        match self.unit {
            Unit::Count => grouped(x as u64),
            Unit::Share => format!("{:.1} %", x * 100.0),
            Unit::Bytes => format!("{:.2} KiB", x / 1024.0),
            Unit::Volume => readable_bytes(x as u64),
            Unit::Seconds if x >= 2.0 * 86_400.0 => format!("{:.2} d", x / 86_400.0),
            Unit::Seconds if x >= 7200.0 => format!("{:.2} h", x / 3600.0),
            Unit::Seconds if x > 0.0 && x < 0.1 => format!("{:.3} ms", x * 1e3),
            Unit::Seconds => format!("{x:.1} s"),
            Unit::Latency if x >= 1e6 => format!("{:.2} s", x / 1e6),
            Unit::Latency if x >= 1e4 => format!("{:.1} ms", x / 1e3),
            Unit::Latency => format!("{x:.1} us"),
            Unit::Number if x >= 100.0 => grouped(x.round() as u64),
            Unit::Number => format!("{x:.2}"),
        }
    }

    /// The row's cells: statistic, table, twin, deviation, criterion, verdict.
    pub fn cells(&self) -> [String; 6] {
        let target = match (self.target, self.criterion) {
            (Some(from), Criterion::Range { to, .. }) => {
                format!("{} to {}", self.figure(from), self.figure(to))
            }
            (Some(target), _) => self.figure(target),
            (None, _) => "-".to_string(),
        };
        let unit = if self.unit == Unit::Share { "pt" } else { "%" };
        let deviation = match self.deviation() {
            None => "-".to_string(),
            Some(0.0) => "0".to_string(),
            // The trace has next to none of it.
            Some(d) if d >= 10_000.0 => format!(">9999 {unit}"),
            Some(d) => format!("{d:+.2} {unit}"),
        };
        let criterion = match self.criterion {
            Criterion::Exact => "exact".to_string(),
            Criterion::Points(p) | Criterion::Range { points: p, .. } => format!("{p} pt"),
            Criterion::Percent(p) => format!("{p} %"),
            Criterion::Factor(f) => format!("x {f}"),
            Criterion::Told => "-".to_string(),
        };
        let verdict = match self.criterion {
            Criterion::Told => "-",
            _ if self.holds() => "within",
            _ => "OUTSIDE",
        };
        [self.statistic.clone(), target, self.figure(self.found), deviation, criterion, verdict.to_string()]
    }
}

impl Checked {
    /// Whether every figure is within its tolerance.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(Row::holds)
    }

    /// The table for a terminal.
    pub fn render(&self) -> String {
        let heads = ["statistic", "table", "twin", "deviation", "criterion", "verdict"].map(str::to_string);
        let rows: Vec<[String; 6]> = std::iter::once(heads).chain(self.rows.iter().map(Row::cells)).collect();
        format!("{}: {}\n{}", self.name, self.title, indented(&rows))
    }
}

/// Rows of cells as indented lines.
pub(crate) fn indented(rows: &[[String; 6]]) -> String {
    aligned(rows).iter().map(|line| format!("  {line}\n")).collect()
}

/// Generates all requests of a twin, or at most this many, and compares them with its table. `name` is
/// `twin:NAME`, `NAME` or a twin's file.
///
/// # Errors
/// An unknown name, or an invalid file.
pub fn check(name: &str, most: Option<u64>, depth: Depth) -> Result<Checked, WorkloadError> {
    let head = if crate::generators::twin::by_name::is_twin(name) {
        name.to_string()
    } else {
        format!("{PREFIX}{name}")
    };
    let d = match named(&head)? {
        Named::Workload(spelled) => return check_spelled(head, spelled),
        Named::Twin(d, _) => *d,
    };
    let page = d.writes.page * LBA_BYTES;
    let mut s = Statistics::new(page, depth);
    for (number, request) in (0..).zip(requests_of(&d, SEED, most)?) {
        going_on(number)?;
        s.add(&request);
    }
    let count = most.map_or(d.requests, |m| m.min(d.requests));
    let mut rows = vec![
        Row::new("requests", Unit::Count, Some(count as f64), s.requests() as f64, Criterion::Exact),
        Row::new("write ratio", Unit::Share, Some(d.write.as_f64()), s.write_share(), Criterion::Points(0.5)),
    ];
    for (what, side, found) in
        [("mean write size", &d.writes, s.write_mean()), ("mean read size", &d.reads, s.read_mean())]
    {
        if let Some(found) = found {
            let law = crate::generators::twin::sizes::SizeLaw::new(side).ok();
            let target = side.mean.or_else(|| law.map(|l| mean(&l.shares())));
            rows.push(Row::new(what, Unit::Bytes, target, found, Criterion::Percent(2.0)));
        }
    }
    let page = readable_bytes(page);
    if let crate::generators::twin::description::Rest::Large { share, .. } = d.writes.rest {
        let what = format!("writes across several {page} pages");
        rows.push(Row::new(what, Unit::Share, Some(share.as_f64()), s.large_share(), Criterion::Points(1.0)));
    }
    for (what, range, found) in [
        (format!("partial writes of {page} pages"), d.targets.partial, s.partial_share()),
        ("writes up to 4 KiB".to_string(), d.targets.small, s.small_share()),
    ] {
        if let Some((from, to)) = range {
            let criterion = Criterion::Range { to: to.as_f64(), points: 6.0 };
            rows.push(Row::new(what, Unit::Share, Some(from.as_f64()), found, criterion));
        }
    }
    let told =
        |what: &str, unit, target: Option<f64>, found| Row::new(what, unit, target, found, Criterion::Told);
    let whole = most.is_none_or(|m| m >= d.requests);
    let volume = |v: Option<u64>| v.filter(|_| whole).map(|v| v as f64);
    let (read, written) = s.volumes();
    rows.push(told("bytes written", Unit::Volume, volume(d.targets.write_volume), written as f64));
    rows.push(told("bytes read", Unit::Volume, volume(d.targets.read_volume), read as f64));
    let span = Some(d.arrivals.span.as_secs()).filter(|_| whole);
    rows.push(told("duration", Unit::Seconds, span, s.span_s()));
    for (length, found, _) in s.dispersion().into_iter().filter(|d| d.0 >= DISPERSION_FROM) {
        let target = d.targets.dispersion.iter().find(|t| t.0.0 == length).map(|t| t.1);
        let what = format!("dispersion, {} windows", wordline_units::SimDuration(length));
        rows.push(told(&what, Unit::Number, target, found));
    }
    let share = |target: Option<Fraction>| target.map(Fraction::as_f64);
    if let Some([covering, same]) = s.stable_shares() {
        for (what, target, found) in [
            ("partial updates of the same sectors", d.targets.same_sectors, same),
            ("partial updates of all written sectors", d.targets.covering, covering),
        ] {
            rows.push(told(what, Unit::Share, share(target), found));
        }
    }
    if let Some(found) = s.read_written_share().filter(|_| read > 0) {
        rows.push(told(
            "reads of previously written pages",
            Unit::Share,
            share(d.targets.read_written),
            found,
        ));
    }
    if let Some([touched, _, written]) = s.footprints() {
        rows.push(told("distinct pages", Unit::Volume, None, touched as f64));
        rows.push(told(
            "distinct pages written",
            Unit::Volume,
            volume(d.targets.written_footprint),
            written as f64,
        ));
    }
    let targets = &d.targets.hits;
    let caches: Vec<u64> = match s.six_caches() {
        Some(six) if targets.is_empty() => six,
        _ => targets.iter().map(|t| t.0).collect(),
    };
    for (i, hit) in s.hits(&caches).unwrap_or_default().into_iter().enumerate() {
        let target = targets.get(i).map(|t| t.1.as_f64());
        let criterion = if target.is_some() { Criterion::Points(3.0) } else { Criterion::Told };
        let what = format!("LRU write hits, {}", readable_bytes(caches[i]));
        rows.push(Row::new(what, Unit::Share, target, hit, criterion));
    }
    Ok(Checked { name: head, title: d.title, rows, statistics: Some(s) })
}

/// Mean size in bytes.
fn mean(shares: &[(u32, f64)]) -> f64 {
    shares.iter().map(|(blocks, p)| *blocks as f64 * p).sum::<f64>() * LBA_BYTES as f64
}

/// A drive that is large enough for every workload.
pub(crate) const ROOM: DriveShape =
    DriveShape { logical_bytes: 1 << 50, sector_bytes: 4096, unit_bytes: 4096 };

fn check_spelled(head: String, spelled: &Spelled) -> Result<Checked, WorkloadError> {
    let over = Overrides { requests: Some(REQUESTS), ..Overrides::default() };
    // Popular pages are chosen by one half of the requests and counted in the other, so that random variation
    // makes none popular.
    let mut counts: FxHashMap<u64, [u32; 2]> = FxHashMap::default();
    let mut n = 0u64;
    for request in Workload::parse(&head, over)?.open(ROOM, SEED)? {
        going_on(n)?;
        counts.entry(request?.lba.0 / UNIT).or_default()[(n % 2) as usize] += 1;
        n += 1;
    }
    let mut counts: Vec<[u32; 2]> = counts.into_values().collect();
    counts.sort_unstable_by_key(|[found_by, _]| std::cmp::Reverse(*found_by));
    let mut rows = vec![Row::new("requests", Unit::Count, Some(REQUESTS as f64), n as f64, Criterion::Exact)];
    for (top, share) in spelled.tops {
        let found = counts.iter().take(*top).map(|c| c[1] as f64).sum::<f64>() / (n / 2) as f64;
        let what = format!("reads of the {} most popular pages", grouped(*top as u64));
        rows.push(Row::new(what, Unit::Share, Some(*share), found, Criterion::Points(3.0)));
    }
    Ok(Checked { name: head, title: spelled.title.to_string(), rows, statistics: None })
}
