//! Latency breakdown of a request: parts that add up exactly.
//!
//! A request is as late as the last of its pieces, so the parts are that piece's. Waiting times are computed
//! from running sums of busy time per plane, one for each of [`BusyTime`]: an operation records them when it is
//! queued, and the difference at its start is its wait.

use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};
use wordline_counters::Cause;
use wordline_units::{HostOp, SimTime};

/// A part of a request's latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum LatencyPart {
    /// Not admitted: the queue of the drive, or its write buffer, is full.
    Admission = 0,
    /// For the page of the map with its entry, where the map is on flash.
    MapMiss,
    /// In the drive's RAM: waiting for other pages of a one-shot program, for missing sectors of a page, or for
    /// the writes of a flush.
    Staging,
    /// Its plane works for the host.
    BehindHost,
    /// Its plane collects.
    BehindGc,
    /// Its plane migrates.
    BehindMigration,
    /// No free page, since the first attempt.
    Space,
    /// The array works on it; with the wait for an array that other planes use, or that a job holds.
    Die,
    /// Read retries.
    Retry,
    /// Its data move over the channel's bus; with the wait for it.
    Bus,
    /// The host link moves its data; with the wait for it.
    Link,
}

impl LatencyPart {
    /// How many there are.
    pub const COUNT: usize = 11;
    /// All of them, in path order.
    pub const ALL: [LatencyPart; LatencyPart::COUNT] = {
        use LatencyPart::*;
        [Admission, MapMiss, Staging, BehindHost, BehindGc, BehindMigration, Space, Die, Retry, Bus, Link]
    };

    /// The key that reports use.
    pub const fn key(self) -> &'static str {
        const KEYS: [&str; LatencyPart::COUNT] = [
            "admission",
            "map_miss",
            "staging",
            "behind_host",
            "behind_gc",
            "behind_migration",
            "space",
            "die",
            "retry",
            "bus",
            "link",
        ];
        KEYS[self as usize]
    }
}

/// The latency of a request in parts, nanoseconds each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LatencyParts([u64; LatencyPart::COUNT]);

impl LatencyParts {
    /// The latency.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// All of them, in the order of [`LatencyPart::ALL`].
    pub fn nanoseconds(&self) -> &[u64; LatencyPart::COUNT] {
        &self.0
    }
}

impl Index<LatencyPart> for LatencyParts {
    type Output = u64;
    #[inline(always)]
    fn index(&self, part: LatencyPart) -> &u64 {
        &self.0[part as usize]
    }
}

impl IndexMut<LatencyPart> for LatencyParts {
    #[inline(always)]
    fn index_mut(&mut self, part: LatencyPart) -> &mut u64 {
        &mut self.0[part as usize]
    }
}

/// Origins of the busy time of a plane: the host, GC, migration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BusyTime([u64; 3]);

impl BusyTime {
    /// Never busy.
    pub const NOTHING: BusyTime = BusyTime([0; 3]);

    /// A plane was busy with an operation for this time.
    #[inline(always)]
    pub fn add(&mut self, cause: Cause, time: u64) {
        const WHO: [u8; Cause::COUNT] = [0, 1, 2, 0, 0, 0, 0]; // in the order of `Cause::ALL`
        self.0[WHO[cause as usize] as usize] += time;
    }

    /// Difference to an earlier sum.
    #[inline(always)]
    pub fn since(self, then: BusyTime) -> BusyTime {
        BusyTime(std::array::from_fn(|i| self.0[i] - then.0[i]))
    }

    /// Busy time for the host, for GC and for migration, ns.
    #[inline(always)]
    pub fn nanoseconds(self) -> [u64; 3] {
        self.0
    }
}

/// History of the operation that ends now, since it was queued. The parts add up to the time since then.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LatencyBreakdown {
    /// When it was queued at its plane.
    pub queued: SimTime,
    /// Its latency breakdown.
    pub parts: LatencyParts,
}

impl LatencyBreakdown {
    /// No operation ends now.
    pub const NONE: LatencyBreakdown =
        LatencyBreakdown { queued: SimTime::NEVER, parts: LatencyParts([0; LatencyPart::COUNT]) };

    /// Set the parts of a request that this piece ends now. A piece that was queued before the request
    /// came is another's, whose end it waited for.
    #[inline(always)]
    pub(crate) fn split(
        &self,
        parts: &mut LatencyParts,
        op: HostOp,
        arrival: SimTime,
        admitted: SimTime,
        now: SimTime,
    ) {
        let own = op != HostOp::Flush && admitted <= self.queued && self.queued <= now;
        *parts = if own { self.parts } else { LatencyBreakdown::NONE.parts };
        let launched = if own { self.queued } else { now };
        parts[LatencyPart::Admission] = admitted.since(arrival).0;
        parts[LatencyPart::Staging] = launched.since(admitted).0;
    }
}
