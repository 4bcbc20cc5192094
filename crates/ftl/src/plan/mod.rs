//! What a scheme says, as plain data: how it divides the drive, and what it decides. Whoever acts on it need not know the
//! trait.

pub(crate) mod decision;
pub(crate) mod flash;
pub(crate) mod layout;
pub(crate) mod map_kind;
pub(crate) mod region;
pub(crate) mod span;
