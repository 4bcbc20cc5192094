//! Explanation of slow requests: what each waited for, operation by operation, and what the slowest have in
//! common. This is the schema `wordline.why/1`. Every interval in it is a use of the flash that the operation
//! log and the timeline of the same run have, too.

use crate::schema::why_summary::WhySummary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the schema that [`Why`] follows.
pub const WHY_SCHEMA: &str = "wordline.why/1";

/// Where the time of some requests of a run went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// Always `wordline.why/1`.
    pub schema: String,
    /// The version of Wordline that ran.
    pub version: String,
    /// The scheme, as the command line spells it.
    pub scheme: String,
    /// The device.
    pub device: String,
    /// The workload.
    pub workload: String,
    /// The seed of the run.
    pub seed: u64,
    /// Common causes of the slowest requests, by kind of request, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<WhySummary>,
    /// The stories, in the requested order, or the slowest first.
    pub stories: Vec<Story>,
}

/// One request, and where its time went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// Its number, counted from 0 in the order of arrival.
    pub number: u64,
    /// `read`, `write`, `trim` or `flush`.
    pub op: String,
    /// Its first block of 512 bytes.
    pub lba: u64,
    /// Its length in these blocks.
    pub blocks: u64,
    /// `done`, `out_of_space`, `uncorrectable` or `worn_out`.
    pub outcome: String,
    /// When it arrived, in nanoseconds of simulated time.
    pub arrival_ns: u64,
    /// When it ended.
    pub completion_ns: u64,
    /// The parts of its latency, in nanoseconds, as in completions; zero parts are omitted.
    pub parts_ns: BTreeMap<String, u64>,
    /// What the drive was doing when it admitted the request; absent if it was admitted immediately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub let_in_beside: Option<Beside>,
    /// The operation that ended last; null if RAM served the request.
    pub last: Option<LastPiece>,
    /// The read of a page's missing data before that operation, if any.
    pub brought: Option<LastPiece>,
    /// Its time from arrival to completion, divided wherever the cause of waiting changes.
    pub stretches: Vec<Stretch>,
}

/// Outstanding requests when another was admitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// How many, by kind: `read`, `write`, `trim`, `flush`.
    pub requests: BTreeMap<String, u64>,
    /// The number of the oldest of them.
    pub oldest: u64,
    /// Since when it was outstanding, in nanoseconds of simulated time.
    pub oldest_since_ns: u64,
}

/// The operation with which a request ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LastPiece {
    /// The operation, from the start in its plane.
    pub work: Work,
    /// When it was queued at its plane.
    pub queued_ns: u64,
    /// When it first found no free page; null if there always was one.
    pub blocked_ns: Option<u64>,
    /// Whether it was queued for this request, not for earlier ones.
    pub own: bool,
    /// Pages of data that it transferred, and pages that it covers.
    pub pages: [u32; 2],
}

/// What an interval of a request's time was spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spent {
    /// The drive had its maximum of outstanding requests.
    QueueFull,
    /// The write buffer had no room.
    BufferFull,
    /// Waiting for the page of the mapping table with its entry.
    MapMiss,
    /// In the drive's RAM: waiting for other data, or for an operation of another request.
    InRam,
    /// The plane was busy with other operations.
    PlaneBusy,
    /// The plane was free, but the array that it shares was not.
    ArrayBusy,
    /// The channel bus transferred other data.
    BusBusy,
    /// No page was free.
    NoSpace,
    /// The array executed its operation.
    Array,
    /// The bus transferred its data.
    Bus,
    /// The host link transferred its data, or earlier ones.
    Link,
}

/// A stretch of a request's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// What it was spent on.
    pub spent: Spent,
    /// The waiting or active operation; null outside of the flash.
    pub op: Option<u64>,
    /// From when, in nanoseconds of simulated time.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// The operations ahead of it, in order of their start.
    pub behind: Vec<Work>,
    /// What the planes did meanwhile, if no operation of its own waited, busiest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meanwhile: Vec<Busy>,
}

/// Work of planes for one cause and region while a request waited for admission.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// `host`, `gc`, `migrate`, `pad`, `metadata`, `rmw` or `parity`.
    pub cause: String,
    /// The region that was emptied; for other work, the region that owns the blocks.
    pub region: String,
    /// The mode of the blocks' cells.
    pub mode: String,
    /// Time that planes spent on it, in nanoseconds, all planes together.
    pub busy_ns: u64,
    /// Number of planes that spent time on it.
    pub planes: u32,
    /// The plane that spent most time on it.
    pub plane: u32,
    /// Time of the busiest plane.
    pub plane_ns: u64,
    /// The block emptied meanwhile that took most time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empties: Option<Emptied>,
}

impl Stretch {
    /// Its length.
    pub fn ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }

    /// Its part spent on a piece of work.
    pub fn shared_with(&self, work: &Work) -> u64 {
        work.end_ns.min(self.to_ns).saturating_sub(work.start_ns.max(self.from_ns))
    }
}

/// A flash operation, and when it held the resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The operation, by its number in the run.
    pub op: u64,
    /// `read`, `program` or `erase`.
    pub kind: String,
    /// `host`, `gc`, `migrate`, `pad`, `metadata`, `rmw` or `parity`.
    pub cause: String,
    /// The resource: its `plane` throughout, an `array` or a `bus`.
    pub had: String,
    /// From when, in nanoseconds of simulated time.
    pub start_ns: u64,
    /// Until when.
    pub end_ns: u64,
    /// Its channel.
    pub channel: u32,
    /// Its die.
    pub die: u32,
    /// Its plane.
    pub plane: u32,
    /// Its block.
    pub block: u32,
    /// The first slot of the block that it covers.
    pub slot: u32,
    /// The region that owns the block.
    pub region: String,
    /// The mode of the block's cells: `slc`, `mlc`, `tlc`, `qlc`.
    pub mode: String,
    /// The bit of the wordline: `lsb`, `csb`, `msb`, `tsb`.
    pub page: String,
    /// Number of read retries.
    pub retries: u8,
    /// The block that it empties, if any.
    pub empties: Option<Emptied>,
}

/// A block being emptied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Emptied {
    /// The block.
    pub block: u32,
    /// The region that owns it.
    #[serde(default)]
    pub region: String,
    /// The mode of that region's cells.
    #[serde(default)]
    pub mode: String,
    /// `shortage`, `idleness`, `levelling` or `refresh`.
    pub reason: String,
    /// Since when, in nanoseconds of simulated time.
    pub since_ns: u64,
    /// Erased blocks that its region could open in its plane.
    pub free_blocks: u32,
    /// Share of valid data in it, in percent.
    #[serde(default)]
    pub valid_percent: u8,
    /// Start of the current shortage of free blocks in the region, in nanoseconds of simulated time.
    #[serde(default)]
    pub short_since_ns: u64,
    /// Bytes moved from the region to another one since then.
    #[serde(default)]
    pub moved_bytes: u64,
}
