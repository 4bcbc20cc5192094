//! A drive in operation: planes with one operation each, arrays and buses that they share, and the clock.
//!
//! A plane is busy with an operation from its start to its end, because its one register is: a read senses on the die's
//! array, then moves its data out over the channel's bus; a program moves its data in, then works on the array; an
//! erase needs the array alone. Arrays and buses are serial, and serve by (class, arrival). A plane offers only its
//! first operation, so operations of one class are served in order within a plane. A program is bound to its page when
//! its transfer begins: from there to the array nothing can come between in that plane. With a second register a plane
//! may be at two operations, one at the array and one at the bus (`state/registers.rs`).

mod commands;
mod host;
mod layer;
pub(crate) mod power;
mod queues;
mod service;
pub(crate) mod state;
mod watch;

use crate::clock::Clock;
use crate::completion::Completion;
use crate::end::EndOfLife;
use crate::error::DeviceError;
use crate::host::admission::Admission;
use crate::host::idle::Idle;
use crate::host::link::Link;
use crate::host::timers::Timers;
use crate::metrics::Metrics;
use crate::probe::{Moment, Probe};
use crate::state::agenda::Agenda;
use crate::state::array::Arrays;
use crate::state::bus::Buses;
use crate::state::fair::Fair;
use crate::state::life::Watch;
use crate::state::plane::Plane;
use crate::state::queue_delay::QueueDelays;
use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_ftl::drive::{self, LastResorts, Waiting};
use wordline_ftl::{BoxedMedia, DriveInfo, Fault, Ftl, HostData, Refusal, Saved, Scheme, saved_fields};
use wordline_units::{DieId, HostRequest, PlaneId, SimTime};

/// Inputs of a scheme's layout.
pub(crate) fn drive_info<'a>(spec: &'a DeviceSpec, geometry: &'a Geometry) -> DriveInfo<'a> {
    let logical_pages = (spec.logical_bytes() / spec.unit.0).min(u32::MAX as u64 - 1) as u32;
    DriveInfo { spec, geometry, logical_pages }
}

#[cold]
fn broken(fault: &Fault) -> DeviceError {
    DeviceError::Fault(fault.clone())
}

/// A drive under a scheme, with a probe that watches it.
pub struct Device<P: Probe> {
    /// The translation layer.
    pub ftl: Ftl,
    /// The probe.
    pub probe: P,
    /// Measurements of requests.
    pub metrics: Metrics,
    geometry: Geometry,
    planes: Vec<Plane>,
    waiting: Waiting,
    queue_delays: QueueDelays,
    arrays: Arrays,
    buses: Buses,
    /// Resources to be polled.
    agenda: Agenda,
    /// What arrays have given to each kind of work, where they go by shares.
    fair: Option<Box<Fair>>,
    clock: Clock,
    link: Link,
    timers: Timers,
    admission: Admission,
    idle: Idle,
    /// The end condition, besides a write without space.
    life: Watch,
    last_resorts: LastResorts,
}

impl<P: Probe> Saved for Device<P> {
    saved_fields! { Device,
        values: [planes, waiting, queue_delays, fair, clock, timers, admission, last_resorts],
        parts: [arrays, buses, link, idle, ftl, metrics],
        rebuilt: [probe, geometry, agenda, life],
    }
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
        Ok(Self::around(ftl, spec, geometry, probe))
    }

    /// The clock and the queues of a drive.
    fn around(ftl: Ftl, spec: &DeviceSpec, geometry: &Geometry, probe: P) -> Device<P> {
        let arrays = Arrays::new(spec, geometry);
        let buses = Buses::new(geometry, arrays.count() as u32);
        let planes: Vec<Plane> =
            (0..geometry.planes).map(|p| Plane::new(spec, geometry, PlaneId(p))).collect();
        Device {
            clock: Clock::default(),
            waiting: Waiting::new(geometry.planes),
            queue_delays: QueueDelays::default(),
            fair: Fair::asked(spec, planes.iter().map(|p| (p.place.array, p.place.channel))),
            planes,
            arrays,
            buses,
            agenda: Agenda::default(),
            link: Link::new(spec.host),
            timers: Timers::default(),
            admission: Admission::default(),
            idle: Idle::new(ftl.layout().idle_after, geometry.dies),
            life: Watch::default(),
            last_resorts: LastResorts::default(),
            geometry: geometry.clone(),
            metrics: Metrics::default(),
            ftl,
            probe,
        }
    }

    /// Multiply the array times of a die from its next operation on; 1 is normal. Neither a saved state nor a power cut
    /// preserves it.
    pub fn slow_die(&mut self, die: DieId, factor: u32) {
        self.arrays.slow(die, factor);
    }

    /// End the device at this condition, too, and not only when a write finds no space. `logical_bytes` is the host
    /// capacity. Returns the bytes that the device must still hold, and those that it can hold.
    pub fn live_until(&mut self, end: EndOfLife, logical_bytes: u64) -> (u64, u64) {
        let (built, left) = self.ftl.inspect().lasting_bytes();
        let least_bytes = end.least_bytes(built, logical_bytes);
        self.life = Watch::new(end, least_bytes, left, self.ftl.inspect().lost_blocks().1);
        (least_bytes, left)
    }

    /// Whether the device has reached its end condition. Outstanding requests then complete as usual.
    pub fn is_over(&mut self) -> bool {
        self.ended_by().is_some()
    }

    /// The end condition that the device has reached, if any.
    pub fn ended_by(&mut self) -> Option<EndOfLife> {
        let (retired, unread) = (self.ftl.inspect().lost_blocks().1, self.metrics.uncorrectable);
        let end = self.life.ended_by(retired, unread, || self.ftl.inspect().lasting_bytes().1);
        end.or_else(|| self.ftl.inspect().worn_out().map(|_| EndOfLife::OutOfSpace))
    }

    /// The device's time.
    #[inline(always)]
    pub fn now(&self) -> SimTime {
        self.clock.now()
    }

    /// Requests submitted and not yet complete.
    #[inline(always)]
    pub fn outstanding(&self) -> u32 {
        self.ftl.view().outstanding() + self.waiting.requests().len() as u32
    }

    /// Requests submitted so far.
    pub fn submitted(&self) -> u64 {
        self.admission.submitted()
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
        let number = self.admission.submitted();
        if at < self.clock.now() {
            return Err(DeviceError::Late { number, at, now: self.clock.now() });
        }
        self.ftl.validate(&request, number)?;
        self.advance_to(at)?;
        if P::WATCHES {
            self.probe.moment(Moment::Submitted { request: number, op: request.op, at: self.clock.now() });
        }
        drive::submit(self, request, number, data.into());
        self.admission.count();
        self.idle_is_over();
        drive::settle(self);
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
        if self.clock.next().is_none_or(|next| next <= time) {
            while self.go_on(time, false)? {}
        }
        self.clock.go_on_to(time);
        self.ftl.at(self.clock.now());
        Ok(())
    }

    /// The next completion by a time, if any; it becomes the device's time. Without a completion, all events due until
    /// that time are processed.
    ///
    /// # Errors
    /// On an illegal decision or an internal fault, or when requests can never end.
    #[inline]
    pub fn next_completion(&mut self, until: SimTime) -> Result<Option<Completion>, DeviceError> {
        Ok(if self.await_completion(until)? { self.admission.take_ended() } else { None })
    }

    /// Process events until a request has completed or a time is reached. Returns whether one has.
    #[inline]
    pub(crate) fn await_completion(&mut self, until: SimTime) -> Result<bool, DeviceError> {
        if !self.admission.has_ended() {
            self.no_fault()?;
        }
        loop {
            if self.admission.has_ended() {
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
        self.admission.take_ended()
    }

    /// Whether from now on nothing is asked of requests that end but when they did.
    pub(crate) fn keep_times_alone(&mut self, alone: bool) {
        self.admission.keep_times_alone(alone);
    }

    /// When the first request that has ended did so, of which nothing else is asked.
    #[inline(always)]
    pub(crate) fn forget_completion(&mut self) -> Option<SimTime> {
        self.admission.forget_ended()
    }

    /// Process all pending events without further requests: GC ends, groups are padded, and the scheme's idle work runs
    /// until none is left.
    ///
    /// # Errors
    /// On an illegal decision or an internal fault, or when requests can never end.
    pub fn drain(&mut self) -> Result<(), DeviceError> {
        self.no_fault()?;
        self.idle_is_over();
        self.idle.drain();
        drive::drain(self);
        drive::ask_all_idle(self);
        loop {
            self.last_resorts.try_again(); // what has been padded may wait for space now
            while self.go_on(SimTime::NEVER, false)? {}
            // A collection that ended meanwhile may have left a group that nothing else pads.
            if !drive::drain(self) {
                self.metrics.close(self.ftl.counters());
                return self.no_fault();
            }
        }
    }

    /// The time of the next event, if anything is pending.
    pub fn next_event(&self) -> Option<SimTime> {
        self.clock.next()
    }

    #[inline(always)]
    fn no_fault(&self) -> Result<(), DeviceError> {
        match self.ftl.fault() {
            None => Ok(()),
            Some(f) => Err(broken(f)),
        }
    }

    /// What happens next, if it does by a time: events or, before time goes on without one, the end
    /// of requests that wait for space. When that is follows from the requests alone, and not from when
    /// anybody looks.
    #[inline(always)]
    fn go_on(&mut self, until: SimTime, stops: bool) -> Result<bool, DeviceError> {
        if self.run_events(until, stops) {
            self.no_fault()?;
            return Ok(true);
        }
        if until <= self.clock.now() || self.clock.next().is_some() {
            return Ok(false);
        }
        self.last_resort()
    }

    /// Events that are due by a time, one after the other, until none is left or the run is over; or, where that `stops`
    /// them, until a request has ended. Returns whether there was any.
    fn run_events(&mut self, until: SimTime, stops: bool) -> bool {
        let (arrays, link) = (self.arrays.count() as u32, self.buses.events_end());
        let mut any = false;
        while let Some((time, what)) = self.clock.take(until) {
            any = true;
            self.ftl.at(time);
            if what < arrays {
                self.array_done(what as usize);
            } else if what < link {
                self.bus_done((what - arrays) as usize);
            } else if what == link {
                self.link_done();
            } else {
                self.fire_timer(what - link - 1);
                if self.ftl.holds_a_die() {
                    drive::release_idle_dies(self);
                }
            }
            drive::settle(self);
            debug_assert!(self.agenda.is_done() && !self.agenda.has_later());
            if self.ftl.fault().is_some() || (stops && self.admission.has_ended()) {
                break;
            }
        }
        any
    }
}
