//! Job files on a drive: what each job was given, and the same in fio's form.

use serde_json::Value;
use std::io::Write;
use std::ops::ControlFlow;
use std::process::Command;
use wordline_report::{Report, fio_json};
use wordline_run::{RunSpec, rerun, run};

fn job_file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn spec(file: &tempfile::NamedTempFile) -> RunSpec {
    let workload = file.path().display().to_string();
    RunSpec { check: true, ..RunSpec::new("demo-8gb", "conventional", &workload) }
}

fn report(text: &str) -> Report {
    run(&spec(&job_file(text)), &mut |_| ControlFlow::Continue(())).unwrap()
}

const GLOBAL: &str = "[global]\nioengine=libaio\nbs=16k\nsize=16m\n";

#[test]
fn deeper_job_does_more_and_waits_longer() {
    let text = format!(
        "{GLOBAL}time_based\nruntime=1\nrw=randread\nnorandommap\n[one]\niodepth=1\n[many]\niodepth=32\n"
    );
    let r = report(&text);
    let reads: Vec<_> = r.jobs.iter().map(|j| j.read.clone().unwrap()).collect();
    assert!(reads[1].requests > 8 * reads[0].requests, "{reads:?}");
    // Little's law: what a job keeps outstanding is its rate times its latency.
    for (job, depth) in reads.iter().zip([1.0, 32.0]) {
        let outstanding = job.requests as f64 * job.mean_ns / 1e9;
        assert!((outstanding / depth - 1.0).abs() < 0.02, "{outstanding} of {depth}");
    }
    assert_eq!(reads[0].requests + reads[1].requests, r.host.asked().read_requests);
}

#[test]
fn stonewalled_job_starts_after_all_earlier_ones() {
    let text = format!("{GLOBAL}[a]\nrw=write\nnumjobs=2\n[b]\nrw=read\n[c]\nstonewall\nrw=read\n");
    let jobs = report(&text).jobs;
    assert_eq!(jobs.iter().map(|j| j.group).collect::<Vec<_>>(), [0, 0, 0, 1]);
    let last = jobs[..3].iter().map(|j| j.until_s).fold(0.0, f64::max);
    assert!(jobs[3].from_s >= last && jobs[2].until_s < jobs[3].from_s, "{jobs:?}");
}

#[test]
fn ramp_is_excluded_and_rate_is_kept() {
    let text = format!("{GLOBAL}[a]\nrw=randread\nrate_iops=1000\ntime_based\nruntime=2\nramp_time=1\n");
    let r = report(&text);
    let job = &r.jobs[0];
    let read = job.read.as_ref().unwrap();
    assert_eq!(job.from_s, 1.0);
    assert!(read.requests.abs_diff(2000) <= 1 && r.host.asked().read_requests.abs_diff(3000) <= 1, "{job:?}");
    assert!(read.min_ns as f64 <= read.mean_ns && read.mean_ns <= read.max_ns as f64, "{read:?}");
}

#[test]
fn each_fsync_is_a_flush_and_the_job_waits_for_it() {
    let r = report(&format!("{GLOBAL}[a]\nrw=write\niodepth=4\nfsync=10\nend_fsync=1\n"));
    assert_eq!((r.host.asked().write_requests, r.host.asked().flush_requests), (1024, 103));
    assert_eq!(r.jobs[0].flush.as_ref().unwrap().requests, 103);
}

#[test]
fn a_run_of_jobs_is_repeated_from_its_report_alone() {
    let file = job_file(&format!("{GLOBAL}[a]\nrw=randrw\niodepth=8\nnumjobs=3\nthinktime=100\n"));
    let first = run(&spec(&file), &mut |_| ControlFlow::Continue(())).unwrap();
    let again = rerun(&first, None, 1, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(again.is_same() && again.report.jobs == first.jobs);
}

/// Keys that are not in fio's own output, by their path; names of jobs' options are the user's.
fn strangers(ours: &Value, theirs: &Value, path: &str, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a.iter().filter(|(k, _)| *k != "job options") {
                match b.get(key) {
                    Some(other) => strangers(value, other, &format!("{path}.{key}"), found),
                    None => found.push(format!("{path}.{key}")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => strangers(&a[0], &b[0], path, found),
        _ if std::mem::discriminant(ours) == std::mem::discriminant(theirs) => {}
        _ => found.push(format!("{path} is {ours} here and {theirs} in fio")),
    }
}

#[test]
fn every_fio_key_exists_in_fio_with_a_valid_value() {
    let text = "[a]\nrw=randrw\nbs=4k\nsize=1m\nfsync=8\n";
    let file = job_file(text);
    let fio = Command::new("fio").args(["--output-format=json", "--ioengine=null"]).arg(file.path()).output();
    let Ok(out) = fio else {
        eprintln!("skipped: there is no fio (apt-get install fio)");
        return;
    };
    let theirs: Value = serde_json::from_slice(&out.stdout).unwrap();
    let ours = fio_json(&report(text)).unwrap();
    let mut found = vec![];
    strangers(&ours, &theirs, "", &mut found);
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(ours["jobs"][0]["jobname"], "a");
    assert!(ours["fio version"].as_str().unwrap().starts_with("wordline-"));
    let ios = |v: &Value| {
        v["jobs"][0]["read"]["total_ios"].as_u64().unwrap()
            + v["jobs"][0]["write"]["total_ios"].as_u64().unwrap()
    };
    assert_eq!((ios(&ours), ios(&theirs)), (256, 256));
}
