//! Parsing of a trace's text: a name, and the options after it.

use crate::error::{ErrorKind, Problem, WorkloadError, did_you_mean};
use crate::source::source::is_there;
use std::path::Path;
use wordline_units::Message;

/// The parsed text of a trace or another workload.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The file, or a name.
    pub head: &'a str,
    /// `key=value,key=value`, or empty.
    pub options: &'a str,
}

/// Whether the text begins with `key=`.
fn begins_with_key(text: &str) -> bool {
    text.split_once('=').is_some_and(|(key, _)| {
        !key.is_empty() && key.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-')
    })
}

impl Parts<'_> {
    /// Splits at the colon before the options. The name of a file may contain colons: the whole text is the
    /// name if it is known, otherwise the longest known prefix.
    pub fn of(text: &str, known: impl Fn(&str) -> bool) -> Parts<'_> {
        let whole = Parts { head: text, options: "" };
        if known(text) {
            return whole;
        }
        let colons = || text.char_indices().filter(|(_, c)| *c == ':').map(|(i, _)| i);
        let cut = |i: usize| Parts { head: &text[..i], options: &text[i + 1..] };
        let candidates: Vec<usize> = colons().filter(|i| begins_with_key(&text[i + 1..])).collect();
        if let Some(i) = candidates.iter().rev().find(|i| known(&text[..**i])) {
            return cut(*i);
        }
        // Options without key=value after a known name are left to the parser, which reports them.
        if let Some(i) = colons().find(|i| known(&text[..*i])) {
            return cut(i);
        }
        candidates.first().map_or(whole, |i| cut(*i))
    }
}

/// The parts of a trace's text, in which only names of files are known.
pub(crate) fn parts(text: &str) -> Parts<'_> {
    Parts::of(text, is_there)
}

/// A trace's text with a forced format: `NAME`, or `NAME:key=value,...` with options of the format, as for
/// `--format`.
pub fn with_format(text: &str, format: &str) -> String {
    let separator = if parts(text).options.is_empty() { ':' } else { ',' };
    let (name, options) = format.split_once(':').unwrap_or((format, ""));
    let comma = if options.is_empty() { "" } else { "," };
    format!("{text}{separator}format={name}{comma}{options}")
}

/// What may be named as a trace.
pub const TRACES: &str = "a trace file, a folder of them, several joined by +, - for standard input";

/// Reject a name of no file where other words would also be possible.
///
/// # Errors
///
/// The file does not exist, or some of the files joined by `+` are missing.
pub fn check_is_there(head: &str, built_in: &[&str]) -> Result<(), WorkloadError> {
    if is_there(head) {
        return Ok(());
    }
    if head.contains('+') && head.split('+').any(|n| Path::new(n).exists()) {
        let missing: Vec<&str> = head.split('+').filter(|n| !Path::new(n).exists()).collect();
        let what = format!("file not found: {} (of files joined by +)", missing.join(", "));
        return Err(Problem::new(ErrorKind::Io, head, what)
            .allowed("names of files, relative to the working directory")
            .into());
    }
    let (what, allowed) = match built_in {
        [] => ("no such file", TRACES.to_string()),
        names => ("no such file or built-in workload", format!("{TRACES}, or {}", names.join(", "))),
    };
    let near = did_you_mean(head, built_in.iter().copied());
    let hint =
        if near.is_empty() { "names of files are relative to the working directory".into() } else { near };
    Err(Problem::new(ErrorKind::Io, head, what).allowed(allowed).hint(Message::from(hint)).into())
}
