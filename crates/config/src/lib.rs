//! Reading configuration for people: every problem is collected with its place, the value given
//! and what is allowed, and all of them are reported at once.
//!
//! A [`Section`] hands out typed values by key and remembers what was asked for, so that what is
//! left over is unknown and can be named with the key that was probably meant. Device files and twins
//! use it through [`Section::from_toml`]; the parameters of schemes, which come as `key=value`,
//! through [`Section::from_pairs`].

mod problem;
mod section;
mod text;
mod tree;

pub use problem::{ConfigErrors, Place, Problem, Problems, closest};
pub use section::Section;
pub use text::{comment, quoted};
