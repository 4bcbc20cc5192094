//! Garbage collection: choice of the victim, its start, and its steps until the erase.

pub(crate) mod class;
pub(crate) mod copy_back;
pub(crate) mod grant;
pub(crate) mod hold;
pub(crate) mod invalidate;
pub(crate) mod job;
pub(crate) mod join;
pub(crate) mod level;
pub(crate) mod refresh;
pub(crate) mod superblock;
pub(crate) mod victim;
