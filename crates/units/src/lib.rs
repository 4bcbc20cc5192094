//! The vocabulary of Wordline: quantities with units, distinct address types, and the host request.
//!
//! Everything here is plain data. Quantities are integers, so that two runs with one seed have the same bits
//! on every machine, and each has a text form with a unit (`"75us"`, `"16KiB"`, `"333MT/s"`) for
//! configuration files and reports.

mod address;
mod interrupt;
mod message;
mod quantity;
mod quantity_text;
mod request;
mod time;

pub use address::{
    BlockId, CellMode, ChannelId, DieId, LBA_BYTES, Lba, Lpn, PageType, PlaneId, Ppn, SectorMask,
};
pub use interrupt::{is_interrupted, stop_when};
pub use message::{Face, Listed, Message, Opt};
pub use quantity::{Bytes, Count, Energy, Fraction, Rate};
pub use quantity_text::{QuantityError, grouped, io_reason, number_words};
pub use request::{Attributes, HostOp, HostRequest, LatencyHint, QueueClass};
pub use time::{SimDuration, SimTime};
