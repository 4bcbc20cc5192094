//! Generates the requests of a twin: kind, size, time and address each use their own stream of random
//! numbers, so that a change of one parameter does not change the draws of the others.

use crate::generators::twin::addresses::{Addresses, Way};
use crate::generators::twin::arrivals::Clock;
use crate::generators::twin::bursts::Recent;
use crate::generators::twin::description::{Description, Side};
use crate::generators::twin::files::{Files, beside_files, most_of_files};
use crate::generators::twin::sizes::{Modulated, SizeLaw};
use crate::random::draws::Draws;
use wordline_trace::{ErrorKind, Problem, RandomStream, Ratio, WorkloadError};
use wordline_units::{HostOp, HostRequest, SimTime};

/// How a twin is run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Play {
    pub requests: Option<u64>,
    pub until_ns: Option<u64>,
    pub bytes: Option<u64>,
    pub scale: u64,
    pub speedup: Ratio,
    pub open: bool,
}

/// One kind of request.
struct Flow {
    law: SizeLaw,
    shares: Modulated,
    addresses: Addresses,
    files: Option<Files>,
    longest: u32,
}

impl Flow {
    /// A kind of request in a run: its side, the share in files, the number of requests, and the mean gap.
    fn new(side: &Side, play: Play, run: InRun, draws: Draws, name: &str) -> Result<Flow, String> {
        let named = |part: &str| format!("workload/twin/{name}/{part}");
        let beside = beside_files(side, run.of_files)?;
        let law = SizeLaw::new(&beside)?;
        let requests = (run.requests as f64 * (1.0 - run.of_files)) as u64;
        let shares = Modulated::new(&beside, law.share, requests, &mut draws.drawn(&named("modulation")));
        let scatter = &mut draws.fixed(&named("scatter"));
        let addresses = Addresses::new(&beside, &law, play.scale, requests, scatter);
        let files = Files::new(
            side,
            &SizeLaw::new(side)?,
            &addresses,
            (run.mean_gap, run.part),
            draws.drawn(&named("files")),
        );
        let longest = law.longest().max(files.as_ref().map_or(0, Files::longest));
        Ok(Flow { law, shares, addresses, files, longest })
    }

    /// A size in blocks, and whether it is a listed one.
    #[inline]
    fn blocks(&mut self, random: &mut RandomStream) -> (u32, bool) {
        let share = self.shares.next();
        self.law.draw(share, random)
    }
}

/// A kind of request in one run.
#[derive(Clone, Copy)]
struct InRun {
    requests: u64,
    /// Nanoseconds from one to the next, on average.
    mean_gap: f64,
    /// Share in files, and its ratio to the specified share.
    of_files: f64,
    part: f64,
}

/// Times and kinds of requests.
#[derive(Clone)]
struct Order {
    /// Their times; none without times.
    clock: Option<Clock>,
    /// Probability that a read is followed by a write, and a write by a read, if the clock does not decide.
    to_write: f64,
    to_read: f64,
    before: HostOp,
    kind: RandomStream,
}

impl Order {
    /// The time of the next request in nanoseconds, and its kind.
    #[inline]
    fn next(&mut self) -> (u64, HostOp) {
        let (to_read, to_write, kind) = (self.to_read, self.to_write, &mut self.kind);
        let mut keeps = |op: HostOp| kind.unit() > if op == HostOp::Write { to_read } else { to_write };
        let (time, op) = match &mut self.clock {
            Some(clock) => clock.next(keeps, self.before),
            None if keeps(self.before) => (0, self.before),
            None if self.before == HostOp::Write => (0, HostOp::Read),
            None => (0, HostOp::Write),
        };
        self.before = op;
        (time, op)
    }

    /// The share of requests in bursts, for reads and writes, among this many requests up to a time.
    fn in_bursts(&self, requests: u64, until: u64, mean_gaps: [f64; 2]) -> [f64; 2] {
        let (mut order, mut recent) = (self.clone(), [Recent::default(), Recent::default()]);
        let mut counts = [(0u64, 0u64); 2];
        for _ in 0..requests {
            let (time, op) = order.next();
            if time >= until {
                break;
            }
            let kind = usize::from(op == HostOp::Write);
            let burst = recent[kind].gap(time).is_some_and(|gap| gap <= mean_gaps[kind]);
            counts[kind] = (counts[kind].0 + u64::from(burst), counts[kind].1 + 1);
        }
        counts.map(|(bursts, all)| if all == 0 { 0.0 } else { bursts as f64 / all as f64 })
    }
}

/// The requests of a twin.
pub(crate) struct TwinStream {
    order: Order,
    overlap: f64,
    reads: Flow,
    writes: Flow,
    size: RandomStream,
    address: RandomStream,
    open: bool,
    speedup: Ratio,
    left: u64,
    until: u64,
    bytes_left: u64,
    bounding: HostOp,
}

/// Probabilities of a change from read to write and from write to read, for a stationary share of writes and
/// this mean run length. If random order alone gives longer runs, kinds are independent.
fn changes(write: f64, run: f64) -> (f64, f64) {
    let both = write * (1.0 - write);
    let rate = if both > 0.0 { (1.0 / (2.0 * run * both)).min(1.0) } else { 1.0 };
    (rate * write, rate * (1.0 - write))
}

/// The clock of a run. A run with a limit is a twin of a shorter trace with the same rate, dispersions and
/// share of writes; it is not the beginning of the long one. With an envelope times are fixed, so a limited
/// run is the beginning.
fn clock(d: &Description, play: Play, whole: u64, random: RandomStream) -> Option<Clock> {
    let span = d.arrivals.span.0 as f64;
    if span == 0.0 {
        return None;
    }
    let rate = d.requests as f64 / span;
    let until = play.until_ns.filter(|_| play.open).map(|ns| play.speedup.times(ns) * rate);
    let bound = [play.requests.filter(|n| *n < u64::MAX).map(|n| n as f64), until].into_iter().flatten();
    let requests = match bound.reduce(f64::min) {
        _ if d.arrivals.envelope.is_some() => d.requests as f64,
        Some(bound) => libm::ceil(bound).max(1.0),
        None => whole as f64,
    };
    Some(Clock::new(&d.arrivals, requests as u64, requests / rate, d.write.as_f64(), random))
}

/// Reads and writes of a run of `whole` requests, of which `made` are generated up to a time. The number of
/// requests in bursts is counted in advance if sizes depend on it.
fn runs(d: &Description, order: &Order, whole: u64, made: u64, until: u64) -> [InRun; 2] {
    let write = d.write.as_f64();
    let sides = [(&d.reads, 1.0 - write), (&d.writes, write)];
    let mean_gaps = sides.map(|(_, share)| d.arrivals.span.0 as f64 / (d.requests as f64 * share).max(1.0));
    let hangs = |side: &Side| side.mean.is_some() || side.drift > 0.0;
    let differ = |side: &Side| side.files.as_ref().is_some_and(|f| f.bursts != f.apart);
    let counted = sides.iter().any(|(side, _)| hangs(side) && differ(side));
    let bursts = if counted { order.in_bursts(made, until, mean_gaps) } else { [0.0; 2] };
    [0, 1].map(|k| {
        let (side, share) = sides[k];
        let of_files = side
            .files
            .as_ref()
            .map_or(0.0, |f| bursts[k] * f.bursts.as_f64() + (1.0 - bursts[k]) * f.apart.as_f64());
        // If arrivals have more bursts than the description was made for, all long requests are in files, and
        // no others.
        let part = if of_files > 0.0 { (most_of_files(side) / of_files).min(1.0) } else { 1.0 };
        let requests = ((whole as f64 * share) as u64).max(1);
        InRun { requests, mean_gap: mean_gaps[k], of_files: of_files * part, part }
    })
}

impl TwinStream {
    /// The requests of a twin.
    ///
    /// # Errors
    /// If no sizes of the requests outside files give the overall mean.
    pub fn new(d: &Description, play: Play, draws: Draws) -> Result<TwinStream, String> {
        let stream = |part: &str| draws.drawn(&format!("workload/twin/{part}"));
        let write = d.write.as_f64();
        let (to_write, to_read) = changes(write, d.run);
        let mut kind = stream("kind");
        let whole = (d.requests / play.scale).max(1);
        let unbounded = play.requests.is_none() && play.bytes.is_none() && play.until_ns.is_none();
        let order = Order {
            clock: clock(d, play, whole, stream("arrival")),
            to_write,
            to_read,
            before: if kind.unit() <= write { HostOp::Write } else { HostOp::Read },
            kind,
        };
        let left = if unbounded { whole } else { play.requests.unwrap_or(u64::MAX) };
        let until = play.until_ns.filter(|_| play.open).unwrap_or(u64::MAX);
        let [reads, writes] = runs(d, &order, whole, left.min(whole), play.speedup.times(until) as u64);
        Ok(TwinStream {
            order,
            overlap: d.reads.overlap.as_f64(),
            reads: Flow::new(&d.reads, play, reads, draws, "read")?,
            writes: Flow::new(&d.writes, play, writes, draws, "write")?,
            size: stream("size"),
            address: stream("address"),
            open: play.open,
            speedup: play.speedup,
            left,
            until,
            bytes_left: play.bytes.unwrap_or(u64::MAX),
            bounding: if write > 0.0 { HostOp::Write } else { HostOp::Read },
        })
    }

    /// One past the last block that may be touched.
    pub fn end(&self) -> u64 {
        self.reads.addresses.end().max(self.writes.addresses.end())
    }

    /// The longest request, in blocks.
    pub fn longest(&self) -> u32 {
        self.reads.longest.max(self.writes.longest)
    }

    #[inline]
    fn draw(&mut self, op: HostOp, time: u64) -> HostRequest {
        let writes = op == HostOp::Write;
        let flow = if writes { &mut self.writes } else { &mut self.reads };
        if let Some(files) = &mut flow.files
            && files.has(time)
        {
            let (at, blocks) = files.next();
            return HostRequest::new(op, at, blocks);
        }
        let (blocks, listed) = flow.blocks(&mut self.size);
        let way = flow.addresses.way(&mut self.address);
        let meets = !writes && self.overlap > 0.0 && way != Way::Along && self.address.unit() <= self.overlap;
        let (at, blocks) = if meets {
            (self.writes.addresses.written(blocks, &mut self.address), blocks)
        } else {
            flow.addresses.draw(way, blocks, listed, &mut self.address)
        };
        HostRequest::new(op, at, blocks)
    }
}

impl Iterator for TwinStream {
    type Item = Result<HostRequest, WorkloadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 || self.bytes_left == 0 {
            return None;
        }
        let (begin, op) = self.order.next();
        let time = self.speedup.divide(begin);
        if time >= self.until {
            self.left = 0;
            return None;
        }
        let request = self.draw(op, begin);
        self.left -= 1;
        if request.op == self.bounding {
            self.bytes_left = self.bytes_left.saturating_sub(request.bytes());
        }
        Some(Ok(request.at(SimTime(if self.open { time } else { 0 }))))
    }
}

/// The first requests of a description, at most this many, as a run without options would issue them.
///
/// # Errors
/// None for a description that was read from a file.
pub(crate) fn requests_of(
    d: &Description,
    seed: u64,
    most: Option<u64>,
) -> Result<impl Iterator<Item = HostRequest> + use<>, WorkloadError> {
    let play = Play {
        requests: most.map(|m| m.min(d.requests)),
        until_ns: None,
        bytes: None,
        scale: 1,
        speedup: Ratio::ONE,
        open: true,
    };
    let stream = TwinStream::new(d, play, Draws::first(seed))
        .map_err(|what| Problem::new(ErrorKind::Option, &*d.title, what))?;
    Ok(stream.filter_map(Result::ok))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_run_as_long_as_asked_or_longer_by_chance() {
        for (write, run) in [(0.5, 4.0), (0.645, 4.0), (0.2, 10.0)] {
            let (to_write, to_read) = changes(write, run);
            assert!((to_write / (to_write + to_read) - write).abs() < 1e-12);
            assert!((0.5 / to_write + 0.5 / to_read - run).abs() < 1e-9, "{write}");
        }
        let (to_write, to_read) = changes(0.969, 4.0);
        assert!((to_write + to_read - 1.0).abs() < 1e-12, "independent");
        assert_eq!(changes(1.0, 4.0), (1.0, 0.0));
        assert_eq!(changes(0.0, 4.0), (0.0, 1.0));
    }
}
