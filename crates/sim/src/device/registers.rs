//! The registers of a plane. One of them serves an operation from its begin to its end. With a cache
//! register beside the page register a plane may be at two operations: one whose data the array reads or
//! programs, and one whose data the bus moves. A page that was sensed goes over to the cache register as
//! soon as that is free, and is brought out from there; a page that was brought in waits there until the
//! program before it has ended. Nothing comes between a program in the cache register and the array, so a
//! read waits for it, and a program does not go there while the page register may want it for a read.

use super::{Device, Plane};
use crate::probe::Probe;
use serde::{Deserialize, Serialize};
use wordline_ftl::{BusyTime, Media, OpId, OpKind};
use wordline_units::{SimDuration, SimTime};

/// What has a register, and how far it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct RegisterUse {
    pub op: OpId,
    /// Since when the operation has the plane.
    pub began: SimTime,
    /// When its data had moved and the array was next, or the other way round for the first time.
    pub turned: SimTime,
    /// When a read was sensed for the last time, and of its array's time before that, what went into reading
    /// again.
    pub sensed: SimTime,
    pub again: SimDuration,
    /// Whether its data wait for the other register.
    pub waits: bool,
    /// Where the plane has two registers, how long it had been busy when the operation began.
    pub busy_before: BusyTime,
}

impl RegisterUse {
    pub const NOTHING: RegisterUse = RegisterUse {
        op: OpId::NONE,
        began: SimTime(0),
        turned: SimTime(0),
        sensed: SimTime(0),
        again: SimDuration::ZERO,
        waits: false,
        busy_before: BusyTime([0; 3]),
    };
}

/// What a plane with a cache register has besides.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct CacheRegisterUse {
    /// What has the cache register.
    pub cached: RegisterUse,
    /// How long a program could not have begun, as `busy` has it for reads.
    pub busy_for_programs: BusyTime,
    /// Until when both are counted.
    pub counted: SimTime,
}

impl Default for RegisterUse {
    fn default() -> RegisterUse {
        RegisterUse::NOTHING
    }
}

impl Plane {
    /// The register that an operation has.
    #[inline(always)]
    pub fn of(&mut self, id: OpId) -> &mut RegisterUse {
        if !self.cache.is_off() && self.cache_register.cached.op == id {
            &mut self.cache_register.cached
        } else {
            &mut self.current
        }
    }

    /// The operation whose data move next, if the plane has begun one.
    #[inline(always)]
    pub fn at_bus(&self) -> OpId {
        let by_cache = !self.cache.is_off() && !self.cache_register.cached.op.is_none();
        if by_cache { self.cache_register.cached.op } else { self.current.op }
    }
}

impl<P: Probe, M: Media> Device<P, M> {
    fn is(&self, id: OpId, kind: OpKind) -> bool {
        !id.is_none() && self.ftl.op(id).kind == kind
    }

    /// Whether a program comes in by the cache register.
    fn is_cached(&self, plane: usize, id: OpId) -> bool {
        self.planes[plane].cache.programs() && self.is(id, OpKind::Program) && self.ftl.may_be_cached(id)
    }

    /// Whether a plane with two registers has one for an operation.
    #[inline(never)]
    pub(super) fn has_register(&self, plane: usize, id: OpId) -> bool {
        let (current, cached) = (self.planes[plane].current.op, self.planes[plane].cache_register.cached.op);
        if self.ftl.op(id).kind == OpKind::Program {
            let follows = self.is_cached(plane, current) && self.is_cached(plane, id);
            cached.is_none() && (current.is_none() || follows)
        } else {
            current.is_none() && !self.is(cached, OpKind::Program)
        }
    }

    /// An operation takes the register that it needs first: what goes on with a page that was read, and a
    /// program that may, the cache register.
    pub(super) fn take_register(&mut self, plane: usize, id: OpId) {
        let busy_before = self.busy_for(plane, id);
        let goes_on = self.planes[plane].cache.reads() && self.ftl.op(id).goes_on();
        let by_cache = goes_on || self.is_cached(plane, id);
        let held = RegisterUse { op: id, began: self.now, busy_before, ..RegisterUse::NOTHING };
        let p = &mut self.planes[plane];
        *(if by_cache { &mut p.cache_register.cached } else { &mut p.current }) = held;
    }

    /// An operation has ended.
    pub(super) fn leave_register(&mut self, plane: usize, id: OpId) {
        self.count_busy(plane);
        *self.planes[plane].of(id) = RegisterUse::NOTHING;
    }

    /// A page has been sensed. It goes over to the cache register if that is free, and the next can be
    /// sensed; one that must be sensed again after its transfer stays.
    pub(super) fn bring_out(&mut self, plane: usize) {
        self.planes[plane].current.waits = !self.planes[plane].cache_register.cached.op.is_none();
        if self.planes[plane].current.waits {
            return;
        }
        let id = self.planes[plane].current.op;
        let (key, channel) = (self.ftl.op(id).key, self.planes[plane].channel as usize);
        let leaves = !self.ftl.will_repeat(id);
        if leaves {
            self.count_busy(plane);
            let p = &mut self.planes[plane];
            p.cache_register.cached = std::mem::replace(&mut p.current, RegisterUse::NOTHING);
        }
        self.buses.want(channel, plane, key);
        self.try_bus(channel);
        if leaves {
            self.offer(plane);
        }
    }

    /// A page is in the cache register. It goes over to the page register if that is free, and the next can
    /// be brought in.
    pub(super) fn bring_in(&mut self, plane: usize) {
        self.planes[plane].cache_register.cached.waits = !self.planes[plane].current.op.is_none();
        if self.planes[plane].cache_register.cached.waits {
            return;
        }
        self.count_busy(plane);
        let p = &mut self.planes[plane];
        p.current = std::mem::replace(&mut p.cache_register.cached, RegisterUse::NOTHING);
        let (id, array) = (p.current.op, p.array as usize);
        self.arrays.want(array, plane, self.ftl.op(id).key);
        self.try_array(array);
        self.offer(plane);
    }

    /// An operation has left a plane: data that waited for its register go over to it, or the plane begins
    /// what comes next.
    pub(super) fn go_on_in(&mut self, plane: usize) {
        if self.planes[plane].current.waits {
            self.bring_out(plane);
        } else if self.planes[plane].cache_register.cached.waits {
            self.bring_in(plane);
        } else {
            self.offer(plane);
        }
    }

    /// How long an operation could not have begun in a plane with two registers, until now.
    pub(super) fn busy_for(&mut self, plane: usize, id: OpId) -> BusyTime {
        self.count_busy(plane);
        let p = &self.planes[plane];
        if self.ftl.op(id).kind == OpKind::Program { p.cache_register.busy_for_programs } else { p.busy }
    }

    /// Add to what a plane has been busy with, before that changes.
    fn count_busy(&mut self, plane: usize) {
        let p = &self.planes[plane];
        let (current, cached) = (p.current.op, p.cache_register.cached.op);
        let passed = self.now.since(p.cache_register.counted).0;
        let keeps_reads =
            if current.is_none() && self.is(cached, OpKind::Program) { cached } else { current };
        let keeps_programs =
            if cached.is_none() && !self.is_cached(plane, current) { current } else { cached };
        let cause = |id: OpId| (!id.is_none()).then(|| self.ftl.op(id).cause());
        let (reads, programs) = (cause(keeps_reads), cause(keeps_programs));
        let p = &mut self.planes[plane];
        p.cache_register.counted = self.now;
        if let Some(cause) = reads {
            p.busy.add(cause, passed);
        }
        if let Some(cause) = programs {
            p.cache_register.busy_for_programs.add(cause, passed);
        }
    }
}
