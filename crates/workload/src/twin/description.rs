//! What a twin's file says, as types. Reading finds every problem of a file at once, with its line;
//! writing gives a file from which the same requests come.

use super::addresses::extents;
use crate::pace::Depth;
use std::fmt::Write;
use std::ops::RangeInclusive;
use std::str::FromStr;
use wordline_config::{ConfigErrors, Problems, Section, comment, quoted};
use wordline_units::{Bytes, Count, Fraction, LBA_BYTES, SimDuration};

/// Most requests of one twin.
const REQUESTS_MAX: u64 = 1 << 40;
/// Longest request, in blocks: 4 GiB, as of a trace.
pub(super) const LONGEST: u64 = (1 << 32) / LBA_BYTES;
/// Farthest address, in bytes: 8 EiB, as of a trace.
pub(super) const FARTHEST: u64 = 1 << 63;
/// Bytes that share one popularity where a twin does not say.
pub(super) const EXTENT: u64 = 64 << 10;
/// Mean number of requests of one kind in a row.
pub(super) const RUN: RangeInclusive<f64> = 1.0..=1e6;
/// Skew among hot extents.
pub(super) const THETA: RangeInclusive<f64> = 0.0..=5.0;
/// Bytes that share one place where a twin does not say.
pub(super) const ITEM: u64 = 16 << 10;
/// How often the hot extents may be replaced.
pub(super) const DRIFT: RangeInclusive<f64> = 0.0..=1000.0;
/// Decimals with which numbers that are not whole are written.
pub(super) const DECIMALS: usize = 4;

/// A twin: numbers from which requests are made, and what they are held to.
#[derive(Clone, PartialEq, Debug)]
pub struct Description {
    /// One line for a list.
    pub title: String,
    /// Patterns of names of the original's files, such as `hm_0.csv*`.
    pub original: Vec<String>,
    /// Requests in all.
    pub requests: u64,
    /// Share of writes among them.
    pub write: Fraction,
    /// Mean number of requests of one kind in a row.
    pub run: f64,
    /// When requests come.
    pub arrivals: Arrivals,
    /// What is read.
    pub reads: Side,
    /// What is written.
    pub writes: Side,
    /// What is known besides, to be compared with.
    pub targets: Targets,
}

/// Requests whose numbers in windows of time vary and go together as asked, some of them at one time, under an
/// envelope; or no times at all, in a closed loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrivals {
    /// The closed loop in which requests are asked, where they have no times.
    pub closed: Option<Depth>,
    /// Time of all requests; 0 where they come all at one instant.
    pub span: SimDuration,
    /// Share of requests that come at the time of the one before.
    pub group: Fraction,
    /// How counts vary from window to window; as chance has it, if absent.
    pub memory: Option<Memory>,
    /// Rates that change with time.
    pub envelope: Option<Envelope>,
}

/// How the numbers of requests in windows of several lengths vary. Between two lengths dispersion and correlation
/// are interpolated over the logarithm of the length; beyond the ends they stay as they are there.
#[derive(Clone, PartialEq, Debug)]
pub struct Memory {
    /// Lengths of the windows, ascending.
    pub windows: Vec<SimDuration>,
    /// Variance over mean of the number of reads in each: 1 is chance.
    pub reads: Vec<f64>,
    /// The same of writes.
    pub writes: Vec<f64>,
    /// Correlation between the number of reads and the number of writes beyond chance, -1 to 1.
    pub together: Vec<f64>,
}

/// Relative rates of the equal parts of a period, which repeats.
#[derive(Clone, PartialEq, Debug)]
pub struct Envelope {
    /// The period.
    pub period: SimDuration,
    /// A relative rate of reads for each part; some is above 0.
    pub reads: Vec<f64>,
    /// The same of writes, in as many parts.
    pub writes: Vec<f64>,
}

impl Memory {
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

    /// Dispersions of reads and of writes in windows of so many nanoseconds.
    pub(super) fn dispersion(&self, window_ns: f64) -> [f64; 2] {
        let logarithm = |x: f64| libm::log(x.max(1e-3));
        [&self.reads, &self.writes].map(|curve| self.at(curve, window_ns, logarithm, libm::exp))
    }

    /// Correlation of reads and writes in windows of so many nanoseconds.
    pub(super) fn together(&self, window_ns: f64) -> f64 {
        self.at(&self.together, window_ns, |x| x, |x| x)
    }
}

/// Sizes and addresses of one kind of request.
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    /// Sizes in blocks with their weights.
    pub sizes: Vec<(u32, f64)>,
    /// The mean size in bytes, for which a weight or the tail is solved; that of `sizes` if absent.
    pub mean: Option<f64>,
    /// What comes besides the sizes listed.
    pub rest: Rest,
    /// Factors by which the weight of the size that is solved changes, and after how many requests.
    pub modulation: Option<Modulation>,
    /// Addresses are multiples of it, in blocks.
    pub align: u64,
    /// A page of the layout that requests keep to, in blocks.
    pub page: u64,
    /// Share of requests of a page or more that begin with a page.
    pub page_aligned: Fraction,
    /// Whether a request that fits into a page may lie across two.
    pub straddle: Straddle,
    /// Where its addresses begin, in bytes.
    pub begin: u64,
    /// How far they go from there, in bytes.
    pub footprint: u64,
    /// Share that continues a sequential stream.
    pub sequential: Fraction,
    /// Share that goes to hot extents.
    pub hot: Fraction,
    /// Share that goes anywhere. The three add up to 1.
    pub uniform: Fraction,
    /// Sequential streams.
    pub streams: u32,
    /// Mean bytes after which a stream begins elsewhere; none goes round in its part of the footprint.
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
    /// Bytes that share one place, an item, in blocks.
    pub item: u64,
    /// Share of the items, by their requests, whose hot requests of a listed size all go to the item's own place: the
    /// same offset and size each time.
    pub stable: Fraction,
    /// How often the hot extents are replaced by others, one by one, in the whole run.
    pub drift: f64,
    /// Of reads that continue no stream: the share that goes where the hot writes go.
    pub overlap: Fraction,
}

/// How the sizes that are listed are made up to the mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rest {
    /// There are no others.
    None,
    /// One more size, in blocks, with the weight that gives the mean.
    Size(u32),
    /// A share of requests of two pages or more, geometric with the mean that gives the mean.
    Large {
        /// Their share.
        share: Fraction,
        /// The longest, in blocks.
        most: u64,
    },
}

/// A mix of sizes that changes.
#[derive(Clone, PartialEq, Debug)]
pub struct Modulation {
    /// Relative weights, each drawn once before any comes again.
    pub factors: Vec<f64>,
    /// Requests of the side between draws.
    pub every: u64,
}

/// Whether small requests may lie across two pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Straddle {
    /// They may.
    Free,
    /// They are moved into one.
    Never,
}

/// Where the hot extents lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HotLies {
    /// Anywhere in the footprint: streams and uniform requests meet them.
    Scattered,
    /// At the begin of the footprint, where nothing else goes.
    Apart,
}

/// Figures that a twin is compared with, besides those that are its parameters.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Targets {
    /// Cache sizes in bytes with the share of written 4 KiB pages that an LRU cache of written pages
    /// holds.
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
    /// Of updates of less than a page of 16 KiB: those of the very blocks of the update before.
    pub same_sectors: Option<Fraction>,
    /// Of the same: those that cover all that was ever written in the page.
    pub covering: Option<Fraction>,
    /// Share of the pages read that had been written before.
    pub read_written: Option<Fraction>,
}

/// A number of bytes that need not be whole: a mean.
struct Average(f64);

impl FromStr for Average {
    type Err = String;
    fn from_str(text: &str) -> Result<Average, String> {
        let fail = || format!("{text:?} is not a mean size such as \"8.59KiB\"");
        let at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(fail)?;
        let unit = Bytes::from_str(&format!("1{}", &text[at..])).map_err(|_| fail())?;
        let number: f64 = text[..at].trim().parse().map_err(|_| fail())?;
        if number.is_finite() && number > 0.0 { Ok(Average(number * unit.0 as f64)) } else { Err(fail()) }
    }
}

/// Parts separated by slashes.
struct Slashed<T>(Vec<T>);

impl FromStr for Slashed<f64> {
    type Err = String;
    fn from_str(text: &str) -> Result<Slashed<f64>, String> {
        let numbers = text.split('/').map(|t| {
            let number = t.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
            number.ok_or_else(|| format!("{t:?} is not a number of 0 or more"))
        });
        let numbers = numbers.collect::<Result<Vec<f64>, String>>()?;
        if numbers.iter().sum::<f64>() > 0.0 {
            Ok(Slashed(numbers))
        } else {
            Err(format!("{text:?} is all 0; one of them must be above"))
        }
    }
}

/// Numbers of any sign, separated by slashes.
struct Numbers(Vec<f64>);

impl FromStr for Numbers {
    type Err = String;
    fn from_str(text: &str) -> Result<Numbers, String> {
        let number = |t: &str| {
            let number = t.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            number.ok_or_else(|| format!("{t:?} is not a number"))
        };
        text.split('/').map(number).collect::<Result<_, _>>().map(Numbers)
    }
}

/// Lengths of windows, ascending, separated by slashes.
struct Lengths(Vec<SimDuration>);

impl FromStr for Lengths {
    type Err = String;
    fn from_str(text: &str) -> Result<Lengths, String> {
        let length = |t: &str| t.trim().parse::<SimDuration>().map_err(|e| e.to_string());
        let lengths = text.split('/').map(length).collect::<Result<Vec<_>, String>>()?;
        if lengths[0].0 == 0 || lengths.windows(2).any(|w| w[0] >= w[1]) {
            return Err(format!("{text:?} are no lengths above 0 that ascend, such as \"10ms/1s/100s\""));
        }
        Ok(Lengths(lengths))
    }
}

impl FromStr for Slashed<(u32, f64)> {
    type Err = String;
    fn from_str(text: &str) -> Result<Slashed<(u32, f64)>, String> {
        let part = |t: &str| {
            let (size, weight) = t.split_once('@').unwrap_or((t, "1"));
            let blocks = blocks(size.trim())?;
            let weight = weight.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w > 0.0);
            let weight =
                weight.ok_or_else(|| format!("{t:?} has no weight above 0, such as 66 after the @"))?;
            Ok::<_, String>((blocks as u32, weight))
        };
        text.split('/').map(part).collect::<Result<Vec<_>, String>>().map(Slashed)
    }
}

/// A size in blocks: not 0, and whole.
fn blocks(text: &str) -> Result<u64, String> {
    let Bytes(bytes) = text.parse().map_err(|e: wordline_units::QuantityError| e.to_string())?;
    if bytes == 0 || !bytes.is_multiple_of(LBA_BYTES) || bytes / LBA_BYTES > LONGEST {
        return Err(format!("{text:?} is not a multiple of 512 B from 512 B to 4 GiB"));
    }
    Ok(bytes / LBA_BYTES)
}

/// An address in blocks.
struct Address(u64);

impl FromStr for Address {
    type Err = String;
    fn from_str(text: &str) -> Result<Address, String> {
        let Bytes(bytes) = text.parse().map_err(|e: wordline_units::QuantityError| e.to_string())?;
        if !bytes.is_multiple_of(LBA_BYTES) || bytes > FARTHEST {
            return Err(format!("{text:?} is not a multiple of 512 B from 0 B to 8 EiB"));
        }
        Ok(Address(bytes / LBA_BYTES))
    }
}

struct Blocks(u64);

impl FromStr for Blocks {
    type Err = String;
    fn from_str(text: &str) -> Result<Blocks, String> {
        blocks(text).map(Blocks)
    }
}

/// `from..to`, both shares.
struct Range(Fraction, Fraction);

impl FromStr for Range {
    type Err = String;
    fn from_str(text: &str) -> Result<Range, String> {
        let fail = || format!("{text:?} is not a range such as \"53%..80%\"");
        let (from, to) = text.split_once("..").ok_or_else(fail)?;
        let share = |t: &str| t.trim().parse::<Fraction>().ok().filter(|f| *f <= Fraction::ONE);
        match (share(from), share(to)) {
            (Some(from), Some(to)) if from <= to => Ok(Range(from, to)),
            _ => Err(fail()),
        }
    }
}

/// `SIZE@SHARE`: a cache and its hit rate.
struct Hit(u64, Fraction);

impl FromStr for Hit {
    type Err = String;
    fn from_str(text: &str) -> Result<Hit, String> {
        let fail = || format!("{text:?} is not a cache with its hit rate, such as \"0.2GiB@54.4%\"");
        let (size, share) = text.split_once('@').ok_or_else(fail)?;
        let size: Average = size.trim().parse().map_err(|_| fail())?;
        let share = share.trim().parse::<Fraction>().ok().filter(|f| *f <= Fraction::ONE).ok_or_else(fail)?;
        Ok(Hit(size.0 as u64, share))
    }
}

/// `WINDOW@DISPERSION`: a length and the variance over mean of the counts in such windows.
struct Spread(SimDuration, f64);

impl FromStr for Spread {
    type Err = String;
    fn from_str(text: &str) -> Result<Spread, String> {
        let fail = || format!("{text:?} is not a window with its dispersion, such as \"1s@77.5\"");
        let (window, dispersion) = text.split_once('@').ok_or_else(fail)?;
        let window = window.trim().parse().map_err(|_| fail())?;
        let dispersion: f64 = dispersion.trim().parse().map_err(|_| fail())?;
        if dispersion.is_finite() && dispersion >= 0.0 { Ok(Spread(window, dispersion)) } else { Err(fail()) }
    }
}

fn share(s: &mut Section, key: &'static str, default: Fraction) -> Fraction {
    let given = s.take_or(key, default);
    if given > Fraction::ONE {
        s.refuse(key, format!("{given} is more than 100 %"));
    }
    given
}

impl Description {
    /// Reads a twin's file; `origin` is what messages call it.
    ///
    /// # Errors
    /// Everything that is wrong with it, by line.
    pub fn from_toml(text: &str, origin: &str) -> Result<Description, ConfigErrors> {
        let problems = Problems::default();
        let read =
            Section::from_toml(text, origin, &[], "", &problems).and_then(|s| description(s, &problems));
        problems.finish(read)
    }
}

fn description(mut file: Section, problems: &Problems) -> Option<Description> {
    let mut head = file.section_or_empty("twin");
    let title = head.require::<String>("title", "\"file server, one week\"").unwrap_or_default();
    let original = head.take_list::<String>("original").unwrap_or_default();
    let requests = head.require::<Count>("requests", "1000000").map_or(1, |c| c.0);
    if requests == 0 || requests > REQUESTS_MAX {
        head.refuse("requests", format!("{requests} is not between 1 and {REQUESTS_MAX}"));
    }
    let write = head.require::<Fraction>("write", "\"64.5%\"").unwrap_or_default();
    if write > Fraction::ONE {
        head.refuse("write", format!("{write} is more than 100 %"));
    }
    let run = head.take_within("run", RUN).unwrap_or(4.0);
    head.finish();

    let mut a = file.section_or_empty("arrivals");
    let closed = a.take::<Depth>("closed");
    if closed.is_some()
        && let Some(timed) = ["span", "group", "windows", "envelope"].into_iter().find(|k| a.has(k))
    {
        a.refuse(timed, "a closed loop has no times; leave it out, or closed");
    }
    let span = match closed {
        Some(_) => a.take_or("span", SimDuration::ZERO),
        None => a.require::<SimDuration>("span", "\"7d\"").unwrap_or(SimDuration(1)),
    };
    let group = share(&mut a, "group", Fraction::ZERO);
    if group == Fraction::ONE {
        a.refuse("group", "100% would put all requests at one instant; it must be less");
    }
    let memory = memory(&mut a);
    let envelope = envelope(&mut a);
    let arrivals = Arrivals { closed, span, group, memory, envelope };
    if span.0 == 0 && arrivals != Arrivals::at_once(closed) {
        a.refuse(
            "span",
            "all requests at one instant have no groups, windows or envelope; it must be above 0",
        );
    }
    a.finish();

    let writes = side(file.section_or_empty("write"), Kind::Write);
    let reads = side(file.section_or_empty("read"), Kind::Read);
    let mut t = file.section_or_empty("targets");
    let targets = Targets {
        hits: t.take_list::<Hit>("hits").unwrap_or_default().into_iter().map(|h| (h.0, h.1)).collect(),
        read_volume: t.take::<Average>("read_volume").map(|v| v.0 as u64),
        write_volume: t.take::<Average>("write_volume").map(|v| v.0 as u64),
        written_footprint: t.take::<Average>("written_footprint").map(|v| v.0 as u64),
        partial: t.take::<Range>("partial").map(|r| (r.0, r.1)),
        small: t.take::<Range>("small").map(|r| (r.0, r.1)),
        dispersion: t
            .take_list::<Spread>("dispersion")
            .unwrap_or_default()
            .into_iter()
            .map(|d| (d.0, d.1))
            .collect(),
        same_sectors: t.take("same_sectors"),
        covering: t.take("covering"),
        read_written: t.take("read_written"),
    };
    t.finish();
    let place = file.place().clone();
    file.finish();
    let (reads, writes) = (reads?, writes?);
    if reads.overlap > Fraction::ZERO && writes.hot == Fraction::ZERO {
        problems.add(&place, "read.overlap sends reads to the hot extents of writes, and write.hot is 0");
    }
    Some(Description { title, original, requests, write, run, arrivals, reads, writes, targets })
}

/// A curve over windows, or over parts of an envelope: as many numbers as there are of those.
fn curve(a: &mut Section, key: &'static str, of: &str, many: usize) -> Option<Vec<f64>> {
    let curve = a.take::<Numbers>(key)?.0;
    if curve.len() != many {
        a.refuse(key, format!("{} numbers for {many} {of}; there must be one for each", curve.len()));
        return None;
    }
    Some(curve)
}

fn memory(a: &mut Section) -> Option<Memory> {
    let windows = a.take::<Lengths>("windows").map(|w| w.0);
    let many = windows.as_ref().map_or(0, Vec::len);
    let [reads, writes] = ["read_dispersion", "write_dispersion"].map(|key| {
        if windows.is_none() && a.has(key) {
            a.missing("windows", "\"10ms/1s/100s\"");
        }
        let found = curve(a, key, "windows", many).unwrap_or_else(|| vec![1.0; many]);
        if found.iter().any(|d| *d < 0.0) {
            a.refuse(key, "a variance over a mean is 0 or more, and 1 by chance");
        }
        found
    });
    let together = curve(a, "together", "windows", many).unwrap_or_else(|| vec![0.0; many]);
    if together.iter().any(|c| c.abs() > 1.0) {
        a.refuse("together", "a correlation lies between -1 and 1");
    }
    Some(Memory { windows: windows?, reads, writes, together })
}

fn envelope(a: &mut Section) -> Option<Envelope> {
    let both = a.take::<Slashed<f64>>("envelope").map(|w| w.0);
    let own = ["read_envelope", "write_envelope"].map(|key| a.take::<Slashed<f64>>(key).map(|w| w.0));
    let period = a.take::<SimDuration>("envelope_period");
    let weights = match (both, own) {
        (Some(both), [None, None]) => Some((both.clone(), both)),
        (None, [Some(reads), Some(writes)]) if reads.len() == writes.len() => Some((reads, writes)),
        (None, [Some(_), Some(_)]) => {
            a.refuse("write_envelope", "it has another number of parts than read_envelope");
            None
        }
        (None, [None, None]) => None,
        (Some(_), _) => {
            a.refuse(
                "envelope",
                "it is for reads and writes; leave it out, or read_envelope and write_envelope",
            );
            None
        }
        (None, [reads, _]) => {
            a.missing(if reads.is_some() { "write_envelope" } else { "read_envelope" }, "\"6/1/1/1/1/1\"");
            None
        }
    };
    match (weights, period) {
        (Some((reads, writes)), Some(period)) if period.0 / reads.len() as u64 > 0 => {
            Some(Envelope { period, reads, writes })
        }
        (Some(_), Some(period)) => {
            a.refuse("envelope_period", format!("{period} has no room for the parts of the envelope"));
            None
        }
        (Some(_), None) => {
            a.missing("envelope_period", "\"1h\"");
            None
        }
        (None, Some(_)) => {
            a.missing("envelope", "\"6/1/1/1/1/1\"");
            None
        }
        (None, None) => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
}

fn side(mut s: Section, kind: Kind) -> Option<Side> {
    const NAMES: [(&str, Straddle); 2] = [("free", Straddle::Free), ("never", Straddle::Never)];
    let sizes = s.require::<Slashed<(u32, f64)>>("sizes", "\"4KiB@66/8KiB@14\"");
    let mean = s.take::<Average>("mean").map(|a| a.0);
    let align = s.take::<Blocks>("align").map_or(8, |b| b.0);
    let page = s.take::<Blocks>("page").map_or(align, |b| b.0);
    if !page.is_multiple_of(align) {
        s.refuse("page", "it is not a multiple of align");
    }
    let rest = rest(&mut s, page);
    let every = s.take::<Count>("modulated_every").map(|c| c.0);
    let factors = s.take::<Slashed<f64>>("modulated_by").map(|f| f.0);
    let modulation = match (factors, every) {
        (_, Some(0)) => {
            s.refuse("modulated_every", "0 is no number of requests");
            None
        }
        (Some(factors), Some(every)) => Some(Modulation { factors, every }),
        (None, None) => None,
        (Some(_), None) => {
            s.missing("modulated_every", "65536");
            None
        }
        (None, Some(_)) => {
            s.missing("modulated_by", "\"0.25/1/2.5\"");
            None
        }
    };
    if modulation.is_some() && !matches!(rest, Rest::Size(_)) {
        s.refuse("modulated_by", "it changes the weight of the size in \"rest\", which is not given");
    }
    let begin = s.take::<Address>("begin").map_or(0, |b| b.0 * LBA_BYTES);
    if !(begin / LBA_BYTES).is_multiple_of(page) {
        s.refuse("begin", "it is not a multiple of page");
    }
    let footprint = s.require::<Average>("footprint", "\"1.6GiB\"").map(|a| a.0 as u64);
    let sequential = share(&mut s, "sequential", Fraction::ZERO);
    let hot = share(&mut s, "hot", Fraction::ZERO);
    let uniform = share(&mut s, "uniform", Fraction::ZERO);
    let sum = Fraction(sequential.0 + hot.0 + uniform.0);
    if sum != Fraction::ONE {
        let key = ["uniform", "hot", "sequential"].into_iter().find(|k| s.has(k)).unwrap_or("uniform");
        s.refuse(
            key,
            format!("sequential {sequential}, hot {hot} and uniform {uniform} add up to {sum}; they must come to 100%"),
        );
    }
    let streams = s.whole("streams", 1..=65_536).unwrap_or(4);
    let stretch = s.take::<Average>("stretch").map(|a| a.0 as u64);
    let rewrite = share(&mut s, "rewrite", Fraction::ZERO);
    let hot_space = share(&mut s, "hot_space", Fraction::ONE);
    if hot_space == Fraction::ZERO {
        s.refuse("hot_space", "the hot part is empty; it must be above 0%");
    }
    const PLACES: [(&str, HotLies); 2] = [("scattered", HotLies::Scattered), ("apart", HotLies::Apart)];
    let hot_lies = s.choice("hot_lies", &PLACES, HotLies::Scattered);
    let theta = s.take_within("theta", THETA).unwrap_or(1.0);
    let extent = s.take::<Blocks>("extent").map_or(EXTENT, |b| b.0 * LBA_BYTES);
    if !(extent / LBA_BYTES).is_multiple_of(align) {
        s.refuse("extent", "it is not a multiple of align");
    }
    let item = s.take::<Blocks>("item").map_or(item_in(extent, align), |b| b.0);
    if !item.is_multiple_of(align) {
        s.refuse("item", "it is not a multiple of align");
    }
    if item > extent / LBA_BYTES {
        s.refuse("item", "it is longer than extent");
    }
    let stable = share(&mut s, "stable", Fraction::ZERO);
    let drift = s.take_within("drift", DRIFT).unwrap_or(0.0);
    let page_aligned = share(&mut s, "page_aligned", Fraction::ZERO);
    let straddle = s.choice("straddle", &NAMES, Straddle::Free);
    let overlap = if kind == Kind::Read { share(&mut s, "overlap", Fraction::ZERO) } else { Fraction::ZERO };
    let side = sizes.zip(footprint).map(|(sizes, footprint)| Side {
        sizes: sizes.0,
        mean,
        rest,
        modulation,
        align,
        page,
        page_aligned,
        straddle,
        begin,
        footprint,
        sequential,
        hot,
        uniform,
        streams,
        stretch,
        rewrite,
        hot_space,
        hot_lies,
        theta,
        extent,
        item,
        stable,
        drift,
        overlap,
    });
    if let Some(side) = &side
        && let Err(what) = super::sizes::SizeLaw::new(side)
    {
        s.refuse(if s.has("mean") { "mean" } else { "sizes" }, what);
    }
    if let Some(side) = &side
        && let Err(what) = side.room(1)
    {
        s.refuse("footprint", what);
    }
    s.finish();
    side
}

/// Blocks of an item where nothing else is said: what is usual, or as much of an extent as can be.
pub(super) fn item_in(extent: u64, align: u64) -> u64 {
    (ITEM.min(extent) / LBA_BYTES / align * align).max(align)
}

fn rest(s: &mut Section, page: u64) -> Rest {
    let size = s.take::<Blocks>("rest").map(|b| b.0 as u32);
    let large = s.has("large").then(|| share(s, "large", Fraction::ZERO));
    let most = s.take::<Blocks>("large_most").map_or(128 * page, |b| b.0);
    match (size, large) {
        (Some(_), Some(_)) => {
            s.refuse("rest", "both rest and large would make up the mean; give one of them");
            Rest::None
        }
        (Some(size), None) => Rest::Size(size),
        (None, Some(share)) => {
            if most < 2 * page || !most.is_multiple_of(page) {
                s.refuse("large_most", "it is not a multiple of page, of two pages or more");
            }
            Rest::Large { share, most }
        }
        (None, None) => {
            if s.has("mean") {
                s.refuse("mean", "nothing is left to solve for it: give rest = SIZE, or large = SHARE");
            }
            Rest::None
        }
    }
}

impl Arrivals {
    /// No times: all at one instant, or in a closed loop.
    pub fn at_once(closed: Option<Depth>) -> Arrivals {
        Arrivals { closed, span: SimDuration::ZERO, group: Fraction::ZERO, memory: None, envelope: None }
    }
}

impl Side {
    /// The longest request, in blocks.
    fn longest(&self) -> u64 {
        let listed = self.sizes.iter().map(|s| s.0 as u64).max().unwrap_or(0);
        match self.rest {
            Rest::None => listed,
            Rest::Size(size) => listed.max(size as u64),
            Rest::Large { most, .. } => listed.max(most),
        }
    }

    /// Parts of the footprint, one a stream, and the blocks that each must have.
    pub(super) fn parts(&self) -> (u64, u64) {
        let parts = if self.sequential > Fraction::ZERO { self.streams as u64 } else { 1 };
        (parts, (self.longest() + self.page).max(self.extent / LBA_BYTES))
    }

    /// Whether the longest request has room in every part of a footprint divided by `scale`.
    pub(crate) fn room(&self, scale: u64) -> Result<(), String> {
        let hot = if self.hot_lies == HotLies::Apart { extents(self, scale).1 * self.extent } else { 0 };
        let footprint = (self.footprint / scale).saturating_sub(hot) / LBA_BYTES;
        let ((parts, need), longest) = (self.parts(), self.longest());
        if footprint / parts < need {
            return Err(format!(
                "{} in {parts} parts, one a stream, have no room for a request of {}",
                Bytes(footprint * LBA_BYTES),
                Bytes(longest * LBA_BYTES)
            ));
        }
        Ok(())
    }
}

/// Writes a key and its value, each with the same remark.
struct Lines<'a> {
    out: String,
    remark: &'a str,
}

impl Lines<'_> {
    fn table(&mut self, name: &str) {
        let _ = write!(self.out, "\n[{name}]\n");
    }

    fn number(&mut self, key: &str, value: impl std::fmt::Display) {
        self.line(&format!("{key} = {value}"));
    }

    fn text(&mut self, key: &str, value: impl std::fmt::Display) {
        self.line(&format!("{key} = \"{value}\""));
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.out, "{line:<40}# {}", self.remark);
    }
}

fn decimal(x: f64) -> String {
    format!("{x:.DECIMALS$}")
}

fn kib(bytes: f64) -> String {
    decimal(bytes / 1024.0) + "KiB"
}

fn joined<T>(values: &[T], one: impl Fn(&T) -> String) -> String {
    values.iter().map(one).collect::<Vec<_>>().join("/")
}

impl Description {
    /// The file from which the same requests come; names of originals and targets are not in it. `head` are the lines of comment at its top, without
    /// their signs; each value gets `remark` as its source.
    pub fn to_toml(&self, head: &[String], remark: &str) -> String {
        let mut l = Lines { out: String::new(), remark };
        for line in head {
            let _ = writeln!(l.out, "# {}", comment(line));
        }
        let _ = write!(l.out, "\n[twin]\ntitle = {}\n", quoted(&self.title));
        l.number("requests", self.requests);
        l.text("write", self.write);
        l.number("run", decimal(self.run));
        l.table("arrivals");
        let a = &self.arrivals;
        if let Some(closed) = a.closed {
            l.text("closed", closed);
        } else {
            l.text("span", a.span);
            l.text("group", a.group);
        }
        if let Some(m) = &a.memory {
            l.text("windows", joined(&m.windows, SimDuration::to_string));
            l.text("read_dispersion", joined(&m.reads, |d| decimal(*d)));
            l.text("write_dispersion", joined(&m.writes, |d| decimal(*d)));
            l.text("together", joined(&m.together, |c| decimal(*c)));
        }
        if let Some(e) = &a.envelope {
            l.text("envelope_period", e.period);
            l.text("read_envelope", joined(&e.reads, |w| decimal(*w)));
            l.text("write_envelope", joined(&e.writes, |w| decimal(*w)));
        }
        for (name, side) in [("write", &self.writes), ("read", &self.reads)] {
            l.table(name);
            side.write(&mut l);
        }
        l.out
    }
}

impl Side {
    fn write(&self, l: &mut Lines) {
        let bytes = |blocks: u64| Bytes(blocks * LBA_BYTES);
        l.text("sizes", joined(&self.sizes, |(size, weight)| format!("{}@{weight}", bytes(*size as u64))));
        if let Some(mean) = self.mean {
            l.text("mean", kib(mean));
        }
        match self.rest {
            Rest::None => {}
            Rest::Size(size) => l.text("rest", bytes(size as u64)),
            Rest::Large { share, most } => {
                l.text("large", share);
                l.text("large_most", bytes(most));
            }
        }
        if let Some(m) = &self.modulation {
            l.text("modulated_by", joined(&m.factors, f64::to_string));
            l.number("modulated_every", m.every);
        }
        l.text("align", bytes(self.align));
        l.text("page", bytes(self.page));
        l.text("page_aligned", self.page_aligned);
        l.text("straddle", if self.straddle == Straddle::Free { "free" } else { "never" });
        if self.begin > 0 {
            l.text("begin", Bytes(self.begin));
        }
        l.text("footprint", Bytes(self.footprint));
        l.text("sequential", self.sequential);
        l.text("hot", self.hot);
        l.text("uniform", self.uniform);
        l.number("streams", self.streams);
        if let Some(stretch) = self.stretch {
            l.text("stretch", Bytes(stretch));
        }
        l.text("rewrite", self.rewrite);
        l.text("hot_space", self.hot_space);
        l.text("hot_lies", if self.hot_lies == HotLies::Apart { "apart" } else { "scattered" });
        l.number("theta", decimal(self.theta));
        l.text("extent", Bytes(self.extent));
        l.text("item", bytes(self.item));
        l.text("stable", self.stable);
        if self.drift > 0.0 {
            l.number("drift", decimal(self.drift));
        }
        if self.overlap > Fraction::ZERO {
            l.text("overlap", self.overlap);
        }
    }
}
