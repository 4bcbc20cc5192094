//! Buffers in RAM where data wait for other data or for their turn, and the requests that wait with them.

pub(crate) mod gather;
pub(crate) mod merge;
pub(crate) mod program_buffer;
pub(crate) mod read_cache;
pub(crate) mod waited_for;
pub(crate) mod write_buffer;
