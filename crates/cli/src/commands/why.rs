//! `why`: what the slowest requests of a run waited for.

use crate::args::run::WhyArgs;
use crate::commands::experiment::{json_of, reports_of};
use crate::console::Console;
use crate::error::Failure;
use crate::output::Sink;
use wordline_report::{Report, Why, why_text};
use wordline_run::{Slowest, WhyAsked};

pub(crate) fn why(args: &WhyArgs, console: &Console) -> Result<(), Failure> {
    let sink = args.json.as_deref().map(Sink::open).transpose()?;
    let (reports, _) = reports_of(&args.report)?;
    let report = chosen(&reports, args)?;
    let slowest = args.slowest.unwrap_or_default();
    let asked = WhyAsked {
        numbers: args.numbers.clone(),
        // A timeline is of the first of them.
        slowest: stories(args, slowest).max(usize::from(args.timeline.is_some())),
        summed: Some(slowest),
        op: args.op,
        timeline: args.timeline.clone(),
        registry: console.registry().clone(),
    };
    let told = {
        let mut bar = console.bar_of(report.host.requests);
        wordline_run::why(report, &asked, args.workload.as_deref(), &mut |p| bar.update(p))?
    };
    if let Some(file) = &args.timeline {
        console.note(&format!("Timeline: {} (ui.perfetto.dev opens it)", file.display()));
    }
    if !sink.as_ref().is_some_and(Sink::is_stdout) {
        let many = args.stories.map_or(0, usize::from);
        let stories = told.stories.iter().take(if args.numbers.is_empty() { many } else { usize::MAX });
        let told = Why { stories: stories.cloned().collect(), ..told.clone() };
        console.say(&why_text(&told, args.shares))?;
    }
    match sink {
        Some(sink) => sink.write(&(json_of(serde_json::to_string_pretty(&told))? + "\n"), console),
        None => Ok(()),
    }
}

/// Number of explained requests: the requested number for text, some of the slowest for data.
fn stories(args: &WhyArgs, slowest: Slowest) -> usize {
    let unasked = if args.json.is_some() { slowest.stories() } else { 0 };
    args.stories.map_or(unasked, usize::from)
}

/// The report that is asked about.
fn chosen<'a>(reports: &'a [Report], args: &WhyArgs) -> Result<&'a Report, Failure> {
    let names: Vec<&str> = reports.iter().map(|r| r.scheme.name.as_str()).collect();
    let wrong = |what: String| {
        let allowed: Vec<String> = names.iter().map(|name| format!("--scheme {name}")).collect();
        Failure::Input(format!("{}: {what}\n  allowed: {}", args.report.display(), allowed.join(", ")))
    };
    match (&args.scheme, reports) {
        (None, [only]) => Ok(only),
        (None, _) => Err(wrong(format!("contains {} runs; select one", reports.len()))),
        (Some(name), _) => {
            let found = reports.iter().find(|r| r.scheme.name == *name);
            found.ok_or_else(|| wrong(format!("contains no run of {name:?}")))
        }
    }
}
