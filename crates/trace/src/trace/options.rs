//! The options of a trace.

use crate::requests::pauses::Pausing;
use crate::text::parameter::{Parameter, choice, value};

/// The options of every trace. A format may have further options.
pub static TRACE_OPTIONS: &[Parameter] = &[
    value("format", "word", "by content", "a name from the list of formats", "forces a format"),
    choice(
        "fit",
        "error",
        "error, wrap, compact",
        &["error", "wrap", "compact"],
        "requests beyond the drive",
    ),
    choice("skip", "nothing", "bad", &["bad"], "skips unusable lines; the report counts them"),
    choice(
        "backwards",
        "sort where the format keeps no order, else error",
        "error, clamp, sort",
        &["error", "clamp", "sort"],
        "requests out of order: report an error, clamp to the previous time, or sort by time",
    ),
    choice(
        "files",
        "by-name",
        "by-name, by-file",
        &["by-name", "by-file"],
        "for several files: merge volumes of the same name, or keep the volumes of each file separate",
    ),
    value("volume", "label", "all, concatenated", "a volume listed by trace inspect", "selects one volume"),
    value("speedup", "factor", "1", "a number above 0", "divides arrival times"),
    value("loops", "count", "1", "1 to 1000000", "repeats the trace; passes are one mean gap apart"),
    value(
        "closed",
        "requests",
        "open loop",
        "QD or QDxTHREADS",
        "closed loop: submits on completion and ignores arrival times",
    ),
    Pausing::THINK,
    Pausing::BURST,
    Pausing::REST,
    value("requests", "count", "all", "1 or more", "maximum number of requests"),
    value("duration", "time", "all", "such as 10s", "stops at this simulated time"),
    value("bytes", "size", "all", "such as 10GiB, or 3x the drive", "maximum number of bytes written"),
];

/// How to handle requests that are earlier than a previous one.
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
