//! Twins made of traces, and held to them: `fitting` makes one, `legal` brings it to what a file may say, `check` holds it
//! to its table, `verdict` says what it may stand for, and `class` finds what several traces have in common.

pub(crate) mod check;
pub(crate) mod class;
pub(crate) mod files;
pub(crate) mod fitting;
pub(crate) mod legal;
pub(crate) mod piece;
pub(crate) mod verdict;
