//! Every order of events on drives of a few blocks.
//!
//! A [`World`] is a translation layer and what is pending, without a clock: whatever may happen next may. A [`Search`]
//! goes breadth first through all states that it can come to, and looks for stops, for circles, and for reads of old data.
//! A [`Shape`] is a scheme on a drive with what the host asks, as a line of text. What two states are told apart by, what
//! is abstracted and what counts as a fault is in `docs/engine/exploration.md`.

#![allow(clippy::disallowed_methods, reason = "a search says how long it took")]

mod drive;
mod lists;
mod media;
mod search;
mod shapes;
mod words;
mod world;

pub use drive::Drive;
pub use search::{Fault, Found, Limits, Search};
pub use shapes::Shape;
pub use world::{Event, Host, World};
