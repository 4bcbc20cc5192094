//! Values of a job's keys that are lists or have no effect.

use crate::generators::jobs::ini::Line;
use crate::generators::jobs::job::Sizes;
use crate::generators::jobs::spell::{DIRECTIONS, by_direction, whole};
use wordline_units::LBA_BYTES;

/// Whether an unsupported key has a value without effect.
pub(crate) fn harmless(line: &Line) -> bool {
    let value = line.value.as_deref();
    match line.key.as_str() {
        "nrfiles" | "nr_files" | "num_range" => value == Some("1"),
        "write_mode" => value == Some("write"),
        "verify_mode" => value == Some("read"),
        _ => value == Some("0"),
    }
}

pub(crate) fn percentage(p: u64, text: &str) -> Result<u64, String> {
    if p <= 100 { Ok(p) } else { Err(format!("{text:?} exceeds 100 percent")) }
}

pub(crate) fn sector_multiple(bytes: u64) -> Result<u64, String> {
    if bytes > 0 && bytes.is_multiple_of(LBA_BYTES) {
        Ok(bytes)
    } else {
        Err(format!("{bytes} is not a multiple of 512 B"))
    }
}

/// Percentages as in fio: those not given share equally what the others leave, if anything.
fn filled(given: &[Option<u32>], text: &str) -> Result<Vec<u32>, String> {
    let sum: u32 = given.iter().flatten().sum();
    let open = given.iter().filter(|p| p.is_none()).count() as u32;
    if sum > 100 && open > 0 {
        return Err(format!("the percentages of {text:?} exceed 100, which leaves none for the others"));
    }
    let each = if given.len() == 1 { 100 } else { 100u32.saturating_sub(sum).checked_div(open).unwrap_or(0) };
    Ok(given.iter().map(|p| p.unwrap_or(each)).collect())
}

/// An optional percentage. As in fio, 0 counts as not given.
fn share(text: &str) -> Result<Option<u32>, String> {
    match text.trim() {
        "" => Ok(None),
        p => Ok(Some(whole(p).and_then(|n| percentage(n, p))? as u32).filter(|n| *n > 0)),
    }
}

/// `4k/60:64k/40`. fio sorts the shares in ascending order and draws from 1 to 100. If the shares do not add
/// up to 100, the largest takes up the difference.
pub(crate) fn split(text: &str, size: impl Fn(&str) -> Result<u64, String>) -> Result<Sizes, String> {
    let (mut sizes, mut given) = (vec![], vec![]);
    for part in text.split(':').take_while(|p| !p.is_empty()) {
        let (bytes, percent) = part.split_once('/').unwrap_or((part, ""));
        sizes.push(size(bytes.trim())?);
        given.push(share(percent)?);
    }
    let (Some(min), Some(max)) = (sizes.iter().min().copied(), sizes.iter().max().copied()) else {
        return Err(format!("{text:?} has no sizes"));
    };
    let mut split: Vec<(u64, u32)> = sizes.into_iter().zip(filled(&given, text)?).collect();
    let mut ascending: Vec<&mut (u64, u32)> = split.iter_mut().collect();
    ascending.sort_by_key(|s| s.1);
    let mut left = 100;
    for (_, share) in &mut ascending {
        *share = (*share).min(left);
        left -= *share;
    }
    if let Some((_, largest)) = ascending.last_mut() {
        *largest += left;
    }
    split.retain(|s| s.1 > 0);
    Ok(Sizes { min, max, split })
}

/// `60/10:30/20:10/70`, for reads, writes and trims. Sizes not given share equally what the others leave of
/// `whole_size`, if that is known.
pub(crate) fn zones(
    text: &str,
    whole_size: Option<u64>,
    size: impl Fn(&str) -> Result<u64, String>,
) -> Result<[Vec<(u32, u64)>; DIRECTIONS], String> {
    by_direction(text, &[vec![], vec![], vec![]], |text| {
        let (mut shares, mut sizes) = (vec![], vec![]);
        for part in text.split(':').take_while(|p| !p.is_empty()) {
            let (access, bytes) = part.split_once('/').unwrap_or((part, ""));
            shares.push(whole(access.trim()).and_then(|n| percentage(n, access))? as u32);
            let bytes = if bytes.trim().is_empty() { None } else { Some(size(bytes.trim())?) };
            // As in fio, a size of 0 percent counts as not given.
            sizes.push(bytes.filter(|b| *b > 0 || whole_size.is_none()));
        }
        if shares.iter().sum::<u32>() != 100 {
            return Err(format!("the accesses of {text:?} do not add up to 100"));
        }
        let given: u64 = sizes.iter().flatten().fold(0, |a, b| a.saturating_add(*b));
        let open = sizes.iter().filter(|s| s.is_none()).count() as u64;
        let each = match whole_size {
            Some(all) if given > all => {
                return Err(format!("the sizes of {text:?} exceed {all} percent"));
            }
            Some(all) => (all - given).checked_div(open).unwrap_or(0),
            None if open > 0 => return Err(format!("a zone of {text:?} has no size")),
            None => 0,
        };
        Ok(shares.into_iter().zip(sizes.into_iter().map(|s| s.unwrap_or(each))).collect())
    })
}
