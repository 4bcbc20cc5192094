//! A stream of requests that can be opened any number of times: a trace, or several merged by time.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::reading::record::Record;
use crate::requests::stream::Overrides;
use crate::trace::cursor::{Cursor, Step};
use crate::trace::trace::Trace;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests in order of time; after an error it ends.
pub(crate) type Records = Box<dyn Iterator<Item = Result<Record, WorkloadError>> + Send>;

/// A source of requests that can be opened again with the same result.
pub(crate) trait Flow: Send + Sync {
    /// Its name in messages.
    fn label(&self) -> &str;
    /// The names of the volumes, by number.
    fn volumes(&self) -> &[String];
    /// The requests. Times never decrease.
    fn open(&self) -> Result<Records, WorkloadError>;
}

/// A trace as stated in its files.
pub(crate) struct TraceFlow {
    trace: Trace,
    /// The volumes with requests.
    volumes: Vec<String>,
    /// Their numbers, by their numbers in the trace.
    numbers: Vec<u16>,
}

impl TraceFlow {
    /// Reads the whole trace, so that all its errors are known before anything is written.
    pub fn load(text: &str) -> Result<TraceFlow, WorkloadError> {
        let trace = Trace::parse(text, Overrides::default())?;
        trace.refuse_replay_options()?;
        let (mut volumes, mut numbers) = (Vec::new(), Vec::new());
        for (label, requests) in trace.labels() {
            numbers.push(volumes.len() as u16);
            if requests > 0 {
                volumes.push(label.to_string());
            }
        }
        Ok(TraceFlow { trace, volumes, numbers })
    }

    /// Time of the first request, on the trace's own clock.
    fn first_time(&self) -> u64 {
        self.trace.first_time()
    }

    /// The file's name without its folder.
    fn file_name(&self) -> String {
        let name = self.trace.name();
        name.rsplit('/').next().unwrap_or(name).replace([',', ' '], ".")
    }
}

impl Flow for TraceFlow {
    fn label(&self) -> &str {
        self.trace.name()
    }

    fn volumes(&self) -> &[String] {
        &self.volumes
    }

    fn open(&self) -> Result<Records, WorkloadError> {
        let bounds = self.trace.bounds();
        Ok(Box::new(Reading {
            cursor: self.trace.cursor()?,
            numbers: self.numbers.clone(),
            latest: bounds.first_time,
            left: bounds.requests,
            until: bounds.until,
            skip_bad: bounds.skip_bad,
        }))
    }
}

/// A trace being read.
struct Reading {
    cursor: Cursor,
    numbers: Vec<u16>,
    latest: u64,
    left: u64,
    until: Option<u64>,
    skip_bad: bool,
}

impl Reading {
    fn step(&mut self) -> Result<Option<Record>, WorkloadError> {
        while self.left > 0 {
            let record = match self.cursor.next_record()? {
                Some(Step::Request(record)) => record,
                Some(Step::Unusable(_)) if self.skip_bad => continue,
                Some(Step::Unusable(reason)) => return Err(self.changed(&reason)),
                None => return Ok(None),
            };
            self.latest = self.latest.max(record.time);
            if self.until.is_some_and(|until| self.latest >= until) {
                return Ok(None);
            }
            self.left -= 1;
            let Some(volume) = self.numbers.get(record.volume as usize) else {
                return Err(self.changed("a new volume appeared"));
            };
            return Ok(Some(Record { time: self.latest, volume: *volume, ..record }));
        }
        Ok(None)
    }

    #[cold]
    fn changed(&self, what: &str) -> WorkloadError {
        Problem::new(ErrorKind::Content, self.cursor.place(), what)
            .hint("the file has changed since it was first read")
            .into()
    }
}

impl Iterator for Reading {
    type Item = Result<Record, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.left = 0;
        }
        step.transpose()
    }
}

/// How the clocks of several traces are aligned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Unchanged.
    Clocks,
    /// Each trace begins at time 0.
    Starts,
}

/// Several traces merged by time. Requests at the same instant are ordered by trace.
pub(crate) struct Merge {
    label: String,
    flows: Vec<TraceFlow>,
    align: Align,
    volumes: Vec<String>,
    /// Number of each trace's first volume among all volumes.
    bases: Vec<u16>,
}

impl Merge {
    pub fn of(flows: Vec<TraceFlow>, align: Align) -> Result<Merge, WorkloadError> {
        let label = flows.iter().map(|f| f.label()).collect::<Vec<_>>().join(" and ");
        let mut count: FxHashMap<&str, u32> = FxHashMap::default();
        for volume in flows.iter().flat_map(|f| f.volumes()) {
            *count.entry(volume).or_default() += 1;
        }
        let (mut volumes, mut bases): (Vec<String>, Vec<u16>) = (Vec::new(), Vec::new());
        let mut taken = FxHashSet::default();
        for flow in &flows {
            if volumes.len() + flow.volumes().len() > u16::MAX as usize {
                let what = "together they hold 65,536 volumes or more";
                return Err(Problem::new(ErrorKind::Content, label.as_str(), what)
                    .hint("volume=LABEL selects one volume of a trace")
                    .into());
            }
            bases.push(volumes.len() as u16);
            for volume in flow.volumes() {
                let alone = count.get(volume.as_str()) == Some(&1);
                let name = match (alone, flow.volumes().len()) {
                    (true, _) => volume.clone(),
                    (false, 1) => flow.file_name(),
                    (false, _) => format!("{}/{volume}", flow.file_name()),
                };
                // A file given twice is two volumes.
                let again = (2..).map(|n| format!("{name}#{n}"));
                let free = std::iter::once(name.clone()).chain(again).find(|n| !taken.contains(n));
                let name = free.unwrap_or(name);
                taken.insert(name.clone());
                volumes.push(name);
            }
        }
        Ok(Merge { label, flows, align, volumes, bases })
    }
}

impl Flow for Merge {
    fn label(&self) -> &str {
        &self.label
    }

    fn volumes(&self) -> &[String] {
        &self.volumes
    }

    fn open(&self) -> Result<Records, WorkloadError> {
        let mut merging = Merging { inputs: Vec::new(), heads: Vec::new(), order: BinaryHeap::new() };
        for (flow, base) in self.flows.iter().zip(&self.bases) {
            let start = if self.align == Align::Starts { flow.first_time() } else { 0 };
            merging.inputs.push(Input { records: flow.open()?, base: *base, start });
            merging.heads.push(None);
        }
        for n in 0..self.flows.len() {
            merging.advance(n)?;
        }
        Ok(Box::new(merging))
    }
}

struct Input {
    records: Records,
    base: u16,
    start: u64,
}

struct Merging {
    inputs: Vec<Input>,
    heads: Vec<Option<Record>>,
    order: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Merging {
    fn advance(&mut self, n: usize) -> Result<(), WorkloadError> {
        let input = &mut self.inputs[n];
        if let Some(record) = input.records.next().transpose()? {
            let time = record.time - input.start;
            self.heads[n] = Some(Record { time, volume: input.base + record.volume, ..record });
            self.order.push(Reverse((time, n)));
        }
        Ok(())
    }
}

impl Iterator for Merging {
    type Item = Result<Record, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((_, n)) = self.order.pop()?;
        let record = self.heads[n].take()?;
        if let Err(e) = self.advance(n) {
            self.order.clear();
            return Some(Err(e));
        }
        Some(Ok(record))
    }
}
