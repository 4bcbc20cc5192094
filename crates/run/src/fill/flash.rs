//! Flash operations by cause, region and mode.

use crate::fill::outcome::{Measured, Outcome};
use std::collections::BTreeMap;
use wordline_counters::{Cause, EnergyCounts, EnergyOf, ErrorCounts, IdleTime, OpKind, by_cause};
use wordline_device::{DeviceSpec, map_pages};
use wordline_flash::SlotClass;
use wordline_ftl::{Counters, LatencyPart, Region, RegionCounters, RegionId};
use wordline_report::{
    Energy, Flash, Host, MapOnFlash, Multiplane, PageTypes, ProgramBytes, Programs, ReadErrors, Refreshed,
    RegionActivity, Waf, Windows,
};
use wordline_units::{CellMode, PageType};

pub(crate) fn flash(run: &Outcome, c: &Counters) -> Flash {
    let regions = &run.device.ftl.layout().regions;
    let sum = |of: &dyn Fn(&wordline_ftl::RegionCounters) -> u64| c.regions.iter().map(of).sum::<u64>();
    let mut program_bytes = ProgramBytes::new();
    let programs = || causes_of_programs(&run.setup.device);
    for cause in programs() {
        let by_region = |of: &dyn Fn(&RegionCounters) -> u64| -> BTreeMap<String, u64> {
            let all = c.regions.iter().zip(regions).map(|(r, at)| (at.name.to_string(), of(r)));
            all.filter(|(_, n)| *n > 0).collect()
        };
        let k = cause as usize;
        let program = by_region(&|r| r.program_bytes[k] - r.reprogrammed.bytes[k]);
        let reprogram = by_region(&|r| r.reprogrammed.bytes[k]);
        let mut by_kind = BTreeMap::from([("program".to_string(), program)]);
        if !reprogram.is_empty() {
            by_kind.insert("reprogram".to_string(), reprogram);
        }
        program_bytes.insert(cause.word().to_string(), by_kind);
    }
    let modes =
        CellMode::ALL.into_iter().filter(|m| regions.iter().any(|r| r.mode == *m) || c.erases[m.index()] > 0);
    let dram = run.setup.device.dram;
    let on_flash = dram.map_cache.0 > 0;
    let reads = || Cause::READS.into_iter().filter(|k| on_flash || *k != Cause::Metadata);
    Flash {
        reads: reads().map(|k| (k.word().to_string(), sum(&|r| r.reads[k as usize]))).collect(),
        programs: programs()
            .map(|cause| {
                let k = cause as usize;
                let reprogram = sum(&|r| r.reprogrammed.pages[k]);
                (
                    cause.word().to_string(),
                    Programs { program: sum(&|r| r.program_pages[k]) - reprogram, reprogram },
                )
            })
            .collect(),
        program_bytes,
        erases: modes.map(|m| (m.key().to_string(), c.erases[m.index()])).collect(),
        counts: c.flash.figures(),
        map: on_flash.then(|| map_on_flash(run, c)),
        regions: c
            .regions
            .iter()
            .zip(regions)
            .map(|(r, at)| RegionActivity {
                name: at.name.to_string(),
                mode: at.mode.key().to_string(),
                reads: r.reads.iter().sum(),
                reads_by_cause: reads().map(|k| (k.word().to_string(), r.reads[k as usize])).collect(),
                programs: r.program_pages.iter().sum(),
                ops: r.ops.figures(),
                program_bytes: r.program_bytes.iter().sum(),
                counts: r.counts.figures(),
            })
            .collect(),
        places: c.places.figures(),
        page_types: page_types(run, c),
        windows: windows(run, c),
        errors: c.errors.as_ref().map(|e| errors(run, c, e)),
        energy: c.energy.as_ref().map(|used| energy(run, used)),
        multiplane: multiplane(run, c),
        suspensions: suspensions(run),
    }
}

/// Causes that programs of a device can have.
fn causes_of_programs(device: &DeviceSpec) -> impl Iterator<Item = Cause> + use<> {
    let has_parity = device.parity_bytes() > 0;
    Cause::PROGRAMS.into_iter().filter(move |cause| has_parity || *cause != Cause::Parity)
}

fn map_on_flash(run: &Outcome, c: &Counters) -> MapOnFlash {
    let (spec, metadata) = (&run.setup.device, Cause::Metadata as usize);
    let pages = map_pages(spec.logical_bytes() / spec.unit.0, spec.unit);
    MapOnFlash {
        pages,
        cached_pages: (spec.dram.map_cache.0 / spec.unit.0).min(pages),
        counts: c.map.figures(),
        hit_share: c.map.hit_share(),
        reads: c.regions.iter().map(|r| r.reads[metadata]).sum(),
        programs: c.regions.iter().map(|r| r.program_pages[metadata]).sum(),
        journal_bytes: spec.dram.map_journal.map(|bytes| bytes.0),
        journal_peak_bytes: run.device.ftl.inspect().map_journal_peak_bytes(),
    }
}

fn errors(run: &Outcome, c: &Counters, errors: &ErrorCounts) -> ReadErrors {
    let asked = run.setup.device.errors.as_ref().is_some_and(|model| !model.refresh.is_never());
    let m = &run.device.metrics;
    let (spent, all) = (m.parts[0][LatencyPart::Retry as usize], m.latency[0].sum());
    ReadErrors {
        counts: errors.figures(),
        retries_per_host_page: errors.retries_per_host_page(),
        share_of_read_latency: (all > 0).then(|| spent as f64 / all as f64),
        refresh: asked.then(|| Refreshed {
            counts: c.refresh.figures(),
            bytes: c.refreshed_units * run.device.ftl.view().geometry().unit,
        }),
    }
}

fn energy(run: &Outcome, used: &[EnergyCounts; Cause::COUNT]) -> Energy {
    let some = Cause::ALL.into_iter().map(|cause| (cause, &used[cause as usize]));
    let some = some.filter(|(_, used)| **used != EnergyCounts::default());
    let by_cause: BTreeMap<String, EnergyOf> =
        some.map(|(cause, used)| (cause.word().to_string(), used.figures())).collect();
    let total_j = by_cause.values().map(EnergyOf::total_j).sum();
    let m = &run.device.metrics;
    let bytes: u64 = m.requests.moved().iter().sum();
    Energy { total_j, nj_per_host_byte: (bytes > 0).then(|| total_j * 1e9 / bytes as f64), by_cause }
}

fn multiplane(run: &Outcome, c: &Counters) -> Option<Multiplane> {
    (run.setup.device.multiplane != wordline_device::Multiplane::Off).then_some(())?;
    let counts = &run.device.metrics.multiplane;
    Some(Multiplane { counts: counts.figures(), share: counts.share(c.operations()) })
}

fn suspensions(run: &Outcome) -> Option<BTreeMap<String, u64>> {
    run.setup.device.service.suspension?;
    let counts = run.device.metrics.suspensions;
    let suspended = [OpKind::Program, OpKind::Erase];
    Some(suspended.map(|kind| (kind.key().to_string(), counts[kind as usize])).into())
}

fn windows(run: &Outcome, c: &Counters) -> Option<Windows> {
    let regions = &run.device.ftl.layout().regions;
    let bits = regions.iter().filter(|r| r.rule.reprograms()).map(|r| r.mode.bits()).max()?;
    let sum = |of: &dyn Fn(&RegionCounters) -> [u64; Cause::COUNT]| {
        let sums = c.regions.iter().map(of).reduce(|a, b| std::array::from_fn(|cause| a[cause] + b[cause]));
        by_cause(&sums.unwrap_or_default())
    };
    let host = Cause::Host as usize;
    let fast = |(r, at): (&RegionCounters, &Region)| {
        if at.mode == CellMode::Slc { r.program_bytes[host] } else { r.as_slc.bytes[host] }
    };
    let (fast, all) = (c.regions.iter().zip(regions).map(fast).sum::<u64>(), c.program_bytes(Cause::Host));
    Some(Windows {
        slc_bytes: sum(&|r| r.as_slc.bytes),
        reprogram_bytes: sum(&|r| r.reprogrammed.bytes),
        host_at_slc_speed: (all > 0).then(|| fast as f64 / all as f64),
        reprograms_per_wordline: bits - 1,
        interference: wordline_flash::interference(bits),
    })
}

pub(crate) fn idle(run: &Outcome) -> Option<IdleTime> {
    run.device.ftl.inspect().works_when_idle().then(|| run.device.metrics.idle.figures())
}

/// All ways of counting write amplification.
pub(crate) fn waf(run: &Outcome, c: &Counters, flash: &Flash, host: &Host) -> Option<Waf> {
    let (written, host_write_page_bytes) = (host.moved().write_bytes, host.page_bytes());
    let mut waf = Waf::new(&flash.program_bytes, host_write_page_bytes)?;
    if written > 0 && written != host_write_page_bytes {
        waf.per_host_byte = Some(waf.total * (host_write_page_bytes as f64 / written as f64));
    }
    if c.idle_gc_bytes > 0 {
        let premature = (c.premature_units * run.setup.device.unit.0).min(c.idle_gc_bytes);
        let left_out = (c.idle_gc_bytes - premature) as f64;
        waf.paper = Some(waf.total - left_out / host_write_page_bytes as f64);
    }
    Some(waf)
}

fn page_types(run: &Outcome, c: &Counters) -> Option<PageTypes> {
    let Measured { ftl, metrics } = &run.device;
    let by_bit = |r: &&(usize, &Region)| r.1.rule.tells_types();
    let regions: Vec<(usize, &Region)> = ftl.layout().regions.iter().enumerate().collect();
    let bits = regions.iter().filter(by_bit).map(|(_, r)| r.mode.bits() as usize).max()?;
    let named = |counts: [u64; 4]| -> BTreeMap<String, u64> {
        PageType::ALL[..bits].iter().map(|p| (p.key().to_string(), counts[*p as usize])).collect()
    };
    let (mut got, mut left, mut asked, mut as_asked) = ([0; 4], [0; 4], 0, 0);
    for (index, _) in regions.iter().filter(by_bit) {
        let free = ftl.view().free_pages(RegionId(*index as u8));
        left.iter_mut().zip(free).for_each(|(sum, n)| *sum += n);
        for (class, types) in SlotClass::ALL.into_iter().zip(c.regions[*index].page_types) {
            got.iter_mut().zip(types).for_each(|(sum, n)| *sum += n);
            if let Some(bit) = class.bit() {
                asked += types.iter().sum::<u64>();
                as_asked += types[bit];
            }
        }
    }
    Some(PageTypes {
        programs: named(got),
        as_asked: (asked > 0).then(|| as_asked as f64 / asked as f64),
        writes_dominated_by: named(metrics.dominated),
        free_at_end: named(left),
    })
}
