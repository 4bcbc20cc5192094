//! The swarm over a registry.

use crate::case::{self, Case};
use crate::check::run::run;
use crate::draw::spelling::Spellings;
use crate::drive::Drive;
use crate::rng::Rng;
use crate::shrink::{Smallest, smallest};
use std::panic::{AssertUnwindSafe, catch_unwind};
use thiserror::Error;
use wordline_schemes::Registry;

/// Random drives, schemes of a registry with random parameters, and random workloads. The registry and a seed
/// determine everything, so a case is reproduced by two numbers.
#[derive(Clone, Debug)]
pub struct Swarm {
    spellings: Spellings,
    /// Whether drives are drawn at the edge.
    is_at_the_edge: bool,
}

/// The result of a case that passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// How the scheme is spelled.
    pub scheme: String,
    /// Hash of all completions and counters.
    pub result_hash: String,
    /// Number of drives drawn before the scheme accepted one.
    pub refused: u32,
}

/// A case that failed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("case {seed}:{length}, {scheme}: {message}")]
pub struct Failure {
    /// The seed. With the length it reproduces the case: [`Swarm::case`].
    pub seed: u64,
    /// Number of requests of the case.
    pub length: u64,
    /// How the scheme is spelled. Empty if none could be drawn.
    pub scheme: String,
    /// The drive as a device file. Empty if none could be drawn.
    pub device: String,
    /// The error, or the message of a panic.
    pub message: String,
}

impl Swarm {
    /// A swarm of the schemes of a registry. [`crate::stress::over`] adds schemes that only stress the
    /// mechanism.
    pub fn over(registry: &Registry) -> Swarm {
        Swarm { spellings: Spellings::of(registry), is_at_the_edge: false }
    }

    /// The swarm with all drives at the edge: no more blocks than a scheme needs, the logical capacity that
    /// the rule of docs/progress.md allows, full at the start, and hosts that send bursts.
    #[must_use]
    pub fn at_the_edge(self) -> Swarm {
        Swarm { is_at_the_edge: true, ..self }
    }

    /// Whether drives are drawn at the edge.
    pub fn is_at_the_edge(&self) -> bool {
        self.is_at_the_edge
    }

    /// Number of requests of a seed's full case.
    pub fn length(seed: u64) -> u64 {
        let mut rng = Rng::new(seed ^ 0x6c65_6e67);
        if rng.once_in(32) { rng.below(3_000) } else { rng.below(600) }
    }

    /// The case of a seed, with its first `length` requests.
    ///
    /// # Errors
    /// If the schemes accept none of the drawn drives, or a scheme cannot be created or panics.
    pub fn draw(&self, seed: u64, length: u64) -> Result<Case, Failure> {
        let draw = if self.is_at_the_edge { Case::at_the_edge } else { Case::draw };
        caught(|| draw(&self.spellings, seed, length)).map_err(|message| Failure {
            seed,
            length,
            scheme: String::new(),
            device: String::new(),
            message,
        })
    }

    /// A small drive under a scheme with matching parameters. The logical capacity is at most three quarters,
    /// so that the drive never runs out of space. For tests with hosts of their own.
    ///
    /// # Errors
    /// As [`Swarm::draw`].
    pub fn small_drive(&self, rng: &mut Rng) -> Result<Drive, Failure> {
        let seed = rng.state();
        let failure =
            |message| Failure { seed, length: 0, scheme: String::new(), device: String::new(), message };
        caught(|| case::small_drive(rng, &self.spellings)).map_err(failure)
    }

    /// Draw a case and run it with all checks.
    ///
    /// # Errors
    /// The first error found, or the message of a panic.
    pub fn case(&self, seed: u64, length: u64) -> Result<Outcome, Failure> {
        run_case(&self.draw(seed, length)?)
    }

    /// The shortest failing case of the same seed, with its own error. Every length from 0 is tried.
    pub fn shortest(&self, failure: Failure) -> Failure {
        let shorter = (0..failure.length).find_map(|length| self.case(failure.seed, length).err());
        shorter.unwrap_or(failure)
    }

    /// A failing case, shrunk, with its own error: blocks and any of the requests are removed.
    ///
    /// # Errors
    /// As [`Swarm::draw`].
    pub fn smallest(&self, failure: &Failure) -> Result<Smallest, Failure> {
        let case = self.draw(failure.seed, failure.length)?;
        Ok(smallest(case, failure.message.clone(), |case| caught(|| run(case)).err()))
    }
}

/// Runs a case with all checks.
///
/// # Errors
/// The first error found, or the message of a panic.
pub fn run_case(case: &Case) -> Result<Outcome, Failure> {
    let scheme = case.drive.scheme.spelling.clone();
    match caught(|| run(case)) {
        Ok(result_hash) => Ok(Outcome { scheme, result_hash, refused: case.refused }),
        Err(message) => {
            let (seed, length) = (case.seed, case.requests.len() as u64);
            let device = wordline_device::to_toml(&case.drive.spec);
            Err(Failure { seed, length, scheme, device, message })
        }
    }
}

/// Call a function, and turn a panic into an error.
pub(crate) fn caught<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(text.or(panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default())
    })
}
