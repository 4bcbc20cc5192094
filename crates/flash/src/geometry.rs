//! Geometry of a drive: media with channels, chips, dies, planes and blocks, and the numbering of planes, blocks and
//! slots that all of Wordline uses.
//!
//! Planes are numbered across the drive, medium by medium, in the order channel, chip, die, plane; blocks plane by
//! plane. A physical place is `block << slot_shift | slot`, so that its block is a shift. A slot holds one mapping
//! unit; a page holds `units_per_page` of them.

use crate::slot::BlockShape;
use crate::timing::{CacheRegister, CommandOverhead, MediumEnergy, ModeTiming};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_units::{BlockId, Bytes, CellMode, ChannelId, DieId, PlaneId, Ppn, Rate};

/// A geometry that cannot be built, or exceeds 32-bit numbers.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct GeometryError(pub String);

/// Number of each level within the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Topology {
    /// Channels, each with its own bus.
    pub channels: u32,
    /// Chips on a channel.
    pub chips_per_channel: u32,
    /// Dies (LUNs) in a chip.
    pub dies_per_chip: u32,
    /// Planes on a die.
    pub planes_per_die: u32,
}

impl Topology {
    /// Dies in all.
    pub const fn dies(self) -> u32 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }

    /// Planes in all.
    pub const fn planes(self) -> u32 {
        self.dies() * self.planes_per_die
    }
}

/// One kind of flash in the drive, with the dies that carry it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Medium {
    /// Its name in the device file.
    pub name: String,
    /// The dies that carry it.
    pub topology: Topology,
    /// Blocks in a plane.
    pub blocks_per_plane: u32,
    /// Wordlines in a block; a block in a mode of b bits has b pages per wordline.
    pub wordlines_per_block: u32,
    /// Bytes of a page.
    pub page: Bytes,
    /// Times by mode, [`CellMode::index`]; `None` if the flash does not support the mode.
    pub modes: [Option<ModeTiming>; 4],
    /// Rate of one channel's bus.
    pub bus: Rate,
    /// Time of the commands themselves.
    pub command: CommandOverhead,
    /// Command time of each further plane of a multi-plane command; by default [`Medium::further_plane`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_further: Option<CommandOverhead>,
    /// Use of the second register of each plane.
    #[serde(default, skip_serializing_if = "CacheRegister::is_off")]
    pub cache_register: CacheRegister,
    /// What its operations take from the supply; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<MediumEnergy>,
}

impl Medium {
    /// Times of a mode, where the flash offers it.
    pub fn mode(&self, mode: CellMode) -> Option<&ModeTiming> {
        self.modes[mode.index()].as_ref()
    }

    /// What each further plane of a multi-plane command adds to it: where the device does not say, nothing to a read or
    /// an erase, and a whole command to a program, whose data come one plane after the other.
    pub fn further_plane(&self) -> CommandOverhead {
        let program_alone = CommandOverhead { program: self.command.program, ..CommandOverhead::default() };
        self.command_further.unwrap_or(program_alone)
    }

    /// The mode with the most bits.
    pub fn densest(&self) -> CellMode {
        CellMode::ALL.into_iter().rev().find(|m| self.mode(*m).is_some()).unwrap_or(CellMode::Slc)
    }

    /// Whether its blocks can be an SLC cache in front of a denser mode.
    pub fn has_slc_cache(&self) -> bool {
        self.mode(CellMode::Slc).is_some() && self.densest() != CellMode::Slc
    }

    /// The shape of a block in `mode`.
    pub fn shape(&self, mode: CellMode) -> BlockShape {
        BlockShape { wordlines: self.wordlines_per_block as u16, bits: mode.bits() as u8 }
    }

    /// Pages of a block in `mode`.
    pub const fn pages_per_block(&self, mode: CellMode) -> u32 {
        self.wordlines_per_block * mode.bits()
    }

    /// Bytes of a block in `mode`.
    pub const fn block_bytes(&self, mode: CellMode) -> u64 {
        self.pages_per_block(mode) as u64 * self.page.0
    }
}

/// A whole drive, numbered.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// The media, in the order of the device file.
    pub media: Vec<Medium>,
    /// Bytes of a mapping unit, the logical page.
    pub unit: u64,
    /// Bytes of a sector, the smallest unit that masks, bus and map know.
    pub sector: u64,
    /// Sectors of a mapping unit.
    pub sectors_per_unit: u32,
    /// Bits of a place's number that count slots within its block.
    pub slot_shift: u32,
    /// Planes in all.
    pub planes: u32,
    /// Dies in all.
    pub dies: u32,
    /// Channels in all.
    pub channels: u32,
    /// Blocks in all.
    pub blocks: u32,
    units_per_page: Vec<u32>,
    plane_medium: Vec<u8>,
    plane_die: Vec<DieId>,
    /// The first plane of each die, and behind the last die the number of planes.
    die_first_plane: Vec<u32>,
    die_channel: Vec<ChannelId>,
    /// The first die of each channel, and behind the last channel the number of dies.
    channel_first_die: Vec<u32>,
    plane_first_block: Vec<u32>,
    /// Slots of the largest block.
    pub most_slots: u32,
    runs: Vec<PlaneRun>,
}

/// The planes of one medium, so that the plane of a block is arithmetic and not a table.
#[derive(Clone, PartialEq, Eq, Debug)]
struct PlaneRun {
    first_block: u32,
    first_plane: u32,
    /// 2^64 / blocks per plane, rounded up: times a block number, exact for 32 bits.
    per_block: u128,
}

/// Whether 32 bits number all slots of this many blocks, of each as many as a power of two that holds `slots`.
pub fn has_slot_numbers(blocks: u64, slots: u64) -> bool {
    blocks.saturating_mul(slots.next_power_of_two()) <= u32::MAX as u64
}

impl Geometry {
    /// Number the media of a drive whose mapping unit and sector have the given sizes.
    ///
    /// # Errors
    /// When a count is zero, sizes do not divide one another, a page has more than 32 sectors, or
    /// the drive has more places than 32 bits can number.
    pub fn new(media: Vec<Medium>, unit: Bytes, sector: Bytes) -> Result<Geometry, GeometryError> {
        let fail = |text: String| Err(GeometryError(text));
        if media.is_empty() {
            return fail("a drive needs at least one medium".into());
        }
        if sector.0 == 0 || !sector.0.is_multiple_of(512) {
            return fail(format!("a sector of {sector} is not a multiple of 512 B"));
        }
        if unit.0 == 0 || !unit.0.is_multiple_of(sector.0) {
            return fail(format!("a mapping unit of {unit} is not a multiple of the sector, {sector}"));
        }
        let mut most_slots = 0u64;
        let mut blocks = 0u64;
        for m in &media {
            let t = m.topology;
            for (count, what) in [
                (t.channels, "channels"),
                (t.chips_per_channel, "chips per channel"),
                (t.dies_per_chip, "dies per chip"),
                (t.planes_per_die, "planes per die"),
                (m.blocks_per_plane, "blocks per plane"),
                (m.wordlines_per_block, "wordlines per block"),
            ] {
                if count == 0 {
                    return fail(format!("medium {:?} has 0 {what}", m.name));
                }
                if count > 1 << 24 {
                    return fail(format!("medium {:?} has {count} {what}; at most 16,777,216", m.name));
                }
            }
            if t.planes_per_die > 64 {
                return fail(format!(
                    "medium {:?} has {} planes per die; at most 64",
                    m.name, t.planes_per_die
                ));
            }
            if m.page.0 == 0 || !m.page.0.is_multiple_of(unit.0) {
                return fail(format!(
                    "a page of {} in medium {:?} is not a multiple of the mapping unit, {unit}",
                    m.page, m.name
                ));
            }
            if m.page.0 / sector.0 > 32 {
                return fail(format!(
                    "a page of {} in medium {:?} has {} sectors of {sector}; at most 32, so choose a larger sector",
                    m.page,
                    m.name,
                    m.page.0 / sector.0
                ));
            }
            if m.modes.iter().all(Option::is_none) {
                return fail(format!("medium {:?} has no cell modes", m.name));
            }
            let pages = m.pages_per_block(m.densest()) as u64;
            if pages > 32_768 {
                return fail(format!("a block of medium {:?} has {pages} pages; at most 32,768", m.name));
            }
            most_slots = most_slots.max(pages * (m.page.0 / unit.0));
            let planes = t.channels as u128
                * t.chips_per_channel as u128
                * t.dies_per_chip as u128
                * t.planes_per_die as u128;
            if planes > 1 << 16 {
                return fail(format!("medium {:?} has {planes} planes; at most 65,536", m.name));
            }
            blocks += planes as u64 * m.blocks_per_plane as u64;
        }
        let slot_shift = most_slots.next_power_of_two().trailing_zeros();
        if !has_slot_numbers(blocks, most_slots) {
            let most = u64::from(u32::MAX) >> slot_shift;
            let bytes = Bytes(most.saturating_mul(most_slots).saturating_mul(unit.0) >> 30 << 30);
            return fail(format!(
                "{blocks} blocks of up to {most_slots} mapping units exceed 32-bit numbers; at most {most} blocks, \
                 {bytes} of flash in units of {unit}; twice as much with mapping.unit and medium.*.page twice as large"
            ));
        }
        let mut g = Geometry {
            unit: unit.0,
            sector: sector.0,
            sectors_per_unit: (unit.0 / sector.0) as u32,
            slot_shift,
            planes: 0,
            dies: 0,
            channels: 0,
            blocks: 0,
            units_per_page: media.iter().map(|m| (m.page.0 / unit.0) as u32).collect(),
            plane_medium: vec![],
            plane_die: vec![],
            die_first_plane: vec![0],
            die_channel: vec![],
            channel_first_die: vec![0],
            plane_first_block: vec![],
            most_slots: most_slots as u32,
            runs: vec![],
            media: vec![],
        };
        for (index, m) in media.iter().enumerate() {
            g.runs.push(PlaneRun {
                first_block: g.blocks,
                first_plane: g.plane_die.len() as u32,
                per_block: (1u128 << 64).div_ceil(m.blocks_per_plane as u128),
            });
            let dies_per_channel = m.topology.chips_per_channel * m.topology.dies_per_chip;
            for die in 0..m.topology.dies() {
                g.die_channel.push(ChannelId(g.channels + die / dies_per_channel));
                for _ in 0..m.topology.planes_per_die {
                    g.plane_medium.push(index as u8);
                    g.plane_die.push(DieId(g.dies + die));
                    g.plane_first_block.push(g.blocks);
                    g.blocks += m.blocks_per_plane;
                }
                g.die_first_plane.push(g.plane_die.len() as u32);
            }
            g.channel_first_die.extend((1..=m.topology.channels).map(|n| g.dies + n * dies_per_channel));
            g.dies += m.topology.dies();
            g.channels += m.topology.channels;
        }
        g.planes = g.plane_die.len() as u32;
        g.media = media;
        Ok(g)
    }

    /// The block of a place.
    #[inline(always)]
    pub fn block_of(&self, ppn: Ppn) -> BlockId {
        BlockId(ppn.0 >> self.slot_shift)
    }

    /// The slot of a place within its block.
    #[inline(always)]
    pub fn slot_of(&self, ppn: Ppn) -> u32 {
        ppn.0 & ((1 << self.slot_shift) - 1)
    }

    /// The place of a slot in a block.
    #[inline(always)]
    pub fn ppn(&self, block: BlockId, slot: u32) -> Ppn {
        Ppn(block.0 << self.slot_shift | slot)
    }

    /// The plane of a block.
    #[inline(always)]
    pub fn plane_of(&self, block: BlockId) -> PlaneId {
        let run = match self.runs.as_slice() {
            [run] => run,
            // One a medium: few, so that from the last on is faster than by halves.
            runs => runs.iter().rev().find(|r| r.first_block <= block.0).unwrap_or(&runs[0]),
        };
        let planes = ((block.0 - run.first_block) as u128 * run.per_block) >> 64;
        PlaneId(run.first_plane + planes as u32)
    }

    /// The plane of a place.
    #[inline(always)]
    pub fn plane_at(&self, ppn: Ppn) -> PlaneId {
        self.plane_of(self.block_of(ppn))
    }

    /// The die of a plane.
    #[inline(always)]
    pub fn die_of(&self, plane: PlaneId) -> DieId {
        self.plane_die[plane.index()]
    }

    /// The planes of a die, as a range of plane numbers.
    #[inline]
    pub fn planes_of_die(&self, die: DieId) -> std::ops::Range<u32> {
        self.die_first_plane[die.index()]..self.die_first_plane[die.index() + 1]
    }

    /// The channel of a die.
    #[inline(always)]
    pub fn channel_of(&self, die: DieId) -> ChannelId {
        self.die_channel[die.index()]
    }

    /// The dies of a channel, as a range of die numbers.
    pub fn dies_of_channel(&self, channel: ChannelId) -> std::ops::Range<u32> {
        self.channel_first_die[channel.index()]..self.channel_first_die[channel.index() + 1]
    }

    /// Index of a plane's medium.
    #[inline(always)]
    pub fn medium_index(&self, plane: PlaneId) -> usize {
        self.plane_medium[plane.index()] as usize
    }

    /// The medium of a plane.
    #[inline(always)]
    pub fn medium_of(&self, plane: PlaneId) -> &Medium {
        &self.media[self.medium_index(plane)]
    }

    /// The first block of a plane.
    #[inline(always)]
    pub fn first_block(&self, plane: PlaneId) -> u32 {
        self.plane_first_block[plane.index()]
    }

    /// The blocks of a plane, as a range of block numbers.
    pub fn blocks_of(&self, plane: PlaneId) -> std::ops::Range<u32> {
        let first = self.plane_first_block[plane.index()];
        first..first + self.medium_of(plane).blocks_per_plane
    }

    /// The planes of a medium, as a range of plane numbers.
    pub fn planes_of_medium(&self, medium: usize) -> std::ops::Range<u32> {
        let first = self.media[..medium].iter().map(|m| m.topology.planes()).sum();
        first..first + self.media[medium].topology.planes()
    }

    /// Mapping units of a page in a medium.
    #[inline]
    pub fn units_per_page(&self, medium: usize) -> u32 {
        self.units_per_page[medium]
    }

    /// Slots of the largest block: the stride of slot numbers rounded down to the used part.
    pub fn slot_stride(&self) -> u32 {
        1 << self.slot_shift
    }
}
