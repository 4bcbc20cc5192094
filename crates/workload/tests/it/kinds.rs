//! Twenty small inputs of the kinds that people have: each is read as the tool that wrote it means it, unasked or after
//! one pasted hint, or is refused with what is missing. None is read wrong.

use wordline_trace::{DriveShape, Overrides};
use wordline_units::{HostOp, HostRequest};
use wordline_workload::Workload;

const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 40, sector_bytes: 4096, unit_bytes: 4096 };

/// What becomes of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Unasked,
    /// One spelling is proposed, or several that differ in a unit, of which this is a part.
    Pasted(&'static str),
    /// It says these words.
    Refused(&'static [&'static str]),
}

/// Microseconds from the first, what is asked, address and size in bytes.
type Asked = (u64, HostOp, u64, u64);

struct Kind {
    name: &'static str,
    content: Vec<u8>,
    way: Way,
    /// Requests in all, and some of them by number.
    count: usize,
    some: &'static [(usize, Asked)],
}

fn rows(count: u64, row: impl Fn(u64) -> String) -> String {
    (0..count).map(|n| row(n) + "\n").collect()
}

fn rw(n: u64) -> &'static str {
    ["R", "W"][n as usize % 2]
}

const R: HostOp = HostOp::Read;
const W: HostOp = HostOp::Write;

fn kind(
    name: &'static str,
    content: impl Into<Vec<u8>>,
    way: Way,
    count: usize,
    some: &'static [(usize, Asked)],
) -> Kind {
    Kind { name, content: content.into(), way, count, some }
}

/// Logs of tracers and of fio.
fn logs() -> Vec<Kind> {
    let iolog2 = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a read 0 4096\n/dev/a wait 30 0\n\
                  /dev/a write 8192 4096\n/dev/a wait 50 0\n/dev/a write 65536 8192\n/dev/a close\n";
    let ftrace = rows(24, |n| {
        let letters = ["WFSU", "RA", "WS"][n as usize % 3];
        format!(
            "  fio-42 [001] ..... 12.{:06}: block_rq_issue: 259,0 {letters} 4096 () {} + 8 none,0,0 [fio]",
            n * 400,
            n * 8
        )
    });
    let nvme = rows(20, |n| {
        let op = ["read", "write"][n as usize % 2];
        format!(
            "  fio-42 [001] ..... 12.{:06}: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=1, cmdid={n}, nsid=1, flags=0x0, \
             meta=0x0, cmd=(nvme_cmd_{op} slba={}, len=7, ctrl=0x0, dsmgmt=0, reftag=0)",
            n * 400,
            n * 8
        )
    });
    let blkparse = rows(20, |n| {
        let (event, letters) = (["D", "C"][n as usize % 2], ["WS", "R"][n as usize / 2 % 2]);
        format!(
            "  8,0    3 {n:8}     0.{:09}   697  {event}   {letters} {} + 8 [kjournald]",
            n * 50_000,
            n / 2 * 8
        )
    });
    let biosnoop = "TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  LAT(ms)\n".to_string()
        + &rows(12, |n| {
            let command = ["fio", "Web Content", "Chrome IO Thread"][n as usize % 3];
            format!(
                "{:.6}    {command}  {}  nvme0n1  {} {}  {}  0.19",
                n as f64 * 0.001,
                42 + n,
                rw(n + 1),
                n * 7_919 % 5000 * 8,
                4096 << (n % 2)
            )
        });
    vec![
        kind(
            "iolog2",
            iolog2,
            Way::Unasked,
            3,
            &[(0, (0, R, 0, 4096)), (1, (30_000, W, 8192, 4096)), (2, (50_000, W, 65_536, 8192))],
        ),
        kind(
            "iolog3",
            "fio version 3 iolog\n0 /dev/a add\n0 /dev/a open\n10 /dev/a write 8192 4096\n70 /dev/a read 0 4096\n90 /dev/a close\n",
            Way::Unasked,
            2,
            &[(0, (0, W, 8192, 4096)), (1, (60, R, 0, 4096))],
        ),
        kind(
            "ftrace",
            ftrace,
            Way::Unasked,
            24,
            &[(0, (0, W, 0, 4096)), (1, (400, R, 4096, 4096)), (23, (9200, W, 23 * 4096, 4096))],
        ),
        kind("nvme", nvme, Way::Unasked, 20, &[(1, (400, W, 4096, 4096)), (2, (800, R, 8192, 4096))]),
        kind("blkparse", blkparse, Way::Unasked, 10, &[(0, (0, W, 0, 4096)), (1, (100, R, 4096, 4096))]),
        kind(
            "biosnoop",
            biosnoop,
            Way::Pasted("time=TIME(s)"),
            12,
            &[(0, (0, W, 0, 4096)), (1, (1000, R, 7_919 % 5000 * 4096, 8192))],
        ),
    ]
}

/// Tables with titles.
fn tables() -> Vec<Kind> {
    let wpa = "\"Process\",\"Disk\",\"IO Type\",\"Time (us)\",\"Size (B)\",\"Min Offset (B)\",\"Path\"\n"
        .to_string()
        + &rows(12, |n| {
            let op = ["Read", "Write"][n as usize % 2];
            format!(
                "\"svchost.exe, net\",\"0\",\"{op}\",\"{}\",\"4096\",\"{}\",\"C:\\a, b.txt\"",
                n * 1250,
                n * 8192
            )
        });
    let table = |head: &str, row: &dyn Fn(u64) -> String| head.to_string() + "\n" + &rows(20, row);
    let place = |n: u64| n * 7_919 % 1000 * 4096;
    vec![
        kind(
            "wpa",
            wpa,
            Way::Pasted("time=Time (us)"),
            12,
            &[(1, (1250, W, 8192, 4096)), (2, (2500, R, 16_384, 4096))],
        ),
        kind(
            "milliseconds",
            table("timestamp_ms,lba,nr_sectors,op", &|n| {
                format!("{},{},8,{}", n * 12, n * 37 % 991 * 8, rw(n))
            }),
            Way::Pasted("time=timestamp_ms,"),
            20,
            &[(1, (12_000, W, 37 * 4096, 4096))],
        ),
        kind(
            "latency first",
            table("time_us,latency_us,offset,length,type", &|n| {
                format!("{},{},{},4096,{}", n * 300, 80 + n * 7 % 60, place(n), rw(n))
            }),
            Way::Pasted("time=time_us,"),
            20,
            &[(1, (300, W, 919 * 4096, 4096))],
        ),
        kind(
            "hexadecimal",
            table("ts_ns,op,offset,bytes", &|n| format!("{},{},0x{:x},4096", n * 5000, rw(n), place(n))),
            Way::Pasted("offset=offset:hex"),
            20,
            &[(1, (5, W, 919 * 4096, 4096))],
        ),
        kind(
            "semicolons",
            table("time_s;sector;count;rw", &|n| {
                format!("{:.6};{};8;{}", n as f64 * 0.00125, place(n) / 512, rw(n))
            }),
            Way::Pasted("time=time_s,"),
            20,
            &[(1, (1250, W, 919 * 4096, 4096))],
        ),
        kind(
            "dates",
            table("time,op,offset,size", &|n| {
                format!("2026-03-01T12:00:{n:02}.250Z,{},{},4096", rw(n), n * 4096)
            }),
            Way::Pasted("time=time:date"),
            20,
            &[(3, (3_000_000, W, 3 * 4096, 4096))],
        ),
        kind(
            "bytes with a point",
            table("t_us,offset,size,op", &|n| format!("{},{}.0,4096,{}", n * 5, n * 4096, rw(n))),
            Way::Pasted("time=t_us,"),
            20,
            &[(3, (15, W, 3 * 4096, 4096))],
        ),
    ]
}

/// Rows without titles, job files, and what no request is in.
fn others() -> Vec<Kind> {
    let four = rows(40, |n| format!("{} {} {} {}", n * 250, n * 7_919 % 900 * 8, 8 << (n % 3), rw(n)));
    let five = rows(60, |n| {
        format!("{}.{:09} 0 {} 8 {}", 100 + n / 50, n % 50 * 19_777_777, n * 7_919 % 9000 * 8, n % 2)
    });
    let jobs = "[kv]\nioengine=libaio\nrw=randwrite\nbssplit=4k/10:16k/30:64k/70\niodepth=8\nsize=64m\nnumber_ios=40\n";
    let synced = "[j]\nrw=write\nbs=4k\nsync=1\nsize=64k\n";
    let objects = "Timestamp,Operation,Object_Size_Bytes,Tier,Key\n".to_string()
        + &rows(30, |n| {
            format!(
                "1772000000.{:06},{},{},T0,layer{n}",
                n * 999,
                ["Write", "Read"][n as usize % 2],
                131_072 << (n % 3)
            )
        });
    let iostat = "Device r/s rkB/s rrqm/s r_await w/s wkB/s w_await %util\n".to_string()
        + &rows(12, |n| format!("nvme0n1 {n}.00 {}.00 0.00 0.12 {n}.50 {}.00 0.31 {n}.10", n * 64, n * 128));
    let lines = rows(10, |n| {
        format!("{{\"ts\": {}, \"op\": \"R\", \"offset\": {}, \"size\": 4096}}", n * 100, n * 4096)
    });
    vec![
        kind("four columns", four, Way::Pasted("time=#1:us"), 40, &[(1, (250, W, 7_919 % 900 * 4096, 8192))]),
        kind("seconds", five, Way::Unasked, 60, &[(1, (19_777, R, 7_919 * 4096, 4096))]),
        kind("job.fio", jobs, Way::Unasked, 40, &[]),
        kind("journal.fio", synced, Way::Unasked, 16, &[(3, (0, W, 3 * 4096, 4096))]),
        kind(
            "objects",
            objects,
            Way::Refused(&[
                "Object_Size_Bytes",
                "so no suggestion is made. If it is a trace, name its columns and their units",
                "name its columns",
            ]),
            0,
            &[],
        ),
        kind(
            "iostat",
            iostat,
            Way::Refused(&[
                "rkB/s",
                "so no suggestion is made. If it is a trace, name its columns and their units",
            ]),
            0,
            &[],
        ),
        kind(
            "JSON",
            lines,
            Way::Refused(&[
                "no trace format matches; the file begins \"",
                "JSON is not a trace format; convert its requests to a table with jq, which csv reads (`wordline explain csv`). A result of fio has no requests, but its job file is a workload",
                "its job file is a workload",
            ]),
            0,
            &[],
        ),
    ]
}

fn read(text: &str) -> Result<Vec<HostRequest>, String> {
    let workload = Workload::parse(text, Overrides::default()).map_err(|e| e.to_string())?;
    let requests = workload.open(DRIVE, 0).map_err(|e| e.to_string())?;
    requests.collect::<Result<_, _>>().map_err(|e| e.to_string())
}

/// The spellings that a refusal proposes.
fn proposed(refusal: &str) -> Vec<String> {
    let parts = refusal.split("--format 'csv:").skip(1);
    parts.map(|rest| rest.split_once('\'').unwrap().0.to_string()).collect()
}

fn check(kind: &Kind, requests: &[HostRequest]) {
    assert_eq!(requests.len(), kind.count, "{}", kind.name);
    for (number, asked) in kind.some {
        let r = &requests[*number];
        let found = (r.arrival.0 / 1000, r.op, r.lba.0 * 512, r.blocks as u64 * 512);
        assert_eq!(found, *asked, "{}, request {number}", kind.name);
    }
}

#[test]
fn twenty_kinds_of_input_are_read_right_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<Kind> = [logs(), tables(), others()].into_iter().flatten().collect();
    assert_eq!(all.len(), 20);
    let mut right = 0;
    for kind in &all {
        let path = folder.path().join(kind.name);
        std::fs::write(&path, &kind.content).unwrap();
        let path = path.to_str().unwrap();
        let unasked = read(path);
        match kind.way {
            Way::Unasked => check(kind, &unasked.unwrap_or_else(|e| panic!("{}: {e}", kind.name))),
            Way::Pasted(part) => {
                let said = unasked.expect_err(kind.name);
                let fit: Vec<String> =
                    proposed(&said).into_iter().filter(|spelling| spelling.contains(part)).collect();
                assert_eq!(fit.len(), 1, "{}: {said}", kind.name);
                let text = format!("{path}:format=csv,{}", fit[0]);
                check(kind, &read(&text).unwrap_or_else(|e| panic!("{text}: {e}")));
            }
            Way::Refused(words) => {
                let said = unasked.expect_err(kind.name);
                assert!(proposed(&said).is_empty(), "{said}");
                assert!(words.iter().all(|word| said.contains(word)), "{}: {said}", kind.name);
                continue;
            }
        }
        right += 1;
    }
    assert!(right >= 15, "{right}");
}
