//! What is seen of a drive at work: its probe is told of operations and requests, and its metrics measure them.

use crate::blocks::{Frame, map_rows};
use crate::completion::Completion;
use crate::metrics::{Free, Metrics, Usage};
use crate::probe::{Begin, Event, Moment, Probe};
use crate::state::resources::User;
use crate::state::scheduler::Scheduler;
use wordline_ftl::{Ftl, LatencyPart, OpId, OpKind, Pending, RequestId, Saved, saved_fields};
use wordline_units::{HostOp, PlaneId, SimDuration, SimTime};

/// The probe of a drive, and its metrics. Nothing that happens depends on either.
pub(crate) struct Observer<P: Probe> {
    probe: P,
    metrics: Metrics,
}

impl<P: Probe> Saved for Observer<P> {
    saved_fields! { Observer,
        values: [],
        parts: [metrics],
        rebuilt: [probe],
    }
}

impl<P: Probe> Observer<P> {
    /// An observer that has measured this.
    pub fn new(probe: P, metrics: Metrics) -> Observer<P> {
        Observer { probe, metrics }
    }

    /// Restart at time 0 with nothing measured.
    pub fn start_anew(&mut self) {
        self.metrics = Metrics::default();
    }

    /// The probe.
    #[inline(always)]
    pub fn probe(&self) -> &P {
        &self.probe
    }

    /// The probe, mutable.
    pub fn probe_mut(&mut self) -> &mut P {
        &mut self.probe
    }

    /// The metrics.
    #[inline(always)]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The metrics, mutable.
    #[inline(always)]
    pub fn metrics_mut(&mut self) -> &mut Metrics {
        &mut self.metrics
    }

    /// Probe and metrics.
    pub fn into_parts(self) -> (P, Metrics) {
        (self.probe, self.metrics)
    }

    /// A request is submitted.
    #[inline(always)]
    pub fn submitted(&mut self, request: u64, op: HostOp, at: SimTime) {
        if P::WATCHES {
            self.probe.moment(Moment::Submitted { request, op, at });
        }
    }

    /// An operation is queued.
    #[inline(always)]
    pub fn queued(&mut self, ftl: &Ftl, id: OpId, at: SimTime) {
        if P::WATCHES {
            let op = ftl.op(id);
            let (op, class, plane) = (op.number(), op.class(), op.plane);
            let empties = ftl.operation(id).collecting();
            self.probe.moment(Moment::Queued { op, class, plane, empties, at });
        }
    }

    /// A program found no free page.
    pub fn blocked(&mut self, ftl: &Ftl, id: OpId, at: SimTime) {
        if P::WATCHES {
            self.probe.moment(Moment::Blocked { op: ftl.op(id).number(), at });
        }
    }

    /// An operation begins.
    #[inline(always)]
    pub fn begins(&mut self, ftl: &Ftl, id: OpId) {
        if P::WATCHES {
            self.tell_of_begin(ftl, id);
        }
    }

    fn tell_of_begin(&mut self, ftl: &Ftl, id: OpId) {
        let (mode, page) = ftl.operation(id).page();
        let (op, view) = (ftl.op(id), ftl.view());
        let die = view.geometry().die_of(op.plane);
        let begin = Begin {
            op: op.number(),
            kind: op.kind,
            cause: op.cause(),
            region: ftl.operation(id).region(),
            channel: view.geometry().channel_of(die),
            die,
            plane: op.plane,
            ppn: op.ppn,
            slots: ftl.operation(id).slots(),
            mode,
            page,
            bytes: ftl.transfer_sectors(id) as u64 * view.geometry().sector,
            from: ftl.operation(id).source(),
            empties: ftl.operation(id).collecting(),
        };
        self.probe.begin(&begin, ftl.operation(id).parts());
    }

    /// An array does the operations of a command for a time.
    #[inline(always)]
    pub fn uses_array(&mut self, ftl: &Ftl, lead: User, scheduler: &Scheduler, span: (SimTime, SimTime)) {
        if P::WATCHES {
            for user in scheduler.arrays().together(lead) {
                self.tell_of_array(ftl, user.op, span);
            }
        }
    }

    /// The event of an array whose use might have been cut short, which is known to be over only now.
    #[inline(always)]
    pub fn has_used_array(&mut self, ftl: &Ftl, array: usize, scheduler: &Scheduler, now: SimTime) {
        let arrays = scheduler.arrays();
        if P::WATCHES
            && arrays.suspends()
            && let Some(lead) = arrays.user(array)
            && arrays.ends(array, now)
        {
            self.uses_array(ftl, lead, scheduler, (arrays.since(array), now));
        }
    }

    fn tell_of_array(&mut self, ftl: &Ftl, id: OpId, (start, end): (SimTime, SimTime)) {
        let (mode, page) = ftl.operation(id).page();
        let op = ftl.op(id);
        self.probe.event(Event::Array {
            op: op.number(),
            kind: op.kind,
            cause: op.cause(),
            die: ftl.view().geometry().die_of(op.plane),
            plane: op.plane,
            ppn: op.ppn,
            mode,
            page,
            retries: op.retries().count,
            start,
            end,
        });
    }

    /// An operation has its bus for a time, to move this many sectors.
    #[inline(always)]
    pub fn uses_bus(&mut self, ftl: &Ftl, id: OpId, sectors: u32, (start, end): (SimTime, SimTime)) {
        if P::WATCHES {
            let (op, view) = (ftl.op(id), ftl.view());
            let (op, plane) = (op.number(), op.plane);
            let channel = view.geometry().channel_of(view.geometry().die_of(plane));
            let bytes = sectors as u64 * view.geometry().sector;
            self.probe.event(Event::Bus { op, channel, plane, bytes, start, end });
        }
    }

    /// An operation is over, and its plane ready for the next.
    #[inline(always)]
    pub fn ready(&mut self, ftl: &Ftl, id: OpId, at: SimTime) {
        if P::WATCHES {
            let op = ftl.op(id);
            let (op, plane): (u64, PlaneId) = (op.number(), op.plane);
            self.probe.event(Event::Ready { op, plane, at });
        }
    }

    /// An operation of this number has had its effect: these requests have ended by it, but for the host link.
    #[inline(always)]
    pub fn decided(&mut self, ftl: &Ftl, op: u64, before: usize, at: SimTime) {
        if P::WATCHES {
            for ended in &ftl.completed()[before..] {
                let request = ftl.pending(*ended).number;
                self.probe.moment(Moment::Decided { request, op, at });
            }
        }
    }

    /// A request reaches the host.
    #[inline(always)]
    pub fn measure(&mut self, id: RequestId, ftl: &mut Ftl, scheduler: &Scheduler, now: SimTime) {
        let pending = ftl.pending_mut(id);
        pending.parts[LatencyPart::Link] = now.since(pending.ended).0;
        let Pending { request, admitted, number, outcome, ref parts, .. } = *pending;
        self.metrics.dominated_by(pending.slowest_bit);
        self.metrics.count_idle_delay(pending.behind_idle);
        debug_assert!(request.arrival > admitted || parts.total() == now.since(request.arrival).0);
        let span = (request.arrival, now);
        let fresh = self.metrics.complete(number, request.op, request.bytes(), span, outcome, parts);
        if fresh || number & 1023 == 0 {
            self.sample(ftl, scheduler, now);
        }
        if self.metrics.checkpoint_is_due() {
            self.metrics.checkpoint(now, ftl);
        }
    }

    /// The host gets a completion.
    #[inline(always)]
    pub fn completed(&mut self, completion: &Completion) {
        if P::WATCHES {
            self.probe.completion(completion);
        }
    }

    /// Sample the free space of a drive, and how long its arrays and buses have been busy.
    #[inline(never)]
    pub fn sample(&mut self, ftl: &Ftl, scheduler: &Scheduler, now: SimTime) {
        let home = ftl.layout().home;
        let free = Free {
            share: ftl.inspect().free_share(home),
            pages: ftl.view().free_pages(home),
            usable_bytes: ftl.inspect().usable_bytes().0,
        };
        let (arrays, buses) = (scheduler.arrays().used(now).sum(), scheduler.buses().used(now).sum());
        self.metrics.sample(now, ftl.counters(), free, Usage { at: now, arrays, buses });
        if self.metrics.wants_frame() {
            self.sample_block_map(ftl, now);
        }
    }

    /// Sample the representative blocks of the map.
    pub fn sample_block_map(&mut self, ftl: &Ftl, now: SimTime) {
        let (mut cells, drive) = (vec![], ftl.inspect());
        for row in map_rows(ftl.view().geometry()) {
            cells.extend(row.blocks().map(|block| drive.block_status(block)));
        }
        self.metrics.add_frame(Frame { at: now, cells });
    }

    /// An idle period has ended, if there was one.
    #[inline(always)]
    pub fn count_idle(&mut self, ftl: &Ftl, time: Option<SimDuration>) {
        if let Some(time) = time
            && !ftl.view().draining()
        {
            self.metrics.end_idle(time);
        }
    }

    /// An operation of idle work has ended: count it.
    #[inline(never)]
    pub fn count_idle_operation(&mut self, ftl: &Ftl, id: OpId) {
        if !ftl.view().draining() {
            let (kind, cause) = (ftl.op(id).kind, ftl.op(id).cause());
            let bytes = if kind == OpKind::Program { ftl.operation(id).data_bytes() } else { 0 };
            self.metrics.count_idle_operation(kind, cause, bytes);
        }
    }

    /// Note for how long each array and each bus has been busy by now.
    pub fn note_usage(&mut self, scheduler: &Scheduler, now: SimTime) {
        let used = [scheduler.arrays().used(now).collect(), scheduler.buses().used(now).collect()];
        self.metrics.note_usage(now, used);
    }

    /// An operation of idle work has had its plane for a time.
    pub fn count_idle_work(
        &mut self,
        (ftl, id): (&Ftl, OpId),
        scheduler: &Scheduler,
        (began, now): (SimTime, SimTime),
    ) {
        if !ftl.view().draining() {
            self.metrics.count_idle_work(ftl.op(id).cause(), now.since(began));
            if self.metrics.begins_bin(now) {
                self.sample(ftl, scheduler, now);
            }
        }
    }
}
