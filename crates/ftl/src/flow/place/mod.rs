//! Where data go: what the scheme is asked, what of its answers is refused, and which plane they mean.

pub(crate) mod decide;
pub(crate) mod plane;
