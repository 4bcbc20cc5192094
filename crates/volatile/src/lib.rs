//! What a power cut may leave of a drive's volatile write cache, as far as the standards permit.
//!
//! The sources are the NVM Express Base Specification 2.0 (FLUSH, FUA) and NVM Command Set Specification 1.0 (AWUPF, NABSPF,
//! deallocate), and the NBD protocol ("Ordering of messages and writes"). [`Cache`] holds, for each sector, the version at the
//! last point that made it durable and every later one. [`Log`] records what a client sent, [`intervals`] replays it between
//! points of durability, [`states`] lists the crash states of an interval, [`reduce`] makes one that fails smaller, and
//! [`dm`] reads and writes logs of dm-log-writes. No sockets, no clock.

mod broken;
mod cache;
mod classes;
mod content;
mod digits;
pub mod dm;
mod image;
mod log;
mod reduce;
mod replay;
mod rules;
mod sectors;
#[cfg(test)]
mod sentences;
mod session;
mod shape;
mod state;
mod story;

pub use broken::{Broken, BrokenKind, Fault};
pub use cache::{Cache, Lost, Write};
pub use classes::{CLASSES, Class, broken_states, states};
pub use content::Content;
pub use digits::{counted, grouped};
pub use image::Image;
pub use log::{Event, Log, LogError};
pub use reduce::reduce;
pub use replay::{Flushes, Interval, flushes, intervals};
pub use rules::{Atomic, Op, PowerLoss, Request, Rules};
pub use sectors::Sectors;
pub use session::{Kind, SessionFault, SessionFaults};
pub use shape::{shapes, spread};
pub use state::{State, StateError};
pub use story::story;
