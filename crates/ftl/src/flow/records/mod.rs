//! Metadata written with data.

pub(crate) mod protected;
pub(crate) mod spare_area;
pub(crate) mod superseded;
