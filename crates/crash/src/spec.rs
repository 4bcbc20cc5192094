//! How states are searched.

use crate::mount::FileSystem;
use std::sync::Arc;
use std::time::Duration;
use wordline_live::ThroughDrive;
use wordline_volatile::{Broken, Rules};

/// How states are searched.
#[derive(Clone, Debug)]
pub struct SearchSpec {
    /// What the drive promises.
    pub rules: Rules,
    /// Maximum number of checks.
    pub states: u64,
    /// The seed from which states are drawn.
    pub seed: u64,
    /// Number of checks in parallel.
    pub threads: usize,
    /// Time limit of one check.
    pub most: Duration,
    /// What a broken drive does at a power cut; empty for one that keeps its promises.
    pub broken: Vec<Broken>,
    /// The file system that is mounted for a check with `{mnt}`.
    pub mount: Option<FileSystem>,
    /// The simulated drive whose power is cut, and that recovers, for each state.
    pub through: Option<Arc<ThroughDrive>>,
}
