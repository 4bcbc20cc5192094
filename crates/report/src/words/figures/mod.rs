//! What tables and pages print, each figure and each term once, with a sentence that explains it.

mod drive;
pub(crate) mod explained;
pub(crate) mod figure;
mod flash;
mod host;
pub(crate) mod table;
pub(crate) mod terms;
