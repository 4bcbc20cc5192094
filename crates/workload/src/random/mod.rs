//! Random numbers that are the same bits on every machine: streams, permutations, tables of chances, Zipf's law.

pub(crate) mod alias;
pub(crate) mod permutation;
pub(crate) mod stream;
pub(crate) mod zipf_law;

pub use stream::RandomStream;
