//! Placement: questions to the scheme, checks of its answers, and choice of the plane.

pub(crate) mod decide;
pub(crate) mod plane;
