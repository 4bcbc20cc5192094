//! A drive's bytes in a folder, so that they survive the server: every page with its spare area, and the
//! contents of protected RAM. Changes are written to a log before replies are sent, and folded into a SQLite
//! database later. However the server ends, the folder holds the state of the drive at some moment after the
//! last reply, and the drive starts from it by the modelled recovery scan. Log and database both detect
//! damaged contents.

pub(crate) mod ahead;
pub(crate) mod changes;
pub(crate) mod convert;
pub(crate) mod crashed;
pub(crate) mod damaged;
pub(crate) mod flash;
pub(crate) mod fold;
pub(crate) mod folder;
pub(crate) mod found;
pub(crate) mod journal;
pub(crate) mod lately;
pub(crate) mod merged;
pub(crate) mod not_written;
pub(crate) mod opening;
pub(crate) mod page_file;
pub(crate) mod pages;
pub(crate) mod places;
pub(crate) mod presence;
pub(crate) mod record;
pub(crate) mod row_id;
pub(crate) mod rows;
pub(crate) mod segment;
pub(crate) mod spare;
pub(crate) mod stored;
pub(crate) mod sums;
