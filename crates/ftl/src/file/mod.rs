//! How state is written to a file and read back: large tables, the file itself, and the list of fields that each struct
//! keeps.

pub(crate) mod memory;
pub(crate) mod saved;
pub(crate) mod shared;
pub(crate) mod state_file;
pub(crate) mod table;
