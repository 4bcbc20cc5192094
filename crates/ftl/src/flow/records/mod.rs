//! What is written beside data.

pub(crate) mod spare_area;
