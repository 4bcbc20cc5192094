//! What a scheme is asked, and what it answers: where data go, what moves, what is collected. Plain data; the mechanism
//! acts on them, and refuses what is illegal.

use crate::plan::region::RegionId;
use crate::plan::span::Span;
use serde::{Deserialize, Serialize};
use wordline_flash::SlotClass;
use wordline_units::{BlockId, CellMode, ChannelId, Lpn, PlaneId, Ppn, SectorMask};

/// What a request is marked with by [`Scheme::admit`](crate::Scheme::admit); its parts inherit it.
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
    /// None of them.
    pub const NONE: ChannelSet = ChannelSet(0);

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
    /// From the home's channel on the next that is not one of these, if there is any, and there the plane that lies
    /// as the home does: whatever is to do where.
    NextChannel(ChannelSet),
    /// The one with the most space that holds nothing live, and of about equals the one that has least to
    /// do: then no plane is full while another has room. Equals share a class of a sixteenth of a block each, so that of
    /// planes that are level on the border of two classes the roomiest is taken whatever it does.
    MostFree,
    /// The one with the least to do of those that lack less than a sixteenth of a block of the most such space.
    Level,
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

    /// Into the merge buffer of [`Layout::merges`](crate::Layout::merges), with a key: parts of a page wait there for
    /// company, and are placed as [`Origin::Sealed`] when their page is full or has waited long enough. A page that the
    /// host writes in several parts, each while the others wait with the same key, is placed again as the host's when
    /// it is whole.
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

/// What a hook answers, and what it says in place of an answer where it has none; nobody acts on that.
pub trait Answer {
    /// No answer.
    const NONE: Self;
}

impl Answer for () {
    const NONE: () = ();
}

impl Answer for Tag {
    const NONE: Tag = Tag(0);
}

impl Answer for SectorMask {
    const NONE: SectorMask = SectorMask::EMPTY;
}

impl Answer for Place {
    const NONE: Place = Place { gather: Gather::AsIs, plane: PlanePick::Home, route: Route::NOWHERE };
}

impl<T> Answer for Option<T> {
    const NONE: Option<T> = None;
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
    /// Empty and erase a block, or the frontier of a class. With a job at rest in that plane of the region, that one
    /// continues.
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
