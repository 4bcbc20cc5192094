//! What counts of a log after a crash of the system. The disk has all records up to the last sync with their pages; of what
//! was written later it may have a record without its pages, or pages without their record.

use crate::data::merged::pages_of;
use crate::data::page_file::PageFile;
use crate::data::record::{Next, Record, next};
use crate::data::row_id::{LAST_PART, row_id};
use crate::data::segment::Segment;
use std::collections::BTreeSet;
use std::io;

/// The log from the first record that does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Incomplete {
    /// Number of the record.
    pub number: u64,
    /// Its segment, and where it begins.
    segment: usize,
    at: u64,
}

/// Number that identifies the time since the system started; nothing where the system has none.
pub(crate) fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_string())
}

/// Find the first record after which some page is not whole, behind those that a sync has covered. `folded` is the last record
/// in the database.
pub(crate) fn incomplete(
    segments: &[Segment],
    folded: u64,
    pages: &PageFile,
) -> io::Result<Option<Incomplete>> {
    let mut records = vec![];
    for (segment, of) in segments.iter().enumerate() {
        let log = of.read()?;
        let (mut at, mut number) = (0, of.first);
        loop {
            match next(&log, at, number) {
                Next::Record(read) => {
                    records.push((Incomplete { number, segment, at: at as u64 }, read.record));
                    (at, number) = (read.end, number + 1);
                }
                Next::End | Next::Torn => break,
                // Whoever folds the log names it.
                Next::Damaged => return Ok(None),
            }
        }
    }
    let synced = records.iter().map(|(_, record)| record.later.synced).max().unwrap_or(0).max(folded);
    let (mut broken, mut whole) = (BTreeSet::new(), synced);
    for (start, record) in records.iter().filter(|(start, _)| start.number > synced) {
        look(record, pages, &mut broken)?;
        if broken.is_empty() {
            whole = start.number;
        }
    }
    Ok(records.into_iter().map(|(start, _)| start).find(|start| start.number > whole))
}

/// Update the pages that are not whole.
fn look(record: &Record, pages: &PageFile, broken: &mut BTreeSet<u64>) -> io::Result<()> {
    for (block, slot_shift) in &record.emptied {
        let pages = pages_of(*block, *slot_shift);
        let parts = row_id(*pages.start(), 0)..=row_id(*pages.end(), LAST_PART);
        broken.retain(|id| !parts.contains(id));
    }
    for page in &record.pages {
        broken.remove(&page.id);
    }
    for (id, held) in &record.later.filed {
        let mut bytes = vec![0; held.length as usize];
        if pages.read(held.at, &mut bytes)? < bytes.len() || crc32fast::hash(&bytes) != held.checksum {
            broken.insert(*id);
        }
    }
    for id in &record.later.replaced {
        broken.remove(id);
    }
    Ok(())
}

/// Remove the log from a record on.
pub(crate) fn cut_off(segments: &mut Vec<Segment>, from: Incomplete) -> io::Result<()> {
    for segment in segments.drain(from.segment + 1..) {
        std::fs::remove_file(&segment.path)?;
    }
    segments[from.segment].file.set_len(from.at)
}
