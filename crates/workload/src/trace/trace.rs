//! A trace as a workload: found, recognised, looked through once, and then opened any number of
//! times. Time starts at 0 with the first request, volumes stand side by side, the drive's size is
//! respected as asked.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::formats::detection::Settings;
use crate::formats::format::Order;
use crate::formats::readings::judge_whole;
use crate::formats::record::RecordReader;
use crate::formats::registry::{FORMATS, format_named};
use crate::requests::fit::{DriveShape, Fit, Placement};
use crate::requests::pace::{ByteBound, Depth, Limit, Pacing, Ratio};
use crate::requests::pages::{PageSet, RankedPages};
use crate::requests::stream::{Overrides, RequestStream};
use crate::source::hashing::Hash;
use crate::source::source::Source;
use crate::text::numbers::{grouped, readable_bytes};
use crate::text::parameter::{Options, Parameter, choice, value};
use crate::trace::cursor::{Cursor, Step};
use crate::trace::detect::{Identified, ambiguous, identify, typed};
use crate::trace::joined::{Chained, Identity, Merged, OpenPart};
use crate::trace::scan::{Ask, Scan, place, place_in};
use crate::trace::sorted::Sorted;
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use wordline_units::{Count, HostOp, HostRequest, LBA_BYTES, Lba, SimDuration, SimTime};

/// The options that every trace takes; each format may add its own.
pub static TRACE_OPTIONS: &[Parameter] = &[
    value("format", "word", "by content", "a name from the list of formats", "insists on a format"),
    choice(
        "fit",
        "error",
        "error, wrap, compact",
        &["error", "wrap", "compact"],
        "requests beyond the drive",
    ),
    choice(
        "skip",
        "nothing",
        "bad",
        &["bad"],
        "leaves unusable lines out; their number goes into the report",
    ),
    choice(
        "backwards",
        "sort where the format keeps no order, else error",
        "error, clamp, sort",
        &["error", "clamp", "sort"],
        "a request earlier than the one before: refuse, give it that one's time, or sort all by time",
    ),
    choice(
        "files",
        "by-name",
        "by-name, by-file",
        &["by-name", "by-file"],
        "of several files: volumes of one name are one, or each file's are its own",
    ),
    value(
        "volume",
        "label",
        "all, side by side",
        "a volume that trace inspect lists",
        "takes one volume only",
    ),
    value("speedup", "factor", "1", "a number above 0", "divides arrival times"),
    value(
        "closed",
        "requests",
        "open loop",
        "QD or QDxTHREADS",
        "issues on completion, ignoring arrival times",
    ),
    value("requests", "count", "all", "1 or more", "stops after so many requests"),
    value("duration", "time", "all", "such as 10s", "stops at this simulated time"),
    value("bytes", "size", "all", "such as 10GiB, or 3x the drive", "stops after so many bytes written"),
];

/// What is done about requests that are earlier than one before them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Backwards {
    Refuse,
    Clamp,
    Sort,
}

impl Backwards {
    const fn name(self) -> &'static str {
        match self {
            Backwards::Refuse => "error",
            Backwards::Clamp => "clamp",
            Backwards::Sort => "sort",
        }
    }
}

/// How a trace without a clock is replayed: as deep as an SATA drive's queue.
const WITHOUT_CLOCK: Pacing = Pacing::Closed { queue_depth: 32, threads: 1 };

/// Files that are read side by side; more are read one behind the other, and sorted.
const SIDE_BY_SIDE: usize = 256;

/// What ends a pass over a trace.
pub(crate) struct Bounds {
    /// Time of the first request.
    pub first_time: u64,
    pub requests: u64,
    /// The first time that is too late.
    pub until: Option<u64>,
    /// Whether what cannot be used is stepped over.
    pub skip_bad: bool,
}

/// A trace, ready to be opened.
pub(crate) struct Trace {
    source: Source,
    identified: Identified,
    fit: Fit,
    skip_bad: bool,
    backwards: Backwards,
    identity: Identity,
    volume: Option<String>,
    speedup: Ratio,
    pacing: Pacing,
    /// Whether the pacing was not told, the trace having no clock.
    assumed_pacing: bool,
    requests: Option<u64>,
    duration: Option<SimDuration>,
    bytes: Option<ByteBound>,
    sha256: String,
    scan: Scan,
    bases: Vec<u64>,
    end: u64,
    /// The pages of the last compaction, with the unit they are in.
    compacted: Mutex<Option<(u64, Arc<RankedPages>)>>,
}

impl Trace {
    /// Finds, recognises and looks through a trace. Unusable lines and steps back in time are in
    /// the scan and not yet an error; see [`Trace::judge`].
    pub fn load(file: &str, options: &str, over: Overrides, pages: bool) -> Result<Trace, WorkloadError> {
        let mut o = Options::parse(file, options);
        let format = match o.text("format").map(str::to_string) {
            None => None,
            Some(name) => {
                let found = format_named(&name);
                if found.is_none() {
                    let names = FORMATS.iter().map(|f| f.name);
                    let hint = crate::error::did_you_mean(&name, names.clone());
                    let allowed = names.collect::<Vec<_>>().join(", ");
                    o.reject("format", format!("{name:?} is not a format"), &allowed, &hint);
                }
                found
            }
        };
        let mut known = TRACE_OPTIONS.to_vec();
        let of_formats = FORMATS.iter().filter(|f| match format {
            Some(told) => told.name == f.name,
            None => !f.must_be_told(),
        });
        known.extend(of_formats.flat_map(|f| f.parameters));
        o.check_known(&known);
        let fit = over.fit.or(o.text("fit").and_then(|t| t.parse().ok())).unwrap_or_default();
        let speedup = o.get::<Ratio>("speedup", "a number above 0").unwrap_or(Ratio::ONE);
        let pacing = match o.get::<Depth>("closed", "QD or QDxTHREADS, each 1 to 65536") {
            Some(d) => Pacing::Closed { queue_depth: d.queue_depth, threads: d.threads },
            None => Pacing::Open,
        };
        let told_pacing = o.text("closed").is_some();
        if pacing != Pacing::Open && o.text("speedup").is_some() {
            o.reject("speedup", "a closed loop has no arrival times to divide".into(), "one of the two", "");
        }
        let requests = over.requests.or(o.get::<Count>("requests", "1 or more").map(|c| c.0));
        if requests == Some(0) {
            o.reject("requests", "no requests are asked for".into(), "1 or more", "");
        }
        let duration = o.get::<SimDuration>("duration", "a time such as 10s");
        let bytes = o.get::<ByteBound>("bytes", "a size such as 10GiB, or 3x the drive");
        let skip_bad = o.text("skip").is_some();
        let told_backwards = o.text("backwards").map(|b| match b {
            "clamp" => Backwards::Clamp,
            "sort" => Backwards::Sort,
            _ => Backwards::Refuse,
        });
        let identity = if o.text("files") == Some("by-file") { Identity::ByFile } else { Identity::ByName };
        let volume = o.text("volume").map(str::to_string);
        let told: Settings = FORMATS
            .iter()
            .flat_map(|f| f.parameters)
            .filter_map(|p| o.text(p.key).map(|v| (p.key, v.to_string())))
            .collect();
        o.finish()?;

        let mut source = Source::find(file)?;
        let identified = identify(&mut source, format, &told)?;
        for key in told.keys().filter(|k| !identified.format.parameters.iter().any(|p| p.key == **k)) {
            let what =
                format!("{} has no option {key}; the content is in that format", identified.format.name);
            o.reject(key, what, "options of the format found", "leave it out, or insist with format=NAME");
        }
        o.finish()?;
        let backwards = told_backwards.unwrap_or(match identified.format.order {
            Order::Kept => Backwards::Refuse,
            Order::Loose => Backwards::Sort,
        });
        let mut hash = None;
        let reader = if source.is_one_file() {
            let (content, taken) = source.parts()[0].open_hashed()?;
            hash = Some(taken);
            let reader = (identified.format.open)(&identified.settings, content);
            if backwards == Backwards::Sort { Box::new(Sorted::new(reader)) } else { reader }
        } else {
            open_all(&source, &identified, backwards, identity)?
        };
        let mut cursor = Cursor::new(&source, reader, volume.as_deref());
        let until_ns = duration.filter(|_| pacing == Pacing::Open).map(|d| speedup.multiply_up(d.0));
        let scan = Scan::of(&mut cursor, &Ask { requests, until_ns, pages })?;
        let labels = cursor.volumes().to_vec();
        drop(cursor);
        if let Some(wanted) = volume.as_ref().filter(|w| !labels.contains(w)) {
            let shown = labels.iter().take(40).cloned().collect::<Vec<_>>().join(", ");
            let hint = crate::error::did_you_mean(wanted, labels.iter().map(String::as_str));
            o.reject("volume", format!("there is no volume {wanted:?}"), &shown, &hint);
            o.finish()?;
        }
        let clockless = scan.requests > 1 && scan.span_ns() == 0 && identified.may_lack_clock();
        let assumed_pacing = clockless && !told_pacing;
        let pacing = if assumed_pacing { WITHOUT_CLOCK } else { pacing };
        if let Some(judged) = identified.judged {
            let moved = scan.bytes[HostOp::Read as usize].saturating_add(scan.bytes[HostOp::Write as usize]);
            let devices = scan.volumes.len();
            let readings = judge_whole(judged, scan.requests, moved, scan.span_ns(), devices);
            if !readings.is_empty() {
                let (label, format) = (source.label(), identified.format);
                return Err(ambiguous(label, format, &readings, scan.requests as usize, None));
            }
        }
        let (bases, end) = scan.side_by_side(source.label())?;
        Ok(Trace {
            sha256: hash.map_or_else(|| source.sha256(), Hash::finish)?,
            source,
            identified,
            fit,
            skip_bad,
            backwards,
            identity,
            volume,
            speedup,
            pacing,
            assumed_pacing,
            requests,
            duration,
            bytes,
            scan,
            bases,
            end,
            compacted: Mutex::new(None),
        })
    }

    /// Whether the trace may be run as it is: it has requests, no unusable line unless those are
    /// to be skipped, and its time does not run backwards unless that is to be clamped.
    pub fn judge(&self) -> Result<(), WorkloadError> {
        let (scan, label) = (&self.scan, self.source.label());
        let mut problems = Vec::new();
        let bad = scan.unusable.count;
        if bad > 0 && !self.skip_bad {
            let mut lines = scan.unusable.first.iter().take(5).peekable();
            let first = lines.peek().map_or(label.to_string(), |u| place_in(label, u.file.as_deref(), u.at));
            let mut what =
                format!("{} of {} lines cannot be used:", grouped(bad), grouped(bad + scan.requests));
            for u in lines {
                what += &format!("\n    {}: {}", place(u.file.as_deref(), u.at), u.reason);
            }
            if bad > 5 {
                what += &format!("\n    and {} more", grouped(bad - 5));
            }
            problems.push(
                Problem::new(ErrorKind::Content, first, what)
                    .allowed(format!("lines in {} format", self.identified.format.name))
                    .hint(format!("{}:skip=bad leaves them out; trace inspect shows them", typed(label))),
            );
        } else if bad > scan.requests {
            let what =
                format!("{} lines cannot be used and only {} can", grouped(bad), grouped(scan.requests));
            problems.push(
                Problem::new(ErrorKind::Content, label, what)
                    .allowed("with skip=bad, fewer unusable lines than usable ones")
                    .hint("the format may be another, or the file damaged; trace inspect shows the reasons"),
            );
        }
        if let Some(first) = scan.backwards.first.as_ref().filter(|_| self.backwards == Backwards::Refuse) {
            let what = format!(
                "time runs backwards: {} ns after {} ns ({} such requests, by up to {} s)",
                grouped(first.time_ns),
                grouped(first.after_ns),
                grouped(scan.backwards.count),
                scan.backwards.largest_ns as f64 / 1e9
            );
            problems.push(
                Problem::new(ErrorKind::Content, place_in(label, first.file.as_deref(), first.at), what)
                    .allowed("times that never decrease")
                    .hint(format!(
                        "{}:backwards=sort sorts by time, backwards=clamp gives such requests the time before",
                        typed(label)
                    )),
            );
        }
        if scan.requests == 0 && problems.is_empty() {
            problems.push(
                Problem::new(ErrorKind::Empty, label, "there is no request in the file")
                    .allowed("at least one request"),
            );
        }
        WorkloadError::of_all(problems)
    }

    /// An error if options say how a drive is driven, which a file that is written cannot keep.
    pub fn refuse_replay_options(&self) -> Result<(), WorkloadError> {
        let given = [
            (self.pacing != Pacing::Open, "closed", "a file has arrival times"),
            (self.speedup != Ratio::ONE, "speedup", "trace scale --time changes times"),
            (self.fit != Fit::Error, "fit", "trace scale --footprint changes addresses"),
            (self.bytes.is_some(), "bytes", "trace cut ends a trace by time or number"),
        ];
        let problems = given.into_iter().filter(|(is_given, ..)| *is_given).map(|(_, key, hint)| {
            let place = format!("{}:{key}", self.source.label());
            Problem::new(ErrorKind::Option, place, format!("{key} is for a run"))
                .allowed("options that say which requests are read")
                .hint(hint)
        });
        WorkloadError::of_all(problems.collect())
    }

    /// The requests with volumes side by side, at the times of an open loop; what cannot be used is
    /// stepped over.
    pub fn requests_to_look_at(&self) -> Result<RequestStream, WorkloadError> {
        let stream = self.stream(Placement::AsIs, u64::MAX, None)?;
        Ok(Box::new(TraceStream { skip_bad: true, open_loop: true, ..stream }))
    }

    /// Time from the first request to the last, after speedup.
    pub fn span_ns(&self) -> u64 {
        self.speedup.divide(self.scan.span_ns())
    }

    /// Bytes read and written.
    pub fn bytes_moved(&self) -> u64 {
        let of = |op: HostOp| self.scan.bytes[op as usize];
        of(HostOp::Read).saturating_add(of(HostOp::Write))
    }

    /// The names of the volumes with their requests, by number.
    pub fn labels(&self) -> impl Iterator<Item = (&str, u64)> {
        self.scan.volumes.iter().map(|v| (v.label.as_str(), v.requests))
    }

    /// Time of the first request, by the file's clock.
    pub fn first_time(&self) -> u64 {
        self.scan.first_time
    }

    /// What ends a pass over the file.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            first_time: self.scan.first_time,
            requests: self.requests.unwrap_or(u64::MAX),
            until: self.duration.and_then(|d| self.scan.first_time.checked_add(d.0)),
            skip_bad: self.skip_bad,
        }
    }

    /// A pass over the file.
    pub fn cursor(&self) -> Result<Cursor, WorkloadError> {
        let reader = open_all(&self.source, &self.identified, self.backwards, self.identity)?;
        Ok(Cursor::new(&self.source, reader, self.volume.as_deref()))
    }

    fn stream(
        &self,
        placement: Placement,
        capacity: u64,
        bytes: Option<u64>,
    ) -> Result<TraceStream, WorkloadError> {
        Ok(TraceStream {
            cursor: self.cursor()?,
            bases: self.bases.clone(),
            placement,
            capacity,
            skip_bad: self.skip_bad,
            first_time: self.scan.first_time,
            latest: self.scan.first_time,
            speedup: self.speedup,
            open_loop: self.pacing == Pacing::Open,
            until: self.duration.filter(|_| self.pacing == Pacing::Open).map(|d| d.0),
            left: self.requests.unwrap_or(u64::MAX),
            bytes_left: bytes.unwrap_or(u64::MAX),
            bounding: if self.scan.count[HostOp::Write as usize] > 0 { HostOp::Write } else { HostOp::Read },
        })
    }

    /// The requests as this drive would get them.
    pub fn open(&self, drive: DriveShape) -> Result<RequestStream, WorkloadError> {
        let placement = self.placement(drive)?;
        Ok(Box::new(self.stream(placement, drive.blocks(), self.limit(drive).bytes)?))
    }

    fn placement(&self, drive: DriveShape) -> Result<Placement, WorkloadError> {
        let capacity = drive.blocks();
        if self.end <= capacity {
            return Ok(Placement::AsIs);
        }
        if self.scan.longest as u64 > capacity {
            let what = format!(
                "a request is {} long and the drive has {}",
                readable_bytes(self.scan.longest as u64 * LBA_BYTES),
                readable_bytes(drive.logical_bytes)
            );
            return Err(Problem::new(ErrorKind::Fit, self.source.label(), what)
                .allowed("a larger drive")
                .into());
        }
        match self.fit {
            Fit::Wrap => Ok(Placement::Wrap { capacity }),
            Fit::Compact => {
                let unit = drive.unit_blocks();
                let pages = self.compacted(unit)?;
                if pages.count() * unit > capacity {
                    let what = format!(
                        "the trace touches {} in {} logical pages and the drive has {}, so compacting does not make it fit",
                        readable_bytes(pages.count() * unit * LBA_BYTES),
                        grouped(pages.count()),
                        readable_bytes(drive.logical_bytes)
                    );
                    return Err(Problem::new(ErrorKind::Fit, self.source.label(), what)
                        .allowed("a larger drive, fewer requests, or fit=wrap")
                        .into());
                }
                Ok(Placement::Compact { pages, unit })
            }
            Fit::Error => Err(self.does_not_fit(drive)?),
        }
    }

    /// The pages that reads and writes touch, ranked; kept for the next time.
    pub fn compacted(&self, unit: u64) -> Result<Arc<RankedPages>, WorkloadError> {
        let mut kept = self.compacted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, pages)) = kept.as_ref().filter(|(u, _)| *u == unit) {
            return Ok(Arc::clone(pages));
        }
        let (pages, _) = self.touched(unit, u64::MAX)?;
        let pages = Arc::new(pages.ranked());
        *kept = Some((unit, Arc::clone(&pages)));
        Ok(pages)
    }

    /// The pages of `unit` blocks that reads and writes touch, and the first request beyond
    /// `capacity` with its number and place.
    fn touched(&self, unit: u64, capacity: u64) -> Result<(PageSet, Option<String>), WorkloadError> {
        let mut stream = self.stream(Placement::AsIs, u64::MAX, None)?;
        // A run has been refused before if there is anything that it could not use.
        stream.skip_bad = true;
        let mut pages = PageSet::default();
        let (mut beyond, mut number) = (None, 0u64);
        while let Some(request) = stream.next().transpose()? {
            number += 1;
            let end = request.lba.0 + request.blocks as u64;
            if beyond.is_none() && end > capacity {
                beyond = Some(format!(
                    "request {} ({}) ends at {}",
                    grouped(number),
                    stream.cursor.position(),
                    readable_bytes(end.saturating_mul(LBA_BYTES))
                ));
            }
            if matches!(request.op, HostOp::Read | HostOp::Write) {
                pages.insert(request.lba.0 / unit..end.div_ceil(unit));
            }
        }
        Ok((pages, beyond))
    }

    fn does_not_fit(&self, drive: DriveShape) -> Result<WorkloadError, WorkloadError> {
        let unit = drive.unit_blocks();
        let (pages, beyond) = self.touched(unit, drive.blocks())?;
        let touched = pages.count() * unit * LBA_BYTES;
        let volumes = self.scan.volumes.iter().filter(|v| v.requests > 0).count();
        let side = if volumes > 1 { format!(" ({volumes} volumes side by side)") } else { String::new() };
        let what = format!(
            "the trace reaches up to {}{side} and touches {}; the drive has {}. The first beyond it: {}",
            readable_bytes(self.end.saturating_mul(LBA_BYTES)),
            readable_bytes(touched),
            readable_bytes(drive.logical_bytes),
            beyond.unwrap_or_default()
        );
        let label = self.source.label();
        let hint = if touched <= drive.logical_bytes {
            format!(
                "fit=compact renumbers the {} touched pages densely into {} of the drive; fit=wrap takes addresses modulo the drive",
                grouped(pages.count()),
                readable_bytes(touched)
            )
        } else {
            format!(
                "fit=compact would need {}, more than the drive has; fit=wrap takes addresses modulo the drive, which overlays data",
                readable_bytes(touched)
            )
        };
        Ok(Problem::new(ErrorKind::Fit, label, what)
            .allowed("fit=error, fit=wrap, fit=compact")
            .hint(hint)
            .into())
    }

    pub fn name(&self) -> &str {
        self.source.label()
    }

    /// What a reader of a run's figures has to know of how the trace was read: what stands in for
    /// what its format does not have.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let name = self.source.label();
        if self.assumed_pacing {
            remarks.push(format!(
                "{name} has no clock, so it is replayed as a closed loop, 32 requests at a time; closed=QD says otherwise."
            ));
        }
        if let Some(stand_in) = self.identified.format.stands_in() {
            remarks.push(format!("{name}: {stand_in}"));
        }
        remarks
    }

    pub fn pacing(&self) -> Pacing {
        self.pacing
    }

    pub fn limit(&self, drive: DriveShape) -> Limit {
        let bytes = self.bytes.map(|b| b.of(drive.logical_bytes));
        Limit { requests: self.requests, duration: self.duration, bytes }
    }

    /// All that decides which requests come out.
    pub fn resolved(&self) -> Value {
        let ends = self.scan.volumes.iter().map(|v| v.label.as_str());
        json!({
            "kind": "trace",
            "name": self.source.label(),
            "sha256": self.sha256,
            "file_bytes": self.source.file_bytes(),
            "compression": self.source.compression(),
            "format": self.identified.format.name,
            "confidence": self.identified.confidence,
            "format_options": self.identified.settings,
            "fit": self.fit,
            "skip_bad": self.skip_bad,
            "skipped": self.scan.unusable.count,
            "backwards": self.backwards.name(),
            "clamped": self.scan.backwards.count,
            "reordered": self.scan.reordered,
            "files": self.source.parts().len(),
            "left_out": self.identified.left_out.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "rounded": self.scan.rounded,
            "volumes": ends.collect::<Vec<_>>(),
            "volume": self.volume,
            "speedup": self.speedup.to_string(),
            "pacing": self.pacing,
            "requests": self.requests,
            "duration": self.duration,
            "bytes": self.bytes.map(|b| b.to_string()),
        })
    }

    pub(crate) fn parts(&self) -> (&Source, &Identified, &Scan, &[u64], &str) {
        (&self.source, &self.identified, &self.scan, &self.bases, &self.sha256)
    }
}

/// All parts of a trace as one stream of records.
fn open_all(
    source: &Source,
    identified: &Identified,
    backwards: Backwards,
    identity: Identity,
) -> Result<Box<dyn RecordReader>, WorkloadError> {
    let (format, settings) = (identified.format, identified.settings.clone());
    let sort = backwards == Backwards::Sort;
    let reader: Box<dyn RecordReader> = if let [part] = source.parts() {
        (format.open)(&settings, part.open()?)
    } else {
        let names = source.parts().iter().map(|p| p.name.clone()).collect();
        let parts = source.parts().to_vec();
        let open: OpenPart = Box::new(move |n| {
            let content = parts[n as usize].open().map_err(|e| io::Error::other(e.to_string()))?;
            Ok((format.open)(&settings, content))
        });
        if sort || source.parts().len() > SIDE_BY_SIDE {
            return Ok(Box::new(Sorted::new(Box::new(Chained::new(names, identity, open)))));
        }
        let failed =
            |e: io::Error| WorkloadError::from(Problem::new(ErrorKind::Io, source.label(), e.to_string()));
        Box::new(Merged::new(names, identity, open).map_err(failed)?)
    };
    Ok(if sort { Box::new(Sorted::new(reader)) } else { reader })
}

/// A trace being replayed.
struct TraceStream {
    cursor: Cursor,
    bases: Vec<u64>,
    placement: Placement,
    capacity: u64,
    skip_bad: bool,
    first_time: u64,
    latest: u64,
    speedup: Ratio,
    open_loop: bool,
    until: Option<u64>,
    left: u64,
    bytes_left: u64,
    bounding: HostOp,
}

impl TraceStream {
    #[cold]
    fn fail(&mut self, what: &str) -> WorkloadError {
        self.left = 0;
        Problem::new(ErrorKind::Content, self.cursor.place(), what)
            .hint("the file seems to have changed since it was first read")
            .into()
    }

    #[inline]
    fn step(&mut self) -> Result<Option<HostRequest>, WorkloadError> {
        while self.left > 0 && self.bytes_left > 0 {
            let found = match self.cursor.next()? {
                Some(Step::Request(found)) => found,
                Some(Step::Unusable(_)) if self.skip_bad => continue,
                Some(Step::Unusable(reason)) => return Err(self.fail(&reason)),
                None => return Ok(None),
            };
            self.latest = self.latest.max(found.time);
            let arrival = self.speedup.divide(self.latest - self.first_time);
            if self.until.is_some_and(|until| arrival >= until) {
                return Ok(None);
            }
            self.left -= 1;
            let Some(base) = self.bases.get(found.volume as usize) else {
                return Err(self.fail("a volume appears that was not there before"));
            };
            let Some((lba, blocks)) = self.placement.place(base + found.lba, found.blocks, found.op) else {
                continue;
            };
            if lba + blocks as u64 > self.capacity {
                return Err(self.fail("a request ends beyond the drive"));
            }
            if found.op == self.bounding {
                self.bytes_left = self.bytes_left.saturating_sub(blocks as u64 * LBA_BYTES);
            }
            return Ok(Some(HostRequest {
                arrival: SimTime(if self.open_loop { arrival } else { 0 }),
                lba: Lba(lba),
                blocks,
                op: found.op,
                attributes: found.attributes,
                volume: found.volume,
            }));
        }
        Ok(None)
    }
}

impl Iterator for TraceStream {
    type Item = Result<HostRequest, WorkloadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.left = 0;
        }
        step.transpose()
    }
}
