//! How many media a scheme needs. It is tried on small drives with all other features, so that few draws are
//! refused.

use crate::drive::Spelled;
use crate::rng::Rng;
use crate::tiny::{QLC, Tiny};
use wordline_device::DeviceSpec;
use wordline_ftl::DriveInfo;

/// Drives with every cell mode, page by page or one-shot: those with one medium, and those with two.
#[derive(Clone, Debug)]
pub(crate) struct Media([Vec<DeviceSpec>; 2]);

impl Media {
    pub(crate) fn new() -> Media {
        let drive = |fast_blocks| {
            let tiny = |one_shot| Tiny { one_shot, fast_blocks, extra: QLC, blocks: 18, ..Tiny::default() };
            [false, true].map(|one_shot| tiny(one_shot).spec(1)).into()
        };
        Media([drive(0), drive(8)])
    }

    /// Whether drives drawn for a scheme have two media. If the scheme accepts one or two, one drive in four
    /// has two.
    pub(crate) fn are_two(&self, rng: &mut Rng, scheme: &Spelled) -> bool {
        match self.0.each_ref().map(|drives| drives.iter().any(|spec| takes(scheme, spec))) {
            [true, false] => false,
            [false, true] => true,
            _ => rng.once_in(4),
        }
    }
}

fn takes(scheme: &Spelled, spec: &DeviceSpec) -> bool {
    spec.geometry().is_ok_and(|geometry| {
        let logical_pages = (spec.logical_bytes() / spec.unit.0) as u32;
        let drive = DriveInfo { spec, geometry: &geometry, logical_pages };
        scheme.scheme.clone().laid_out(&drive).is_ok()
    })
}
