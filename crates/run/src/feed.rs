//! A workload that is submitted to a drive step by step.

use crate::ask::setup::Setup;
use crate::ask::spec::{DEFAULT_INITIAL, RunSpec};
use crate::error::RunError;
use crate::fill::host::latency;
use crate::stepping::SteppedDrive;
use serde_json::{Value, json};
use std::collections::HashSet;
use wordline_ftl::Outcome;
use wordline_report::Latencies;
use wordline_sim::{Completion, Histogram, Pacing};
use wordline_trace::RequestStream;
use wordline_units::{HostOp, HostRequest, Opt, SimDuration, SimTime};

/// Kinds of requests: [`HostOp`].
const KINDS: usize = 4;

/// A workload that is being submitted; its time 0 is the drive's time at the start.
pub struct Feed {
    requests: RequestStream,
    pacing: Pacing,
    begun: SimDuration,
    /// Numbers of its outstanding requests.
    under_way: HashSet<u64>,
    next: Option<HostRequest>,
    is_over: bool,
}

impl Feed {
    /// A workload before its first request. Of the specification, device, scheme and initial state are those of the
    /// drive.
    ///
    /// # Errors
    /// If the workload is invalid, or depends on more than time and the number of outstanding requests.
    pub fn new(drive: &SteppedDrive, asked: &RunSpec) -> Result<Feed, RunError> {
        let asked = RunSpec { initial: DEFAULT_INITIAL.to_string(), from_state: None, ..asked.clone() };
        let setup = Setup::stateless(&asked, drive.device().clone(), &[], vec![])?;
        let (Some(pacing), None) = (setup.pacing(), setup.pauses()) else {
            let what = ": its jobs or the think time of its client cannot be precomputed request by \
                        request\n  allowed: a trace, a twin, or a workload without think time";
            return Err((Opt::Workload.of(&asked.workload) + what).into());
        };
        if setup.limit().duration.is_some() && matches!(pacing, Pacing::Closed { .. }) {
            let what =
                ": a closed loop limited by time has no fixed number of requests\n  allowed: requests=N";
            return Err((Opt::Workload.of(&asked.workload) + what).into());
        }
        let requests = setup.workload.open(setup.shape, setup.spec.seed)?;
        let begun = drive.now().since(SimTime(0));
        Ok(Feed { requests, pacing, begun, under_way: HashSet::new(), next: None, is_over: false })
    }

    /// Whether all requests were submitted.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Submit requests at their arrivals until a time or the last of them; returns a summary of what completed
    /// meanwhile: seconds, successful and failed requests, bytes read and written, and latencies as in a report, by
    /// operation and of all together.
    ///
    /// # Errors
    /// As for [`Feed::step`].
    pub fn measure(&mut self, drive: &mut SteppedDrive, until: SimTime) -> Result<Value, RunError> {
        let from = drive.now();
        let mut latencies: [Histogram; KINDS] = Default::default();
        let mut moved = [0; KINDS];
        let (mut requests, mut failed) = (0, 0);
        self.go_on(drive, u64::MAX, until, &mut |is_own, c| {
            if !is_own {
                return;
            }
            if c.outcome != Outcome::Done {
                failed += 1;
                return;
            }
            requests += 1;
            moved[c.request.op as usize] += c.request.bytes();
            latencies[c.request.op as usize].record(c.at.since(c.request.arrival));
        })?;
        let mut all = Histogram::default();
        latencies.iter().for_each(|of_kind| all.add(of_kind));
        let [read, write, trim, flush] = latencies.each_ref().map(latency);
        Ok(json!({
            "seconds": drive.now().since(from).as_secs(),
            "requests": requests,
            "failed": failed,
            "read_bytes": moved[HostOp::Read as usize],
            "write_bytes": moved[HostOp::Write as usize],
            "latency_us": Latencies { read, write, trim, flush },
            "all_us": latency(&all),
        }))
    }

    /// Submit up to this many further requests at their arrivals, none after a time; returns how many. Completions
    /// are passed on in order.
    ///
    /// # Errors
    /// If the workload cannot be read further, a request does not fit the drive, or as for [`SteppedDrive::next`].
    pub fn step(
        &mut self,
        drive: &mut SteppedDrive,
        most: u64,
        until: SimTime,
        ended: &mut dyn FnMut(Completion),
    ) -> Result<u64, RunError> {
        self.go_on(drive, most, until, &mut |_, completion| ended(completion))
    }

    /// The same, and for each completion whether it belongs to this workload.
    fn go_on(
        &mut self,
        drive: &mut SteppedDrive,
        most: u64,
        until: SimTime,
        ended: &mut dyn FnMut(bool, Completion),
    ) -> Result<u64, RunError> {
        let (depth, open) = match self.pacing {
            Pacing::Open { queue_depth } => (queue_depth.max(1), true),
            Pacing::Closed { queue_depth } => (queue_depth.max(1), false),
        };
        let mut gone_in = 0;
        while gone_in < most && self.has_more()? {
            if gone_in % 1024 == 1023 && wordline_units::is_interrupted() {
                return Err(RunError::Interrupted);
            }
            while let Some(completion) = drive.poll() {
                ended(self.under_way.remove(&completion.number), completion);
            }
            if drive.requests().1 >= depth {
                match drive.next(until)? {
                    Some(completion) => ended(self.under_way.remove(&completion.number), completion),
                    None => break,
                }
                continue;
            }
            let Some(mut request) = self.next else { break };
            request.arrival = if open { request.arrival + self.begun } else { drive.now() };
            if request.arrival > until {
                break;
            }
            while open
                && drive.now() <= request.arrival
                && let Some(completion) = drive.next_by(request.arrival)?
            {
                ended(self.under_way.remove(&completion.number), completion);
            }
            self.next = None;
            self.under_way.insert(drive.submit_at(request, drive.now().max(request.arrival))?);
            gone_in += 1;
        }
        while until < SimTime::NEVER
            && let Some(completion) = drive.next(until)?
        {
            ended(self.under_way.remove(&completion.number), completion);
        }
        // So that the end is known with the last request.
        self.has_more()?;
        Ok(gone_in)
    }

    /// Whether there is a further request, which is read.
    fn has_more(&mut self) -> Result<bool, RunError> {
        if self.next.is_none() && !self.is_over {
            self.next = self.requests.next().transpose()?;
            self.is_over = self.next.is_none();
        }
        Ok(self.next.is_some())
    }
}
