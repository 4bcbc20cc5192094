//! A twin with its options, as a workload.

use crate::generators::synthetic::catalogue::{SyntheticWorkload, synthetic_named};
use crate::generators::twin::by_name::{Named, named, unknown};
use crate::generators::twin::catalogue::Spelled;
use crate::generators::twin::description::{Description, STRADDLE, Straddle};
use crate::generators::twin::stream::{Play, TwinStream};
use crate::generators::twin::{description, locality, sizes};
use crate::random::draws::Draws;
use crate::updates::UpdateLaw;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use wordline_trace::options::{Options, choice, value};
use wordline_trace::{
    ByteBound, DriveShape, ErrorKind, Fit, Limit, Overrides, Pacing, Parameter, Pauses, Pausing, Placement,
    Problem, QueueDepth, Ratio, RequestStream, WorkloadError, readable_bytes,
};
use wordline_units::{LBA_BYTES, SimDuration};

/// The options of every twin.
pub const TWIN_OPTIONS: &[Parameter] = &[
    value(
        "requests",
        "count",
        "all",
        "1 or more",
        "maximum number of requests; the twin continues beyond \
                                                    its own number",
    ),
    value("duration", "time", "none", "such as 1h", "stops at this simulated time"),
    value("bytes", "size", "none", "such as 64GiB, or 3x the drive", "maximum number of bytes written"),
    value("scale", "count", "1", "1 to 65536", "divides the footprint and the number of requests"),
    value("speedup", "factor", "1", "such as 10 or 0.5", "divides the times between requests"),
    value("closed", "queue depth", "open loop", "such as 32 or 32x4", "closed loop instead of arrival times"),
    Pausing::THINK,
    Pausing::BURST,
    Pausing::REST,
    choice(
        "mode",
        "daily",
        "daily, burst",
        &["daily", "burst"],
        "burst: the same volume of writes, sequential in requests of 32 KiB, in a closed loop of 32",
    ),
    value(
        "locality",
        "points",
        "0",
        "-50 to 50",
        "shifts the LRU write hit rate at an eighth of the written footprint",
    ),
    value(
        "drift",
        "times",
        "the twin's",
        "0 to 1000",
        "how many times the run replaces all hot extents, one by one",
    ),
    value(
        "straddle",
        "share",
        "the twin's",
        "free, never or a share such as 26%",
        "which writes of at most a page cross a page boundary",
    ),
    value(
        "read_bursts",
        "factor",
        "1",
        "such as 0.1 or 70",
        "factor on the dispersion of reads beyond that of the shortest window",
    ),
    value(
        "write_bursts",
        "factor",
        "1",
        "such as 0.1 or 70",
        "factor on the dispersion of writes beyond that of the shortest window",
    ),
    choice("files", "on", "on, off", &["on", "off"], "off: no request continues a file, as in older twins"),
    value("original", "file", "none", "a trace", "replays the original trace instead of the twin"),
];

/// The options that make bursts of reads and of writes stronger.
const BURSTS: [&str; 2] = ["read_bursts", "write_bursts"];

/// A twin with its options: a workload.
pub(crate) struct Twin {
    name: String,
    script: Script,
    parameters: Value,
}

enum Script {
    Twin {
        description: Arc<Description>,
        play: Play,
        bytes: Option<ByteBound>,
        pacing: Pacing,
        pausing: Pausing,
        fit: Fit,
    },
    Synthetic(Box<SyntheticWorkload>),
}

impl Twin {
    /// Reads the options of a twin.
    ///
    /// # Errors
    /// All problems of the name, the file and the options.
    pub fn parse(head: &str, options: &str, over: Overrides) -> Result<Twin, WorkloadError> {
        Twin::parse_named(head, named(head)?, options, over)
    }

    /// Reads the options for the twin of a name.
    ///
    /// # Errors
    /// All problems of the options.
    pub fn parse_named(
        head: &str,
        named: Named,
        options: &str,
        over: Overrides,
    ) -> Result<Twin, WorkloadError> {
        let (mut description, text) = match named {
            Named::Workload(s) => return Twin::spelled(head, s, options, over),
            Named::Twin(description, text) => (*description, text),
        };
        let mut o = Options::parse(head, options);
        o.check_known(TWIN_OPTIONS);
        let requests = wordline_trace::options::requests(&mut o, over.requests);
        let duration = wordline_trace::options::duration(&mut o, "a time such as 1h");
        let bytes = o.get::<ByteBound>("bytes", "a size such as 10GiB, or 3x the drive");
        let scale = wordline_trace::options::number(&mut o, "scale", 1, 1..=65_536);
        let speedup = o.get::<Ratio>("speedup", "a factor such as 10 or 0.5").unwrap_or(Ratio::ONE);
        let closed = o.get::<QueueDepth>("closed", "a queue depth such as 32 or 32x4");
        let paced = closed.or(description.arrivals.closed);
        let burst = o.text("mode") == Some("burst");
        let pausing = Pausing::of(&mut o, paced.is_some() && !burst);
        let points = locality_of(&mut o);
        if let Some(drift) = drift_of(&mut o) {
            (description.reads.drift, description.writes.drift) = (drift, drift);
        }
        let straddle = o.get::<Straddle>("straddle", STRADDLE);
        if let Some(straddle) = straddle {
            description.writes.straddle = straddle;
        }
        let files = o.text("files").map(str::to_string);
        if files.as_deref() == Some("off") {
            (description.reads.files, description.writes.files) = (None, None);
        }
        let bursts = bursts_of(&mut o, &mut description);
        if burst && (points != 0.0 || o.text("speedup").is_some() || closed.is_some()) {
            let what = "a burst is a sequential closed loop; locality, speedup and closed do not apply";
            o.reject("mode", what.into(), "mode=burst without them", "");
        }
        let at_once = description.arrivals.span == SimDuration::ZERO;
        if at_once && !burst && duration.is_some() && paced.is_none() {
            let what = "all requests of the twin arrive at one instant, so a time limit has no effect";
            o.reject("duration", what.into(), "requests or bytes", "");
        }
        o.finish()?;
        if let Err(what) = description.reads.room(scale).and(description.writes.room(scale)) {
            return Err(Problem::new(ErrorKind::Option, format!("{head}:scale={scale}"), what)
                .allowed("a smaller scale")
                .into());
        }
        let parameters = json!({
            "requests": requests,
            "duration": duration,
            "bytes": bytes.map(|b| b.to_string()),
            "scale": scale,
            "speedup": speedup.to_string(),
            "mode": if burst { "burst" } else { "daily" },
            "locality_points": points,
            "drift": description.writes.drift,
        });
        let mut resolved = json!({
            "kind": "twin",
            "name": head,
            "sha256": hash(&text),
            "parameters": parameters,
        });
        if let Some(straddle) = straddle {
            resolved["parameters"]["straddle"] = json!(straddle.to_string());
        }
        if let Some(files) = files {
            resolved["parameters"]["files"] = json!(files);
        }
        for (key, factor) in BURSTS.into_iter().zip(bursts) {
            if let Some(factor) = factor {
                resolved["parameters"][key] = json!(factor.to_string());
            }
        }
        let script = if burst {
            let volume = written(&description) / scale / 32_768 * 32_768;
            let bytes = bytes.map_or(format!("{volume}B"), |b| b.to_string());
            let spelling = format!("bs=32KiB,qd=32,bytes={bytes}");
            resolved["burst"] = Value::String(format!("sequential:{spelling}"));
            let duration = duration.map_or(String::new(), |d| format!(",duration={d}"));
            Script::Synthetic(Box::new(synthetic("sequential", &(spelling + &duration), over)?))
        } else {
            let description = if points == 0.0 {
                description
            } else {
                let shifted = locality::shifted(&description, points)?;
                resolved["locality"] = json!({
                    "asked_points": points,
                    "reached_points": shifted.reached_points,
                    "write_hot": shifted.description.writes.hot,
                    "write_theta": shifted.description.writes.theta,
                });
                shifted.description
            };
            let pacing = paced
                .map_or(Pacing::Open, |d| Pacing::Closed { queue_depth: d.queue_depth, threads: d.threads });
            resolved["pacing"] = json!(pacing);
            pausing.resolve(&mut resolved);
            let play = Play {
                requests,
                until_ns: duration.map(|d| d.0),
                bytes: None,
                scale,
                speedup,
                open: pacing == Pacing::Open,
            };
            let fit = over.fit.unwrap_or_default();
            Script::Twin { description: Arc::new(description), play, bytes, pacing, pausing, fit }
        };
        Ok(Twin { name: head.to_string(), script, parameters: resolved })
    }

    fn spelled(head: &str, s: &Spelled, options: &str, over: Overrides) -> Result<Twin, WorkloadError> {
        let (name, own) = s.workload.split_once(':').unwrap_or((s.workload, ""));
        // A key that the user sets takes precedence over the twin's own value.
        let given: Vec<&str> =
            options.split(',').filter_map(|pair| pair.split_once('=')).map(|(k, _)| k).collect();
        let kept = own.split(',').filter(|pair| !given.contains(&pair.split('=').next().unwrap_or_default()));
        let all: Vec<&str> = kept.chain(options.split(',')).filter(|pair| !pair.is_empty()).collect();
        let workload = synthetic(name, &all.join(","), over)?;
        let parameters = workload.resolved();
        let parameters = json!({ "kind": "twin", "name": head, "workload": parameters });
        Ok(Twin { name: head.to_string(), script: Script::Synthetic(Box::new(workload)), parameters })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn pacing(&self) -> Pacing {
        match &self.script {
            Script::Twin { pacing, .. } => *pacing,
            Script::Synthetic(s) => s.pacing(),
        }
    }

    pub fn pauses(&self, drive: DriveShape) -> Option<Pauses> {
        match &self.script {
            Script::Twin { pausing, .. } => pausing.on(drive),
            Script::Synthetic(s) => s.pauses(drive),
        }
    }

    pub fn limit(&self, drive: DriveShape) -> Limit {
        match &self.script {
            Script::Twin { description, play, bytes, .. } => {
                let bytes = bytes.map(|b| b.of(drive.logical_bytes));
                let bounded = play.requests.is_some() || bytes.is_some() || play.until_ns.is_some();
                let all = (description.requests / play.scale).max(1);
                let requests = if bounded { play.requests } else { Some(all) };
                Limit { requests, duration: play.until_ns.map(SimDuration), bytes }
            }
            Script::Synthetic(s) => s.limit(drive),
        }
    }

    pub fn open(&self, drive: DriveShape, draws: Draws) -> Result<RequestStream, WorkloadError> {
        match &self.script {
            Script::Twin { play, bytes, .. } => {
                let bytes = bytes.map(|b| b.of(drive.logical_bytes));
                self.stream(Play { bytes, ..*play }, drive, draws)
            }
            Script::Synthetic(s) => s.open(drive, draws),
        }
    }

    /// The requests without limits.
    pub fn unbounded(&self, drive: DriveShape, draws: Draws) -> Result<RequestStream, WorkloadError> {
        match &self.script {
            Script::Twin { play, .. } => {
                let endless = Play { requests: Some(u64::MAX), until_ns: None, bytes: None, ..*play };
                self.stream(endless, drive, draws)
            }
            Script::Synthetic(s) => s.unbounded(drive, draws),
        }
    }

    /// The requests of a twin, on a drive that is large enough, or with addresses modulo the drive.
    fn stream(&self, play: Play, drive: DriveShape, draws: Draws) -> Result<RequestStream, WorkloadError> {
        let Script::Twin { description, fit, .. } = &self.script else {
            return Ok(Box::new(std::iter::empty()));
        };
        let stream = TwinStream::new(description, play, draws)
            .map_err(|what| Problem::new(ErrorKind::Option, &*self.name, what))?;
        if stream.end() <= drive.blocks() || *fit != Fit::Wrap || stream.longest() as u64 > drive.blocks() {
            self.fits(&stream, drive, play.scale)?;
            return Ok(Box::new(stream));
        }
        let wrap = Placement::Wrap { capacity: drive.blocks() };
        Ok(Box::new(stream.map(move |request| {
            request.map(|mut r| {
                if let Some((at, _)) = wrap.place(r.lba.0, r.blocks, r.op) {
                    r.lba.0 = at;
                }
                r
            })
        })))
    }

    /// The distribution of the writes, if the twin is a built-in workload that has one.
    pub fn update_law(&self, drive: DriveShape, seed: u64) -> Result<Option<UpdateLaw>, WorkloadError> {
        match &self.script {
            Script::Twin { .. } => Ok(None),
            Script::Synthetic(s) => s.update_law(drive, seed),
        }
    }

    fn fits(&self, stream: &TwinStream, drive: DriveShape, scale: u64) -> Result<(), WorkloadError> {
        let (end, blocks) = (stream.end(), drive.blocks());
        if end <= blocks {
            return Ok(());
        }
        let size = |blocks: u64| readable_bytes(blocks * LBA_BYTES);
        let enough = (end * scale).div_ceil(blocks.max(1));
        let hint = if stream.longest() as u64 * 8 < blocks {
            format!("{}:scale={enough} reduces footprint and requests until it fits", self.name)
        } else {
            "use a larger drive".to_string()
        };
        let what = format!("the twin's footprint is {} and the drive has {}", size(end), size(blocks));
        Err(Problem::new(ErrorKind::Fit, &*self.name, what)
            .allowed("a drive as large as the footprint, a larger scale, or --fit wrap")
            .hint(hint)
            .into())
    }

    /// The span in blocks, if the stream does not end by itself.
    pub fn endless_span(&self, drive: DriveShape) -> Result<Option<(u64, u64)>, WorkloadError> {
        match &self.script {
            Script::Twin { description, play, pacing, fit, .. } => {
                let limit = self.limit(drive);
                if limit.requests.is_some() || limit.bytes.is_some() || *pacing == Pacing::Open {
                    return Ok(None);
                }
                let stream = TwinStream::new(description, *play, Draws::first(0))
                    .map_err(|what| Problem::new(ErrorKind::Option, &*self.name, what))?;
                if *fit != Fit::Wrap {
                    self.fits(&stream, drive, play.scale)?;
                }
                Ok(Some((0, stream.end().min(drive.blocks()))))
            }
            Script::Synthetic(s) => s.endless_span(drive),
        }
    }

    pub fn resolved(&self) -> Value {
        self.parameters.clone()
    }
}

/// A built-in workload by name.
fn synthetic(name: &str, options: &str, over: Overrides) -> Result<SyntheticWorkload, WorkloadError> {
    let found = synthetic_named(name).ok_or_else(|| unknown(name, name))?;
    SyntheticWorkload::parse(found, options, over)
}

fn drift_of(o: &mut Options) -> Option<f64> {
    let drift = o.get::<f64>("drift", "0 to 1000")?;
    if !description::DRIFT.contains(&drift) {
        o.reject("drift", format!("{drift} is out of range"), "0 to 1000", "");
    }
    Some(drift)
}

/// Scale the bursts of a twin's reads and writes by the given factors.
fn bursts_of(o: &mut Options, description: &mut Description) -> [Option<Ratio>; 2] {
    let told = BURSTS.map(|key| o.get::<Ratio>(key, "a factor such as 0.1 or 70"));
    let factors = told.map(|factor| factor.map_or(1.0, |f| f.times(1)));
    match description.arrivals.memory.take() {
        Some(memory) => description.arrivals.memory = Some(memory.with_bursts(factors)),
        None => {
            for (key, _) in BURSTS.iter().zip(told).filter(|(_, factor)| factor.is_some()) {
                o.reject(key, "the twin has no dispersion of arrivals".into(), "none", "");
            }
        }
    }
    told
}

fn locality_of(o: &mut Options) -> f64 {
    const ALLOWED: &str = "-50 to 50, in points of the hit rate";
    let points: f64 = o.get("locality", ALLOWED).unwrap_or(0.0);
    if !(-50.0..=50.0).contains(&points) {
        o.reject("locality", format!("{points} is out of range"), ALLOWED, "");
        return 0.0;
    }
    points
}

/// Total bytes that a twin writes, according to its table.
fn written(d: &Description) -> u64 {
    let blocks: f64 = sizes::SizeLaw::new(&d.writes)
        .map(|law| law.shares().iter().map(|(s, p)| *s as f64 * p).sum())
        .unwrap_or(0.0);
    (d.requests as f64 * d.write.as_f64() * blocks * LBA_BYTES as f64) as u64
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().map(|b| format!("{b:02x}")).collect()
}
