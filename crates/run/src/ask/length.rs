//! How long a run will be, told before it begins: requests, bytes, and whether its steady state can be judged then.

use crate::ask::initial::Filled;
use crate::ask::setup::Setup;
use wordline_trace::{Limit, Pacing};
use wordline_units::HostOp;

/// Requests that are looked at; the others are taken to be like them.
const LOOKED_AT: u64 = 100_000;

/// Requests of a job file that are counted, since their end is not known otherwise.
const JOBS_COUNTED: u64 = 2_000_000;

/// The least that the host must write for a verdict, as a share of the drive.
const DRIVE_WRITES_MIN: f64 = 0.1;

/// The blocks that each plane must collect for a verdict.
const BLOCKS_MIN: u64 = 10;

/// How long a run will be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunLength {
    /// Requests.
    pub requests: u64,
    /// Bytes that the host writes.
    pub write_bytes: u64,
    /// Bytes that it reads or writes.
    pub bytes: u64,
    /// Whether every request was looked at; the rest is an estimate otherwise.
    pub is_exact: bool,
}

/// What was looked at.
#[derive(Default)]
struct Seen {
    requests: u64,
    written: u64,
    read: u64,
    until_ns: u64,
}

impl Setup {
    /// How long a run will be; `None` where only the run itself can tell, as in a closed loop that time ends, or
    /// where a request cannot be read.
    pub fn length(&self) -> Option<RunLength> {
        let limit = self.limit();
        let jobs = matches!(self.workload.pacing(), Pacing::Jobs);
        let closed = matches!(self.workload.pacing(), Pacing::Closed { .. });
        if self.workload.is_timed() || closed && limit.duration.is_some() {
            return None;
        }
        let most = if jobs { JOBS_COUNTED } else { LOOKED_AT };
        let mut seen = Seen::default();
        let mut stream = self.workload.open(self.shape, self.spec.seed).ok()?;
        let mut ended = false;
        while seen.requests < most {
            let Some(request) = stream.next() else {
                ended = true;
                break;
            };
            seen.take(&request.ok()?);
        }
        let times = if ended { 1.0 } else { self.times(&seen, limit)? };
        let all = |of: u64| (of as f64 * times) as u64;
        Some(RunLength {
            requests: all(seen.requests),
            write_bytes: all(seen.written),
            bytes: all(seen.written + seen.read),
            is_exact: ended,
        })
    }

    /// How many times what was seen the whole run is, by the bound that ends it first.
    fn times(&self, seen: &Seen, limit: Limit) -> Option<f64> {
        let of = |bound: u64, reached: u64| (reached > 0).then(|| bound as f64 / reached as f64);
        let bytes = if seen.written > 0 { seen.written } else { seen.read };
        let bounds = [
            limit.requests.and_then(|n| of(n, seen.requests)),
            limit.bytes.and_then(|n| of(n, bytes)),
            limit.duration.and_then(|d| of(d.0, seen.until_ns)),
            self.workload.recorded_requests().and_then(|n| of(n, seen.requests)),
        ];
        bounds.into_iter().flatten().min_by(f64::total_cmp)
    }

    /// What the host must write before a verdict on the steady state is possible, in bytes: a tenth of the drive,
    /// and in each plane what fills its free blocks and ten more, which are collected.
    pub fn verdict_bytes(&self) -> u64 {
        let drive = self.shape.logical_bytes as f64 * DRIVE_WRITES_MIN;
        let media = self.geometry.media.iter();
        let blocks = media.map(|m| m.topology.planes() as u64 * m.block_bytes(m.densest())).sum::<u64>();
        (drive as u64).max(self.free_bytes() + BLOCKS_MIN * blocks)
    }

    /// Flash that holds nothing at the beginning, in bytes.
    fn free_bytes(&self) -> u64 {
        let whole = matches!(self.initial.filled, Filled::Steady(_) | Filled::Windows(_));
        if whole || self.from_state.is_some() {
            return 0;
        }
        let physical = self.device.physical_bytes() as f64;
        let live = self.state.mapped.count() as f64 * self.device.unit.0 as f64;
        let used = live / self.initial.valid.as_f64().max(1e-3);
        let aged = self.initial.aged_invalid.as_f64().max(self.initial.aged_blocks.as_f64()) * physical;
        (physical - used.max(aged)).max(0.0) as u64
    }
}

impl Seen {
    fn take(&mut self, r: &wordline_units::HostRequest) {
        let bytes = r.blocks as u64 * wordline_units::LBA_BYTES;
        self.requests += 1;
        self.until_ns = self.until_ns.max(r.arrival.0);
        match r.op {
            HostOp::Write => self.written += bytes,
            HostOp::Read => self.read += bytes,
            HostOp::Trim | HostOp::Flush => {}
        }
    }
}
