//! Several parts as one trace: merged by time if each part is in order, otherwise concatenated and sorted
//! later. Volumes with the same name in several parts are one volume, or those of each part are separate.

use crate::reading::record::{Event, Position, Record, RecordReader};
use crate::reading::volumes::Volumes;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;

/// Opens a part by its number.
pub(crate) type OpenPart = Box<dyn FnMut(u32) -> io::Result<Box<dyn RecordReader>> + Send>;

/// Which volumes of several parts are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Identity {
    /// Volumes with the same name. A part without names has a single volume.
    ByName,
    /// None: each part has its own volumes.
    ByFile,
}

/// The volumes of all parts, numbered in order of appearance.
struct VolumeMap {
    identity: Identity,
    names: Vec<String>,
    /// By part, then by the part's own number. The greatest number means not known yet.
    numbers: Vec<Vec<u32>>,
    volumes: Volumes,
}

impl VolumeMap {
    fn new(identity: Identity, names: Vec<String>) -> VolumeMap {
        let numbers = vec![Vec::new(); names.len()];
        VolumeMap { identity, names, numbers, volumes: Volumes::default() }
    }

    /// A request of a part, with the volume's number among all.
    #[inline]
    fn place(&mut self, part: u32, record: Record, own: &Volumes) -> Event {
        let known = self.numbers[part as usize].get(record.volume as usize);
        match known.copied().filter(|n| *n != u32::MAX) {
            Some(n) => Event::Request(Record { volume: n as u16, ..record }),
            None => match self.find(part, record.volume, own) {
                Ok(volume) => Event::Request(Record { volume, ..record }),
                Err(reason) => Event::Unusable(reason),
            },
        }
    }

    #[cold]
    fn find(&mut self, part: u32, volume: u16, own: &Volumes) -> Result<u16, String> {
        let label = own.labels().get(volume as usize).map_or("", String::as_str);
        let name = &self.names[part as usize];
        let key = match (own.are_unnamed(), self.identity) {
            (true, _) => name.clone(),
            (false, Identity::ByName) => label.to_string(),
            (false, Identity::ByFile) => format!("{name}/{label}"),
        };
        let number = self.volumes.number_of(key.as_bytes())?;
        let numbers = &mut self.numbers[part as usize];
        if numbers.len() <= volume as usize {
            numbers.resize(volume as usize + 1, u32::MAX);
        }
        numbers[volume as usize] = number as u32;
        Ok(number)
    }
}

/// Parts merged by time. Requests at the same instant are ordered by part.
pub(crate) struct Merged {
    readers: Vec<Box<dyn RecordReader>>,
    /// The next request of each part.
    heads: Vec<Option<(Record, Position)>>,
    order: BinaryHeap<Reverse<(u64, u32)>>,
    /// Parts whose next request is not known yet.
    open: VecDeque<u32>,
    map: VolumeMap,
    at: (Position, u32),
}

impl Merged {
    pub fn new(names: Vec<String>, identity: Identity, mut open: OpenPart) -> io::Result<Merged> {
        let readers = (0..names.len() as u32).map(&mut open).collect::<io::Result<Vec<_>>>()?;
        let at = readers.first().map_or((Position::Byte(0), 0), |r| (r.position(), 0));
        Ok(Merged {
            heads: vec![None; readers.len()],
            order: BinaryHeap::with_capacity(readers.len()),
            open: (0..readers.len() as u32).collect(),
            map: VolumeMap::new(identity, names),
            readers,
            at,
        })
    }
}

impl RecordReader for Merged {
    fn next(&mut self) -> io::Result<Option<Event>> {
        while let Some(&part) = self.open.front() {
            let reader = &mut self.readers[part as usize];
            self.at.1 = part;
            let event = reader.next();
            self.at.0 = reader.position();
            match event? {
                Some(Event::Request(record)) => {
                    self.heads[part as usize] = Some((record, self.at.0));
                    self.order.push(Reverse((record.time, part)));
                    self.open.pop_front();
                }
                Some(other) => return Ok(Some(other)),
                None => {
                    self.open.pop_front();
                }
            }
        }
        let Some(Reverse((_, part))) = self.order.pop() else { return Ok(None) };
        self.open.push_back(part);
        let Some((record, position)) = self.heads[part as usize].take() else { return Ok(None) };
        self.at = (position, part);
        Ok(Some(self.map.place(part, record, self.readers[part as usize].volumes())))
    }

    fn position(&self) -> Position {
        self.at.0
    }

    fn part(&self) -> u32 {
        self.at.1
    }

    fn open_end(&self) -> bool {
        self.readers.iter().any(|r| r.open_end())
    }

    fn volumes(&self) -> &Volumes {
        &self.map.volumes
    }
}

/// Consecutive parts. Each is opened when it is reached.
pub(crate) struct Chained {
    open: OpenPart,
    current: Option<Box<dyn RecordReader>>,
    part: u32,
    position: Position,
    open_end: bool,
    map: VolumeMap,
}

impl Chained {
    pub fn new(names: Vec<String>, identity: Identity, open: OpenPart) -> Chained {
        let map = VolumeMap::new(identity, names);
        Chained { open, current: None, part: 0, position: Position::Byte(0), open_end: false, map }
    }
}

impl RecordReader for Chained {
    fn next(&mut self) -> io::Result<Option<Event>> {
        while (self.part as usize) < self.map.names.len() {
            let reader = match &mut self.current {
                Some(reader) => reader,
                None => self.current.insert((self.open)(self.part)?),
            };
            let event = reader.next();
            self.position = reader.position();
            match event? {
                Some(Event::Request(record)) => {
                    return Ok(Some(self.map.place(self.part, record, reader.volumes())));
                }
                Some(other) => return Ok(Some(other)),
                None => {
                    self.open_end |= reader.open_end();
                    self.current = None;
                    self.part += 1;
                }
            }
        }
        Ok(None)
    }

    fn position(&self) -> Position {
        self.position
    }

    fn part(&self) -> u32 {
        self.part.min(self.map.names.len().saturating_sub(1) as u32)
    }

    fn open_end(&self) -> bool {
        self.open_end
    }

    fn volumes(&self) -> &Volumes {
        &self.map.volumes
    }
}
