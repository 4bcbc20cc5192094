//! Parsing of user input and files: numbers, and options with values.

pub(crate) mod limits;
pub(crate) mod numbers;
pub(crate) mod parameter;
pub(crate) mod table;
