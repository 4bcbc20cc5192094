//! What is written while a run continues: its log, its completions, its timeline.

pub(crate) mod completions;
pub(crate) mod output;
pub(crate) mod recorder;
pub(crate) mod timeline;
