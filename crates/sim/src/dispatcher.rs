//! The dispatcher of a drive: what follows from each event. It asks the back end what may begin, and owns nothing but the
//! parts: what a part needs of another is an argument of its methods.

use crate::back_end::{BackEnd, Begin};
use crate::clock::Clock;
use crate::completion::Completion;
use crate::front_end::FrontEnd;
use crate::host::timers::Alarm;
use crate::look_ahead;
use crate::observer::Observer;
use crate::power::PoweredOff;
use crate::probe::Probe;
use crate::state::agenda::Ask;
use crate::state::array::Ended;
use crate::state::plane::Place;
use crate::state::resources::User;
use crate::state::scheduler::{Scheduler, user};
use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_ftl::drive::{self, Driver, Waiting};
use wordline_ftl::{Binding, Ftl, OpId, QueueEntry, RequestId, Saved, Timer, saved_fields};
use wordline_units::{DieId, PlaneId, SimTime};

/// The parts of a drive, under a clock.
pub(crate) struct Dispatcher<P: Probe> {
    ftl: Ftl,
    waiting: Waiting,
    back: BackEnd,
    front: FrontEnd,
    clock: Clock,
    observer: Observer<P>,
}

impl<P: Probe> Saved for Dispatcher<P> {
    saved_fields! { Dispatcher,
        values: [waiting, clock], parts: [back, front, ftl, observer], rebuilt: [],
    }
}

impl<P: Probe> Dispatcher<P> {
    /// An idle drive over a layer.
    pub fn new(ftl: Ftl, spec: &DeviceSpec, geometry: &Geometry, observer: Observer<P>) -> Dispatcher<P> {
        let (back, waiting) = (BackEnd::new(spec, geometry), Waiting::new(geometry.planes));
        let front = FrontEnd::new(spec.host, ftl.layout().idle_after, back.scheduler().buses().events_end());
        Dispatcher { ftl, waiting, back, front, clock: Clock::default(), observer }
    }

    /// The same once its power is back: it is ready at a time, has seen this many requests, and has completions that
    /// were not yet taken.
    pub fn ready_at(self, ready: SimTime, submitted: u64, completed: Vec<Completion>) -> Dispatcher<P> {
        Dispatcher { clock: Clock::at(ready), front: self.front.after(submitted, completed), ..self }
    }

    /// Cut the power now. Programs and erases in progress or suspended are torn.
    pub fn cut(self) -> PoweredOff<P> {
        let spoiled: Vec<OpId> = self.back.arrays().in_hand().map(|user| user.op).collect();
        let image = self.ftl.power_cut(&spoiled);
        let held_up = self.waiting.requests().map(|held_up| held_up.number);
        let lost = image.in_flight.iter().copied().chain(held_up).collect();
        let (probe, metrics) = self.observer.into_parts();
        let (submitted, completed) = self.front.into_parts();
        PoweredOff { image, completed, lost, at: self.clock.now(), probe, metrics, submitted }
    }

    /// Restart at time 0 with all counters and measurements reset.
    pub fn start_anew(&mut self) {
        self.ftl.setup().start_anew();
        self.back.start_anew();
        self.front.start_anew();
        self.clock = Clock::default();
        self.observer.start_anew();
    }

    /// The clock.
    #[inline(always)]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The host's side.
    #[inline(always)]
    pub fn front(&self) -> &FrontEnd {
        &self.front
    }

    /// The host's side, mutable.
    #[inline(always)]
    pub fn front_mut(&mut self) -> &mut FrontEnd {
        &mut self.front
    }

    /// Probe and metrics.
    pub fn observer(&self) -> &Observer<P> {
        &self.observer
    }

    /// Probe and metrics of a drive that is over.
    pub fn into_observer(self) -> Observer<P> {
        self.observer
    }

    /// Probe and metrics, mutable, beside what they may look at.
    #[inline(always)]
    pub fn observe(&mut self) -> (&mut Observer<P>, &Ftl, &Scheduler) {
        (&mut self.observer, &self.ftl, self.back.scheduler())
    }

    /// Slow a die down by a factor.
    pub fn slow(&mut self, die: DieId, factor: u32) {
        self.back.slow(die, factor);
    }

    /// Requests submitted and not yet complete.
    #[inline(always)]
    pub fn outstanding(&self) -> u32 {
        self.ftl.outstanding() + self.waiting.requests().len() as u32
    }

    /// A request has arrived, or the run is over: the drive is not idle any more.
    #[inline(always)]
    pub fn end_idle(&mut self) {
        let time = self.front.end_idle(self.clock.now());
        self.observer.count_idle(&self.ftl, time);
    }

    /// Nothing happens until a time.
    #[inline(always)]
    pub fn go_on_to(&mut self, time: SimTime) {
        self.clock.go_on_to(time);
        self.ftl.at(self.clock.now());
    }

    /// Events that are due by a time, one after the other, until none is left or the run is over; or, where that `stops`
    /// them, until a request has ended. Returns whether there was any.
    pub fn run_events(&mut self, until: SimTime, stops: bool) -> bool {
        let (arrays, link) = (self.back.arrays().count() as u32, self.back.scheduler().buses().events_end());
        let mut any = false;
        while let Some((time, event)) = self.clock.take(until) {
            any = true;
            self.ftl.at(time);
            if event < arrays {
                self.array_done(event as usize);
            } else if event < link {
                self.bus_done((event - arrays) as usize);
            } else if event == link {
                if let Some(id) = self.front.next_delivery(&mut self.clock) {
                    self.deliver(id);
                }
            } else {
                self.timer_fired(event);
            }
            drive::settle(self);
            debug_assert!(self.back.scheduler().is_done() && !self.back.scheduler().has_later());
            if self.ftl.fault().is_some() || (stops && self.front.admission().has_ended()) {
                break;
            }
        }
        any
    }

    /// Ask those that an event has touched what may begin, and those touched by that, until nobody is left.
    #[inline(always)]
    fn serve(&mut self) {
        if !self.back.scheduler().is_done() {
            self.ask_all();
        }
    }

    fn ask_all(&mut self) {
        while let Some(ask) = self.back.next_ask() {
            self.ask(ask);
        }
    }

    /// Ask one before all others, and all goes on that follows.
    #[inline(always)]
    fn serve_first(&mut self, ask: Ask) {
        self.ask(ask);
        self.serve();
    }

    /// What a plane, an array or a bus may begin now begins.
    #[inline(always)]
    fn ask(&mut self, ask: Ask) {
        match ask {
            _ if !self.back.may_begin(ask) => {}
            Ask::Plane(plane) => self.offer(plane as usize),
            Ask::Array(array) => self.at_array(array as usize),
            Ask::Bus(channel) => self.at_bus(channel as usize),
        }
    }

    #[inline(never)]
    fn offer(&mut self, plane: usize) {
        let begin = self.back.offer(plane, &self.ftl, self.clock.now());
        self.begin(begin);
    }

    #[inline(never)]
    fn at_array(&mut self, array: usize) {
        let begin = self.back.at_array(array, &self.ftl, self.clock.now());
        self.begin(begin);
    }

    #[inline(never)]
    fn at_bus(&mut self, channel: usize) {
        let begin = self.back.at_bus(channel, &self.ftl);
        self.begin(begin);
    }

    /// An operation begins, or continues with what comes next for it.
    #[inline(always)]
    fn begin(&mut self, begin: Option<Begin>) {
        match begin {
            None => {}
            Some(Begin::OnArray(entry)) => {
                self.observer.begins(&self.ftl, entry.op);
                self.begin_on_array(entry);
            }
            Some(Begin::GoesOnArray(entry)) => self.begin_on_array(entry),
            Some(Begin::Program(entry)) => self.begin_program(entry),
            Some(Begin::Transfer(place, entry)) => self.begin_on_bus(place, entry, 0),
        }
    }

    #[inline(always)]
    fn begin_on_array(&mut self, entry: QueueEntry) {
        self.back.begin_on_array(entry, &mut self.ftl, &mut self.observer, &mut self.clock);
    }

    /// Bind a program that its plane and bus are free for, and begin its transfer. A program that cannot be bound
    /// waits, and its plane and bus go on with others.
    #[inline]
    fn begin_program(&mut self, entry: QueueEntry) {
        if drive::bind(self, entry.op) != Binding::Bound {
            return self.back.pass_over(entry.plane.index(), &self.ftl);
        }
        self.observer.begins(&self.ftl, entry.op);
        let (place, command) = self.back.begin_program(entry, &self.ftl, self.clock.now());
        self.begin_on_bus(place, entry, command);
    }

    #[inline(always)]
    fn begin_on_bus(&mut self, place: Place, entry: QueueEntry, command: u64) {
        let (now, sectors) = (self.clock.now(), self.ftl.transfer_sectors(entry.op));
        let end = self.back.begin_on_bus((place, entry), sectors, command, &mut self.clock);
        self.observer.uses_bus(&self.ftl, entry.op, sectors, (now, end));
        look_ahead::transfer_begins(entry, place.channel, &self.back, &self.ftl);
    }

    #[inline(always)]
    fn array_done(&mut self, array: usize) {
        let (now, is_multiplane) = (self.clock.now(), self.back.arrays().is_multiplane());
        self.observer.has_used_array(&self.ftl, array, self.back.scheduler(), now);
        match self.back.end_at_array(array, now) {
            Ended::Void | Ended::Through(None) => return,
            Ended::Stopped(lead) => {
                self.back.suspend(lead, &self.ftl, &mut self.observer, now);
                self.serve();
            }
            Ended::Through(Some(lead)) if is_multiplane => self.end_together(array, lead),
            Ended::Through(Some(user)) => self.array_is_through(user),
        }
        self.serve_first(Ask::Array(array as u32));
        self.resume(array);
    }

    /// An array is through with all that it did together. It stays taken until the last has had its effect.
    fn end_together(&mut self, array: usize, lead: User) {
        let arrays = self.back.arrays();
        if arrays.goes_with(lead.op).is_some() {
            let kind = self.back.planes().registers(lead.plane as usize).current().held.kind();
            self.observer.metrics_mut().count_together(kind, arrays.together(lead).count() as u64);
        }
        let mut at = Some(lead);
        while let Some(user) = at {
            at = self.back.next_together(array, user);
            self.array_is_through(user);
        }
    }

    /// An array is through with an operation: a read goes on to its bus, any other is over. All goes on that follows.
    #[inline(always)]
    fn array_is_through(&mut self, user: User) {
        let entry = self.back.planes().registers(user.plane as usize).current().held;
        if !entry.is_read() {
            return self.end(entry);
        }
        if let Some(place) = self.back.sensed(entry, &self.ftl, self.clock.now()) {
            return self.begin_on_bus(place, entry, 0);
        }
        look_ahead::sensed(entry, &self.back);
        self.serve_first(Ask::Bus(self.back.planes().place(user.plane as usize).channel));
    }

    #[inline(always)]
    fn bus_done(&mut self, channel: usize) {
        let Some((entry, is_cached)) = self.back.end_at_bus(channel) else { return };
        let (plane, now) = (entry.plane.index(), self.clock.now());
        look_ahead::transfer_is_over(entry, channel, &self.back, &self.ftl);
        if entry.is_read() && !self.ftl.repeat(entry.op) {
            self.end(entry);
        } else if is_cached {
            if self.back.arrays().is_multiplane() {
                self.serve_first(Ask::Bus(channel as u32)); // Before the array looks at what has been moved.
            }
            self.back.cached(plane, now);
            self.serve();
        } else if self.back.brought(entry, now) {
            self.begin_on_array(entry);
            self.serve();
        } else {
            if self.back.arrays().is_multiplane() {
                self.serve_first(Ask::Bus(channel as u32));
            }
            self.serve_first(Ask::Array(self.back.planes().place(plane).array));
        }
        self.serve_first(Ask::Bus(channel as u32));
    }

    /// An operation is over, and its plane free. All goes on that follows.
    #[inline]
    fn end(&mut self, entry: QueueEntry) {
        let (id, plane, now) = (entry.op, entry.plane.index(), self.clock.now());
        self.observer.ready(&self.ftl, id, now);
        debug_assert_eq!(entry.serves_host(), self.ftl.entry_of(id).serves_host());
        if entry.is_idle_work() && !entry.serves_host() {
            self.observer.count_idle_operation(&self.ftl, id);
            self.back.charge_idle_work(user(&entry), &self.ftl, &mut self.observer, now);
        }
        let (Place { die, array, .. }, is_one) = self.back.end(entry, &mut self.ftl, now);
        let watched = P::WATCHES.then(|| (self.ftl.op(id).number(), self.ftl.completed().len()));
        let next = drive::end(self, id, die);
        if let Some((number, before)) = watched {
            self.observer.decided(&self.ftl, number, before, now);
        }
        if let Some(next) = next {
            self.observer.begins(&self.ftl, next.op);
            self.back.continue_with(next, now);
        } else if is_one || self.back.go_on(plane, &self.ftl, now) {
            self.offer(plane);
        }
        self.serve();
        self.resume(array as usize);
    }

    /// An array continues with what was set aside, if nothing comes before that.
    #[inline(always)]
    fn resume(&mut self, array: usize) {
        if self.back.arrays().suspends() {
            self.back.resume(array, &self.ftl, &mut self.clock);
            self.serve();
        }
    }

    /// A request reaches the host.
    #[inline]
    fn deliver(&mut self, id: RequestId) {
        let now = self.clock.now();
        self.observer.measure(id, &mut self.ftl, self.back.scheduler(), now);
        self.front.hand_over(id, &mut self.ftl, &mut self.observer, now);
        if self.outstanding() == 0 && self.ftl.inspect().works_when_idle() {
            self.front.rest(&mut self.clock);
        }
    }

    fn timer_fired(&mut self, event: u32) {
        match self.front.ring(event, self.outstanding() > 0, &mut self.clock) {
            None => {}
            Some(Alarm::Layer(timer)) => drive::ring(self, timer),
            Some(Alarm::Idle) => {
                self.observer.metrics_mut().begin_idle();
                drive::ask_all_idle(self);
            }
        }
        drive::release_idle_dies(self);
    }
}

impl<P: Probe> Driver for Dispatcher<P> {
    #[inline(always)]
    fn layer(&self) -> &Ftl {
        &self.ftl
    }

    #[inline(always)]
    fn layer_mut(&mut self) -> &mut Ftl {
        self.ftl.at(self.clock.now())
    }

    #[inline(always)]
    fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    #[inline(always)]
    fn waiting_mut(&mut self) -> &mut Waiting {
        &mut self.waiting
    }

    #[inline]
    fn enqueue(&mut self, entry: QueueEntry) {
        self.observer.queued(&self.ftl, entry.op, self.clock.now());
        if entry.serves_host() {
            self.back.note_queued(entry, self.clock.now());
        }
        self.change_plane(entry);
    }

    #[inline(always)]
    fn change_plane(&mut self, entry: QueueEntry) {
        if let Some(begin) = self.back.come(entry, &self.ftl, self.clock.now()) {
            self.begin(Some(begin));
            return self.serve();
        }
        if self.back.queue(entry) {
            self.offer(entry.plane.index());
            self.serve();
        }
        if self.back.arrays().suspends() {
            self.back.interrupt(entry, &self.ftl, &mut self.clock);
        }
    }

    fn enqueue_first(&mut self, entry: QueueEntry) {
        self.back.queue_first(entry);
    }

    fn wake(&mut self, plane: PlaneId) {
        if self.back.has_more(plane.0) {
            self.serve_first(Ask::Plane(plane.0));
        }
    }

    fn hold(&mut self, die: DieId) {
        for plane in self.back.planes().of_die(die) {
            self.serve_first(Ask::Plane(plane as u32));
        }
    }

    fn set_timer(&mut self, at: SimTime, timer: Timer) {
        self.front.set(at, Alarm::Layer(timer), &mut self.clock);
    }

    #[inline(always)]
    fn end_round(&mut self) {
        if self.back.scheduler().has_later() {
            self.back.post_newly_queued(&self.ftl);
            self.serve();
        }
    }

    #[inline(always)]
    fn complete(&mut self, id: RequestId) {
        if self.front.passes_at_once() || self.front.send(id, &self.ftl, &mut self.clock) {
            self.deliver(id);
        }
    }

    fn note_blocked(&mut self, id: OpId, plane: PlaneId) {
        if self.ftl.entry_of(id).serves_host() {
            self.back.note_blocked(id, plane, self.clock.now());
        }
        self.observer.blocked(&self.ftl, id, self.clock.now());
    }

    #[inline(always)]
    fn is_idle(&self) -> bool {
        self.front.is_idle()
    }

    fn is_at_rest(&self) -> bool {
        self.back.arrays().are_at_rest() && self.back.scheduler().buses().are_at_rest()
    }
}
