//! Rows a second of the readers, on generated text, from opening to the last host request. The
//! figure includes everything a replay pays: decompression, parsing, volumes and time.

#![allow(clippy::unwrap_used)]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use std::io::Write;
use tempfile::NamedTempFile;
use wordline_workload::{DriveShape, Overrides, Workload};

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

/// Requests a second of a generator.
#[divan::bench(args = ["uniform", "zipf", "bursty", "mix"])]
fn synthetic(bencher: Bencher, name: &str) {
    let bound = Overrides { requests: Some(ROWS), fit: None };
    let workload = Workload::parse(name, bound).unwrap();
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        black_box(workload.open(DRIVE, 1).unwrap().fold(0u64, |sum, r| sum.wrapping_add(r.unwrap().lba.0)))
    });
}
