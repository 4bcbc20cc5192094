//! How space is made: which block is emptied, when, and until it is erased.

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
