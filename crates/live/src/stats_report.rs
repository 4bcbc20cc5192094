//! The statistics of clients as text.

use crate::statistics::{SHARES, VERBS};
use serde_json::Value;
use std::fmt::Write;
use wordline_units::SimTime;

/// The statistics of clients, and the result hash.
#[derive(Clone, PartialEq, Debug)]
pub struct StatsReport(pub(crate) Value);

impl StatsReport {
    /// All of them, as `wordline ctl PATH stats` prints them, with `result_hash`.
    pub fn to_json(&self) -> &Value {
        &self.0
    }

    /// Why the session could not be written.
    pub fn session_failure(&self) -> Option<&str> {
        self.0["session_failed"].as_str()
    }

    /// Why changes of the drive could not be written to its folder.
    pub fn folder_failure(&self) -> Option<&str> {
        self.0["folder_failed"].as_str()
    }

    /// A table with a row for each kind of request and percentile. A second table covers quiet seconds, if
    /// others were disturbed.
    pub fn to_text(&self) -> String {
        let mut text = table(&self.0["served"]);
        let quiet = &self.0["quiet"];
        let [seconds, disturbed] =
            ["seconds", "disturbed_seconds"].map(|key| quiet[key].as_u64().unwrap_or(0));
        if disturbed > 0 && self.0["time_scale"].as_f64() != Some(0.0) {
            let ms = quiet["longest_wait_us"].as_f64().unwrap_or(0.0) / 1e3;
            let of = seconds + disturbed;
            let undisturbed = table(&quiet["served"]);
            let rest = match seconds {
                0 => "no second without them".into(),
                _ if undisturbed.is_empty() => format!("no requests in the remaining {seconds}"),
                _ => format!("in the remaining {seconds}:"),
            };
            let _ = writeln!(
                text,
                "scheduling delays of 1 ms or more in {disturbed} of {of} seconds, at most {ms:.1} ms; {rest}"
            );
            text += &undisturbed;
        }
        for cut in self.0["drive"]["cuts"].as_array().into_iter().flatten() {
            let time = |key: &str| SimTime(cut[key].as_u64().unwrap_or(0));
            let _ = writeln!(
                text,
                "power cut at {}: {} requests lost, {} pages torn, recovered in {}",
                time("at_ns"),
                cut["lost_requests"],
                cut["torn_pages"],
                time("recovery_ns")
            );
        }
        let time = self.0["drive"]["time_ns"].as_f64().unwrap_or(0.0) / 1e9;
        let _ = match (self.0["result_hash"].as_str(), self.0["stopped"].as_str()) {
            (Some(hash), _) => writeln!(text, "{time:.3} s simulated, result {hash}"),
            (None, why) => writeln!(text, "{time:.3} s simulated; the drive stopped: {}", why.unwrap_or("?")),
        };
        text
    }
}

/// Rows for each kind of request and percentile; empty if no request completed.
fn table(served: &Value) -> String {
    let mut text = String::new();
    let head = ["", "requests", "failed", "", "modelled us", "delivered us", "behind us", "late"];
    let mut rows: Vec<[String; 8]> = vec![head.map(str::to_string)];
    let number = |v: &Value| v.as_f64().map_or("-".to_string(), |n| format!("{n:.1}"));
    for (verb, _) in VERBS {
        let of = &served[verb];
        if of.is_null() {
            continue;
        }
        let mut first = [verb.to_string(), of["requests"].to_string(), of["failed"].to_string()];
        for (share, _) in SHARES {
            let l = &of["latency"][share];
            let [verb, requests, failed] = std::mem::take(&mut first);
            let times = [&l["modelled_us"], &l["delivered_us"], &l["behind_us"]].map(number);
            let [modelled, delivered, behind] = times;
            let late = l["late_from_here"].as_u64().map_or("-".to_string(), |late| late.to_string());
            rows.push([verb, requests, failed, share.to_string(), modelled, delivered, behind, late]);
        }
    }
    let width = |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width);
    for row in rows.iter().filter(|_| rows.len() > 1) {
        let cells = row.iter().zip(widths).enumerate().map(|(i, (cell, width))| {
            if i == 0 || i == 3 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_seconds_without_requests_promise_no_table() {
        let quiet = |seconds| serde_json::json!({ "seconds": seconds, "disturbed_seconds": 2, "longest_wait_us": 1500 });
        let text = |seconds| StatsReport(serde_json::json!({ "quiet": quiet(seconds) })).to_text();
        assert!(text(0).contains("in 2 of 2 seconds, at most 1.5 ms; no second without them\n"));
        assert!(text(3).contains("in 2 of 5 seconds, at most 1.5 ms; no requests in the remaining 3\n"));
    }
}
