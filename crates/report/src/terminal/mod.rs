//! The data for a terminal.

pub(crate) mod by_scheme;
pub(crate) mod columns;
pub(crate) mod lifetime;
pub(crate) mod sentences;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod why;
pub(crate) mod why_summary;
