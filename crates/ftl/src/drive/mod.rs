//! How a translation layer is driven. The main names:
//!
//! - [`Driver`]: drives a layer. It has queues, and does what the layer requests.
//! - [`Waiting`]: programs that found no slot, and requests that a full write buffer delays. Each driver has one.
//! - [`submit`], [`settle`]: submit a request; carry out the consequences of a call.
//! - [`bind`], [`end`]: a plane starts a program; an operation has ended.
//! - [`last_resort`]: nothing is pending, but something waits; [`LastResorts`] counts those without effect.
//!
//! The layer has neither clock nor queue. After each call it may have requests, which [`settle`] passes on in
//! the order of crates/sim/ORDER.md, rule 3, until none is left.

mod driver;
mod last_resorts;
mod resorts;
mod waiting;

pub use driver::{Driver, ask_all_idle, ask_idle, bind, drain, end, refuse, ring, settle, submit};
pub use last_resorts::LastResorts;
pub use resorts::{last_resort, release_idle_dies};
pub use waiting::{HeldUp, Waiting};
