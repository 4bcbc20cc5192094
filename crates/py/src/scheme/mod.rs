//! Schemes written in Python: a class is an entry of the registry, an instance of it a `Scheme`. The engine asks it as
//! any other; what it answers is read here, and its exceptions are kept for the caller.

pub(crate) mod answers;
mod asked;
pub(crate) mod check;
mod compiled;
mod entry;
mod failed;
mod geometry;
mod layout;
mod lent;
mod python;
mod routes;
mod thread;

pub(crate) use answers::Decision;
pub(crate) use asked::Parcel;
pub(crate) use entry::with_classes;
pub(crate) use failed::Failed;
pub(crate) use geometry::Numbering;
pub(crate) use lent::Lent;
pub(crate) use thread::attached;
