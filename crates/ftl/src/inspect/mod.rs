//! What can be asked of a drive and changes nothing in it: for probes, reports and checks. The main names:
//!
//! - [`Inspect`]: blocks, capacity, tables, RAM, and what is pending. [`Ftl::inspect`](crate::Ftl::inspect) makes it.
//! - [`Operation`]: what an operation in flight works on. [`Ftl::operation`](crate::Ftl::operation) makes it.
//! - [`BlockStatus`], [`BlockLife`]: a block as seen from outside.
//! - [`Broken`]: an invariant that `Tables::check` found violated.
//!
//! Both views borrow the drive and are copied freely. What a scheme may see is in [`View`](crate::View).

pub(crate) mod check;
mod drive;
pub(crate) mod fit;
mod operation;
pub(crate) mod pending;

pub use check::Broken;
pub use drive::{BlockLife, BlockStatus, Inspect};
pub use operation::Operation;
