//! Evidence about units that a file does not state. Each reading of a sample (a time unit, an
//! address unit) is confronted with what hosts and drives can do; a reading is given up only for a
//! stated reason, and if more than one is left the user is asked. Nothing here prefers a reading
//! because it is common.

use crate::numbers::readable_bytes;

/// A host needs longer than this between two submissions: a system call alone takes as long.
const SHORTEST_GAP_NS: u64 = 100;
/// More than this many gaps in a thousand below it are no accident.
const SHORT_GAPS_PER_MILLE: u64 = 1;
/// No single drive or array of the traces' time, or of today, moves more.
const MOST_BYTES_PER_S: f64 = 16.0 * (1u64 << 30) as f64;
/// Nor serves more requests.
const MOST_REQUESTS_PER_S: f64 = 5e6;
/// Traces last hours or days.
const LONGEST_SPAN_S: f64 = 2.0 * 365.0 * 86_400.0;
/// A trace clock is finer than this, unless the file itself writes no finer digit.
const COARSE_TICK_NS: u64 = 1_000_000;
/// Statistics on gaps need so many.
const ENOUGH_GAPS: u64 = 1_000;
/// Host block layers split requests at 4 MiB or below.
const LONGEST_REQUEST: u64 = 4 << 20;

/// What a sample's time column holds, in its smallest written digit ("steps").
#[derive(Clone, Default)]
pub(super) struct Times {
    /// Decimals of the column; 0 for integers.
    pub decimals: u32,
    /// Steps between one request and the next, where time did not run backwards.
    pub gaps: Vec<u64>,
}

impl Times {
    fn span(&self) -> u64 {
        self.gaps.iter().fold(0, |sum: u64, g| sum.saturating_add(*g))
    }

    /// The greatest step that divides every gap: the tick of the clock behind the file.
    fn tick(&self) -> u64 {
        self.gaps.iter().fold(0, |a, b| gcd(a, *b)).max(1)
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// What a trace would be under a reading.
pub(super) struct Claim {
    pub seconds: f64,
    pub requests_per_s: f64,
    pub bytes_per_s: f64,
}

impl Claim {
    /// In words.
    pub fn describe(&self) -> String {
        if self.seconds == 0.0 {
            return "all requests at one instant".to_string();
        }
        format!(
            "{} s, {} requests/s, {}/s",
            three_digits(self.seconds),
            three_digits(self.requests_per_s),
            readable_bytes(self.bytes_per_s as u64)
        )
    }
}

/// About three significant digits, without an exponent where one can do without.
pub(super) fn three_digits(x: f64) -> String {
    match x {
        0.0 => "0".to_string(),
        x if x >= 100.0 => crate::numbers::grouped(x.round() as u64),
        x if x >= 10.0 => format!("{x:.1}"),
        x if x >= 1.0 => format!("{x:.2}"),
        x if x >= 0.001 => format!("{x:.4}").trim_end_matches('0').to_string(),
        x => format!("{x:.1e}"),
    }
}

/// What the times would say if a step were `step_ns` long (as a fraction, for decimals of a
/// nanosecond), and what speaks against that.
pub(super) fn time_unit(times: &Times, unit_ns: u64, bytes: u64) -> (Claim, Vec<String>) {
    let step_ns = unit_ns as f64 / 10f64.powi(times.decimals as i32);
    let requests = times.gaps.len() as u64 + 1;
    let seconds = times.span() as f64 * step_ns / 1e9;
    let rate = |x: f64| if seconds > 0.0 { x / seconds } else { 0.0 };
    let claim = Claim { seconds, requests_per_s: rate(requests as f64), bytes_per_s: rate(bytes as f64) };
    let mut against = Vec::new();
    let gaps = times.gaps.len() as u64;
    if gaps >= 100 && claim.bytes_per_s > MOST_BYTES_PER_S {
        against.push(format!("no drive moves {}/s", readable_bytes(claim.bytes_per_s as u64)));
    }
    if gaps >= 100 && claim.requests_per_s > MOST_REQUESTS_PER_S {
        against.push(format!("no host issues {} requests/s", three_digits(claim.requests_per_s)));
    }
    if seconds > LONGEST_SPAN_S {
        against.push(format!("it would last {} years", three_digits(seconds / 86_400.0 / 365.0)));
    }
    let tick = times.tick();
    let tick_ns = tick as f64 * step_ns;
    let coarse = tick_ns >= COARSE_TICK_NS as f64;
    if gaps >= 100 && coarse && (times.decimals > 0 || tick >= 1000) {
        against.push(format!(
            "every time would be a multiple of {} s, yet written with finer digits",
            three_digits(tick_ns / 1e9)
        ));
    }
    if gaps >= ENOUGH_GAPS {
        let short =
            times.gaps.iter().filter(|g| **g > 0 && **g as f64 * step_ns < SHORTEST_GAP_NS as f64).count();
        if short as u64 * 1000 > gaps * SHORT_GAPS_PER_MILLE {
            against.push(format!(
                "{} % of the requests would follow the one before within {SHORTEST_GAP_NS} ns",
                three_digits(short as f64 * 100.0 / gaps as f64)
            ));
        }
        let least = times.gaps.iter().copied().filter(|g| *g > 0).min().unwrap_or(0) as f64 * step_ns / 1e9;
        if least > 1.0 {
            against.push(format!("no two instants would lie closer than {} s", three_digits(least)));
        }
        let unresolved = times.gaps.iter().filter(|g| **g <= tick).count() as u64;
        if gaps >= 10 * ENOUGH_GAPS && coarse && unresolved * 1000 < gaps {
            against.push(format!(
                "with a clock of {} s bursts would share instants, but {} of {gaps} gaps are within one tick",
                three_digits(tick_ns / 1e9),
                unresolved
            ));
        }
    }
    (claim, against)
}

/// What a sample's address and size columns hold.
#[derive(Clone, Default)]
pub(super) struct Extents {
    pub rows: u64,
    /// Rows whose address and size are both multiples of 512.
    pub both_of_512: u64,
    pub largest_size: u64,
    pub total_size: u64,
    pub highest_end: u64,
}

/// What speaks against reading address and size in sectors or in bytes.
pub(super) fn address_unit(extents: &Extents, sectors: bool) -> Vec<String> {
    let mut against = Vec::new();
    if sectors {
        let largest = extents.largest_size.saturating_mul(512);
        if extents.both_of_512 == extents.rows && largest > LONGEST_REQUEST {
            against.push(format!(
                "all addresses and sizes are multiples of 512, and requests would be up to {} long",
                readable_bytes(largest)
            ));
        }
    } else if extents.both_of_512 * 10 < extents.rows {
        against.push(format!(
            "{} of {} rows are not in whole sectors of 512 bytes",
            extents.rows - extents.both_of_512,
            extents.rows
        ));
    }
    against
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plausible(times: &Times, bytes: u64) -> Vec<u64> {
        let units = [1, 1_000, 1_000_000, 1_000_000_000];
        units.into_iter().filter(|u| time_unit(times, *u, bytes).1.is_empty()).collect()
    }

    #[test]
    fn a_handful_of_requests_is_not_enough_to_decide() {
        let times = Times { decimals: 0, gaps: vec![1000, 250, 4000] };
        assert!(plausible(&times, 16 << 10).len() > 1);
    }

    #[test]
    fn microseconds_are_not_taken_for_nanoseconds_when_requests_would_come_too_close() {
        let gaps = (0..20_000u64).map(|i| 5 + i * 7919 % 4000).collect();
        assert_eq!(plausible(&Times { decimals: 0, gaps }, 20_000 * 4096), [1_000]);
    }
}
