//! A drive that advances on request.

use crate::arguments::{RunArguments, Watcher, told};
use crate::columns::{Column, Columns};
use crate::error::{unfit, wrong};
use crate::scheme::{Failed, with_classes};
use crate::signal::apart;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wordline_report::Report;
use wordline_run::{Blocks, Feed, Numbers, OfRequests, RunError, SteppedDrive};
use wordline_sim::Completion;
use wordline_units::{HostOp, HostRequest, Opt, SimTime};

/// Number, kind, first block of 512 bytes, blocks, arrival and end in nanoseconds, outcome.
type Ended = (u64, &'static str, u64, u32, u64, u64, &'static str);

/// A drive under one scheme, with its clock.
#[pyclass(frozen, module = "wordline._wordline", name = "SteppedDrive")]
pub(crate) struct Stepped {
    drive: Mutex<SteppedDrive>,
    failed: Arc<Failed>,
}

impl Stepped {
    fn over(drive: SteppedDrive, failed: &Arc<Failed>) -> Stepped {
        Stepped { drive: Mutex::new(drive), failed: Arc::clone(failed) }
    }

    fn drive(&self) -> MutexGuard<'_, SteppedDrive> {
        self.drive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the drive, without the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut SteppedDrive) -> Result<T, RunError> + Send,
    ) -> PyResult<T> {
        told(&self.failed, apart(py, || work(&mut self.drive()))?)
    }
}

#[pymethods]
impl Stepped {
    #[new]
    fn new(py: Python<'_>, asked: RunArguments, scheme: &str) -> PyResult<Stepped> {
        let (spec, failed) = asked.spec(py, scheme)?;
        let drive = told(&failed, apart(py, || SteppedDrive::new(&spec))?)?;
        Ok(Stepped::over(drive, &failed))
    }

    /// Its time in nanoseconds.
    fn now(&self) -> u64 {
        self.drive().now().0
    }

    /// Its scheme with all parameters that were given.
    fn scheme(&self) -> String {
        self.drive().scheme().to_string()
    }

    /// Submit a request at a time, or at the drive's; returns its number.
    fn submit(&self, py: Python<'_>, op: &str, lba: u64, blocks: u32, at: Option<u64>) -> PyResult<u64> {
        let op = op.parse::<HostOp>().map_err(|e| unfit(Opt::Op, op, e))?;
        self.with(py, |drive| {
            let at = at.map_or(drive.now(), SimTime);
            drive.submit(HostRequest::new(op, lba, blocks).at(at))
        })
    }

    /// Advance time to a moment, or until no event is left or enough requests have completed; returns the completed
    /// requests.
    fn run(&self, py: Python<'_>, until: Option<u64>, most: usize) -> PyResult<Vec<Ended>> {
        let until = until.map_or(SimTime::NEVER, SimTime);
        self.with(py, |drive| {
            let mut ended = vec![];
            while ended.len() < most
                && let Some(c) = drive.next(until)?
            {
                ended.push(row(&c));
                if ended.len() % 4096 == 0 && wordline_units::is_interrupted() {
                    return Err(RunError::Interrupted);
                }
            }
            Ok(ended)
        })
    }

    /// Complete all outstanding work, and idle work until none is left.
    fn drain(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, SteppedDrive::drain)
    }

    /// A copy of the drive.
    fn fork(&self, py: Python<'_>) -> PyResult<Stepped> {
        Ok(Stepped::over(self.with(py, SteppedDrive::fork)?, &self.failed))
    }

    /// A workload on a fork: the report as JSON, and the fork afterwards.
    fn play(
        &self,
        py: Python<'_>,
        asked: RunArguments,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, Stepped)> {
        let scheme = self.scheme();
        let (spec, _) = asked.spec(py, &scheme)?;
        let mut watcher = Watcher::new(progress, Arc::clone(&self.failed));
        let done = apart(py, || self.drive().play(&spec, &mut |p| watcher.see(p)))?;
        let (report, after) = watcher.judge(done)?;
        Ok((report.to_json().map_err(wrong)?, Stepped::over(after, &self.failed)))
    }

    /// Its state, as JSON.
    fn look(&self) -> String {
        self.drive().look().to_string()
    }

    /// Every block.
    fn blocks(&self) -> PyResult<Columns> {
        let Blocks { numbers, words, life_used } = self.drive().blocks();
        let words = words.into_iter().map(Column::Words);
        let words = Blocks::WORDS.into_iter().map(str::to_string).zip(words);
        let numbers = numbers.into_iter().map(|all| Column::Whole(Numbers::Wide(all)));
        let numbers = Blocks::NUMBERS.into_iter().map(str::to_string).zip(numbers);
        let life = ("life_used".to_string(), Column::Broken(life_used));
        Columns::new(numbers.chain(words).chain([life]))
    }
}

/// A workload that is submitted to a drive step by step.
#[pyclass(frozen, module = "wordline._wordline", name = "Feed")]
pub(crate) struct Feeding(Mutex<Feed>);

#[pymethods]
impl Feeding {
    #[new]
    fn new(py: Python<'_>, drive: &Stepped, asked: RunArguments) -> PyResult<Feeding> {
        let (spec, _) = asked.spec(py, &drive.scheme())?;
        Ok(Feeding(Mutex::new(drive.with(py, |drive| Feed::new(drive, &spec))?)))
    }

    /// Whether all requests were submitted.
    #[getter]
    fn is_over(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_over()
    }

    /// Submit up to this many further requests, none after a time; returns their number, and the completed
    /// requests.
    fn step(
        &self,
        py: Python<'_>,
        drive: &Stepped,
        most: u64,
        until: Option<u64>,
    ) -> PyResult<(u64, Vec<Ended>)> {
        let until = until.map_or(SimTime::NEVER, SimTime);
        drive.with(py, |drive| {
            let mut ended = vec![];
            let mut feed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let gone_in = feed.step(drive, most, until, &mut |c| ended.push(row(&c)))?;
            Ok((gone_in, ended))
        })
    }

    /// Submit requests until a time, or until the last of them: a summary of what completed meanwhile, as JSON.
    fn measure(&self, py: Python<'_>, drive: &Stepped, until: Option<u64>) -> PyResult<String> {
        let until = until.map_or(SimTime::NEVER, SimTime);
        drive.with(py, |drive| {
            let measured = self.0.lock().unwrap_or_else(PoisonError::into_inner).measure(drive, until)?;
            Ok(measured.to_string())
        })
    }
}

fn row(c: &Completion) -> Ended {
    let r = &c.request;
    (c.number, r.op.key(), r.lba.0, r.blocks, r.arrival.0, c.at.0, c.outcome.key())
}

/// Every request of a report's run, found by doing it again, with classes of Python among the schemes.
#[pyfunction]
pub(crate) fn requests(
    py: Python<'_>,
    report: &str,
    columns: Vec<String>,
    workload: Option<&str>,
    progress: Option<Py<PyAny>>,
    classes: Vec<Py<PyAny>>,
) -> PyResult<Columns> {
    let report = Report::from_json(report).map_err(wrong)?;
    let (registry, failed) = with_classes(py, &classes)?;
    let mut watcher = Watcher::new(progress, failed);
    let done = apart(py, || {
        wordline_run::requests(&report, &columns, workload, &registry, &mut |p| watcher.see(p))
    })?;
    Columns::new(watcher.judge(done)?.into_columns().into_iter().map(|(name, column)| {
        let column = match column {
            OfRequests::Numbers(_, all) => Column::Whole(all),
            OfRequests::Words(_, words) => {
                let (keys, words) = words.into_parts();
                Column::Keys(keys, words.into_iter().map(str::to_string).collect())
            }
        };
        (name, column)
    }))
}
