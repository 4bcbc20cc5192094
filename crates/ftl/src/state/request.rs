//! Requests in the drive, their outcomes, and effects for the device.

use crate::media::error::MediaError;
use crate::plan::region::RegionId;
pub use crate::state::id::RequestId;
use crate::state::latency::{LatencyBreakdown, LatencyParts};
use crate::state::op::{OpId, QueueEntry};
use crate::state::region::WriteStream;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_units::{DieId, HostOp, HostRequest, Lpn, PlaneId, SimDuration, SimTime};

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum Outcome {
    /// As asked.
    Done = 0,
    /// A write found no place and none can be made: the drive is full.
    OutOfSpace = 1,
    /// A read has more errors than can be corrected.
    Uncorrectable = 2,
    /// A write found no place, since too many blocks have worn out: the drive can only be read.
    WornOut = 3,
}

impl Outcome {
    /// The key that files and reports use.
    pub const fn key(self) -> &'static str {
        ["done", "out_of_space", "uncorrectable", "worn_out"][self as usize]
    }
}

/// A request in flight.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pending {
    /// The request.
    pub request: HostRequest,
    /// Its admission, possibly after its arrival.
    pub admitted: SimTime,
    /// When its last part ended.
    pub ended: SimTime,
    /// Its latency breakdown until then.
    pub parts: LatencyParts,
    /// Its number among all requests of the run.
    pub number: u64,
    /// Its outcome so far.
    pub outcome: Outcome,
    /// For a write, the last bit of its programs, counted from 1, under rules with page types; otherwise 0.
    pub slowest_bit: u8,
    /// The longest time that one of its parts waited for idle work.
    pub behind_idle: SimDuration,
    pub(crate) remaining: u32,
}

impl Pending {
    /// No request.
    pub(crate) const NONE: Pending = Pending {
        request: HostRequest::new(HostOp::Flush, 0, 0),
        admitted: SimTime(0),
        ended: SimTime(0),
        parts: LatencyBreakdown::NONE.parts,
        number: 0,
        outcome: Outcome::Done,
        slowest_bit: 0,
        behind_idle: SimDuration::ZERO,
        remaining: 0,
    };
}

/// What is prefetched. Of a request that comes, one after the other: each uses what the one before has fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prefetch {
    /// Which leaf of the map a page has.
    Leaf(Lpn),
    /// A page's entry in it.
    Place(Lpn),
    /// The blocks that the entries of pages from one to another name.
    Blocks(Lpn, Lpn),
    /// An operation.
    Op(OpId),
    /// The block of an operation.
    BlockOf(OpId),
    /// The request that waits for an operation.
    RequestOf(OpId),
}

/// A request that the device cannot accept.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RequestError {
    /// It reaches past the end.
    #[error("request {number} covers bytes {from} to {to}, but the capacity is {end} bytes")]
    BeyondDrive {
        /// Its number.
        number: u64,
        /// Its first byte.
        from: u64,
        /// The byte after its last.
        to: u64,
        /// Bytes of the drive.
        end: u64,
    },
    /// It covers nothing.
    #[error("request {number} has length 0; a read, write or trim covers at least 512 bytes")]
    Empty {
        /// Its number.
        number: u64,
    },
}

/// A decision that the engine refuses, media that fail, or a broken invariant of the engine.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// A scheme decided something illegal.
    #[error("scheme {scheme}: illegal decision at t = {time}: {decision} ({state})")]
    IllegalDecision {
        /// The scheme.
        scheme: String,
        /// What it decided.
        decision: String,
        /// When.
        time: SimTime,
        /// The state of the drive.
        state: String,
    },
    /// A hook of a scheme failed.
    #[error("scheme {scheme}: {hook}() failed at t = {time}: {reason}")]
    Undecided {
        /// The scheme.
        scheme: String,
        /// The hook, as it is called in [`Scheme`](crate::Scheme).
        hook: &'static str,
        /// When.
        time: SimTime,
        /// The reason, from the scheme.
        reason: String,
    },
    /// The storage of the data has failed.
    #[error("media error at t = {time}: {error}; the drive has stopped")]
    Media {
        /// The place, the problem, and the remedy.
        error: MediaError,
        /// When.
        time: SimTime,
    },
    /// Livelock: the drive works without progress.
    #[error(
        "livelock at t = {time}: {erases} blocks erased since the last host progress; pending: {left}; if \
         this is your scheme, make sure that its idle work ends; otherwise please report the command"
    )]
    NoProgress {
        /// Blocks erased since.
        erases: u32,
        /// When.
        time: SimTime,
        /// Operations in progress, and what they wait for.
        left: String,
    },
    /// Wordline itself is at fault.
    #[error("internal error at t = {time}: {what}; please report the command")]
    Internal {
        /// What went wrong.
        what: String,
        /// When.
        time: SimTime,
    },
}

/// An effect that the device must carry out after a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Effect {
    /// Queue an operation at its plane.
    Queue(QueueEntry),
    /// Queue an operation at its plane that has left another's queue.
    ChangePlane(QueueEntry),
    /// Space may have come up: try again what waits at a plane.
    Wake(PlaneId),
    /// A job has begun or ceased to hold a die.
    Hold(DieId),
    /// Call `drive::ring` with the token at that time.
    Timer(SimTime, Timer),
}

/// The purpose of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Timer {
    /// An incomplete one-shot group has waited long enough.
    Pad {
        /// Its region.
        region: RegionId,
        /// Its plane.
        plane: PlaneId,
        /// Whose data wait.
        stream: WriteStream,
        /// Which group it was.
        generation: u32,
    },
    /// A page of the merge buffer has waited long enough.
    Merge {
        /// Its number.
        page: u64,
    },
    /// The drive may be idle, so that the merge buffer goes to flash.
    MergeIdle,
    /// Idle work that has a rate may begin its next page.
    IdlePace,
    /// A host write that was paced may go in.
    WritePace,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PendingFlush {
    pub version: u64,
    pub request: RequestId,
    pub remaining: u64,
}
