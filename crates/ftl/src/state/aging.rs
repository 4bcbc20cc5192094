//! History of each block, and its current errors: cycles across modes, age of the data, reads since. The
//! errors of a block are cached, and recomputed only when one of these has stepped: cycles at an erase, age
//! hourly, reads after one per page.

use crate::file::saved::{Saved, saved};
use crate::file::table::{Table, fetch};
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use std::io;
use wordline_flash::{ErrorModel, Retries, RetryLaw, Stress};
use wordline_units::{BlockId, CellMode, SimDuration, SimTime};

const HOUR: i64 = 3_600_000_000_000;

/// A block's life in the unit in which it is used up.
pub(crate) const LIFE: u32 = 1 << 28;

/// Share of life of one erase, from the endurance of the mode; zero if unknown.
pub(crate) fn cost_of_erase(endurance: u32) -> u32 {
    (LIFE + endurance / 2).checked_div(endurance).unwrap_or(0)
}

/// This much of a life as a share of it.
pub(crate) fn lives(used: u32) -> f64 {
    used as f64 / LIFE as f64
}

/// A block since its first program. All zeros for a block that was never opened.
#[derive(Clone, Copy, Debug, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C)]
struct Age {
    /// When its oldest data were programmed, ns; before time 0 where they were there before.
    written: i64,
    /// Until when `steps` holds, ns.
    until: i64,
    /// Pages read since it was opened.
    reads: u32,
    /// Before how many of them `steps` holds.
    reads_until: u32,
    /// Errors of an average page, as [`RetryLaw::of_block`] has them: in the block's own mode, and of
    /// wordlines of it that serve as SLC.
    steps: [f32; 2],
}

/// The ages of the blocks of a drive without power.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ages(Vec<Age>);

/// A page that is read, as its block has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRead {
    pub block: BlockId,
    /// Current bits per cell of its wordline, and whether these are the final ones.
    pub mode: CellMode,
    pub is_own: bool,
    pub wordline: u32,
    /// Page type of the page.
    pub bit: usize,
}

/// Key of a block's errors, without its age.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Pages of the block.
    pub pages: u32,
    /// Its history.
    pub cycles: f64,
    pub now: SimTime,
}

/// The age of every block; empty where no errors are modelled.
pub(crate) struct Aging {
    laws: [Option<RetryLaw>; 4],
    ages: Table<Age>,
}

impl Saved for Aging {
    saved! { Aging, values: [], parts: [ages], rebuilt: [laws] }
}

impl Aging {
    /// # Errors
    /// When the system has no address space for it.
    pub fn new(model: Option<&ErrorModel>, blocks: usize) -> io::Result<Aging> {
        let law = |mode| model.and_then(|m| RetryLaw::new(m, mode));
        let ages = Table::zeroed(if model.is_some() { blocks } else { 0 })?;
        Ok(Aging { laws: CellMode::ALL.map(law), ages })
    }

    #[inline(always)]
    pub fn is_modelled(&self) -> bool {
        !self.ages.is_empty()
    }

    /// Prefetch the age of a block that will be read soon.
    #[inline(always)]
    pub fn prefetch(&self, block: BlockId) {
        if self.is_modelled() {
            fetch(&self.ages, block.index());
        }
    }

    /// Whether a term has changed since the errors of a block were computed.
    #[inline]
    pub fn is_stale(&self, block: BlockId, now: SimTime) -> bool {
        let age = &self.ages[block.index()];
        age.reads >= age.reads_until || now.0 as i64 >= age.until
    }

    /// Count a read that starts now, and return its number of retries.
    #[inline]
    pub fn read(&mut self, page: PageRead) -> Retries {
        let age = &mut self.ages[page.block.index()];
        age.reads = age.reads.saturating_add(1);
        let steps = age.steps[!page.is_own as usize];
        match &self.laws[page.mode.index()] {
            Some(law) => law.of_page(steps, page.block.0, page.wordline, page.bit),
            None => Retries::default(),
        }
    }

    /// Age of the data of a block.
    pub fn age(&self, block: BlockId, now: SimTime) -> SimDuration {
        SimDuration((now.0 as i64 - self.ages[block.index()].written).max(0) as u64)
    }

    /// Pages read of a block since it was opened.
    pub fn reads(&self, block: BlockId) -> u32 {
        self.ages[block.index()].reads
    }

    /// Retries of a page of a block under other conditions.
    pub fn retries_at(&self, stress: Stress, of: (BlockId, CellMode), wordline: u32, bit: usize) -> u8 {
        let (block, mode) = of;
        let law = self.laws[mode.index()].as_ref();
        law.map_or(0, |law| law.of_page(law.of_block(stress, block.0), block.0, wordline, bit).count)
    }

    /// Recompute the errors of a block in a mode.
    pub fn look_up(&mut self, block: BlockId, mode: CellMode, by: Reading) {
        let age = &mut self.ages[block.index()];
        let hours = (by.now.0 as i64 - age.written).max(0) / HOUR;
        let reads = age.reads / by.pages;
        let stress = Stress { cycles: by.cycles, hours: hours as u64, reads: reads as u64 };
        let modes = [mode, CellMode::Slc].map(|mode| self.laws[mode.index()].as_ref());
        for (steps, law) in age.steps.iter_mut().zip(modes) {
            *steps = law.map_or(0.0, |law| law.of_block(stress, block.0));
        }
        age.until = age.written + (hours + 1) * HOUR;
        age.reads_until = (reads + 1).saturating_mul(by.pages);
    }

    /// A block receives its first program now, or received it this long ago.
    pub fn opened(&mut self, block: BlockId, now: SimTime, before: SimDuration) {
        if self.is_modelled() {
            let written = now.0 as i64 - before.0 as i64;
            self.ages[block.index()] = Age { written, until: written, ..Age::zeroed() };
        }
    }

    /// The ages of all blocks, for a drive that is rebuilt around the same flash.
    pub fn ages(&self) -> Ages {
        Ages(self.ages.to_vec())
    }

    /// Restore the ages of all blocks.
    pub fn restore(&mut self, ages: &Ages) {
        for (age, found) in self.ages.iter_mut().zip(&ages.0) {
            *age = *found;
        }
    }

    /// Age all data by this time: simulated time restarts at 0, or passes on the shelf.
    pub fn age_by(&mut self, time: SimDuration) {
        for age in self.ages.iter_mut() {
            age.written = age.written.saturating_sub_unsigned(time.0);
            age.until = age.until.saturating_sub_unsigned(time.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_wears_out_after_the_endurance_of_its_mode() {
        for endurance in [100, 1_000, 3_000, 100_000] {
            let used = cost_of_erase(endurance) as u64 * endurance as u64;
            assert!((used as f64 / LIFE as f64 - 1.0).abs() < 2e-4, "{endurance}");
        }
        assert_eq!(cost_of_erase(0), 0);
    }

    // After an hour, or as many reads as the block has pages.
    #[test]
    fn errors_are_refreshed_hourly_or_after_a_full_read() {
        let model = ErrorModel::builtin("raro").unwrap();
        let mut aging = Aging::new(Some(&model), 4).unwrap();
        let page = PageRead { block: BlockId(2), mode: CellMode::Qlc, is_own: true, wordline: 0, bit: 0 };
        let read = |aging: &mut Aging, hours: u64| {
            let now = SimTime(hours * HOUR as u64);
            let stale = aging.is_stale(page.block, now);
            if stale {
                aging.look_up(page.block, page.mode, Reading { pages: 8, cycles: 500.0, now });
            }
            aging.read(page);
            stale
        };
        aging.opened(BlockId(2), SimTime(0), SimDuration(0));
        let first: Vec<bool> = (0..17).map(|_| read(&mut aging, 0)).collect();
        let stepped: Vec<usize> = (0..17).filter(|i| first[*i]).collect();
        assert_eq!(stepped, [0, 8, 16]);
        assert_eq!([0, 1, 1, 2].map(|hours| read(&mut aging, hours)), [false, true, false, true]);
        aging.opened(BlockId(2), SimTime(2 * HOUR as u64), SimDuration(0));
        assert_eq!([2, 2].map(|hours| read(&mut aging, hours)), [true, false]);
    }
}
