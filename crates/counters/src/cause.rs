//! The keys of counters: the cause of an operation, its kind, and the reason of a refresh.

use serde::{Deserialize, Serialize};

/// The cause of an operation.
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
    /// The unused part of a programmed page.
    Pad = 3,
    /// The drive's own tables.
    Metadata = 4,
    /// The missing part of a partial update (reads only).
    Rmw = 5,
    /// Parity of the other programs of a superpage.
    Parity = 6,
}

impl Cause {
    /// How many there are.
    pub const COUNT: usize = 7;
    /// All of them.
    pub const ALL: [Cause; Cause::COUNT] =
        [Cause::Host, Cause::Gc, Cause::Migrate, Cause::Pad, Cause::Metadata, Cause::Rmw, Cause::Parity];
    /// Causes of page reads; the last if the mapping table is on flash.
    pub const READS: [Cause; 5] = [Cause::Host, Cause::Rmw, Cause::Gc, Cause::Migrate, Cause::Metadata];
    /// Causes of programs; the last if superpages have parity.
    pub const PROGRAMS: [Cause; 6] =
        [Cause::Host, Cause::Gc, Cause::Migrate, Cause::Pad, Cause::Metadata, Cause::Parity];

    /// The key that logs use.
    pub const fn key(self) -> &'static str {
        ["host", "gc", "migrate", "pad", "metadata", "rmw", "parity"][self as usize]
    }

    /// The word that reports use.
    pub const fn word(self) -> &'static str {
        match self {
            Cause::Migrate => "migration",
            other => other.key(),
        }
    }
}

/// The operation of the die.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum OpKind {
    /// Sense a page and bring it out.
    Read,
    /// Bring a page in and program it.
    Program,
    /// Erase a block.
    Erase,
}

impl OpKind {
    /// How many there are.
    pub const COUNT: usize = 3;
    /// All of them.
    pub const ALL: [OpKind; OpKind::COUNT] = [OpKind::Read, OpKind::Program, OpKind::Erase];

    /// The key that files use.
    pub const fn key(self) -> &'static str {
        ["read", "program", "erase"][self as usize]
    }
}

/// The reason of a data refresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum Due {
    /// Its data are too old.
    Age,
    /// It has been read too often.
    Reads,
    /// A page of it takes too many retries.
    Retries,
}

impl Due {
    /// How many there are.
    pub const COUNT: usize = 3;
    /// All of them.
    pub const ALL: [Due; Due::COUNT] = [Due::Age, Due::Reads, Due::Retries];

    /// The key that reports use.
    pub const fn key(self) -> &'static str {
        ["age", "reads", "retries"][self as usize]
    }
}
