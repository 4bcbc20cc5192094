//! Properties of a trace under an interpretation of its units, and which of them no drive can have.

use crate::reading::bounds::{
    ENOUGH, LEAST_REQUESTS_PER_S, LONGEST_SPAN_S, MOST_BYTES_PER_S, MOST_DEVICES, MOST_REQUESTS_PER_S, SOME,
};
use crate::text::numbers::{grouped, readable_bytes};

/// Properties of a trace under an interpretation.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    pub requests: u64,
    pub bytes: u64,
    pub seconds: f64,
    /// Requests in the busiest millisecond, if known.
    pub busiest_ms: Option<u64>,
}

impl Claim {
    pub(crate) fn per_second(&self, n: f64) -> f64 {
        if self.seconds > 0.0 { n / self.seconds } else { 0.0 }
    }

    /// Span, rates and burst, as cells of a table.
    pub fn cells(&self) -> [String; 4] {
        if self.seconds == 0.0 {
            return ["one instant".into(), "-".into(), "-".into(), "-".into()];
        }
        [
            duration(self.seconds),
            three_digits(self.per_second(self.requests as f64)),
            self.busiest_ms.map_or("-".to_string(), grouped),
            three_digits(self.per_second(self.bytes as f64) / 1e6),
        ]
    }

    /// The properties in a sentence.
    pub fn describe(&self) -> String {
        if self.seconds == 0.0 {
            return "all requests at one instant".to_string();
        }
        format!(
            "{}, {} requests/s, {}/s",
            duration(self.seconds),
            three_digits(self.per_second(self.requests as f64)),
            readable_bytes(self.per_second(self.bytes as f64) as u64)
        )
    }

    /// Impossible properties of a trace. `burst` requests within a microsecond count as one batch, and a
    /// request's time may be up to `slack` seconds off.
    pub fn impossible(&self, devices: f64, burst: u64, slack: f64) -> Vec<String> {
        let mut against = Vec::new();
        let rows = self.requests as usize;
        if self.seconds > LONGEST_SPAN_S {
            against.push(format!("it would last {} years", three_digits(self.seconds / 86_400.0 / 365.0)));
        }
        if rows < SOME || self.seconds == 0.0 {
            return against;
        }
        let few = if rows < ENOUGH { 10.0 } else { 1.0 };
        let spread = self.requests.saturating_sub(burst) as f64 / self.requests as f64;
        against.extend(self.rates(few * devices, spread, slack));
        if (self.requests as f64) < LEAST_REQUESTS_PER_S * self.seconds && rows >= ENOUGH {
            let apart = duration(self.seconds / self.requests as f64);
            against.push(format!("a request would arrive every {apart}"));
        }
        against
    }

    /// The rates that this many drives cannot reach.
    pub fn too_fast(&self, devices: usize, slack: f64) -> Vec<String> {
        self.rates((devices.max(1) as f64).min(MOST_DEVICES), 1.0, slack)
    }

    pub(crate) fn rates(&self, most: f64, share: f64, slack: f64) -> Vec<String> {
        let per_s = |n: u64| n as f64 * share / (self.seconds + slack);
        let mut against = Vec::new();
        if per_s(self.bytes) > most * MOST_BYTES_PER_S {
            against.push(format!("no drive moves {}/s", readable_bytes(per_s(self.bytes) as u64)));
        }
        if per_s(self.requests) > most * MOST_REQUESTS_PER_S {
            against.push(format!("no drive serves {} requests/s", three_digits(per_s(self.requests))));
        }
        against
    }
}

/// A duration in a suitable unit.
pub(crate) fn duration(seconds: f64) -> String {
    let (divisor, unit) = match seconds {
        s if s >= 2.0 * 365.0 * 86_400.0 => (365.0 * 86_400.0, "years"),
        s if s >= 2.0 * 86_400.0 => (86_400.0, "days"),
        s if s >= 2.0 * 3_600.0 => (3_600.0, "h"),
        s if s >= 1.0 => (1.0, "s"),
        s if s >= 1e-3 => (1e-3, "ms"),
        s if s >= 1e-6 => (1e-6, "us"),
        _ => (1e-9, "ns"),
    };
    format!("{} {unit}", three_digits(seconds / divisor))
}

/// About three significant digits, without an exponent if possible.
pub(crate) fn three_digits(x: f64) -> String {
    match x {
        0.0 => "0".to_string(),
        x if x >= 100.0 => grouped(x.round() as u64),
        x if x >= 10.0 => format!("{x:.1}"),
        x if x >= 1.0 => format!("{x:.2}"),
        x if x >= 0.001 => format!("{x:.4}").trim_end_matches('0').to_string(),
        x => format!("{x:.1e}"),
    }
}

/// The date of this many seconds since 1970 (Howard Hinnant, "chrono-compatible low-level date algorithms").
pub(crate) fn civil(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}
