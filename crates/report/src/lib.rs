//! Output of a run: the report's schema, the terminal table, and the page with its pictures. Everything here
//! is a pure function from reports to text; the caller decides about files and colors.
//!
//! Overview: the caller fills a [`Report`]; [`Comparison`] holds several; [`table`] and [`summary`] format
//! them for a terminal, [`html`] as one file for a browser, [`figures`] as pictures for a paper with their
//! data.

mod fio;
mod page;
mod pictures;
mod schema;
mod terminal;
mod words;

pub use pictures::palette;

pub use fio::fio_json;
pub use page::comparison::{NOT_MODELLED, PAGE, data_of, html, html_at};
pub use page::lifetime::lifetime_html;
pub use page::parts::{Heading, Section, page, sections};
pub use page::trace::trace_html;
pub use pictures::figure::Figure;
pub use pictures::lifetime::lifetime_figures;
pub use pictures::sections::figures;
pub use pictures::trace::trace_figures;
pub use pictures::twins::{TwinPanel, twin_figures};
pub use schema::activity::{
    CAUSES, Capacity, ChangingCapacity, Energy, Flash, LifeUsed, Lifetime, LostBlocks, MapOnFlash,
    ModeLifetime, Multiplane, OutOfReach, PageTypes, ProgramBytes, Programs, ReadErrors, Refreshed,
    RegionActivity, RegionCapacity, Waf, Wear, Windows, WornOut,
};
pub use schema::blocks::{BlockFrame, BlockKind, BlockMap, BlockRow, Conditions, Utilisation, WearHistogram};
pub use schema::comparison::{COMPARISON_SCHEMA, Comparison, FailedScheme, RefusedScheme};
pub use schema::decision::{Decision, Measure, Tradeoff};
pub use schema::estimate::Estimate;
pub use schema::jobs::{JobActivity, JobRequests, LATENCY_BOUNDS_NS, PERCENTILES, QueueActivity};
pub use schema::lifetime::{
    ACCELERATION_TOLERANCE, AgedLatency, LIFETIME_SCHEMA, Life, LifePhase, Lifetimes, SchemeLife,
};
pub use schema::overload::{Overload, overload};
pub use schema::replicas::replicas;
pub use schema::report::Replicas;
pub use schema::report::{
    DeviceInfo, Host, Latencies, Latency, LatencyParts, MapTable, Memory, REPORT_SCHEMA, Report, SchemeInfo,
    ShiftedRun, Speed, Throughput, WorkloadInfo,
};
pub use schema::run_end::{AfterLastRequest, Balance, Holdings};
pub use schema::series::{CDF_POINTS_MAX, LatencyCdf, TIMELINE_BINS_MAX, Timeline};
pub use schema::steady::{AfterWarmUp, Reached, STEADY_CRITERION, SteadyFrom, SteadyState};
pub use schema::steady_start::BegunSteady;
pub use schema::why::{Beside, Busy, Emptied, LastPiece, Spent, Story, Stretch, WHY_SCHEMA, Why, Work};
pub use schema::why_summary::{PartShare, RootCause, WayShare, WhySummary};
pub use terminal::lifetime::lifetime_table;
pub use terminal::summary::summary;
pub use terminal::table::{Rows, table};
pub use terminal::text::{TerminalStyle, paragraph};
pub use terminal::why::why_text;
pub use wordline_counters::{EnergyOf, IdleTime};
pub use words::advice::advice;
pub use words::command::{class_without_file, quoted, shell_line};
pub use words::decision::decided;
pub use words::end::{End, JobEnd, bursts_for, further_bursts, two_digits};
pub use words::figures::explanations::REPORT_SCHEMA_TEXT;
#[cfg(feature = "schema")]
pub use words::figures::explanations::report_schema;
pub use words::figures::explanations::{Explained, every_explained, explainable, explained, glossary};
pub use words::lifetime::accelerations_agree;
pub use words::number::significant;
pub use words::steadiness::{at_least_longer, drive_writes_for_verdict, needed, options_by_end};
pub use words::verdict::{command_of, verdict_of};
