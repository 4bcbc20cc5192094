//! Twins: synthetic substitutes for traces that cannot be published. A twin is a small file of numbers
//! (`description`, read by `read` and written by `write`), each with its source, from which requests are
//! generated (`stream`, with `arrivals`, `sizes` and `addresses`). It is accepted if the figures of its
//! requests (`statistics` of `side`, `windows` and `lru`) match the table from which it was made. `locality`
//! predicts and shifts its hit rate, `catalogue` lists the built-in twins, `by_name` finds one by its name,
//! and `twin` is a twin with its options.

pub(crate) mod addresses;
pub(crate) mod arrivals;
pub(crate) mod bursts;
pub(crate) mod by_name;
pub(crate) mod catalogue;
pub(crate) mod description;
pub(crate) mod files;
pub(crate) mod files_found;
pub(crate) mod in_bursts;
pub(crate) mod locality;
pub(crate) mod lru;
pub(crate) mod read;
pub(crate) mod side;
pub(crate) mod sizes;
pub(crate) mod statistics;
pub(crate) mod stream;
pub(crate) mod twin;
pub(crate) mod updates;
pub(crate) mod values;
pub(crate) mod windows;
pub(crate) mod write;
