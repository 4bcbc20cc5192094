//! What a snapshot and its forks cost: ages a drive of 1 TiB, and prints time and memory.
//!
//! `cargo run --release --package wordline-run --example fork`

#![allow(clippy::disallowed_methods, reason = "it measures time")]
#![allow(clippy::print_stdout)] // an example speaks

use std::error::Error;
use std::time::Instant;
use wordline_ftl::{Initial, Label, Mapped};
use wordline_run::Snapshot;
use wordline_sim::{Device, NoProbe};
use wordline_units::{Fraction, HostOp, HostRequest, SimTime};

const WRITES: u64 = 4_000_000;
const AFTER: u64 = 20_000;

type Drive = Device<NoProbe>;

/// Writes of 16 KiB all over the drive.
fn write(drive: &mut Drive, numbers: std::ops::Range<u64>) -> Result<(), Box<dyn Error>> {
    let pages = drive.ftl().inspect().logical_lbas() / 32;
    for n in numbers {
        let page = (n as u128 * 0x9e37_79b9_7f4a_7c15 % pages as u128) as u64;
        let at = drive.now();
        drive.submit(HostRequest::new(HostOp::Write, page * 32, 32).at(at), at)?;
        if drive.outstanding() > 64 {
            drive.next_completion(SimTime::NEVER)?;
        }
        while drive.poll().is_some() {}
    }
    Ok(())
}

/// Memory that is this process's alone, in MiB; where the system tells.
fn anonymous_mib() -> f64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("Anonymous:"));
    let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    kib.map_or(f64::NAN, |k| k / 1024.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let set = [("capacity.logical", "1TiB"), ("medium.flash.blocks_per_plane", "760")];
    let set: Vec<(String, String)> = set.map(|(k, v)| (k.to_string(), v.to_string())).to_vec();
    let spec = wordline_run::device("consumer-qlc", &set)?;
    let (geometry, name) = (spec.geometry()?, "conventional");
    let mut drive: Drive = Device::new(&spec, &geometry, wordline_schemes::build(name)?, NoProbe)?;
    let pages = spec.logical_bytes() / spec.unit.0;
    let share = Fraction::percent(90);
    let initial = Initial { valid: share, ..Initial::holding(Mapped::First(share.of(pages) as u32)) };
    drive.ftl_mut().setup().precondition(&initial, 1)?;

    let begin = Instant::now();
    write(&mut drive, 0..WRITES)?;
    println!("drive         {} GiB, {} blocks", spec.logical_bytes() >> 30, geometry.blocks);
    println!(
        "aged          {WRITES} writes in {:.1} s; memory {:.0} MiB",
        begin.elapsed().as_secs_f64(),
        anonymous_mib()
    );

    let begin = Instant::now();
    let snapshot = Snapshot::of(&drive, &geometry, Label { device: &spec, scheme: name }, 1)?;
    println!("snapshot      {:.2} s", begin.elapsed().as_secs_f64());

    for number in 1..=4 {
        let before = anonymous_mib();
        let begin = Instant::now();
        let mut fork = snapshot.fork()?;
        let (seconds, after) = (begin.elapsed().as_secs_f64(), anonymous_mib());
        write(&mut fork, WRITES..WRITES + AFTER)?;
        let used = anonymous_mib();
        println!(
            "fork {number}        {seconds:.2} s, {:.1} MiB; after {AFTER} writes {:.1} MiB",
            after - before,
            used - before
        );
        // Kept, as forks that run side by side are.
        std::mem::forget(fork);
    }
    Ok(())
}
