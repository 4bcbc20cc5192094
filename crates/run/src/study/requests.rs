//! Every request of a report's run, found by doing the run again.

use crate::error::RunError;
use crate::execute::{Progress, perform, ready};
use crate::record::completions::{NUMBERS, WORDS, columns, numbers};
use crate::study::rerun::{came_out_otherwise, setup_of};
use std::ops::ControlFlow;
use std::time::Instant;
use wordline_report::Report;
use wordline_schemes::Registry;
use wordline_sim::{Completion, Event, Probe};

/// The requests of a run in the order in which they ended, by column: what the file of completions has.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// What was asked, and how it ended, as the reports' keys have it.
    pub words: [Vec<&'static str>; 2],
    /// Number, address and length in units of 512 bytes, times of arrival and end in nanoseconds, and the parts of the
    /// latency in nanoseconds, which add up to it.
    pub numbers: [Vec<i64>; NUMBERS],
}

impl Requests {
    /// The names of the columns of numbers.
    pub fn names() -> impl Iterator<Item = String> {
        columns().filter(|name| !WORDS.contains(&name.as_str()))
    }

    /// One more.
    pub fn add(&mut self, c: &Completion) {
        for (column, number) in self.numbers.iter_mut().zip(numbers(c)) {
            column.push(number as i64);
        }
        for (column, word) in self.words.iter_mut().zip([c.request.op.key(), c.outcome.key()]) {
            column.push(word);
        }
    }
}

impl Probe for Requests {
    const WATCHES: bool = true;

    fn event(&mut self, _: Event) {}

    fn completion(&mut self, c: &Completion) {
        self.add(c);
    }
}

/// Do a report's run again, and keep its requests. `workload` stands in for the recorded path where the file has moved.
/// Of replicas it is the first.
///
/// # Errors
/// As for [`crate::rerun`], or when the run comes out otherwise than in the report.
pub fn requests(
    report: &Report,
    workload: Option<&str>,
    registry: &Registry,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Requests, RunError> {
    let setup = setup_of(report, workload, registry)?;
    let spelling = setup.scheme(&setup.spec.scheme)?;
    let (mut device, start) = ready(&setup, &spelling, Requests::default())?;
    let again = perform(&setup, &spelling, 0, (&mut device, start), Instant::now(), progress)?;
    if again.result_hash != report.result_hash {
        return Err(came_out_otherwise(report, &again));
    }
    Ok(device.probe)
}
