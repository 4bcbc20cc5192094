//! A set of sectors, stored in words of 64.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of sectors, by their numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sectors(BTreeMap<u64, u64>);

impl Sectors {
    /// Insert all sectors of a range.
    pub fn insert(&mut self, sectors: Range<u64>) {
        words(sectors).for_each(|(word, bits)| *self.0.entry(word).or_default() |= bits);
    }

    /// Insert all sectors of a range that are not in `except`.
    pub fn insert_except(&mut self, sectors: Range<u64>, except: &Sectors) {
        for (word, bits) in words(sectors) {
            let bits = bits & !except.0.get(&word).copied().unwrap_or(0);
            if bits != 0 {
                *self.0.entry(word).or_default() |= bits;
            }
        }
    }

    /// Whether it contains a sector.
    pub fn contains(&self, sector: u64) -> bool {
        self.0.get(&(sector / 64)).is_some_and(|bits| bits >> (sector % 64) & 1 == 1)
    }

    /// Remove a range.
    pub fn remove(&mut self, sectors: Range<u64>) {
        for (word, bits) in words(sectors) {
            if let Some(here) = self.0.get_mut(&word) {
                *here &= !bits;
                if *here == 0 {
                    self.0.remove(&word);
                }
            }
        }
    }

    /// Whether it contains any sector of a range.
    pub fn meets(&self, sectors: Range<u64>) -> bool {
        let mut here = self.0.range(words_of(&sectors));
        here.any(|(word, here)| here & bits_of(*word, &sectors) != 0)
    }

    /// All sectors, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().flat_map(|(word, bits)| {
            (0..64).filter(move |at| bits >> at & 1 == 1).map(move |at| word * 64 + at)
        })
    }
}

/// The words that a range touches; none for an empty range.
fn words_of(sectors: &Range<u64>) -> Range<u64> {
    let end = if sectors.is_empty() { sectors.start / 64 } else { sectors.end.div_ceil(64) };
    sectors.start / 64..end
}

/// The bits of a range in a word.
fn bits_of(word: u64, sectors: &Range<u64>) -> u64 {
    let (from, to) = (sectors.start.max(word * 64), sectors.end.min((word + 1) * 64));
    (u64::MAX >> (64 - (to - from))) << (from % 64)
}

/// The words that a range touches, each with its bits.
fn words(sectors: Range<u64>) -> impl Iterator<Item = (u64, u64)> {
    words_of(&sectors).map(move |word| (word, bits_of(word, &sectors)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_inserted_found_and_removed() {
        let mut set = Sectors::default();
        set.insert(60..70);
        set.insert(200..200);
        assert_eq!(set.iter().collect::<Vec<_>>(), (60..70).collect::<Vec<_>>());
        assert!(set.contains(63) && set.contains(64) && !set.contains(59) && !set.contains(70));
        assert!(set.meets(69..200) && set.meets(0..61) && !set.meets(0..60) && !set.meets(70..700));
        let mut other = Sectors::default();
        other.insert_except(0..128, &set);
        assert_eq!(other.iter().count(), 118);
        set.remove(60..70);
        assert_eq!(set, Sectors::default(), "an empty word is not kept");
    }
}
