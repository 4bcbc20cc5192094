//! Requests of the host and their results.

use crate::fill::outcome::Outcome;
use std::collections::BTreeMap;
use wordline_ftl::{Counters, LatencyPart};
use wordline_report::{CDF_POINTS_MAX, Host, Latencies, Latency, Throughput};
use wordline_sim::{Histogram, Metrics};

pub(crate) fn host(run: &Outcome, c: &Counters) -> Host {
    let m = &run.device.metrics;
    let failed =
        [("out_of_space", m.out_of_space), ("uncorrectable", m.uncorrectable), ("worn_out", m.worn_out)];
    Host {
        requests: run.summary.requests,
        completed: run.summary.completed - failed.iter().map(|(_, n)| n).sum::<u64>(),
        failed: failed.into_iter().filter(|(_, n)| *n > 0).map(|(word, n)| (word.to_string(), n)).collect(),
        counts: m.requests.figures(),
        pages: c.host.figures(),
        trim_bytes: m.requests.trimmed(),
        unplaced_bytes: run.device.ftl.inspect().unplaced_bytes(),
    }
}

pub(crate) fn latencies(m: &Metrics) -> Latencies {
    let of = |kind: usize| latency(&m.latency[kind]);
    Latencies { read: of(0), write: of(1), trim: of(2), flush: of(3) }
}

pub(crate) fn latency_parts(m: &Metrics, kind: usize) -> BTreeMap<String, f64> {
    let count = m.latency[kind].count().max(1) as f64;
    let parts = LatencyPart::ALL.iter().zip(m.parts[kind]).filter(|(_, sum)| *sum > 0);
    parts.map(|(part, sum)| (part.key().to_string(), sum as f64 / count / 1e3)).collect()
}

pub(crate) fn latency(h: &Histogram) -> Option<Latency> {
    let mean = h.mean()? / 1e3;
    let at = |share: f64| h.quantile(share).map_or(0.0, |d| d.as_us());
    Some(Latency {
        count: h.count(),
        mean,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        p9999: at(0.9999),
        max: h.max().as_us(),
    })
}

pub(crate) fn throughput(m: &Metrics, host: &Host, seconds: f64) -> Throughput {
    let rate = |n: f64| if seconds > 0.0 { n / seconds } else { 0.0 };
    let [read, write] = m.requests.moved().map(|bytes| bytes as f64 / 1e6);
    Throughput {
        iops: rate(host.completed as f64),
        mb_per_s: rate(read + write),
        read_mb_per_s: rate(read),
        write_mb_per_s: rate(write),
    }
}

/// A histogram's cumulative distribution in at most [`CDF_POINTS_MAX`] points, evenly spaced in the logarithm
/// of the latency.
pub(crate) fn curve(h: &Histogram) -> Vec<[f64; 2]> {
    let all = h.cumulative();
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return vec![] };
    let (low, high) = (libm::log(first.0.0.max(1) as f64), libm::log(last.0.0.max(1) as f64));
    let per = if high > low { (CDF_POINTS_MAX - 1) as f64 / (high - low) } else { 0.0 };
    let mut points: Vec<[f64; 2]> = vec![];
    let mut slot = usize::MAX;
    for (latency, share) in all {
        let at = ((libm::log(latency.0.max(1) as f64) - low) * per) as usize;
        let point = [latency.as_us(), share];
        match points.last_mut() {
            Some(held) if at == slot => *held = point,
            _ => points.push(point),
        }
        slot = at;
    }
    points
}
