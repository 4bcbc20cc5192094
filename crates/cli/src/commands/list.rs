//! `list`: names with a line each.

use crate::args::about::{Kind, ListArgs};
use crate::console::Console;
use crate::error::Failure;
use serde_json::{Value, json};
use wordline_workload::SYNTHETICS;
use wordline_workload::twin::TWINS;

/// Each format with the rows of its grammar, the unit of its times and its own options.
fn formats(console: &Console) -> String {
    let mut out = String::new();
    for format in wordline_trace::FORMATS {
        out += &format!("{}  {}\n", console.bold(format.name), format.title);
        for line in format.outline().lines() {
            out += &format!("    {line}\n");
        }
        out += &format!("    times: {}", format.timing.describe());
        let options: Vec<&str> = format.parameters.iter().map(|p| p.key).collect();
        if !options.is_empty() {
            out += &format!("; options: {}", options.join(", "));
        }
        out += "\n\n";
    }
    out += "`wordline explain NAME` shows the grammar of a format and its options.\n";
    out
}

pub(crate) fn list(args: &ListArgs, console: &Console) -> Result<(), Failure> {
    let named = |name: &str, title: String| (name.to_string(), title);
    let entries: Vec<(String, String)> = match args.kind {
        Kind::Devices => wordline_device::builtin().iter().map(|d| named(d.name, d.description())).collect(),
        Kind::Schemes => {
            console.registry().all().iter().map(|s| named(&s.name, s.title.to_string())).collect()
        }
        Kind::Workloads => {
            let built_in = SYNTHETICS.iter().map(|w| (w.name.to_string(), w.title.to_string()));
            let twins = TWINS.iter().map(|t| (format!("twin:{}", t.name), t.title()));
            let files = named(crate::commands::explain::JOB_FILES, "path of any fio job file".to_string());
            built_in.chain(twins).chain([files]).collect()
        }
        Kind::Formats if !args.json => return console.say(&formats(console)),
        Kind::Formats => wordline_trace::FORMATS.iter().map(|f| named(f.name, f.title.to_string())).collect(),
    };
    if args.json {
        let all: Vec<Value> = entries.iter().map(|(n, d)| json!({ "name": n, "description": d })).collect();
        let text = serde_json::to_string_pretty(&all)
            .map_err(|e| Failure::Output(format!("the list cannot be written as JSON: {e}")))?;
        return console.say(&text);
    }
    let width = entries.iter().map(|(n, _)| n.len()).max().unwrap_or(0);
    let lines: Vec<String> = entries
        .iter()
        .map(|(n, d)| format!("{}{}  {d}\n", console.bold(n), " ".repeat(width - n.len())))
        .collect();
    console.say(&lines.concat())
}
