//! The volatile write cache: what each sector may hold if the power is cut now.

use crate::content::Content;
use crate::rules::{PowerLoss, Request, Rules};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wordline_hash::SplitMix64;

/// What a cut loses: the sectors of each request, by request number.
pub type Lost = BTreeMap<u64, BTreeSet<u64>>;

/// A request whose sectors are not durable.
#[derive(Clone, Debug)]
pub struct Write {
    request: Request,
    sectors: BTreeSet<u64>,
    acknowledged: Option<u64>,
}

impl Write {
    /// The request.
    pub fn request(&self) -> Request {
        self.request
    }

    /// Its sectors that may still be lost.
    pub fn sectors(&self) -> &BTreeSet<u64> {
        &self.sectors
    }

    /// When it was acknowledged, as a number that increases with each acknowledgement.
    pub fn acknowledged(&self) -> Option<u64> {
        self.acknowledged
    }
}

/// What a sector may hold: its version at the last point of durability, or any later version.
#[derive(Clone, Debug, Default)]
struct Held {
    durable: Content,
    /// Later versions by request, oldest first.
    later: Vec<(u64, Content)>,
}

/// The volatile cache: every request whose sectors are not durable, and every version that a sector may hold.
#[derive(Clone, Debug)]
pub struct Cache {
    rules: Rules,
    sectors: FxHashMap<u64, Held>,
    writes: BTreeMap<u64, Write>,
    /// The requests by [`Write::acknowledged`].
    by_acknowledgement: BTreeMap<u64, u64>,
    /// Outstanding FLUSH requests, each with the number of acknowledgements when it arrived.
    flushes: BTreeMap<u64, u64>,
    acknowledgements: u64,
    acknowledged_sectors: u64,
}

impl Cache {
    /// An empty cache.
    pub fn new(rules: Rules) -> Cache {
        Cache {
            rules,
            sectors: FxHashMap::default(),
            writes: BTreeMap::new(),
            by_acknowledgement: BTreeMap::new(),
            flushes: BTreeMap::new(),
            acknowledgements: 0,
            acknowledged_sectors: 0,
        }
    }

    /// What the drive guarantees.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Add the sectors of a request, from `first` on; without data they become zeroes. `old` returns what a
    /// sector held before the cache knew it.
    pub fn put(
        &mut self,
        request: Request,
        sectors: std::ops::Range<u64>,
        data: Option<&Arc<[u8]>>,
        mut old: impl FnMut(u64) -> Content,
    ) {
        let size = self.rules.sector as usize;
        let write = self.writes.entry(request.id);
        let write = write.or_insert_with(|| Write { request, sectors: BTreeSet::new(), acknowledged: None });
        for (at, sector) in sectors.enumerate() {
            let content = data.map_or(Content::ZERO, |data| Content::of(data, at * size));
            let held = match self.sectors.entry(sector) {
                std::collections::hash_map::Entry::Occupied(held) => held.into_mut(),
                std::collections::hash_map::Entry::Vacant(place) => {
                    let durable = old(sector);
                    if durable.bytes(size).is_none() && content.bytes(size).is_none() {
                        continue; // zeroes over zeroes
                    }
                    place.insert(Held { durable, later: vec![] })
                }
            };
            held.later.retain(|(id, _)| *id != request.id);
            held.later.push((request.id, content));
            write.sectors.insert(sector);
        }
        if write.sectors.is_empty() {
            self.writes.remove(&request.id);
        }
    }

    /// Note that a request was acknowledged. With FUA, its sectors become durable; they are returned with
    /// their contents.
    pub fn acknowledge(&mut self, id: u64) -> Vec<(u64, Content)> {
        let number = self.acknowledgements;
        self.acknowledgements += 1;
        let Some(write) = self.writes.get_mut(&id).filter(|write| write.acknowledged.is_none()) else {
            return vec![];
        };
        write.acknowledged = Some(number);
        let fua = write.request.fua;
        self.acknowledged_sectors += write.sectors.len() as u64;
        self.by_acknowledgement.insert(number, id);
        let mut durable = vec![];
        if fua {
            self.make_durable(id, &mut durable);
        }
        durable
    }

    /// Note that a FLUSH has arrived. It covers all requests acknowledged so far, on all connections.
    pub fn flush(&mut self, id: u64) {
        self.flushes.insert(id, self.acknowledgements);
    }

    /// Note that a FLUSH was acknowledged, so that all it covers is durable. Returns these sectors with their
    /// contents.
    pub fn flushed(&mut self, id: u64) -> Vec<(u64, Content)> {
        let covered = self.flushes.remove(&id).unwrap_or(0);
        let covered: Vec<u64> = self.by_acknowledgement.range(..covered).map(|(_, id)| *id).collect();
        let mut durable = vec![];
        for id in covered {
            self.make_durable(id, &mut durable);
        }
        durable
    }

    /// Whether the acknowledgement of a request or FLUSH makes data durable.
    pub fn settles(&self, id: u64) -> bool {
        let covers = |covered: &u64| self.by_acknowledgement.range(..covered).next().is_some();
        self.flushes.get(&id).is_some_and(covers)
            || self.writes.get(&id).is_some_and(|write| write.request.fua)
    }

    /// Forget a FLUSH that will not be acknowledged or does not count.
    pub fn forget_flush(&mut self, id: u64) {
        self.flushes.remove(&id);
    }

    /// Note that a FLUSH has failed. No later FLUSH covers its data unless they are written again.
    pub fn fail_flush(&mut self, id: u64) {
        let covered = self.flushes.remove(&id).unwrap_or(0);
        self.by_acknowledgement = self.by_acknowledgement.split_off(&covered);
    }

    /// Write back acknowledged requests that satisfy `is_written`, oldest first, until at most `most` bytes
    /// are left.
    pub fn write_back(&mut self, most: u64, is_written: impl Fn(u64) -> bool) {
        while self.acknowledged_sectors * self.rules.sector > most {
            let oldest = self.by_acknowledgement.values().copied().find(|id| is_written(*id));
            let Some(id) = oldest else { return };
            self.make_durable(id, &mut vec![]);
        }
    }

    /// Make the versions of a request durable, and drop older ones.
    fn make_durable(&mut self, id: u64, durable: &mut Vec<(u64, Content)>) {
        let Some(write) = self.writes.remove(&id) else { return };
        self.forget_acknowledgement(&write);
        for sector in write.sectors {
            let Some(held) = self.sectors.get_mut(&sector) else { continue };
            let Some(at) = held.later.iter().position(|(by, _)| *by == id) else { continue };
            let superseded: Vec<u64> = held.later.drain(..at).map(|(by, _)| by).collect();
            held.durable = held.later.remove(0).1;
            durable.push((sector, held.durable.clone()));
            if held.later.is_empty() {
                self.sectors.remove(&sector);
            }
            for older in superseded {
                self.supersede(older, sector);
            }
        }
    }

    /// Note that a sector of a request has been superseded, so that it can neither be lost nor survive.
    fn supersede(&mut self, id: u64, sector: u64) {
        let Some(write) = self.writes.get_mut(&id) else { return };
        write.sectors.remove(&sector);
        self.acknowledged_sectors -= u64::from(write.acknowledged.is_some());
        if write.sectors.is_empty()
            && let Some(write) = self.writes.remove(&id)
        {
            self.forget_acknowledgement(&write);
        }
    }

    fn forget_acknowledgement(&mut self, write: &Write) {
        if let Some(number) = write.acknowledged {
            self.by_acknowledgement.remove(&number);
            self.acknowledged_sectors -= write.sectors.len() as u64;
        }
    }

    /// Requests whose sectors may be lost, in order of arrival.
    pub fn writes(&self) -> impl DoubleEndedIterator<Item = &Write> + Clone {
        self.writes.values()
    }

    /// What each sector holds if `lost` is lost and all else survives.
    pub fn contents(&self, lost: &Lost) -> BTreeMap<u64, Content> {
        let sectors: BTreeSet<u64> = self.writes.values().flat_map(|w| w.sectors.iter().copied()).collect();
        let is_lost = |id: &u64, sector: &u64| lost.get(id).is_some_and(|lost| lost.contains(sector));
        let content = |sector: u64| {
            let held = self.sectors.get(&sector)?;
            let survivor = held.later.iter().rev().find(|(id, _)| !is_lost(id, &sector));
            Some((sector, survivor.map_or(&held.durable, |(_, content)| content).clone()))
        };
        sectors.into_iter().filter_map(content).collect()
    }

    /// The newest contents of a sector that is not durable.
    pub fn newest(&self, sector: u64) -> Option<&Content> {
        self.sectors.get(&sector)?.later.last().map(|(_, content)| content)
    }

    /// Draw what a cut loses.
    pub fn draw(&self, loss: PowerLoss, seed: u64) -> Lost {
        let mut random = SplitMix64::new(seed);
        let mut order: Vec<&Write> = self.writes.values().collect();
        order.sort_by_key(|write| (write.acknowledged.unwrap_or(u64::MAX), write.request.id));
        let acknowledged = order.iter().filter(|write| write.acknowledged.is_some()).count();
        let kept = random.bits() % (order.len() as u64 + 1);
        let mut lost = Lost::new();
        for (at, write) in order.into_iter().enumerate() {
            let behind = acknowledged.saturating_sub(at + 1) as u64;
            let certain = match loss {
                PowerLoss::Any => None,
                PowerLoss::None => write.acknowledged.map(|_| false),
                PowerLoss::Fifo if at as u64 == kept => None,
                PowerLoss::Fifo => Some(at as u64 > kept),
                PowerLoss::Window(n) => (write.acknowledged.is_some() && behind >= n).then_some(false),
                PowerLoss::All => Some(true),
            };
            let sectors = match certain {
                Some(true) => write.sectors.clone(),
                Some(false) => BTreeSet::new(),
                None => self.tear(write, || random.bits() >> 63 == 0),
            };
            if !sectors.is_empty() {
                lost.insert(write.request.id, sectors);
            }
        }
        lost
    }

    /// The lost sectors of a request, with one draw per sector, or a single draw if the request is atomic.
    pub fn tear(&self, write: &Write, mut is_lost: impl FnMut() -> bool) -> BTreeSet<u64> {
        if !self.rules.is_atomic(&write.request) {
            return write.sectors.iter().copied().filter(|_| is_lost()).collect();
        }
        if is_lost() { write.sectors.clone() } else { BTreeSet::new() }
    }
}
