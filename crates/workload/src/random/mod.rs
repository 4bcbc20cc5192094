//! Random draws from a stream of numbers: permutations, alias tables, Zipf's law.

pub(crate) mod alias;
pub(crate) mod permutation;
pub(crate) mod zipf_law;
