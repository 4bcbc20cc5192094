//! `list`: names with a line each.

use crate::args::about::{Kind, ListArgs};
use crate::console::Console;
use crate::error::Failure;
use serde_json::{Value, json};
use wordline_device::{Builtin, builtin};
use wordline_workload::SYNTHETICS;
use wordline_workload::twin::TWINS;

/// The name under which job files are explained.
pub(crate) const JOB_FILES: &str = "fio";

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

/// The devices, those of real drives apart from all others.
fn devices(console: &Console) -> String {
    let width = builtin().iter().map(|d| d.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (is_measured, title) in [(true, MEASURED), (false, "\nfrom papers, or hypothetical:\n")] {
        out += title;
        for d in builtin().iter().filter(|d| d.is_measured() == is_measured) {
            out += &format!(
                "  {}{}  {}\n",
                console.bold(d.name),
                " ".repeat(width - d.name.len()),
                d.description()
            );
        }
    }
    out
}

const MEASURED: &str = "fitted to public measurements, not endorsed by the manufacturers:\n";

fn devices_as_json(console: &Console) -> Result<(), Failure> {
    let entry =
        |d: &Builtin| json!({ "name": d.name, "description": d.description(), "measured": d.is_measured() });
    let all: Vec<Value> = builtin().iter().map(entry).collect();
    say_json(&all, console)
}

fn say_json(all: &[Value], console: &Console) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(all)
        .map_err(|e| Failure::Output(format!("the list cannot be written as JSON: {e}")))?;
    console.say(&text)
}

/// Every name of a kind with its line.
pub(crate) fn entries(kind: Kind, console: &Console) -> Vec<(String, String)> {
    let named = |name: &str, title: String| (name.to_string(), title);
    match kind {
        Kind::Devices => builtin().iter().map(|d| named(d.name, d.description())).collect(),
        Kind::Schemes => {
            console.registry().all().iter().map(|s| named(&s.name, s.title.to_string())).collect()
        }
        Kind::Workloads => {
            let built_in = SYNTHETICS.iter().map(|w| (w.name.to_string(), w.title.to_string()));
            let twins = TWINS.iter().map(|t| (format!("twin:{}", t.name), t.title()));
            let files = named(JOB_FILES, "path of any fio job file".to_string());
            built_in.chain(twins).chain([files]).collect()
        }
        Kind::Formats => wordline_trace::FORMATS.iter().map(|f| named(f.name, f.title.to_string())).collect(),
    }
}

/// All of a kind as text, as `list` and `explain` print it.
pub(crate) fn text(kind: Kind, console: &Console) -> String {
    match kind {
        Kind::Devices => devices(console),
        Kind::Formats => formats(console),
        Kind::Schemes | Kind::Workloads => lines(&entries(kind, console), console),
    }
}

/// A line for each name.
pub(crate) fn lines(entries: &[(String, String)], console: &Console) -> String {
    let width = entries.iter().map(|(n, _)| n.len()).max().unwrap_or(0);
    let line =
        |(n, d): &(String, String)| format!("{}{}  {d}\n", console.bold(n), " ".repeat(width - n.len()));
    entries.iter().map(line).collect()
}

pub(crate) fn list(args: &ListArgs, console: &Console) -> Result<(), Failure> {
    match args.kind {
        kind if !args.json => console.say(&text(kind, console)),
        Kind::Devices => devices_as_json(console),
        kind => {
            let all = entries(kind, console);
            let all: Vec<Value> = all.iter().map(|(n, d)| json!({ "name": n, "description": d })).collect();
            say_json(&all, console)
        }
    }
}
