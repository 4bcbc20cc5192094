//! Values of a job's keys that are lists, or mean nothing.

use crate::generators::jobs::ini::Line;
use crate::generators::jobs::job::Sizes;
use crate::generators::jobs::spell::{DIRECTIONS, by_direction, whole};
use wordline_units::LBA_BYTES;

/// A key that cannot be honoured, with a value that asks for nothing.
pub(crate) fn harmless(line: &Line) -> bool {
    let value = line.value.as_deref();
    match line.key.as_str() {
        "nrfiles"
        | "iodepth_batch"
        | "iodepth_batch_submit"
        | "iodepth_batch_complete"
        | "iodepth_batch_complete_min" => value == Some("1"),
        "zonemode" => value == Some("none"),
        "sync" => matches!(value, Some("0" | "none")),
        _ => value == Some("0"),
    }
}

pub(crate) fn percentage(p: u64, text: &str) -> Result<u64, String> {
    if p <= 100 { Ok(p) } else { Err(format!("{text:?} is above 100 percent")) }
}

pub(crate) fn sector_multiple(bytes: u64) -> Result<u64, String> {
    if bytes > 0 && bytes.is_multiple_of(LBA_BYTES) {
        Ok(bytes)
    } else {
        Err(format!("{bytes} is not a multiple of 512 B, which a drive takes at least"))
    }
}

/// Percentages; those not given share what the others leave.
pub(crate) fn shared(given: &[Option<u32>], text: &str) -> Result<Vec<u32>, String> {
    let sum: u32 = given.iter().flatten().sum();
    let open = given.iter().filter(|p| p.is_none()).count() as u32;
    if sum > 100 {
        return Err(format!("the percentages of {text:?} are more than 100"));
    }
    let (mut left, each) = ((100 - sum).checked_rem(open), (100 - sum).checked_div(open));
    let of = |p: &Option<u32>| {
        p.unwrap_or_else(|| {
            let one = u32::from(left.is_some_and(|l| l > 0));
            left = left.map(|l| l - one);
            each.unwrap_or_default() + one
        })
    };
    Ok(given.iter().map(of).collect())
}

/// `4k/60:64k/40`.
pub(crate) fn split(text: &str, size: impl Fn(&str) -> Result<u64, String>) -> Result<Sizes, String> {
    let (mut sizes, mut given) = (vec![], vec![]);
    for part in text.split(':').filter(|p| !p.is_empty()) {
        let (bytes, share) = part.split_once('/').unwrap_or((part, ""));
        sizes.push(size(bytes.trim())?);
        given.push(match share.trim() {
            "" => None,
            p => Some(whole(p).and_then(|n| percentage(n, p))? as u32),
        });
    }
    let shares = shared(&given, text)?;
    if shares.iter().sum::<u32>() != 100 {
        return Err(format!("the percentages of {text:?} do not add up to 100"));
    }
    let split: Vec<(u64, u32)> = sizes.into_iter().zip(shares).filter(|(_, share)| *share > 0).collect();
    let sizes = || split.iter().map(|s| s.0);
    let (Some(min), Some(max)) = (sizes().min(), sizes().max()) else {
        return Err(format!("{text:?} has no sizes"));
    };
    Ok(Sizes { min, max, split })
}

/// `60/10:30/20:10/70`, for reads, writes and trims.
pub(crate) fn zones(
    text: &str,
    size: impl Fn(&str) -> Result<u64, String>,
) -> Result<[Vec<(u32, u64)>; DIRECTIONS], String> {
    by_direction(text, &[vec![], vec![], vec![]], |text| {
        let (mut given, mut sizes) = (vec![], vec![]);
        for part in text.split(':').filter(|p| !p.is_empty()) {
            let (access, bytes) =
                part.split_once('/').ok_or_else(|| format!("{part:?} is not ACCESS/SIZE such as 60/10"))?;
            given.push(match access.trim() {
                "" => None,
                p => Some(whole(p).and_then(|n| percentage(n, p))? as u32),
            });
            sizes.push(size(bytes.trim())?);
        }
        let shares = shared(&given, text)?;
        if shares.iter().sum::<u32>() != 100 {
            return Err(format!("the accesses of {text:?} do not add up to 100"));
        }
        Ok(shares.into_iter().zip(sizes).collect())
    })
}
