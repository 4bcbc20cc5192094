//! The flash side of a report: operations by cause, write amplification, capacity and wear. Causes
//! and modes are keys of text, so that a scheme's own cause needs no change here; the ones that the
//! engine knows are in [`CAUSES`].

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_counters::{
    CapacityFigures, EnergyOf, ErrorFigures, FlashFigures, LostFigures, MapFigures, MultiplaneFigures,
    ProgramFigures, RefreshFigures, RegionFigures,
};

/// The causes of a program, in the order in which pictures stack them.
pub const CAUSES: [&str; 5] = ["host", "gc", "migration", "pad", "metadata"];

/// Bytes programmed, by cause (`host`, `gc`, `migration`, `pad`, `metadata`), then kind (`program`,
/// `reprogram`), then region.
pub type ProgramBytes = BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>;

/// What the flash did, counted where each operation completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Flash {
    /// Page reads by cause: `host`, `rmw`, `gc`, `migration`, `reprogram`, `retry`, and `metadata` where the map is on
    /// flash.
    pub reads: BTreeMap<String, u64>,
    /// Page programs by cause: `host`, `gc`, `migration`, `pad`, `metadata`.
    pub programs: BTreeMap<String, Programs>,
    /// Bytes programmed by cause, kind (`program`, `reprogram`) and region. Each byte has one
    /// cause; `pad` counts only the unused part of a page.
    pub program_bytes: ProgramBytes,
    /// Block erases by the mode that the block was in: `slc`, `mlc`, `tlc`, `qlc`.
    pub erases: BTreeMap<String, u64>,
    /// Reads that RAM answered.
    #[serde(flatten)]
    pub counts: FlashFigures,
    /// What the map costs that lies on flash; absent where all of it is in RAM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<MapOnFlash>,
    /// The same operations by region, in the order of the layout.
    #[serde(default)]
    pub regions: Vec<RegionActivity>,
    /// Pages of the map that were wanted whole, by the flash pages in which they lay: one, two, three, four and more. `host`:
    /// those that the host read; `gathered`: those that collections brought together. Absent on drives of one region or of
    /// pages without parts, and where there were none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, [u64; 4]>,
    /// Which types of pages the host got, where the bits of a wordline are programmed one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_types: Option<PageTypes>,
    /// Windows of wordlines that serve as SLC first, where the scheme has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<Windows>,
    /// What errors cost the reads; absent where none are modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ReadErrors>,
    /// What operations took from the supply, without what the drive takes at rest; absent where the device file
    /// gives no energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// Operations of several planes that were one command of their die; absent where the drive has no such
    /// commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiplane: Option<Multiplane>,
    /// How often reads of the host suspended a `program` or an `erase`; absent where they suspend nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspensions: Option<BTreeMap<String, u64>>,
}

/// A map on flash, of which a part is in RAM. Its reads and programs are those of cause `metadata`; those of the trim log
/// are among the programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MapOnFlash {
    /// Pages of the map, each as large as a mapping unit.
    pub pages: u64,
    /// How many of them RAM holds.
    pub cached_pages: u64,
    /// Look-ups.
    #[serde(flatten)]
    pub counts: MapFigures,
    /// Hits over look-ups; null where nothing was looked up.
    pub hit_share: Option<f64>,
    /// Pages of the map that were read.
    pub reads: u64,
    /// Pages of the drive's own tables that were programmed, collection of them not counted.
    pub programs: u64,
    /// Bytes of changes that may wait in RAM for their page of the map; null where there is no bound.
    #[serde(default)]
    pub journal_bytes: Option<u64>,
    /// The most that waited at a time, in bytes; beyond the bound it is what changed in pages of the map while they
    /// were read or programmed.
    #[serde(default)]
    pub journal_peak_bytes: u64,
}

/// Multi-plane commands, by kind of operation: `read`, `program`, `erase`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Multiplane {
    /// Commands, and the operations that they did.
    #[serde(flatten)]
    pub counts: MultiplaneFigures,
    /// Share of all flash operations that were part of such a command; null where there was none.
    pub share: Option<f64>,
}

/// Energy of the flash and its buses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Energy {
    /// In all, in joules.
    pub total_j: f64,
    /// For each byte that the host read or wrote, in nanojoules; null where it did neither.
    pub nj_per_host_byte: Option<f64>,
    /// By cause: `host`, `rmw`, `gc`, `migration`, `metadata`.
    pub by_cause: BTreeMap<String, EnergyOf>,
}

/// What errors cost the reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReadErrors {
    /// Retries and failures.
    #[serde(flatten)]
    pub counts: ErrorFigures,
    /// Retries of a page that the host read, on average; null where it read none.
    pub retries_per_host_page: Option<f64>,
    /// Share of the time of completed reads that went into retries of their own; null where none completed.
    pub share_of_read_latency: Option<f64>,
    /// What was rewritten; absent where the device file asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Refreshed>,
}

/// Blocks that were rewritten, so that reads of their data take fewer retries. Their programs are of cause `gc`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Refreshed {
    /// Blocks.
    #[serde(flatten)]
    pub counts: RefreshFigures,
    /// Bytes that moved for it.
    pub bytes: u64,
}

/// What became of wordlines that served as SLC and got further bits later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Windows {
    /// Bytes programmed into them as SLC, by cause.
    pub slc_bytes: BTreeMap<String, u64>,
    /// Bytes that reprogramming added to them, by cause.
    pub reprogram_bytes: BTreeMap<String, u64>,
    /// Share of the host's bytes that were programmed as SLC, in windows or in SLC blocks; null where the host
    /// wrote nothing.
    pub host_at_slc_speed: Option<f64>,
    /// The most reprograms that a wordline can get between two erases; the flash refuses more.
    pub reprograms_per_wordline: u32,
    /// The most programs of neighbouring wordlines between two of a wordline's own, of the twelve that it
    /// tolerates.
    pub interference: u32,
}

/// The types of pages that host data got: `lsb`, `csb`, `msb`, `tsb`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageTypes {
    /// Host programs, by the type of page.
    pub programs: BTreeMap<String, u64>,
    /// Share of them that got the type that the scheme asked for; absent where it asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_asked: Option<f64>,
    /// Write requests, by the last bit that any of their pages is: a request is as slow as its slowest
    /// page.
    pub writes_dominated_by: BTreeMap<String, u64>,
    /// Pages that could still be programmed at the end.
    pub free_at_end: BTreeMap<String, u64>,
}

impl PageTypes {
    /// Share of the write requests that a type dominates; `None` without such requests.
    pub fn dominated_share(&self, page: &str) -> Option<f64> {
        let all: u64 = self.writes_dominated_by.values().sum();
        Some(*self.writes_dominated_by.get(page)? as f64 / all as f64).filter(|s| s.is_finite())
    }
}

/// Page programs of one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Programs {
    /// Pages programmed into erased cells.
    pub program: u64,
    /// Pages added to wordlines that held data already.
    pub reprogram: u64,
}

/// What happened in one region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RegionActivity {
    /// Its name in the scheme's layout.
    pub name: String,
    /// The mode of its blocks: `slc`, `mlc`, `tlc`, `qlc`.
    pub mode: String,
    /// Pages read.
    pub reads: u64,
    /// Pages read by cause: `host`, `rmw`, `gc`, `migration`.
    #[serde(default)]
    pub reads_by_cause: BTreeMap<String, u64>,
    /// Pages programmed and reprogrammed.
    pub programs: u64,
    /// Program operations.
    #[serde(flatten)]
    pub ops: ProgramFigures,
    /// Bytes programmed and reprogrammed.
    pub program_bytes: u64,
    /// What else happened.
    #[serde(flatten)]
    pub counts: RegionFigures,
}

/// Write amplification: bytes programmed for any reason over the bytes of the mapping pages that
/// the host's writes touched (`host.write_page_bytes`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Waf {
    /// All causes and kinds: what the literature on idle collection calls WA_full.
    pub total: f64,
    /// The same without copies that idle time made ahead of need, except those whose page the host overwrote or
    /// trimmed before collection on demand would have moved it (WA_paper, as In-place Switch seems to count);
    /// absent where idle time copied nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    /// All but the cause `pad`.
    pub without_pad: f64,
    /// The parts by cause, then kind; they add up to the total.
    pub parts: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Waf {
    /// Write amplification from the bytes programmed; `None` where the host wrote nothing.
    pub fn new(programmed: &ProgramBytes, host_write_page_bytes: u64) -> Option<Waf> {
        if host_write_page_bytes == 0 {
            return None;
        }
        let mut waf = Waf::default();
        let (mut all, mut pad) = (0u64, 0u64);
        for (cause, kinds) in programmed {
            for (kind, regions) in kinds {
                let bytes: u64 = regions.values().sum();
                all += bytes;
                pad += if cause == "pad" { bytes } else { 0 };
                let part = bytes as f64 / host_write_page_bytes as f64;
                waf.parts.entry(cause.clone()).or_default().insert(kind.clone(), part);
            }
        }
        waf.total = all as f64 / host_write_page_bytes as f64;
        waf.without_pad = (all - pad) as f64 / host_write_page_bytes as f64;
        Some(waf)
    }

    /// The part of one cause, both kinds together.
    pub fn cause(&self, cause: &str) -> f64 {
        self.parts.get(cause).map_or(0.0, |kinds| kinds.values().sum())
    }

    /// The part of one kind, all causes together.
    pub fn kind(&self, kind: &str) -> f64 {
        self.parts.values().filter_map(|kinds| kinds.get(kind)).sum()
    }
}

/// What the drive holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Capacity {
    /// Bytes that the host can address.
    pub logical_bytes: u64,
    /// Bytes of the blocks of the scheme's layout in which data lie at rest, each in its densest mode. An SLC cache in
    /// blocks of its own does not count.
    pub physical_bytes: u64,
    /// (physical − logical) / logical, a fraction.
    pub over_provisioning: f64,
    /// The regions at the end of the run, in the order of the layout.
    #[serde(default)]
    pub regions: Vec<RegionCapacity>,
    /// Bytes of logical data that are mapped at the end of the run.
    pub live_bytes: u64,
    /// What becomes of it as blocks change between modes; absent where they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changing: Option<ChangingCapacity>,
}

/// A threshold of a region that its free space cannot reach beside the data, so that it is collected without end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OutOfReach {
    /// The region.
    pub region: String,
    /// The key of the device file that sets it: `gc.trigger`, `slc_cache.trigger`; empty where a scheme does.
    pub setting: String,
    /// Its value, such as `free_blocks < 50%`.
    pub value: String,
    /// The largest share of the region's space that can be free beside the data, a fraction.
    pub reachable: f64,
    /// Bytes of data on the drive, the most of begin and end of the run.
    pub data_bytes: u64,
    /// A value that can be reached; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_reach: Option<String>,
}

/// The capacity of a drive whose blocks change between modes: each counts in the mode that it is in, and an
/// erased one in the densest that it can take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangingCapacity {
    /// Bytes at the end of the run.
    pub usable_bytes: u64,
    /// Bytes when they were fewest.
    pub least_usable_bytes: u64,
    /// Moves.
    #[serde(flatten)]
    pub counts: CapacityFigures,
}

/// The share of their life that blocks have used up: each erase counts by the cycles that its mode endures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LifeUsed {
    /// Mean over the blocks, a fraction.
    pub mean: f64,
    /// Of the most worn block, a fraction.
    pub max: f64,
}

/// Blocks that are lost, where the device file lets them be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LostBlocks {
    /// Blocks of the drive.
    pub blocks: u64,
    /// Blocks by how they were lost.
    #[serde(flatten)]
    pub counts: LostFigures,
    /// Cycles that each simulated erase stands for.
    pub acceleration: u64,
    /// When the drive wore out: the first host write that found no place; null while it continues.
    pub worn_out: Option<WornOut>,
}

/// The end of a drive. Bytes and years are those of the host: as simulated, times the acceleration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WornOut {
    /// Simulated time, in seconds.
    pub at_s: f64,
    /// What the host had written in this run, in bytes.
    pub total_bytes_written: f64,
    /// The same in logical capacities.
    pub drive_writes: f64,
    /// Time in this run, in years.
    pub years: f64,
}

/// The size of one region at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RegionCapacity {
    /// Its name in the scheme's layout.
    pub name: String,
    /// The mode of its blocks: `slc`, `mlc`, `tlc`, `qlc`.
    pub mode: String,
    /// Blocks that it owns or may own.
    pub blocks: u64,
    /// Bytes that these blocks hold in this mode.
    pub bytes: u64,
}

/// Program/erase cycles of a set of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Wear {
    /// Blocks counted.
    pub blocks: u64,
    /// Mean cycles of a block.
    pub mean: f64,
    /// Most cycles of a block.
    pub max: u64,
    /// Fewest cycles of a block.
    pub min: u64,
    /// Standard deviation, in cycles.
    pub sigma: f64,
}

/// How much longer the drive lasts, if the host continues as in the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Lifetime {
    /// By the mode of blocks: `slc`, `mlc`, `tlc`, `qlc`; those whose endurance the device file gives.
    pub by_mode: BTreeMap<String, ModeLifetime>,
    /// How many times what has been written so far can be written again until the first mode is worn out: the
    /// least of the modes' (HySSD, eq. 4). Null before the first erase.
    pub left: Option<f64>,
    /// Bytes that the host will have written by then, with those of the run. Null where the run erased nothing.
    pub total_bytes_written: Option<f64>,
    /// Years that this takes at the run's rate.
    pub years: Option<f64>,
    /// The same spread over five years: drive writes a day.
    pub drive_writes_per_day: Option<f64>,
}

/// The lifetime of blocks of one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ModeLifetime {
    /// Cycles that a block endures.
    pub endurance: u64,
    /// Mean cycles that blocks have behind them.
    pub used: f64,
    /// (endurance - used) / used; null before the first erase, and negative past the end.
    pub left: Option<f64>,
}

/// The key of programs onto wordlines that held data already: a kind, shown with the causes.
pub const REPROGRAM: &str = "reprogram";
