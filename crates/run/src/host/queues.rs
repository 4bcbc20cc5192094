//! Several queues of a host: the source of each, and its results.

use crate::ask::queues::{Asked, asked};
use crate::ask::setup::Setup;
use crate::host::tally::Tally;
use wordline_report::QueueActivity;
use wordline_sim::{Completion, Host, HostTurn, Queues};
use wordline_units::SimTime;

/// A host whose requests are measured by queue.
pub(crate) struct Measured<'a, H> {
    host: H,
    given: &'a mut Vec<QueueTally>,
}

/// Results of a queue, from its first to its last request.
#[derive(Default)]
pub(crate) struct QueueTally {
    given: Tally,
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
            self.given.resize_with(number + 1, QueueTally::default);
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
pub(crate) fn measured<H: Host>(host: H, given: &mut Vec<QueueTally>) -> Measured<'_, H> {
    Measured { host, given }
}

/// The queues of a drive, and how many requests it works on in parallel.
pub(crate) fn of(setup: &Setup) -> Option<(Queues, u32)> {
    let arbitration = setup.device.arbitration.as_ref()?;
    let queues =
        asked(&setup.device, &setup.workload)?.into_iter().map(|q| (q.class, q.depth.unwrap_or(u32::MAX)));
    Some((Queues::new(arbitration.order, arbitration.burst, queues), setup.device.host.queue_depth))
}

/// The figures, after the run.
pub(crate) fn activity(setup: &Setup, given: &[QueueTally]) -> Vec<QueueActivity> {
    let Some(order) = setup.device.arbitration.as_ref().map(|a| a.order) else { return vec![] };
    let seconds = |t: SimTime| t.0 as f64 / 1e9;
    let of = |(queue, asked): (&QueueTally, Asked)| {
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
    given.iter().zip(asked(&setup.device, &setup.workload).unwrap_or_default()).filter_map(of).collect()
}
