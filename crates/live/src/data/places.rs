//! Where a folder has the bytes of each page: in its log, or in its file of pages.

use crate::data::row_id::row_id;
use crate::data::segment::Segment;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Physical pages whose places are kept together, so that a fork shares those that do not change, as a power of two.
const TOGETHER: u32 = 8;

/// A range of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub at: u64,
    pub length: u32,
}

/// The file that has the bytes of a page.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A segment of the log.
    Log(Arc<Segment>),
    /// The file of pages, to which this record of the log has written them.
    Pages(u64),
}

/// Place of the bytes of a page's part.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub source: Source,
    pub extent: Extent,
    pub checksum: u32,
}

impl Place {
    /// The record that has written its bytes to the file of pages, if they are those of another place.
    pub(crate) fn written_as(&self, other: &Place) -> Option<u64> {
        let is_same = self.extent == other.extent && self.checksum == other.checksum;
        match (&self.source, &other.source) {
            (Source::Pages(written), Source::Pages(other)) if is_same && written == other => Some(*written),
            _ => None,
        }
    }

    /// Whether its bytes are in the segment with this first record.
    pub(crate) fn is_in(&self, first: u64) -> bool {
        matches!(&self.source, Source::Log(segment) if segment.first == first)
    }
}

/// Places by the row number of a page's part.
#[derive(Clone, Default)]
pub(crate) struct Places(FxHashMap<u64, Arc<BTreeMap<u64, Place>>>);

/// The number of the places that are kept together with that of a row.
fn together(id: u64) -> u64 {
    id / row_id(1 << TOGETHER, 0)
}

impl Places {
    pub(crate) fn get(&self, id: u64) -> Option<&Place> {
        self.0.get(&together(id))?.get(&id)
    }

    /// Set a place. Returns the one before.
    pub(crate) fn insert(&mut self, id: u64, place: Place) -> Option<Place> {
        Arc::make_mut(self.0.entry(together(id)).or_default()).insert(id, place)
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<Place> {
        let all = self.0.get_mut(&together(id)).filter(|all| all.contains_key(&id))?;
        Arc::make_mut(all).remove(&id)
    }

    /// Remove the places of these rows, and return them.
    pub(crate) fn remove_all(&mut self, ids: RangeInclusive<u64>) -> Vec<Place> {
        let mut removed = vec![];
        for number in together(*ids.start())..=together(*ids.end()) {
            let Some(all) = self.0.get_mut(&number) else { continue };
            let found: Vec<u64> = all.range(ids.clone()).map(|(id, _)| *id).collect();
            if found.len() == all.len() {
                removed.extend(
                    self.0
                        .remove(&number)
                        .into_iter()
                        .flat_map(|all| all.values().cloned().collect::<Vec<_>>()),
                );
            } else if !found.is_empty() {
                let all = Arc::make_mut(all);
                removed.extend(found.iter().filter_map(|id| all.remove(id)));
            }
        }
        removed
    }

    /// The ranges of the file of pages that are used.
    pub(crate) fn extents(&self) -> Vec<Extent> {
        let all = self.0.values().flat_map(|all| all.values());
        all.filter(|place| matches!(place.source, Source::Pages(_))).map(|place| place.extent).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(at: u64) -> Place {
        Place { source: Source::Pages(1), extent: Extent { at, length: 512 }, checksum: 0 }
    }

    #[test]
    fn a_copy_keeps_what_is_removed() {
        let mut places = Places::default();
        let ids = [0, 33, row_id(255, 31), row_id(256, 0), row_id(700, 2)];
        for id in ids {
            assert!(places.insert(id, place(id)).is_none());
        }
        let fork = places.clone();
        assert_eq!(places.insert(33, place(7)).unwrap().extent.at, 33);
        let removed = places.remove_all(33..=row_id(700, 1));
        assert_eq!(removed.iter().map(|p| p.extent.at).collect::<Vec<_>>(), [7, ids[2], ids[3]]);
        assert_eq!(places.remove(ids[4]).unwrap().extent.at, ids[4]);
        assert!(places.remove(ids[4]).is_none() && places.get(ids[2]).is_none());
        assert_eq!(places.extents(), [Extent { at: 0, length: 512 }]);
        assert!(ids.iter().all(|id| fork.get(*id).unwrap().extent.at == *id));
    }
}
