//! Draws a case: a scheme, a device that it accepts, and a host.

pub(crate) mod any;
pub(crate) mod edge;
pub(crate) mod flash;
pub(crate) mod host;
pub(crate) mod media;
pub(crate) mod settings;
pub(crate) mod small;
pub(crate) mod spelling;
pub(crate) mod variants;
