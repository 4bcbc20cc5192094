//! How much a long run tries.

/// A number of the environment, for long runs.
pub fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
