//! Contents, wear and remaining lifetime of the drive.

use crate::fill::outcome::Outcome;
use std::collections::BTreeMap;
use wordline_ftl::{Counters, FlashUse};
use wordline_report::{
    Capacity, ChangingCapacity, Lifetime, LostBlocks, ModeLifetime, RegionCapacity, Wear, WearHistogram,
    WornOut,
};
use wordline_units::CellMode;

pub(crate) fn capacity(run: &Outcome) -> Capacity {
    let (spec, ftl, geometry) = (&run.setup.device, &run.device.ftl, &run.setup.geometry);
    let layout = ftl.layout();
    let (logical, physical) = (spec.logical_bytes(), FlashUse::new(layout, geometry).resting_bytes());
    let granule = if layout.map.is_by_page() { spec.unit.0 } else { spec.sector.0 };
    let regions = layout.regions.iter().enumerate().map(|(i, r)| {
        let pool = layout.pools[r.pool.0 as usize];
        let medium = &geometry.media[pool.medium];
        let alone = layout.regions.iter().filter(|other| other.pool == r.pool).count() == 1;
        // Blocks of a shared pool belong to whoever owns them at the moment.
        let blocks = if alone {
            medium.topology.planes() as u64 * pool.blocks_per_plane.min(r.quota) as u64
        } else {
            ftl.inspect().owned_blocks(wordline_ftl::RegionId(i as u8))
        };
        RegionCapacity {
            name: r.name.to_string(),
            mode: r.mode.key().to_string(),
            blocks,
            bytes: blocks * medium.block_bytes(r.mode),
        }
    });
    Capacity {
        logical_bytes: logical,
        physical_bytes: physical,
        over_provisioning: physical as f64 / logical.max(1) as f64 - 1.0,
        regions: regions.collect(),
        live_bytes: ftl.inspect().mapped() * granule,
        changing: ftl.inspect().changes_capacity().then(|| {
            let (usable_bytes, least_usable_bytes) = ftl.inspect().usable_bytes();
            let counts = ftl.counters().capacity.figures();
            ChangingCapacity { usable_bytes, least_usable_bytes, counts }
        }),
    }
}

pub(crate) fn wear(run: &Outcome) -> BTreeMap<String, Wear> {
    #[derive(Clone, Copy)]
    struct Sum {
        blocks: u64,
        cycles: u64,
        squares: u128,
        max: u64,
        min: u64,
    }
    let mut sums = [Sum { blocks: 0, cycles: 0, squares: 0, max: 0, min: u64::MAX }; 4];
    for (mode, erases) in run.device.ftl.inspect().wear() {
        let (s, n) = (&mut sums[mode.index()], erases as u64);
        s.blocks += 1;
        s.cycles += n;
        s.squares += n as u128 * n as u128;
        s.max = s.max.max(n);
        s.min = s.min.min(n);
    }
    let modes = CellMode::ALL.into_iter().map(|m| (m, sums[m.index()])).filter(|(_, s)| s.blocks > 0);
    modes
        .map(|(mode, s)| {
            let mean = s.cycles as f64 / s.blocks as f64;
            // n * sum of squares - square of the sum, in integers, so that nothing cancels.
            let spread = s.blocks as u128 * s.squares - s.cycles as u128 * s.cycles as u128;
            let sigma = libm::sqrt(spread as f64) / s.blocks as f64;
            (mode.key().to_string(), Wear { blocks: s.blocks, mean, max: s.max, min: s.min, sigma })
        })
        .collect()
}

/// Classes of a histogram of wear, at most.
const WEAR_CLASSES_MAX: u64 = 64;

pub(crate) fn wear_histogram(run: &Outcome) -> BTreeMap<String, WearHistogram> {
    wear(run)
        .into_iter()
        .map(|(mode, of)| {
            let width = (of.max - of.min + 1).div_ceil(WEAR_CLASSES_MAX);
            let mut blocks = vec![0; ((of.max - of.min) / width + 1) as usize];
            for (_, erases) in run.device.ftl.inspect().wear().filter(|(m, _)| m.key() == mode) {
                blocks[((erases as u64 - of.min) / width) as usize] += 1;
            }
            (mode, WearHistogram { from: of.min, width, blocks })
        })
        .collect()
}

pub(crate) const YEAR_S: f64 = 365.25 * 86_400.0;

/// Drive writes per day over the five years of a warranty.
pub(crate) fn drive_writes_per_day(drive_writes: f64) -> f64 {
    drive_writes / (5.0 * 365.25)
}

pub(crate) fn lost_blocks(run: &Outcome) -> Option<LostBlocks> {
    let (wear, ftl) = (run.setup.device.wear, &run.device.ftl);
    if wear.is_off() {
        return None;
    }
    let each = wear.acceleration as f64;
    let worn_out = ftl.inspect().worn_out().map(|at| {
        let (at_s, written) =
            (at.since(run.first_arrival).as_secs(), run.device.metrics.requests.moved()[1] as f64 * each);
        WornOut {
            at_s,
            total_bytes_written: written,
            drive_writes: written / run.setup.device.logical_bytes() as f64,
            years: at_s * each / YEAR_S,
        }
    });
    Some(LostBlocks {
        blocks: run.setup.geometry.blocks as u64,
        counts: ftl.inspect().lost_counts().figures(),
        acceleration: wear.acceleration as u64,
        worn_out,
    })
}

/// Lifetimes by mean erases, assuming perfect wear leveling.
pub(crate) fn lifetime(run: &Outcome, c: &Counters, simulated_s: f64) -> Option<Lifetime> {
    let endures = |mode: CellMode| {
        let media = &run.setup.geometry.media;
        media.iter().filter_map(|m| m.mode(mode)).map(|t| t.endurance).filter(|e| *e > 0).min()
    };
    // An erase may stand for many, and so does what was written for it.
    let each = run.setup.device.wear.acceleration as f64;
    let written = run.device.metrics.requests.moved()[1] as f64 * each;
    let (mut by_mode, mut more) = (BTreeMap::new(), f64::INFINITY);
    for (mode, wear) in wear(run) {
        let Some(at) = CellMode::ALL.into_iter().find(|m| m.key() == mode) else { continue };
        let Some(endurance) = endures(at) else { continue };
        let rest = endurance as f64 - wear.mean;
        let in_run = c.erases[at.index()] as f64 * each / wear.blocks as f64;
        if in_run > 0.0 {
            more = more.min(written * rest / in_run);
        }
        let left = (wear.mean > 0.0).then(|| rest / wear.mean);
        by_mode.insert(mode, ModeLifetime { endurance: endurance as u64, used: wear.mean, left });
    }
    if by_mode.is_empty() {
        return None;
    }
    let total = (more.is_finite() && written > 0.0).then_some(written + more);
    let drive = run.setup.device.logical_bytes() as f64;
    Some(Lifetime {
        left: by_mode.values().filter_map(|m| m.left).min_by(f64::total_cmp),
        total_bytes_written: total,
        years: total.filter(|_| simulated_s > 0.0).map(|bytes| bytes / written * simulated_s * each / YEAR_S),
        drive_writes_per_day: total.map(|bytes| drive_writes_per_day(bytes / drive)),
        by_mode,
    })
}
