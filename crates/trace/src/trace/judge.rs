//! Whether a scanned trace can be run unchanged.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::reading::record::Position;
use crate::text::numbers::grouped;
use crate::trace::detect::{Identified, typed};
use crate::trace::scan::{Scan, place, place_in};

/// Errors of a trace of this format: no requests, unusable lines that are not skipped, or decreasing times if
/// order is required.
pub(crate) fn judge(
    scan: &Scan,
    label: &str,
    identified: &Identified,
    skip_bad: bool,
    in_order: bool,
) -> Result<(), WorkloadError> {
    let mut problems = Vec::new();
    let (bad, places) = (scan.unusable.count, scan.unusable.places);
    if places > 0 && !skip_bad {
        let mut lines = scan.unusable.first.iter().take(5).peekable();
        let first = lines.peek().map_or(label.to_string(), |u| place_in(label, u.file.as_deref(), u.at));
        let binary = scan.unusable.first.first().is_some_and(|u| !matches!(u.at, Position::Line(_)));
        let parts = if binary { "records" } else { "lines" };
        let (lost, all) = (scan.unusable.counted(), grouped(bad + scan.usable));
        let (mut what, skips, them) = match bad {
            0 => {
                let what = format!("the file is damaged; of its {all} requests none is known to be lost:");
                (what, "reads", "the damage")
            }
            _ => (format!("{lost} of {all} {parts} cannot be used:"), "skips", "them"),
        };
        for u in lines {
            what += &format!("\n    {}: {}", place(u.file.as_deref(), u.at), u.reason);
        }
        if places > 5 {
            what += &format!("\n    and {} more", grouped(places - 5));
        }
        problems.push(
            Problem::new(ErrorKind::Content, first, what)
                .allowed(format!("{parts} in {} format", identified.format.name))
                .hint(format!(
                    "{0}:skip=bad {skips} them; `wordline trace inspect {0}{1}` lists {them}",
                    typed(label),
                    forced(identified)
                )),
        );
    } else if places > scan.usable {
        let what = format!("{} lines cannot be used and only {} can", grouped(places), grouped(scan.usable));
        problems.push(
            Problem::new(ErrorKind::Content, label, what)
                .allowed("with skip=bad, more usable lines than unusable ones")
                .hint("the format may be wrong, or the file damaged"),
        );
    }
    if let Some(first) = scan.backwards.first.as_ref().filter(|_| in_order) {
        let what = format!(
            "requests are out of order: {} ns after {} ns ({} such requests, by up to {} s)",
            grouped(first.time_ns),
            grouped(first.after_ns),
            grouped(scan.backwards.count),
            scan.backwards.largest_ns as f64 / 1e9
        );
        problems.push(
            Problem::new(ErrorKind::Content, place_in(label, first.file.as_deref(), first.at), what)
                .allowed("non-decreasing times")
                .hint(format!(
                    "{}:backwards=sort sorts by time, backwards=clamp sets such requests to the previous \
                     time",
                    typed(label)
                )),
        );
    }
    if scan.requests == 0 && problems.is_empty() {
        problems.push(
            Problem::new(ErrorKind::Empty, label, "the file has no requests").allowed("at least one request"),
        );
    }
    WorkloadError::of_all(problems)
}

/// The option without which the format would not be recognized: ` --format 'csv:time=ts:ms,...'`.
fn forced(identified: &Identified) -> String {
    if !identified.format.needs_settings() {
        return String::new();
    }
    let told = identified.settings.iter().filter(|(key, _)| identified.told.contains(key));
    let options: Vec<String> = told.map(|(key, value)| format!("{key}={value}")).collect();
    format!(" --format '{}:{}'", identified.format.name, options.join(",").replace('\'', "'\\''"))
}
