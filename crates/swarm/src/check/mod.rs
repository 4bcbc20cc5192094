//! The run of a case, and its checks.

pub(crate) mod effort;
pub(crate) mod host_requests;
pub(crate) mod ledger;
pub(crate) mod model;
pub(crate) mod run;
