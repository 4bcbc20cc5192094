//! Counters: updated when a flash operation completes, in one place, so that no scheme can misreport. All
//! counts are integers and go into the result hash.

use crate::state::without_effect::AnswersWithoutEffect;
use serde::{Deserialize, Serialize};
use wordline_counters::{
    CapacityCounts, Cause, EnergyCounts, ErrorCounts, FlashCounts, HostCounts, MapCounts, Places,
    ProgramCounts, RefreshCounts, RegionCounts,
};
use wordline_device::DeviceSpec;
use wordline_flash::{MOST_RETRIES, SlotClass};

/// Counts of one region.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RegionCounters {
    /// Bytes programmed, by cause.
    pub program_bytes: [u64; Cause::COUNT],
    /// Pages programmed, by the cause of their first unit.
    pub program_pages: [u64; Cause::COUNT],
    /// Pages read, by cause.
    pub reads: [u64; Cause::COUNT],
    /// Program operations.
    pub ops: ProgramCounts,
    /// Other events. Only its erases are in the result hash; the rest follows from them.
    pub counts: RegionCounts,
    /// Host programs under rules with page types: by requested class and actual type.
    pub page_types: [[u64; 4]; SlotClass::BY_TYPE],
    /// Of the programs above, those on wordlines that served as SLC in a window.
    pub as_slc: Programmed,
    /// Of the programs above, reprograms of wordlines that served as SLC.
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

/// Counts of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// By region, in layout order.
    pub regions: Vec<RegionCounters>,
    /// Blocks erased, by the mode they were in.
    pub erases: [u64; 4],
    /// Reads served from RAM.
    pub flash: FlashCounts,
    /// Look-ups in a map on flash.
    pub map: MapCounts,
    /// Number of places over which whole-page reads were spread.
    pub places: Places,
    /// Parts of host reads for pages that were never written.
    pub reads_unmapped: u64,
    /// Host requests by kind: read, write, trim, flush.
    pub host_requests: [u64; 4],
    /// Bytes of host requests by kind.
    pub host_bytes: [u64; 4],
    /// Pages written by the host.
    pub host: HostCounts,
    /// Programs whose data were superseded before they completed.
    pub born_invalid: u64,
    /// Moves whose page was gone or already moving, or that found no slot.
    pub moves_dropped: u64,
    /// Blocks that change between modes.
    pub capacity: CapacityCounts,
    /// Times that a program found no legal slot and waited.
    pub stalls: u64,
    /// Blocks collected.
    pub collections: u64,
    /// Live units moved by collections.
    pub collected_units: u64,
    /// Bytes that idle time copied within the home region.
    pub idle_gc_bytes: u64,
    /// Of these copies, units whose data the host invalidated before on-demand GC moved them.
    pub premature_units: u64,
    /// Cost of read errors; `None` where none are modelled.
    pub errors: Option<ErrorCounts>,
    /// Blocks rewritten because of errors, and the live units moved for that.
    pub refresh: RefreshCounts,
    /// See [`Self::refresh`].
    pub refreshed_units: u64,
    /// Ignored scheme actions by reason; not part of any hash.
    pub without_effect: AnswersWithoutEffect,
    /// Energy by cause; `None` where the device gives none. It follows from the operations, so no hash has it.
    pub energy: Option<[EnergyCounts; Cause::COUNT]>,
}

impl Counters {
    /// Initial counters of this many regions of a drive.
    pub(crate) fn new(regions: usize, drive: &DeviceSpec) -> Counters {
        Counters {
            regions: vec![RegionCounters::default(); regions],
            flash: FlashCounts {
                reads_cached: (drive.dram.read_cache.0 > 0).then_some(0),
                ..FlashCounts::default()
            },
            errors: drive.errors.is_some().then(|| ErrorCounts::new(MOST_RETRIES)),
            energy: drive.gives_energy().then(Default::default),
            ..Counters::default()
        }
    }

    /// Nothing yet of the same drive.
    pub(crate) fn anew(&self) -> Counters {
        Counters {
            regions: vec![RegionCounters::default(); self.regions.len()],
            flash: FlashCounts { reads_cached: self.flash.reads_cached.map(|_| 0), ..FlashCounts::default() },
            errors: self.errors.as_ref().map(|_| ErrorCounts::new(MOST_RETRIES)),
            energy: self.energy.as_ref().map(|_| Default::default()),
            ..Counters::default()
        }
    }

    /// Every count as one list, for the result hash.
    pub fn integers(&self) -> Vec<u64> {
        let mut all = vec![];
        // Parity came later, and results without it keep their hashes.
        let causes = |counts: &[u64; Cause::COUNT]| {
            let [first @ .., parity] = *counts;
            first.into_iter().chain((parity > 0).then_some(parity))
        };
        for r in &self.regions {
            all.extend(causes(&r.program_bytes));
            all.extend(causes(&r.program_pages));
            all.push(r.ops.program_operations);
            all.extend(causes(&r.reads));
            all.push(r.counts.erases);
            all.extend((r.ops.copy_backs > 0).then_some(r.ops.copy_backs));
            if r.page_types != RegionCounters::default().page_types {
                all.extend(r.page_types.iter().flatten());
            }
            for some in [r.as_slc, r.reprogrammed].into_iter().filter(|some| *some != Programmed::default()) {
                all.extend(causes(&some.bytes).chain(causes(&some.pages)));
            }
        }
        all.extend(self.erases);
        all.extend([self.flash.reads_from_ram, self.reads_unmapped]);
        all.extend(self.flash.reads_cached.filter(|n| *n > 0));
        if self.map.lookups > 0 {
            all.extend([self.map.lookups, self.map.hits]);
        }
        all.extend(self.host_requests);
        all.extend(self.host_bytes);
        all.extend([
            self.host.write_page_bytes,
            self.born_invalid,
            self.moves_dropped,
            self.stalls,
            self.collections,
            self.collected_units,
        ]);
        if self.capacity.conversions_refused > 0 {
            all.push(self.capacity.conversions_refused);
        }
        if self.idle_gc_bytes > 0 {
            all.extend([self.idle_gc_bytes, self.premature_units]);
        }
        if let Some(errors) = &self.errors {
            all.extend(&errors.host_pages);
            all.extend(causes(&errors.retries).chain(causes(&errors.uncorrectable)));
            if self.refresh != RefreshCounts::default() {
                all.extend(self.refresh.blocks.into_iter().chain([self.refreshed_units]));
            }
        }
        all
    }

    /// Bytes programmed for a cause in all regions.
    pub fn program_bytes(&self, cause: Cause) -> u64 {
        self.regions.iter().map(|r| r.program_bytes[cause as usize]).sum()
    }

    /// Total bytes programmed.
    pub fn programmed_bytes(&self) -> u64 {
        Cause::ALL.into_iter().map(|c| self.program_bytes(c)).sum()
    }

    /// Operations of the flash: pages read, programs and erases.
    pub fn operations(&self) -> u64 {
        self.regions
            .iter()
            .map(|r| r.reads.iter().sum::<u64>() + r.ops.program_operations + r.counts.erases)
            .sum()
    }

    /// Flash page operations: pages read, pages programmed and blocks erased.
    pub fn flash_ops(&self) -> u64 {
        self.regions
            .iter()
            .map(|r| r.reads.iter().sum::<u64>() + r.program_pages.iter().sum::<u64>() + r.counts.erases)
            .sum()
    }
}

/// Live units are moved out of a block that is collected, or rewritten.
pub(crate) fn count_collected(counters: &mut Counters, units: u64, refreshes: bool) {
    let refreshes = refreshes && counters.errors.is_some();
    *(if refreshes { &mut counters.refreshed_units } else { &mut counters.collected_units }) += units;
}
