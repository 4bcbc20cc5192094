//! Figures of what the host asked and was given.

use crate::schema::jobs::{JobRequests, QueueActivity};
use crate::schema::report::Report;
use crate::words::figures::figure::Better::{Higher, Lower, Neither};
use crate::words::figures::figure::{Entry, Figure, Names, distinct, latency, one};
use crate::words::number::Quantity as Q;

pub(crate) const WRITE_LATENCY: &[Entry] = &[
    latency!(
        write,
        "latency_us.write.mean",
        "mean",
        mean,
        "Mean time from the arrival of a write to its completion."
    ),
    latency!(write, "latency_us.write.p50", "p50", p50, "Half of the writes complete within this time."),
    latency!(write, "latency_us.write.p99", "p99", p99, "99 % of the writes complete within this time."),
    latency!(
        write,
        "latency_us.write.p999",
        "p99.9",
        p999,
        "99.9 % of the writes complete within this time."
    ),
    latency!(write, "latency_us.write.max", "max", max, "The slowest write."),
];

pub(crate) const READ_LATENCY: &[Entry] = &[
    latency!(
        read,
        "latency_us.read.mean",
        "mean",
        mean,
        "Mean time from the arrival of a read to its completion."
    ),
    latency!(read, "latency_us.read.p50", "p50", p50, "Half of the reads complete within this time."),
    latency!(read, "latency_us.read.p99", "p99", p99, "99 % of the reads complete within this time."),
    latency!(read, "latency_us.read.p999", "p99.9", p999, "99.9 % of the reads complete within this time."),
    latency!(read, "latency_us.read.max", "max", max, "The slowest read."),
];

pub(crate) const THROUGHPUT: &[Entry] = &[
    one!(
        "throughput.write_mb_per_s", "written", Q::Rate, Higher,
        "Bytes of completed writes over simulated time, in units of 10^6 bytes.",
        |r| Some(r.throughput.write_mb_per_s); if_any
    ),
    one!(
        "throughput.read_mb_per_s", "read", Q::Rate, Higher,
        "Bytes of completed reads over simulated time, in units of 10^6 bytes.",
        |r| Some(r.throughput.read_mb_per_s); if_any
    ),
    one!(
        "throughput.iops",
        "IOPS",
        Q::Iops,
        Higher,
        "Completed requests of any kind per second of simulated time.",
        |r| Some(r.throughput.iops)
    ),
];

/// More queues than a table shows: the rest is on the page and in the JSON.
const QUEUES_MAX: usize = 8;

const BY_QUEUE: Names = Names {
    of: |reports| distinct(reports.iter().flat_map(|r| r.queues.iter().map(|q| q.name.clone())), QUEUES_MAX),
    title: str::to_string,
};

pub(crate) const QUEUES: &[Entry] = &[Entry::Each(
    BY_QUEUE,
    &[
        (
            Figure::new(
                "queues.*.read.requests",
                "* IOPS",
                (Q::Iops, Higher),
                "Completed requests of a queue per second, from its first arrival to its last completion.",
            ),
            |r, name| queue(r, name).map(|q| q.requests() as f64 / q.span_s()),
        ),
        (
            Figure::new(
                "queues.*.read.mean_ns",
                "* read mean",
                (Q::Latency, Lower),
                "Mean read latency of a queue.",
            ),
            |r, name| mean(queue(r, name)?.read.as_ref()),
        ),
        (
            Figure::new(
                "queues.*.read.percentiles_ns",
                "* read p99",
                (Q::Latency, Lower),
                "99 % of the reads of a queue complete within this time.",
            ),
            |r, name| p99(queue(r, name)?.read.as_ref()),
        ),
        (
            Figure::new(
                "queues.*.write.mean_ns",
                "* write mean",
                (Q::Latency, Lower),
                "Mean write latency of a queue.",
            ),
            |r, name| mean(queue(r, name)?.write.as_ref()),
        ),
        (
            Figure::new(
                "queues.*.write.percentiles_ns",
                "* write p99",
                (Q::Latency, Lower),
                "99 % of the writes of a queue complete within this time.",
            ),
            |r, name| p99(queue(r, name)?.write.as_ref()),
        ),
    ],
)];

fn queue<'r>(report: &'r Report, name: &str) -> Option<&'r QueueActivity> {
    report.queues.iter().find(|q| q.name == name)
}

fn mean(requests: Option<&JobRequests>) -> Option<f64> {
    Some(requests?.mean_ns / 1e3)
}

fn p99(requests: Option<&JobRequests>) -> Option<f64> {
    Some(requests?.percentile_ns(99.0)? as f64 / 1e3)
}

pub(crate) const AFTER_WARM_UP: &[Entry] = &[
    one!(
        "steady_state.from.time_s",
        "from",
        Q::Time,
        Neither,
        "Simulated time at which the warm-up ends.",
        |r| Some(r.steady_state.as_ref()?.from?.time_s)
    ),
    one!(
        "steady_state.after.write_latency_us", "write mean", Q::Latency, Lower, "Mean write latency after the warm-up.",
        |r| Some(r.after_warm_up()?.write_latency_us?.mean); if_any
    ),
    one!(
        "steady_state.after.read_latency_us", "read mean", Q::Latency, Lower, "Mean read latency after the warm-up.",
        |r| Some(r.after_warm_up()?.read_latency_us?.mean); if_any
    ),
    one!(
        "steady_state.after.write_mb_per_s", "written", Q::Rate, Higher, "Write throughput after the warm-up.",
        |r| Some(r.after_warm_up()?.write_mb_per_s?.mean); if_any
    ),
    one!(
        "steady_state.after.read_mb_per_s", "read", Q::Rate, Higher, "Read throughput after the warm-up.",
        |r| Some(r.after_warm_up()?.read_mb_per_s?.mean); if_any
    ),
    one!(
        "steady_state.after.waf", "WAF", Q::Waf, Lower, "Write amplification after the warm-up.",
        |r| Some(r.after_warm_up()?.waf?.mean); if_any
    ),
];

pub(crate) const REQUESTS: &[Entry] = &[
    one!(
        "host.completed",
        "completed",
        Q::Count,
        Neither,
        "Requests that completed successfully.",
        |r| Some(r.host.completed as f64)
    ),
    one!(
        "host.failed", "failed", Q::Count, Lower, "Requests that completed with an error.",
        |r| Some(r.host.failures() as f64); if_any
    ),
    one!(
        "host.unplaced_bytes", "in buffer", Q::Bytes, Lower,
        "Acknowledged data for which the full drive found no place on flash.",
        |r| Some(r.host.unplaced_bytes as f64); if_any
    ),
    one!(
        "simulated_s",
        "simulated",
        Q::Time,
        Neither,
        "Simulated time from the first arrival to the last completion.",
        |r| Some(r.simulated_s)
    ),
];
