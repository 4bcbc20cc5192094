//! Job files under real fio and under Wordline: the same requests? fio runs each file of `tests/fio`
//! against its null engine and writes down what it issued; Wordline's jobs run against a drive that
//! answers at once. `make fio` (this test with `FIO_TABLE=1`) writes the table of lab/results/fio.md.
//!
//! The two draw other random numbers, so what is random is compared as samples of a distribution:
//! addresses by the largest distance of two cumulative distributions (Kolmogorov and Smirnov), and
//! how often blocks are hit by the same distance over the counts in descending order, which says how
//! skewed the traffic is wherever its hot blocks lie. What is not random must be equal.

#![allow(clippy::print_stderr)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use wordline_trace::{DriveShape, Overrides};
use wordline_units::{HostOp, HostRequest};
use wordline_workload::Workload;

pub(super) const DRIVE: DriveShape =
    DriveShape { logical_bytes: 2 << 30, sector_bytes: 512, unit_bytes: 4096 };

/// How far fio's Zipf draws are from Zipf's law, which Wordline follows exactly: fio takes ranks from the
/// third on from a continuous curve. For an exponent of 1.2 over the 76,800 blocks of zipf.fio the largest
/// distance of the two cumulative distributions is 0.0206, at rank 11, by summing both.
const FIO_FROM_ZIPF: f64 = 0.0206;

/// A stream as numbers: for each job and kind of request, the addresses and sizes in order.
#[derive(Default)]
pub(super) struct Stream {
    pub jobs: BTreeMap<String, Vec<(HostOp, u64, u64)>>,
}

impl Stream {
    pub fn all(&self) -> impl Iterator<Item = &(HostOp, u64, u64)> {
        self.jobs.values().flatten()
    }

    pub fn of(&self, op: HostOp) -> Vec<(u64, u64)> {
        self.all().filter(|r| r.0 == op).map(|r| (r.1, r.2)).collect()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio")
}

pub(super) fn has_fio() -> bool {
    let there = Command::new("fio").arg("--version").output().is_ok_and(|o| o.status.success());
    if !there {
        eprintln!("skipped: there is no fio (apt-get install fio)");
    }
    there
}

/// The job file as it is given to fio. Copies by `numjobs` would write over each other's log, so they are
/// written out as jobs, each moved by `offset_increment`.
fn for_fio(text: &str, seed: u32) -> String {
    let kept = |l: &&str| !l.starts_with("ioengine") && !l.starts_with("iodepth");
    let mut out = String::new();
    for section in text.split("\n[").map(|s| s.trim_start_matches('[')) {
        let Some((name, body)) = section.split_once("]\n") else { continue };
        let value = |key: &str| body.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix('='));
        let copies: u64 = value("numjobs").map_or(1, |n| n.parse().unwrap());
        for copy in 0..copies {
            let own = if copy == 0 { name.to_string() } else { format!("{name}-{copy}") };
            out += &format!("[{own}]\n");
            for line in body.lines().filter(kept) {
                let line = match line.split_once('=') {
                    Some(("numjobs", _)) => continue,
                    Some(("offset_increment", step)) => {
                        format!("offset={}m", copy * step.trim_end_matches('m').parse::<u64>().unwrap())
                    }
                    _ => line.to_string(),
                };
                out += &format!("{line}\n");
            }
            if name != "global" {
                out += &format!("ioengine=null\nwrite_iolog={own}\nrandseed={seed}\n");
            }
        }
    }
    out
}

/// fio's own run. Beside engine, log and seed, the depth is changed, which says when a job asks and not
/// what: with more than one request outstanding the null engine's are logged twice (fio 3.33). A log has
/// its job's name.
fn fio(file: &Path, seed: u32) -> Stream {
    let scratch = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    std::fs::write(scratch.path().join("job.fio"), for_fio(&text, seed)).unwrap();
    let out = Command::new("fio").arg("job.fio").current_dir(scratch.path()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    logged(scratch.path())
}

/// What the logs of a folder say, version 3: time, file, action, offset, length.
pub(super) fn logged(folder: &Path) -> Stream {
    let mut stream = Stream::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some() {
            continue;
        }
        let job = path.file_name().unwrap().to_string_lossy().into_owned();
        for line in std::fs::read_to_string(&path).unwrap_or_default().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, _, action, at, bytes] = words.as_slice() else { continue };
            let op = match *action {
                "read" => HostOp::Read,
                "write" => HostOp::Write,
                "trim" => HostOp::Trim,
                "sync" | "datasync" => HostOp::Flush,
                _ => continue,
            };
            let (at, bytes) = (at.parse().unwrap(), bytes.parse().unwrap());
            let at = if op == HostOp::Flush { 0 } else { at };
            stream.jobs.entry(job.clone()).or_default().push((op, at, bytes));
        }
    }
    stream
}

fn wordline(file: &Path, seed: u64) -> Stream {
    streamed(&Workload::parse(file.to_str().unwrap(), Overrides::default()).unwrap(), seed)
}

/// A workload's requests, those of each job for themselves.
pub(super) fn streamed(workload: &Workload, seed: u64) -> Stream {
    let mut stream = Stream::default();
    for request in workload.open(DRIVE, seed).unwrap() {
        let r: HostRequest = request.unwrap();
        let job = format!("{:05}", r.volume);
        stream.jobs.entry(job).or_default().push((r.op, r.lba.0 * 512, r.bytes()));
    }
    stream
}

/// The largest distance of the cumulative distributions of two samples.
pub(super) fn distance(a: &mut [u64], b: &mut [u64]) -> f64 {
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
pub(super) fn critical(n: usize, m: usize) -> f64 {
    let (n, m) = (n as f64, m as f64);
    2.7 * ((n + m) / (n * m)).sqrt()
}

/// How often each block is hit, most first, as the rank of each request's block.
pub(super) fn ranks(requests: &[(u64, u64)]) -> Vec<u64> {
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

pub(super) const OPS: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

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
        let limit = critical(a.len(), b.len()) + if name == "zipf" { FIO_FROM_ZIPF } else { 0.0 };
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
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/results/fio.md");
        let text = std::fs::read_to_string(&page).unwrap();
        let (before, rest) = text.split_once("<!-- fio: begin -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- fio: end -->").unwrap();
        let now = format!("{before}<!-- fio: begin -->\n{table}<!-- fio: end -->{after}");
        std::fs::write(&page, now).unwrap();
    }
}

/// The table of keys in lab/results/fio-keys.md follows the list that jobs are read by.
#[test]
fn the_page_names_every_key_with_what_becomes_of_it() {
    use wordline_workload::{Standing, job_keys};
    let (mut honoured, mut unseen, mut refused) = (String::new(), vec![], String::new());
    for key in job_keys() {
        let names = key.names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        let row = |about: &str| format!("| {names} | {} |\n", about.replace('|', "\\|"));
        match key.standing {
            Standing::Honoured(about) => honoured += &row(about),
            Standing::Unseen => unseen.push(names),
            Standing::Refused(why) => refused += &row(why),
        }
    }
    let now = format!(
        "| key | meaning |\n|---|---|\n{honoured}\nAccepted, because a drive does not see them: {}.\n\nNot \
         supported:\n\n| key | why, and what to do |\n|---|---|\n{refused}",
        unseen.join(", ")
    );
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/results/fio-keys.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("<!-- keys: begin -->\n").unwrap();
    let (held, after) = rest.split_once("<!-- keys: end -->").unwrap();
    if std::env::var_os("BLESS").is_some() {
        let whole = format!("{before}<!-- keys: begin -->\n{now}<!-- keys: end -->{after}");
        std::fs::write(&page, whole).unwrap();
        return;
    }
    assert_eq!(held, now, "lab/results/fio-keys.md does not follow the keys; BLESS=1 rewrites it");
}

fn parsed(text: &str, options: &str) -> Result<Vec<HostRequest>, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let name = format!("{}{options}", file.path().display());
    let workload = Workload::parse(&name, Overrides::default()).map_err(|e| e.to_string())?;
    let stream = workload.open(DRIVE, 1).map_err(|e| e.to_string())?;
    stream.collect::<Result<_, _>>().map_err(|e| e.to_string())
}

#[test]
fn all_job_file_problems_are_reported_with_their_line() {
    let e =
        parsed("[a]\nbs=0\nsync_file_range=9\niodepht=4\nrw=randred\nioengine=net\nsize=${WL_SIZE}\n", "")
            .unwrap_err();
    for said in [
        ":2: bs: \"0\" is not a request size",
        ":3: sync_file_range is not supported",
        "ignore=sync_file_range",
        "did you mean \"iodepth\"?",
        ":5: rw: \"randred\" is not an I/O type; did you mean \"randread\"?",
        ":6: ioengine: net accesses a network instead of a block device",
        ":7: ${WL_SIZE} is neither set nor in the environment",
    ] {
        assert!(e.contains(said), "{said:?} is missing in\n{e}");
    }
    let e = parsed("[a]\ninclude gone.fio\n", "").unwrap_err();
    assert!(e.contains(":2: include: gone.fio: the file cannot be read"), "{e}");
    let e = parsed("[a]\nsize=3g\n", "").unwrap_err();
    assert!(e.contains("exceed the drive size") && e.contains("size=2147483648"), "{e}");
    let e = parsed("[a]\nsize=1m\n[b]\nsize=1m\n", ":section=c").unwrap_err();
    assert!(e.contains("unknown job \"c\"") && e.contains("a, b"), "{e}");
    assert!(parsed("[global]\nbs=4k\n", "").unwrap_err().contains("no job besides [global]"));
}

#[test]
fn options_behind_the_name_choose_jobs_and_set_keys() {
    let text = "[global]\nbs=4k ; a comment\nsize=${SIZE}\n[a]\nrw=write\n[b]\nrw=read\nbs_unaligned=1\n";
    let requests = parsed(text, ":section=b,SIZE=64k,ignore=bs_unaligned,bs=\"8k,16k\"").unwrap();
    assert_eq!(requests.len(), 8);
    assert!(requests.iter().all(|r| r.op == HostOp::Read && r.bytes() == 8192));
}

#[test]
fn a_map_gives_each_block_once_whatever_the_sizes() {
    for text in [
        "[a]\nrw=randwrite\nbsrange=4k-32k\nsize=8m\n",
        "[a]\nrw=randrw\nbs=4k,8k\nsize=8m\n",
        "[a]\nrw=randread\nrandom_generator=lfsr\nsize=8m\n",
    ] {
        let mut hit = vec![0; 2048];
        for r in parsed(text, "").unwrap() {
            (0..r.bytes() / 4096).for_each(|b| hit[(r.lba.0 / 8 + b) as usize] += 1);
        }
        assert!(hit.iter().all(|n| *n <= 1), "{text}");
        assert!(hit.iter().filter(|n| **n == 1).count() > 2040, "{text}");
    }
}

#[test]
fn rates_thinking_and_delays_pass_time() {
    let times = |text: &str| parsed(text, "").unwrap().iter().map(|r| r.arrival.0).collect::<Vec<_>>();
    assert_eq!(times("[a]\nrate_iops=1000\nsize=16k\n"), [0, 1_000_000, 2_000_000, 3_000_000]);
    assert_eq!(times("[a]\nrate=4m\nsize=12k\n"), [0, 976_562, 1_953_125]);
    assert_eq!(times("[a]\nthinktime=50\nthinktime_blocks=2\nsize=20k\n"), [0, 0, 50_000, 50_000, 100_000]);
    assert_eq!(
        times("[a]\nstartdelay=2\nsize=4k\n[b]\nsize=4k\n[c]\nstonewall\nsize=4k\n"),
        [0, 2_000_000_000, 2_000_000_000]
    );
    let timed = times("[a]\nrate_iops=10\nsize=4k\ntime_based\nruntime=1\nramp_time=1\n");
    assert_eq!((timed.len(), timed.last()), (20, Some(&1_900_000_000)));
}
