//! Which logical pages of a plane are mapped.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The logical pages that one plane holds, in the order of their numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Residents {
    All,
    /// All but a run of positions within the plane.
    AllBut(Range<u32>),
    Some(Listed),
}

/// Positions within a plane of the pages that are mapped, increasing, and a bit for each position.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<u32>", into = "Vec<u32>")]
pub(crate) struct Listed {
    positions: Vec<u32>,
    /// For each 64 positions those that are mapped, and how many are before them.
    words: Vec<(u64, u32)>,
}

impl From<Vec<u32>> for Listed {
    fn from(positions: Vec<u32>) -> Listed {
        let end = positions.last().map_or(0, |last| last / 64 + 1);
        let mut words = vec![(0, 0); end as usize];
        for (position, before) in positions.iter().zip(0..) {
            let word: &mut (u64, u32) = &mut words[(position / 64) as usize];
            *word = (word.0 | 1 << (position % 64), if word.0 == 0 { before } else { word.1 });
        }
        Listed { positions, words }
    }
}

impl From<Listed> for Vec<u32> {
    fn from(listed: Listed) -> Vec<u32> {
        listed.positions
    }
}

impl Listed {
    fn find(&self, position: u32) -> Option<u32> {
        let (word, before) = self.words.get((position / 64) as usize)?;
        let bit = 1 << (position % 64);
        (word & bit != 0).then(|| before + (word & (bit - 1)).count_ones())
    }
}

impl Residents {
    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        match self {
            Residents::All | Residents::AllBut(_) => 0,
            Residents::Some(Listed { positions, words }) => {
                (size_of_val(positions.as_slice()) + size_of_val(words.as_slice())) as u64
            }
        }
    }

    /// The position of the page with a number.
    #[inline]
    pub fn position(&self, at: u32) -> u32 {
        match self {
            Residents::All => at,
            Residents::AllBut(gap) => at + if at < gap.start { 0 } else { gap.end - gap.start },
            Residents::Some(list) => list.positions[at as usize],
        }
    }

    /// The number of the page at a position.
    pub fn find(&self, position: u32) -> Option<u32> {
        match self {
            Residents::All => Some(position),
            Residents::AllBut(gap) if gap.contains(&position) => None,
            Residents::AllBut(gap) => {
                Some(position - if position < gap.start { 0 } else { gap.end - gap.start })
            }
            Residents::Some(list) => list.find(position),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_page_is_found_where_a_search_finds_it() {
        for positions in [vec![], vec![0], vec![63, 64, 65, 127, 128, 4095], (0..700).step_by(7).collect()] {
            let listed = Listed::from(positions.clone());
            for position in 0..5000 {
                let found = positions.binary_search(&position).ok().map(|at| at as u32);
                assert_eq!(listed.find(position), found, "position {position} of {positions:?}");
            }
            assert_eq!(Vec::from(listed), positions);
        }
    }
}
