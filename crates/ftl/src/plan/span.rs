//! Sectors of pages, and their places.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};
use wordline_units::{Lpn, Ppn, SectorMask};

/// Some sectors of one logical page in one place. Sector `s` of the page is physical sector `s` of the place
/// under a page map; under a sector map they are consecutive from `offset` on, in increasing order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Span {
    /// The logical page.
    pub lpn: Lpn,
    /// Its sectors.
    pub mask: SectorMask,
    /// First physical sector within the place (sector maps only).
    pub offset: u8,
}

/// Sectors of one logical page and the place that holds them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Located {
    /// The place.
    pub ppn: Ppn,
    /// The sectors of the page that lie there.
    pub mask: SectorMask,
}

/// Sectors that a commit or a trim invalidated at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Invalidated {
    pub ppn: Ppn,
    pub sectors: u32,
}

/// Sectors invalidated by a change of the map: one place for a page map, usually few for others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dead {
    first: Option<Invalidated>,
    more: Vec<Invalidated>,
}

impl Dead {
    /// Nothing.
    #[inline(always)]
    pub fn new() -> Dead {
        Dead::default()
    }

    /// Some more.
    #[inline]
    pub fn push(&mut self, invalidated: Invalidated) {
        if self.first.is_none() {
            self.first = Some(invalidated);
        } else {
            self.more.push(invalidated);
        }
    }

    /// Whether it is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The first sectors.
    #[inline(always)]
    pub fn first(&self) -> Option<Invalidated> {
        self.first
    }

    /// The others, in order.
    #[inline(always)]
    pub fn more(&self) -> &[Invalidated] {
        &self.more
    }

    /// All sectors, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Invalidated> + '_ {
        self.first.into_iter().chain(self.more.iter().copied())
    }
}

/// Maximum number of sectors per physical page, and so per logical page: a device file with more is refused.
pub(crate) const SECTORS_MAX: usize = 32;

/// The place of a page.
pub(crate) type Places = ArrayVec<Located, SECTORS_MAX>;

/// Contents of a place, or data placed together.
pub(crate) type Spans = ArrayVec<Span, SECTORS_MAX>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dies_is_told_in_its_order() {
        let mut dead = Dead::new();
        assert!(dead.is_empty());
        (1..4).for_each(|sectors| dead.push(Invalidated { ppn: Ppn(7), sectors }));
        assert_eq!(dead.iter().map(|invalidated| invalidated.sectors).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(!dead.is_empty() && Dead::new().iter().next().is_none());
    }
}
