//! The translation layer as the device sees it: requests and completions enter, operations leave. It has neither clock
//! nor queue: it is called at a time ([`Ftl::at`]).

use crate::file::saved::{Saved, saved};
use crate::inspect::check::check;
use crate::inspect::{Broken, Inspect, Operation};
use crate::media::boxed::{BoxedMedia, OtherMedia};
use crate::media::error::MediaError;
use crate::media::seam::Media;
use crate::plan::decision::Move;
use crate::plan::layout::{DriveInfo, Hooks, Layout, Refusal};
use crate::plan::map_kind::MapKind;
use crate::plan::span::{Located, Places};
use crate::scheme::Scheme;
use crate::state::addressing::Addressing;
use crate::state::counters::Counters;
use crate::state::dies::{HeldDies, IdleJobs};
use crate::state::gather::Gathering;
use crate::state::latency::LatencyBreakdown;
use crate::state::merge::MergeBuffer;
use crate::state::moves::Moves;
use crate::state::op::{Op, OpId, QueueEntry};
use crate::state::outbox::Outbox;
use crate::state::progress::ProgressWatch;
use crate::state::read_cache::ReadCache;
use crate::state::request::{Effect, Fault, Pending, RequestId};
use crate::state::requests::Requests;
use crate::state::state::State;
use crate::state::store::Store;
use crate::state::times::ArrayTimes;
use crate::state::write_buffer::WriteBuffer;
use crate::view::View;
use std::collections::VecDeque;
use std::fmt;
use wordline_device::Ack;
use wordline_units::{DieId, Lpn, SectorMask, SimDuration, SimTime};

/// The translation layer.
pub struct Ftl {
    pub(crate) state: State,
    pub(crate) scheme: Box<dyn Scheme>,
    pub(crate) layout: Layout,
    pub(crate) enabled_hooks: Hooks,
    /// The stored data.
    pub(crate) store: Store,
    pub(crate) requests: Requests,
    /// What the operation has been through that ends in this call, told before it; none otherwise.
    pub(crate) breakdown: LatencyBreakdown,
    pub(crate) ack: Ack,
    pub(crate) held_dies: HeldDies,
    pub(crate) idle_jobs: IdleJobs,
    pub(crate) moves: Moves,
    pub(crate) merge_buffer: MergeBuffer,
    /// Contents of the write buffer, if it delays writes.
    pub(crate) write_buffer: Option<Box<WriteBuffer>>,
    pub(crate) read_cache: ReadCache,
    pub(crate) gathering: Gathering,
    pub(crate) writes_until_tick: u32,
    pub(crate) addressing: Addressing,
    pub(crate) array: ArrayTimes,
    /// Whether the sizes of updates are counted by region.
    pub(crate) counts_updates: bool,
    /// Host programs that need wait no longer, while they are not on their way yet: none between two calls.
    pub(crate) ready: VecDeque<OpId>,
    pub(crate) out: Outbox,
    /// Reads of the host that the media could not answer, by the number of their request.
    pub(crate) read_errors: Vec<(u64, MediaError)>,
    pub(crate) progress: ProgressWatch,
    /// The moves that must come before the host program that is being placed: none between two calls.
    pub(crate) moves_first: Vec<Move>,
}

impl Saved for Ftl {
    saved! { Ftl,
        values: [
            requests, held_dies, idle_jobs, moves, write_buffer, read_cache, gathering, writes_until_tick, out,
        ],
        parts: [store, state, scheme, merge_buffer],
        rebuilt: [
            layout, enabled_hooks, ack, addressing, array, counts_updates, ready, read_errors, progress, moves_first,
            breakdown,
        ],
    }
}

impl fmt::Debug for Ftl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ftl")
            .field("scheme", &self.scheme)
            .field("media", self.media())
            .finish_non_exhaustive()
    }
}

impl Ftl {
    /// A fresh, empty drive under a scheme, which stores only times and counts.
    ///
    /// # Errors
    /// A refusal with its reason if the scheme does not support the device.
    pub fn new(drive: &DriveInfo, scheme: Box<dyn Scheme>) -> Result<Ftl, Refusal> {
        Ftl::over(drive, scheme, BoxedMedia::none())
    }

    /// The same over empty media.
    ///
    /// # Errors
    /// A refusal with its reason if the scheme does not support the device.
    pub fn over(
        drive: &DriveInfo,
        mut scheme: Box<dyn Scheme>,
        media: impl Into<BoxedMedia>,
    ) -> Result<Ftl, Refusal> {
        let layout = scheme.laid_out(drive)?;
        let refuse = |reason: String| Refusal {
            scheme: scheme.name().to_string(),
            device: drive.spec.name.clone(),
            reason,
        };
        let splits_writes = layout.merges.is_some() || layout.enabled_hooks.contains(Hooks::SPLIT_WRITE);
        if drive.spec.flush.is_some() && (layout.map != MapKind::Page || splits_writes) {
            let what = if layout.map == MapKind::ValidSectors {
                "mapping.partial = \"valid-sectors\" programs parts of pages, and ack.flush delays whole \
                 pages"
            } else {
                "it packs parts of pages in RAM itself, and ack.flush delays whole pages"
            };
            return Err(refuse(format!("{what}; set ack.flush = \"at-once\"")));
        }
        let state = State::new(drive, &layout, refuse)?;
        let ack = match drive.spec.ack {
            Ack::Merge if layout.merges.is_none() => Ack::Program,
            ack => ack,
        };
        Ok(Ftl {
            enabled_hooks: layout.enabled_hooks,
            counts_updates: layout.regions.len() > 1 && state.geometry.sectors_per_unit > 1,
            writes_until_tick: layout.tick_every_writes,
            array: ArrayTimes::new(drive, &layout),
            addressing: Addressing::new(&state.geometry),
            layout,
            store: Store::new(media.into(), state.geometry.sector, state.map_kind().knows_sectors()),
            requests: Requests::default(),
            breakdown: LatencyBreakdown::NONE,
            ack,
            held_dies: HeldDies::new(state.geometry.dies),
            idle_jobs: IdleJobs::new(state.geometry.dies),
            moves: Moves::default(),
            merge_buffer: MergeBuffer::new(&drive.spec.merge),
            write_buffer: WriteBuffer::of(drive.spec.flush, ack),
            read_cache: ReadCache::of((drive.spec.dram.read_cache.0 / drive.spec.unit.0) as usize),
            gathering: Gathering::default(),
            ready: VecDeque::new(),
            out: Outbox::default(),
            read_errors: vec![],
            progress: ProgressWatch::new(state.geometry.blocks),
            moves_first: vec![],
            state,
            scheme,
        })
    }

    /// Reset all counters, at time 0, and keep the drive as it is. No operation may be pending.
    pub fn start_anew(&mut self) {
        self.age_by(self.state.now.since(SimTime(0)));
        self.state.now = SimTime(0);
        self.state.most_shrunk = self.state.shrunk;
        self.state.draining = false;
        self.state.idle_gc_copies.clear();
        self.idle_jobs.start_anew();
        self.requests.pace_mut().start_anew();
        self.state.counters = self.state.counters.anew();
        if let Some(map) = &mut self.state.demand {
            map.start_anew();
        }
    }

    /// Age the data by this time, during which the drive is powered off.
    pub fn age_by(&mut self, time: SimDuration) {
        self.state.aging.age_by(time);
        self.state.refreshing.start_anew();
    }

    /// The layer at a time, for calls. Time never runs backwards.
    #[inline(always)]
    pub fn at(&mut self, now: SimTime) -> &mut Ftl {
        self.state.now = now;
        self
    }

    /// Whether a call has left effects or completed requests to process.
    #[inline(always)]
    pub fn has_effects(&self) -> bool {
        !self.out.is_empty()
    }

    /// Requests whose last part has ended and that have not completed yet.
    pub fn completed(&self) -> &[RequestId] {
        self.out.completed()
    }

    /// A refused decision, failed media, or a broken invariant. It ends the run.
    #[inline(always)]
    pub fn fault(&self) -> Option<&Fault> {
        self.out.fault()
    }

    /// An operation.
    #[inline(always)]
    pub fn op(&self, id: OpId) -> &Op {
        &self.state.ops[id]
    }

    /// The request that an operation is a part of, if any.
    #[inline(always)]
    pub fn request_of(&mut self, id: OpId) -> Option<&mut Pending> {
        let request = self.state.ops[id].owner.request()?;
        self.requests.get_mut(request)
    }

    /// Latency parts of the operation that ends in the next call; set them if a host request may wait for it.
    #[inline(always)]
    pub fn breakdown_mut(&mut self) -> &mut LatencyBreakdown {
        &mut self.breakdown
    }

    /// A request in flight.
    #[inline(always)]
    pub fn pending(&self, id: RequestId) -> &Pending {
        &self.requests[id]
    }

    /// The same, with what is known at its completion.
    #[inline(always)]
    pub fn pending_mut(&mut self, id: RequestId) -> &mut Pending {
        &mut self.requests[id]
    }

    /// The counters.
    pub fn counters(&self) -> &Counters {
        &self.state.counters
    }

    /// The layout of the drive by its scheme.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The scheme.
    pub fn scheme(&self) -> &dyn Scheme {
        self.scheme.as_ref()
    }

    /// The state of the drive, as a scheme sees it.
    pub fn view(&self) -> View<'_> {
        View::of(&self.state)
    }

    /// The drive, read-only, for reports and checks.
    pub fn inspect(&self) -> Inspect<'_> {
        Inspect {
            state: &self.state,
            layout: &self.layout,
            requests: &self.requests,
            merge_buffer: &self.merge_buffer,
            moves: &self.moves,
            ack: self.ack,
        }
    }

    /// What an operation works on.
    pub fn operation(&self, id: OpId) -> Operation<'_> {
        Operation::new(&self.state, id, self.array.has_windows)
    }

    /// Recount what the tables state: valid sectors by block, the map against its inverse, free and owned blocks, open
    /// slots, victims.
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check(&mut self) -> Result<(), Broken> {
        check(&mut self.state)
    }

    /// The places of the sectors of a logical page; sectors that were never written are omitted.
    pub fn locate(&mut self, lpn: Lpn) -> Vec<Located> {
        let mut located = Places::new();
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        self.state.map.resolve(lpn, all, &mut located);
        located.to_vec()
    }

    /// Whether a job holds a die, so that only its own operations run there.
    #[inline(always)]
    pub fn is_held(&self, die: DieId) -> bool {
        self.held_dies.is_held(die)
    }

    /// Whether any operation is in progress.
    pub fn has_operations(&self) -> bool {
        self.state.ops.live() > 0
    }

    /// Whether a job holds any die.
    pub fn holds_a_die(&self) -> bool {
        self.held_dies.any()
    }

    /// The drive's size in units of 512 bytes.
    pub fn logical_lbas(&self) -> u64 {
        self.state.logical_pages as u64 * self.addressing.lbas_per_page()
    }

    pub(crate) fn illegal(&mut self, decision: String, state: String) {
        let (scheme, time) = (self.scheme.name(), self.state.now);
        self.out.fail(|| Fault::IllegalDecision { scheme: scheme.to_string(), decision, time, state });
    }

    /// Whether the scheme has failed in this hook: then nothing is done.
    #[inline(always)]
    pub(crate) fn has_failed(&mut self, hook: &'static str) -> bool {
        self.state.complaint.get().is_some() && self.undecided(hook)
    }

    #[cold]
    fn undecided(&mut self, hook: &'static str) -> bool {
        let (scheme, time) = (self.scheme.name().to_string(), self.state.now);
        let reason = self.state.complaint.get().map_or(String::new(), |reason| reason.to_string());
        self.out.fail(|| Fault::Undecided { scheme, hook, time, reason });
        true
    }

    pub(crate) fn internal(&mut self, what: String) {
        self.out.internal(what, self.state.now);
    }

    /// The media.
    pub fn media(&self) -> &BoxedMedia {
        self.store.media()
    }

    /// The media by their type, mutable.
    ///
    /// # Errors
    /// When they are of another type, or there are none.
    pub fn media_mut<M: Media>(&mut self) -> Result<&mut M, OtherMedia> {
        self.store.media_mut()
    }

    /// Have the media do something. A media failure stops the drive: its tables would claim data that the media do not
    /// hold. Nothing more is asked of them then.
    pub(crate) fn ask_media<T>(
        &mut self,
        what: impl FnOnce(&mut Store) -> Result<T, MediaError>,
    ) -> Option<T> {
        if self.out.fault().is_some() {
            return None;
        }
        match what(&mut self.store) {
            Ok(done) => Some(done),
            Err(error) => {
                self.stop_for(error);
                None
            }
        }
    }

    #[cold]
    fn stop_for(&mut self, error: MediaError) {
        let time = self.state.now;
        self.out.fail(|| Fault::Media { error, time });
    }

    /// Numbers of the last 64 requests whose host reads ended as uncorrectable because the media failed.
    pub fn read_errors(&self) -> &[(u64, MediaError)] {
        &self.read_errors
    }

    /// The part of an operation that a queue needs.
    #[inline(always)]
    pub fn entry_of(&self, id: OpId) -> QueueEntry {
        QueueEntry::of(id, &self.state.ops[id], self.array.has_windows)
    }

    /// Hand an operation to the device.
    #[inline]
    pub(crate) fn emit(&mut self, id: OpId) {
        let op = self.state.ops.stamp(id);
        self.state.backlog.add(op.plane, op.kind);
        let entry = QueueEntry::of(id, op, self.array.has_windows);
        self.out.ask(Effect::Queue(entry));
    }

    /// A new operation that the device has at once. What it is known to be here, its entry in a queue need not look up.
    #[inline]
    pub(crate) fn add_and_emit(&mut self, mut op: Op) -> OpId {
        op.key = self.state.ops.next_turn(&op);
        self.state.backlog.add(op.plane, op.kind);
        let entry = QueueEntry::of(OpId::NONE, &op, self.array.has_windows);
        let id = self.add_op(op);
        self.out.ask(Effect::Queue(entry.numbered(id)));
        id
    }

    /// Hand the device an operation that its plane continues with at once.
    pub(crate) fn go_on_with(&mut self, id: OpId) {
        let op = self.state.ops.stamp(id);
        self.state.backlog.add(op.plane, op.kind);
        self.out.go_on_with(id);
    }

    /// Room for the data of an operation.
    #[inline]
    pub(crate) fn add_op(&mut self, op: Op) -> OpId {
        let id = self.state.ops.add(op);
        self.store.enter(id);
        id
    }

    /// Give a program the newest data that RAM has for its sectors, and nothing else.
    #[inline(always)]
    pub(crate) fn load_page(&mut self, id: OpId, stage: u32) {
        if self.store.keeps_bytes() {
            self.store.load(id, stage, self.state.ops[id].mask);
        }
    }
}
