//! A drive's bytes in a folder, so that they outlive the server: every page with what its spare area says, and what
//! protected RAM holds. A database of SQLite in it changes as a whole or not at all, so that whatever ends the server leaves
//! the drive as it was at some moment after the last answer, and it starts by the model's recovery scan.

pub(crate) mod changes;
pub(crate) mod flash;
pub(crate) mod folder;
pub(crate) mod found;
pub(crate) mod pages;
pub(crate) mod rows;
