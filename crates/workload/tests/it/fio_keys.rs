//! Single keys of job files against fio itself, which works on a sparse file as large as the drive and logs
//! what it issues. Where nothing is drawn both must ask for the same, one by one; where something is, both
//! must keep the same rules.

use crate::fio::{Stream, critical, distance, has_fio, logged};
use std::process::Command;
use wordline_trace::{DriveShape, Overrides};
use wordline_units::{HostOp, HostRequest, SimTime};
use wordline_workload::{JobScript, Turn, Workload};

const DRIVE: DriveShape = DriveShape { logical_bytes: 64 << 20, sector_bytes: 512, unit_bytes: 4096 };

fn workload(text: &str) -> Result<Workload, String> {
    Workload::in_memory("jobs.fio", text.as_bytes(), "", Overrides::default()).map_err(|e| e.to_string())
}

fn ours(text: &str) -> Stream {
    let mut stream = Stream::default();
    for request in workload(text).unwrap().open(DRIVE, 1).unwrap() {
        let r: HostRequest = request.unwrap();
        let job = stream.jobs.entry(format!("{:05}", r.volume)).or_default();
        job.push((r.op, r.lba.0 * 512, r.bytes()));
    }
    stream
}

/// fio's run on an engine; every job in a section of its own.
fn theirs(text: &str, engine: &str) -> Stream {
    let scratch = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(scratch.path().join("drive.data")).unwrap();
    file.set_len(DRIVE.logical_bytes).unwrap();
    let (mut job, mut number) = (String::new(), 0);
    for section in text.split_inclusive('\n') {
        job += section;
        if section.starts_with('[') && !section.starts_with("[global]") {
            job += &format!(
                "filename=drive.data\nioengine={engine}\nwrite_iolog={number:05}\nrandseed=4711\nallow_file_create=0\n"
            );
            number += 1;
        }
    }
    std::fs::write(scratch.path().join("job.fio"), job).unwrap();
    let out = Command::new("fio").arg("job.fio").current_dir(scratch.path()).output().unwrap();
    assert!(out.status.success(), "{text}\n{}", String::from_utf8_lossy(&out.stderr));
    logged(scratch.path())
}

fn show(stream: &Stream) -> Vec<String> {
    let requests = stream.jobs.iter().flat_map(|(job, all)| all.iter().map(move |r| (job, r)));
    requests.map(|(job, r)| format!("{job} {:?} {}+{}", r.0, r.1 >> 10, r.2 >> 10)).collect()
}

/// Zones of 256 KiB on a drive that has none.
const ZBD: &str = "zonemode=zbd\nzonesize=256k\n";

#[test]
fn zones_written_in_order_are_asked_as_fio_asks_them() {
    if !has_fio() {
        return;
    }
    for text in [
        // A second loop begins each zone anew.
        "[a]\nrw=write\nbs=64k\nsize=1m\nloops=2\n",
        "[a]\nrw=write\nbs=64k\nsize=1m\nzonecapacity=192k\n",
        "[a]\nrw=write\nbs=48k\nsize=1m\n",
        "[a]\nrw=write\nbs=64k\nio_size=1m\nzoneskip=512k\n",
        "[a]\nrw=write\nbs=64k\noffset=100k\nsize=1m\n",
        "[a]\nrw=write\nbs=64k\noffset=2z\nsize=3z\n",
        "[a]\nrw=write\nbs=64k\nsize=1m\nverify=crc32c\nloops=2\n",
        "[a]\nrw=write\nbs=64k\nsize=1m\nmax_open_zones=2\n",
        // Above the threshold every fourth write has its zone begin anew.
        "[a]\nrw=write\nbs=64k\nsize=2m\nzone_reset_threshold=.5\nzone_reset_frequency=.25\n",
        // Reads stay below what was written, by this job or another.
        "[a]\nrw=read\nbs=64k\nsize=1m\n",
        "[a]\nrw=read\nbs=64k\nsize=1m\nread_beyond_wp=1\n",
        "[a]\nrw=read\nbs=64k\nsize=1m\nread_beyond_wp=1\nzoneskip=2z\n",
        "[a]\nrw=write\nbs=64k\nsize=1m\n[b]\nstonewall\nrw=read\nbs=32k\nsize=4m\n",
        "[a]\nrw=write\nbs=64k\nio_size=320k\nsize=1m\n[b]\nstonewall\nrw=read\nbs=64k\nsize=4m\n",
    ] {
        let text = text.replace("]\n", &format!("]\n{ZBD}"));
        assert_eq!(show(&ours(&text)), show(&theirs(&text, "psync")), "{text}");
    }
}

/// Each write goes to the pointer of its zone, which a full zone has at its start; how many zones are begun and
/// not full at most; and no read goes beyond a pointer.
fn zones_begun(stream: &Stream, zone: u64) -> usize {
    let (mut written, mut most) = (std::collections::BTreeMap::<u64, u64>::new(), 0);
    for &(op, at, bytes) in stream.all() {
        let pointer = written.entry(at / zone).or_default();
        match op {
            HostOp::Write => {
                *pointer = if *pointer == zone { 0 } else { *pointer };
                assert_eq!(at % zone, *pointer, "{at}");
                *pointer += bytes;
            }
            _ => assert!(at % zone + bytes <= *pointer, "{at}"),
        }
        most = most.max(written.values().filter(|w| (1..zone).contains(*w)).count());
    }
    most
}

#[test]
fn random_zoned_jobs_keep_the_rules_of_fio() {
    if !has_fio() {
        return;
    }
    for (keys, open) in [
        ("rw=randwrite\nbs=16k\nsize=8m\n", None),
        ("rw=randwrite\nbs=16k\nsize=8m\nnorandommap\nmax_open_zones=4\n", Some(4)),
        ("rw=randwrite\nbsrange=4k-16k\nsize=8m\nmax_open_zones=8\nverify=crc32c\n", Some(8)),
        ("rw=randrw\nbs=8k\nsize=8m\nnorandommap\nmax_open_zones=6\njob_max_open_zones=3\n", Some(3)),
        ("rw=randrw\nbs=16k\nsize=8m\n", None),
    ] {
        let text = format!("[a]\n{ZBD}{keys}");
        let (ours, theirs) = (ours(&text), theirs(&text, "psync"));
        let begun = [&ours, &theirs].map(|s| zones_begun(s, 256 << 10));
        if let Some(open) = open {
            assert_eq!(begun, [open, open], "{text}");
        } else {
            assert!(begun[0].abs_diff(begun[1]) <= 3, "{begun:?} {text}");
        }
        for op in [HostOp::Read, HostOp::Write] {
            let (a, b) = (ours.of(op), theirs.of(op));
            let random = keys.contains("bsrange") || keys.contains("randrw");
            let most = if random { 5.0 * (a.len() as f64).sqrt() } else { 0.0 };
            assert!((a.len() as f64 - b.len() as f64).abs() <= most, "{} {} {text}", a.len(), b.len());
            let addresses = |s: &[(u64, u64)]| s.iter().map(|r| r.0).collect::<Vec<_>>();
            let apart = distance(&mut addresses(&a), &mut addresses(&b));
            // Whole zones are drawn, so that a sample is smaller than its requests.
            assert!(a.is_empty() || apart <= 2.0 * critical(a.len(), b.len()), "{apart} {text}");
        }
    }
}

#[test]
fn impossible_zones_are_refused_with_advice() {
    for (keys, said) in [
        ("rw=write\nzonemode=zbd\n", "needs zonesize="),
        ("rw=trim\nbs=256k\nzonemode=zbd\nzonesize=256k\n", "ignore=zonemode+zonesize"),
        ("rw=write\nzonemode=zbd\nzonesize=256k\nzonecapacity=512k\n", "at most zonesize"),
        ("rw=write\nzonemode=zbd\nzonesize=256k\nbs=512k\n", "at least one request"),
        ("rw=write\nzonemode=zbd\nzonesize=256k\nzoneskip=4k\n", "whole zones"),
        ("rw=write\nzonemode=zbd\nzonesize=256k\njob_max_open_zones=2\n", "max_open_zones=N"),
        ("rw=write\nzonemode=zbd\nzonesize=256k\nverify=md5\nbs=24k\n", "a multiple of bs"),
        ("rw=write\nsize=4z\n", "zonesize= is missing"),
    ] {
        let e = workload(&format!("[a]\n{keys}")).err().unwrap_or_else(|| panic!("{keys} is taken"));
        assert!(e.contains(said), "{said:?} is missing in\n{e}");
    }
    for (text, said) in [
        ("[a]\nrw=write\nsize=100k\n", "no whole zone"),
        (
            "[a]\nrw=write\nmax_open_zones=2\n[b]\nrw=write\nmax_open_zones=3\n",
            "its zones differ from those of [",
        ),
    ] {
        let text = text.replace("]\n", &format!("]\n{ZBD}"));
        let e = workload(&text).unwrap().open(DRIVE, 1).err().unwrap().to_string();
        assert!(e.contains(said), "{said:?} is missing in\n{e}");
    }
}

#[test]
fn keys_without_chance_ask_what_fio_asks() {
    if !has_fio() {
        return;
    }
    for (text, engine) in [
        // Strided zones go on over the drive, whatever the size.
        ("[a]\nrw=read\nbs=64k\nsize=1m\nzonemode=strided\nzonesize=128k\nzoneskip=128k\n", "psync"),
        // fio's null engine compares nothing, and verify=null reads all the same.
        ("[a]\nrw=write\nbs=4k\nsize=64k\nverify=null\n", "null"),
        ("[a]\nrw=write\nbs=4k\nsize=64k\nverify=null\ntrim_percentage=100\n", "null"),
        ("[a]\nrw=trimwrite\nbs=4k\nsize=64k\nverify=null\ntrim_percentage=100\ntrim_backlog=4\n", "null"),
        (
            "[a]\nrw=trimwrite\nbs=4k\nsize=64k\nverify=null\ntrim_percentage=100\ntrim_backlog=4\ntrim_backlog_batch=1\ntrim_verify_zero=0\n",
            "null",
        ),
        (
            "[a]\nrw=trimwrite\nbs=4k\nsize=64k\nverify=null\nverify_backlog=3\ntrim_percentage=100\ntrim_backlog=5\n",
            "null",
        ),
        ("[a]\nrw=write\nbs=4k\nsize=64k\nfsync=3\nverify=null\nverify_backlog=6\n", "null"),
    ] {
        assert_eq!(show(&ours(text)), show(&theirs(text, engine)), "{text}");
    }
}

/// Behind each request that is no FLUSH while the writes are a multiple, and before none.
#[test]
fn a_mixed_job_flushes_as_often_as_fio() {
    if !has_fio() {
        return;
    }
    let text = "[a]\nrw=randrw\nbs=4k\nsize=4m\nfsync=4\n";
    for stream in [ours(text), theirs(text, "psync")] {
        let (mut writes, mut flushed) = (0, true);
        for (op, ..) in stream.all() {
            let due = !flushed && writes > 0 && writes % 4 == 0;
            assert_eq!(*op == HostOp::Flush, due, "behind {writes} writes");
            writes += u64::from(*op == HostOp::Write);
            flushed = *op == HostOp::Flush;
        }
    }
}

/// Requests that take so long each: those outstanding when another begins.
fn outstanding(text: &str, takes: u64) -> Vec<(HostRequest, Vec<HostRequest>)> {
    let mut script: JobScript = workload(text).unwrap().script(DRIVE, 1).unwrap().unwrap();
    let (mut now, mut all, mut open) = (0, vec![], Vec::<(u64, HostRequest)>::new());
    loop {
        match script.next(SimTime(now)) {
            Turn::Issue(request) => {
                all.push((request, open.iter().map(|o| o.1).collect()));
                open.push((now + takes, request));
                continue;
            }
            Turn::End => return all,
            Turn::Until(at) => now = open.first().map_or(at.0, |o| o.0.min(at.0)),
            Turn::Completion => now = open[0].0,
        }
        while open.first().is_some_and(|o| o.0 <= now) {
            let (at, request) = open.remove(0);
            script.completed(&request, SimTime(at));
        }
    }
}

#[test]
fn serialized_requests_never_overlap() {
    let overlaps = |a: &HostRequest, b: &HostRequest| {
        a.lba.0 < b.lba.0 + u64::from(b.blocks) && b.lba.0 < a.lba.0 + u64::from(a.blocks)
    };
    let job = "rw=randwrite\nioengine=libaio\niodepth=16\nbs=4k\nsize=64k\nnorandommap\nio_size=2m\n";
    let met = |text: &str, across: bool| {
        let all = outstanding(text, 1000);
        let others = |r: &HostRequest, o: &&HostRequest| across || o.volume == r.volume;
        all.iter().filter(|(r, open)| open.iter().any(|o| others(r, &o) && overlaps(r, o))).count()
    };
    assert!(met(&format!("[a]\n{job}"), false) > 100);
    assert_eq!(met(&format!("[a]\n{job}serialize_overlap=1\n"), false), 0);
    let two = |keys: &str| format!("[a]\n{job}{keys}[b]\n{job}{keys}");
    assert!(met(&two("serialize_overlap=1\n"), true) > 20, "only its own");
    assert_eq!(met(&two("serialize_overlap=1\nio_submit_mode=offload\n"), true), 0);
    let wide = format!("[a]\n{job}serialize_overlap=1\n").replace("size=64k", "size=4m");
    let deep = outstanding(&wide, 1000);
    assert!(deep.iter().any(|d| d.1.len() > 8), "those that do not overlap go together");
}

/// A zone with requests of one job outstanding is closed to others, and begins anew when they have ended.
#[test]
fn a_zone_takes_writes_of_one_job_at_a_time() {
    let job = "rw=randwrite\nioengine=libaio\niodepth=4\nbs=16k\nsize=1m\nnorandommap\nio_size=4m\n";
    let all = outstanding(&format!("[a]\n{ZBD}{job}[b]\n{ZBD}{job}"), 1000);
    assert_eq!(all.len(), 512);
    let zone = |r: &HostRequest| r.lba.0 * 512 / (256 << 10);
    for (request, open) in &all {
        assert!(open.iter().all(|o| o.volume == request.volume || zone(o) != zone(request)));
        let anew = (request.lba.0 * 512).is_multiple_of(256 << 10);
        assert!(!anew || open.iter().all(|o| zone(o) != zone(request)));
    }
    assert!(all.iter().any(|(r, open)| open.iter().any(|o| o.volume != r.volume)), "both are at work");
}

/// fio's own times are on its clock, so what is compared is when the job ends.
#[test]
fn a_rate_does_not_catch_up_what_it_is_told_to_ignore() {
    let job = "[a]\nrw=write\nbs=4k\nsize=80k\nrate_iops=200\nthinktime=20000\nthinktime_blocks=5\n";
    let last = |text: &str| {
        let all: Vec<_> = workload(text).unwrap().open(DRIVE, 1).unwrap().map(Result::unwrap).collect();
        all.last().unwrap().arrival.0 / 1_000_000
    };
    // 20 requests, 5 ms apart. Three waits of 20 ms within those are caught up, or not, but for one request each.
    assert_eq!(last(job), 95);
    let ignoring = format!("{job}rate_ignore_thinktime=1\n");
    assert_eq!(last(&ignoring), 140);
    if !has_fio() {
        return;
    }
    let took = |text: &str| {
        let scratch = tempfile::tempdir().unwrap();
        let log = "ioengine=null\nfilename=drive.data\nwrite_iolog=log\n";
        std::fs::write(scratch.path().join("job.fio"), format!("{text}{log}")).unwrap();
        let out = Command::new("fio").arg("job.fio").current_dir(scratch.path()).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let log = std::fs::read_to_string(scratch.path().join("log")).unwrap();
        let times = log.lines().filter(|l| l.contains(" write ")).map(|l| l.split(' ').next().unwrap());
        let times: Vec<u64> = times.map(|t| t.parse().unwrap()).collect();
        times.last().unwrap() - times[0]
    };
    // A busy machine may make fio late, never early.
    assert!(took(job) >= 90);
    assert!(took(&ignoring) >= 135);
}
