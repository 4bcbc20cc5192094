//! The description of a drive and how it is read from TOML: typed, with units, every problem of a
//! file reported at once.

mod spec;

pub use spec::*;
