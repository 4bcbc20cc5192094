//! Copies that collection made in idle time, ahead of need. A copy whose page the host overwrites or trims
//! before on-demand GC would have moved it was useless: those are counted, so that a run shows the real cost
//! of idle time in wear.

use crate::file::saved::{Saved, saved};
use crate::file::table::Table;
use crate::plan::span::Dead;
use std::io;
use wordline_units::Ppn;

/// How often the data of each slot have been copied in idle time since collection on demand last moved them,
/// or the host wrote them. Empty where a scheme has no idle work.
pub(crate) struct IdleGcCopies {
    copies: Table<u8>,
}

impl Saved for IdleGcCopies {
    saved! { IdleGcCopies, values: [], parts: [copies], rebuilt: [] }
}

impl IdleGcCopies {
    /// # Errors
    /// When the system has no address space for it.
    pub fn new(slots: usize) -> io::Result<IdleGcCopies> {
        Ok(IdleGcCopies { copies: Table::zeroed(slots)? })
    }

    /// Restart without copies.
    pub fn clear(&mut self) {
        if !self.copies.is_empty() {
            self.copies.fill(0);
        }
    }

    /// Record a copy, made in idle time or not.
    #[inline(always)]
    pub fn copied(&mut self, from: Ppn, to: Ppn, in_idle_time: bool) {
        if self.copies.is_empty() {
            return;
        }
        let before = std::mem::take(&mut self.copies[from.0 as usize]);
        if in_idle_time {
            self.copies[to.0 as usize] = before.saturating_add(1);
        }
    }

    /// The host has invalidated data: returns how many copies of them were premature.
    #[inline(always)]
    pub fn premature(&mut self, dead: &Dead) -> u64 {
        if self.copies.is_empty() {
            return 0;
        }
        dead.iter()
            .filter(|k| k.sectors > 0)
            .map(|k| std::mem::take(&mut self.copies[k.ppn.0 as usize]) as u64)
            .sum()
    }
}
