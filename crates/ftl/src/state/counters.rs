//! What is counted, and where: at the completion of a flash operation, in one place, so that no
//! scheme can flatter itself. All counts are integers and go into the result hash.

use crate::state::cause::Cause;
use crate::state::refresh::Due;
use crate::state::without_effect::AnswersWithoutEffect;
use serde::{Deserialize, Serialize};
use wordline_device::DeviceSpec;
use wordline_flash::{MOST_RETRIES, Retries, SlotClass};
use wordline_units::CellMode;

/// Counts of one region.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RegionCounters {
    /// Bytes programmed, by cause.
    pub program_bytes: [u64; Cause::COUNT],
    /// Pages programmed, by the cause of their first unit.
    pub program_pages: [u64; Cause::COUNT],
    /// Program operations; a one-shot program writes several pages.
    pub program_ops: u64,
    /// Pages read, by cause.
    pub reads: [u64; Cause::COUNT],
    /// Of the programs, those by which the flash copied a page within its plane, without a read of its own.
    pub copy_backs: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Parts of pages that the host wrote while what they replace lay here, by how much of a page they are:
    /// up to a quarter, a half, three quarters, more. Counted when they come, on drives with several regions and
    /// pages of several sectors. Not in the result hash, since it follows from what is.
    pub updates: [u64; 4],
    /// Flash pages read here for pages that the host read whole. Counted when they are found, under the same conditions;
    /// not in the result hash either.
    pub whole_page_reads: u64,
    /// Host programs under rules that tell bits apart: by the class asked for, and the type of page got.
    pub page_types: [[u64; 4]; SlotClass::BY_TYPE],
    /// Of the programs above, those of wordlines that served as SLC in a window.
    pub as_slc: Programmed,
    /// Of the programs above, those that added a bit to a wordline that had served as SLC.
    pub reprogrammed: Programmed,
}

/// Some of a region's programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Programmed {
    /// Bytes, by cause.
    pub bytes: [u64; Cause::COUNT],
    /// Pages, by the cause of their first unit.
    pub pages: [u64; Cause::COUNT],
}

/// Pages that were wanted whole, by the flash pages in which their sectors lay: one, two, three, four and more. On drives
/// with several regions and pages of several sectors; no hash has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Places {
    /// Those that the host read.
    pub host: [u64; 4],
    /// Those that collections gathered.
    pub gathered: [u64; 4],
}

/// What errors have cost reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReadErrors {
    /// Pages that the host read, by the bits that their cells held and by retries: so many of the first
    /// mode with none, with one, and so on up to [`MOST_RETRIES`].
    pub host: Vec<u64>,
    /// Retries, by the cause of the read.
    pub retries: [u64; Cause::COUNT],
    /// Reads that failed after the last retry, by their cause.
    pub uncorrectable: [u64; Cause::COUNT],
    /// Blocks written anew, by why they were due.
    pub refreshed: [u64; Due::COUNT],
    /// Live units moved for that.
    pub refreshed_units: u64,
}

impl Default for ReadErrors {
    fn default() -> ReadErrors {
        ReadErrors {
            host: vec![0; CellMode::ALL.len() * (MOST_RETRIES + 1)],
            retries: [0; Cause::COUNT],
            uncorrectable: [0; Cause::COUNT],
            refreshed: [0; Due::COUNT],
            refreshed_units: 0,
        }
    }
}

impl ReadErrors {
    /// Pages in a mode that the host read, by retries.
    pub fn of_mode(&self, mode: CellMode) -> &[u64] {
        &self.host[mode.index() * (MOST_RETRIES + 1)..][..MOST_RETRIES + 1]
    }

    /// A page has been read.
    pub(crate) fn count(&mut self, cause: Cause, mode: CellMode, retries: Retries) {
        if cause == Cause::Host {
            self.host[mode.index() * (MOST_RETRIES + 1) + retries.count as usize] += 1;
        }
        self.retries[cause as usize] += retries.count as u64;
        self.uncorrectable[cause as usize] += retries.failed as u64;
    }
}

/// What operations have taken from the supply, in picojoules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EnergyUsed {
    /// To sense pages, again and again where they took retries.
    pub read: u64,
    /// To program.
    pub program: u64,
    /// To erase.
    pub erase: u64,
    /// To move data over the buses.
    pub transfer: u64,
}

/// Counts of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// By region, in the order of the layout.
    pub regions: Vec<RegionCounters>,
    /// Blocks erased, by the mode they were in.
    pub erases: [u64; 4],
    /// Parts of host reads served from data still in RAM.
    pub reads_from_ram: u64,
    /// Pages of host reads that were wholly or partly in the read cache.
    pub reads_cached: u64,
    /// Pages of the host's that were looked up in a map on flash, and those whose page of the map was in RAM.
    pub map_lookups: u64,
    /// See [`Self::map_lookups`].
    pub map_hits: u64,
    /// In how many places pages lay that were wanted whole.
    pub places: Places,
    /// Parts of host reads for pages that were never written.
    pub reads_unmapped: u64,
    /// Host requests by kind: read, write, trim, flush.
    pub host_requests: [u64; 4],
    /// Bytes of host requests by kind.
    pub host_bytes: [u64; 4],
    /// Bytes of the mapping units that host writes touched: the base of write amplification.
    pub host_bytes_page: u64,
    /// Host writes that touch more than one mapping unit.
    pub multi_page_writes: u64,
    /// Programs whose data were superseded before they completed.
    pub born_invalid: u64,
    /// Moves whose page had gone when their turn came, or was moving already, or found no slot.
    pub moves_dropped: u64,
    /// Moves that would have turned a block to a mode with fewer bits where the drive needs its capacity.
    pub conversions_refused: u64,
    /// Times that a program found no legal slot and waited.
    pub stalls: u64,
    /// Blocks collected.
    pub collections: u64,
    /// Live units moved by collections.
    pub collected_units: u64,
    /// Bytes that idle time copied within the home region.
    pub idle_gc_bytes: u64,
    /// Of these copies, units whose data the host made stale before collection on demand moved them.
    pub premature_units: u64,
    /// What errors have cost reads; `None` where none are modelled.
    pub errors: Option<ReadErrors>,
    /// What a scheme asked for and was not done, by why; no hash has it.
    pub without_effect: AnswersWithoutEffect,
    /// Energy by cause; `None` where the device gives none. It follows from the operations, so no hash has it.
    pub energy: Option<[EnergyUsed; Cause::COUNT]>,
}

impl Counters {
    /// Nothing yet of so many regions of a drive.
    pub(crate) fn new(regions: usize, drive: &DeviceSpec) -> Counters {
        Counters {
            regions: vec![RegionCounters::default(); regions],
            errors: drive.errors.is_some().then(ReadErrors::default),
            energy: drive.gives_energy().then(Default::default),
            ..Counters::default()
        }
    }

    /// Nothing yet of the same drive.
    pub(crate) fn anew(&self) -> Counters {
        Counters {
            regions: vec![RegionCounters::default(); self.regions.len()],
            errors: self.errors.as_ref().map(|_| ReadErrors::default()),
            energy: self.energy.map(|_| Default::default()),
            ..Counters::default()
        }
    }

    /// Live units are moved out of a block that is collected, or written anew.
    pub(crate) fn count_collected(&mut self, units: u64, refreshes: bool) {
        match &mut self.errors {
            Some(errors) if refreshes => errors.refreshed_units += units,
            _ => self.collected_units += units,
        }
    }

    /// Every count as one list, for the result hash.
    pub fn integers(&self) -> Vec<u64> {
        let mut all = vec![];
        for r in &self.regions {
            all.extend(r.program_bytes);
            all.extend(r.program_pages);
            all.push(r.program_ops);
            all.extend(r.reads);
            all.push(r.erases);
            all.extend((r.copy_backs > 0).then_some(r.copy_backs));
            if r.page_types != RegionCounters::default().page_types {
                all.extend(r.page_types.iter().flatten());
            }
            for some in [r.as_slc, r.reprogrammed].into_iter().filter(|some| *some != Programmed::default()) {
                all.extend(some.bytes.into_iter().chain(some.pages));
            }
        }
        all.extend(self.erases);
        all.extend([self.reads_from_ram, self.reads_unmapped]);
        all.extend((self.reads_cached > 0).then_some(self.reads_cached));
        if self.map_lookups > 0 {
            all.extend([self.map_lookups, self.map_hits]);
        }
        all.extend(self.host_requests);
        all.extend(self.host_bytes);
        all.extend([
            self.host_bytes_page,
            self.born_invalid,
            self.moves_dropped,
            self.stalls,
            self.collections,
            self.collected_units,
        ]);
        if self.conversions_refused > 0 {
            all.push(self.conversions_refused);
        }
        if self.idle_gc_bytes > 0 {
            all.extend([self.idle_gc_bytes, self.premature_units]);
        }
        if let Some(errors) = &self.errors {
            all.extend(errors.host.iter().chain(&errors.retries).chain(&errors.uncorrectable));
            if errors.refreshed != [0; Due::COUNT] {
                all.extend(errors.refreshed.into_iter().chain([errors.refreshed_units]));
            }
        }
        all
    }

    /// Bytes programmed for a cause in all regions.
    pub fn program_bytes(&self, cause: Cause) -> u64 {
        self.regions.iter().map(|r| r.program_bytes[cause as usize]).sum()
    }

    /// Bytes programmed in all.
    pub fn programmed_bytes(&self) -> u64 {
        Cause::ALL.into_iter().map(|c| self.program_bytes(c)).sum()
    }

    /// Flash page operations: pages read, pages programmed and blocks erased.
    pub fn flash_ops(&self) -> u64 {
        self.regions
            .iter()
            .map(|r| r.reads.iter().sum::<u64>() + r.program_pages.iter().sum::<u64>() + r.erases)
            .sum()
    }
}
