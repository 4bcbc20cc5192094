//! What trace formats are made of: what a format is and what it says of a sample (`format`, `detection`, `example`), records
//! and how they come out of lines and binary files, units and what speaks for each of them, and the way out (`writing`).

pub(crate) mod bounds;
pub(crate) mod claim;
pub(crate) mod detection;
pub(crate) mod example;
pub(crate) mod format;
pub(crate) mod lines;
pub(crate) mod lines_of;
pub(crate) mod plausible;
pub(crate) mod readings;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod rwbs;
pub(crate) mod scsi;
pub(crate) mod units;
pub(crate) mod volumes;
pub(crate) mod writing;
