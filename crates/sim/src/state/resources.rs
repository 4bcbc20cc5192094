//! Serial resources that planes share, and which plane has one next: arrays, and buses.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wordline_ftl::{Class, OpId};
use wordline_units::SimTime;

/// What a plane wants of a resource when it wants nothing.
pub(crate) const NOTHING: u64 = u64::MAX;

/// What has a resource: an operation, and its plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct User {
    pub op: OpId,
    pub plane: u32,
}

/// A serial resource that some planes share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Shared {
    /// What it is at.
    busy: Option<User>,
    /// Planes that want it, by the key of their operation; with those that have changed their mind.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    /// Planes that want it indeed.
    waiting: u32,
    /// Time for which it has been taken, ns, and until when that is.
    taken: u64,
    until: SimTime,
}

impl Shared {
    /// How long it has been busy by now, ns.
    fn used(&self, now: SimTime) -> u64 {
        self.taken - self.until.0.saturating_sub(now.0)
    }
}

/// Arrays, or buses, and what each plane wants of its own: an operation's key, or [`NOTHING`]. A plane wants one thing at
/// a time, and as many planes wait for a resource as want something of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Resources {
    shared: Vec<Shared>,
    wants: Vec<u64>,
}

impl Resources {
    /// Add a plane that uses this resource. Resources are numbered from 0 in the order of their first planes.
    pub fn add_plane(&mut self, index: u32) {
        if self.shared.len() <= index as usize {
            self.shared.push(Shared::default());
        }
        self.wants.push(NOTHING);
    }

    /// Number of resources.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.shared.len()
    }

    /// A plane requests its resource for an operation of this key.
    #[inline(always)]
    pub fn want(&mut self, index: usize, plane: usize, key: u64) {
        self.wants[plane] = key;
        let shared = &mut self.shared[index];
        shared.waiting += 1;
        shared.queue.push(Reverse((key, plane as u32)));
    }

    /// The request of a plane, or [`NOTHING`].
    #[inline(always)]
    pub fn wanted(&self, plane: usize) -> u64 {
        self.wants[plane]
    }

    /// Withdraw the request of a plane, if any.
    #[inline(always)]
    pub fn withdraw(&mut self, index: usize, plane: usize) {
        if std::mem::replace(&mut self.wants[plane], NOTHING) == NOTHING {
            return;
        }
        let shared = &mut self.shared[index];
        shared.waiting -= 1;
        if shared.queue.len() > 4 * shared.waiting as usize + 64 {
            let wants = &self.wants;
            shared.queue.retain(|Reverse((key, plane))| wants[*plane as usize] == *key);
        }
    }

    /// Whether a plane waits for the resource.
    #[inline(always)]
    pub fn is_wanted(&self, index: usize) -> bool {
        self.shared[index].waiting > 0
    }

    /// Whether the resource is free, and a plane waits for it.
    #[inline(always)]
    pub fn is_due(&self, index: usize) -> bool {
        let shared = &self.shared[index];
        shared.busy.is_none() && shared.waiting > 0
    }

    /// Whether the resource is free, and no plane waits for it.
    #[inline(always)]
    pub fn is_idle(&self, index: usize) -> bool {
        let shared = &self.shared[index];
        shared.busy.is_none() && shared.waiting == 0
    }

    /// If the resource is free, take the request that comes first by class and arrival, and return its plane.
    #[inline(always)]
    pub fn next(&mut self, index: usize) -> Option<(usize, u64)> {
        if !self.is_due(index) {
            return None;
        }
        let shared = &mut self.shared[index];
        while let Some(Reverse((key, plane))) = shared.queue.pop() {
            let want = &mut self.wants[plane as usize];
            if *want == key {
                *want = NOTHING;
                shared.waiting -= 1;
                return Some((plane as usize, key));
            }
        }
        None
    }

    /// The same among some planes, by another order of the keys.
    pub fn next_by<O: Ord>(
        &mut self,
        index: usize,
        planes: &[u32],
        order: impl Fn(u64) -> O,
    ) -> Option<(usize, u64)> {
        if !self.is_due(index) {
            return None;
        }
        let wants = planes.iter().map(|plane| (*plane as usize, self.wants[*plane as usize]));
        let (plane, key) = wants.filter(|(_, key)| *key != NOTHING).min_by_key(|(_, key)| order(*key))?;
        self.withdraw(index, plane);
        Some((plane, key))
    }

    /// The first plane with a request of a class, and its key.
    pub fn first_of(&self, index: usize, class: Class) -> Option<(usize, u64)> {
        let queue = self.shared[index].queue.iter().map(|Reverse((key, plane))| (*key, *plane as usize));
        let of_class = queue.filter(|(key, plane)| self.wants[*plane] == *key && key >> 56 == class as u64);
        of_class.min().map(|(key, plane)| (plane, key))
    }

    /// The same; the request is taken.
    pub fn next_of(&mut self, index: usize, class: Class) -> Option<(usize, u64)> {
        let (plane, key) = self.first_of(index, class)?;
        self.withdraw(index, plane);
        Some((plane, key))
    }

    /// The plane that the resource would serve next, once it is free.
    pub fn first(&mut self, index: usize) -> Option<usize> {
        let shared = &mut self.shared[index];
        while let Some(Reverse((key, plane))) = shared.queue.peek() {
            if self.wants[*plane as usize] == *key {
                return Some(*plane as usize);
            }
            shared.queue.pop();
        }
        None
    }

    /// The plane that comes first, unless it has changed its mind.
    #[inline(always)]
    pub fn foremost(&self, index: usize) -> Option<usize> {
        self.shared[index].queue.peek().map(|Reverse((_, plane))| *plane as usize)
    }

    /// The current operation of a resource.
    #[inline(always)]
    pub fn user(&self, index: usize) -> Option<User> {
        self.shared[index].busy
    }

    /// The current operations of all busy resources.
    pub fn users(&self) -> impl Iterator<Item = User> + '_ {
        self.shared.iter().filter_map(|shared| shared.busy)
    }

    /// Whether all resources are idle.
    pub fn are_at_rest(&self) -> bool {
        self.users().next().is_none()
    }

    /// An operation occupies a resource until a time.
    #[inline(always)]
    pub fn take(&mut self, index: usize, user: User, now: SimTime, end: SimTime) {
        let shared = &mut self.shared[index];
        debug_assert!(shared.busy.is_none());
        shared.busy = Some(user);
        shared.taken += end.since(now).0;
        shared.until = end;
    }

    /// The current operation of a resource has ended.
    #[inline(always)]
    pub fn release(&mut self, index: usize) -> Option<User> {
        self.shared[index].busy.take()
    }

    /// The current operation of a resource has ended; the next operation for which it is reserved starts, if there is
    /// one.
    pub fn pass_on(&mut self, index: usize, user: Option<User>) {
        self.shared[index].busy = user;
    }

    /// The current operation of a resource ends earlier than planned.
    pub fn leave_at(&mut self, index: usize, end: SimTime) {
        let shared = &mut self.shared[index];
        shared.taken -= shared.until.since(end).0;
        shared.until = end;
    }

    /// End of the current or last use of a resource.
    pub fn until(&self, index: usize) -> SimTime {
        self.shared[index].until
    }

    /// Busy time of each resource until now, ns.
    pub fn used(&self, now: SimTime) -> impl Iterator<Item = u64> + '_ {
        self.shared.iter().map(move |shared| shared.used(now))
    }

    /// Restart at time 0 with all resources idle.
    pub fn start_anew(&mut self) {
        self.shared.iter_mut().for_each(|shared| (shared.taken, shared.until) = (0, SimTime(0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operation of plane 0.
    fn user(id: u32) -> User {
        User { op: OpId(id), plane: 0 }
    }

    fn key(class: Class, order: u64) -> u64 {
        (class as u64) << 56 | order
    }

    /// One resource of this many planes.
    fn shared_by(planes: usize) -> Resources {
        let mut resources = Resources::default();
        (0..planes).for_each(|_| resources.add_plane(0));
        resources
    }

    #[test]
    fn resource_serves_by_class_then_arrival() {
        let mut r = shared_by(3);
        r.take(0, user(9), SimTime(0), SimTime(10));
        r.want(0, 0, key(Class::Write, 1));
        r.want(0, 1, key(Class::Write, 2));
        r.want(0, 2, key(Class::Read, 3));
        assert_eq!((r.next(0), r.first(0)), (None, Some(2)));
        assert_eq!(r.release(0), Some(user(9)));
        let served: Vec<usize> = std::iter::from_fn(|| r.next(0)).map(|(plane, _)| plane).collect();
        assert_eq!(served, [2, 0, 1]);
        assert!(r.is_idle(0));
    }

    #[test]
    fn plane_that_has_changed_its_mind_is_passed_over() {
        let mut r = shared_by(2);
        r.want(0, 0, key(Class::Read, 1));
        r.want(0, 1, key(Class::Read, 2));
        r.withdraw(0, 0);
        r.withdraw(0, 0);
        r.want(0, 0, key(Class::Background, 3));
        assert_eq!(
            (r.first(0), r.first_of(0, Class::Background)),
            (Some(1), Some((0, key(Class::Background, 3))))
        );
        assert_eq!(r.next_of(0, Class::Background).map(|(plane, _)| plane), Some(0));
        assert_eq!((r.next(0).map(|(plane, _)| plane), r.next(0)), (Some(1), None));
    }

    #[test]
    fn queue_stays_short_however_often_planes_reconsider() {
        let mut r = shared_by(2);
        for order in 0..10_000 {
            r.want(0, 0, key(Class::Read, order));
            r.withdraw(0, 0);
        }
        assert!(r.shared[0].queue.len() <= 65 && !r.is_wanted(0));
    }

    #[test]
    fn busy_time_counts_up_to_now_and_shrinks_on_leaving() {
        let mut r = shared_by(1);
        r.take(0, user(1), SimTime(100), SimTime(200));
        assert_eq!(r.used(SimTime(150)).collect::<Vec<_>>(), [50]);
        r.leave_at(0, SimTime(160));
        assert_eq!((r.until(0), r.used(SimTime(300)).sum::<u64>()), (SimTime(160), 60));
        r.release(0);
        r.take(0, user(2), SimTime(300), SimTime(310));
        assert_eq!(r.used(SimTime(310)).sum::<u64>(), 70);
    }
}
