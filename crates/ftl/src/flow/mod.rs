//! The path of requests and operations through the translation layer, one module for each stage.
//!
//! A module calls its own functions and those of the modules above it. It returns the
//! steps of modules below it, as [`Next`](next::Next), and adds host programs that no longer wait to `ready`.
//! [`dispatch`] carries out both, and determines the order.

pub(crate) mod begin;
pub(crate) mod buffer;
pub(crate) mod collect;
pub(crate) mod complete;
pub(crate) mod dispatch;
pub(crate) mod emit;
pub(crate) mod fail;
pub(crate) mod history;
pub(crate) mod host;
pub(crate) mod metadata;
pub(crate) mod moves;
pub(crate) mod next;
pub(crate) mod place;
pub(crate) mod power;
pub(crate) mod program;
pub(crate) mod records;
