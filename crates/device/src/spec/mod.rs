//! What a device file says, resolved.

pub(crate) mod buffers;
pub(crate) mod drive;
pub(crate) mod gc;
pub(crate) mod parallel;
