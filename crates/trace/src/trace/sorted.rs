//! Sorts requests by time in bounded memory: the records of a reader are sorted in chunks. A chunk that is
//! the whole trace is served from memory; several are written to an unnamed temporary file and merged.
//! Requests with the same time keep their order in the file. Memory is one chunk, its sorting space and a
//! block for each run, regardless of the trace's length. The file takes 40 bytes per request, and twice that
//! once runs must be merged.

use crate::reading::record::{Event, Position, Record, RecordReader};
use crate::reading::volumes::Volumes;
use crate::source::spool::scratch;
use bytemuck::{Pod, Zeroable};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use wordline_units::HostOp;

/// Number of records sorted together: 20 MiB.
const CHUNK: usize = 1 << 19;
/// Number of runs merged together.
const FAN_IN: usize = 64;
/// Number of records read from a run together: 40 KiB.
const BLOCK: usize = 1 << 10;

/// A record with its position, as in the temporary file.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Item {
    time: u64,
    offset: u64,
    bytes: u64,
    /// Line or byte.
    position: u64,
    part: u32,
    volume: u16,
    /// The operation. Bit 128: the position is a byte.
    op: u8,
    attributes: u8,
}

const BYTE: u8 = 128;
const OPS: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

impl Item {
    fn of(r: Record, position: Position, part: u32) -> Item {
        let (position, flag) = match position {
            Position::Line(n) => (n, 0),
            Position::Byte(n) => (n, BYTE),
        };
        let (op, attributes) = (r.op as u8 | flag, r.attributes.into());
        let (time, offset, bytes) = (r.time, r.offset, r.bytes);
        Item { time, offset, bytes, position, part, volume: r.volume, op, attributes }
    }

    fn record(self) -> Record {
        Record {
            time: self.time,
            offset: self.offset,
            bytes: self.bytes,
            op: OPS[self.op as usize & 3],
            attributes: self.attributes.into(),
            volume: self.volume,
        }
    }

    fn position(self) -> Position {
        if self.op & BYTE != 0 { Position::Byte(self.position) } else { Position::Line(self.position) }
    }
}

/// A sorted part of the temporary file.
#[derive(Clone, Copy)]
struct Run {
    /// In items.
    start: u64,
    length: u64,
}

/// The temporary file and its runs. The runs of a level have the same size; a full level becomes one run of
/// the next.
struct Spill {
    file: File,
    end: u64,
    levels: Vec<Vec<Run>>,
}

impl Spill {
    fn new() -> io::Result<Spill> {
        Ok(Spill { file: scratch()?, end: 0, levels: vec![Vec::new()] })
    }

    fn write(&mut self, items: &[Item]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end * size_of::<Item>() as u64))?;
        self.file.write_all(bytemuck::cast_slice(items))?;
        self.end += items.len() as u64;
        Ok(())
    }

    fn add(&mut self, chunk: &mut Chunk) -> io::Result<()> {
        let run = Run { start: self.end, length: chunk.items.len() as u64 };
        let mut blocks = Blocks::default();
        while let Some(item) = chunk.next() {
            blocks.add(item, self)?;
        }
        blocks.end(self)?;
        self.levels[0].push(run);
        let mut level = 0;
        while self.levels[level].len() == FAN_IN {
            let runs = std::mem::take(&mut self.levels[level]);
            let merged = self.merge(runs)?;
            level += 1;
            if level == self.levels.len() {
                self.levels.push(Vec::new());
            }
            self.levels[level].push(merged);
        }
        Ok(())
    }

    fn merge(&mut self, runs: Vec<Run>) -> io::Result<Run> {
        let run = Run { start: self.end, length: runs.iter().map(|r| r.length).sum() };
        let mut merge = Merge::of(runs, &mut self.file)?;
        let mut blocks = Blocks::default();
        while let Some(item) = merge.next(&mut self.file)? {
            blocks.add(item, self)?;
        }
        blocks.end(self)?;
        Ok(run)
    }
}

/// Items to be written to the temporary file.
#[derive(Default)]
struct Blocks(Vec<Item>);

impl Blocks {
    #[inline]
    fn add(&mut self, item: Item, spill: &mut Spill) -> io::Result<()> {
        self.0.push(item);
        if self.0.len() == BLOCK { self.end(spill) } else { Ok(()) }
    }

    fn end(&mut self, spill: &mut Spill) -> io::Result<()> {
        spill.write(&self.0)?;
        self.0.clear();
        Ok(())
    }
}

/// A run being read.
struct Head {
    rest: Run,
    block: Vec<Item>,
    at: usize,
}

impl Head {
    fn refill(&mut self, file: &mut File) -> io::Result<()> {
        let n = self.rest.length.min(BLOCK as u64);
        self.block.resize(n as usize, Item::zeroed());
        self.at = 0;
        if n > 0 {
            file.seek(SeekFrom::Start(self.rest.start * size_of::<Item>() as u64))?;
            file.read_exact(bytemuck::cast_slice_mut(&mut self.block))?;
            self.rest = Run { start: self.rest.start + n, length: self.rest.length - n };
        }
        Ok(())
    }
}

/// Runs being merged.
#[derive(Default)]
struct Merge {
    heads: Vec<Head>,
    /// By time, then by run: for equal times the earlier run comes first.
    order: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Merge {
    fn of(runs: Vec<Run>, file: &mut File) -> io::Result<Merge> {
        let mut merge = Merge::default();
        for run in runs {
            let mut head = Head { rest: run, block: Vec::new(), at: 0 };
            head.refill(file)?;
            merge.heads.push(head);
        }
        for (n, head) in merge.heads.iter().enumerate() {
            if let Some(item) = head.block.first() {
                merge.order.push(Reverse((item.time, n)));
            }
        }
        Ok(merge)
    }

    #[inline]
    fn next(&mut self, file: &mut File) -> io::Result<Option<Item>> {
        let Some(mut top) = self.order.peek_mut() else { return Ok(None) };
        let Reverse((_, n)) = *top;
        let head = &mut self.heads[n];
        let item = head.block[head.at];
        head.at += 1;
        if head.at == head.block.len() {
            head.refill(file)?;
        }
        match head.block.get(head.at) {
            Some(next) => *top = Reverse((next.time, n)),
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
        Ok(Some(item))
    }
}

/// Records in the order of the file, to be returned in order of time. Traces are nearly in order: ordered
/// records stay in place, and only records earlier than a previous one are sorted, by time and position.
#[derive(Default)]
struct Chunk {
    items: Vec<Item>,
    late: Vec<(u64, u32)>,
    latest: u64,
    /// Indexes of the next item, and of the next late one.
    next: (usize, usize),
}

impl Chunk {
    fn add(&mut self, item: Item) {
        if item.time < self.latest {
            self.late.push((item.time, self.items.len() as u32));
        }
        self.latest = self.latest.max(item.time);
        self.items.push(item);
    }

    /// Sort. Must be called after the last record is added.
    fn order(&mut self) {
        self.late.sort_unstable();
        self.latest = 0;
    }

    /// The next in order of time.
    #[inline]
    fn next(&mut self) -> Option<Item> {
        let (at, late) = &mut self.next;
        while self.items.get(*at).is_some_and(|item| item.time < self.latest) {
            *at += 1;
        }
        let item = self.items.get(*at);
        if let Some((time, place)) = self.late.get(*late)
            && item.is_none_or(|item| (*time, *place as usize) < (item.time, *at))
        {
            *late += 1;
            return self.items.get(*place as usize).copied();
        }
        let item = item?;
        self.latest = item.time;
        *at += 1;
        Some(*item)
    }

    fn clear(&mut self) {
        self.items.clear();
        self.late.clear();
        (self.latest, self.next) = (0, (0, 0));
    }
}

enum Stage {
    Taking,
    /// All items are in memory.
    Giving,
    Merging(Merge),
}

/// A reader that returns requests in order of time. Unusable items come first.
pub(crate) struct Sorted {
    input: Box<dyn RecordReader>,
    chunk: Chunk,
    capacity: usize,
    spill: Option<Spill>,
    stage: Stage,
    latest: u64,
    read: u64,
    reordered: u64,
    at: (Position, u32),
}

impl Sorted {
    pub fn new(input: Box<dyn RecordReader>) -> Sorted {
        Sorted::with_chunks_of(input, CHUNK)
    }

    fn with_chunks_of(input: Box<dyn RecordReader>, capacity: usize) -> Sorted {
        let at = (input.position(), input.part());
        let (chunk, stage) = (Chunk::default(), Stage::Taking);
        Sorted { input, chunk, capacity, spill: None, stage, latest: 0, read: 0, reordered: 0, at }
    }

    #[inline]
    fn take(&mut self, record: Record) -> io::Result<()> {
        self.read += 1;
        self.reordered += u64::from(record.time < self.latest);
        self.latest = self.latest.max(record.time);
        if self.chunk.items.len() == self.capacity {
            self.write_chunk()?;
        }
        self.chunk.add(Item::of(record, self.input.position(), self.input.part()));
        Ok(())
    }

    fn write_chunk(&mut self) -> io::Result<()> {
        self.chunk.order();
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::new()?),
        };
        spill.add(&mut self.chunk)?;
        self.chunk.clear();
        Ok(())
    }

    fn turn(&mut self) -> io::Result<()> {
        if self.spill.is_some() {
            self.write_chunk()?;
        }
        self.stage = match &mut self.spill {
            None => {
                self.chunk.order();
                Stage::Giving
            }
            Some(spill) => {
                self.chunk = Chunk::default();
                // The highest level has the earliest records of the file.
                let runs = spill.levels.iter().rev().flatten().copied().collect();
                Stage::Merging(Merge::of(runs, &mut spill.file)?)
            }
        };
        Ok(())
    }
}

impl RecordReader for Sorted {
    #[inline]
    fn next(&mut self) -> io::Result<Option<Event>> {
        while matches!(self.stage, Stage::Taking) {
            match self.input.next()? {
                Some(Event::Request(record)) => self.take(record)?,
                Some(other) => {
                    self.at = (self.input.position(), self.input.part());
                    return Ok(Some(other));
                }
                None => self.turn()?,
            }
        }
        let item = match (&mut self.stage, &mut self.spill) {
            (Stage::Giving, _) => self.chunk.next(),
            (Stage::Merging(merge), Some(spill)) => merge.next(&mut spill.file)?,
            _ => None,
        };
        Ok(item.map(|item| {
            self.at = (item.position(), item.part);
            Event::Request(item.record())
        }))
    }

    fn position(&self) -> Position {
        self.at.0
    }

    fn part(&self) -> u32 {
        self.at.1
    }

    fn reordered(&self) -> u64 {
        self.reordered
    }

    fn read_ahead(&self) -> u64 {
        self.read
    }

    fn open_end(&self) -> bool {
        self.input.open_end()
    }

    fn volumes(&self) -> &Volumes {
        self.input.volumes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wordline_units::{Attributes, LatencyHint};

    /// Returns requests at these times, with their number as line and offset.
    struct Given(std::vec::IntoIter<u64>, u64, Volumes);

    impl RecordReader for Given {
        fn next(&mut self) -> io::Result<Option<Event>> {
            self.1 += 1;
            Ok(self.0.next().map(|time| match time {
                13 => Event::Unusable("unlucky".to_string()),
                _ => {
                    let op = OPS[self.1 as usize % 4];
                    let hint = LatencyHint::ALL[self.1 as usize % 4];
                    let attributes = Attributes::NONE.with_fua(self.1.is_multiple_of(3)).with_hint(hint);
                    let attributes = attributes.with_stream(self.1 as u8 % 32);
                    Event::Request(Record { time, offset: self.1, bytes: 1, op, attributes, volume: 7 })
                }
            }))
        }
        fn position(&self) -> Position {
            Position::Line(self.1)
        }
        fn volumes(&self) -> &Volumes {
            &self.2
        }
    }

    fn sorted(times: Vec<u64>, chunk: usize) -> (Vec<(u64, u64)>, Vec<u64>) {
        let given = Given(times.into_iter(), 0, Volumes::unnamed());
        let mut reader = Sorted::with_chunks_of(Box::new(given), chunk);
        let (mut requests, mut unusable) = (Vec::new(), Vec::new());
        while let Some(event) = reader.next().unwrap() {
            let Position::Line(line) = reader.position() else { panic!() };
            match event {
                Event::Request(r) => {
                    assert_eq!((r.offset, r.op, r.volume), (line, OPS[line as usize % 4], 7));
                    assert_eq!(r.attributes.is_fua(), line.is_multiple_of(3));
                    assert_eq!(r.attributes.hint() as u64, line % 4);
                    assert_eq!(r.attributes.stream() as u64, line % 32);
                    requests.push((r.time, line));
                }
                _ => unusable.push(line),
            }
        }
        (requests, unusable)
    }

    proptest! {
        #[test]
        fn an_external_sort_gives_what_a_stable_sort_gives(
            times in prop::collection::vec(0u64..40, 0..700),
            chunk in 1usize..9,
        ) {
            let (requests, unusable) = sorted(times.clone(), chunk);
            let numbered = || times.iter().copied().zip(1u64..);
            let mut want: Vec<_> = numbered().filter(|(t, _)| *t != 13).collect();
            want.sort_by_key(|(t, _)| *t);
            prop_assert_eq!(requests, want);
            prop_assert_eq!(unusable, numbered().filter(|(t, _)| *t == 13).map(|(_, n)| n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn levels_of_runs_are_merged_in_order() {
        let times: Vec<u64> = (0..10_000).map(|i| i * 7919 % 1_000 + 14).collect();
        let (requests, _) = sorted(times.clone(), 2);
        let mut want: Vec<_> = times.into_iter().zip(1u64..).collect();
        want.sort_by_key(|(t, _)| *t);
        assert_eq!(requests, want);
    }
}
