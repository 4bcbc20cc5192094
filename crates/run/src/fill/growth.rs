//! Whether the data that a drive holds still grow late in a run: then the spare flash shrinks, and the WAF rises. No trend
//! of the WAF shows it early, since the growth slows down for several drive writes and the WAF varies more.

use crate::fill::outcome::Outcome;
use wordline_ftl::{FlashUse, Mapped};
use wordline_trace::{Pacing, PageSet};
use wordline_units::{HostOp, LBA_BYTES};

/// Maximum growth per drive write, as a share of the spare flash: the WAF changes about as much.
pub(crate) const GROWTH_MAX: f64 = 0.01;

/// Some pages.
pub(crate) fn pages_of(mapped: &Mapped) -> PageSet {
    let mut set = PageSet::default();
    match mapped {
        Mapped::First(pages) => set.insert(0..u64::from(*pages)),
        Mapped::Set(pages) => {
            pages.iter().for_each(|page| set.insert(u64::from(page.0)..u64::from(page.0) + 1))
        }
    }
    set
}

/// By how much the data grow per drive write from one request to another, as a share of the spare flash: pages that are
/// in no earlier request, nor in `held`. `None` if nothing is written, or requests depend on completions.
pub(crate) fn late_growth(
    run: &Outcome,
    mut held: PageSet,
    (from, until): (u64, u64),
    adds: impl Fn(HostOp) -> bool,
) -> Option<f64> {
    let setup = run.setup;
    if matches!(setup.workload.pacing(), Pacing::Jobs) {
        return None;
    }
    let unit = setup.device.unit.0;
    let (mut grown, mut written) = (0, 0);
    for (number, request) in (0..until).zip(setup.workload.open(setup.shape, setup.spec.seed).ok()?) {
        let request = request.ok()?;
        let (start, bytes) = (request.lba.0 * LBA_BYTES, u64::from(request.blocks) * LBA_BYTES);
        let pages = start / unit..(start + bytes).div_ceil(unit);
        let new = if adds(request.op) { held.add(pages) } else { 0 };
        if number >= from {
            grown += new * unit;
            written += if request.op == HostOp::Write { bytes } else { 0 };
        }
    }
    let logical = setup.device.logical_bytes() as f64;
    let flash = FlashUse::new(run.device.ftl.layout(), &setup.geometry).data_bytes(&setup.device);
    let spare = (flash as f64 / logical - 1.0).max(f64::EPSILON);
    (written > 0).then(|| grown as f64 / written as f64 / spare)
}
