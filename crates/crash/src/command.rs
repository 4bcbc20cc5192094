//! Commands with placeholders, and processes with a time limit.

use crate::error::CrashError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Characters that a shell interprets.
const OF_A_SHELL: &str = "|&;<>()$`\\\"'*?[]#~=%!{}\n";

/// A command line with placeholders in braces.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
    places: Vec<String>,
}

impl Template {
    /// Parse a command line. It must have at least one of the placeholders `needs`, and no other than
    /// `knows`.
    ///
    /// # Errors
    /// If a placeholder is missing or unknown: where, what, what is allowed.
    pub fn new(option: &str, text: &str, knows: &[&str], needs: &[&str]) -> Result<Template, CrashError> {
        let mut places = vec![];
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once('{') {
            let Some((name, after)) = behind.split_once('}') else { break };
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase());
            if is_name && knows.contains(&name) {
                places.push(name.to_string());
            } else if is_name {
                let allowed: Vec<String> = knows.iter().map(|name| format!("{{{name}}}")).collect();
                let what = format!("{option}: unknown placeholder {{{name}}} in {text:?}");
                return Err(CrashError::Input(format!("{what}\n  allowed: {}", allowed.join(", "))));
            }
            rest = if is_name { after } else { behind };
        }
        if !needs.is_empty() && !needs.iter().any(|name| places.iter().any(|place| place == name)) {
            let allowed: Vec<String> = needs.iter().map(|name| format!("{{{name}}}")).collect();
            let what = format!("{option}: {text:?} has no placeholder for the drive");
            return Err(CrashError::Input(format!("{what}\n  allowed: {} in it", allowed.join(" or "))));
        }
        Ok(Template { text: text.to_string(), places })
    }

    /// Whether it has a placeholder of this name.
    pub fn has(&self, name: &str) -> bool {
        self.places.iter().any(|place| place == name)
    }

    /// The command with values for its placeholders. It is run by a shell if it contains characters that only
    /// a shell interprets.
    pub fn command(&self, values: &[(&str, &str)]) -> Command {
        let fill = |text: &str| {
            let mut text = text.to_string();
            for (name, value) in values {
                text = text.replace(&format!("{{{name}}}"), value);
            }
            text
        };
        let bare =
            values.iter().fold(self.text.clone(), |text, (name, _)| text.replace(&format!("{{{name}}}"), ""));
        if bare.contains(|c| OF_A_SHELL.contains(c)) {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(fill(&self.text));
            return command;
        }
        let mut words = self.text.split_whitespace().map(fill);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    }
}

/// A process in a process group of its own, which is killed when this is dropped.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(mut command: Command) -> io::Result<Process> {
        command.process_group(0).spawn().map(Process)
    }

    /// Its standard input and output, once, if they are pipes.
    pub(crate) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.0.stdin.take().zip(self.0.stdout.take())
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.0.id()).ok().and_then(Pid::from_raw)
    }

    /// Wait for the end of the process. `None` if it takes longer than `most`, or `stops` is set.
    pub(crate) fn wait(
        &mut self,
        most: Duration,
        stops: &dyn Fn() -> bool,
    ) -> io::Result<Option<ExitStatus>> {
        const LOOK: Duration = Duration::from_millis(50);
        let begun = Instant::now();
        let handle = self.pid().and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status));
            }
            let left = most.saturating_sub(begun.elapsed());
            if left.is_zero() || stops() {
                return Ok(None);
            }
            match &handle {
                Some(handle) => {
                    let most = Timespec::try_from(left.min(LOOK)).ok();
                    let _ = poll(&mut [PollFd::new(handle, PollFlags::IN)], most.as_ref());
                }
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Placeholders are filled in either way.
    #[test]
    fn command_starts_a_shell_only_where_needed() {
        let template =
            Template::new("--check", "./verify {image} {acked}", &["image", "acked"], &["image"]).unwrap();
        let command = template.command(&[("image", "/a b/image"), ("acked", "/c")]);
        assert_eq!(format!("{command:?}"), r#""./verify" "/a b/image" "/c""#);
        let template = Template::new("--check", "cmp {image} - < x", &["image"], &["image"]).unwrap();
        assert!(format!("{:?}", template.command(&[("image", "/i")])).starts_with(r#""/bin/sh" "-c""#));
        let awk = Template::new("--check", "awk '{ print }' {image}", &["image"], &["image"]).unwrap();
        assert!(awk.has("image") && !awk.has("acked"));
    }

    #[test]
    fn unknown_and_missing_placeholders_are_named() {
        let said = |text: &str| {
            Template::new("--check", text, &["image", "acked"], &["image"]).unwrap_err().to_string()
        };
        assert!(
            said("./verify {imgae}")
                .contains("unknown placeholder {imgae} in \"./verify {imgae}\"\n  allowed: {image}, {acked}")
        );
        assert!(said("./verify").contains("allowed: {image} in it"));
    }
}
