//! Job files under real fio and under Wordline: the same requests? fio runs each file of `tests/fio`
//! against its null engine and writes down what it issued; Wordline's jobs run against a drive that
//! answers at once. `make fio` (this test with `FIO_TABLE=1`) writes the table of docs/jobs.md.
//!
//! The two draw other random numbers, so what is random is compared as samples of a distribution:
//! addresses by the largest distance of two cumulative distributions (Kolmogorov and Smirnov), and
//! how often blocks are hit by the same distance over the counts in descending order, which says how
//! skewed the traffic is wherever its hot blocks lie. What is not random must be equal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use wordline_units::{HostOp, HostRequest};
use wordline_workload::{DriveShape, Overrides, Workload};

const DRIVE: DriveShape = DriveShape { logical_bytes: 2 << 30, sector_bytes: 512, unit_bytes: 4096 };

/// What is drawn by a distribution that is exact here and approximated in fio, which takes Zipf's ranks
/// from a continuous curve from the third on.
const APPROXIMATE: f64 = 0.02;

/// A stream as numbers: for each job and kind of request, the addresses and sizes in order.
#[derive(Default)]
struct Stream {
    jobs: BTreeMap<String, Vec<(HostOp, u64, u64)>>,
}

impl Stream {
    fn all(&self) -> impl Iterator<Item = &(HostOp, u64, u64)> {
        self.jobs.values().flatten()
    }

    fn of(&self, op: HostOp) -> Vec<(u64, u64)> {
        self.all().filter(|r| r.0 == op).map(|r| (r.1, r.2)).collect()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio")
}

fn has_fio() -> bool {
    let there = Command::new("fio").arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        eprintln!("skipped: there is no fio (apt-get install fio)");
    }
    there
}

/// fio's own run. Engine and log are all that is changed: each job opens with its name, so that the
/// streams of jobs that run at once can be told apart.
fn fio(file: &Path, seed: u32) -> Stream {
    let scratch = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    // One log for all: fio gives each line the job's file, which without filename= is the job's own.
    let jobs: String =
        text.lines()
            .map(|l| {
                if l.trim_start().starts_with("ioengine") {
                    "ioengine=null".to_string()
                } else {
                    l.to_string()
                }
            })
            .flat_map(|l| {
                let section = l.starts_with('[') && l != "[global]";
                let more =
                    section.then(|| format!("write_iolog={}\nrandseed={seed}", l.trim_matches(['[', ']'])));
                std::iter::once(l).chain(more)
            })
            .collect::<Vec<_>>()
            .join("\n");
    std::fs::write(scratch.path().join("job.fio"), jobs).unwrap();
    let out = Command::new("fio").arg("job.fio").current_dir(scratch.path()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let mut stream = Stream::default();
    for entry in std::fs::read_dir(scratch.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some() {
            continue;
        }
        for line in std::fs::read_to_string(&path).unwrap_or_default().lines() {
            // Version 3: time, file, action, offset, length.
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, file, action, at, bytes] = words.as_slice() else { continue };
            let op = match *action {
                "read" => HostOp::Read,
                "write" => HostOp::Write,
                "trim" => HostOp::Trim,
                "sync" | "datasync" => HostOp::Flush,
                _ => continue,
            };
            let (at, bytes) = (at.parse().unwrap(), bytes.parse().unwrap());
            let at = if op == HostOp::Flush { 0 } else { at };
            // `job.2.0` is the first file of the third copy.
            let job = file.rsplit_once('.').map_or(*file, |f| f.0).to_string();
            stream.jobs.entry(job).or_default().push((op, at, bytes));
        }
    }
    stream
}

fn wordline(file: &Path, seed: u64) -> Stream {
    let workload = Workload::parse(file.to_str().unwrap(), Overrides::default()).unwrap();
    let mut stream = Stream::default();
    for request in workload.open(DRIVE, seed).unwrap() {
        let r: HostRequest = request.unwrap();
        let job = format!("{:05}", r.volume);
        stream.jobs.entry(job).or_default().push((r.op, r.lba.0 * 512, r.bytes()));
    }
    stream
}

/// The largest distance of the cumulative distributions of two samples.
fn distance(a: &mut [u64], b: &mut [u64]) -> f64 {
    a.sort_unstable();
    b.sort_unstable();
    let (mut i, mut j, mut largest) = (0, 0, 0f64);
    while i < a.len() && j < b.len() {
        let at = a[i].min(b[j]);
        i += a[i..].iter().take_while(|x| **x == at).count();
        j += b[j..].iter().take_while(|x| **x == at).count();
        largest = largest.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    largest
}

/// What distance two samples of one distribution keep below in all but one of a million cases.
fn critical(n: usize, m: usize) -> f64 {
    let (n, m) = (n as f64, m as f64);
    2.7 * ((n + m) / (n * m)).sqrt()
}

/// How often each block is hit, most first, as the rank of each request's block.
fn ranks(requests: &[(u64, u64)]) -> Vec<u64> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for (at, _) in requests {
        *counts.entry(*at).or_default() += 1;
    }
    let mut counts: Vec<u64> = counts.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
        .into_iter()
        .enumerate()
        .flat_map(|(rank, n)| std::iter::repeat_n(rank as u64, n as usize))
        .collect()
}

struct Compared {
    name: String,
    requests: [usize; 4],
    bytes: [u64; 2],
    ratio: [f64; 2],
    size: f64,
    address: Option<f64>,
    rank: f64,
    allowed: f64,
    exact: bool,
}

const OPS: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

/// The most by which the numbers of requests may differ: those of one direction of a mixed job are
/// binomial, and what a map or a place cuts makes requests more.
fn counts_are_alike(ours: &Stream, theirs: &Stream, name: &str) {
    for op in OPS {
        let (a, b) = (ours.of(op), theirs.of(op));
        let all = ours.all().count() as f64;
        let tolerance = 5.0 * all.sqrt() + 1.0;
        let differ = (a.len() as f64 - b.len() as f64).abs();
        let random = ["mixed", "sizes", "trims", "phases"].contains(&name);
        let most = if random { tolerance } else { 0.0 };
        assert!(differ <= most, "{name}: {} {op:?} here, {} in fio", a.len(), b.len());
    }
}

fn compare(file: &Path) -> Compared {
    let name = file.file_stem().unwrap().to_str().unwrap().to_string();
    let (ours, theirs) = (wordline(file, 1), fio(file, 4711));
    assert_eq!(ours.jobs.len(), theirs.jobs.len(), "{name}: jobs");
    counts_are_alike(&ours, &theirs, &name);
    let exact = ours.jobs.values().eq(theirs.jobs.values());
    let skewed = ["zipf", "pareto"].contains(&name.as_str());
    let (mut size, mut rank, mut address, mut allowed) = (0f64, 0f64, 0f64, 0f64);
    for op in &OPS[..3] {
        let (a, b) = (ours.of(*op), theirs.of(*op));
        assert_eq!(a.is_empty(), b.is_empty(), "{name}: {op:?}");
        if a.is_empty() {
            continue;
        }
        let limit = critical(a.len(), b.len()).max(if skewed { APPROXIMATE } else { 0.0 });
        let column = |s: &[(u64, u64)], c: usize| s.iter().map(|r| [r.0, r.1][c]).collect::<Vec<_>>();
        let d = distance(&mut column(&a, 1), &mut column(&b, 1));
        assert!(d <= limit, "{name}: sizes of {op:?} are {d} apart, {limit} allowed");
        size = size.max(d);
        let d = distance(&mut ranks(&a), &mut ranks(&b));
        assert!(d <= limit, "{name}: frequencies of {op:?} are {d} apart, {limit} allowed");
        rank = rank.max(d);
        // Where the hottest blocks of a skewed job lie is drawn at random, once.
        if !skewed {
            let d = distance(&mut column(&a, 0), &mut column(&b, 0));
            assert!(d <= limit, "{name}: addresses of {op:?} are {d} apart, {limit} allowed");
            address = address.max(d);
        }
        allowed = allowed.max(limit);
    }
    let bytes = |s: &Stream| s.all().filter(|r| r.0 != HostOp::Flush).map(|r| r.2).sum();
    let share = |s: &Stream| {
        s.of(HostOp::Read).len() as f64 / s.all().filter(|r| r.0 != HostOp::Flush).count() as f64
    };
    Compared {
        requests: OPS.map(|op| ours.of(op).len()),
        bytes: [bytes(&ours), bytes(&theirs)],
        ratio: [share(&ours), share(&theirs)],
        address: (!skewed).then_some(address),
        name,
        size,
        rank,
        allowed,
        exact,
    }
}

#[test]
fn ten_job_files_give_the_requests_that_fio_gives() {
    if !has_fio() {
        return;
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 10);
    let mut table = String::from(
        "| job file | reads, writes, trims, flushes | MiB here, in fio | share of reads here, in fio | sizes | addresses | frequencies | allowed |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for file in &files {
        let c = compare(file);
        let mib = c.bytes.map(|b| format!("{:.1}", b as f64 / (1 << 20) as f64)).join(", ");
        let ratio = c.ratio.map(|r| format!("{:.2} %", r * 100.0)).join(", ");
        let equal = |d: f64| if c.exact { "equal".to_string() } else { format!("{d:.4}") };
        table += &format!(
            "| `{}` | {} | {mib} | {ratio} | {} | {} | {} | {:.4} |\n",
            c.name,
            c.requests.map(|n| n.to_string()).join(", "),
            equal(c.size),
            c.address.map_or("turned".to_string(), equal),
            equal(c.rank),
            c.allowed
        );
    }
    eprint!("{table}");
    if std::env::var_os("FIO_TABLE").is_some() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/jobs.md");
        let text = std::fs::read_to_string(&page).unwrap();
        let (before, rest) = text.split_once("<!-- fio: begin -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- fio: end -->").unwrap();
        let now = format!("{before}<!-- fio: begin -->\n{table}<!-- fio: end -->{after}");
        std::fs::write(&page, now).unwrap();
    }
}
