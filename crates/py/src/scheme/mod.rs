//! Schemes written in Python: a class is an entry of the registry, an instance of it a `Scheme`. To the engine it is
//! an ordinary scheme; return values are converted here, and exceptions are stored for the caller.

pub(crate) mod answers;
pub(crate) mod check;
mod compiled;
mod entry;
mod failure;
mod geometry;
mod hook_input;
mod layout;
mod python;
mod routes;
mod thread;
mod view_handle;

pub(crate) use answers::Decision;
pub(crate) use entry::with_classes;
pub(crate) use failure::Failed;
pub(crate) use geometry::Numbering;
pub(crate) use hook_input::Parcel;
pub(crate) use thread::attached;
pub(crate) use view_handle::ViewHandle;
