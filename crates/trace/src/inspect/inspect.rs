//! `wordline trace inspect`: format and contents of a trace, as data and as text. Unlike a run, it does not
//! stop at unusable lines, because its purpose is to show them.

use crate::error::WorkloadError;
use crate::inspect::profile::{Arrivals, HitRatio, Profile, Reuse};
use crate::reading::detection::Confidence;
use crate::reading::record::Position;
use crate::requests::stream::Overrides;
use crate::source::compression::Compression;
use crate::trace::scan::{Backwards, Unusable};
use crate::trace::spelling::{Parts, check_is_there, parts};
use crate::trace::trace::Trace;
use serde::Serialize;
use std::collections::BTreeMap;
use wordline_units::{HostOp, LBA_BYTES};

pub(crate) const GIB: f64 = (1u64 << 30) as f64;
pub(crate) const PAGE: u64 = 4096;

/// One volume of a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VolumeInfo {
    /// Its name in the file.
    pub label: String,
    /// Its requests.
    pub requests: u64,
    /// One past the highest touched byte.
    pub highest_bytes: u64,
    /// Its offset when volumes are concatenated.
    pub base_bytes: u64,
}

/// Requests in a class of sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SizeClass {
    /// Upper limit of the class in bytes; the lower limit is half of it.
    pub up_to_bytes: u64,
    /// Reads in the class.
    pub reads: u64,
    /// Writes in the class.
    pub writes: u64,
}

/// Displayed cache sizes, in percent of the footprint.
pub(crate) const CACHE_SHARES: [u64; 6] = [1, 2, 5, 10, 20, 50];

/// Hit rates of an LRU cache of 4 KiB pages for reads and writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CacheInfo {
    /// The share of pages from which they are estimated; 1 is exact.
    pub sampled_pages: f64,
    /// By cache size: 1, 2, 5, 10, 20 and 50 percent of the footprint.
    pub hits: Vec<HitRatio>,
}

/// Everything that `trace inspect` reports.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Inspection {
    /// The file as given.
    pub file: String,
    /// Its size on disk.
    pub file_bytes: u64,
    /// SHA-256 of the file on disk.
    pub sha256: String,
    /// The name of the format.
    pub format: String,
    /// How certain the format is.
    pub confidence: Confidence,
    /// The reason for it.
    pub reason: String,
    /// The options of the format, given or detected.
    pub options: BTreeMap<String, String>,
    /// Keys of the given options. The others were detected.
    pub told: Vec<String>,
    /// How the file is compressed.
    pub compression: Compression,
    /// Total number of requests.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Writes with force unit access. A run completes them when their data are on flash.
    pub fua_writes: u64,
    /// Writes that belong to a stream, by which schemes with streams separate data.
    pub stream_writes: u64,
    /// Seconds from the first request to the last.
    pub span_s: f64,
    /// Share of writes in reads and writes.
    pub write_fraction: f64,
    /// Mean size of a read.
    pub mean_read_kib: f64,
    /// Mean size of a write.
    pub mean_write_kib: f64,
    /// Total read.
    pub read_gib: f64,
    /// Total written.
    pub write_gib: f64,
    /// Distinct 4 KiB pages touched by reads or writes, in GiB. Each volume counts separately.
    pub footprint_gib: f64,
    /// Distinct 4 KiB pages touched by writes, in GiB.
    pub written_footprint_gib: f64,
    /// Highest address on any volume.
    pub highest_address_gib: f64,
    /// Highest address with concatenated volumes: the size of a drive on which the trace needs no fit.
    pub address_space_gib: f64,
    /// Mean requests per second over the span.
    pub requests_per_s: f64,
    /// The longest pause.
    pub largest_gap_s: f64,
    /// The request that ended it.
    pub largest_gap_at: Option<Position>,
    /// The file of that request, if the trace has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_gap_in: Option<String>,
    /// Requests by size, in classes of powers of two.
    pub sizes: Vec<SizeClass>,
    /// The volumes, in order of appearance.
    pub volumes: Vec<VolumeInfo>,
    /// Requests that were rounded to whole blocks of 512 bytes.
    pub unaligned: u64,
    /// Requests earlier than a previous one.
    pub backwards: Backwards,
    /// Requests that were earlier than a previous one in the file, and have been sorted.
    pub reordered: u64,
    /// Whether the text ends without a newline, so that its last number may have been cut.
    pub open_end: bool,
    /// Files that are read as one trace.
    pub files: u64,
    /// Files of a folder or archive that are not part of the trace.
    pub left_out: Vec<String>,
    /// Parts of the format that are not requests.
    pub asides: u64,
    /// Unusable lines.
    pub unusable: Unusable,
    /// How bursty arrivals are.
    pub arrivals: Arrivals,
    /// Hits of an LRU cache; absent without reads and writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheInfo>,
    /// What a run assumes where the trace does not state it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Why a run would reject the trace without options. Empty if it would not.
    pub refusals: Vec<String>,
}

/// Inspects a trace: `FILE`, `FILE:option=value,...` or `-`.
///
/// # Errors
///
/// A file that cannot be read or recognized. Unusable lines are part of the result, not errors.
pub fn inspect(text: &str) -> Result<Inspection, WorkloadError> {
    inspect_profiled(text).map(|(inspection, _)| inspection)
}

/// The same, with the data of its pictures, which are absent without reads and writes.
///
/// # Errors
///
/// Those of [`inspect`].
pub fn inspect_profiled(text: &str) -> Result<(Inspection, Option<Profile>), WorkloadError> {
    let Parts { head, options } = parts(text);
    check_is_there(head, &[])?;
    let trace = Trace::load(head, options, Overrides::default(), true)?;
    let profile = Profile::of(&trace)?;
    let (source, identified, scan, bases, sha256) = trace.parts();
    let op = |op: HostOp| (scan.count[op as usize], scan.bytes[op as usize]);
    let ((reads, read_bytes), (writes, write_bytes)) = (op(HostOp::Read), op(HostOp::Write));
    let ratio = |a: f64, b: u64| if b == 0 { 0.0 } else { a / b as f64 };
    let span_s = scan.span_ns() as f64 / 1e9;
    let pages = |written: bool| -> u64 {
        scan.volumes.iter().map(|v| if written { &v.pages.written } else { &v.pages.all }.count()).sum()
    };
    let volumes: Vec<VolumeInfo> = scan
        .volumes
        .iter()
        .zip(bases)
        .filter(|(v, _)| v.requests > 0)
        .map(|(v, base)| VolumeInfo {
            label: v.label.clone(),
            requests: v.requests,
            highest_bytes: v.end.saturating_mul(LBA_BYTES),
            base_bytes: base.saturating_mul(LBA_BYTES),
        })
        .collect();
    let class = |n: usize| SizeClass {
        up_to_bytes: LBA_BYTES << n,
        reads: scan.sizes[0][n],
        writes: scan.sizes[1][n],
    };
    let gib = |bytes: u64| bytes as f64 / GIB;
    let cache = profile.as_ref().map(|p| CacheInfo::of(&p.reuse));
    let inspection = Inspection {
        file: source.label().to_string(),
        file_bytes: source.file_bytes(),
        sha256: sha256.to_string(),
        format: identified.format.name.to_string(),
        confidence: identified.confidence,
        reason: identified.reason.clone(),
        options: identified.settings.iter().map(|(k, v)| (k.to_string(), v.clone())).collect(),
        told: identified.told.iter().map(|key| key.to_string()).collect(),
        compression: source.compression(),
        requests: scan.requests,
        reads,
        writes,
        trims: op(HostOp::Trim).0,
        flushes: op(HostOp::Flush).0,
        fua_writes: scan.fua,
        stream_writes: scan.in_streams,
        span_s,
        write_fraction: ratio(writes as f64, reads + writes),
        mean_read_kib: ratio(read_bytes as f64 / 1024.0, reads),
        mean_write_kib: ratio(write_bytes as f64 / 1024.0, writes),
        read_gib: gib(read_bytes),
        write_gib: gib(write_bytes),
        footprint_gib: gib(pages(false) * PAGE),
        written_footprint_gib: gib(pages(true) * PAGE),
        highest_address_gib: gib(volumes.iter().map(|v| v.highest_bytes).max().unwrap_or(0)),
        address_space_gib: gib(volumes
            .iter()
            .map(|v| v.base_bytes.saturating_add(v.highest_bytes))
            .max()
            .unwrap_or(0)),
        requests_per_s: if span_s > 0.0 { scan.requests as f64 / span_s } else { 0.0 },
        largest_gap_s: scan.largest_gap_ns as f64 / 1e9,
        largest_gap_at: scan.largest_gap_at,
        largest_gap_in: scan.largest_gap_in.clone(),
        sizes: (0..32).map(class).filter(|c| c.reads + c.writes > 0).collect(),
        volumes,
        unaligned: scan.rounded,
        backwards: scan.backwards.clone(),
        reordered: scan.reordered,
        open_end: scan.open_end,
        files: source.parts().len() as u64,
        left_out: identified.left_out.iter().map(|(name, reason)| format!("{name}: {reason}")).collect(),
        asides: scan.asides,
        unusable: scan.unusable.clone(),
        remarks: trace.remarks(),
        refusals: trace
            .judge()
            .err()
            .map_or_else(Vec::new, |e| e.problems().iter().map(|p| p.to_string()).collect()),
        arrivals: profile.as_ref().map(|p| p.arrivals).unwrap_or_default(),
        cache,
    };
    Ok((inspection, profile))
}

impl CacheInfo {
    fn of(reuse: &Reuse) -> CacheInfo {
        let footprint = reuse.pages * PAGE;
        let shares = CACHE_SHARES.map(|percent| footprint as u128 * percent as u128 / 100);
        let hits = shares.map(|bytes| reuse.hits_at((bytes as u64 / PAGE).max(1) * PAGE));
        CacheInfo { sampled_pages: reuse.sampled, hits: hits.to_vec() }
    }
}
