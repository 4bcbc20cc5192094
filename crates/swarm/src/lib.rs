//! Random drives under the schemes of a registry, at random workloads, with every check on. Does every read return the newest
//! data that a plain array of sectors holds, whatever the drive is doing? Does every request end, does every count add up,
//! and does the same seed give the same bits?
//!
//! A case is a seed and a length, so that a failure is two numbers. Whoever writes a scheme registers it and runs the swarm
//! over it; `tests/it/own_scheme.rs` does so.
//!
//! ```
//! use wordline_schemes::Registry;
//! use wordline_swarm::{Swarm, stress};
//!
//! let swarm = Swarm::over(&stress::over(&Registry::standard()).unwrap());
//! for seed in 1..=10 {
//!     if let Err(failure) = swarm.case(seed, Swarm::length(seed)) {
//!         panic!("{}", swarm.shortest(failure));
//!     }
//! }
//! ```

mod case;
mod check;
mod draw;
mod drive;
pub mod power;
mod rng;
mod shrink;
pub mod stress;
mod swarm;
mod text;
mod tiny;

pub use case::Case;
pub use check::effort::Effort;
pub use draw::variants::map_on_flash;
pub use drive::{Drive, Spelled, promised_pages};
pub use rng::Rng;
pub use shrink::Smallest;
pub use swarm::{Failure, Outcome, Swarm};
pub use tiny::{QLC, Tiny};
