//! Common parts of the In-place Switch schemes: the region of windows, the routes into it, and the GC that gives
//! used windows their further bits in idle time.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use wordline_device::Trigger;
use wordline_flash::{ProgramRule, SlotClass, Window};
use wordline_ftl::{
    Collect, DriveInfo, EarlierBits, FreeOrder, Grain, IdleWork, Layout, Pool, PoolId, Refusal, Region,
    RegionId, Route, View,
};
use wordline_units::{CellMode, PlaneId, SimDuration};

/// The region of windows.
pub(crate) const W: RegionId = RegionId(0);

/// The parameter `window`.
pub(crate) const WINDOW: Parameter =
    Parameter::new("window", "device", "wordlines of a window; two per layer if omitted");
/// The parameter `layers`.
pub(crate) const LAYERS: Parameter = Parameter::new(
    "layers",
    "device",
    "layers of a window, 1 or 2; default 2, or 1 in qlc mode and for an odd window",
);
/// The parameter `reprogram_read`.
pub(crate) const REPROGRAM_READ: Parameter = Parameter::new(
    "reprogram_read",
    "0us",
    "time to read the old bits of a wordline before reprogramming, such as 20us; device: an SLC read",
);

/// Parameters of the windows.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    wordlines: Option<u8>,
    layers: Option<u8>,
    mode: Option<CellMode>,
    /// `None` for that of an SLC read.
    reread: Option<SimDuration>,
}

impl Windows {
    pub fn from_parameters(p: &mut Parameters) -> Windows {
        Windows {
            wordlines: p.given("window"),
            layers: p.given("layers"),
            mode: layout::take_mode(p),
            reread: if p.is("reprogram_read", "device") { None } else { Some(p.take("reprogram_read")) },
        }
    }

    /// One pool of all blocks, opened and filled in order of wear, and the region of windows on it.
    ///
    /// # Errors
    /// A refusal where the flash cannot be programmed page by page in two modes.
    pub fn layout(&self, drive: &DriveInfo, refuse: impl Fn(String) -> Refusal) -> Result<Layout, Refusal> {
        let medium = layout::only_medium(drive, &refuse)?;
        let mode = layout::by_page(medium, self.mode, "", &refuse)?;
        let Some(slc) = medium.mode(CellMode::Slc) else {
            return Err(refuse("its windows start in SLC mode, which its flash does not support".into()));
        };
        // In-place Switch, section IV-D3: QLC may only bear to be reprogrammed within a layer.
        let odd = self.wordlines.is_some_and(|n| n % 2 == 1);
        let layers = self.layers.unwrap_or(if mode == CellMode::Qlc || odd { 1 } else { 2 });
        // A layer of the paper's drive has two wordlines; of a block that is lower than two layers all are taken.
        let whole = medium.wordlines_per_block.min(u8::MAX as u32) as u8 / layers.max(1) * layers;
        let wordlines = self.wordlines.unwrap_or(whole.min(2 * layers));
        let rule = ProgramRule::ReprogramWindow(Window { wordlines, layers });
        let region = layout::region(drive, "W", PoolId(0), mode, rule);
        let w = Region {
            // Every block carries a window, so space is counted in slots.
            trigger: match region.trigger {
                Trigger::FreeBlocks(share) | Trigger::FreeSlots(share) => Trigger::FreeSlots(share),
                Trigger::Never | Trigger::LastBlock => region.trigger,
            },
            earlier_bits: EarlierBits::RereadIn(self.reread.unwrap_or(slc.read[0])),
            partial_victims: true,
            ..region
        };
        let blocks = medium.blocks_per_plane;
        Ok(Layout {
            pools: vec![Pool { medium: 0, blocks_per_plane: blocks, free: FreeOrder::LeastErased }],
            ..layout::one_region(medium, w)
        })
    }
}

/// Host data: a new SLC page if there is one, else a further bit for a used one.
pub(crate) fn host() -> Route {
    Route::classes(W, &[SlotClass::Slc, SlotClass::Reprogram, SlotClass::Next])
}

/// Collected data: they leave the SLC pages to the host where they can.
pub(crate) fn collected() -> Route {
    Route::classes(W, &[SlotClass::Reprogram, SlotClass::Slc, SlotClass::Next])
}

/// A step of advanced collection: the next live page of the block with the most invalid ones, as long as
/// used wordlines wait for further bits; or the erase of the block that this has emptied.
pub(crate) fn advance(plane: PlaneId, view: &View) -> Option<IdleWork> {
    let victim = view.collecting(W, plane);
    let is_empty = victim.is_some_and(|block| view.live_sectors(block) == 0);
    let waits = || view.frontier(W, plane, SlotClass::Reprogram).is_some();
    let goes_on = is_empty || waits() && (victim.is_some() || view.best(W, plane).is_some());
    goes_on.then_some(IdleWork::Collect(Collect { region: W, block: None }, Grain::Page))
}
