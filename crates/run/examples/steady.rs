//! Every built-in drive on which `conventional` runs, begun steady, beside the same drive warmed up by eight drive
//! writes: write amplification over the first tenth and over the whole of the next drive write. Prints the table of
//! `lab/results/steady-state-table.md`, of all of them or of those that are named.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::ops::ControlFlow;
use wordline_report::Report;
use wordline_run::{RunError, RunSpec, run};

/// Drives above 64 GiB have fewer and smaller blocks in each plane, and as much less capacity and cache; all else is as
/// shipped.
const SMALLER: [(&str, &[(&str, &str)]); 2] = [
    (
        "ips-384gb",
        &[
            ("medium.flash.blocks_per_plane", "128"),
            ("medium.flash.wordlines_per_block", "16"),
            ("slc_cache.static_blocks", "4"),
        ],
    ),
    (
        "consumer-qlc",
        &[
            ("medium.flash.blocks_per_plane", "172"),
            ("medium.flash.wordlines_per_block", "24"),
            ("slc_cache.static_blocks", "8"),
            ("slc_cache.dynamic_blocks", "79"),
            ("capacity.logical", "7814086656B"),
        ],
    ),
];

const DEPTHS: [u32; 4] = [1, 4, 32, 128];
const LOADS: [&str; 3] = ["uniform", "hot-cold", "zipf"];

const HEAD: &str = "\
| drive | workload | WAF after 8 drive writes | predicted | first tenth | first drive write | steady? |
|---|---|---|---|---|---|---|";

fn spec(device: &str, workload: &str, initial: &str, drive_writes: u32) -> RunSpec {
    let mut spec = RunSpec::new(device, "conventional", &format!("{workload},bytes={drive_writes}x"));
    let smaller = SMALLER.iter().find(|(name, _)| *name == device).map_or(&[][..], |(_, set)| set);
    spec.set = smaller.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    spec.initial = initial.into();
    spec
}

fn on(spec: &RunSpec) -> Result<Report, RunError> {
    run(spec, &mut |_| ControlFlow::Continue(()))
}

/// A write amplification beside that of the warmed-up drive.
fn beside(waf: f64, warm: f64) -> String {
    format!("{waf:.3} ({:+.1} %)", (waf / warm - 1.0) * 100.0)
}

fn row(device: &str, workload: &str) -> Result<String, RunError> {
    let begun = on(&spec(device, workload, "steady", 1))?;
    let warmed = on(&spec(device, workload, "fill:100%", 9))?;
    let nothing = || RunError::Input("nothing was written".to_string());
    let warm = warmed.waf_between(8.0, 9.0).ok_or_else(nothing)?;
    let foretold = begun.begun_steady.as_ref().map_or(0.0, |b| b.timed_waf.unwrap_or(b.expected_waf));
    let waf = |until| begun.waf_between(0.0, until).ok_or_else(nothing);
    let (tenth, whole) = (waf(0.1)?, waf(1.0)?);
    let reached = begun.steady_state.map_or(String::new(), |s| format!("{:?}", s.reached).to_lowercase());
    Ok(format!(
        "| {device} | {workload} | {warm:.3} | {} | {} | {} | {reached} |",
        beside(foretold, warm),
        beside(tenth, warm),
        beside(whole, warm),
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    println!("{HEAD}");
    for device in wordline_device::builtin().iter().map(|b| b.name) {
        if !named.is_empty() && !named.iter().any(|n| n == device) {
            continue;
        }
        for (depth, load) in DEPTHS.iter().flat_map(|depth| LOADS.map(|load| (depth, load))) {
            match row(device, &format!("{load}:read=0%,bs=16KiB,qd={depth}")) {
                Ok(row) => println!("{row}"),
                // What is refused is so under every load.
                Err(e @ (RunError::Refused(_) | RunError::Option(_))) => {
                    println!("| {device} | all | refused: {} |||||", e.to_string().replace('\n', " "));
                    break;
                }
                Err(e) => return Err(e.into()),
            }
        }
    }
    Ok(())
}
