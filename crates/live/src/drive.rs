//! A drive with media that a power cut leaves, and the log of what it is asked: served, or run again from that log.

use crate::error::ServeError;
use crate::session::{Event, SessionLog};
use wordline_ftl::{Bytes, Checked, Label, Media, Recorded, StateFile};
use wordline_run::{Filled, RunSpec, Setup, unnamed};
use wordline_sim::{Completion, Device, NoProbe};
use wordline_units::{HostRequest, SimTime};

/// What a power cut did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// When, in the drive's time.
    pub at: SimTime,
    /// Requests of the drive that were under way and will never end.
    pub lost: usize,
    /// Physical pages that cannot be read, by this cut and by those before it whose blocks have not been erased.
    pub torn_pages: usize,
    /// Logical pages that protected RAM held.
    pub protected_pages: usize,
    /// When the drive has recovered and takes requests, in its own time.
    pub ready: SimTime,
}

/// A drive, and what it is made of.
pub(crate) struct Drive<M: Recorded> {
    setup: Setup,
    scheme: String,
    /// None only where recovery was refused.
    device: Option<Device<NoProbe, M>>,
    log: Option<SessionLog>,
}

/// A drive that stopped, in words.
pub(crate) type Stopped = String;

/// A drive at one moment, from which as many drives as wanted go on. It has the memory of what has been written since,
/// and each of them that of what it changes.
pub(crate) struct Kept {
    setup: Setup,
    scheme: String,
    state: StateFile,
    media: Bytes,
    /// When that was, in the drive's time.
    pub at: SimTime,
}

impl Drive<Bytes> {
    /// Keep the drive as it is, with what is under way.
    pub(crate) fn keep(&self) -> Result<Kept, Stopped> {
        let wrong = |e: &dyn std::fmt::Display| format!("the drive cannot be kept: {e}");
        let device = self.device.as_ref().ok_or("the drive did not recover from a power cut")?;
        let mut file = unnamed().map_err(|e| wrong(&e))?;
        let label = Label { device: &self.setup.device, scheme: &self.scheme };
        device.save_apart(label, self.setup.spec.seed, &mut file).map_err(|e| wrong(&e))?;
        Ok(Kept {
            setup: self.setup.clone(),
            scheme: self.scheme.clone(),
            state: StateFile::open(file, Checked::Body).map_err(|e| wrong(&e))?,
            media: device.ftl.media.fork().map_err(|e| wrong(&e))?,
            at: device.now(),
        })
    }
}

impl Kept {
    /// A drive that goes on from here. Nobody hears of the requests that were under way.
    pub(crate) fn drive(&self) -> Result<Drive<Bytes>, Stopped> {
        let wrong = |e: &dyn std::fmt::Display| format!("no drive goes on from there: {e}");
        let (setup, label) = (&self.setup, Label { device: &self.setup.device, scheme: &self.scheme });
        let scheme = setup.spec.registry.build(&self.scheme).map_err(|e| wrong(&e))?;
        let media = self.media.fork().map_err(|e| wrong(&e))?;
        let device = Device::restore_over(label, &setup.geometry, scheme, NoProbe, &self.state, media);
        let device = Some(device.map_err(|e| wrong(&e))?);
        Ok(Drive { setup: setup.clone(), scheme: self.scheme.clone(), device, log: None })
    }
}

impl<M: Recorded + Default> Drive<M> {
    /// A drive in its initial state.
    pub(crate) fn new(run: &RunSpec) -> Result<Drive<M>, ServeError> {
        let setup = Setup::resolve(run)?;
        if !matches!(setup.initial.filled, Filled::Fresh | Filled::Share(_)) {
            return Err(ServeError::Input(format!(
                "--initial {}: this state follows from a workload, and a served drive has none yet\n  allowed: fresh, \
                 fill:SHARE[,order=seq|random][,valid=SHARE], and with + aged_invalid, aged_blocks, pe, retention",
                run.initial
            )));
        }
        let scheme = setup.spelling(&run.scheme)?;
        let device = wordline_run::device_over(&setup, &scheme, NoProbe, M::default())?;
        Ok(Drive { setup, scheme, device: Some(device), log: None })
    }

    /// What it is asked is written from now on.
    pub(crate) fn record(&mut self, log: Option<SessionLog>) {
        self.log = log;
    }

    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    pub(crate) fn scheme(&self) -> &str {
        &self.scheme
    }

    pub(crate) fn device(&self) -> Option<&Device<NoProbe, M>> {
        self.device.as_ref()
    }

    fn working(&mut self) -> Result<&mut Device<NoProbe, M>, Stopped> {
        self.device.as_mut().ok_or_else(|| "the drive did not recover from a power cut".to_string())
    }

    /// Its time.
    pub(crate) fn now(&self) -> SimTime {
        self.device.as_ref().map_or(SimTime(0), Device::now)
    }

    /// Submit a request at its arrival, or now if that has passed. Returns its number.
    pub(crate) fn submit(&mut self, request: HostRequest, data: &[u8]) -> Result<u64, Stopped> {
        let at = request.arrival.max(self.now());
        if let Some(log) = &mut self.log {
            log.note(&Event::Submit(at, request));
        }
        self.working()?.submit_with(request, at, data).map_err(|e| e.to_string())
    }

    /// The next request to end by a time; with none, everything due until then has happened.
    pub(crate) fn next(&mut self, until: SimTime) -> Result<Option<Completion>, Stopped> {
        self.working()?.next_completion(until).map_err(|e| e.to_string())
    }

    /// Let everything happen until a time.
    pub(crate) fn advance(&mut self, until: SimTime) -> Result<(), Stopped> {
        self.working()?.advance_to(until).map_err(|e| e.to_string())
    }

    /// Cut the power now, when all that is due has happened and its completions are taken, and let the drive recover.
    pub(crate) fn cut(&mut self) -> Result<Cut, Stopped> {
        let at = self.now();
        self.advance(at)?;
        if let Some(log) = &mut self.log {
            log.note(&Event::Cut(at));
        }
        let Some(device) = self.device.take() else { return Err("the drive has no power".to_string()) };
        let off = device.power_cut();
        let torn_pages = off.image.media.metadata().torn(self.setup.geometry.slot_shift).len();
        let (lost, protected_pages) = (off.lost.len(), off.image.protected_pages().count());
        let scheme = self.setup.spec.registry.build(&self.scheme).map_err(|e| e.to_string())?;
        let device = Device::power_on(&self.setup.device, &self.setup.geometry, scheme, off)
            .map_err(|e| format!("the drive does not recover from a power cut: {e}"))?;
        let cut = Cut { at, lost, torn_pages, protected_pages, ready: device.now() };
        self.device = Some(device);
        Ok(cut)
    }

    /// Let the drive come to rest. Returns the hash of the result and the log.
    pub(crate) fn end(&mut self) -> (Result<String, Stopped>, Option<SessionLog>) {
        let hash = self.working().and_then(|device| {
            device.drain().map_err(|e| e.to_string())?;
            Ok(device.metrics.result_hash(&device.ftl.counters().integers()))
        });
        (hash, self.log.take())
    }
}
