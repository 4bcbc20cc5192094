//! The report of a run, filled from measurements and counters.

use crate::ask::setup::Setup;
use crate::ask::spec::VERSION;
use crate::fill::flash::{flash, idle, waf};
use crate::fill::hints::hints;
use crate::fill::host::{curve, host, latencies, latency_parts, throughput};
use crate::fill::outcome::Outcome;
use crate::fill::pictures::{block_map, timeline, utilisation};
use crate::fill::reach::out_of_reach;
use crate::fill::run_end::holdings;
use crate::fill::steady::steady_state;
use crate::fill::steady_start::begun_steady;
use crate::fill::wear::{capacity, lifetime, lost_blocks, wear, wear_histogram};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use wordline_ftl::{Counters, FlashUse};
use wordline_report::{
    Balance, Conditions, DeviceInfo, LatencyCdf, LatencyParts, LifeUsed, MapTable, Memory, REPORT_SCHEMA,
    Report, SchemeInfo, Speed, WorkloadInfo,
};
use wordline_units::CellMode;

/// The report up to the last completion. Figures that are only known when the drive is idle are left out.
pub(crate) fn report(run: &Outcome) -> Report {
    let (setup, ftl, metrics) = (run.setup, &run.device.ftl, &run.device.metrics);
    let counters = ftl.counters();
    let simulated_s = run.summary.end.since(run.first_arrival).as_secs();
    let flash = flash(run, counters);
    let host = host(run, counters);
    let layers = setup.spec.registry.layers(run.scheme).unwrap_or_default();
    let titles: Vec<&str> = layers.iter().map(|(entry, _)| &*entry.title).collect();
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
        waf: waf(run, counters, &flash, &host),
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
        out_of_reach: out_of_reach(run),
        life_used: ftl.inspect().life_used().map(|(mean, max)| LifeUsed { mean, max }),
        lost_blocks: lost_blocks(run),
        lifetime: lifetime(run, counters, simulated_s),
        metrics: scheme_metrics(run),
        without_effect: counters.without_effect.all().map(|(why, n)| (why.to_string(), n)).collect(),
        memory: memory(run),
        speed: speed(run, counters),
        hints: vec![],
        after_last_request: None,
        balance: Some(Balance { start: run.held, end: holdings(ftl) }),
        result_hash: String::new(),
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

fn conditions(run: &Outcome) -> Conditions {
    let (setup, ftl) = (run.setup, run.device.ftl);
    let (logical, layout) = (setup.device.logical_bytes(), ftl.layout());
    let flash = CellMode::ALL.into_iter().zip(FlashUse::new(layout, &setup.geometry).flash_bytes());
    let tables: u64 = ftl.inspect().map_tables().iter().map(|t| t.bytes()).sum();
    Conditions {
        capacity_bytes: logical,
        flash_bytes: flash.filter(|(_, n)| *n > 0).map(|(m, n)| (m.key().to_string(), n)).collect(),
        over_provisioning: FlashUse::new(layout, &setup.geometry).data_bytes(&setup.device) as f64
            / logical.max(1) as f64
            - 1.0,
        ram_bytes: setup.device.dram.map_bytes(logical / setup.device.unit.0, setup.device.unit)
            + tables
            + ftl.inspect().buffer_bytes()
            + setup.device.dram.read_cache.0,
        initial: match &setup.from_state {
            Some(from) => format!("saved state {}", from.path()),
            None => setup.initial.to_string(),
        },
    }
}

/// Metrics that the scheme records. If both schemes of a combination have a name, that of the dense one is
/// numbered.
fn scheme_metrics(run: &Outcome) -> BTreeMap<String, Vec<[f64; 2]>> {
    let mut found = BTreeMap::new();
    for (name, series) in run.device.ftl.scheme().metrics() {
        let numbered = (2..).map(|n| format!("{name} ({n})"));
        let free = std::iter::once(name.to_string()).chain(numbered).find(|name| !found.contains_key(name));
        found.extend(free.map(|name| (name, series.into_owned())));
    }
    found
}

fn memory(run: &Outcome) -> Memory {
    let (map_bytes, engine_bytes) = run.device.ftl.inspect().table_bytes();
    let mapped = run.device.ftl.inspect().mapped();
    let each = (mapped > 0).then(|| map_bytes as f64 / mapped as f64);
    let tables = run.device.ftl.inspect().map_tables().into_iter().map(|t| MapTable {
        name: t.name.to_string(),
        entries: t.entries,
        entry_bits: t.entry_bits,
        bytes: t.bytes(),
    });
    Memory { engine_bytes, map_bytes, bytes_per_mapped_page: each, tables: tables.collect() }
}

fn speed(run: &Outcome, c: &Counters) -> Speed {
    let rate = |n: u64| if run.wall_s > 0.0 { n as f64 / run.wall_s } else { 0.0 };
    Speed {
        wall_s: run.wall_s,
        requests_per_s: rate(run.summary.completed),
        flash_ops_per_s: rate(c.flash_ops()),
        peak_rss_bytes: peak_rss_bytes(),
    }
}

/// Peak memory of the process, if the system reports it.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
