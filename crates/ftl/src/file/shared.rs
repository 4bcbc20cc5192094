//! A map whose copies share what they hold, so that a fork of a drive costs a pointer for many pages, and what either
//! of the two changes afterwards is a layer of its own over what they share.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Numbers that are shared or copied together.
const RUN: u32 = 256;

/// What is at the numbers of a run, side by side: one that is used costs the place of all.
type Run<V> = Arc<[Option<V>]>;

/// Values by number. Copying it copies a pointer for every [`RUN`] numbers in use; the first change within such a run
/// copies the values of that run, which are pointers themselves where they are large.
#[derive(Clone, Debug)]
pub(crate) struct SharedMap<V> {
    runs: FxHashMap<u32, Run<V>>,
}

impl<V> Default for SharedMap<V> {
    fn default() -> SharedMap<V> {
        SharedMap { runs: FxHashMap::default() }
    }
}

impl<V> SharedMap<V> {
    /// The value at a number.
    pub fn get(&self, at: u32) -> Option<&V> {
        self.runs.get(&(at / RUN))?[(at % RUN) as usize].as_ref()
    }

    /// All values; the runs are in no order, the values of a run in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &V)> {
        self.runs.iter().flat_map(|(run, values)| {
            let numbers = run * RUN..=run * RUN + (RUN - 1);
            numbers.zip(values.iter()).filter_map(|(at, value)| Some((at, value.as_ref()?)))
        })
    }
}

impl<V: Clone> SharedMap<V> {
    fn place(&mut self, at: u32) -> &mut Option<V> {
        let run = self.runs.entry(at / RUN).or_insert_with(|| (0..RUN).map(|_| None).collect());
        &mut Arc::make_mut(run)[(at % RUN) as usize]
    }

    /// Store a value at a number, in place of any earlier one.
    pub fn insert(&mut self, at: u32, value: V) {
        *self.place(at) = Some(value);
    }

    /// The value at a number, created if missing.
    pub fn entry(&mut self, at: u32) -> &mut V
    where
        V: Default,
    {
        self.place(at).get_or_insert_default()
    }

    /// Remove the values of some numbers.
    pub fn remove(&mut self, numbers: Range<u32>) {
        for run in numbers.start / RUN..numbers.end.div_ceil(RUN) {
            let Some(values) = self.runs.get_mut(&run) else { continue };
            let first = run * RUN;
            let from = numbers.start.saturating_sub(first) as usize;
            let to = (numbers.end - first).min(RUN) as usize;
            let is_held = |values: &[Option<V>]| values.iter().any(Option::is_some);
            if !is_held(&values[..from]) && !is_held(&values[to..]) {
                self.runs.remove(&run);
            } else if is_held(&values[from..to]) {
                Arc::make_mut(values)[from..to].fill(None);
            }
        }
    }
}

/// As a map in the order of its numbers.
impl<V: Serialize> Serialize for SharedMap<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<(u32, &V)> = self.iter().collect();
        entries.sort_unstable_by_key(|(at, _)| *at);
        serializer.collect_map(entries)
    }
}

impl<'de, V: Deserialize<'de> + Clone> Deserialize<'de> for SharedMap<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SharedMap<V>, D::Error> {
        let mut map = SharedMap::default();
        for (at, value) in BTreeMap::<u32, V>::deserialize(from)? {
            map.insert(at, value);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<V: Copy>(map: &SharedMap<V>) -> BTreeMap<u32, V> {
        map.iter().map(|(at, value)| (at, *value)).collect()
    }

    #[test]
    fn shared_map_equals_a_plain_map_after_any_removal() {
        for (from, to) in [(0, 0), (3, 9), (0, 256), (255, 257), (200, 900), (256, 512), (0, 5000)] {
            let mut map = SharedMap::default();
            let mut plain = BTreeMap::new();
            for at in (0..2000).step_by(3) {
                map.insert(at, at * 2);
                plain.insert(at, at * 2);
            }
            map.remove(from..to);
            plain.retain(|at, _| !(from..to).contains(at));
            assert_eq!(all(&map), plain, "{from}..{to}");
            assert_eq!(map.get(300), plain.get(&300));
        }
    }

    #[test]
    fn copy_shares_each_run_until_either_side_changes_it() {
        let mut map = SharedMap::default();
        (0..1024).for_each(|at| map.insert(at, at));
        let mut copy = map.clone();
        *copy.entry(5) = 7;
        copy.remove(256..512);
        map.insert(600, 0);
        let shared = |run| copy.runs.get(&run).is_some_and(|c| Arc::ptr_eq(c, &map.runs[&run]));
        assert_eq!([0, 1, 2, 3].map(shared), [false, false, false, true]);
        assert_eq!((map.get(5), map.get(300), map.get(600)), (Some(&5), Some(&300), Some(&0)));
        assert_eq!((copy.get(5), copy.get(300), copy.get(600)), (Some(&7), None, Some(&600)));
    }

    #[test]
    fn it_is_written_as_a_map_in_order() {
        let mut map = SharedMap::default();
        for at in [700, 3, 256] {
            map.insert(at, at as u8);
        }
        let plain: BTreeMap<u32, u8> = all(&map);
        let bytes = postcard::to_stdvec(&map).unwrap();
        assert_eq!(bytes, postcard::to_stdvec(&plain).unwrap());
        assert_eq!(all(&postcard::from_bytes::<SharedMap<u8>>(&bytes).unwrap()), plain);
    }
}
