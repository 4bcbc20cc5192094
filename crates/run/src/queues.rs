//! Several queues of a host: which source of a workload has which, and what each was given.

use crate::error::RunError;
use crate::given::Given;
use crate::setup::Setup;
use std::collections::BTreeMap;
use wordline_device::config::closest;
use wordline_report::QueueActivity;
use wordline_sim::{Completion, Host, HostTurn, Pacing, Queues};
use wordline_units::{QueueClass, SimTime};

/// One queue, as the device file and the workload have it.
struct Asked {
    name: String,
    class: QueueClass,
    depth: Option<u32>,
}

/// The queues of a workload's sources, by their number; `None` where requests come in one.
fn asked(setup: &Setup) -> Option<Vec<Asked>> {
    let arbitration = setup.device.arbitration.as_ref()?;
    let mut copies: BTreeMap<String, u32> = BTreeMap::new();
    let queues = setup.workload.sources().into_iter().map(|source| {
        let named = arbitration.queues.iter().find(|q| q.name == source.name);
        let copy = copies.entry(source.name.clone()).or_default();
        *copy += 1;
        Asked {
            class: named.and_then(|q| q.class).unwrap_or(source.class),
            depth: named.and_then(|q| q.depth),
            name: if *copy == 1 { source.name } else { format!("{}#{copy}", source.name) },
        }
    });
    Some(queues.collect())
}

/// Refuse a queue that no source has, and a closed loop of several sources: it asks in the order of its requests, so
/// that no queue ever waits for its turn.
pub(crate) fn check(setup: &Setup) -> Result<(), RunError> {
    let Some(arbitration) = &setup.device.arbitration else { return Ok(()) };
    let sources = setup.workload.sources();
    let names: Vec<&str> = sources.iter().map(|s| s.name.as_str()).collect();
    for queue in &arbitration.queues {
        if !names.contains(&queue.name.as_str()) {
            let hint = closest(&queue.name, names.iter().copied());
            let hint = hint.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
            return Err(RunError::Input(format!(
                "host.queue.{}: the workload has no volume or job of that name{hint}\n  allowed: {}",
                queue.name,
                names.join(", ")
            )));
        }
    }
    if names.len() > 1 && matches!(setup.pacing(), Some(Pacing::Closed { .. })) {
        return Err(RunError::Input(format!(
            "host.arbitration: a closed loop over {} volumes has one queue, in the order of the trace\n  allowed: \
             pacing=open, a fio job file, or host.arbitration = \"off\"",
            names.len()
        )));
    }
    Ok(())
}

/// A host whose requests are measured by their queue.
pub(crate) struct Measured<'a, H> {
    host: H,
    given: &'a mut Vec<QueueGiven>,
}

/// What a queue was given, from when to when.
#[derive(Default)]
pub(crate) struct QueueGiven {
    given: Given,
    span: Option<(SimTime, SimTime)>,
}

impl<H: Host> Host for Measured<'_, H> {
    type Error = H::Error;

    fn turn(&mut self, now: SimTime) -> Result<HostTurn, H::Error> {
        self.host.turn(now)
    }

    fn completed(&mut self, completion: &Completion) {
        self.host.completed(completion);
        let number = completion.request.volume as usize;
        if self.given.len() <= number {
            self.given.resize_with(number + 1, QueueGiven::default);
        }
        let queue = &mut self.given[number];
        let (arrival, at) = (completion.request.arrival, completion.at);
        queue.span =
            Some(queue.span.map_or((arrival, at), |(from, until)| (from.min(arrival), until.max(at))));
        queue.given.add(completion);
    }

    fn is_timed(&self) -> bool {
        self.host.is_timed()
    }

    fn ends_worn(&self) -> bool {
        self.host.ends_worn()
    }
}

/// A host with its queues measured.
pub(crate) fn measured<H: Host>(host: H, given: &mut Vec<QueueGiven>) -> Measured<'_, H> {
    Measured { host, given }
}

/// The queues in front of a drive, and how many requests it works on at once.
pub(crate) fn of(setup: &Setup) -> Option<(Queues, u32)> {
    let arbitration = setup.device.arbitration.as_ref()?;
    let queues = asked(setup)?.into_iter().map(|q| (q.class, q.depth.unwrap_or(u32::MAX)));
    Some((Queues::new(arbitration.order, arbitration.burst, queues), setup.device.host.queue_depth))
}

/// The figures, after the run.
pub(crate) fn activity(setup: &Setup, given: &[QueueGiven]) -> Vec<QueueActivity> {
    let Some(order) = setup.device.arbitration.as_ref().map(|a| a.order) else { return vec![] };
    let seconds = |t: SimTime| t.0 as f64 / 1e9;
    let of = |(queue, asked): (&QueueGiven, Asked)| {
        let (from, until) = queue.span?;
        let [read, write, trim, flush] = queue.given.requests();
        let is_weighed = order != wordline_device::ArbitrationOrder::RoundRobin;
        Some(QueueActivity {
            name: asked.name,
            class: is_weighed.then(|| asked.class.key().to_string()),
            weight: order.weight(asked.class),
            depth: asked.depth,
            from_s: seconds(from),
            until_s: seconds(until),
            read,
            write,
            trim,
            flush,
        })
    };
    given.iter().zip(asked(setup).unwrap_or_default()).filter_map(of).collect()
}
