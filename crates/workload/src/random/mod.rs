//! Random draws: the streams of a pass, permutations, alias tables, Zipf's law.

pub(crate) mod alias;
pub(crate) mod draws;
pub(crate) mod permutation;
pub(crate) mod zipf_law;
