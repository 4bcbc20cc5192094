//! Options of a search.

use crate::mount::FileSystem;
use std::sync::Arc;
use std::time::Duration;
use wordline_live::ThroughDrive;
use wordline_volatile::{Broken, Rules};

/// Options of a search.
#[derive(Clone, Debug)]
pub struct SearchSpec {
    /// What the drive guarantees.
    pub rules: Rules,
    /// Maximum number of checks.
    pub states: u64,
    /// Seed of the random states.
    pub seed: u64,
    /// Number of checks in parallel.
    pub threads: usize,
    /// Time limit of a check.
    pub most: Duration,
    /// Whether a check runs once and checks state after state: it gets a line on its standard input for each, and answers with a
    /// line on its standard output, `ok` or what is wrong.
    pub is_persistent: bool,
    /// What a broken drive does at a power cut. Empty for a drive that keeps its guarantees.
    pub broken: Vec<Broken>,
    /// The file system to mount for a check with `{mnt}`.
    pub mount: Option<FileSystem>,
    /// The simulated drive whose power is cut for each state, and which then recovers.
    pub through: Option<Arc<ThroughDrive>>,
}
