//! Limits of hosts and drives: the bounds of plausible traces, each with its reason. They are in
//! docs/traces.md, too.

/// Maximum throughput of one drive: PCIe 5.0 with four lanes, 15.8 GB/s.
pub(crate) const MOST_BYTES_PER_S: f64 = 16.0 * (1u64 << 30) as f64;
/// Maximum request rate of one drive: three times the fastest of 2025.
pub(crate) const MOST_REQUESTS_PER_S: f64 = 1e7;
/// Devices of a trace that count for its rates: one host has no more at their limit.
pub(crate) const MOST_DEVICES: f64 = 16.0;
/// Requests that can queue beyond that rate: four queues of 1,024.
pub(crate) const DEEPEST_QUEUES: f64 = 4_096.0;
/// No public trace lasts longer.
pub(crate) const LONGEST_SPAN_S: f64 = 3.0 * 365.0 * 86_400.0;
/// No trace of a drive in use is sparser: a request an hour.
pub(crate) const LEAST_REQUESTS_PER_S: f64 = 1.0 / 3_600.0;
/// Rates of fewer requests say nothing, and those of fewer than `ENOUGH` only tenfold.
pub(crate) const SOME: usize = 20;
pub(crate) const ENOUGH: usize = 100;
/// Tracers of block devices have a finer clock than this.
pub(crate) const COARSE_TICK_NS: f64 = 1e6;
/// No clock behind a trace ticks as slowly.
pub(crate) const SLOWEST_TICK_NS: f64 = 1e9;
/// Shares of gaps need this many.
pub(crate) const MANY: usize = 5_000;
/// Arrivals whose counts exceed this dispersion come in bursts.
pub(crate) const BURSTY: f64 = 4.0;
/// Requests that are stamped one by one do not follow one another so closely.
pub(crate) const SHORTEST_GAP_NS: f64 = 5.0;
/// Host block layers split requests at 4 MiB or below; odd lengths prove nothing up to 64 MiB.
pub(crate) const LONGEST_REQUEST: u64 = 4 << 20;
pub(crate) const LONGEST_ODD_REQUEST: u64 = 64 << 20;
/// 2000-01-01 and 2035-01-01 in Unix seconds, the range of plausible dates.
pub(crate) const DATES: std::ops::Range<u64> = 946_684_800..2_051_222_400;
/// Seconds from the beginning of FILETIME, 1601-01-01, to 1970-01-01.
pub(crate) const FILETIME_TO_UNIX_S: u64 = 11_644_473_600;
/// A recording that has dates lasts less.
pub(crate) const LONGEST_DATED_S: f64 = 400.0 * 86_400.0;
