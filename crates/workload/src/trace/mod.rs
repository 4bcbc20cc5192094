//! A trace: found, recognised, put in order of time, looked through once, and then opened any number of times.

pub(crate) mod cursor;
pub(crate) mod detect;
pub(crate) mod joined;
pub(crate) mod scan;
pub(crate) mod sorted;
pub(crate) mod trace;
