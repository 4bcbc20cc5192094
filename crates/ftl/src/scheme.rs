//! What a scheme is: the hooks it answers, what it sees, and what it may decide.
//!
//! A scheme only decides. It sees a read-only [`View`] and returns values; the mechanism acts on
//! them, and refuses what is illegal with an error that names scheme, decision, time and state.

use crate::file::saved::Memory;
use crate::map::{MapKind, Span};
use crate::state::block::Phase;
use crate::state::state::State;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use thiserror::Error;
use wordline_device::{DeviceSpec, Trigger, Victim};
use wordline_flash::{Geometry, ProgramRule, SlotClass};
use wordline_units::{
    BlockId, CellMode, ChannelId, DieId, HostRequest, Lpn, PlaneId, Ppn, SectorMask, SimDuration, SimTime,
};

/// A pool, by its position in [`Layout::pools`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PoolId(pub u8);

/// A region, by its position in [`Layout::regions`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RegionId(pub u8);

impl RegionId {
    /// None of a scheme's own.
    pub const OTHER: RegionId = RegionId(u8::MAX);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Blocks of one medium that may change owner or mode. Pools of a medium lie one behind the other
/// in each plane, in the order of the layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Index of the medium.
    pub medium: usize,
    /// Blocks in each plane.
    pub blocks_per_plane: u32,
    /// Which erased block is opened next.
    pub free: FreeOrder,
}

/// Which of a pool's erased blocks is opened next. Those that were never opened go first, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeOrder {
    /// The one that was erased first.
    Fifo,
    /// The one erased least often, so that blocks wear alike; of equals, the one that was erased first.
    LeastErased,
}

/// Owns a block from opening to erase, and gives it its cell mode and program rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// Its name in reports.
    pub name: &'static str,
    /// Where its blocks come from.
    pub pool: PoolId,
    /// Bits a cell holds while it owns the block.
    pub mode: CellMode,
    /// The order of programs in its blocks.
    pub rule: ProgramRule,
    /// The most blocks of each plane that it may own; `u32::MAX` for no limit.
    pub quota: u32,
    /// When a plane of it is collected.
    pub trigger: Trigger,
    /// Which block is then taken.
    pub victim: Victim,
    /// How long data that no request waits for wait for the rest of a one-shot group before it is padded; `None` for
    /// ever, which only a protected stager may.
    pub pad_after: Option<SimDuration>,
    /// The same for data that a request waits for, and for what goes with them.
    pub pad_host_after: SimDuration,
    /// Whether pages waiting for a one-shot program are safe from a power cut. Then a victim may be
    /// erased while its last pages wait.
    pub protected: bool,
    /// What becomes of the earlier bits of a wordline that is not yet full.
    pub earlier_bits: EarlierBits,
    /// Whether a block with slots left may be collected while it is the frontier of no class.
    pub partial_victims: bool,
    /// Whether all that is collected here goes to another pool, so that this one need not keep an erased
    /// block for it.
    pub leaves_pool: bool,
    /// How units that come from another pool, or by a scheme's own wish, share pages.
    pub moved_in: MovedIn,
    /// The most slots of each plane that may be programmed in its blocks, live or not; `u64::MAX` for no limit
    /// but that of `quota`.
    pub slot_quota: u64,
}

/// How units that are moved into a region share pages, where a page holds several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MovedIn {
    /// They wait for company until a page is full.
    Packed,
    /// They do so in a buffer of so many units. A move that the host waits for begins when there is room,
    /// and gives it back when the program of its page begins.
    Through(u32),
    /// Each has a page to itself, and the rest of it is padded.
    Alone,
    /// Each is written with the other unit of its page, the next to it in a pair, if that lies in the region: it is
    /// read, leaves its place for protected RAM, and both are programmed as one page. Only where a page holds two.
    Rewritten,
}

/// Where the earlier bits of a wordline are found when a further one is programmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EarlierBits {
    /// In RAM: a program takes its own time.
    Buffered,
    /// On flash: each is read first, on the die that programs.
    Reread,
    /// On flash: all of them are read first, in so much time.
    RereadIn(SimDuration),
}

/// The hooks that a scheme wants to be asked; the others are skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hooks(pub u8);

impl Hooks {
    /// [`Scheme::admit`].
    pub const ADMIT: Hooks = Hooks(1);
    /// [`Scheme::read`].
    pub const READ: Hooks = Hooks(2);
    /// [`Scheme::collect`].
    pub const COLLECT: Hooks = Hooks(4);
    /// [`Scheme::idle`].
    pub const IDLE: Hooks = Hooks(8);
    /// [`Scheme::forget`].
    pub const FORGET: Hooks = Hooks(16);
    /// [`Scheme::make_room`].
    pub const MAKE_ROOM: Hooks = Hooks(32);
    /// [`Scheme::divide`].
    pub const DIVIDE: Hooks = Hooks(64);
    /// None of them.
    pub const NONE: Hooks = Hooks(0);

    /// Whether a hook is among them.
    #[inline(always)]
    pub const fn asks(self, hook: Hooks) -> bool {
        self.0 & hook.0 != 0
    }

    /// Both sets.
    pub const fn and(self, other: Hooks) -> Hooks {
        Hooks(self.0 | other.0)
    }
}

/// How a scheme divides the drive.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    /// Pools of blocks.
    pub pools: Vec<Pool>,
    /// Regions on them; at most 15.
    pub regions: Vec<Region>,
    /// The region where data lie at rest: it takes the base image, and its medium gives each
    /// logical page its home plane.
    pub home: RegionId,
    /// Another region where data lie at rest, and how many of the drive's logical pages: these are drawn
    /// from the base image by chance, in proportion where it holds fewer.
    pub outpost: Option<(RegionId, u32)>,
    /// The kind of map.
    pub map: MapKind,
    /// How parts of pages find company in a merge buffer, where it has one; see [`Route::into_buffer`].
    pub merges: Option<Join>,
    /// The hooks to be asked.
    pub asks: Hooks,
    /// Ask [`Scheme::tick`] after every so many host write requests; 0 for never.
    pub tick_every_writes: u32,
    /// How long the drive must have had no request before [`Scheme::idle`] is asked.
    pub idle_after: SimDuration,
}

/// Which open page of a merge buffer a part of a page joins, of those with room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    /// The one opened first.
    First,
    /// The one opened first among those opened with the same key.
    SameKey,
    /// The one whose parts have their pages on the fewest channels, the new one's counted; of equals the
    /// fullest, and of these the one opened first.
    FewestChannels,
}

impl Layout {
    /// The mode with the most bits among the regions of a pool: what an erased block of it can be.
    pub fn densest_in(&self, pool: PoolId) -> CellMode {
        let sharing = self.regions.iter().filter(|r| r.pool == pool);
        sharing.map(|r| r.mode).max_by_key(|m| m.bits()).unwrap_or(CellMode::Slc)
    }
}

/// What a scheme is given to lay itself out on.
#[derive(Clone, Copy, Debug)]
pub struct Drive<'a> {
    /// The device file, resolved.
    pub spec: &'a DeviceSpec,
    /// Its numbering.
    pub geometry: &'a Geometry,
    /// Logical pages that the host can address.
    pub logical_pages: u32,
}

/// A scheme that cannot work on a device, and why.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("scheme {scheme} cannot run on device {device}: {reason}")]
pub struct Refusal {
    /// The scheme.
    pub scheme: String,
    /// The device.
    pub device: String,
    /// Why, and what would do.
    pub reason: String,
}

/// What a request is marked with by [`Scheme::admit`]; its parts inherit it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tag(pub u8);

/// Where data that need a home come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The host.
    Host(Tag),
    /// A page of the merge buffer that has been sealed: parts of pages, which have come from the host.
    Sealed,
    /// A block of a region that is being collected.
    Collected(RegionId),
    /// A move that the scheme asked for, out of a region.
    Moved(RegionId),
}

/// Data that need a home: up to a page.
#[derive(Clone, Copy, Debug)]
pub struct Parcel<'a> {
    /// Where they come from.
    pub origin: Origin,
    /// What they are.
    pub spans: &'a [Span],
    /// The plane of static allocation for host data, the source's plane for collected data.
    pub home: PlaneId,
}

/// What becomes of the sectors of a page that a parcel lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gather {
    /// Program what is there. Under a page map only for a page that was never written.
    AsIs,
    /// Read the missing ones first (read-modify-write); under an overlay those that lie in its runs.
    Fill,
    /// Of collected data under a map of sectors: read all that the page has elsewhere, and program the page as
    /// one. It leaves its places for protected RAM as soon as it is there.
    Whole,
}

/// Channels to keep away from. Those past the 16th share the bits of the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChannelSet(u16);

impl ChannelSet {
    /// The same with a channel more.
    pub const fn and(self, channel: ChannelId) -> ChannelSet {
        ChannelSet(self.0 | 1 << (channel.0 % 16))
    }

    /// Whether a channel is one of them.
    pub const fn contains(self, channel: ChannelId) -> bool {
        self.0 >> (channel.0 % 16) & 1 == 1
    }
}

/// In which plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PlanePick {
    /// The parcel's home.
    Home,
    /// Whichever has least to do among those with room.
    Any,
    /// The same among those of other channels, if there are any.
    Avoid(ChannelSet),
    /// The one with the most space that holds nothing live, and of about equals the one that has least to
    /// do: then no plane is full while another has room.
    Roomiest,
}

/// A place to try: a region, and the class of slot in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The region.
    pub region: RegionId,
    /// The class.
    pub class: SlotClass,
}

/// Up to four targets, tried in order when the plane is ready for the program. One byte each: the
/// region in the high half, the class in the low.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Route([u8; 4]);

impl Route {
    const END: u8 = 0xff;
    const BUFFER: u8 = 0xfe;

    /// No target: of operations that program nothing.
    pub(crate) const NOWHERE: Route = Route([Route::END; 4]);

    /// One target.
    pub const fn to(region: RegionId, class: SlotClass) -> Route {
        Route([region.0 << 4 | class as u8, Route::END, Route::END, Route::END])
    }

    /// Into the merge buffer of [`Layout::merges`], with a key: parts of a page wait there for company, and are
    /// placed as [`Origin::Sealed`] when their page is full or has waited long enough. A page that the host
    /// writes in several parts, each while the others wait with the same key, is placed once more as the host's
    /// when it is whole.
    pub const fn into_buffer(key: u8) -> Route {
        Route([Route::BUFFER, key, Route::END, Route::END])
    }

    /// Whether it leads into the merge buffer.
    pub const fn is_into_buffer(self) -> bool {
        self.buffer_key().is_some()
    }

    /// The key of a route into the merge buffer.
    #[inline(always)]
    pub(crate) const fn buffer_key(self) -> Option<u8> {
        if self.0[0] == Route::BUFFER { Some(self.0[1]) } else { None }
    }

    /// Classes of slots of one region, tried in order: at most four.
    pub fn classes(region: RegionId, classes: &[SlotClass]) -> Route {
        let mut route = Route::NOWHERE;
        for class in classes {
            route = route.or(region, *class);
        }
        route
    }

    /// The same with another target to fall back on. A fifth is ignored.
    pub const fn or(mut self, region: RegionId, class: SlotClass) -> Route {
        let mut i = 0;
        while i < 4 {
            if self.0[i] == Route::END {
                self.0[i] = region.0 << 4 | class as u8;
                break;
            }
            i += 1;
        }
        self
    }

    /// The targets in order.
    #[inline]
    pub fn targets(self) -> impl Iterator<Item = Target> {
        self.0.into_iter().take_while(|b| *b != Route::END).map(|b| Target {
            region: RegionId(b >> 4),
            class: SlotClass::ALL[((b & 15) as usize).min(SlotClass::COUNT - 1)],
        })
    }

    /// Whether it has one target.
    #[inline]
    pub(crate) const fn is_single(self) -> bool {
        self.0[1] == Route::END
    }

    /// Whether it falls back on another class of the region that it begins with.
    #[inline]
    pub(crate) const fn has_alternates(self) -> bool {
        self.0[1] != Route::END && self.0[0] >> 4 == self.0[1] >> 4
    }

    /// The same with regions called otherwise.
    pub fn renamed(self, name: impl Fn(RegionId) -> RegionId) -> Route {
        self.targets().fold(Route::NOWHERE, |route, t| route.or(name(t.region), t.class))
    }

    /// The same with the targets of another route in place of the first of a region; its others are left out, and
    /// so is what comes after four.
    pub fn exchanged(self, region: RegionId, others: Route) -> Route {
        let mut route = Route::NOWHERE;
        let mut done = false;
        for target in self.targets() {
            if target.region != region {
                route = route.or(target.region, target.class);
            } else if !std::mem::replace(&mut done, true) {
                route = others.targets().fold(route, |route, t| route.or(t.region, t.class));
            }
        }
        route
    }

    /// The region of the first target.
    #[inline]
    pub fn region(self) -> RegionId {
        RegionId(self.0[0] >> 4)
    }
}

/// Where a parcel goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// What becomes of missing sectors.
    pub gather: Gather,
    /// In which plane.
    pub plane: PlanePick,
    /// Which slots.
    pub route: Route,
}

/// A move of one logical page, with the place the scheme saw it in. If it has left that place by
/// the time of the move, the move is dropped and counted; one that the host waits for, or that idle time
/// has begun, follows a page that has only been collected meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Move {
    /// The page.
    pub lpn: Lpn,
    /// Where it was.
    pub seen: Ppn,
    /// In which plane it shall go; its own is its home. Where the route's region has no blocks there, the
    /// roomiest that it has.
    pub plane: PlanePick,
    /// Where it shall go.
    pub route: Route,
}

/// A host read as it ended.
#[derive(Clone, Copy, Debug)]
pub struct ReadSeen {
    /// The logical page.
    pub lpn: Lpn,
    /// Where it was read.
    pub ppn: Ppn,
    /// Bits of the cells there.
    pub mode: CellMode,
    /// How often the page had to be read again; 0 where no errors are modelled.
    pub retries: u8,
}

/// A plane of a region that runs short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Need {
    /// The region.
    pub region: RegionId,
    /// The plane.
    pub plane: PlaneId,
}

/// A region, or one block, to collect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Collect {
    /// The region.
    pub region: RegionId,
    /// A closed block of it, or its own rule's choice.
    pub block: Option<BlockId>,
}

/// How an idle job gives way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grain {
    /// After each page, and before the erase: then the scheme is asked again, if the drive is still idle.
    /// Until then the job rests, unless its region runs short.
    Page,
    /// Not until it is done: the die is held, from reads too.
    Block,
}

/// Work for an idle die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleWork {
    /// Move one page.
    Move(Move),
    /// Empty and erase a block, or the frontier of a class. With a job at rest in that plane of the
    /// region, that one goes on.
    Collect(Collect, Grain),
}

/// What a controller loop changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// The most blocks of each plane that a region may own from now on.
    SetQuota(RegionId, u32),
    /// The most slots of each plane that may be programmed in a region's blocks from now on.
    SetSlotQuota(RegionId, u64),
    /// Move a page in the background.
    Enqueue(Move),
}

/// A scheme: two hooks that it must answer and some that it may.
pub trait Scheme: Debug + Send {
    /// Its name in the registry.
    fn name(&self) -> &str;

    /// Divide the drive into pools and regions.
    ///
    /// # Errors
    /// A refusal with its reason where the device does not suit the scheme.
    fn layout(&mut self, drive: &Drive) -> Result<Layout, Refusal>;

    /// Find a home for host data, a collected page or a moved page.
    fn place(&mut self, parcel: &Parcel, view: &View) -> Place;

    /// Mark a host write, once, when it is admitted.
    fn admit(&mut self, _request: &HostRequest, _view: &View) -> Tag {
        Tag::default()
    }

    /// Host data are about to be placed: moves that must come first. The program waits until the data of
    /// each have left their place, for flash or for protected RAM, or turn out not to be there any more.
    fn make_room(&mut self, _parcel: &Parcel, _view: &View, _out: &mut Vec<Move>) {}

    /// The host writes a part of a page: the sectors of it that are placed together first. It is asked again
    /// for the rest.
    fn divide(&mut self, span: &Span, _view: &View) -> SectorMask {
        span.mask
    }

    /// A host read of a page has ended; perhaps it should move.
    fn read(&mut self, _seen: &ReadSeen, _view: &View) -> Option<Move> {
        None
    }

    /// A region runs short: what to collect. `None` leaves it to the region's own rule.
    fn collect(&mut self, _need: Need, _view: &View) -> Option<Collect> {
        None
    }

    /// A die is idle, or the drive is draining at the end of a run: one job for this plane.
    fn idle(&mut self, _plane: PlaneId, _view: &View) -> Option<IdleWork> {
        None
    }

    /// The controller loop; see [`Layout::tick_every_writes`].
    fn tick(&mut self, _view: &View, _out: &mut Vec<Command>) {}

    /// Begin the scheme's stream of random numbers, where it has one. Asked before the first request.
    fn seed(&mut self, _seed: u64) {}

    /// The host has trimmed a page.
    fn forget(&mut self, _lpn: Lpn) {}

    /// What the scheme has followed through the run, for reports: names, and host page writes with the value
    /// from then on.
    fn followed(&self) -> Vec<(&'static str, &[[f64; 2]])> {
        vec![]
    }

    /// What the scheme has learnt since `layout`: a field, or the scheme itself, that serde can write
    /// and read back. A scheme whose decisions follow from the view alone keeps the default.
    fn memory(&mut self) -> Option<&mut dyn Memory> {
        None
    }

    /// A copy with the same state, for forks of a run.
    fn clone_box(&self) -> Box<dyn Scheme>;
}

impl Clone for Box<dyn Scheme> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

/// What a scheme sees: the drive's state, read-only.
#[derive(Clone, Copy)]
pub struct View<'a> {
    state: &'a State,
    /// The region that a scheme's own numbers name, where it has a part of a layout; all of it otherwise.
    named: Option<&'a [RegionId]>,
    /// The time.
    pub now: SimTime,
}

impl<'a> View<'a> {
    pub(crate) fn of(state: &'a State) -> View<'a> {
        View { state, named: None, now: state.now }
    }

    /// The same for a scheme that has a part of a layout: its region of each number is called so here.
    pub fn named(self, regions: &'a [RegionId]) -> View<'a> {
        View { named: Some(regions), ..self }
    }

    #[inline(always)]
    fn region(&self, own: RegionId) -> RegionId {
        match self.named {
            None => own,
            Some(names) => names[own.index()],
        }
    }

    /// The drive's numbering.
    pub fn geometry(&self) -> &Geometry {
        &self.state.geometry
    }

    /// Whether the run is over and the drive is emptying its buffers.
    pub fn draining(&self) -> bool {
        self.state.draining
    }

    /// Pages that the write buffer could still take; `None` where the drive has none.
    pub fn buffer_room(&self) -> Option<u64> {
        Some((self.state.buffer_pages? as u64).saturating_sub(self.state.buffered))
    }

    /// Pages of each bit that a region can still program: those left in open blocks, and those of the
    /// erased blocks that it could open. Zeros under rules that do not tell bits apart.
    pub fn free_pages(&self, region: RegionId) -> [u64; 4] {
        let r = &self.state.regions[self.region(region).index()];
        let mut pages = r.left;
        if r.region.rule.by_bit() {
            for pages in &mut pages[..r.shape.bits as usize] {
                *pages += r.openable * r.shape.wordlines as u64;
            }
        }
        pages
    }

    /// Host requests admitted and not yet complete.
    pub fn outstanding(&self) -> u32 {
        self.state.outstanding
    }

    /// Erased blocks that a region could still open in a plane; none in a plane of another medium.
    pub fn free_blocks(&self, region: RegionId, plane: PlaneId) -> u32 {
        let region = self.region(region);
        if self.state.reaches(region, plane) { self.state.free_blocks(region, plane) } else { 0 }
    }

    /// Slots not yet programmed in a region's open blocks and in the blocks it could still open; none in a plane of
    /// another medium.
    pub fn free_slots(&self, region: RegionId, plane: PlaneId) -> u64 {
        let region = self.region(region);
        if self.state.reaches(region, plane) { self.state.free_slots(region, plane) } else { 0 }
    }

    /// The same in all planes of a region.
    pub fn room(&self, region: RegionId) -> u64 {
        let region = self.region(region);
        self.planes_of(region).map(|p| self.state.free_slots(region, p)).sum()
    }

    /// The planes that a region of the drive has blocks in.
    fn planes_of(&self, region: RegionId) -> impl Iterator<Item = PlaneId> + use<> {
        let r = &self.state.regions[region.index()];
        (r.first_plane..r.first_plane + r.planes.len() as u32).map(PlaneId)
    }

    /// The full blocks of a plane of a region that no collection has. All blocks of the plane are looked at, so
    /// this is for decisions that have time.
    pub fn full_blocks(&self, region: RegionId, plane: PlaneId) -> impl Iterator<Item = BlockId> + use<'a> {
        let (state, region) = (self.state, self.region(region));
        let is_full = move |b: &BlockId| {
            let block = &state.blocks[b.index()];
            block.region == region.0 && block.phase == Phase::Full && block.writers == 0
        };
        state.geometry.blocks_of(plane).map(BlockId).filter(is_full)
    }

    /// The logical pages that live in a block of a region that has no base image.
    pub fn pages_in(&self, block: BlockId) -> impl Iterator<Item = Lpn> + use<'a> {
        let state = self.state;
        let slots = state.regions[state.region_of(block).index()].slots_per_block;
        (0..slots).filter_map(move |slot| state.map.page_at(state.geometry.ppn(block, slot)))
    }

    /// How often a block has been erased.
    pub fn erases(&self, block: BlockId) -> u32 {
        self.state.blocks[block.index()].erases
    }

    /// Bytes that the drive can hold now, each block in its mode, an erased one in the densest of its pool.
    pub fn usable_bytes(&self) -> u64 {
        self.state.physical_bytes() - self.state.shrunk
    }

    /// Blocks of a plane that a region owns.
    pub fn owned(&self, region: RegionId, plane: PlaneId) -> u32 {
        self.state.owned(self.region(region), plane)
    }

    /// The block of a plane of a region that would take the next program of a class, if one is open.
    pub fn frontier(&self, region: RegionId, plane: PlaneId, class: SlotClass) -> Option<BlockId> {
        self.state.at(self.region(region), plane).open[class as usize].front().map(|b| BlockId(*b))
    }

    /// The block that a collection in a plane of a region is emptying, if one is.
    pub fn collecting(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        self.state.at(self.region(region), plane).job.map(|job| job.block)
    }

    /// The block that a plane of a region is filling, once the run is over and no program into it is under way:
    /// what empties a cache at the end begins with the full blocks and then takes this.
    pub fn last_frontier(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        let quiet = |b: &BlockId| self.draining() && self.state.blocks[b.index()].writers == 0;
        self.frontier(region, plane, SlotClass::Next).filter(quiet)
    }

    /// Of the full blocks of a plane of a region whose victims are first in, first out, the one that was
    /// filled first.
    pub fn oldest(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        self.state.oldest_victim(self.region(region), plane)
    }

    /// Blocks that a region owns in all planes, and slots programmed in them.
    pub fn taken(&self, region: RegionId) -> (u64, u64) {
        let region = self.region(region);
        self.planes_of(region).fold((0, 0), |(blocks, slots), p| {
            (blocks + self.state.owned(region, p) as u64, slots + self.state.used_slots(region, p))
        })
    }

    /// The sectors of a logical page that hold data, in RAM or on flash.
    pub fn sectors(&self, lpn: Lpn) -> SectorMask {
        self.state.staging.mask(lpn).union(self.state.map.held(lpn))
    }

    /// The place of a logical page on flash, under a page map or beneath an overlay; newer data may be on their
    /// way.
    pub fn locate(&self, lpn: Lpn) -> Option<Ppn> {
        self.state.map.locate(lpn)
    }

    /// Whether data of a logical page are in RAM, or on their way to flash.
    pub fn is_staged(&self, lpn: Lpn) -> bool {
        self.state.staging.find(lpn).is_some()
    }

    /// The plane that a place lies in, and the region that owns its block; [`RegionId::OTHER`] for one that is
    /// not the scheme's.
    pub fn owner(&self, ppn: Ppn) -> (PlaneId, RegionId) {
        let block = self.state.geometry.block_of(ppn);
        let region = self.state.region_of(block);
        let own = match self.named {
            None => region,
            Some(names) => {
                let position = names.iter().position(|name| *name == region);
                position.map_or(RegionId::OTHER, |own| RegionId(own as u8))
            }
        };
        (self.state.geometry.plane_of(block), own)
    }

    /// Cycles that the blocks of a region's pool have behind them, on the mean.
    pub fn mean_erases(&self, region: RegionId) -> f64 {
        let pool = self.state.pool_of(self.region(region));
        let planes = pool.first_plane..pool.first_plane + pool.free.len() as u32;
        let blocks = planes.flat_map(|plane| {
            let first = self.state.geometry.blocks_of(PlaneId(plane)).start + pool.offset;
            &self.state.blocks[first as usize..(first + pool.blocks_per_plane) as usize]
        });
        let (n, sum) = blocks.fold((0u64, 0u64), |(n, sum), b| (n + 1, sum + b.erases as u64));
        sum as f64 / n.max(1) as f64
    }

    /// Whether a region takes a moved page now, or its buffer of them is full.
    pub fn takes_moves(&self, region: RegionId) -> bool {
        !self.state.has_full_buffer(self.region(region))
    }

    /// Operations waiting or running in the planes of a die.
    pub fn backlog(&self, die: DieId) -> u32 {
        self.state.backlog_of_die(die)
    }

    /// The block that a region's own rule would collect next.
    pub fn best(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        self.state.best_victim(self.region(region), plane)
    }

    /// Share of its life that a block has used up, its erases in each mode counted by what the mode endures; 0
    /// where that is not known.
    pub fn life_used(&self, block: BlockId) -> f64 {
        crate::state::aging::lives(self.state.blocks[block.index()].life_used)
    }

    /// Live sectors of a block.
    pub fn live_sectors(&self, block: BlockId) -> u32 {
        self.state.blocks[block.index()].live
    }

    /// Units of the map that live in a plane of a region.
    pub fn live_units(&self, region: RegionId, plane: PlaneId) -> u64 {
        self.state.at(self.region(region), plane).live / self.state.geometry.sectors_per_unit as u64
    }

    /// Logical pages (page map) or sectors (sector map) that hold data.
    pub fn mapped(&self) -> u64 {
        self.state.mapped()
    }

    /// Logical pages that the host can address.
    pub fn logical_pages(&self) -> u32 {
        self.state.logical_pages
    }
}
