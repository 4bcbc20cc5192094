//! Commands of clients, and their replies.

use crate::clock::Clock;
use crate::data::not_written::NotWritten;
use crate::pieces::{Piece, Rest};
use crate::protocol::numbers::{MAX_PAYLOAD, NbdError, flag};
use crate::protocol::reply::Reply;
use crate::protocol::request::{Request, Verb};
use crate::reply_queue::ReplyQueue;
use crate::statistics::Served;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use wordline_ftl::{HeldData, Outcome};
use wordline_units::SimTime;
use wordline_volatile::{Content, Op};

/// An outstanding command.
pub(crate) struct Command {
    pub reply_queue: Arc<ReplyQueue>,
    pub request: Request,
    pub verb: Verb,
    /// The data to write.
    pub data: HeldData,
    pub arrived: Instant,
    /// Its arrival, in the drive's time.
    pub arrival: SimTime,
    pub rest: Rest,
    /// A piece that waits until another command has completed a sector.
    pub waiting: Option<Piece>,
    pub fill: Option<Fill>,
    /// Sectors of a read whose contents a power cut left different from the flash.
    pub left: Vec<(u64, Content)>,
    /// The data of a read, and the requested range within them.
    pub brought: Option<(Vec<u8>, Range<usize>)>,
    pub error: Option<(NbdError, String)>,
    /// The volatile cache has already acknowledged it.
    pub answered: bool,
}

/// A write whose partly written sectors are completed first.
pub(crate) struct Fill {
    /// The range to write, in bytes of the drive.
    outer: Range<u64>,
    /// The part of it for which the command has data.
    inner: Range<u64>,
    bytes: Vec<u8>,
    /// Sectors that are being read.
    awaited: Vec<u64>,
}

/// The purpose of a request to the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// A piece of the command.
    Body,
    /// A read that completes the sector that begins at a byte.
    Fill(u64),
}

/// A reply to send.
pub(crate) struct Delivery {
    reply_queue: Arc<ReplyQueue>,
    reply: Reply,
    /// Bytes of the request that count towards the limit of outstanding data.
    bytes: usize,
    served: Served,
    /// The reply guarantees that data survive a crash of the server's machine.
    synced: bool,
}

impl Delivery {
    /// The reply to a request.
    pub(crate) fn new(
        reply_queue: Arc<ReplyQueue>,
        request: &Request,
        reply: Reply,
        served: Served,
        synced: bool,
    ) -> Delivery {
        Delivery { reply_queue, reply, bytes: weight(request), served, synced }
    }

    /// Whether the reply waits for a sync of the folder; with `always`, all that guarantee something do.
    pub(crate) fn waits_for_sync(&self, always: bool) -> bool {
        self.is_promise() && (self.synced || always)
    }

    /// Whether its client waits for no other reply.
    pub(crate) fn is_last(&self) -> bool {
        self.reply_queue.is_last()
    }

    /// Put the reply into the queue of its client. Returns the queue.
    pub(crate) fn push(self) -> Arc<ReplyQueue> {
        self.reply_queue.push(self.reply, self.bytes, self.served);
        self.reply_queue
    }

    /// Whether the reply guarantees something for later, such as that data are written.
    pub(crate) fn is_promise(&self) -> bool {
        let writes = matches!(self.served.verb, Verb::Write | Verb::WriteZeroes | Verb::Trim | Verb::Flush);
        writes && !self.served.failed
    }

    /// Turn the reply into an error, because its guarantee could not be kept.
    pub(crate) fn fail(&mut self, failed: &NotWritten) {
        if self.is_promise() {
            let error = if failed.is_full { NbdError::NoSpace } else { NbdError::Io };
            self.reply = Reply::error(self.reply_queue.agreed, self.reply.cookie(), error, &failed.why);
            self.served.failed = true;
        }
    }
}

/// Writes that a volatile cache acknowledges before they are on flash.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriteCache {
    /// Maximum and current number of bytes.
    pub bytes: u64,
    pub used: u64,
    /// Number of writes that failed after they were acknowledged.
    pub failed_behind: u64,
}

/// A request that waits for the end of a recovery.
pub(crate) struct Held {
    pub reply_queue: Arc<ReplyQueue>,
    pub request: Request,
    pub data: HeldData,
    pub arrived: Instant,
}

impl Command {
    /// A command that arrived at an instant and, in the drive's time, at a time.
    pub(crate) fn new(
        reply_queue: Arc<ReplyQueue>,
        request: Request,
        verb: Verb,
        data: HeldData,
        (arrived, arrival): (Instant, SimTime),
    ) -> Command {
        let range = request.offset..request.offset + u64::from(request.length);
        let rest = Rest::new(verb, range, request.has(flag::NO_HOLE), request.has(flag::FUA));
        Command {
            reply_queue,
            request,
            verb,
            data,
            arrived,
            arrival,
            rest,
            waiting: None,
            fill: None,
            left: vec![],
            brought: None,
            error: None,
            answered: false,
        }
    }

    /// The range of the command, in bytes of the drive.
    pub(crate) fn range(&self) -> Range<u64> {
        self.request.offset..self.request.offset + u64::from(self.request.length)
    }

    /// The write, trim or zeroing of a command, for a volatile cache.
    pub(crate) fn volatile_request(&self, id: u64) -> wordline_volatile::Request {
        wordline_volatile::Request {
            id,
            op: match self.verb {
                Verb::Trim => Op::Trim,
                Verb::WriteZeroes => Op::Zeroes,
                _ => Op::Write,
            },
            fua: self.request.has(flag::FUA),
            connection: self.reply_queue.number,
            offset: self.request.offset,
            length: u64::from(self.request.length),
        }
    }

    /// The latency of the command if it ends now, in the drive's time.
    pub(crate) fn served(&self, failed: bool, now: SimTime, clock: &Clock) -> Served {
        Served {
            verb: self.verb,
            bytes: self.request.length,
            failed,
            arrived: self.arrived,
            modelled: clock.scale().told(now.since(self.arrival.min(now))),
            due: clock.instant(now.max(self.arrival)),
        }
    }

    /// The reply to the command, which has ended.
    pub(crate) fn into_delivery(self, served: Served) -> Delivery {
        let (agreed, request) = (self.reply_queue.agreed, self.request);
        let reply = match (self.error, self.brought) {
            (Some((error, why)), _) => Reply::error(agreed, request.cookie, error, &why),
            (None, Some((body, asked))) => Reply::data(agreed, request.cookie, request.offset, body, asked),
            (None, None) => Reply::done(agreed, request.cookie),
        };
        let synced = self.verb == Verb::Flush || request.has(flag::FUA);
        Delivery::new(self.reply_queue, &request, reply, served, synced)
    }
}

/// The error of a command whose request to the drive has ended like this.
pub(crate) fn failure(outcome: Outcome) -> Option<(NbdError, String)> {
    let (error, why) = match outcome {
        Outcome::Done => return None,
        Outcome::Uncorrectable => (NbdError::Io, "uncorrectable read error"),
        Outcome::OutOfSpace => (NbdError::NoSpace, "the drive is full"),
        Outcome::WornOut => (NbdError::NoSpace, "too many blocks are worn out"),
    };
    Some((error, why.to_string()))
}

/// Replace sectors of a read, which begins at a byte, by those that a power cut left different from the
/// flash.
pub(crate) fn patch(data: &mut [u8], from: u64, left: &[(u64, Content)], sector: u64) {
    for (at, content) in left {
        let place = (at * sector).checked_sub(from).map(|at| at as usize);
        let place = place.and_then(|at| data.get_mut(at..at + sector as usize));
        place.into_iter().for_each(|place| content.copy_to(place));
    }
}

/// Lines for the log about a read of damaged data.
pub(crate) fn damage_told(at: u64, found: Vec<String>) -> Vec<String> {
    let until = "reads of it fail with EIO until it is written again";
    if found.is_empty() {
        return vec![format!("the data at byte {at} are damaged: {until}")];
    }
    found.into_iter().map(|place| format!("{place}: the data at byte {at} are damaged: {until}")).collect()
}

/// Bytes of a request that count towards the limit: its data and those of its reply.
pub(crate) fn weight(request: &Request) -> usize {
    match request.verb {
        Some(Verb::Read | Verb::Write) if request.length <= MAX_PAYLOAD => request.length as usize,
        _ => 0,
    }
}

impl Fill {
    /// A write of data to `inner`, a part of the range `outer`. The awaited sectors are being read.
    pub(crate) fn new(outer: Range<u64>, inner: Range<u64>, data: &[u8], awaited: Vec<u64>) -> Fill {
        let mut bytes = vec![0; (outer.end - outer.start) as usize];
        let at = (inner.start - outer.start) as usize;
        bytes[at..at + data.len()].copy_from_slice(data);
        Fill { outer, inner, bytes, awaited }
    }

    /// The range to write, in bytes of the drive.
    pub(crate) fn outer(&self) -> &Range<u64> {
        &self.outer
    }

    /// The bytes to write.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Note that the read of a sector has ended. Returns whether no other is awaited.
    pub(crate) fn end_read(&mut self, sector: u64) -> bool {
        self.awaited.retain(|awaited| *awaited != sector);
        self.awaited.is_empty()
    }

    /// Complete a sector that has been read: bytes that the command does not write are taken from it.
    pub(crate) fn take(&mut self, sector: u64, data: &[u8]) {
        let end = sector + data.len() as u64;
        for kept in [sector..self.inner.start.min(end), self.inner.end.max(sector)..end] {
            let (Some(from), Some(to)) = (kept.start.checked_sub(sector), kept.end.checked_sub(sector))
            else {
                continue;
            };
            let at = (kept.start - self.outer.start) as usize;
            if from < to
                && let Some(into) = self.bytes.get_mut(at..at + (to - from) as usize)
            {
                into.copy_from_slice(&data[from as usize..to as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_sector_is_completed_by_its_old_content() {
        for (inner, sectors) in
            [(3..5u64, vec![0]), (3..13, vec![0, 8]), (0..5, vec![0]), (11..16, vec![8]), (8..12, vec![8])]
        {
            let outer = inner.start / 8 * 8..inner.end.next_multiple_of(8);
            let data = vec![1; (inner.end - inner.start) as usize];
            let mut fill = Fill::new(outer.clone(), inner.clone(), &data, sectors.clone());
            for s in &sectors {
                fill.take(*s, &[2; 8]);
                assert_eq!(fill.end_read(*s), sectors.last() == Some(s));
            }
            let wanted: Vec<u8> = outer.map(|at| if inner.contains(&at) { 1 } else { 2 }).collect();
            assert_eq!(fill.bytes(), wanted, "{inner:?}");
        }
    }
}
