//! Reuse distances of pages. Used by trace profiles, twins, and schemes that distinguish hot from cold pages, so
//! this crate is below all of these.

mod lru_stack;

pub use lru_stack::LruStack;
