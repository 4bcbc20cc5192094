//! With which contents a drive starts, as far as that follows from the drive and its layout: it is planned here, and
//! changes nothing. `flow/begin` makes the drive such.

pub(crate) mod image_plan;
pub(crate) mod steady_plan;
