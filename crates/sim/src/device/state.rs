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
    About, BoxedMedia, Checked, Label, MediaError, Refusal, Saved, Saver, Scheme, StateError, StateFile,
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
    /// The device's time.
    pub now: SimTime,
}

impl<P: Probe> Device<P> {
    /// Begin at time 0 with nothing counted and nothing measured, on the drive as it is: map, wear,
    /// open blocks, and what the scheme has learnt.
    ///
    /// # Errors
    /// When something is pending.
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
    /// Write everything that the device is and has before it to an empty file. `seed` is told to whoever
    /// looks at the file. Returns the state's checksum.
    ///
    /// # Errors
    /// When the file cannot be written, or the device has met a fault.
    pub fn save(&self, label: Label, seed: u64, file: &mut (impl Write + Seek)) -> io::Result<String> {
        self.save_by(Saver::new(file), label, seed)
    }

    /// The same without what the flash holds, for media that keep it where it is: [`Self::restore_over`] them. What
    /// is on its way in RAM is saved.
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

    /// The device that was saved without media, watched by another probe. The scheme is one newly made from the
    /// label's spelling.
    ///
    /// # Errors
    /// When the state is of another device, scheme or version.
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

    /// The device that was saved, over the media that it had, or over a fork of them, where the state is without. Where it
    /// has what they held, over media of their kind, which take that.
    ///
    /// # Errors
    /// When the state is of another device, scheme or version.
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
        let mut from = state.loader();
        from.layout(device.ftl.layout())?;
        Saved::load(&mut device, &mut from)?;
        from.finish()?;
        Ok(device)
    }

    /// The same drive again, by way of an empty file that nobody else writes to: each continues by itself, and what
    /// both hold on flash they share. The scheme is one newly made from the label's spelling.
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
