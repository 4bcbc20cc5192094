//! Problems of a workload, with what the reader needs to fix them: the place, what was found there, what is
//! allowed, and a hint. An error may carry several problems, so that a line with three invalid options costs
//! one attempt instead of three.

use serde::Serialize;
use std::fmt;
use thiserror::Error;
use wordline_units::{Face, Message};

/// The kind of a problem; callers map it to exit codes and exception classes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The file could not be opened or read, or its compressed stream is damaged.
    Io,
    /// An option or parameter is unknown, malformed or out of range.
    Option,
    /// No known format fits the content.
    Format,
    /// Several readings of the content are plausible, and they differ.
    Ambiguous,
    /// The content itself is invalid: an unusable line, or times that decrease.
    Content,
    /// It contains no request.
    Empty,
    /// Requests reach beyond the drive.
    Fit,
}

/// One problem.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problem {
    /// The kind of problem.
    pub kind: ErrorKind,
    /// Where: a file, `file:line`, `file, byte N`, or the option's text.
    pub place: String,
    /// What was found there.
    pub what: String,
    /// What is allowed; may be empty.
    pub allowed: String,
    /// How to fix it; may be empty.
    pub hint: Message,
}

impl Problem {
    /// A problem at a place.
    pub fn new(kind: ErrorKind, place: impl Into<String>, what: impl Into<String>) -> Problem {
        Problem {
            kind,
            place: place.into(),
            what: what.into(),
            allowed: String::new(),
            hint: Message::default(),
        }
    }

    /// The problem, with what is allowed.
    pub fn allowed(mut self, allowed: impl Into<String>) -> Problem {
        self.allowed = allowed.into();
        self
    }

    /// The problem, with a hint.
    pub fn hint(mut self, hint: impl Into<Message>) -> Problem {
        self.hint = hint.into();
        self
    }
}

impl Problem {
    /// The problem in the wording for a face (command line or Python).
    pub fn on(&self, face: Face) -> String {
        let mut text = format!("{}: {}", self.place, self.what);
        if !self.allowed.is_empty() {
            text += &format!("\n  allowed: {}", self.allowed);
        }
        if !self.hint.is_empty() {
            text += &format!("\n  hint: {}", self.hint.on(face));
        }
        text
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.on(Face::CommandLine))
    }
}

/// Everything that is wrong with a workload; at least one problem.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{}", self.on(Face::CommandLine))]
pub struct WorkloadError {
    problems: Box<[Problem]>,
}

impl WorkloadError {
    /// The problems, in the order in which they were found.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The problems in the wording for a face (command line or Python).
    pub fn on(&self, face: Face) -> String {
        self.problems.iter().map(|problem| problem.on(face)).collect::<Vec<_>>().join("\n")
    }

    /// The kind of the first problem.
    pub fn kind(&self) -> ErrorKind {
        self.problems.first().map_or(ErrorKind::Content, |p| p.kind)
    }

    /// `Err` with these problems, if there are any.
    ///
    /// # Errors
    ///
    /// These problems.
    pub fn of_all(problems: Vec<Problem>) -> Result<(), WorkloadError> {
        if problems.is_empty() { Ok(()) } else { Err(WorkloadError { problems: problems.into() }) }
    }
}

/// The message of an interruption.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// Return an error if the program should stop. Generators check this every few requests.
///
/// # Errors
///
/// The interruption.
pub fn going_on(number: u64) -> Result<(), WorkloadError> {
    const EVERY: u64 = 1 << 14;
    if number.is_multiple_of(EVERY) && wordline_units::is_interrupted() {
        return Err(Problem::new(ErrorKind::Io, "workload", INTERRUPTED).into());
    }
    Ok(())
}

impl From<Problem> for WorkloadError {
    fn from(problem: Problem) -> WorkloadError {
        WorkloadError { problems: Box::new([problem]) }
    }
}

/// The known word nearest to `given`, as a hint. Empty if none is similar.
pub fn did_you_mean<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = |k: &str| {
        let edits = strsim::osa_distance(given, k);
        let begun = given.len() >= 3 && k.starts_with(given);
        (begun || edits <= 1 + given.len() / 4).then_some(edits)
    };
    known
        .filter_map(|k| Some((near(k)?, k)))
        .min_by_key(|(edits, _)| *edits)
        .map_or_else(String::new, |(_, k)| format!("did you mean {k:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_place_value_allowed_and_hint() {
        let e: WorkloadError = Problem::new(ErrorKind::Option, "a.csv:fit=wrp", "\"wrp\" is not a fit mode")
            .allowed("error, wrap, compact")
            .hint(did_you_mean("wrp", ["error", "wrap", "compact"].into_iter()))
            .into();
        assert_eq!(
            e.to_string(),
            "a.csv:fit=wrp: \"wrp\" is not a fit mode\n  allowed: error, wrap, compact\n  hint: did you mean \"wrap\"?"
        );
    }

    #[test]
    fn a_far_word_gets_no_suggestion() {
        assert_eq!(did_you_mean("xyz", ["requests", "span"].into_iter()), "");
    }
}
