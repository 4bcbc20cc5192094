//! The jobs of a job file and the queues of a host on the page, with one row per kind of request and run.

use crate::page::parts::{self, Page, named, soft};
use crate::pictures::cast::Cast;
use crate::pictures::svg::escape;
use crate::schema::comparison::Comparison;
use crate::schema::jobs::{JobActivity, JobRequests, QueueActivity};
use crate::schema::report::Report;
use crate::words::number::{Quantity, bytes, count, significant};
use std::fmt::Write;

/// Maximum number of rows on the page. The JSON has all of them.
const ROWS_MAX: usize = 200;

const COLUMNS: [&str; 8] = ["kind", "requests", "failed", "data", "IOPS", "MB/s", "mean latency", "p99"];

/// A job or queue: its name columns, the time over which it ran, and its requests by kind.
struct Asker<'a> {
    head: Vec<String>,
    span_s: f64,
    kinds: [&'a Option<JobRequests>; 4],
}

pub(crate) fn write(page: &mut Page, comparison: &Comparison, cast: &Cast) {
    table(page, comparison, cast, ("Queues", "queues"), &["queue", "class", "depth"], |report| {
        report.queues.iter().map(of_queue).collect()
    });
    table(page, comparison, cast, ("Jobs", "jobs"), &["job", "group"], |report| {
        report.jobs.iter().map(of_job).collect()
    });
}

fn of_queue(queue: &QueueActivity) -> Asker<'_> {
    let class = match (&queue.class, queue.weight) {
        (Some(class), Some(weight)) => format!("{class}, weight {weight}"),
        (Some(class), None) => class.clone(),
        (None, _) => crate::words::number::NONE.to_string(),
    };
    let depth = queue.depth.map_or(crate::words::number::NONE.to_string(), |depth| count(depth as u64));
    Asker {
        head: vec![queue.name.clone(), class, depth],
        span_s: queue.span_s(),
        kinds: [&queue.read, &queue.write, &queue.trim, &queue.flush],
    }
}

fn of_job(job: &JobActivity) -> Asker<'_> {
    Asker {
        head: vec![job.name.clone(), job.group.to_string()],
        span_s: job.span_s(),
        kinds: [&job.read, &job.write, &job.trim, &job.flush],
    }
}

fn table(
    page: &mut Page,
    comparison: &Comparison,
    cast: &Cast,
    (title, id): (&str, &str),
    head: &[&str],
    askers: impl Fn(&Report) -> Vec<Asker<'_>>,
) {
    if comparison.reports.iter().all(|r| askers(r).is_empty()) {
        return;
    }
    page.section(title, id, "");
    let out = page.html();
    for (run, report) in comparison.reports.iter().enumerate() {
        let _ = writeln!(out, "<p class=\"caption\">{}</p>", named(cast, run));
        let askers = askers(report);
        parts::table(out, "jobs", &format!("{title} of {}", cast.labels[run]), |out| {
            out.push_str("<thead><tr>");
            for (i, column) in head.iter().chain(&COLUMNS).enumerate() {
                let _ = write!(out, "<th scope=\"col\"{}>{column}</th>", class_of(i, head.len()));
            }
            out.push_str("</tr></thead>\n<tbody>\n");
            for asker in askers.iter().take(ROWS_MAX) {
                rows(out, asker);
            }
            out.push_str("</tbody>\n");
        });
        if askers.len() > ROWS_MAX {
            let _ = writeln!(out, "<p class=\"caption\">The JSON has further {id}.</p>");
        }
    }
    page.end_section();
}

fn rows(out: &mut String, asker: &Asker) {
    let kinds = ["read", "write", "trim", "flush"].into_iter().zip(asker.kinds);
    for (kind, requests) in kinds.filter_map(|(kind, r)| Some((kind, r.as_ref()?))) {
        for (i, cell) in asker.head.iter().enumerate() {
            let _ = match i {
                0 => write!(out, "<tr><th scope=\"row\">{}</th>", soft(cell)),
                _ => write!(out, "<td class=\"word\">{}</td>", escape(cell)),
            };
        }
        let head = asker.head.len();
        for (i, cell) in cells(asker.span_s, kind, requests).iter().enumerate() {
            let _ = write!(out, "<td{}>{}</td>", class_of(head + i, head), escape(cell));
        }
        out.push_str("</tr>\n");
    }
}

/// Alignment of a column: names and kinds left, figures right. The first `head` columns are names, followed
/// by the kind.
fn class_of(column: usize, head: usize) -> &'static str {
    if column <= head { " class=\"word\"" } else { "" }
}

fn cells(span_s: f64, kind: &str, r: &JobRequests) -> [String; 8] {
    let rate = |n: f64| significant(n / span_s);
    let time = |ns: f64| Quantity::Time.show(ns / 1e9);
    [
        kind.to_string(),
        count(r.requests),
        count(r.failed),
        bytes(r.bytes),
        rate(r.requests as f64),
        rate(r.bytes as f64 / 1e6),
        time(r.mean_ns),
        r.percentile_ns(99.0).map_or(crate::words::number::NONE.to_string(), |ns| time(ns as f64)),
    ]
}
