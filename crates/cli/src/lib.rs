//! The command line: one tree of commands, called by the native binary and by the script that pip
//! installs. Results go to standard output, everything else to standard error; a mistake of the
//! user ends with exit code 2, a fault with 1.
//!
//! This is the one crate that prints. `args` is the tree, one module per command does the work, `console` knows the
//! terminal, `output` writes files so that none is ever half there.

#![allow(clippy::disallowed_methods, reason = "progress and forecasts are on a wall clock")]

mod advice;
mod args;
mod commands;
mod console;
mod error;
mod interrupt;
mod output;

use advice::{Record, Source};
use args::device::DeviceCommand;
use args::run::LifetimeArgs;
use args::scheme::SchemeCommand;
use args::tree::{Cli, Command};
use args::twin::TwinCommand;
use clap::Parser;
pub use commands::python::{Call, Callee};
use commands::{
    completions, crash, device, experiment, explain, lifetime, list, live, man, python, scheme, trace, twin,
    why,
};
use console::Console;
use error::Failure;
use output::Folder;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use wordline_run::Executor;
use wordline_schemes::Registry;

/// Execute the arguments, the first of which is the program's name. Returns the exit code.
pub fn main(args: impl Iterator<Item = OsString>) -> i32 {
    main_with_schemes(args, Registry::standard(), None)
}

/// Services of a Python interpreter for the command line.
pub struct Interpreter<'a> {
    /// Executes a command implemented in Python; returns its exit code, or `None` if a dependency is not installed.
    pub call: &'a dyn Fn(&Call) -> Option<i32>,
    /// Does runs of its own schemes in processes of their own.
    pub executor: Option<Executor>,
    /// The arguments as the user typed them, where those of the command have other names for its classes.
    pub typed: Option<Vec<OsString>>,
}

/// The same with the schemes of a registry, and optionally an interpreter.
pub fn main_with_schemes(
    args: impl Iterator<Item = OsString>,
    registry: Registry,
    python: Option<Interpreter<'_>>,
) -> i32 {
    let args: Vec<OsString> = args.collect();
    let record = Record::of(&args);
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(e) => {
            let told = e.to_string();
            let words = wordline_units::number_words(&told);
            // Help and version come this way too; nothing is left to do if even they cannot be shown.
            let _ = if words == told { e.print() } else { std::io::stderr().write_all(words.as_bytes()) };
            if e.use_stderr() {
                record.add(Source::Error, &words);
            }
            return e.exit_code();
        }
    };
    interrupt::listen();
    let (python, executor, typed) =
        python.map_or((None, None, None), |p| (Some(p.call), p.executor, p.typed));
    // What is printed to be typed again is what was typed.
    let typed = typed.unwrap_or_else(|| args.clone());
    let console = Console::new(registry, executor, record);
    let mut code = 0;
    let folder = folder_of(&cli.command);
    let mut in_python = |call: Result<Call, Failure>| {
        let call = call?;
        // Locked until Python is done.
        let _folder = folder.as_deref().map(Folder::bare).transpose()?;
        code = python.and_then(|python| python(&call)).ok_or_else(|| python::missing(&call))?;
        Ok(())
    };
    let kept = kept_by(&cli.command);
    let done = match cli.command {
        Command::Run(a) => experiment::run(&a, &console),
        Command::Compare(a) => experiment::compare(&a, &console),
        Command::Lifetime(a) if a.on.is_some() => in_python(python::lifetime(a, &console)),
        Command::Lifetime(a) => lifetime::lifetime(&a, &console),
        Command::Demo(a) => experiment::demo(&a, &console),
        Command::Rerun(a) if live::is_session(&a.report) => live::rerun(&a.report, &console),
        Command::Rerun(a) => experiment::rerun(&a, &console),
        Command::Why(a) => why::why(&a, &console),
        Command::Serve(a) => live::serve(&a, &console),
        Command::Ctl(a) => live::ctl(&a, &console),
        Command::Crash(a) => crash::crash(&a, &console),
        Command::CheckLog(a) => experiment::check_log(&a),
        Command::Twin { command: TwinCommand::Check(a) } => twin::check(&a, &console),
        Command::Twin { command: TwinCommand::Fit(a) } => twin::fit(&a, &console),
        Command::Twin { command: TwinCommand::Class(a) } => twin::class(&a, &console),
        Command::Trace { command } => trace::trace(&command, &console),
        Command::Device { command: DeviceCommand::Fit(a) } => in_python(python::device_fit(a)),
        Command::Device { command: DeviceCommand::Probe(a) } => in_python(python::device_probe(a)),
        Command::Pick(a) => in_python(python::pick(a, &console)),
        Command::Device { command } => device::device(&command, &console),
        Command::Scheme { command: SchemeCommand::New(a) } => scheme::new(&a, &console),
        Command::List(a) => list::list(&a, &console),
        Command::Explain(a) => explain::explain(&a, &console),
        Command::Completions(a) => completions::completions(&a, &console),
        Command::Man(a) => man::man(&a, &console),
        Command::Model(a) => in_python(python::model(a, &console)),
        Command::Pts(a) => in_python(python::pts(a)),
        Command::Validate(a) => in_python(python::validate(a)),
        Command::Sweep(a) => in_python(python::sweep(a, &console)),
        Command::Reproduce(a) => in_python(python::reproduce(a)),
        Command::Atlas(a) => in_python(python::atlas(a, &console)),
    };
    match done {
        // Python has told of nothing then.
        Ok(()) if code != 0 && interrupt::is_asked() => {
            console.note(&format!("stopped: {}: {}", kept(), interrupt::command(&typed)));
            interrupt::exit_code()
        }
        Ok(()) => code,
        // Whoever read the results has seen enough.
        Err(Failure::Closed) => 0,
        Err(e) if e.interruption().is_some() => {
            let kept = e.interruption().unwrap_or_default();
            console.note(&format!("stopped: {kept}; to start again: {}", interrupt::command(&typed)));
            e.exit_code()
        }
        Err(e) => {
            console.error(&e);
            e.exit_code()
        }
    }
}

/// Print the error of a command that is done in Python, as all errors are printed.
pub fn show_error(args: &[OsString], text: &str) {
    Console::new(Registry::standard(), None, Record::of(args)).error(&Failure::Input(text.to_string()));
}

/// The folder that a Python command writes; a dry run only adds what a run of its own would find there.
fn folder_of(command: &Command) -> Option<PathBuf> {
    match command {
        Command::Sweep(a) if !a.at.dry_run => Some(a.out.clone()),
        Command::Atlas(a) if !a.at.dry_run => Some(a.out.clone()),
        Command::Lifetime(a) if a.on.is_some() => a.out.clone(),
        Command::Device { command: DeviceCommand::Fit(a) } => a.out.clone(),
        Command::Model(a) => a.out.clone(),
        Command::Pts(a) => a.out.clone(),
        _ => None,
    }
}

/// What a stopped Python command has saved by then, and how to resume it.
fn kept_by(command: &Command) -> impl Fn() -> String + use<> {
    let (out, resumes) = match command {
        Command::Sweep(a) => (Some(a.out.clone()), true),
        Command::Atlas(a) => (Some(a.out.clone()), true),
        Command::Lifetime(LifetimeArgs { out: Some(out), .. }) => (Some(out.clone()), true),
        Command::Reproduce(a) => (a.out.clone(), true),
        Command::Device { command: DeviceCommand::Probe(a) } if a.run.is_some() => {
            (Some(a.jobs.clone()), true)
        }
        _ => (None, false),
    };
    let what = if matches!(command, Command::Device { .. }) { "jobs" } else { "runs" };
    move || match &out {
        Some(out) if out.exists() => {
            format!("finished {what} are kept in {}; the same command resumes with the others", out.display())
        }
        Some(_) => "no run had finished; to start again".to_string(),
        None if resumes => "finished runs are kept; the same command resumes with the others".to_string(),
        None => "no results were kept; to start again".to_string(),
    }
}
