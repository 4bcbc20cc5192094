//! A workload: a trace or a built-in generator, resolved to the last option, that can be opened any number of times
//! with the same requests.

use crate::generators::jobs::file::{JobFile, is_job_file};
use crate::generators::jobs::ini::looks_like_jobs;
use crate::generators::jobs::script::JobScript;
use crate::generators::synthetic::catalogue::{SYNTHETICS, SyntheticWorkload, synthetic_named};
use crate::generators::twin::by_name::{Named, is_twin};
use crate::generators::twin::read::read;
use crate::generators::twin::twin::Twin;
use crate::random::draws::Draws;
use crate::updates::{UpdateLaw, UpdateStream, Updates};
use crate::workload::originals::original_of;
use crate::workload::spelling::{parts, with_options};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use wordline_trace::{
    DriveShape, ErrorKind, Footprint, Limit, Overrides, Pacing, PageSet, Parts, Pauses, Problem,
    RequestStream, Source, Touched, Trace, WorkloadError, check_is_there, going_on,
};
use wordline_units::{Count, HostOp, QueueClass};

#[derive(Clone)]
enum Kind {
    Trace(Arc<Trace>),
    Synthetic(Arc<SyntheticWorkload>),
    Jobs(Arc<JobFile>),
    Twin(Arc<Twin>),
    /// A trace that replaces the twin of this name.
    Original(String, Arc<Trace>),
}

/// A resolved workload. Cheap to clone.
#[derive(Clone)]
pub struct Workload {
    kind: Kind,
    text: String,
    /// Options of the text that the run overrides, one sentence each.
    replaced: Vec<String>,
}

impl std::fmt::Debug for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Workload({:?})", self.text)
    }
}

impl Workload {
    /// Resolves `FILE`, `FILE:option=value,...` (a fio job file, a trace, a folder or tar archive of traces,
    /// or several joined by `+`), `NAME`, `NAME:parameter=value,...`, `twin:NAME`, a twin's file or `-` for
    /// standard input. A trace is read completely: its format is detected, its volumes are measured and all
    /// its errors are reported. A built-in name takes precedence over a file of that name; write `./zipf` for
    /// the file.
    ///
    /// # Errors
    ///
    /// All problems of the options at once; a file that cannot be read, recognized or used.
    pub fn parse(text: &str, over: Overrides) -> Result<Workload, WorkloadError> {
        let Parts { head, options } = parts(text);
        refuse_no_requests(over)?;
        let kind = if let Some(synthetic) = synthetic_named(head) {
            Kind::Synthetic(Arc::new(SyntheticWorkload::parse(synthetic, options, over)?))
        } else if is_twin(head) {
            match original_of(head, options)? {
                Some((file, options)) => Kind::Original(head.to_string(), trace(&file, &options, over)?),
                None => Kind::Twin(Arc::new(Twin::parse(head, options, over)?)),
            }
        } else if is_job_file(head) {
            Kind::Jobs(Arc::new(JobFile::parse(head, options, over)?))
        } else {
            Kind::Trace(trace(head, options, over)?)
        };
        // Values from the environment are added to the text, so that the text suffices to repeat the run.
        let text = match &kind {
            Kind::Jobs(jobs) => with_options(text, jobs.environment()),
            _ => text.to_string(),
        };
        Ok(Workload { kind, text, replaced: replaced(options, over) })
    }

    /// Resolves data in memory, under a file name with options: a twin's file if the name ends in `.toml`; a fio job
    /// file, without includes; or a trace in one file.
    ///
    /// # Errors
    ///
    /// As [`Workload::parse`].
    pub fn in_memory(
        name: &str,
        content: &[u8],
        options: &str,
        over: Overrides,
    ) -> Result<Workload, WorkloadError> {
        refuse_no_requests(over)?;
        let kind = if is_twin(name) {
            let text = String::from_utf8_lossy(content).into_owned();
            let named = Named::Twin(Box::new(read(&text, name)?), text);
            Kind::Twin(Arc::new(Twin::parse_named(name, named, options, over)?))
        } else if looks_like_jobs(content) {
            let content = Some(content.to_vec());
            Kind::Jobs(Arc::new(JobFile::parse_from(name, content, options, over)?))
        } else {
            Kind::Trace(Arc::new(Trace::in_memory(name, content, options, over)?))
        };
        let separator = if options.is_empty() { "" } else { ":" };
        Ok(Workload { kind, text: format!("{name}{separator}{options}"), replaced: replaced(options, over) })
    }

    /// The file as given, or the built-in name.
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => t.name(),
            Kind::Synthetic(s) => s.name(),
            Kind::Jobs(j) => j.name(),
            Kind::Twin(t) => t.name(),
        }
    }

    /// Whether the requests are generated, so that they change with the seed.
    pub fn is_drawn(&self) -> bool {
        matches!(self.kind, Kind::Synthetic(_) | Kind::Twin(_))
    }

    /// Whether another process can resolve the text, too: a pipe can be read only once.
    pub fn is_in_files(&self) -> bool {
        match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => t.is_in_files(),
            Kind::Synthetic(_) | Kind::Jobs(_) | Kind::Twin(_) => true,
        }
    }

    /// The text from which the workload was resolved.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What determines when a request is issued.
    pub fn pacing(&self) -> Pacing {
        match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => t.pacing(),
            Kind::Synthetic(s) => s.pacing(),
            Kind::Jobs(_) => Pacing::Jobs,
            Kind::Twin(t) => t.pacing(),
        }
    }

    /// When the client of a closed loop pauses. `None` if it never does.
    pub fn pauses(&self, drive: DriveShape) -> Option<Pauses> {
        match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => t.pauses(drive),
            Kind::Synthetic(s) => s.pauses(drive),
            Kind::Jobs(_) => None,
            Kind::Twin(t) => t.pauses(drive),
        }
    }

    /// Number of requests of a trace, of the selected volume; `None` for generated requests and jobs.
    pub fn recorded_requests(&self) -> Option<u64> {
        match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => Some(t.replayed()),
            Kind::Synthetic(_) | Kind::Jobs(_) | Kind::Twin(_) => None,
        }
    }

    /// Assumptions about what the input does not state, one sentence each; a report shows them with its figures.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => t.remarks(),
            Kind::Jobs(j) => j.remarks(),
            Kind::Synthetic(_) | Kind::Twin(_) => Vec::new(),
        };
        remarks.extend(self.replaced.iter().cloned());
        remarks
    }

    /// Options of a text that the run overrides, as in [`Workload::remarks`]; without reading its trace.
    pub fn replaced_in(text: &str, over: Overrides) -> Vec<String> {
        replaced(parts(text).options, over)
    }

    /// How often a trace is replayed. `None` for generated requests and jobs.
    pub fn passes(&self) -> Option<u64> {
        match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => Some(t.passes()),
            Kind::Synthetic(_) | Kind::Jobs(_) | Kind::Twin(_) => None,
        }
    }

    /// When the workload ends on this drive.
    pub fn limit(&self, drive: DriveShape) -> Limit {
        match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => t.limit(drive),
            Kind::Synthetic(s) => s.limit(drive),
            Kind::Jobs(j) => j.limit(),
            Kind::Twin(t) => t.limit(drive),
        }
    }

    /// The requests as this drive gets them, made to fit. The seed matters to synthetic workloads and job files only.
    /// For a job file, the requests on a drive with zero latency.
    ///
    /// # Errors
    ///
    /// Requests beyond the drive, with the numbers and the ways to make them fit.
    pub fn open(&self, drive: DriveShape, seed: u64) -> Result<RequestStream, WorkloadError> {
        self.pass(drive, seed, 0)
    }

    /// The requests of a pass of a repeated workload, from 0. Generated requests differ from pass to pass, with the same hot
    /// pages and files; traces and job files repeat theirs.
    ///
    /// # Errors
    ///
    /// Those of [`Workload::open`].
    pub fn pass(&self, drive: DriveShape, seed: u64, pass: u64) -> Result<RequestStream, WorkloadError> {
        let draws = Draws { seed, pass };
        match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => t.open(drive),
            Kind::Synthetic(s) => s.open(drive, draws),
            Kind::Jobs(j) => j.open(drive, seed),
            Kind::Twin(t) => t.open(drive, draws),
        }
    }

    /// The requests without the limits of the workload and its options, unless it ends by itself.
    ///
    /// # Errors
    ///
    /// Those of [`Workload::open`].
    pub fn unbounded(&self, drive: DriveShape, seed: u64) -> Result<RequestStream, WorkloadError> {
        match &self.kind {
            Kind::Synthetic(s) => s.unbounded(drive, Draws::first(seed)),
            Kind::Twin(t) => t.unbounded(drive, Draws::first(seed)),
            Kind::Trace(_) | Kind::Original(..) | Kind::Jobs(_) => self.open(drive, seed),
        }
    }

    /// The distribution of the writes, if each is independent of the others.
    pub(crate) fn update_law(
        &self,
        drive: DriveShape,
        seed: u64,
    ) -> Result<Option<UpdateLaw>, WorkloadError> {
        match &self.kind {
            Kind::Synthetic(s) => s.update_law(drive, seed),
            Kind::Twin(t) => t.update_law(drive, seed),
            Kind::Trace(_) | Kind::Original(..) | Kind::Jobs(_) => Ok(None),
        }
    }

    /// The writes of the drive in steady state, ignoring limits of the workload. A trace, or another finite workload,
    /// continues from its beginning.
    ///
    /// # Errors
    /// Those of [`Workload::open`]; a workload that does not write, or that trims.
    pub fn updates(&self, drive: DriveShape, seed: u64) -> Result<Updates, WorkloadError> {
        if let Some(law) = self.update_law(drive, seed)? {
            return Ok(Updates::Law(law));
        }
        let again = self.clone();
        let open = Box::new(move || again.unbounded(drive, seed));
        Ok(Updates::Stream(UpdateStream::new(self.name(), drive, open)?))
    }

    /// The jobs of a job file, to be polled request by request. `None` for every other workload, whose
    /// requests do not depend on completions.
    ///
    /// # Errors
    ///
    /// A job that does not fit the drive.
    pub fn script(&self, drive: DriveShape, seed: u64) -> Result<Option<JobScript>, WorkloadError> {
        match &self.kind {
            Kind::Jobs(j) => j.script(drive, seed).map(Some),
            _ => Ok(None),
        }
    }

    /// The sources of requests, by the volume number of a request: the volumes of a trace, the jobs of a job file, or
    /// the workload itself.
    pub fn sources(&self) -> Vec<Source> {
        let named = |name: &str| Source { name: name.to_string(), class: QueueClass::default() };
        match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => {
                let labels: Vec<&str> = t.labels().map(|(label, _)| label).collect();
                match labels.as_slice() {
                    [] | [""] => vec![named(self.file_name())],
                    labels => labels.iter().map(|label| named(label)).collect(),
                }
            }
            Kind::Jobs(j) => j.sources(),
            Kind::Synthetic(_) | Kind::Twin(_) => vec![named(self.name())],
        }
    }

    fn file_name(&self) -> &str {
        Path::new(self.name()).file_name().and_then(|n| n.to_str()).unwrap_or(self.name())
    }

    /// Whether time ends it, so that the number of requests depends on the drive. Traces and open loops end
    /// by themselves.
    pub fn is_timed(&self) -> bool {
        match &self.kind {
            Kind::Jobs(j) => j.is_timed(),
            _ => false,
        }
    }

    /// The logical pages that reads and writes touch, after fit: the pages mapped by `preload`. A closed loop limited
    /// by time may read all pages first; a job file touches the space of each job, as fio lays out its file.
    ///
    /// # Errors
    ///
    /// Those of [`Workload::open`] and of its stream.
    pub fn footprint(
        &self,
        drive: DriveShape,
        seed: u64,
        touched: Touched,
    ) -> Result<Footprint, WorkloadError> {
        // The unit of counting: pages, or sectors.
        let per_page = match touched {
            Touched::SectorsReadFirst | Touched::Sectors | Touched::SectorsOfFirstRead => {
                (drive.unit_bytes / drive.sector_bytes).max(1) as u64
            }
            _ => 1,
        };
        let unit = (drive.unit_blocks() / per_page).max(1);
        let mut pages = PageSet::default();
        let mut written = PageSet::default();
        let mut exact = true;
        let spans = match &self.kind {
            Kind::Synthetic(s) => s.endless_span(drive)?.map(|span| vec![span]),
            Kind::Twin(t) => t.endless_span(drive)?.map(|span| vec![span]),
            Kind::Jobs(j) => Some(j.spans(drive)?),
            Kind::Trace(_) | Kind::Original(..) => None,
        };
        if let Some(spans) = spans {
            exact = false;
            for (first, blocks) in spans {
                pages.insert(first / unit..(first + blocks).div_ceil(unit));
            }
        } else {
            for (number, request) in (0..).zip(self.open(drive, seed)?) {
                going_on(number)?;
                let r = request?;
                let range = r.lba.0 / unit..(r.lba.0 + r.blocks as u64).div_ceil(unit);
                match (touched, r.op) {
                    (_, HostOp::Trim | HostOp::Flush) => {}
                    (Touched::AtAll | Touched::Sectors, _) => pages.insert(range),
                    (Touched::SectorsOfFirstRead, op) => {
                        for page in range.start / per_page..range.end.div_ceil(per_page) {
                            let own = page * per_page..(page + 1) * per_page;
                            if op == HostOp::Read && !written.contains(page) {
                                pages.insert(range.start.max(own.start)..range.end.min(own.end));
                            }
                            // Its contents are known from here on.
                            written.insert(page..page + 1);
                        }
                    }
                    (_, HostOp::Write) => written.insert(range),
                    (_, HostOp::Read) => {
                        range.filter(|p| !written.contains(*p)).for_each(|p| pages.insert(p..p + 1));
                    }
                }
            }
        }
        let number = |page: u64| {
            u32::try_from(page).map_err(|_| {
                let what = format!("logical page {page} of {} bytes exceeds 32 bits", drive.unit_bytes);
                WorkloadError::from(
                    Problem::new(ErrorKind::Fit, self.name(), what).allowed("larger logical pages"),
                )
            })
        };
        let (pages, lacking) = whole_pages(pages, per_page);
        let runs = pages.runs().into_iter().map(|r| Ok(number(r.start)?..number(r.end)?));
        let runs = runs.collect::<Result<_, WorkloadError>>()?;
        let lacking = lacking.into_iter().map(|(page, mask)| Ok((number(page)?, mask)));
        Ok(Footprint { runs, lacking: lacking.collect::<Result<_, WorkloadError>>()?, exact })
    }

    /// Everything that determines the requests: options with their defaults, the detected format, and the SHA-256 of an
    /// input file. For the report.
    pub fn resolved(&self) -> Value {
        let mut value = match &self.kind {
            Kind::Trace(t) | Kind::Original(_, t) => t.resolved(),
            Kind::Synthetic(s) => s.resolved(),
            Kind::Jobs(j) => j.resolved(),
            Kind::Twin(t) => t.resolved(),
        };
        match &self.kind {
            Kind::Twin(_) => value["source"] = "twin".into(),
            Kind::Original(twin, _) => {
                value["source"] = "original".into();
                value["twin"] = twin.as_str().into();
            }
            Kind::Trace(_) | Kind::Synthetic(_) | Kind::Jobs(_) => {}
        }
        if let Value::Object(map) = &mut value {
            map.insert("text".into(), Value::String(self.text.clone()));
        }
        value
    }
}

impl Workload {
    /// The part of [`Workload::resolved`] that determines the requests: for files their names and content hashes,
    /// without their location.
    pub fn identity(&self) -> Value {
        let mut value = self.resolved();
        let Value::Object(map) = &mut value else { return value };
        if !map.contains_key("sha256") {
            return value;
        }
        // The text has path and options; the options are also in the resolved rest.
        map.remove("text");
        for key in ["name", "twin"] {
            if let Some(Value::String(path)) = map.get_mut(key) {
                *path = path.split('+').map(file_name).collect::<Vec<_>>().join("+");
            }
        }
        value
    }
}

/// A trace in a file. For a word that names neither a file nor a built-in workload, the error lists both.
fn trace(file: &str, options: &str, over: Overrides) -> Result<Arc<Trace>, WorkloadError> {
    check_is_there(file, &SYNTHETICS.iter().map(|s| s.name).collect::<Vec<_>>())?;
    Trace::find(file, options, over).map(Arc::new)
}

/// Options of a workload that the run overrides, and which of the two takes effect.
fn replaced(options: &str, over: Overrides) -> Vec<String> {
    let said = options.split(',').filter_map(|option| option.split_once('='));
    let sentence = |(key, value): (&str, &str)| {
        let asked = match key.trim() {
            "requests" => {
                let own = value.trim().parse::<Count>().ok().map(|n| n.0);
                over.requests.filter(|n| Some(*n) != own)?.to_string()
            }
            "fit" => over.fit.filter(|fit| value.trim().parse().ok() != Some(*fit))?.to_string(),
            _ => return None,
        };
        let key = key.trim();
        Some(format!("{key} {asked} of the run overrides {key}={} of the workload.", value.trim()))
    };
    said.filter_map(sentence).collect()
}

fn refuse_no_requests(over: Overrides) -> Result<(), WorkloadError> {
    if over.requests != Some(0) {
        return Ok(());
    }
    Err(Problem::new(ErrorKind::Option, "requests", "the number of requests is 0")
        .allowed("1 or more")
        .into())
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

/// The pages to which these sectors belong, with `per_page` sectors each, and the sectors that they lack.
fn whole_pages(sectors: PageSet, per_page: u64) -> (PageSet, Vec<(u64, u32)>) {
    if per_page == 1 {
        return (sectors, vec![]);
    }
    let all = (1u64 << per_page) - 1;
    let mut pages = PageSet::default();
    let mut lacking: Vec<(u64, u32)> = vec![];
    for run in sectors.runs() {
        for page in run.start / per_page..run.end.div_ceil(per_page) {
            let (from, to) = (run.start.max(page * per_page), run.end.min((page + 1) * per_page));
            let held = (from..to).fold(0u64, |mask, s| mask | 1 << (s % per_page));
            // Runs of the same page are consecutive.
            match lacking.last_mut().filter(|(last, _)| *last == page) {
                Some((_, missing)) => *missing &= !held as u32,
                None if held != all => lacking.push((page, (all & !held) as u32)),
                None => {}
            }
            pages.insert(page..page + 1);
        }
    }
    (pages, lacking)
}

#[cfg(all(test, not(feature = "compression")))]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_file_is_refused_by_name() {
        let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        let e = Workload::in_memory("a.csv.gz", &gzip, "", Overrides::default()).unwrap_err().to_string();
        assert!(e.contains("compressed with gzip, which this build does not support"), "{e}");
    }
}
