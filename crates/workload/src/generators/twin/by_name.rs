//! A twin by its name, or by its file.

use crate::generators::twin::catalogue::{Spelled, TWINS, TwinBody, twin_named};
use crate::generators::twin::description::Description;
use crate::generators::twin::read::read;
use wordline_trace::{ErrorKind, Problem, WorkloadError, did_you_mean};

/// Prefix of a twin's name.
pub(crate) const PREFIX: &str = "twin:";

/// Whether the text names a twin: a built-in one, or a twin's file.
pub(crate) fn is_twin(head: &str) -> bool {
    head.starts_with(PREFIX) || head == "twin" || head.ends_with(".toml")
}

/// Whether it exists.
pub(crate) fn is_known(head: &str) -> bool {
    head.strip_prefix(PREFIX).is_some_and(|name| twin_named(name).is_some())
}

/// The twin of a name.
pub(crate) enum Named {
    Twin(Box<Description>, String),
    Workload(&'static Spelled),
}

pub(crate) fn named(head: &str) -> Result<Named, WorkloadError> {
    let Some(name) = head.strip_prefix(PREFIX) else {
        if head == "twin" {
            return Err(unknown(head, ""));
        }
        let text = std::fs::read_to_string(head).map_err(|e| {
            Problem::new(ErrorKind::Io, head, format!("the twin cannot be read: {e}"))
                .hint("names of files are relative to the working directory")
        })?;
        return Ok(Named::Twin(Box::new(read(&text, head)?), text));
    };
    let Some(builtin) = twin_named(name) else { return Err(unknown(head, name)) };
    match builtin.body {
        TwinBody::Workload(spelled) => Ok(Named::Workload(spelled)),
        TwinBody::File(_) | TwinBody::Same(_) => {
            let text = builtin.text().unwrap_or_default();
            Ok(Named::Twin(Box::new(read(text, head)?), text.to_string()))
        }
    }
}

pub(crate) fn unknown(head: &str, name: &str) -> WorkloadError {
    let names = || TWINS.iter().map(|t| t.name);
    if name.ends_with(".toml") {
        return Problem::new(ErrorKind::Option, head, "unknown twin")
            .hint(format!("a twin of your own is the workload {name}, without twin:"))
            .into();
    }
    Problem::new(ErrorKind::Option, head, "unknown twin")
        .allowed(names().collect::<Vec<_>>().join(", "))
        .hint(did_you_mean(name, names()))
        .into()
}

/// The description behind `twin:NAME` or a twin's file.
///
/// # Errors
/// An unknown name or an invalid file. A workload that needs no twin is an error, too.
pub fn description_of(head: &str) -> Result<Description, WorkloadError> {
    match named(head)? {
        Named::Twin(d, _) => Ok(*d),
        Named::Workload(s) => Err(Problem::new(
            ErrorKind::Option,
            head,
            format!("{} is a built-in workload without a description", s.workload),
        )
        .into()),
    }
}
