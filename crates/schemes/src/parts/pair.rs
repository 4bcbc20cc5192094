//! A drive of two media: the one with fewer bits per cell, and the other.

use crate::parameters::Parameters;
use crate::parts::addresses::Placing;
use wordline_flash::Medium;
use wordline_ftl::{DriveInfo, MovedIn};
use wordline_units::CellMode;

/// How units of the map meet pages of the denser medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TlcUnit {
    Packed,
    Rewritten,
    Unpacked,
    Mixed,
}

impl TlcUnit {
    pub fn take(p: &mut Parameters) -> TlcUnit {
        let words = [
            ("packed", TlcUnit::Packed),
            ("rmw", TlcUnit::Rewritten),
            ("unpacked", TlcUnit::Unpacked),
            ("mixed", TlcUnit::Mixed),
        ];
        p.choice("tlc_unit", &words)
    }

    /// Programs that a model charges for a unit, where a page holds this many.
    pub fn programs(self, units: u32) -> f64 {
        if self == TlcUnit::Packed { 1.0 / units as f64 } else { 1.0 }
    }

    /// Slots that a unit takes.
    pub fn slots(self, units: u32) -> f64 {
        match self {
            TlcUnit::Unpacked | TlcUnit::Rewritten => units as f64,
            TlcUnit::Packed | TlcUnit::Mixed => 1.0,
        }
    }

    /// Whether units wait for others in a buffer.
    pub fn is_buffered(self) -> bool {
        matches!(self, TlcUnit::Packed | TlcUnit::Mixed)
    }

    pub fn moved_in(self, units: u32) -> MovedIn {
        match self {
            TlcUnit::Rewritten => MovedIn::Rewritten,
            TlcUnit::Unpacked => MovedIn::Alone,
            TlcUnit::Packed | TlcUnit::Mixed => MovedIn::Through(units),
        }
    }
}

/// A medium of a drive: its number, and its densest mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half<'a> {
    pub at: usize,
    pub medium: &'a Medium,
    pub mode: CellMode,
    /// Units of the map that a page holds.
    pub units: u32,
}

impl Half<'_> {
    pub fn blocks(&self) -> u32 {
        self.medium.topology.planes() * self.medium.blocks_per_plane
    }

    /// Units that it could hold.
    pub fn slots(&self) -> u32 {
        self.blocks() * self.medium.pages_per_block(self.mode) * self.units
    }

    /// Units that it can hold so that GC in a plane is still possible: all but the reserve, the open block,
    /// and the maximum padding of one program in every block.
    pub fn holds(&self) -> u32 {
        let slots = (self.medium.pages_per_block(self.mode) - 1) * self.units;
        self.medium.topology.planes() * self.medium.blocks_per_plane.saturating_sub(2) * slots
    }

    /// The same of one plane.
    pub fn holds_in_plane(&self) -> u32 {
        self.holds() / self.medium.topology.planes()
    }

    /// Units of one block in every plane.
    pub fn row(&self) -> u32 {
        self.medium.topology.planes() * self.medium.pages_per_block(self.mode) * self.units
    }
}

/// The media of a drive, the one with fewer bits per cell first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a> {
    pub fast: Half<'a>,
    pub dense: Half<'a>,
}

impl<'a> Pair<'a> {
    /// The two media of a drive, or why it is unsuitable.
    pub fn of(drive: &DriveInfo<'a>) -> Result<Pair<'a>, String> {
        let half = |at: usize, medium: &'a Medium| Half {
            at,
            medium,
            mode: medium.densest(),
            units: drive.geometry.units_per_page(at),
        };
        let [a, b] = &drive.geometry.media[..] else {
            return Err(format!(
                "it needs two media, and this drive has {}; hyssd-st and hyssd-mt have two",
                drive.geometry.media.len()
            ));
        };
        let (a, b) = (half(0, a), half(1, b));
        match a.mode.bits().cmp(&b.mode.bits()) {
            std::cmp::Ordering::Less => Ok(Pair { fast: a, dense: b }),
            std::cmp::Ordering::Greater => Ok(Pair { fast: b, dense: a }),
            std::cmp::Ordering::Equal => {
                Err(format!("both of its media store {} bits per cell", a.mode.bits()))
            }
        }
    }

    /// Why units cannot be written here as requested.
    pub fn complaint(&self, unit: TlcUnit, placing: Placing) -> Option<String> {
        for Half { medium, mode, .. } in [self.fast, self.dense] {
            if medium.mode(mode).is_none_or(|m| m.pages_per_program > 1) {
                return Some(format!(
                    "its {mode} mode uses one-shot programs; set medium.{}.{}.one_shot=false and the time \
                     of each page",
                    medium.name,
                    mode.key()
                ));
            }
        }
        let Pair { fast, dense } = self;
        if fast.units > 1 {
            return Some(format!(
                "pages of {} hold {} mapping units; set mapping.unit to the page size",
                fast.medium.name, fast.units
            ));
        }
        if unit == TlcUnit::Rewritten && dense.units != 2 {
            return Some(format!(
                "pages of {} hold {} mapping units, but tlc_unit=rmw requires two per page; set \
                 tlc_unit=packed",
                dense.medium.name, dense.units
            ));
        }
        (placing == Placing::Address && dense.units > 1 && unit.is_buffered()).then(|| {
            format!(
                "mapping units of different planes would share pages of {}, but place=static gives each unit \
                 its own plane; set tlc_unit={}",
                dense.medium.name,
                if dense.units == 2 { "rmw" } else { "unpacked" }
            )
        })
    }
}
