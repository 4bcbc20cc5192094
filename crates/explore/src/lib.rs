//! Model checker: explores every order of events on drives of a few blocks.
//!
//! A [`World`] is a translation layer with its pending events, without a clock: any pending event may happen next. A
//! [`Search`] explores all reachable states breadth-first, and looks for deadlocks, livelocks, and reads of stale
//! data. A [`Shape`] is a scheme on a drive with the requests of its host, as a line of text.
//! `lab/results/exploration.md` states which states are equal, what is abstracted, and what counts as a fault.

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
