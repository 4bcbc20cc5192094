//! What is drawn from a stream of random numbers: permutations, tables of chances, Zipf's law.

pub(crate) mod alias;
pub(crate) mod permutation;
pub(crate) mod zipf_law;
