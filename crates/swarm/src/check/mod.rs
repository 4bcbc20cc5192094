//! A case run, and what is checked of it.

pub(crate) mod effort;
pub(crate) mod host_requests;
pub(crate) mod ledger;
pub(crate) mod model;
pub(crate) mod run;
