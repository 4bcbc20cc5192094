//! The table of figures: every figure that tables and pages print, once. Rows, hover notes, footnotes, `explain` and the
//! text of the schema follow from it. A new figure is one line of `figures.txt`.

use crate::words::figures::figure::{Figure, Section};
use std::sync::LazyLock;

const TEXT: &str = include_str!("figures.txt");

/// Every figure under its heading, in the order of tables and pages.
pub static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
    let mut sections: Vec<Section> = vec![];
    for line in TEXT.lines() {
        if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.push(Section { title, figures: vec![] });
        } else if let Some(section) = sections.last_mut() {
            section.figures.extend(Figure::of_line(line));
        }
    }
    sections
});

/// The label of a figure, by its path.
pub(crate) fn label(path: &'static str) -> &'static str {
    let found = SECTIONS.iter().flat_map(|section| &section.figures).find(|figure| figure.path == path);
    found.map_or(path, |figure| figure.label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::report::Report;
    use crate::words::figures::reading::Trees;
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
        let value = |report: &Report, figure: &Figure| {
            Trees::of(std::slice::from_ref(report)).value(report, figure, "k")
        };
        for figure in SECTIONS.iter().flat_map(|section| &section.figures) {
            let mut json = ones.clone();
            put(&mut json, figure.path);
            let after: Report =
                serde_json::from_value(json).unwrap_or_else(|e| panic!("{}: {e}", figure.path));
            let (before, after) = (value(&before, figure), value(&after, figure));
            assert_ne!(before, after, "{} is not read from {}", figure.label, figure.path);
        }
    }

    #[test]
    fn every_figure_has_its_own_sentence_and_label() {
        for section in &*SECTIONS {
            let mut labels = vec![];
            for figure in &section.figures {
                let (label, about) = (figure.label, figure.about);
                assert!(about.ends_with(['.', ')']) || about.ends_with(".)"), "{label}: {about}");
                assert!(!about.trim_end_matches('.').contains(". "), "{label} has two sentences");
                assert!(!labels.contains(&label), "{}: {label} twice", section.title);
                labels.push(label);
            }
        }
    }

    #[test]
    fn every_line_of_the_text_is_a_figure_or_a_heading() {
        let lines = TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (headings, figures): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with('['));
        assert_eq!(SECTIONS.len(), headings.len());
        assert_eq!(SECTIONS.iter().map(|section| section.figures.len()).sum::<usize>(), figures.len());
        for line in figures {
            assert!(Figure::of_line(line).is_some(), "{line}");
        }
    }

    #[test]
    fn a_line_with_an_unknown_word_is_no_figure() {
        let fine = "waf.total | WAF | ratio, lower | if any, part, each cause | Bytes.";
        assert!(Figure::of_line(fine).is_some());
        for (word, other) in [("ratio", "ratios"), ("lower", "low"), ("part", "parts"), (" | Bytes.", "")] {
            assert!(Figure::of_line(Box::leak(fine.replace(word, other).into())).is_none(), "{other}");
        }
    }
}
