//! `explain`: everything that is known of a name.

use crate::args::about::{ExplainArgs, Kind};
use crate::commands::list::JOB_FILES;
use crate::commands::{keys, list, mentions, options};
use crate::console::Console;
use crate::error::Failure;
use std::collections::BTreeSet;
use std::path::Path;
use wordline_report::paragraph;
use wordline_run::RunError;
use wordline_schemes::{Entry, Registry};
use wordline_trace::{Parameter, TRACE_OPTIONS};
use wordline_workload::twin::{BuiltinTwin, Depth, TWIN_OPTIONS, TWINS, TwinBody, check, twin_named};
use wordline_workload::{JOB_OPTIONS, Standing, job_keys};

/// Requests of a twin that are made to explain it.
const EXPLAINED: u64 = 500_000;

pub(crate) fn explain(args: &ExplainArgs, console: &Console) -> Result<(), Failure> {
    let asked = args.name.join(" ");
    let name = mentions::without_question(&asked);
    let mut pages = named(name, console)?;
    if pages.is_empty() {
        pages.extend(mentions::page(name, console));
    }
    if pages.is_empty() {
        return Err(Failure::Input(unknown(name, console.registry())));
    }
    console.say(&pages.join("\n"))
}

/// The pages for a name.
fn named(name: &str, console: &Console) -> Result<Vec<String>, Failure> {
    let mut pages: Vec<String> = vec![];
    pages.extend(topic(name, console));
    if wordline_device::find(name).is_some() || (name.ends_with(".toml") && Path::new(name).exists()) {
        pages.push(device(name, console)?);
    }
    if let Ok(entry) = console.registry().find(name) {
        pages.push(scheme(entry, console)?);
    }
    if let Some(workload) = wordline_workload::synthetic_named(name) {
        let mut page = format!("{}: {}\n", console.bold(workload.name), workload.title);
        page += &parameters("Parameters", &workload.parameters(), console);
        page += &format!("\n  --workload {name}:key=value,...\n");
        pages.push(page);
    }
    let twin = name.strip_prefix("twin:").unwrap_or(name);
    if let Some(twin) = twin_named(twin) {
        pages.push(twin_page(twin, console)?);
    }
    if let Some(format) = wordline_trace::format_named(name) {
        let mut page =
            format!("{}: {}\n\n{}\n", console.bold(format.name), format.title, format.grammar.trim());
        page += &parameters("Options of this format", format.parameters, console);
        page += &parameters("Options of every trace", TRACE_OPTIONS, console);
        pages.push(page);
    }
    if name == JOB_FILES {
        pages.push(job_files(console));
    }
    if name == NOT_MODELLED {
        pages.push(wordline_report::NOT_MODELLED.to_string());
    }
    if pages.is_empty() {
        pages.extend(keys::page(name, console));
    }
    let mut found = wordline_report::explained(name);
    // What has this very name goes before what has it as one of others.
    found.sort_by_key(|found| !found.name.eq_ignore_ascii_case(name));
    pages.extend(found.iter().map(|found| figure(found, console)));
    pages.extend(options::pages(name, console));
    Ok(pages)
}

/// The lists of names that have a name themselves.
const TOPICS: [(&str, Topic); 9] = [
    ("devices", |console| list::text(Kind::Devices, console)),
    ("schemes", |console| list::text(Kind::Schemes, console)),
    ("workloads", |console| list::text(Kind::Workloads, console)),
    ("formats", |console| list::text(Kind::Formats, console)),
    ("commands", |console| list::lines(&options::commands(), console)),
    ("options", |console| list::lines(&options::options(), console)),
    ("keys", |console| keys::page(keys::DEVICE_FILES, console).unwrap_or_default()),
    ("figures", |console| explained("JSON", console)),
    ("terms", |console| explained("kind", console)),
];

/// All figures, or all terms: those that have a fact.
fn explained(fact: &str, console: &Console) -> String {
    let all = wordline_report::every_explained();
    let with = all.iter().filter(|found| found.facts.iter().any(|(what, _)| *what == fact));
    with.map(|found| figure(found, console)).collect()
}

/// Makes the list of a topic.
type Topic = fn(&Console) -> String;

/// All names of a kind: `formats`, `devices`.
fn topic(name: &str, console: &Console) -> Option<String> {
    let (_, text) = TOPICS.iter().find(|(word, _)| *word == name)?;
    Some(text(console))
}

/// Every explained name, except keys within tables of a device file.
pub(crate) fn names(schemes: &Registry) -> Vec<String> {
    let fixed = (wordline_device::builtin().iter().map(|d| d.name))
        .chain(schemes.names())
        .chain(wordline_workload::SYNTHETICS.iter().map(|w| w.name))
        .chain(TWINS.iter().map(|t| t.name))
        .chain(wordline_trace::FORMATS.iter().map(|f| f.name))
        .chain([JOB_FILES, NOT_MODELLED, keys::DEVICE_FILES])
        .chain(TOPICS.iter().map(|(word, _)| *word))
        .chain(wordline_report::explainable());
    let mut seen = BTreeSet::new();
    let names = fixed.map(str::to_string).chain(keys::names()).chain(options::names());
    names.filter(|name| seen.insert(name.clone())).collect()
}

fn unknown(name: &str, schemes: &Registry) -> String {
    let names = names(schemes);
    let keys = keys::paths();
    let known = names.iter().chain(&keys).map(String::as_str);
    let near = wordline_device::config::closest(name, known);
    let hint = near.map_or(String::new(), |n| format!("; did you mean {n:?}?"));
    let what = "device, scheme, workload, format, key of a device file, command, option, figure or term";
    let lists = "`wordline list devices`, `wordline list schemes`, `wordline list workloads` and `wordline list formats`";
    format!(
        "unknown {what} {name:?}{hint}\n  hint: {lists} list the names; `wordline explain device-files` \
         lists the keys"
    )
}

/// A figure or a term of tables and pages.
fn figure(found: &wordline_report::Explained, console: &Console) -> String {
    let mut page = format!("{}\n", console.bold(&found.name));
    page += &paragraph("  ", found.about, console.style());
    for (what, text) in &found.facts {
        page += &paragraph("  ", &format!("{what}: {text}"), console.style());
    }
    page
}

/// The contents of a twin, its criteria, and its measured figures.
fn twin_page(twin: &BuiltinTwin, console: &Console) -> Result<String, Failure> {
    let name = format!("twin:{}", twin.name);
    let checked = check(&name, Some(EXPLAINED), Depth::Full).map_err(RunError::Workload)?;
    let mut page = format!("{}: {}\n", console.bold(&name), checked.title);
    if let TwinBody::Workload(spelled) = twin.body {
        page += &format!("\n  --workload {}\n  {}\n", spelled.workload, spelled.source);
    }
    if let Some(text) = twin.text() {
        page += &format!("\n{}\n\n", console.bold("Each value with its source"));
        for line in text.lines() {
            page += &format!("  {line}\n");
        }
    }
    page += &format!("\n{}\n\n", console.bold("Statistics of the twin and of its table"));
    page += &checked.render();
    page += &format!(
        "  From at most {EXPLAINED} requests; `wordline twin check {}` generates all of them.\n",
        twin.name
    );
    page += &parameters("Options", TWIN_OPTIONS, console);
    Ok(page)
}

fn device(name: &str, console: &Console) -> Result<String, Failure> {
    let mut page = wordline_device::describe(&wordline_run::device(name, &[])?);
    if let Some(builtin) = wordline_device::find(name) {
        page += &format!("\n{} ({})\n\n", console.bold("Each value with its source"), builtin.origin());
        for line in builtin.text.lines() {
            page += &format!("  {line}\n");
        }
    }
    Ok(page)
}

/// The name under which the limits of the model are explained.
pub(crate) const NOT_MODELLED: &str = "not-modelled";

/// Every key of a job file.
fn job_files(console: &Console) -> String {
    let mut page =
        format!("{}: job files of fio as workloads\n\n{}\n", console.bold(JOB_FILES), console.bold("Keys"));
    let width = job_keys().map(|k| k.names[0].len()).max().unwrap_or(0);
    let (mut unseen, mut refused) = (vec![], String::new());
    for key in job_keys() {
        let names = key.names.join(", ");
        match key.standing {
            Standing::Honoured(about) => page += &format!("  {:width$}  {about}\n", key.names[0]),
            Standing::Unseen => unseen.push(names),
            Standing::Refused(why) => refused += &format!("  {:width$}  {why}\n", key.names[0]),
        }
    }
    page += &format!("\n{}\n", console.bold("Accepted without effect on a drive"));
    for line in unseen.chunks(5) {
        page += &format!("  {}\n", line.join(", "));
    }
    page += &format!("\n{}\n{refused}", console.bold("Not supported, with the reason"));
    page += &parameters("Options after the file name, in addition to the keys above", JOB_OPTIONS, console);
    page + "\n  --workload FILE:key=value,...\n"
}

/// Drives on which it is shown how a scheme divides one: the first that it takes.
const SHOWN_ON: [&str; 2] = ["fair-tlc", "fair-pair"];

/// Documentation of a scheme, its hooks, and its layout on a drive.
fn scheme(entry: &Entry, console: &Console) -> Result<String, Failure> {
    let mut page = format!("{}: {}\n", console.bold(&entry.name), entry.title);
    let head = entry.docs.lines().map_while(|l| l.strip_prefix("//!"));
    let head: Vec<&str> = match &entry.described {
        Some(says) => says.lines().collect(),
        None => head.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect(),
    };
    for line in head {
        if let Some(heading) = line.strip_prefix("## ") {
            page += &format!("{}\n", console.bold(heading));
        } else if line.is_empty() {
            page += "\n";
        } else if !line.starts_with("# ") {
            page += &format!("  {}\n", line.replace('`', ""));
        }
    }
    page += &divided(entry, console)?;
    // The hash of a class's source is known of each run, and nobody sets it.
    let keys = || entry.parameters.iter().filter(|p| entry.typed.is_none() || p.key != "source");
    if keys().next().is_some() {
        page += &format!("\n{}\n", console.bold("Keys"));
        let width = keys().map(|p| p.key.len()).max().unwrap_or(0);
        for p in keys() {
            page += &format!("  {:width$}  {} [default: {}]\n", p.key, p.what, p.default);
        }
    }
    let values = if keys().next().is_some() { ":key=value,..." } else { "" };
    page += &format!("\n  --scheme {}{values}\n", entry.typed.as_deref().unwrap_or(&entry.name));
    Ok(page)
}

/// The hooks of a scheme, and its regions on the first supported drive; or why it supports none.
fn divided(entry: &Entry, console: &Console) -> Result<String, Failure> {
    let mut refused = vec![];
    for name in SHOWN_ON {
        let device = wordline_run::device(name, &[])?;
        let (hooks, layout) = match wordline_run::divided(console.registry(), &entry.name, &device) {
            Ok(divided) => divided,
            Err(RunError::Refused(why)) => {
                refused.push(format!("  {name}: {}\n", why.reason));
                continue;
            }
            Err(e) => return Err(e.into()),
        };
        let mut page = format!("\n{}\n  {}\n", console.bold("Hooks"), hooks.join(", "));
        page += &format!("\n{}\n", console.bold(&format!("Layout on {name}")));
        let width = layout.regions.iter().map(|r| r.name.len()).max().unwrap_or(0);
        for region in &layout.regions {
            let pool = &layout.pools[region.pool.0 as usize];
            let shared = layout.regions.iter().filter(|r| r.pool == region.pool).count() > 1;
            let blocks = region.quota.min(pool.blocks_per_plane);
            let most = if shared { "at most " } else { "" };
            page += &format!(
                "  {:width$}  {}, {most}{blocks} blocks in each plane\n",
                region.name,
                region.mode.key().to_uppercase()
            );
        }
        return Ok(page);
    }
    Ok(format!("\n{}\n{}", console.bold("Not on"), refused.concat()))
}

fn parameters(title: &str, all: &[Parameter], console: &Console) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", console.bold(title));
    let width = all.iter().map(|p| p.key.len()).max().unwrap_or(0);
    for p in all {
        out += &format!("  {:width$}  {} [default: {}]\n", p.key, p.about, p.default);
        out += &format!("  {:width$}    {}\n", "", values(p));
    }
    out
}

/// The kind of value of a parameter.
fn values(p: &Parameter) -> String {
    if p.allowed.is_empty() { p.unit.to_string() } else { format!("{}: {}", p.unit, p.allowed) }
}
