//! The translation layer as the device sees it: requests and completions go in, operations come
//! out. It has neither clock nor queue; `now` is told to it before every call.

use crate::file::saved::{Saved, saved};
use crate::image::base::BaseImage;
use crate::media::{Media, MediaError};
use crate::plan::decision::{Command, Move, ReadSeen, Tag};
use crate::plan::layout::{DriveInfo, Hooks, Layout, Refusal};
use crate::plan::map_kind::MapKind;
use crate::plan::region::EarlierBits;
use crate::plan::span::Span;
use crate::scheme::Scheme;
use crate::state::counters::Counters;
use crate::state::gather::Gathering;
use crate::state::latency::LatencyBreakdown;
use crate::state::merge::Open;
use crate::state::op::{Op, OpId, Owner};
use crate::state::read_cache::ReadCache;
use crate::state::request::{Effect, Fault, Pending, PendingFlush, RequestId};
use crate::state::state::State;
use crate::state::times::Times;
use crate::state::write_buffer::WriteBuffer;
use crate::view::View;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use wordline_device::{Ack, MultiplanePages};
use wordline_units::{CellMode, DieId, Lpn, PlaneId, Ppn, SectorMask, SimDuration, SimTime};

/// Division by a number that is mostly a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    by: u64,
    shift: Option<u32>,
}

impl Divisor {
    fn new(by: u64) -> Divisor {
        Divisor { by, shift: by.is_power_of_two().then(|| by.trailing_zeros()) }
    }

    #[inline(always)]
    pub(crate) fn of(self, n: u64) -> u64 {
        match self.shift {
            Some(shift) => n >> shift,
            None => n / self.by,
        }
    }
}

/// The translation layer over some kind of media.
pub struct Ftl<M: Media> {
    pub(crate) state: State,
    pub(crate) scheme: Box<dyn Scheme>,
    pub(crate) layout: Layout,
    pub(crate) enabled_hooks: Hooks,
    /// What the flash holds.
    pub media: M,
    /// Data of operations on their way, by operation.
    pub(crate) pages: Vec<M::Page>,
    /// Newest data in RAM, by staging entry.
    pub(crate) staged: Vec<M::Page>,
    pub(crate) requests: Vec<Pending>,
    pub(crate) free_requests: Vec<u32>,
    pub(crate) buffers: Vec<Vec<u8>>,
    /// What the operation that ends at this moment has been through.
    pub(crate) breakdown: LatencyBreakdown,
    pub(crate) version: u64,
    /// Counts the units programmed, where media keep metadata.
    pub(crate) sequence: u64,
    /// What the flash held at time 0, where media keep metadata.
    pub(crate) base: Option<Arc<BaseImage>>,
    pub(crate) ack: Ack,
    pub(crate) waiters: Vec<(OpId, RequestId)>,
    pub(crate) unsettled: u64,
    pub(crate) flushes: Vec<PendingFlush>,
    /// Jobs that hold a die, by die.
    pub(crate) held: Vec<u32>,
    /// How many jobs hold a die.
    pub(crate) holders: u32,
    pub(crate) idle_jobs: Vec<u32>,
    pub(crate) idle_busy: u32,
    pub(crate) idle_turn: Vec<u32>,
    /// Moves that wait for room in the buffer of their region, with the host programs that wait for them.
    pub(crate) held_moves: VecDeque<(Move, OpId)>,
    /// The merge buffer's open pages, how many there may be, and how long they wait.
    pub(crate) open: Open,
    /// What waits in the write buffer, where it does not empty at once.
    pub(crate) write_buffer: Option<Box<WriteBuffer>>,
    pub(crate) merge_pages: u32,
    pub(crate) read_cache: ReadCache,
    pub(crate) merge_after: SimDuration,
    pub(crate) merge_idle: SimDuration,
    pub(crate) gathering: Gathering,
    /// Of programs whose sectors come from several host writes, the version of each, by operation; kept where
    /// media keep metadata.
    pub(crate) mixed: BTreeMap<u32, Vec<(SectorMask, u64)>>,
    pub(crate) writes_until_tick: u32,
    pub(crate) lbas_per_unit: u64,
    pub(crate) per_sector: Divisor,
    pub(crate) per_unit: Divisor,
    pub(crate) lbas_per_sector: u64,
    pub(crate) times: Vec<[Times; 4]>,
    /// Time to read the earlier bits before a program, by region and bit.
    pub(crate) rereads: Vec<[u64; 4]>,
    /// Whether any region has windows of wordlines that serve as SLC.
    pub(crate) has_windows: bool,
    /// Whether the sizes of updates are counted by region.
    pub(crate) counts_updates: bool,
    /// Time until a read is known to have failed.
    pub(crate) decode: SimDuration,
    /// Whether each attempt of a read is brought out over the bus.
    pub(crate) retransfer: bool,
    /// Whether planes of a die work together on any pages, and not only on those with one number.
    pub(crate) pairs_any: bool,
    /// Pages that schemes have moved and that have not arrived.
    pub(crate) moving: BTreeSet<Lpn>,
    /// An operation that goes on in its plane with what the register holds, which nothing may come before.
    pub(crate) continuation: Option<OpId>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) completed: Vec<RequestId>,
    pub(crate) fault: Option<Box<Fault>>,
    /// Reads of the host that the media could not answer, by the number of their request.
    pub(crate) read_errors: Vec<(u64, MediaError)>,
    pub(crate) scratch: Scratch,
}

/// Buffers that are kept between calls so that none allocates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub dead: Vec<crate::plan::span::Invalidated>,
    pub located: Vec<crate::plan::span::Located>,
    /// The places that a host request reads, under maps by which pages share them.
    pub reading: Vec<(Ppn, OpId)>,
    pub spans: Vec<Span>,
    pub stages: Vec<u32>,
    /// What the request whose pages are staged is marked with.
    pub tag: Tag,
    pub live: Vec<Span>,
    /// The operations of a page that is copied.
    pub parts: Vec<Op>,
    pub seen: Vec<(ReadSeen, SectorMask)>,
    pub moves: Vec<Move>,
    pub commands: Vec<Command>,
}

impl<M: Media<Page: Serialize + DeserializeOwned> + Serialize + DeserializeOwned> Saved for Ftl<M> {
    saved! { Ftl,
        apart: [media],
        values: [
            pages, staged, requests, free_requests, buffers, version, sequence, base, waiters, unsettled,
            flushes, held, holders, idle_jobs, idle_busy, idle_turn, held_moves, open, write_buffer, read_cache, gathering, mixed, writes_until_tick, moving,
            effects, completed,
        ],
        parts: [state, scheme],
        rebuilt: [
            layout, enabled_hooks, ack, lbas_per_unit, per_sector, per_unit, lbas_per_sector, times, rereads, has_windows,
            counts_updates, decode, retransfer, pairs_any, merge_pages, merge_after, merge_idle, fault, read_errors, scratch, breakdown, continuation,
        ],
    }
}

impl<M: Media + fmt::Debug> fmt::Debug for Ftl<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ftl")
            .field("scheme", &self.scheme)
            .field("media", &self.media)
            .finish_non_exhaustive()
    }
}

impl<M: Media> Ftl<M> {
    /// A fresh, empty drive under a scheme, with fresh media.
    ///
    /// # Errors
    /// A refusal with its reason where scheme and device do not fit.
    pub fn new(drive: &DriveInfo, scheme: Box<dyn Scheme>) -> Result<Ftl<M>, Refusal>
    where
        M: Default,
    {
        Ftl::over(drive, scheme, M::default())
    }

    /// The same over media that are given, and that hold nothing of this drive yet.
    ///
    /// # Errors
    /// A refusal with its reason where scheme and device do not fit.
    pub fn over(drive: &DriveInfo, mut scheme: Box<dyn Scheme>, media: M) -> Result<Ftl<M>, Refusal> {
        let layout = scheme.laid_out(drive)?;
        let refuse = |reason: String| Refusal {
            scheme: scheme.name().to_string(),
            device: drive.spec.name.clone(),
            reason,
        };
        let splits_writes = layout.merges.is_some() || layout.enabled_hooks.contains(Hooks::SPLIT_WRITE);
        if drive.spec.flush.is_some() && (layout.map != MapKind::Page || splits_writes) {
            let what = "it packs parts of pages in RAM itself, and ack.flush keeps whole pages back";
            return Err(refuse(format!("{what}; set ack.flush = \"at-once\"")));
        }
        let state = State::new(drive, &layout, refuse)?;
        let geometry = state.geometry.clone();
        let per_unit = geometry.unit / wordline_units::LBA_BYTES;
        let times = geometry
            .media
            .iter()
            .map(|m| {
                let mut by_mode = [Times::default(); 4];
                for mode in CellMode::ALL {
                    let Some(t) = m.mode(mode) else { continue };
                    by_mode[mode.index()] = Times {
                        read: t.read.map(|d| (d + m.command.read).0),
                        program: t.program.map(|d| d.0),
                        copy_back: t.copy_back.map_or(0, |d| d.0),
                        erase: (t.erase + m.command.erase).0,
                    };
                }
                by_mode
            })
            .collect();
        let rereads = layout.regions.iter().map(|r| {
            let medium = layout.pools[r.pool.0 as usize].medium;
            let read = geometry.media[medium].mode(r.mode).map_or([SimDuration::ZERO; 4], |t| t.read);
            let before = |bit: usize| read[..bit].iter().map(|d| d.0).sum();
            match r.earlier_bits {
                EarlierBits::Buffered => [0; 4],
                EarlierBits::Reread => std::array::from_fn(before),
                EarlierBits::RereadIn(time) => std::array::from_fn(|bit| if bit > 0 { time.0 } else { 0 }),
            }
        });
        let rereads = rereads.collect();
        let ack = match drive.spec.ack {
            Ack::Merge if layout.merges.is_none() => Ack::Program,
            ack => ack,
        };
        Ok(Ftl {
            enabled_hooks: layout.enabled_hooks,
            counts_updates: layout.regions.len() > 1 && geometry.sectors_per_unit > 1,
            has_windows: layout.regions.iter().any(|r| r.rule.reprograms()),
            writes_until_tick: layout.tick_every_writes,
            decode: drive.spec.errors.as_ref().map_or(SimDuration::ZERO, |e| e.decode),
            pairs_any: drive.spec.multiplane_pages == MultiplanePages::Any,
            retransfer: drive.spec.errors.as_ref().is_some_and(|e| e.retransfer),
            layout,
            media,
            pages: vec![],
            staged: vec![],
            requests: vec![],
            free_requests: vec![],
            buffers: vec![],
            breakdown: LatencyBreakdown::NONE,
            version: 0,
            sequence: 0,
            base: None,
            ack,
            write_buffer: WriteBuffer::of(drive.spec.flush, ack),
            open: Open::default(),
            merge_pages: drive.spec.merge.pages,
            read_cache: ReadCache::of((drive.spec.dram.read_cache.0 / drive.spec.unit.0) as usize),
            merge_after: drive.spec.merge.after,
            merge_idle: drive.spec.merge.idle,
            gathering: Gathering::default(),
            mixed: BTreeMap::new(),
            waiters: vec![],
            unsettled: 0,
            flushes: vec![],
            held: vec![0; geometry.dies as usize],
            holders: 0,
            idle_jobs: vec![0; geometry.dies as usize],
            idle_busy: 0,
            idle_turn: vec![0; geometry.dies as usize],
            held_moves: VecDeque::new(),
            lbas_per_unit: per_unit,
            per_sector: Divisor::new(geometry.sector / wordline_units::LBA_BYTES),
            per_unit: Divisor::new(geometry.sectors_per_unit as u64),
            lbas_per_sector: geometry.sector / wordline_units::LBA_BYTES,
            times,
            rereads,
            moving: BTreeSet::new(),
            continuation: None,
            effects: vec![],
            completed: vec![],
            fault: None,
            read_errors: vec![],
            scratch: Scratch::default(),
            state,
            scheme,
        })
    }

    /// Count from zero, at time 0, on the drive as it is. Nothing may be pending.
    pub fn start_anew(&mut self) {
        self.age_by(self.state.now.since(SimTime(0)));
        self.state.now = SimTime(0);
        self.state.most_shrunk = self.state.shrunk;
        self.state.draining = false;
        self.state.idle_gc_copies.clear();
        self.state.counters = self.state.counters.anew();
        if let Some(map) = &mut self.state.demand {
            map.start_anew();
        }
    }

    /// Data grow older by so much, while the drive lies on the shelf.
    pub fn age_by(&mut self, time: SimDuration) {
        self.state.aging.age_by(time);
        self.state.refreshing.start_anew();
    }

    /// Tell the time. It never runs backwards.
    #[inline(always)]
    pub fn set_now(&mut self, now: SimTime) {
        self.state.now = now;
    }

    /// What the device has to do; take all of it after every call.
    #[inline(always)]
    pub fn effects(&mut self) -> &mut Vec<Effect> {
        &mut self.effects
    }

    /// Requests whose last part has ended; take all of them after every call.
    #[inline(always)]
    pub fn completed(&mut self) -> &mut Vec<RequestId> {
        &mut self.completed
    }

    /// A decision refused, media that failed, or an invariant broken. The run is over then.
    #[inline(always)]
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }

    /// An operation.
    #[inline(always)]
    pub fn op(&self, id: OpId) -> &Op {
        &self.state.ops[id]
    }

    /// The request that waits for an operation, if it is a part of one.
    #[inline(always)]
    pub fn request_of(&mut self, id: OpId) -> Option<&mut Pending> {
        let op = &self.state.ops[id];
        let owner = (op.owned_by == Owner::Request).then_some(op.owner)?;
        self.requests.get_mut(owner as usize)
    }

    /// An operation, for the queue that holds it.
    #[inline(always)]
    pub fn op_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.state.ops[id]
    }

    /// A request in flight.
    #[inline(always)]
    pub fn pending(&self, id: RequestId) -> &Pending {
        &self.requests[id.0 as usize]
    }

    /// What has been counted.
    pub fn counters(&self) -> &Counters {
        &self.state.counters
    }

    /// How the scheme divided the drive.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The scheme.
    pub fn scheme(&self) -> &dyn Scheme {
        self.scheme.as_ref()
    }

    /// The drive's state, as a scheme sees it.
    pub fn view(&self) -> View<'_> {
        View::of(&self.state)
    }

    /// Whether a job holds a die, so that only its own operations run there.
    #[inline(always)]
    pub fn is_held(&self, die: DieId) -> bool {
        self.held[die.index()] > 0
    }

    /// Whether any operation is on its way.
    pub fn has_operations(&self) -> bool {
        self.state.ops.live() > 0
    }

    /// Whether a collection holds any die.
    pub fn holds_a_die(&self) -> bool {
        self.holders > 0
    }

    /// The drive's size in units of 512 bytes.
    pub fn logical_lbas(&self) -> u64 {
        self.state.logical_pages as u64 * self.lbas_per_unit
    }

    pub(crate) fn illegal(&mut self, decision: String, state: String) {
        if self.fault.is_none() {
            self.fault = Some(Box::new(Fault::IllegalDecision {
                scheme: self.scheme.name().to_string(),
                decision,
                time: self.state.now,
                state,
            }));
        }
    }

    pub(crate) fn internal(&mut self, what: String) {
        if self.fault.is_none() {
            self.fault = Some(Box::new(Fault::Internal { what, time: self.state.now }));
        }
    }

    /// Have the media do something. Their failure stops the drive: its tables say what the media do not hold, as long
    /// as it goes on, and there is no other place where that could be put. Nothing more is asked of them then.
    #[inline(always)]
    pub(crate) fn ask_media<T>(&mut self, what: impl FnOnce(&mut M) -> Result<T, MediaError>) -> Option<T> {
        if M::METADATA && self.fault.is_some() {
            return None;
        }
        match what(&mut self.media) {
            Ok(done) => Some(done),
            Err(error) => {
                self.stop_for(error);
                None
            }
        }
    }

    #[cold]
    fn stop_for(&mut self, error: MediaError) {
        if self.fault.is_none() {
            self.fault = Some(Box::new(Fault::Media { error, time: self.state.now }));
        }
    }

    /// Reads of the host that ended as uncorrectable since the media could not answer them, by the number of their
    /// request: those since this was last asked, and of very many the first.
    pub fn take_read_errors(&mut self) -> Vec<(u64, MediaError)> {
        std::mem::take(&mut self.read_errors)
    }

    /// Hand an operation to the device.
    #[inline]
    pub(crate) fn emit(&mut self, id: OpId) {
        self.state.ops.stamp(id);
        let op = &self.state.ops[id];
        self.state.backlog.add(op.plane, op.kind);
        self.effects.push(Effect::Queue(id));
    }

    /// Hand the device an operation that its plane goes on with at once.
    pub(crate) fn go_on_with(&mut self, id: OpId) {
        self.state.ops.stamp(id);
        let op = &self.state.ops[id];
        self.state.backlog.add(op.plane, op.kind);
        self.continuation = Some(id);
    }

    /// What the plane goes on with whose operation has just ended.
    #[inline(always)]
    pub fn take_continuation(&mut self) -> Option<OpId> {
        if self.continuation.is_some() { self.continuation.take() } else { None }
    }

    /// Room for the data of an operation.
    #[inline]
    pub(crate) fn add_op(&mut self, op: Op) -> OpId {
        let id = self.state.ops.add(op);
        if M::METADATA {
            self.mixed.remove(&id.0); // of an operation that was given up, and had the number before
        }
        if M::BYTES {
            if self.pages.len() <= id.index() {
                self.pages.resize(id.index() + 1, M::Page::default());
            }
            self.pages[id.index()] = M::Page::default();
        }
        id
    }

    /// The data of a staging entry.
    pub(crate) fn staged_page(&mut self, stage: u32) -> &mut M::Page {
        if self.staged.len() <= stage as usize {
            self.staged.resize(stage as usize + 1, M::Page::default());
        }
        &mut self.staged[stage as usize]
    }

    /// Give a program the newest data that RAM has for its sectors, and nothing else.
    pub(crate) fn load_page(&mut self, id: OpId, stage: u32) {
        if M::BYTES {
            let mask = self.state.ops[id].mask;
            let sector = self.state.geometry.sector as usize;
            let mut page = M::Page::default();
            M::copy(&mut page, self.staged_page(stage), mask, sector);
            self.pages[id.index()] = page;
        }
    }

    pub(crate) fn plane_of(&self, ppn: Ppn) -> PlaneId {
        self.state.geometry.plane_of(self.state.geometry.block_of(ppn))
    }
}
