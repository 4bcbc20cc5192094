//! Quantities with their unit in the type: bytes, rates, fractions, energies, counts.

use crate::quantity_text::{QuantityError, split, text_serde, unknown_unit, whole};
use crate::time::SimDuration;
use std::fmt;
use std::str::FromStr;

/// A number of bytes. Prefixes are binary with an `i` (`KiB` = 1024) and decimal without (`kB` = 1000); a letter
/// alone (`16k`) is binary, as in fio and dd.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(pub u64);

const BYTE_UNITS: [(&str, u64); 12] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("KB", 1_000),
    ("kiB", 1 << 10),
    ("byte", 1),
];

impl FromStr for Bytes {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Bytes, QuantityError> {
        const WHAT: &str = "a size such as \"16KiB\"";
        let s = split(text, WHAT)?;
        if s.mantissa == 0 && s.unit.is_empty() {
            return Ok(Bytes(0));
        }
        let letter = BYTE_UNITS[..4].iter().find(|(u, _)| u[..1].eq_ignore_ascii_case(s.unit));
        match BYTE_UNITS.iter().find(|(u, _)| *u == s.unit).or(letter) {
            Some((_, m)) => whole(&s, *m as u128, text, WHAT).map(Bytes),
            None => Err(unknown_unit(text, s.unit, "B, KiB, MiB, GiB, TiB, kB, MB, GB, TB", WHAT)),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, m) = BYTE_UNITS[..5]
            .iter()
            .find(|(_, m)| self.0 >= *m && self.0.is_multiple_of(*m))
            .unwrap_or(&BYTE_UNITS[4]);
        write!(f, "{}{unit}", self.0 / m)
    }
}
text_serde!(Bytes);

/// A rate of transfer as an exact fraction: `bytes` every `nanoseconds`. Zero bytes means that
/// the resource is not modelled and costs no time.
///
/// Text forms: `"1200MB/s"`, `"1.2GiB/s"`, `"333MT/s"` (transfers of one byte; see
/// [`Rate::times_width`]), `"3ns/B"`, `"39ns/128B"`, `"off"`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Rate {
    /// Bytes moved in [`Self::nanoseconds`].
    pub bytes: u64,
    /// The time in which they move, in nanoseconds.
    pub nanoseconds: u64,
}

impl Rate {
    /// Not modelled: every transfer takes no time.
    pub const OFF: Rate = Rate { bytes: 0, nanoseconds: 0 };

    /// Whether transfers take time.
    #[inline(always)]
    pub const fn is_off(self) -> bool {
        self.bytes == 0
    }

    /// Time to move `bytes`, rounded up to a nanosecond: the only place where a rate becomes a time.
    #[inline]
    pub const fn time_for(self, bytes: u64) -> SimDuration {
        if self.is_off() {
            return SimDuration::ZERO;
        }
        match bytes.checked_mul(self.nanoseconds) {
            Some(product) => SimDuration(product.div_ceil(self.bytes)),
            None => {
                SimDuration((bytes as u128 * self.nanoseconds as u128).div_ceil(self.bytes as u128) as u64)
            }
        }
    }

    /// The rate of a bus with `width` bytes per transfer.
    pub const fn times_width(self, width: u64) -> Rate {
        Rate { bytes: self.bytes * width, nanoseconds: self.nanoseconds }
    }

    /// Megabytes (10^6) a second, for display.
    pub fn mb_per_s(self) -> f64 {
        if self.is_off() { f64::INFINITY } else { self.bytes as f64 * 1e3 / self.nanoseconds as f64 }
    }
}

impl FromStr for Rate {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Rate, QuantityError> {
        const WHAT: &str = "a rate such as \"1200MB/s\", \"333MT/s\" or \"3ns/B\"";
        let trimmed = text.trim();
        if trimmed == "off" {
            return Ok(Rate::OFF);
        }
        let fail = |hint: &str| QuantityError { given: text.to_string(), expected: WHAT, hint: hint.into() };
        let Some((left, right)) = trimmed.split_once('/') else {
            return Err(fail("expected a rate with '/', or \"off\""));
        };
        let rate = if right.trim() == "s" {
            let bytes = if let Some(mt) = left.trim().strip_suffix("MT") {
                let s = split(mt, WHAT)?;
                whole(&s, 1_000_000, text, WHAT)?
            } else {
                left.parse::<Bytes>().map_err(|e| fail(&e.hint))?.0
            };
            Rate { bytes, nanoseconds: 1_000_000_000 }
        } else {
            let time: SimDuration = left.parse().map_err(|e: QuantityError| fail(&e.hint))?;
            let right = right.trim();
            let bytes = if right == "B" {
                Bytes(1)
            } else {
                right.parse().map_err(|e: QuantityError| fail(&e.hint))?
            };
            Rate { bytes: bytes.0, nanoseconds: time.0 }
        };
        if rate.bytes == 0 || rate.nanoseconds == 0 {
            return Err(fail("a rate of zero is not possible; write off to disable the resource"));
        }
        if rate.bytes > 1 << 50 || rate.nanoseconds > 1 << 50 {
            return Err(fail("the number is too large"));
        }
        Ok(rate)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_off() {
            f.write_str("off")
        } else if self.nanoseconds == 1_000_000_000 && self.bytes.is_multiple_of(1_000_000) {
            write!(f, "{}MB/s", self.bytes / 1_000_000)
        } else if self.nanoseconds == 1_000_000_000 {
            write!(f, "{}/s", Bytes(self.bytes))
        } else if self.bytes == 1 {
            write!(f, "{}ns/B", self.nanoseconds)
        } else {
            write!(f, "{}ns/{}B", self.nanoseconds, self.bytes)
        }
    }
}
text_serde!(Rate);

/// A fraction in parts per billion, so that thresholds are exact: `"7%"`, `"0.07"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Fraction(pub u64);

impl Fraction {
    /// Nothing.
    pub const ZERO: Fraction = Fraction(0);
    /// The whole.
    pub const ONE: Fraction = Fraction(1_000_000_000);

    /// This many percent.
    pub const fn percent(p: u64) -> Fraction {
        Fraction(p * 10_000_000)
    }

    /// This share of `n`, rounded down.
    #[inline]
    pub const fn of(self, n: u64) -> u64 {
        (n as u128 * self.0 as u128 / Self::ONE.0 as u128) as u64
    }

    /// This share of `n`, rounded up.
    #[inline]
    pub const fn of_ceil(self, n: u64) -> u64 {
        (n as u128 * self.0 as u128).div_ceil(Self::ONE.0 as u128) as u64
    }

    /// Whether this share of `n`, rounded up, is more than `part`.
    #[inline]
    pub const fn exceeds(self, part: u64, n: u64) -> bool {
        part as u128 * (Self::ONE.0 as u128) < n as u128 * self.0 as u128
    }

    /// As a floating-point number.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The hint at a number without unit that is not a share: `50` for 50 % is a common mistake.
    fn without_percent(self) -> Option<String> {
        let times = self.0 / Self::ONE.0;
        let is_meant = self.0.is_multiple_of(Self::ONE.0) && (2..=100).contains(&times);
        is_meant.then(|| {
            format!("{times} without % means {times} times the whole; write {times}% for {times} percent")
        })
    }
}

impl FromStr for Fraction {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Fraction, QuantityError> {
        const WHAT: &str = "a fraction such as \"7%\" or \"0.07\"";
        let s = split(text, WHAT)?;
        match s.unit {
            "%" => whole(&s, 10_000_000, text, WHAT).map(Fraction),
            "" => {
                let share = Fraction(whole(&s, 1_000_000_000, text, WHAT)?);
                match share.without_percent() {
                    Some(hint) => Err(QuantityError { given: text.to_string(), expected: WHAT, hint }),
                    None => Ok(share),
                }
            }
            u => Err(unknown_unit(text, u, "%, or none", WHAT)),
        }
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000_000, self.0 % 10_000_000);
        if rest == 0 {
            write!(f, "{whole}%")
        } else {
            write!(f, "{whole}.{}%", format!("{rest:07}").trim_end_matches('0'))
        }
    }
}
text_serde!(Fraction);

/// An amount of energy in picojoules; for a transfer, per byte.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Energy(pub u64);

impl Energy {
    /// None at all.
    pub const ZERO: Energy = Energy(0);

    const UNITS: [(&'static str, u64); 5] =
        [("J", 1_000_000_000_000), ("mJ", 1_000_000_000), ("uJ", 1_000_000), ("nJ", 1_000), ("pJ", 1)];

    /// Joules, for display and arithmetic on results.
    pub fn as_joules(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl FromStr for Energy {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Energy, QuantityError> {
        const WHAT: &str = "an energy such as \"50uJ\" or \"40pJ\"";
        let s = split(text, WHAT)?;
        let unit = if s.unit == "µJ" { "uJ" } else { s.unit };
        match Energy::UNITS.iter().find(|(name, _)| *name == unit) {
            Some((_, multiplier)) => whole(&s, *multiplier as u128, text, WHAT).map(Energy),
            None => Err(unknown_unit(text, s.unit, "pJ, nJ, uJ, mJ, J", WHAT)),
        }
    }
}

impl fmt::Display for Energy {
    /// In the largest unit in which it is a whole number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Energy::UNITS.iter().find(|(_, size)| self.0 > 0 && self.0.is_multiple_of(*size)) {
            Some((name, size)) => write!(f, "{}{name}", self.0 / size),
            None => write!(f, "{}pJ", self.0),
        }
    }
}
text_serde!(Energy);

/// A plain number with an optional decimal prefix: `"1M"`, `"64k"`, `"4096"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Count(pub u64);

impl FromStr for Count {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Count, QuantityError> {
        const WHAT: &str = "a count such as \"4096\", \"1M\" or \"1e6\"";
        let power = text.trim().split_once(['e', 'E']);
        if let Some((mantissa, exponent)) = power.filter(|(m, _)| m.bytes().any(|c| c.is_ascii_digit())) {
            let s = split(mantissa, WHAT)?;
            let exponent = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok();
            let ten = exponent.filter(|n: &u32| *n <= 19 && s.unit.is_empty()).map(|n| 10u128.pow(n));
            let ten = ten.ok_or_else(|| QuantityError {
                given: text.to_string(),
                expected: WHAT,
                hint: "the exponent must be a whole number from 0 to 19".into(),
            })?;
            return whole(&s, ten, text, WHAT).map(Count);
        }
        let s = split(text, WHAT)?;
        let multiplier = match s.unit {
            "" => 1,
            "k" | "K" => 1_000,
            "M" => 1_000_000,
            "G" => 1_000_000_000,
            u => return Err(unknown_unit(text, u, "k, M, G, or none", WHAT)),
        };
        whole(&s, multiplier, text, WHAT).map(Count)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
text_serde!(Count);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SimTime;

    #[test]
    fn a_decimal_time_is_exact() {
        assert_eq!("1.5us".parse(), Ok(SimDuration(1500)));
        assert_eq!("75020ns".parse(), Ok(SimDuration(75_020)));
        assert_eq!(" 10 ms ".parse(), Ok(SimDuration(10_000_000)));
        assert!("1.5ns".parse::<SimDuration>().is_err());
    }

    #[test]
    fn time_reads_as_it_was_typed() {
        for typed in ["2h", "90min", "36h", "30d", "1.5s", "75us", "0ns", "61s"] {
            assert_eq!(format!("{:#}", typed.parse::<SimDuration>().unwrap()), typed);
        }
        // What is kept with a run stays as it was written.
        assert_eq!(SimDuration(7_200_000_000_000).to_string(), "7200s");
    }

    #[test]
    fn share_exceeds_what_is_below_it_rounded_up() {
        for share in
            [0, 1, 7, 70_000_000, 333_333_333, 999_999_999, 1_000_000_000, 2_000_000_001].map(Fraction)
        {
            for n in [0, 1, 2, 3, 10, 99, 4096, u64::MAX / 4] {
                let rounded = share.of_ceil(n);
                for part in [0, 1, rounded.saturating_sub(1), rounded, rounded + 1] {
                    assert_eq!(share.exceeds(part, n), part < rounded, "{part} of {n} by {share:?}");
                }
            }
        }
    }

    #[test]
    fn a_missing_or_wrong_unit_is_named() {
        let e = "75".parse::<SimDuration>().unwrap_err().to_string();
        assert!(e.contains("the unit is missing; allowed: ns, us"), "{e}");
        let e = "16kb".parse::<Bytes>().unwrap_err().to_string();
        assert!(e.contains("\"kb\" is not one of"), "{e}");
    }

    #[test]
    fn wrong_count_is_quoted_as_typed_with_the_remedy() {
        let said = |text: &str| text.parse::<Count>().unwrap_err().to_string();
        assert!(said("ten").starts_with("\"ten\" is not a count such as"), "{}", said("ten"));
        assert!(said("1,000").ends_with("write it without commas; a point begins the decimals"));
        assert!(said("-5").ends_with("it must not be negative"));
    }

    #[test]
    fn a_share_without_its_sign_is_explained() {
        let read = |text: &str| text.parse::<Fraction>();
        let said = read("50").unwrap_err().to_string();
        assert!(said.ends_with("50 without % means 50 times the whole; write 50% for 50 percent"), "{said}");
        assert_eq!(read("5000%"), Ok(Fraction::percent(5000)));
        assert!(["120%", "1.5", "1", "0.5", "101"].map(read).iter().all(Result::is_ok));
    }

    #[test]
    fn number_errors_of_std_use_our_words() {
        for wrong in ["x", "", "99999999999999999999", "1e3"] {
            let said = wrong.parse::<u64>().unwrap_err().to_string();
            assert_ne!(crate::quantity_text::number_words(&said), said, "{wrong:?}");
        }
        let said = "x".parse::<f64>().unwrap_err().to_string();
        assert_eq!(crate::quantity_text::number_words(&said), "it is not a number, such as 0.5");
        let range = "invalid value '0' for '--times <N>': 0 is not in 1..=1000\n\nFor more";
        let said = crate::quantity_text::number_words(range);
        assert_eq!(said, "invalid value '0' for '--times <N>': it must be from 1 to 1000\n\nFor more");
    }

    #[test]
    fn size_may_be_a_letter_and_count_an_exponent() {
        let sizes =
            [("16k", 16 << 10), ("16K", 16 << 10), ("1.5m", 3 << 19), ("2G", 2 << 30), ("1t", 1 << 40)];
        for (text, bytes) in sizes {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        assert!("16kb".parse::<Bytes>().is_err() && "16x".parse::<Bytes>().is_err());
        assert!("16".parse::<Bytes>().is_err());
        for (text, count) in
            [("1e3", 1_000), ("1.5E6", 1_500_000), ("2e+4", 20_000), ("7e0", 7), ("40k", 40_000)]
        {
            assert_eq!(text.parse(), Ok(Count(count)), "{text}");
        }
        for bad in ["1e-3", "1.5e0", "e3", "1e", "1ke3", "1e99"] {
            assert!(bad.parse::<Count>().is_err(), "{bad}");
        }
    }

    #[test]
    fn instant_is_printed_in_its_unit_to_three_digits() {
        let said = [0, 999, 1_000, 999_999, 113_766_400, 4_711_301_999, 86_400_000_000_000];
        let said = said.map(|ns| SimTime(ns).to_string());
        let is = ["0 ns", "999 ns", "1.000 us", "999.999 us", "113.766 ms", "4.711 s", "86400.000 s"];
        assert_eq!(said, is);
    }

    #[test]
    fn every_quantity_reads_back_what_it_prints() {
        for t in [0, 1, 999, 1000, 1500, 75_020, 750_000, 1_000_000_000, 90_000_000_000, 1_500_000_001] {
            assert_eq!(SimDuration(t).to_string().parse(), Ok(SimDuration(t)), "{t}");
        }
        for b in [0, 1, 512, 1024, 1536, 1 << 30, 3 << 39] {
            assert_eq!(Bytes(b).to_string().parse(), Ok(Bytes(b)), "{b}");
        }
        for r in ["333MB/s", "3ns/B", "39ns/128B", "off", "1GiB/s"] {
            let rate: Rate = r.parse().unwrap();
            assert_eq!(rate.to_string().parse(), Ok(rate), "{r}");
        }
        for p in [0, 1, 70_000_000, 125_000_000, 1_000_000_000] {
            assert_eq!(Fraction(p).to_string().parse(), Ok(Fraction(p)), "{p}");
        }
    }

    #[test]
    fn an_energy_is_exact_and_reads_back_what_it_prints() {
        assert_eq!("1.5nJ".parse(), Ok(Energy(1_500)));
        assert_eq!("50 µJ".parse(), Ok(Energy(50_000_000)));
        assert!("0.5pJ".parse::<Energy>().is_err());
        let e = "50u".parse::<Energy>().unwrap_err().to_string();
        assert!(e.contains("\"u\" is not one of pJ, nJ"), "{e}");
        for e in [0, 1, 1_500, 40_000, 50_000_000, 3_000_000_000_000] {
            assert_eq!(Energy(e).to_string().parse(), Ok(Energy(e)), "{e}");
        }
    }

    #[test]
    fn a_rate_becomes_a_time_rounded_up() {
        let bus: Rate = "333MT/s".parse().unwrap();
        assert_eq!(bus.time_for(8192), SimDuration(24_601)); // 24600.6
        let bus: Rate = "3ns/B".parse().unwrap();
        assert_eq!(bus.time_for(8192), SimDuration(24_576));
        let fast: Rate = "2400MT/s".parse().unwrap();
        assert_eq!(fast.time_for(1), SimDuration(1));
        assert_eq!(fast.times_width(2).time_for(9600), SimDuration(2000));
        let link: Rate = "39ns/128B".parse().unwrap();
        assert_eq!(link.time_for(65_536), SimDuration(19_968));
    }

    #[test]
    fn a_number_too_large_is_refused_not_wrapped() {
        assert!("99999999999999999999s".parse::<SimDuration>().is_err());
        assert!("99999999999999TiB".parse::<Bytes>().is_err());
        assert!("9999999999999999999999999999999999999999999".parse::<Count>().is_err());
    }
}
