//! Studies made of runs: comparisons, reruns, lifetimes, and explanations of requests.

pub(crate) mod compare;
pub(crate) mod division;
pub(crate) mod intervals;
pub(crate) mod lifetime;
pub(crate) mod model;
pub(crate) mod requests;
pub(crate) mod rerun;
pub(crate) mod sensitivity;
pub(crate) mod shortages;
pub(crate) mod threads;
pub(crate) mod watcher;
pub(crate) mod why;
pub(crate) mod why_causes;
pub(crate) mod why_sums;
