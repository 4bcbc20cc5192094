//! The jobs of a job file at work: the workload's script as a host of the driver, and the figures of
//! each job without its `ramp_time`. The report's other figures are those of the whole run.

use wordline_ftl::Outcome;
use wordline_report::{JobActivity, JobRequests, LATENCY_BOUNDS_NS, PERCENTILES};
use wordline_sim::{Completion, Histogram, Host, HostTurn};
use wordline_units::SimTime;
use wordline_workload::{JobScript, Turn};

/// What one job was given, by kind of request: read, write, trim, flush.
#[derive(Clone, Default)]
struct Given {
    latency: Histogram,
    bytes: u64,
    failed: u64,
}

/// The script of a job file, measured.
pub(crate) struct Jobs<I> {
    script: JobScript,
    given: Vec<[Option<Box<Given>>; 4]>,
    is_timed: bool,
    /// Asked before each turn; an error breaks the run off.
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
                let of = |kind: usize| given[kind].as_deref().map(requests);
                JobActivity {
                    name: window.name.clone(),
                    group: window.group,
                    options: window.options.clone(),
                    from_s: seconds(window.measured_from),
                    until_s: seconds(window.ended.unwrap_or(window.measured_from)),
                    read: of(0),
                    write: of(1),
                    trim: of(2),
                    flush: of(3),
                    latency_shares: shares(given),
                }
            })
            .collect()
    }
}

/// What share of the reads, writes and trims took less than each of fio's bounds, and not less than the
/// bound before.
fn shares(given: &[Option<Box<Given>>; 4]) -> Vec<f64> {
    let mut counts = vec![0u64; LATENCY_BOUNDS_NS.len() + 1];
    for given in given[..3].iter().flatten() {
        let mut before = 0;
        let all = given.latency.count();
        for (latency, share) in given.latency.cumulative() {
            let until = libm::round(share * all as f64) as u64;
            counts[LATENCY_BOUNDS_NS.partition_point(|b| *b <= latency.0)] += until - before;
            before = until;
        }
    }
    let all = counts.iter().sum::<u64>().max(1) as f64;
    counts.into_iter().map(|c| c as f64 / all).collect()
}

fn requests(given: &Given) -> JobRequests {
    let h = &given.latency;
    let at = |percent: f64| (percent, h.quantile(percent / 100.0).map_or(0, |d| d.0));
    JobRequests {
        requests: h.count(),
        failed: given.failed,
        bytes: given.bytes,
        min_ns: h.min().map_or(0, |d| d.0),
        max_ns: h.max().0,
        mean_ns: h.mean().unwrap_or_default(),
        deviation_ns: libm::sqrt(h.variance().unwrap_or_default()),
        percentiles_ns: PERCENTILES.into_iter().map(at).collect(),
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
        self.script.completed(request);
        if completion.at < self.script.measured_from(request.volume) {
            return;
        }
        let given = self.given[request.volume as usize][request.op as usize].get_or_insert_default();
        if completion.outcome == Outcome::Done {
            given.latency.record(completion.at.since(request.arrival));
            given.bytes += request.bytes();
        } else {
            given.failed += 1;
        }
    }

    fn is_timed(&self) -> bool {
        self.is_timed
    }
}
