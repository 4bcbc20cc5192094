//! What counts of a log after a crash of the system. The disk has all records up to the last sync with their pages; of what
//! was written later it may have a record without its pages, or pages without their record. Of records that were written into
//! zeroes it may have any blocks: a record without its beginning or its data, or the next without this one.

use crate::data::merged::pages_of;
use crate::data::page_file::PageFile;
use crate::data::record::{Next, Record, follows, next};
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

/// What a log has, with its damage.
#[derive(Default)]
struct Log {
    records: Vec<(Incomplete, Record)>,
    /// Records that are missing or not as they were written, and whether their description is.
    gaps: Vec<(Incomplete, bool)>,
}

impl Log {
    fn read(segments: &[Segment]) -> io::Result<Log> {
        let mut found = Log::default();
        for (segment, of) in segments.iter().enumerate() {
            let log = of.read()?;
            let (mut at, mut number) = (0, of.first);
            loop {
                let start = Incomplete { number, segment, at: at as u64 };
                match next(&log, at, number) {
                    Next::Record(read) => {
                        found.gaps.extend(read.damaged(&log).next().map(|_| (start, false)));
                        (at, number) = (read.end, number + 1);
                        found.records.push((start, read.record));
                    }
                    end => {
                        let more = follows(&log[at..], number);
                        let is_short = segments.get(segment + 1).is_some_and(|next| next.first > number);
                        if more.is_some() || is_short || end == Next::Damaged {
                            found.gaps.push((start, true));
                        }
                        let Some((from, later)) = more else { break };
                        (at, number) = (at + from, later);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Find the first record that does not count, because itself or some page after it is not whole, behind those that a sync has
/// covered. `folded` is the last record in the database.
pub(crate) fn incomplete(
    segments: &[Segment],
    folded: u64,
    pages: &PageFile,
) -> io::Result<Option<Incomplete>> {
    let Log { records, gaps } = Log::read(segments)?;
    let synced = |(_, record): &(Incomplete, Record)| record.later.synced;
    // A record of a sync is written once the file of pages is on the disk, but before the log is.
    let of_log = records.iter().filter(|(_, record)| !record.is_of_sync()).map(synced).max().unwrap_or(0);
    let of_log = of_log.max(folded);
    if gaps.iter().any(|(start, is_unread)| *is_unread && start.number <= of_log) {
        // Whoever folds the log names it.
        return Ok(None);
    }
    let lost = gaps.iter().map(|(start, _)| *start).find(|start| start.number > of_log);
    let counts = |start: &Incomplete| lost.is_none_or(|lost| start.number < lost.number);
    let synced = records.iter().map(synced).max().unwrap_or(0).max(folded);
    let (mut broken, mut whole) = (BTreeSet::new(), synced);
    for (start, record) in records.iter().filter(|(start, _)| start.number > synced && counts(start)) {
        look(record, pages, &mut broken)?;
        if broken.is_empty() {
            whole = start.number;
        }
    }
    Ok(records
        .into_iter()
        .map(|(start, _)| start)
        .find(|start| start.number > whole && counts(start))
        .or(lost))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::record::{around, hold};

    /// A log of one segment with five records, of which one may be of a sync; the last says that the disk has all up to
    /// `proven`. The lost records are zeroes, of the damaged ones the data are. Returns the first record that does not count.
    fn first_lost(of_sync: Option<u64>, proven: u64, lost: &[u64], damaged: &[u64]) -> Option<u64> {
        let folder = tempfile::tempdir().unwrap();
        let mut log = vec![];
        for number in 1..=5 {
            let mut data = vec![];
            let mut record = Record::default();
            if of_sync == Some(number) {
                record.later.synced = number - 1;
            } else {
                record.writes = vec![(number, 1, hold(&mut data, &[number as u8; 50]))];
                record.later.synced = if number == 5 { proven } else { 0 };
            }
            if lost.contains(&number) || damaged.contains(&number) {
                data.iter_mut().for_each(|byte| *byte = 0);
            }
            let (before, behind) = around(number, &record, data.len()).unwrap();
            let mut bytes = [before, data, behind].concat();
            if lost.contains(&number) {
                bytes.fill(0);
            }
            log.extend(bytes);
        }
        log.extend([0; 500]);
        std::fs::write(Segment::name(folder.path(), 1), log).unwrap();
        let mut segments = vec![Segment::open(folder.path(), 1).unwrap()];
        let pages = PageFile::open(folder.path()).unwrap();
        let found = incomplete(&segments, 0, &pages).unwrap();
        if let Some(from) = found.filter(|_| proven == 0) {
            cut_off(&mut segments, from).unwrap();
            assert_eq!(incomplete(&segments, 0, &pages).unwrap(), None, "the rest is whole");
        }
        found.map(|from| from.number)
    }

    #[test]
    fn what_is_written_into_zeroes_counts_up_to_the_first_gap() {
        let first = |lost: &[u64], damaged: &[u64]| first_lost(None, 0, lost, damaged);
        assert_eq!(first(&[], &[]), None);
        assert_eq!(first(&[5], &[]), None, "the log ends there");
        for number in 1..=4 {
            assert_eq!(first(&[number], &[]), Some(number));
            assert_eq!(first(&[4], &[number]), Some(number));
        }
        assert_eq!(first(&[1, 2, 4], &[]), Some(1));
        assert_eq!(first(&[], &[5]), Some(5));
        // The file of pages is on the disk before the log is: a record that says so proves nothing of the log.
        assert_eq!(first_lost(Some(4), 0, &[2], &[]), Some(2));
        // What was on the disk is damaged: whoever folds the log names it.
        assert_eq!(first_lost(None, 3, &[2], &[]), None);
        assert_eq!(first_lost(None, 3, &[], &[2]), None);
        assert_eq!(first_lost(None, 3, &[], &[2, 4]), Some(4));
    }
}
