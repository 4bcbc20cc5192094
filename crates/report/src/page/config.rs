//! The configuration on the page: first the keys in which the runs differ, then, folded, all keys. Keys are
//! dotted paths, spelled as on the command line.

use crate::page::parts::{Page, soft, table};
use crate::pictures::cast::Cast;
use crate::pictures::svg::escape;
use crate::schema::comparison::Comparison;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Maximum number of keys on the page. The JSON has all of them.
const KEYS_MAX: usize = 1500;
/// Maximum length of a value; longer ones are cut.
const VALUE_MAX: usize = 240;

pub(crate) fn write(page: &mut Page, comparison: &Comparison, cast: &Cast) {
    let runs = comparison.reports.len();
    let mut keys: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (i, report) in comparison.reports.iter().enumerate() {
        flatten("", &report.config, &mut |path, value| {
            keys.entry(path.to_string()).or_insert_with(|| vec![String::new(); runs])[i] = value;
        });
    }
    if keys.is_empty() {
        return;
    }
    let alike = |values: &[String]| values.windows(2).all(|w| w[0] == w[1]);
    let differing = keys.iter().filter(|(_, v)| !alike(v));
    let finding = match (runs, differing.clone().count()) {
        (1, _) => format!("{} keys.", keys.len()),
        (_, 1) => format!("1 of {} keys differs.", keys.len()),
        (_, n) => format!("{n} of {} keys differ.", keys.len()),
    };
    page.section("Configuration", "configuration", &finding);
    let out = page.html();
    if differing.clone().next().is_some() {
        out.push_str("<p class=\"caption\">Differences between the runs:</p>\n");
        table(out, "config", "Configuration differences", |out| {
            out.push_str("<thead><tr><th scope=\"col\">key</th>");
            for label in &cast.labels {
                let _ = write!(out, "<th scope=\"col\">{}</th>", soft(label));
            }
            out.push_str("</tr></thead>\n<tbody>\n");
            for (key, values) in differing.take(KEYS_MAX) {
                row(out, key, values);
            }
            out.push_str("</tbody>\n");
        });
    }
    let same: Vec<_> = keys.iter().filter(|(_, v)| alike(v)).collect();
    if !same.is_empty() {
        let what = if runs == 1 { "All keys" } else { "Keys that are the same in all runs" };
        let _ = writeln!(out, "<details>\n<summary>{what} ({})</summary>", same.len());
        table(out, "config", what, |out| {
            out.push_str("<tbody>\n");
            for (key, values) in same.iter().take(KEYS_MAX) {
                row(out, key, &values[..1]);
            }
            out.push_str("</tbody>\n");
        });
        out.push_str("</details>\n");
    }
    if keys.len() > KEYS_MAX {
        out.push_str("<p class=\"caption\">The JSON has further keys.</p>\n");
    }
    page.end_section();
}

fn row(out: &mut String, key: &str, values: &[String]) {
    let _ = write!(out, "<tr><th scope=\"row\">{}</th>", dotted(&cut(key)));
    for value in values {
        let _ = write!(out, "<td>{}</td>", soft(&cut(value)));
    }
    out.push_str("</tr>\n");
}

/// A dotted path that may break after each dot.
fn dotted(path: &str) -> String {
    path.split_inclusive(['.', '_']).map(escape).collect::<Vec<_>>().join("<wbr>")
}

fn cut(text: &str) -> String {
    if text.chars().count() <= VALUE_MAX {
        return text.to_string();
    }
    text.chars().take(VALUE_MAX).chain(['…']).collect()
}

fn flatten(path: &str, value: &Value, leaf: &mut impl FnMut(&str, String)) {
    match value {
        Value::Null if path.is_empty() => {}
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, value, leaf);
            }
        }
        // A list of plain values is shown as one value.
        Value::Array(list) if list.iter().any(|v| v.is_object() || v.is_array()) => {
            for (i, value) in list.iter().enumerate() {
                flatten(&format!("{path}[{i}]"), value, leaf);
            }
        }
        Value::String(text) => leaf(path, text.clone()),
        other => leaf(path, other.to_string()),
    }
}
