//! A device saved and restored, in mid-flight too: run to some time, save, restore and continue, and all is as if it
//! had run through.

use crate::clock::Clock;
use crate::device::Device;
use crate::host::admission::Admission;
use crate::metrics::Metrics;
use crate::probe::Probe;
use std::fs::File;
use std::io::{self, Seek, Write};
use thiserror::Error;
use wordline_device::to_toml;
use wordline_flash::Geometry;
use wordline_ftl::{
    About, BoxedMedia, Checked, Label, Loader, MediaError, Refusal, Saved, Saver, Scheme, StateError,
    StateFile,
};
use wordline_units::SimTime;

/// Why a device could not be restored.
#[derive(Debug, Error)]
pub enum RestoreError {
    /// The state does not suit it.
    #[error(transparent)]
    State(#[from] StateError),
    /// Scheme and device do not fit.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The media cannot be forked.
    #[error(transparent)]
    Media(#[from] MediaError),
}

/// A device that cannot begin at time 0, because it is busy.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{outstanding} requests are outstanding at t = {} ns, other work is pending, or completions were \
         not taken; drain the device and take its completions first", now.0)]
pub struct Busy {
    /// Requests not yet complete.
    pub outstanding: u32,
    /// The current time of the device.
    pub now: SimTime,
}

impl<P: Probe> Device<P> {
    /// Restart at time 0 with all counters and measurements reset; map, wear, open blocks and the learned state of the
    /// scheme stay.
    ///
    /// # Errors
    /// When an event is pending.
    pub fn start_anew(&mut self) -> Result<(), Busy> {
        if self.outstanding() > 0 || self.clock.next().is_some() || self.admission.has_ended() {
            return Err(Busy { outstanding: self.outstanding(), now: self.clock.now() });
        }
        self.ftl.start_anew();
        self.planes.iter_mut().for_each(|plane| plane.registers.start_anew());
        self.arrays.start_anew();
        self.buses.start_anew();
        if let Some(fair) = &mut self.fair {
            fair.start_anew();
        }
        self.metrics = Metrics::default();
        self.clock = Clock::default();
        self.link.start_anew();
        self.idle.start_anew();
        self.last_resorts.start_anew();
        self.admission = Admission::default();
        Ok(())
    }
}

impl<P: Probe> Device<P> {
    /// Save the whole state of the device, with its pending work, to an empty file. `seed` is stored for the reader of
    /// the file. Returns the state's checksum.
    ///
    /// # Errors
    /// When the file cannot be written, or the device has met a fault.
    pub fn save(&self, label: Label, seed: u64, file: &mut (impl Write + Seek)) -> io::Result<String> {
        self.save_by(Saver::new(file), label, seed)
    }

    /// Like [`Self::save`] without the flash contents, for media that store them elsewhere: [`Self::restore_over`]
    /// them. data in flight in RAM are saved.
    ///
    /// # Errors
    /// As [`Self::save`].
    pub fn save_apart(&self, label: Label, seed: u64, file: &mut (impl Write + Seek)) -> io::Result<String> {
        self.save_by(Saver::without_media(file), label, seed)
    }

    fn save_by(&self, mut to: Saver, label: Label, seed: u64) -> io::Result<String> {
        if let Some(fault) = self.ftl.fault() {
            return Err(io::Error::other(fault.clone()));
        }
        Saved::save(self, &mut to)?;
        to.finish(&About {
            version: env!("CARGO_PKG_VERSION").to_string(),
            device: label.device.name.clone(),
            toml: to_toml(label.device),
            scheme: label.scheme.to_string(),
            layout: self.ftl.layout().fingerprint(),
            seed,
            now: self.clock.now(),
            requests: self.submitted(),
        })
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
        from.divided_as(device.ftl.layout().fingerprint())?;
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
        let media = self.ftl.media().fork()?;
        self.save_apart(label, 0, &mut file).map_err(StateError::from)?;
        let state = StateFile::open(file, Checked::Body)?;
        Device::restore_over(label, geometry, scheme, probe, &state, media)
    }
}
