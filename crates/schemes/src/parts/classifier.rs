//! State of HySSD about a workload: the order of last writes, which pages reside in the superior medium, and
//! how many other pages are written before writes and reads return to a page. From the last follow the hit
//! rates of every size that the superior medium's share could have.

use serde::{Deserialize, Serialize};
use wordline_reuse::LruStack;

/// Classes of stack distances.
const BUCKETS: usize = 1024;

/// How many accesses found their page at which depth of the order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReuseDistances {
    found: Vec<f64>,
    /// Including those that did not find it at all.
    all: f64,
}

impl ReuseDistances {
    fn new() -> ReuseDistances {
        ReuseDistances { found: vec![0.0; BUCKETS], all: 0.0 }
    }

    fn count(&mut self, distance: Option<u32>, capacity: u32) {
        self.all += 1.0;
        let bucket = distance.map(|d| (d as u64 * BUCKETS as u64 / capacity.max(1) as u64) as usize);
        if let Some(n) = bucket.and_then(|b| self.found.get_mut(b)) {
            *n += 1.0;
        }
    }

    /// The share that an order cut off at each of this many parts of the capacity would have found.
    fn hit_rates(&self) -> HitRates {
        let mut sum = 0.0;
        let mut below = vec![0.0];
        for n in &self.found {
            sum += n;
            below.push(if self.all > 0.0 { sum / self.all } else { 0.0 });
        }
        HitRates(below)
    }

    fn halve(&mut self) {
        self.found.iter_mut().for_each(|n| *n *= 0.5);
        self.all *= 0.5;
    }
}

/// A hit rate curve: H(u).
pub(crate) struct HitRates(Vec<f64>);

impl HitRates {
    /// The hit rate when the share `u` of the capacity is used.
    pub fn at(&self, u: f64) -> f64 {
        self.0[((u * BUCKETS as f64) as usize).min(BUCKETS)]
    }
}

/// The Data Classifier.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Classifier {
    /// Pages by last write, at most as many as the superior medium can hold.
    order: LruStack,
    /// Those in the superior medium, or on their way to it.
    residents: LruStack,
    /// The period in which each page was written last.
    written_in: Vec<u32>,
    /// B: pages that the superior medium could hold.
    capacity: u32,
    writes: ReuseDistances,
    reads: ReuseDistances,
}

impl Classifier {
    pub fn new(logical_pages: u32, capacity: u32) -> Classifier {
        Classifier {
            order: LruStack::new(logical_pages as usize),
            residents: LruStack::new(logical_pages as usize),
            written_in: vec![0; logical_pages as usize],
            capacity,
            writes: ReuseDistances::new(),
            reads: ReuseDistances::new(),
        }
    }

    /// A page is in the superior medium without being recorded.
    pub fn found(&mut self, page: u32) {
        self.residents.renew(page);
    }

    /// A page is written. Returns whether it was resident; it is now.
    pub fn write(&mut self, page: u32, period: u32) -> bool {
        let distance = self.order.touch(page);
        if self.order.len() > self.capacity as usize
            && let Some(coldest) = self.order.coldest()
        {
            self.order.remove(coldest);
        }
        self.writes.count(distance, self.capacity);
        self.written_in[page as usize] = period;
        self.residents.renew(page)
    }

    /// A page is read, which leaves the order as it is.
    pub fn read(&mut self, page: u32) {
        self.reads.count(self.order.distance(page), self.capacity);
    }

    /// A page is trimmed.
    pub fn remove(&mut self, page: u32) {
        self.order.remove(page);
        self.residents.remove(page);
    }

    /// A page leaves the superior medium.
    pub fn leave(&mut self, page: u32) {
        self.residents.remove(page);
    }

    /// Whether the superior medium holds a page, or soon will.
    pub fn is_resident(&self, page: u32) -> bool {
        self.residents.contains(page)
    }

    /// Pages of the superior medium, the one written longest ago first.
    pub fn coldest_residents(&mut self) -> impl Iterator<Item = u32> {
        self.residents.coldest(); // so that the stack remembers where they begin
        self.residents.coldest_first()
    }

    /// How many there are.
    pub fn residents(&self) -> u32 {
        self.residents.len() as u32
    }

    /// The period in which a page was written last; 0 for those that never were.
    pub fn written_in(&self, page: u32) -> u32 {
        self.written_in[page as usize]
    }

    /// H_w and H_r of each size that the superior medium's share could have.
    pub fn hit_rates(&self) -> (HitRates, HitRates) {
        (self.writes.hit_rates(), self.reads.hit_rates())
    }

    /// IO_W: the share of writes among all page accesses.
    pub fn io_w(&self) -> f64 {
        let all = self.writes.all + self.reads.all;
        if all > 0.0 { self.writes.all / all } else { 1.0 }
    }

    /// Older records count half.
    pub fn age(&mut self) {
        self.writes.halve();
        self.reads.halve();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hit_rates_are_those_of_an_lru_cache_of_each_size() {
        // Pages 0 to 63 in a circle: an LRU cache of 64 pages holds each, a smaller one none.
        let mut c = Classifier::new(200, 128);
        (0..64 * 10).for_each(|i| {
            c.write(i % 64, 0);
        });
        c.read(0);
        c.read(150);
        let (writes, reads) = (c.writes.hit_rates(), c.reads.hit_rates());
        assert_eq!((writes.at(0.25), writes.at(0.49)), (0.0, 0.0));
        assert!((writes.at(0.5) - 0.9).abs() < 1e-12 && (writes.at(1.0) - 0.9).abs() < 1e-12);
        assert_eq!((reads.at(0.5), reads.at(1.0)), (0.5, 0.5));
        assert!((c.io_w() - 640.0 / 642.0).abs() < 1e-12);
    }

    #[test]
    fn order_holds_no_more_pages_than_the_superior_medium() {
        let mut c = Classifier::new(100, 10);
        (0..100).for_each(|i| {
            c.write(i, 0);
        });
        c.write(89, 0);
        c.write(91, 0);
        assert_eq!(c.writes.hit_rates().at(1.0), 1.0 / 102.0);
    }

    #[test]
    fn residents_stay_in_the_order_of_their_last_write() {
        let mut c = Classifier::new(10, 10);
        c.found(7);
        assert!(!c.write(3, 1) && !c.write(4, 2) && c.write(7, 3) && c.write(3, 4));
        assert_eq!(c.coldest_residents().collect::<Vec<_>>(), [4, 7, 3]);
        c.leave(7);
        c.remove(4);
        let coldest = c.coldest_residents().next();
        assert_eq!((c.residents(), coldest, c.written_in(3)), (1, Some(3), 4));
    }
}
