//! Rows a second of the readers, on generated text, from opening to the last host request. The
//! figure includes everything a replay pays: decompression, parsing, volumes and time.

#![allow(clippy::unwrap_used)]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use std::io::Write;
use tempfile::NamedTempFile;
use wordline_workload::{DriveShape, Form, Losses, Overrides, Pipeline, Workload};

const ROWS: u64 = 500_000;
const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 50, sector_bytes: 4096, unit_bytes: 4096 };

fn main() {
    divan::main();
}

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

fn replay(bencher: Bencher, content: &[u8], options: &str) {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let text = format!("{}{options}", file.path().display());
    let workload = Workload::parse(&text, Overrides::default()).unwrap();
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        let mut sum = 0u64;
        for request in workload.open(DRIVE, 0).unwrap() {
            sum = sum.wrapping_add(request.unwrap().lba.0);
        }
        black_box(sum)
    });
}

#[divan::bench]
fn msr_plain(b: Bencher) {
    replay(b, &msr(), "");
}

#[divan::bench]
fn msr_zstd(b: Bencher) {
    replay(b, &zstd::encode_all(msr().as_slice(), 3).unwrap(), "");
}

#[divan::bench]
fn five_columns_plain(b: Bencher) {
    replay(b, &five_columns(), ":time=ns,unit=sector");
}

#[divan::bench]
fn five_columns_decimal_ms(b: Bencher) {
    replay(b, &milliseconds(), ":time=ms,unit=sector,backwards=clamp");
}

#[divan::bench]
fn vscsi_binary(b: Bencher) {
    replay(b, &vscsi(), "");
}

#[divan::bench]
fn vscsi_csv_plain(b: Bencher) {
    replay(b, &vscsi_csv(), "");
}

#[divan::bench]
fn spc_plain(b: Bencher) {
    replay(b, &spc(), "");
}

/// With the sort by time.
#[divan::bench]
fn systor_plain(b: Bencher) {
    replay(b, &systor(), "");
}

/// With the sort by time, over 2,000 volumes.
#[divan::bench]
fn tencent_plain(b: Bencher) {
    replay(b, &tencent(), "");
}

/// With the sort by time.
#[divan::bench]
fn alibaba_plain(b: Bencher) {
    replay(b, &alibaba(), "");
}

#[divan::bench]
fn fiu_plain(b: Bencher) {
    replay(b, &fiu(), "");
}

/// Lines a second, of which a third are requests; with the sort by time.
#[divan::bench]
fn blkparse_plain(b: Bencher) {
    replay(b, &blkparse(), "");
}

/// Events a second, of which a sixth are requests.
#[divan::bench]
fn blktrace_plain(b: Bencher) {
    replay(b, &blktrace(), "");
}

#[divan::bench]
fn etw_plain(b: Bencher) {
    replay(b, &etw(), "");
}

#[divan::bench]
fn wiscsee_plain(b: Bencher) {
    replay(b, &wiscsee(), "");
}

#[divan::bench]
fn iolog_plain(b: Bencher) {
    replay(b, &iolog(), "");
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

#[divan::bench]
fn wordline_plain(b: Bencher) {
    replay(b, &columns(&msr()), "");
}

/// Over 2,000 volumes; the sort is done already.
#[divan::bench]
fn wordline_of_tencent(b: Bencher) {
    replay(b, &columns(&tencent()), "");
}

/// Semicolons, decimal comma and hexadecimal offsets, with the sort by time.
#[divan::bench]
fn csv_plain(b: Bencher) {
    let options = ":format=csv,decimal=comma,time=Init Time (s),offset=Min Offset:hex,size=Size,op=Op";
    replay(b, &table(), options);
}

/// The first look that every replay begins with.
#[divan::bench]
fn msr_first_look(bencher: Bencher) {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(&msr()).unwrap();
    let text = file.path().display().to_string();
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench(|| black_box(Workload::parse(&text, Overrides::default()).unwrap().limit(DRIVE)));
}
