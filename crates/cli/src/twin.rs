//! `twin check` and `twin fit`.

use crate::args::{TwinCheckArgs, TwinFitArgs};
use crate::console::Console;
use crate::error::Failure;
use crate::output::Sink;
use serde_json::json;
use std::ops::ControlFlow;
use wordline_report::{Report, TwinPanel, twin_figures};
use wordline_run::{RunError, RunSpec};
use wordline_workload::twin::{Checked, Depth, Fitted, TWINS, TwinBody};
use wordline_workload::{Fit, with_format};

pub(crate) fn check(args: &TwinCheckArgs, console: &Console) -> Result<(), Failure> {
    let sink = args.json.as_deref().map(Sink::open).transpose()?;
    // Known before the time is spent: a folder that cannot be written.
    if let Some(folder) = &args.out {
        let refused =
            |e: std::io::Error| Failure::Input(format!("{}: cannot be made: {e}", folder.display()));
        std::fs::create_dir_all(folder).map_err(refused)?;
        Sink::open(&folder.join("twins-table.md").to_string_lossy())?;
    }
    let all = || TWINS.iter().filter(|t| !matches!(t.body, TwinBody::Same(_))).map(|t| t.name.to_string());
    let names: Vec<String> =
        args.names.iter().flat_map(|n| if n == "all" { all().collect() } else { vec![n.clone()] }).collect();
    let depth = if args.requests.is_some() { Depth::Counts } else { Depth::Full };
    let (mut tables, mut found, mut panels, mut outside) = (String::new(), vec![], vec![], vec![]);
    for name in names {
        let checked = wordline_workload::twin::check(&name, args.requests.map(|n| n.0), depth)
            .map_err(RunError::Workload)?;
        if !sink.as_ref().is_some_and(Sink::is_stdout) {
            console.say(&(checked.render() + "\n"))?;
        }
        if !checked.holds() {
            outside.push(checked.name.clone());
        }
        tables += &markdown(&checked);
        panels.extend(panel(&checked));
        found.push(json!({ "name": checked.name, "holds": checked.holds(), "rows": checked.rows }));
    }
    if let Some(folder) = &args.out {
        let write = |name: &str, text: &str| -> Result<(), Failure> {
            Sink::open(&folder.join(name).to_string_lossy())?.write(text, console)
        };
        write("twins-table.md", &format!("{TABLE_HEAD}{tables}"))?;
        for figure in twin_figures(&panels) {
            write(&format!("{}.svg", figure.name), &figure.svg)?;
            write(&format!("{}.csv", figure.name), &figure.csv)?;
        }
    }
    if let Some(sink) = sink {
        let text = serde_json::to_string_pretty(&found)
            .map_err(|e| Failure::Output(format!("the figures cannot be written as JSON: {e}")))?;
        sink.write(&(text + "\n"), console)?;
    }
    if outside.is_empty() {
        return Ok(());
    }
    Err(Failure::Differs(format!("outside its criterion: {}", outside.join(", "))))
}

const TABLE_HEAD: &str = "# Twins and the tables that they are made from\n\n\
    Written by `make twins`. Shares deviate in points, all else in per cent; a row without a criterion is told, \
    and nothing is asked of it. \"Table\" is the paper's, or for values that a twin's file marks ASSUMED the \
    value assumed: `wordline explain twin:NAME` says which.\n";

fn markdown(checked: &Checked) -> String {
    let mut out = format!("\n## {}\n\n{}\n\n", checked.name, checked.title);
    out += "| statistic | table | twin | deviation | criterion | verdict |\n|---|---:|---:|---:|---:|---|\n";
    for row in &checked.rows {
        out += &format!("| {} |\n", row.cells().join(" | "));
    }
    out
}

/// What the pictures show of a twin.
fn panel(checked: &Checked) -> Option<TwinPanel> {
    let s = checked.statistics.as_ref()?;
    let [reads, writes] = s.sizes();
    let share = |sizes: Vec<(u64, u64)>| -> Vec<(f64, f64)> {
        let all: u64 = sizes.iter().map(|(_, n)| n).sum();
        sizes
            .into_iter()
            .scan(0, |sum, (size, n)| {
                *sum += n;
                Some((size as f64, *sum as f64 / all as f64))
            })
            .collect()
    };
    let name = checked.name.trim_start_matches("twin:");
    let targets =
        wordline_workload::twin::description_of(&checked.name).map(|d| d.targets.hits).unwrap_or_default();
    let [_, _, written] = s.footprints().unwrap_or_default();
    let caches: Vec<u64> = (0..=40)
        .map(|k| (written as f64 / f64::powf(2.0, k as f64 / 4.0)) as u64 / 4096 * 4096)
        .rev()
        .filter(|c| *c > 0)
        .collect();
    let hits = s.hits(&caches).unwrap_or_default();
    let (counts, part_s) = s.arrivals();
    // The last part is cut off where the requests end.
    let counts = counts.split_last().map_or(counts, |(_, whole)| whole);
    Some(TwinPanel {
        name: name.to_string(),
        read_sizes: share(reads),
        write_sizes: share(writes),
        hits: caches.iter().map(|c| *c as f64).zip(hits).collect(),
        targets: targets.into_iter().map(|(cache, hit)| (cache as f64, hit.as_f64())).collect(),
        rates: counts.iter().map(|n| *n as f64 / part_s).collect(),
        part_s,
    })
}

pub(crate) fn fit(args: &TwinFitArgs, console: &Console) -> Result<(), Failure> {
    let sink = args.out.as_deref().map(Sink::open).transpose()?;
    let text = match &args.format {
        Some(format) => with_format(&args.file, format),
        None => args.file.clone(),
    };
    let fitted = wordline_workload::twin::fit(&text, &args.title).map_err(RunError::Workload)?;
    let toml = fitted.to_toml();
    let runs = simulated(args, &text, &toml)?;
    console.say(&side_by_side(&fitted, &args.device, &args.scheme, &runs))?;
    match sink {
        Some(sink) => sink.write(&toml, console),
        None => Ok(()),
    }
}

/// Trace and twin on the same drive under the same scheme.
fn simulated(args: &TwinFitArgs, trace: &str, twin: &str) -> Result<[Report; 2], Failure> {
    let file = tempfile::Builder::new().prefix("wordline-").suffix(".toml").tempfile();
    let failed = |e: std::io::Error| Failure::Output(format!("a temporary file cannot be written: {e}"));
    let file = file.map_err(failed)?;
    std::fs::write(file.path(), twin).map_err(failed)?;
    let run = |workload: &str| -> Result<Report, Failure> {
        let spec = RunSpec {
            set: args.set.clone(),
            fit: Some(Fit::Compact),
            ..RunSpec::new(&args.device, &args.scheme, workload)
        };
        Ok(wordline_run::run(&spec, &mut |_| ControlFlow::Continue(()))?)
    };
    Ok([run(trace)?, run(&file.path().to_string_lossy())?])
}

fn side_by_side(fitted: &Fitted, device: &str, scheme: &str, runs: &[Report; 2]) -> String {
    let mut rows = vec![["".to_string(), "trace".to_string(), "twin".to_string()]];
    rows.extend(fitted.rows());
    rows.push([format!("on {device} under {scheme}"), String::new(), String::new()]);
    let us = |x: Option<f64>| x.map_or("-".to_string(), |us| format!("{us:.1} us"));
    let mut row = |what: &str, of: &dyn Fn(&Report) -> String| {
        rows.push([what.to_string(), of(&runs[0]), of(&runs[1])]);
    };
    row("  write latency, mean", &|r| us(r.latency_us.write.map(|l| l.mean)));
    row("  write latency, median", &|r| us(r.latency_us.write.map(|l| l.p50)));
    row("  write latency, p99", &|r| us(r.latency_us.write.map(|l| l.p99)));
    row("  read latency, mean", &|r| us(r.latency_us.read.map(|l| l.mean)));
    row("  read latency, median", &|r| us(r.latency_us.read.map(|l| l.p50)));
    row("  read latency, p99", &|r| us(r.latency_us.read.map(|l| l.p99)));
    row("  write amplification", &|r| r.waf.as_ref().map_or("-".to_string(), |w| format!("{:.3}", w.total)));
    row("  erases", &|r| r.flash.erases.values().sum::<u64>().to_string());
    let width = |c: usize| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0);
    let (a, b, c) = (width(0), width(1), width(2));
    rows.iter()
        .map(|r| format!("{:<a$}  {:>b$}  {:>c$}\n", r[0], r[1], r[2]).trim_end().to_string() + "\n")
        .collect()
}
