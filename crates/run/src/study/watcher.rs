//! The probe of a rerun: what the last operation of a request waited for in its plane, at its array and bus, and
//! why.
//!
//! It keeps the history of each plane as far back as an outstanding request may have waited for it, so that
//! memory grows with the queue and not with the run.

use crate::ask::setup::Setup;
use crate::error::RunError;
use crate::study::intervals::Intervals;
use crate::study::shortages::Shortages;
use crate::study::why_causes::Meanwhile;
use crate::study::why_sums::{Sums, WhyAsked};
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;
use wordline_ftl::{Cause, Collecting, LatencyPart, OpKind, Part};
use wordline_report::{Beside, Busy, Emptied, LastPiece, Report, Spent, Story, WhySummary, Work};
use wordline_sim::{Begin, Completion, Event, Moment, Probe};
use wordline_units::{HostOp, Lpn, SimTime};

/// A use of an array or a bus.
#[derive(Clone, Copy)]
struct Use {
    is_bus: bool,
    start: SimTime,
    end: SimTime,
}

/// An operation that has had its plane.
struct Seen {
    begin: Begin,
    lpns: Vec<Lpn>,
    queued: SimTime,
    blocked: Option<SimTime>,
    began: SimTime,
    /// [`SimTime::NEVER`] while it lasts.
    ended: SimTime,
    uses: Vec<Use>,
    retries: u8,
    empties: Option<Emptied>,
}

impl Seen {
    fn overlaps(&self, from: SimTime, to: SimTime) -> bool {
        self.began < to && self.ended > from
    }
}

/// A submitted request, until it and all earlier ones have completed.
struct Outstanding {
    number: u64,
    since: SimTime,
    op: HostOp,
    ended: bool,
    /// Outstanding requests when it was admitted.
    beside: Option<Beside>,
}

const KINDS: [&str; 4] = ["read", "write", "trim", "flush"];

/// Watches a run to explain some of its requests.
pub(crate) struct Watcher {
    asked: BTreeSet<u64>,
    /// Explanations of the selected requests, and of the slowest so far, by latency and number.
    told: HashMap<u64, Story>,
    slowest: BTreeMap<(u64, Reverse<u64>), Story>,
    most: usize,
    sums: Vec<Sums>,
    /// Lower bound of the slowest latencies.
    floor: u64,
    op: Option<HostOp>,
    told_all: Rc<Cell<bool>>,
    /// Names and modes.
    regions: Vec<(String, String)>,
    slot_shift: u32,
    lbas_per_page: u64,
    channels: Vec<u32>,
    dies: Vec<u32>,
    /// Queued operations: since when, and since when without a free page.
    queued: HashMap<u64, (SimTime, Option<SimTime>)>,
    /// History of each plane, as far back as the oldest outstanding request.
    planes: Vec<VecDeque<Seen>>,
    shortages: Shortages,
    unit: u64,
    /// Requests in order of arrival, and whether they have completed.
    outstanding: VecDeque<Outstanding>,
    /// Number of outstanding requests by kind.
    under_way: [u64; 4],
    /// Last operations of requests that are still on the link.
    decided: HashMap<u64, (usize, u64)>,
    /// The plane of the operation that ended last.
    last_plane: usize,
}

impl Watcher {
    pub(crate) fn new(setup: &Setup, asked: &WhyAsked) -> Watcher {
        let g = &setup.geometry;
        let planes = || (0..g.planes).map(wordline_units::PlaneId);
        Watcher {
            asked: asked.numbers.iter().copied().collect(),
            told: HashMap::new(),
            slowest: BTreeMap::new(),
            most: if asked.numbers.is_empty() { asked.slowest } else { 0 },
            sums: vec![],
            floor: 0,
            op: asked.op,
            told_all: Rc::default(),
            regions: vec![],
            slot_shift: g.slot_shift,
            lbas_per_page: setup.device.unit.0 / wordline_units::LBA_BYTES,
            channels: planes().map(|p| g.channel_of(g.die_of(p)).0).collect(),
            dies: planes().map(|p| g.die_of(p).0).collect(),
            queued: HashMap::new(),
            planes: planes().map(|_| VecDeque::new()).collect(),
            shortages: Shortages::default(),
            unit: setup.device.unit.0,
            outstanding: VecDeque::new(),
            under_way: [0; 4],
            decided: HashMap::new(),
            last_plane: 0,
        }
    }

    /// Explain only requests at least as slow as `floor`, in nanoseconds, and sum causes up.
    pub(crate) fn with(self, floor: u64, sums: Vec<Sums>) -> Watcher {
        Watcher { floor, sums, ..self }
    }

    /// The regions of the drive are named so: name and mode.
    pub(crate) fn name_regions(&mut self, regions: Vec<(String, String)>) {
        self.regions = regions;
    }

    /// Whether all requests that were asked about have been explained, as it changes.
    pub(crate) fn has_told_all(&self) -> Rc<Cell<bool>> {
        self.told_all.clone()
    }

    /// Causes summed up.
    pub(crate) fn summaries(&self) -> Vec<WhySummary> {
        self.sums.iter().filter(|sums| !sums.is_empty()).map(Sums::summary).collect()
    }

    /// The explanations in the requested order.
    pub(crate) fn stories(&mut self, asked: &WhyAsked, report: &Report) -> Result<Vec<Story>, RunError> {
        if asked.numbers.is_empty() {
            let slowest = std::mem::take(&mut self.slowest);
            return Ok(slowest.into_values().rev().collect());
        }
        let missing = |number: &u64| {
            RunError::Input(format!(
                "the run has no request {number}\n  allowed: 0 to {}",
                report.host.requests.saturating_sub(1)
            ))
        };
        asked.numbers.iter().map(|n| self.told.get(n).cloned().ok_or_else(|| missing(n))).collect()
    }

    /// Nothing before this can delay an outstanding request.
    fn horizon(&self, now: SimTime) -> SimTime {
        self.outstanding.front().map_or(now, |first| first.since)
    }

    /// Position of a request among the outstanding ones, which arrived in order of their numbers.
    fn place(&self, number: u64) -> Option<usize> {
        let first = self.outstanding.front()?;
        let place = number.checked_sub(first.number)? as usize;
        (place < self.outstanding.len()).then_some(place)
    }

    fn seen(&mut self, plane: usize, op: u64) -> Option<&mut Seen> {
        self.planes[plane].iter_mut().rev().find(|seen| seen.begin.op == op)
    }

    fn emptied(&self, empties: Option<Collecting>) -> Option<Emptied> {
        let empties = empties?;
        let name = self.regions.get(empties.region.0 as usize).cloned().unwrap_or_default();
        Some(self.shortages.emptied(empties, name))
    }

    /// Work of the planes in an interval.
    fn meanwhile(&self, from: SimTime, to: SimTime) -> Vec<Busy> {
        let mut all = Meanwhile::default();
        for seen in self.planes.iter().flatten().filter(|seen| seen.overlaps(from, to)) {
            let last = seen.uses.iter().map(|u| u.end).max().unwrap_or(seen.began);
            let (start, end) = (seen.began.max(from), seen.ended.min(last).min(to));
            if end > start {
                all.add(self.while_planes_had(seen), end.since(start).0);
            }
        }
        all.busiest()
    }

    /// An operation and when it had something.
    fn work(&self, seen: &Seen, had: &str, (start, end): (SimTime, SimTime)) -> Work {
        let b = &seen.begin;
        Work {
            op: b.op,
            kind: b.kind.key().to_string(),
            cause: b.cause.key().to_string(),
            had: had.to_string(),
            start_ns: start.0,
            end_ns: end.0,
            channel: b.channel.0,
            die: b.die.0,
            plane: b.plane.0,
            block: b.ppn.0 >> self.slot_shift,
            slot: b.ppn.0 & ((1 << self.slot_shift) - 1),
            region: self.regions.get(b.region.0 as usize).cloned().unwrap_or_default().0,
            mode: b.mode.key().to_string(),
            page: b.page.key().to_string(),
            retries: seen.retries,
            empties: seen.empties.clone(),
        }
    }

    fn while_planes_had(&self, seen: &Seen) -> Work {
        // What has not ended yet is cut where the story ends.
        let last = seen.uses.iter().map(|u| u.end).max().unwrap_or(seen.began);
        self.work(seen, "plane", (seen.began, seen.ended.min(last)))
    }

    /// Explain a completed request.
    fn tell(&self, c: &Completion) -> Story {
        let parts = c.parts.nanoseconds().iter().zip(LatencyPart::ALL).filter(|(ns, _)| **ns > 0);
        let mut story = Story {
            number: c.number,
            op: c.request.op.key().to_string(),
            lba: c.request.lba.0,
            blocks: c.request.blocks as u64,
            outcome: c.outcome.key().to_string(),
            arrival_ns: c.request.arrival.0,
            completion_ns: c.at.0,
            parts_ns: parts.map(|(ns, part)| (part.key().to_string(), *ns)).collect(),
            ..Story::default()
        };
        let own = self.place(c.number).map(|place| &self.outstanding[place]);
        let came = own.map(|own| own.since);
        if came.is_some_and(|came| came > c.request.arrival) {
            story.let_in_beside = own.and_then(|own| own.beside.clone());
        }
        let after = |at: SimTime, part: LatencyPart| SimTime(at.0 + c.parts[part]);
        let admitted = after(c.request.arrival, LatencyPart::Admission);
        let mapped = after(admitted, LatencyPart::MapMiss);
        let launched = after(mapped, LatencyPart::Staging);
        let over = SimTime(c.at.0 - c.parts[LatencyPart::Link]);
        let mut to = Intervals::from(c.request.arrival);
        let let_in = came.unwrap_or(admitted).min(admitted);
        to.beside(let_in, Spent::QueueFull, vec![], self.meanwhile(to.at(), let_in));
        to.beside(admitted, Spent::BufferFull, vec![], self.meanwhile(to.at(), admitted));
        to.until(mapped, Spent::MapMiss, self.map_reads(mapped));
        let last = self
            .decided
            .get(&c.number)
            .and_then(|(plane, op)| self.planes[*plane].iter().rev().find(|seen| seen.begin.op == *op));
        match last {
            None => to.until(over, Spent::InRam, vec![]),
            Some(last) => {
                let own = launched == last.queued && c.request.op != HostOp::Flush;
                story.last = Some(self.piece(last, own));
                if own {
                    if let Some(read) = self.brought(last, c, admitted) {
                        story.brought = Some(self.piece(read, true));
                        to.until(read.queued, Spent::InRam, vec![]);
                        self.went(&mut to, read);
                    }
                    to.until(last.queued, Spent::InRam, vec![]);
                    self.went(&mut to, last);
                } else {
                    let behind = vec![self.while_planes_had(last)];
                    to.beside(over, Spent::InRam, behind, self.meanwhile(to.at(), over));
                }
            }
        }
        to.until(over, Spent::InRam, vec![]);
        to.until(c.at, Spent::Link, vec![]);
        story.stretches = to.into_stretches();
        story
    }

    /// The reads of a mapping page at an instant.
    fn map_reads(&self, came: SimTime) -> Vec<Work> {
        let brings = |seen: &&Seen| {
            let of_map = seen.begin.kind == OpKind::Read && seen.begin.cause == Cause::Metadata;
            of_map && seen.uses.iter().map(|u| u.end).max() == Some(came)
        };
        self.planes.iter().flatten().filter(brings).map(|seen| self.while_planes_had(seen)).collect()
    }

    fn piece(&self, seen: &Seen, own: bool) -> LastPiece {
        LastPiece {
            work: self.while_planes_had(seen),
            queued_ns: seen.queued.0,
            blocked_ns: seen.blocked.map(|at| at.0),
            own,
            pages: [seen.lpns.len() as u32, seen.begin.slots],
        }
    }

    /// The last read of a page's missing data before its program could be queued.
    fn brought(&self, program: &Seen, c: &Completion, admitted: SimTime) -> Option<&Seen> {
        let (first, last) = (c.request.lba.0, c.request.lba.0 + c.request.blocks as u64);
        let asked = first / self.lbas_per_page..last.div_ceil(self.lbas_per_page);
        let pages = |seen: &Seen| {
            let mine = |lpn: &&Lpn| asked.contains(&(lpn.0 as u64)) && program.lpns.contains(lpn);
            seen.lpns.iter().find(mine).is_some()
        };
        let brings = |seen: &&Seen| {
            let read = seen.begin.kind == OpKind::Read && seen.begin.cause == Cause::Rmw;
            read && seen.ended > admitted && seen.ended <= program.queued && pages(seen)
        };
        self.planes.iter().flatten().filter(brings).max_by_key(|seen| seen.ended)
    }

    /// The path of an operation from its plane's queue to its end.
    fn went(&self, to: &mut Intervals, seen: &Seen) {
        to.follow(Some(seen.begin.op));
        self.waited(to, seen);
        self.worked(to, seen);
        to.follow(None);
    }

    /// From queueing of an operation to its start in the plane.
    fn waited(&self, to: &mut Intervals, last: &Seen) {
        let plane = last.begin.plane.index();
        let looked = last.blocked.unwrap_or(last.began);
        let others = || self.planes[plane].iter().filter(|seen| seen.begin.op != last.begin.op);
        while to.at() < looked {
            // What has the plane now, and all that follows without a gap.
            let mut end = to.at();
            let mut behind = vec![];
            for seen in others().filter(|seen| seen.overlaps(to.at(), looked)) {
                if seen.began <= end {
                    end = end.max(seen.ended.min(looked));
                    behind.push(self.while_planes_had(seen));
                }
            }
            if end > to.at() {
                to.until(end, Spent::PlaneBusy, behind);
                continue;
            }
            let next = others().filter(|seen| seen.began > to.at()).map(|seen| seen.began).min();
            let until = next.unwrap_or(looked).min(looked);
            self.resource(to, last, last.begin.kind == OpKind::Program, until);
        }
        let space: Vec<Work> = others()
            .filter(|seen| seen.overlaps(to.at(), last.began) && seen.begin.empties.is_some())
            .map(|seen| self.while_planes_had(seen))
            .collect();
        to.until(last.began, Spent::NoSpace, space);
    }

    /// From the start of an operation in the plane to its end.
    fn worked(&self, to: &mut Intervals, last: &Seen) {
        for u in &last.uses {
            self.resource(to, last, u.is_bus, u.start);
            to.until(u.end, if u.is_bus { Spent::Bus } else { Spent::Array }, vec![]);
        }
    }

    /// An operation waits for its array or bus.
    fn resource(&self, to: &mut Intervals, last: &Seen, bus: bool, until: SimTime) {
        if until <= to.at() {
            return;
        }
        let plane = last.begin.plane.index();
        let shares = |other: usize| match bus {
            true => self.channels[other] == self.channels[plane],
            false => self.dies[other] == self.dies[plane],
        };
        let mut behind: Vec<Work> = vec![];
        for other in (0..self.planes.len()).filter(|other| shares(*other)) {
            for seen in self.planes[other].iter().filter(|seen| seen.begin.op != last.begin.op) {
                let uses = seen.uses.iter().filter(|u| u.is_bus == bus && u.start < until && u.end > to.at());
                let had = if bus { "bus" } else { "array" };
                behind.extend(uses.map(|u| self.work(seen, had, (u.start, u.end))));
            }
        }
        behind.sort_by_key(|work| (work.start_ns, work.op));
        to.until(until, if bus { Spent::BusBusy } else { Spent::ArrayBusy }, behind);
    }
}

impl Probe for Watcher {
    const WATCHES: bool = true;

    fn begin(&mut self, b: &Begin, parts: impl Iterator<Item = Part>) {
        let (queued, blocked) = self.queued.remove(&b.op).unwrap_or((SimTime::NEVER, None));
        let empties = self.emptied(b.empties);
        let parts: Vec<Part> = parts.collect();
        if let (Some(from), OpKind::Program, Cause::Migrate) = (b.empties, b.kind, b.cause) {
            self.shortages.left(from.region, parts.len() as u64 * self.unit);
        }
        self.planes[b.plane.index()].push_back(Seen {
            begin: *b,
            lpns: parts.iter().map(|part| part.lpn).collect(),
            queued,
            blocked,
            began: SimTime::NEVER,
            ended: SimTime::NEVER,
            uses: vec![],
            retries: 0,
            empties,
        });
    }

    fn event(&mut self, event: Event) {
        let (op, plane, used) = match event {
            Event::Array { op, plane, start, end, retries, .. } => {
                if let Some(seen) = self.seen(plane.index(), op) {
                    seen.retries = retries;
                }
                (op, plane, Use { is_bus: false, start, end })
            }
            Event::Bus { op, plane, start, end, .. } => (op, plane, Use { is_bus: true, start, end }),
            Event::Ready { op, plane, at } => {
                let horizon = self.horizon(at);
                self.last_plane = plane.index();
                let seen = self.seen(plane.index(), op).map(|seen| {
                    seen.ended = at;
                    seen.begin
                });
                if let Some(Begin { kind: OpKind::Erase, empties: Some(emptied), .. }) = seen {
                    self.shortages.end(emptied.block, at);
                }
                let done = &mut self.planes[plane.index()];
                // The last stays, since requests may end with it at this moment.
                while done.len() > 2 && done.front().is_some_and(|seen| seen.ended <= horizon) {
                    done.pop_front();
                }
                return;
            }
        };
        if let Some(seen) = self.seen(plane.index(), op) {
            seen.began = seen.began.min(used.start);
            seen.uses.push(used);
        }
    }

    fn moment(&mut self, moment: Moment) {
        match moment {
            Moment::Submitted { request, op, at } => {
                let beside = self.outstanding.front().map(|oldest| Beside {
                    requests: KINDS.into_iter().map(str::to_string).zip(self.under_way).collect(),
                    oldest: oldest.number,
                    oldest_since_ns: oldest.since.0,
                });
                self.under_way[op as usize] += 1;
                let own = Outstanding { number: request, since: at, op, ended: false, beside };
                self.outstanding.push_back(own);
            }
            Moment::Queued { op, empties, at, .. } => {
                self.queued.insert(op, (at, None));
                if let Some(empties) = empties {
                    self.shortages.begin(empties, at);
                }
            }
            Moment::Blocked { op, at } => {
                if let Some((_, blocked)) = self.queued.get_mut(&op) {
                    blocked.get_or_insert(at);
                }
            }
            Moment::Decided { request, op, .. } => {
                self.decided.insert(request, (self.last_plane, op));
            }
        }
    }

    fn completion(&mut self, c: &Completion) {
        let latency = c.at.since(c.request.arrival).0;
        if self.asked.remove(&c.number) {
            let story = self.tell(c);
            self.told.insert(c.number, story);
            self.told_all.set(self.asked.is_empty());
        }
        let key = (latency, Reverse(c.number));
        let ranks =
            self.slowest.len() < self.most || self.slowest.keys().next().is_some_and(|least| *least < key);
        if self.most > 0 && latency >= self.floor && ranks && self.op.is_none_or(|op| op == c.request.op) {
            let story = self.tell(c);
            self.slowest.insert(key, story);
            if self.slowest.len() > self.most {
                self.slowest.pop_first();
            }
        }
        let mut sums = std::mem::take(&mut self.sums);
        sums.iter_mut().for_each(|sums| sums.see(c, || self.tell(c)));
        self.sums = sums;
        self.decided.remove(&c.number);
        if let Some(place) = self.place(c.number) {
            self.outstanding[place].ended = true;
            self.under_way[self.outstanding[place].op as usize] -= 1;
        }
        while self.outstanding.front().is_some_and(|first| first.ended) {
            self.outstanding.pop_front();
        }
    }
}
