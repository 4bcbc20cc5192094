//! A command that is interrupted clears away what is not whole, says what it kept and how to go on, and ends with the
//! code of the signal.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn begin(folder: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_wordline"))
        .args(args)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// All files and folders below one.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.path().is_dir() {
            found.extend(below(&entry.path()));
        }
    }
    found
}

/// Waits until a file is there whose name ends so.
fn wait_for(folder: &Path, end: &str) {
    let begin = Instant::now();
    while !below(folder).iter().any(|p| p.to_string_lossy().ends_with(end)) {
        assert!(begin.elapsed() < Duration::from_secs(120), "no {end} in {folder:?}");
        std::thread::yield_now();
    }
}

/// The exit code, and what was told on the way.
fn end(mut child: Child) -> (i32, String) {
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), told)
}

#[test]
fn interrupted_run_leaves_nothing_and_explains_resume() {
    for (sent, code) in [("-INT", 130), ("-TERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        let args =
            ["run", "--device", "demo-8gb", "--workload", "uniform:requests=2G", "--scheme", "conventional"];
        let to = ["--initial", "fresh", "--out", "a/b", "--log", "ops.csv"];
        let child = begin(folder.path(), &[&args[..], &to[..]].concat());
        wait_for(folder.path(), ".part");
        signal(&child, sent);
        let (found, told) = end(child);
        assert_eq!(found, code, "{told}");
        assert_eq!(below(folder.path()), Vec::<PathBuf>::new(), "{told}");
        assert!(told.contains("stopped: no results were kept"), "{told}");
        assert!(told.contains("wordline run --device demo-8gb --workload uniform:requests=2G"), "{told}");
    }
}

#[test]
fn an_interrupted_conversion_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let rows = (0..1000u64)
        .map(|i| format!("{},x,0,Write,{},4096,1\n", 128_166_372_003_061_629 + i * 1000, i * 4096));
    fs::write(folder.path().join("t.csv"), rows.collect::<String>()).unwrap();
    let child = begin(folder.path(), &["trace", "loop", "t.csv", "u.wl", "--times", "1000000"]);
    wait_for(folder.path(), ".part");
    signal(&child, "-INT");
    let (code, told) = end(child);
    assert_eq!(code, 130, "{told}");
    assert_eq!(below(folder.path()), [folder.path().join("t.csv")], "{told}");
    assert!(told.contains("wordline trace loop t.csv u.wl --times 1000000"), "{told}");
}

#[test]
fn an_interrupted_lifetime_keeps_what_was_lived() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["--set", "medium.flash.blocks_per_plane=16", "--set", "capacity.logical=512MiB"];
    let args = ["lifetime", "--device", "raro-16gb", "--workload", "zipf:bs=16KiB,requests=5k"];
    let last = ["--scheme", "conventional", "--threads", "1", "--out", "life"];
    let mut child = begin(folder.path(), &[&args[..], &small[..], &last[..]].concat());
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("projected end at most") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it ended");
    }
    signal(&child, "-INT");
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(rest.contains("stopped: the results so far are in life"), "{rest}");
    let json = fs::read_to_string(folder.path().join("life/lifetime.json")).unwrap();
    assert!(json.contains("\"stopped\": true") && json.contains("\"ended_by\": \"stopped\""), "{json}");
    let csv = fs::read_to_string(folder.path().join("life/phases.csv")).unwrap();
    assert!(csv.lines().count() > 1, "{csv}");
    assert!(below(folder.path()).iter().all(|p| !p.to_string_lossy().ends_with(".part")));
}
