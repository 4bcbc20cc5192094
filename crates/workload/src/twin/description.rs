//! What a twin's file says, as types. Reading finds every problem of a file at once, with its line;
//! writing gives a file from which the same requests come.

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

/// A renewal process with gaps of a two-phase hyper-exponential distribution, in groups, under an
/// envelope; or no times at all, in a closed loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrivals {
    /// The closed loop in which requests are asked, where they have no times.
    pub closed: Option<Depth>,
    /// Expected time of all requests; 0 where they come all at one instant.
    pub span: SimDuration,
    /// Share of gaps from the fast phase.
    pub burst_share: Fraction,
    /// Mean gap of the fast phase.
    pub burst_gap: SimDuration,
    /// Share of requests that come at the time of the one before.
    pub group: Fraction,
    /// A rate that changes with time.
    pub envelope: Option<Envelope>,
}

/// Relative rates of the equal parts of a period, which repeats.
#[derive(Clone, PartialEq, Debug)]
pub struct Envelope {
    /// The period.
    pub period: SimDuration,
    /// A relative rate for each part; some is above 0.
    pub weights: Vec<f64>,
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
    /// Skew among the hot extents.
    pub theta: f64,
    /// Bytes that share one popularity.
    pub extent: u64,
    /// Of reads: the share that goes where the hot writes go, before all others.
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
        && let Some(timed) =
            ["span", "burst_share", "burst_gap", "group", "envelope"].into_iter().find(|k| a.has(k))
    {
        a.refuse(timed, "a closed loop has no times; leave it out, or closed");
    }
    let span = match closed {
        Some(_) => a.take_or("span", SimDuration::ZERO),
        None => a.require::<SimDuration>("span", "\"7d\"").unwrap_or(SimDuration(1)),
    };
    let burst_share = share(&mut a, "burst_share", Fraction::ZERO);
    let burst_gap = a.take_or("burst_gap", SimDuration::ZERO);
    let group = share(&mut a, "group", Fraction::ZERO);
    if group == Fraction::ONE {
        a.refuse("group", "100% would put all requests at one instant; it must be less");
    }
    if burst_share == Fraction::ONE {
        a.refuse("burst_share", "100% leaves no slow phase; it must be less");
    }
    let envelope = envelope(&mut a);
    let arrivals = Arrivals { closed, span, burst_share, burst_gap, group, envelope };
    if span.0 == 0 {
        if arrivals != Arrivals::at_once(closed) {
            a.refuse(
                "span",
                "all requests at one instant have no gaps, groups or envelope; it must be above 0",
            );
        }
    } else if arrivals.slow_gap_ns(requests) <= 0.0 && problems.is_empty() {
        let mean = arrivals.gap_ns(requests);
        a.refuse(
            "burst_gap",
            format!(
                "gaps of {burst_gap} in {burst_share} of all leave no time for the others, since the mean gap is {:.0}ns; \
                 lower burst_share or burst_gap",
                mean
            ),
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

fn envelope(a: &mut Section) -> Option<Envelope> {
    let weights = a.take::<Slashed<f64>>("envelope").map(|w| w.0);
    let period = a.take::<SimDuration>("envelope_period");
    match (weights, period) {
        (Some(weights), Some(period)) if period.0 / weights.len() as u64 > 0 => {
            Some(Envelope { period, weights })
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
    let theta = s.take_within("theta", THETA).unwrap_or(1.0);
    let extent = s.take::<Blocks>("extent").map_or(EXTENT, |b| b.0 * LBA_BYTES);
    if !(extent / LBA_BYTES).is_multiple_of(align) {
        s.refuse("extent", "it is not a multiple of align");
    }
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
        theta,
        extent,
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
        Arrivals {
            closed,
            span: SimDuration::ZERO,
            burst_share: Fraction::ZERO,
            burst_gap: SimDuration::ZERO,
            group: Fraction::ZERO,
            envelope: None,
        }
    }

    /// Mean gap of the requests that do not share a time with the one before, in nanoseconds.
    pub fn gap_ns(&self, requests: u64) -> f64 {
        self.span.0 as f64 / requests as f64 / (1.0 - self.group.as_f64())
    }

    /// Mean gap of the slow phase, in nanoseconds; 0 or less where the fast one takes all the time.
    pub fn slow_gap_ns(&self, requests: u64) -> f64 {
        let p = self.burst_share.as_f64();
        (self.gap_ns(requests) - p * self.burst_gap.0 as f64) / (1.0 - p)
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
        let footprint = self.footprint / scale / LBA_BYTES;
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
            l.text("burst_share", a.burst_share);
            l.text("burst_gap", a.burst_gap);
            l.text("group", a.group);
        }
        if let Some(e) = &a.envelope {
            l.text("envelope_period", e.period);
            l.text("envelope", joined(&e.weights, |w| decimal(*w)));
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
        l.number("theta", decimal(self.theta));
        l.text("extent", Bytes(self.extent));
        if self.overlap > Fraction::ZERO {
            l.text("overlap", self.overlap);
        }
    }
}
