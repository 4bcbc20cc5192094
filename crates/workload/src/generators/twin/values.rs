//! How numbers are spelled in a twin's file: means, sizes, addresses, lists separated by slashes.

use crate::generators::twin::description::{FARTHEST, LONGEST};
use std::str::FromStr;
use wordline_units::{Bytes, Fraction, LBA_BYTES, SimDuration};

/// A number of bytes that need not be whole, such as a mean.
pub(crate) struct Average(pub f64);

impl FromStr for Average {
    type Err = String;
    fn from_str(text: &str) -> Result<Average, String> {
        let fail = || format!("{text:?} is not a mean size such as \"8.59KiB\"");
        let at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(fail)?;
        let unit = Bytes::from_str(&format!("1{}", &text[at..])).map_err(|_| fail())?;
        let number: f64 = text[..at].trim().parse().map_err(|_| fail())?;
        if number.is_finite() && number > 0.0 { Ok(Average(number * unit.0 as f64)) } else { Err(fail()) }
    }
}

/// Parts separated by slashes.
pub(crate) struct Slashed<T>(pub Vec<T>);

impl FromStr for Slashed<f64> {
    type Err = String;
    fn from_str(text: &str) -> Result<Slashed<f64>, String> {
        let numbers = text.split('/').map(|t| {
            let number = t.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
            number.ok_or_else(|| format!("{t:?} is not a number of 0 or more"))
        });
        let numbers = numbers.collect::<Result<Vec<f64>, String>>()?;
        if numbers.iter().sum::<f64>() > 0.0 {
            Ok(Slashed(numbers))
        } else {
            Err(format!("{text:?} is all 0; one value must be above 0"))
        }
    }
}

/// Numbers of any sign, separated by slashes.
pub(crate) struct Numbers(pub Vec<f64>);

impl FromStr for Numbers {
    type Err = String;
    fn from_str(text: &str) -> Result<Numbers, String> {
        let number = |t: &str| {
            let number = t.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            number.ok_or_else(|| format!("{t:?} is not a number"))
        };
        text.split('/').map(number).collect::<Result<_, _>>().map(Numbers)
    }
}

/// Lengths of windows, ascending, separated by slashes.
pub(crate) struct Lengths(pub Vec<SimDuration>);

impl FromStr for Lengths {
    type Err = String;
    fn from_str(text: &str) -> Result<Lengths, String> {
        let length = |t: &str| t.trim().parse::<SimDuration>().map_err(|e| e.to_string());
        let lengths = text.split('/').map(length).collect::<Result<Vec<_>, String>>()?;
        if lengths[0].0 == 0 || lengths.windows(2).any(|w| w[0] >= w[1]) {
            return Err(format!("{text:?} are not ascending lengths above 0, such as \"10ms/1s/100s\""));
        }
        Ok(Lengths(lengths))
    }
}

impl FromStr for Slashed<(u32, f64)> {
    type Err = String;
    fn from_str(text: &str) -> Result<Slashed<(u32, f64)>, String> {
        let part = |t: &str| {
            let (size, weight) = t.split_once('@').unwrap_or((t, "1"));
            let blocks = blocks(size.trim())?;
            let weight = weight.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w > 0.0);
            let weight =
                weight.ok_or_else(|| format!("{t:?} has no weight above 0, such as 66 after the @"))?;
            Ok::<_, String>((blocks as u32, weight))
        };
        text.split('/').map(part).collect::<Result<Vec<_>, String>>().map(Slashed)
    }
}

/// Numbers of requests with their weights.
pub(crate) struct Counts(pub Vec<(u32, f64)>);

impl FromStr for Counts {
    type Err = String;
    fn from_str(text: &str) -> Result<Counts, String> {
        let part = |t: &str| {
            let (count, weight) = t.split_once('@').unwrap_or((t, "1"));
            let count = count.trim().parse::<u32>().ok().filter(|n| *n > 0);
            let count =
                count.ok_or_else(|| format!("{t:?} is not a number of requests above 0, such as 8@3"))?;
            let weight = weight.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w > 0.0);
            let weight =
                weight.ok_or_else(|| format!("{t:?} has no weight above 0, such as 3 after the @"))?;
            Ok::<_, String>((count, weight))
        };
        text.split('/').map(part).collect::<Result<Vec<_>, String>>().map(Counts)
    }
}

/// A size in blocks: whole and not 0.
pub(crate) fn blocks(text: &str) -> Result<u64, String> {
    let Bytes(bytes) = text.parse().map_err(|e: wordline_units::QuantityError| e.to_string())?;
    if bytes == 0 || !bytes.is_multiple_of(LBA_BYTES) || bytes / LBA_BYTES > LONGEST {
        return Err(format!("{text:?} is not a multiple of 512 B from 512 B to 4 GiB"));
    }
    Ok(bytes / LBA_BYTES)
}

/// An address in blocks.
pub(crate) struct Address(pub u64);

impl FromStr for Address {
    type Err = String;
    fn from_str(text: &str) -> Result<Address, String> {
        let Bytes(bytes) = text.parse().map_err(|e: wordline_units::QuantityError| e.to_string())?;
        if !bytes.is_multiple_of(LBA_BYTES) || bytes > FARTHEST {
            return Err(format!("{text:?} is not a multiple of 512 B from 0 B to 8 EiB"));
        }
        Ok(Address(bytes / LBA_BYTES))
    }
}

pub(crate) struct Blocks(pub u64);

impl FromStr for Blocks {
    type Err = String;
    fn from_str(text: &str) -> Result<Blocks, String> {
        blocks(text).map(Blocks)
    }
}

/// `from..to`, both shares.
pub(crate) struct Range(pub Fraction, pub Fraction);

impl FromStr for Range {
    type Err = String;
    fn from_str(text: &str) -> Result<Range, String> {
        let fail = || format!("{text:?} is not a range such as \"53%..80%\"");
        let (from, to) = text.split_once("..").ok_or_else(fail)?;
        let share = |t: &str| t.trim().parse::<Fraction>().ok().filter(|f| *f <= Fraction::ONE);
        match (share(from), share(to)) {
            (Some(from), Some(to)) if from <= to => Ok(Range(from, to)),
            _ => Err(fail()),
        }
    }
}

/// `SIZE@SHARE`: a cache and its hit rate.
pub(crate) struct Hit(pub u64, pub Fraction);

impl FromStr for Hit {
    type Err = String;
    fn from_str(text: &str) -> Result<Hit, String> {
        let fail = || format!("{text:?} is not a cache with its hit rate, such as \"0.2GiB@54.4%\"");
        let (size, share) = text.split_once('@').ok_or_else(fail)?;
        let size: Average = size.trim().parse().map_err(|_| fail())?;
        let share = share.trim().parse::<Fraction>().ok().filter(|f| *f <= Fraction::ONE).ok_or_else(fail)?;
        Ok(Hit(size.0 as u64, share))
    }
}

/// `WINDOW@DISPERSION`: a length and the variance over mean of the counts in such windows.
pub(crate) struct Spread(pub SimDuration, pub f64);

impl FromStr for Spread {
    type Err = String;
    fn from_str(text: &str) -> Result<Spread, String> {
        let fail = || format!("{text:?} is not a window with its dispersion, such as \"1s@77.5\"");
        let (window, dispersion) = text.split_once('@').ok_or_else(fail)?;
        let window = window.trim().parse().map_err(|_| fail())?;
        let dispersion: f64 = dispersion.trim().parse().map_err(|_| fail())?;
        if dispersion.is_finite() && dispersion >= 0.0 { Ok(Spread(window, dispersion)) } else { Err(fail()) }
    }
}
