//! The flash side of a report: operations by cause, write amplification, capacity and wear. Causes and modes are string
//! keys, so that a scheme's own cause needs no change here; the known ones are in [`CAUSES`].

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_counters::{
    CapacityFigures, EnergyOf, ErrorFigures, FlashFigures, LostFigures, MapFigures, MultiplaneFigures,
    ProgramFigures, RefreshFigures, RegionFigures,
};

/// The causes of a program, in stacking order of the pictures.
pub const CAUSES: [&str; 6] = ["host", "gc", "migration", "pad", "metadata", "parity"];

/// Bytes programmed, by cause (`host`, `gc`, `migration`, `pad`, `metadata`; `parity` where superpages have it), then kind
/// (`program`, `reprogram`), then region.
pub type ProgramBytes = BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>;

/// Flash operations, counted when each completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Flash {
    /// Page reads by cause: `host`, `rmw`, `gc`, `migration`, `reprogram`, `retry`, and `metadata` where the map is on
    /// flash.
    pub reads: BTreeMap<String, u64>,
    /// Page programs by cause: `host`, `gc`, `migration`, `pad`, `metadata`, and `parity` where superpages have it.
    pub programs: BTreeMap<String, Programs>,
    /// Bytes programmed by cause, kind (`program`, `reprogram`) and region. Each byte has one
    /// cause; `pad` counts only the unused part of a page.
    pub program_bytes: ProgramBytes,
    /// Block erases by the mode that the block was in: `slc`, `mlc`, `tlc`, `qlc`.
    pub erases: BTreeMap<String, u64>,
    /// Reads served from RAM.
    #[serde(flatten)]
    pub counts: FlashFigures,
    /// Cost of a mapping table on flash; absent if the whole table is in RAM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<MapOnFlash>,
    /// The same counters by region, in layout order.
    #[serde(default)]
    pub regions: Vec<RegionActivity>,
    /// Whole-page reads by the number of flash pages that they took: one, two, three, four or more. `host`: reads of the
    /// host; `gathered`: reads of GC. Absent on drives with one region or without partial pages, and if there were none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, [u64; 4]>,
    /// Page types that host data got, if the bits of a wordline are programmed one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_types: Option<PageTypes>,
    /// Windows of wordlines that serve as SLC first, if the scheme has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows: Option<Windows>,
    /// Cost of read errors; absent without an error model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ReadErrors>,
    /// Energy of operations, without the idle power of the drive; absent if the device file has no energy values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// Multi-plane commands; absent if the drive does not support them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiplane: Option<Multiplane>,
    /// How often host reads suspended a `program` or an `erase`; absent without suspension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspensions: Option<BTreeMap<String, u64>>,
}

/// A mapping table on flash, partly cached in RAM. Its reads and programs have the cause `metadata`; the programs
/// include those of the trim log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MapOnFlash {
    /// Pages of the mapping table, each as large as a mapping unit.
    pub pages: u64,
    /// How many of them fit in RAM.
    pub cached_pages: u64,
    /// Look-ups.
    #[serde(flatten)]
    pub counts: MapFigures,
    /// Hits over look-ups; null without look-ups.
    pub hit_share: Option<f64>,
    /// Pages of the map that were read.
    pub reads: u64,
    /// Programmed pages of the mapping table and the trim log, without GC.
    pub programs: u64,
    /// Bound of the bytes of mapping changes that wait in RAM; null if unbounded.
    #[serde(default)]
    pub journal_bytes: Option<u64>,
    /// Peak of the waiting changes, in bytes. It can exceed the bound, because changes to a page of the table also wait
    /// while it is read or programmed.
    #[serde(default)]
    pub journal_peak_bytes: u64,
}

/// Multi-plane commands, by kind of operation: `read`, `program`, `erase`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Multiplane {
    /// Number of commands, and of operations in them.
    #[serde(flatten)]
    pub counts: MultiplaneFigures,
    /// Share of all flash operations that were part of such a command; null if there were none.
    pub share: Option<f64>,
}

/// Energy of the flash and its buses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Energy {
    /// Total, in joules.
    pub total_j: f64,
    /// Per byte that the host read or wrote, in nanojoules; null if it did neither.
    pub nj_per_host_byte: Option<f64>,
    /// By cause: `host`, `rmw`, `gc`, `migration`, `metadata`.
    pub by_cause: BTreeMap<String, EnergyOf>,
}

/// Cost of read errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReadErrors {
    /// Retries and failures.
    #[serde(flatten)]
    pub counts: ErrorFigures,
    /// Mean retries per page that the host read; null if it read none.
    pub retries_per_host_page: Option<f64>,
    /// Share of the latency of completed reads spent on their own retries; null if none completed.
    pub share_of_read_latency: Option<f64>,
    /// Data refreshes; absent if the device file has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Refreshed>,
}

/// Blocks whose data were rewritten so that reads take fewer retries. Their programs are of cause `gc`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Refreshed {
    /// Blocks.
    #[serde(flatten)]
    pub counts: RefreshFigures,
    /// Bytes copied for it.
    pub bytes: u64,
}

/// Wordlines that served as SLC and were reprogrammed later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Windows {
    /// Bytes programmed into them as SLC, by cause.
    pub slc_bytes: BTreeMap<String, u64>,
    /// Bytes that reprogramming added to them, by cause.
    pub reprogram_bytes: BTreeMap<String, u64>,
    /// Share of host bytes programmed as SLC, in windows or SLC blocks; null if the host wrote nothing.
    pub host_at_slc_speed: Option<f64>,
    /// Maximum number of reprograms of a wordline between two erases, enforced by the flash.
    pub reprograms_per_wordline: u32,
    /// Maximum number of programs of neighboring wordlines between two programs of one wordline; it tolerates twelve.
    pub interference: u32,
}

/// The types of pages that host data got: `lsb`, `csb`, `msb`, `tsb`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageTypes {
    /// Host programs, by the type of page.
    pub programs: BTreeMap<String, u64>,
    /// Share of them that got the requested type; absent if the scheme requests none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_asked: Option<f64>,
    /// Write requests by the slowest page type of their pages, which determines their latency.
    pub writes_dominated_by: BTreeMap<String, u64>,
    /// Pages that could still be programmed at the end.
    pub free_at_end: BTreeMap<String, u64>,
}

impl PageTypes {
    /// Share of the write requests dominated by a type; `None` without such requests.
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

/// Activity of one region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RegionActivity {
    /// Its name in the scheme's layout.
    pub name: String,
    /// Cell mode of its blocks: `slc`, `mlc`, `tlc`, `qlc`.
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
    /// Its other counters.
    #[serde(flatten)]
    pub counts: RegionFigures,
}

/// Write amplification: bytes programmed for any cause over the bytes of mapping pages that host writes touched
/// (`host.write_page_bytes`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Waf {
    /// All causes and kinds: WA_full in the literature on idle GC.
    pub total: f64,
    /// All bytes over those that the host wrote, without rounding up to mapping pages, as a drive's own counters have it.
    /// Absent where nothing was rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_host_byte: Option<f64>,
    /// The same as `total`, with a copy in idle time counted only if it was wasted: the host overwrote or trimmed the page before
    /// on-demand GC would have copied it (WA_paper, as In-place Switch appears to count). Absent without idle copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    /// Without the cause `pad`.
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

/// Contents of the drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Capacity {
    /// Bytes that the host can address.
    pub logical_bytes: u64,
    /// Flash for data at rest in the scheme's layout, in bytes, each block in its densest mode. A separate SLC cache does
    /// not count.
    pub physical_bytes: u64,
    /// (physical − logical) / logical, a fraction.
    pub over_provisioning: f64,
    /// The regions at the end of the run, in the order of the layout.
    #[serde(default)]
    pub regions: Vec<RegionCapacity>,
    /// Bytes of logical data that are mapped at the end of the run.
    pub live_bytes: u64,
    /// Capacity over time if blocks change their cell mode; absent if they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changing: Option<ChangingCapacity>,
}

/// A GC trigger that a region cannot satisfy with the data on the drive, so that GC never stops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OutOfReach {
    /// The region.
    pub region: String,
    /// The device key that sets it: `gc.trigger`, `slc_cache.trigger`; empty if a scheme sets it.
    pub setting: String,
    /// Its value, such as `free_blocks < 50%`.
    pub value: String,
    /// The largest share of the region's space that can be free with these data, a fraction.
    pub reachable: f64,
    /// Bytes of data on the drive, the larger of start and end of the run.
    pub data_bytes: u64,
    /// A value that can be satisfied; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_reach: Option<String>,
}

/// Capacity of a drive whose blocks change their cell mode: each block counts in its current mode, an erased one in its
/// densest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangingCapacity {
    /// Bytes at the end of the run.
    pub usable_bytes: u64,
    /// The minimum over the run, in bytes.
    pub least_usable_bytes: u64,
    /// Changes of mode.
    #[serde(flatten)]
    pub counts: CapacityFigures,
}

/// Share of life used: each erase counts by the endurance of its mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LifeUsed {
    /// Mean over the blocks, a fraction.
    pub mean: f64,
    /// Of the most worn block, a fraction.
    pub max: f64,
}

/// Lost blocks, if blocks can retire.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LostBlocks {
    /// Blocks of the drive.
    pub blocks: u64,
    /// Blocks by how they were lost.
    #[serde(flatten)]
    pub counts: LostFigures,
    /// P/E cycles per simulated erase.
    pub acceleration: u64,
    /// When the drive wore out: the first host write without space; null before that.
    pub worn_out: Option<WornOut>,
}

/// The end of a drive. Host bytes and years are the simulated ones times the acceleration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WornOut {
    /// Simulated time, in seconds.
    pub at_s: f64,
    /// Host writes in this run, in bytes.
    pub total_bytes_written: f64,
    /// The same in drive writes.
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

/// Remaining lifetime if the host continues as in the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Lifetime {
    /// By cell mode: `slc`, `mlc`, `tlc`, `qlc`; only modes with an endurance in the device file.
    pub by_mode: BTreeMap<String, ModeLifetime>,
    /// How many times the host writes so far can be repeated until the first mode is worn out: the minimum over modes
    /// (HySSD, eq. 4). Null before the first erase.
    pub left: Option<f64>,
    /// Host bytes until then, including this run. Null where the run erased nothing.
    pub total_bytes_written: Option<f64>,
    /// Years that this takes at the run's rate.
    pub years: Option<f64>,
    /// Drive writes per day that wear it out in five years (DWPD).
    pub drive_writes_per_day: Option<f64>,
}

/// The lifetime of blocks of one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ModeLifetime {
    /// Cycles that a block endures.
    pub endurance: u64,
    /// Mean P/E cycles used per block.
    pub used: f64,
    /// (endurance - used) / used; null before the first erase, and negative past the end.
    pub left: Option<f64>,
}

/// The key of reprograms: a kind, shown with the causes.
pub const REPROGRAM: &str = "reprogram";
