//! Array times by mode and page type, as plain numbers for fast look-up.

use crate::plan::layout::{DriveInfo, Layout};
use crate::plan::region::{EarlierBits, RegionId};
use wordline_device::MultiplanePages;
use wordline_flash::Geometry;
use wordline_units::{CellMode, SimDuration};

/// Array time of an operation.
#[derive(Clone, Copy, Debug)]
pub struct ArrayTime {
    /// In all.
    pub all: SimDuration,
    /// Share of it for retries.
    pub again: SimDuration,
}

/// Times of one medium and mode, in nanoseconds, by type of page.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModeTimes {
    pub read: [u64; 4],
    pub program: [u64; 4],
    pub copy_back: u64,
    pub erase: u64,
}

/// What arrays can do, and how long it takes.
#[derive(Clone, Debug)]
pub(crate) struct ArrayTimes {
    /// By medium and mode.
    modes: Vec<[ModeTimes; 4]>,
    /// Time to read the earlier bits before a program, by region and bit.
    rereads: Vec<[u64; 4]>,
    /// Time until a read is known to have failed.
    pub decode: SimDuration,
    /// Whether each attempt of a read is transferred over the bus.
    pub retransfer: bool,
    /// Whether multi-plane commands may address pages with different numbers.
    pub pairs_any: bool,
    /// Whether any region has windows of wordlines that serve as SLC.
    pub has_windows: bool,
}

impl ArrayTimes {
    pub fn new(drive: &DriveInfo, layout: &Layout) -> ArrayTimes {
        let geometry = &drive.geometry;
        let errors = drive.spec.errors.as_ref();
        ArrayTimes {
            modes: geometry
                .media
                .iter()
                .map(|medium| CellMode::ALL.map(|mode| mode_times(medium, mode)))
                .collect(),
            rereads: rereads(geometry, layout),
            decode: errors.map_or(SimDuration::ZERO, |e| e.decode),
            retransfer: errors.is_some_and(|e| e.retransfer),
            pairs_any: drive.spec.multiplane_pages == MultiplanePages::Any,
            has_windows: layout.regions.iter().any(|r| r.rule.reprograms()),
        }
    }

    /// Times of a medium in a mode.
    #[inline(always)]
    pub fn of(&self, medium: usize, mode: CellMode) -> &ModeTimes {
        &self.modes[medium][mode.index()]
    }

    /// Time to sense a page.
    pub fn sense(&self, medium: usize, mode: CellMode, page: u32) -> SimDuration {
        SimDuration(self.of(medium, mode).read[(page % mode.bits()) as usize])
    }

    /// Nanoseconds to read the earlier bits of a wordline before a bit of it is programmed.
    #[inline(always)]
    pub fn reread(&self, region: RegionId, bit: usize) -> u64 {
        self.rereads[region.index()][bit]
    }
}

/// The times of a medium in a mode; zeros where it has no such mode.
fn mode_times(medium: &wordline_flash::Medium, mode: CellMode) -> ModeTimes {
    let Some(t) = medium.mode(mode) else { return ModeTimes::default() };
    ModeTimes {
        read: t.read.map(|d| (d + medium.command.read).0),
        program: t.program.map(|d| d.0),
        copy_back: t.copy_back.map_or(0, |d| d.0),
        erase: (t.erase + medium.command.erase).0,
    }
}

fn rereads(geometry: &Geometry, layout: &Layout) -> Vec<[u64; 4]> {
    let of_region = |r: &crate::plan::region::Region| {
        let medium = layout.pools[r.pool.0 as usize].medium;
        let read = geometry.media[medium].mode(r.mode).map_or([SimDuration::ZERO; 4], |t| t.read);
        let before = |bit: usize| read[..bit].iter().map(|d| d.0).sum();
        match r.earlier_bits {
            EarlierBits::Buffered => [0; 4],
            EarlierBits::Reread => std::array::from_fn(before),
            EarlierBits::RereadIn(time) => std::array::from_fn(|bit| if bit > 0 { time.0 } else { 0 }),
        }
    };
    layout.regions.iter().map(of_region).collect()
}
