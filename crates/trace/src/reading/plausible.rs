//! Whether an interpretation of a trace is plausible. An interpretation is a unit of time and one of
//! addresses; its span, rates, bursts and sizes are compared with the limits of hosts and drives (`bounds`).
//! An interpretation is rejected only for a stated reason; `readings` selects among the rest.

use crate::reading::bounds::{
    BURSTY, COARSE_TICK_NS, DATES, DEEPEST_QUEUES, ENOUGH, FILETIME_TO_UNIX_S, LEAST_REQUESTS_PER_S,
    LONGEST_DATED_S, LONGEST_ODD_REQUEST, LONGEST_REQUEST, MANY, MOST_DEVICES, MOST_REQUESTS_PER_S,
    SHORTEST_GAP_NS, SLOWEST_TICK_NS, SOME,
};
use crate::reading::claim::{Claim, civil, three_digits};
use crate::reading::detection::{Sample, Settings};
use crate::reading::format::{Format, Order, Timing};
use crate::reading::record::Event;
use crate::reading::units::{SECOND, TIME, time_ns};
use crate::requests::pages::PageSet;
use crate::text::numbers::{grouped, readable_bytes};
use std::io::Cursor;
use wordline_units::HostOp;

/// Bytes of a unit of addresses and of one of sizes.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub address: u64,
    pub size: u64,
}

impl Scale {
    /// One unit for both.
    pub fn both(bytes: u64) -> Scale {
        Scale { address: bytes, size: bytes }
    }
}

/// Properties of a sample, independent of units.
pub(crate) struct Evidence {
    /// Times in steps (the smallest written digit), ascending.
    steps: Vec<u64>,
    /// Gaps between times, ascending.
    gaps: Vec<u64>,
    /// Digits below one unit.
    pub decimals: u32,
    /// The length of all requests, if a trace has only addresses.
    length: Option<u64>,
    /// Requests earlier than the one before them in the file.
    backwards: usize,
    devices: f64,
    /// Address and length of reads and writes, in units of `Evidence::of`.
    extents: Vec<(u64, u64)>,
    rows_of_512: usize,
    largest: u64,
    total: u64,
}

impl Evidence {
    /// Reads the sample with these settings: unchanged if the grammar fixes the clock, otherwise in the
    /// coarsest unit in which no request is lost, so that every written digit counts.
    pub fn of(format: &Format, settings: &Settings, sample: &Sample) -> Evidence {
        if matches!(format.timing, Timing::Exact(_) | Timing::Absent)
            || format.timing == Timing::Told && (format.quirks.tells_time)(settings)
        {
            return Evidence::in_steps(read(format, settings, sample), 1);
        }
        let mut evidence = Evidence::in_finest_steps(format, settings, sample);
        if format.order == Order::Loose {
            evidence.backwards = 0;
        }
        evidence
    }

    fn in_finest_steps(format: &Format, settings: &Settings, sample: &Sample) -> Evidence {
        let with = |unit: &str| read(format, &format.with_time(settings, unit), sample);
        let whole = with("ns");
        let stated = match format.timing {
            Timing::Stated { unit, .. } if !settings.contains_key(TIME.key) => {
                time_ns(unit).map(|ns| (unit, ns))
            }
            _ => None,
        };
        let units = [("s", SECOND), ("ms", 1_000_000), ("us", 1_000)];
        for (unit, ns) in stated.into_iter().chain(units) {
            let read = with(unit);
            // Decimals below a nanosecond of the stated unit are visible in a coarser one.
            let is_instant = read.times.windows(2).all(|w| w[0] == w[1]);
            if is_instant && stated == Some((unit, ns)) && unit != "s" {
                continue;
            }
            // A time beyond all bounds is lost alone; with too coarse a unit, most times are.
            if read.times.len() * 10 >= whole.times.len() * 9 {
                return Evidence::in_steps(read, ns);
            }
        }
        Evidence::in_steps(whole, 1)
    }

    fn in_steps(read: Read, unit_ns: u64) -> Evidence {
        let Read { times: mut steps, extents, devices, length } = read;
        let digits = unit_ns.ilog10();
        let zeros = |t: u64| (0..digits).find(|n| !t.is_multiple_of(10u64.pow(n + 1))).unwrap_or(digits);
        let common = steps.iter().map(|t| zeros(*t)).min().unwrap_or(digits);
        let step = 10u64.pow(common);
        steps.iter_mut().for_each(|t| *t /= step);
        let backwards = steps.windows(2).filter(|w| w[1] < w[0]).count();
        steps.sort_unstable();
        leave_out_strays(&mut steps);
        let mut gaps: Vec<u64> = steps.windows(2).map(|w| w[1] - w[0]).collect();
        gaps.sort_unstable();
        let both = |(at, size): &&(u64, u64)| at % 512 == 0 && size % 512 == 0;
        Evidence {
            decimals: digits - common,
            backwards,
            devices: (devices.max(1) as f64).min(MOST_DEVICES),
            rows_of_512: extents.iter().filter(both).count(),
            largest: extents.iter().map(|e| e.1).max().unwrap_or(0),
            total: extents.iter().fold(0, |sum, e| sum.saturating_add(e.1)),
            extents,
            steps,
            gaps,
            length,
        }
    }

    /// Number of requests examined.
    pub fn rows(&self) -> usize {
        self.steps.len()
    }

    fn span(&self) -> u64 {
        self.steps.last().zip(self.steps.first()).map_or(0, |(last, first)| last - first)
    }

    /// Whether all requests have the same time.
    pub fn is_instant(&self) -> bool {
        self.span() == 0
    }

    /// Whether whole steps are too coarse: hardly more than one step between requests.
    pub fn is_unresolved(&self) -> bool {
        self.decimals == 0 && self.rows() >= ENOUGH && self.span() <= 2 * self.gaps.len() as u64
    }

    fn step_ns(&self, unit_ns: u64) -> f64 {
        unit_ns as f64 / 10f64.powi(self.decimals as i32)
    }

    /// Maximum number of requests in any window of this many nanoseconds.
    fn busiest(&self, window_ns: f64, step_ns: f64) -> usize {
        let window = (window_ns / step_ns) as u64;
        let (mut from, mut most) = (0, 0);
        for (at, time) in self.steps.iter().enumerate() {
            while time - self.steps[from] > window {
                from += 1;
            }
            most = most.max(at + 1 - from);
        }
        most
    }

    /// Share of the gaps within a range of steps.
    fn share(&self, steps: std::ops::Range<f64>) -> f64 {
        let below = |limit: f64| self.gaps.partition_point(|g| (*g as f64) < limit);
        (below(steps.end) - below(steps.start)) as f64 / self.gaps.len().max(1) as f64
    }

    /// Index of dispersion of counts in windows of twenty mean gaps: 1 for independent arrivals.
    fn dispersion(&self) -> f64 {
        const GAPS: f64 = 20.0;
        let window = (self.span() as f64 * GAPS / self.gaps.len().max(1) as f64).max(1.0) as u64;
        let windows = self.span() / window + 1;
        let mean = self.rows() as f64 / windows as f64;
        let first = self.steps.first().copied().unwrap_or(0);
        let runs = self.steps.chunk_by(|a, b| (a - first) / window == (b - first) / window);
        // Windows without a request are not among the runs.
        let (seen, squares) =
            runs.fold((0u64, 0.0), |(n, sum), run| (n + 1, sum + (run.len() as f64 - mean).powi(2)));
        (squares + (windows - seen) as f64 * mean * mean) / windows as f64 / mean
    }

    /// The greatest step that divides all gaps.
    fn tick(&self) -> u64 {
        self.gaps.iter().fold(0, |a, b| gcd(a, *b)).max(1)
    }

    /// Whether requests arrive in batches: many gaps below about a microsecond, hardly any in the decade
    /// above. Batch submission (NVMe, io_uring) looks like this.
    fn is_batched(&self, step_ns: f64) -> bool {
        [100.0, 300.0, 1_000.0, 3_000.0].into_iter().any(|ns| {
            let edge = ns / step_ns;
            self.share(0.0..edge) >= 0.3 && self.share(edge..10.0 * edge) <= 0.01
        })
    }

    /// The spacing of a grid near which the times lie, with jitter in the finer digits, as from a coarse
    /// clock that was converted. Timers also have a grid, but do not skip a varying number of positions.
    fn grid(&self) -> Option<u64> {
        let apart = &self.gaps[self.gaps.partition_point(|g| *g == 0)..];
        let least = *apart.first()?;
        if apart.len() < 1_000 || least < 1_000 || apart.len() * 10 > self.gaps.len() * 9 {
            return None;
        }
        let near = apart.iter().filter(|g| **g < 20 * least).count();
        let mut places = [0usize; 20];
        for gap in apart.iter().filter(|g| **g < 20 * least) {
            let ratio = *gap as f64 / least as f64;
            if (ratio - ratio.round()).abs() <= 0.12 {
                places[(ratio.round() as usize).min(19)] += 1;
            }
        }
        let used = places.iter().filter(|n| **n * 20 >= near).count();
        (places.iter().sum::<usize>() * 10 >= near * 9 && used >= 4).then_some(least)
    }

    /// Bytes in the distinct 4 KiB pages of the sample.
    pub fn touched(&self, unit: Scale) -> u64 {
        const PAGE: u64 = 4096;
        let mut pages = PageSet::default();
        for (at, size) in &self.extents {
            let bytes = self.length.or_else(|| size.checked_mul(unit.size));
            let (Some(first), Some(bytes)) = (at.checked_mul(unit.address), bytes) else { continue };
            // A longer request does not increase the sampled footprint further.
            if let Some(past) = first.checked_add(bytes.min(LONGEST_ODD_REQUEST)) {
                pages.insert(first / PAGE..past.div_ceil(PAGE));
            }
        }
        pages.count() * PAGE
    }

    /// The longest request and the highest address, in bytes.
    pub fn reach(&self, unit: Scale) -> (u64, u64) {
        let bytes = |size: u64| self.length.unwrap_or_else(|| size.saturating_mul(unit.size));
        let end = |(at, size): &(u64, u64)| at.saturating_mul(unit.address).saturating_add(bytes(*size));
        (bytes(self.largest), self.extents.iter().map(end).max().unwrap_or(0))
    }

    /// Bytes read and written.
    pub fn bytes(&self, unit: u64) -> u64 {
        self.total.saturating_mul(unit)
    }

    /// Properties of the trace with these units.
    pub fn claim(&self, unit_ns: u64, bytes: u64) -> Claim {
        let step_ns = self.step_ns(unit_ns);
        let busiest_ms = Some(self.busiest(1e6, step_ns) as u64);
        let seconds = self.span() as f64 * step_ns / 1e9;
        Claim { requests: self.rows() as u64, bytes, seconds, busiest_ms }
    }

    /// Impossible properties with this unit of time.
    pub fn impossible(&self, unit_ns: u64, bytes: u64) -> Vec<String> {
        let step_ns = self.step_ns(unit_ns);
        let claim = self.claim(unit_ns, bytes);
        let burst = self.busiest(1e3, step_ns);
        // With a coarse clock, a request may be up to a tick later than its time.
        let slack = self.tick() as f64 * step_ns / 1e9;
        let mut against = claim.impossible(self.devices, burst as u64, slack);
        if against.is_empty() && self.rows() >= ENOUGH && self.span() > 0 {
            for (window_ns, name) in [(1e6, "1 ms"), (1e8, "100 ms")] {
                let most = self.busiest(window_ns, step_ns);
                let window_s = window_ns / 1e9 + slack;
                if most as f64 > DEEPEST_QUEUES + self.devices * MOST_REQUESTS_PER_S * window_s {
                    let most = grouped(most as u64);
                    against.push(format!("the busiest {name} would hold {most} requests"));
                }
            }
        }
        against
    }

    /// Unusual properties with this unit of time.
    pub fn unusual(&self, unit_ns: u64) -> Vec<String> {
        let step_ns = self.step_ns(unit_ns);
        let gaps = self.gaps.len();
        let in_ms = |ns: f64| format!("{} ms", three_digits(ns / 1e6));
        let mut against = Vec::new();
        let mut say = |speaks: bool, why: &dyn Fn() -> String| against.extend(speaks.then(why));
        say(self.backwards * 10 > self.rows(), &|| {
            let percent = self.backwards * 100 / self.rows().max(1);
            format!("its first column would be out of order in {percent} % of the rows")
        });
        say(self.decimals > 0 && step_ns < 0.99, &|| {
            "times would be written in parts of a nanosecond".to_string()
        });
        if gaps < ENOUGH || self.span() == 0 {
            return against;
        }
        let tick_ns = self.tick() as f64 * step_ns;
        let is_coarse = self.decimals == 0 && self.tick() >= 1_000 && tick_ns >= COARSE_TICK_NS;
        say(is_coarse && gaps >= MANY && self.busiest(0.0, step_ns) <= 3, &|| {
            let ticks = in_ms(tick_ns);
            format!("every time would be a multiple of {ticks}, yet no tick would have a burst")
        });
        let per_s = gaps as f64 / (self.span() as f64 * step_ns / 1e9);
        say(self.decimals > 0 && step_ns >= COARSE_TICK_NS && per_s < 1.0, &|| {
            let rate = three_digits(per_s);
            format!("a clock of {} is coarser than tracers use at {rate} requests/s", in_ms(step_ns))
        });
        let grid_ns = self.grid().map_or(0.0, |grid| grid as f64 * step_ns);
        say(grid_ns > SLOWEST_TICK_NS, &|| {
            let grid = three_digits(grid_ns / 1e9);
            format!("the times lie on a grid of {grid} s, and no clock ticks so slowly")
        });
        let shared = self.share(0.0..2.0);
        let is_sparse = gaps >= 2 * MANY && step_ns >= COARSE_TICK_NS && shared < 0.001;
        say(is_sparse && self.dispersion() >= BURSTY, &|| {
            let (clock, percent) = (in_ms(step_ns), three_digits(shared * 100.0));
            format!(
                "with a clock of {clock} its bursts would share instants, but {percent} % of the gaps are within one tick"
            )
        });
        let close = self.share(0.5..SHORTEST_GAP_NS / step_ns + 0.5);
        let mean = self.span() as f64 / gaps as f64;
        let by_chance = SHORTEST_GAP_NS / step_ns / mean.max(1e-9);
        let is_close = gaps >= ENOUGH * 10 && close >= 0.05 && close > 10.0 * by_chance;
        say(is_close && !self.is_batched(step_ns), &|| {
            let percent = three_digits(close * 100.0);
            format!(
                "{percent} % of the requests would follow the one before within {SHORTEST_GAP_NS} ns, though not in batches"
            )
        });
        against
    }

    /// The date of the first request, if times in this unit are dates: Unix time, or FILETIME, which is counted in ticks
    /// of 100 ns unless somebody has converted it.
    pub fn date(&self, unit_ns: u64) -> Option<String> {
        let step_ns = self.step_ns(unit_ns);
        let (first, last) = (*self.steps.first()?, *self.steps.last()?);
        let span_s = self.span() as f64 * step_ns / 1e9;
        let dense = self.rows() < ENOUGH || self.rows() as f64 >= LEAST_REQUESTS_PER_S * span_s;
        if !dense || span_s > LONGEST_DATED_S {
            return None;
        }
        let date = |step: u64, since: u64| {
            let seconds = ((step as f64 * step_ns / 1e9) as u64).checked_sub(since);
            seconds.filter(|s| DATES.contains(s))
        };
        let beginnings = [FILETIME_TO_UNIX_S, 0].into_iter().take(if unit_ns == 100 { 1 } else { 2 });
        let mut dated = beginnings.filter(|since| date(last, *since).is_some());
        dated.find_map(|since| date(first, since)).map(civil)
    }

    /// Evidence against addresses and sizes in units of `unit` bytes.
    pub fn unusual_extents(&self, unit: u64) -> Vec<String> {
        let rows = self.extents.len();
        let longest = self.largest.saturating_mul(unit);
        let in_no_pages = || self.extents.iter().filter(|e| e.1 > 256 && e.1 % 8 != 0).count() * 2 > rows;
        let against = match unit {
            1 if self.rows_of_512 * 10 < rows => {
                let odd = grouped((rows - self.rows_of_512) as u64);
                format!("{odd} of {} rows are not in whole sectors of 512 bytes", grouped(rows as u64))
            }
            1 => return Vec::new(),
            _ if self.length.is_some() && self.rows_of_512 == rows => {
                "all addresses are multiples of 512, as those in bytes are".to_string()
            }
            _ if self.rows_of_512 == rows && longest > LONGEST_REQUEST => format!(
                "all addresses and sizes are multiples of 512, and requests would be up to {} long",
                readable_bytes(longest)
            ),
            _ if longest > LONGEST_ODD_REQUEST => {
                format!("requests would be up to {} long", readable_bytes(longest))
            }
            512 if in_no_pages() => {
                "half of the requests would be longer than 128 KiB and in no whole pages of 4 KiB".to_string()
            }
            _ => return Vec::new(),
        };
        vec![against]
    }

    /// Evidence that addresses are in bytes, as sizes are, and not in sectors.
    pub fn sectors_like_bytes(&self) -> Vec<String> {
        let by_512 = |n: &u64| n.is_multiple_of(512);
        let is_grid = self.extents.len() >= SOME && self.extents.iter().all(|e| by_512(&e.0));
        // Addresses on a grid of 256 KiB are those of requests as long, or all the same.
        let is_long = self.extents.iter().all(|e| e.1 % (512 * 512) == 0);
        let is_spread = self.extents.iter().any(|e| e.0 != self.extents[0].0);
        let against = "every address is a multiple of 512, as those in bytes are: in sectors, requests of other \
                       lengths would all begin at multiples of 256 KiB";
        (is_grid && is_spread && !is_long).then(|| against.to_string()).into_iter().collect()
    }

    /// Whether all requests have the same length, in any unit.
    pub fn has_addresses_alone(&self) -> bool {
        self.length.is_some()
    }

    /// Whether sizes look like counts of pages: mostly one.
    pub fn counts_pages(&self) -> bool {
        let ones = self.extents.iter().filter(|e| e.1 == 1).count();
        self.extents.len() >= SOME && ones * 5 >= self.extents.len() * 2
    }

    /// Whether most requests are shorter than a sector, their sizes being in bytes.
    pub fn below_a_sector(&self) -> bool {
        let short = self.extents.iter().filter(|e| e.1 < 512).count();
        self.extents.len() >= SOME && short * 10 >= self.extents.len() * 9
    }
}

/// Kinds of requests in the sample.
struct Read {
    times: Vec<u64>,
    extents: Vec<(u64, u64)>,
    devices: usize,
    length: Option<u64>,
}

fn read(format: &Format, settings: &Settings, sample: &Sample) -> Read {
    let bytes = sample.whole_lines().to_vec();
    let mut reader = (format.open)(settings, Box::new(Cursor::new(bytes)));
    let length = format.quirks.length.map(|length| length(settings));
    let mut read = Read { times: Vec::new(), extents: Vec::new(), devices: 0, length };
    // Content in memory can always be read.
    while let Ok(Some(event)) = reader.next() {
        let Event::Request(r) = event else { continue };
        read.times.push(r.time);
        if matches!(r.op, HostOp::Read | HostOp::Write) {
            // If all requests have the same length, it is no evidence for a unit.
            read.extents.push((r.offset, if length.is_some() { 0 } else { r.bytes }));
        }
    }
    read.devices = reader.volumes().labels().len();
    read
}

/// Removes the few times that are a thousand spans away from all others, due to damage or an unset clock.
/// They are no evidence for the unit.
fn leave_out_strays(steps: &mut Vec<u64>) {
    for _ in 0..steps.len().div_ceil(1_000) {
        let [first, second, .., before, last] = steps[..] else { return };
        if last - before > (before - first).saturating_mul(1_000).max(1_000_000) {
            steps.pop();
        } else if second - first > (last - second).saturating_mul(1_000).max(1_000_000) {
            steps.remove(0);
        } else {
            return;
        }
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(times: Vec<u64>) -> Evidence {
        let extents = times.iter().map(|_| (0, 4096)).collect();
        Evidence::in_steps(Read { times, extents, devices: 1, length: None }, 1)
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, date) in [(0, "1970-01-01"), (951_782_400, "2000-02-29"), (1_456_095_145, "2016-02-21")]
        {
            assert_eq!(civil(seconds), date);
        }
    }

    #[test]
    fn filetime_in_another_unit_is_a_date_too() {
        let ticks = |i: u64| 128_166_372_000_000_000 + i * 10_000;
        assert_eq!(evidence((0..300).map(ticks).collect()).date(100).as_deref(), Some("2007-02-22"));
        let in_us = evidence((0..300).map(|i| ticks(i) / 10).collect());
        assert_eq!((in_us.date(1_000).as_deref(), in_us.date(100)), (Some("2007-02-22"), None));
        assert_eq!(evidence((0..300).collect()).date(1_000), None);
    }

    #[test]
    fn a_batch_is_a_burst_and_no_impossible_rate() {
        // Batches of 256 requests, a nanosecond apart, every 200 us.
        let times = (0..40_000u64).map(|i| i / 256 * 200_000 + i % 256).collect();
        let e = evidence(times);
        assert!(e.impossible(1, 40_000 * 4096).is_empty() && e.unusual(1).is_empty());
        assert!(e.is_batched(1.0));
    }

    #[test]
    fn a_rate_of_fifteen_million_a_second_is_refused() {
        let e = evidence((0..10_000u64).map(|i| i / 16).collect());
        let against = e.impossible(1_000, 10_000 * 512);
        assert!(against.iter().any(|a| a.contains("requests/s")), "{against:?}");
    }
}
