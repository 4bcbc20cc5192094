//! Synthetic workloads: one file each, and the list (`catalogue`). Five of them are patterns of addresses
//! under a common generator of kinds, sizes and arrivals; `bursty` is a script. The same seed gives the same
//! requests on every machine.

pub(crate) mod bursts;
pub(crate) mod bursty;
pub(crate) mod catalogue;
pub(crate) mod generator;
pub(crate) mod hot_cold;
pub(crate) mod mix;
pub(crate) mod patterns;
pub(crate) mod registry;
pub(crate) mod sequential;
pub(crate) mod sizes;
pub(crate) mod uniform;
pub(crate) mod zipf;
