//! The table of figures: every figure that tables and pages print, once. Rows, hover notes, footnotes and `explain`
//! follow from it. A new figure is one line in one of its sections.

use crate::words::figures::drive::{
    AFTER_LAST_REQUEST, CAPACITY, CHANGE, IDLE_TIME, IGNORED, LOST_BLOCKS, METRICS, TABLES,
};
use crate::words::figures::figure::Section;
use crate::words::figures::flash::{
    ENERGY, ERASES, MAP_ON_FLASH, MULTIPLANE, PAGE_TYPES, READ_RETRIES, SUSPENDED, WINDOWS,
    WRITE_AMPLIFICATION,
};
use crate::words::figures::host::{AFTER_WARM_UP, QUEUES, READ_LATENCY, REQUESTS, THROUGHPUT, WRITE_LATENCY};
use crate::words::metrics;

/// Every figure under its heading, in the order of tables and pages.
pub static SECTIONS: &[Section] = &[
    Section { title: "Write latency", entries: WRITE_LATENCY },
    Section { title: "Read latency", entries: READ_LATENCY },
    Section { title: "Throughput", entries: THROUGHPUT },
    Section { title: "Queues", entries: QUEUES },
    Section { title: "Write amplification", entries: WRITE_AMPLIFICATION },
    Section { title: "Erases", entries: ERASES },
    Section { title: "Map on flash", entries: MAP_ON_FLASH },
    Section { title: "Read retries", entries: READ_RETRIES },
    Section { title: "Energy", entries: ENERGY },
    Section { title: "Usable capacity", entries: CAPACITY },
    Section { title: "Lost blocks", entries: LOST_BLOCKS },
    Section { title: "Windows", entries: WINDOWS },
    Section { title: "Multi-plane operations", entries: MULTIPLANE },
    Section { title: "Suspended operations", entries: SUSPENDED },
    Section { title: "Idle time", entries: IDLE_TIME },
    Section { title: "Writes by slowest page", entries: PAGE_TYPES },
    Section { title: "After warm-up", entries: AFTER_WARM_UP },
    Section { title: "Tables beside the map", entries: TABLES },
    Section { title: metrics::TITLE, entries: METRICS },
    Section { title: "Ignored scheme actions", entries: IGNORED },
    Section { title: "After the last request", entries: AFTER_LAST_REQUEST },
    Section { title: "Change over the run", entries: CHANGE },
    Section { title: "Requests", entries: REQUESTS },
];

/// What the row of a figure is called, by its path.
pub(crate) fn label(path: &'static str) -> &'static str {
    let found = SECTIONS.iter().flat_map(Section::figures).find(|figure| figure.path == path);
    found.map_or(path, |figure| figure.label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::report::Report;
    use crate::words::figures::figure::{Entry, Figure};
    use serde_json::{Value, json};

    /// A value of a schema in which nothing is absent: numbers are 1, maps have the key `k`, lists one item.
    fn full(node: &Value, root: &Value) -> Value {
        if let Some(at) = node["$ref"].as_str() {
            return full(root.pointer(at.trim_start_matches('#')).unwrap(), root);
        }
        if let Some(any) = node["anyOf"].as_array().or(node["oneOf"].as_array()) {
            let some = any.iter().find(|n| n["type"] != "null").unwrap();
            return some.get("const").cloned().unwrap_or_else(|| full(some, root));
        }
        let kind = node["type"].as_array().map_or(&node["type"], |kinds| &kinds[0]);
        match kind.as_str() {
            Some("object") => {
                // Replicas are reports again.
                let known =
                    node["properties"].as_object().into_iter().flatten().filter(|(k, _)| *k != "replicas");
                let mut fields: serde_json::Map<_, _> =
                    known.map(|(k, n)| (k.clone(), full(n, root))).collect();
                if node["additionalProperties"].is_object() {
                    fields.insert("k".into(), full(&node["additionalProperties"], root));
                }
                Value::Object(fields)
            }
            Some("array") => match (node["prefixItems"].as_array(), node["minItems"].as_u64()) {
                (Some(items), _) => items.iter().map(|n| full(n, root)).collect(),
                (None, n) => (0..n.unwrap_or(1)).map(|_| full(&node["items"], root)).collect(),
            },
            Some("number" | "integer") => json!(1),
            Some("string") => node["enum"].get(0).cloned().unwrap_or(json!("k")),
            Some("boolean") => json!(false),
            _ => Value::Null,
        }
    }

    /// Puts 5 where a figure stands: at its path, in what is there by name, or at the mean of an estimate.
    fn put(report: &mut Value, path: &str) {
        let mut pointer = String::new();
        for key in path.split('.') {
            let parent = report.pointer(&pointer).unwrap_or_else(|| panic!("{path}: no {pointer}")).clone();
            let of_map = parent.get("k").is_some();
            pointer += &match key {
                "*" if parent.is_array() => "/0".to_string(),
                "*" => "/k".to_string(),
                key => format!("/{key}"),
            };
            // A key of a map, such as `gc`.
            if of_map && report.pointer(&pointer).is_none() {
                report.pointer_mut(pointer.rsplit_once('/').unwrap().0).unwrap()[key] = parent["k"].clone();
            }
        }
        let at = report.pointer_mut(&pointer).unwrap_or_else(|| panic!("{path}: no {pointer}"));
        match at {
            Value::Object(fields) if fields.contains_key("mean") => fields["mean"] = json!(5),
            Value::Object(fields) => fields.values_mut().for_each(|v| *v = json!(5)),
            Value::Array(pairs) => *pairs = vec![json!([99.0, 5])],
            number => *number = json!(5),
        }
    }

    #[test]
    fn every_figure_is_read_from_its_path() {
        let schema = serde_json::to_value(schemars::schema_for!(Report)).unwrap();
        let mut ones = full(&schema, &schema);
        ones["queues"][0]["until_s"] = json!(3);
        let before: Report = serde_json::from_value(ones.clone()).unwrap();
        let check = |figure: &Figure, value: &dyn Fn(&Report) -> Option<f64>| {
            let mut json = ones.clone();
            put(&mut json, figure.path);
            let after: Report =
                serde_json::from_value(json).unwrap_or_else(|e| panic!("{}: {e}", figure.path));
            assert_ne!(value(&before), value(&after), "{} is not read from {}", figure.label, figure.path);
        };
        for entry in SECTIONS.iter().flat_map(|section| section.entries) {
            match entry {
                Entry::One(figure, value) => check(figure, value),
                Entry::Each(_, figures) => figures.iter().for_each(|(f, value)| check(f, &|r| value(r, "k"))),
            }
        }
    }

    #[test]
    fn every_figure_has_one_sentence_and_a_label_of_its_own() {
        for section in SECTIONS {
            let mut labels = vec![];
            for figure in section.figures() {
                let (label, about) = (figure.label, figure.about);
                assert!(about.ends_with(['.', ')']) || about.ends_with(".)"), "{label}: {about}");
                assert!(!about.trim_end_matches('.').contains(". "), "{label} has two sentences");
                assert!(!labels.contains(&label), "{}: {label} twice", section.title);
                labels.push(label);
            }
        }
    }
}
