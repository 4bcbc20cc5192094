//! Parts of trace formats: their definition and detection (`format`, `detection`, `example`), records from lines and
//! binary files, units and the evidence for them, and writing (`writing`).

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
