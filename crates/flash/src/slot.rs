//! Slots of a block: their classes and number, and the program state of the block.

use serde::{Deserialize, Serialize};
use wordline_units::PageType;

/// The slot class requested by a decision. A rule offers some of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum SlotClass {
    /// Whatever comes next in the block's own order.
    Next = 0,
    /// The next page of the least significant bit.
    Lsb = 1,
    /// The next page of the second bit.
    Csb = 2,
    /// The next page of the third bit.
    Msb = 3,
    /// The next page of the fourth bit.
    Tsb = 4,
    /// The next wordline of the window, with one bit (SLC).
    Slc = 5,
    /// A further bit for a wordline of a window whose SLC pages are used up.
    Reprogram = 6,
}

impl SlotClass {
    /// Number of classes.
    pub const COUNT: usize = 7;

    /// Number of classes that request a page type, or leave it to the block: the first ones.
    pub const BY_TYPE: usize = 5;

    /// All classes, in the order of their numbers.
    pub const ALL: [SlotClass; SlotClass::COUNT] = {
        use SlotClass::*;
        [Next, Lsb, Csb, Msb, Tsb, Slc, Reprogram]
    };

    /// Those of a reprogram window.
    pub(crate) const OF_WINDOW: [SlotClass; 3] = [SlotClass::Slc, SlotClass::Reprogram, SlotClass::Next];

    /// The class of a page type.
    pub const fn of(page: PageType) -> SlotClass {
        SlotClass::ALL[page as usize + 1]
    }

    /// A bit for the class in a set, or an empty set.
    #[inline(always)]
    pub(crate) const fn bit_if(self, is_in: bool) -> u8 {
        (is_in as u8) << self as u8
    }

    /// The bit of its wordline that the class requests; `None` where it leaves that to the block.
    #[inline(always)]
    pub const fn bit(self) -> Option<usize> {
        match self as usize {
            n @ 1..SlotClass::BY_TYPE => Some(n - 1),
            _ => None,
        }
    }
}

/// Wordlines of a block and bits per cell in its current mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockShape {
    /// Wordlines.
    pub wordlines: u16,
    /// Bits per cell, the pages of a wordline.
    pub bits: u8,
}

impl BlockShape {
    /// Pages of the block. Page p is bit `p % bits` of wordline `p / bits`.
    #[inline(always)]
    pub const fn pages(self) -> u32 {
        self.wordlines as u32 * self.bits as u32
    }

    /// The page that is a bit of a wordline.
    #[inline(always)]
    pub(crate) const fn page(self, wordline: u32, bit: usize) -> u32 {
        wordline * self.bits as u32 + bit as u32
    }

    /// The bit of its wordline that a page is.
    #[inline(always)]
    pub fn page_type(self, page: u32) -> PageType {
        PageType::ALL[(page % self.bits as u32) as usize]
    }
}

/// Counters of a block for its program rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct BlockState {
    /// Programmed pages: all of them in the first entry under wordline-wise rules, otherwise by bit.
    pub programmed: [u16; 4],
    /// 1 1 while a window is written wordline by wordline with all bits, else 0.
    pub direct: u16,
}
