//! A trace as a workload: found, recognized, scanned once, and then opened any number of times. Time starts
//! at 0 with the first request, volumes are concatenated, and requests are fitted to the drive as requested.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::formats::{FORMATS, format_named};
use crate::reading::detection::Settings;
use crate::reading::format::Order;
use crate::reading::readings::judge_whole;
use crate::requests::fit::{DriveShape, Fit, Placement};
use crate::requests::pace::{ByteBound, Limit, Pacing, QueueDepth, Ratio};
use crate::requests::pages::RankedPages;
use crate::requests::pauses::{Pauses, Pausing};
use crate::requests::stream::{Overrides, RequestStream};
use crate::source::hashing::Hash;
use crate::source::source::Source;
use crate::text::parameter::Options;
use crate::trace::cursor::Cursor;
use crate::trace::detect::{Identified, ambiguous, identify};
use crate::trace::join::Identity;
use crate::trace::judge::judge;
use crate::trace::open::open_all;
use crate::trace::options::{Backwards, TRACE_OPTIONS};
use crate::trace::placement::{Ranked, Scanned};
use crate::trace::replay::{Loops, Replay, TraceStream};
use crate::trace::scan::{Ask, Scan};
use crate::trace::sorted::Sorted;
use crate::trace::spelling::{Parts, check_is_there, parts};
use serde_json::{Value, json};
use std::sync::Arc;
use wordline_units::{HostOp, Listed, Message, SimDuration};

/// How a trace without times is replayed: with the queue depth of a SATA drive.
const WITHOUT_CLOCK: Pacing = Pacing::Closed { queue_depth: 32, threads: 1 };

/// What ends a pass over a trace.
pub(crate) struct Bounds {
    /// Time of the first request.
    pub first_time: u64,
    pub requests: u64,
    /// The first time after the end.
    pub until: Option<u64>,
    /// Whether unusable lines are skipped.
    pub skip_bad: bool,
}

/// A trace, ready to be opened.
pub struct Trace {
    pub(crate) source: Source,
    pub(crate) identified: Identified,
    pub(crate) fit: Fit,
    pub(crate) skip_bad: bool,
    pub(crate) backwards: Backwards,
    pub(crate) identity: Identity,
    pub(crate) volume: Option<String>,
    pub(crate) speedup: Ratio,
    pub(crate) pacing: Pacing,
    pub(crate) pausing: Pausing,
    /// Whether the pacing is a default, because the trace has no times.
    pub(crate) assumed_pacing: bool,
    pub(crate) requests: Option<u64>,
    pub(crate) duration: Option<SimDuration>,
    /// Number of passes.
    pub(crate) loops: u64,
    pub(crate) bytes: Option<ByteBound>,
    pub(crate) sha256: String,
    pub(crate) scan: Scan,
    pub(crate) bases: Vec<u64>,
    pub(crate) end: u64,
    pub(crate) ranked: Ranked,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Trace({:?})", self.name())
    }
}

impl Trace {
    /// Scans `FILE`, `FILE:option=value,...` or `-`, and rejects what cannot be run unchanged.
    ///
    /// # Errors
    ///
    /// All problems of the options; a file that cannot be read, recognized or used.
    pub fn parse(text: &str, over: Overrides) -> Result<Trace, WorkloadError> {
        let Parts { head, options } = parts(text);
        check_is_there(head, &[])?;
        Trace::find(head, options, over)
    }

    /// The same, for a file and its options.
    ///
    /// # Errors
    ///
    /// As [`Trace::parse`].
    pub fn find(file: &str, options: &str, over: Overrides) -> Result<Trace, WorkloadError> {
        let trace = Trace::load(file, options, over, false)?;
        trace.judge()?;
        Ok(trace)
    }

    /// The same, for data in memory under a file name.
    ///
    /// # Errors
    ///
    /// As [`Trace::parse`].
    pub fn in_memory(
        name: &str,
        content: &[u8],
        options: &str,
        over: Overrides,
    ) -> Result<Trace, WorkloadError> {
        let find = || Source::in_memory(name, content.into());
        let trace = Trace::load_from(name, find, options, over, false)?;
        trace.judge()?;
        Ok(trace)
    }

    /// Finds, recognizes and scans a trace. Unusable lines and decreasing times are recorded in the scan and
    /// are not yet errors; see [`Trace::judge`].
    pub(crate) fn load(
        file: &str,
        options: &str,
        over: Overrides,
        pages: bool,
    ) -> Result<Trace, WorkloadError> {
        Trace::load_from(file, || Source::find(file), options, over, pages)
    }

    /// The same for another source; `file` is its name in messages.
    fn load_from(
        file: &str,
        find: impl FnOnce() -> Result<Source, WorkloadError>,
        options: &str,
        over: Overrides,
        pages: bool,
    ) -> Result<Trace, WorkloadError> {
        let mut o = Options::parse(file, options);
        let format = match o.text("format").map(str::to_string) {
            None => None,
            Some(name) => {
                let found = format_named(&name);
                if found.is_none() {
                    let names = FORMATS.iter().map(|f| f.name);
                    let near = Message::from(crate::error::did_you_mean(&name, names));
                    let known =
                        Message::from("omit it to detect the format; ") + Listed::Formats.by() + " names all";
                    let hint = if near.is_empty() { known } else { near };
                    o.reject("format", format!("{name:?} is not a format"), "", hint);
                }
                found
            }
        };
        let mut known = TRACE_OPTIONS.to_vec();
        let of_formats = FORMATS.iter().filter(|f| match format {
            Some(told) => told.name == f.name,
            None => !f.needs_settings(),
        });
        known.extend(of_formats.flat_map(|f| f.parameters));
        o.check_known(&known);
        let fit = over.fit.or(o.text("fit").and_then(|t| t.parse().ok())).unwrap_or_default();
        let speedup = o.get::<Ratio>("speedup", "a number above 0").unwrap_or(Ratio::ONE);
        let pacing = match o.get::<QueueDepth>("closed", "QD or QDxTHREADS, each 1 to 65536") {
            Some(d) => Pacing::Closed { queue_depth: d.queue_depth, threads: d.threads },
            None => Pacing::Open,
        };
        let told_pacing = o.text("closed").is_some();
        let pausing = Pausing::of(&mut o, told_pacing);
        if pacing != Pacing::Open && o.text("speedup").is_some() {
            o.reject("speedup", "a closed loop has no arrival times to scale".into(), "one of the two", "");
        }
        let requests = crate::text::limits::requests(&mut o, over.requests);
        let duration = crate::text::limits::duration(&mut o, "a time such as 10s");
        let loops = crate::text::limits::number(&mut o, "loops", 1, 1..=1_000_000);
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

        let mut source = find()?;
        let identified = identify(&mut source, format, &told)?;
        for key in told.keys().filter(|k| !identified.format.parameters.iter().any(|p| p.key == **k)) {
            let what =
                format!("{} has no option {key}; the content is in that format", identified.format.name);
            o.reject(key, what, "", "leave it out");
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
            o.reject("volume", format!("unknown volume {wanted:?}"), &shown, &hint);
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
        let (bases, end) = scan.concatenated(source.label())?;
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
            pausing,
            assumed_pacing,
            requests,
            duration,
            loops,
            bytes,
            scan,
            bases,
            end,
            ranked: Ranked::default(),
        })
    }

    /// Check that the trace can be run unchanged: it has requests, no unusable lines unless they are skipped,
    /// and no decreasing times unless they are clamped.
    pub(crate) fn judge(&self) -> Result<(), WorkloadError> {
        let refused = self.backwards == Backwards::Refuse;
        judge(&self.scan, self.source.label(), &self.identified, self.skip_bad, refused)
    }

    /// Return an error if options say how to drive a drive, which an output file cannot keep.
    pub(crate) fn refuse_replay_options(&self) -> Result<(), WorkloadError> {
        let given = [
            (self.pacing != Pacing::Open, "closed", "a file has arrival times"),
            (self.speedup != Ratio::ONE, "speedup", "trace scale --time changes times"),
            (self.fit != Fit::Error, "fit", "trace scale --footprint changes addresses"),
            (self.bytes.is_some(), "bytes", "trace cut ends a trace by time or number"),
            (self.loops > 1, "loops", "trace loop --times repeats a trace"),
        ];
        let problems = given.into_iter().filter(|(is_given, ..)| *is_given).map(|(_, key, hint)| {
            let place = format!("{}:{key}", self.source.label());
            Problem::new(ErrorKind::Option, place, format!("{key} is for a run"))
                .allowed("options that select which requests are read")
                .hint(hint)
        });
        WorkloadError::of_all(problems.collect())
    }

    /// One pass with concatenated volumes, at open-loop times. Unusable lines are skipped.
    pub(crate) fn pass(&self) -> Result<TraceStream, WorkloadError> {
        let how = Replay { skip_bad: true, open_loop: true, ..self.replay(Placement::AsIs, u64::MAX) };
        Ok(TraceStream::new(how, self.cursor()?, Loops { left: 0, ..self.loops() }))
    }

    /// The touched pages of reads and writes, in units of so many blocks, ranked; cached.
    pub(crate) fn compacted(&self, unit: u64) -> Result<Arc<RankedPages>, WorkloadError> {
        self.ranked.of(unit, || self.pass())
    }

    /// Requests of all passes.
    pub fn replayed(&self) -> u64 {
        self.scan.requests.saturating_mul(self.loops)
    }

    /// Further passes: each starts one mean gap after the last request of the previous pass.
    fn loops(&self) -> Loops {
        let (source, identified, volume) =
            (self.source.clone(), self.identified.clone(), self.volume.clone());
        let (backwards, identity) = (self.backwards, self.identity);
        let gap = self.scan.span_ns() / self.scan.requests.saturating_sub(1).max(1);
        Loops {
            left: self.loops - 1,
            open: Box::new(move || {
                let reader = open_all(&source, &identified, backwards, identity)?;
                Ok(Cursor::new(&source, reader, volume.as_deref()))
            }),
            requests: self.requests.unwrap_or(u64::MAX),
            period_ns: self.speedup.divide(self.scan.span_ns().saturating_add(gap)),
            begun_ns: 0,
        }
    }

    /// Time from the first request to the last of a pass, after speedup.
    pub(crate) fn span_ns(&self) -> u64 {
        self.speedup.divide(self.scan.span_ns())
    }

    /// Bytes read and written.
    pub(crate) fn bytes_moved(&self) -> u64 {
        let of = |op: HostOp| self.scan.bytes[op as usize];
        of(HostOp::Read).saturating_add(of(HostOp::Write))
    }

    /// The names of the volumes with their requests, by number.
    pub fn labels(&self) -> impl Iterator<Item = (&str, u64)> {
        self.scan.volumes.iter().map(|v| (v.label.as_str(), v.requests))
    }

    /// Time of the first request, by the file's clock.
    pub(crate) fn first_time(&self) -> u64 {
        self.scan.first_time
    }

    /// What ends a pass over the file.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            first_time: self.scan.first_time,
            requests: self.requests.unwrap_or(u64::MAX),
            until: self.duration.and_then(|d| self.scan.first_time.checked_add(d.0)),
            skip_bad: self.skip_bad,
        }
    }

    /// A pass over the file.
    pub(crate) fn cursor(&self) -> Result<Cursor, WorkloadError> {
        let reader = open_all(&self.source, &self.identified, self.backwards, self.identity)?;
        Ok(Cursor::new(&self.source, reader, self.volume.as_deref()))
    }

    /// How its requests reach a drive of so many blocks.
    fn replay(&self, placement: Placement, capacity: u64) -> Replay {
        Replay {
            bases: self.bases.clone(),
            placement,
            capacity,
            skip_bad: self.skip_bad,
            first_time: self.scan.first_time,
            speedup: self.speedup,
            open_loop: self.pacing == Pacing::Open,
            until: self.duration.filter(|_| self.pacing == Pacing::Open).map(|d| d.0),
            bytes: u64::MAX,
            bounding: if self.scan.count[HostOp::Write as usize] > 0 { HostOp::Write } else { HostOp::Read },
        }
    }

    /// Whether another process can read it, too: a pipe can be read only once.
    pub fn is_in_files(&self) -> bool {
        self.source.is_in_files()
    }

    /// Number of passes.
    pub fn passes(&self) -> u64 {
        self.loops
    }

    /// The requests as this drive receives them.
    ///
    /// # Errors
    ///
    /// Requests beyond the drive, with the numbers and the ways to make them fit.
    pub fn open(&self, drive: DriveShape) -> Result<RequestStream, WorkloadError> {
        let scanned = Scanned {
            label: self.name(),
            scan: &self.scan,
            end: self.end,
            ranked: &self.ranked,
            pass: &|| self.pass(),
        };
        let placement = scanned.placement(self.fit, drive)?;
        let bytes = self.limit(drive).bytes.unwrap_or(u64::MAX);
        let how = Replay { bytes, ..self.replay(placement, drive.blocks()) };
        Ok(Box::new(TraceStream::new(how, self.cursor()?, self.loops())))
    }

    /// The file as given.
    pub fn name(&self) -> &str {
        self.source.label()
    }

    /// What is assumed about the trace because its format does not state it.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let name = self.source.label();
        if self.assumed_pacing {
            remarks.push(format!(
                "{name} has no timestamps, so it is replayed as a closed loop at queue depth 32; set \
                 another with closed=QD."
            ));
        }
        if let Some(stand_in) = self.identified.format.quirks.stands_in {
            remarks.push(format!("{name}: {stand_in}"));
        }
        remarks
    }

    /// What determines when a request is issued.
    pub fn pacing(&self) -> Pacing {
        self.pacing
    }

    /// When the client of a closed loop pauses. `None` if it never does.
    pub fn pauses(&self, drive: DriveShape) -> Option<Pauses> {
        self.pausing.on(drive)
    }

    /// When the requests end on this drive.
    pub fn limit(&self, drive: DriveShape) -> Limit {
        let bytes = self.bytes.map(|b| b.of(drive.logical_bytes));
        let requests = self.requests.map(|r| r.saturating_mul(self.loops));
        // In an open loop, each pass ends by its own times.
        let by_pass = self.loops > 1 && self.pacing == Pacing::Open;
        Limit { requests, duration: self.duration.filter(|_| !by_pass), bytes }
    }

    /// Everything that determines the requests.
    pub fn resolved(&self) -> Value {
        let ends = self.scan.volumes.iter().map(|v| v.label.as_str());
        let mut resolved = json!({
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
        });
        if self.loops > 1 {
            resolved["loops"] = json!(self.loops);
        }
        self.pausing.resolve(&mut resolved);
        resolved
    }

    pub(crate) fn parts(&self) -> (&Source, &Identified, &Scan, &[u64], &str) {
        (&self.source, &self.identified, &self.scan, &self.bases, &self.sha256)
    }
}
