//! A drive's bytes in a folder, so that they survive the server: every page with its spare area, and the contents of
//! protected RAM. Changes are written to a log before replies are sent, and folded into a database of SQLite later, so
//! that any end of the server leaves the state of the drive at some moment after the last reply, from which it starts
//! by the model's recovery scan. Both detect contents other than those written.

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
