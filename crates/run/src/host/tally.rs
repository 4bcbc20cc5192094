//! Results of a job or queue: latencies, bytes and failures by kind of request.

use wordline_ftl::Outcome;
use wordline_report::{JobRequests, LATENCY_BOUNDS_NS, PERCENTILES};
use wordline_sim::{Completion, Histogram};

/// Requests of one kind.
#[derive(Clone, Default)]
struct OfKind {
    latency: Histogram,
    bytes: u64,
    failed: u64,
}

/// Requests by kind: read, write, trim, flush.
#[derive(Clone, Default)]
pub(crate) struct Tally([Option<Box<OfKind>>; 4]);

impl Tally {
    /// A request has ended.
    pub fn add(&mut self, completion: &Completion) {
        let request = &completion.request;
        let given = self.0[request.op as usize].get_or_insert_default();
        if completion.outcome == Outcome::Done {
            given.latency.record(completion.at.since(request.arrival));
            given.bytes += request.bytes();
        } else {
            given.failed += 1;
        }
    }

    /// The figures by kind; `None` for a kind without completions.
    pub fn requests(&self) -> [Option<JobRequests>; 4] {
        std::array::from_fn(|kind| self.0[kind].as_deref().map(requests))
    }

    /// The share of reads, writes and trims in each of fio's latency bins.
    pub fn shares(&self) -> Vec<f64> {
        let mut counts = vec![0u64; LATENCY_BOUNDS_NS.len() + 1];
        for given in self.0[..3].iter().flatten() {
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
}

fn requests(given: &OfKind) -> JobRequests {
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
