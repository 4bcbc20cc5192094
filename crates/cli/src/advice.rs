//! Advice for users: what errors allow and suggest, and what reports and notes propose. `Console` prints all of it, and
//! where `WORDLINE_ADVICE` names a file each text is appended there with its command, a JSON object a line. So tests
//! can collect all advice and follow it.

use serde_json::json;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;

/// Names the file.
const FILE: &str = "WORDLINE_ADVICE";

/// What gives advice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// An error.
    Error,
    /// Text of a command other than its result.
    Note,
    /// A report, in a table.
    Report,
}

impl Source {
    const fn name(self) -> &'static str {
        match self {
            Source::Error => "error",
            Source::Note => "note",
            Source::Report => "report",
        }
    }
}

/// Where the advice of a command is recorded, if anywhere.
#[derive(Debug)]
pub(crate) struct Record {
    file: Option<OsString>,
    command: Vec<String>,
}

impl Record {
    /// The words of a command without the program's name.
    pub(crate) fn of(args: &[OsString]) -> Record {
        Record {
            file: std::env::var_os(FILE).filter(|name| !name.is_empty()),
            command: args.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
        }
    }

    /// Append a text. A file that cannot be written is not a reason to end a command.
    pub(crate) fn add(&self, source: Source, text: &str) {
        let Some(file) = &self.file else { return };
        let line = json!({ "command": self.command, "source": source.name(), "text": text });
        if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(file) {
            // One call, so that lines of processes that write at once stay whole.
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}
