//! The report of a run, filled from what was measured and counted.

use crate::VERSION;
use crate::begin::{Start, begun_steady};
use crate::hints::hints;
use crate::setup::Setup;
use crate::steady::steady_state;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use wordline_device::map_pages;
use wordline_flash::SlotClass;
use wordline_ftl::{
    BlockLife, BlockStatus, Cause, Counters, Due, EnergyUsed, Ftl, LatencyPart, MapKind, Media, OpKind,
    Region, RegionCounters, RegionId,
};
use wordline_report::{
    BlockFrame, BlockKind, BlockMap, BlockRow, CDF_POINTS_MAX, Capacity, ChangingCapacity, Conditions,
    DeviceInfo, Energy, EnergyOf, Flash, Host, IdleTime, JobActivity, Latencies, Latency, LatencyCdf,
    LatencyParts, LifeUsed, Lifetime, LostBlocks, MapOnFlash, MapTable, Memory, ModeLifetime, Multiplane,
    PageTypes, ProgramBytes, Programs, QueueActivity, REPORT_SCHEMA, ReadErrors, Refreshed, RegionActivity,
    RegionCapacity, Report, SchemeInfo, Speed, Throughput, Timeline, Utilisation, Waf, Wear, WearHistogram,
    Windows, WorkloadInfo, WornOut,
};
use wordline_sim::{Histogram, Metrics, MultiplaneCounts, Summary, TimeBin, Usage, map_rows};
use wordline_units::{CellMode, PageType, SimTime};

/// What of a drive goes into its report, whatever watched it.
pub(crate) struct Measured<'a, M: Media> {
    pub ftl: &'a Ftl<M>,
    pub metrics: &'a Metrics,
}

/// A run that has ended.
pub(crate) struct Outcome<'a, M: Media> {
    pub setup: &'a Setup,
    pub scheme: &'a str,
    pub device: Measured<'a, M>,
    pub summary: Summary,
    pub jobs: Vec<JobActivity>,
    pub queues: Vec<QueueActivity>,
    pub first_arrival: SimTime,
    pub wall_s: f64,
    /// How the drive was put into a steady state, if it was.
    pub start: Option<Start>,
}

/// Causes of page reads, in the words of the report: with the last where the map is on flash.
const READS: [Cause; 5] = [Cause::Host, Cause::Rmw, Cause::Gc, Cause::Migrate, Cause::Metadata];
/// Causes of programs.
const PROGRAMS: [Cause; 5] = [Cause::Host, Cause::Gc, Cause::Migrate, Cause::Pad, Cause::Metadata];

/// The report's word for a cause.
fn word(cause: Cause) -> String {
    if cause == Cause::Migrate { "migration".into() } else { cause.key().into() }
}

pub(crate) fn report<M: Media>(run: &Outcome<M>) -> Report {
    let (setup, ftl, metrics) = (run.setup, &run.device.ftl, &run.device.metrics);
    let counters = ftl.counters();
    let simulated_s = run.summary.end.since(run.first_arrival).as_secs();
    let flash = flash(run, counters);
    let host = host(run, counters);
    let layers = wordline_schemes::layers(run.scheme).unwrap_or_default();
    let titles: Vec<&str> = layers.iter().map(|(entry, _)| entry.title).collect();
    let resolved = setup.workload.resolved();
    let mut report = Report {
        schema: REPORT_SCHEMA.to_string(),
        version: VERSION.to_string(),
        config: setup.config(run.scheme),
        seed: setup.spec.seed,
        scheme: SchemeInfo { name: run.scheme.to_string(), title: titles.join("; over "), colour: None },
        device: device(setup),
        workload: workload(setup.workload.name(), resolved),
        command: setup.spec.with_scheme(run.scheme).command(),
        simulated_s,
        jobs: run.jobs.clone(),
        queues: run.queues.clone(),
        latency_us: latencies(metrics),
        latency_parts_us: LatencyParts { read: latency_parts(metrics, 0), write: latency_parts(metrics, 1) },
        throughput: throughput(metrics, &host, simulated_s),
        waf: waf(run, counters, &flash, host.write_page_bytes),
        begun_steady: run.start.as_ref().map(|start| begun_steady(run, start)),
        idle: idle(run),
        steady_state: Some(steady_state(run)),
        replicas: None,
        twin_sensitivity: vec![],
        capacity: capacity(run),
        wear: wear(run),
        wear_histogram: wear_histogram(run),
        utilisation: utilisation(run),
        conditions: Some(conditions(run)),
        life_used: ftl.life_used().map(|(mean, max)| LifeUsed { mean, max }),
        lost_blocks: lost_blocks(run),
        lifetime: lifetime(run, counters, simulated_s),
        followed: followed(run),
        memory: memory(run),
        speed: speed(run, counters),
        hints: vec![],
        result_hash: metrics.result_hash(&counters.integers()),
        latency_cdf: LatencyCdf { read: curve(&metrics.latency[0]), write: curve(&metrics.latency[1]) },
        timeline: timeline(metrics, ftl),
        block_map: block_map(run),
        host,
        flash,
    };
    report.hints = hints(&report, run);
    report
}

pub(crate) fn device(setup: &Setup) -> DeviceInfo {
    DeviceInfo {
        name: setup.device.name.clone(),
        description: setup.device.description.clone(),
        spelling: setup.spec.device.clone(),
        changes: setup.spec.set.iter().map(|(key, value)| format!("{key}={value}")).collect(),
    }
}

pub(crate) fn workload(name: &str, resolved: Value) -> WorkloadInfo {
    let name = Path::new(name).file_name().map_or(name.to_string(), |n| n.to_string_lossy().into_owned());
    let mut details: BTreeMap<String, Value> = match resolved {
        Value::Object(map) => map.into_iter().collect(),
        other => BTreeMap::from([("resolved".to_string(), other)]),
    };
    details.remove("name");
    WorkloadInfo { name, details }
}

fn host<M: Media>(run: &Outcome<M>, c: &Counters) -> Host {
    let m = &run.device.metrics;
    let failed =
        [("out_of_space", m.out_of_space), ("uncorrectable", m.uncorrectable), ("worn_out", m.worn_out)];
    Host {
        requests: run.summary.requests,
        completed: run.summary.completed - failed.iter().map(|(_, n)| n).sum::<u64>(),
        failed: failed.into_iter().filter(|(_, n)| *n > 0).map(|(word, n)| (word.to_string(), n)).collect(),
        read_requests: m.completed[0],
        write_requests: m.completed[1],
        trim_requests: m.completed[2],
        flush_requests: m.completed[3],
        read_bytes: m.bytes[0],
        write_bytes: m.bytes[1],
        write_page_bytes: c.host_bytes_page,
        multi_page_writes: c.multi_page_writes,
        trim_bytes: m.bytes[2],
        unplaced_bytes: run.device.ftl.unplaced_bytes(),
    }
}

fn latencies(m: &Metrics) -> Latencies {
    let of = |kind: usize| latency(&m.latency[kind]);
    Latencies { read: of(0), write: of(1), trim: of(2), flush: of(3) }
}

fn latency_parts(m: &Metrics, kind: usize) -> BTreeMap<String, f64> {
    let count = m.latency[kind].count().max(1) as f64;
    let parts = LatencyPart::ALL.iter().zip(m.parts[kind]).filter(|(_, sum)| *sum > 0);
    parts.map(|(part, sum)| (part.key().to_string(), sum as f64 / count / 1e3)).collect()
}

fn latency(h: &Histogram) -> Option<Latency> {
    let mean = h.mean()? / 1e3;
    let at = |share: f64| h.quantile(share).map_or(0.0, |d| d.as_us());
    Some(Latency {
        count: h.count(),
        mean,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        p9999: at(0.9999),
        max: h.max().as_us(),
    })
}

fn throughput(m: &Metrics, host: &Host, seconds: f64) -> Throughput {
    let rate = |n: f64| if seconds > 0.0 { n / seconds } else { 0.0 };
    let (read, write) = (m.bytes[0] as f64 / 1e6, m.bytes[1] as f64 / 1e6);
    Throughput {
        iops: rate(host.completed as f64),
        mb_per_s: rate(read + write),
        read_mb_per_s: rate(read),
        write_mb_per_s: rate(write),
    }
}

fn flash<M: Media>(run: &Outcome<M>, c: &Counters) -> Flash {
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
            })
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

fn idle<M: Media>(run: &Outcome<M>) -> Option<IdleTime> {
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
fn waf<M: Media>(run: &Outcome<M>, c: &Counters, flash: &Flash, host_write_page_bytes: u64) -> Option<Waf> {
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

fn capacity<M: Media>(run: &Outcome<M>) -> Capacity {
    let (spec, ftl, geometry) = (&run.setup.device, &run.device.ftl, &run.setup.geometry);
    let layout = ftl.layout();
    let (logical, physical) = (spec.logical_bytes(), spec.physical_bytes());
    let granule = if layout.map == MapKind::Page { spec.unit.0 } else { spec.sector.0 };
    let regions = layout.regions.iter().enumerate().map(|(i, r)| {
        let pool = layout.pools[r.pool.0 as usize];
        let medium = &geometry.media[pool.medium];
        let alone = layout.regions.iter().filter(|other| other.pool == r.pool).count() == 1;
        // Blocks of a shared pool belong to whoever owns them at the moment.
        let blocks = if alone {
            medium.topology.planes() as u64 * pool.blocks_per_plane.min(r.quota) as u64
        } else {
            ftl.owned_blocks(wordline_ftl::RegionId(i as u8))
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
        live_bytes: ftl.mapped() * granule,
        changing: ftl.changes_capacity().then(|| {
            let (usable_bytes, least_usable_bytes) = ftl.usable_bytes();
            let conversions_refused = ftl.counters().conversions_refused;
            ChangingCapacity { usable_bytes, least_usable_bytes, conversions_refused }
        }),
    }
}

fn wear<M: Media>(run: &Outcome<M>) -> BTreeMap<String, Wear> {
    #[derive(Clone, Copy)]
    struct Sum {
        blocks: u64,
        cycles: u64,
        squares: u128,
        max: u64,
        min: u64,
    }
    let mut sums = [Sum { blocks: 0, cycles: 0, squares: 0, max: 0, min: u64::MAX }; 4];
    for (mode, erases) in run.device.ftl.wear() {
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

fn wear_histogram<M: Media>(run: &Outcome<M>) -> BTreeMap<String, WearHistogram> {
    wear(run)
        .into_iter()
        .map(|(mode, of)| {
            let width = (of.max - of.min + 1).div_ceil(WEAR_CLASSES_MAX);
            let mut blocks = vec![0; ((of.max - of.min) / width + 1) as usize];
            for (_, erases) in run.device.ftl.wear().filter(|(m, _)| m.key() == mode) {
                blocks[((erases as u64 - of.min) / width) as usize] += 1;
            }
            (mode, WearHistogram { from: of.min, width, blocks })
        })
        .collect()
}

/// More resources than this are not listed one by one.
const RESOURCES_MAX: usize = 1024;

fn utilisation<M: Media>(run: &Outcome<M>) -> Option<Utilisation> {
    let metrics = run.device.metrics;
    let time = metrics.used_at.0 as f64;
    let [dies, buses] = &metrics.used;
    if time == 0.0 || dies.is_empty() {
        return None;
    }
    // Four digits are more than anybody sees, and keep a list of a thousand short.
    let share = |ns: u64| libm::round(ns as f64 / time * 1e4) / 1e4;
    let mean = |all: &[u64]| all.iter().sum::<u64>() as f64 / time / all.len().max(1) as f64;
    let each = |all: &[u64]| match all.len() {
        0..=RESOURCES_MAX => all.iter().map(|ns| share(*ns)).collect(),
        _ => vec![],
    };
    Some(Utilisation { dies_mean: mean(dies), buses_mean: mean(buses), dies: each(dies), buses: each(buses) })
}

fn conditions<M: Media>(run: &Outcome<M>) -> Conditions {
    let (setup, ftl) = (run.setup, run.device.ftl);
    let (logical, physical) = (setup.device.logical_bytes(), setup.device.physical_bytes());
    let tables: u64 = ftl.map_tables().iter().map(|t| t.bytes()).sum();
    Conditions {
        capacity_bytes: logical,
        over_provisioning: physical as f64 / logical.max(1) as f64 - 1.0,
        ram_bytes: setup.device.dram.map_bytes(logical / setup.device.unit.0, setup.device.unit)
            + tables
            + ftl.buffer_bytes()
            + setup.device.dram.read_cache.0,
        initial: match &setup.from_state {
            Some(_) => format!("the saved state {}", setup.spec.from_state.as_deref().unwrap_or_default()),
            None => setup.initial.to_string(),
        },
    }
}

fn block_map<M: Media>(run: &Outcome<M>) -> BlockMap {
    let (ftl, frames) = (run.device.ftl, run.device.metrics.frames());
    let kind = |look: &BlockStatus| -> BlockKind {
        let (region, mode) = (&ftl.layout().regions[look.region.0 as usize].name, look.mode.key());
        let (owned, state) = match look.life {
            BlockLife::Erased => (false, "erased"),
            BlockLife::Open => (true, "open"),
            BlockLife::Full => (true, "full"),
            BlockLife::Emptied => (true, "emptied"),
            BlockLife::Retired => (false, "retired"),
        };
        let of = |text: &str| if owned { text.to_string() } else { String::new() };
        BlockKind { region: of(region), mode: of(mode), state: state.to_string() }
    };
    let mut looks: Vec<_> =
        frames.iter().flat_map(|f| &f.cells).map(|l| (l.life, l.region.0, l.mode, *l)).collect();
    looks.sort_by_key(|(life, region, mode, _)| (*life, *region, *mode));
    let mut legend: Vec<BlockKind> = vec![];
    for (.., look) in &looks {
        let kind = kind(look);
        if !legend.contains(&kind) {
            legend.push(kind);
        }
    }
    let letter = |look: &BlockStatus| {
        let kind = kind(look);
        BlockMap::letter(legend.iter().position(|k| *k == kind).unwrap_or(usize::MAX))
    };
    let frames = frames.iter().map(|f| BlockFrame {
        at_ns: f.at.0,
        cells: f.cells.iter().map(letter).collect(),
        live: f.cells.iter().map(|l| (b'0' + l.live_tenths.min(9)) as char).collect(),
    });
    let frames = frames.collect();
    let rows = map_rows(&run.setup.geometry).into_iter().map(|r| BlockRow {
        plane: r.plane.0,
        first_block: r.first.0,
        every: r.every,
        cells: r.cells,
    });
    BlockMap { rows: rows.collect(), legend, frames }
}

fn followed<M: Media>(run: &Outcome<M>) -> BTreeMap<String, Vec<[f64; 2]>> {
    let followed = run.device.ftl.scheme().metrics();
    followed.into_iter().map(|(name, series)| (name.to_string(), series.to_vec())).collect()
}

pub(crate) const YEAR_S: f64 = 365.25 * 86_400.0;

/// Drive writes a day over the five years of a warranty.
pub(crate) fn drive_writes_per_day(drive_writes: f64) -> f64 {
    drive_writes / (5.0 * 365.25)
}

fn lost_blocks<M: Media>(run: &Outcome<M>) -> Option<LostBlocks> {
    let (wear, ftl) = (run.setup.device.wear, &run.device.ftl);
    if wear.is_off() {
        return None;
    }
    let (bad, retired) = ftl.lost_blocks();
    let each = wear.acceleration as f64;
    let worn_out = ftl.worn_out().map(|at| {
        let (at_s, written) =
            (at.since(run.first_arrival).as_secs(), run.device.metrics.bytes[1] as f64 * each);
        WornOut {
            at_s,
            total_bytes_written: written,
            drive_writes: written / run.setup.device.logical_bytes() as f64,
            years: at_s * each / YEAR_S,
        }
    });
    Some(LostBlocks {
        blocks: run.setup.geometry.blocks as u64,
        bad: bad as u64,
        retired: retired as u64,
        levelled: ftl.levelled_blocks(),
        acceleration: wear.acceleration as u64,
        worn_out,
    })
}

/// Lifetimes by mean erases, which take wear levelling to be perfect.
fn lifetime<M: Media>(run: &Outcome<M>, c: &Counters, simulated_s: f64) -> Option<Lifetime> {
    let endures = |mode: CellMode| {
        let media = &run.setup.geometry.media;
        media.iter().filter_map(|m| m.mode(mode)).map(|t| t.endurance).filter(|e| *e > 0).min()
    };
    // An erase may stand for many, and so does what was written for it.
    let each = run.setup.device.wear.acceleration as f64;
    let written = run.device.metrics.bytes[1] as f64 * each;
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

fn memory<M: Media>(run: &Outcome<M>) -> Memory {
    let (map_bytes, engine_bytes) = run.device.ftl.table_bytes();
    let mapped = run.device.ftl.mapped();
    let each = (mapped > 0).then(|| map_bytes as f64 / mapped as f64);
    let tables = run.device.ftl.map_tables().into_iter().map(|t| MapTable {
        name: t.name.to_string(),
        entries: t.entries,
        entry_bits: t.entry_bits,
        bytes: t.bytes(),
    });
    Memory { engine_bytes, map_bytes, bytes_per_mapped_page: each, tables: tables.collect() }
}

fn speed<M: Media>(run: &Outcome<M>, c: &Counters) -> Speed {
    let rate = |n: u64| if run.wall_s > 0.0 { n as f64 / run.wall_s } else { 0.0 };
    Speed {
        wall_s: run.wall_s,
        requests_per_s: rate(run.summary.completed),
        flash_ops_per_s: rate(c.flash_ops()),
        peak_rss_bytes: peak_rss_bytes(),
    }
}

/// The most memory that the process has held, where the system tells.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// A histogram's cumulative distribution in at most [`CDF_POINTS_MAX`] points, spaced evenly in the
/// logarithm of the latency.
fn curve(h: &Histogram) -> Vec<[f64; 2]> {
    let all = h.cumulative();
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return vec![] };
    let (low, high) = (libm::log(first.0.0.max(1) as f64), libm::log(last.0.0.max(1) as f64));
    let per = if high > low { (CDF_POINTS_MAX - 1) as f64 / (high - low) } else { 0.0 };
    let mut points: Vec<[f64; 2]> = vec![];
    let mut slot = usize::MAX;
    for (latency, share) in all {
        let at = ((libm::log(latency.0.max(1) as f64) - low) * per) as usize;
        let point = [latency.as_us(), share];
        match points.last_mut() {
            Some(held) if at == slot => *held = point,
            _ => points.push(point),
        }
        slot = at;
    }
    points
}

fn timeline<M: Media>(m: &Metrics, ftl: &Ftl<M>) -> Timeline {
    let layout = ftl.layout();
    let (width, bins) = m.timeline();
    let bin_s = width.as_secs();
    let rate_of = |of: &dyn Fn(&TimeBin) -> u64| bins.iter().map(|b| of(b) as f64 / 1e6 / bin_s).collect();
    let rate = |kind: usize| rate_of(&|b| b.bytes[kind]);
    let mean = |kind: usize| {
        bins.iter()
            .map(|b| {
                (b.requests[kind] > 0).then(|| b.latency_ns[kind] as f64 / b.requests[kind] as f64 / 1e3)
            })
            .collect()
    };
    let max = |kind: usize| {
        bins.iter().map(|b| (b.requests[kind] > 0).then_some(b.max_ns[kind] as f64 / 1e3)).collect()
    };
    let home = &layout.regions[layout.home.0 as usize];
    let types = if home.rule.by_bit() { &PageType::ALL[..home.mode.bits() as usize] } else { &[] };
    let free = |page: PageType| bins.iter().map(move |b| Some(b.free?.pages[page as usize] as f64)).collect();
    let [dies, buses] = m.used.each_ref().map(Vec::len);
    let die_utilisation = utilisation_of(bins, &|usage| usage.arrays, dies);
    let bus_utilisation = utilisation_of(bins, &|usage| usage.buses, buses);
    Timeline {
        bin_s,
        die_utilisation,
        bus_utilisation,
        read_requests: bins.iter().map(|b| b.requests[0]).collect(),
        write_requests: bins.iter().map(|b| b.requests[1]).collect(),
        read_mb_per_s: rate(0),
        write_mb_per_s: rate(1),
        read_latency_us_mean: mean(0),
        write_latency_us_mean: mean(1),
        read_latency_us_max: max(0),
        write_latency_us_max: max(1),
        write_page_mb_per_s: rate_of(&|b| b.host_page_bytes),
        programmed_mb_per_s: rate_of(&|b| b.programmed),
        waf: bins
            .iter()
            .map(|b| (b.host_page_bytes > 0).then(|| b.programmed as f64 / b.host_page_bytes as f64))
            .collect(),
        free_blocks: bins.iter().map(|b| Some(b.free?.share)).collect(),
        free_pages: types.iter().map(|page| (page.key().to_string(), free(*page))).collect(),
        usable_bytes: if ftl.changes_capacity() {
            bins.iter().map(|b| Some(b.free?.usable_bytes)).collect()
        } else {
            vec![]
        },
    }
}

/// The share of the time between one look and the next for which so many resources were busy, for each bin.
fn utilisation_of(bins: &[TimeBin], used: &dyn Fn(&Usage) -> u64, resources: usize) -> Vec<Option<f64>> {
    let mut before = Usage::default();
    bins.iter()
        .map(|bin| {
            let now = bin.usage.filter(|now| now.at > before.at)?;
            let busy = used(&now) - used(&before);
            let time = now.at.since(before.at).0 * resources as u64;
            before = now;
            (time > 0).then(|| busy as f64 / time as f64)
        })
        .collect()
}
