//! What a device file says, resolved: the one description from which flash, translation layer and
//! clock are built.

use crate::spec::buffers::{Ack, Flush, MergeBuffer, ProgramBuffer, pad_host_after};
use crate::spec::gc::{GcSpec, SlcCache};
use crate::spec::parallel::{
    Allocation, Multiplane, MultiplanePages, Packing, ParallelUnit, PartialPages, Superblock,
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
    /// One line for people.
    pub description: String,
    /// The flash, one entry a kind.
    pub media: Vec<Medium>,
    /// The mapping unit (logical page).
    pub unit: Bytes,
    /// The smallest unit that masks, bus and map know.
    pub sector: Bytes,
    /// What a page map knows of a page that was written in part.
    #[serde(default, skip_serializing_if = "PartialPages::are_whole")]
    pub partial: PartialPages,
    /// Which host data share a page that holds several mapping units.
    #[serde(default, skip_serializing_if = "Packing::is_off")]
    pub packing: Packing,
    /// What it costs to read sectors that a page on flash lacks.
    #[serde(default, skip_serializing_if = "UnwrittenReads::are_free")]
    pub unwritten: UnwrittenReads,
    /// What the host sees.
    pub capacity: Capacity,
    /// The link to the host.
    pub host: HostLink,
    /// How turns are taken between several queues of the host; `None` where requests come in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<Arbitration>,
    /// Whether the planes of a die work one at a time or each on its own.
    pub parallel_unit: ParallelUnit,
    /// Whether planes of a die share its array's time.
    #[serde(default, skip_serializing_if = "Multiplane::is_off")]
    pub multiplane: Multiplane,
    /// Which pages one such command may read or program.
    #[serde(default, skip_serializing_if = "MultiplanePages::are_any")]
    pub multiplane_pages: MultiplanePages,
    /// Which planes open, fill, collect and erase their blocks together.
    #[serde(default, skip_serializing_if = "Superblock::is_off")]
    pub superblock: Superblock,
    /// In which order operations are served, and which are interrupted.
    #[serde(default, skip_serializing_if = "Service::is_usual")]
    pub service: Service,
    /// Where a write goes.
    pub allocation: Allocation,
    /// When a write is acknowledged.
    pub ack: Ack,
    /// When the write buffer empties; `None` at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<Flush>,
    /// The merge buffer of schemes that have one.
    #[serde(default, skip_serializing_if = "MergeBuffer::is_usual")]
    pub merge: MergeBuffer,
    /// What the drive keeps in RAM besides.
    #[serde(default, skip_serializing_if = "Dram::is_off")]
    pub dram: Dram,
    /// Collection of invalid pages.
    pub gc: GcSpec,
    /// Where pages wait for the rest of their wordline.
    #[serde(default)]
    pub program_buffer: ProgramBuffer,
    /// How long data that no request waits for may wait there before the wordline is padded; `None` for ever, which
    /// needs a protected buffer.
    pub pad_after: Option<SimDuration>,
    /// The same for data that a request waits for.
    #[serde(default = "pad_host_after")]
    pub pad_host_after: SimDuration,
    /// The SLC cache in front of denser flash, for schemes that use one.
    pub slc_cache: Option<SlcCache>,
    /// How the flash errs; `None` where every read succeeds at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorModel>,
    /// How blocks wear out, and what keeps their wear even.
    #[serde(default, skip_serializing_if = "WearSpec::is_off")]
    pub wear: WearSpec,
}

/// What it costs to read sectors that were never written, of pages that are on flash in part. Pages of which nothing is on
/// flash cost nothing to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnwrittenReads {
    /// Nothing: the map knows which sectors there are.
    #[default]
    Free,
    /// What it costs to read them where the page lies: the map knows that there is a page.
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
    /// (physical − logical) / logical, physical counting every block in its densest mode but those
    /// of a static SLC cache.
    OverProvisioning(Fraction),
    /// This many bytes, however much flash stands behind them.
    Logical(Bytes),
}

/// How many requests the link to the host takes at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lanes {
    /// One: the link is a serial resource of the drive.
    #[default]
    Shared,
    /// One of each queue, which is a volume of a trace or a job of a job file: a serial resource of each of the
    /// host's threads.
    PerQueue,
}

impl Lanes {
    pub(crate) const WORDS: &[(&str, Lanes)] = &[("shared", Lanes::Shared), ("per-queue", Lanes::PerQueue)];

    pub(crate) fn are_shared(&self) -> bool {
        *self == Lanes::Shared
    }
}

/// The link to the host: a serial resource, or one of each queue, charged a request after its last page.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct HostLink {
    /// Its rate; off costs nothing.
    pub rate: Rate,
    /// Fixed time a read spends on the link.
    pub read_overhead: SimDuration,
    /// Fixed time a write spends on the link.
    pub write_overhead: SimDuration,
    /// Time the controller takes for a read beside others: the link is free meanwhile.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub read_latency: SimDuration,
    /// The same of a write.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_latency: SimDuration,
    /// Requests admitted at a time in an open loop; the others wait with their arrival times.
    pub queue_depth: u32,
    /// Requests that it takes at a time.
    #[serde(default, skip_serializing_if = "Lanes::are_shared")]
    pub link: Lanes,
}

fn is_zero(time: &SimDuration) -> bool {
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

    /// Bytes of flash that can store logical data: every block in its densest mode, but for those
    /// of a static SLC cache, which only pass data on.
    pub fn physical_bytes(&self) -> u64 {
        let cache = self.slc_cache.map_or(0, |c| c.static_blocks);
        self.media
            .iter()
            .map(|m| {
                let cached = if m.has_slc_cache() { cache } else { 0 };
                let blocks = m.blocks_per_plane.saturating_sub(cached);
                m.topology.planes() as u64 * blocks as u64 * m.block_bytes(m.densest())
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
