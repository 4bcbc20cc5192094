//! How a translation layer is driven. The five names that one needs:
//!
//! - [`Driver`]: who drives a layer. It has queues, and does what the layer asks for.
//! - [`Waiting`]: programs that found no slot and requests that a full write buffer holds up. Each driver has one.
//! - [`submit`], [`settle`]: a request comes; what follows from a call is carried out.
//! - [`bind`], [`end`]: a plane begins a program; an operation has ended.
//! - [`last_resort`]: nothing is pending, and something waits; [`LastResorts`] counts those that were in vain.
//!
//! The layer has neither clock nor queue. After each call it may ask for something, which [`settle`] passes on in the order
//! of docs/engine/order.md, rule 3, until nothing is left.

mod driver;
mod last_resorts;
mod resorts;
mod waiting;

pub use driver::{Driver, ask_all_idle, ask_idle, bind, drain, end, ring, settle, submit};
pub use last_resorts::LastResorts;
pub use resorts::{last_resort, release_idle_dies};
pub use waiting::{HeldUp, Waiting};
