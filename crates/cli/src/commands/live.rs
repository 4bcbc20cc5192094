//! `serve`, `ctl`, and `rerun` of a session.

use crate::args::live::{CtlArgs, ServeArgs, Sync};
use crate::console::Console;
use crate::error::Failure;
use crate::interrupt;
use crate::output::Sink;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
pub(crate) use wordline_live::is_session;
use wordline_live::{Address, ServeError, ServeSpec, Server, rerun_session};
use wordline_run::RunSpec;

/// How often is looked whether a signal has come.
const LOOK: Duration = Duration::from_millis(20);

/// A workload that is never asked for anything: what a run is made of has one.
const NO_WORKLOAD: &str = "uniform:requests=1";

pub(super) fn run_spec(console: &Console) -> RunSpec {
    RunSpec { registry: console.registry().clone(), ..RunSpec::new("", "", NO_WORKLOAD) }
}

pub(crate) fn serve(args: &ServeArgs, console: &Console) -> Result<(), Failure> {
    if let Some((key, _)) = args.set.iter().find(|(key, _)| key.starts_with("workload.")) {
        let what = "a served drive has no workload of its own\n  allowed: keys of the device, and scheme.KEY";
        return Err(Failure::Input(format!("--set {key}: {what}")));
    }
    let json = args.json.as_deref().map(Sink::open).transpose()?;
    let run = RunSpec {
        device: args.device.clone(),
        scheme: args.scheme.clone(),
        set: args.set.clone(),
        seed: args.seed,
        initial: args.initial.clone(),
        ..run_spec(console)
    };
    let spec = ServeSpec {
        run,
        addresses: args.nbd.iter().chain(&args.tcp).cloned().collect(),
        control: args.control.clone(),
        time_scale: args.time_scale,
        spin: Duration::from_nanos(args.spin.0),
        write_cache: args.write_cache.map_or(0, |b| b.0),
        power_loss: args.power_loss,
        atomic: args.atomic,
        read_only: args.read_only,
        data: args.data.clone(),
        always_sync: args.sync == Sync::Reply,
        session: args.session.clone(),
    };
    let server = Server::start(&spec, Arc::new(told))?;
    let at: Vec<String> = server.addresses().iter().map(Address::to_string).collect();
    let (name, size) = server.export();
    console.note(&format!(
        "{name}, {size} bytes, under {}: listening on {}; Ctrl-C stops the server",
        args.scheme,
        at.join(", ")
    ));
    while !interrupt::is_asked() {
        std::thread::sleep(LOOK);
    }
    let given = server.stop()?;
    if !json.as_ref().is_some_and(Sink::is_stdout) {
        console.say(&given.to_text())?;
    }
    if let Some(sink) = json {
        sink.write(&format!("{:#}\n", given.to_json()), console)?;
    }
    if let Some(folder) = &args.session {
        console.note(&format!("session in {}; to replay it: wordline rerun {0}", folder.display()));
    }
    Ok(())
}

impl From<ServeError> for Failure {
    fn from(e: ServeError) -> Failure {
        match e {
            ServeError::Run(e) => Failure::Run(e),
            ServeError::Input(text) => Failure::Input(text),
            ServeError::Machine(text) => Failure::Output(text),
        }
    }
}

/// A line of the server's log.
#[expect(clippy::print_stderr, reason = "threads of the server tell of what happens, and have no console")]
fn told(line: &str) {
    eprintln!("{line}");
}

pub(crate) fn ctl(args: &CtlArgs, console: &Console) -> Result<(), Failure> {
    console.say(&wordline_live::ask(&args.path, &args.order.join(" "))?)
}

/// A live session once more.
pub(crate) fn rerun(folder: &Path, console: &Console) -> Result<(), Failure> {
    let done = rerun_session(folder, run_spec(console))?;
    let (requests, cuts) = (done.requests, done.cuts);
    if done.again != done.recorded {
        let what = format!("{} instead of {}", done.again, done.recorded);
        return Err(Failure::Differs(format!("{}: result differs, {what}", folder.display())));
    }
    console.say(&format!(
        "identical result, {}: {requests} requests and {cuts} power cuts in {} ns of the drive",
        done.again, done.end.0
    ))
}
