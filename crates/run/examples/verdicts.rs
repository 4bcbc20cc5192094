//! Sixty runs and their steady-state verdicts. A run that is called steady has an interval for its WAF. That is held to the
//! WAF of the same run over the 24 drive writes that follow it, and to 24 drive writes of a run of another seed. Prints
//! the tables of `lab/results/steady-verdicts.md`; with `choose` or `judge` those of one half of the runs.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::fmt;
use std::ops::ControlFlow;
use wordline_report::{Estimate, Reached, Report, SteadyState};
use wordline_run::{RunError, RunSpec, run};

/// Drive writes of each run of a case.
const LENGTHS: [f64; 5] = [0.3, 1.0, 2.0, 8.0, 10.0];
const LONGEST: f64 = 10.0;
/// Drive writes of the long run that a run is held to.
const LONG: f64 = 24.0;
const SEED: u64 = 1;
const OTHER_SEED: u64 = 2;

/// 512 MiB of MQSim's drive.
const SMALL_MQSIM: &[(&str, &str)] = &[("medium.flash.blocks_per_plane", "256")];
/// 1 GiB of demo-8gb: wordlines an eighth as many in each block.
const SMALL_DEMO: &[(&str, &str)] =
    &[("medium.flash.wordlines_per_block", "16"), ("capacity.logical", "1GiB")];
/// 1 GiB of raro-16gb, likewise.
const SMALL_RARO: &[(&str, &str)] =
    &[("medium.flash.wordlines_per_block", "32"), ("capacity.logical", "1GiB")];

/// A drive under a scheme and a workload.
struct Case {
    device: &'static str,
    set: &'static [(&'static str, &'static str)],
    scheme: &'static str,
    workload: &'static str,
    initial: &'static str,
}

const fn case(
    device: &'static str,
    set: &'static [(&'static str, &'static str)],
    scheme: &'static str,
    workload: &'static str,
    initial: &'static str,
) -> Case {
    Case { device, set, scheme, workload, initial }
}

/// Rules were chosen on these.
const CHOOSE: [Case; 6] = [
    case("fair-tlc", &[], "conventional", "uniform:read=0%,bs=16KiB,qd=4", "steady"),
    case("fair-tlc", &[], "slc-cache", "zipf:read=0%,bs=16KiB,qd=8", "fill:100%"),
    case("demo-8gb", SMALL_DEMO, "conventional", "zipf:read=30%,bs=16KiB,qd=16", "fill:100%"),
    case("fair-qlc", &[], "sector", "hot-cold:read=0%,bs=16KiB,qd=4", "fill:100%"),
    case("fair-tlc", &[], "ips", "mix:read=0%,bs=16KiB,qd=8", "fill:100%"),
    case("mqsim-qd1", SMALL_MQSIM, "conventional", "hot-cold:read=0%,bs=16KiB,qd=32", "steady"),
];

/// These show what the rules are worth.
const JUDGE: [Case; 6] = [
    case("fair-qlc", &[], "conventional", "zipf:read=0%,bs=16KiB,qd=32", "steady"),
    case("demo-8gb", SMALL_DEMO, "slc-cache", "uniform:read=0%,bs=16KiB,qd=4", "fill:100%"),
    case("raro-16gb", SMALL_RARO, "conventional", "mix:read=30%,bs=16KiB,qd=4", "steady"),
    case("fair-tlc", &[], "sector", "zipf:read=0%,bs=16KiB,qd=4", "fill:100%"),
    case("fair-tlc", &[], "hierarchy", "hot-cold:read=0%,bs=16KiB,qd=8", "fill:100%"),
    case("fair-qlc", &[], "ips:mode=qlc", "uniform:read=0%,bs=16KiB,qd=32", "fill:100%"),
];

impl Case {
    fn run(&self, drive_writes: f64, initial: &str, seed: u64) -> Result<Report, RunError> {
        let workload = format!("{},bytes={drive_writes}x", self.workload);
        let mut spec = RunSpec::new(self.device, self.scheme, &workload);
        spec.set = self.set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        spec.initial = initial.into();
        spec.seed = seed;
        run(&spec, &mut |_| ControlFlow::Continue(()))
    }
}

/// A long run beside an interval.
struct Long {
    waf: f64,
    is_held: Option<bool>,
}

impl Long {
    fn of(report: &Report, from: f64, interval: Option<&Estimate>) -> Result<Long, RunError> {
        let waf = report.waf_between(from, from + LONG);
        let waf = waf.ok_or_else(|| RunError::Input("nothing was written".to_string()))?;
        let holds = |e: &Estimate| (e.mean - waf).abs() <= e.half_width_95.unwrap_or(0.0);
        Ok(Long { waf, is_held: interval.map(holds) })
    }
}

impl fmt::Display for Long {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outside = if self.is_held == Some(false) { ", **outside**" } else { "" };
        write!(f, "{:.3}{outside}", self.waf)
    }
}

/// What is counted of the runs.
#[derive(Default)]
struct Rates {
    runs: usize,
    steady: usize,
    outside: usize,
    outside_other: usize,
    eight: usize,
    eight_steady: usize,
    eight_narrow: usize,
}

impl Rates {
    fn add(&mut self, drive_writes: f64, interval: Option<&Estimate>, longs: &[Long; 2]) {
        let narrow = interval.is_some_and(|e| e.half_width_95.unwrap_or(0.0) < 0.03 * e.mean);
        let is_outside = |long: &Long| usize::from(long.is_held == Some(false));
        self.runs += 1;
        self.steady += usize::from(interval.is_some());
        self.outside += is_outside(&longs[0]);
        self.outside_other += is_outside(&longs[1]);
        if drive_writes >= 8.0 {
            self.eight += 1;
            self.eight_steady += usize::from(interval.is_some());
            self.eight_narrow += usize::from(narrow);
        }
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rates { runs, steady, outside, outside_other, eight, eight_steady, eight_narrow } = self;
        write!(
            f,
            "{steady} of {runs} runs are called steady. The next {LONG} drive writes are outside the interval of \
             {outside} of them, {LONG} drive writes of another seed outside that of {outside_other}. Of the {eight} \
             runs of eight drive writes or more {eight_steady} are called steady, {eight_narrow} with a half-width \
             under 3 % of the mean."
        )
    }
}

fn verdict(state: &SteadyState, interval: Option<&Estimate>) -> String {
    match (state.reached, interval) {
        (Reached::Yes, Some(e)) => {
            let half = e.half_width_95.unwrap_or(0.0);
            format!("steady, {:.3} ± {half:.3} ({:.1} %)", e.mean, half / e.mean * 100.0)
        }
        (Reached::TooShort, _) => format!("too short: {}", state.why),
        _ => format!("not steady: {}", state.why),
    }
}

fn rows(case: &Case, rates: &mut Rates) -> Result<(), RunError> {
    let Case { device, scheme, workload, initial, set } = case;
    let smaller = if set.is_empty() { "" } else { " (smaller)" };
    let on = case.run(LONGEST + LONG, initial, SEED)?;
    let other = case.run(LONGEST + LONG, "fill:100%", OTHER_SEED)?;
    for drive_writes in LENGTHS {
        let report = case.run(drive_writes, initial, SEED)?;
        let state = report.steady_state.as_ref();
        let interval = report.after_warm_up().and_then(|after| after.waf.as_ref());
        let longs = [Long::of(&on, drive_writes, interval)?, Long::of(&other, LONGEST, interval)?];
        let verdict = state.map_or(String::new(), |state| verdict(state, interval));
        println!(
            "| {device}{smaller} | {scheme} | {workload} | {initial} | {drive_writes} | {verdict} | {} | {} |",
            longs[0], longs[1]
        );
        if std::env::var_os("WHY").is_some() {
            println!("    {}", state.map_or("", |s| &s.why));
        }
        rates.add(drive_writes, interval, &longs);
    }
    Ok(())
}

fn half(title: &str, cases: &[Case]) -> Result<(), RunError> {
    let mut rates = Rates::default();
    println!("\n## {title}\n");
    println!("| drive | scheme | workload | start | drive writes | verdict | next {LONG} | another seed |");
    println!("|---|---|---|---|---|---|---|---|");
    cases.iter().try_for_each(|case| rows(case, &mut rates))?;
    println!("\n{rates}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let halves: [(&str, &str, &[Case]); 2] = [
        ("choose", "Runs on which the rules were chosen", &CHOOSE),
        ("judge", "Runs that judge the rules", &JUDGE),
    ];
    let named: Vec<String> = std::env::args().skip(1).collect();
    for (name, title, cases) in halves {
        if named.is_empty() || named.iter().any(|n| n == name) {
            half(title, cases)?;
        }
    }
    Ok(())
}
