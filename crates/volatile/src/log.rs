//! What a client sent and the replies that it received, in order.

use crate::session::SessionFault;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use thiserror::Error;

/// The first bytes of a log file.
const MAGIC: &[u8; 17] = b"wordline-writes/1";
/// Maximum bytes of an event.
const LONGEST: u32 = 64 << 20;

/// A client's request, a reply, or a mark.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Event {
    /// A write of whole sectors arrived.
    Write {
        /// Its number. Numbers increase in the order of arrival.
        id: u64,
        /// The connection of the request.
        connection: u64,
        /// First byte of the range.
        offset: u64,
        /// Whether it is durable when it is acknowledged.
        fua: bool,
        /// Its data.
        data: Vec<u8>,
    },
    /// A request to zero sectors arrived: WRITE ZEROES or TRIM.
    Zero {
        /// As for a write.
        id: u64,
        /// As for a write.
        connection: u64,
        /// First byte of the range.
        offset: u64,
        /// Length in bytes.
        length: u64,
        /// As for a write.
        fua: bool,
        /// Whether it was a TRIM.
        trim: bool,
    },
    /// A FLUSH arrived.
    Flush {
        /// As for a write.
        id: u64,
        /// As for a write.
        connection: u64,
    },
    /// A request was acknowledged.
    Done {
        /// Its number.
        id: u64,
    },
    /// The client printed a line, or set a mark.
    Mark(String),
    /// A fault was injected into a request. The client may have seen it as an error.
    Fault {
        /// The number of the request; 0 for a read, which has none.
        id: u64,
        /// What happened.
        fault: SessionFault,
    },
}

impl Event {
    /// Write the event as a log has it.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let bytes = postcard::to_stdvec(self).map_err(io::Error::other)?;
        to.write_all(&(bytes.len() as u32).to_le_bytes())?;
        to.write_all(&bytes)
    }
}

/// The log of a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Log {
    /// Size of the drive in bytes.
    pub size: u64,
    /// Size of a sector in bytes. Sectors are never torn.
    pub sector: u64,
    /// Number of events that describe the initial contents of the drive. They are durable, and no cut falls
    /// among them.
    pub base: usize,
    /// All events.
    pub events: Vec<Event>,
}

/// Why a file is not a valid log.
#[derive(Debug, Error)]
pub enum LogError {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Its contents are invalid.
    #[error("{0}")]
    Wrong(String),
}

impl Log {
    /// Where the head has the number of events of the initial contents, as 64 bits, least byte first.
    pub const BASE_AT: u64 = MAGIC.len() as u64 + 16;

    /// Write the log.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, to: &mut impl Write) -> Result<(), LogError> {
        self.write_head(to)?;
        self.events.iter().try_for_each(|event| event.write(to))?;
        Ok(to.flush()?)
    }

    /// Write what precedes the events, for a log whose events are written one by one.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_head(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(MAGIC)?;
        to.write_all(&self.size.to_le_bytes())?;
        to.write_all(&self.sector.to_le_bytes())?;
        to.write_all(&(self.base as u64).to_le_bytes())
    }

    /// Whether a file begins like a log.
    pub fn is_one(head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    /// Read a log.
    ///
    /// # Errors
    /// If the file cannot be read or is not a valid log: at which byte, and why.
    pub fn read(from: &mut impl Read) -> Result<Log, LogError> {
        let (log, end) = Log::read_whole_events(from)?;
        let cut_off = |at: u64| LogError::Wrong(format!("byte {at}: the file ends within an event"));
        end.map_or(Ok(log), |at| Err(cut_off(at)))
    }

    /// Read a log that may end within an event, as one does whose writer was killed. Returns the byte where that event
    /// begins, if so.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_whole_events(from: &mut impl Read) -> Result<(Log, Option<u64>), LogError> {
        let mut bytes = vec![];
        from.read_to_end(&mut bytes)?;
        let wrong = |at: usize, what: &str| LogError::Wrong(format!("byte {at}: {what}"));
        if !Log::is_one(&bytes) {
            return Err(wrong(0, "not a log of writes"));
        }
        let number = |at: usize| {
            let taken: Option<[u8; 8]> = bytes.get(at..at + 8).and_then(|b| b.try_into().ok());
            taken.map(u64::from_le_bytes).ok_or_else(|| wrong(at, "the file ends within its header"))
        };
        let (size, sector) = (number(MAGIC.len())?, number(MAGIC.len() + 8)?);
        let base = number(MAGIC.len() + 16)? as usize;
        if sector == 0 || !sector.is_power_of_two() || sector > 1 << 20 || !size.is_multiple_of(sector) {
            let what = format!("a drive of {size} bytes in sectors of {sector}");
            return Err(wrong(MAGIC.len(), &what));
        }
        let mut log = Log { size, sector, base, events: vec![] };
        let mut at = MAGIC.len() + 24;
        while at < bytes.len() {
            let length: Option<[u8; 4]> = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
            let length = length.map(u32::from_le_bytes);
            if length.is_some_and(|n| n > LONGEST) {
                return Err(wrong(at, "an event of more than 64 MiB"));
            }
            let event = length.and_then(|n| bytes.get(at + 4..at + 4 + n as usize));
            let Some(event) = event else { return Ok((log, Some(at as u64))) };
            let event: Event = postcard::from_bytes(event).map_err(|e| wrong(at, &e.to_string()))?;
            log.check(&event).map_err(|what| wrong(at, &what))?;
            log.events.push(event);
            at += 4 + length.unwrap_or(0) as usize;
        }
        Ok((log, None))
    }

    /// Whether an event fits the drive.
    fn check(&self, event: &Event) -> Result<(), String> {
        let (offset, length) = match event {
            Event::Write { offset, data, .. } => (*offset, data.len() as u64),
            Event::Zero { offset, length, .. } => (*offset, *length),
            _ => return Ok(()),
        };
        let is_whole = offset.is_multiple_of(self.sector) && length.is_multiple_of(self.sector);
        let fits = offset.checked_add(length).is_some_and(|end| end <= self.size);
        if is_whole && fits && length > 0 {
            return Ok(());
        }
        let (size, sector) = (self.size, self.sector);
        Err(format!("{length} bytes at {offset} of a drive of {size} bytes in sectors of {sector}"))
    }

    /// The events of the client.
    pub fn of_client(&self) -> &[Event] {
        self.events.get(self.base..).unwrap_or_default()
    }

    /// The faults injected in the first `at` events, each with its request's number.
    pub fn faults_before(&self, at: usize) -> impl Iterator<Item = (u64, SessionFault)> + '_ {
        self.events[..at.min(self.events.len())]
            .iter()
            .filter_map(|e| if let Event::Fault { id, fault } = e { Some((*id, *fault)) } else { None })
    }

    /// The marks among the first `at` events.
    pub fn marks(&self, at: usize) -> impl Iterator<Item = &str> {
        let mark = |event: &'_ Event| matches!(event, Event::Mark(_));
        let events = self.events[..at.min(self.events.len())].iter();
        events
            .filter(move |e| mark(e))
            .filter_map(|e| if let Event::Mark(text) = e { Some(text.as_str()) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let events = vec![
            Event::Write { id: 1, connection: 1, offset: 512, fua: true, data: vec![7; 1024] },
            Event::Zero { id: 2, connection: 2, offset: 0, length: 512, fua: false, trim: true },
            Event::Flush { id: 3, connection: 1 },
            Event::Done { id: 3 },
            Event::Mark("acknowledged 1".to_string()),
            Event::Fault { id: 3, fault: SessionFault::Slow },
        ];
        let log = Log { size: 1 << 20, sector: 512, base: 0, events };
        let mut bytes = vec![];
        log.write(&mut bytes).unwrap();
        assert_eq!(Log::read(&mut &bytes[..]).unwrap(), log);
        assert_eq!(log.marks(5).collect::<Vec<_>>(), ["acknowledged 1"]);
        for end in [0, 10, 20, 40, bytes.len() - 1] {
            assert!(Log::read(&mut &bytes[..end]).is_err(), "{end}");
        }
        // One whose writer was killed has its whole events.
        let (begun, end) = Log::read_whole_events(&mut &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(begun.events, log.events[..5]);
        assert!(end.is_some_and(|end| end < bytes.len() as u64));
    }

    #[test]
    fn an_event_that_does_not_fit_the_drive_is_refused() {
        let event =
            Event::Zero { id: 2, connection: 2, offset: 1 << 20, length: 512, fua: false, trim: true };
        let mut bytes = vec![];
        Log { size: 1 << 20, sector: 512, base: 0, events: vec![event] }.write(&mut bytes).unwrap();
        let said = Log::read(&mut &bytes[..]).unwrap_err().to_string();
        assert!(said.starts_with("byte 41: 512 bytes at 1048576 of a drive"), "{said}");
    }
}
