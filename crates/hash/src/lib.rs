//! Pseudo-random numbers as pure functions, with the same bits on every machine: the output function of SplitMix64
//! and its stream, FNV-1a of names, and a permutation by a Feistel network. Chips draw their weak pages with them,
//! drives their initial state, workloads their streams, so this crate is below all of these.

mod feistel;
mod fnv;
mod split_mix;

pub use feistel::{Feistel, ROUNDS};
pub use fnv::fnv1a;
pub use split_mix::{GOLDEN, SplitMix64, mix, splitmix};
