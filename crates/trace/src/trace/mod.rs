//! A trace: found, recognized, ordered by time, scanned once, and then opened any number of times.

pub(crate) mod cursor;
pub(crate) mod detect;
pub(crate) mod join;
pub(crate) mod judge;
pub(crate) mod open;
pub(crate) mod options;
pub(crate) mod placement;
pub(crate) mod replay;
pub(crate) mod scan;
pub(crate) mod sorted;
pub(crate) mod spelling;
pub(crate) mod trace;
