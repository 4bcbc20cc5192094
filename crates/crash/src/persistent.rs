//! A check that runs once and checks state after state, without the cost of a new process for each. It gets an empty line on its
//! standard input when a state is there, and answers with a line on its standard output.

use crate::command::Process;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often to check whether to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Maximum bytes of an answer that are kept.
const LONGEST: usize = 2000;

/// A running check.
pub(crate) struct Persistent {
    process: Process,
    questions: ChildStdin,
    answers: ChildStdout,
    /// What it has answered since the last line.
    bytes: Vec<u8>,
}

/// What a check did about a state.
pub(crate) enum Answer {
    /// It wrote this line.
    Line(String),
    /// It ended.
    Ended(ExitStatus),
    /// It did neither in time, or the search was stopped.
    None,
}

impl Persistent {
    pub(crate) fn start(mut command: Command) -> io::Result<Persistent> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::start(command)?;
        let (questions, answers) = process.pipes().ok_or(ErrorKind::BrokenPipe)?;
        Ok(Persistent { process, questions, answers, bytes: vec![] })
    }

    /// Ask for the verdict on the state that is there now.
    pub(crate) fn ask(&mut self, most: Duration, stops: &dyn Fn() -> bool) -> io::Result<Answer> {
        let until = Instant::now() + most;
        match self.questions.write_all(b"\n") {
            Err(e) if e.kind() != ErrorKind::BrokenPipe => return Err(e),
            // A check that has ended ends its answers, too.
            _ => {}
        }
        loop {
            if let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.bytes.drain(..=end).collect();
                return Ok(Answer::Line(String::from_utf8_lossy(&line).trim().to_string()));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || stops() {
                return Ok(Answer::None);
            }
            let patience = Timespec::try_from(left.min(LOOK)).ok();
            if !matches!(poll(&mut [PollFd::new(&self.answers, PollFlags::IN)], patience.as_ref()), Ok(1..)) {
                continue;
            }
            let mut room = [0; 4096];
            match self.answers.read(&mut room) {
                Ok(0) => return Ok(self.process.wait(left, stops)?.map_or(Answer::None, Answer::Ended)),
                Ok(read) => self.bytes.extend(&room[..read]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
            // Without an end of the line, only its end is kept.
            let surplus =
                if self.bytes.contains(&b'\n') { 0 } else { self.bytes.len().saturating_sub(LONGEST) };
            self.bytes.drain(..surplus);
        }
    }
}
