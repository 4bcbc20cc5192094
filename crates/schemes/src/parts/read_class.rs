//! Read classes of pages: a paper's access frequency can be the count at the current read, a count up to an earlier
//! time, or the reuse distance.

use crate::parameters::{Parameter, Parameters};
use serde::{Deserialize, Serialize};
use wordline_ftl::RegionId;
use wordline_units::CellMode;

/// QLC, where data rest.
pub(crate) const Z: RegionId = RegionId(0);
/// TLC.
pub(crate) const Y: RegionId = RegionId(1);
/// SLC.
pub(crate) const X: RegionId = RegionId(2);

/// The bits of a region's cells, and the heat from which on a page belongs there.
pub(crate) fn made_for(region: RegionId) -> (CellMode, Class) {
    match region {
        X => (CellMode::Slc, Class::Hot),
        Y => (CellMode::Tlc, Class::Warm),
        _ => (CellMode::Qlc, Class::Cold),
    }
}

pub(crate) const WARM: Parameter = Parameter::new("warm", "4", "number of reads that make a page warm");
pub(crate) const HOT: Parameter =
    Parameter::new("hot", "16", "number of reads that make a page hot; more than warm");
pub(crate) const CLASS: Parameter = Parameter::new(
    "class",
    "read",
    "read, period or distance: classify a page by its read count so far, by its count at the end of the last period, \
     or by its reuse distance",
);
pub(crate) const PERIOD: Parameter =
    Parameter::new("period", "10000", "with class=period: length of a period, in pages read by the host");
pub(crate) const HOT_WITHIN: Parameter = Parameter::new(
    "hot_within",
    "2000",
    "with class=distance: largest reuse distance of a hot page, in pages read by the host",
);
pub(crate) const WARM_WITHIN: Parameter = Parameter::new(
    "warm_within",
    "10000",
    "with class=distance: largest reuse distance of a warm page; at least hot_within",
);

/// How often a page is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Class {
    Cold,
    Warm,
    Hot,
}

/// Basis of the class of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    /// Its count at the current read.
    Read,
    /// Its count at the end of the last period of this many pages read.
    Period(u64),
    /// The pages read since its last read: within this many it is hot, within this many warm.
    Distance { hot: u64, warm: u64 },
}

/// Thresholds of warm and hot pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classes {
    by: By,
    warm: u32,
    hot: u32,
}

impl Classes {
    pub fn from_parameters(p: &mut Parameters) -> Classes {
        let warm = p.whole("warm", 1..=u32::MAX);
        let hot = p.whole("hot", 1..=u32::MAX);
        let hot = if p.has("hot") { hot } else { hot.max(warm.saturating_add(1)) };
        if hot <= warm {
            p.refuse("hot", format!("hot={hot} must be larger than warm={warm}"));
        }
        let period = By::Period(p.whole("period", 1..=u32::MAX) as u64);
        let within = ["hot_within", "warm_within"].map(|key| p.whole(key, 1..=u32::MAX) as u64);
        let [hot_within, warm_within] = within;
        if hot_within > warm_within {
            let key = if p.has("hot_within") { "hot_within" } else { "warm_within" };
            let why = format!("hot_within={hot_within} must not exceed warm_within={warm_within}");
            p.refuse(key, why);
        }
        let distance = By::Distance { hot: hot_within, warm: warm_within };
        let by = p.choice("class", &[("read", By::Read), ("period", period), ("distance", distance)]);
        Classes { by, warm, hot }
    }

    fn of_count(&self, reads: u32) -> Class {
        match reads {
            reads if reads >= self.hot => Class::Hot,
            reads if reads >= self.warm => Class::Warm,
            _ => Class::Cold,
        }
    }
}

/// How often, and where classes need it when, each place or logical page was read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reads {
    counts: Vec<u32>,
    /// By period, one more than the number of the last period with a read, and its count before that; by distance,
    /// the number of its last read; 0 without a read.
    last: Vec<u64>,
    before: Vec<u32>,
}

impl Reads {
    /// Initial state of this many places or pages.
    pub fn of(places: usize, classes: &Classes) -> Reads {
        let mut reads = Reads::default();
        reads.grow(places, classes);
        reads
    }

    /// Room for this many.
    pub fn grow(&mut self, places: usize, classes: &Classes) {
        let [counts, last, before] = match classes.by {
            By::Read => [places, 0, 0],
            By::Period(_) => [places; 3],
            By::Distance { .. } => [places, places, 0],
        };
        self.counts.resize(counts, 0);
        self.last.resize(last, 0);
        self.before.resize(before, 0);
    }

    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Nothing has been read of some of them.
    pub fn forget(&mut self, places: std::ops::Range<usize>) {
        self.counts[places.clone()].fill(0);
        if let Some(last) = self.last.get_mut(places.clone()) {
            last.fill(0);
        }
        if let Some(before) = self.before.get_mut(places) {
            before.fill(0);
        }
    }

    /// Halve all counts.
    fn halve(&mut self) {
        self.counts.iter_mut().chain(&mut self.before).for_each(|reads| *reads /= 2);
    }

    /// How often it was read.
    pub fn count(&self, at: usize) -> u32 {
        self.counts.get(at).copied().unwrap_or(0)
    }

    /// How hot it is after this many pages read in all.
    pub fn class(&self, at: usize, read: u64, classes: &Classes) -> Class {
        let last = self.last.get(at).copied().unwrap_or(0);
        match classes.by {
            By::Read => classes.of_count(self.count(at)),
            By::Period(pages) if last == read / pages + 1 => classes.of_count(self.before[at]),
            By::Period(_) => classes.of_count(self.count(at)),
            By::Distance { .. } if last == 0 => Class::Cold,
            By::Distance { hot, warm } => match read - last {
                since if since <= hot => Class::Hot,
                since if since <= warm => Class::Warm,
                _ => Class::Cold,
            },
        }
    }

    /// Count the read after this many, halve all counts when due, and return the class of the read page.
    pub fn read(&mut self, at: usize, read: u64, halve: bool, classes: &Classes) -> Class {
        let is_known = at < self.len();
        if is_known {
            if let By::Period(pages) = classes.by
                && self.last[at] != read / pages + 1
            {
                (self.last[at], self.before[at]) = (read / pages + 1, self.counts[at]);
            }
            self.counts[at] = self.counts[at].saturating_add(1);
        }
        if halve {
            self.halve();
        }
        let class = self.class(at, read + 1, classes);
        match classes.by {
            By::Period(_) if is_known => classes.of_count(self.before[at]),
            By::Distance { .. } if is_known => {
                self.last[at] = read + 1;
                class
            }
            _ => class,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WARM: u32 = 2;
    const HOT: u32 = 3;

    /// How hot a place is at each of its reads, which come when this many pages have been read in all.
    fn at_reads(by: By, reads: &[u64]) -> Vec<Class> {
        let classes = Classes { by, warm: WARM, hot: HOT };
        let mut of = Reads::of(2, &classes);
        reads.iter().map(|read| of.read(1, *read, false, &classes)).collect()
    }

    #[test]
    fn the_class_at_the_read_is_warm_before_it_is_hot() {
        use Class::{Cold, Hot, Warm};
        assert_eq!(at_reads(By::Read, &[0, 1, 2, 3]), [Cold, Warm, Hot, Hot]);
    }

    #[test]
    fn count_halved_at_a_read_is_halved_for_its_class() {
        let classes = Classes { by: By::Read, warm: WARM, hot: HOT };
        let mut of = Reads::of(2, &classes);
        let seen = [false, false, true, false].map(|halve| of.read(1, 0, halve, &classes));
        assert_eq!(seen, [Class::Cold, Class::Warm, Class::Cold, Class::Warm]);
    }

    #[test]
    fn the_class_of_a_period_is_that_at_its_end() {
        use Class::{Cold, Hot};
        assert_eq!(at_reads(By::Period(10), &[0, 1, 2, 9, 10, 11]), [Cold, Cold, Cold, Cold, Hot, Hot]);
        // Of one read each: what it was at the read before, though periods have gone by since.
        assert_eq!(at_reads(By::Period(1), &[0, 1, 7, 50]), [Cold, Cold, Class::Warm, Hot]);
    }

    #[test]
    fn distance_class_is_that_of_the_last_two_reads() {
        use Class::{Cold, Hot, Warm};
        let by = By::Distance { hot: 2, warm: 5 };
        assert_eq!(at_reads(by, &[0, 1, 3, 6, 11, 17]), [Cold, Hot, Hot, Warm, Warm, Cold]);
    }

    #[test]
    fn forgotten_pages_restart_and_unread_ones_cool() {
        for by in [By::Read, By::Period(1), By::Distance { hot: 2, warm: 5 }] {
            let classes = Classes { by, warm: WARM, hot: HOT };
            let mut of = Reads::of(2, &classes);
            (0..4).for_each(|read| _ = of.read(1, read, false, &classes));
            assert_eq!(of.class(1, 4, &classes), Class::Hot, "{by:?}");
            assert_eq!(of.class(0, 4, &classes), Class::Cold, "{by:?}");
            let later = if matches!(by, By::Distance { .. }) { Class::Cold } else { Class::Hot };
            assert_eq!(of.class(1, 100, &classes), later, "{by:?}");
            of.halve();
            assert_eq!(of.count(1), 2, "{by:?}");
            of.forget(1..2);
            assert_eq!((of.count(1), of.class(1, 5, &classes)), (0, Class::Cold), "{by:?}");
        }
    }
}
