//! Configuration files: every problem is collected with its place, the given value and what is allowed, and
//! all are reported together.
//!
//! A [`Section`] returns typed values by key and records which keys were read, so that the rest are unknown
//! keys, reported with the most similar known one. Device files and twins use it through
//! [`Section::from_toml`]; the parameters of schemes, which come as `key=value`, through
//! [`Section::from_pairs`].

mod problem;
mod section;
mod text;
mod tree;

pub use problem::{ConfigErrors, Place, Problem, Problems, closest};
pub use section::Section;
pub use text::{comment, quoted};
