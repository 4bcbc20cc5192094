//! The format of dm-log-writes, as the kernel's `drivers/md/dm-log-writes.c` writes it and `replay-log` reads it.
//!
//! Little-endian. The super block is one sector: magic, version 1, entries, sector size. An entry is one
//! sector: sector, number of sectors (both of 512 bytes), flags, length of inline data. Its data follow; a
//! discard has none. The text of a mark follows the 32 bytes of the head. A write is logged at the completion
//! of the FLUSH that covers it, that is, one issued after the write's completion. A write with FUA is logged
//! at its own completion. Writes that were never flushed come last. The format has neither in-flight times
//! nor connections, so torn writes in flight and a FLUSH that no client waited for cannot be represented.

use crate::log::{Event, Log, LogError};
use crate::session::SessionFault;
use std::collections::{BTreeMap, BTreeSet};

const MAGIC: u64 = 0x6a_7366_7773_6872;
/// Unit of addresses in an entry, in bytes.
const LBA: u64 = 512;
const FLUSH: u64 = 1;
const FUA: u64 = 2;
const DISCARD: u64 = 4;
const MARK: u64 = 8;
/// Maximum bytes of zeroes per entry.
const ZEROES: u64 = 1 << 20;

/// Whether a file begins like such a log.
pub fn is_one(head: &[u8]) -> bool {
    head.starts_with(&MAGIC.to_le_bytes())
}

/// Encode a log in that format, in the order of that tool.
pub fn encode(log: &Log) -> Vec<u8> {
    let mut writer = Writer { sector: log.sector.max(LBA), bytes: vec![], entries: 0 };
    let mut requests: BTreeMap<u64, &Event> = BTreeMap::new();
    let mut covered: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut done: Vec<u64> = vec![];
    for event in &log.events {
        match event {
            Event::Write { id, .. } | Event::Zero { id, .. } => _ = requests.insert(*id, event),
            Event::Flush { id, .. } => _ = covered.insert(*id, done.clone()),
            Event::Mark(text) => writer.mark(text),
            Event::Fault { id, fault: SessionFault::FailedFlush } => {
                // No later FLUSH covers these, so they come last.
                let failed: BTreeSet<u64> = covered.remove(id).unwrap_or_default().into_iter().collect();
                done.retain(|id| !failed.contains(id));
                covered.values_mut().for_each(|covered| covered.retain(|id| !failed.contains(id)));
            }
            Event::Fault { .. } => {}
            Event::Done { id } => {
                if let Some(flushed) = covered.remove(id) {
                    let written: BTreeSet<u64> = flushed.iter().copied().collect();
                    flushed.iter().filter_map(|id| requests.remove(id)).for_each(|event| writer.event(event));
                    done.retain(|id| !written.contains(id));
                    writer.entry(0, 0, FLUSH, &[]);
                } else if matches!(
                    requests.get(id),
                    Some(Event::Write { fua: true, .. } | Event::Zero { fua: true, .. })
                ) {
                    requests.remove(id).into_iter().for_each(|event| writer.event(event));
                } else {
                    done.push(*id);
                }
            }
        }
    }
    done.iter().filter_map(|id| requests.remove(id)).for_each(|event| writer.event(event));
    requests.into_values().for_each(|event| writer.event(event));
    writer.end()
}

struct Writer {
    sector: u64,
    bytes: Vec<u8>,
    entries: u64,
}

impl Writer {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Write { offset, fua, data, .. } => {
                self.entry(offset / LBA, data.len() as u64 / LBA, if *fua { FUA } else { 0 }, data);
            }
            Event::Zero { offset, length, trim: true, fua, .. } => {
                let flags = DISCARD | if *fua { FUA } else { 0 };
                self.entry(offset / LBA, length / LBA, flags, &[]);
            }
            Event::Zero { offset, length, fua, .. } => {
                let flags = if *fua { FUA } else { 0 };
                for from in (0..*length).step_by(ZEROES as usize) {
                    let zeroes = vec![0; ZEROES.min(length - from) as usize];
                    self.entry((offset + from) / LBA, zeroes.len() as u64 / LBA, flags, &zeroes);
                }
            }
            _ => {}
        }
    }

    fn mark(&mut self, text: &str) {
        let most = (self.sector - 33) as usize;
        let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        self.head(0, 0, MARK, end as u64, &text.as_bytes()[..end]);
    }

    fn entry(&mut self, sector: u64, sectors: u64, flags: u64, data: &[u8]) {
        self.head(sector, sectors, flags, 0, &[]);
        self.bytes.extend(data);
        self.pad();
    }

    fn head(&mut self, sector: u64, sectors: u64, flags: u64, length: u64, inline: &[u8]) {
        self.entries += 1;
        self.bytes.extend([sector, sectors, flags, length].map(u64::to_le_bytes).concat());
        self.bytes.extend(inline);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(self.sector as usize), 0);
    }

    fn end(self) -> Vec<u8> {
        let mut all = [MAGIC, 1, self.entries].map(u64::to_le_bytes).concat();
        all.extend((self.sector as u32).to_le_bytes());
        all.resize(self.sector as usize, 0);
        all.extend(self.bytes);
        all
    }
}

/// Decode a log of that format. Its drive ends after the last sector used, or at `size`.
///
/// # Errors
/// If the log is invalid: at which byte, and why.
pub fn decode(bytes: &[u8], size: Option<u64>) -> Result<Log, LogError> {
    let mut reader = Reader::open(bytes)?;
    let mut log = Log { size: 0, sector: LBA, base: 0, events: vec![] };
    let mut id = 0;
    for _ in 0..reader.entries {
        let entry = reader.entry()?;
        id += 1;
        log.size = log.size.max((entry.sector + entry.sectors) * LBA);
        if entry.flags & MARK != 0 {
            log.events.push(Event::Mark(String::from_utf8_lossy(entry.data).into_owned()));
            continue;
        }
        if entry.flags & FLUSH != 0 {
            log.events.extend([Event::Flush { id, connection: 1 }, Event::Done { id }]);
            id += 1;
        }
        let (offset, fua) = (entry.sector * LBA, entry.flags & FUA != 0);
        if entry.sectors == 0 {
            continue;
        }
        log.events.push(if entry.flags & DISCARD != 0 {
            Event::Zero { id, connection: 1, offset, length: entry.sectors * LBA, fua, trim: true }
        } else {
            Event::Write { id, connection: 1, offset, fua, data: entry.data.to_vec() }
        });
        log.events.push(Event::Done { id });
    }
    if let Some(size) = size {
        if size < log.size || !size.is_multiple_of(LBA) {
            let what = format!("the drive has {size} bytes, but the log uses {}", log.size);
            return Err(LogError::Wrong(what));
        }
        log.size = size;
    }
    Ok(log)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    sector: usize,
    entries: u64,
}

struct Entry<'a> {
    sector: u64,
    sectors: u64,
    flags: u64,
    data: &'a [u8],
}

impl<'a> Reader<'a> {
    fn open(bytes: &'a [u8]) -> Result<Reader<'a>, LogError> {
        let wrong = |what: String| LogError::Wrong(format!("byte 0: {what}"));
        if !is_one(bytes) {
            return Err(wrong("not a log of dm-log-writes".to_string()));
        }
        let mut reader = Reader { bytes, at: 0, sector: LBA as usize, entries: 0 };
        let (version, entries) = (reader.number(8)?, reader.number(16)?);
        let sector = reader.number(24)? as u32;
        if version != 1 {
            return Err(wrong(format!("version {version}\n  allowed: version 1")));
        }
        if !sector.is_power_of_two() || !(512..=65_536).contains(&sector) {
            return Err(wrong(format!("sectors of {sector} bytes\n  allowed: 512 to 65536, a power of two")));
        }
        (reader.sector, reader.entries, reader.at) = (sector as usize, entries, sector as usize);
        Ok(reader)
    }

    fn short(&self) -> LogError {
        LogError::Wrong(format!("byte {}: the file ends within an entry", self.at))
    }

    fn number(&self, at: usize) -> Result<u64, LogError> {
        let bytes: Option<[u8; 8]> =
            self.bytes.get(self.at + at..self.at + at + 8).and_then(|b| b.try_into().ok());
        bytes.map(u64::from_le_bytes).ok_or_else(|| self.short())
    }

    fn entry(&mut self) -> Result<Entry<'a>, LogError> {
        let [sector, sectors, flags, length] =
            [self.number(0)?, self.number(8)?, self.number(16)?, self.number(24)?];
        let known = FLUSH | FUA | DISCARD | MARK | 16;
        let fits = sector.checked_add(sectors).is_some_and(|end| end < 1 << 54);
        if flags & !known != 0 || !fits {
            let what = format!("an entry with flags {flags:#x}, {sectors} sectors at {sector}");
            return Err(LogError::Wrong(format!("byte {}: {what}", self.at)));
        }
        let is_mark = flags & MARK != 0;
        let (from, bytes) = if is_mark {
            (self.at + 32, length)
        } else {
            (self.at + self.sector, if flags & DISCARD != 0 { 0 } else { sectors * LBA })
        };
        let end = usize::try_from(bytes).ok().and_then(|n| from.checked_add(n));
        let data = end.and_then(|end| self.bytes.get(from..end)).ok_or_else(|| self.short())?;
        let used = from + data.len() - self.at;
        self.at += used.max(1).next_multiple_of(self.sector);
        Ok(Entry { sector, sectors, flags, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(id: u64, sector: u64, fua: bool) -> Event {
        Event::Write { id, connection: 1, offset: sector * LBA, fua, data: vec![id as u8; 4096] }
    }

    /// In the order of the tool: a write is logged when the FLUSH that covers it completes; writes that no
    /// FLUSH covers come last.
    #[test]
    fn a_log_is_written_in_the_order_of_the_original_tool() {
        let events = vec![
            write(1, 8, false),
            Event::Done { id: 1 },
            write(2, 16, false),
            Event::Flush { id: 3, connection: 1 },
            Event::Done { id: 2 },
            write(4, 24, true),
            Event::Done { id: 4 },
            Event::Done { id: 3 },
            Event::Mark("one".to_string()),
            Event::Zero { id: 5, connection: 1, offset: 4096, length: 4096, fua: false, trim: true },
        ];
        let log = Log { size: 1 << 20, sector: 512, base: 0, events };
        let again = decode(&encode(&log), Some(1 << 20)).unwrap();
        let order: Vec<String> = (again.events.iter())
            .filter_map(|event| match event {
                Event::Write { offset, fua, data, .. } => {
                    assert_eq!(data.len(), 4096);
                    Some(format!("write {} {fua}", offset / LBA))
                }
                Event::Zero { offset, trim, .. } => Some(format!("trim {} {trim}", offset / LBA)),
                Event::Flush { .. } => Some("flush".to_string()),
                Event::Mark(text) => Some(text.clone()),
                Event::Done { .. } | Event::Fault { .. } => None,
            })
            .collect();
        assert_eq!(
            order,
            ["write 24 true", "write 8 false", "flush", "one", "write 16 false", "trim 8 true"]
        );
    }

    #[test]
    fn what_is_no_log_of_that_tool_is_named_by_its_byte() {
        let log = Log {
            size: 1 << 20,
            sector: 512,
            base: 0,
            events: vec![write(1, 8, false), Event::Done { id: 1 }],
        };
        let bytes = encode(&log);
        for end in [0, 7, 31, 600, bytes.len() - 1] {
            assert!(decode(&bytes[..end], None).is_err(), "{end}");
        }
        for (at, value) in [(8, 2), (24, 3), (512 + 16, 64), (512 + 7, 255)] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            assert!(decode(&bytes, None).unwrap_err().to_string().starts_with("byte "), "{at}");
        }
        assert!(decode(&bytes, Some(512)).unwrap_err().to_string().contains("uses 8192"));
    }

    /// A log that the original tool has read.
    #[test]
    fn log_of_the_original_tool_is_read_and_written_back() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/39-log-writes.log");
        let Ok(bytes) = std::fs::read(path) else {
            println!("{path} is not there: not tried");
            return;
        };
        let log = decode(&bytes, None).unwrap();
        let count = |is: fn(&Event) -> bool| log.events.iter().filter(|event| is(event)).count();
        assert_eq!(count(|e| matches!(e, Event::Write { fua: false, .. })), 2);
        assert_eq!(count(|e| matches!(e, Event::Write { fua: true, offset: 12_288, .. })), 1);
        assert_eq!(count(|e| matches!(e, Event::Zero { trim: true, offset: 4096, .. })), 1);
        assert_eq!(log.marks(99).collect::<Vec<_>>(), ["txn-1 acknowledged"]);
        let again = encode(&log);
        assert_eq!(again[..], bytes[..again.len()], "to the byte");
        assert!(bytes[again.len()..].iter().all(|byte| *byte == 0));
    }
}
