//! The volatile write cache of a served drive, and the effects of power cuts on it.
//!
//! The model only keeps account of the drive: latencies, programs, WAF and results are the same with and
//! without it. At a power cut it draws which version of each sector survives. If that is not the version on
//! the simulated flash, the sector is kept here until it is written again.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use wordline_hash::splitmix;
use wordline_volatile::{Cache, Content, Lost, PowerLoss, Request, Rules, Write};

/// The volatile write cache of a drive, and the effects of power cuts.
#[derive(Clone, Default)]
pub(crate) struct Volatile {
    model: Option<Model>,
    /// Sectors whose contents after a cut differ from the flash.
    left: BTreeMap<u64, Content>,
    /// Those of them that a request in flight overwrites, by request, with their earlier contents.
    going: BTreeMap<u64, Vec<(u64, Content)>>,
    /// Sectors whose newest state the drive's folder lacks.
    unwritten: BTreeSet<u64>,
    /// A summary of what each cut lost. The last cut also has a list.
    cuts: Vec<Value>,
    last: Option<Value>,
}

/// What the cache guarantees, and how a cut draws its losses.
#[derive(Clone)]
struct Model {
    cache: Cache,
    /// Size of the cache in bytes.
    size: u64,
    loss: PowerLoss,
    seed: u64,
}

impl Volatile {
    /// A cache of `size` bytes; none if `size` is 0.
    pub(crate) fn new(size: u64, rules: Rules, loss: PowerLoss, seed: u64) -> Volatile {
        let model = (size > 0).then(|| Model { cache: Cache::new(rules), size, loss, seed });
        Volatile { model, ..Volatile::default() }
    }

    /// The cache with the sectors that power cuts have left in the folder.
    pub(crate) fn with_left(mut self, left: impl Iterator<Item = (u64, Vec<u8>)>) -> Volatile {
        self.left = left.map(|(sector, bytes)| (sector, Content::of(&bytes.into(), 0))).collect();
        self
    }

    /// Whether there is neither a cache nor an effect of a power cut.
    pub(crate) fn is_idle(&self) -> bool {
        self.model.is_none() && self.left.is_empty()
    }

    /// Put whole sectors of a request into the cache. Without data they become zeroes. `flash` returns what
    /// the drive holds.
    pub(crate) fn put(
        &mut self,
        request: Request,
        sectors: Range<u64>,
        data: Option<&[u8]>,
        mut flash: impl FnMut(u64) -> Content,
    ) {
        let data: Option<Arc<[u8]>> = data.map(Into::into);
        let left = &self.left;
        if let Some(model) = &mut self.model {
            let old = |sector: u64| left.get(&sector).cloned().unwrap_or_else(|| flash(sector));
            model.cache.put(request, sectors.clone(), data.as_ref(), old);
        }
        let over: Vec<(u64, Content)> =
            self.left.range(sectors).map(|(sector, content)| (*sector, content.clone())).collect();
        for (sector, _) in &over {
            if data.is_some() {
                self.left.remove(sector);
            } else {
                // The drive may ignore a trim of less than a unit, and then holds the data from before the
                // cut.
                self.left.insert(*sector, Content::ZERO);
                self.unwritten.insert(*sector);
            }
        }
        if data.is_some() && !over.is_empty() {
            self.going.entry(request.id).or_default().extend(over);
        }
    }

    /// Contents of a range of bytes that a cut left different from the flash, by sector.
    pub(crate) fn left(&self, range: Range<u64>, sector: u64) -> Vec<(u64, Content)> {
        let range = range.start / sector..range.end.div_ceil(sector);
        self.left.range(range).map(|(at, content)| (*at, content.clone())).collect()
    }

    /// Whether any sector differs from the flash.
    pub(crate) fn has_left(&self) -> bool {
        !self.left.is_empty()
    }

    /// The sectors that differ from the flash.
    pub(crate) fn left_sectors(&self) -> impl Iterator<Item = u64> + '_ {
        self.left.keys().copied()
    }

    /// Whether a cut left data other than the flash's in a sector.
    pub(crate) fn has_left_data(&self, at: u64, sector: u64) -> bool {
        !self.left.is_empty() && self.left.get(&at).is_some_and(|left| left.bytes(sector as usize).is_some())
    }

    /// Note that a request was acknowledged.
    pub(crate) fn acknowledge(&mut self, id: u64) {
        if let Some(model) = &mut self.model {
            model.cache.acknowledge(id);
        }
    }

    /// Note that a FLUSH has arrived.
    pub(crate) fn flush(&mut self, id: u64) {
        if let Some(model) = &mut self.model {
            model.cache.flush(id);
        }
    }

    /// Note that a FLUSH was acknowledged, or failed.
    pub(crate) fn flushed(&mut self, id: u64, failed: bool) {
        let Some(model) = &mut self.model else { return };
        if failed {
            model.cache.forget_flush(id);
        } else {
            model.cache.flushed(id);
        }
    }

    /// Note that the drive has completed a request. If the cache is full, the oldest completed requests leave
    /// it.
    pub(crate) fn done(&mut self, id: u64, is_under_way: impl Fn(u64) -> bool) {
        let over = self.going.remove(&id).unwrap_or_default();
        self.unwritten.extend(over.into_iter().map(|(sector, _)| sector));
        if let Some(model) = &mut self.model {
            model.cache.write_back(model.size, |id| !is_under_way(id));
        }
    }

    /// Draw what the cut of this number leaves, by the given seed or the drive's.
    pub(crate) fn cut(&mut self, seed: Option<u64>, number: u64) {
        // A sector that was being overwritten keeps its contents, unless a version is drawn below.
        for (sector, content) in std::mem::take(&mut self.going).into_values().flatten() {
            self.left.entry(sector).or_insert(content);
        }
        let Some(model) = &mut self.model else { return };
        let seed = seed.unwrap_or_else(|| splitmix(model.seed ^ splitmix(number)));
        let lost = model.cache.draw(model.loss, seed);
        let contents = model.cache.contents(&lost);
        let (summary, list) = summary_and_list(&model.cache, &lost, model.loss, seed);
        model.cache = Cache::new(model.cache.rules());
        self.unwritten.extend(contents.keys());
        self.left.extend(contents);
        self.cuts.push(summary);
        self.last = Some(list);
    }

    /// A summary of what each cut lost.
    pub(crate) fn cuts(&self) -> &[Value] {
        &self.cuts
    }

    /// What the last cut lost, by request.
    pub(crate) fn last_cut(&self) -> Option<&Value> {
        self.last.as_ref()
    }

    /// The name of the model of losses, if there is a cache.
    pub(crate) fn loss(&self) -> Option<String> {
        self.model.as_ref().map(|model| model.loss.to_string())
    }

    /// Whether the folder lacks the newest state of a sector.
    pub(crate) fn is_unwritten(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// The sectors that the folder lacks: their bytes, or nothing if they are as on the flash again.
    pub(crate) fn take_unwritten(&mut self, sector: usize) -> Vec<(u64, Option<Vec<u8>>)> {
        let bytes = |at: &u64| {
            self.left.get(at).map(|left| {
                let mut bytes = vec![0; sector];
                left.copy_to(&mut bytes);
                bytes
            })
        };
        let rows = self.unwritten.iter().map(|at| (*at, bytes(at))).collect();
        self.unwritten.clear();
        rows
    }
}

/// What was lost: a summary, and a list by request.
fn summary_and_list(cache: &Cache, lost: &Lost, loss: PowerLoss, seed: u64) -> (Value, Value) {
    let sector = cache.rules().sector;
    let fate = |write: &Write| match lost.get(&write.request().id) {
        None => "survived",
        Some(lost) if lost == write.sectors() => "lost",
        Some(_) => "torn",
    };
    let count = |what: &str| cache.writes().filter(|write| fate(write) == what).count();
    let list = cache.writes().map(|write| {
        let request = write.request();
        let mut entry = json!({
            "op": request.op.key(),
            "offset": request.offset,
            "length": request.length,
            "acknowledged": write.acknowledged().is_some(),
            "fate": fate(write),
        });
        if let (Some(lost), "torn") = (lost.get(&request.id), fate(write)) {
            entry["lost_offsets"] = lost.iter().map(|at| at * sector).collect();
        }
        entry
    });
    let list: Vec<Value> = list.collect();
    let summary = json!({
        "model": loss.to_string(),
        "seed": seed,
        "not_durable": list.len(),
        "survived": count("survived"),
        "lost": count("lost"),
        "torn": count("torn"),
    });
    let mut whole = summary.clone();
    whole["requests"] = list.into();
    (summary, whole)
}
