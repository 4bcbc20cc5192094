//! Rows a second of the readers on generated text, from opening to the last host request: decompression,
//! parsing, sorting, volumes and time, all that a replay pays. Beside it, in the same run, a bare search for
//! the newlines of the same bytes, and a whole run of the same trace; since machines differ and swing, their
//! ratios say more than rows a second. Prints the table of `lab/results/readers.md`:
//! `cargo bench -p wordline-run --bench readers`, with words of names for some of the rows.

#![allow(clippy::disallowed_methods, reason = "it measures time")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is a program")]

use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;
use wordline_run::{RunSpec, run};
use wordline_trace::{DriveShape, Fit, Form, Losses, Overrides, Pipeline};
use wordline_workload::Workload;

const ROWS: u64 = 500_000;
const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 50, sector_bytes: 4096, unit_bytes: 4096 };
/// The fastest of so many turns counts.
const TURNS: usize = 9;

fn msr() -> Vec<u8> {
    let row = |i: u64| {
        let op = if i.is_multiple_of(3) { "Read" } else { "Write" };
        format!(
            "{},usr,1,{op},{},{},{}\n",
            128_166_372_000_000_000 + i * 997,
            i * 7919 % 9_999_991 * 4096,
            4096 << (i % 5),
            i % 5000
        )
    };
    (0..ROWS).map(row).collect::<String>().into_bytes()
}

fn five_columns() -> Vec<u8> {
    let row = |i: u64| {
        format!(
            "{} {} {} {} {}\n",
            938_513_000 + i * 9_973,
            i % 4,
            i * 7919 % 99_999_991 * 8,
            8 << (i % 5),
            i % 2
        )
    };
    (0..ROWS).map(row).collect::<String>().into_bytes()
}

fn milliseconds() -> Vec<u8> {
    let row = |i: u64| {
        format!(
            "{}.{:03} 0 {} {} 0\n",
            5265 + i / 7,
            i * 131 % 7 * 142,
            i * 7919 % 9_999_991 * 8,
            8 << (i % 5)
        )
    };
    (0..ROWS).map(row).collect::<String>().into_bytes()
}

fn vscsi() -> Vec<u8> {
    let mut out = Vec::new();
    for i in 0..ROWS {
        out.extend((i as u32).to_le_bytes());
        out.extend((4096u32 << (i % 5)).to_le_bytes());
        out.extend(1u32.to_le_bytes());
        out.extend(if i.is_multiple_of(3) { 0x28u16 } else { 0x2a }.to_le_bytes());
        out.extend(0x100u16.to_le_bytes());
        out.extend((i * 7919 % 99_999_991).to_le_bytes());
        out.extend((i * 997).to_le_bytes());
    }
    out
}

fn lines(row: impl Fn(u64) -> String) -> Vec<u8> {
    (0..ROWS).map(row).collect::<String>().into_bytes()
}

fn vscsi_csv() -> Vec<u8> {
    let row = |i: u64| format!("1,{},2a,4096,{}\n", 1_000 + i * 97, i * 7919 % 99_999_991);
    [b"version,time,op,size,lbn\n".to_vec(), lines(row)].concat()
}

fn spc() -> Vec<u8> {
    lines(|i| {
        let op = if i.is_multiple_of(3) { 'R' } else { 'W' };
        let (s, us) = (i / 1_000, i % 1_000);
        format!("{},{},{},{op},{s}.{us:03}000\n", i % 24, i * 7919 % 9_999_991, 512 << (i % 5))
    })
}

/// Like the real one: every tenth row is some ms late.
fn systor() -> Vec<u8> {
    let title = b"Timestamp,Response,IOType,LUN,Offset,Size\n".to_vec();
    let rows = lines(|i| {
        let us = i * 131 + if i.is_multiple_of(10) { 0 } else { 9_000 };
        let op = if i.is_multiple_of(3) { 'R' } else { 'W' };
        format!(
            "{}.{:06}000,0.000806000,{op},0,{},4096\n",
            1_456_095_145 + us / 1_000_000,
            us % 1_000_000,
            i * 7919 % 9_999_991 * 512
        )
    });
    [title, rows].concat()
}

fn tencent() -> Vec<u8> {
    lines(|i| {
        let second = 1_538_323_199 + i / 40_000 + i % 2;
        format!(
            "{second},{},{},{},{}\n",
            i * 7919 % 99_999_991 * 8,
            8 << (i % 5),
            i % 2,
            1_000 + i * 31 % 2_000
        )
    })
}

fn alibaba() -> Vec<u8> {
    lines(|i| {
        let op = if i.is_multiple_of(3) { 'R' } else { 'W' };
        format!(
            "{},{op},{},{},{}\n",
            i * 31 % 999,
            i * 7919 % 99_999_991 * 4096,
            4096 << (i % 5),
            1_577_808_000_000_046 + i * 61
        )
    })
}

fn fiu() -> Vec<u8> {
    lines(|i| {
        let op = if i.is_multiple_of(3) { 'R' } else { 'W' };
        format!(
            "{} 4253 nfsd {} 8 {op} 6 0 d6c75ba46e82326fefa545b57a12e221\n",
            89_966_522_969_723 + i * 9_000,
            i * 7919 % 99_999_991 * 8
        )
    })
}

fn blkparse() -> Vec<u8> {
    lines(|i| {
        let action = ['I', 'D', 'C'][i as usize % 3];
        let ns = i * 14_000;
        let (s, ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
        format!(
            "  8,16   3 {i:8} {s:5}.{ns:09}  3645  {action}   R {} + 256 [java]\n",
            i * 7919 % 99_999_991 * 8
        )
    })
}

/// One event in six is a request, as in the real one.
fn blktrace() -> Vec<u8> {
    let mut out = Vec::new();
    for i in 0..ROWS {
        out.extend(0x6561_7407u32.to_le_bytes());
        out.extend((i as u32).to_le_bytes());
        out.extend((i * 997).to_le_bytes());
        out.extend((i * 7919 % 99_999_991 * 8).to_le_bytes());
        let action = if i.is_multiple_of(6) { 7 } else { 1 + i as u32 % 6 };
        for word in [4096u32, action | 1 << 17, 99, 8 << 20 | 16, 0, 0] {
            out.extend(word.to_le_bytes());
        }
    }
    out
}

fn etw() -> Vec<u8> {
    lines(|i| {
        let op = if i.is_multiple_of(3) { "DiskRead" } else { "DiskWrite" };
        format!(
            "{op}, {}, svchost.exe ( 812), 5460, 0xfffffa80069d1b30, 0x{:010x}, 0x00010000, 6022, 2, 0x060043, 5963, Normal, , 0xfffff880, \"c:\\a.log\"\n",
            46 + i * 13,
            i * 7919 % 99_999_991 * 512
        )
    })
}

fn wiscsee() -> Vec<u8> {
    lines(|i| {
        let op = ["read", "write", "discard"][i as usize % 3];
        let us = i * 13;
        format!(
            "909 D {op} {} 4096 {}.{:06}389 0.000013 True\n",
            i * 7919 % 99_999_991 * 512,
            us / 1_000_000,
            us % 1_000_000
        )
    })
}

fn iolog() -> Vec<u8> {
    let head = b"fio version 3 iolog\n0 /dev/sdb add\n0 /dev/sdb open\n".to_vec();
    let rows = lines(|i| format!("{} /dev/sdb write {} 4096\n", i * 13, i * 7919 % 99_999_991 * 512));
    [head, rows].concat()
}

fn table() -> Vec<u8> {
    let title = b"Nr;Init Time (s);Op;Min Offset;Size\n".to_vec();
    let rows = lines(|i| {
        let op = if i.is_multiple_of(3) { "Read" } else { "Write" };
        let us = i * 13;
        format!(
            "{i};{},{:06};{op};0x{:x};4096\n",
            us / 1_000_000,
            us % 1_000_000,
            i * 7919 % 99_999_991 * 512
        )
    });
    [title, rows].concat()
}

/// Requests in Wordline's own columns, made of those of the given content.
fn columns(content: &[u8]) -> Vec<u8> {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let form = Form::of("trace.wl", None, Losses::Refuse).unwrap();
    let mut out = Vec::new();
    Pipeline::read(file.path().to_str().unwrap()).unwrap().write(&form, &mut out).unwrap();
    out
}

const CSV: &str = ":format=csv,decimal=comma,time=Init Time (s),offset=Min Offset:hex,size=Size,op=Op";

/// A name, the content of a file, and the options that it is read with.
type Case = (&'static str, fn() -> Vec<u8>, &'static str);

/// Those that sort are marked so.
const CASES: &[Case] = &[
    ("wordline", || columns(&msr()), ""),
    ("wordline, 2,000 volumes", || columns(&tencent()), ""),
    ("blktrace, events", blktrace, ""),
    ("vscsi1", vscsi, ""),
    ("vscsi-csv", vscsi_csv, ""),
    ("msr", msr, ""),
    ("msr in zstd", || zstd::encode_all(msr().as_slice(), 3).unwrap(), ""),
    ("systor17, sorted", systor, ""),
    ("spc", spc, ""),
    ("alibaba, sorted", alibaba, ""),
    ("tencent, sorted", tencent, ""),
    ("fio-iolog", iolog, ""),
    ("blkparse, lines, sorted", blkparse, ""),
    ("etw", etw, ""),
    ("fiu", fiu, ""),
    ("wiscsee", wiscsee, ""),
    ("five-columns", five_columns, ":time=ns,unit=sector"),
    ("five-columns, decimals", milliseconds, ":time=ms,unit=sector,backwards=clamp"),
    ("csv, sorted", table, CSV),
];

fn timed<T>(what: impl FnOnce() -> T) -> Duration {
    let begin = Instant::now();
    black_box(what());
    begin.elapsed()
}

/// Newlines of a file, in the buffer that readers have.
fn scan(file: &NamedTempFile) -> usize {
    let mut buffer = vec![0; 1 << 18];
    let (mut input, mut lines) = (File::open(file.path()).unwrap(), 0);
    loop {
        match input.read(&mut buffer).unwrap() {
            0 => return lines,
            n => lines += memchr::memchr_iter(b'\n', &buffer[..n]).count(),
        }
    }
}

fn replay(workload: &Workload) -> u64 {
    let requests = workload.open(DRIVE, 0).unwrap();
    requests.fold(0, |sum, request| sum.wrapping_add(request.unwrap().lba.0))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    println!("| format | M rows/s | of a search for newlines | times as long: a run |");
    println!("|---|---|---|---|");
    for (name, content, options) in CASES {
        if !words.is_empty() && !words.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(&content()).unwrap();
        let text = format!("{}{options}", file.path().display());
        let workload = Workload::parse(&text, Overrides::default()).unwrap();
        let turns = (0..TURNS).map(|_| (timed(|| scan(&file)), timed(|| replay(&workload))));
        let (scanned, read) =
            turns.fold((Duration::MAX, Duration::MAX), |best, turn| (best.0.min(turn.0), best.1.min(turn.1)));
        let spec = RunSpec { fit: Some(Fit::Wrap), ..RunSpec::new("hierarchy-44gb", "conventional", &text) };
        let whole = timed(|| run(&spec, &mut |_| ControlFlow::Continue(())).unwrap());
        let [scanned, read, whole] = [scanned, read, whole].map(|d| d.as_secs_f64());
        let (rate, share, run) = (ROWS as f64 / read / 1e6, scanned / read, whole / read);
        println!("| {name} | {rate:.1} | {share:.2} | {run:.0} |");
    }
}
