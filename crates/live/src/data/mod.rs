//! A drive's bytes in a folder, so that they outlive the server: every page with what its spare area says, and what
//! protected RAM holds. A log takes what has changed before answers leave, and a database of SQLite takes that from the log, so that
//! whatever ends the server leaves the drive as it was at some moment after the last answer, and it starts by the model's recovery
//! scan. Both notice when they are not what was written.

pub(crate) mod changes;
pub(crate) mod damaged;
pub(crate) mod flash;
pub(crate) mod fold;
pub(crate) mod folder;
pub(crate) mod found;
pub(crate) mod journal;
pub(crate) mod not_written;
pub(crate) mod pages;
pub(crate) mod record;
pub(crate) mod rows;
pub(crate) mod sums;
