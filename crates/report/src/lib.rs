//! What a run says: the report's schema, the table for a terminal, and the page that holds the
//! pictures. Everything here is a pure function from reports to text; who writes it where, and in
//! which colours, is the caller's business.
//!
//! The way through: [`Report`] is filled by whoever ran the device; [`Comparison`] puts several
//! side by side; [`table`] and [`summary`] write them for a terminal, [`html`] as one file for a
//! browser, [`figures`] as pictures for a paper with their data beside them.

mod activity;
mod begun;
mod blocks;
mod command;
mod comparison;
mod conditions;
mod figures;
mod fio;
mod html;
mod jobs;
mod label;
mod lifetime;
mod lifetime_table;
mod number;
mod overload;
pub mod palette;
mod replicas;
mod report;
mod rows;
mod said;
mod series;
mod steady;
mod svg;
mod terminal;
mod twins;
mod why;
mod why_summary;

pub use activity::{
    CAUSES, Capacity, ChangingCapacity, Energy, EnergyOf, Flash, IdleTime, LifeUsed, Lifetime, LostBlocks,
    MapOnFlash, ModeLifetime, Multiplane, PageTypes, ProgramBytes, Programs, ReadErrors, Refreshed,
    RegionActivity, RegionCapacity, Waf, Wear, Windows, WornOut,
};
pub use begun::BegunSteady;
pub use blocks::{BlockFrame, BlockKind, BlockMap, BlockRow, Conditions, Utilisation, WearHistogram};
pub use command::{quoted, shell_line};
pub use comparison::{COMPARISON_SCHEMA, Comparison, RefusedScheme};
pub use figures::{Figure, TwinPanel, figures, lifetime_figures, trace_figures, twin_figures};
pub use fio::fio_json;
pub use html::{Heading, NOT_MODELLED, html, lifetime_html, page, trace_html};
pub use jobs::{JobActivity, JobRequests, LATENCY_BOUNDS_NS, PERCENTILES, QueueActivity};
pub use lifetime::{
    ACCELERATION_TOLERANCE, AgedLatency, LIFETIME_SCHEMA, Life, LifePhase, Lifetimes, SchemeLife,
};
pub use lifetime_table::lifetime_table;
pub use overload::Overload;
pub use replicas::{Estimate, Replicas};
pub use report::{
    DeviceInfo, Host, Latencies, Latency, LatencyParts, MapTable, Memory, REPORT_SCHEMA, Report, SchemeInfo,
    ShiftedRun, Speed, Throughput, WorkloadInfo,
};
pub use series::{CDF_POINTS_MAX, LatencyCdf, TIMELINE_BINS_MAX, Timeline};
pub use steady::{AfterWarmUp, Reached, STEADY_CRITERION, SteadyFrom, SteadyState};
pub use terminal::{TerminalStyle, summary, table};
pub use why::{Beside, Emptied, LastPiece, Spent, Story, Stretch, WHY_SCHEMA, Why, Work, why_text};
pub use why_summary::{PartShare, WayShare, WhySummary};
