//! Parsing of quantities: the text form of configuration, a number and a unit.
//!
//! Parsing is exact: `"1.5us"` is 1500 ns because the decimal fraction is resolved in integers, and a value
//! that is not a whole number of the base unit is refused, not rounded.

use thiserror::Error;

/// A text that is not the expected quantity.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{given:?} is not {expected}{}", if self.hint.is_empty() { String::new() } else { format!("; {}", self.hint) })]
pub struct QuantityError {
    /// The text as given.
    pub given: String,
    /// The expected quantity, with an example.
    pub expected: &'static str,
    /// How to fix it; may be empty.
    pub hint: String,
}

/// A number split from its unit: `mantissa / 10^scale`, and the unit's text.
pub(crate) struct Split<'a> {
    pub(crate) mantissa: u128,
    scale: u32,
    pub(crate) unit: &'a str,
}

pub(crate) fn split<'a>(text: &'a str, expected: &'static str) -> Result<Split<'a>, QuantityError> {
    let fail = |hint: String| QuantityError { given: text.to_string(), expected, hint };
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() && fraction.is_empty() {
        let below_zero =
            trimmed.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let hint = if below_zero { "it must not be negative" } else { "it must start with a number" };
        return Err(fail(hint.into()));
    }
    if unit.strip_prefix(',').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Err(fail("write it without commas; a point begins the decimals".into()));
    }
    if fraction.contains('.') {
        return Err(fail("more than one decimal point".into()));
    }
    let mantissa = format!("{whole}{fraction}")
        .parse::<u128>()
        .map_err(|_| fail("the number has too many digits".into()))?;
    Ok(Split { mantissa, scale: fraction.len() as u32, unit: unit.trim() })
}

/// `mantissa · multiplier / 10^scale`, refused unless it is a whole 64-bit number.
pub(crate) fn whole(
    s: &Split,
    multiplier: u128,
    text: &str,
    expected: &'static str,
) -> Result<u64, QuantityError> {
    let fail = |hint: &str| QuantityError { given: text.to_string(), expected, hint: hint.into() };
    let scaled = s.mantissa.checked_mul(multiplier).ok_or_else(|| fail("the number is too large"))?;
    let divisor = 10u128.checked_pow(s.scale).ok_or_else(|| fail("the number has too many decimals"))?;
    if !scaled.is_multiple_of(divisor) {
        return Err(fail("it is finer than the resolution of the unit"));
    }
    u64::try_from(scaled / divisor).map_err(|_| fail("the number is too large"))
}

pub(crate) fn unknown_unit(text: &str, unit: &str, allowed: &str, expected: &'static str) -> QuantityError {
    let hint = if unit.is_empty() {
        format!("the unit is missing; allowed: {allowed}")
    } else {
        format!("unit {unit:?} is not one of {allowed}")
    };
    QuantityError { given: text.to_string(), expected, hint }
}

macro_rules! text_serde {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(d)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use text_serde;

/// An actionable message instead of the standard library's words on numbers.
pub fn number_words(message: &str) -> String {
    const WORDS: [(&str, &str); 5] = [
        ("invalid digit found in string", "it must be a whole number, such as 1000"),
        ("cannot parse integer from empty string", "a number is missing"),
        ("number too large to fit in target type", "the number is too large"),
        ("number too small to fit in target type", "the number is too small"),
        ("invalid float literal", "it is not a number, such as 0.5"),
    ];
    in_words(&WORDS.iter().fold(message.to_string(), |said, (words, own)| said.replace(words, own)))
}

/// `0 is not in 1..=1000` as people write it: `it must be from 1 to 1000`.
fn in_words(message: &str) -> String {
    let Some((before, after)) = message.split_once(" is not in ") else { return message.to_string() };
    let length = after.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '='))).unwrap_or(after.len());
    let Some((least, most)) = after[..length].split_once("..=") else { return message.to_string() };
    let start = before.rfind(' ').map_or(0, |at| at + 1);
    format!("{}it must be from {least} to {most}{}", &before[..start], &after[length..])
}

/// The reason of an error of the machine, without the name of a temporary file and the number of the error.
pub fn io_reason(e: &std::io::Error) -> String {
    let text = e.to_string();
    let reason = text.split(" at path ").next().unwrap_or(&text);
    reason.split(" (os error ").next().unwrap_or(reason).to_string()
}

/// `n` with its thousands parted by commas.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
