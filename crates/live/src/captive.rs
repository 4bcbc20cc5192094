//! A command that runs while a drive is served, with all processes that it starts: they end with the server, even if that is
//! killed.

use crate::address::Address;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long the processes of a command have to end, and how often to look.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);
/// Ends a process group when its standard input ends without a line, as it does when the server is killed.
const GUARD: &str = "read -r _ || kill -s TERM -- -\"$0\"";

/// A command, and what it has started.
pub struct Captive {
    shell: Child,
    /// Its process group. None on a terminal, whose signals reach all processes of the foreground alone.
    group: Option<Pid>,
    guard: Option<(Child, ChildStdin)>,
}

impl Captive {
    /// Run a command in a shell. `$uri` and `$unixsocket` are where the drive is.
    ///
    /// # Errors
    /// When the system starts no process.
    pub fn start(command: &str, address: Option<&Address>, uri: Option<&String>) -> io::Result<Captive> {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).envs(uri.map(|uri| ("uri", uri)));
        if let Some(Address::Unix(path)) = address {
            shell.env("unixsocket", path);
        }
        let has_group = !io::stdin().is_terminal();
        if has_group {
            shell.process_group(0);
        }
        let shell = shell.spawn()?;
        let group = i32::try_from(shell.id()).ok().and_then(Pid::from_raw).filter(|_| has_group);
        let mut captive = Captive { shell, group, guard: None };
        if let Some(group) = group {
            let mut guard = Command::new("sh");
            guard.args(["-c", GUARD, &group.as_raw_nonzero().to_string()]).process_group(0);
            guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut guard = guard.spawn()?;
            captive.guard = guard.stdin.take().map(|pipe| (guard, pipe));
        }
        Ok(captive)
    }

    /// How the command has ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.shell.try_wait().ok().flatten()
    }

    /// End the command and all that it has started.
    pub fn stop(mut self) {
        let until = Instant::now() + PATIENCE;
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::TERM);
            while self.ended().is_none() && Instant::now() < until {
                std::thread::sleep(LOOK);
            }
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

impl Drop for Captive {
    fn drop(&mut self) {
        if let Some((mut guard, mut pipe)) = self.guard.take() {
            let _ = pipe.write_all(b"\n");
            let _ = guard.wait();
        }
    }
}
