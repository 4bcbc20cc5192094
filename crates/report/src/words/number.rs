//! Numbers for display: three significant digits, a common unit per row, a dash for non-numbers. Nothing that
//! is not finite is ever printed.

pub(crate) use wordline_units::grouped as count;

/// Stands for a value that does not exist.
pub(crate) const NONE: &str = "–";

/// Non-breaking space between a number and its unit.
pub(crate) const NO_BREAK: char = '\u{a0}';

/// Days of a year on average.
pub(crate) const DAYS_A_YEAR: f64 = 365.25;
/// Seconds of a year.
pub(crate) const YEAR_S: f64 = DAYS_A_YEAR * 86_400.0;

/// `1 request`, `72,175 requests`.
pub(crate) fn requests(n: u64) -> String {
    format!("{} request{}", count(n), if n == 1 { "" } else { "s" })
}

/// Three significant digits, with commas in long integers: `0.412`, `43.2`, `12,700`.
pub fn significant(x: f64) -> String {
    if !x.is_finite() {
        return NONE.to_string();
    }
    if x == 0.0 {
        return "0".to_string();
    }
    // The exponent after rounding, so that 9.996 becomes 10.0 and not 10.00.
    let rounded = format!("{x:.2e}");
    let exponent: i32 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    // 0.0000123 beside 0.000123; what is smaller yet is next to nothing, and no table could hold it.
    if exponent < -6 {
        return rounded;
    }
    let value: f64 = rounded.parse().unwrap_or(x);
    if exponent >= 2 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(value.abs().round() as u64));
    }
    format!("{value:.*}", (2 - exponent).max(0) as usize)
}

/// A ratio with few digits, for sentences: `1.4×`, `12×`.
pub(crate) fn times(x: f64) -> String {
    if !x.is_finite() {
        NONE.to_string()
    } else if x < 9.95 {
        format!("{x:.1}×")
    } else {
        format!("{}×", significant(x.round()))
    }
}

/// A ratio to the baseline: `0.0031×`, `0.42×`, `1.00×`, `13.5×`, `204×`.
pub(crate) fn ratio(x: f64) -> String {
    if !x.is_finite() {
        NONE.to_string()
    } else if x < 0.00095 && x > 0.0 {
        "<0.001×".to_string()
    } else if x < 0.0095 && x > 0.0 {
        format!("{x:.4}×")
    } else if x < 9.995 {
        format!("{x:.2}×")
    } else if x < 99.95 {
        format!("{x:.1}×")
    } else if x < 9999.5 {
        format!("{x:.0}×")
    } else {
        ">9999×".to_string()
    }
}

/// The power of ten of the last displayed digit of a half-width: its first, or its second if the first is 1.
/// Particle Data Group, "Review of Particle Physics", section 5.3, goes by nearly the same rule.
fn last_digit(half_width: f64) -> i32 {
    let text = format!("{half_width:.0e}");
    let exponent: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if text.starts_with('1') { exponent - 1 } else { exponent }
}

/// A number whose last digit has this power of ten.
fn rounded(x: f64, last: i32) -> String {
    if last < 0 {
        let text = format!("{x:.*}", last.unsigned_abs() as usize);
        // Commas as in a whole number: 1,103.7.
        return match text.split_once('.') {
            Some((whole, part)) if x >= 1000.0 => {
                format!("{}.{part}", whole.parse().map_or(whole.to_string(), count))
            }
            _ => text,
        };
    }
    let step = 10f64.powi(last);
    let sign = if x < 0.0 { "-" } else { "" };
    format!("{sign}{}", count(((x.abs() / step).round() * step) as u64))
}

/// A change in percent with half the width of its interval: `−28.5 % ± 0.3`.
pub(crate) fn change(percent: f64, half_width: Option<f64>) -> String {
    if !percent.is_finite() {
        return NONE.to_string();
    }
    let (value, half) = match half_width.filter(|h| h.is_finite() && *h > 0.0) {
        Some(half) => {
            let last = last_digit(half).max(-2);
            (rounded(percent, last), format!(" ± {}", rounded(half.max(10f64.powi(last) * 0.5), last)))
        }
        None => (format!("{percent:.1}"), String::new()),
    };
    let zero = value.chars().all(|c| !c.is_ascii_digit() || c == '0');
    let value = match value.strip_prefix('-') {
        Some(size) if zero => size.to_string(),
        Some(size) => format!("−{size}"),
        None if zero => value,
        None => format!("+{value}"),
    };
    format!("{value} %{half}")
}

/// The quantity of a number; determines its units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quantity {
    /// Microseconds.
    Latency,
    /// Seconds.
    Time,
    /// Seconds that a drive lasts, up to years.
    Age,
    /// 10^6 bytes per second.
    Rate,
    /// Requests a second.
    Iops,
    /// Bytes, shown with binary prefixes.
    Bytes,
    /// An integer, shown exactly while it is short.
    Count,
    /// A metric of a scheme: integers exactly while they are short.
    Number,
    /// A fraction of 1.
    Share,
    /// Joules.
    Energy,
    /// Nanojoules a byte.
    EnergyPerByte,
    /// Bytes programmed over bytes written: parts of one sum, so with fixed decimals.
    Waf,
}

/// A unit of a row: its symbol, and its size in stored units.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Unit {
    pub sign: &'static str,
    pub size: f64,
}

const fn unit(sign: &'static str, size: f64) -> Unit {
    Unit { sign, size }
}

impl Quantity {
    /// The unit of a figure as a report stores it.
    pub(crate) const fn stored(self) -> &'static str {
        match self {
            Quantity::Latency => "microseconds",
            Quantity::Time | Quantity::Age => "seconds",
            Quantity::Rate => "10^6 bytes per second",
            Quantity::Iops => "requests per second",
            Quantity::Bytes => "bytes",
            Quantity::Count => "a count",
            Quantity::Number => "a number",
            Quantity::Share => "a fraction of 1",
            Quantity::Energy => "joules",
            Quantity::EnergyPerByte => "nanojoules per byte",
            Quantity::Waf => "a ratio",
        }
    }

    /// The units, smallest first.
    const fn units(self) -> &'static [Unit] {
        const LATENCY: [Unit; 4] = [unit("ns", 1e-3), unit("µs", 1.0), unit("ms", 1e3), unit("s", 1e6)];
        const TIME: [Unit; 6] = [
            unit("µs", 1e-6),
            unit("ms", 1e-3),
            unit("s", 1.0),
            unit("min", 60.0),
            unit("h", 3600.0),
            unit("d", 86_400.0),
        ];
        const AGE: [Unit; 5] = [
            unit("s", 1.0),
            unit("min", 60.0),
            unit("h", 3600.0),
            unit("d", 86_400.0),
            unit("years", YEAR_S),
        ];
        const RATE: [Unit; 3] = [unit("kB/s", 1e-3), unit("MB/s", 1.0), unit("GB/s", 1e3)];
        const IOPS: [Unit; 3] = [unit("", 1.0), unit("k", 1e3), unit("M", 1e6)];
        const BYTES: [Unit; 5] = [
            unit("B", 1.0),
            unit("KiB", 1024.0),
            unit("MiB", 1_048_576.0),
            unit("GiB", 1_073_741_824.0),
            unit("TiB", 1_099_511_627_776.0),
        ];
        const COUNT: [Unit; 4] = [unit("", 1.0), unit("k", 1e3), unit("M", 1e6), unit("G", 1e9)];
        const ENERGY: [Unit; 5] =
            [unit("nJ", 1e-9), unit("µJ", 1e-6), unit("mJ", 1e-3), unit("J", 1.0), unit("kJ", 1e3)];
        const PER_BYTE: [Unit; 3] = [unit("pJ/B", 1e-3), unit("nJ/B", 1.0), unit("µJ/B", 1e3)];
        const SHARE: [Unit; 1] = [unit("%", 0.01)];
        const NO_UNIT: [Unit; 1] = [unit("", 1.0)];
        match self {
            Quantity::Latency => &LATENCY,
            Quantity::Time => &TIME,
            Quantity::Age => &AGE,
            Quantity::Rate => &RATE,
            Quantity::Iops => &IOPS,
            Quantity::Bytes => &BYTES,
            Quantity::Count => &COUNT,
            Quantity::Share => &SHARE,
            Quantity::Energy => &ENERGY,
            Quantity::EnergyPerByte => &PER_BYTE,
            Quantity::Waf | Quantity::Number => &NO_UNIT,
        }
    }

    /// One unit for several values: the largest in which the smallest value is at least 1, unless the largest
    /// would be unreadable in it.
    pub(crate) fn unit_for(self, values: impl Iterator<Item = f64> + Clone) -> Unit {
        let units = self.units();
        let positive = values.map(f64::abs).filter(|v| v.is_finite() && *v > 0.0);
        let smallest = positive.clone().fold(f64::INFINITY, f64::min);
        let largest = positive.fold(0.0, f64::max);
        if largest == 0.0 {
            // Nothing to suit: the stored unit.
            return units.iter().copied().find(|u| u.size == 1.0).unwrap_or(units[0]);
        }
        if self == Quantity::Count && largest < 9_999_999.5 {
            return units[0];
        }
        let fits = |value: f64, least: f64| units.iter().rev().copied().find(|u| value / u.size >= least);
        match fits(smallest, 0.9995) {
            Some(u) if largest / u.size < 99_999.5 => u,
            _ => fits(largest, 0.9995).unwrap_or(units[0]),
        }
    }

    /// One value in a given unit.
    pub(crate) fn text(self, value: f64, unit: Unit) -> String {
        if self == Quantity::Count && unit.size == 1.0 && value.is_finite() && value >= 0.0 {
            return count(value.round() as u64);
        }
        if self == Quantity::Number && value.fract() == 0.0 && value.abs() < 1e7 {
            let sign = if value < 0.0 { "-" } else { "" };
            return format!("{sign}{}", count(value.abs() as u64));
        }
        if self == Quantity::Waf && (0.005..9.995).contains(&value) {
            return format!("{value:.2}");
        }
        significant(value / unit.size)
    }

    /// A mean and half the width of its interval in a given unit. The half-width has one digit, two if the
    /// first is 1, and the mean the same precision; the second text is empty without an interval.
    pub(crate) fn with_spread(self, mean: f64, half_width: Option<f64>, unit: Unit) -> (String, String) {
        let (value, half) = (mean / unit.size, half_width.unwrap_or(0.0) / unit.size);
        if !(half > 0.0 && half.is_finite() && value.is_finite()) {
            return (self.text(mean, unit), String::new());
        }
        // A mean has no more than five digits, and a count no fraction that says nothing.
        let whole = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
        let last = last_digit(half).max(whole - 4);
        (rounded(value, last), rounded(half.max(10f64.powi(last) * 0.5), last))
    }

    /// One value in a suitable unit.
    pub(crate) fn show(self, value: f64) -> String {
        let unit = self.unit_for(std::iter::once(value));
        let text = self.text(value, unit);
        if unit.sign.is_empty() || text == NONE { text } else { format!("{text}{NO_BREAK}{}", unit.sign) }
    }
}

/// A latency in a suitable unit: `412 µs`.
pub(crate) fn latency(us: f64) -> String {
    Quantity::Latency.show(us)
}

/// A size in a suitable unit: `39.3 GiB`.
pub(crate) fn bytes(n: u64) -> String {
    Quantity::Bytes.show(n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_has_no_plural() {
        assert_eq!([0, 1, 72_175].map(requests), ["0 requests", "1 request", "72,175 requests"]);
    }

    #[test]
    fn three_digits_are_significant_whatever_the_size() {
        for (x, text) in [
            (0.0, "0"),
            (0.000_123_4, "0.000123"),
            (0.000_012_34, "0.0000123"),
            (0.000_000_123_4, "1.23e-7"),
            (0.412_3, "0.412"),
            (1.0, "1.00"),
            (9.996, "10.0"),
            (43.25, "43.2"),
            (99.96, "100"),
            (12_712.0, "12,700"),
            (-3.456, "-3.46"),
            (f64::NAN, NONE),
            (f64::INFINITY, NONE),
        ] {
            assert_eq!(significant(x), text, "{x}");
        }
    }

    #[test]
    fn a_row_has_one_unit_in_which_its_values_compare() {
        let unit = |v: &[f64]| Quantity::Latency.unit_for(v.iter().copied()).sign;
        assert_eq!(unit(&[43.0, 1270.0]), "µs");
        assert_eq!(unit(&[1270.0, 43_000.0]), "ms");
        assert_eq!(unit(&[1.0, 5e6]), "s");
        assert_eq!(unit(&[0.0, 0.0]), "µs");
        assert_eq!(unit(&[f64::NAN]), "µs");
        assert_eq!(Quantity::Bytes.show(1024.0 * 1024.0 * 1.5), "1.50\u{a0}MiB");
        assert_eq!(Quantity::Count.show(113_872.0), "113,872");
        assert_eq!(Quantity::Count.show(21e6), "21.0\u{a0}M");
        assert_eq!([-85.0, -1109.0, 0.5].map(|x| Quantity::Number.show(x)), ["-85", "-1,109", "0.500"]);
        assert_eq!(Quantity::Age.show(3.81e-5 * YEAR_S), "20.0\u{a0}min");
        assert_eq!(Quantity::Age.show(3.2 * YEAR_S), "3.20\u{a0}years");
    }

    #[test]
    fn a_mean_ends_where_its_interval_does() {
        let text = |mean, half| {
            let (value, half) = Quantity::Waf.with_spread(mean, Some(half), Quantity::Waf.units()[0]);
            format!("{value} ± {half}")
        };
        assert_eq!(text(1.2345, 0.0412), "1.23 ± 0.04");
        assert_eq!(text(1.2345, 0.0132), "1.234 ± 0.013");
        assert_eq!(text(1.2345, 0.0096), "1.234 ± 0.010");
        assert_eq!(text(3.0, 2.6), "3 ± 3");
        assert_eq!(text(12_712.0, 312.0), "12,700 ± 300");
        assert_eq!(text(12_712.0, 0.01), "12,712 ± 1");
        assert_eq!(text(0.0, 0.25), "0.0 ± 0.2");
        assert_eq!(text(1103.7, 1.4), "1,103.7 ± 1.4");
        let exact = Quantity::Count.with_spread(893.0, Some(0.0), Quantity::Count.units()[0]);
        assert_eq!(exact, ("893".to_string(), String::new()));
    }

    #[test]
    fn a_change_has_a_sign_and_an_interval() {
        assert_eq!(change(-85.93, Some(0.31)), "−85.9 % ± 0.3");
        assert_eq!(change(794.2, Some(12.3)), "+794 % ± 12");
        assert_eq!(change(-0.04, Some(0.2)), "0.0 % ± 0.2");
        assert_eq!(change(1.25, None), "+1.2 %");
        assert_eq!(change(-40.0, Some(1e-9)), "−40.00 % ± 0.01");
        assert_eq!(change(f64::NAN, None), NONE);
    }

    #[test]
    fn ratio_has_two_digits_and_at_most_seven_characters() {
        for x in [0.0, 1e-9, 0.000_96, 0.42, 9.996, 99.97, 1234.0, 1e12, f64::NAN, f64::INFINITY] {
            assert!(ratio(x).chars().count() <= 7, "{}", ratio(x));
        }
        let said = [0.003_13, 0.0097, 0.000_3, 0.0].map(ratio);
        assert_eq!(said, ["0.0031×", "0.01×", "<0.001×", "0.00×"]);
    }
}
