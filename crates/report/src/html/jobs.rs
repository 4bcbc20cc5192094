//! The jobs of a job file on the page: a row for each kind of request of each job, by run.

use super::swatch;
use crate::comparison::Comparison;
use crate::figures::Cast;
use crate::jobs::{JobActivity, JobRequests};
use crate::number::{Quantity, bytes, count, significant};
use crate::svg::escape;
use std::fmt::Write;

/// More jobs than anybody reads: the rest is in the JSON.
const JOBS_MAX: usize = 200;

const COLUMNS: [&str; 10] =
    ["job", "group", "kind", "requests", "failed", "data", "IOPS", "MB/s", "mean latency", "p99"];

pub(super) fn write(out: &mut String, comparison: &Comparison, cast: &Cast) {
    if comparison.reports.iter().all(|r| r.jobs.is_empty()) {
        return;
    }
    out.push_str("<section id=\"jobs\">\n<h2>Jobs</h2>\n");
    for (run, report) in comparison.reports.iter().enumerate() {
        let label = escape(&cast.labels[run]);
        let _ = write!(
            out,
            "<p class=\"caption\">{}{label}</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-label=\"Jobs of {label}\">\n<table class=\"jobs\">\n<thead><tr>",
            swatch(cast, run)
        );
        for column in COLUMNS {
            let _ = write!(out, "<th scope=\"col\">{column}</th>");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for job in report.jobs.iter().take(JOBS_MAX) {
            rows(out, job);
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
        if report.jobs.len() > JOBS_MAX {
            out.push_str("<p class=\"caption\">There are more jobs; the JSON has them all.</p>\n");
        }
    }
    out.push_str("</section>\n");
}

fn rows(out: &mut String, job: &JobActivity) {
    let kinds = [("read", &job.read), ("write", &job.write), ("trim", &job.trim), ("flush", &job.flush)];
    for (kind, requests) in kinds.into_iter().filter_map(|(kind, r)| Some((kind, r.as_ref()?))) {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(&job.name));
        for cell in cells(job, kind, requests) {
            let _ = write!(out, "<td>{}</td>", escape(&cell));
        }
        out.push_str("</tr>\n");
    }
}

fn cells(job: &JobActivity, kind: &str, r: &JobRequests) -> [String; 9] {
    let rate = |n: f64| significant(n / job.span_s());
    let p99 = r.percentiles_ns.iter().find(|(percent, _)| *percent == 99.0);
    [
        job.group.to_string(),
        kind.to_string(),
        count(r.requests),
        count(r.failed),
        bytes(r.bytes),
        rate(r.requests as f64),
        rate(r.bytes as f64 / 1e6),
        Quantity::Time.show(r.mean_ns / 1e9),
        p99.map_or(crate::number::NONE.to_string(), |(_, ns)| Quantity::Time.show(*ns as f64 / 1e9)),
    ]
}
