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

/// Random drives, schemes of a registry with random parameters, and workloads. Nothing but the registry and a seed goes in,
/// so that a case is two numbers.
#[derive(Clone, Debug)]
pub struct Swarm {
    spellings: Spellings,
    /// Whether drives are drawn at the edge.
    is_at_the_edge: bool,
}

/// What a case that went well came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// How the scheme is spelled.
    pub scheme: String,
    /// The hash of every completion and every counter.
    pub result_hash: String,
    /// Drives that were drawn before the one that the scheme took.
    pub refused: u32,
}

/// What a case that went wrong has to say.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("case {seed}:{length}, {scheme}: {message}")]
pub struct Failure {
    /// Seed and length replay it: [`Swarm::case`].
    pub seed: u64,
    /// How many requests the case had.
    pub length: u64,
    /// How the scheme is spelled; empty where none could be drawn.
    pub scheme: String,
    /// The drive as a device file; empty where none could be drawn.
    pub device: String,
    /// What is wrong; of a panic its words.
    pub message: String,
}

impl Swarm {
    /// The swarm of the schemes of a registry. [`crate::stress::over`] adds those that only stress the mechanism.
    pub fn over(registry: &Registry) -> Swarm {
        Swarm { spellings: Spellings::of(registry), is_at_the_edge: false }
    }

    /// The same over drives at the edge alone: no block more than a scheme takes, the host's as far as the rule of
    /// docs/progress.md lets it have them, full at first; and hosts that come in bursts.
    #[must_use]
    pub fn at_the_edge(self) -> Swarm {
        Swarm { is_at_the_edge: true, ..self }
    }

    /// Whether drives are drawn at the edge.
    pub fn is_at_the_edge(&self) -> bool {
        self.is_at_the_edge
    }

    /// How many requests the case of a seed has when it is not cut short.
    pub fn length(seed: u64) -> u64 {
        let mut rng = Rng(seed ^ 0x6c65_6e67);
        if rng.once_in(32) { rng.below(3_000) } else { rng.below(600) }
    }

    /// The case of a seed, with its first so many requests.
    ///
    /// # Errors
    /// When the schemes take none of the drives that are drawn, or one cannot be made, or panics.
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

    /// A small drive under a scheme with parameters for such, of which the host has three quarters at most, so that there
    /// is room for whatever befalls the drive: for tests that bring hosts of their own.
    ///
    /// # Errors
    /// As [`Swarm::draw`].
    pub fn small_drive(&self, rng: &mut Rng) -> Result<Drive, Failure> {
        let seed = rng.0;
        let failure =
            |message| Failure { seed, length: 0, scheme: String::new(), device: String::new(), message };
        caught(|| case::small_drive(rng, &self.spellings)).map_err(failure)
    }

    /// Draw a case and run it with every check on.
    ///
    /// # Errors
    /// The first thing that is wrong, also where it is told by a panic.
    pub fn case(&self, seed: u64, length: u64) -> Result<Outcome, Failure> {
        self.draw(seed, length)?.run()
    }

    /// The shortest case of the same seed that fails, with what that one says. It tries every length from 0 on.
    pub fn shortest(&self, failure: Failure) -> Failure {
        let shorter = (0..failure.length).find_map(|length| self.case(failure.seed, length).err());
        shorter.unwrap_or(failure)
    }

    /// A case that fails, with what that one says, made smaller: blocks are left out, and requests anywhere.
    ///
    /// # Errors
    /// As [`Swarm::draw`].
    pub fn smallest(&self, failure: &Failure) -> Result<Smallest, Failure> {
        let case = self.draw(failure.seed, failure.length)?;
        Ok(smallest(case, failure.message.clone(), |case| caught(|| run(case)).err()))
    }
}

impl Case {
    /// Run it with every check on.
    ///
    /// # Errors
    /// The first thing that is wrong, also where it is told by a panic.
    pub fn run(&self) -> Result<Outcome, Failure> {
        let scheme = self.drive.scheme.spelling.clone();
        match caught(|| run(self)) {
            Ok(result_hash) => Ok(Outcome { scheme, result_hash, refused: self.refused }),
            Err(message) => {
                let (seed, length) = (self.seed, self.requests.len() as u64);
                let device = wordline_device::to_toml(&self.drive.spec);
                Err(Failure { seed, length, scheme, device, message })
            }
        }
    }
}

/// What is returned, or told by a panic.
pub(crate) fn caught<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(text.or(panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default())
    })
}
