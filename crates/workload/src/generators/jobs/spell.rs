//! Values as fio spells them. A size is a whole number with a suffix: `4k` is 4096 bytes and `4kib` is 4000.
//! This is fio's default (`kb_base=1024`) and the reverse of the standards; `kb_base=1000` swaps both. A time
//! is in seconds, or in microseconds for some keys, unless it has a suffix. Values separated by commas are
//! for reads, writes and trims.

/// Reads, writes, trims.
pub(crate) const DIRECTIONS: usize = 3;

/// The meaning of a size suffix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KiloBase {
    /// `k` is 1000 and `kib` 1024.
    Thousand,
    /// `k` is 1024 and `kib` 1000.
    Binary,
}

/// A size in bytes, or a share of a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Amount {
    Bytes(u64),
    Percent(u64),
}

impl Amount {
    /// The size in bytes, given the whole.
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Amount::Bytes(n) => n,
            Amount::Percent(p) => (whole as u128 * p as u128 / 100) as u64,
        }
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Amount::Bytes(n) => write!(f, "{n}"),
            Amount::Percent(p) => write!(f, "{p}%"),
        }
    }
}

fn split_unit(text: &str) -> (&str, String) {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (&text[..digits], text[digits..].trim().to_ascii_lowercase())
}

/// A whole number, decimal or `0x`.
pub(crate) fn whole(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    number.ok_or_else(|| format!("{text:?} is not a whole number"))
}

/// A number of bytes.
pub(crate) fn bytes(text: &str, base: KiloBase) -> Result<u64, String> {
    if text.starts_with("0x") || text.starts_with("0X") {
        return whole(text);
    }
    let (digits, unit) = split_unit(text);
    // Only the full `kib` differs: `ki` means the same as `k`.
    let (letter, other) = match unit.strip_suffix("ib") {
        Some(letter) => (letter, true),
        None => (unit.strip_suffix(['b', 'i']).unwrap_or(&unit), false),
    };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|l| *l == letter);
    let kilo: u64 = if (base == KiloBase::Binary) != other { 1024 } else { 1000 };
    let fail = || format!("{text:?} is not a size such as 4k, 512, 1g or 0x1000");
    let power = power.filter(|p| *p > 0 || !other).ok_or_else(fail)?;
    let number: u64 = digits.parse().map_err(|_| fail())?;
    kilo.checked_pow(power as u32)
        .and_then(|k| k.checked_mul(number))
        .ok_or_else(|| format!("{text:?} exceeds 2^64"))
}

/// Bytes, or a percentage.
pub(crate) fn amount(text: &str, base: KiloBase) -> Result<Amount, String> {
    match text.strip_suffix('%') {
        Some(percent) => match percent.trim().parse() {
            Ok(p) if p <= 100 => Ok(Amount::Percent(p)),
            _ => Err(format!("{text:?} is not a whole percentage from 0% to 100%")),
        },
        None => bytes(text, base).map(Amount::Bytes),
    }
}

/// A time in nanoseconds. `unit` is the unit of a number without a suffix, in nanoseconds.
pub(crate) fn time(text: &str, unit: u64) -> Result<u64, String> {
    let (digits, letters) = split_unit(text);
    let unit = match letters.as_str() {
        "" => unit,
        "d" => 86_400_000_000_000,
        "h" => 3_600_000_000_000,
        "m" => 60_000_000_000,
        "s" => 1_000_000_000,
        "ms" | "msec" => 1_000_000,
        "us" | "usec" => 1_000,
        _ => return Err(format!("{text:?} is not a time such as 30, 10s, 5m, 100ms or 250us")),
    };
    let number: u64 =
        digits.parse().map_err(|_| format!("{text:?} is not a time such as 30, 10s or 100ms"))?;
    number.checked_mul(unit).ok_or_else(|| format!("{text:?} is longer than 580 years"))
}

/// A key without a value, or with 0 or 1.
pub(crate) fn flag(value: Option<&str>) -> Result<bool, String> {
    match value {
        None | Some("1" | "") => Ok(true),
        Some("0") => Ok(false),
        Some(other) => Err(format!("{other:?} is neither 0 nor 1")),
    }
}

/// A real number of 0 or more.
pub(crate) fn real(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|x| x.is_finite() && *x >= 0.0)
        .ok_or_else(|| format!("{text:?} is not a number such as 1.2"))
}

/// Values for reads, writes and trims: one for all, or `reads,writes,trims`. The last one also applies to the
/// directions after it. An empty one keeps the default.
pub(crate) fn by_direction<T: Clone>(
    text: &str,
    default: &[T; DIRECTIONS],
    of: impl Fn(&str) -> Result<T, String>,
) -> Result<[T; DIRECTIONS], String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > DIRECTIONS {
        return Err(format!("{text:?} has more than three values, for reads, writes and trims"));
    }
    let mut all = default.clone();
    for (i, slot) in all.iter_mut().enumerate() {
        let part = parts[i.min(parts.len() - 1)];
        if !part.is_empty() {
            *slot = of(part)?;
        }
    }
    Ok(all)
}

/// `a-b`, or `a` for `a-a`.
pub(crate) fn range<T: Clone>(text: &str, of: impl Fn(&str) -> Result<T, String>) -> Result<(T, T), String> {
    let (low, high) = text.split_once('-').or_else(|| text.split_once(':')).unwrap_or((text, text));
    Ok((of(low.trim())?, of(high.trim())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_fio_reads_them() {
        for (text, binary, thousand) in [
            ("4k", 4096, 4000),
            ("4kib", 4000, 4096),
            ("4ki", 4096, 4000),
            ("2M", 2 << 20, 2_000_000),
            ("1gb", 1 << 30, 1_000_000_000),
            ("512", 512, 512),
            ("0x200", 512, 512),
            ("4KiB", 4000, 4096),
        ] {
            assert_eq!(bytes(text, KiloBase::Binary), Ok(binary), "{text}");
            assert_eq!(bytes(text, KiloBase::Thousand), Ok(thousand), "{text}");
        }
        for bad in ["", "k", "4x", "-4k", "4.5k", "99999999p", "i"] {
            assert!(bytes(bad, KiloBase::Binary).is_err(), "{bad}");
        }
        assert_eq!(amount("50%", KiloBase::Binary), Ok(Amount::Percent(50)));
        assert!(amount("101%", KiloBase::Binary).is_err() && amount("3z", KiloBase::Binary).is_err());
    }

    #[test]
    fn times_have_the_unit_of_their_key() {
        assert_eq!(time("30", 1_000_000_000), Ok(30_000_000_000));
        assert_eq!(time("30", 1_000), Ok(30_000));
        assert_eq!((time("5m", 1), time("100ms", 1)), (Ok(300_000_000_000), Ok(100_000_000)));
        assert!(time("5y", 1).is_err() && time("s", 1).is_err());
    }

    #[test]
    fn last_value_applies_to_the_remaining_directions() {
        let of = |text| by_direction(text, &[0, 0, 0], whole);
        assert_eq!(of("4"), Ok([4, 4, 4]));
        assert_eq!(of("4,8"), Ok([4, 8, 8]));
        assert_eq!(of(",8"), Ok([0, 8, 8]));
        assert_eq!(of("8,"), Ok([8, 0, 0]));
        assert_eq!(of("4,8,16"), Ok([4, 8, 16]));
        assert!(of("1,2,3,4").is_err() && of("a").is_err());
    }
}
