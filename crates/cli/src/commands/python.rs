//! Commands that are done in Python. The tree here knows their arguments and help; the script that
//! pip installs brings the interpreter, and the native binary says how to get it.

use crate::args::python::{
    AtlasArgs, DeviceFitArgs, DeviceProbeArgs, ModelArgs, PickArgs, PtsArgs, ReproduceArgs, SweepArgs,
    ValidateArgs,
};
use crate::args::run::LifetimeArgs;
use crate::args::values::{Schemes, text_of};
use crate::commands::experiment::{replaced, spec, traces};
use crate::commands::lifetime::is_of_a_life;
use crate::console::Console;
use crate::error::Failure;
use serde::Serialize;
use serde_json::{Map, Value, json};
use wordline_trace::with_format;

/// The Python function that a command calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// `main` of a module of the package.
    Module {
        /// The module.
        name: &'static str,
        /// The package extra with its dependencies.
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
    /// Its arguments as a JSON object, without omitted ones.
    pub arguments: String,
}

/// The options of a command as the arguments of the same names.
fn arguments(args: &impl Serialize) -> Result<Map<String, Value>, Failure> {
    // What JSON cannot hold is a path that is no text.
    let all = serde_json::to_value(args).map_err(|e| Failure::Input(e.to_string()))?;
    let Value::Object(mut all) = all else { return Ok(Map::new()) };
    all.retain(|_, value| !value.is_null());
    Ok(all)
}

fn call(callee: Callee, arguments: Map<String, Value>) -> Result<Call, Failure> {
    Ok(Call { callee, arguments: Value::Object(arguments).to_string() })
}

/// Give every workload the format of `--format`.
fn forced(workloads: &mut [String], format: Option<&str>) {
    if let Some(format) = format {
        workloads.iter_mut().for_each(|workload| *workload = with_format(workload, format));
    }
}

pub(crate) fn sweep(mut args: SweepArgs, console: &Console) -> Result<Call, Failure> {
    forced(&mut args.workloads, args.format.as_deref());
    replaced(&args.workloads, args.requests.map(|n| n.0), args.fit, console);
    args.traces = traces(args.traces);
    if args.steady_state {
        args.initials = vec!["steady".to_string()];
    }
    call(Callee::Module { name: "wordline.sweeps", extra: "sweep" }, arguments(&args)?)
}

pub(crate) fn lifetime(args: LifetimeArgs, console: &Console) -> Result<Call, Failure> {
    let schemes = Schemes::all(&args.schemes);
    let run = spec(&args.what, &schemes[0], console);
    is_of_a_life(&args.what)?;
    replaced(std::slice::from_ref(&run.workload), run.requests, run.fit, console);
    let set: Vec<String> = run.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let life = json!({
        "run": [run.device, run.workload],
        "schemes": schemes,
        "set": set,
        "seed": run.seed,
        "replicas": run.replicas,
        "check": run.check,
        "initial": run.initial,
        "end": args.end.to_string(),
        "out": args.out.as_deref().map(text_of).transpose().map_err(Failure::Input)?,
        "on": args.on,
        "requests": run.requests,
        "acceleration": args.acceleration,
        "shelf": args.shelf.map(|time| time.to_string()),
        "fit": run.fit,
        "traces": run.traces,
    });
    call(Callee::Module { name: "wordline.lifetime_runs", extra: "cluster" }, arguments(&life)?)
}

pub(crate) fn model(mut args: ModelArgs, console: &Console) -> Result<Call, Failure> {
    replaced(std::slice::from_ref(&args.workload), args.requests.map(|n| n.0), args.fit, console);
    args.traces = traces(args.traces);
    args.scheme = args.scheme.or(args.named.take());
    call(Callee::Module { name: "wordline.model", extra: "sweep" }, arguments(&args)?)
}

pub(crate) fn pts(args: PtsArgs) -> Result<Call, Failure> {
    call(Callee::Module { name: "wordline.pts", extra: "sweep" }, arguments(&args)?)
}

pub(crate) fn device_fit(args: DeviceFitArgs) -> Result<Call, Failure> {
    call(Callee::Module { name: "wordline.real.fit", extra: "fit" }, arguments(&args)?)
}

pub(crate) fn device_probe(args: DeviceProbeArgs) -> Result<Call, Failure> {
    call(Callee::Module { name: "wordline.real.probe", extra: "fit" }, arguments(&args)?)
}

pub(crate) fn pick(mut args: PickArgs, console: &Console) -> Result<Call, Failure> {
    forced(std::slice::from_mut(&mut args.workload), args.format.as_deref());
    replaced(std::slice::from_ref(&args.workload), args.requests.map(|n| n.0), args.fit, console);
    args.traces = traces(args.traces);
    call(Callee::Module { name: "wordline.real.pick", extra: "fit" }, arguments(&args)?)
}

pub(crate) fn reproduce(mut args: ReproduceArgs) -> Result<Call, Failure> {
    if args.paper == "atlas" {
        let problem = "the atlas is a separate command: wordline atlas";
        return Err(Failure::Input(format!("reproduce atlas: {problem}")));
    }
    args.traces = traces(args.traces);
    call(Callee::Laboratory("reproduce"), arguments(&args)?)
}

pub(crate) fn atlas(mut args: AtlasArgs, console: &Console) -> Result<Call, Failure> {
    replaced(args.workload.as_slice(), args.requests.map(|n| n.0), None, console);
    args.traces = traces(args.traces);
    let mut arguments = arguments(&args)?;
    if args.workload.is_none() && args.device.is_none() {
        return call(Callee::Laboratory("atlas"), arguments);
    }
    arguments.retain(|name, _| !matches!(name.as_str(), "only" | "traces"));
    call(Callee::Module { name: "wordline.atlas", extra: "atlas" }, arguments)
}

pub(crate) fn validate(args: ValidateArgs) -> Result<Call, Failure> {
    call(Callee::Laboratory("validate"), arguments(&args)?)
}

/// The error if a dependency of a command is missing: an interpreter, or the laboratory.
pub(crate) fn missing(call: &Call) -> Failure {
    Failure::Input(match call.callee {
        Callee::Laboratory(name) => format!(
            "{name} is part of the laboratory, which is not installed; run `pip install . ./lab` in a clone of \
             Wordline, and use the wordline command that it installs"
        ),
        // The package is not on PyPI.
        Callee::Module { extra, .. } => format!(
            "this command needs Python, which this binary does not include; run pip install '.[{extra}]' \
             in a clone of Wordline, or pip install 'WHEEL[{extra}]' with the path of its wheel, and use \
             the wordline command that it brings"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};

    fn passed<T: Args + FromArgMatches + Serialize>(words: &str) -> Value {
        let command = T::augment_args(clap::Command::new("wordline"));
        let found = command.get_matches_from(["wordline"].into_iter().chain(words.split(' ')));
        Value::Object(arguments(&T::from_arg_matches(&found).unwrap()).unwrap())
    }

    #[test]
    fn options_become_keyword_arguments_unless_omitted() {
        let words = "--device d --workload w --scheme a,b --scheme c --requests 2k --fit wrap --on 3 --out o";
        let expected = json!({
            "devices": ["d"], "workloads": ["w"], "schemes": ["a", "b", "c"], "requests": 2000, "fit": "wrap",
            "on": "3", "out": "o", "initials": [wordline_run::DEFAULT_INITIAL], "set": [], "figures": [],
            "seed": wordline_run::DEFAULT_SEED, "replicas": 1, "check": false, "dry_run": false,
        });
        assert_eq!(passed::<SweepArgs>(words), expected);
        let words =
            "--device d --workload w --scheme a --figure waf.total,throughput.iops --figure host.failed";
        let figures = json!(["waf.total", "throughput.iops", "host.failed"]);
        assert_eq!(passed::<SweepArgs>(words)["figures"], figures);
        let expected = json!({ "quick": true, "claims": "c.toml" });
        assert_eq!(passed::<ValidateArgs>("--quick --claims c.toml"), expected);
    }

    #[test]
    fn forced_format_is_an_option_of_every_workload() {
        let mut workloads = ["a.csv".to_string(), "b.csv:skip=bad".to_string()];
        forced(&mut workloads, None);
        assert_eq!(workloads[0], "a.csv");
        forced(&mut workloads, Some("csv:time=ts:ms"));
        assert_eq!(workloads, ["a.csv:format=csv,time=ts:ms", "b.csv:skip=bad,format=csv,time=ts:ms"]);
    }
}
