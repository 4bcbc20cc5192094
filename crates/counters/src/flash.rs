//! Counters of what the flash does.

use crate::amounts::Picojoules;
use crate::by::{by_due, by_kind, by_reader, lists_by_mode};
use crate::cause::{Cause, Due, OpKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_units::CellMode;

counters! {
    /// Reads that RAM answers.
    pub struct FlashCounts => FlashFigures {
        /// Host reads served from RAM, in logical pages.
        reads_from_ram: u64,
        /// Host-read pages that were wholly or partly in the read cache; absent without one.
        reads_cached: Option<u64> [default, skip_serializing_if = "Option::is_none"],
    }

    /// Look-ups in a map on flash.
    pub struct MapCounts => MapFigures {
        /// Pages of the host's that were looked up.
        lookups: u64,
        /// Look-ups whose page of the mapping table was in RAM.
        hits: u64,
    }

    /// Programs of a region.
    pub struct ProgramCounts => ProgramFigures {
        /// Program operations; a one-shot program writes several pages.
        program_operations: u64 [default],
        /// Those that were copy-backs within a plane, without a separate read.
        copy_backs: u64 [default],
    }

    /// Further counters of a region.
    pub struct RegionCounts => RegionFigures {
        /// Blocks erased.
        erases: u64,
        /// Partial pages that the host wrote while the replaced data were in this region: up to a quarter of a page, a
        /// half, three quarters, more. Omitted if there were none, on drives with one region, or without partial pages.
        updates: [u64; 4] => Vec<u64> = if_any [default, skip_serializing_if = "Vec::is_empty"],
        /// Pages of this region read for whole-page host reads. Left out where there were none, and on drives of one
        /// region or of pages without parts.
        whole_page_reads: u64 => Option<u64> = if_not_zero [default, skip_serializing_if = "Option::is_none"],
    }

    /// Cost of read errors.
    pub struct ErrorCounts => ErrorFigures {
        /// Host-read pages by cell mode (`slc`, `mlc`, `tlc`, `qlc`): how many needed no retry, one, two and so on.
        host_pages: Vec<u64> => BTreeMap<String, Vec<u64>> = lists_by_mode,
        /// Retries by cause of the read: `host`, `rmw`, `gc`, `migration`.
        retries: [u64; Cause::COUNT] => BTreeMap<String, u64> = by_reader,
        /// Uncorrectable reads after the last retry, by cause. Uncorrectable host reads are reported to the host; GC
        /// and moves continue with the data as if they were correct.
        uncorrectable: [u64; Cause::COUNT] => BTreeMap<String, u64> = by_reader,
    }

    /// Blocks whose data were rewritten so that reads take fewer retries.
    pub struct RefreshCounts => RefreshFigures {
        /// Blocks by reason: the `age` of their data, `reads`, or the `retries` of a page.
        blocks: [u64; Due::COUNT] => BTreeMap<String, u64> = by_due,
    }

    /// Energy of the operations of one cause, in joules.
    pub struct EnergyCounts => EnergyOf {
        /// To sense pages, with every retry.
        read_j: Picojoules => f64 = Picojoules::joules,
        /// To program, with what pads.
        program_j: Picojoules => f64 = Picojoules::joules,
        /// To erase.
        erase_j: Picojoules => f64 = Picojoules::joules,
        /// To move data over the buses.
        transfer_j: Picojoules => f64 = Picojoules::joules,
    }

    /// Multi-plane commands, by kind of operation: `read`, `program`, `erase`.
    pub struct MultiplaneCounts => MultiplaneFigures {
        /// Commands of two operations and more.
        commands: [u64; OpKind::COUNT] => BTreeMap<String, u64> = by_kind,
        /// The operations that they did.
        operations: [u64; OpKind::COUNT] => BTreeMap<String, u64> = by_kind,
    }
}

fn if_any(counts: &[u64; 4]) -> Vec<u64> {
    if *counts == [0; 4] { vec![] } else { counts.to_vec() }
}

fn if_not_zero(count: &u64) -> Option<u64> {
    Some(*count).filter(|n| *n > 0)
}

impl MapCounts {
    /// Hits over look-ups; `None` where nothing was looked up.
    pub fn hit_share(&self) -> Option<f64> {
        (self.lookups > 0).then(|| self.hits as f64 / self.lookups as f64)
    }
}

impl MultiplaneCounts {
    /// The share of operations that were part of such a command; `None` where there was none.
    pub fn share(&self, all: u64) -> Option<f64> {
        (all > 0).then(|| self.operations.iter().sum::<u64>() as f64 / all as f64)
    }
}

impl ErrorCounts {
    /// Nothing yet, with this many retries at most.
    pub fn new(most_retries: usize) -> ErrorCounts {
        ErrorCounts {
            host_pages: vec![0; CellMode::ALL.len() * (most_retries + 1)],
            ..ErrorCounts::default()
        }
    }

    /// Host-read pages of a mode, by retries.
    pub fn of_mode(&self, mode: CellMode) -> &[u64] {
        let length = self.host_pages.len() / CellMode::ALL.len();
        &self.host_pages[mode.index() * length..][..length]
    }

    /// A page was read with this many retries, successfully or not.
    pub fn count(&mut self, cause: Cause, mode: CellMode, retries: usize, failed: bool) {
        let length = self.host_pages.len() / CellMode::ALL.len();
        if cause == Cause::Host {
            self.host_pages[mode.index() * length + retries] += 1;
        }
        self.retries[cause as usize] += retries as u64;
        self.uncorrectable[cause as usize] += u64::from(failed);
    }

    /// Mean retries per page that the host read; `None` where it read none.
    pub fn retries_per_host_page(&self) -> Option<f64> {
        let pages: u64 = self.host_pages.iter().sum();
        (pages > 0).then(|| self.retries[Cause::Host as usize] as f64 / pages as f64)
    }
}

impl EnergyOf {
    /// Their sum.
    pub fn total_j(&self) -> f64 {
        self.read_j + self.program_j + self.erase_j + self.transfer_j
    }
}

/// Whole-page reads, by the number of flash pages over which their sectors were spread: one, two, three, four and more.
/// On drives with several regions and pages of several sectors; not part of any hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Places {
    /// Host reads.
    pub host: [u64; 4],
    /// Reads by GC.
    pub gathered: [u64; 4],
}

impl Places {
    /// The figures of a report by reader, without zero entries.
    pub fn figures(&self) -> BTreeMap<String, [u64; 4]> {
        let all = [("host", self.host), ("gathered", self.gathered)];
        all.into_iter()
            .filter(|(_, pages)| *pages != [0; 4])
            .map(|(who, pages)| (who.to_string(), pages))
            .collect()
    }
}
