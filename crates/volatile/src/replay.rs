//! Replays a log: its intervals between points of durability, and what a cut in each may leave.

use crate::cache::{Cache, Lost};
use crate::content::Content;
use crate::image::Image;
use crate::log::{Event, Log};
use crate::rules::{Op, Request, Rules};
use crate::session::SessionFault;
use std::sync::Arc;

/// The end of an interval: just before something becomes durable, or the end of the log. Anything that an
/// earlier cut in the interval may leave, a cut here may leave too.
#[derive(Clone, Debug)]
pub struct Interval {
    at: usize,
    marks: usize,
    durable: Image,
    cache: Cache,
    /// Earlier contents of the sectors that last became durable, in runs.
    older: Vec<Vec<(u64, Content)>>,
    /// The FLUSH or request with FUA that the drive ignored.
    dropped: Option<u64>,
}

impl Interval {
    /// The FLUSH or request with FUA that the drive ignored.
    pub fn dropped(&self) -> Option<u64> {
        self.dropped
    }

    /// Number of events of the log before the cut.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Number of marks before the cut.
    pub fn marks(&self) -> usize {
        self.marks
    }

    /// The volatile cache at the cut.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The durable contents.
    pub(crate) fn durable(&self) -> &Image {
        &self.durable
    }

    /// Earlier contents of the sectors that last became durable, in runs.
    pub(crate) fn older(&self) -> &[Vec<(u64, Content)>] {
        &self.older
    }

    /// The contents of the drive after a cut that loses these sectors.
    pub fn image(&self, lost: &Lost) -> Image {
        let mut image = self.durable.clone();
        for (sector, content) in self.cache.contents(lost) {
            image.set(sector, &content);
        }
        image
    }
}

/// A point of durability that a drive may ignore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flushes {
    /// The number of the FLUSH or of the request with FUA.
    pub id: u64,
    /// Whether it was a FLUSH.
    pub is_flush: bool,
}

/// Every FLUSH and every request with FUA of a log, in order.
pub fn flushes(log: &Log) -> Vec<Flushes> {
    let of = |event: &Event| match event {
        Event::Flush { id, .. } => Some(Flushes { id: *id, is_flush: true }),
        Event::Write { id, fua: true, .. } | Event::Zero { id, fua: true, .. } => {
            Some(Flushes { id: *id, is_flush: false })
        }
        _ => None,
    };
    log.of_client().iter().filter_map(of).collect()
}

/// The intervals of a log, under the drive's guarantees. With `dropped`, the drive ignores this FLUSH or
/// request with FUA: only the interval that it would have ended is returned, extended to the next point of
/// durability.
pub fn intervals(log: &Log, rules: Rules, dropped: Option<u64>) -> Vec<Interval> {
    let mut replay = Replay {
        base: log.base,
        dropped,
        now: Interval {
            at: 0,
            marks: 0,
            durable: Image::new(log.size, log.sector),
            cache: Cache::new(rules),
            older: vec![],
            dropped,
        },
        found: vec![],
        has_dropped: false,
    };
    for event in &log.events {
        if !replay.step(event) {
            return replay.found;
        }
    }
    replay.end();
    replay.found
}

struct Replay {
    base: usize,
    dropped: Option<u64>,
    now: Interval,
    found: Vec<Interval>,
    has_dropped: bool,
}

impl Replay {
    /// Process an event. Returns whether further events are needed.
    fn step(&mut self, event: &Event) -> bool {
        let sector = self.now.durable_sector();
        match event {
            Event::Write { id, connection, offset, fua, data } => {
                let fua = *fua && self.dropped != Some(*id);
                let length = data.len() as u64;
                let request =
                    Request { id: *id, op: Op::Write, fua, connection: *connection, offset: *offset, length };
                let data: Arc<[u8]> = data.as_slice().into();
                self.now.put(request, sector, Some(&data));
            }
            Event::Zero { id, connection, offset, length, fua, trim } => {
                let fua = *fua && self.dropped != Some(*id);
                let op = if *trim { Op::Trim } else { Op::Zeroes };
                let request =
                    Request { id: *id, op, fua, connection: *connection, offset: *offset, length: *length };
                self.now.put(request, sector, None);
            }
            Event::Flush { id, .. } if self.dropped == Some(*id) => {}
            Event::Flush { id, .. } => self.now.cache.flush(*id),
            Event::Done { id } => {
                let goes_on = self.done(*id);
                self.now.at += 1;
                return goes_on;
            }
            Event::Mark(_) => self.now.marks += 1,
            Event::Fault { id, fault: SessionFault::FailedFlush } => self.now.cache.fail_flush(*id),
            Event::Fault { .. } => {}
        }
        self.now.at += 1;
        true
    }

    fn done(&mut self, id: u64) -> bool {
        if self.dropped == Some(id) {
            self.has_dropped = true;
            self.now.cache.acknowledge(id);
            return true;
        }
        if self.now.cache.settles(id)
            && self.now.at >= self.base
            && (self.dropped.is_none() || self.has_dropped)
        {
            self.found.push(self.now.clone());
            if self.has_dropped {
                return false;
            }
        }
        let cache = &mut self.now.cache;
        let durable: Vec<(u64, Content)> = [cache.flushed(id), cache.acknowledge(id)].concat();
        if !durable.is_empty() {
            self.now.settle(durable);
        }
        true
    }

    fn end(&mut self) {
        let is_new = self.found.last().is_none_or(|last| last.at != self.now.at);
        if is_new && (self.dropped.is_none() || self.has_dropped) {
            self.found.push(self.now.clone());
        }
    }
}

impl Interval {
    /// Note that sectors are durable from now on.
    fn settle(&mut self, mut durable: Vec<(u64, Content)>) {
        durable.sort_by_key(|(sector, _)| *sector);
        let old = |(sector, _): &(u64, Content)| (*sector, self.durable.sector(*sector));
        self.older =
            durable.chunk_by(|a, b| a.0 + 1 == b.0).map(|run| run.iter().map(old).collect()).collect();
        for (sector, content) in durable {
            self.durable.set(sector, &content);
        }
    }

    fn durable_sector(&self) -> u64 {
        self.cache.rules().sector
    }

    fn put(&mut self, request: Request, sector: u64, data: Option<&Arc<[u8]>>) {
        let sectors = request.offset / sector..(request.offset + request.length) / sector;
        let durable = &self.durable;
        self.cache.put(request, sectors, data, |at| durable.sector(at));
    }
}
