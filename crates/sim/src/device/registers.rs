//! The registers of a plane. One of them serves an operation from its begin to its end. With a cache
//! register beside the page register a plane may be at two operations: one whose data the array reads or
//! programs, and one whose data the bus moves. A page that was sensed goes over to the cache register as
//! soon as that is free, and is brought out from there; a page that was brought in waits there until the
//! program before it has ended. Nothing comes between a program in the cache register and the array, so a
//! read waits for it, and a program does not go there while the page register may want it for a read.

use crate::device::Device;
use crate::probe::Probe;
use crate::state::registers::RegisterUse;
use wordline_ftl::{BusyTime, OpId, OpKind};

impl<P: Probe> Device<P> {
    fn is(&self, id: OpId, kind: OpKind) -> bool {
        !id.is_none() && self.ftl.op(id).kind == kind
    }

    /// Whether a program comes in by the cache register.
    fn is_cached(&self, plane: usize, id: OpId) -> bool {
        self.planes[plane].cache.programs() && self.is(id, OpKind::Program) && self.ftl.may_be_cached(id)
    }

    /// Whether a plane with two registers has one for an operation.
    #[inline(never)]
    pub(crate) fn has_register(&self, plane: usize, id: OpId) -> bool {
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
    pub(crate) fn take_register(&mut self, plane: usize, id: OpId) {
        let busy_before = self.busy_for(plane, id);
        let goes_on = self.planes[plane].cache.reads() && self.ftl.op(id).goes_on();
        let by_cache = goes_on || self.is_cached(plane, id);
        let held = RegisterUse { op: id, began: self.now, busy_before, ..RegisterUse::NOTHING };
        let p = &mut self.planes[plane];
        *(if by_cache { &mut p.cache_register.cached } else { &mut p.current }) = held;
    }

    /// An operation has ended.
    pub(crate) fn leave_register(&mut self, plane: usize, id: OpId) {
        self.count_busy(plane);
        *self.planes[plane].of(id) = RegisterUse::NOTHING;
    }

    /// A page has been sensed. It goes over to the cache register if that is free, and the next can be
    /// sensed; one that must be sensed again after its transfer stays.
    pub(crate) fn bring_out(&mut self, plane: usize) {
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
    pub(crate) fn bring_in(&mut self, plane: usize) {
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
    pub(crate) fn go_on_in(&mut self, plane: usize) {
        if self.planes[plane].current.waits {
            self.bring_out(plane);
        } else if self.planes[plane].cache_register.cached.waits {
            self.bring_in(plane);
        } else {
            self.offer(plane);
        }
    }

    /// How long an operation could not have begun in a plane with two registers, until now.
    pub(crate) fn busy_for(&mut self, plane: usize, id: OpId) -> BusyTime {
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
