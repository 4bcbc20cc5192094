//! A workload's text taken apart, and put together: a name, and the options behind it.

use crate::error::{ErrorKind, Problem, WorkloadError, did_you_mean};
use crate::generators::synthetic::catalogue::{SYNTHETICS, synthetic_named};
use crate::generators::twin::named::is_known;
use crate::source::source::is_there;
use crate::text::parameter::unquoted_parts;
use std::path::Path;
use wordline_units::{Listed, Message};

/// A workload's text taken apart.
pub(crate) struct Parts<'a> {
    pub head: &'a str,
    pub options: &'a str,
}

/// Whether the text begins with `key=`.
fn begins_with_key(text: &str) -> bool {
    text.split_once('=').is_some_and(|(key, _)| {
        !key.is_empty() && key.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-')
    })
}

/// Splits at the colon before the options. A file's name may itself contain colons: the whole text
/// is taken for a file if there is one, then the longest name that is a file.
pub(crate) fn parts(text: &str) -> Parts<'_> {
    let whole = Parts { head: text, options: "" };
    if synthetic_named(text).is_some() || is_known(text) || is_there(text) {
        return whole;
    }
    let colons = || text.char_indices().filter(|(_, c)| *c == ':').map(|(i, _)| i);
    let cut = |i: usize| Parts { head: &text[..i], options: &text[i + 1..] };
    let known = |head: &str| synthetic_named(head).is_some() || is_known(head) || is_there(head);
    let candidates: Vec<usize> = colons().filter(|i| begins_with_key(&text[i + 1..])).collect();
    if let Some(i) = candidates.iter().rev().find(|i| known(&text[..**i])) {
        return cut(*i);
    }
    // Options that are no key=value, after a name that is known: let the parser say so.
    if let Some(i) = colons().find(|i| known(&text[..*i])) {
        return cut(i);
    }
    candidates.first().map_or(whole, |i| cut(*i))
}

/// A trace's text with a format insisted on: `NAME`, or `NAME:key=value,...` with the format's own
/// options, as `--format` takes it.
pub fn with_format(text: &str, format: &str) -> String {
    let separator = if parts(text).options.is_empty() { ':' } else { ',' };
    let (name, options) = format.split_once(':').unwrap_or((format, ""));
    let comma = if options.is_empty() { "" } else { "," };
    format!("{text}{separator}format={name}{comma}{options}")
}

/// A workload's text with options changed or added: a key that it has takes the new value.
pub fn with_options(text: &str, options: &[(String, String)]) -> String {
    if options.is_empty() {
        return text.to_string();
    }
    let Parts { head, options: given } = parts(text);
    let quoted =
        |v: &str| if v.contains(',') && !v.contains('"') { format!("\"{v}\"") } else { v.to_string() };
    let of = |part: &str| part.split_once('=').map_or(part, |(key, _)| key).trim().to_string();
    let changed = |part: &str| options.iter().any(|(key, _)| *key == of(part));
    let kept = unquoted_parts(given).filter(|part| !part.trim().is_empty() && !changed(part));
    let mut all: Vec<String> = kept.map(str::to_string).collect();
    all.extend(options.iter().map(|(k, v)| format!("{k}={}", quoted(v))));
    format!("{head}:{}", all.join(","))
}

/// A plain word that names neither a file nor a built-in workload gets both lists.
pub(crate) fn check_exists(head: &str) -> Result<(), WorkloadError> {
    check_files(head)?;
    if is_there(head) {
        return Ok(());
    }
    let names = SYNTHETICS.iter().map(|s| s.name);
    let what = "there is no such file, and no built-in workload of that name";
    let hint = did_you_mean(head, names.clone());
    let hint = if hint.is_empty() { RELATIVE.into() } else { hint };
    let allowed = format!("{TRACES}, or {}", names.collect::<Vec<_>>().join(", "));
    Err(Problem::new(ErrorKind::Io, head, what).allowed(allowed).hint(hint).into())
}

/// The same where only a trace will do: what draws its requests has no records to read.
pub(crate) fn check_is_trace(head: &str) -> Result<(), WorkloadError> {
    let drawn = synthetic_named(head).is_some() || is_known(head);
    if drawn && !Path::new(head).exists() {
        let what = "this is a built-in workload, which draws its requests, and no trace";
        let hint = Message::from("run and compare take it as their workload; ")
            + Listed::Workloads.by()
            + " names all of them";
        return Err(Problem::new(ErrorKind::Format, head, what).allowed(TRACES).hint(hint).into());
    }
    check_files(head)?;
    if is_there(head) {
        return Ok(());
    }
    Err(Problem::new(ErrorKind::Io, head, "there is no such file").allowed(TRACES).hint(RELATIVE).into())
}

/// What is read as a trace.
const TRACES: &str = "a trace file, a folder of them, several joined by +, - for standard input";

/// Where files are looked for.
const RELATIVE: &str = "names of files are relative to the working directory";

/// Refuse files joined by `+` of which some are missing.
fn check_files(head: &str) -> Result<(), WorkloadError> {
    if is_there(head) || !head.contains('+') || !head.split('+').any(|n| Path::new(n).exists()) {
        return Ok(());
    }
    let missing: Vec<&str> = head.split('+').filter(|n| !Path::new(n).exists()).collect();
    let what = format!("of the files joined by +, there is no {}", missing.join(", "));
    Err(Problem::new(ErrorKind::Io, head, what)
        .allowed("names of files, relative to the working directory")
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_change_those_that_are_given() {
        let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            all.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
        };
        for (text, options, told) in [
            ("uniform", &[("bs", "4KiB")][..], "uniform:bs=4KiB"),
            ("uniform:bs=16KiB", &[("qd", "4")], "uniform:bs=16KiB,qd=4"),
            ("uniform:bs=16KiB,rate=1M", &[("rate", "500")], "uniform:bs=16KiB,rate=500"),
            ("uniform:rate=1M,bs=16KiB", &[("rate", "500"), ("qd", "1")], "uniform:bs=16KiB,rate=500,qd=1"),
            ("uniform:bs=16KiB", &[], "uniform:bs=16KiB"),
        ] {
            assert_eq!(with_options(text, &pairs(options)), told);
        }
    }
}
