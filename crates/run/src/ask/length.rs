//! The length of a run, computed before it: requests, bytes, and whether a steady-state verdict is possible.

use crate::ask::initial::Filled;
use crate::ask::setup::Setup;
use wordline_trace::{Limit, Pacing};
use wordline_units::HostOp;

/// Sampled requests; the others are assumed to be similar.
const LOOKED_AT: u64 = 100_000;

/// Counted requests of a job file, whose end is otherwise unknown.
const JOBS_COUNTED: u64 = 2_000_000;

/// Minimum host writes for a verdict, as a share of the drive.
const DRIVE_WRITES_MIN: f64 = 0.1;

/// Blocks that GC must erase in each plane for a verdict.
const BLOCKS_MIN: u64 = 10;

/// The length of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunLength {
    /// Requests.
    pub requests: u64,
    /// Bytes that the host writes.
    pub write_bytes: u64,
    /// Bytes that it reads or writes.
    pub bytes: u64,
    /// Whether every request was sampled; otherwise the rest is an estimate.
    pub is_exact: bool,
}

/// The sampled part.
#[derive(Default)]
struct Seen {
    requests: u64,
    written: u64,
    read: u64,
    until_ns: u64,
}

/// The length of a run; `None` if only the run itself can tell, as for a closed loop limited by time, or if a
/// request cannot be read.
pub fn run_length(setup: &Setup) -> Option<RunLength> {
    let limit = setup.limit();
    let jobs = matches!(setup.workload.pacing(), Pacing::Jobs);
    let closed = matches!(setup.workload.pacing(), Pacing::Closed { .. });
    if setup.workload.is_timed() || closed && limit.duration.is_some() {
        return None;
    }
    let most = if jobs { JOBS_COUNTED } else { LOOKED_AT };
    let mut seen = Seen::default();
    let mut stream = setup.workload.open(setup.shape, setup.spec.seed).ok()?;
    let mut ended = false;
    while seen.requests < most {
        let Some(request) = stream.next() else {
            ended = true;
            break;
        };
        seen.take(&request.ok()?);
    }
    let times = if ended { 1.0 } else { times(setup, &seen, limit)? };
    let all = |of: u64| (of as f64 * times) as u64;
    Some(RunLength {
        requests: all(seen.requests),
        write_bytes: all(seen.written),
        bytes: all(seen.written + seen.read),
        is_exact: ended,
    })
}

/// Ratio of the whole run to the sample, by the limit that ends it first.
fn times(setup: &Setup, seen: &Seen, limit: Limit) -> Option<f64> {
    let of = |bound: u64, reached: u64| (reached > 0).then(|| bound as f64 / reached as f64);
    let bytes = if seen.written > 0 { seen.written } else { seen.read };
    let bounds = [
        limit.requests.and_then(|n| of(n, seen.requests)),
        limit.bytes.and_then(|n| of(n, bytes)),
        limit.duration.and_then(|d| of(d.0, seen.until_ns)),
        setup.workload.recorded_requests().and_then(|n| of(n, seen.requests)),
    ];
    bounds.into_iter().flatten().min_by(f64::total_cmp)
}

/// Minimum host writes before a steady-state verdict is possible, in bytes: a tenth of the drive, and in each
/// plane its free blocks plus ten more, which GC erases.
pub fn verdict_bytes(setup: &Setup) -> u64 {
    let drive = setup.shape.logical_bytes as f64 * DRIVE_WRITES_MIN;
    let media = setup.geometry.media.iter();
    let blocks = media.map(|m| m.topology.planes() as u64 * m.block_bytes(m.densest())).sum::<u64>();
    (drive as u64).max(free_bytes(setup) + BLOCKS_MIN * blocks)
}

/// Erased flash at the start, in bytes.
fn free_bytes(setup: &Setup) -> u64 {
    let whole = matches!(setup.initial.filled, Filled::Steady(_) | Filled::Windows(_));
    if whole || setup.from_state.is_some() {
        return 0;
    }
    let physical = setup.device.physical_bytes() as f64;
    let live = setup.state.mapped.count() as f64 * setup.device.unit.0 as f64;
    let used = live / setup.initial.valid.as_f64().max(1e-3);
    let aged = setup.initial.aged_invalid.as_f64().max(setup.initial.aged_blocks.as_f64()) * physical;
    (physical - used.max(aged)).max(0.0) as u64
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
