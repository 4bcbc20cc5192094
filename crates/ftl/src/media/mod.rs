//! Which data are kept: nothing, what stands beside them, or their bytes too.

pub(crate) mod boxed;
pub(crate) mod bytes;
pub(crate) mod error;
pub(crate) mod found;
pub(crate) mod host_data;
pub(crate) mod page;
pub(crate) mod seam;
