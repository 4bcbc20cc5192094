//! Outputs written during a run: its log, completions and timeline.

pub(crate) mod completions;
pub(crate) mod output;
pub(crate) mod recorder;
pub(crate) mod timeline;
