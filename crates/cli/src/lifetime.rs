//! `lifetime`.

use crate::args::LifetimeArgs;
use crate::console::Console;
use crate::error::Failure;
use crate::experiment::{json_of, spec, threads};
use crate::output::{Folder, Sink};
use std::ops::ControlFlow;
use wordline_report::{lifetime_figures, lifetime_html, lifetime_table};
use wordline_run::LifetimeSpec;

pub(crate) fn lifetime(args: &LifetimeArgs, console: &Console) -> Result<(), Failure> {
    if args.what.twin_sensitivity {
        let what = "--twin-sensitivity compares runs; leave it out";
        return Err(Failure::Input(what.to_string()));
    }
    let folder = args.out.as_deref().map(Folder::open).transpose()?;
    let json = args.json.as_deref().map(Sink::open).transpose()?;
    let csv = args.csv.as_deref().map(Sink::open).transpose()?;
    let asked = LifetimeSpec {
        run: spec(&args.what, &args.schemes[0]),
        schemes: args.schemes.clone(),
        acceleration: args.acceleration,
        shelf: args.shelf.unwrap_or_default(),
        threads: threads(args.what.threads),
    };
    let lifetimes = wordline_run::lifetime(&asked, &|p| {
        if p.ended {
            let (name, writes) = (&args.schemes[p.scheme], p.drive_writes);
            console.note(&format!("{name}, seed {}: worn out after {writes:.0} drive writes", p.seed));
        }
        ControlFlow::Continue(())
    })?;
    let text = json_of(lifetimes.to_json())?;
    if ![&json, &csv].into_iter().flatten().any(Sink::is_stdout) {
        console.say(&lifetime_table(&lifetimes, console.style()))?;
    }
    if let Some(folder) = folder {
        folder.write("phases.csv", &lifetimes.to_csv(), console)?;
        let page = ("lifetime.html", lifetime_html(&lifetimes));
        let figures = lifetime_figures(&lifetimes);
        folder.fill_with(&figures, (page.0, &page.1), ("lifetime.json", &text), console)?;
    }
    if let Some(sink) = csv {
        sink.write(&lifetimes.to_csv(), console)?;
    }
    match json {
        Some(sink) => sink.write(&text, console),
        None => Ok(()),
    }
}
