//! The scheduler: which plane each array and each bus serves next, and whom an event has touched.

use crate::state::agenda::{Agenda, Ask};
use crate::state::array::{Arrays, Ended};
use crate::state::bus::Buses;
use crate::state::fair::Fair;
use crate::state::plane::{Place, Want};
use crate::state::resources::User;
use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_ftl::{OpId, OpKind, QueueEntry, Saved, saved_fields};
use wordline_units::{DieId, SimDuration, SimTime};

/// An event to be set in the clock: its number, and its time.
pub(crate) type Due = (u32, SimTime);

/// Arrays and buses, which planes wait for them, and who is asked next what may begin. Between two events nobody is
/// left to be asked.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    arrays: Arrays,
    buses: Buses,
    /// What arrays have given to each kind of work, if they serve by shares.
    fair: Option<Box<Fair>>,
    agenda: Agenda,
}

impl Saved for Scheduler {
    saved_fields! { Scheduler,
        values: [fair],
        parts: [arrays, buses],
        rebuilt: [agenda],
    }
}

/// An operation as what has a resource.
#[inline(always)]
pub(crate) fn user(entry: &QueueEntry) -> User {
    User { op: entry.op, plane: entry.plane.0 }
}

impl Scheduler {
    /// The arrays and buses of a drive whose planes have these places. Nobody waits.
    pub fn new(spec: &DeviceSpec, geometry: &Geometry, places: impl Iterator<Item = Place>) -> Scheduler {
        let arrays = Arrays::new(spec, geometry);
        let buses = Buses::new(geometry, arrays.count() as u32);
        let fair = Fair::asked(spec, places.map(|place| (place.array, place.channel)));
        Scheduler { arrays, buses, fair, agenda: Agenda::default() }
    }

    /// The arrays.
    #[inline(always)]
    pub fn arrays(&self) -> &Arrays {
        &self.arrays
    }

    /// The buses.
    #[inline(always)]
    pub fn buses(&self) -> &Buses {
        &self.buses
    }

    /// Restart at time 0.
    pub fn start_anew(&mut self) {
        self.arrays.start_anew();
        self.buses.start_anew();
        if let Some(fair) = &mut self.fair {
            fair.start_anew();
        }
    }

    /// Slow a die down by this factor; 1 is normal.
    pub fn slow(&mut self, die: DieId, factor: u32) {
        self.arrays.slow(die, factor);
    }

    /// Of the ranks with waiting operations in a plane of an array, one bit each, the one that is served first.
    #[inline(always)]
    pub fn first_rank(&self, array: u32, queued: u8) -> usize {
        match &self.fair {
            None => queued.trailing_zeros() as usize,
            Some(fair) => fair.rank(array, queued),
        }
    }

    /// A plane requests its array for an operation.
    #[inline(always)]
    pub fn want_array(&mut self, place: Place, entry: QueueEntry) {
        self.arrays.want(place.array as usize, entry.plane.index(), entry.key);
    }

    /// A plane requests its bus for an operation.
    #[inline(always)]
    pub fn want_bus(&mut self, place: Place, entry: QueueEntry) {
        self.buses.want(place.channel as usize, entry.plane.index(), entry.key);
    }

    /// Withdraw what a plane at a place has requested for the first of its queue.
    #[inline(always)]
    pub fn withdraw(&mut self, place: Place, plane: usize, want: Want) {
        match want {
            Want::Nothing => {}
            Want::Array => self.arrays.withdraw(place.array as usize, plane),
            Want::Bus => self.buses.withdraw(place.channel as usize, plane),
        }
    }

    /// The plane that a free array serves next, and the key of its operation. The request is taken.
    #[inline(always)]
    pub fn next_at_array(&mut self, array: usize) -> Option<(usize, u64)> {
        self.arrays.next(array, self.fair.as_deref())
    }

    /// The same of a bus.
    #[inline(always)]
    pub fn next_at_bus(&mut self, channel: usize) -> Option<(usize, u64)> {
        self.buses.next(channel, self.fair.as_deref())
    }

    /// The plane that an array would serve next, once it is free.
    pub fn first_at_array(&mut self, array: usize) -> Option<usize> {
        self.arrays.first(array)
    }

    /// An operation, with the others of its command, occupies its array from a time to another. By itself it would take
    /// `time`, which delays its kind where arrays serve by shares: then planes may offer another. Returns the event of
    /// its end.
    #[inline(always)]
    pub fn begin_on_array(
        &mut self,
        array: usize,
        entry: QueueEntry,
        span: (SimTime, SimTime),
        time: SimDuration,
    ) -> Due {
        let (now, end) = span;
        let event = self.arrays.begin(array, user(&entry), now, end);
        if self.fair.is_some() {
            self.charge(array, entry.key, time);
        }
        (event, end)
    }

    #[cold]
    fn charge(&mut self, array: usize, key: u64, time: SimDuration) {
        let Some(fair) = &mut self.fair else { return };
        fair.charge(array, key, time);
        fair.planes_of_array(array).iter().rev().for_each(|plane| self.agenda.ask(Ask::Plane(*plane)));
    }

    /// An operation occupies a bus from a time to another. Returns the event of its end.
    #[inline(always)]
    pub fn begin_on_bus(&mut self, channel: usize, entry: QueueEntry, span: (SimTime, SimTime)) -> Due {
        (self.buses.begin(channel, user(&entry), span.0, span.1), span.1)
    }

    /// The event of an array.
    #[inline(always)]
    pub fn end_at_array(&mut self, array: usize, now: SimTime) -> Ended {
        self.arrays.end(array, now)
    }

    /// The current operation of a bus has ended.
    #[inline(always)]
    pub fn end_at_bus(&mut self, channel: usize) -> Option<User> {
        self.buses.release(channel)
    }

    /// An operation starts a multi-plane command, alone so far.
    #[inline(always)]
    pub fn lead(&mut self, id: OpId) {
        self.arrays.put_after(id, None);
    }

    /// An operation joins a multi-plane command behind its last one.
    pub fn join(&mut self, last: OpId, joining: User) {
        self.arrays.put_after(last, Some(joining));
        self.arrays.put_after(joining.op, None);
    }

    /// The next operation of a multi-plane command has its effect, after which the array is free if it was the last.
    pub fn pass_on(&mut self, array: usize, next: Option<User>) {
        self.arrays.pass_on(array, next);
    }

    /// A host read waits for an array, which suspends its operation of this kind if it may. Returns the event of that.
    pub fn stop(&mut self, array: usize, kind: OpKind, now: SimTime) -> Option<Due> {
        self.arrays.stop(array, kind, now)
    }

    /// An array resumes its suspended operation. Returns the event of its end.
    pub fn resume(&mut self, array: usize, now: SimTime) -> Option<Due> {
        self.arrays.resume(array, now)
    }

    /// Ask a plane what it offers, before all others.
    #[inline(always)]
    pub fn ask_plane(&mut self, plane: u32) {
        self.agenda.ask(Ask::Plane(plane));
    }

    /// Ask a bus whom it serves, before all others.
    #[inline(always)]
    pub fn ask_bus(&mut self, channel: u32) {
        self.agenda.ask(Ask::Bus(channel));
    }

    /// Ask an array whom it serves, before all others.
    pub fn ask_array(&mut self, array: u32) {
        self.agenda.ask(Ask::Array(array));
    }

    /// Ask a bus whom it serves, before all others, if it is free and a plane waits for it.
    #[inline(always)]
    pub fn ask_bus_if_due(&mut self, channel: u32) {
        self.agenda.ask_if(self.buses.is_due(channel as usize), Ask::Bus(channel));
    }

    /// The same of an array.
    #[inline(always)]
    pub fn ask_array_if_due(&mut self, array: u32) {
        self.agenda.ask_if(self.arrays.is_due(array as usize), Ask::Array(array));
    }

    /// Whom to ask next.
    #[inline(always)]
    pub fn next_ask(&mut self) -> Option<Ask> {
        self.agenda.next()
    }

    /// Whether nobody is left to be asked.
    #[inline(always)]
    pub fn is_done(&self) -> bool {
        self.agenda.is_done()
    }

    /// Ask a plane once everything of this round has been queued.
    pub fn ask_later(&mut self, plane: u32) {
        self.agenda.ask_later(plane);
    }

    /// Whether planes are to be asked once everything of this round has been queued.
    #[inline(always)]
    pub fn has_later(&self) -> bool {
        self.agenda.has_later()
    }

    /// The planes that are asked now that everything has been queued; [`Self::reuse`] takes the list back.
    pub fn take_later(&mut self) -> Vec<u32> {
        self.agenda.take_later()
    }

    /// Take back a list for reuse.
    pub fn reuse(&mut self, planes: Vec<u32>) {
        self.agenda.reuse(planes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::plane::Plane;
    use wordline_device::Shares;
    use wordline_ftl::{Cause, Class};
    use wordline_swarm::Tiny;
    use wordline_units::PlaneId;

    /// A die of four planes, whose scheduler has this order of service, and the place of its planes.
    fn of_four_planes(order: &str) -> (Scheduler, Place) {
        let mut spec = Tiny { planes: 4, ..Tiny::default() }.spec(1);
        if order == "shares" {
            spec.service.shares = Some(Shares([1, 3, 1, 1]));
        }
        let geometry = spec.geometry().unwrap();
        let places: Vec<Place> =
            (0..4).map(|plane| Plane::new(&spec, &geometry, PlaneId(plane)).place).collect();
        (Scheduler::new(&spec, &geometry, places.iter().copied()), places[0])
    }

    fn entry(class: Class, order: u64, plane: u32) -> QueueEntry {
        let key = (class as u64) << 56 | order;
        QueueEntry::new(OpId(order as u32), PlaneId(plane), key, OpKind::Read, Cause::Host)
    }

    fn asks(scheduler: &mut Scheduler) -> Vec<Ask> {
        std::iter::from_fn(|| scheduler.next_ask()).collect()
    }

    #[test]
    fn only_a_free_resource_with_waiting_planes_is_asked() {
        let (mut scheduler, place) = of_four_planes("");
        scheduler.ask_array_if_due(place.array);
        assert!(scheduler.is_done(), "nobody waits for it");
        scheduler.want_array(place, entry(Class::Read, 1, 2));
        scheduler.ask_array_if_due(place.array);
        scheduler.ask_bus_if_due(place.channel);
        assert_eq!(asks(&mut scheduler), [Ask::Array(place.array)]);
        let array = place.array as usize;
        let (plane, key) = scheduler.next_at_array(array).unwrap();
        assert_eq!((plane, key), (2, entry(Class::Read, 1, 2).key));
        let span = (SimTime(0), SimTime(50));
        let due = scheduler.begin_on_array(array, entry(Class::Read, 1, 2), span, SimDuration(50));
        assert_eq!(due, (place.array, SimTime(50)));
        scheduler.want_array(place, entry(Class::Read, 2, 3));
        scheduler.ask_array_if_due(place.array);
        assert!(scheduler.is_done(), "it is busy");
        assert!(matches!(scheduler.end_at_array(array, SimTime(50)), Ended::Through(Some(_))));
        scheduler.ask_array_if_due(place.array);
        assert_eq!(asks(&mut scheduler), [Ask::Array(place.array)]);
    }

    #[test]
    fn withdrawn_request_is_not_served() {
        let (mut scheduler, place) = of_four_planes("");
        scheduler.want_bus(place, entry(Class::Write, 1, 0));
        scheduler.want_bus(place, entry(Class::Write, 2, 1));
        scheduler.withdraw(place, 0, Want::Array);
        scheduler.withdraw(place, 0, Want::Bus);
        let channel = place.channel as usize;
        assert_eq!(scheduler.next_at_bus(channel).map(|(plane, _)| plane), Some(1));
        assert_eq!(scheduler.next_at_bus(channel), None);
    }

    #[test]
    fn array_that_serves_by_shares_has_its_planes_asked_again() {
        let (mut scheduler, place) = of_four_planes("shares");
        let (array, span) = (place.array as usize, (SimTime(0), SimTime(300)));
        // A rank of each: the one that has had nothing goes first, and then they take turns by their shares.
        assert_eq!(scheduler.first_rank(place.array, 0b110), 1);
        scheduler.begin_on_array(array, entry(Class::Read, 1, 0), span, SimDuration(300));
        assert_eq!(asks(&mut scheduler), [0, 1, 2, 3].map(Ask::Plane));
        assert_eq!(scheduler.first_rank(place.array, 0b110), 2);
        let (mut scheduler, _) = of_four_planes("");
        scheduler.begin_on_array(array, entry(Class::Read, 1, 0), span, SimDuration(300));
        assert!(scheduler.is_done() && scheduler.first_rank(place.array, 0b110) == 1);
    }
}
