//! Arrays: what senses, programs and erases, for one command at a time.
//!
//! A program or an erase may make way for reads of the host: the array stops after the time that the command takes, and
//! what it was at is set aside. Until it continues with the rest, it serves reads of the host alone. The event of the
//! end that an array had before it stopped, or continued, is void.

use crate::state::fair::Fair;
use crate::state::resources::{Resources, User};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};
use wordline_device::{DeviceSpec, Multiplane, ParallelUnit, Suspension};
use wordline_flash::{CommandOverhead, Geometry, Medium};
use wordline_ftl::{ArrayTime, Class, OpId, OpKind, Saved, saved_fields};
use wordline_units::{DieId, PlaneId, SimDuration, SimTime};

/// Of an array that can be interrupted, what it is at.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Interrupted {
    /// Since when it has been at this.
    since: SimTime,
    /// Whether it is about to set aside what it is at.
    stops: bool,
    /// What has been set aside, the first of those that go together.
    suspended: Option<User>,
    /// What that takes again, or will.
    left: SimDuration,
    /// How often what is aside has been suspended; where nothing is, what the array is at.
    times: u32,
}

impl Interrupted {
    const NOTHING: Interrupted =
        Interrupted { since: SimTime(0), stops: false, suspended: None, left: SimDuration::ZERO, times: 0 };
}

/// How an array comes to its event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// The event is void.
    Void,
    /// It has stopped, and set aside what it was at.
    Stopped(User),
    /// It is through with this, or at nothing.
    Through(Option<User>),
}

/// All arrays: waiting planes, multi-plane groups, and suspended operations.
#[derive(Clone, Debug)]
pub(crate) struct Arrays {
    shared: Resources,
    interrupted: Vec<Interrupted>,
    suspension: Option<Suspension>,
    /// Whether like operations of an array's planes go together.
    is_multiplane: bool,
    /// By operation, what goes with it in one command and comes after it there.
    together: Vec<Option<User>>,
    /// What each further plane of a multi-plane command adds, by medium.
    further: Vec<CommandOverhead>,
    /// How many times longer some dies work than they should: a fault that is planted, and not saved.
    slow: Vec<(DieId, u32)>,
}

impl Saved for Arrays {
    saved_fields! { Arrays,
        values: [shared, interrupted, together],
        parts: [],
        rebuilt: [suspension, is_multiplane, further, slow],
    }
}

impl Arrays {
    /// The arrays of a drive.
    pub fn new(spec: &DeviceSpec, geometry: &Geometry) -> Arrays {
        let mut shared = Resources::default();
        (0..geometry.planes).for_each(|plane| shared.add_plane(Arrays::of(spec, geometry, PlaneId(plane))));
        Arrays {
            interrupted: vec![Interrupted::NOTHING; shared.count()],
            shared,
            suspension: spec.service.suspension,
            is_multiplane: spec.multiplane == Multiplane::Opportunistic,
            together: vec![],
            further: geometry.media.iter().map(Medium::further_plane).collect(),
            slow: vec![],
        }
    }

    /// The number of a plane's array.
    pub fn of(spec: &DeviceSpec, geometry: &Geometry, plane: PlaneId) -> u32 {
        match spec.parallel_unit {
            ParallelUnit::Die => geometry.die_of(plane).0,
            ParallelUnit::Plane => plane.0,
        }
    }

    /// Whether equal operations of an array's planes run as one command.
    #[inline(always)]
    pub fn is_multiplane(&self) -> bool {
        self.is_multiplane
    }

    /// Whether operations run together or are suspended: then an operation that arrives at a free plane may have to
    /// wait.
    #[inline(always)]
    pub fn goes_by_commands(&self) -> bool {
        self.is_multiplane || self.suspension.is_some()
    }

    /// Whether host reads suspend anything.
    #[inline(always)]
    pub fn suspends(&self) -> bool {
        self.suspension.is_some()
    }

    /// The plane that a free array serves next: by shares, if they are set.
    #[inline(always)]
    pub fn next(&mut self, array: usize, fair: Option<&Fair>) -> Option<(usize, u64)> {
        if self.serves_reads_alone(array) {
            return self.shared.next_of(array, Class::Read);
        }
        match fair {
            None => self.shared.next(array),
            Some(fair) => self.shared.next_by(array, fair.planes_of_array(array), fair.order_at(array)),
        }
    }

    /// Whether an operation is suspended, so that only host reads may start: even before what holds the die, since such
    /// a read may occupy the very plane that the suspended operation needs.
    #[inline(always)]
    pub fn serves_reads_alone(&self, array: usize) -> bool {
        self.suspension.is_some() && self.interrupted[array].suspended.is_some()
    }

    /// The operation of each array, in progress or suspended.
    pub fn in_hand(&self) -> impl Iterator<Item = User> + '_ {
        let leads = self.shared.users().chain(self.interrupted.iter().filter_map(|i| i.suspended));
        leads.flat_map(|lead| self.together(lead))
    }

    /// The operations that follow another in its multi-plane command.
    pub fn goes_with(&self, id: OpId) -> Option<User> {
        *self.together.get(id.0 as usize)?
    }

    /// The operations of a multi-plane command, in the order of service.
    pub fn together(&self, lead: User) -> impl Iterator<Item = User> + '_ {
        std::iter::successors(Some(lead), |user| self.goes_with(user.op))
    }

    /// The same as a copied list, while the arrays change.
    pub fn command(&self, lead: User) -> Vec<User> {
        self.together(lead).collect()
    }

    /// The next operation in a multi-plane command, or none after the last.
    pub fn put_after(&mut self, id: OpId, next: Option<User>) {
        let index = id.0 as usize;
        if self.together.len() <= index {
            self.together.resize(index + 1, None);
        }
        self.together[index] = next;
    }

    /// Slow a die down by this factor; 1 is normal.
    pub fn slow(&mut self, die: DieId, factor: u32) {
        self.slow.retain(|(slow, _)| *slow != die);
        if factor > 1 {
            self.slow.push((die, factor));
        }
    }

    /// Duration of an operation in a die, which may be slowed down.
    #[inline(always)]
    pub fn time_in(&self, die: DieId, time: ArrayTime) -> ArrayTime {
        if self.slow.is_empty() { time } else { self.slowed(die, time) }
    }

    #[cold]
    fn slowed(&self, die: DieId, time: ArrayTime) -> ArrayTime {
        let factor = self.slow.iter().find(|(slow, _)| *slow == die).map_or(1, |(_, factor)| *factor);
        let times = |t: SimDuration| SimDuration(t.0.saturating_mul(u64::from(factor)));
        ArrayTime { all: times(time.all), again: times(time.again) }
    }

    /// Additional time for each further plane of a command on a medium.
    pub fn further(&self, medium: usize, kind: OpKind, planes: u64) -> SimDuration {
        let more = &self.further[medium];
        match kind {
            OpKind::Read => SimDuration(more.read.0 * planes),
            OpKind::Erase => SimDuration(more.erase.0 * planes),
            // Its command has gone over the bus before its data.
            OpKind::Program => SimDuration::ZERO,
        }
    }

    /// An operation, with the others of its command, occupies the array until a time. Returns the number of its event.
    #[inline(always)]
    pub fn begin(&mut self, array: usize, user: User, now: SimTime, end: SimTime) -> u32 {
        self.shared.take(array, user, now, end);
        if self.suspension.is_some() {
            let i = &mut self.interrupted[array];
            i.since = now;
            if i.suspended.is_none() {
                i.times = 0;
            }
        }
        array as u32
    }

    /// Start of the current operation, if it can be suspended.
    pub fn since(&self, array: usize) -> SimTime {
        self.interrupted[array].since
    }

    /// Whether this event ends the current operation.
    pub fn ends(&self, array: usize, now: SimTime) -> bool {
        self.suspension.is_none() || self.shared.until(array) == now
    }

    /// Its event.
    #[inline(always)]
    pub fn end(&mut self, array: usize, now: SimTime) -> Ended {
        if self.suspension.is_some() {
            self.end_or_stop(array, now)
        } else {
            Ended::Through(self.shared.release(array))
        }
    }

    fn end_or_stop(&mut self, array: usize, now: SimTime) -> Ended {
        if !self.ends(array, now) {
            return Ended::Void;
        }
        let user = self.shared.release(array);
        let i = &mut self.interrupted[array];
        match user {
            Some(user) if std::mem::take(&mut i.stops) => {
                i.suspended = Some(user);
                Ended::Stopped(user)
            }
            _ => Ended::Through(user),
        }
    }

    /// Record a waiting host read. Whether a host read suspends the current operation of this kind: its event, and the
    /// time of suspension.
    pub fn stop(&mut self, array: usize, kind: OpKind, now: SimTime) -> Option<(u32, SimTime)> {
        let rule = self.suspension?;
        let (stop, min_left) = match kind {
            OpKind::Read => return None,
            OpKind::Program => (rule.program?, rule.program_min_left),
            OpKind::Erase => (rule.erase?, rule.erase_min_left),
        };
        let left = self.shared.until(array).since(now);
        let i = &mut self.interrupted[array];
        if i.stops || i.times >= rule.limit || left <= stop.max(min_left) {
            return None;
        }
        (i.stops, i.left, i.times) = (true, left, i.times + 1);
        self.shared.leave_at(array, now + stop);
        Some((array as u32, now + stop))
    }

    /// The suspended operation, if the array is free and no host read waits for it.
    pub fn rest(&self, array: usize) -> Option<User> {
        let lead = self.interrupted[array].suspended?;
        let is_free = self.shared.user(array).is_none() && self.shared.first_of(array, Class::Read).is_none();
        is_free.then_some(lead)
    }

    /// Resume the suspended operation. Returns the event of its end.
    pub fn resume(&mut self, array: usize, now: SimTime) -> Option<(u32, SimTime)> {
        let lead = self.interrupted[array].suspended?;
        let resume = self.suspension.map_or(SimDuration::ZERO, |rule| rule.resume);
        let end = now + resume + self.interrupted[array].left;
        let event = self.begin(array, lead, now, end);
        self.interrupted[array].suspended = None;
        Some((event, end))
    }
}

impl Deref for Arrays {
    type Target = Resources;
    #[inline(always)]
    fn deref(&self) -> &Resources {
        &self.shared
    }
}

impl DerefMut for Arrays {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Resources {
        &mut self.shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: SimDuration = SimDuration(5);
    const RESUME: SimDuration = SimDuration(3);
    const MIN_LEFT: SimDuration = SimDuration(20);

    /// One array of two planes, whose programs make way for a read twice at most, and whose erases do not.
    fn array() -> Arrays {
        let mut shared = Resources::default();
        (0..2).for_each(|_| shared.add_plane(0));
        let suspension = Suspension {
            program: Some(STOP),
            erase: None,
            resume: RESUME,
            limit: 2,
            program_min_left: MIN_LEFT,
            erase_min_left: SimDuration::ZERO,
        };
        let overhead =
            CommandOverhead { read: SimDuration(1), program: SimDuration(2), erase: SimDuration(4) };
        Arrays {
            interrupted: vec![Interrupted::NOTHING],
            shared,
            suspension: Some(suspension),
            is_multiplane: true,
            together: vec![],
            further: vec![overhead],
            slow: vec![],
        }
    }

    fn user(id: u32) -> User {
        User { op: OpId(id), plane: 0 }
    }

    fn key(class: Class, order: u64) -> u64 {
        (class as u64) << 56 | order
    }

    #[test]
    fn program_yields_to_a_read_and_resumes_the_rest() {
        let mut a = array();
        a.begin(0, user(1), SimTime(0), SimTime(100));
        a.want(0, 0, key(Class::Read, 7));
        let stops = a.stop(0, OpKind::Program, SimTime(40));
        assert_eq!(stops, Some((0, SimTime(45))));
        assert_eq!(a.end(0, SimTime(45)), Ended::Stopped(user(1)));
        // It has a read to serve first, and serves nothing else.
        a.want(0, 1, key(Class::Held, 3));
        assert!(a.serves_reads_alone(0) && a.rest(0).is_none());
        assert_eq!(a.next(0, None), Some((0, key(Class::Read, 7))));
        a.begin(0, user(2), SimTime(45), SimTime(65));
        assert_eq!(a.in_hand().collect::<Vec<_>>(), [user(2), user(1)]);
        assert_eq!(a.end(0, SimTime(65)), Ended::Through(Some(user(2))));
        assert_eq!(a.rest(0), Some(user(1)));
        assert_eq!(a.resume(0, SimTime(65)), Some((0, SimTime(65 + 60 + 3))));
        assert!(!a.serves_reads_alone(0));
        // The end that it had at first passes, and the other is one.
        assert_eq!(a.end(0, SimTime(100)), Ended::Void);
        assert_eq!(a.end(0, SimTime(128)), Ended::Through(Some(user(1))));
        assert_eq!(a.used(SimTime(200)).sum::<u64>(), 45 + 20 + 63);
    }

    #[test]
    fn array_stops_once_for_all_reads_up_to_its_limit() {
        let mut a = array();
        a.begin(0, user(1), SimTime(0), SimTime(1_000));
        for (from, times) in [(10, 1), (30, 2)] {
            assert!(a.stop(0, OpKind::Program, SimTime(from)).is_some());
            assert_eq!(a.stop(0, OpKind::Program, SimTime(from + 1)), None);
            assert_eq!(a.end(0, SimTime(from + 5)), Ended::Stopped(user(1)));
            a.resume(0, SimTime(from + 6));
            assert_eq!(a.interrupted[0].times, times);
        }
        assert_eq!(a.stop(0, OpKind::Program, SimTime(50)), None);
        // Its next operation may stop again.
        let end = a.shared.until(0);
        assert_eq!(a.end(0, end), Ended::Through(Some(user(1))));
        a.begin(0, user(3), end, end + SimDuration(100));
        assert!(a.stop(0, OpKind::Program, end).is_some());
    }

    #[test]
    fn nearly_finished_or_stuck_work_is_not_suspended() {
        let mut a = array();
        a.begin(0, user(1), SimTime(0), SimTime(100));
        assert_eq!(a.stop(0, OpKind::Program, SimTime(95)), None);
        assert_eq!(a.stop(0, OpKind::Program, SimTime(80)), None);
        assert!(a.clone().stop(0, OpKind::Program, SimTime(79)).is_some());
        assert_eq!(a.stop(0, OpKind::Erase, SimTime(10)), None);
        assert_eq!(a.stop(0, OpKind::Read, SimTime(10)), None);
        assert_eq!(a.end(0, SimTime(100)), Ended::Through(Some(user(1))));
    }

    #[test]
    fn multi_plane_command_holds_the_array_to_its_last() {
        let mut a = array();
        assert_eq!(a.further(0, OpKind::Erase, 3), SimDuration(12));
        assert_eq!(a.further(0, OpKind::Program, 3), SimDuration::ZERO);
        a.put_after(OpId(1), Some(user(2)));
        a.put_after(OpId(2), None);
        a.begin(0, user(1), SimTime(0), SimTime(10));
        assert_eq!(a.in_hand().collect::<Vec<_>>(), [user(1), user(2)]);
        assert_eq!(a.end(0, SimTime(10)), Ended::Through(Some(user(1))));
        a.pass_on(0, Some(user(2)));
        a.want(0, 0, key(Class::Read, 1));
        assert!(!a.is_due(0));
        a.pass_on(0, None);
        assert!(a.is_due(0));
    }

    #[test]
    fn die_works_as_many_times_longer_as_was_said_last() {
        let mut a = array();
        let time = ArrayTime { all: SimDuration(10), again: SimDuration(2) };
        a.slow(DieId(1), 3);
        a.slow(DieId(1), 5);
        assert_eq!(
            (a.time_in(DieId(1), time).all, a.time_in(DieId(0), time).all),
            (SimDuration(50), SimDuration(10))
        );
        a.slow(DieId(1), 1);
        assert_eq!(a.time_in(DieId(1), time).again, SimDuration(2));
    }
}
