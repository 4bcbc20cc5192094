//! Reports as a bursty workload on a hybrid drive gives them, made of a small generator, for tests
//! of what the report looks like.

use serde_json::json;
use std::collections::BTreeMap;
use wordline_counters::{FlashCounts, HostCounts, RequestCounts};
use wordline_report::*;

/// A scheme's character: what makes its numbers.
pub struct Character {
    pub name: &'static str,
    pub title: &'static str,
    /// Latency of an unloaded write, in microseconds.
    pub write_us: f64,
    /// Latency of an unloaded read, in microseconds.
    pub read_us: f64,
    /// Share of the run in which the cache is full and writes are slow.
    pub cliff: f64,
    /// WAF by cause: host, gc, migration, pad.
    pub parts: [f64; 4],
    /// Share of the migration that is reprogramming.
    pub reprogram: f64,
}

pub const CONVENTIONAL: Character = Character {
    name: "conventional",
    title: "single cell mode, no SLC cache",
    write_us: 1650.0,
    read_us: 88.0,
    cliff: 0.0,
    parts: [1.0, 0.26, 0.0, 0.02],
    reprogram: 0.0,
};

pub const SLC_CACHE: Character = Character {
    name: "slc-cache",
    title: "page-mapped SLC write cache in front of TLC or QLC",
    write_us: 530.0,
    read_us: 52.0,
    cliff: 0.22,
    parts: [1.0, 0.31, 0.97, 0.05],
    reprogram: 0.0,
};

pub const HIERARCHY: Character = Character {
    name: "hierarchy",
    title: "two-level SLC cache with sectors merged in the first",
    write_us: 505.0,
    read_us: 55.0,
    cliff: 0.10,
    parts: [0.62, 0.18, 0.55, 0.01],
    reprogram: 0.0,
};

pub const IPS: Character = Character {
    name: "ips",
    title: "in-place switch: SLC windows reprogrammed into TLC",
    write_us: 540.0,
    read_us: 61.0,
    cliff: 0.12,
    parts: [1.0, 0.22, 0.41, 0.03],
    reprogram: 0.9,
};

struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A latency around `centre` with a tail.
    fn latency(&mut self, centre: f64) -> f64 {
        let body = centre * (0.97 + 0.25 * self.uniform() * self.uniform());
        let queue = -self.uniform().ln() * centre * 0.35;
        let tail = if self.uniform() < 0.012 { centre * 9.0 * -self.uniform().ln() } else { 0.0 };
        body + queue + tail
    }
}

const BINS: usize = 320;
const BIN_S: f64 = 20.0;

/// A full report of one scheme.
/// A mean in parts.
fn shares(mean: Option<f64>, of: &[(&str, f64)]) -> BTreeMap<String, f64> {
    of.iter().map(|(key, share)| (key.to_string(), share * mean.unwrap_or(0.0))).collect()
}

/// The command of a run under a scheme.
fn command(scheme: &str) -> Vec<String> {
    let words =
        "wordline run --device hierarchy-44gb --workload bursty-mix:write_rate=100MB/s,burst=2% --scheme";
    let changes = ["--set", "gc.victim=fifo", "--set", "ack.mode=buffer"];
    words.split(' ').chain([scheme]).chain(changes).map(str::to_string).collect()
}

pub fn report(c: &Character) -> Report {
    let mut dice = Dice(0x5eed ^ (c.name.len() as u64 * 7919));
    let mut load = Dice(42);
    let mut timeline = Timeline { bin_s: BIN_S, ..Timeline::default() };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let mut free = 0.62;
    for bin in 0..BINS {
        let phase = bin as f64 / BINS as f64;
        let burst = if (bin / 40) % 2 == 1 { 1.0 } else { 0.12 };
        let jitter = 0.7 + 0.6 * load.uniform();
        let n = (260.0 * burst * jitter) as usize;
        let slow = burst > 0.5 && (phase * 4.0).fract() > 1.0 - c.cliff;
        let (mut w, mut r) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let centre = if slow { 2600.0 + 0.4 * c.write_us } else { c.write_us };
            w.push(dice.latency(centre));
            if dice.uniform() < 0.55 {
                r.push(dice.latency(c.read_us * if slow { 4.0 } else { 1.0 }));
            }
        }
        let rate = n as f64 * 0.82 * if slow { 0.7 } else { 1.0 };
        timeline.write_mb_per_s.push(rate);
        timeline.read_mb_per_s.push(r.len() as f64 * 0.71);
        timeline.write_latency_us_mean.push(mean(&w));
        timeline.write_latency_us_max.push(max(&w));
        timeline.read_latency_us_mean.push(mean(&r));
        timeline.read_latency_us_max.push(max(&r));
        let total: f64 = c.parts.iter().sum();
        let waf = total * (0.4 + 0.6 * phase.sqrt()) * (0.92 + 0.16 * load.uniform());
        timeline.write_page_mb_per_s.push(rate);
        timeline.programmed_mb_per_s.push(rate * waf);
        timeline.waf.push((n > 0).then_some(waf));
        free = (free - 0.0032 * burst + if burst < 0.5 { 0.0016 } else { 0.0 }).clamp(0.06, 1.0);
        timeline.free_blocks.push(Some(free));
        timeline.die_utilisation.push(Some(0.9 * burst));
        timeline.bus_utilisation.push(Some(0.2 * burst));
        writes.extend(w);
        reads.extend(r);
    }
    let write_bytes = 31 * (1u64 << 30);
    let page = write_bytes / 100 * 118;
    let bytes = |part: f64| (part * page as f64) as u64;
    let one = |kind: &str, region: &str, n: u64| {
        BTreeMap::from([(kind.to_string(), BTreeMap::from([(region.to_string(), n)]))])
    };
    let cached = c.cliff > 0.0;
    let front = if cached { "cache" } else { "dense" };
    let mut program_bytes: ProgramBytes = BTreeMap::from([
        ("host".into(), one("program", front, bytes(c.parts[0]))),
        ("gc".into(), one("program", "dense", bytes(c.parts[1]))),
        ("pad".into(), one("program", "dense", bytes(c.parts[3]))),
    ]);
    if c.parts[2] > 0.0 {
        let again = bytes(c.parts[2] * c.reprogram);
        let mut kinds = one("program", "dense", bytes(c.parts[2]) - again);
        if again > 0 {
            kinds.extend(one("reprogram", "dense", again));
        }
        program_bytes.insert("migration".into(), kinds);
    }
    let pages = |n: u64| n / 16_384;
    let programs = program_bytes
        .iter()
        .map(|(cause, kinds)| {
            let of = |kind: &str| kinds.get(kind).map_or(0, |r| pages(r.values().sum()));
            (cause.clone(), Programs { program: of("program"), reprogram: of("reprogram") })
        })
        .collect();
    let erases = if cached {
        BTreeMap::from([("slc".to_string(), pages(bytes(c.parts[0])) / 128), ("tlc".to_string(), 3_912)])
    } else {
        BTreeMap::from([("tlc".to_string(), 5_821)])
    };
    let requests = (reads.len() + writes.len()) as u64;
    let simulated_s = BINS as f64 * BIN_S;
    let read_bytes = reads.len() as u64 * 14_200;
    let waf = Waf::new(&program_bytes, page);
    Report {
        schema: REPORT_SCHEMA.into(),
        version: "0.1.0".into(),
        config: config(c),
        seed: 1,
        scheme: SchemeInfo { name: c.name.into(), title: c.title.into(), colour: None },
        device: DeviceInfo {
            name: "hierarchy-44gb".into(),
            description: "4 channels, 16 planes, 2 GiB SLC and 42 GiB TLC".into(),
            spelling: "hierarchy-44gb".into(),
            changes: vec!["gc.victim=fifo".into(), "ack.mode=buffer".into()],
        },
        workload: WorkloadInfo {
            name: "bursty-mix".into(),
            details: BTreeMap::from([
                ("format".to_string(), json!("synthetic")),
                ("fit".to_string(), json!("error")),
                ("text".to_string(), json!("bursty-mix:write_rate=100MB/s,burst=2%")),
            ]),
        },
        command: command(c.name),
        host: Host {
            requests,
            completed: requests,
            failed: BTreeMap::new(),
            counts: RequestCounts {
                ended: [reads.len() as u64, writes.len() as u64, 0, 0],
                bytes: [read_bytes, write_bytes, 0, 0],
            }
            .figures(),
            pages: HostCounts { write_page_bytes: page, ..HostCounts::default() }.figures(),
            trim_bytes: 0,
            unplaced_bytes: 0,
        },
        jobs: vec![],
        queues: vec![],
        simulated_s,
        latency_parts_us: LatencyParts {
            read: shares(
                mean(&reads),
                &[("behind_host", 0.31), ("behind_gc", 0.34), ("die", 0.25), ("bus", 0.1)],
            ),
            write: shares(
                mean(&writes),
                &[
                    ("admission", 0.12),
                    ("staging", 0.05),
                    ("behind_host", 0.3),
                    ("space", 0.22),
                    ("die", 0.31),
                ],
            ),
        },
        latency_us: Latencies { read: latency(&reads), write: latency(&writes), trim: None, flush: None },
        throughput: Throughput {
            iops: requests as f64 / simulated_s,
            mb_per_s: (read_bytes + write_bytes) as f64 / simulated_s / 1e6,
            read_mb_per_s: read_bytes as f64 / simulated_s / 1e6,
            write_mb_per_s: write_bytes as f64 / simulated_s / 1e6,
        },
        flash: Flash {
            reads: BTreeMap::from([
                ("gc".to_string(), 212_004),
                ("host".to_string(), 48_210),
                ("migration".to_string(), if cached { 812_331 } else { 0 }),
                ("rmw".to_string(), 91_220),
            ]),
            programs,
            program_bytes,
            erases,
            counts: FlashCounts { reads_from_ram: 1_204, ..FlashCounts::default() }.figures(),
            map: None,
            regions: Vec::new(),
            places: BTreeMap::new(),
            page_types: None,
            windows: None,
            errors: None,
            energy: None,
            multiplane: None,
            suspensions: None,
        },
        waf,
        begun_steady: None,
        lifetime: None,
        metrics: BTreeMap::new(),
        without_effect: BTreeMap::new(),
        after_last_request: None,
        balance: None,
        idle: None,
        steady_state: None,
        replicas: None,
        twin_sensitivity: vec![],
        capacity: Capacity {
            logical_bytes: 42_144_000_000,
            physical_bytes: 45_097_156_608,
            over_provisioning: 0.07,
            regions: vec![
                RegionCapacity { name: "cache".into(), mode: "slc".into(), blocks: 1024, bytes: 2 << 30 },
                RegionCapacity { name: "dense".into(), mode: "tlc".into(), blocks: 7168, bytes: 42 << 30 },
            ],
            live_bytes: 19_000_000_000,
            changing: None,
        },
        wear: BTreeMap::from([
            ("slc".to_string(), Wear { blocks: 1024, mean: 17.4, max: 21, min: 12, sigma: 1.31 }),
            ("tlc".to_string(), Wear { blocks: 7168, mean: 0.546, max: 4, min: 0, sigma: 0.71 }),
        ]),
        wear_histogram: BTreeMap::from([
            (
                "slc".to_string(),
                WearHistogram { from: 12, width: 1, blocks: vec![9, 80, 201, 300, 244, 120, 70] },
            ),
            ("tlc".to_string(), WearHistogram { from: 0, width: 2, blocks: vec![7000, 160, 8] }),
        ]),
        utilisation: Some(Utilisation {
            dies_mean: 0.41,
            buses_mean: 0.08,
            dies: (0..16).map(|i| 0.3 + 0.014 * i as f64).collect(),
            buses: vec![0.07, 0.08, 0.09, 0.08],
        }),
        conditions: Some(Conditions {
            capacity_bytes: 42_144_000_000,
            flash_bytes: BTreeMap::from([("slc".to_string(), 2 << 30), ("tlc".to_string(), 42 << 30)]),
            over_provisioning: 0.07,
            ram_bytes: if cached { 44_000_000 } else { 41_156_250 },
            initial: "preload".into(),
        }),
        out_of_reach: vec![],
        life_used: None,
        lost_blocks: None,
        memory: Memory {
            engine_bytes: 31_203_004,
            map_bytes: 23_100_000,
            bytes_per_mapped_page: Some(8.9),
            ..Memory::default()
        },
        speed: Speed {
            wall_s: 0.184,
            requests_per_s: requests as f64 / 0.184,
            flash_ops_per_s: 6.1e6,
            peak_rss_bytes: Some(61 << 20),
        },
        hints: vec![
            "0.79 drive writes: collection has hardly begun; try --requests 500k or fill = 0.9.".into(),
        ],
        result_hash: format!("{:016x}", dice.0),
        latency_cdf: LatencyCdf { read: cdf(&reads), write: cdf(&writes) },
        timeline,
        block_map: block_map(&mut dice, simulated_s),
    }
}

/// Sixteen planes that fill up with the run.
fn block_map(dice: &mut Dice, simulated_s: f64) -> BlockMap {
    let kind = |region: &str, mode: &str, state: &str| BlockKind {
        region: region.into(),
        mode: mode.into(),
        state: state.into(),
    };
    let frames = (0..24).map(|frame| {
        let (mut cells, mut live) = (String::new(), String::new());
        for cell in 0..16 * 48 {
            let (slc, filled) = (cell % 48 < 6, cell % 48 < 6 + frame * 2);
            let letter = match (slc, filled, dice.uniform() < 0.05) {
                (_, true, true) => 'E',
                (true, ..) => 'B',
                (false, true, _) => 'D',
                (false, false, _) => 'A',
            };
            cells.push(letter);
            live.push(char::from(b'0' + (dice.uniform() * 10.0) as u8));
        }
        BlockFrame { at_ns: (simulated_s / 23.0 * frame as f64 * 1e9) as u64, cells, live }
    });
    BlockMap {
        rows: (0..16).map(|p| BlockRow { plane: p, first_block: p * 512, every: 11, cells: 48 }).collect(),
        frames: frames.collect(),
        legend: vec![
            kind("", "", "erased"),
            kind("cache", "slc", "full"),
            kind("cache", "slc", "open"),
            kind("dense", "tlc", "full"),
            kind("dense", "tlc", "emptied"),
        ],
    }
}

/// The baseline and one other.
pub fn two() -> Comparison {
    Comparison::new(vec![report(&CONVENTIONAL), report(&SLC_CACHE)])
}

/// Four schemes.
pub fn four() -> Comparison {
    Comparison::new([CONVENTIONAL, SLC_CACHE, HIERARCHY, IPS].iter().map(report).collect())
}

/// So many schemes of which all but the first record metrics.
pub fn metrics(count: usize) -> Comparison {
    let mut c = Comparison::new((0..4).flat_map(|_| four().reports).take(count).collect());
    for (i, r) in c.reports.iter_mut().enumerate().skip(1) {
        let rate = (0..900).map(|n| [n as f64 * 10.0, 0.5 + 0.4 * (n as f64 / 90.0 + i as f64).sin()]);
        r.metrics.insert("hit rate".into(), rate.collect());
        r.metrics.insert("quota, of <1>".into(), vec![[0.0, 12.0], [6_000.0, 40_000.0], [9_000.0, 8.0]]);
        r.metrics.insert("drift".into(), vec![[0.0, -2e-5], [9_000.0, -1e-5]]);
    }
    c.reports[1].metrics.insert("once".into(), vec![[4_096.0, 7.0]]);
    c
}

/// A workload that only writes.
pub fn without_reads() -> Comparison {
    let mut c = two();
    for r in &mut c.reports {
        r.host.counts.ended.read_requests = 0;
        r.host.counts.bytes.read_bytes = 0;
        r.latency_us.read = None;
        r.latency_parts_us.read.clear();
        r.latency_cdf.read.clear();
        r.throughput.read_mb_per_s = 0.0;
        r.timeline.read_mb_per_s.fill(0.0);
        r.timeline.read_latency_us_mean.fill(None);
        r.timeline.read_latency_us_max.fill(None);
    }
    c
}

/// The second scheme ran out of space.
pub fn with_failures() -> Comparison {
    let mut c = two();
    c.reports[1].host.failed.insert("out_of_space".into(), 1203);
    c.reports[1].host.completed -= 1203;
    c.reports[1].host.unplaced_bytes = 12 << 20;
    c
}

/// Runs of which nothing but the totals was recorded.
pub fn without_pictures() -> Comparison {
    let mut c = two();
    for r in &mut c.reports {
        r.timeline = Timeline::default();
        r.latency_cdf = LatencyCdf::default();
        r.block_map = BlockMap::default();
        (r.utilisation, r.conditions) = (None, None);
        r.wear_histogram.clear();
    }
    c
}

/// A run of nothing.
pub fn empty() -> Comparison {
    Comparison::new(vec![Report { schema: REPORT_SCHEMA.into(), ..Report::default() }])
}

/// The same with every run steady, replicas and all.
pub fn steady(mut c: Comparison) -> Comparison {
    for r in &mut c.reports {
        r.steady_state = Some(settled(true));
        for run in r.replicas.iter_mut().flat_map(|r| &mut r.runs) {
            run.steady_state = Some(settled(true));
        }
    }
    c
}

/// Eight replicas of each scheme, with some chance in what matters; the first scheme has settled.
pub fn replicated() -> Comparison {
    let mut reports = two().reports;
    for (scheme, r) in reports.iter_mut().enumerate() {
        r.steady_state = Some(settled(scheme == 0));
        let runs = (0..8).map(|i| replica(r, scheme as u64, i)).collect();
        r.replicas = Some(replicas(runs));
    }
    Comparison::new(reports)
}

/// Replicas that have no chance in them.
pub fn replicas_alike() -> Comparison {
    let mut reports = two().reports;
    for r in &mut reports {
        r.replicas = Some(replicas((0..3).map(|i| Report { seed: 1 + i, ..r.in_brief() }).collect()));
    }
    Comparison::new(reports)
}

/// A replica: the same report with its figures stretched by chance. What is the workload's is the
/// same for all schemes, what is the scheme's is not.
fn replica(r: &Report, scheme: u64, number: u64) -> Report {
    let mut out = Report { seed: r.seed + number, ..r.in_brief() };
    if number == 0 {
        return out;
    }
    let (mut common, mut own) = (Dice(number * 977), Dice(number * 131 + scheme * 7));
    for dice in [&mut common, &mut own] {
        (0..9).for_each(|_| dice.0 = dice.0.wrapping_add(dice.uniform().to_bits()));
    }
    let by = 1.0 + 0.08 * (common.uniform() - 0.5) + 0.01 * (own.uniform() - 0.5);
    for l in [&mut out.latency_us.read, &mut out.latency_us.write].into_iter().flatten() {
        for value in [&mut l.mean, &mut l.p50, &mut l.p90, &mut l.p99, &mut l.p999, &mut l.p9999, &mut l.max]
        {
            *value *= by;
        }
    }
    for bytes in
        out.flash.program_bytes.values_mut().flat_map(|k| k.values_mut()).flat_map(|r| r.values_mut())
    {
        *bytes = (*bytes as f64 * by) as u64;
    }
    for n in out.flash.erases.values_mut() {
        *n = (*n as f64 * by) as u64;
    }
    out.waf = Waf::new(&out.flash.program_bytes, out.host.page_bytes());
    out.result_hash = format!("{:016x}", own.0);
    out
}

pub fn settled(reached: bool) -> SteadyState {
    let known = |mean: f64| Some(Estimate { mean, sd: Some(mean / 20.0), half_width_95: Some(mean / 40.0) });
    SteadyState {
        reached: if reached { Reached::Yes } else { Reached::No },
        stationary: reached,
        criterion: STEADY_CRITERION.into(),
        from: reached.then_some(SteadyFrom { time_s: 1152.0, requests: 13_005, share: 0.18 }),
        why: if reached {
            "no trend"
        } else {
            "WAF still rises, by 3.1 % from the third to the last quarter of the run"
        }
        .into(),
        after: reached.then(|| AfterWarmUp {
            requests: 59_170,
            simulated_s: 5248.0,
            read_latency_us: known(112.0),
            write_latency_us: known(2210.0),
            read_mb_per_s: known(2.9),
            write_mb_per_s: known(5.3),
            waf: known(1.31),
        }),
    }
}

/// Every float that can be is not a number or infinite.
pub fn not_finite() -> Comparison {
    let mut c = two();
    let nan = f64::NAN;
    let l = Latency {
        count: 1,
        mean: nan,
        p50: f64::INFINITY,
        p90: nan,
        p99: nan,
        p999: nan,
        p9999: nan,
        max: f64::INFINITY,
    };
    let r = &mut c.reports[1];
    r.latency_us.write = Some(l);
    r.simulated_s = nan;
    r.throughput = Throughput { iops: f64::INFINITY, mb_per_s: nan, read_mb_per_s: nan, write_mb_per_s: nan };
    r.speed =
        Speed { wall_s: 0.0, requests_per_s: f64::INFINITY, flash_ops_per_s: nan, peak_rss_bytes: None };
    r.capacity.over_provisioning = nan;
    r.latency_cdf.write = vec![[nan, nan], [f64::INFINITY, 1.0]];
    r.timeline.write_mb_per_s.fill(nan);
    r.timeline.bin_s = nan;
    r.timeline.waf.fill(Some(f64::INFINITY));
    r.timeline.programmed_mb_per_s.fill(f64::INFINITY);
    if let Some(w) = &mut r.waf {
        w.total = f64::INFINITY;
        w.parts.entry("gc".into()).or_default().insert("program".into(), nan);
    }
    for w in r.wear.values_mut() {
        w.sigma = nan;
    }
    c
}

/// All the samples with their names.
pub fn all() -> Vec<(&'static str, Comparison)> {
    vec![
        ("two", two()),
        ("four", four()),
        ("replicated", replicated()),
        ("replicas alike", replicas_alike()),
        ("without reads", without_reads()),
        ("with failures", with_failures()),
        ("without pictures", without_pictures()),
        ("empty", empty()),
        ("of nothing", Comparison::new(Vec::new())),
        ("not finite", not_finite()),
        ("metrics", metrics(3)),
        ("metrics of many", metrics(9)),
        ("hostile", hostile()),
    ]
}

/// Names that try to be markup, terminal codes and formulas.
pub fn hostile() -> Comparison {
    let mut c = two();
    for (i, r) in c.reports.iter_mut().enumerate() {
        let evil = format!("</script></pre><script>alert({i})</script>\"'&\x1b[31m,=1+1");
        r.scheme.name.clone_from(&evil);
        r.scheme.title.clone_from(&evil);
        r.scheme.colour = Some("red;}</style><script>alert(1)</script>".into());
        r.device.name.clone_from(&evil);
        r.device.description.clone_from(&evil);
        r.workload.name.clone_from(&evil);
        r.version.clone_from(&evil);
        r.result_hash.clone_from(&evil);
        r.hints = vec![evil.clone()];
        r.config = json!({ evil.clone(): evil, "n": i });
        let part = r.flash.program_bytes["gc"].clone();
        r.flash.program_bytes.insert(evil.clone(), part);
        r.flash.erases.insert(evil.clone(), 7);
        r.host.failed.insert(evil.clone(), 0);
        r.waf = Waf::new(&r.flash.program_bytes, r.host.page_bytes());
        r.capacity.regions[0].name.clone_from(&evil);
        r.metrics.insert(evil.clone(), vec![[0.0, 1.0], [9.0, 2.0]]);
        for kind in &mut r.block_map.legend {
            (kind.region, kind.mode) = (format!("{evil};|"), format!("{evil};|"));
        }
        r.block_map.legend[0].state.clone_from(&evil);
        if let Some(conditions) = &mut r.conditions {
            conditions.initial.clone_from(&evil);
        }
    }
    c
}

fn config(c: &Character) -> serde_json::Value {
    json!({
        "device": {
            "name": "hierarchy-44gb",
            "topology": { "channels": 4, "chips_per_channel": 1, "dies_per_chip": 1, "planes_per_die": 4 },
            "media": [{ "blocks_per_plane": 512, "wordlines_per_block": 128, "page": "16KiB",
                "slc": { "read": "25us", "program": "500us", "erase": "15ms" },
                "tlc": { "read": "75us", "program": "1600us", "erase": "15ms", "one_shot": 3 } }],
            "bus": "333MT/s", "unit": "16KiB", "sector": "4KiB",
            "capacity": { "logical": "39.25GiB" },
            "gc": { "trigger": "50%", "victim": "greedy", "class": "host", "hard_reserve": 2 },
            "host": { "queue_depth": 1024, "rate": "off" },
        },
        "scheme": { "name": c.name, "cache_blocks": if c.cliff > 0.0 { 64 } else { 0 } },
        "workload": { "name": "bursty-mix", "write_share": 0.65, "burst": "40s" },
        "precondition": "preload",
    })
}

fn mean(v: &[f64]) -> Option<f64> {
    (!v.is_empty()).then(|| v.iter().sum::<f64>() / v.len() as f64)
}

fn max(v: &[f64]) -> Option<f64> {
    v.iter().copied().reduce(f64::max)
}

fn latency(v: &[f64]) -> Option<Latency> {
    let mut v = v.to_vec();
    v.sort_by(f64::total_cmp);
    let at = |q: f64| v[((v.len() as f64 * q).ceil() as usize).clamp(1, v.len()) - 1];
    Some(Latency {
        count: v.len() as u64,
        mean: mean(&v)?,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        p9999: at(0.9999),
        max: max(&v)?,
    })
}

fn cdf(v: &[f64]) -> Vec<[f64; 2]> {
    let mut v = v.to_vec();
    v.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (v.first(), v.last()) else { return Vec::new() };
    let step = (last / first).ln() / 380.0;
    let mut points: Vec<[f64; 2]> = (0..=380)
        .map(|i| {
            let x = first * (step * i as f64).exp();
            [x, v.partition_point(|y| *y <= x * 1.000_001) as f64 / v.len() as f64]
        })
        .collect();
    points.dedup_by(|a, b| a[1] == b[1]);
    points
}
