//! Common parts of all patterns: mix, sizes, times, span and limits. Kind, size, address and arrival use four
//! separate random streams, so that changing one parameter does not affect the draws of the others.

use crate::generators::synthetic::patterns::{Extent, Pattern, PatternSpec, Space, Wanted};
use crate::generators::synthetic::sizes::Sizes;
use crate::random::draws::Draws;
use crate::updates::{Classes, UpdateLaw};
use serde_json::{Value, json};
use wordline_trace::options::{Options, share, value};
use wordline_trace::{
    ByteBound, DriveShape, ErrorKind, Limit, Overrides, Pacing, Parameter, Pauses, Pausing, Problem,
    RandomStream, WorkloadError, readable_bytes,
};
use wordline_units::{Bytes, Fraction, HostOp, HostRequest, LBA_BYTES, Lba, SimDuration, SimTime};

/// Default number of requests of a workload without limits.
const DEFAULT_REQUESTS: u64 = 1_000_000;
/// The numbers from which the order of places is drawn, then the places of requests.
const ADDRESS: &str = "workload/address";

/// Where on the drive: two parameters of every synthetic workload.
pub(crate) const PLACE: [Parameter; 2] = [
    value("offset", "size", "0", "bytes, or a share such as 10%", "start of the span"),
    value("span", "size", "the rest", "bytes, or a share such as 10%", "size of the span"),
];

/// When to stop: parameters of every synthetic workload.
pub(crate) const BOUNDS: [Parameter; 3] = [
    value("requests", "count", "1M if no limit is set", "1 or more", "maximum number of requests"),
    value("duration", "time", "none", "such as 10s", "stops at this simulated time"),
    value(
        "bytes",
        "size",
        "none",
        "such as 10GiB, or 3x the drive",
        "maximum number of bytes written (read, if nothing is written)",
    ),
];

/// Parameters of every pattern.
pub(crate) const COMMON: [Parameter; 12] = [
    value("read", "fraction", "0%", "0% to 100%", "share of reads"),
    value("trim", "fraction", "0%", "0% to 100% with reads", "share of trims; the rest are writes"),
    value("bs", "size", "4KiB", "512B to 1GiB, or 4KiB@60/16KiB@40", "request size, or sizes with weights"),
    value("read_bs", "size", "bs", "as bs", "request size of reads"),
    value("write_bs", "size", "bs", "as bs", "request size of writes and trims"),
    value(
        "align",
        "size",
        "a common divisor of all sizes",
        "a multiple of 512 B",
        "addresses are multiples of it",
    ),
    value("qd", "count", "32", "1 to 65536", "closed loop: queue depth per thread"),
    value("threads", "count", "1", "1 to 65536", "closed loop: threads"),
    Pausing::THINK,
    Pausing::BURST,
    Pausing::REST,
    value("rate", "requests/s", "closed loop", "1 to 1G", "open loop instead: Poisson arrivals"),
];

/// The part of the drive that is used, as described by parameters.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    offset: Extent,
    span: Option<Extent>,
}

impl Place {
    pub fn of(o: &mut Options) -> Place {
        let offset = o.get::<Extent>("offset", "bytes, or a share such as 10%").unwrap_or(Extent::Bytes(0));
        Place { offset, span: o.get::<Extent>("span", "bytes, or a share such as 10%") }
    }

    /// First block and number of blocks on a drive. Shares are rounded down to the alignment.
    pub fn on(&self, drive: DriveShape, align: u64, largest: u64) -> Result<(u64, u64), Problem> {
        let whole = drive.blocks();
        let aligned = |e: Extent| match e {
            Extent::Bytes(n) => n / LBA_BYTES,
            share => share.blocks_of(whole) / align * align,
        };
        let fail = |what: String| Problem::new(ErrorKind::Fit, "span", what);
        let size = |blocks: u64| readable_bytes(blocks.saturating_mul(LBA_BYTES));
        let offset = aligned(self.offset);
        let blocks = self.span.map_or(whole.saturating_sub(offset) / align * align, aligned);
        if offset.checked_add(blocks).is_none_or(|end| end > whole) {
            return Err(fail(format!(
                "{} from offset {} exceed the drive size, {}",
                size(blocks),
                size(offset),
                size(whole)
            ))
            .allowed("offset and span within the drive")
            .hint("shares such as span=50% follow the drive"));
        }
        if blocks < largest {
            return Err(fail(format!(
                "a span of {} has no space for a request of {}",
                size(blocks),
                size(largest)
            ))
            .allowed("a span of at least one request"));
        }
        Ok((offset, blocks))
    }

    pub fn resolved(&self) -> Value {
        json!({ "offset": self.offset.to_string(), "span": self.span.map(|s| s.to_string()) })
    }
}

/// When to stop, as described by parameters.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub requests: Option<u64>,
    pub duration: Option<SimDuration>,
    pub bytes: Option<ByteBound>,
}

impl Bounds {
    pub fn of(o: &mut Options, over: Overrides) -> Bounds {
        let requests = wordline_trace::options::requests(o, over.requests);
        let duration = wordline_trace::options::duration(o, "a time such as 10s");
        let bytes = o.get::<ByteBound>("bytes", "a size such as 10GiB, or 3x the drive");
        Bounds { requests, duration, bytes }
    }

    pub fn limit(&self, drive: DriveShape) -> Limit {
        let bytes = self.bytes.map(|b| b.of(drive.logical_bytes));
        Limit { requests: self.requests, duration: self.duration, bytes }
    }

    pub fn resolved(&self) -> Value {
        let bytes = self.bytes.map(|b| b.to_string());
        json!({ "requests": self.requests, "duration": self.duration, "bytes": bytes })
    }
}

/// A pattern with the common parameters.
pub(crate) struct Generator {
    read: Fraction,
    trim: Fraction,
    read_sizes: Sizes,
    write_sizes: Sizes,
    align: u64,
    place: Place,
    pacing: Pacing,
    pausing: Pausing,
    rate: u64,
    bounds: Bounds,
    pattern: Box<dyn PatternSpec>,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Generator {
    pub fn of(o: &mut Options, over: Overrides, pattern: Box<dyn PatternSpec>) -> Generator {
        let read = share(o, "read", Fraction::ZERO);
        let trim = share(o, "trim", Fraction::ZERO);
        // A value that is not a valid share by itself has already been rejected.
        let are_shares = read <= Fraction::ONE && trim <= Fraction::ONE;
        if are_shares && read.0 + trim.0 > Fraction::ONE.0 {
            o.reject(
                "trim",
                format!("reads and trims together are {}", Fraction(read.0 + trim.0)),
                "at most 100%",
                "",
            );
        }
        const SIZES: &str = "512B to 1GiB, or weights: 4KiB@60/16KiB@40";
        let both = o.get::<Sizes>("bs", SIZES).unwrap_or_else(|| Sizes::one(4096));
        let read_sizes = o.get::<Sizes>("read_bs", SIZES).unwrap_or_else(|| both.clone());
        let write_sizes = o.get::<Sizes>("write_bs", SIZES).unwrap_or(both);
        let divisor = read_sizes.blocks().chain(write_sizes.blocks()).fold(0, gcd).max(1);
        let align = o.get::<Bytes>("align", "a multiple of 512 B").map(|b| b.0);
        if align.is_some_and(|a| a == 0 || !a.is_multiple_of(LBA_BYTES)) {
            o.reject("align", "it is not a multiple of 512 B".into(), "512 B or more", "");
        }
        let rate = wordline_trace::options::number(o, "rate", 0, 0..=1_000_000_000);
        if rate == 0 && o.text("rate").is_some() {
            o.reject("rate", "a rate of 0 never issues a request".into(), "1 to 1G", "");
        }
        let queue_depth = wordline_trace::options::number(o, "qd", 32, 1..=65_536) as u32;
        let threads = wordline_trace::options::number(o, "threads", 1, 1..=65_536) as u32;
        if rate > 0 && (o.text("qd").is_some() || o.text("threads").is_some()) {
            let what = "rate sets an open loop, but qd and threads set a closed loop".to_string();
            o.reject("rate", what, "one of the two", "omit rate for a closed loop");
        }
        let pacing = if rate > 0 { Pacing::Open } else { Pacing::Closed { queue_depth, threads } };
        let pausing = Pausing::of(o, rate == 0);
        let mut bounds = Bounds::of(o, over);
        if bounds.requests.is_none() && bounds.duration.is_none() && bounds.bytes.is_none() {
            bounds.requests = Some(DEFAULT_REQUESTS);
        }
        Generator {
            read,
            trim,
            read_sizes,
            write_sizes,
            align: align.map_or(divisor, |a| (a / LBA_BYTES).max(1)),
            place: Place::of(o),
            pacing,
            pausing,
            rate,
            bounds,
            pattern,
        }
    }

    pub fn pacing(&self) -> Pacing {
        self.pacing
    }

    pub fn pauses(&self, drive: DriveShape) -> Option<Pauses> {
        self.pausing.on(drive)
    }

    pub fn limit(&self, drive: DriveShape) -> Limit {
        self.bounds.limit(drive)
    }

    /// The span in blocks, as first and count.
    pub fn span(&self, drive: DriveShape) -> Result<(u64, u64), WorkloadError> {
        Ok(self.place.on(drive, self.align, self.largest())?)
    }

    fn largest(&self) -> u64 {
        self.read_sizes.largest().max(self.write_sizes.largest()) as u64
    }

    pub fn open(&self, drive: DriveShape, draws: Draws) -> Result<GeneratorStream, WorkloadError> {
        self.bounded_by(self.limit(drive), drive, draws)
    }

    /// The requests up to another limit.
    pub fn bounded_by(
        &self,
        limit: Limit,
        drive: DriveShape,
        draws: Draws,
    ) -> Result<GeneratorStream, WorkloadError> {
        let (offset, blocks) = self.span(drive)?;
        let space = Space { blocks, align: self.align, largest: self.largest() };
        let stream = |part: &str| draws.drawn(&format!("workload/{part}"));
        let mut address = draws.fixed(ADDRESS);
        let pattern = self.pattern.begin(space, &mut address)?;
        let writes = self.read.0 + self.trim.0 < Fraction::ONE.0;
        Ok(GeneratorStream {
            read_below: self.read.0,
            trim_below: self.read.0 + self.trim.0,
            read_sizes: self.read_sizes.clone(),
            write_sizes: self.write_sizes.clone(),
            offset,
            pattern,
            arrivals: (self.rate > 0).then(|| Poisson::new(self.rate, stream("arrival"))),
            until: limit.duration.filter(|_| self.rate > 0).map_or(u64::MAX, |d| d.0),
            left: limit.requests.unwrap_or(u64::MAX),
            bytes_left: limit.bytes.unwrap_or(u64::MAX),
            bounding: if writes { HostOp::Write } else { HostOp::Read },
            kind: stream("kind"),
            size: stream("size"),
            address: draws.after(ADDRESS, address),
        })
    }

    /// The distribution of the writes, if each page of the drive has a fixed rate.
    pub fn update_law(&self, drive: DriveShape, seed: u64) -> Result<Option<UpdateLaw>, WorkloadError> {
        if self.trim > Fraction::ZERO || self.read == Fraction::ONE {
            return Ok(None);
        }
        let (first, blocks) = self.span(drive)?;
        let unit = drive.unit_blocks();
        let sizes = || self.write_sizes.weights();
        let within = |blocks: u64| blocks <= self.align && unit.is_multiple_of(self.align);
        let whole = |blocks: u64| blocks.is_multiple_of(unit) && self.align.is_multiple_of(unit);
        let fits = first.is_multiple_of(unit) && sizes().all(|(n, _)| within(n as u64) || whole(n as u64));
        let space = Space { blocks, align: self.align, largest: self.largest() };
        let mut classes = Classes::new(drive, first);
        let mut address = RandomStream::new(seed, ADDRESS);
        let shares = if fits { self.pattern.classes(space, &mut address, &mut classes) } else { None };
        let (Some(shares), Some(class_of)) = (shares, classes.of_pages()) else { return Ok(None) };
        Ok(Some(UpdateLaw {
            class_of,
            shares,
            lengths: sizes().map(|(n, weight)| ((n as u64).div_ceil(unit) as u32, weight as f64)).collect(),
            aligned: sizes().all(|(n, _)| n as u64 <= unit || self.align.is_multiple_of(n as u64)),
        }))
    }

    pub fn resolved(&self) -> Value {
        let mut resolved = json!({
            "read": self.read,
            "trim": self.trim,
            "read_bs": self.read_sizes.to_string(),
            "write_bs": self.write_sizes.to_string(),
            "align": Bytes(self.align * LBA_BYTES),
            "place": self.place.resolved(),
            "pacing": self.pacing,
            "rate_per_s": self.rate,
            "bounds": self.bounds.resolved(),
            "pattern": self.pattern.resolved(),
        });
        self.pausing.resolve(&mut resolved);
        resolved
    }
}

/// Requests of a pattern.
pub(crate) struct GeneratorStream {
    read_below: u64,
    trim_below: u64,
    read_sizes: Sizes,
    write_sizes: Sizes,
    offset: u64,
    pattern: Box<dyn Pattern>,
    arrivals: Option<Poisson>,
    until: u64,
    left: u64,
    bytes_left: u64,
    bounding: HostOp,
    kind: RandomStream,
    size: RandomStream,
    address: RandomStream,
}

impl Iterator for GeneratorStream {
    type Item = Result<HostRequest, WorkloadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 || self.bytes_left == 0 {
            return None;
        }
        let arrival = self.arrivals.as_mut().map_or(0, Poisson::next);
        if arrival >= self.until {
            self.left = 0;
            return None;
        }
        let draw = self.kind.below(Fraction::ONE.0);
        let op = match draw {
            d if d < self.read_below => HostOp::Read,
            d if d < self.trim_below => HostOp::Trim,
            _ => HostOp::Write,
        };
        let sizes = if op == HostOp::Read { &self.read_sizes } else { &self.write_sizes };
        let blocks = sizes.draw(&mut self.size);
        let at = self.offset + self.pattern.next(Wanted { op, blocks }, &mut self.address);
        self.left -= 1;
        if op == self.bounding {
            self.bytes_left = self.bytes_left.saturating_sub(blocks as u64 * LBA_BYTES);
        }
        let mut request = HostRequest::new(op, 0, blocks).at(SimTime(arrival));
        request.lba = Lba(at);
        Some(Ok(request))
    }
}

/// Poisson arrivals: exponential gaps by the inverse of their distribution function. Fractions of a
/// nanosecond are carried over, so that the mean rate is exact.
struct Poisson {
    mean_ns: f64,
    now: u64,
    carry: f64,
    random: RandomStream,
}

impl Poisson {
    fn new(rate: u64, random: RandomStream) -> Poisson {
        Poisson { mean_ns: 1e9 / rate as f64, now: 0, carry: 0.0, random }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        let gap = -libm::log(self.random.unit()) * self.mean_ns + self.carry;
        let whole = libm::floor(gap);
        self.carry = gap - whole;
        self.now = self.now.saturating_add(whole as u64);
        self.now
    }
}
