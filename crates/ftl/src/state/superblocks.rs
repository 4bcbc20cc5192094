//! Common state of superblocks, and drives that cannot have them.

use crate::file::saved::{Saved, saved};
use crate::image::stripe::Stripe;
use crate::plan::layout::{DriveInfo, Hooks, Layout};
use crate::plan::region::Region;
use crate::state::superpage_parity::SuperpageParity;
use wordline_device::{DeviceSpec, Superblock};
use wordline_flash::{Geometry, Medium};
use wordline_units::Fraction;

/// Of a superblock that stands nowhere among the victims.
pub(crate) const ABSENT: u32 = u32::MAX;

/// What superblocks have in common; empty where blocks stand alone.
#[derive(Clone, Default)]
pub(crate) struct Superblocks {
    /// Valid sectors of the superblocks in the victim index, by the number of their first block.
    pub live: Vec<u32>,
    /// The planes of each group, in the order in which pages are assigned to them.
    pub order: Vec<u32>,
    /// Which programs are followed by parity.
    pub parity: SuperpageParity,
}

impl Saved for Superblocks {
    saved! { Superblocks, values: [live, parity], parts: [], rebuilt: [order] }
}

impl Superblocks {
    /// The superblocks of a drive with this many regions, whose pages follow this stripe.
    pub fn new(spec: &DeviceSpec, geometry: &Geometry, regions: usize, stripes: &[Stripe]) -> Superblocks {
        let superblock = spec.superblock;
        if superblock == Superblock::Off {
            return Superblocks::default();
        }
        let mut order = vec![];
        for (medium, stripe) in geometry.media.iter().zip(stripes) {
            let together = superblock.planes(medium.topology);
            let mut planes: Vec<u32> = stripe.in_order().collect();
            planes.sort_by_key(|p| (p - stripe.planes().start) / together);
            order.extend(planes);
        }
        let parity = SuperpageParity::new(spec.parity, regions, geometry.planes);
        Superblocks { live: vec![ABSENT; geometry.blocks as usize], order, parity }
    }
}

/// Why a drive with a layout cannot have superblocks, if so.
pub(crate) fn refusal(drive: &DriveInfo, layout: &Layout) -> Option<String> {
    if drive.spec.superblock == Superblock::Off {
        return None;
    }
    let wears = drive.spec.wear.enforce || drive.spec.wear.bad_blocks > Fraction::ZERO;
    let copies = |m: &Medium| m.modes.iter().flatten().any(|mode| mode.copy_back.is_some());
    let in_parts = |r: &Region| r.rule.by_bit() || r.rule.reprograms() || r.partial_victims;
    let why = if layout.map.knows_sectors() || layout.merges.is_some() {
        "its map tracks parts of pages"
    } else if layout.enabled_hooks.contains(Hooks::IDLE) {
        "its idle GC works page by page, but superblocks are collected as a whole"
    } else if layout.enabled_hooks.contains(Hooks::COLLECT) {
        "it chooses its own victims, block by block"
    } else if layout.regions.iter().any(in_parts) {
        "it programs the pages of a block in parts"
    } else if layout.second_home.is_some() {
        "its data are on two media"
    } else if wears {
        "blocks retire (wear.enforce, wear.bad_blocks), and superblocks with a missing block are not \
         modelled"
    } else if drive.spec.media.iter().any(copies) {
        "its flash uses copy-back within a plane, but superblocks are filled across planes"
    } else {
        return None;
    };
    Some(format!("{why}; set parallel.superblock=off"))
}
