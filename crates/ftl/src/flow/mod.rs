//! What happens to requests and operations: methods of [`Ftl`](crate::Ftl), each room with a stage of their way.
//!
//! A room calls its own methods and those of the rooms above it. What follows in a room below it returns, as
//! [`Next`](next::Next); a host program that need wait no longer stands among `ready`. [`dispatch`] carries both out, and has
//! the order in which all follows.

pub(crate) mod begin;
pub(crate) mod buffer;
pub(crate) mod collect;
pub(crate) mod complete;
pub(crate) mod dispatch;
pub(crate) mod host;
pub(crate) mod inspect;
pub(crate) mod metadata;
pub(crate) mod moves;
pub(crate) mod next;
pub(crate) mod place;
pub(crate) mod power;
pub(crate) mod program;
pub(crate) mod records;
