//! Intervals that look alike: the same kinds of writes in the same order, wherever they go.
//!
//! A program has few ways to write, so that a log of thousands of intervals has few shapes, and a bug shows in each interval of
//! its shape. Y. Gu et al., "Scalable and Accurate Application-Level Crash-Consistency Testing via Representative Testing"
//! (OOPSLA 2025), group the updates of a program likewise.

use crate::cache::Write;
use crate::replay::Interval;
use rustc_hash::FxHashMap;

/// A write without its place and its data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Kind {
    operation: &'static str,
    fua: bool,
    is_acknowledged: bool,
    /// Binary logarithm of its length in sectors.
    size: u32,
    /// Whether it continues where the write before it ended.
    continues: bool,
    /// Whether its first sector held data.
    overwrites: bool,
}

/// Kinds of writes, each with the binary logarithm of how many of them follow each other.
type Shape = Vec<(Kind, u32)>;

/// The shape of each interval, as a number: 0 for the first shape, and so on.
pub fn shapes(intervals: &[Interval]) -> Vec<usize> {
    let mut known: FxHashMap<Shape, usize> = FxHashMap::default();
    let number = |interval| {
        let next = known.len();
        *known.entry(shape(interval)).or_insert(next)
    };
    intervals.iter().map(number).collect()
}

/// The positions of an interval's writes, with the first of each kind before the second: of many alike the first, the one in the
/// middle, the quarters, and so on. A write of a rare kind so comes early, however many others there are.
pub(crate) fn rare_first(interval: &Interval) -> Vec<usize> {
    let (mut end, mut alike) = (None, FxHashMap::<Kind, Vec<usize>>::default());
    for (at, write) in interval.cache().writes().enumerate() {
        alike.entry(kind(interval, write, &mut end)).or_default().push(at);
    }
    let mut ranked: Vec<(usize, usize)> = alike.into_values().flat_map(|all| spread(&all)).collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, at)| at).collect()
}

/// Things that are alike, each with its rank: 0 for the first, 1 for the one in the middle, and so on.
pub fn spread(alike: &[usize]) -> Vec<(usize, usize)> {
    let mut order: Vec<(u32, usize)> =
        alike.iter().enumerate().map(|(at, thing)| ((at as u32).reverse_bits(), *thing)).collect();
    order.sort_unstable();
    order.into_iter().enumerate().map(|(rank, (_, thing))| (rank, thing)).collect()
}

fn shape(interval: &Interval) -> Shape {
    let mut end = None;
    let kinds: Vec<Kind> = interval.cache().writes().map(|write| kind(interval, write, &mut end)).collect();
    kinds.chunk_by(|a, b| a == b).map(|run| (run[0], run.len().ilog2())).collect()
}

/// The kind of a write. `end` is where the write before it ended.
fn kind(interval: &Interval, write: &Write, end: &mut Option<u64>) -> Kind {
    let (request, sector) = (write.request(), interval.cache().rules().sector);
    let continues = *end == Some(request.offset);
    *end = Some(request.offset + request.length);
    let first = interval.durable().sector(request.offset / sector);
    Kind {
        operation: request.op.key(),
        fua: request.fua,
        is_acknowledged: write.acknowledged().is_some(),
        size: (request.length / sector).max(1).ilog2(),
        continues,
        overwrites: first.bytes(sector as usize).is_some_and(|bytes| bytes.iter().any(|byte| *byte != 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Event, Log};
    use crate::replay::intervals;
    use crate::rules::Rules;

    #[test]
    fn rare_writes_come_first_and_similar_ones_spread() {
        let write = |id: u64, count: u64| {
            let (offset, data) = (id * 8192, vec![7; (count * 512) as usize]);
            [Event::Write { id, connection: 1, offset, fua: false, data }, Event::Done { id }]
        };
        let events = (0..100).flat_map(|id| write(id, if id == 77 { 2 } else { 1 })).collect();
        let log = Log { size: 1 << 20, sector: 512, base: 0, events };
        let all = intervals(&log, Rules { sector: 512, atomic: None }, None);
        let order = rare_first(&all[0]);
        // The first of each kind; 64 is near the middle of those with one sector, 32 near the first quarter.
        assert_eq!(order[..4], [0, 77, 64, 32]);
        let mut each = order.clone();
        each.sort_unstable();
        assert!(each.into_iter().eq(0..100), "{order:?}");
    }

    #[test]
    fn intervals_are_alike_by_the_kinds_of_their_writes() {
        const SECTOR: u64 = 512;
        let mut events = vec![];
        let mut id = 0;
        let mut commit = |writes: &[(u64, u64)]| {
            for (first, count) in writes {
                id += 1;
                let data = vec![7; (count * SECTOR) as usize];
                events.push(Event::Write { id, connection: 1, offset: first * SECTOR, fua: false, data });
                events.push(Event::Done { id });
            }
            id += 1;
            events.extend([Event::Flush { id, connection: 1 }, Event::Done { id }]);
        };
        commit(&[(10, 1)]);
        commit(&[(11, 1)]);
        commit(&[(20, 8), (0, 1)]);
        commit(&[(12, 1)]);
        commit(&[(12, 1)]);
        commit(&[(40, 9), (0, 1)]);
        commit(&[(60, 8), (0, 1)]);
        let log = Log { size: 1 << 20, sector: SECTOR, base: 0, events };
        let all = intervals(&log, Rules { sector: SECTOR, atomic: None }, None);
        // The header at sector 0 is new once and overwritten later; sector 12 likewise. At the end nothing is open.
        assert_eq!(shapes(&all), [0, 0, 1, 0, 2, 3, 3, 4]);
    }
}
