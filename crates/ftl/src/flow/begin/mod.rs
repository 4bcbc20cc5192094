//! How a drive comes into its first state.

pub(crate) mod contents;
pub(crate) mod fit;
pub(crate) mod precondition;
pub(crate) mod steady;
