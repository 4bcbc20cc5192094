//! The report of a run, filled from measurements and counters.

pub(crate) mod flash;
pub(crate) mod growth;
pub(crate) mod hints;
pub(crate) mod host;
pub(crate) mod outcome;
pub(crate) mod pictures;
pub(crate) mod reach;
pub(crate) mod report;
pub(crate) mod run_end;
pub(crate) mod steady;
pub(crate) mod steady_start;
pub(crate) mod wear;
