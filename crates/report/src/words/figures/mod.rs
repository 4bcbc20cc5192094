//! What tables and pages print, each figure and each term once, with a sentence that explains it.

mod computed;
pub(crate) mod explained;
pub(crate) mod figure;
pub(crate) mod reading;
pub(crate) mod table;
pub(crate) mod terms;
