//! The tree of commands, and what each takes.

pub(crate) mod about;
#[cfg_attr(not(feature = "live"), path = "no_crash.rs")]
pub(crate) mod crash;
pub(crate) mod device;
#[cfg_attr(not(feature = "live"), path = "no_live.rs")]
pub(crate) mod live;
pub(crate) mod python;
pub(crate) mod run;
pub(crate) mod scheme;
pub(crate) mod trace;
pub(crate) mod tree;
pub(crate) mod twin;
pub(crate) mod values;
