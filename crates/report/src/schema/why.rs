//! Why requests took this long: what each of them waited for, operation by operation, and what the slowest have
//! in common. This is the schema `wordline.why/1`. Every interval in it is a use of the flash that the operation
//! log and the timeline of the same run have, too.

use crate::schema::why_summary::WhySummary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the schema that [`Why`] follows.
pub const WHY_SCHEMA: &str = "wordline.why/1";

/// The stories of some requests of a run.
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
    /// What the slowest requests have in common, by kind of request, if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summaries: Vec<WhySummary>,
    /// The stories, in the order asked for, or the slowest first.
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
    /// How many of them.
    pub blocks: u64,
    /// `done`, `out_of_space`, `uncorrectable` or `worn_out`.
    pub outcome: String,
    /// When it arrived, in nanoseconds of simulated time.
    pub arrival_ns: u64,
    /// When it ended.
    pub completion_ns: u64,
    /// The parts of its latency, in nanoseconds, as completions have them; those of no time are left out.
    pub parts_ns: BTreeMap<String, u64>,
    /// What the drive was at when it let the request in; absent where that was at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub let_in_beside: Option<Beside>,
    /// The operation that ended last; none where the drive's RAM sufficed.
    pub last: Option<LastPiece>,
    /// The read that brought what a page lacked before that could be queued, if there was one.
    pub brought: Option<LastPiece>,
    /// Its time from arrival to completion, cut where something else is what it waits for.
    pub stretches: Vec<Stretch>,
}

/// The requests that a drive worked on as it let another in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// How many, by kind: `read`, `write`, `trim`, `flush`.
    pub requests: BTreeMap<String, u64>,
    /// The number of the oldest of them.
    pub oldest: u64,
    /// Since when the drive worked on it, in nanoseconds of simulated time.
    pub oldest_since_ns: u64,
}

/// The operation with which a request ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LastPiece {
    /// The operation, from the moment that it had its plane.
    pub work: Work,
    /// When it was queued at its plane.
    pub queued_ns: u64,
    /// When it first found no free page; null if it did not.
    pub blocked_ns: Option<u64>,
    /// Whether it was queued for this request, and not for others before it.
    pub own: bool,
    /// Pages of data that it wrote or read, and pages that it covers.
    pub pages: [u32; 2],
}

/// What a stretch of a request's time was spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spent {
    /// As many requests as the drive admits were outstanding.
    QueueFull,
    /// The write buffer had no room.
    BufferFull,
    /// For the page of the map that says where its data lie, or will lie.
    MapMiss,
    /// In the drive's RAM: for other data, or for the operation of another request.
    InRam,
    /// The plane worked for others.
    PlaneBusy,
    /// The plane was free, and the array that it shares was not.
    ArrayBusy,
    /// The channel's bus moved other data.
    BusBusy,
    /// No page was free.
    NoSpace,
    /// The array worked on it.
    Array,
    /// Its data moved over the bus.
    Bus,
    /// The host link moved its data, or those before it.
    Link,
}

/// A stretch of a request's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// What it was spent on.
    pub spent: Spent,
    /// The operation that waited or worked then; null outside of the flash.
    pub op: Option<u64>,
    /// From when, in nanoseconds of simulated time.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// What stood in its way, in the order in which it began.
    pub behind: Vec<Work>,
    /// What the planes did meanwhile, where no operation of its own waited, the busiest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meanwhile: Vec<Busy>,
}

/// What planes did for one cause and region while a request waited for the drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// `host`, `gc`, `migrate`, `pad`, `metadata` or `rmw`.
    pub cause: String,
    /// The region that was emptied; of other work, the region that owns the blocks.
    pub region: String,
    /// The mode of the blocks' cells.
    pub mode: String,
    /// Time that planes spent on it, in nanoseconds, all planes together.
    pub busy_ns: u64,
    /// How many planes did.
    pub planes: u32,
    /// The plane that spent most on it.
    pub plane: u32,
    /// How much time that one did.
    pub plane_ns: u64,
    /// Of a block that was emptied for it, the one that took most time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empties: Option<Emptied>,
}

impl Stretch {
    /// How long it is.
    pub fn ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }

    /// How much of it a piece of work takes.
    pub fn shared_with(&self, work: &Work) -> u64 {
        work.end_ns.min(self.to_ns).saturating_sub(work.start_ns.max(self.from_ns))
    }
}

/// A flash operation, and when it had what was waited for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The operation, by its number in the run.
    pub op: u64,
    /// `read`, `program` or `erase`.
    pub kind: String,
    /// `host`, `gc`, `migrate`, `pad`, `metadata` or `rmw`.
    pub cause: String,
    /// What it had: its `plane` all the while, an `array` or a `bus`.
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
    /// How often a read was repeated.
    pub retries: u8,
    /// The block being emptied by it, if one is.
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
    /// Erased blocks that its region could open in its plane then.
    pub free_blocks: u32,
    /// How much of it was valid then, in per cent.
    #[serde(default)]
    pub valid_percent: u8,
    /// Since when the region has been short of free blocks without a break, in nanoseconds of simulated time.
    #[serde(default)]
    pub short_since_ns: u64,
    /// Bytes that have left the region for another in that time.
    #[serde(default)]
    pub moved_bytes: u64,
}
