//! Layouts and decisions of a scheme, as plain data. Code that acts on them need not know the trait.

pub(crate) mod decision;
pub(crate) mod flash;
pub(crate) mod layout;
pub(crate) mod region;
pub(crate) mod span;
