//! What the standards permit, with a test for each sentence.

use crate::cache::{Cache, Lost};
use crate::content::Content;
use crate::rules::{Atomic, Op, PowerLoss, Request, Rules};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const SECTOR: u64 = 512;

fn request(id: u64, first: u64, count: u64) -> Request {
    Request { id, op: Op::Write, fua: false, connection: 1, offset: first * SECTOR, length: count * SECTOR }
}

/// Write sectors filled with the number of their request, over zeroes.
fn put(cache: &mut Cache, request: Request) {
    let first = request.offset / SECTOR;
    let data: Arc<[u8]> = vec![request.id as u8; request.length as usize].into();
    let data = (request.op == Op::Write).then_some(&data);
    cache.put(request, first..first + request.length / SECTOR, data, |_| Content::ZERO);
}

fn cache() -> Cache {
    Cache::new(Rules { sector: SECTOR, atomic: None })
}

/// The request that wrote a content; 0 for zeroes.
fn by(content: &Content) -> u8 {
    content.bytes(SECTOR as usize).map_or(0, |bytes| bytes[0])
}

/// What a sector may hold, over several seeds.
fn may_hold(cache: &Cache, sector: u64, loss: PowerLoss) -> BTreeSet<u8> {
    let drawn = (0..400).map(|seed| cache.contents(&cache.draw(loss, seed)));
    drawn.map(|contents| contents.get(&sector).map_or(255, by)).collect()
}

#[test]
fn sector_holds_its_durable_or_any_later_version() {
    let mut cache = cache();
    put(&mut cache, request(1, 0, 1));
    cache.acknowledge(1);
    cache.flush(2);
    cache.flushed(2);
    put(&mut cache, request(3, 0, 1));
    cache.acknowledge(3);
    put(&mut cache, request(4, 0, 1));
    put(&mut cache, request(5, 1, 1));
    // Durable data are no longer in the cache: `old` returns those of request 1.
    let old = |_: u64| Content::of(&vec![1; 512].into(), 0);
    let mut other = Cache::new(cache.rules());
    other.put(request(3, 0, 1), 0..1, Some(&vec![3; 512].into()), old);
    other.put(request(4, 0, 1), 0..1, Some(&vec![4; 512].into()), old);
    assert_eq!(may_hold(&other, 0, PowerLoss::Any), BTreeSet::from([1, 3, 4]));
    assert_eq!(may_hold(&cache, 1, PowerLoss::Any), BTreeSet::from([0, 5]), "in flight, too");
}

#[test]
fn sectors_are_lost_independently() {
    let mut cache = cache();
    put(&mut cache, request(1, 0, 3));
    cache.acknowledge(1);
    let drawn = (0..400).map(|seed| cache.contents(&cache.draw(PowerLoss::Any, seed)));
    let states: BTreeSet<Vec<u8>> = drawn.map(|state| state.values().map(by).collect()).collect();
    assert_eq!(states.len(), 8, "a write is torn at any sector");
}

// What was acknowledged before it arrived, on all connections.
#[test]
fn flush_covers_earlier_acknowledgments_of_all_clients() {
    let mut cache = cache();
    put(&mut cache, request(1, 0, 1));
    put(&mut cache, Request { connection: 2, ..request(2, 1, 1) });
    put(&mut cache, request(3, 2, 1));
    cache.acknowledge(1);
    cache.acknowledge(2);
    cache.flush(4);
    // In flight when the FLUSH arrived, and acknowledged before the FLUSH was.
    cache.acknowledge(3);
    let durable: Vec<u64> = cache.flushed(4).into_iter().map(|(sector, _)| sector).collect();
    assert_eq!(durable, [0, 1]);
    assert_eq!(cache.writes().map(|w| w.request().id).collect::<Vec<_>>(), [3]);
}

// It supersedes older versions and orders nothing.
#[test]
fn fua_makes_only_its_own_sectors_durable() {
    let mut cache = cache();
    put(&mut cache, request(1, 0, 2));
    cache.acknowledge(1);
    put(&mut cache, Request { fua: true, ..request(2, 0, 1) });
    assert_eq!(may_hold(&cache, 0, PowerLoss::Any), BTreeSet::from([0, 1, 2]), "not yet acknowledged");
    put(&mut cache, request(3, 0, 1));
    let durable = cache.acknowledge(2);
    assert_eq!(durable.iter().map(|(sector, content)| (*sector, by(content))).collect::<Vec<_>>(), [(0, 2)]);
    assert_eq!(may_hold(&cache, 0, PowerLoss::Any), BTreeSet::from([2, 3]));
    assert_eq!(
        may_hold(&cache, 1, PowerLoss::Any),
        BTreeSet::from([0, 1]),
        "another sector may still be lost"
    );
}

#[test]
fn later_flush_does_not_cover_what_a_failed_one_missed() {
    let mut cache = cache();
    put(&mut cache, request(1, 0, 1));
    cache.acknowledge(1);
    cache.flush(2);
    put(&mut cache, request(3, 1, 1));
    cache.acknowledge(3);
    cache.fail_flush(2);
    cache.flush(4);
    let durable: Vec<u64> = cache.flushed(4).into_iter().map(|(sector, _)| sector).collect();
    assert_eq!(durable, [1], "acknowledged after the failed FLUSH arrived");
    assert_eq!(may_hold(&cache, 0, PowerLoss::Any), BTreeSet::from([0, 1]));
    put(&mut cache, request(5, 0, 1));
    cache.acknowledge(5);
    cache.flush(6);
    cache.flushed(6);
    assert_eq!(cache.writes().count(), 0, "written again and flushed");
}

#[test]
fn unacknowledged_flush_may_take_effect_in_part() {
    let mut cache = cache();
    put(&mut cache, request(1, 0, 2));
    cache.acknowledge(1);
    cache.flush(2);
    let drawn = (0..400).map(|seed| cache.contents(&cache.draw(PowerLoss::Any, seed)));
    let states: BTreeSet<Vec<u8>> = drawn.map(|state| state.values().map(by).collect()).collect();
    assert_eq!(states.len(), 4);
}

#[test]
fn unacknowledged_fua_may_take_effect_in_part() {
    let mut cache = cache();
    put(&mut cache, Request { fua: true, ..request(1, 0, 2) });
    let drawn = (0..400).map(|seed| cache.contents(&cache.draw(PowerLoss::Any, seed)));
    let states: BTreeSet<Vec<u8>> = drawn.map(|state| state.values().map(by).collect()).collect();
    assert_eq!(states.len(), 4, "{states:?}");
}

#[test]
fn a_trimmed_sector_reads_old_or_zero() {
    let mut cache = cache();
    let old = |_: u64| Content::of(&vec![9; 512].into(), 0);
    for op in [Op::Trim, Op::Zeroes] {
        cache.put(Request { op, ..request(1, 0, 1) }, 0..1, None, old);
        cache.acknowledge(1);
        assert_eq!(may_hold(&cache, 0, PowerLoss::Any), BTreeSet::from([0, 9]));
        cache.flush(2);
        assert_eq!(by(&cache.flushed(2)[0].1), 0);
    }
    cache.put(Request { op: Op::Trim, ..request(3, 5, 1) }, 5..6, None, |_| Content::ZERO);
    assert_eq!(cache.writes().count(), 0, "overwriting zeroes with zeroes loses nothing");
}

#[test]
fn atomic_write_is_old_or_new_and_a_larger_one_torn() {
    let atomic = Some(Atomic { size: 4 * SECTOR, boundary: Some(8 * SECTOR) });
    let mut cache = Cache::new(Rules { sector: SECTOR, atomic });
    let states = |cache: &Cache| -> BTreeSet<Vec<u8>> {
        let drawn = (0..800).map(|seed| cache.contents(&cache.draw(PowerLoss::Any, seed)));
        drawn.map(|state| state.values().map(by).collect()).collect()
    };
    put(&mut cache, request(1, 0, 4));
    assert_eq!(states(&cache), BTreeSet::from([vec![0; 4], vec![1; 4]]));
    // Part of it is overwritten. The rest of it survives as a whole.
    put(&mut cache, request(2, 1, 1));
    let all = states(&cache);
    assert_eq!(all.len(), 4);
    assert!(all.contains(&vec![1, 2, 1, 1]) && all.contains(&vec![0, 2, 0, 0]), "{all:?}");
    for torn in [request(3, 20, 5), request(3, 22, 4), Request { op: Op::Trim, ..request(3, 20, 2) }] {
        let mut cache = Cache::new(Rules { sector: SECTOR, atomic });
        let old = |_: u64| Content::of(&vec![9; 512].into(), 0);
        let first = torn.offset / SECTOR;
        cache.put(torn, first..first + torn.length / SECTOR, None, old);
        assert!(states(&cache).len() > 2, "{torn:?}");
    }
}

/// Which of ten acknowledged writes and one in flight are lost, over many seeds.
fn losses(loss: PowerLoss) -> BTreeSet<Vec<u64>> {
    let mut cache = cache();
    for id in 1..=11 {
        put(&mut cache, request(id, id, 1));
        if id < 11 {
            cache.acknowledge(id);
        }
    }
    (0..4000).map(|seed| cache.draw(loss, seed).into_keys().collect()).collect()
}

#[test]
fn with_none_nothing_acknowledged_is_lost() {
    assert_eq!(losses(PowerLoss::None), BTreeSet::from([vec![], vec![11]]));
}

#[test]
fn with_fifo_a_suffix_of_the_acknowledged_is_lost() {
    let all = losses(PowerLoss::Fifo);
    assert_eq!(all.len(), 12, "each suffix, and all");
    assert!(
        all.iter().all(|lost| lost.iter().rev().zip((0..=11).rev()).all(|(id, at)| *id == at)),
        "{all:?}"
    );
}

// A write is lost only while fewer later ones than the window are acknowledged.
#[test]
fn window_bounds_the_later_writes_a_lost_one_outlives() {
    let all = losses(PowerLoss::Window(3));
    let lost: BTreeSet<u64> = all.iter().flatten().copied().collect();
    assert_eq!(lost, BTreeSet::from([8, 9, 10, 11]));
    assert!(all.contains(&vec![8]), "not only a suffix");
}

#[test]
fn with_all_everything_since_the_last_flush_is_lost() {
    assert_eq!(losses(PowerLoss::All), BTreeSet::from([(1..=11).collect()]));
}

#[test]
fn a_seed_draws_the_same_cut_again() {
    let mut cache = cache();
    (1..=50).for_each(|id| put(&mut cache, request(id, id % 7, 3)));
    for loss in [PowerLoss::Any, PowerLoss::Fifo, PowerLoss::Window(9)] {
        assert_eq!(cache.draw(loss, 7), cache.draw(loss, 7));
    }
    assert_ne!(cache.draw(PowerLoss::Any, 7), cache.draw(PowerLoss::Any, 8));
}

#[test]
fn the_cache_is_never_larger_than_it_is_said_to_be() {
    let mut cache = cache();
    for id in 1..=20 {
        put(&mut cache, request(id, id % 5, 2));
        cache.acknowledge(id);
        cache.write_back(4 * SECTOR, |id| id != 3);
    }
    let sectors: usize = cache.writes().map(|w| w.sectors().len()).sum();
    assert!(sectors <= 4, "{sectors}");
    let none: BTreeMap<u64, BTreeSet<u64>> = Lost::new();
    assert_eq!(
        cache.contents(&none).len(),
        cache.writes().flat_map(|w| w.sectors()).collect::<BTreeSet<_>>().len()
    );
}
