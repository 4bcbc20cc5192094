//! The options of a trace.

use crate::requests::pauses::Pausing;
use crate::text::parameter::{Parameter, choice, value};

/// The options that every trace takes; each format may add its own.
pub static TRACE_OPTIONS: &[Parameter] = &[
    value("format", "word", "by content", "a name from the list of formats", "insists on a format"),
    choice(
        "fit",
        "error",
        "error, wrap, compact",
        &["error", "wrap", "compact"],
        "requests beyond the drive",
    ),
    choice(
        "skip",
        "nothing",
        "bad",
        &["bad"],
        "leaves unusable lines out; their number goes into the report",
    ),
    choice(
        "backwards",
        "sort where the format keeps no order, else error",
        "error, clamp, sort",
        &["error", "clamp", "sort"],
        "a request earlier than the one before: refuse, give it that one's time, or sort all by time",
    ),
    choice(
        "files",
        "by-name",
        "by-name, by-file",
        &["by-name", "by-file"],
        "of several files: volumes of one name are one, or each file's are its own",
    ),
    value(
        "volume",
        "label",
        "all, side by side",
        "a volume that trace inspect lists",
        "takes one volume only",
    ),
    value("speedup", "factor", "1", "a number above 0", "divides arrival times"),
    value("loops", "count", "1", "1 to 1000000", "replays it so often, one pass a mean gap behind the other"),
    value(
        "closed",
        "requests",
        "open loop",
        "QD or QDxTHREADS",
        "issues on completion, ignoring arrival times",
    ),
    Pausing::THINK,
    Pausing::BURST,
    Pausing::REST,
    value("requests", "count", "all", "1 or more", "stops after so many requests"),
    value("duration", "time", "all", "such as 10s", "stops at this simulated time"),
    value("bytes", "size", "all", "such as 10GiB, or 3x the drive", "stops after so many bytes written"),
];

/// What is done about requests that are earlier than one before them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Backwards {
    Refuse,
    Clamp,
    Sort,
}

impl Backwards {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Backwards::Refuse => "error",
            Backwards::Clamp => "clamp",
            Backwards::Sort => "sort",
        }
    }
}
