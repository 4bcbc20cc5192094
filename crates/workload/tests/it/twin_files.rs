//! Requests of a twin that go on with files: found in a trace, made again by its twin, left out where that is asked,
//! and mistakes in their keys named.

use crate::support;
use std::fmt::Write as _;
use wordline_trace::{DriveShape, RandomStream};
use wordline_units::{HostOp, HostRequest};
use wordline_workload::twin::{Aspect, Verdict, fit, from_toml, twin_named};

const DRIVE: DriveShape = DriveShape { logical_bytes: 400 << 30, sector_bytes: 4096, unit_bytes: 16_384 };
/// Blocks of a file's request: 64 KiB.
const LONG: u64 = 128;

fn requests(text: &str, seed: u64) -> Vec<HostRequest> {
    support::requests(text, DRIVE, seed)
}

/// Copies of files in bursts of 600 writes, each file of 100 at half a page, four parts of it at a time; between them
/// single writes of 4 KiB at random.
fn copies() -> String {
    let (mut random, mut text) = (RandomStream::new(1, "test"), String::from("t,o,s,op\n"));
    let (mut time, mut at) = (0, 8);
    for burst in 0..20 {
        for i in 0..600u64 {
            time += 1 + random.below(2_000_000);
            // Of each sixteen the four parts in turn.
            let place = i / 16 * 16 + i % 4 * 4 + i % 16 / 4;
            let file = (burst * 6 + i / 100) % 2 * 24;
            let _ = writeln!(text, "{time},{},65536,W", (at + file + place * LONG) * 512);
        }
        at += 700 * LONG;
        for _ in 0..150 {
            time += 1 + random.below(100_000_000);
            let _ = writeln!(text, "{time},{},4096,W", random.below(1 << 20) * 4096);
        }
    }
    text
}

/// Mean writes in a row at one offset within 64 KiB, of those of that size.
fn in_a_row(all: &[HostRequest]) -> f64 {
    let long: Vec<u64> = all.iter().filter(|r| r.blocks as u64 == LONG).map(|r| r.lba.0 % LONG).collect();
    let changes = long.windows(2).filter(|w| w[0] != w[1]).count();
    long.len() as f64 / (changes + 1) as f64
}

#[test]
fn twin_writes_burst_files_in_turn_as_its_trace_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made.csv");
    std::fs::write(&file, copies()).unwrap();
    let trace = format!("{}:format=csv,time=t:ns,offset=o,size=s,op=op", file.display());
    let fitted = fit(&trace, "copies").unwrap();
    let law = fitted.description.writes.files.clone().unwrap();
    assert!(law.bursts.as_f64() > 0.85 && law.apart.as_f64() < 0.4, "{law:?}");
    assert_eq!(law.sizes.iter().map(|s| s.0).collect::<Vec<_>>(), [LONG as u32]);
    assert_eq!(law.begins.iter().map(|b| b.0).collect::<Vec<_>>(), [8, 32], "4 and 16 KiB");
    assert_eq!(Verdict::of(&fitted).holds(Aspect::Files), Some(true), "{}", Verdict::of(&fitted).render());
    let twin = folder.path().join("twin.toml");
    std::fs::write(&twin, fitted.to_toml("")).unwrap();
    let twin = twin.display().to_string();
    let made = requests(&twin, 1);
    assert_eq!(made, requests(&twin, 1), "the same seed, the same requests");
    let (asked, found) = (in_a_row(&requests(&trace, 1)), in_a_row(&made));
    assert!((1.0 / 2.0..2.0).contains(&(found / asked)), "{found} in a row for {asked}");
    let off = in_a_row(&requests(&format!("{twin}:files=off"), 1));
    assert!(off.is_nan() || off < 0.2 * found, "{off}");
}

// As before there were such keys.
#[test]
fn twin_without_files_makes_the_same_requests_as_before() {
    let text = twin_named("dtr").unwrap().text().unwrap();
    assert!(text.contains("\nfiles = "));
    let kept: String = text.lines().filter(|l| !l.starts_with("file")).flat_map(|l| [l, "\n"]).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("before.toml");
    std::fs::write(&file, kept).unwrap();
    let before = requests(&format!("{}:requests=20k", file.display()), 7);
    assert_eq!(requests("twin:dtr:requests=20k,files=off", 7), before);
    assert_ne!(requests("twin:dtr:requests=20k", 7), before);
    let times = |all: &[HostRequest]| all.iter().map(|r| (r.arrival, r.op)).collect::<Vec<_>>();
    assert_eq!(
        times(&requests("twin:dtr:requests=20k", 7)),
        times(&before),
        "times and kinds are drawn apart"
    );
}

#[test]
fn files_lie_in_the_footprint_and_start_by_their_law() {
    let text = twin_named("dtr").unwrap().text().unwrap();
    let d = from_toml(text, "dtr").unwrap();
    let end = d.writes.footprint / 512;
    let all = requests("twin:dtr:requests=200k,scale=40", 3);
    let writes = all.iter().filter(|r| r.op == HostOp::Write);
    assert!(writes.clone().all(|r| r.lba.0 + r.blocks as u64 <= end / 40 + 512));
    let pairs: Vec<&HostRequest> = writes.collect();
    let goes_on = pairs.windows(2).filter(|w| w[0].lba.0 + w[0].blocks as u64 == w[1].lba.0);
    let share = goes_on.count() as f64 / pairs.len() as f64;
    assert!(share > 0.25, "{share} of the writes go on where the one before ended");
}

#[test]
fn mistakes_in_file_keys_are_named_with_their_line() {
    let text = twin_named("dtr").unwrap().text().unwrap();
    let cases = [
        ("files = \"", "files = \"1", "is more than 100 %"),
        ("\nfiles = ", "\n# ", "files"),
        ("\nfile_lengths = ", "\n# ", "file_lengths"),
        ("\"11@5/", "\"0@5/", "is not a number of requests above 0, such as 8@3"),
        ("\"11@5/", "\"11@-5/", "has no weight above 0"),
        ("\"4KiB@61/8KiB@23", "\"8KiB@61/4KiB@23", "must be ascending powers of two, such as"),
        ("\"4KiB@61/8KiB@23", "\"4KiB@61/12KiB@23", "must be ascending powers of two, such as"),
        ("file_near = \"", "file_near = \"9", "is more than 100 %"),
        ("file_near", "file_nearby", "unknown key \"file_nearby\"; did you mean"),
    ];
    for (from, to, says) in cases {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        let said = from_toml(&changed, "my.toml").map(|_| String::new());
        let said = said.unwrap_or_else(|e| e.to_string());
        assert!(said.contains(says) && said.starts_with("my.toml:"), "{to}: {said}");
    }
}

// Files that would be more than the long writes are all of them and no more.
#[test]
fn files_are_capped_at_all_long_writes() {
    let text = twin_named("msfs").unwrap().text().unwrap();
    let from = text.lines().find(|l| l.starts_with("files = ")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.toml");
    std::fs::write(&file, text.replacen(from, "files = \"90%\"", 1)).unwrap();
    let all = requests(&format!("{}:requests=200k", file.display()), 1);
    let writes: Vec<&HostRequest> = all.iter().filter(|r| r.op == HostOp::Write).collect();
    let long = writes.iter().filter(|r| r.blocks > 16).count() as f64 / writes.len() as f64;
    assert!((long - 0.1).abs() < 0.01, "{long}");
    // Whatever arrivals there are, too.
    let all = requests("twin:ra:requests=20k,write_bursts=0.001", 1);
    assert_eq!(all.len(), 20_000);
}
