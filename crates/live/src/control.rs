//! The control socket. A connection carries one command, on one line, and one JSON object in reply.

use crate::control_command::ControlCommand;
use crate::engine::executor::Executor;
use crate::engine::recovery::Connections;
use crate::engine::status::{armed_to_json, planted_to_json};
use crate::error::ServeError;
use crate::faults::{Fault, Faults};
use crate::shared::Shared;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use wordline_units::{BlockId, DieId, io_reason};

/// Maximum length of a line.
const LINE: usize = 4096;
/// How long either side may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to check whether the server has stopped.
const LOOK: Duration = Duration::from_millis(50);

/// Execute the command of a client of the control socket.
pub(crate) fn serve(shared: &Shared, mut stream: UnixStream) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let line = line(shared, &stream)?;
    let line = String::from_utf8_lossy(&line);
    let answer = match order(&line) {
        Ok(order) => {
            if !matches!(
                order,
                ControlCommand::Stats
                    | ControlCommand::Metrics
                    | ControlCommand::Armed
                    | ControlCommand::Forks
            ) {
                with(shared, |executor| executor.drive_mut().note_order(line.trim()));
            }
            obey(shared, order)
        }
        Err(why) => json!({ "error": why }),
    };
    match answer {
        // Plain text, not a JSON object.
        Value::String(text) => stream.write_all(text.as_bytes()),
        answer => writeln!(stream, "{answer:#}"),
    }
}

fn order(line: &str) -> Result<ControlCommand, String> {
    if line.len() >= LINE {
        return Err(format!("command of {} bytes is too long\n  allowed: fewer than {LINE}", line.len()));
    }
    line.parse()
}

/// Read up to the end of a line (excluded), with limits on length and time, unless the server stops.
fn line(shared: &Shared, mut stream: &UnixStream) -> io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(LOOK))?;
    let until = Instant::now() + PATIENCE;
    let mut line = vec![0; LINE];
    let mut read = 0;
    while read < LINE && !line[..read].contains(&b'\n') {
        match stream.read(&mut line[read..]) {
            // The client sends nothing more.
            Ok(0) => break,
            Ok(more) => read += more,
            Err(e) if ![io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&e.kind()) => {
                return Err(e);
            }
            Err(_) => {}
        }
        if Instant::now() > until || shared.is_stopping() {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    let end = line[..read].iter().position(|byte| *byte == b'\n');
    line.truncate(end.unwrap_or(read));
    Ok(line)
}

/// Apply a change to the drive and its commands, as of now.
fn with<T>(shared: &Shared, act: impl FnOnce(&mut Executor) -> T) -> T {
    shared.with_engine(|engine| act(engine.executor_mut()))
}

fn obey(shared: &Shared, order: ControlCommand) -> Value {
    match order {
        ControlCommand::Stats => shared.to_json(),
        ControlCommand::Mark(text) => {
            with(shared, |executor| json!({ "mark": text, "at_ns": executor.drive().now().0 }))
        }
        ControlCommand::Cut(when, seed) => with(shared, |executor| {
            if let Some(error) = stopped(executor) {
                return error;
            }
            match executor.arm(when, seed) {
                Some(cut) => {
                    let mut told = cut.to_json();
                    if let Some(lost) = executor.drive().volatile().last_cut() {
                        told["write_cache"] = lost.clone();
                    }
                    json!({ "cut": told })
                }
                None => stopped(executor).unwrap_or_else(|| json!({ "armed": armed_to_json(executor) })),
            }
        }),
        ControlCommand::TimeScale(scale) => {
            shared.set_time_scale(scale);
            json!({ "time_scale": scale.factor() })
        }
        ControlCommand::ReadError { offset, length, count } => with(shared, |executor| {
            let size = executor.space().size();
            if offset >= size {
                return json!({ "error": format!("offset={offset}: beyond the end of the drive\n  allowed: \
                                                 0 to {}", size - 1) });
            }
            let range = offset..offset.saturating_add(length).min(size);
            executor.faults_mut().plant_read_error(range.clone(), count);
            json!({ "read_error": { "from": range.start, "to": range.end, "count": count } })
        }),
        ControlCommand::EarlyFlush { count } => with(
            shared,
            |executor| json!({ "early_flushes": executor.faults_mut().plant(Fault::EarlyFlush, count) }),
        ),
        ControlCommand::NoSpace { count } => {
            with(shared, |executor| json!({ "no_space": executor.faults_mut().plant(Fault::NoSpace, count) }))
        }
        ControlCommand::SlowDie { die, factor } => with(shared, |executor| {
            let dies = executor.drive().setup().geometry.dies;
            planted(
                die,
                dies,
                "die",
                || executor.drive_mut().slow_die(DieId(die), factor),
                json!({ "factor": factor }),
            )
        }),
        ControlCommand::Retire { block } => with(shared, |executor| {
            let blocks = executor.drive().setup().geometry.blocks;
            planted(
                block,
                blocks,
                "block",
                || executor.drive_mut().retire(BlockId(block)),
                json!("at its next erase"),
            )
        }),
        ControlCommand::Reset(seed, down) => with(shared, |executor| {
            if let Some(error) = stopped(executor) {
                return error;
            }
            match executor.cut_now(seed, Connections::Stay(Duration::from_nanos(down.0))) {
                Some(cut) => json!({ "reset": cut.to_json() }),
                None => stopped(executor).unwrap_or_default(),
            }
        }),
        ControlCommand::Armed => with(
            shared,
            |executor| json!({ "cuts": armed_to_json(executor), "faults": planted_to_json(executor) }),
        ),
        ControlCommand::Disarm(number) => with(shared, |executor| disarm(executor.faults_mut(), number)),
        ControlCommand::Forks => shared.forks_to_json(),
        ControlCommand::End(at) => shared.end_fork(&at),
        ControlCommand::Metrics => Value::String(crate::metrics::text(&shared.to_json())),
        ControlCommand::Snapshot(name) => shared.snapshot(name),
        ControlCommand::Drop(name) => shared.drop_snapshot(name),
        ControlCommand::Fork(fork) => shared.fork(fork),
        ControlCommand::Clear => with(shared, |executor| {
            executor.faults_mut().clear();
            let slow: Vec<DieId> = executor.drive().slow_dies().map(|(die, _)| die).collect();
            for die in slow {
                if let Err(why) = executor.drive_mut().slow_die(die, 1) {
                    return json!({ "error": why });
                }
            }
            executor.faults_mut().disarm_all();
            json!({ "cleared": true })
        }),
    }
}

/// The reply of a drive that has stopped.
fn stopped(executor: &Executor) -> Option<Value> {
    executor.stopped().map(|why| json!({ "error": format!("the drive has stopped: {why}") }))
}

/// Cancel a power cut or a read error by its number; without a number, cancel all cuts.
fn disarm(faults: &mut Faults, number: Option<u64>) -> Value {
    let Some(number) = number else {
        let disarmed = faults.cuts().len();
        faults.disarm_all();
        return json!({ "disarmed": disarmed });
    };
    if faults.disarm(number) {
        return json!({ "disarmed": 1 });
    }
    let numbers = faults.numbers().map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let numbers = if numbers.is_empty() { "none is armed".to_string() } else { numbers };
    json!({ "error": format!("{number}: no cut or fault has this number\n  allowed: {numbers}") })
}

/// Inject a fault into a die or a block, if its number is below the given count.
fn planted(
    number: u32,
    count: u32,
    what: &str,
    plant: impl FnOnce() -> Result<(), String>,
    done: Value,
) -> Value {
    if number >= count {
        return json!({ "error": format!("{what}={number}: does not exist\n  allowed: 0 to {}", count - 1) });
    }
    match plant() {
        Ok(()) => json!({ what: number, "planted": done }),
        Err(why) => json!({ "error": why }),
    }
}

/// Send a command, as text, to the server of a control socket. Returns its reply, as JSON.
///
/// # Errors
/// If nothing listens there, or the server does not know the command.
pub fn ask(path: &Path, order: &str) -> Result<String, ServeError> {
    // An invalid command is rejected here, whether or not a server listens.
    self::order(order).map_err(ServeError::Input)?;
    let unheard = |e: io::Error| {
        let hint = "use the PATH of a running `wordline serve --control PATH`";
        ServeError::Input(format!(
            "{}: no server is listening: {}\n  hint: {hint}",
            path.display(),
            io_reason(&e)
        ))
    };
    // Something listens there, such as the NBD half of the same server.
    let other = || {
        let hint = "use the PATH of `wordline serve --control PATH`, not that of --nbd";
        ServeError::Input(format!(
            "{}: what listens there does not reply as a control socket\n  hint: {hint}",
            path.display()
        ))
    };
    let mut stream = UnixStream::connect(path).map_err(unheard)?;
    writeln!(stream, "{order}").map_err(|_| other())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(|_| other())?;
    if answer.starts_with("# HELP ") {
        return Ok(answer);
    }
    let value: Value = serde_json::from_str(&answer).map_err(|_| other())?;
    match value["error"].as_str() {
        Some(why) => Err(ServeError::Input(why.to_string())),
        None => Ok(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// The socket of NBD is next to that of control, and its server hangs up on a command.
    #[test]
    fn other_socket_is_told_from_one_without_a_server() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("d.sock");
        assert!(
            ask(&at, "stats").unwrap_err().to_string().contains(": no server is listening: No such file")
        );
        let listener = UnixListener::bind(&at).unwrap();
        let hangs_up = std::thread::spawn(move || drop(listener.accept().unwrap().0.write_all(b"NBDMAGIC")));
        let said = ask(&at, "stats").unwrap_err().to_string();
        assert!(
            said.contains("does not reply as a control socket") && said.contains("not that of --nbd"),
            "{said}"
        );
        hangs_up.join().unwrap();
    }
}
