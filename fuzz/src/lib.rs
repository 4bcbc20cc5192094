//! Can input crash it? One function for each way in: device files, the spellings of schemes,
//! workloads and initial states, fio job files, files of twins, trace files, as found and as told, and what a client of a
//! served drive sends. Whatever the input, nothing
//! may panic, and what is accepted must be written as it is read, and run.
//!
//! The outcome of an input is nothing: a target returns, or panics and has found something. The
//! input then goes to `regressions/`, where a test keeps trying it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use wordline_device::{DeviceSpec, describe};
use wordline_ftl::{Initial, Mapped};
use wordline_run::{Filled, InitialSpec};
use wordline_sim::{Device, NoProbe};
use wordline_trace::{Compression, DriveShape, FORMATS, Overrides, format_named, inspect, render_inspection};
use wordline_units::{HostOp, HostRequest};
use wordline_workload::{Workload, synthetic_named};

/// The targets but for the trace formats, each of which is one under its own name.
const OWN: [&str; 8] = ["device", "scheme", "workload", "initial", "trace", "job-file", "twin-file", "nbd"];

/// Every target there is.
pub fn targets() -> Vec<&'static str> {
    OWN.into_iter().chain(FORMATS.iter().map(|f| f.name)).collect()
}

/// Inputs of a target that lie in no folder: the example of a trace format.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    format_named(target).map(|format| format.example.pieces().concat()).into_iter().collect()
}

/// Try an input on a target.
///
/// # Panics
/// When there is no such target, and when the input has found something.
pub fn run(target: &str, data: &[u8]) {
    let text = || std::str::from_utf8(data);
    match target {
        "device" => text().map_or((), device),
        "scheme" => text().map_or((), scheme),
        "workload" => text().map_or((), workload),
        "initial" => text().map_or((), initial),
        "trace" => trace(data, ""),
        "job-file" => own_file(data, ".fio"),
        "twin-file" => own_file(data, ".toml"),
        "nbd" => nbd(data),
        name => {
            let format = format_named(name);
            let Some(format) = format else { panic!("{name:?} is none of the targets {:?}", targets()) };
            let (format, told) = (format.name, format.example.options);
            trace(data, &format!(":format={format},skip=bad,backwards=clamp,fit=wrap{told}"));
            trace(data, &format!(":format={format},skip=bad,backwards=sort,fit=compact{told}"));
        }
    }
}

/// An error for a user says something.
fn said(error: impl std::fmt::Display) {
    assert!(!error.to_string().trim().is_empty(), "an error says nothing");
}

fn device(text: &str) {
    let spec = match wordline_device::from_toml(text, "fuzz.toml", &[]) {
        Ok(spec) => spec,
        Err(e) => return said(e),
    };
    let again = wordline_device::checked(&spec, "again.toml")
        .unwrap_or_else(|e| panic!("written back it is refused: {e}"));
    assert!(again == spec, "written back it is another: {again:?} after {spec:?}");
    assert!(!describe(&spec).is_empty(), "a device without a description");
    for entry in wordline_schemes::all() {
        work(&spec, &entry.name, &Initial::fresh());
    }
}

fn scheme(text: &str) {
    if let Err(e) = wordline_schemes::build(text) {
        return said(e);
    }
    for spec in small_devices() {
        work(&spec, text, &Initial::fresh());
    }
}

fn initial(text: &str) {
    let spec: InitialSpec = match text.parse() {
        Ok(spec) => spec,
        Err(e) => return said(e),
    };
    let again: InitialSpec = spec.to_string().parse().unwrap_or_else(|e| panic!("written back: {e}"));
    assert!(again == spec, "{spec} is written as it is not read");
    for device in small_devices() {
        let pages = (device.logical_bytes() / device.unit.0) as u32;
        let mapped = match spec.filled {
            Filled::Fresh => 0,
            Filled::Preload(_) => pages / 2,
            Filled::Share(share) | Filled::Steady(share) | Filled::Windows(share) => {
                share.of(pages as u64) as u32
            }
        };
        work(&device, "conventional", &spec.holding(Mapped::First(mapped), vec![]));
    }
}

/// What a served drive hears: no request reaches past its end, and answers are bounded by what was sent.
fn nbd(data: &[u8]) {
    const SIZE: u64 = 1 << 20;
    let heard = wordline_live::hear(data, SIZE);
    for range in &heard.asked {
        assert!(
            range.start <= range.end && range.end <= SIZE,
            "a drive of {SIZE} bytes is asked for {range:?}"
        );
    }
    heard.refused.iter().chain(&heard.broken).for_each(said);
    // An option has a head of 16 bytes, and is answered in a few hundred.
    assert!(heard.answered <= 1024 + data.len() / 16 * 1024, "{} bytes are answered", heard.answered);
}

/// The drives of the golden table.
fn small_devices() -> impl Iterator<Item = DeviceSpec> {
    let files = [
        include_str!("../../crates/run/tests/golden/hybrid.toml"),
        include_str!("../../crates/run/tests/golden/dynamic.toml"),
    ];
    files
        .into_iter()
        .map(|text| wordline_device::from_toml(text, "golden", &[]).unwrap_or_else(|e| panic!("{e}")))
}

/// Blocks and pages of a drive that is small enough to be tried.
const MOST: u64 = 1 << 14;

/// Some requests on a small drive; refusals are answers.
fn work(spec: &DeviceSpec, scheme: &str, initial: &Initial) {
    let Ok(geometry) = spec.geometry() else { return };
    let units = spec.logical_bytes() / spec.unit.0;
    if geometry.blocks as u64 > MOST || units > MOST {
        return;
    }
    let Ok(built) = wordline_schemes::build(scheme) else { return };
    let Ok(mut device) = Device::<NoProbe>::new(spec, &geometry, built, NoProbe) else { return };
    match device.ftl_mut().setup().precondition(initial, 1) {
        Ok(()) => {}
        Err(e) => return said(e),
    }
    let all = spec.logical_bytes() / 512;
    let mut at = device.now();
    for i in 0..48u64 {
        let first = i * 7919 % all;
        let length = (1 + i % 9).min(all - first) as u32;
        let op = match i % 8 {
            0..=4 => HostOp::Write,
            5 | 6 => HostOp::Read,
            _ => HostOp::Trim,
        };
        at.0 += i % 3 * 20_000;
        device.submit(HostRequest::new(op, first, length).at(at), at).unwrap_or_else(|e| panic!("{e}"));
        while device.poll().is_some() {}
    }
    device.drain().unwrap_or_else(|e| panic!("{e}"));
    device.ftl_mut().tables().check().unwrap_or_else(|e| panic!("{e}"));
}

const DRIVES: [DriveShape; 2] = [
    DriveShape { logical_bytes: 64 << 30, sector_bytes: 4096, unit_bytes: 16_384 },
    DriveShape { logical_bytes: 1 << 20, sector_bytes: 512, unit_bytes: 4096 },
];

/// Requests of a stream that are looked at.
const LOOKED_AT: usize = 300;

fn workload(text: &str) {
    // Any other text may be the name of a file.
    let head = text.split(':').next().unwrap_or_default();
    if synthetic_named(head).is_none() || std::path::Path::new(text).exists() {
        return;
    }
    parsed(text);
}

fn stream(workload: &Workload) {
    assert!(workload.resolved().is_object(), "a workload that cannot be written down");
    for drive in DRIVES {
        let _ = (workload.limit(drive), workload.pacing());
        let requests = match workload.open(drive, 1) {
            Ok(requests) => requests,
            Err(e) => {
                said(e);
                continue;
            }
        };
        let mut last = 0;
        for request in requests.take(LOOKED_AT) {
            let r = match request {
                Ok(r) => r,
                Err(e) => return said(e),
            };
            let end = (r.lba.0 + r.blocks as u64) * 512;
            assert!(end <= drive.logical_bytes, "{r:?} ends beyond the drive");
            assert!(r.arrival.0 >= last, "{r:?} arrives before the request ahead of it");
            assert!(r.blocks > 0 || r.op == HostOp::Flush, "{r:?} covers nothing");
            last = r.arrival.0;
        }
    }
}

fn trace(data: &[u8], options: &str) {
    if !unpacks_small(data) {
        return;
    }
    with_file(data, "", |name| {
        let text = format!("{name}{options}");
        match inspect(&text) {
            Ok(found) => assert!(!render_inspection(&found).is_empty(), "an inspection that shows nothing"),
            Err(e) => said(e),
        }
        parsed(&text);
    });
}

/// A workload that is a file of its own kind, told by the end of its name or by its content.
fn own_file(data: &[u8], suffix: &'static str) {
    with_file(data, suffix, parsed);
}

fn parsed(text: &str) {
    match Workload::parse(text, Overrides::default()) {
        Ok(workload) => stream(&workload),
        Err(e) => said(e),
    }
}

/// Do something with the name of a file that holds the input.
fn with_file(data: &[u8], suffix: &'static str, what: impl FnOnce(&str)) {
    thread_local! {
        static FILES: RefCell<BTreeMap<&'static str, tempfile::NamedTempFile>> =
            const { RefCell::new(BTreeMap::new()) };
    }
    FILES.with_borrow_mut(|files| {
        let fresh = || {
            let file = tempfile::Builder::new().suffix(suffix).tempfile();
            file.unwrap_or_else(|e| panic!("a temporary file: {e}"))
        };
        let file = files.entry(suffix).or_insert_with(fresh);
        std::fs::File::create(file.path())
            .and_then(|mut f| f.write_all(data))
            .unwrap_or_else(|e| panic!("a temporary file: {e}"));
        what(&file.path().display().to_string());
    });
}

/// Whether a file is short when it is unpacked, and needs little memory for it: a bomb costs time and
/// finds nothing.
fn unpacks_small(data: &[u8]) -> bool {
    const MOST_BYTES: u64 = 256 << 10;
    const MOST_MEMORY: u64 = 32 << 20;
    let unpacked: Box<dyn Read + '_> = match Compression::of(data) {
        Compression::Plain => return data.len() as u64 <= MOST_BYTES,
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(data)),
        Compression::Lz4 => Box::new(lz4_flex::frame::FrameDecoder::new(data)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(data)),
        Compression::Xz => {
            let flags = liblzma::stream::CONCATENATED;
            match liblzma::stream::Stream::new_stream_decoder(MOST_MEMORY, flags) {
                Ok(stream) => Box::new(liblzma::bufread::XzDecoder::new_stream(data, stream)),
                Err(_) => return false,
            }
        }
        Compression::Zstd => match zstd::stream::read::Decoder::with_buffer(data) {
            Ok(mut decoder) => match decoder.window_log_max(24) {
                Ok(()) => Box::new(decoder),
                Err(_) => return false,
            },
            Err(_) => return false,
        },
    };
    let mut bytes = vec![];
    match unpacked.take(MOST_BYTES + 1).read_to_end(&mut bytes) {
        Ok(_) => bytes.len() as u64 <= MOST_BYTES,
        // A damaged stream is short, or one that needs too much memory, which no trace does.
        Err(e) => !e.to_string().contains("memory") && bytes.len() as u64 <= MOST_BYTES,
    }
}
