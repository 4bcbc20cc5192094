//! The engine on fixed work, one core: `make bench`. A line a case: requests and flash operations a
//! second, bytes a mapped page, the ratio to the naked loop run in the same minute, and the result hash,
//! so that a gain is told from a change of behavior. `make bench CASES=size` runs the cases whose name
//! contains a word. Every line goes into `benches/history.csv`.

#![allow(clippy::disallowed_methods, reason = "a bench measures time")]
#![allow(clippy::print_stdout)] // what a bench is for

mod case;
mod history;
mod limit;
mod mqsim;
mod python;
mod shape;

use case::{Case, Cost, Given, Load, Start};
use history::History;
use limit::Limit;
use mqsim::{MqSim, Pairs};
use python::Python;
use shape::{PEERS, PEERS_HEAVY, Shape};

/// The drive of the naked loop: 64 dies, 112 GiB raw, 12.5 % of it spare.
const YARDSTICK: Shape =
    Shape { channels: 8, dies_per_channel: 8, gib: 128, over_provisioning: 143, trigger: 1 };

const READ: Case = Case {
    name: "yardstick reads",
    shape: YARDSTICK,
    load: Load::RandomReads(32),
    start: Start::Full,
    queue_depth: 256,
    requests: 10_000_000,
    one_in: 1,
    errs: false,
    mqsim: None,
};
const WRITE: Case = Case {
    name: "yardstick writes under collection",
    load: Load::RandomWrites,
    start: Start::Aged(100),
    requests: 3_000_000,
    ..READ
};

const fn dies(name: &'static str, channels: u32, dies_per_channel: u32) -> Case {
    let shape = Shape { channels, dies_per_channel, gib: 512, over_provisioning: 143, trigger: 1 };
    Case { name, shape, queue_depth: 4 * channels * dies_per_channel, requests: 4_000_000, ..READ }
}

const fn dies_under_collection(name: &'static str, channels: u32, dies_per_channel: u32) -> Case {
    let case = dies(name, channels, dies_per_channel);
    Case { load: Load::RandomWrites, start: Start::Aged(2), requests: 500_000, ..case }
}

const fn size(name: &'static str, gib: u64, load: Load) -> Case {
    let start = match load {
        Load::RandomReads(_) => Start::Full,
        // Enough for each plane to come down to its trigger.
        _ => Start::Aged(3),
    };
    let requests = match load {
        Load::RandomReads(_) => 10_000_000,
        _ => 1_000_000,
    };
    Case { name, shape: Shape { gib, ..YARDSTICK }, load, start, requests, ..READ }
}

const CASES: &[Case] = &[
    READ,
    Case { name: "yardstick reads with errors", errs: true, ..READ },
    WRITE,
    Case { name: "yardstick writes under collection with errors", errs: true, ..WRITE },
    Case {
        name: "peers reads 4 KiB QD16",
        shape: PEERS,
        load: Load::RandomReads(8),
        queue_depth: 16,
        mqsim: Some(Given { requests: 1_000_000, occupancy: 0 }),
        ..READ
    },
    Case {
        name: "peers reads 4 KiB QD128",
        shape: PEERS,
        load: Load::RandomReads(8),
        queue_depth: 128,
        mqsim: Some(Given { requests: 1_000_000, occupancy: 0 }),
        ..READ
    },
    Case {
        name: "peers sequential writes",
        shape: PEERS,
        load: Load::SequentialWrites,
        start: Start::Empty,
        queue_depth: 128,
        requests: 950_000,
        one_in: 1,
        errs: false,
        mqsim: Some(Given { requests: 950_000, occupancy: 0 }),
    },
    Case {
        name: "peers writes moderate collection",
        shape: Shape { over_provisioning: 330, ..PEERS },
        load: Load::RandomWrites,
        start: Start::Aged(100),
        queue_depth: 128,
        requests: 4_000_000,
        one_in: 1,
        errs: false,
        mqsim: Some(Given { requests: 500_000, occupancy: 75 }),
    },
    Case {
        name: "peers writes heavy collection",
        shape: PEERS_HEAVY,
        load: Load::RandomWrites,
        start: Start::Aged(100),
        queue_depth: 128,
        requests: 2_000_000,
        one_in: 1,
        errs: false,
        mqsim: Some(Given { requests: 300_000, occupancy: 90 }),
    },
    size("size reads 64 GiB", 64, Load::RandomReads(32)),
    size("size reads 512 GiB", 512, Load::RandomReads(32)),
    size("size reads 4096 GiB", 4096, Load::RandomReads(32)),
    size("size writes 64 GiB", 64, Load::RandomWrites),
    size("size writes 512 GiB", 512, Load::RandomWrites),
    size("size writes 4096 GiB", 4096, Load::RandomWrites),
    Case { name: "length 1 M reads", requests: 1_000_000, ..READ },
    Case { name: "length 10 M reads", requests: 10_000_000, ..READ },
    Case { name: "length 100 M reads", requests: 100_000_000, ..READ },
    dies("dies 1 reads", 1, 1),
    dies("dies 16 reads", 4, 4),
    dies("dies 64 reads", 8, 8),
    dies("dies 256 reads", 16, 16),
    dies("dies 1024 reads", 16, 64),
    dies_under_collection("dies 1 writes", 1, 1),
    dies_under_collection("dies 16 writes", 4, 4),
    dies_under_collection("dies 64 writes", 8, 8),
    dies_under_collection("dies 256 writes", 16, 16),
    dies_under_collection("dies 1024 writes", 16, 64),
    // 10 GiB of pages scattered evenly over 16 TiB.
    Case {
        name: "memory 10 GiB scattered over 16 TiB",
        shape: Shape { channels: 16, dies_per_channel: 8, gib: 16 << 10, over_provisioning: 70, trigger: 1 },
        load: Load::RandomWrites,
        start: Start::Empty,
        queue_depth: 128,
        requests: 655_360 * 3,
        one_in: 1_500,
        errs: false,
        mqsim: None,
    },
];

/// What a case is held against.
#[derive(Clone, Copy, Default)]
struct Ratios {
    /// How fast it is, over the naked loop and over MQSim.
    naked: Option<f64>,
    mqsim: Option<f64>,
    /// What a flash operation costs, over the smallest case of its panel.
    smallest: Option<f64>,
}

fn show(case: &Case, cost: &Cost, ratios: Ratios, history: &mut History) {
    let writes = cost.write_amplification.is_finite();
    let ratio = |ratio: Option<f64>| ratio.map_or("-".into(), |r| format!("{r:.2}"));
    println!(
        "{:<WIDTH$} {:>7.3} {:>7.3}  {:>5}  {:>6.2}  {:>8.1}  {:>8}  {:>5}  {:>8}  {}",
        case.name,
        cost.requests_per_second() / 1e6,
        cost.ops_per_second() / 1e6,
        if writes { format!("{:.2}", cost.write_amplification) } else { "-".into() },
        cost.bytes_per_page,
        cost.start_up_seconds * 1e3,
        cost.resident_bytes.map_or("-".into(), |b| format!("{:.0}", b as f64 / 1e6)),
        ratio(ratios.naked),
        ratio(ratios.smallest),
        cost.hash,
    );
    if let Some((commit, hash)) = history.changed(case.name, &cost.hash) {
        println!("{:<WIDTH$} the result has changed: it was {hash} at {commit}", "");
    }
    history.keep(case.name, cost, ratios.naked, ratios.mqsim);
}

/// Three runs of a case, each beside one of the naked loop; the middle ratio and its run.
fn beside(case: &Case, limit: &Limit) -> Option<(Cost, f64)> {
    let reads = matches!(case.load, Load::RandomReads(_));
    let mut pairs = vec![];
    for _ in 0..3 {
        let (requests, ops) = limit.run(case.requests, if reads { 100 } else { 0 })?;
        let cost = case.run();
        let ratio = if reads { cost.requests_per_second() / requests } else { cost.ops_per_second() / ops };
        pairs.push((cost, ratio));
    }
    pairs.sort_by(|a, b| a.1.total_cmp(&b.1));
    Some(pairs.swap_remove(1))
}

/// The width of the column of names: that of the longest.
const WIDTH: usize = {
    let (mut width, mut i) = ("a plain Python place beside MQSim, five pairs".len(), 0);
    while i < CASES.len() {
        if CASES[i].name.len() > width {
            width = CASES[i].name.len();
        }
        i += 1;
    }
    width
};

/// Cases of which one is held against the other.
const SCALING: [&str; 3] = ["size", "dies", "length"];

fn is_scaling(name: &str) -> bool {
    SCALING.iter().any(|panel| name.starts_with(panel))
}

/// The fastest of three runs of each case, in turn, so that a slow minute of the machine is no case's.
fn fastest(cases: &[&Case]) -> Vec<Cost> {
    let mut best: Vec<Cost> = cases.iter().map(|c| c.run()).collect();
    for _ in 0..2 {
        for (best, case) in best.iter_mut().zip(cases) {
            let cost = case.run();
            if cost.seconds < best.seconds {
                *best = cost;
            }
        }
    }
    best
}

/// How much two runs at once do of what one does, the middle of three interleaved pairs.
fn two_at_once() {
    let case = Case { requests: 4_000_000, ..READ };
    let mut ratios: Vec<f64> = (0..3)
        .map(|_| {
            let one = case.run().requests_per_second();
            let two: f64 = std::thread::scope(|s| {
                let runs: Vec<_> = (0..2).map(|_| s.spawn(|| case.run().requests_per_second())).collect();
                runs.into_iter().map(|r| r.join().expect("run")).sum()
            });
            two / one
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "{:<WIDTH$} {:.2} times the throughput of one (middle of three)",
        "two reads at once", ratios[1]
    );
}

/// Each case beside MQSim.
fn show_pairs(title: &str, pairs: &[(&str, Pairs)]) {
    if pairs.is_empty() {
        return;
    }
    println!(
        "\n{:<WIDTH$} {:>7} {:>7}  {:>5}  {:>11}  {:>5}  {:>5}  {:>11}",
        title, "k req/s", "MQSim's", "times", "of the five", "WAF", "its", "per program"
    );
    for (name, five) in pairs {
        let (times, least, most) = five.middle();
        println!(
            "{name:<WIDTH$} {:>7.0} {:>7.0}  {times:>5.1}  {:>11}  {:>5}  {:>5}  {:>11}{}",
            five.ours / 1e3,
            five.theirs / 1e3,
            format!("{least:.1}-{most:.1}"),
            five.waf.map_or("-".into(), |w| format!("{:.2}", w.0)),
            five.waf.map_or("-".into(), |w| format!("{:.2}", w.1)),
            five.waf.map_or("-".into(), |w| format!("{:.1}", times * w.0 / w.1)),
            if five.lost == 0 { String::new() } else { format!("  it lost {} requests", five.lost) },
        );
    }
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| match words.as_slice() {
        [] => !is_scaling(name),
        words => words.iter().any(|w| name.contains(w.as_str())),
    };
    let limit = Limit::find();
    let mqsim = MqSim::find();
    let python = Python::find();
    let mut history = History::open();
    println!(
        "{:<WIDTH$} {:>7} {:>7}  {:>5}  {:>6}  {:>8}  {:>8}  {:>5}  {:>8}  result",
        "", "M req/s", "M ops/s", "WAF", "B/page", "start ms", "MB held", "naked", "smallest"
    );
    // For a profiler that is a hundred times as slow: fewer requests, and nothing kept.
    let shortened = std::env::var("WORDLINE_BENCH_REQUESTS").ok().and_then(|n| n.parse().ok());
    if let Some(requests) = shortened {
        CASES.iter().filter(|c| wanted(c.name)).for_each(|case| drop(Case { requests, ..*case }.run()));
        return Ok(());
    }
    let (mut pairs, mut in_python) = (vec![], vec![]);
    for case in CASES.iter().filter(|c| wanted(c.name) && !is_scaling(c.name)) {
        if let Some((mqsim, given)) = mqsim.as_ref().zip(case.mqsim) {
            let (cost, five) = mqsim.beside(case, given)?;
            show(case, &cost, Ratios { mqsim: Some(five.middle().0), ..Ratios::default() }, &mut history);
            pairs.push((case.name, five));
            if let Some(python) = &python {
                in_python.push((case.name, mqsim.pairs(case, given, || python.run(case))?));
            }
            continue;
        }
        let limit = limit.as_ref().filter(|_| case.name.starts_with("yardstick"));
        let (cost, naked) = match limit.and_then(|limit| beside(case, limit)) {
            Some((cost, ratio)) => (cost, Some(ratio)),
            None => (case.run(), None),
        };
        show(case, &cost, Ratios { naked, ..Ratios::default() }, &mut history);
    }
    for panel in SCALING {
        let cases: Vec<&Case> =
            CASES.iter().filter(|c| wanted(c.name) && c.name.starts_with(panel)).collect();
        let costs = fastest(&cases);
        for (case, cost) in cases.iter().zip(&costs) {
            let first = cases.iter().position(|c| c.load == case.load).unwrap_or(0);
            let smallest = Some(costs[first].ops_per_second() / cost.ops_per_second());
            show(case, cost, Ratios { smallest, ..Ratios::default() }, &mut history);
        }
    }
    if wanted("two at once") {
        two_at_once();
    }
    show_pairs("beside MQSim, five pairs", &pairs);
    show_pairs("a plain Python place beside MQSim, five pairs", &in_python);
    if mqsim.is_none() && CASES.iter().any(|c| wanted(c.name) && c.mqsim.is_some()) {
        println!("not held beside MQSim: make bench MQSIM=DIR does, where DIR/MQSim has its sources");
    }
    history.close();
    Ok(())
}
