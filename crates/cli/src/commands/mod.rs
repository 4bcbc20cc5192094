//! One module per command, or per group of similar ones.

pub(crate) mod completions;
#[cfg_attr(not(feature = "live"), path = "no_crash.rs")]
pub(crate) mod crash;
pub(crate) mod device;
pub(crate) mod experiment;
pub(crate) mod explain;
pub(crate) mod figures;
pub(crate) mod forecast;
pub(crate) mod keys;
pub(crate) mod lifetime;
pub(crate) mod list;
#[cfg_attr(not(feature = "live"), path = "no_live.rs")]
pub(crate) mod live;
pub(crate) mod man;
pub(crate) mod mentions;
pub(crate) mod options;
pub(crate) mod python;
pub(crate) mod scheme;
pub(crate) mod trace;
pub(crate) mod twin;
pub(crate) mod why;
