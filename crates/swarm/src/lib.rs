//! Random drives under the schemes of a registry, with random workloads and all checks enabled. Does every
//! read return the newest data, as in a plain array of sectors, whatever the drive is doing? Does every
//! request complete, do all counters add up, and does the same seed give the same bits?
//!
//! A case is a seed and a length, so a failure is reproduced by two numbers. Authors of a scheme register it
//! and run the swarm over it, as `tests/it/own_scheme.rs` does.
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
pub use swarm::{Failure, Outcome, Swarm, run_case};
pub use text::read_case;
pub use tiny::{QLC, Tiny};
