//! Arrays and buses: serial resources that planes share, and which plane has one next.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wordline_ftl::{Class, OpId};
use wordline_units::SimTime;

/// What a plane wants of a resource when it wants nothing.
pub(crate) const NOTHING: u64 = u64::MAX;

/// A serial resource that some planes share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shared {
    /// What it is at. The link `next` of an operation on an array leads to those that go with it.
    pub busy: Option<OpId>,
    /// Planes that want it, by the key of their operation; with those that have changed their mind.
    pub queue: BinaryHeap<Reverse<(u64, u32)>>,
    /// Planes that want it indeed.
    pub waiting: u32,
    /// Time for which it has been taken, ns, and until when that is.
    pub taken: u64,
    pub until: SimTime,
}

impl Shared {
    /// Something has it from now on until a time.
    #[inline(always)]
    pub fn take_until(&mut self, now: SimTime, end: SimTime) {
        self.taken += end.since(now).0;
        self.until = end;
    }

    /// What has it leaves earlier than it would.
    pub fn leave_at(&mut self, end: SimTime) {
        self.taken -= self.until.since(end).0;
        self.until = end;
    }

    /// How long it has been busy by now, ns.
    pub fn used(&self, now: SimTime) -> u64 {
        self.taken - self.until.0.saturating_sub(now.0)
    }
}

/// Arrays, or buses, and what each plane wants of its own: an operation's key, or [`NOTHING`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Resources {
    pub shared: Vec<Shared>,
    pub wants: Vec<u64>,
}

impl Resources {
    pub fn add_plane(&mut self, index: u32) {
        if self.shared.len() <= index as usize {
            self.shared.push(Shared::default());
        }
        self.wants.push(NOTHING);
    }

    #[inline(always)]
    pub fn want(&mut self, index: usize, plane: usize, key: u64) {
        self.wants[plane] = key;
        let shared = &mut self.shared[index];
        shared.waiting += 1;
        shared.queue.push(Reverse((key, plane as u32)));
    }

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

    /// Whether the resource is free, and somebody waits for it.
    #[inline(always)]
    pub fn is_due(&self, index: usize) -> bool {
        let shared = &self.shared[index];
        shared.busy.is_none() && shared.waiting > 0
    }

    /// Whether the resource is free, and nobody waits for it.
    #[inline(always)]
    pub fn is_idle(&self, index: usize) -> bool {
        let shared = &self.shared[index];
        shared.busy.is_none() && shared.waiting == 0
    }

    /// The plane whose want comes first by class and arrival, if the resource is free; its want is
    /// taken.
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

    /// The plane that comes first of those whose operation is of a class, and its key.
    pub fn first_of(&self, index: usize, class: Class) -> Option<(usize, u64)> {
        let queue = self.shared[index].queue.iter().map(|Reverse((key, plane))| (*key, *plane as usize));
        let of_class = queue.filter(|(key, plane)| self.wants[*plane] == *key && key >> 56 == class as u64);
        of_class.min().map(|(key, plane)| (plane, key))
    }

    /// The same; its want is taken.
    pub fn next_of(&mut self, index: usize, class: Class) -> Option<(usize, u64)> {
        let (plane, key) = self.first_of(index, class)?;
        self.withdraw(index, plane);
        Some((plane, key))
    }

    /// The plane that a resource would serve next, once it is free.
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
}
