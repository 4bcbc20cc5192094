//! Operations, from the choice of a page to completion.

pub(crate) mod array;
pub(crate) mod bind;
pub(crate) mod blocked;
pub(crate) mod commit;
