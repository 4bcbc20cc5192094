//! Conversion between the text of a device file and its description.

pub(crate) mod check;
pub(crate) mod controller;
pub(crate) mod medium;
pub(crate) mod read;
pub(crate) mod write;
