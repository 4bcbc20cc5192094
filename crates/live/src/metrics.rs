//! The statistics in Prometheus' text format.

use serde_json::Value;
use std::fmt::Write;

/// Each metric: its name, whether it is a counter, a help text, and its path in the statistics.
const GAUGES: [(&str, &str, &str, &str); 13] = [
    ("wordline_time_seconds", "counter", "Simulated time.", "/drive/time_ns"),
    ("wordline_connections", "gauge", "Connected clients.", "/connections"),
    ("wordline_host_bytes_total", "counter", "Bytes that the host wrote.", "/drive/host_bytes"),
    (
        "wordline_host_page_bytes_total",
        "counter",
        "The same, rounded up to whole mapping pages.",
        "/drive/host_page_bytes",
    ),
    ("wordline_outstanding_commands", "gauge", "Requests without a reply.", "/drive/commands_under_way"),
    ("wordline_power_cuts_total", "counter", "Power cuts.", "/drive/cuts"),
    ("wordline_mapped_units", "gauge", "Mapping units that hold data.", "/drive/mapped_units"),
    ("wordline_free_blocks", "gauge", "Free blocks.", "/drive/causes/free_blocks"),
    ("wordline_erases_total", "counter", "Erased blocks.", "/drive/causes/erases"),
    ("wordline_mean_erases", "gauge", "Mean P/E cycles of a block.", "/drive/causes/mean_erases"),
    ("wordline_retired_blocks", "gauge", "Grown bad blocks.", "/drive/lost_blocks/retired"),
    ("wordline_memory_bytes", "gauge", "Page data in memory.", "/drive/memory/used"),
    (
        "wordline_damaged_sectors",
        "gauge",
        "Sectors whose stored data are damaged.",
        "/drive/folder/damaged_sectors",
    ),
];

/// The statistics as text.
pub(crate) fn text(stats: &Value) -> String {
    let mut text = String::new();
    for (name, kind, help, at) in GAUGES {
        let found = stats.pointer(at);
        let value = match found {
            Some(Value::Array(all)) => Some(all.len() as f64),
            found => found.and_then(Value::as_f64),
        };
        let Some(value) = value else { continue };
        let value = if at.ends_with("_ns") { value / 1e9 } else { value };
        head(&mut text, name, kind, help);
        let _ = writeln!(text, "{name} {value}");
    }
    let programs = stats.pointer("/drive/causes/programmed_bytes").and_then(Value::as_object);
    if let Some(programs) = programs {
        head(&mut text, "wordline_programmed_bytes_total", "counter", "Programmed bytes by cause.");
        for (cause, bytes) in programs {
            let _ = writeln!(text, "wordline_programmed_bytes_total{{cause=\"{cause}\"}} {bytes}");
        }
    }
    let served = stats["served"].as_object().into_iter().flatten();
    let served: Vec<_> = served.collect();
    for (name, key, help) in [
        ("wordline_requests_total", "requests", "Requests by type."),
        ("wordline_request_bytes_total", "bytes", "Bytes of requests by type."),
        ("wordline_failed_requests_total", "failed", "Failed requests by type."),
    ] {
        head(&mut text, name, "counter", help);
        for (verb, of) in &served {
            let _ = writeln!(text, "{name}{{type=\"{verb}\"}} {}", of[key]);
        }
    }
    let name = "wordline_latency_seconds";
    head(&mut text, name, "gauge", "Latency by type and percentile, as modelled and as delivered.");
    for (verb, of) in &served {
        for (share, latency) in of["latency"].as_object().into_iter().flatten() {
            for kind in ["modelled", "delivered"] {
                let Some(us) = latency[format!("{kind}_us")].as_f64() else { continue };
                let labels = format!("type=\"{verb}\",percentile=\"{share}\",kind=\"{kind}\"");
                let _ = writeln!(text, "{name}{{{labels}}} {}", us / 1e6);
            }
        }
    }
    text
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_statistics_are_told_as_prometheus_reads_them() {
        let latency = json!({ "p50": { "modelled_us": 100.0, "delivered_us": 150.0 } });
        let stats = json!({
            "connections": 2,
            "drive": { "time_ns": 2_500_000_000u64, "cuts": [{}, {}], "causes": { "programmed_bytes": { "gc": 16384 } } },
            "served": { "read": { "requests": 7, "bytes": 4096, "failed": 0, "latency": latency } },
        });
        let text = text(&stats);
        for line in [
            "# TYPE wordline_time_seconds counter",
            "wordline_time_seconds 2.5",
            "wordline_connections 2",
            "wordline_power_cuts_total 2",
            "wordline_programmed_bytes_total{cause=\"gc\"} 16384",
            "wordline_requests_total{type=\"read\"} 7",
            "wordline_latency_seconds{type=\"read\",percentile=\"p50\",kind=\"delivered\"} 0.00015",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(text.starts_with("# HELP "), "{text}");
        assert!(text.lines().all(|line| line.starts_with("# ") || line.split(' ').count() == 2), "{text}");
    }
}
