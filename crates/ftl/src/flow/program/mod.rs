//! An operation from the choice of its page to its end.

pub(crate) mod array;
pub(crate) mod bind;
pub(crate) mod blocked;
pub(crate) mod commit;
