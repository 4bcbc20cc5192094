//! Where a trace comes from: folders, tar archives, several files, standard forms of tables.

use std::io::Write;
use tempfile::TempDir;
use wordline_trace::{
    DriveShape, ErrorKind, Form, Losses, Overrides, Pipeline, Trace, WorkloadError, inspect,
    render_inspection, with_format,
};
use wordline_units::{HostOp, HostRequest, LatencyHint};

const DRIVE: DriveShape = DriveShape { logical_bytes: 1 << 50, sector_bytes: 4096, unit_bytes: 4096 };

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_string()
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

fn all(text: &str) -> Vec<HostRequest> {
    let w = Trace::parse(text, Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    w.open(DRIVE).unwrap().map(|r| r.unwrap()).collect()
}

fn fault(text: &str) -> WorkloadError {
    Trace::parse(text, Overrides::default()).err().unwrap_or_else(|| panic!("{text} was accepted"))
}

fn says(e: &WorkloadError, words: &[&str]) {
    for word in words {
        assert!(e.to_string().contains(word), "{word:?} is not in: {e}");
    }
}

/// Rows of MSR CSV of a volume, every `step` microseconds from `start`.
fn msr(host: &str, start: u64, step: u64, rows: u64) -> Vec<u8> {
    let row = |i: u64| {
        let ticks = 128_166_372_000_000_000 + (start + i * step) * 10;
        format!("{ticks},{host},0,Write,{},4096,1\n", i * 4096)
    };
    (0..rows).map(row).collect::<String>().into_bytes()
}

/// A blktrace file of a CPU: requests at these times, in nanoseconds.
fn blktrace(times: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    for &time in times {
        out.extend(0x6561_7407u32.to_le_bytes());
        out.extend(1u32.to_le_bytes());
        out.extend(time.to_le_bytes());
        out.extend((time * 8).to_le_bytes());
        for word in [4096u32, 7 | 1 << 17, 99, 8 << 20 | 16, 0, 0] {
            out.extend(word.to_le_bytes());
        }
    }
    out
}

fn tar(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, name, content.as_slice()).unwrap();
    }
    archive.into_inner().unwrap()
}

fn lz4(content: &[u8]) -> Vec<u8> {
    let mut e = lz4_flex::frame::FrameEncoder::new(Vec::new());
    e.write_all(content).unwrap();
    e.finish().unwrap()
}

fn arrivals(requests: &[HostRequest]) -> Vec<u64> {
    requests.iter().map(|r| r.arrival.0).collect()
}

#[test]
fn files_merge_by_time_with_volumes_side_by_side() {
    let folder = Folder::new();
    let a = folder.file("a.csv", &msr("usr", 0, 10, 5));
    let b = folder.file("b.csv.lz4", &lz4(&msr("web", 5, 10, 3)));
    let both = format!("{a}+{b}");
    let requests = all(&both);
    assert_eq!(arrivals(&requests), [0, 5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 40_000]);
    assert_eq!(requests.iter().map(|r| r.volume).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1, 0, 0]);
    let found = inspect(&both).unwrap();
    assert_eq!((found.files, found.volumes.len()), (2, 2));
    assert!(requests.iter().filter(|r| r.volume == 1).all(|r| r.lba.0 * 512 >= found.volumes[1].base_bytes));
    assert_eq!(all(&format!("{both}:volume=web.0")).len(), 3);
    assert_ne!(found.sha256, inspect(&a).unwrap().sha256);
}

#[test]
fn volumes_of_one_name_merge_unless_kept_per_file() {
    let folder = Folder::new();
    let both = format!(
        "{}+{}",
        folder.file("1.csv", &msr("usr", 0, 10, 3)),
        folder.file("2.csv", &msr("usr", 100, 10, 3))
    );
    assert_eq!(inspect(&both).unwrap().volumes.len(), 1);
    let apart = inspect(&format!("{both}:files=by-file")).unwrap();
    let labels: Vec<&str> = apart.volumes.iter().map(|v| v.label.as_str()).collect();
    assert_eq!(labels, ["1.csv/usr.0", "2.csv/usr.0"]);
}

// With gaps among the CPUs.
#[test]
fn folder_and_tar_of_per_cpu_files_read_alike() {
    let folder = Folder::new();
    let cpus = [
        ("sdb.blktrace.0", blktrace(&[1_000, 4_000, 9_000])),
        ("sdb.blktrace.2", blktrace(&[2_000, 3_000])),
        ("sdb.blktrace.7", blktrace(&[500, 10_000])),
        ("sdb.blktrace.8", Vec::new()),
    ];
    let dir = folder.path("traces");
    std::fs::create_dir(&dir).unwrap();
    for (name, content) in &cpus {
        std::fs::write(format!("{dir}/{name}"), content).unwrap();
    }
    let want = [0, 500, 1_500, 2_500, 3_500, 8_500, 9_500];
    assert_eq!(arrivals(&all(&dir)), want);
    let plain = tar(&cpus);
    for content in [plain.clone(), lz4(&plain), zstd::encode_all(plain.as_slice(), 3).unwrap()] {
        let file = folder.file("all.tar", &content);
        assert_eq!(arrivals(&all(&file)), want);
        assert_eq!(inspect(&file).unwrap().volumes.len(), 1);
    }
    std::fs::write(format!("{dir}/notes"), "run on a Tuesday\n").unwrap();
    let found = inspect(&dir).unwrap();
    assert_eq!((found.requests, found.files), (7, 3));
    assert!(found.left_out[0].starts_with("notes: "), "{:?}", found.left_out);
    let torn = folder.file("torn.tar", &plain[..1_600]);
    let e = fault(&torn);
    assert_eq!(e.kind(), ErrorKind::Io);
    says(&e, &["truncated", "sdb.blktrace.2 has 64 of 96 bytes"]);
}

#[test]
fn fault_in_one_of_several_files_names_that_file() {
    let folder = Folder::new();
    let bad = [msr("web", 5, 10, 30), b"128166372000009999,web,0,Write,x,4096,1\n".to_vec()].concat();
    let both = format!("{}+{}", folder.file("a.csv", &msr("usr", 0, 10, 30)), folder.file("b.csv", &bad));
    says(&fault(&both), &["b.csv, line 31: the offset \"x\""]);
    let e = fault(&format!("{}+{}", folder.path("a.csv"), folder.file("c.txt", b"It was a bright day\n")));
    says(&e, &["c.txt", "is not msr"]);
    let packed = lz4(&msr("web", 5, 10, 20_000));
    let e = fault(&format!("{}+{}", folder.path("a.csv"), folder.file("d.lz4", &packed[..packed.len() - 9])));
    says(&e, &["d.lz4", "lz4", "truncated"]);
}

#[test]
fn unordered_files_are_refused_clamped_or_sorted() {
    let folder = Folder::new();
    let text = [msr("usr", 100, 10, 3), msr("usr", 0, 10, 3)].concat();
    let path = folder.file("t.csv", &text);
    says(&fault(&path), &["requests are out of order", "backwards=sort"]);
    assert_eq!(
        arrivals(&all(&format!("{path}:backwards=clamp"))),
        [0, 10_000, 20_000, 20_000, 20_000, 20_000]
    );
    let sorted = format!("{path}:backwards=sort");
    assert_eq!(arrivals(&all(&sorted)), [0, 10_000, 20_000, 100_000, 110_000, 120_000]);
    let found = inspect(&sorted).unwrap();
    assert_eq!((found.reordered, found.backwards.count), (3, 0));
}

/// The recipe of docs/traces.md.
const TABLE: &str = "\
# written by a tool that nobody has heard of
host db-7
Nr;Init Time (s);Kind;Min Offset;Size (KiB);Disk
1;0,000100;Read;0x1000;4;a
2;0,000250;Write;0x2000;8;b
3;0,000300;Barrier;;;a
4;1.000,5;Write;0x0;\"1.024\";a
5;1.000,6;Discard;0x4000;16;b
6;1.000,7;Done;0x4000;16;b
";
const SPELLING: &str = "csv:time=Init Time (s),offset=Min Offset:hex,size=Size (KiB),op=Kind,device=Disk,\
                        flush=Barrier,ignore=Done,decimal=comma,thousands=point";

#[test]
fn unknown_table_is_read_without_code() {
    let folder = Folder::new();
    let path = folder.file("t.csv", TABLE.as_bytes());
    let e = fault(&path);
    assert_eq!(e.kind(), ErrorKind::Format);
    says(&e, &["Nr | Init Time (s) | Kind | Min Offset | Size (KiB) | Disk", "wordline explain csv"]);
    // Its words for what is asked are its own, so that no guess reads it, and none is proposed.
    assert!(!e.to_string().contains("--format"), "{e}");
    let text = with_format(&path, SPELLING);
    let got: Vec<_> = all(&text).iter().map(|r| (r.arrival.0, r.op, r.blocks, r.volume)).collect();
    let want = [
        (0, HostOp::Read, 8, 0),
        (150_000, HostOp::Write, 16, 1),
        (200_000, HostOp::Flush, 0, 0),
        (1_000_499_900_000, HostOp::Write, 2048, 0),
        (1_000_599_900_000, HostOp::Trim, 32, 1),
    ];
    assert_eq!(got, want);
    let found = inspect(&text).unwrap();
    assert_eq!((found.format.as_str(), found.unusable.count, found.asides), ("csv", 0, 3));
    assert_eq!(found.options["delimiter"], "semicolon");
}

#[test]
fn untitled_table_is_read_by_column_numbers() {
    let folder = Folder::new();
    let path = folder.file("t", b"w 4096 8192 17.5\nr 0 4096 18.25\n");
    let text = with_format(&path, "csv:time=#4:ms,offset=#2,end=#3,op=#1,write=w,read=r");
    let got: Vec<_> = all(&text).iter().map(|r| (r.arrival.0, r.op, r.lba.0, r.blocks)).collect();
    assert_eq!(got, [(0, HostOp::Write, 8, 8), (750_000, HostOp::Read, 0, 8)]);
    let always = with_format(&path, "csv:time=#4:s,offset=#2:sector,size=always:16KiB,op=always:write");
    assert!(all(&always).iter().all(|r| (r.op, r.blocks) == (HostOp::Write, 32)));
    let dated = folder
        .file("d", b"when,what,at,len\n2016-02-21 22:52:25.133,WFUA,0,512\n2016-02-21T22:52:26Z,R,0,512\n");
    let text = with_format(&dated, "csv:time=when:date,op=what,offset=at,size=len,fua=WFUA");
    assert_eq!(arrivals(&all(&text)), [0, 867_000_000]);
    assert_eq!(inspect(&text).unwrap().fua_writes, 1);
}

/// A trace written into the folder in another form, and what was left out.
fn converted(
    folder: &Folder,
    text: &str,
    name: &str,
    to: Option<&str>,
    losses: Losses,
) -> Result<(String, Vec<String>), WorkloadError> {
    let form = Form::of(name, to, losses)?;
    let mut out = Vec::new();
    let written = Pipeline::read(text)?.write(&form, &mut out)?;
    Ok((folder.file(name, &out), written.dropped))
}

// Where the format keeps it.
#[test]
fn stream_column_reaches_writes_and_survives_formats() {
    let folder = Folder::new();
    let rows = "at,op,byte,size,lives\n1,W,0,4096,1\n2,R,0,4096,7\n3,WF,4096,512,31\n4,W,0,512,\n5,W,0,512,0\n6,W,0,512,16\n";
    let path = folder.file("t.csv", rows.as_bytes());
    let spelling = "csv:time=at:us,offset=byte,size=size,op=op,fua=WF,stream=lives";
    let streams = |text: &str| -> Vec<_> {
        all(text).iter().map(|r| (r.attributes.stream(), r.attributes.is_fua())).collect()
    };
    // The read has none, whatever stands there.
    let want = [(1, false), (0, false), (31, true), (0, false), (0, false), (16, false)];
    let text = with_format(&path, spelling);
    assert_eq!(streams(&text), want);
    let found = inspect(&text).unwrap();
    assert_eq!(found.stream_writes, 3);
    let told = render_inspection(&found);
    assert!(told.contains("3 of the writes in streams"), "{told}");
    let convert = |name: &str, to: Option<&str>, losses| converted(&folder, &text, name, to, losses);
    let (columns, dropped) = convert("t.wl", None, Losses::Refuse).unwrap();
    assert_eq!((streams(&columns), dropped.len()), (want.to_vec(), 0));
    let (table, dropped) = convert("o.csv", Some("csv:stream=lives"), Losses::Refuse).unwrap();
    let again = "csv:time=Time (ns):ns,offset=Offset,size=Size,op=Op,device=Volume,fua=fua,stream=lives";
    assert_eq!((streams(&with_format(&table, again)), dropped.len()), (want.to_vec(), 0));
    for (name, to) in [("t.blkparse", None), ("p.csv", Some("csv"))] {
        let e = convert(name, to, Losses::Refuse).unwrap_err();
        says(&e, &["the streams of 3 writes", "a format that can represent it: wordline"]);
        let (_, dropped) = convert(name, to, Losses::Drop).unwrap();
        assert_eq!(dropped, ["the streams of 3 writes"]);
    }
    for bad in ["32", "65537", "-1", "1.5", "hot", "99999999999999999999"] {
        let odd = folder.file("odd.csv", rows.replace(",31\n", &format!(",{bad}\n")).as_bytes());
        let want = format!("the stream \"{bad}\" is not 0 to 31 or empty");
        says(&fault(&with_format(&odd, spelling)), &["odd.csv:4", &want]);
    }
}

// Where the format keeps it.
#[test]
fn hint_column_reaches_requests_and_survives_formats() {
    let folder = Folder::new();
    let rows =
        "at us,op,byte,size,urgent\n1,W,0,4096,short\n2,R,0,4096,\n3,WF,4096,512,Long\n4,W,0,512,medium\n";
    let path = folder.file("t.csv", rows.as_bytes());
    let spelling = "csv:time=at us:us,offset=byte,size=size,op=op,fua=WF,hint=urgent";
    let hints = |text: &str| -> Vec<_> {
        all(text).iter().map(|r| (r.attributes.hint(), r.attributes.is_fua())).collect()
    };
    let want = [
        (LatencyHint::Short, false),
        (LatencyHint::None, false),
        (LatencyHint::Long, true),
        (LatencyHint::Medium, false),
    ];
    let text = with_format(&path, spelling);
    assert_eq!(hints(&text), want);
    let convert = |name: &str, to: Option<&str>, losses| converted(&folder, &text, name, to, losses);
    let (columns, dropped) = convert("t.wl", None, Losses::Refuse).unwrap();
    assert_eq!((hints(&columns), dropped.len()), (want.to_vec(), 0));
    let (table, _) = convert("o.csv", Some("csv:hint=urgent"), Losses::Refuse).unwrap();
    let again = "csv:time=Time (ns):ns,offset=Offset,size=Size,op=Op,device=Volume,fua=fua,hint=urgent";
    assert_eq!(hints(&with_format(&table, again)), want);
    let e = convert("t.blkparse", None, Losses::Refuse).unwrap_err();
    says(&e, &["the latency hints of 3 requests", "a format that can represent it: wordline"]);
    let (_, dropped) = convert("t.blkparse", None, Losses::Drop).unwrap();
    assert_eq!(dropped, ["the latency hints of 3 requests"]);
    let odd = folder.file("odd.csv", rows.replace("short", "soon").as_bytes());
    says(&fault(&with_format(&odd, spelling)), &["the hint \"soon\" is not short, medium, long or empty"]);
}

#[test]
fn each_column_naming_mistake_lists_what_is_allowed() {
    let folder = Folder::new();
    let path = folder.file("t.csv", TABLE.as_bytes());
    for (spelling, words) in [
        ("csv", &["needs size=COLUMN"][..]),
        ("csv:offset=Min Offset,size=Size (KiB),op=Kind", &["needs time=COLUMN", "filetime"]),
        (
            "csv:time=Nr,offset=Min Offset:hex,size=Size (KiB),op=Kind,ignore=Done,flush=Barrier,decimal=comma",
            &["several interpretations are possible", "time=Nr:us"],
        ),
        (
            "csv:time=Ini Time (s),offset=Min Offset,size=Size (KiB),op=Kind",
            &["no title row has Ini Time (s)", "did you mean \"Init Time (s)\"?"],
        ),
        ("csv:time=#0:s,offset=#1,size=#2,op=#3", &["\"#0\" is not a column number", "#1 to #4096"]),
        ("csv:time=Nr:s,offset=Nr,size=always:fast,op=Kind", &["\"fast\" is not a size"]),
        ("csv:time=Nr:s,offset=Nr,size=Nr,op=always:seek", &["\"seek\" is not an operation"]),
        ("csv:time=Nr:s,offset=Nr,size=Nr,end=Nr,op=Kind", &["size and end exclude each other"]),
        (
            "csv:time=Nr:s,offset=Nr,size=Nr,op=Kind,thousands=comma,decimal=comma",
            &["decimal and thousands use the same separator"],
        ),
        ("csv:time=Nr:s,offset=Nr,size=Nr,op=Kind,delimiter=dot", &["\"dot\" is not a value of delimiter"]),
        ("csv:time=Nr:s,offset=Nr,sise=Nr,op=Kind", &["did you mean \"size\"?"]),
        (
            "csv:time=Init Time (s),offset=Min Offset:hex,size=Size (KiB),op=Kind",
            &["decimal=comma or thousands=comma"],
        ),
        (
            "csv:time=Init Time (s),offset=Min Offset,size=Size (KiB),op=Kind,decimal=comma,ignore=Barrier/Done",
            &["hexadecimal numbers need COLUMN:hex"],
        ),
        (
            "csv:time=Init Time (s),offset=Min Offset:hex,size=Size (KiB),op=Kind,decimal=comma,thousands=point,ignore=Done",
            &["the op \"Barrier\" is unknown"],
        ),
    ] {
        says(&fault(&with_format(&path, spelling)), words);
    }
}

#[test]
fn ambiguous_file_lists_span_rate_and_footprint() {
    let folder = Folder::new();
    let rows: String = (0..40).map(|i| format!("{} 0 {} 8 {}\n", i * 1_000, i * 8, i % 2)).collect();
    let e = fault(&folder.file("t.trace", rows.as_bytes()));
    assert_eq!(e.kind(), ErrorKind::Ambiguous);
    says(&e, &["time=us     39.0 ms", "requests/s", "from the first 40 requests", "160 KiB"]);
}
