//! Limits of hosts and drives: the bounds of plausible traces, each with its reason. docs/traces.md also has
//! them.

/// Maximum throughput of one drive: PCIe 5.0 with four lanes, 15.8 GB/s.
pub(crate) const MOST_BYTES_PER_S: f64 = 16.0 * (1u64 << 30) as f64;
/// Maximum request rate of one drive: three times the fastest of 2025.
pub(crate) const MOST_REQUESTS_PER_S: f64 = 1e7;
/// Number of devices in a trace that count for its rates: a host has no more running at their limit.
pub(crate) const MOST_DEVICES: f64 = 16.0;
/// Maximum number of requests that queue beyond that rate: four queues of 1,024.
pub(crate) const DEEPEST_QUEUES: f64 = 4_096.0;
/// Maximum span: no public trace is longer.
pub(crate) const LONGEST_SPAN_S: f64 = 3.0 * 365.0 * 86_400.0;
/// Minimum rate, one request per hour: no trace of a drive in use is sparser.
pub(crate) const LEAST_REQUESTS_PER_S: f64 = 1.0 / 3_600.0;
/// With fewer requests, rates are meaningless. With fewer than `ENOUGH`, they are only accurate to a factor
/// of ten.
pub(crate) const SOME: usize = 20;
pub(crate) const ENOUGH: usize = 100;
/// Tracers of block devices have a finer clock than this.
pub(crate) const COARSE_TICK_NS: f64 = 1e6;
/// The coarsest clock of any trace.
pub(crate) const SLOWEST_TICK_NS: f64 = 1e9;
/// Minimum number of gaps for shares of gaps.
pub(crate) const MANY: usize = 5_000;
/// Arrivals whose counts exceed this dispersion are bursty.
pub(crate) const BURSTY: f64 = 4.0;
/// Minimum gap between requests with separate time stamps.
pub(crate) const SHORTEST_GAP_NS: f64 = 5.0;
/// Host block layers split requests at 4 MiB or less. Odd lengths are no evidence up to 64 MiB.
pub(crate) const LONGEST_REQUEST: u64 = 4 << 20;
pub(crate) const LONGEST_ODD_REQUEST: u64 = 64 << 20;
/// 2000-01-01 and 2035-01-01 in Unix seconds, the range of plausible dates.
pub(crate) const DATES: std::ops::Range<u64> = 946_684_800..2_051_222_400;
/// Seconds from the beginning of FILETIME, 1601-01-01, to 1970-01-01.
pub(crate) const FILETIME_TO_UNIX_S: u64 = 11_644_473_600;
/// A recording with dates is shorter than this.
pub(crate) const LONGEST_DATED_S: f64 = 400.0 * 86_400.0;
