//! fio's own examples, as Debian packs them (`fio-examples`): those that fio takes and whose engine
//! asks a block device run, and ask the drive what fio asks; the others are refused for a thing that a
//! drive has not, by name. fio runs each on its null engine, or on a file where it verifies, and logs
//! what it issues. So that this takes seconds, both get the same smaller sizes and no waits; jobs that
//! end others by the clock are left alone.

#![allow(clippy::print_stderr)]

use crate::fio::{DRIVE, OPS, Stream, critical, distance, has_fio, logged, streamed};
use std::path::{Path, PathBuf};
use std::process::Command;
use wordline_trace::Overrides;
use wordline_units::HostOp;
use wordline_workload::Workload;

const FOLDER: &str = "/usr/share/doc/fio/examples";

/// Set behind every job for both: less of it, and nothing that takes time.
const SMALLER: &[(&str, &str)] = &[
    ("size", "2m"),
    ("numjobs", "1"),
    ("time_based", "0"),
    ("runtime", "0"),
    ("rate", "0"),
    ("rate_iops", "0"),
    ("startdelay", "0"),
    ("thinktime", "0"),
];

/// Set where the file says another value.
const SMALLER_IF_GIVEN: &[(&str, &str)] =
    &[("loops", "2"), ("filesize", "4m"), ("io_size", "2m"), ("offset_increment", "16m")];

/// Set where an example has zones that are written in order: some zones, on a small drive. fio, too, needs the
/// size of zones for a file without.
const SMALLER_IF_ZONED: &[(&str, &str)] = &[("size", "32m"), ("zonesize", "1m"), ("offset", "1m")];

/// What only an engine that is not there knows, and what would find files and processors.
const NOT_FOR_NULL: &[&str] = &[
    "cmd_type",
    "cmdprio",
    "uri",
    "sg_write_mode",
    "sqthread_poll",
    "nonvectored",
    "registerfiles",
    "initiator",
    "clientname",
    "pool",
    "rbdname",
    "busy_poll",
    "directory",
    "filename",
    "numa_",
    "ioengine",
    "iodepth",
    "write_bw_log",
    "write_lat_log",
    "exitall",
    "exit_what",
    "thread",
    "create_on_open",
    "log_",
    "io_submit_mode",
    "direct",
    "buffered",
    "fill_device",
];

struct Example {
    path: PathBuf,
    text: String,
}

impl Example {
    fn name(&self) -> String {
        self.path.file_stem().unwrap().to_string_lossy().into_owned()
    }

    fn is_accepted(&self) -> bool {
        let parsed = Command::new("fio").arg("--parse-only").arg(&self.path).output();
        parsed.is_ok_and(|o| o.status.success())
    }

    fn gives(&self, key: &str) -> bool {
        self.text.lines().any(|l| l.trim().strip_prefix(key).is_some_and(|r| r.trim_start().starts_with('=')))
    }

    fn overrides(&self) -> Vec<(&'static str, &'static str)> {
        let given = SMALLER_IF_GIVEN.iter().filter(|(key, _)| self.gives(key));
        let zoned = SMALLER_IF_ZONED.iter().filter(|_| self.is_zoned());
        let all: std::collections::BTreeMap<&str, &str> =
            SMALLER.iter().chain(given).chain(zoned).copied().collect();
        all.into_iter().collect()
    }

    fn is_zoned(&self) -> bool {
        self.text.contains("zonemode=zbd")
    }

    /// As fio gets it: each job logs to a file of its number, and works on a small file of its own unless the
    /// example names one.
    fn for_fio(&self) -> String {
        let bare = |l: &str| l.split([';', '#']).next().unwrap_or_default().trim().to_string();
        let (mut out, mut number) = (String::new(), 0);
        let mut shared = String::new();
        for section in self.text.lines().map(bare).collect::<Vec<_>>().join("\n").split("\n[") {
            let Some((name, body)) = section.trim_start_matches('[').split_once(']') else { continue };
            out += &format!("[{name}]\n");
            for line in body.lines() {
                if let Some(file) = line.strip_prefix("filename=") {
                    let file: String = file.chars().filter(char::is_ascii_alphanumeric).collect();
                    shared = format!("{file}.data");
                }
                if !NOT_FOR_NULL.iter().any(|key| line.starts_with(key)) {
                    out += &format!("{line}\n");
                }
            }
            if name == "global" {
                continue;
            }
            for (key, value) in self.overrides() {
                out += &format!("{key}={value}\n");
            }
            // What verifies needs its data; files are not trimmed by fio.
            let verifies = self.gives("verify") && !body.contains("trim");
            let engine = if verifies { "psync" } else { "null" };
            let file = if shared.is_empty() { format!("{number}.data") } else { shared.clone() };
            out += &format!("ioengine={engine}\nfilename={file}\nwrite_iolog={number:05}\nrandseed=4711\n");
            number += 1;
        }
        out
    }

    fn fio(&self) -> Result<Stream, String> {
        let scratch = tempfile::tempdir().unwrap();
        let job = self.for_fio();
        // A file must be there to have zones.
        for name in job.lines().filter_map(|l| l.strip_prefix("filename=")).filter(|_| self.is_zoned()) {
            let file = std::fs::File::create(scratch.path().join(name)).unwrap();
            file.set_len(DRIVE.logical_bytes).unwrap();
        }
        std::fs::write(scratch.path().join("job.fio"), job).unwrap();
        let out = Command::new("fio").arg("job.fio").current_dir(scratch.path()).output().unwrap();
        if !out.status.success() {
            let said = [out.stdout, out.stderr].map(|o| String::from_utf8_lossy(&o).into_owned()).concat();
            return Err(format!("{}: {}", self.name(), said.chars().take(300).collect::<String>()));
        }
        Ok(logged(scratch.path()))
    }

    fn options(&self) -> String {
        let mut options = String::from(":ignore=sg_write_mode+exitall");
        for (key, value) in self.overrides() {
            options += &format!(",{key}={value}");
        }
        options
    }

    /// Why it is refused as it stands, but for the size of zones, or none.
    fn refusal(&self) -> Option<String> {
        let zones = if self.is_zoned() { ":zonesize=256m" } else { "" };
        let parsed = Workload::parse(&format!("{}{zones}", self.path.display()), Overrides::default());
        parsed.err().map(|e| e.to_string())
    }
}

fn examples() -> Vec<Example> {
    let Ok(folder) = std::fs::read_dir(FOLDER) else {
        eprintln!("skipped: there is no {FOLDER} (apt-get install fio-examples)");
        return vec![];
    };
    let mut files: Vec<PathBuf> = folder.map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "fio"));
    files.sort();
    files.into_iter().map(|path| Example { text: std::fs::read_to_string(&path).unwrap(), path }).collect()
}

/// What an engine or a key needs that a drive has not.
const MISSING: [&str; 10] = [
    "instead of a block device",
    "needs a zoned device, which is not modelled",
    "changes files and names without reads or writes",
    "without I/O",
    "needs raw flash without an FTL",
    "is not supported: a job works on the one drive",
    "accesses a network instead of a block device",
    "accesses persistent memory instead of a block device",
    "several files in one job",
    "transfers files to GPU memory, bypassing the block device",
];

/// Whether both ask for as many of each kind, of the same sizes at the same addresses: one by one, or where
/// they are drawn, by one law.
fn compare(example: &Example) -> Result<(), String> {
    let name = example.name();
    let text = format!("{}{}", example.path.display(), example.options());
    let workload = Workload::parse(&text, Overrides::default()).map_err(|e| e.to_string())?;
    let (ours, theirs) = (streamed(&workload, 1), example.fio()?);
    if ours.jobs.len() != theirs.jobs.len() {
        return Err(format!("{name}: {} jobs here, {} in fio", ours.jobs.len(), theirs.jobs.len()));
    }
    let is_drawn = ["rand", "rw=rw", "bssplit", "readwrite"].iter().any(|w| example.text.contains(w));
    if !is_drawn && !ours.jobs.values().eq(theirs.jobs.values()) {
        let pairs = ours.jobs.values().zip(theirs.jobs.values());
        let (a, b) = pairs.into_iter().find(|(a, b)| a != b).unwrap();
        let at = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
        return Err(format!("{name}: request {at} is {:?} here, {:?} in fio", a.get(at), b.get(at)));
    }
    let all = |s: &Stream| s.all().count();
    for op in OPS {
        let (a, b) = (ours.of(op), theirs.of(op));
        let most = if is_drawn { 6.0 * (all(&ours) as f64).sqrt() } else { 0.0 };
        if (a.len() as f64 - b.len() as f64).abs() > most {
            return Err(format!("{name}: {} {op:?} here, {} in fio", a.len(), b.len()));
        }
        if a.is_empty() || b.is_empty() || op == HostOp::Flush {
            continue;
        }
        // fio's zipf is a little off the law: see the table of ten job files.
        let limit = critical(a.len(), b.len()) + if example.text.contains("zipf") { 0.05 } else { 0.0 };
        let column = |s: &[(u64, u64)], c: usize| s.iter().map(|r| [r.0, r.1][c]).collect::<Vec<_>>();
        for (what, c) in [("addresses", 0), ("sizes", 1)] {
            let d = distance(&mut column(&a, c), &mut column(&b, c));
            if d > limit {
                return Err(format!("{name}: {what} of {op:?} are {d} apart, {limit} allowed"));
            }
        }
    }
    Ok(())
}

#[test]
fn examples_of_fio_ask_a_drive_what_fio_asks() {
    if !has_fio() {
        return;
    }
    let (mut ran, mut refused, mut wrong) = (vec![], vec![], vec![]);
    for example in examples() {
        let outcome = match example.refusal() {
            Some(why) if MISSING.iter().any(|m| why.contains(m)) => {
                refused.push(example.name());
                continue;
            }
            Some(why) => Err(format!("{}: {why}", example.name())),
            None => compare(&example),
        };
        match outcome {
            Ok(()) => ran.push(example.name()),
            // What fio does not take itself says nothing.
            Err(what) if example.is_accepted() => wrong.push(what),
            Err(_) => {}
        }
    }
    eprintln!("{} run: {}\n{} refused: {}", ran.len(), ran.join(", "), refused.len(), refused.join(", "));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!Path::new(FOLDER).exists() || ran.len() >= 46, "{} run", ran.len());
}
