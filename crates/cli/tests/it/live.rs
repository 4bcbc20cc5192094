//! A served drive as a process: what it runs, how it ends, and what it says then.

#![cfg(all(target_os = "linux", feature = "live"))]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const DRIVE: [&str; 10] = [
    "--device",
    "fair-tlc",
    "--scheme",
    "conventional",
    "--set",
    "capacity.logical=64MiB",
    "--set",
    "medium.flash.blocks_per_plane=24",
    "--time-scale",
    "0",
];

fn serve(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
    command.arg("serve").args(DRIVE).args(more).current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, more: &[&str]) -> Output {
    serve(folder, more).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_drive_is_served_for_as_long_as_a_command_runs() {
    let folder = tempfile::tempdir().unwrap();
    let command =
        "test -S \"$unixsocket\" && test \"$(cat pid)\" -gt 0 && case $uri in nbd+unix:*) echo fine;; esac";
    let done = run(folder.path(), &["--pidfile", "pid", "--run", command]);
    assert!(done.status.success(), "{done:?}");
    assert!(
        text(&done.stdout).contains("fine") && text(&done.stdout).contains("s simulated, result "),
        "{done:?}"
    );
    assert!(!folder.path().join("pid").exists());
    let done = run(folder.path(), &["--run", "exit 3"]);
    assert!(!done.status.success() && text(&done.stderr).contains("exit status: 3"), "{done:?}");
}

#[test]
fn what_cannot_be_served_is_refused_with_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    for (more, said) in [
        (["--size", "65MiB"], "is not a size of this drive\n  allowed: multiples of 4096 up to 67108864"),
        (["--image", "none"], "--image none: cannot be read"),
        (["--recovery-scale", "2"], "allowed: 0 to 1"),
    ] {
        let done = run(folder.path(), &[&["--run", "true"], &more[..]].concat());
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(text(&done.stderr).contains(said), "{done:?}");
    }
    let done = run(folder.path(), &["--listen-fds"]);
    assert!(text(&done.stderr).contains("no sockets were passed"), "{done:?}");
    let done = run(folder.path(), &["--set", "capacity.logical=1000KiB", "--run", "true"]);
    assert!(text(&done.stderr).contains("the drive serves 1015808 bytes"), "{done:?}");
}

/// A server, once it listens.
fn begin(folder: &Path, more: &[&str]) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = serve(folder, more).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "the server has ended");
    }
    (child, told)
}

#[test]
fn two_quick_signals_lose_nothing() {
    for signal in ["-TERM", "-HUP"] {
        let folder = tempfile::tempdir().unwrap();
        let (mut child, _told) = begin(folder.path(), &["--nbd", "unix:d.sock", "--session", "session"]);
        for _ in 0..2 {
            let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            assert!(sent.success());
        }
        let mut table = String::new();
        child.stdout.take().unwrap().read_to_string(&mut table).unwrap();
        child.wait().unwrap();
        assert!(table.contains("s simulated, result "), "{signal}: {table}");
        let files = folder.path();
        assert!(!files.join("d.sock").exists() && files.join("session/report.json").exists(), "{signal}");
    }
}

#[test]
fn a_report_that_cannot_be_written_leaves_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(folder.path(), &["--run", "true", "--json", "/dev/full"]);
    assert!(text(&done.stdout).contains("s simulated, result "), "{done:?}");
    assert!(!done.status.success(), "{done:?}");
}
