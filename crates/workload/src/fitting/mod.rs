//! Twins of traces, and their verification. `fitting` fits one, with reads beside writes as `common` places
//! them, `legal` adjusts it to the file format, `check` compares it with its table, `verdict` says what it
//! represents, and `class` finds common properties of traces.

pub(crate) mod check;
pub(crate) mod class;
pub(crate) mod common;
pub(crate) mod files;
pub(crate) mod fitting;
pub(crate) mod legal;
pub(crate) mod piece;
pub(crate) mod verdict;
