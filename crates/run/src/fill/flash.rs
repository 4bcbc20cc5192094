//! What the flash did, by cause, region and mode.

use crate::fill::outcome::{Measured, Outcome};
use std::collections::BTreeMap;
use wordline_device::map_pages;
use wordline_flash::SlotClass;
use wordline_ftl::{
    Cause, Counters, Due, EnergyUsed, LatencyPart, Media, OpKind, Region, RegionCounters, RegionId,
};
use wordline_report::{
    Energy, EnergyOf, Flash, IdleTime, MapOnFlash, Multiplane, PageTypes, ProgramBytes, Programs, ReadErrors,
    Refreshed, RegionActivity, Waf, Windows,
};
use wordline_sim::MultiplaneCounts;
use wordline_units::{CellMode, PageType};

/// Causes of page reads, in the words of the report: with the last where the map is on flash.
const READS: [Cause; 5] = [Cause::Host, Cause::Rmw, Cause::Gc, Cause::Migrate, Cause::Metadata];

/// Causes of programs.
pub(crate) const PROGRAMS: [Cause; 5] = [Cause::Host, Cause::Gc, Cause::Migrate, Cause::Pad, Cause::Metadata];

/// The report's word for a cause.
pub(crate) fn word(cause: Cause) -> String {
    if cause == Cause::Migrate { "migration".into() } else { cause.key().into() }
}

pub(crate) fn flash<M: Media>(run: &Outcome<M>, c: &Counters) -> Flash {
    let regions = &run.device.ftl.layout().regions;
    let sum = |of: &dyn Fn(&wordline_ftl::RegionCounters) -> u64| c.regions.iter().map(of).sum::<u64>();
    let mut program_bytes = ProgramBytes::new();
    for cause in PROGRAMS {
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
        program_bytes.insert(word(cause), by_kind);
    }
    let modes =
        CellMode::ALL.into_iter().filter(|m| regions.iter().any(|r| r.mode == *m) || c.erases[m.index()] > 0);
    let dram = run.setup.device.dram;
    let on_flash = dram.map_cache.0 > 0;
    let reads = || READS.into_iter().filter(|k| on_flash || *k != Cause::Metadata);
    Flash {
        reads: reads().map(|k| (word(k), sum(&|r| r.reads[k as usize]))).collect(),
        programs: PROGRAMS
            .into_iter()
            .map(|cause| {
                let k = cause as usize;
                let reprogram = sum(&|r| r.reprogrammed.pages[k]);
                (word(cause), Programs { program: sum(&|r| r.program_pages[k]) - reprogram, reprogram })
            })
            .collect(),
        program_bytes,
        erases: modes.map(|m| (m.key().to_string(), c.erases[m.index()])).collect(),
        reads_from_ram: c.reads_from_ram,
        reads_cached: (dram.read_cache.0 > 0).then_some(c.reads_cached),
        map: on_flash.then(|| map_on_flash(run, c)),
        regions: c
            .regions
            .iter()
            .zip(regions)
            .map(|(r, at)| RegionActivity {
                name: at.name.to_string(),
                mode: at.mode.key().to_string(),
                reads: r.reads.iter().sum(),
                reads_by_cause: reads().map(|k| (word(k), r.reads[k as usize])).collect(),
                programs: r.program_pages.iter().sum(),
                program_operations: r.program_ops,
                copy_backs: r.copy_backs,
                program_bytes: r.program_bytes.iter().sum(),
                erases: r.erases,
                updates: if r.updates == [0; 4] { vec![] } else { r.updates.to_vec() },
                whole_page_reads: (r.whole_page_reads > 0).then_some(r.whole_page_reads),
            })
            .collect(),
        places: [("host", c.places.host), ("gathered", c.places.gathered)]
            .into_iter()
            .filter(|(_, pages)| *pages != [0; 4])
            .map(|(who, pages)| (who.to_string(), pages))
            .collect(),
        page_types: page_types(run, c),
        windows: windows(run, c),
        errors: c.errors.as_ref().map(|e| errors(run, e)),
        energy: c.energy.as_ref().map(|used| energy(run, used)),
        multiplane: multiplane(run, c),
        suspensions: suspensions(run),
    }
}

fn map_on_flash<M: Media>(run: &Outcome<M>, c: &Counters) -> MapOnFlash {
    let (spec, metadata) = (&run.setup.device, Cause::Metadata as usize);
    let pages = map_pages(spec.logical_bytes() / spec.unit.0, spec.unit);
    MapOnFlash {
        pages,
        cached_pages: (spec.dram.map_cache.0 / spec.unit.0).min(pages),
        lookups: c.map_lookups,
        hits: c.map_hits,
        hit_share: (c.map_lookups > 0).then(|| c.map_hits as f64 / c.map_lookups as f64),
        reads: c.regions.iter().map(|r| r.reads[metadata]).sum(),
        programs: c.regions.iter().map(|r| r.program_pages[metadata]).sum(),
        journal_bytes: spec.dram.map_journal.map(|bytes| bytes.0),
        journal_peak_bytes: run.device.ftl.map_journal_peak_bytes(),
    }
}

fn errors<M: Media>(run: &Outcome<M>, e: &wordline_ftl::ReadErrors) -> ReadErrors {
    let asked = run.setup.device.errors.as_ref().is_some_and(|model| !model.refresh.is_never());
    let named = |of: &[u64; Cause::COUNT]| -> BTreeMap<String, u64> {
        READS.into_iter().map(|k| (word(k), of[k as usize])).collect()
    };
    let pages: u64 = e.host.iter().sum();
    let retries = e.retries[Cause::Host as usize];
    let m = &run.device.metrics;
    let (spent, all) = (m.parts[0][LatencyPart::Retry as usize], m.latency[0].sum());
    let by_mode = CellMode::ALL.into_iter().map(|mode| {
        let counts = e.of_mode(mode);
        let end = counts.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1);
        (mode.key().to_string(), counts[..end].to_vec())
    });
    ReadErrors {
        host_pages: by_mode.filter(|(_, counts)| !counts.is_empty()).collect(),
        retries: named(&e.retries),
        uncorrectable: named(&e.uncorrectable),
        retries_per_host_page: (pages > 0).then(|| retries as f64 / pages as f64),
        share_of_read_latency: (all > 0).then(|| spent as f64 / all as f64),
        refresh: asked.then(|| Refreshed {
            blocks: Due::ALL.iter().map(|due| (due.key().to_string(), e.refreshed[*due as usize])).collect(),
            bytes: e.refreshed_units * run.device.ftl.view().geometry().unit,
        }),
    }
}

fn energy<M: Media>(run: &Outcome<M>, used: &[EnergyUsed; Cause::COUNT]) -> Energy {
    let joules = |picojoules| wordline_units::Energy(picojoules).as_joules();
    let of = |used: &EnergyUsed| EnergyOf {
        read_j: joules(used.read),
        program_j: joules(used.program),
        erase_j: joules(used.erase),
        transfer_j: joules(used.transfer),
    };
    let some = Cause::ALL.into_iter().filter(|cause| used[*cause as usize] != EnergyUsed::default());
    let by_cause: BTreeMap<String, EnergyOf> = some.map(|k| (word(k), of(&used[k as usize]))).collect();
    let total_j = by_cause.values().map(EnergyOf::total_j).sum();
    let m = &run.device.metrics;
    let bytes = m.bytes[0] + m.bytes[1];
    Energy { total_j, nj_per_host_byte: (bytes > 0).then(|| total_j * 1e9 / bytes as f64), by_cause }
}

fn multiplane<M: Media>(run: &Outcome<M>, c: &Counters) -> Option<Multiplane> {
    (run.setup.device.multiplane != wordline_device::Multiplane::Off).then_some(())?;
    let MultiplaneCounts { commands, operations } = run.device.metrics.multiplane;
    let sum = |of: &dyn Fn(&RegionCounters) -> u64| c.regions.iter().map(of).sum::<u64>();
    let all = sum(&|r| r.reads.iter().sum()) + sum(&|r| r.program_ops) + sum(&|r| r.erases);
    let named =
        |counts: [u64; 3]| OpKind::ALL.map(|kind| (kind.key().to_string(), counts[kind as usize])).into();
    Some(Multiplane {
        commands: named(commands),
        operations: named(operations),
        share: (all > 0).then(|| operations.iter().sum::<u64>() as f64 / all as f64),
    })
}

fn suspensions<M: Media>(run: &Outcome<M>) -> Option<BTreeMap<String, u64>> {
    run.setup.device.service.suspension?;
    let counts = run.device.metrics.suspensions;
    let suspended = [OpKind::Program, OpKind::Erase];
    Some(suspended.map(|kind| (kind.key().to_string(), counts[kind as usize])).into())
}

fn windows<M: Media>(run: &Outcome<M>, c: &Counters) -> Option<Windows> {
    let regions = &run.device.ftl.layout().regions;
    let bits = regions.iter().filter(|r| r.rule.reprograms()).map(|r| r.mode.bits()).max()?;
    let named = |of: &dyn Fn(&RegionCounters) -> [u64; Cause::COUNT]| -> BTreeMap<String, u64> {
        let sum = |k: Cause| c.regions.iter().map(|r| of(r)[k as usize]).sum::<u64>();
        PROGRAMS.into_iter().map(|k| (word(k), sum(k))).filter(|(_, n)| *n > 0).collect()
    };
    let host = Cause::Host as usize;
    let fast = |(r, at): (&RegionCounters, &Region)| {
        if at.mode == CellMode::Slc { r.program_bytes[host] } else { r.as_slc.bytes[host] }
    };
    let (fast, all) = (c.regions.iter().zip(regions).map(fast).sum::<u64>(), c.program_bytes(Cause::Host));
    Some(Windows {
        slc_bytes: named(&|r| r.as_slc.bytes),
        reprogram_bytes: named(&|r| r.reprogrammed.bytes),
        host_at_slc_speed: (all > 0).then(|| fast as f64 / all as f64),
        reprograms_per_wordline: bits - 1,
        interference: wordline_flash::interference(bits),
    })
}

pub(crate) fn idle<M: Media>(run: &Outcome<M>) -> Option<IdleTime> {
    run.device.ftl.works_when_idle().then_some(())?;
    let i = &run.device.metrics.idle;
    let named = |of: &[u64; Cause::COUNT]| -> BTreeMap<String, u64> {
        PROGRAMS.into_iter().map(|k| (word(k), of[k as usize])).filter(|(_, n)| *n > 0).collect()
    };
    let seconds = |ns: u64| ns as f64 / 1e9;
    Some(IdleTime {
        periods: i.periods,
        idle_s: seconds(i.lasted),
        worked_s: named(&i.worked).into_iter().map(|(k, ns)| (k, seconds(ns))).collect(),
        program_bytes: named(&i.programmed),
        erases: i.erases,
        delayed_requests: i.delayed,
        delay_us_mean: (i.delayed > 0).then(|| i.waited as f64 / i.delayed as f64 / 1e3),
        delay_us_max: i.longest as f64 / 1e3,
    })
}

/// Both ways of counting write amplification.
pub(crate) fn waf<M: Media>(
    run: &Outcome<M>,
    c: &Counters,
    flash: &Flash,
    host_write_page_bytes: u64,
) -> Option<Waf> {
    let mut waf = Waf::new(&flash.program_bytes, host_write_page_bytes)?;
    if c.idle_gc_bytes > 0 {
        let premature = (c.premature_units * run.setup.device.unit.0).min(c.idle_gc_bytes);
        let left_out = (c.idle_gc_bytes - premature) as f64;
        waf.paper = Some(waf.total - left_out / host_write_page_bytes as f64);
    }
    Some(waf)
}

fn page_types<M: Media>(run: &Outcome<M>, c: &Counters) -> Option<PageTypes> {
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
