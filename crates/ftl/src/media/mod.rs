//! Which data are kept: nothing, what stands beside them, or their bytes too.

pub(crate) mod error;
pub(crate) mod kept;
pub(crate) mod page;
pub(crate) mod seam;
