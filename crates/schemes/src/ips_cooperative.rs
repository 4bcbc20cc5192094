//! # Cooperative In-place Switch
//!
//! ## Source
//! X. Yang, J. Zheng, C. Gao, "In-place Switch: Reprogramming based SLC Cache Design for Hybrid 3D SSDs", 2024, section
//! IV-C and Fig. 8.
//!
//! ## Idea
//! Windows are a small cache. Some blocks therefore serve as a traditional SLC cache for writes that the windows cannot
//! take. Its data must be written a second time, and used windows need further bits, so idle time reprograms the windows
//! with these data.
//!
//! ## Algorithm
//! 1. A host write takes an SLC page of the windows (step 1 of Fig. 8).
//! 2. In idle time, while the traditional cache is empty, GC reprograms as in `ips-agc` (2.1).
//! 3. If the windows have no SLC page, a host write goes to the traditional cache (2.2). If that is full, it reprograms as
//!    in `ips`, and as a last resort programs all bits of an unused window.
//! 4. In idle time the traditional cache empties its full blocks in the order in which they were filled. Each valid page
//!    reprograms a used window (3.1) or, without one, goes directly to an unused window (3.2). After each page the die
//!    checks for requests.
//! 5. An empty block is erased and returns to the common pool (4). Both regions take the blocks with the fewest erases
//!    from it, so the traditional cache moves around the drive (section IV-D2).
//! 6. The traditional cache is reclaimed only in idle time, unless a write finds no other place. The end of a run empties
//!    it, including its open blocks.
//! 7. The traditional cache shrinks if data at rest need its blocks; this is checked every 64 writes. ("can be
//!    dynamically allocated without loss of generality")
//!
//! ## Symbols
//! W: the region of windows. T: the traditional cache.
//!
//! ## Parameters
//! - `window`, `layers`, `mode`, `reprogram_read`, `idle_after`: as in `ips-agc`.
//! - `traditional`: maximum number of blocks per plane in T; default 991 of 2048, or the same ratio. The paper states
//!   60.875 GB of T and 3.125 GB of windows, which is not possible with windows of four wordlines: 974 + 1600 blocks
//!   exceed 2048. With 991 the sum is the paper's 64 GB.
//!
//! ## Differs
//! Each plane keeps two erased blocks for GC, so T has at most 989 blocks of a plane of the paper's drive.
//!
//! ## Not modelled
//! As `ips`.
//!
//! ## Checked by
//! `cooperative cache matches its closed forms`, `reference model`, golden rows.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use crate::parts::windows::{self, W, Windows};
use crate::registry::Entry;
use wordline_device::{Trigger, Victim};
use wordline_flash::{ProgramRule, SlotClass};
use wordline_ftl::{
    Collect, Command, DriveInfo, Gather, Grain, IdleWork, Layout, Origin, Parcel, Place, PlanePick, PoolId,
    Refusal, Region, RegionId, Route, Scheme, View,
};
use wordline_units::{CellMode, PlaneId, SimDuration};

const T: RegionId = RegionId(1);

/// Writes between two looks at how full the drive is; step 7.
const LOOK_EVERY: u32 = 64;

pub(crate) const NAME: &str = "ips-cooperative";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "ips-agc with a traditional SLC cache whose data reprogram the windows", |p| {
        Box::new(IpsCooperative::from_parameters(p))
    })
    .docs(include_str!("ips_cooperative.rs"))
    .takes(windows::WINDOW)
    .takes(windows::LAYERS)
    .takes(layout::MODE)
    .takes(windows::REPROGRAM_READ)
    .takes(Parameter::new(
        "traditional",
        "device",
        "blocks per plane that may serve as traditional SLC; default 991 of 2048, as in the paper",
    ))
    .takes(layout::idle_at_once())
    .small("window=1,layers=1,traditional=3,idle_after=100us")
}

/// Windows and a traditional cache.
#[derive(Clone, Debug)]
pub struct IpsCooperative {
    windows: Windows,
    idle_after: SimDuration,
    asked: Option<u32>,
    /// Blocks of a plane, the maximum for T, and the capacity of a plane's windows, set by `layout`.
    blocks: u32,
    traditional: u32,
    pages_per_block: u32,
    planes: u32,
}

impl IpsCooperative {
    fn from_parameters(p: &mut Parameters) -> IpsCooperative {
        IpsCooperative {
            windows: Windows::from_parameters(p),
            idle_after: layout::take_idle_after(p),
            asked: p.given("traditional"),
            blocks: 0,
            traditional: 0,
            pages_per_block: 0,
            planes: 0,
        }
    }

    /// Blocks of a plane for T while this many pages hold data, each with its share of the GC reserve.
    fn quota(&self, mapped: u64) -> u32 {
        let at_rest = mapped.div_ceil(self.planes as u64).div_ceil(self.pages_per_block as u64) as u32;
        let spare = self.blocks / 10 + 2;
        self.blocks.saturating_sub(at_rest + spare).min(self.traditional)
    }
}

#[wordline_ftl::hooks]
impl Scheme for IpsCooperative {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let refuse = layout::refuser(NAME, drive);
        let mut layout = self.windows.layout(drive, &refuse)?;
        let medium = layout::only_medium(drive, &refuse)?;
        let units = drive.geometry.units_per_page(0);
        self.blocks = medium.blocks_per_plane;
        self.planes = medium.topology.planes();
        self.pages_per_block = medium.pages_per_block(layout.regions[0].mode) * units;
        self.traditional = self.asked.unwrap_or((self.blocks as u64 * 991 / 2048) as u32);
        if self.traditional == 0 || self.traditional + 4 > self.blocks {
            let most = self.blocks.saturating_sub(4);
            return Err(refuse(format!(
                "a traditional cache of {} blocks per plane is not between 1 and {most}",
                self.traditional
            )));
        }
        layout.regions[0].quota = self.blocks - self.traditional;
        layout.regions.push(Region {
            quota: self.traditional,
            trigger: Trigger::Never, // (6)
            victim: Victim::Fifo,    // (4)
            ..layout::region(drive, "T", PoolId(0), CellMode::Slc, ProgramRule::Sequential)
        });
        Ok(Layout { idle_after: self.idle_after, tick_every_writes: LOOK_EVERY, ..layout })
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let route = match parcel.origin {
            Origin::Host(_) | Origin::Sealed => Route::to(W, SlotClass::Slc) // (1)
                .or(T, SlotClass::Next) // (3)
                .or(W, SlotClass::Reprogram)
                .or(W, SlotClass::Next),
            Origin::Collected(T) => {
                Route::classes(W, &[SlotClass::Reprogram, SlotClass::Next, SlotClass::Slc]) // (4)
            }
            Origin::Collected(_) | Origin::Moved(_) => windows::collected(),
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        let used = view.oldest(T, plane).or_else(|| view.last_frontier(T, plane)); // (6)
        if let Some(block) = view.collecting(T, plane).or(used) {
            return Some(IdleWork::Collect(Collect { region: T, block: Some(block) }, Grain::Page)); // (4), (5)
        }
        if view.draining() { None } else { windows::advance(plane, view) } // (2)
    }

    fn idle_is_local(&self) -> bool {
        true
    }

    fn tick(&mut self, view: &View, out: &mut Vec<Command>) {
        let quota = self.quota(view.mapped()); // (7)
        out.push(Command::SetQuota(T, quota));
        out.push(Command::SetQuota(W, self.blocks - quota));
    }
}
