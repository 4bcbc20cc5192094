//! The script of `bursty`: its bursts, and the stream of their requests.

use crate::generators::synthetic::generator::{Bounds, Place};
use crate::generators::synthetic::patterns::{Extent, Space};
use crate::generators::synthetic::sizes::Sizes;
use crate::random::draws::Draws;
use crate::random::permutation::Permutation;
use crate::random::zipf_law::ZipfLaw;
use serde_json::{Value, json};
use wordline_trace::options::{Options, exponent, number, share};
use wordline_trace::{DriveShape, ErrorKind, Limit, Overrides, Problem, RandomStream, WorkloadError};
use wordline_units::{Bytes, Fraction, HostOp, HostRequest, LBA_BYTES, Rate, SimDuration, SimTime};

/// The script, as described by its parameters.
pub(crate) struct Bursts {
    bursts: u64,
    burst: Extent,
    long: Extent,
    quiet: SimDuration,
    write_rate: Rate,
    sequential: Fraction,
    stream_sizes: Sizes,
    sizes: Sizes,
    read: Fraction,
    read_sizes: Sizes,
    read_rate: u64,
    hot: Fraction,
    theta: Fraction,
    place: Place,
    bounds: Bounds,
}

/// The numbers from which the order of hot places is drawn, then the places of requests.
const ADDRESS: &str = "workload/bursty/address";
/// Addresses are multiples of 4 KiB, or of the smallest size if that is smaller.
const ALIGN: u64 = 4096 / LBA_BYTES;

impl Bursts {
    pub fn of(o: &mut Options) -> Bursts {
        const SIZES: &str = "512B to 1GiB, or weights: 4KiB@60/16KiB@40";
        const EXTENT: &str = "bytes, or a share such as 1%";
        let sizes =
            |o: &mut Options, key: &str, default: Sizes| o.get::<Sizes>(key, SIZES).unwrap_or(default);
        let both = "4KiB@50/16KiB@50".parse().unwrap_or_else(|_| Sizes::one(4096));
        let hot = share(o, "hot", Fraction::percent(5));
        if hot == Fraction::ZERO {
            o.reject("hot", "the hot part is empty".into(), "above 0% to 100%", "");
        }
        let read = share(o, "read", Fraction::percent(20));
        if read > Fraction::percent(99) {
            o.reject("read", format!("{read} leaves no writes"), "0% to 99%", "");
        }
        let write_rate = o.get::<Rate>("write_rate", "such as 400MB/s");
        if write_rate.is_some_and(Rate::is_off) {
            o.reject("write_rate", "a burst needs a write rate".into(), "such as 400MB/s", "");
        }
        Bursts {
            bursts: number(o, "bursts", 6, 1..=1_000_000),
            burst: o.get("burst", EXTENT).unwrap_or(Extent::Share(Fraction::percent(1))),
            long: o.get("long", EXTENT).unwrap_or(Extent::Share(Fraction::percent(15))),
            quiet: o.get("quiet", "a time such as 2s").unwrap_or(SimDuration(2_000_000_000)),
            write_rate: write_rate.unwrap_or(Rate { bytes: 400_000_000, nanoseconds: 1_000_000_000 }),
            sequential: share(o, "sequential", Fraction::percent(50)),
            stream_sizes: sizes(o, "stream_bs", Sizes::one(128 << 10)),
            sizes: sizes(o, "bs", both),
            read,
            read_sizes: sizes(o, "read_bs", Sizes::one(4096)),
            read_rate: number(o, "read_rate", 500, 0..=1_000_000),
            hot,
            theta: exponent(o, Fraction(900_000_000)),
            place: Place::of(o),
            bounds: Bounds::of(o, Overrides::default()),
        }
    }

    pub fn set(&mut self, over: Overrides) {
        self.bounds.requests = over.requests.or(self.bounds.requests);
    }

    pub fn limit(&self, drive: DriveShape) -> Limit {
        self.bounds.limit(drive)
    }

    pub fn open(&self, drive: DriveShape, draws: Draws) -> Result<BurstStream, WorkloadError> {
        let all = [&self.stream_sizes, &self.sizes, &self.read_sizes];
        let largest = all.iter().map(|s| s.largest()).max().unwrap_or(0) as u64;
        let smallest = all.iter().flat_map(|s| s.blocks()).min().unwrap_or(1);
        let align = ALIGN.min(smallest.max(1));
        let (offset, blocks) = self.place.on(drive, align, largest)?;
        let space = Space { blocks, align, largest };
        let hot = Space { blocks: self.hot.of(blocks) / align * align, ..space };
        let scattered = self.sizes.largest().max(self.read_sizes.largest()) as u64;
        if hot.blocks < scattered {
            return Err(Problem::new(
                ErrorKind::Fit,
                "hot",
                format!("hot={} of the span has no space for a request", self.hot),
            )
            .allowed("a larger share, or a larger span")
            .into());
        }
        let bytes_of = |e: Extent| e.blocks_of(drive.blocks()) * LBA_BYTES;
        let stream = |part: &str| draws.drawn(&format!("workload/bursty/{part}"));
        let mut address = draws.fixed(ADDRESS);
        let slots = hot.blocks / align;
        let limit = self.limit(drive);
        let burst_bytes = bytes_of(self.burst);
        if burst_bytes == 0 {
            return Err(Problem::new(ErrorKind::Option, "burst", "a burst writes nothing on this drive")
                .allowed("at least one request")
                .into());
        }
        Ok(BurstStream {
            burst_bytes,
            long_bytes: bytes_of(self.long),
            bursts_left: self.bursts,
            long_done: false,
            quiet: self.quiet.0,
            write_rate: self.write_rate,
            sequential: self.sequential.0,
            read: self.read.0,
            read_gap: 1_000_000_000u64.checked_div(self.read_rate),
            sizes: [self.stream_sizes.clone(), self.sizes.clone(), self.read_sizes.clone()],
            law: ZipfLaw::new(slots, self.theta.as_f64()),
            scatter: Permutation::new(slots, &mut address),
            space,
            hot,
            offset,
            cursor: hot.blocks % blocks,
            now: 0,
            due: 0,
            phase: Phase::Start,
            left: limit.requests.unwrap_or(u64::MAX),
            until: limit.duration.map_or(u64::MAX, |d| d.0),
            bytes_left: limit.bytes.unwrap_or(u64::MAX),
            kind: stream("kind"),
            size: stream("size"),
            address: draws.after(ADDRESS, address),
        })
    }

    pub fn resolved(&self) -> Value {
        json!({
            "bursts": self.bursts,
            "burst": self.burst.to_string(),
            "long": self.long.to_string(),
            "quiet": self.quiet,
            "write_rate": self.write_rate,
            "sequential": self.sequential,
            "stream_bs": self.stream_sizes.to_string(),
            "bs": self.sizes.to_string(),
            "read": self.read,
            "read_bs": self.read_sizes.to_string(),
            "read_rate_per_s": self.read_rate,
            "hot": self.hot,
            "theta": self.theta.as_f64(),
            "align": Bytes(ALIGN * LBA_BYTES),
            "place": self.place.resolved(),
            "bounds": self.bounds.resolved(),
        })
    }
}

#[derive(Clone, Copy)]
enum Phase {
    Start,
    /// Bytes still to be written.
    Burst {
        left: u64,
    },
    /// Idle until this time.
    Quiet {
        until: u64,
    },
    End,
}

/// A running script.
pub(crate) struct BurstStream {
    burst_bytes: u64,
    long_bytes: u64,
    bursts_left: u64,
    long_done: bool,
    quiet: u64,
    write_rate: Rate,
    sequential: u64,
    read: u64,
    read_gap: Option<u64>,
    /// Sizes of sequential writes, scattered writes and reads.
    sizes: [Sizes; 3],
    law: ZipfLaw,
    scatter: Permutation,
    space: Space,
    hot: Space,
    offset: u64,
    cursor: u64,
    now: u64,
    /// When the next write of a burst is due.
    due: u64,
    phase: Phase,
    left: u64,
    until: u64,
    bytes_left: u64,
    kind: RandomStream,
    size: RandomStream,
    address: RandomStream,
}

impl BurstStream {
    fn begin_burst(&mut self) -> Phase {
        self.due = self.now;
        if self.bursts_left > 0 {
            self.bursts_left -= 1;
            Phase::Burst { left: self.burst_bytes }
        } else if !self.long_done && self.long_bytes > 0 {
            self.long_done = true;
            Phase::Burst { left: self.long_bytes }
        } else {
            Phase::End
        }
    }

    fn hot_address(&mut self, blocks: u32) -> u64 {
        let slot = self.scatter.of(self.law.draw(&mut self.address));
        self.hot.fitting(slot * self.space.align, blocks)
    }

    fn read(&mut self) -> HostRequest {
        let blocks = self.sizes[2].draw(&mut self.size);
        let at = self.hot_address(blocks);
        HostRequest::new(HostOp::Read, self.offset + at, blocks)
    }

    fn write(&mut self) -> HostRequest {
        let (at, blocks);
        if self.kind.below(Fraction::ONE.0) < self.sequential {
            blocks = self.sizes[0].draw(&mut self.size);
            if self.cursor + blocks as u64 > self.space.blocks {
                self.cursor = 0;
            }
            at = self.cursor;
            self.cursor += (blocks as u64).next_multiple_of(self.space.align);
        } else {
            blocks = self.sizes[1].draw(&mut self.size);
            at = self.hot_address(blocks);
        }
        HostRequest::new(HostOp::Write, self.offset + at, blocks)
    }

    fn step(&mut self) -> Option<HostRequest> {
        loop {
            match self.phase {
                Phase::Start => self.phase = self.begin_burst(),
                Phase::Burst { left: 0 } => {
                    self.now = self.due;
                    self.phase = Phase::Quiet { until: self.now.saturating_add(self.quiet) };
                }
                Phase::Burst { left } => {
                    self.now = self.due;
                    if self.kind.below(Fraction::ONE.0) < self.read {
                        return Some(self.read());
                    }
                    let request = self.write();
                    self.due = self.due.saturating_add(self.write_rate.time_for(request.bytes()).0);
                    self.phase = Phase::Burst { left: left.saturating_sub(request.bytes()) };
                    return Some(request);
                }
                Phase::Quiet { until } => match self.read_gap {
                    Some(gap) if self.now.saturating_add(gap) < until => {
                        self.now += gap;
                        return Some(self.read());
                    }
                    _ => {
                        self.now = until;
                        self.phase = self.begin_burst();
                    }
                },
                Phase::End => return None,
            }
        }
    }
}

impl Iterator for BurstStream {
    type Item = Result<HostRequest, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 || self.bytes_left == 0 {
            return None;
        }
        let request = self.step()?;
        if self.now >= self.until {
            self.left = 0;
            return None;
        }
        self.left -= 1;
        if request.op == HostOp::Write {
            self.bytes_left = self.bytes_left.saturating_sub(request.bytes());
        }
        Some(Ok(request.at(SimTime(self.now))))
    }
}
