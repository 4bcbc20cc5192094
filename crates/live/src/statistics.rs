//! Statistics of clients: modelled and actual latency of requests, and lateness of replies. Seconds in which
//! the machine ran its threads on time are also reported separately.

use crate::protocol::request::Verb;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};
use wordline_sim::Histogram;
use wordline_units::SimDuration;

/// Lateness above which a reply counts as late.
pub const LATE: Duration = Duration::from_micros(50);

/// Delay of a thread above which a second counts as disturbed. Replies that are late in such a second say
/// nothing about the server.
pub const DISTURBED: Duration = Duration::from_millis(1);

/// Percentiles at which latencies are reported.
pub(crate) const SHARES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// Kinds of requests that are counted separately, with their names.
pub(crate) const VERBS: [(&str, Verb); 7] = [
    ("read", Verb::Read),
    ("write", Verb::Write),
    ("flush", Verb::Flush),
    ("trim", Verb::Trim),
    ("write_zeroes", Verb::WriteZeroes),
    ("block_status", Verb::BlockStatus),
    ("cache", Verb::Cache),
];

/// A completed request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    pub verb: Verb,
    pub bytes: u32,
    pub failed: bool,
    /// When it was parsed.
    pub arrived: Instant,
    /// Its modelled latency, at the time scale in force when it was submitted.
    pub modelled: SimDuration,
    /// When its reply is due. Nothing if the drive takes no time.
    pub due: Option<Instant>,
}

#[derive(Clone, Debug, Default)]
struct OfVerb {
    requests: u64,
    bytes: u64,
    failed: u64,
    modelled: Histogram,
    delivered: Histogram,
    /// Modelled latencies of the requests whose replies were late.
    late: Histogram,
    /// Lateness of replies.
    behind: Histogram,
}

/// Requests of some seconds, by kind.
#[derive(Clone, Debug, Default)]
struct Requests([OfVerb; VERBS.len()]);

/// Counts and latencies of all requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statistics {
    /// Requests of the current second.
    now: Requests,
    /// Requests of quiet and of disturbed seconds, and the number of these seconds.
    quiet: (Requests, u64),
    disturbed: (Requests, u64),
    /// Longest delay of a thread.
    longest: Duration,
}

impl Statistics {
    /// Count replies, each with the time at which it was sent.
    pub(crate) fn note(&mut self, served: &[(Served, Instant)]) {
        for (s, left) in served {
            let Some(at) = VERBS.iter().position(|(_, verb)| *verb == s.verb) else { continue };
            let of = &mut self.now.0[at];
            of.requests += 1;
            if s.failed {
                of.failed += 1;
                continue;
            }
            let moves = matches!(s.verb, Verb::Read | Verb::Write);
            of.bytes += if moves { u64::from(s.bytes) } else { 0 };
            of.modelled.record(s.modelled);
            of.delivered.record(nanoseconds(left.saturating_duration_since(s.arrived)));
            if let Some(due) = s.due {
                let behind = left.saturating_duration_since(due);
                of.behind.record(nanoseconds(behind));
                if behind > LATE {
                    of.late.record(s.modelled);
                }
            }
        }
    }

    /// End a second in which the longest delay of a thread was `longest`.
    pub(crate) fn end_second(&mut self, longest: Duration) {
        self.longest = self.longest.max(longest);
        let (requests, seconds) = if longest < DISTURBED { &mut self.quiet } else { &mut self.disturbed };
        requests.add(&self.now);
        *seconds += 1;
        self.now = Requests::default();
    }

    /// All statistics; latencies are in microseconds.
    pub(crate) fn to_json(&self) -> Value {
        let mut all = self.now.clone();
        all.add(&self.quiet.0);
        all.add(&self.disturbed.0);
        all.to_json()
    }

    /// The number of disturbed seconds, and the statistics of the others.
    pub(crate) fn quiet_to_json(&self) -> Value {
        json!({
            "seconds": self.quiet.1,
            "disturbed_seconds": self.disturbed.1,
            "longest_wait_us": self.longest.as_nanos() as f64 / 1e3,
            "served": self.quiet.0.to_json(),
        })
    }
}

impl OfVerb {
    fn add(&mut self, other: &OfVerb) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.failed += other.failed;
        self.modelled.add(&other.modelled);
        self.delivered.add(&other.delivered);
        self.late.add(&other.late);
        self.behind.add(&other.behind);
    }
}

impl Requests {
    fn add(&mut self, other: &Requests) {
        for (of, other) in self.0.iter_mut().zip(&other.0) {
            of.add(other);
        }
    }

    fn to_json(&self) -> Value {
        let of = |of: &OfVerb| {
            let mut latency = Map::new();
            for (name, share) in SHARES {
                let Some(modelled) = of.modelled.quantile(share) else { continue };
                let micros = |h: &Histogram| h.quantile(share).map(|d| d.0 as f64 / 1e3);
                // The late requests among those with at least this modelled latency.
                let late = above(&of.late, modelled);
                latency.insert(
                    name.to_string(),
                    json!({
                        "modelled_us": modelled.0 as f64 / 1e3,
                        "delivered_us": micros(&of.delivered),
                        "behind_us": micros(&of.behind),
                        "late_from_here": late,
                    }),
                );
            }
            json!({
                "requests": of.requests,
                "bytes": of.bytes,
                "failed": of.failed,
                "late": of.late.count(),
                "latency": latency,
            })
        };
        let verbs = VERBS.iter().zip(&self.0);
        let used = verbs.filter(|(_, v)| v.requests > 0);
        used.map(|((name, _), v)| (name.to_string(), of(v))).collect::<Map<_, _>>().into()
    }
}

fn nanoseconds(d: Duration) -> SimDuration {
    SimDuration(d.as_nanos().min(u128::from(u64::MAX)) as u64)
}

/// Number of entries of a histogram at or above a value, to its three digits.
fn above(histogram: &Histogram, from: SimDuration) -> u64 {
    let below = histogram.cumulative().into_iter().take_while(|(value, _)| *value < from).last();
    let share = below.map_or(0.0, |(_, share)| share);
    histogram.count() - (share * histogram.count() as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    // And counted at its percentile.
    #[test]
    fn reply_is_late_50_us_after_its_deadline() {
        let mut statistics = Statistics::default();
        let begin = Instant::now();
        for i in 0..100u64 {
            let modelled = Duration::from_micros(100 + i);
            let due = Some(begin + modelled);
            // The ten longest replies are 60 us late, the others 40 us.
            let left = begin + modelled + Duration::from_micros(if i < 90 { 40 } else { 60 });
            let modelled = nanoseconds(modelled);
            let served =
                Served { verb: Verb::Read, bytes: 4096, failed: false, arrived: begin, modelled, due };
            statistics.note(&[(served, left)]);
        }
        let told = statistics.to_json();
        let read = &told["read"];
        assert_eq!((&read["requests"], &read["late"]), (&json!(100), &json!(10)));
        let late = |share: &str| read["latency"][share]["late_from_here"].as_u64();
        assert_eq!([late("p50"), late("p99"), late("max")], [Some(10), Some(2), Some(1)]);
        assert!(told.get("write").is_none());
    }

    #[test]
    fn seconds_without_the_machine_are_counted_separately() {
        let mut statistics = Statistics::default();
        let begin = Instant::now();
        let mut second = |behind_us: u64, longest: Duration| {
            let modelled = Duration::from_micros(100);
            let left = begin + modelled + Duration::from_micros(behind_us);
            let (due, modelled) = (Some(begin + modelled), nanoseconds(modelled));
            let served =
                Served { verb: Verb::Read, bytes: 4096, failed: false, arrived: begin, modelled, due };
            statistics.note(&[(served, left)]);
            statistics.end_second(longest);
        };
        second(3, Duration::from_micros(999));
        second(40, DISTURBED);
        second(5, Duration::ZERO);
        let quiet = statistics.quiet_to_json();
        let counts = ["seconds", "disturbed_seconds"].map(|key| quiet[key].as_u64());
        assert_eq!((counts, quiet["longest_wait_us"].as_f64()), ([Some(2), Some(1)], Some(1000.0)));
        let behind = |of: &Value| of["read"]["latency"]["max"]["behind_us"].as_f64().unwrap().round();
        assert_eq!((behind(&quiet["served"]), behind(&statistics.to_json())), (5.0, 40.0));
        assert_eq!(statistics.to_json()["read"]["requests"], 3);
    }
}
