//! A drive in operation, stepped from outside: the host submits requests, lets time pass, and takes completions.

use crate::completion::Completion;
use crate::dispatcher::Dispatcher;
use crate::end::EndOfLife;
use crate::error::{Busy, DeviceError, RestoreError};
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::power::PoweredOff;
use crate::probe::Probe;
use crate::state::life::Watch;
use std::fs::File;
use std::io::{self, Seek, Write};
use wordline_device::{DeviceSpec, to_toml};
use wordline_flash::Geometry;
use wordline_ftl::drive::{self, Driver, LastResorts};
use wordline_ftl::{
    About, BoxedMedia, Checked, DriveInfo, Fault, Ftl, HostData, Label, Loader, Refusal, Saved, Saver,
    Scheme, StateError, StateFile, saved_fields,
};
use wordline_units::{DieId, HostRequest, SimTime};

/// Inputs of a scheme's layout.
fn drive_info<'a>(spec: &'a DeviceSpec, geometry: &'a Geometry) -> DriveInfo<'a> {
    let logical_pages = (spec.logical_bytes() / spec.unit.0).min(u32::MAX as u64 - 1) as u32;
    DriveInfo { spec, geometry, logical_pages }
}

#[cold]
fn broken(fault: &Fault) -> DeviceError {
    DeviceError::Fault(fault.clone())
}

/// A drive under a scheme, with a probe that watches it.
pub struct Device<P: Probe> {
    /// The drive at work.
    drive: Dispatcher<P>,
    /// The end condition, besides a write without space.
    life: Watch,
    /// What has been tried in vain since something last happened.
    last_resorts: LastResorts,
}

impl<P: Probe> Saved for Device<P> {
    saved_fields! { Device,
        values: [last_resorts],
        parts: [drive],
        rebuilt: [life],
    }
}

fn save_by<P: Probe>(device: &Device<P>, mut to: Saver, label: Label, seed: u64) -> io::Result<String> {
    if let Some(fault) = device.ftl().fault() {
        return Err(io::Error::other(fault.clone()));
    }
    Saved::save(device, &mut to)?;
    to.finish(&About {
        version: env!("CARGO_PKG_VERSION").to_string(),
        device: label.device.name.clone(),
        toml: to_toml(label.device),
        scheme: label.scheme.to_string(),
        layout: device.ftl().layout().fingerprint(),
        seed,
        now: device.now(),
        requests: device.submitted(),
    })
}

impl<P: Probe> Device<P> {
    /// A fresh drive, which stores only times and counts.
    ///
    /// # Errors
    /// A refusal with its reason if the scheme does not support the device.
    pub fn new(
        spec: &DeviceSpec,
        geometry: &Geometry,
        scheme: Box<dyn Scheme>,
        probe: P,
    ) -> Result<Device<P>, Refusal> {
        Device::over(spec, geometry, scheme, probe, BoxedMedia::none())
    }

    /// The same over empty media for its data.
    ///
    /// # Errors
    /// A refusal with its reason if the scheme does not support the device.
    pub fn over(
        spec: &DeviceSpec,
        geometry: &Geometry,
        scheme: Box<dyn Scheme>,
        probe: P,
        media: impl Into<BoxedMedia>,
    ) -> Result<Device<P>, Refusal> {
        let ftl = Ftl::over(&drive_info(spec, geometry), scheme, media)?;
        Ok(Self::around(Dispatcher::new(ftl, spec, geometry, Observer::new(probe, Metrics::default()))))
    }

    fn around(drive: Dispatcher<P>) -> Device<P> {
        Device { drive, life: Watch::default(), last_resorts: LastResorts::default() }
    }

    /// The translation layer.
    #[inline(always)]
    pub fn ftl(&self) -> &Ftl {
        self.drive.layer()
    }

    /// The translation layer, for what happens to a drive at rest: its initial state, a shelf, faults.
    #[inline(always)]
    pub fn ftl_mut(&mut self) -> &mut Ftl {
        self.drive.layer_mut()
    }

    /// The probe.
    #[inline(always)]
    pub fn probe(&self) -> &P {
        self.drive.observer().probe()
    }

    /// The probe, mutable.
    pub fn probe_mut(&mut self) -> &mut P {
        self.probe_and_ftl().0
    }

    /// The probe, mutable, beside the layer that it watches.
    pub fn probe_and_ftl(&mut self) -> (&mut P, &Ftl) {
        let (observer, ftl, _) = self.drive.observe();
        (observer.probe_mut(), ftl)
    }

    /// The probe of a drive that is over.
    pub fn into_probe(self) -> P {
        self.drive.into_observer().into_parts().0
    }

    /// Measurements of requests.
    #[inline(always)]
    pub fn metrics(&self) -> &Metrics {
        self.drive.observer().metrics()
    }

    /// Multiply the array times of a die from its next operation on; 1 is normal. Neither a saved state nor a power cut
    /// preserves it.
    pub fn slow_die(&mut self, die: DieId, factor: u32) {
        self.drive.slow(die, factor);
    }

    /// End the device at this condition, too, and not only when a write finds no space. `logical_bytes` is the host
    /// capacity. Returns the bytes that the device must still hold, and those that it can hold.
    pub fn live_until(&mut self, end: EndOfLife, logical_bytes: u64) -> (u64, u64) {
        let (built, left) = self.ftl().inspect().lasting_bytes();
        let least_bytes = end.least_bytes(built, logical_bytes);
        self.life = Watch::new(end, least_bytes, left, self.ftl().inspect().lost_blocks().1);
        (least_bytes, left)
    }

    /// Whether the device has reached its end condition. Outstanding requests then complete as usual.
    pub fn is_over(&mut self) -> bool {
        self.ended_by().is_some()
    }

    /// The end condition that the device has reached, if any.
    pub fn ended_by(&mut self) -> Option<EndOfLife> {
        let (retired, unread) = (self.ftl().inspect().lost_blocks().1, self.metrics().uncorrectable);
        let end = self.life.ended_by(retired, unread, || self.drive.layer().inspect().lasting_bytes().1);
        end.or_else(|| self.ftl().inspect().worn_out().map(|_| EndOfLife::OutOfSpace))
    }

    /// The device's time.
    #[inline(always)]
    pub fn now(&self) -> SimTime {
        self.drive.clock().now()
    }

    /// Requests submitted and not yet complete.
    #[inline(always)]
    pub fn outstanding(&self) -> u32 {
        self.drive.outstanding()
    }

    /// Requests submitted so far.
    #[inline(always)]
    pub fn submitted(&self) -> u64 {
        self.drive.front().admission().submitted()
    }

    /// Submit a request at a time that has not passed, after all events due until then. Returns its number.
    ///
    /// # Errors
    /// If the request exceeds the drive or is empty, or the time has passed; the device is then unchanged.
    pub fn submit(&mut self, request: HostRequest, at: SimTime) -> Result<u64, DeviceError> {
        self.submit_with(request, at, HostData::NONE)
    }

    /// The same with the data of a write: bytes from its first sector on, or its pages.
    ///
    /// # Errors
    /// As [`Self::submit`].
    pub fn submit_with<'a>(
        &mut self,
        request: HostRequest,
        at: SimTime,
        data: impl Into<HostData<'a>>,
    ) -> Result<u64, DeviceError> {
        let (number, now) = (self.submitted(), self.now());
        if at < now {
            return Err(DeviceError::Late { number, at, now });
        }
        self.ftl().validate(&request, number)?;
        self.advance_to(at)?;
        self.drive.observe().0.submitted(number, request.op, now.max(at));
        drive::submit(&mut self.drive, request, number, data.into());
        self.drive.front_mut().admission_mut().count();
        self.drive.end_idle();
        drive::settle(&mut self.drive);
        self.no_fault()?;
        Ok(number)
    }

    /// Process all events until a time, which becomes the device's time.
    ///
    /// # Errors
    /// On an illegal decision or an internal fault, or when requests can never end.
    pub fn advance_to(&mut self, time: SimTime) -> Result<(), DeviceError> {
        self.no_fault()?;
        // Mostly nothing is due yet, and what happened last makes way for what is set next.
        if self.drive.clock().next().is_none_or(|next| next <= time) {
            while self.go_on(time, false)? {}
        }
        self.drive.go_on_to(time);
        Ok(())
    }

    /// The next completion by a time, if any; it becomes the device's time. Without a completion, all events due until
    /// that time are processed.
    ///
    /// # Errors
    /// On an illegal decision or an internal fault, or when requests can never end.
    #[inline]
    pub fn next_completion(&mut self, until: SimTime) -> Result<Option<Completion>, DeviceError> {
        Ok(if self.await_completion(until)? { self.poll() } else { None })
    }

    /// Process events until a request has completed or a time is reached. Returns whether one has.
    #[inline]
    pub(crate) fn await_completion(&mut self, until: SimTime) -> Result<bool, DeviceError> {
        if !self.drive.front().admission().has_ended() {
            self.no_fault()?;
        }
        loop {
            if self.drive.front().admission().has_ended() {
                return Ok(true);
            }
            if !self.go_on(until, true)? {
                return Ok(false);
            }
        }
    }

    /// A pending completion, without advancing time.
    #[inline]
    pub fn poll(&mut self) -> Option<Completion> {
        self.drive.front_mut().admission_mut().take_ended()
    }

    /// Whether from now on nothing is asked of requests that end but when they did.
    pub(crate) fn keep_times_alone(&mut self, alone: bool) {
        self.drive.front_mut().admission_mut().keep_times_alone(alone);
    }

    /// When the first request that has ended did so, of which nothing else is asked.
    #[inline(always)]
    pub(crate) fn forget_completion(&mut self) -> Option<SimTime> {
        self.drive.front_mut().admission_mut().forget_ended()
    }

    /// Process all pending events without further requests: GC ends, groups are padded, and the scheme's idle work runs
    /// until none is left.
    ///
    /// # Errors
    /// On an illegal decision or an internal fault, or when requests can never end.
    pub fn drain(&mut self) -> Result<(), DeviceError> {
        self.no_fault()?;
        self.drive.end_idle();
        self.drive.front_mut().drain();
        drive::drain(&mut self.drive);
        drive::ask_all_idle(&mut self.drive);
        loop {
            self.last_resorts.try_again(); // what has been padded may wait for space now
            while self.go_on(SimTime::NEVER, false)? {}
            // A collection that ended meanwhile may have left a group that nothing else pads.
            if !drive::drain(&mut self.drive) {
                let (observer, ftl, _) = self.drive.observe();
                observer.metrics_mut().close(ftl.counters());
                return self.no_fault();
            }
        }
    }

    /// A run begins: note what is on flash.
    pub(crate) fn begin_measurement(&mut self) {
        let now = self.now();
        let (observer, ftl, _) = self.drive.observe();
        observer.sample_block_map(ftl, now);
    }

    /// A run is over: note what is on flash, and how long arrays and buses have been busy.
    pub(crate) fn close_measurement(&mut self) {
        let now = self.now();
        let (observer, ftl, scheduler) = self.drive.observe();
        observer.note_usage(scheduler, now);
        observer.sample_block_map(ftl, now);
        observer.metrics_mut().close(ftl.counters());
    }

    /// The time of the next event, if anything is pending.
    pub fn next_event(&self) -> Option<SimTime> {
        self.drive.clock().next()
    }

    #[inline(always)]
    fn no_fault(&self) -> Result<(), DeviceError> {
        match self.ftl().fault() {
            None => Ok(()),
            Some(f) => Err(broken(f)),
        }
    }

    /// What happens next, if it does by a time: events or, before time goes on without one, the end
    /// of requests that wait for space. When that is follows from the requests alone, and not from when
    /// anybody looks.
    #[inline(always)]
    fn go_on(&mut self, until: SimTime, stops: bool) -> Result<bool, DeviceError> {
        if self.drive.run_events(until, stops) {
            self.no_fault()?;
            return Ok(true);
        }
        if until <= self.now() || self.next_event().is_some() {
            return Ok(false);
        }
        self.last_resort()
    }

    /// Nothing is pending: what waits for space is let go, sent elsewhere or given up, in the order of docs/progress.md.
    /// Returns whether that changes anything.
    #[cold]
    fn last_resort(&mut self) -> Result<bool, DeviceError> {
        // Nothing has come since the last one that changed nothing: another would draw lots again for nothing, and who
        // asks when would count.
        let come = self.drive.clock().events_set() + self.submitted();
        if self.last_resorts.have_changed_nothing(come) {
            return Ok(false);
        }
        let ended = self.submitted() - u64::from(self.outstanding());
        let awaited = self.outstanding() > 0;
        let changes = drive::last_resort(&mut self.drive, awaited);
        if !changes && !awaited {
            self.last_resorts.note_nothing_changed(come);
            return Ok(false);
        }
        if !changes || self.last_resorts.are_in_vain(self.ftl().counters().flash_ops() + ended) {
            return Err(DeviceError::Stuck {
                outstanding: self.outstanding(),
                now: self.now(),
                left: self.ftl().inspect().leftovers(),
            });
        }
        self.no_fault()?;
        Ok(true)
    }

    /// Restart at time 0 with all counters and measurements reset; map, wear, open blocks and the learned state of the
    /// scheme stay.
    ///
    /// # Errors
    /// When an event is pending.
    pub fn start_anew(&mut self) -> Result<(), Busy> {
        if self.outstanding() > 0 || self.next_event().is_some() || self.drive.front().admission().has_ended()
        {
            return Err(Busy { outstanding: self.outstanding(), now: self.now() });
        }
        self.drive.start_anew();
        self.last_resorts.start_anew();
        Ok(())
    }

    /// Save the whole state of the device, with its pending work, to an empty file. `seed` is stored for the reader of
    /// the file. Returns the state's checksum.
    ///
    /// # Errors
    /// When the file cannot be written, or the device has met a fault.
    pub fn save(&self, label: Label, seed: u64, file: &mut (impl Write + Seek)) -> io::Result<String> {
        save_by(self, Saver::new(file), label, seed)
    }

    /// Like [`Self::save`] without the flash contents, for media that store them elsewhere: [`Self::restore_over`]
    /// them. data in flight in RAM are saved.
    ///
    /// # Errors
    /// As [`Self::save`].
    pub fn save_apart(&self, label: Label, seed: u64, file: &mut (impl Write + Seek)) -> io::Result<String> {
        save_by(self, Saver::without_media(file), label, seed)
    }

    /// Restore a device that was saved without media, with another probe. The scheme is created anew from the label's
    /// spelling.
    ///
    /// # Errors
    /// When the state belongs to another device, scheme or version.
    pub fn restore(
        label: Label,
        geometry: &Geometry,
        scheme: Box<dyn Scheme>,
        probe: P,
        state: &StateFile,
    ) -> Result<Device<P>, RestoreError> {
        if state.lacks_media() {
            return Err(StateError::NoMedia.into());
        }
        Device::restore_over(label, geometry, scheme, probe, state, BoxedMedia::none())
    }

    /// Restore a device over its media, or a fork of them, if the state does not contain them. If the state contains
    /// them, restore it over media of their kind, which take the contents.
    ///
    /// # Errors
    /// When the state belongs to another device, scheme or version.
    pub fn restore_over(
        label: Label,
        geometry: &Geometry,
        scheme: Box<dyn Scheme>,
        probe: P,
        state: &StateFile,
        media: impl Into<BoxedMedia>,
    ) -> Result<Device<P>, RestoreError> {
        state.is_of(label)?;
        let mut device = Device::over(label.device, geometry, scheme, probe, media)?;
        let mut from = Loader::of(state);
        from.divided_as(device.ftl().layout().fingerprint())?;
        Saved::load(&mut device, &mut from)?;
        from.finish()?;
        Ok(device)
    }

    /// Copy the drive through an empty file to which nobody else writes: both continue independently and share the
    /// flash contents. The scheme is created anew from the label's spelling.
    ///
    /// # Errors
    /// When the file cannot be written, the media cannot be forked, or the device has met a fault.
    pub fn fork(
        &self,
        label: Label,
        geometry: &Geometry,
        scheme: Box<dyn Scheme>,
        probe: P,
        mut file: File,
    ) -> Result<Device<P>, RestoreError> {
        let media = self.ftl().media().fork()?;
        self.save_apart(label, 0, &mut file).map_err(StateError::from)?;
        let state = StateFile::open(file, Checked::Body)?;
        Device::restore_over(label, geometry, scheme, probe, &state, media)
    }

    /// Cut the power now, after all events until now. Programs and erases in progress or suspended are torn; a program
    /// whose data are still on the bus leaves no trace.
    pub fn power_cut(self) -> PoweredOff<P> {
        self.drive.cut()
    }

    /// Restore the power: the drive recovers from its flash, in the time it takes to sense it, and continues counting.
    /// The scheme starts afresh, because it keeps nothing on flash.
    ///
    /// # Errors
    /// A refusal if the scheme does not support the device, or did not write the flash.
    pub fn power_on(
        spec: &DeviceSpec,
        geometry: &Geometry,
        scheme: Box<dyn Scheme>,
        off: PoweredOff<P>,
    ) -> Result<Device<P>, Refusal> {
        let (ftl, ready) = Ftl::recover(&drive_info(spec, geometry), scheme, off.image, off.at)?;
        let observer = Observer::new(off.probe, off.metrics);
        let drive = Dispatcher::new(ftl, spec, geometry, observer);
        let mut device = Self::around(drive.ready_at(ready, off.submitted, off.completed));
        drive::settle(&mut device.drive);
        Ok(device)
    }
}
