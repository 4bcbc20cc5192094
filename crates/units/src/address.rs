//! Addresses, ids and the cell modes. Numbers have 32 bits wherever a drive of 16 TiB fits.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Bytes of the host's address unit.
pub const LBA_BYTES: u64 = 512;

/// A host address in units of 512 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Lba(pub u64);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// No such thing; never a valid number.
            pub const NONE: $name = $name(u32::MAX);

            /// The number as an index into an array.
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Whether this is the sentinel [`Self::NONE`].
            #[inline(always)]
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self.is_none() { f.write_str("none") } else { self.0.fmt(f) }
            }
        }
    };
}

id!(
    /// A logical page: the mapping unit, of `unit` bytes (a device key).
    Lpn
);
id!(
    /// A physical place for one logical page. Its number is stable until the block is erased, whatever the
    /// wordline holds.
    Ppn
);
id!(
    /// A block, numbered across the drive, plane by plane.
    BlockId
);
id!(
    /// A plane, numbered across the drive: channel outermost, then chip, die, plane.
    PlaneId
);
id!(
    /// A die (a LUN in the literature), numbered across the drive.
    DieId
);
id!(
    /// A channel and its bus.
    ChannelId
);

/// Current bits per cell of a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum CellMode {
    /// One bit.
    Slc = 1,
    /// Two bits.
    Mlc = 2,
    /// Three bits.
    Tlc = 3,
    /// Four bits.
    Qlc = 4,
}

impl CellMode {
    /// All modes, by bits.
    pub const ALL: [CellMode; 4] = [CellMode::Slc, CellMode::Mlc, CellMode::Tlc, CellMode::Qlc];

    /// Bits per cell, which is also the number of pages of a wordline.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self as u32
    }

    /// Position in arrays by mode: bits − 1.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize - 1
    }

    /// The key in configuration and reports: `slc`, `mlc`, `tlc`, `qlc`.
    pub const fn key(self) -> &'static str {
        ["slc", "mlc", "tlc", "qlc"][self.index()]
    }
}

impl fmt::Display for CellMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["SLC", "MLC", "TLC", "QLC"][self.index()])
    }
}

/// Which bit of its wordline a page is. Data sheets call them lower, middle, upper and top.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum PageType {
    /// The least significant bit, the fastest page.
    Lsb = 0,
    /// The second bit.
    Csb = 1,
    /// The third bit.
    Msb = 2,
    /// The fourth bit of QLC.
    Tsb = 3,
}

impl PageType {
    /// All types, in the order of their bits.
    pub const ALL: [PageType; 4] = [PageType::Lsb, PageType::Csb, PageType::Msb, PageType::Tsb];

    /// The key in logs: `lsb`, `csb`, `msb`, `tsb`.
    pub const fn key(self) -> &'static str {
        ["lsb", "csb", "msb", "tsb"][self as usize]
    }
}

/// A set of sectors of one page, one bit each, sector 0 in the lowest bit. A page has at most 32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct SectorMask(pub u32);

impl SectorMask {
    /// No sector.
    pub const EMPTY: SectorMask = SectorMask(0);

    /// The first `count` sectors; `count` is at most 32.
    #[inline(always)]
    pub const fn first(count: u32) -> SectorMask {
        SectorMask(((1_u64 << count) - 1) as u32)
    }

    /// Sectors `from .. to`.
    #[inline(always)]
    pub const fn span(from: u32, to: u32) -> SectorMask {
        SectorMask(Self::first(to).0 & !Self::first(from).0)
    }

    /// Number of sectors in the set.
    #[inline(always)]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set is empty.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Sectors in either set.
    #[inline(always)]
    pub const fn union(self, other: SectorMask) -> SectorMask {
        SectorMask(self.0 | other.0)
    }

    /// Sectors of `self` that are not in `other`.
    #[inline(always)]
    pub const fn minus(self, other: SectorMask) -> SectorMask {
        SectorMask(self.0 & !other.0)
    }

    /// Sectors in both sets.
    #[inline(always)]
    pub const fn and(self, other: SectorMask) -> SectorMask {
        SectorMask(self.0 & other.0)
    }

    /// Whether every sector of `other` is in `self`.
    #[inline(always)]
    pub const fn covers(self, other: SectorMask) -> bool {
        other.0 & !self.0 == 0
    }

    /// The sectors' numbers, in increasing order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..32).filter(move |s| self.0 >> s & 1 == 1)
    }
}

impl fmt::Debug for SectorMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#b}", self.0)
    }
}
