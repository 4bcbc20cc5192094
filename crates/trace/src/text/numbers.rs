//! Numbers of a trace, from bytes to integers. A time with decimals becomes nanoseconds without
//! floating-point arithmetic, since a double loses the ticks of a Windows time stamp. Digits below a
//! nanosecond are cut off.

pub(crate) use wordline_units::grouped;

/// Why a field is not the expected number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NumberFault {
    Empty,
    Negative,
    NotANumber,
    TooLarge,
}

impl NumberFault {
    /// A sentence about the field called `name`.
    #[cold]
    pub fn of(self, name: &str, field: &[u8]) -> String {
        let shown = excerpt(field, 32);
        match self {
            NumberFault::Empty => format!("the {name} is missing"),
            NumberFault::Negative => format!("the {name} \"{shown}\" is negative"),
            NumberFault::NotANumber => format!("the {name} \"{shown}\" is not a number"),
            NumberFault::TooLarge => format!("the {name} \"{shown}\" is too large"),
        }
    }
}

/// At most `limit` bytes of `text`, with special bytes escaped.
#[cold]
pub(crate) fn excerpt(text: &[u8], limit: usize) -> String {
    let cut = &text[..text.len().min(limit)];
    let dots = if cut.len() < text.len() { "..." } else { "" };
    format!("{}{dots}", cut.escape_ascii())
}

#[cold]
fn fault(text: &[u8]) -> NumberFault {
    match text {
        [] => NumberFault::Empty,
        [b'-', rest @ ..] if !rest.is_empty() && rest.iter().all(|c| c.is_ascii_digit() || *c == b'.') => {
            NumberFault::Negative
        }
        _ if text.iter().all(u8::is_ascii_digit) => NumberFault::TooLarge,
        _ => NumberFault::NotANumber,
    }
}

/// A decimal integer: digits only.
#[inline]
pub(crate) fn unsigned(text: &[u8]) -> Result<u64, NumberFault> {
    if text.is_empty() {
        return Err(NumberFault::Empty);
    }
    match leading(text) {
        Some((value, length)) if length == text.len() => Ok(value),
        _ => any_unsigned(text),
    }
}

/// A number of twenty digits, or an error.
#[cold]
fn any_unsigned(text: &[u8]) -> Result<u64, NumberFault> {
    let mut value = 0u64;
    for &c in text {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 {
            return Err(fault(text));
        }
        value =
            value.checked_mul(10).and_then(|v| v.checked_add(digit as u64)).ok_or(NumberFault::TooLarge)?;
    }
    Ok(value)
}

/// The digits at the start of `text`: their value and number. `None` without digits, or with more than
/// nineteen, which the caller handles on a slower path.
#[inline]
pub(crate) fn leading(text: &[u8]) -> Option<(u64, usize)> {
    let (mut value, mut at) = (0u64, 0);
    while let Some(eight) = text.get(at..at + 8) {
        // Eight digits at a time, as in simdjson: all bytes must be '0' to '9'.
        let mut word = [0; 8];
        word.copy_from_slice(eight);
        let word = u64::from_le_bytes(word);
        let high = word & 0xf0f0_f0f0_f0f0_f0f0;
        let carry = word.wrapping_add(0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0;
        if high != 0x3030_3030_3030_3030 || carry != 0x3030_3030_3030_3030 || at == 16 {
            break;
        }
        let word = (word & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(2561) >> 8;
        let word = (word & 0x00ff_00ff_00ff_00ff).wrapping_mul(6_553_601) >> 16;
        let word = (word & 0x0000_ffff_0000_ffff).wrapping_mul(42_949_672_960_001) >> 32;
        value = value * 100_000_000 + word;
        at += 8;
    }
    while let Some(digit) = text.get(at).map(|c| c.wrapping_sub(b'0')).filter(|d| *d <= 9) {
        if at == 19 {
            return None;
        }
        value = value * 10 + digit as u64;
        at += 1;
    }
    (at > 0).then_some((value, at))
}

/// A hexadecimal integer, with or without `0x`.
#[inline]
pub(crate) fn hexadecimal(text: &[u8]) -> Result<u64, NumberFault> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    if digits.is_empty() {
        return Err(NumberFault::Empty);
    }
    let (mut value, mut lost, mut all) = (0u64, 0u64, 0u8);
    for &c in digits {
        let digit = HEXADECIMAL[c as usize];
        all |= digit;
        lost |= value >> 60;
        value = value << 4 | (digit & 15) as u64;
    }
    match (all, lost) {
        (0..=15, 0) => Ok(value),
        (0..=15, _) => Err(NumberFault::TooLarge),
        _ => Err(NumberFault::NotANumber),
    }
}

/// The values of digits, and 16 for other characters. A branch on each character would be mispredicted in one
/// of three cases.
static HEXADECIMAL: [u8; 256] = {
    let (mut table, mut n) = ([16; 256], 0);
    while n < 16 {
        table[b"0123456789abcdef"[n] as usize] = n as u8;
        table[b"0123456789ABCDEF"[n] as usize] = n as u8;
        n += 1;
    }
    table
};

/// `12`, `12.5`, `.5` of a unit of `unit_ns` nanoseconds, in nanoseconds.
#[inline]
pub(crate) fn time(text: &[u8], unit_ns: u64) -> Result<u64, NumberFault> {
    decimal(text, unit_ns, b'.')
}

/// Digits with an optional decimal point, in units of `unit`, as whole multiples of the target unit.
#[inline]
fn decimal(text: &[u8], unit: u64, point: u8) -> Result<u64, NumberFault> {
    let (whole, decimals) = match leading(text) {
        Some((whole, length)) if length == text.len() => {
            return whole.checked_mul(unit).ok_or(NumberFault::TooLarge);
        }
        Some((whole, length)) if text[length] == point => (whole, &text[length + 1..]),
        _ => any_whole(text, point)?,
    };
    // Decimals beyond the ninth are below a nanosecond for every unit up to a second.
    let (counted, finer) = decimals.split_at(decimals.len().min(9));
    if !finer.iter().all(u8::is_ascii_digit) {
        return Err(NumberFault::NotANumber);
    }
    let billionths = match leading(counted) {
        Some((value, length)) if length == counted.len() => value * TENS[9 - length],
        None if counted.is_empty() => 0,
        _ => return Err(NumberFault::NotANumber),
    };
    // Less than 2^30 times a unit of up to a second fits in 64 bits.
    let part = if unit <= BILLION {
        billionths * unit / BILLION
    } else {
        (billionths as u128 * unit as u128 / BILLION as u128) as u64
    };
    whole.checked_mul(unit).and_then(|n| n.checked_add(part)).ok_or(NumberFault::TooLarge)
}

/// The digits before and after the point, for an empty part before it, twenty digits, or an error.
#[cold]
fn any_whole(text: &[u8], point: u8) -> Result<(u64, &[u8]), NumberFault> {
    let Some(at) = memchr::memchr(point, text) else { return Ok((unsigned(text)?, &[])) };
    match (&text[..at], &text[at + 1..]) {
        ([], []) => Err(NumberFault::NotANumber),
        ([], decimals) => Ok((0, decimals)),
        (whole, decimals) => Ok((unsigned(whole)?, decimals)),
    }
}

const BILLION: u64 = 1_000_000_000;

/// Powers of ten.
pub(crate) const TENS: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// How numbers are written in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Style {
    /// Decimal point or comma.
    pub decimal: u8,
    /// Separator of digit groups.
    pub thousands: Option<u8>,
}

/// Maximum number of characters in a quantity.
const LONGEST_QUANTITY: usize = 64;

/// A decimal number in units of `unit`, with an optional exponent (`1.5e-05`), as whole multiples of the
/// target unit. Finer digits are cut off.
#[inline]
pub(crate) fn quantity(text: &[u8], unit: u64, style: Style) -> Result<u64, NumberFault> {
    decimal(text, unit, style.decimal).or_else(|_| any_quantity(text, unit, style))
}

/// A number with separators or an exponent, or an error.
#[cold]
fn any_quantity(text: &[u8], unit: u64, style: Style) -> Result<u64, NumberFault> {
    if text.len() > LONGEST_QUANTITY {
        return Err(fault(text));
    }
    let (mut plain, mut length) = ([0; LONGEST_QUANTITY], 0);
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let whole = text.iter().position(|c| *c == style.decimal).unwrap_or(text.len());
    for (at, &c) in text.iter().enumerate() {
        if Some(c) == style.thousands {
            // A separator that is not before three digits does not group digits.
            if at == 0 || at >= whole || !(whole - at).is_multiple_of(4) {
                return Err(NumberFault::NotANumber);
            }
            continue;
        }
        plain[length] = match c {
            c if c == style.decimal => b'.',
            // A separator of another kind must not pass as the decimal point.
            b'.' => return Err(NumberFault::NotANumber),
            c => c,
        };
        length += 1;
    }
    let plain = &plain[..length];
    match plain.iter().position(|c| matches!(c, b'e' | b'E')) {
        None => time(plain, unit).map_err(|e| if e == NumberFault::NotANumber { fault(plain) } else { e }),
        Some(at) => scientific(&plain[..at], &plain[at + 1..], unit),
    }
}

/// A mantissa and an exponent of ten.
fn scientific(mantissa: &[u8], exponent: &[u8], unit: u64) -> Result<u64, NumberFault> {
    if mantissa.first() == Some(&b'-') {
        return Err(NumberFault::Negative);
    }
    let (negative, exponent) = match exponent {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let exponent = unsigned(exponent).map_err(|_| NumberFault::NotANumber)?.min(1_000) as i64;
    let dot = mantissa.iter().position(|c| *c == b'.').unwrap_or(mantissa.len());
    let decimals = mantissa.get(dot + 1..).unwrap_or_default();
    let mut digits = 0u128;
    for &c in mantissa[..dot].iter().chain(decimals) {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 {
            return Err(NumberFault::NotANumber);
        }
        digits = digits.checked_mul(10).map(|d| d + digit as u128).ok_or(NumberFault::TooLarge)?;
    }
    if mantissa.len() - usize::from(dot < mantissa.len()) == 0 {
        return Err(NumberFault::NotANumber);
    }
    let power = if negative { -exponent } else { exponent } - decimals.len() as i64;
    let value = digits.checked_mul(unit as u128).ok_or(NumberFault::TooLarge)?;
    let tens = |n: i64| 10u128.checked_pow(n as u32);
    let value = match power {
        0.. if value == 0 => 0,
        0.. => tens(power).and_then(|t| value.checked_mul(t)).ok_or(NumberFault::TooLarge)?,
        _ => tens(-power).map_or(0, |t| value / t),
    };
    u64::try_from(value).map_err(|_| NumberFault::TooLarge)
}

/// `2016-02-21 22:52:25.133`, also with a `T` instead of the space or a `Z` at the end, or `22:52:25.133`
/// alone, in nanoseconds since 1970 or midnight.
pub(crate) fn date(text: &[u8], decimal: u8) -> Result<u64, NumberFault> {
    let text = text.strip_suffix(b"Z").unwrap_or(text);
    let (day, clock) = match text.iter().position(|c| matches!(c, b' ' | b'T')) {
        Some(at) => (Some(&text[..at]), &text[at + 1..]),
        None => (None, text),
    };
    let style = Style { decimal, thousands: None };
    let mut parts = clock.trim_ascii().splitn(3, |c| *c == b':');
    let mut next = || parts.next().ok_or(NumberFault::NotANumber);
    let (hours, minutes, seconds) = (unsigned(next()?)?, unsigned(next()?)?, next()?);
    let seconds = quantity(seconds, 1_000_000_000, style)?;
    let mut days = 0;
    if let Some(day) = day {
        let mut parts = day.splitn(3, |c| matches!(c, b'-' | b'/'));
        let mut next = || unsigned(parts.next().ok_or(NumberFault::NotANumber)?);
        days = days_since_1970(next()?, next()?, next()?).ok_or(NumberFault::NotANumber)?;
    }
    if hours > 23 || minutes > 59 || seconds >= 61_000_000_000 {
        return Err(NumberFault::NotANumber);
    }
    let minutes = (days * 24 + hours) * 60 + minutes;
    minutes.checked_mul(60_000_000_000).and_then(|ns| ns.checked_add(seconds)).ok_or(NumberFault::TooLarge)
}

/// Days of the Gregorian calendar from 1970-01-01, for the years up to 2500.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    const DAYS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let leap = |y: u64| y.is_multiple_of(4) && !y.is_multiple_of(100) || y.is_multiple_of(400);
    let length = DAYS.get((month as usize).checked_sub(1)?)? + u64::from(month == 2 && leap(year));
    if !(1970..=2500).contains(&year) || day == 0 || day > length {
        return None;
    }
    let leaps_to = |y: u64| y / 4 - y / 100 + y / 400;
    let years = (year - 1970) * 365 + leaps_to(year - 1) - leaps_to(1969);
    let months: u64 = DAYS[..month as usize - 1].iter().sum();
    Some(years + months + u64::from(month > 2 && leap(year)) + day - 1)
}

/// Bytes as text: about three digits and a binary prefix.
pub fn readable_bytes(bytes: u64) -> String {
    const STEPS: [(&str, u64); 6] = [
        ("EiB", 1 << 60),
        ("PiB", 1 << 50),
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
    ];
    for (name, size) in STEPS {
        if bytes >= size {
            let value = bytes as f64 / size as f64;
            let decimals = if bytes.is_multiple_of(size) {
                0
            } else if value < 10.0 {
                2
            } else {
                1
            };
            return format!("{value:.decimals$} {name}");
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_in_decimals_is_exact() {
        assert_eq!(time(b"5265.313", 1_000_000), Ok(5_265_313_000));
        assert_eq!(time(b"1456095145.133076000", 1_000_000_000), Ok(1_456_095_145_133_076_000));
        assert_eq!(time(b"0.1", 1_000), Ok(100));
        assert_eq!(time(b".5", 1_000), Ok(500));
        assert_eq!(time(b"7.", 1_000), Ok(7_000));
        assert_eq!(time(b"0.0000000019", 1_000_000_000), Ok(1));
        assert_eq!(time(b"938513000", 1), Ok(938_513_000));
    }

    #[test]
    fn leading_digits_are_read_up_to_the_first_other_byte() {
        for text in ["7", "12345678", "123456789", "128166386783630075", "1234567890123456789", "0"] {
            for end in [",x", " 12345678", "", "/", ":"] {
                let line = format!("{text}{end}");
                assert_eq!(leading(line.as_bytes()), Some((text.parse().unwrap(), text.len())), "{line}");
            }
        }
        assert_eq!(leading(b"12345678901234567890"), None);
        assert_eq!(leading(b""), None);
        assert_eq!(leading(b",1"), None);
    }

    #[test]
    fn what_is_no_number_is_named_as_such() {
        assert_eq!(unsigned(b""), Err(NumberFault::Empty));
        assert_eq!(unsigned(b"-5"), Err(NumberFault::Negative));
        assert_eq!(unsigned(b"12x"), Err(NumberFault::NotANumber));
        assert_eq!(unsigned(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(unsigned(b"18446744073709551616"), Err(NumberFault::TooLarge));
        assert_eq!(unsigned(b"99999999999999999999999"), Err(NumberFault::TooLarge));
        assert_eq!(time(b"1.2.3", 1), Err(NumberFault::NotANumber));
        assert_eq!(time(b".", 1), Err(NumberFault::NotANumber));
        assert_eq!(time(b"1e5", 1), Err(NumberFault::NotANumber));
        assert_eq!(time(b"99999999999999999999.5", 1), Err(NumberFault::TooLarge));
        assert_eq!(time(b"99999999999", 1_000_000_000), Err(NumberFault::TooLarge));
        assert_eq!(hexadecimal(b"2a"), Ok(0x2a));
        assert_eq!(hexadecimal(b"0xAA"), Ok(0xaa));
        assert_eq!(hexadecimal(b"11112222333344445"), Err(NumberFault::TooLarge));
        assert_eq!(hexadecimal(b"0x"), Err(NumberFault::Empty));
    }

    #[test]
    fn quantities_are_read_in_the_style_of_the_text() {
        let point = Style { decimal: b'.', thousands: None };
        let german = Style { decimal: b',', thousands: Some(b'.') };
        assert_eq!(quantity(b"1.234,5", 1_000, german), Ok(1_234_500));
        assert_eq!(
            quantity(b"1,234.5", 1_000, Style { decimal: b'.', thousands: Some(b',') }),
            Ok(1_234_500)
        );
        assert_eq!(quantity(b"1.5e-05", 1_000_000_000, point), Ok(15_000));
        assert_eq!(quantity(b"1.5E+3", 1, point), Ok(1_500));
        assert_eq!(quantity(b"0e999", 1, point), Ok(0));
        assert_eq!(quantity(b"1e-999", 1, point), Ok(0));
        assert_eq!(quantity(b"18446744073709551615", 1, point), Ok(u64::MAX));
        for (text, want) in [
            (&b"1,5"[..], NumberFault::NotANumber),
            (b"1e999", NumberFault::TooLarge),
            (b"1e", NumberFault::NotANumber),
            (b".e5", NumberFault::NotANumber),
            (b"-1.5", NumberFault::Negative),
            (b"", NumberFault::Empty),
            (b"1.2.3", NumberFault::NotANumber),
            (b"0x12", NumberFault::NotANumber),
            (b"18446744073709551616", NumberFault::TooLarge),
        ] {
            assert_eq!(quantity(text, 1, point), Err(want), "{}", excerpt(text, 40));
        }
        for wrong in [&b"1.5"[..], b"1.23.456", b".123", b"1,234.5"] {
            assert_eq!(quantity(wrong, 1_000, german), Err(NumberFault::NotANumber));
        }
        assert_eq!(quantity(b"1.234.567", 1, german), Ok(1_234_567));
        let comma = Style { decimal: b',', thousands: None };
        assert_eq!(quantity(b"1.5", 1_000, comma), Err(NumberFault::NotANumber));
    }

    #[test]
    fn a_date_is_nanoseconds_since_1970() {
        assert_eq!(date(b"1970-01-01 00:00:00", b'.'), Ok(0));
        assert_eq!(date(b"2016-02-21T22:52:25.133076Z", b'.'), Ok(1_456_095_145_133_076_000));
        assert_eq!(date(b"2000/03/01 00:00:00,5", b','), Ok(951_868_800_500_000_000));
        assert_eq!(date(b"2024-02-29 23:59:60", b'.'), Ok(1_709_251_200_000_000_000));
        assert_eq!(date(b"01:00:00.000000001", b'.'), Ok(3_600_000_000_001));
        for bad in [&b"2023-02-29 00:00:00"[..], b"2016-13-01 00:00:00", b"2016-02-21", b"24:00:00", b""] {
            assert!(date(bad, b'.').is_err(), "{}", excerpt(bad, 40));
        }
    }

    #[test]
    fn sizes_and_counts_read_well() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
        assert_eq!(readable_bytes(512), "512 B");
        assert_eq!(readable_bytes(4096), "4 KiB");
        assert_eq!(readable_bytes(1_610_612_736), "1.50 GiB");
    }
}
