//! The figures and terms of tables and pages, each defined once with a sentence.

mod computed;
pub(crate) mod explanations;
pub(crate) mod figure;
pub(crate) mod reading;
pub(crate) mod table;
pub(crate) mod terms;
