//! From the text of a device file to a description, and back.

pub(crate) mod check;
pub(crate) mod controller;
pub(crate) mod medium;
pub(crate) mod read;
pub(crate) mod write;
