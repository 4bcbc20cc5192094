//! Every order of events on drives of a few blocks.
mod drive;
mod lists;
mod media;
mod search;
mod shapes;
mod world;

pub use drive::Drive;
pub use search::{Fault, Found, Limits, Search};
pub use shapes::Shape;
pub use world::{Event, Host, World};
