//! A power cut at any time, and the recovery of the drive.

use crate::clock::Clock;
use crate::completion::Completion;
use crate::device::{Device, drive_info};
use crate::host::admission::Admission;
use crate::metrics::Metrics;
use crate::probe::Probe;
use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_ftl::drive;
use wordline_ftl::{Ftl, OpId, PowerLossImage, Refusal, Scheme};
use wordline_units::SimTime;

/// A drive without power.
pub struct PoweredOff<P: Probe> {
    /// Flash, and protected RAM.
    pub image: PowerLossImage,
    /// Completed requests that were not yet taken.
    pub completed: Vec<Completion>,
    /// Numbers of the requests that will never complete.
    pub lost: Vec<u64>,
    /// Time of the power cut.
    pub at: SimTime,
    /// The probe.
    pub probe: P,
    metrics: Metrics,
    submitted: u64,
}

impl<P: Probe> Device<P> {
    /// Cut the power now, after all events until now. Programs and erases in progress or suspended are torn; a program
    /// whose data are still on the bus leaves no trace.
    pub fn power_cut(self) -> PoweredOff<P> {
        let spoiled: Vec<OpId> = self.arrays.in_hand().map(|user| user.op).collect();
        let image = self.ftl.power_cut(&spoiled);
        let mut lost = image.in_flight.clone();
        lost.extend(self.waiting.requests().map(|held_up| held_up.number));
        PoweredOff {
            image,
            submitted: self.admission.submitted(),
            completed: self.admission.into_ended(),
            lost,
            at: self.clock.now(),
            probe: self.probe,
            metrics: self.metrics,
        }
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
        let mut device = Self::around(ftl, spec, geometry, off.probe);
        device.clock = Clock::at(ready);
        device.metrics = off.metrics;
        device.admission = Admission::after(off.submitted, off.completed);
        drive::settle(&mut device);
        Ok(device)
    }
}
