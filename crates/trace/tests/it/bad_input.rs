//! Bad input: each kind of fault is named with its place and a hint, and nothing panics.

use proptest::prelude::*;
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;
use wordline_trace::{
    DriveShape, ErrorKind, FORMATS, Form, Inspection, Losses, Overrides, Pacing, Pipeline, Position, Trace,
    WorkloadError, inspect, render_inspection,
};
use wordline_units::HostRequest;

const DRIVE: DriveShape = DriveShape { logical_bytes: 64 << 30, sector_bytes: 4096, unit_bytes: 16_384 };

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_string()
    }
}

fn parse(text: &str) -> Result<Trace, WorkloadError> {
    Trace::parse(text, Overrides::default())
}

fn fault(text: &str) -> WorkloadError {
    parse(text).err().unwrap_or_else(|| panic!("{text} was accepted"))
}

fn all(text: &str) -> Vec<HostRequest> {
    let w = parse(text).unwrap_or_else(|e| panic!("{e}"));
    w.open(DRIVE).unwrap().map(|r| r.unwrap()).collect()
}

fn says(e: &WorkloadError, words: &[&str]) {
    let text = e.to_string();
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}

/// Rows of MSR CSV, one a millisecond.
fn msr(rows: u64) -> String {
    (0..rows)
        .map(|i| {
            let op = if i.is_multiple_of(3) { "Read" } else { "Write" };
            format!(
                "{},srv,0,{op},{},4096,100\n",
                128_166_372_000_000_000 + i * 10_000,
                i * 7919 % 65_536 * 4096
            )
        })
        .collect()
}

type Encode = fn(&[u8]) -> Vec<u8>;

const ENCODERS: [(&str, Encode); 5] = [
    ("gzip", |b| {
        let mut e = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        e.write_all(b).unwrap();
        e.finish().unwrap()
    }),
    ("bzip2", |b| {
        let mut e = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        e.write_all(b).unwrap();
        e.finish().unwrap()
    }),
    ("xz", |b| {
        let mut e = liblzma::write::XzEncoder::new(Vec::new(), 1);
        e.write_all(b).unwrap();
        e.finish().unwrap()
    }),
    ("zstd", |b| zstd::encode_all(b, 3).unwrap()),
    ("lz4", |b| {
        let mut e = lz4_flex::frame::FrameEncoder::new(Vec::new());
        e.write_all(b).unwrap();
        e.finish().unwrap()
    }),
];

#[test]
fn every_compression_gives_equal_requests_by_any_name() {
    let folder = Folder::new();
    let text = msr(5_000);
    let plain = all(&folder.file("plain", text.as_bytes()));
    assert_eq!(plain.len(), 5_000);
    for (name, encode) in ENCODERS {
        let path = folder.file("compressed.dat", &encode(text.as_bytes()));
        assert_eq!(inspect(&path).unwrap().compression.name(), name);
        assert_eq!(all(&path), plain, "{name}");
        let (a, b) = text.as_bytes().split_at(text.len() / 2);
        let two = [encode(a), encode(b)].concat();
        assert_eq!(all(&folder.file("two-members", &two)), plain, "{name}, two members");
    }
}

#[test]
fn a_truncated_compressed_stream_is_named_as_such() {
    let folder = Folder::new();
    for (name, encode) in ENCODERS {
        let whole = encode(msr(100_000).as_bytes());
        for keep in [whole.len() / 2, whole.len() - 3] {
            let e = fault(&folder.file("cut", &whole[..keep]));
            assert_eq!(e.kind(), ErrorKind::Io, "{name}: {e}");
            says(&e, &[name, "truncated", "fetch it again"]);
        }
    }
}

#[test]
fn missing_empty_and_foreign_files_are_told_apart() {
    let folder = Folder::new();
    says(&fault("no-such-file.csv"), &["no such file", "a trace file"]);
    assert_eq!(fault(&folder.file("empty", b"")).kind(), ErrorKind::Empty);
    assert_eq!(fault(&folder.file("blank", b"\n\n \n")).kind(), ErrorKind::Format);
    assert_eq!(fault(&folder.file("header", b"version,time,op,size,lbn\n")).kind(), ErrorKind::Empty);
    let empty = Folder::new();
    says(&fault(empty.0.path().to_str().unwrap()), &["the folder has no non-empty file"]);
    says(&fault(&format!("{}+x.csv", folder.file("there", b"1"))), &["file not found: x.csv"]);
    let mut random = 12345u64;
    let noise: Vec<u8> = (0..100_000)
        .map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 56) as u8
        })
        .collect();
    let e = fault(&folder.file("noise", &noise));
    assert_eq!(e.kind(), ErrorKind::Format);
    says(&e, &["no trace format matches; the file begins \"", "wordline list formats"]);
    says(&fault(&folder.file("zip", b"PK\x03\x04aaaaaaaaaaaaaaaa")), &["zip archive"]);
    says(&fault(&folder.file("prose", b"It was a bright cold day in April\nand the clocks\n")), &["It was"]);
}

#[test]
fn garbage_last_line_is_dropped_only_when_asked() {
    let folder = Folder::new();
    let path = folder.file("t.csv", format!("{}garbage", msr(100)).as_bytes());
    let e = fault(&path);
    assert_eq!(e.kind(), ErrorKind::Content);
    says(&e, &["t.csv:101", "1 of 101 lines", "garbage", "skip=bad"]);
    assert_eq!(all(&format!("{path}:skip=bad")).len(), 100);
    let w = parse(&format!("{path}:skip=bad")).unwrap();
    assert_eq!(w.resolved()["skipped"], 1);
    let i = inspect(&path).unwrap();
    assert_eq!((i.requests, i.unusable.count), (100, 1));
    assert_eq!(i.unusable.first[0].at, Position::Line(101));
    assert!(render_inspection(&i).contains("line 101"));
}

#[test]
fn zero_length_request_is_named_with_line_and_reason() {
    let folder = Folder::new();
    let path =
        folder.file("t.csv", format!("{}128166373000000000,srv,0,Read,4096,0,1\n", msr(50)).as_bytes());
    says(&fault(&path), &["line 51: the request has length zero"]);
    assert_eq!(all(&format!("{path}:skip=bad")).len(), 50);
}

/// The unusable lines of a whole table are not compared with a part of its requests; the hint keeps the format.
#[test]
fn part_of_a_table_with_unusable_lines_is_read() {
    let folder = Folder::new();
    let rows: String =
        (0..60).map(|n| format!("{n};W;{};{}\n", n * 8, if n % 6 == 0 { 0 } else { 8 })).collect();
    let path = folder.file("t.csv", format!("ts;op;sector;size\n{rows}").as_bytes());
    let options = "format=csv,time=ts:ms,offset=sector:sector,size=size:sector,op=op";
    assert_eq!(all(&format!("{path}:{options},skip=bad,requests=3")).len(), 3);
    let e = fault(&format!("{path}:{options},requests=3"));
    says(
        &e,
        &[
            "10 of 60 lines cannot be used",
            "inspect",
            " --format 'csv:offset=sector:sector,op=op,size=size:sector,time=ts:ms'` lists them",
        ],
    );
}

/// 5,000 requests as a `.wl` file.
fn packed(folder: &Folder) -> Vec<u8> {
    let mut content = vec![];
    let form = Form::of("t.wl", None, Losses::Refuse).unwrap();
    let from = folder.file("t.csv", msr(5000).as_bytes());
    Pipeline::read(&from).unwrap().write(&form, &mut content).unwrap();
    content
}

/// A damaged block of 4,096 of 5,000 requests was once "1 of 905 records".
#[test]
fn damaged_block_counts_all_its_requests() {
    let folder = Folder::new();
    let content = packed(&folder);
    let broken = |at: usize| {
        let mut content = content.clone();
        content[at] ^= 0x10;
        folder.file("t.wl", &content)
    };
    let path = broken(1000);
    says(&fault(&path), &["4,096 of 5,000 records cannot be used", "a block of 4,096 requests is damaged"]);
    let found = inspect(&path).unwrap();
    assert_eq!((found.unusable.count, found.unusable.places, found.requests), (4096, 1, 904));
    assert!(render_inspection(&found).contains("4,096 records cannot be used"));
    let text = format!("{path}:skip=bad");
    assert_eq!(all(&text).len(), 904);
    assert_eq!(parse(&text).unwrap().resolved()["skipped"], 4096);
    // How many were in the rest of a file nobody knows.
    let cut = folder.file("cut.wl", &content[..content.len() * 9 / 10]);
    says(
        &fault(&cut),
        &["at least 1 of 4,097 records cannot be used", "the file is truncated within a block"],
    );
}

/// A file without its footer has all its requests: one was once said to be lost.
#[test]
fn damaged_footer_loses_no_request() {
    let folder = Folder::new();
    let content = packed(&folder);
    let footer = content.windows(4).rposition(|w| w == b"END1").unwrap();
    let known = "the file is truncated within its footer, after 5,000 requests, all there were";
    let told = "the file is truncated before its footer, after 5,000 requests; only the footer says whether more \
                followed";
    let mut cases: Vec<(Vec<u8>, &str)> = vec![(content[..footer].to_vec(), told)];
    for cut in [footer + 1, footer + 4, footer + 40, footer + 85, content.len() - 1] {
        cases.push((content[..cut].to_vec(), known));
    }
    let mut changed = content.clone();
    changed[footer + 30] ^= 0x10;
    cases.push((changed, "the footer is damaged: checksum mismatch"));
    cases.push(([content.as_slice(), b"more"].concat(), "trailing data after the footer"));
    for (content, reason) in cases {
        let path = folder.file("t.wl", &content);
        let e = fault(&path);
        says(&e, &["the file is damaged; of its 5,000 requests none is known to be lost:", reason]);
        says(&e, &["t.wl:skip=bad reads them; ", "t.wl` lists the damage"]);
        let found = inspect(&path).unwrap();
        assert_eq!((found.unusable.count, found.unusable.places, found.requests), (0, 1, 5000));
        let shown = render_inspection(&found);
        assert!(shown.contains("damaged, but none of its requests is known to be lost:"), "{shown}");
        assert!(shown.contains(reason), "{shown}");
        assert_eq!(all(&format!("{path}:skip=bad")).len(), 5000);
    }
}

/// A footer that counts more requests than are there says how many are lost.
#[test]
fn block_that_is_missing_counts_by_the_footer() {
    let folder = Folder::new();
    let content = packed(&folder);
    let block = |n: usize| content.windows(4).enumerate().filter(|(_, w)| w == b"BLK1").nth(n).unwrap().0;
    let path = folder.file("t.wl", &[&content[..block(0)], &content[block(1)..]].concat());
    says(&fault(&path), &["4,096 of 5,000 records cannot be used", "the footer counts 5,000 requests in 2"]);
}

#[test]
fn number_of_requests_is_not_zero() {
    let folder = Folder::new();
    let path = folder.file("t.csv", msr(50).as_bytes());
    says(&fault(&format!("{path}:requests=0")), &["the number of requests is 0", "1 or more"]);
}

#[test]
fn duration_of_zero_is_refused() {
    let folder = Folder::new();
    let path = folder.file("t.csv", msr(50).as_bytes());
    says(&fault(&format!("{path}:duration=0s")), &["a duration of 0 s leaves no requests"]);
}

#[test]
fn mostly_unusable_lines_are_not_skipped_away() {
    let folder = Folder::new();
    let bad = "128166373000000000,srv,0,Read,4096,0,1\n".repeat(60);
    let path = folder.file("t.csv", format!("{}{bad}", msr(50)).as_bytes());
    says(&fault(&format!("{path}:skip=bad")), &["60 lines cannot be used and only 50 can"]);
}

#[test]
fn backward_time_is_refused_with_both_times_or_clamped() {
    let folder = Folder::new();
    let path = folder.file(
        "t.csv",
        b"128166372000000100,s,0,Read,0,4096,1\n128166372000000050,s,0,Read,0,4096,1\n128166372000000200,s,0,Read,0,4096,1\n",
    );
    let e = fault(&path);
    says(
        &e,
        &["t.csv:2", "12,816,637,200,000,005,000 ns", "12,816,637,200,000,010,000 ns", "backwards=clamp"],
    );
    let arrivals: Vec<u64> = all(&format!("{path}:backwards=clamp")).iter().map(|r| r.arrival.0).collect();
    assert_eq!(arrivals, [0, 0, 10_000]);
    assert_eq!(inspect(&path).unwrap().backwards.count, 1);
}

#[test]
fn ambiguous_file_asks_then_reads_as_told() {
    let folder = Folder::new();
    let path = folder.file("t.trace", b"0 0 0 8 0\n1000 0 8 8 1\n2500 0 16 8 0\n");
    let e = fault(&path);
    assert_eq!(e.kind(), ErrorKind::Ambiguous);
    says(&e, &["time=ns", "time=us", "time=ms", "requests/s", "choose one of them"]);
    let us = all(&format!("{path}:time=us"));
    assert_eq!(us.iter().map(|r| r.arrival.0).collect::<Vec<_>>(), [0, 1_000_000, 2_500_000]);
    let reversed = all(&format!("{path}:op=0:read,time=us,unit=byte,skip=bad"));
    assert_eq!(reversed[0].op, wordline_units::HostOp::Read);
    assert_eq!((reversed[1].lba.0, reversed[1].blocks), (0, 1));
    assert_eq!(inspect(&format!("{path}:time=us,unit=byte")).unwrap().unaligned, 3);
}

#[test]
fn all_mistakes_of_a_traces_text_come_at_once() {
    let folder = Folder::new();
    let path = folder.file("t.csv", msr(10).as_bytes());
    let e = fault(&format!("{path}:fit=wrp,speeedup=2,closed=0,requests=0"));
    assert_eq!(e.problems().len(), 4, "{e}");
    says(&e, &["did you mean \"wrap\"", "did you mean \"speedup\"", "closed=0"]);
    says(&fault(&format!("{path}:event=Q")), &["msr has no option event"]);
    says(&fault(&format!("{path}:volume=srv.1")), &["unknown volume", "srv.0"]);
    says(&fault(&format!("{path}:format=five-columns")), &["not five-columns"]);
    says(&fault(&format!("{path}:format=mrs")), &["did you mean \"msr\""]);
    says(&fault(&format!("{path}:nonsense")), &["not key=value"]);
}

#[test]
fn pace_and_bounds_apply_to_traces() {
    let folder = Folder::new();
    let path = folder.file("t.csv", msr(1_000).as_bytes());
    let fast = all(&format!("{path}:speedup=2.5"));
    assert_eq!(fast[999].arrival.0, 999 * 400_000);
    assert_eq!(all(&format!("{path}:requests=10")).len(), 10);
    assert_eq!(all(&format!("{path}:duration=100ms")).len(), 100);
    assert_eq!(all(&format!("{path}:duration=100ms,speedup=2")).len(), 200);
    let written = all(&format!("{path}:bytes=40KiB"));
    assert_eq!(written.iter().filter(|r| r.op == wordline_units::HostOp::Write).count(), 10);
    let w = parse(&format!("{path}:closed=8x2")).unwrap();
    assert_eq!(w.pacing(), Pacing::Closed { queue_depth: 8, threads: 2 });
    assert!(w.open(DRIVE).unwrap().all(|r| r.unwrap().arrival.0 == 0));
    let w = Trace::parse(&path, Overrides { requests: Some(7), fit: None }).unwrap();
    assert_eq!(w.open(DRIVE).unwrap().count(), 7);
}

#[test]
fn a_name_with_colons_is_still_a_file() {
    let folder = Folder::new();
    let path = folder.file("a:b=c.csv", msr(10).as_bytes());
    assert_eq!(all(&path).len(), 10);
    assert_eq!(all(&format!("{path}:requests=3")).len(), 3);
}

#[test]
fn the_hash_of_the_input_is_that_of_the_file() {
    let folder = Folder::new();
    let path = folder.file("t.csv", b"128166372000000100,s,0,Read,0,4096,1\n");
    let i: Inspection = inspect(&path).unwrap();
    assert_eq!(i.sha256, parse(&path).unwrap().resolved()["sha256"]);
    assert_eq!(i.sha256.len(), 64);
    let bounded = parse(&format!("{path}:requests=1")).unwrap();
    assert_eq!(bounded.resolved()["sha256"], i.sha256);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_spooled_and_can_be_opened_twice() {
    let folder = Folder::new();
    let fifo = folder.0.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        move || std::fs::write(fifo, ENCODERS[3].1(msr(2_000).as_bytes())).unwrap()
    });
    let w = parse(fifo.to_str().unwrap()).unwrap();
    writer.join().unwrap();
    assert_eq!(w.open(DRIVE).unwrap().count(), 2_000);
    assert_eq!(w.open(DRIVE).unwrap().count(), 2_000);
}

/// The folder of temporary files is that of the process, so the test runs itself in another.
#[cfg(unix)]
#[test]
fn a_pipe_that_cannot_be_spooled_names_folder_and_tmpdir() {
    const NOWHERE: &str = "/nowhere/at-all";
    if std::env::temp_dir() == Path::new(NOWHERE) {
        let fifo = std::env::var("WORDLINE_TEST_FIFO").unwrap();
        let writer = std::thread::spawn({
            let fifo = fifo.clone();
            move || std::fs::write(fifo, b"128166372000000100,s,0,Read,0,4096,1\n")
        });
        println!("{}", parse(&fifo).unwrap_err());
        let _ = writer.join().unwrap();
        return;
    }
    let folder = Folder::new();
    let fifo = folder.0.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let again = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["a_pipe_that_cannot_be_spooled", "--nocapture"])
        .env("TMPDIR", NOWHERE)
        .env("WORDLINE_TEST_FIFO", &fifo)
        .output()
        .unwrap();
    let said = String::from_utf8(again.stdout).unwrap();
    assert!(
        said.contains("cannot be spooled to a temporary file in /nowhere/at-all: No such file"),
        "{said}"
    );
    assert!(said.contains("set TMPDIR to a folder with room for all of the input"), "{said}");
}

/// Puts a file through everything; the outcome does not matter, a panic does.
fn exercise(path: &Path) {
    let path = path.to_str().unwrap();
    let mut texts = vec![path.to_string(), format!("{path}:time=us,unit=byte,skip=bad,backwards=clamp")];
    for format in FORMATS {
        let own = format.example.options;
        texts.push(format!("{path}:format={},skip=bad,backwards=clamp,fit=wrap{own}", format.name));
        texts.push(format!(
            "{path}:format={},skip=bad,backwards=clamp,fit=compact,speedup=0.1{own}",
            format.name
        ));
    }
    for text in texts {
        if let Ok(i) = inspect(&text) {
            assert!(!render_inspection(&i).is_empty());
        }
        if let Ok(w) = parse(&text) {
            for drive in [DRIVE, DriveShape { logical_bytes: 1 << 20, ..DRIVE }] {
                let Ok(stream) = w.open(drive) else { continue };
                let mut last = 0;
                for r in stream.map_while(Result::ok) {
                    assert!((r.lba.0 + r.blocks as u64) * 512 <= drive.logical_bytes);
                    assert!(r.arrival.0 >= last);
                    last = r.arrival.0;
                }
            }
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let five: String =
        (0..30).map(|i| format!("{}.{} {} {} {} {}\n", i, i % 10, i % 3, i * 8, 8, i % 2)).collect();
    let csv: String = (0..30u64)
        .map(|i| format!("1,{},{},4096,{}\n", i * 10, if i.is_multiple_of(2) { "2a" } else { "28" }, i))
        .collect();
    let mut v1 = Vec::new();
    let mut v2 = Vec::new();
    for i in 0..30u64 {
        let head = |cmd: u16, ver: u16| [cmd.to_le_bytes(), ver.to_le_bytes()].concat();
        let tail = [(i * 8).to_le_bytes(), (i * 1000).to_le_bytes()].concat();
        let middle = [(i as u32).to_le_bytes(), 4096u32.to_le_bytes(), 1u32.to_le_bytes()].concat();
        v1.extend([middle.clone(), head(0x2a, 0x100), tail.clone()].concat());
        v2.extend([head(0x35, 0x200), middle, tail, 5u64.to_le_bytes().to_vec()].concat());
    }
    let mut seeds = vec![
        msr(30).into_bytes(),
        five.into_bytes(),
        format!("version,time,op,size,lbn\n{csv}").into_bytes(),
        v1,
        v2,
    ];
    let packed: Vec<_> = ENCODERS.iter().map(|(_, encode)| encode(msr(30).as_bytes())).collect();
    seeds.extend(packed);
    seeds
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn no_reader_panics_on_random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let folder = Folder::new();
        exercise(Path::new(&folder.file("f", &bytes)));
    }

    #[test]
    fn no_reader_panics_on_random_columns(
        cells in prop::collection::vec("[0-9]{1,21}|-?[0-9.]{1,12}|Read|Write|2a|28|0|1|8|[a-z]{1,4}", 1..120),
        separator in prop::sample::select(vec![",", " ", "\t"]),
        columns in prop::sample::select(vec![5usize, 7]),
    ) {
        let text: String = cells.chunks(columns).map(|row| format!("{}\n", row.join(separator))).collect();
        let folder = Folder::new();
        exercise(Path::new(&folder.file("f", text.as_bytes())));
    }

    #[test]
    fn no_reader_panics_on_a_damaged_trace(
        seed in 0usize..10,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = seeds().swap_remove(seed);
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let folder = Folder::new();
        exercise(Path::new(&folder.file("f", &bytes)));
    }
}
