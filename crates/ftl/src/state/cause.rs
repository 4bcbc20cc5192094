//! Why an operation is done.

use serde::{Deserialize, Serialize};

/// Why an operation was done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Cause {
    /// The host asked for it.
    Host = 0,
    /// Collection within a region.
    Gc = 1,
    /// A move to another region.
    Migrate = 2,
    /// The part of a page that was programmed with nothing in it.
    Pad = 3,
    /// The drive's own tables.
    Metadata = 4,
    /// The missing part of a partial update (reads only).
    Rmw = 5,
}

impl Cause {
    /// How many there are.
    pub const COUNT: usize = 6;
    /// All of them.
    pub const ALL: [Cause; Cause::COUNT] =
        [Cause::Host, Cause::Gc, Cause::Migrate, Cause::Pad, Cause::Metadata, Cause::Rmw];

    /// The key that reports use.
    pub const fn key(self) -> &'static str {
        ["host", "gc", "migrate", "pad", "metadata", "rmw"][self as usize]
    }
}
