//! Device files made from a few facts, or from the file of another simulator.

pub(crate) mod draft;
pub(crate) mod import;
pub(crate) mod mqsim;
pub(crate) mod sheet;
pub(crate) mod source_file;
pub(crate) mod ssdsim;
