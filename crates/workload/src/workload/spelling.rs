//! Parsing and formatting of a workload's text: a name, and the options after it.

use crate::generators::jobs::file::is_job_file;
use crate::generators::synthetic::catalogue::synthetic_named;
use crate::generators::twin::by_name::{is_known, is_twin};
use std::path::Path;
use wordline_trace::options::unquoted_parts;
use wordline_trace::{ErrorKind, Parts, Problem, TRACES, WorkloadError, is_there};
use wordline_units::{Listed, Message, Opt};

/// Whether requests of this name are generated.
fn is_drawn(head: &str) -> bool {
    synthetic_named(head).is_some() || is_known(head)
}

/// Splits at the colon before the options, as [`Parts::of`] does.
pub(crate) fn parts(text: &str) -> Parts<'_> {
    Parts::of(text, |head| is_drawn(head) || is_there(head))
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

/// Reject a workload's text if only a trace is possible: generated requests, or jobs, have no records to read.
///
/// # Errors
///
/// A built-in workload, a twin, or a fio job file.
pub fn check_is_trace(text: &str) -> Result<(), WorkloadError> {
    let head = parts(text).head;
    if is_drawn(head) && !Path::new(head).exists() {
        let what = "a built-in workload is not a trace";
        let hint = Message::from("use it as the workload of run and compare; ")
            + Listed::Workloads.by()
            + " lists all of them";
        return Err(Problem::new(ErrorKind::Format, head, what).allowed(TRACES).hint(hint).into());
    }
    if is_job_file(head) {
        let what = match is_twin(head) {
            true => "a twin's file is not a trace: its requests are generated",
            false => "a fio job file is not a trace: its requests depend on completions",
        };
        let problem = Problem::new(ErrorKind::Format, head, what).allowed("a trace");
        return Err(problem.hint(Opt::Workload.of(head) + " runs it").into());
    }
    Ok(())
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
