//! Damaged variants of every format: cut anywhere, bytes replaced anywhere, numbers beyond all
//! bounds, other line ends. Each gives the requests that are whole and names the line or byte of
//! what is not; none gives a number that was never in the file.

use tempfile::TempDir;
use wordline_units::{HostOp, HostRequest};
use wordline_workload::{
    DriveShape, ErrorKind, FORMATS, Form, Inspection, Losses, Overrides, Pipeline, Position, Workload,
    inspect,
};

const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 50, sector_bytes: 4096, unit_bytes: 4096 };
const ROWS: u64 = 24;

/// A small, whole file of each format, with addresses below 1 MiB, and the options it is read with.
fn samples() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let rows = |row: &dyn Fn(u64) -> String| (0..ROWS).map(row).collect::<String>().into_bytes();
    let titled = |title: &str, row: &dyn Fn(u64) -> String| [title.as_bytes().to_vec(), rows(row)].concat();
    let word =
        |i: u64, read: &'static str, write: &'static str| if i.is_multiple_of(3) { read } else { write };
    let at = |i: u64| i * 7 % 200;
    let binary = |row: &dyn Fn(u64) -> Vec<u8>| (0..ROWS).flat_map(row).collect::<Vec<u8>>();
    let le = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let vscsi = |version: u16| {
        move |i: u64| {
            let command = if i.is_multiple_of(3) { 0x28u16 } else { 0x2a };
            let kind = [command.to_le_bytes(), (version << 8).to_le_bytes()].concat();
            let tail = [at(i).to_le_bytes(), (1_000 + i * 97).to_le_bytes()].concat();
            match version {
                1 => [le(&[i as u32, 4096, 1]), kind, tail].concat(),
                _ => [kind, le(&[i as u32, 4096, 1]), tail, 5u64.to_le_bytes().to_vec()].concat(),
            }
        }
    };
    let blktrace = |i: u64| {
        let (action, behind) = (if i.is_multiple_of(4) { 1 } else { 7 }, i as u16 % 3 * 4);
        let head = le(&[0x6561_7407, i as u32]);
        let place = [(1_000 + i * 97).to_le_bytes(), at(i).to_le_bytes()].concat();
        let tail = le(&[4096, action | 1 << 17, 99, 8 << 20 | 16, 0]);
        let end = [0u16.to_le_bytes(), behind.to_le_bytes()].concat();
        [head, place, tail, end, vec![0xee; behind as usize]].concat()
    };
    let msr = |i: u64| {
        format!(
            "{},srv,0,{},{},4096,100\n",
            128_166_372_000_000_000 + i * 997,
            word(i, "Read", "Write"),
            at(i) * 512
        )
    };
    vec![
        ("wordline", columns(&rows(&msr)), ""),
        ("vscsi1", binary(&vscsi(1)), ""),
        ("vscsi2", binary(&vscsi(2)), ""),
        ("blktrace", binary(&blktrace), ""),
        (
            "vscsi-csv",
            titled("version,time,op,size,lbn\n", &|i| {
                format!("1,{},{},4096,{}\n", 1_000 + i, word(i, "28", "2a"), at(i))
            }),
            "",
        ),
        ("msr", rows(&msr), ""),
        (
            "systor17",
            titled("Timestamp,Response,IOType,LUN,Offset,Size\n", &|i| {
                format!("1456095145.{:09},0.0008,{},0,{},4096\n", i * 1_000, word(i, "R", "W"), at(i) * 512)
            }),
            "",
        ),
        ("spc", rows(&|i| format!("0,{},4096,{},1.{:06}\n", at(i), word(i, "R", "W"), i)), ""),
        (
            "alibaba",
            rows(&|i| {
                format!("419,{},{},4096,{}\n", word(i, "R", "W"), at(i) * 512, 1_577_808_000_000_046 + i)
            }),
            "",
        ),
        ("tencent", rows(&|i| format!("{},{},8,{},1063\n", 1_538_323_199 + i, at(i), word(i, "0", "1"))), ""),
        (
            "fio-iolog",
            titled("fio version 3 iolog\n0 /dev/sdb add\n0 /dev/sdb open\n", &|i| {
                format!("{} /dev/sdb {} {} 4096\n", i * 10, word(i, "read", "write"), at(i) * 512)
            }),
            "",
        ),
        (
            "blkparse",
            rows(&|i| {
                format!(
                    "  8,16   3 {i:8}     0.{:09}  3645  D   {} {} + 8 [java]\n",
                    i * 1_000,
                    word(i, "R", "WS"),
                    at(i)
                )
            }),
            ",event=D",
        ),
        (
            "etw",
            titled("BeginHeader\n  DiskRead, TimeStamp\nEndHeader\n", &|i| {
                format!(
                    "{}, {}, a.exe ( 812), 5460, 0xfffffa80069d1b30, 0x{:08x}, 0x1000, 6022, 2, 0x060043, 5963, Normal\n",
                    word(i, "DiskRead", "DiskWrite"),
                    46 + i,
                    at(i) * 512
                )
            }),
            "",
        ),
        (
            "fiu",
            rows(&|i| {
                format!(
                    "{} 4253 nfsd {} 8 {} 6 0 d6c75ba46e82326fefa545b57a12e221\n",
                    89_966_522_969_723 + i * 1_000,
                    at(i),
                    word(i, "R", "W")
                )
            }),
            "",
        ),
        (
            "wiscsee",
            rows(&|i| {
                format!(
                    "909 D {} {} 4096 0.{:09} 0.000013 True\n",
                    word(i, "read", "write"),
                    at(i) * 512,
                    i * 1_000
                )
            }),
            "",
        ),
        (
            "five-columns",
            rows(&|i| format!("{} 0 {} 8 {}\n", i * 1_000, at(i), word(i, "1", "0"))),
            ",time=ns,unit=sector",
        ),
        (
            "ftrace",
            rows(&|i| {
                format!(
                    "  java-3645  [003] d..1. 7.{:09}: block_rq_issue: 8,16 {} 4096 () {} + 8 none,0,0 [java]\n",
                    i * 1_000,
                    word(i, "R", "WS"),
                    at(i)
                )
            }),
            ",event=D",
        ),
        (
            "oracle-general",
            binary(&|i| {
                let next = if i + 8 < ROWS { i as i64 + 8 } else { -1 };
                let head = [le(&[100 + i as u32]), (i % 8 * 7_919).to_le_bytes().to_vec()].concat();
                [head, le(&[4096]), next.to_le_bytes().to_vec()].concat()
            }),
            "",
        ),
        ("addresses", rows(&|i| format!("{}\n", at(i) * 512)), ",unit=byte"),
        (
            "csv",
            titled("Time;Op;Offset;Size\n", &|i| {
                format!("0,{:06};{};0x{:x};4096\n", i * 10, word(i, "Read", "Write"), at(i) * 512)
            }),
            ",time=Time:s,op=Op,offset=Offset:hex,size=Size,decimal=comma",
        ),
    ]
}

/// The requests of an MSR trace in Wordline's own format.
fn columns(msr: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    std::fs::write(&path, msr).unwrap();
    let form = Form::of("trace.wl", None, Losses::Refuse).unwrap();
    let mut out = Vec::new();
    Pipeline::read(path.to_str().unwrap()).unwrap().write(&form, &mut out).unwrap();
    out
}

/// Formats whose requests are records of their own. Those of `wordline` are not: a damaged block is
/// lost as a whole, of which its own tests are.
fn has_records(format: &str) -> bool {
    matches!(format, "vscsi1" | "vscsi2" | "blktrace" | "oracle-general")
}

fn is_binary(format: &str) -> bool {
    has_records(format) || format == "wordline"
}

struct Bench {
    folder: TempDir,
}

/// A request but for its volume and the volume's base, which are multiples of 1 MiB.
type Seen = (u64, u64, u32, HostOp);

impl Bench {
    fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    fn text(&self, format: &str, content: &[u8], options: &str) -> String {
        let path = self.folder.path().join("trace");
        std::fs::write(&path, content).unwrap();
        format!("{}:format={format},skip=bad{options}", path.display())
    }

    /// What is read of a content, or why nothing is.
    fn read(
        &self,
        format: &str,
        content: &[u8],
        options: &str,
    ) -> Result<(Vec<Seen>, Inspection), ErrorKind> {
        let text = self.text(format, content, options);
        let found = inspect(&text).map_err(|e| e.kind())?;
        let workload = Workload::parse(&format!("{text},backwards=clamp"), Overrides::default());
        let workload = workload.map_err(|e| e.kind())?;
        let seen = |r: HostRequest| (r.arrival.0, r.lba.0 % 2048, r.blocks, r.op);
        let requests = workload.open(DRIVE, 0).unwrap().map(|r| seen(r.unwrap())).collect();
        Ok((requests, found))
    }
}

/// Where each line or record of a content begins, and its end.
fn starts(format: &str, content: &[u8]) -> Vec<usize> {
    let size = match format {
        "vscsi1" => 32,
        "vscsi2" => 40,
        "oracle-general" => 24,
        _ => 0,
    };
    if size > 0 {
        return (0..=content.len()).step_by(size).collect();
    }
    if format == "blktrace" {
        let mut out = vec![0];
        let mut at = 0;
        while at < content.len() {
            at += 48 + u16::from_le_bytes([content[at + 46], content[at + 47]]) as usize;
            out.push(at);
        }
        return out;
    }
    let newlines = content.iter().enumerate().filter(|(_, c)| **c == b'\n').map(|(i, _)| i + 1);
    [0].into_iter().chain(newlines).collect()
}

#[test]
fn there_is_a_sample_of_every_format_and_it_is_recognised() {
    let bench = Bench::new();
    let samples = samples();
    for format in FORMATS {
        let (_, content, options) = samples.iter().find(|s| s.0 == format.name).unwrap();
        let (requests, found) = bench.read(format.name, content, options).unwrap();
        let all = if format.name == "blktrace" { ROWS * 3 / 4 } else { ROWS };
        assert_eq!((requests.len() as u64, found.unusable.count), (all, 0), "{}", format.name);
        assert!(!found.open_end);
        if !format.must_be_told() && !matches!(format.name, "five-columns" | "addresses") {
            let text = bench.text(format.name, content, options);
            let (path, _) = text.split_once(':').unwrap();
            assert_eq!(inspect(path).unwrap_or_else(|e| panic!("{e}")).format, format.name);
        }
    }
}

#[test]
fn a_file_cut_anywhere_gives_its_whole_requests_and_names_the_rest() {
    let bench = Bench::new();
    for (format, content, options) in samples().into_iter().filter(|s| s.0 != "wordline") {
        let (whole, _) = bench.read(format, &content, options).unwrap();
        let starts = starts(format, &content);
        let from = starts[starts.len() - 4];
        for cut in from..content.len() {
            let (requests, found) = bench.read(format, &content[..cut], options).unwrap();
            let what = format!("{format} cut at {cut} of {}: {:?}", content.len(), found.unusable);
            let common = requests.iter().zip(&whole).take_while(|(a, b)| a == b).count();
            let clean = starts.contains(&cut);
            if clean {
                assert!(common == requests.len() && found.unusable.count == 0 && !found.open_end, "{what}");
            } else if is_binary(format) {
                assert_eq!((common, found.unusable.count), (requests.len(), 1), "{what}");
                let begin = starts.iter().rev().find(|s| **s < cut).unwrap();
                assert_eq!(found.unusable.first[0].at, Position::Byte(*begin as u64), "{what}");
            } else {
                // A last number may have been cut; then the missing newline is pointed at.
                assert!(found.open_end, "{what}");
                let sorted = requests.iter().filter(|r| !whole.contains(r)).count();
                assert!(
                    sorted <= 1 && requests.len() + found.unusable.count as usize <= whole.len(),
                    "{what}"
                );
                for u in &found.unusable.first {
                    let line = starts.iter().filter(|s| **s < cut).count() as u64;
                    assert_eq!(u.at, Position::Line(line), "{what}");
                }
            }
        }
    }
}

#[test]
fn no_damaged_byte_makes_a_request_that_was_not_there() {
    let bench = Bench::new();
    for (format, content, options) in samples().into_iter().filter(|s| !is_binary(s.0)) {
        let (whole, _) = bench.read(format, &content, options).unwrap();
        let starts = starts(format, &content);
        let last = starts.len() - 3..starts.len() - 2;
        let (begin, end) = (starts[last.start], starts[last.end]);
        for at in begin..end - 1 {
            for byte in [0, 0xff, b'\r', b'J', b'-', b'"'] {
                // A return before the newline is the end of a line as Windows writes it.
                if byte == b'\r' && at == end - 2 {
                    continue;
                }
                let mut damaged = content.clone();
                damaged[at] = byte;
                let (requests, found) = bench.read(format, &damaged, options).unwrap();
                let what = format!("{format}, byte {at} is {byte:#x}: {:?}", found.unusable);
                for r in &requests {
                    assert!(whole.contains(r), "{what}: {r:?}");
                }
                // A letter in a name or a column that is not used changes nothing.
                let lost = whole.len() - requests.len();
                let told = found.unusable.count + found.asides;
                assert!(lost <= 1 && told >= lost as u64, "{what}");
                for u in &found.unusable.first {
                    assert_eq!(u.at, Position::Line(starts.len() as u64 - 2), "{what}");
                }
            }
        }
    }
}

#[test]
fn a_number_beyond_all_bounds_is_refused_where_it_matters() {
    let bench = Bench::new();
    for (format, content, options) in samples().into_iter().filter(|s| !is_binary(s.0)) {
        let (whole, _) = bench.read(format, &content, options).unwrap();
        let starts = starts(format, &content);
        let (begin, end) = (starts[starts.len() - 3], starts[starts.len() - 2]);
        let line = std::str::from_utf8(&content[begin..end]).unwrap();
        let mut refused = 0;
        let digits: Vec<_> =
            line.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
        for huge in ["99999999999999999999", "18446744073709551615", "-1", "9e999999999999999999"] {
            for run in digits.chunk_by(|a, b| a + 1 == *b) {
                let damaged = format!("{}{huge}{}", &line[..run[0]], &line[run[run.len() - 1] + 1..]);
                let content = [&content[..begin], damaged.as_bytes(), &content[end..]].concat();
                match bench.read(format, &content, options) {
                    Ok((requests, found)) => {
                        let what = format!("{format}: {damaged} {:?}", found.unusable);
                        assert!(requests.len() + found.unusable.count as usize >= whole.len(), "{what}");
                        // A time may have any number of decimals, so times are left out of account.
                        let place = |r: &Seen| (r.1, r.2, r.3);
                        let known: Vec<_> = whole.iter().map(place).collect();
                        assert!(requests.iter().all(|r| known.contains(&place(r))), "{what}");
                        refused += found.unusable.count;
                    }
                    Err(kind) => {
                        assert_eq!(kind, ErrorKind::Content, "{format}: {damaged}");
                        refused += 1;
                    }
                }
            }
        }
        let least = if format == "addresses" { 4 } else { 6 };
        assert!(refused >= least, "{format}: only {refused} were refused");
    }
}

#[test]
fn line_ends_blank_lines_and_a_missing_newline_change_nothing() {
    let bench = Bench::new();
    for (format, content, options) in samples().into_iter().filter(|s| !is_binary(s.0)) {
        let (whole, _) = bench.read(format, &content, options).unwrap();
        let text = String::from_utf8(content).unwrap();
        for (variant, open_end) in [
            (text.replace('\n', "\r\n"), false),
            (text.replace('\n', "\n\n"), false),
            (text.trim_end().to_string(), true),
        ] {
            let (requests, found) = bench.read(format, variant.as_bytes(), options).unwrap();
            assert!(requests == whole, "{format}: {variant:?}");
            assert_eq!((found.unusable.count, found.open_end), (0, open_end), "{format}");
        }
        let padded = [text.as_bytes(), &[0; 700]].concat();
        let (requests, found) = bench.read(format, &padded, options).unwrap();
        assert_eq!(requests, whole, "{format}");
        assert!(found.unusable.count + found.asides > 0, "{format}: zeros are passed over in silence");
    }
}

#[test]
fn a_binary_record_that_is_no_record_is_named_with_its_byte() {
    let bench = Bench::new();
    // A record of oracle-general has nothing that says it is one.
    for (format, content, options) in
        samples().into_iter().filter(|s| has_records(s.0) && s.0 != "oracle-general")
    {
        let (whole, _) = bench.read(format, &content, options).unwrap();
        let starts = starts(format, &content);
        let begin = starts[starts.len() - 3];
        let (magic, length) = match format {
            "blktrace" => (0, 24),
            "vscsi1" => (15, 4),
            _ => (3, 8),
        };
        for (at, bytes) in [(magic, &[0x77][..]), (length, &[0; 4]), (23, &[0xff])] {
            let mut damaged = content.clone();
            damaged[begin + at..begin + at + bytes.len()].copy_from_slice(bytes);
            let (requests, found) = bench.read(format, &damaged, options).unwrap();
            assert!(requests.iter().all(|r| whole.contains(r)), "{format} at {at}");
            assert_eq!(requests.len() + 1, whole.len(), "{format} at {at}: {:?}", found.unusable);
            assert_eq!(found.unusable.count, 1, "{format} at {at}");
            assert_eq!(found.unusable.first[0].at, Position::Byte(begin as u64), "{format} at {at}");
        }
    }
}
