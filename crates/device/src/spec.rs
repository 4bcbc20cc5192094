//! What a device file says, resolved: the one description from which flash, translation layer and
//! clock are built.

use serde::Serialize;
use wordline_flash::{Geometry, GeometryError, Medium};
use wordline_units::{Bytes, CellMode, Fraction, Rate, SimDuration};

/// A drive, with every default filled in.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DeviceSpec {
    /// Short name, as in `wordline list devices`.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// The flash, one entry a kind.
    pub media: Vec<Medium>,
    /// The mapping unit (logical page).
    pub unit: Bytes,
    /// The smallest unit that masks, bus and map know.
    pub sector: Bytes,
    /// What the host sees.
    pub capacity: Capacity,
    /// The link to the host.
    pub host: HostLink,
    /// Whether the planes of a die work one at a time or each on its own.
    pub parallel_unit: ParallelUnit,
    /// Where a write goes.
    pub allocation: Allocation,
    /// When a write is acknowledged.
    pub ack: Ack,
    /// Collection of invalid pages.
    pub gc: GcSpec,
    /// How long an incomplete one-shot group waits before it is padded; `None` for ever.
    pub pad_after: Option<SimDuration>,
    /// The SLC cache in front of denser flash, for schemes that use one.
    pub slc_cache: Option<SlcCache>,
}

/// The logical capacity.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Capacity {
    /// (physical − logical) / logical, physical counting every block in its densest mode but those
    /// of a static SLC cache.
    OverProvisioning(Fraction),
    /// So many bytes, however much flash stands behind them.
    Logical(Bytes),
}

/// The link to the host: a serial resource, charged a request after its last page.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct HostLink {
    /// Its rate; off costs nothing.
    pub rate: Rate,
    /// Fixed time a read spends on the link.
    pub read_overhead: SimDuration,
    /// Fixed time a write spends on the link.
    pub write_overhead: SimDuration,
    /// Requests admitted at once in an open loop; the others wait with their arrival times.
    pub queue_depth: u32,
}

/// What works one operation at a time inside a chip.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParallelUnit {
    /// The die: its planes share one array controller.
    Die,
    /// The plane.
    Plane,
}

/// One level of the hierarchy in an order of allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// C.
    Channel,
    /// W (a chip; the literature's way).
    Chip,
    /// D.
    Die,
    /// P.
    Plane,
}

/// How the plane of a logical page is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// By its number: consecutive pages step through the levels, first level fastest.
    Static([Level; 4]),
    /// Wherever the least work waits.
    Dynamic,
}

/// When a write is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ack {
    /// When its last program ends.
    Program,
    /// When a power-protected buffer of so many pages has taken it.
    Buffer(u32),
}

/// Garbage collection.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct GcSpec {
    /// When a region of a plane is collected.
    pub trigger: Trigger,
    /// Which block.
    pub victim: Victim,
    /// Where its operations queue.
    pub class: GcClass,
    /// Free blocks of a plane at or below which its collection becomes urgent.
    pub hard_reserve: u32,
}

/// A threshold in the unit that its region counts space in, as a share of the region's total.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Erased blocks.
    FreeBlocks(Fraction),
    /// Slots not yet programmed, in open blocks too.
    FreeSlots(Fraction),
}

/// The block that collection takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The one with the fewest live sectors; ties go to the lowest number.
    Greedy,
    /// The one that was filled first.
    Fifo,
}

/// Where collection queues among the host's operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcClass {
    /// After all of them.
    Background,
    /// With the writes, first come first served.
    Host,
    /// Before the writes.
    Urgent,
}

/// The blocks of each plane that serve as SLC cache.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SlcCache {
    /// Blocks of a plane that are always SLC.
    pub static_blocks: u32,
    /// Blocks of a plane that may be SLC besides while the drive is empty; they shrink as it fills.
    pub dynamic_blocks: u32,
    /// When a plane's cache is collected into the dense region.
    pub trigger: Trigger,
    /// What a host write does while the cache has no room.
    pub when_full: WhenFull,
}

/// What a host write does while the SLC cache has no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// Wait for collection.
    Wait,
    /// Go to the dense region.
    Direct,
}

impl DeviceSpec {
    /// Number the planes, blocks and places.
    ///
    /// # Errors
    /// When the geometry is impossible; see [`Geometry::new`].
    pub fn geometry(&self) -> Result<Geometry, GeometryError> {
        Geometry::new(self.media.clone(), self.unit, self.sector)
    }

    /// Bytes of flash that can store logical data: every block in its densest mode, but for those
    /// of a static SLC cache, which only pass data on.
    pub fn physical_bytes(&self) -> u64 {
        let cache = self.slc_cache.map_or(0, |c| c.static_blocks);
        self.media
            .iter()
            .map(|m| {
                let dense = m.densest();
                let has_cache = m.mode(CellMode::Slc).is_some() && dense != CellMode::Slc;
                let blocks = m.blocks_per_plane - if has_cache { cache.min(m.blocks_per_plane) } else { 0 };
                m.topology.planes() as u64 * blocks as u64 * m.block_bytes(dense)
            })
            .sum()
    }

    /// Bytes that the host can address, in whole mapping units.
    pub fn logical_bytes(&self) -> u64 {
        let bytes = match self.capacity {
            Capacity::Logical(b) => b.0,
            Capacity::OverProvisioning(f) => {
                let one = Fraction::ONE.0 as u128;
                (self.physical_bytes() as u128 * one / (one + f.0 as u128)) as u64
            }
        };
        bytes / self.unit.0 * self.unit.0
    }
}
