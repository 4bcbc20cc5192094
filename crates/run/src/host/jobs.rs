//! The jobs of a job file: the workload's script as a host of the driver, and the figures of each job without
//! its `ramp_time`. The report's other figures are those of the whole run.

use crate::host::tally::Tally;
use wordline_report::JobActivity;
use wordline_sim::{Completion, Host, HostTurn};
use wordline_units::SimTime;
use wordline_workload::{JobScript, Turn};

/// The script of a job file, measured.
pub(crate) struct Jobs<I> {
    script: JobScript,
    given: Vec<Tally>,
    is_timed: bool,
    /// Called before each turn; an error ends the run.
    go_on: I,
}

impl<E: std::error::Error, I: FnMut() -> Result<(), E>> Jobs<I> {
    pub fn new(script: JobScript, is_timed: bool, go_on: I) -> Jobs<I> {
        let given = script.windows().map(|_| Default::default()).collect();
        Jobs { script, given, is_timed, go_on }
    }

    /// The figures, after the run.
    pub fn activity(&self) -> Vec<JobActivity> {
        let seconds = |t: SimTime| t.0 as f64 / 1e9;
        let windows = self.script.windows().zip(&self.given);
        // A job that the number of requests kept from beginning has nothing to show.
        let begun = windows.filter(|(w, _)| w.measured_from < SimTime::NEVER);
        begun
            .map(|(window, given)| {
                let [read, write, trim, flush] = given.requests();
                JobActivity {
                    name: window.name.clone(),
                    group: window.group,
                    options: window.options.clone(),
                    from_s: seconds(window.measured_from),
                    until_s: seconds(window.ended.unwrap_or(window.measured_from)),
                    read,
                    write,
                    trim,
                    flush,
                    latency_shares: given.shares(),
                }
            })
            .collect()
    }
}

impl<E: std::error::Error, I: FnMut() -> Result<(), E>> Host for Jobs<I> {
    type Error = E;

    fn turn(&mut self, now: SimTime) -> Result<HostTurn, E> {
        (self.go_on)()?;
        Ok(match self.script.next(now) {
            Turn::Issue(request) => HostTurn::Issue(request),
            Turn::Until(time) => HostTurn::Until(time),
            Turn::Completion => HostTurn::Completion,
            Turn::End => HostTurn::End,
        })
    }

    fn completed(&mut self, completion: &Completion) {
        let request = &completion.request;
        self.script.completed(request, completion.at);
        if completion.at < self.script.measured_from(request.volume) {
            return;
        }
        self.given[request.volume as usize].add(completion);
    }

    fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Refused requests of a worn-out drive take no time, so jobs limited by time would never end.
    fn ends_worn(&self) -> bool {
        true
    }
}
