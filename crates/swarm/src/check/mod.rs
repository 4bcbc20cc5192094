//! A case run, and what is checked of it.

pub(crate) mod asked;
pub(crate) mod effort;
pub(crate) mod ledger;
pub(crate) mod model;
pub(crate) mod run;
