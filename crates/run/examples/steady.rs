//! A drive begun steady beside one warmed up by eight drive writes: write amplification of the next
//! drive write of each, and the time that either took to get there. Prints the table of
//! `docs/steady-state.md`: `make steady`.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;
use wordline_run::{RunSpec, run};

/// What is changed of the drive and asked of it.
struct Case {
    device: &'static str,
    set: &'static [(&'static str, &'static str)],
    victim: &'static str,
    logical: &'static str,
    scheme: &'static str,
    workload: &'static str,
}

/// 8 dies of 224 blocks of 384 pages of 16 KiB, 10.5 GiB, programmed page by page.
const BY_PAGE: &[(&str, &str)] =
    &[("medium.flash.tlc.one_shot", "false"), ("medium.flash.tlc.program", "500us")];

const SPARE: [&str; 2] = ["9GiB", "8GiB"];

fn cases() -> Vec<Case> {
    let mut cases = vec![];
    let device = "demo-8gb";
    for victim in ["greedy", "fifo", "d-choices:4"] {
        for logical in SPARE {
            for workload in ["uniform:bs=16KiB,qd=4", "hot-cold:bs=16KiB,qd=4", "zipf:bs=16KiB,qd=4"] {
                cases.push(Case { device, set: BY_PAGE, victim, logical, scheme: "conventional", workload });
            }
        }
    }
    let more = [
        ("conventional", BY_PAGE, "uniform:bs=16KiB,qd=32"),
        ("conventional", BY_PAGE, "zipf:bs=16KiB,qd=32"),
        ("conventional", BY_PAGE, "uniform:bs=1MiB,qd=2"),
        ("conventional", BY_PAGE, "zipf:bs=16KiB@80/64KiB@20,extent=64KiB,qd=4"),
        ("conventional", BY_PAGE, "mix:uniform=50%,zipf=50%,bs=16KiB,qd=4"),
        ("conventional", BY_PAGE, "mix:bs=16KiB,qd=4"),
        ("conventional", BY_PAGE, "twin:hm_0:scale=2,closed=4"),
        ("conventional-tlc", BY_PAGE, "hot-cold:bs=16KiB,qd=4"),
        ("pa-ssd", BY_PAGE, "hot-cold:bs=16KiB,qd=4"),
        ("conventional", &[], "uniform:bs=16KiB,qd=32"),
        ("conventional", &[], "zipf:bs=16KiB,qd=32"),
    ];
    for (scheme, set, workload) in more {
        cases.push(Case { device, set, victim: "greedy", logical: "8GiB", scheme, workload });
    }
    cases
}

fn spec(case: &Case, initial: &str, bytes: &str) -> RunSpec {
    let mut spec = RunSpec::new(case.device, case.scheme, &format!("{},bytes={bytes}", case.workload));
    spec.set = case.set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    spec.set.push(("gc.victim".into(), case.victim.into()));
    spec.set.push(("capacity.logical".into(), case.logical.into()));
    spec.initial = initial.into();
    spec
}

/// Seconds that something takes, and what it returns.
fn timed<T>(what: impl FnOnce() -> T) -> (T, f64) {
    let begin = Instant::now();
    let done = what();
    (done, begin.elapsed().as_secs_f64())
}

fn row(case: &Case) -> Result<String, Box<dyn Error>> {
    let mut quiet = |_| ControlFlow::Continue(());
    let (warmed, wall_s) = timed(|| run(&spec(case, "fill:100%", "9x"), &mut quiet));
    let (warm, warm_s) = (warmed?.waf_after(8.0).ok_or("nothing was written")?, wall_s * 8.0 / 9.0);
    // One request: what takes time is the beginning, and so little that the fastest of three counts.
    let first = RunSpec { requests: Some(1), ..spec(case, "steady", "1x") };
    let mut begin_s = f64::INFINITY;
    for _ in 0..3 {
        let (began, s) = timed(|| run(&first, &mut quiet));
        began?;
        begin_s = begin_s.min(s);
    }
    let ours = run(&spec(case, "steady", "1x"), &mut quiet)?;
    let waf = ours.waf_after(0.0).ok_or("nothing was written")?;
    let begun = ours.begun_steady.ok_or("it did not begin steady")?;
    Ok(format!(
        "| {} | {} | {} | {} | {:.3} | {:.3} | {:.3} ({:+.1} %) | {:.2} s | {:.3} s | {:.0} |",
        case.scheme,
        case.victim,
        case.logical,
        case.workload,
        warm,
        begun.expected_waf,
        waf,
        (waf / warm - 1.0) * 100.0,
        warm_s,
        begin_s,
        warm_s / begin_s,
    ))
}

const HEAD: &str = "\
| scheme | victim | logical | workload | WAF after 8 drive writes | foretold | WAF begun steady | warm-up | \
beginning | ratio |
|---|---|---|---|---|---|---|---|---|---|";

fn main() -> Result<(), Box<dyn Error>> {
    println!("{HEAD}");
    for case in cases() {
        println!("{}", row(&case)?);
    }
    Ok(())
}
