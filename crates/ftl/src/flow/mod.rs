//! What happens to requests and operations: methods of [`Ftl`](crate::Ftl), each room with a stage of their way.
//!
//! They call each other as methods, which is no import. What they work on lies in the rooms above.

pub(crate) mod begin;
pub(crate) mod buffer;
pub(crate) mod collect;
pub(crate) mod host;
pub(crate) mod inspect;
pub(crate) mod metadata;
pub(crate) mod power;
pub(crate) mod program;
