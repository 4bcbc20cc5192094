//! The trace formats: one file each, and the list (`registry`). A format states its grammar, says
//! whether a sample of a file looks like it and why, turns bytes into records one at a time, and
//! writes them. Adding one is its file and one line of the list.

pub(crate) mod addresses;
pub(crate) mod alibaba;
pub(crate) mod blkparse;
pub(crate) mod blktrace;
pub(crate) mod bounds;
pub(crate) mod claim;
pub(crate) mod csv;
pub(crate) mod detection;
pub(crate) mod etw;
pub(crate) mod fio;
pub(crate) mod fiu;
pub(crate) mod five_columns;
pub(crate) mod format;
pub(crate) mod ftrace;
pub(crate) mod lines;
pub(crate) mod lines_of;
pub(crate) mod missing;
pub(crate) mod msr;
pub(crate) mod oracle_general;
pub(crate) mod plausible;
pub(crate) mod proposal;
pub(crate) mod readings;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod registry;
pub(crate) mod rwbs;
pub(crate) mod spc;
pub(crate) mod systor;
pub(crate) mod table;
pub(crate) mod tencent;
pub(crate) mod units;
pub(crate) mod volumes;
pub(crate) mod vscsi;
pub(crate) mod vscsi_csv;
pub(crate) mod wiscsee;
pub(crate) mod wordline;
pub(crate) mod writing;
