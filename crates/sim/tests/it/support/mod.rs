//! What several modules have in common.

pub mod one_die;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use wordline_schemes::Registry;
use wordline_swarm::{Swarm, stress};

/// The schemes of the literature, and those that stress the mechanism.
pub static SWARM: LazyLock<Swarm> =
    LazyLock::new(|| Swarm::over(&stress::over(&Registry::standard()).unwrap()));

/// A number that the environment gives.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |v| v.parse().expect("a number"))
}

/// What is returned, or told by a panic.
pub fn caught<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(text.or(panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default())
    })
}
