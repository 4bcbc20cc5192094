//! How soon pages are used again. Traces are profiled by it, twins made, and schemes that tell hot pages from cold ones
//! decide by it; so it stands below them all.

mod lru_stack;

pub use lru_stack::LruStack;
