//! The jobs of a report in the JSON form of fio, for tools that read fio's output. The keys are fio's
//! and have fio's units; what a simulated drive has no measure of (processor time, page faults, depths
//! of the host's queue, samples of bandwidth) is absent, or has the count 0 as fio writes it where it
//! took no samples. `fio version` names Wordline.

use crate::schema::jobs::{JobActivity, JobRequests, LATENCY_BOUNDS_NS};
use crate::schema::report::Report;
use serde_json::{Map, Value, json};

/// `ENOSPC`: what fio reports of a job whose writes found no space.
const NO_SPACE: u32 = 28;

/// The report's jobs as fio writes its own; `None` where the workload was no job file.
pub fn fio_json(report: &Report) -> Option<Value> {
    if report.jobs.is_empty() {
        return None;
    }
    let jobs: Vec<Value> = report.jobs.iter().map(job).collect();
    Some(json!({ "fio version": format!("wordline-{}", report.version), "jobs": jobs }))
}

fn job(job: &JobActivity) -> Value {
    let span_ms = milliseconds(job.span_s());
    let kinds = [("read", &job.read), ("write", &job.write), ("trim", &job.trim)];
    let failed = kinds.iter().filter_map(|(_, r)| r.as_ref()).any(|r| r.failed > 0);
    let mut all = json!({
        "jobname": job.name,
        "groupid": job.group,
        "error": if failed { NO_SPACE } else { 0 },
        "eta": 0,
        "elapsed": whole_seconds(job.until_s),
        "job options": job.options,
        "sync": sync(job.flush.as_ref()),
        "job_runtime": span_ms,
    });
    if let Value::Object(map) = &mut all {
        for (name, requests) in kinds {
            map.insert(name.to_string(), direction(requests.as_ref(), span_ms, job.span_s()));
        }
        map.extend(latencies(&job.latency_shares));
    }
    all
}

/// Milliseconds, rounded up so that what took time is not said to have taken none.
fn milliseconds(seconds: f64) -> u64 {
    let ns = (seconds * 1e9) as u64;
    ns.div_ceil(1_000_000)
}

fn whole_seconds(seconds: f64) -> u64 {
    (seconds as u64) + u64::from(seconds > (seconds as u64) as f64)
}

fn none() -> Value {
    json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 })
}

fn spread(r: &JobRequests) -> Value {
    json!({ "min": r.min_ns, "max": r.max_ns, "mean": r.mean_ns, "stddev": r.deviation_ns, "N": r.requests })
}

fn percentiles(r: &JobRequests) -> Map<String, Value> {
    r.percentiles_ns.iter().map(|(percent, ns)| (format!("{percent:.6}"), json!(ns))).collect()
}

fn direction(requests: Option<&JobRequests>, span_ms: u64, span_s: f64) -> Value {
    let empty = JobRequests::default();
    let r = requests.unwrap_or(&empty);
    let rate = |n: u64| if span_s > 0.0 { n as f64 / span_s } else { 0.0 };
    let (mut clat, lat) = if r.requests > 0 { (spread(r), spread(r)) } else { (none(), none()) };
    if r.requests > 0
        && let Value::Object(map) = &mut clat
    {
        map.insert("percentile".into(), Value::Object(percentiles(r)));
    }
    json!({
        "io_bytes": r.bytes,
        "io_kbytes": r.bytes / 1024,
        "bw_bytes": rate(r.bytes) as u64,
        "bw": rate(r.bytes) as u64 / 1024,
        "iops": rate(r.requests),
        "runtime": if r.requests > 0 { span_ms } else { 0 },
        "total_ios": r.requests,
        "short_ios": 0,
        "drop_ios": r.failed,
        "slat_ns": none(),
        "clat_ns": clat,
        "lat_ns": lat,
        "bw_samples": 0,
        "iops_samples": 0,
    })
}

fn sync(flushes: Option<&JobRequests>) -> Value {
    match flushes.filter(|f| f.requests > 0) {
        None => json!({ "total_ios": 0, "lat_ns": none() }),
        Some(f) => {
            let mut latency = spread(f);
            if let Value::Object(map) = &mut latency {
                map.insert("percentile".into(), Value::Object(percentiles(f)));
            }
            json!({ "total_ios": f.requests, "lat_ns": latency })
        }
    }
}

/// `latency_ns`, `latency_us` and `latency_ms`: percentages by bound.
fn latencies(shares: &[f64]) -> Map<String, Value> {
    let mut maps: [Map<String, Value>; 3] = Default::default();
    for (i, share) in shares.iter().enumerate() {
        let unit = (i / 10).min(2);
        let name = match LATENCY_BOUNDS_NS.get(i) {
            Some(bound) => (bound / [1, 1_000, 1_000_000][unit]).to_string(),
            None => ">=2000".to_string(),
        };
        maps[unit].insert(name, json!(share * 100.0));
    }
    let names = ["latency_ns", "latency_us", "latency_ms"];
    names.into_iter().map(str::to_string).zip(maps.into_iter().map(Value::Object)).collect()
}
