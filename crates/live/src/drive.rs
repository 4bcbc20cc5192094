//! A drive whose media survive a power cut, and the log of its requests. It is served, or rerun from that
//! log.

use crate::data::damaged::Damaged;
use crate::data::flash::{Flash, newest};
use crate::data::folder::{Beside, Folder};
use crate::data::found::{self, Found, Sizes};
use crate::data::not_written::NotWritten;
use crate::error::ServeError;
use crate::page_memory::PageMemory;
use crate::session::{Event, SessionLog};
use crate::volatile::Volatile;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use wordline_ftl::{BoxedMedia, Checked, HostData, Label, Metadata, Protected, StateFile};
use wordline_run::{Filled, RunSpec, Setup, unnamed};
use wordline_sim::{Completion, Device, NoProbe, PoweredOff};
#[cfg(test)]
use wordline_units::SimDuration;
use wordline_units::{BlockId, DieId, HostRequest, SimTime};
use wordline_volatile::Request;

/// What a power cut did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// When, in the drive's time.
    pub at: SimTime,
    /// Number of requests in flight, which never complete.
    pub lost: usize,
    /// Number of physical pages that this cut has torn: they cannot be read.
    pub torn_pages: usize,
    /// Number of logical pages in protected RAM.
    pub protected_pages: usize,
    /// When the drive has recovered and takes requests, in its own time.
    pub ready: SimTime,
}

impl Cut {
    /// The cut as JSON; times are the drive's, in nanoseconds.
    pub(crate) fn to_json(self) -> Value {
        json!({
            "at_ns": self.at.0,
            "lost_requests": self.lost,
            "torn_pages": self.torn_pages,
            "protected_pages": self.protected_pages,
            "recovery_ns": self.ready.since(self.at).0,
        })
    }
}

/// A drive and its parts.
pub(crate) struct Drive {
    setup: Setup,
    scheme: String,
    /// None only if recovery was refused.
    device: Option<Device<NoProbe>>,
    /// Dies that are slowed down, and by which factor. A power cut does not change that.
    slow: Vec<(DieId, u32)>,
    log: Option<SessionLog>,
    volatile: Volatile,
    damaged: Damaged,
}

/// Why a drive stopped, in words.
pub(crate) type Stopped = String;

/// A drive at one moment, from which any number of drives can continue. It needs memory for what the drive
/// has written since, and each drive that continues needs memory for what it changes.
pub(crate) struct Kept {
    setup: Setup,
    scheme: String,
    state: StateFile,
    media: BoxedMedia,
    volatile: Volatile,
    damaged: Damaged,
    /// That moment, in the drive's time.
    pub at: SimTime,
}

impl Drive {
    /// The drive of a folder. In a new folder it is in its initial state; otherwise it is as its server left
    /// it, after the modelled recovery.
    pub(crate) fn in_folder(run: &RunSpec, folder: &mut Folder) -> Result<Drive, ServeError> {
        let at = folder.path().display().to_string();
        let wrong = |what: String| ServeError::Input(format!("--data {at}: {what}"));
        if found::identity(folder)?.is_none() {
            let media = Flash::of(Metadata::default(), Arc::new(folder.pages()));
            let mut drive = Drive::over(run, media)?;
            let device = drive.working().map_err(&wrong)?;
            let now = device.now();
            folder
                .begin(&Setup::identity(run)?.to_string(), device.ftl_mut(), now)
                .map_err(|e| ServeError::Machine(e.why))?;
            return Ok(drive);
        }
        Drive::found(run, folder, Flash::default(), |found| found)
    }

    /// Number of changed pages that are not yet in the folder.
    pub(crate) fn unwritten(&self) -> usize {
        self.device.as_ref().map_or(0, |device| device.ftl().media().get().map_or(0, Flash::unwritten))
    }

    /// Write the drive's changes to its folder.
    pub(crate) fn commit(&mut self, folder: &mut Folder) -> Result<(), NotWritten> {
        let beside = self.beside();
        let Some(device) = &mut self.device else { return Ok(()) };
        let now = device.now();
        folder.commit(device.ftl_mut(), now, &beside)
    }

    /// Write the drive's changes to its folder and close it.
    pub(crate) fn close(&mut self, folder: &mut Folder) -> Result<(), NotWritten> {
        let beside = self.beside();
        let Some(device) = &mut self.device else { return Ok(()) };
        let now = device.now();
        folder.end(device.ftl_mut(), now, &beside)
    }

    /// Damaged sectors and effects of power cuts that the folder lacks.
    fn beside(&mut self) -> Beside {
        self.look_for_damage();
        let sector = self.setup.device.sector.0 as usize;
        Beside { left: self.volatile.take_unwritten(sector), damaged: self.damaged.take_unwritten() }
    }

    /// Whether the folder lacks effects of a power cut or damaged sectors.
    pub(crate) fn is_unwritten(&self) -> bool {
        self.volatile.is_unwritten() || self.damaged.is_unwritten()
    }

    /// Collect the damaged sectors that the media have found.
    fn look_for_damage(&mut self) {
        let sectors = self.setup.device.unit.0 / self.setup.device.sector.0;
        let Some(device) = &mut self.device else { return };
        let Ok(flash) = device.ftl_mut().media_mut::<Flash>() else { return };
        for (span, place) in flash.take_damaged() {
            let of_page = u64::from(span.lpn.0) * sectors;
            self.damaged.add(span.mask.iter().map(|sector| of_page + u64::from(sector)), &place);
        }
    }

    /// First byte of a range that lies in a damaged sector.
    pub(crate) fn damaged(&mut self, range: &Range<u64>) -> Option<u64> {
        self.look_for_damage();
        let sector = self.setup.device.sector.0;
        self.damaged.first(range.start / sector..range.end.div_ceil(sector)).map(|at| at * sector)
    }

    /// Note that whole sectors of a range were written, which repairs them.
    pub(crate) fn heal(&mut self, range: &Range<u64>) {
        // What was read to complete a page is older than the write.
        self.look_for_damage();
        let sector = self.setup.device.sector.0;
        self.damaged.heal(range.start.div_ceil(sector)..range.end / sector);
    }

    /// Bytes of page data in RAM.
    pub(crate) fn bytes_in_ram(&self) -> u64 {
        flash_of(self).map_or(0, Flash::in_ram)
    }

    /// Memory of its pages that were overwritten.
    pub(crate) fn page_memory(&self) -> Arc<PageMemory> {
        flash_of(self).map(Flash::page_memory).unwrap_or_default()
    }

    /// Number of damaged sectors.
    pub(crate) fn damaged_sectors(&self) -> usize {
        self.damaged.count()
    }

    /// Where damage was found since the last call, in words.
    pub(crate) fn take_damage_found(&mut self) -> Vec<String> {
        self.damaged.take_found()
    }

    /// The volatile write cache.
    pub(crate) fn volatile(&self) -> &Volatile {
        &self.volatile
    }

    /// The volatile write cache, mutable.
    pub(crate) fn volatile_mut(&mut self) -> &mut Volatile {
        &mut self.volatile
    }

    /// Put a request that writes whole sectors or zeroes them into the volatile cache.
    pub(crate) fn put_volatile(&mut self, request: Request, sectors: Range<u64>, data: Option<&[u8]>) {
        if self.volatile.is_idle() {
            return;
        }
        let Some(device) = &mut self.device else { return };
        let bytes = self.setup.device.sector.0;
        let sectors_of_page = self.setup.device.unit.0 / bytes;
        self.volatile.put(request, sectors, data, |sector| newest(device, sector, (bytes, sectors_of_page)));
    }

    /// The newest contents of a range of bytes, which begins and ends with a sector.
    pub(crate) fn contents(&mut self, range: Range<u64>) -> Vec<u8> {
        let bytes = self.setup.device.sector.0;
        let units = (bytes, self.setup.device.unit.0 / bytes);
        let left = self.volatile.left(range.clone(), bytes);
        let mut contents = vec![0; (range.end - range.start) as usize];
        let places = contents.chunks_mut(bytes as usize).zip(range.start / bytes..);
        if let Some(device) = &mut self.device {
            places.for_each(|(place, sector)| newest(device, sector, units).copy_to(place));
        }
        for (sector, content) in left {
            let at = (sector * bytes - range.start) as usize;
            content.copy_to(&mut contents[at..at + bytes as usize]);
        }
        contents
    }

    /// The session, while it is recorded.
    pub(crate) fn session(&mut self) -> Option<&mut SessionLog> {
        self.log.as_mut()
    }

    /// After a cut: drop the trims from the journal that the cut has undone.
    pub(crate) fn forget_undone_trims(&mut self) {
        if let Some(device) = &mut self.device {
            let trims = device.ftl().inspect().trims_in_ram();
            if let Ok(flash) = device.ftl_mut().media_mut::<Flash>() {
                flash.set_trims(trims);
            }
        }
    }

    /// Keep the drive as it is, with its requests in flight.
    pub(crate) fn keep(&self) -> Result<Kept, Stopped> {
        let wrong = |e: &dyn std::fmt::Display| format!("cannot save the drive: {e}");
        let device = self.device.as_ref().ok_or("recovery from a power cut failed")?;
        let mut file = unnamed().map_err(|e| wrong(&e))?;
        let label = Label { device: &self.setup.device, scheme: &self.scheme };
        device.save_apart(label, self.setup.spec.seed, &mut file).map_err(|e| wrong(&e))?;
        Ok(Kept {
            setup: self.setup.clone(),
            scheme: self.scheme.clone(),
            state: StateFile::open(file, Checked::Body).map_err(|e| wrong(&e))?,
            media: device.ftl().media().fork().map_err(|e| wrong(&e))?,
            volatile: self.volatile.clone(),
            damaged: self.damaged.clone(),
            at: device.now(),
        })
    }

    /// A drive in its initial state, over media that hold none of its data.
    pub(crate) fn over(run: &RunSpec, media: impl Into<BoxedMedia>) -> Result<Drive, ServeError> {
        let setup = Setup::resolve(run)?;
        if !matches!(setup.initial.filled, Filled::Fresh | Filled::Share(_)) {
            return Err(ServeError::Input(format!(
                "--initial {}: this state depends on a workload, and a served drive has none\n  allowed: \
                 fresh, fill:SHARE[,order=seq|random][,valid=SHARE], and with + aged_invalid, aged_blocks, \
                 pe, retention",
                run.initial
            )));
        }
        let scheme = setup.spelling(&run.scheme)?;
        let device = wordline_run::device_over(&setup, &scheme, NoProbe, media)?;
        let volatile = Volatile::default();
        let damaged = Damaged::default();
        Ok(Drive { setup, scheme, device: Some(device), slow: vec![], log: None, volatile, damaged })
    }

    /// Mark sectors as damaged that a power cut has left damaged.
    pub(crate) fn add_damaged(&mut self, sectors: Vec<u64>) {
        self.damaged.add(sectors.into_iter(), "sectors that a power cut left: checksum mismatch");
    }

    /// A drive as found in a folder, after the modelled recovery. `over` is the configuration of a drive
    /// without a folder; `taken` is what this drive has already taken from the folder.
    pub(crate) fn found(
        run: &RunSpec,
        folder: &mut Folder,
        over: impl Into<BoxedMedia>,
        taken: impl FnOnce(Found) -> Found,
    ) -> Result<Drive, ServeError> {
        let at = folder.path().display().to_string();
        let wrong = |what: String| ServeError::Input(format!("--data {at}: {what}"));
        let then = serde_json::from_str(&found::identity(folder)?.unwrap_or_default())
            .map_err(|e| wrong(format!("cannot read the description of the drive: {e}")))?;
        if let Some(other) = found::other(&then, &Setup::identity(run)?) {
            let hint = "start the server with the same drive, or with another folder";
            return Err(wrong(format!("contains a different drive: {other}\n  hint: {hint}")));
        }
        // Its contents at time 0 are computed again. All else is found in the folder.
        let mut drive = Drive::over(run, over)?;
        let Some(device) = drive.device.take() else { return Ok(drive) };
        let Found { media, writes, trims, wear, now, damaged } =
            taken(found::find(folder, Sizes::of(device.ftl()))?);
        let protected = Protected { writes, trims, stale_map: device.ftl().inspect().map_pages().collect() };
        let mut off = device.power_cut();
        off.image = off.image.found(media, protected, wear);
        off.at = now;
        drive.power_on(off).map_err(wrong)?;
        drive.damaged = Damaged::of(found::damaged(folder)?);
        damaged.into_iter().for_each(|(sector, place)| drive.damaged.add([sector].into_iter(), &place));
        Ok(drive)
    }

    /// Write all further requests to a session log, or stop doing so.
    pub(crate) fn record(&mut self, log: Option<SessionLog>) {
        self.log = log;
    }

    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    pub(crate) fn scheme(&self) -> &str {
        &self.scheme
    }

    pub(crate) fn device(&self) -> Option<&Device<NoProbe>> {
        self.device.as_ref()
    }

    fn working(&mut self) -> Result<&mut Device<NoProbe>, Stopped> {
        self.device.as_mut().ok_or_else(|| "recovery from a power cut failed".to_string())
    }

    /// The drive's time.
    pub(crate) fn now(&self) -> SimTime {
        self.device.as_ref().map_or(SimTime(0), Device::now)
    }

    /// Submit a request, with the data of a write, at its arrival, or now if that has passed. Returns its number.
    pub(crate) fn submit(&mut self, request: HostRequest, data: HostData<'_>) -> Result<u64, Stopped> {
        let at = request.arrival.max(self.now());
        if let Some(log) = &mut self.log {
            log.note(&Event::Submit(at, request));
        }
        self.working()?.submit_with(request, at, data).map_err(|e| e.to_string())
    }

    /// The next request to complete, up to a time. If there is none, all events up to that time have been
    /// processed.
    pub(crate) fn next(&mut self, until: SimTime) -> Result<Option<Completion>, Stopped> {
        self.working()?.next_completion(until).map_err(|e| e.to_string())
    }

    /// Process all events up to a time.
    pub(crate) fn advance(&mut self, until: SimTime) -> Result<(), Stopped> {
        self.working()?.advance_to(until).map_err(|e| e.to_string())
    }

    /// Slow down a die by a factor; 1 is the normal speed.
    pub(crate) fn slow_die(&mut self, die: DieId, factor: u32) -> Result<(), Stopped> {
        let at = self.now();
        if let Some(log) = &mut self.log {
            log.note(&Event::Slow(at, die, factor));
        }
        self.slow.retain(|(slow, _)| *slow != die);
        self.slow.push((die, factor));
        self.working()?.slow_die(die, factor);
        Ok(())
    }

    /// The dies that are slowed down.
    pub(crate) fn slow_dies(&self) -> impl Iterator<Item = (DieId, u32)> + '_ {
        self.slow.iter().copied().filter(|(_, factor)| *factor > 1)
    }

    /// Process the next event. If the drive is at rest, a millisecond passes. Returns the completed request.
    #[cfg(test)]
    pub(crate) fn step(&mut self) -> Result<Option<Completion>, Stopped> {
        let next = self.device().and_then(Device::next_event);
        let until = next.unwrap_or(self.now() + SimDuration(1_000_000));
        let ended = self.next(until)?;
        if ended.is_none() {
            self.advance(until)?;
        }
        Ok(ended)
    }

    /// Note a command of the control socket in the session.
    pub(crate) fn note_order(&mut self, words: &str) {
        let at = self.now();
        if let Some(log) = &mut self.log {
            log.note(&Event::Order(at, words.to_string()));
        }
    }

    /// Retire a block at its next erase.
    pub(crate) fn retire(&mut self, block: BlockId) -> Result<(), Stopped> {
        let at = self.now();
        if let Some(log) = &mut self.log {
            log.note(&Event::Retire(at, block));
        }
        self.working()?.ftl_mut().setup().condemn(block);
        Ok(())
    }

    /// Physical pages that are torn and cannot be read.
    fn torn(&self, metadata: Option<&Metadata>) -> BTreeSet<wordline_units::Ppn> {
        metadata.map_or(BTreeSet::new(), |m| m.torn(self.setup.geometry.slot_shift).into_iter().collect())
    }

    /// Cut the power at a time and let the drive recover. All events up to that time must have been
    /// processed, and the completions taken. An earlier time lies within the last recovery, which starts
    /// again.
    pub(crate) fn cut(&mut self, at: SimTime) -> Result<Cut, Stopped> {
        if at >= self.now() {
            self.advance(at)?;
        }
        let before = self.torn(self.device.as_ref().and_then(|device| device.ftl().media().metadata()));
        if let Some(log) = &mut self.log {
            log.note(&Event::Cut(at));
        }
        let Some(device) = self.device.take() else { return Err("the drive has no power".to_string()) };
        let mut off = device.power_cut();
        off.at = at;
        let torn_pages = self.torn(off.image.media.metadata()).difference(&before).count();
        let (lost, protected_pages) = (off.lost.len(), off.image.protected_pages().count());
        self.power_on(off)?;
        Ok(Cut { at, lost, torn_pages, protected_pages, ready: self.now() })
    }

    /// Restore the power.
    fn power_on(&mut self, off: PoweredOff<NoProbe>) -> Result<(), Stopped> {
        let scheme = self.setup.spec.registry.build(&self.scheme).map_err(|e| e.to_string())?;
        let mut device = Device::power_on(&self.setup.device, &self.setup.geometry, scheme, off)
            .map_err(|e| format!("recovery from a power cut failed: {e}"))?;
        for (die, factor) in &self.slow {
            device.slow_die(*die, *factor);
        }
        self.device = Some(device);
        Ok(())
    }

    /// Drain the drive. Returns the hash of the result, and the session.
    pub(crate) fn end(&mut self) -> (Result<String, Stopped>, Option<SessionLog>) {
        // A session says when: what is due by then comes before.
        let at = self.now();
        let due = self.advance(at);
        if let Some(log) = &mut self.log {
            log.note(&Event::Drain(at));
        }
        let hash = due.and_then(|()| self.working()).and_then(|device| {
            device.drain().map_err(|e| e.to_string())?;
            Ok(device.metrics().result_hash(&device.ftl().counters().integers()))
        });
        (hash, self.log.take())
    }
}

impl Kept {
    /// A drive that continues from here. The requests in flight complete unseen.
    pub(crate) fn drive(&self) -> Result<Drive, Stopped> {
        let wrong = |e: &dyn std::fmt::Display| format!("cannot continue from this state: {e}");
        let (setup, label) = (&self.setup, Label { device: &self.setup.device, scheme: &self.scheme });
        let scheme = setup.spec.registry.build(&self.scheme).map_err(|e| wrong(&e))?;
        let media = self.media.fork().map_err(|e| wrong(&e))?;
        let device = Device::restore_over(label, &setup.geometry, scheme, NoProbe, &self.state, media);
        let device = Some(device.map_err(|e| wrong(&e))?);
        let (setup, scheme, volatile) = (setup.clone(), self.scheme.clone(), self.volatile.clone());
        let damaged = self.damaged.clone();
        Ok(Drive { setup, scheme, device, slow: vec![], log: None, volatile, damaged })
    }
}

/// The flash of a drive, unless it is off.
fn flash_of(drive: &Drive) -> Option<&Flash> {
    drive.device.as_ref().and_then(|device| device.ftl().media().get::<Flash>().ok())
}
