//! Schemas of the reports: of a run, a comparison and a lifetime. No sentence, no picture.

pub(crate) mod activity;
pub(crate) mod blocks;
pub(crate) mod comparison;
pub(crate) mod decision;
pub(crate) mod estimate;
pub(crate) mod jobs;
pub(crate) mod lifetime;
pub(crate) mod overload;
pub(crate) mod replicas;
pub(crate) mod report;
pub(crate) mod run_end;
pub(crate) mod series;
pub(crate) mod steady;
pub(crate) mod steady_start;
pub(crate) mod why;
pub(crate) mod why_summary;
