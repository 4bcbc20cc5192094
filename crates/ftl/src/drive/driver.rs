//! The driver of a layer, and the loop that carries out the consequences of each call.

use crate::drive::waiting::{HeldUp, Waiting};
use crate::flow::collect::hold::may_work_again;
use crate::flow::dispatch::{self, blocked, done, make_space};
use crate::flow::host::submit::{self, admits};
use crate::flow::moves::idle::idle;
use crate::flow::program::bind::Binding;
use crate::flow::program::blocked::Blocked;
use crate::ftl::Ftl;
use crate::layer::Layer;
use crate::media::host_data::HostData;
use crate::plan::layout::Hooks;
use crate::state::op::{OpId, QueueEntry};
use crate::state::request::{Effect, RequestId, Timer};
use wordline_units::{DieId, HostOp, HostRequest, PlaneId, Rate, SimTime};

/// The driver of a layer: queues and clock.
pub trait Driver {
    /// The layer.
    fn layer(&self) -> &Ftl;

    /// The layer, mutable, with the current time set ([`Ftl::at`]).
    fn layer_mut(&mut self) -> &mut Ftl;

    /// Operations and requests that wait for space.
    fn waiting(&self) -> &Waiting;

    /// Operations and requests that wait for space, mutable.
    fn waiting_mut(&mut self) -> &mut Waiting;

    /// Queue an operation at its plane, as the last of its class.
    fn enqueue(&mut self, entry: QueueEntry);

    /// Queue an operation that has waited, or was in another plane's queue.
    fn change_plane(&mut self, entry: QueueEntry) {
        self.enqueue(entry);
    }

    /// Queue a program that was set aside at its plane again, before all others of its class.
    fn enqueue_first(&mut self, entry: QueueEntry);

    /// Note that all programs that were set aside at a plane have been queued again.
    fn wake(&mut self, plane: PlaneId) {
        _ = plane;
    }

    /// Note that a job has started or stopped to hold a die.
    fn hold(&mut self, die: DieId) {
        _ = die;
    }

    /// Set a timer, for which [`ring`] is called at that time.
    fn set_timer(&mut self, at: SimTime, timer: Timer);

    /// Note that all consequences of an event have been queued.
    #[inline(always)]
    fn end_round(&mut self) {}

    /// Note that a request has completed.
    fn complete(&mut self, id: RequestId);

    /// Note that a request was admitted.
    #[inline(always)]
    fn admit(&mut self, request: HostRequest, number: u64, data: HostData<'_>) {
        self.layer_mut().submit(request, number, data);
    }

    /// Refuse a delayed request, because nothing will free space for it.
    fn refuse(&mut self, request: HostRequest, number: u64) {
        refuse(self.layer_mut(), request, number);
    }

    /// Note that a program found no slot in a plane. It waits there, or is queued at another plane next.
    fn note_blocked(&mut self, id: OpId, plane: PlaneId) {
        _ = (id, plane);
    }

    /// Whether the drive has been idle long enough for idle work.
    fn is_idle(&self) -> bool;

    /// Whether no operation is in flight or can start.
    fn is_at_rest(&self) -> bool;
}

/// Complete a write that was never admitted: the buffer is full, and its data have no place.
pub fn refuse(layer: &mut Ftl, write: HostRequest, number: u64) {
    submit::refuse(layer.parts_mut(), write, number);
}

/// Submit a request: it is admitted, or delayed behind others. Call [`settle`] afterwards.
#[inline(always)]
pub fn submit<D: Driver>(driver: &mut D, request: HostRequest, number: u64, data: HostData<'_>) {
    let open = driver.waiting().is_open() && may_go_in(driver.layer().parts(), &request);
    if open || overtakes(driver, &request) {
        driver.admit(request, number, data);
    } else {
        hold_up(driver, request, number, data);
    }
}

#[cold]
fn hold_up<D: Driver>(driver: &mut D, request: HostRequest, number: u64, data: HostData<'_>) {
    keep_waiting(driver, &request);
    driver.waiting_mut().hold_up(HeldUp { request, number, data: data.to_held() });
}

/// Whether a write waits for its pace only, or for other things too.
#[inline(always)]
fn is_paced(layer: &Layer, request: &HostRequest) -> bool {
    request.op == HostOp::Write && layer.requests.pace().holds_back(layer.state.now)
}

/// Whether the first request of those that arrived can be admitted now.
#[inline(always)]
fn may_go_in(layer: &Layer, request: &HostRequest) -> bool {
    admits(&layer.state, request) && !is_paced(layer, request)
}

/// Whether a request is admitted before those that wait: where writes are paced, a read of none of their pages.
#[inline(always)]
fn overtakes<D: Driver>(driver: &D, request: &HostRequest) -> bool {
    let layer = driver.layer();
    if layer.parts().state.config.gc.pace_below.is_none() || request.op != HostOp::Read {
        return false;
    }
    let (first, last) = layer.pages_of(request);
    driver.waiting().requests().all(|held_up| {
        let (from, to) = layer.pages_of(&held_up.request);
        !matches!(held_up.request.op, HostOp::Write | HostOp::Trim) || last < from || to < first
    })
}

/// A request waits: for its time, which a timer tells, or for space, for which data that wait in the buffer for others
/// leave it.
fn keep_waiting<D: Driver>(driver: &mut D, request: &HostRequest) {
    let layer = driver.layer().parts();
    if !(is_paced(layer, request) && admits(&layer.state, request)) {
        return make_space(driver.layer_mut().parts_mut(), request);
    }
    if let Some(at) = driver.layer_mut().parts_mut().requests.pace_mut().set_timer() {
        driver.set_timer(at, Timer::WritePace);
    }
}

/// Carry out the requests of the layer after a call, complete ended requests, and admit those that now have space,
/// until nothing is left.
#[inline(always)]
pub fn settle<D: Driver>(driver: &mut D) {
    if driver.layer().has_effects() || !driver.waiting().is_open() {
        carry_out(driver);
    }
}

fn carry_out<D: Driver>(driver: &mut D) {
    loop {
        let asked = driver.layer().parts().out.asked();
        for i in 0..asked {
            match driver.layer().parts().out.effect(i) {
                Effect::Queue(entry) => driver.enqueue(entry),
                Effect::ChangePlane(entry) => driver.change_plane(entry),
                Effect::Wake(plane) => wake(driver, plane),
                Effect::Hold(die) => hold(driver, die),
                Effect::Timer(at, timer) => driver.set_timer(at, timer),
            }
        }
        driver.layer_mut().parts_mut().out.drop_effects(asked);
        driver.end_round();
        let ended = driver.layer().parts().out.completed().len();
        for i in 0..ended {
            let id = driver.layer().parts().out.completed()[i];
            driver.complete(id);
        }
        driver.layer_mut().parts_mut().out.drop_completed(ended);
        if !driver.waiting().is_open() {
            let_in(driver);
        }
        if !driver.layer().has_effects() {
            return;
        }
    }
}

/// Let programs that waited at a plane try again in their order, because space may be free.
fn wake<D: Driver>(driver: &mut D, plane: PlaneId) {
    while let Some(id) = driver.waiting_mut().take_last(plane) {
        let entry = driver.layer().entry_of(id);
        driver.enqueue_first(entry);
    }
    driver.wake(plane);
}

/// Note that a job has started or stopped to hold a die. Delayed idle work may start.
fn hold<D: Driver>(driver: &mut D, die: DieId) {
    driver.hold(die);
    let Layer { state, seat, idle_jobs, .. } = driver.layer().parts();
    if driver.is_idle() && may_work_again(&state.geometry, seat, idle_jobs, die) {
        idle(driver.layer_mut().parts_mut(), die);
    }
}

/// Admit requests for which there now is space. Data that wait in the buffer for other data must not delay
/// the next request.
fn let_in<D: Driver>(driver: &mut D) {
    while let Some(request) = driver.waiting().first_request()
        && may_go_in(driver.layer().parts(), request)
        && let Some(HeldUp { request, number, data }) = driver.waiting_mut().take_request()
    {
        driver.admit(request, number, data.data());
    }
    if let Some(request) = driver.waiting().first_request().copied() {
        keep_waiting(driver, &request);
    }
}

/// Bind a program to a page when a plane is ready for it. The program gets its page, waits, or leaves the
/// plane's queue.
#[inline(always)]
pub fn bind<D: Driver>(driver: &mut D, id: OpId) -> Binding {
    let binding = dispatch::bind(driver.layer_mut().parts_mut(), id);
    if binding == Binding::Blocked {
        block(driver, id);
    }
    binding
}

fn block<D: Driver>(driver: &mut D, id: OpId) {
    if driver.layer().fault().is_some() {
        return;
    }
    let plane = driver.layer().op(id).plane;
    match blocked(driver.layer_mut().parts_mut(), id) {
        Blocked::Dropped => return,
        Blocked::ChangesPlane => {}
        Blocked::Waits => driver.waiting_mut().set_aside(plane, id),
    }
    driver.note_blocked(id, plane);
}

/// Process the end of an operation of a die. If a host request may wait for it, call [`Ftl::breakdown_mut`]
/// first to record its times. Returns the next operation of its plane, if any. Call [`settle`] afterwards.
#[inline(always)]
pub fn end<D: Driver>(driver: &mut D, id: OpId, die: DieId) -> Option<QueueEntry> {
    let next = done(driver.layer_mut().parts_mut(), id);
    if driver.is_idle() && driver.layer().parts().seat.hooks.contains(Hooks::IDLE) {
        ask_idle(driver, die);
    }
    next.map(|id| driver.layer().entry_of(id))
}

/// Ask the scheme for work for a die of an idle drive, if the die has none.
pub fn ask_idle<D: Driver>(driver: &mut D, die: DieId) {
    if driver.layer().parts().idle_jobs.of(die) == 0 {
        idle(driver.layer_mut().parts_mut(), die);
    }
}

/// Ask the scheme for work for all dies, because the drive has been idle for long.
pub fn ask_all_idle<D: Driver>(driver: &mut D) {
    let layer = driver.layer_mut().parts_mut();
    if layer.seat.layout.idle_rate != Rate::OFF {
        layer.idle_jobs.begin_period(layer.state.now);
    }
    ask_dies(driver);
}

/// Ask the scheme for work for each die in turn.
fn ask_dies<D: Driver>(driver: &mut D) {
    let dies = driver.layer().view().geometry().dies;
    let first = driver.layer().parts().idle_jobs.first_die();
    for turn in first..first + dies {
        idle(driver.layer_mut().parts_mut(), DieId(turn % dies));
    }
    settle(driver);
}

/// Process a timer. Call [`settle`] afterwards.
pub fn ring<D: Driver>(driver: &mut D, timer: Timer) {
    let of_idle_work = matches!(timer, Timer::IdlePace);
    dispatch::timer(driver.layer_mut().parts_mut(), timer);
    if of_idle_work && driver.is_idle() {
        ask_dies(driver);
    }
}

/// Pad data that wait for other data, at the end of a run. Returns whether that leaves work to do.
pub fn drain<D: Driver>(driver: &mut D) -> bool {
    dispatch::drain(driver.layer_mut().parts_mut());
    let leaves = driver.layer().parts().out.asked() > 0;
    if leaves {
        settle(driver);
    }
    leaves
}
