//! A record of the log: all changes of a drive between two commits. A reader can tell whether a record is
//! complete.
//!
//! Layout: `head, description, data, description, head`. A head has a mark, the lengths, the number of the
//! record and a checksum of itself. The description lists the changes, the place of their bytes in the data,
//! and a checksum of each. Head and description are written twice, so that one damaged copy does no harm.
//! Numbers are little-endian, checksums CRC-32.
//!
//! Behind the last record a log may have zeroes, into which the next records are written.

use serde::{Deserialize, Serialize};
use std::ops::Range;
use wordline_ftl::{BlockHeader, Oob};

/// The mark of a head.
const HEAD_MARK: u32 = u32::from_le_bytes(*b"WLrb");
const TAIL_MARK: u32 = u32::from_le_bytes(*b"WLre");
/// Bytes of a head: mark, length of the description, length of the data, number, checksum.
const HEAD: usize = 28;
/// Bytes of a checksum.
const CHECKSUM: usize = 4;

/// Place of some bytes in the data of a record, and their checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    pub at: u64,
    pub length: u32,
    pub checksum: u32,
}

/// A part of a physical page. The first part of a logical page has the page's bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PagePart {
    /// Its row number, from the physical page and the part.
    pub id: u64,
    pub oob: Oob,
    pub data: Option<Held>,
}

/// State of a block.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BlockState {
    pub block: u32,
    pub header: Option<BlockHeader>,
    pub erases: u32,
    /// Runs of programmed, torn and blank slots.
    pub slots: String,
    pub half_erased: bool,
    pub base: bool,
}

/// The changes between two commits.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The drive's time, in nanoseconds.
    pub now: u64,
    /// Erased blocks, and the slots of each as a shift.
    pub emptied: Vec<(u32, u32)>,
    pub pages: Vec<PagePart>,
    pub blocks: Vec<BlockState>,
    /// Pages of the trim log, with the versions in them.
    pub trim_pages: Vec<(u32, Vec<u64>)>,
    /// Sectors that entered protected RAM: row number, version and bytes.
    pub writes: Vec<(u64, u64, Held)>,
    /// Trims in protected RAM, as entry and version; and whether the list is complete.
    pub trims: Vec<(u64, u64)>,
    pub trims_are_all: bool,
    /// Rows of protected RAM to delete.
    pub writes_over: Vec<u64>,
    pub trims_over: Vec<u64>,
    /// The wear of the flash.
    pub wear: Option<Vec<u8>>,
    /// Sectors whose contents a power cut left different from the flash; nothing if they are as on the flash
    /// again.
    pub left: Vec<(u64, Option<Held>)>,
    /// Sectors whose data are damaged from now on, or no longer.
    pub damaged: Vec<(u64, bool)>,
    /// What records of before do not have; it follows the rest.
    #[serde(skip)]
    pub later: Later,
}

/// What records have since bytes of pages have a file of their own.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Later {
    /// Pages whose bytes are in the file of pages: row number, and place there.
    pub filed: Vec<(u64, Held)>,
    /// Parts of pages whose bytes newer writes have replaced, by row number.
    pub replaced: Vec<u64>,
    /// The number of the last record up to which all was on the disk before this one.
    pub synced: u64,
}

impl Record {
    /// Whether it says only how far the file of pages is on the disk.
    pub(crate) fn is_of_sync(&self) -> bool {
        let later = Later { synced: self.later.synced, ..Later::default() };
        *self == Record { later, ..Record::default() }
    }

    /// The bytes that it holds, and what each are.
    pub(crate) fn held(&self) -> impl Iterator<Item = (Held, Part)> + '_ {
        let pages = self.pages.iter().filter_map(|p| Some((p.data?, Part::Page(p.oob.span.lpn.0))));
        let writes = self.writes.iter().map(|(id, _, held)| (*held, Part::Protected(*id)));
        let left = self.left.iter().filter_map(|(sector, held)| Some(((*held)?, Part::Left(*sector))));
        pages.chain(writes).chain(left)
    }
}

/// What some bytes of a record are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// A logical page.
    Page(u32),
    /// A sector in protected RAM, by row number.
    Protected(u64),
    /// A sector that a power cut left different from the flash.
    Left(u64),
}

/// Append bytes to the data of a record.
pub(crate) fn hold(data: &mut Vec<u8>, bytes: &[u8]) -> Held {
    let held = Held { at: data.len() as u64, length: bytes.len() as u32, checksum: crc32fast::hash(bytes) };
    data.extend_from_slice(bytes);
    held
}

/// What comes before and after the data of a record.
pub(crate) fn around(number: u64, record: &Record, data: usize) -> postcard::Result<(Vec<u8>, Vec<u8>)> {
    let mut before = Vec::with_capacity(512 + 64 * (record.pages.len() + record.later.filed.len()));
    before.resize(HEAD, 0);
    before = postcard::to_extend(&record.later, postcard::to_extend(record, before)?)?;
    let length = (before.len() - HEAD) as u32;
    before.extend(crc32fast::hash(&before[HEAD..]).to_le_bytes());
    let head = |mark: u32| {
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&mark.to_le_bytes());
        head[4..8].copy_from_slice(&length.to_le_bytes());
        head[8..16].copy_from_slice(&(data as u64).to_le_bytes());
        head[16..24].copy_from_slice(&number.to_le_bytes());
        let checksum = crc32fast::hash(&head[..HEAD - CHECKSUM]);
        head[HEAD - CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        head
    };
    before[..HEAD].copy_from_slice(&head(HEAD_MARK));
    let behind = [&before[HEAD..], &head(TAIL_MARK)].concat();
    Ok((before, behind))
}

/// The lengths and number in a record's head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Head {
    description: usize,
    data: usize,
    number: u64,
}

impl Head {
    fn read(bytes: &[u8], mark: u32) -> Option<Head> {
        let bytes = bytes.get(..HEAD)?;
        let u32_at = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let u64_at = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let fits =
            u32_at(0)? == mark && crc32fast::hash(&bytes[..HEAD - CHECKSUM]) == u32_at(HEAD - CHECKSUM)?;
        fits.then_some(Head {
            description: u32_at(4)? as usize,
            data: usize::try_from(u64_at(8)?).ok()?,
            number: u64_at(16)?,
        })
    }

    fn length(&self) -> Option<usize> {
        (2 * (HEAD + CHECKSUM)).checked_add(self.description.checked_mul(2)?)?.checked_add(self.data)
    }
}

/// A record as read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    pub number: u64,
    pub record: Record,
    /// The range of its data in what was read, and the end of the record.
    pub data: Range<usize>,
    pub end: usize,
    /// One copy of its head or description is damaged, and the other was used.
    pub is_mended: bool,
}

impl Read {
    /// The bytes in it that are not those that were written.
    pub(crate) fn damaged<'a>(&'a self, log: &'a [u8]) -> impl Iterator<Item = Part> + 'a {
        let data = &log[self.data.clone()];
        let is_other = |held: &Held| {
            let at = held.at as usize;
            crc32fast::hash(&data[at..at + held.length as usize]) != held.checksum
        };
        self.record.held().filter(move |(held, _)| is_other(held)).map(|(_, part)| part)
    }
}

/// What a log has at an offset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Record(Box<Read>),
    /// The log ends here.
    End,
    /// A record whose end was never written.
    Torn,
    /// A record that cannot be read.
    Damaged,
}

/// Read the record of this number at an offset of a log.
pub(crate) fn next(log: &[u8], at: usize, number: u64) -> Next {
    let rest = &log[at..];
    if rest.iter().all(|byte| *byte == 0) {
        return Next::End;
    }
    let first = Head::read(rest, HEAD_MARK);
    let head = match first {
        Some(head) if head.length().is_none_or(|length| length > rest.len()) => return Next::Torn,
        Some(head) => head,
        None => match from_behind(rest, number) {
            Some(head) => head,
            // The next record was written after this one, so this one was complete.
            None if follows(rest, number).is_some() => return Next::Damaged,
            None => return Next::Torn,
        },
    };
    let (Some(length), true) = (head.length(), head.number == number) else { return Next::Damaged };
    let copy = |from: usize| {
        let bytes = rest.get(from..from + head.description + CHECKSUM)?;
        let (bytes, checksum) = bytes.split_at(head.description);
        let fits = crc32fast::hash(bytes).to_le_bytes() == *checksum;
        if fits { described(bytes).ok() } else { None }
    };
    let data = HEAD + head.description + CHECKSUM;
    let (before, behind) = (copy(HEAD), copy(data + head.data));
    let has_tail = Head::read(&rest[length - HEAD..], TAIL_MARK).is_some();
    // A server that is killed may have written the beginning of a record into the zeroes. Anything else there is damage.
    if !has_tail && behind.is_none() && rest[length - HEAD..].iter().all(|byte| *byte == 0) {
        return Next::Torn;
    }
    let is_mended = first.is_none() || !has_tail || before.is_none() || behind.is_none();
    let Some(record) = before.or(behind) else { return Next::Damaged };
    let fits = record
        .held()
        .all(|(held, _)| held.at.checked_add(held.length.into()).is_some_and(|end| end <= head.data as u64));
    if !fits {
        return Next::Damaged;
    }
    Next::Record(Box::new(Read {
        number,
        record,
        data: at + data..at + data + head.data,
        end: at + length,
        is_mended,
    }))
}

/// A record from its description.
fn described(bytes: &[u8]) -> postcard::Result<Record> {
    let (mut record, rest) = postcard::take_from_bytes::<Record>(bytes)?;
    if !rest.is_empty() {
        record.later = postcard::from_bytes(rest)?;
    }
    Ok(record)
}

/// The head of a record whose first head is damaged, from its second.
fn from_behind(rest: &[u8], number: u64) -> Option<Head> {
    places_of(rest, TAIL_MARK).find_map(|at| {
        let head = Head::read(&rest[at..], TAIL_MARK)?;
        (head.number == number && head.length() == Some(at + HEAD)).then_some(head)
    })
}

/// The first record of a higher number: its offset and number.
pub(crate) fn follows(rest: &[u8], number: u64) -> Option<(usize, u64)> {
    let heads = places_of(rest, HEAD_MARK);
    let mut found = heads.filter_map(|at| Some((at, Head::read(&rest[at..], HEAD_MARK)?.number)));
    found.find(|(_, found)| *found > number)
}

fn places_of(bytes: &[u8], mark: u32) -> impl Iterator<Item = usize> {
    let mark = mark.to_le_bytes();
    bytes.windows(mark.len()).enumerate().filter(move |(_, w)| *w == mark).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(records: u64) -> Vec<u8> {
        let mut log = vec![];
        for number in 1..=records {
            let mut data = vec![];
            let writes = (0..3).map(|i| (i, number, hold(&mut data, &[number as u8; 40]))).collect();
            let record = Record { now: number, writes, ..Record::default() };
            let (before, behind) = around(number, &record, data.len()).unwrap();
            log.extend([before, data, behind].concat());
        }
        log
    }

    /// The numbers of the records, and how the log ends.
    fn read(log: &[u8]) -> (Vec<Read>, Next) {
        let (mut at, mut all) = (0, vec![]);
        loop {
            match next(log, at, all.len() as u64 + 1) {
                Next::Record(read) => {
                    at = read.end;
                    all.push(*read);
                }
                end => return (all, end),
            }
        }
    }

    #[test]
    fn flipped_bit_never_loses_or_changes_a_record() {
        // With the zeroes behind it.
        let whole = [log(3), vec![0; 60]].concat();
        let (wanted, end) = read(&whole);
        assert_eq!((wanted.len(), end), (3, Next::End));
        assert!(wanted.iter().all(|r| !r.is_mended));
        for bit in 0..whole.len() * 8 {
            let mut log = whole.clone();
            log[bit / 8] ^= 1 << (bit % 8);
            let (found, end) = read(&log);
            let is_behind = bit / 8 >= wanted[2].end;
            let wanted_end = if is_behind { Next::Torn } else { Next::End };
            assert_eq!((found.len(), end), (3, wanted_end), "bit {bit}");
            for (found, wanted) in found.iter().zip(&wanted) {
                assert_eq!((&found.record, &found.data), (&wanted.record, &wanted.data), "bit {bit}");
            }
            let is_data = is_behind || wanted.iter().any(|r| r.data.contains(&(bit / 8)));
            assert_eq!(found.iter().filter(|r| r.is_mended).count(), usize::from(!is_data), "bit {bit}");
        }
    }

    #[test]
    fn description_of_before_is_read() {
        let later = Later {
            filed: vec![(7, Held { at: 1 << 40, length: 2, checksum: 3 })],
            replaced: vec![4],
            synced: 5,
        };
        let record = Record { now: 9, damaged: vec![(3, true)], later: later.clone(), ..Record::default() };
        let (before, _) = around(1, &record, 0).unwrap();
        assert_eq!(described(&before[HEAD..before.len() - CHECKSUM]).unwrap(), record);
        let of_before = postcard::to_stdvec(&record).unwrap();
        assert_eq!(described(&of_before).unwrap(), Record { later: Later::default(), ..record });
    }

    // A record without a description is named.
    #[test]
    fn partial_record_ends_the_log() {
        let whole = log(2);
        let first = read(&whole).0[0].end;
        for length in 0..whole.len() {
            let (found, end) = read(&whole[..length]);
            let is_edge = length == 0 || length == first;
            assert_eq!(end, if is_edge { Next::End } else { Next::Torn }, "{length}");
            assert_eq!(found.len(), usize::from(length >= first), "{length}");
        }
        // The same in a log that has zeroes behind its end: all of a record but its second head is enough.
        for length in 0..whole.len() {
            let mut log = whole[..length].to_vec();
            log.resize(whole.len() + 500, 0);
            let (found, end) = read(&log);
            let at = if length < first { length } else { length - first };
            let is_read = first - at <= HEAD;
            let is_blank = log[found.last().map_or(0, |read| read.end)..].iter().all(|byte| *byte == 0);
            assert_eq!(found.len(), usize::from(length >= first) + usize::from(is_read), "{length}");
            assert_eq!(end, if is_blank { Next::End } else { Next::Torn }, "{length}");
        }
        // The whole end of the last record is damaged, but was written.
        let mut log = [&whole[..], &[0; 500]].concat();
        log[whole.len() - 100..whole.len()].fill(7);
        let (found, end) = read(&log);
        assert_eq!((found.len(), found[1].is_mended, end), (2, true, Next::End));
        let mut log = whole;
        log[30] ^= 1;
        log[first - 40] ^= 1;
        assert_eq!(read(&log), (vec![], Next::Damaged));
    }
}
