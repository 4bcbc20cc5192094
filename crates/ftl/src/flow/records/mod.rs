//! What is written beside data.

pub(crate) mod protected;
pub(crate) mod spare_area;
