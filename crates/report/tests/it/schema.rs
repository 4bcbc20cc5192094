//! The schema: is what is documented what is written?

use crate::sample;
use serde_json::Value;
use wordline_report::{Comparison, Report};

fn comparisons() -> schemars::Schema {
    schemars::schema_for!(Comparison)
}

/// The committed file equals what types and tables say; `BLESS=1` rewrites it.
fn is_committed(file: &str, text: &str) {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{file} is not what types and tables say; BLESS=1 rewrites it");
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    let json = |schema: &schemars::Schema| serde_json::to_string_pretty(schema).unwrap() + "\n";
    is_committed("report.schema.json", &json(&wordline_report::report_schema()));
    is_committed("comparison.schema.json", &json(&comparisons()));
}

#[test]
fn the_glossary_has_every_term() {
    is_committed("../../docs/glossary.md", &wordline_report::glossary());
}

#[test]
fn every_field_is_described() {
    fn check(path: &str, schema: &Value) {
        if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
            for (name, field) in fields {
                assert!(field.get("description").is_some(), "{path}.{name} has no description");
            }
        }
    }
    let schema = comparisons().to_value();
    check("comparison", &schema);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        check(name, definition);
    }
}

#[test]
fn a_report_read_back_is_the_report_that_was_written() {
    let c = sample::four();
    let text = c.to_json().unwrap();
    let back = Comparison::from_json(&text).unwrap();
    assert_eq!(back, c);
    assert_eq!(back.to_json().unwrap(), text, "to the byte");
    let r = &c.reports[1];
    assert_eq!(Report::from_json(&r.to_json().unwrap()).unwrap(), *r);
}

#[test]
fn a_report_with_the_old_key_of_metrics_is_read() {
    let report = sample::metrics(2).reports.remove(1);
    let text = serde_json::to_string(&report).unwrap();
    assert!(!report.metrics.is_empty() && text.contains("\"metrics\":"));
    let old: Report = serde_json::from_str(&text.replace("\"metrics\":", "\"followed\":")).unwrap();
    assert_eq!(old.metrics, report.metrics);
}

#[test]
fn the_figures_of_replicas_are_their_means_by_path() {
    let c = sample::replicated();
    let replicas = c.reports[1].replicas.as_ref().unwrap();
    let values: Vec<f64> = replicas.runs.iter().map(|r| r.waf.as_ref().unwrap().total).collect();
    assert_eq!(replicas.figures["waf.total"], wordline_report::Estimate::of(&values).unwrap());
    for path in ["latency_us.write.p999", "throughput.iops", "flash.erases.tlc", "waf.parts.gc.program"] {
        assert!(replicas.figures.contains_key(path), "{path}");
    }
    assert_eq!(replicas.figures["host.requests"].half_width_95, Some(0.0));
    assert!(c.differences_percent[0]["waf.total"].mean == 0.0, "the baseline is itself");
    assert!(sample::replicas_alike().reports[0].replicas.as_ref().unwrap().figures.is_empty());
    let text = c.to_json().unwrap();
    assert_eq!(Comparison::from_json(&text).unwrap(), c);
}

#[test]
fn how_fast_the_engine_was_is_no_part_of_the_result() {
    let a = sample::two().reports.remove(0);
    let mut b = a.clone();
    b.speed.wall_s = 99.0;
    b.speed.peak_rss_bytes = None;
    assert_eq!(a, b);
    b.flash.erases.insert("tlc".into(), 1);
    assert_ne!(a, b);
}

#[test]
fn waf_is_media_over_host_writes_and_parts_sum_up() {
    let r = sample::report(&sample::IPS);
    let waf = r.waf.unwrap();
    let parts: f64 = waf.parts.values().flat_map(|k| k.values()).sum();
    assert!((waf.total - parts).abs() < 1e-12);
    assert!((waf.total - waf.without_pad - waf.cause("pad")).abs() < 1e-12);
    assert!((waf.kind("reprogram") - 0.369).abs() < 1e-3);
    assert!(wordline_report::Waf::new(&r.flash.program_bytes, 0).is_none(), "nothing written, no WAF");
}
