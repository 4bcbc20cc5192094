//! Crash states of a simulated drive. The requests of a log are sent to the drive, its power is cut at a
//! point of the log, and it runs its recovery. The durable sectors that it then holds are compared with those
//! of the log.

use crate::data::flash::Flash;
use crate::drive::{Drive, Kept};
use crate::error::ServeError;
use crate::lock;
use crate::pieces::{Units, asked};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use wordline_ftl::{HostData, Outcome};
use wordline_hash::splitmix;
use wordline_run::RunSpec;
use wordline_sim::Completion;
use wordline_units::{Attributes, HostOp, SimDuration, SimTime};
use wordline_volatile::{Content, Event, Image, Interval, Log, Sectors, State};

/// Maximum bytes per read of the recovered drive.
const READ: u64 = 1 << 20;
/// The cut falls within this time after the last event before it, in nanoseconds.
const WITHIN: u64 = 1_000_000;
/// Time that passes if no event is due.
const REST: SimDuration = SimDuration(1_000_000);

/// A simulated drive at each point of a log at which its power is cut.
pub struct ThroughDrive {
    name: String,
    sector: u64,
    /// Snapshots of the drive, by the number of events before the cut.
    kept: Mutex<BTreeMap<usize, Kept>>,
    /// Byte ranges that the log writes, in whole sectors of the drive.
    ranges: Vec<Range<u64>>,
    summary: Mutex<Summary>,
}

/// Totals over all cuts.
#[derive(Clone, Copy, Default)]
struct Summary {
    cuts: u64,
    torn_pages: u64,
    shortest: Option<SimDuration>,
    longest: SimDuration,
}

/// What a drive holds after a power cut and its recovery.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// Its contents. Sectors that were not durable are as in the crash state.
    pub image: Image,
    /// Durable sectors whose contents have changed.
    pub changed: Vec<u64>,
}

impl fmt::Debug for ThroughDrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThroughDrive").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ThroughDrive {
    /// Send the requests of a log to a new drive, and take a snapshot at each of these cuts, given as the
    /// number of events before them.
    ///
    /// # Errors
    /// When the drive cannot be made, is too small, or fails a request.
    pub fn new(run: &RunSpec, log: &Log, cuts: &BTreeSet<usize>) -> Result<ThroughDrive, ServeError> {
        let drive = Drive::over(run, Flash::default())?;
        let device = &drive.setup().device;
        let units = Units { sector: device.sector.0, page: device.unit.0 };
        let size = device.logical_bytes();
        let name = format!("{} under {}", device.name, drive.scheme());
        if size < log.size {
            let what =
                format!("--through-drive: {} has {size} bytes, and the log needs {}", device.name, log.size);
            return Err(ServeError::Input(format!(
                "{what}\n  allowed: a larger device, or the log of a smaller drive"
            )));
        }
        let newest = Image::new(log.size, log.sector);
        let mut player = Player {
            drive,
            units,
            newest,
            sector: log.sector,
            requests: BTreeMap::new(),
            ended: BTreeSet::new(),
            written: Sectors::default(),
        };
        let stopped = |what: String| ServeError::Machine(format!("--through-drive: {what}"));
        let mut kept = BTreeMap::new();
        for (at, event) in log.events.iter().enumerate() {
            if cuts.contains(&at) {
                kept.insert(at, player.drive.keep().map_err(stopped)?);
            }
            player.play(event).map_err(stopped)?;
        }
        if cuts.contains(&log.events.len()) {
            kept.insert(log.events.len(), player.drive.keep().map_err(stopped)?);
        }
        let ranges = player.ranges(size);
        Ok(ThroughDrive {
            name,
            sector: log.sector,
            kept: Mutex::new(kept),
            ranges,
            summary: Mutex::default(),
        })
    }

    /// Cut the power in the interval of a crash state, let the drive recover, and read it.
    ///
    /// # Errors
    /// When the drive does not recover, or cannot read what it holds.
    pub fn recovered(&self, interval: &Interval, state: &State) -> Result<Recovered, String> {
        let mut image = state.image(interval);
        let drive = lock(&self.kept).get(&interval.at()).map(Kept::drive);
        let mut drive = drive.ok_or("the drive was not saved at this point of the log")??;
        // The time of the cut depends on the state.
        let within = splitmix(image.hash() as u64 ^ interval.at() as u64) % WITHIN;
        let until = SimTime(drive.now().0 + within);
        while drive.next(until)?.is_some() {}
        let cut = drive.cut(until)?;
        self.count(cut.torn_pages as u64, cut.ready.since(cut.at));
        let mut changed = vec![];
        for range in &self.ranges {
            let bytes: Arc<[u8]> = read(&mut drive, range)?.into();
            for at in (0..bytes.len() as u64).step_by(self.sector as usize) {
                let sector = (range.start + at) / self.sector;
                if (sector + 1) * self.sector > image.size() || interval.cache().newest(sector).is_some() {
                    continue;
                }
                let held = Content::of(&bytes, at as usize);
                let mut promised = vec![0; self.sector as usize];
                image.sector(sector).copy_to(&mut promised);
                if held.bytes(self.sector as usize) != Some(&promised[..]) {
                    image.set(sector, &held);
                    changed.push(sector);
                }
            }
        }
        Ok(Recovered { image, changed })
    }

    fn count(&self, torn_pages: u64, recovery: SimDuration) {
        let mut all = lock(&self.summary);
        all.cuts += 1;
        all.torn_pages += torn_pages;
        all.shortest = Some(all.shortest.map_or(recovery, |least| least.min(recovery)));
        all.longest = all.longest.max(recovery);
    }

    /// A summary of all cuts, in one line.
    pub fn to_text(&self) -> String {
        let Summary { cuts, torn_pages, shortest, longest } = *lock(&self.summary);
        let milliseconds = |time: SimDuration| time.0 as f64 / 1e6;
        format!(
            "{}: {cuts} power cuts and recoveries simulated, {torn_pages} pages torn, recovery {:.1} to {:.1} ms",
            self.name,
            milliseconds(shortest.unwrap_or_default()),
            milliseconds(longest)
        )
    }
}

/// Read a range from a drive at rest.
fn read(drive: &mut Drive, range: &Range<u64>) -> Result<Vec<u8>, String> {
    let number = drive.submit(asked(HostOp::Read, range), HostData::NONE)?;
    loop {
        match step(drive)? {
            Some(ended) if ended.number == number && ended.outcome == Outcome::Done => return Ok(ended.data),
            Some(ended) if ended.number == number => {
                return Err(format!(
                    "the recovered drive cannot read {} bytes at {}",
                    range.end - range.start,
                    range.start
                ));
            }
            _ => {}
        }
    }
}

/// Advance until a request completes or the next event has been processed.
fn step(drive: &mut Drive) -> Result<Option<Completion>, String> {
    let until = drive.device().and_then(|device| device.next_event()).unwrap_or(drive.now() + REST);
    let ended = drive.next(until)?;
    if ended.is_none() {
        drive.advance(until)?;
    }
    Ok(ended)
}

/// Sends the requests of a log to a drive.
struct Player {
    drive: Drive,
    units: Units,
    /// The newest contents, which complete partly written sectors of the drive.
    newest: Image,
    /// Sector size of the log in bytes.
    sector: u64,
    /// Requests of the drive, by the number of the log's request.
    requests: BTreeMap<u64, Vec<u64>>,
    /// Requests that have completed.
    ended: BTreeSet<u64>,
    /// Sectors of the drive that have been written.
    written: Sectors,
}

impl Player {
    fn play(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Write { id, offset, data, fua, .. } => {
                let bytes: Arc<[u8]> = data.as_slice().into();
                for at in (0..data.len() as u64).step_by(self.sector as usize) {
                    self.newest.set((offset + at) / self.sector, &Content::of(&bytes, at as usize));
                }
                self.write(*id, *offset..offset + data.len() as u64, *fua)
            }
            Event::Zero { id, offset, length, fua, .. } => self.zero(*id, *offset..offset + length, *fua),
            Event::Flush { id, .. } => self.submit(*id, HostOp::Flush, 0..0, &[], false),
            Event::Done { id } => self.wait(*id),
            Event::Mark(_) | Event::Fault { .. } => Ok(()),
        }
    }

    fn submit(
        &mut self,
        id: u64,
        op: HostOp,
        range: Range<u64>,
        data: &[u8],
        fua: bool,
    ) -> Result<(), String> {
        let mut request = asked(op, &range);
        request.attributes = Attributes::NONE.with_fua(fua);
        let number = self.drive.submit(request, data.into())?;
        self.requests.entry(id).or_default().push(number);
        Ok(())
    }

    /// Note that whole sectors of the drive were written.
    fn note_written(&mut self, range: &Range<u64>) {
        self.written.insert(range.start / self.units.sector..range.end / self.units.sector);
    }

    /// Write the newest contents of a range, in whole sectors of the drive.
    fn write(&mut self, id: u64, range: Range<u64>, fua: bool) -> Result<(), String> {
        let outer = self.units.outward(&range);
        let mut bytes = vec![0; (outer.end - outer.start) as usize];
        self.newest.read(outer.start, &mut bytes);
        self.note_written(&outer);
        self.submit(id, HostOp::Write, outer, &bytes, fua)
    }

    /// Trim whole pages, and write zeroes to parts of pages.
    fn zero(&mut self, id: u64, range: Range<u64>, fua: bool) -> Result<(), String> {
        (range.start / self.sector..range.end / self.sector)
            .for_each(|at| self.newest.set(at, &Content::ZERO));
        let page = self.units.page;
        let inner = range.start.next_multiple_of(page)..range.end / page * page;
        if inner.start >= inner.end {
            return self.write(id, range, fua);
        }
        for edge in [range.start..inner.start, inner.end..range.end] {
            if !edge.is_empty() {
                self.write(id, edge, fua)?;
            }
        }
        self.note_written(&inner);
        self.submit(id, HostOp::Trim, inner, &[], false)?;
        if fua { self.submit(id, HostOp::Flush, 0..0, &[], false) } else { Ok(()) }
    }

    /// Advance until a request of the log has completed.
    fn wait(&mut self, id: u64) -> Result<(), String> {
        for number in self.requests.remove(&id).unwrap_or_default() {
            while !self.ended.remove(&number) {
                match step(&mut self.drive)? {
                    Some(ended) if ended.outcome == Outcome::Done => _ = self.ended.insert(ended.number),
                    Some(ended) => {
                        return Err(format!("request {id} of the log failed: {:?}", ended.outcome));
                    }
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// All written sectors, as byte ranges that fit into one read each.
    fn ranges(&self, size: u64) -> Vec<Range<u64>> {
        let mut all: Vec<Range<u64>> = vec![];
        for sector in self.written.iter() {
            let (from, to) = (sector * self.units.sector, ((sector + 1) * self.units.sector).min(size));
            match all.last_mut() {
                Some(last) if last.end == from && to - last.start <= READ => last.end = to,
                _ => all.push(from..to),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_volatile::{Rules, intervals};

    fn log() -> Log {
        let write = |id: u64, offset: u64, length: usize| Event::Write {
            id,
            connection: 1,
            offset,
            fua: id == 5,
            data: vec![id as u8; length],
        };
        let events = vec![
            write(1, 0, 8192),
            Event::Done { id: 1 },
            Event::Flush { id: 2, connection: 1 },
            Event::Done { id: 2 },
            write(3, 512, 1024),
            Event::Zero { id: 4, connection: 1, offset: 4096, length: 65_536, fua: false, trim: true },
            Event::Done { id: 3 },
            Event::Done { id: 4 },
            write(5, 200_704, 512),
            Event::Done { id: 5 },
            Event::Flush { id: 6, connection: 1 },
            Event::Done { id: 6 },
            write(7, 0, 4096),
        ];
        Log { size: 1 << 20, sector: 512, base: 0, events }
    }

    #[test]
    fn recovered_drive_keeps_durable_data_and_other_state() {
        let (log, run) = (
            log(),
            RunSpec {
                initial: "fresh".to_string(),
                ..RunSpec::new("demo-8gb", "slc-cache", "uniform:requests=1")
            },
        );
        let all = intervals(&log, Rules { sector: 512, atomic: None }, None);
        let cuts = all.iter().map(Interval::at).collect();
        let drive = ThroughDrive::new(&run, &log, &cuts).unwrap();
        for interval in &all {
            for name in ["", "1", "3", "3.0-0,4", "7.2-3"] {
                let name = format!("{}:{name}", interval.at());
                let Ok(state) = State::of_name(&name, interval) else { continue };
                let recovered = drive.recovered(interval, &state).unwrap();
                assert_eq!(recovered.changed, Vec::<u64>::new(), "{name}");
                assert_eq!(recovered.image.hash(), state.image(interval).hash(), "{name}");
            }
        }
        assert!(drive.to_text().starts_with("demo-8gb under slc-cache"), "{}", drive.to_text());
        // Another log leaves other contents on the drive.
        let last = all.last().unwrap();
        let state = State { at: last.at(), ..State::default() };
        let mut shorter = log.clone();
        shorter.events[8] =
            Event::Write { id: 5, connection: 1, offset: 200_704, fua: true, data: vec![9; 512] };
        let lying = ThroughDrive::new(&run, &shorter, &cuts).unwrap();
        assert_eq!(lying.recovered(last, &state).unwrap().changed, [392]);
    }
}
