//! Types of a twin's file.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use wordline_trace::QueueDepth;
use wordline_units::{Bytes, Fraction, LBA_BYTES, SimDuration};

/// Maximum number of requests of a twin.
pub(crate) const REQUESTS_MAX: u64 = 1 << 40;
/// Maximum length of a request in blocks: 4 GiB, as for a trace.
pub(crate) const LONGEST: u64 = (1 << 32) / LBA_BYTES;
/// Maximum address in bytes: 8 EiB, as for a trace.
pub(crate) const FARTHEST: u64 = 1 << 63;
/// Default size in bytes of an extent, whose data share one popularity.
pub(crate) const EXTENT: u64 = 64 << 10;
/// Mean number of requests of one kind in a row.
pub(crate) const RUN: RangeInclusive<f64> = 1.0..=1e6;
/// Skew among hot extents.
pub(crate) const THETA: RangeInclusive<f64> = 0.0..=5.0;
/// Default size in bytes of an item, whose data share one place.
pub(crate) const ITEM: u64 = 16 << 10;
/// Maximum number of replacements of the hot extents.
pub(crate) const DRIFT: RangeInclusive<f64> = 0.0..=1000.0;
/// Decimals of numbers that are not whole.
pub(crate) const DECIMALS: usize = 4;

/// A twin: numbers from which requests are generated, and their criteria.
#[derive(Clone, PartialEq, Debug)]
pub struct Description {
    /// One-line description.
    pub title: String,
    /// Patterns of names of the original's files, such as `hm_0.csv*`.
    pub original: Vec<String>,
    /// Total number of requests.
    pub requests: u64,
    /// Share of writes among them.
    pub write: Fraction,
    /// Mean number of requests of one kind in a row.
    pub run: f64,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// What is read.
    pub reads: Side,
    /// What is written.
    pub writes: Side,
    /// Further known figures, for comparison.
    pub targets: Targets,
}

/// Arrivals of requests: their numbers in time windows vary and correlate as specified, some of them are
/// simultaneous, and an envelope may change their rate. Or a closed loop without times.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrivals {
    /// The closed loop of requests without times.
    pub closed: Option<QueueDepth>,
    /// Time span of all requests; 0 if they are all simultaneous.
    pub span: SimDuration,
    /// Share of requests simultaneous with the previous one.
    pub group: Fraction,
    /// How the number of requests varies from window to window. Random if absent.
    pub memory: Option<Memory>,
    /// Rates that change with time.
    pub envelope: Option<Envelope>,
}

/// How the numbers of requests in windows of several lengths vary. Between these lengths, dispersion and
/// correlation are interpolated over the logarithm of the length; beyond them they stay constant.
#[derive(Clone, PartialEq, Debug)]
pub struct Memory {
    /// Lengths of the windows, ascending.
    pub windows: Vec<SimDuration>,
    /// Variance over mean of the number of reads in windows of each length; 1 is random.
    pub reads: Vec<f64>,
    /// The same for writes.
    pub writes: Vec<f64>,
    /// Correlation of the numbers of reads and writes, excluding random variation, from -1 to 1.
    pub together: Vec<f64>,
}

/// Relative rates of the equal parts of a period, which repeats.
#[derive(Clone, PartialEq, Debug)]
pub struct Envelope {
    /// The period.
    pub period: SimDuration,
    /// A relative rate of reads for each part, at least one above 0.
    pub reads: Vec<f64>,
    /// The same for writes, in as many parts.
    pub writes: Vec<f64>,
}

impl Memory {
    /// With a factor on the excess of the dispersions of reads and writes over those of the shortest window, so that
    /// more or fewer of them come in bursts: 0 leaves those of the shortest window only.
    pub(crate) fn with_bursts(mut self, factors: [f64; 2]) -> Memory {
        for (curve, factor) in [&mut self.reads, &mut self.writes].into_iter().zip(factors) {
            let shortest = curve[0];
            curve.iter_mut().for_each(|d| *d = (*d * factor + shortest * (1.0 - factor)).max(0.0));
        }
        self
    }

    /// A curve over the windows, at another length in nanoseconds.
    fn at(
        &self,
        curve: &[f64],
        window_ns: f64,
        scale: impl Fn(f64) -> f64,
        back: impl Fn(f64) -> f64,
    ) -> f64 {
        let above = self.windows.iter().position(|w| w.0 as f64 >= window_ns);
        match above {
            Some(0) => curve[0],
            None => curve[curve.len() - 1],
            Some(i) => {
                let at = |ns: f64| libm::log(ns);
                let (from, to) = (at(self.windows[i - 1].0 as f64), at(self.windows[i].0 as f64));
                let part = (at(window_ns) - from) / (to - from);
                back(scale(curve[i - 1]) * (1.0 - part) + scale(curve[i]) * part)
            }
        }
    }

    /// Dispersions of reads and of writes in windows of this many nanoseconds.
    pub(crate) fn dispersion(&self, window_ns: f64) -> [f64; 2] {
        let logarithm = |x: f64| libm::log(x.max(1e-3));
        [&self.reads, &self.writes].map(|curve| self.at(curve, window_ns, logarithm, libm::exp))
    }

    /// Correlation of reads and writes in windows of this many nanoseconds.
    pub(crate) fn together(&self, window_ns: f64) -> f64 {
        self.at(&self.together, window_ns, |x| x, |x| x)
    }
}

/// Sizes and addresses of one kind of request.
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    /// Sizes in blocks with their weights.
    pub sizes: Vec<(u32, f64)>,
    /// The mean size in bytes. A weight or the tail is solved for it. If absent, the mean of `sizes`.
    pub mean: Option<f64>,
    /// Sizes besides the listed ones.
    pub rest: Rest,
    /// Factors that change the weight of the solved size, and after how many requests.
    pub modulation: Option<Modulation>,
    /// Alignment of addresses in blocks.
    pub align: u64,
    /// Size in blocks of a page of the layout that requests follow.
    pub page: u64,
    /// Share of the requests of at least a page that begin on a page boundary.
    pub page_aligned: Fraction,
    /// Whether a request that fits into a page can cross a page boundary.
    pub straddle: Straddle,
    /// Start of its addresses in bytes.
    pub begin: u64,
    /// Size of its address range in bytes.
    pub footprint: u64,
    /// Share that continues a sequential stream.
    pub sequential: Fraction,
    /// Share that goes to hot extents.
    pub hot: Fraction,
    /// Share that goes anywhere. The three shares add up to 1.
    pub uniform: Fraction,
    /// Number of sequential streams.
    pub streams: u32,
    /// Mean bytes after which a stream starts elsewhere; without it, streams wrap around in their part of the
    /// footprint.
    pub stretch: Option<u64>,
    /// Share of a stream's requests that begin by rewriting its last 4 KiB.
    pub rewrite: Fraction,
    /// Share of the footprint's extents that are hot.
    pub hot_space: Fraction,
    /// Whether streams and uniform requests go among the hot extents.
    pub hot_lies: HotLies,
    /// Skew among the hot extents.
    pub theta: f64,
    /// Bytes that share one popularity.
    pub extent: u64,
    /// Size in blocks of an item, whose data share one place.
    pub item: u64,
    /// Share of the items, weighted by requests, with a place of their own: their hot requests of a listed
    /// size always have the same offset and size.
    pub stable: Fraction,
    /// How often the hot extents are replaced by others, one by one, during the run.
    pub drift: f64,
    /// Share of the reads outside streams that go to the hot extents of writes.
    pub overlap: Fraction,
    /// Requests that continue a file. The shares of sequential, hot and uniform requests apply to all others.
    pub files: Option<FileLaw>,
}

/// Requests that continue a file, one file after another. The requests of a file have the same size and are
/// contiguous.
#[derive(Clone, PartialEq, Debug)]
pub struct FileLaw {
    /// Their share of the side's requests in bursts. A request is in a burst if the last 64 arrived faster
    /// than the overall mean.
    pub bursts: Fraction,
    /// Their share of the other requests.
    pub apart: Fraction,
    /// Sizes of a file's requests in blocks, weighted by requests. If empty, the long sizes of the side, or
    /// the listed ones if there are none.
    pub sizes: Vec<(u32, f64)>,
    /// Number of requests per file, weighted by files.
    pub lengths: Vec<(u32, f64)>,
    /// Alignment of a file's start: powers of two in blocks, ascending, weighted by requests. Each is the
    /// largest that divides the address; the last one includes larger ones.
    pub begins: Vec<(u32, f64)>,
    /// Share of the files that start after the previous one, within 64 of its requests.
    pub near: Fraction,
}

/// How the listed sizes are complemented to reach the mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rest {
    /// There are no other sizes.
    None,
    /// One more size, in blocks, whose weight is solved for the mean.
    Size(u32),
    /// A share of requests of two pages or more, with a geometric distribution that is solved for the mean.
    Large {
        /// Their share.
        share: Fraction,
        /// The longest, in blocks.
        most: u64,
    },
}

/// A mix of sizes that changes during the run.
#[derive(Clone, PartialEq, Debug)]
pub struct Modulation {
    /// Relative weights, each drawn once before any repeats.
    pub factors: Vec<f64>,
    /// Requests of the side between draws.
    pub every: u64,
}

/// Whether small requests can cross a page boundary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Straddle {
    /// They can.
    Free,
    /// Never: they are moved within a page.
    Never,
    /// This share crosses a page boundary. The others are moved within a page.
    Share(Fraction),
}

impl FromStr for Straddle {
    type Err = String;

    fn from_str(text: &str) -> Result<Straddle, String> {
        match text {
            "free" => Ok(Straddle::Free),
            "never" => Ok(Straddle::Never),
            _ => {
                let share = text.parse::<Fraction>().ok().filter(|share| *share <= Fraction::ONE);
                share.map(Straddle::Share).ok_or_else(|| format!("{text:?} is not {STRADDLE}"))
            }
        }
    }
}

impl fmt::Display for Straddle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Straddle::Free => f.write_str("free"),
            Straddle::Never => f.write_str("never"),
            Straddle::Share(share) => share.fmt(f),
        }
    }
}

/// Values of `straddle`.
pub(crate) const STRADDLE: &str = "free, never or a share such as 26%";

/// Where the hot extents are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HotLies {
    /// Anywhere in the footprint, where streams and uniform requests also go.
    Scattered,
    /// At the start of the footprint, where nothing else goes.
    Apart,
}

/// Figures with which a twin is compared, other than its parameters.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Targets {
    /// Cache sizes in bytes, with the hit rate of written 4 KiB pages in an LRU cache of written pages.
    pub hits: Vec<(u64, Fraction)>,
    /// Bytes read.
    pub read_volume: Option<u64>,
    /// Bytes written.
    pub write_volume: Option<u64>,
    /// Distinct bytes written.
    pub written_footprint: Option<u64>,
    /// Share of the page-sized parts of writes that are less than a page: from, to.
    pub partial: Option<(Fraction, Fraction)>,
    /// Share of writes of at most 4 KiB: from, to.
    pub small: Option<(Fraction, Fraction)>,
    /// Lengths of windows with the variance over mean of the number of requests in them.
    pub dispersion: Vec<(SimDuration, f64)>,
    /// Of updates smaller than a page of 16 KiB: the share that writes exactly the blocks of the previous
    /// update.
    pub same_sectors: Option<Fraction>,
    /// Of the same updates: the share that covers everything ever written in the page.
    pub covering: Option<Fraction>,
    /// Share of the pages read that had been written before.
    pub read_written: Option<Fraction>,
}

/// Default size of an item in blocks: the usual size, or as much of an extent as possible.
pub(crate) fn item_in(extent: u64, align: u64) -> u64 {
    (ITEM.min(extent) / LBA_BYTES / align * align).max(align)
}

/// Number of extents of a side: all, and hot ones.
pub(crate) fn extents(side: &Side, scale: u64) -> (u64, u64) {
    let all = (side.footprint / scale / side.extent).max(1);
    (all, side.hot_space.of_ceil(all).clamp(1, all))
}

impl Arrivals {
    /// Arrivals without times: all simultaneous, or a closed loop.
    pub fn instantaneous(closed: Option<QueueDepth>) -> Arrivals {
        Arrivals { closed, span: SimDuration::ZERO, group: Fraction::ZERO, memory: None, envelope: None }
    }
}

impl Side {
    /// The longest request, in blocks.
    fn longest(&self) -> u64 {
        let of_files = self.files.iter().flat_map(|f| &f.sizes);
        let listed = self.sizes.iter().chain(of_files).map(|s| s.0 as u64).max().unwrap_or(0);
        match self.rest {
            Rest::None => listed,
            Rest::Size(size) => listed.max(size as u64),
            Rest::Large { most, .. } => listed.max(most),
        }
    }

    /// Number of parts of the footprint, one per stream, and the minimum number of blocks of each.
    pub(crate) fn parts(&self) -> (u64, u64) {
        let parts = if self.sequential > Fraction::ZERO { self.streams as u64 } else { 1 };
        (parts, (self.longest() + self.page).max(self.extent / LBA_BYTES))
    }

    /// Check that the longest request fits into every part of a footprint divided by `scale`.
    pub(crate) fn room(&self, scale: u64) -> Result<(), String> {
        let hot = if self.hot_lies == HotLies::Apart { extents(self, scale).1 * self.extent } else { 0 };
        let footprint = (self.footprint / scale).saturating_sub(hot) / LBA_BYTES;
        let ((parts, need), longest) = (self.parts(), self.longest());
        if footprint / parts < need {
            return Err(format!(
                "{} in {parts} parts, one per stream, have no space for a request of {}",
                Bytes(footprint * LBA_BYTES),
                Bytes(longest * LBA_BYTES)
            ));
        }
        Ok(())
    }
}
