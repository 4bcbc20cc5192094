//! Commands that are done in Python. The tree here knows their arguments and help; the script that
//! pip installs brings the interpreter, and the native binary says how to get it.

use crate::args::python::{AtlasArgs, ModelArgs, ReproduceArgs, SweepArgs, ValidateArgs, WhereArgs};
use crate::args::run::LifetimeArgs;
use crate::args::values::Schemes;
use crate::commands::experiment::{replaced, spec, traces};
use crate::commands::lifetime::is_of_a_life;
use crate::console::Console;
use crate::error::Failure;
use std::path::PathBuf;

/// The value of an argument of a Python function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A flag.
    Flag(bool),
    /// A count.
    Number(u64),
    /// A text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
}

/// The Python function that a command calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// `main` of a module of the package.
    Module {
        /// The module.
        name: &'static str,
        /// The extra of the package that has what it needs.
        extra: &'static str,
    },
    /// The entry point of this name in the group `wordline.commands`, which the laboratory provides.
    Laboratory(&'static str),
}

/// A call of a Python function with keyword arguments; it returns the exit code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The function.
    pub callee: Callee,
    /// Its arguments; those that were not given are left out.
    pub arguments: Arguments,
}

/// A path as Python takes it.
pub(crate) fn path(p: PathBuf) -> Result<String, Failure> {
    let shown = p.display().to_string();
    p.into_os_string().into_string().map_err(|_| Failure::Input(format!("{shown}: this is not UTF-8")))
}

type Arguments = Vec<(&'static str, Argument)>;

/// Add an argument if it was given.
fn add(arguments: &mut Arguments, name: &'static str, given: Option<Argument>) {
    arguments.extend(given.map(|value| (name, value)));
}

/// The same of a path.
fn add_path(arguments: &mut Arguments, name: &'static str, given: Option<PathBuf>) -> Result<(), Failure> {
    add(arguments, name, given.map(path).transpose()?.map(Argument::Text));
    Ok(())
}

/// The same of where runs are done.
fn add_where(arguments: &mut Arguments, at: WhereArgs) {
    add(arguments, "jobs", at.jobs.map(|n| Argument::Number(n as u64)));
    add(arguments, "on", at.on.map(Argument::Text));
    arguments.push(("dry_run", Argument::Flag(at.dry_run)));
}

pub(crate) fn sweep(args: SweepArgs, console: &Console) -> Result<Call, Failure> {
    replaced(&args.workloads, args.requests.map(|n| n.0), args.fit, console);
    let mut arguments = vec![
        ("devices", Argument::Texts(args.devices)),
        ("workloads", Argument::Texts(args.workloads)),
        ("schemes", Argument::Texts(Schemes::all(&args.schemes))),
        ("initials", Argument::Texts(args.initials)),
        ("set", Argument::Texts(args.set)),
        ("figures", Argument::Texts(args.figures)),
        ("seed", Argument::Number(args.seed)),
        ("replicas", Argument::Number(args.replicas as u64)),
        ("check", Argument::Flag(args.check)),
        ("out", Argument::Text(path(args.out)?)),
    ];
    add(&mut arguments, "frontier", args.frontier.map(Argument::Text));
    add_where(&mut arguments, args.at);
    add(&mut arguments, "requests", args.requests.map(|n| Argument::Number(n.0)));
    add(&mut arguments, "fit", args.fit.map(|fit| Argument::Text(fit.to_string())));
    add(&mut arguments, "traces", traces(args.traces).map(Argument::Text));
    Ok(Call { callee: Callee::Module { name: "wordline.sweeps", extra: "sweep" }, arguments })
}

pub(crate) fn lifetime(args: LifetimeArgs, console: &Console) -> Result<Call, Failure> {
    let run = spec(&args.what, &Schemes::all(&args.schemes)[0], console);
    is_of_a_life(&args.what)?;
    replaced(std::slice::from_ref(&run.workload), run.requests, run.fit, console);
    let set = run.set.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut arguments = vec![
        ("run", Argument::Texts(vec![run.device, run.workload])),
        ("schemes", Argument::Texts(Schemes::all(&args.schemes))),
        ("set", Argument::Texts(set)),
        ("seed", Argument::Number(run.seed)),
        ("replicas", Argument::Number(run.replicas as u64)),
        ("check", Argument::Flag(run.check)),
        ("initial", Argument::Text(run.initial)),
        ("end", Argument::Text(args.end.to_string())),
    ];
    add_path(&mut arguments, "out", args.out)?;
    add(&mut arguments, "on", args.on.map(Argument::Text));
    add(&mut arguments, "requests", run.requests.map(Argument::Number));
    add(&mut arguments, "acceleration", args.acceleration.map(|k| Argument::Number(k as u64)));
    add(&mut arguments, "shelf", args.shelf.map(|time| Argument::Text(time.to_string())));
    add(&mut arguments, "fit", run.fit.map(|fit| Argument::Text(fit.to_string())));
    add(&mut arguments, "traces", run.traces.map(Argument::Text));
    Ok(Call { callee: Callee::Module { name: "wordline.lives", extra: "cluster" }, arguments })
}

pub(crate) fn model(args: ModelArgs, console: &Console) -> Result<Call, Failure> {
    replaced(std::slice::from_ref(&args.workload), args.requests.map(|n| n.0), args.fit, console);
    let mut arguments = vec![
        ("scheme", Argument::Text(args.scheme)),
        ("device", Argument::Text(args.device)),
        ("workload", Argument::Text(args.workload)),
        ("set", Argument::Texts(args.set)),
        ("seed", Argument::Number(args.seed)),
        ("simulate", Argument::Flag(args.simulate)),
    ];
    add(&mut arguments, "requests", args.requests.map(|n| Argument::Number(n.0)));
    add(&mut arguments, "fit", args.fit.map(|fit| Argument::Text(fit.to_string())));
    add(&mut arguments, "traces", traces(args.traces).map(Argument::Text));
    add(&mut arguments, "jobs", args.jobs.map(|n| Argument::Number(n as u64)));
    add_path(&mut arguments, "out", args.out)?;
    Ok(Call { callee: Callee::Module { name: "wordline.model", extra: "sweep" }, arguments })
}

pub(crate) fn reproduce(args: ReproduceArgs) -> Result<Call, Failure> {
    if args.paper == "atlas" {
        let problem = "the atlas has a command of its own: wordline atlas";
        return Err(Failure::Input(format!("reproduce atlas: {problem}")));
    }
    let mut arguments = vec![
        ("paper", Argument::Text(args.paper)),
        ("figures", Argument::Texts(args.figures)),
        ("only", Argument::Texts(args.only)),
        ("scale", Argument::Number(args.scale as u64)),
        ("causes", Argument::Flag(args.causes)),
        ("reading", Argument::Texts(args.reading)),
        ("readings", Argument::Flag(args.readings)),
        ("seeds", Argument::Flag(args.seeds)),
    ];
    add_path(&mut arguments, "out", args.out)?;
    add_where(&mut arguments, args.at);
    add(&mut arguments, "traces", traces(args.traces).map(Argument::Text));
    Ok(Call { callee: Callee::Laboratory("reproduce"), arguments })
}

pub(crate) fn atlas(args: AtlasArgs, console: &Console) -> Result<Call, Failure> {
    replaced(args.workload.as_slice(), args.requests.map(|n| n.0), None, console);
    let mut arguments = vec![
        ("schemes", Argument::Texts(Schemes::all(&args.schemes))),
        ("out", Argument::Text(path(args.out)?)),
    ];
    add(&mut arguments, "workload", args.workload.map(Argument::Text));
    add(&mut arguments, "device", args.device.map(Argument::Text));
    add(&mut arguments, "seeds", args.seeds.map(Argument::Number));
    add(&mut arguments, "most_seeds", args.most_seeds.map(Argument::Number));
    add(&mut arguments, "requests", args.requests.map(|n| Argument::Number(n.0)));
    add_where(&mut arguments, args.at);
    if arguments.iter().any(|(name, _)| matches!(*name, "workload" | "device")) {
        return Ok(Call { callee: Callee::Module { name: "wordline.atlas", extra: "atlas" }, arguments });
    }
    arguments.push(("only", Argument::Texts(args.only)));
    add(&mut arguments, "traces", traces(args.traces).map(Argument::Text));
    Ok(Call { callee: Callee::Laboratory("atlas"), arguments })
}

pub(crate) fn validate(args: ValidateArgs) -> Result<Call, Failure> {
    let mut arguments = vec![("quick", Argument::Flag(args.quick))];
    add(&mut arguments, "only", args.only.map(Argument::Text));
    add_path(&mut arguments, "out", args.out)?;
    add_path(&mut arguments, "claims", args.claims)?;
    Ok(Call { callee: Callee::Laboratory("validate"), arguments })
}

/// The answer where what a command calls is not there: an interpreter, or the laboratory.
pub(crate) fn missing(call: &Call) -> Failure {
    Failure::Input(match call.callee {
        Callee::Laboratory(name) => format!(
            "{name} is part of the laboratory, which is not installed; run `pip install . ./lab` in a clone of \
             Wordline, and use the wordline command that it installs"
        ),
        // The package is not on PyPI.
        Callee::Module { extra, .. } => format!(
            "this is done in Python, which this binary goes without; pip install '.[{extra}]' in a clone of Wordline, \
             or pip install 'WHEEL[{extra}]' with the path of its wheel, and use the wordline command that it brings"
        ),
    })
}
