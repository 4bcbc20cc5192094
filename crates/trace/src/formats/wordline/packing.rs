//! Packs numbers to the bits that they need, and unpacks them.

use crate::formats::wordline::layout::{GROUP, WIDEST};

/// Bits that a number needs. A number that a single load cannot reach takes all 64.
pub(crate) fn bits(n: u64) -> u32 {
    match 64 - n.leading_zeros() {
        width @ 0..=WIDEST => width,
        _ => 64,
    }
}

pub(crate) const fn packed_bytes(values: usize, width: u32) -> usize {
    (values * width as usize).div_ceil(8)
}

pub(crate) fn pack(values: &[u64], width: u32, out: &mut Vec<u8>) {
    let (mut word, mut filled) = (0u128, 0);
    for value in values {
        word |= (*value as u128) << filled;
        filled += width;
        while filled >= 8 {
            out.push(word as u8);
            word >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        out.push(word as u8);
    }
}

pub(crate) fn width_of(group: &[u64]) -> u32 {
    bits(group.iter().fold(0, |all, v| all | v))
}

/// Bytes of a column in groups.
pub(crate) fn grouped_bytes(values: &[u64]) -> usize {
    values.chunks(GROUP).map(|g| 1 + packed_bytes(g.len(), width_of(g))).sum()
}

pub(crate) fn write_column(values: &[u64], out: &mut Vec<u8>) {
    let plain = grouped_bytes(values);
    let mut entries: Vec<u64> = Vec::new();
    for value in values {
        if let Err(at) = entries.binary_search(value) {
            if entries.len() == 256 {
                break;
            }
            entries.insert(at, *value);
        }
    }
    let place = |value: &u64| entries.binary_search(value).ok().map(|at| at as u64);
    let width = bits(entries.len() as u64 - 1);
    let named = 1 + entries.len() * 8 + packed_bytes(values.len(), width);
    let places: Option<Vec<u64>> = (named < plain).then(|| values.iter().map(place).collect()).flatten();
    match places {
        Some(places) => {
            out.extend([1, (entries.len() - 1) as u8]);
            entries.iter().for_each(|e| out.extend(e.to_le_bytes()));
            pack(&places, width, out);
        }
        None => {
            out.push(0);
            for group in values.chunks(GROUP) {
                let width = width_of(group);
                out.push(width as u8);
                pack(group, width, out);
            }
        }
    }
}

pub(crate) fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

#[inline]
pub(crate) fn unzigzag(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

/// Appends `values` values of `width` bits each. `bytes` must have [`MARGIN`] bytes after them.
#[inline]
pub(crate) fn unpack(bytes: &[u8], width: u32, values: usize, out: &mut Vec<u64>) {
    if width == 0 {
        out.resize(out.len() + values, 0);
        return;
    }
    let mask = u64::MAX >> (64 - width);
    let width = width as usize;
    out.extend((0..values).map(|n| {
        let bit = n * width;
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[bit / 8..bit / 8 + 8]);
        u64::from_le_bytes(word) >> (bit % 8) & mask
    }));
}
