//! `serve`, `ctl`, and `rerun` of a session.

use crate::args::live::{CtlArgs, ServeArgs, Sync, Tls};
use crate::console::Console;
use crate::error::Failure;
use crate::interrupt;
use crate::output::Sink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
pub(crate) use wordline_live::is_session;
use wordline_live::{
    Address, Captive, Certificates, Encryption, ServeError, ServeSpec, Server, rerun_session,
};
use wordline_run::RunSpec;

/// How often to check for a signal.
const LOOK: Duration = Duration::from_millis(20);
/// How long after a signal the next one means the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// A placeholder workload: a setup requires one.
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
    let of_device = args.set.iter().filter(|(key, _)| !key.starts_with("scheme."));
    if let Ok(device) = wordline_run::device(&args.device, &of_device.cloned().collect::<Vec<_>>()) {
        console.warn_of(&device);
    }
    let run = RunSpec {
        device: args.device.clone(),
        scheme: args.scheme.clone(),
        set: args.set.clone(),
        seed: args.seed,
        initial: args.initial.clone(),
        ..run_spec(console)
    };
    let certificates = certificates(args)?;
    let mut spec = ServeSpec {
        run,
        encryption: match args.tls {
            None if certificates.is_some() => Encryption::On,
            None | Some(Tls::Off) => Encryption::Off,
            Some(Tls::On) => Encryption::On,
            Some(Tls::Require) => Encryption::Require,
        },
        certificates,
        addresses: args.nbd.iter().chain(&args.tcp).cloned().collect(),
        control: args.control.clone(),
        time_scale: args.time_scale,
        spin: Duration::from_nanos(args.spin.0),
        write_cache: args.write_cache.map_or(0, |b| b.0),
        power_loss: args.power_loss,
        atomic: args.atomic,
        read_only: args.read_only,
        recovery_scale: args.recovery_scale,
        export: args.export.clone(),
        size: args.size.map(|b| b.0),
        image: args.image.clone(),
        memory: args.memory.map(|b| b.0),
        activated: args.listen_fds,
        data: args.data.clone(),
        always_sync: args.sync == Sync::Reply,
        session: args.session.clone(),
        session_data: args.session_data,
        connections: args.connections.into(),
    };
    // A socket of its own for a command, which gets its address.
    let private = args.run.as_ref().filter(|_| spec.addresses.is_empty() && !spec.activated);
    let private = private.map(|_| tempfile::tempdir()).transpose();
    let private =
        private.map_err(|e| Failure::Output(format!("cannot create a folder for the socket: {e}")))?;
    if let Some(folder) = &private {
        spec.addresses.push(Address::Unix(folder.path().join("nbd.sock")));
    }
    if args.exit_with_parent && !wordline_live::end_with_parent() {
        return Err(Failure::Input(
            "--exit-with-parent: the process that started the server has ended".to_string(),
        ));
    }
    interrupt::be_patient();
    let server = Server::start(&spec, Arc::new(told))?;
    let (name, size) = server.export();
    console.note(&format!(
        "{name}, {size} bytes, under {}: listening on {}; Ctrl-C stops the server",
        args.scheme,
        server.uris().join(", ")
    ));
    let pidfile = args.pidfile.as_deref().map(PidFile::new).transpose()?;
    let start = |command| Captive::start(command, server.addresses().first(), server.uris().first());
    let client = args.run.as_deref().map(start).transpose();
    let mut client = client.map_err(|e| Failure::Output(format!("--run: cannot start sh: {e}")))?;
    let (mut ended, mut failure) = (None, None);
    while !interrupt::is_asked() && ended.is_none() && failure.is_none() {
        std::thread::sleep(LOOK);
        ended = client.as_mut().and_then(Captive::ended);
        failure = server.failure();
    }
    // Signals that follow at once mean the same; later ones are meant.
    std::thread::spawn(|| {
        std::thread::sleep(PATIENCE);
        interrupt::hurry();
    });
    client.filter(|_| ended.is_none()).into_iter().for_each(Captive::stop);
    let given = server.stop()?;
    drop(pidfile);
    // Standard output belongs to the command, or to the client that has started the server.
    let is_shared = args.run.is_some() || args.listen_fds;
    if is_shared {
        console.note(given.to_text().trim_end());
    } else if !json.as_ref().is_some_and(Sink::is_stdout) {
        console.say(&given.to_text())?;
    }
    if let Some(sink) = json {
        let written = sink.write(&format!("{:#}\n", given.to_json()), console);
        written.map_err(|e| Failure::Served(e.to_string()))?;
    }
    let failure = failure.as_deref().or(given.folder_failure()).or(given.session_failure());
    if let Some(why) = failure {
        return Err(Failure::Served(why.to_string()));
    }
    if let Some(status) = ended.filter(|status| !status.success()) {
        let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
        return Err(Failure::Command(format!("--run: the command ended with {status}"), code));
    }
    if let Some(folder) = &args.session {
        console.note(&format!("session in {}; to replay it: wordline rerun {0}", folder.display()));
    }
    Ok(())
}

/// The certificates for encrypted connections, if any.
fn certificates(args: &ServeArgs) -> Result<Option<Certificates>, Failure> {
    if let Some(file) = &args.tls_psk {
        let what = "pre-shared keys are not supported, since rustls has none for TLS 1.2 and 1.3";
        return Err(Failure::Input(format!(
            "--tls-psk {}: {what}\n  allowed: --tls-certificates DIR",
            file.display()
        )));
    }
    let folder = args.tls_certificates.as_ref().filter(|_| args.tls != Some(Tls::Off));
    Ok(folder.map(|folder| Certificates::load(folder, args.tls_verify_peer)).transpose()?)
}

/// A file with the number of this process, for as long as it serves.
struct PidFile(PathBuf);

impl PidFile {
    fn new(path: &Path) -> Result<PidFile, Failure> {
        std::fs::write(path, format!("{}\n", std::process::id()))
            .map_err(|e| Failure::Input(format!("--pidfile {}: cannot be written: {e}", path.display())))?;
        Ok(PidFile(path.to_path_buf()))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
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
#[expect(clippy::print_stderr, reason = "threads of the server log events and have no console")]
fn told(line: &str) {
    eprintln!("{line}");
}

pub(crate) fn ctl(args: &CtlArgs, console: &Console) -> Result<(), Failure> {
    console.say(&wordline_live::ask(&args.path, &args.order.join(" "))?)
}

/// A live session again.
pub(crate) fn rerun(folder: &Path, console: &Console) -> Result<(), Failure> {
    let done = rerun_session(folder, run_spec(console))?;
    let (requests, cuts) = (done.requests, done.cuts);
    let verdict = match done.recorded {
        None => "no recorded result, since its server was killed or still serves; now",
        Some(recorded) if recorded != done.again => {
            let what = format!("{} instead of {recorded}", done.again);
            return Err(Failure::Differs(format!("{}: result differs, {what}", folder.display())));
        }
        Some(_) => "identical result,",
    };
    console.say(&format!(
        "{verdict} {}: {requests} request{} and {cuts} power cut{}, {:.3} s simulated",
        done.again,
        if requests == 1 { "" } else { "s" },
        if cuts == 1 { "" } else { "s" },
        done.end.0 as f64 / 1e9
    ))
}
