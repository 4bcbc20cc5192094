//! A resolved device file: the single description from which flash, translation layer and clock are built.

use crate::spec::buffers::{Ack, Flush, MergeBuffer, ProgramBuffer, pad_host_after};
use crate::spec::gc::{GcSpec, SlcCache};
use crate::spec::parallel::{
    Allocation, Multiplane, MultiplanePages, Packing, ParallelUnit, Parity, PartialPages, Superblock,
};
use crate::tables::dram::Dram;
use crate::tables::queues::Arbitration;
use crate::tables::service::Service;
use crate::tables::wear::WearSpec;
use crate::tables::words::words;
use serde::{Deserialize, Serialize};
use wordline_flash::{ErrorModel, Geometry, GeometryError, Medium};
use wordline_units::{Bytes, Fraction, Rate, SimDuration};

/// A drive, with every default filled in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DeviceSpec {
    /// Short name, as in `wordline list devices`.
    pub name: String,
    /// One-line description.
    pub description: String,
    /// The flash, one entry a kind.
    pub media: Vec<Medium>,
    /// The mapping unit (logical page).
    pub unit: Bytes,
    /// The smallest unit known to masks, bus and mapping table.
    pub sector: Bytes,
    /// What a page map knows about a partly written page.
    #[serde(default, skip_serializing_if = "PartialPages::are_whole")]
    pub partial: PartialPages,
    /// Which host data share a page of several mapping units.
    #[serde(default, skip_serializing_if = "Packing::is_off")]
    pub packing: Packing,
    /// Cost of reading sectors that a page on flash lacks.
    #[serde(default, skip_serializing_if = "UnwrittenReads::are_free")]
    pub unwritten: UnwrittenReads,
    /// Logical capacity.
    pub capacity: Capacity,
    /// The link to the host.
    pub host: HostLink,
    /// Arbitration between several host queues; `None` where requests come in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<Arbitration>,
    /// Whether the planes of a die operate one at a time or independently.
    pub parallel_unit: ParallelUnit,
    /// Whether planes of a die share one array time.
    #[serde(default, skip_serializing_if = "Multiplane::is_off")]
    pub multiplane: Multiplane,
    /// Which pages one multi-plane command can read or program.
    #[serde(default, skip_serializing_if = "MultiplanePages::are_any")]
    pub multiplane_pages: MultiplanePages,
    /// Which planes open, fill, collect and erase their blocks together.
    #[serde(default, skip_serializing_if = "Superblock::is_off")]
    pub superblock: Superblock,
    /// Which of their programs hold parity.
    #[serde(default, skip_serializing_if = "Parity::is_off")]
    pub parity: Parity,
    /// Order of service, and which operations can be suspended.
    #[serde(default, skip_serializing_if = "Service::is_usual")]
    pub service: Service,
    /// Allocation of a write to a plane.
    pub allocation: Allocation,
    /// When a write is acknowledged.
    pub ack: Ack,
    /// When the write buffer empties; `None` at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<Flush>,
    /// The merge buffer of schemes that have one.
    #[serde(default, skip_serializing_if = "MergeBuffer::is_usual")]
    pub merge: MergeBuffer,
    /// Further contents of the drive's RAM.
    #[serde(default, skip_serializing_if = "Dram::is_off")]
    pub dram: Dram,
    /// Collection of invalid pages.
    pub gc: GcSpec,
    /// Where pages wait for the rest of their wordline.
    #[serde(default)]
    pub program_buffer: ProgramBuffer,
    /// How long data wait there before the wordline is padded while no request waits for them; `None` for ever, which
    /// needs a protected buffer.
    pub pad_after: Option<SimDuration>,
    /// The same while a request waits for them.
    #[serde(default = "pad_host_after")]
    pub pad_host_after: SimDuration,
    /// The SLC cache in front of denser flash, for schemes that use one.
    pub slc_cache: Option<SlcCache>,
    /// The error model; `None` where every read succeeds at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorModel>,
    /// Wear-out of blocks, and wear leveling.
    #[serde(default, skip_serializing_if = "WearSpec::is_off")]
    pub wear: WearSpec,
}

/// Cost of reading never-written sectors of pages that are partly on flash. Pages with nothing on flash cost nothing
/// to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnwrittenReads {
    /// Nothing: the map knows which sectors there are.
    #[default]
    Free,
    /// A read from the place of the page, because the map knows the page but not its sectors.
    Read,
}

impl UnwrittenReads {
    pub(crate) fn are_free(&self) -> bool {
        *self == UnwrittenReads::Free
    }
}

words! {
    UnwrittenReads { Free = "free", Read = "read" }
}

/// The logical capacity.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capacity {
    /// (physical − logical) / logical, where physical counts every block in its densest mode, without a static SLC
    /// cache and without parity.
    OverProvisioning(Fraction),
    /// This many bytes, however much flash there is.
    Logical(Bytes),
}

/// How many requests the host link serves at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lanes {
    /// One: the link is a serial resource of the drive.
    #[default]
    Shared,
    /// One per queue, which is a volume of a trace or a job of a job file: a serial resource per host thread.
    PerQueue,
}

impl Lanes {
    pub(crate) const WORDS: &[(&str, Lanes)] = &[("shared", Lanes::Shared), ("per-queue", Lanes::PerQueue)];

    pub(crate) fn are_shared(&self) -> bool {
        *self == Lanes::Shared
    }
}

/// The host link: a serial resource, or one per queue, charged for a request after its last page.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct HostLink {
    /// Its rate; off costs nothing.
    pub rate: Rate,
    /// Fixed time a read spends on the link.
    pub read_overhead: SimDuration,
    /// Fixed time a write spends on the link.
    pub write_overhead: SimDuration,
    /// Controller time of a read, during which the link is free.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub read_latency: SimDuration,
    /// Controller time of a write.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_latency: SimDuration,
    /// Requests admitted at a time in an open loop; the others wait with their arrival times.
    pub queue_depth: u32,
    /// Requests that it takes at a time.
    #[serde(default, skip_serializing_if = "Lanes::are_shared")]
    pub link: Lanes,
}

pub(crate) fn is_zero(time: &SimDuration) -> bool {
    *time == SimDuration::ZERO
}

impl DeviceSpec {
    /// Number the planes, blocks and places.
    ///
    /// # Errors
    /// When the geometry is impossible; see [`Geometry::new`].
    pub fn geometry(&self) -> Result<Geometry, GeometryError> {
        Geometry::new(self.media.clone(), self.unit, self.sector)
    }

    /// Whether the energy of every operation is known.
    pub fn gives_energy(&self) -> bool {
        self.media.iter().all(|m| m.energy.is_some())
    }

    /// Bytes of flash that can store logical data: every block in its densest mode, without a static SLC cache, which
    /// only holds data temporarily.
    pub fn physical_bytes(&self) -> u64 {
        self.media.iter().map(|m| self.physical_bytes_of(m)).sum()
    }

    /// Of these, the bytes that parity takes.
    pub fn parity_bytes(&self) -> u64 {
        self.media.iter().map(|m| self.parity_of(m, self.physical_bytes_of(m))).sum()
    }

    /// Of these, the bytes that parity leaves for data.
    pub fn data_bytes(&self) -> u64 {
        self.physical_bytes() - self.parity_bytes()
    }

    /// Of some bytes of a medium, those that parity takes.
    pub fn parity_of(&self, medium: &Medium, bytes: u64) -> u64 {
        match self.parity {
            Parity::Off => 0,
            Parity::Superpage => bytes.div_ceil(u64::from(self.superblock.planes(medium.topology))),
        }
    }

    fn physical_bytes_of(&self, medium: &Medium) -> u64 {
        let cache = self.slc_cache.map_or(0, |c| c.static_blocks);
        let cached = if medium.has_slc_cache() { cache } else { 0 };
        let blocks = medium.blocks_per_plane.saturating_sub(cached);
        medium.topology.planes() as u64 * blocks as u64 * medium.block_bytes(medium.densest())
    }

    /// Bytes that the host can address, in whole mapping units.
    pub fn logical_bytes(&self) -> u64 {
        let bytes = match self.capacity {
            Capacity::Logical(b) => b.0,
            Capacity::OverProvisioning(f) => {
                let one = Fraction::ONE.0 as u128;
                (self.data_bytes() as u128 * one / (one + f.0 as u128)) as u64
            }
        };
        bytes / self.unit.0 * self.unit.0
    }
}
