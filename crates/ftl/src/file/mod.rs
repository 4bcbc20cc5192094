//! How state is written to a file and read back: the tables it lies in, and the list of fields of each struct.

pub(crate) mod saved;
pub(crate) mod state_file;
pub(crate) mod table;
