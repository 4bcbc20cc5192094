//! Inputs and return values of schemes: where data go, what moves, what GC takes. Plain data; the mechanism acts on
//! them, and refuses what is illegal.

use crate::plan::region::RegionId;
use crate::plan::span::Span;
use serde::{Deserialize, Serialize};
use wordline_flash::SlotClass;
use wordline_units::{BlockId, CellMode, ChannelId, Lpn, PlaneId, Ppn, SectorMask};

/// The tag of a request from [`Scheme::admit`](crate::Scheme::admit); its parts inherit it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tag(pub u8);

/// Origin of data to be placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The host.
    Host(Tag),
    /// A sealed page of the merge buffer: partial pages of the host.
    Sealed,
    /// A block of a region that GC empties.
    Collected(RegionId),
    /// A move requested by the scheme, out of a region.
    Moved(RegionId),
}

/// Data to be placed: up to a page.
#[derive(Clone, Copy, Debug)]
pub struct Parcel<'a> {
    /// Their origin.
    pub origin: Origin,
    /// Origin of the data.
    pub spans: &'a [Span],
    /// The plane of static allocation for host data, the source's plane for GC.
    pub home: PlaneId,
}

/// How to handle sectors of a page that a parcel lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gather {
    /// Program what is there. Under a page map only for a page that was never written.
    AsIs,
    /// Read the missing ones first (read-modify-write); under an overlay those that lie in its runs.
    Fill,
    /// For GC under a map of sectors: read all parts of the page, and program them as one page. Each part leaves its
    /// place for protected RAM as soon as it is read.
    Whole,
}

/// Channels to avoid. Channels beyond the 16th share the bits of the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChannelSet(u16);

impl ChannelSet {
    /// No channels.
    pub const NONE: ChannelSet = ChannelSet(0);

    /// The same with another channel.
    pub const fn and(self, channel: ChannelId) -> ChannelSet {
        ChannelSet(self.0 | 1 << (channel.0 % 16))
    }

    /// Whether a channel is included.
    pub const fn contains(self, channel: ChannelId) -> bool {
        self.0 >> (channel.0 % 16) & 1 == 1
    }
}

/// The target plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PlanePick {
    /// The parcel's home.
    Home,
    /// The plane with the least work among those with free space.
    Any,
    /// The same among the planes of other channels, if there are any.
    Avoid(ChannelSet),
    /// The plane at the home plane's position on the next channel that is not one of these, starting at the home's
    /// channel: independent of load.
    NextChannel(ChannelSet),
    /// The plane with the most space without valid data, and among about equal ones that with the least work: then no
    /// plane is full while another has space. Planes within a sixteenth of a block are equal; at the border of two
    /// classes the one with more space is taken, independent of load.
    MostFree,
    /// The plane with the least work among those within a sixteenth of a block of the maximum of such space.
    Level,
    /// This plane; if the route's region has no blocks there, the plane with the least work. Data without a slot in it may
    /// still go elsewhere, where they could not be programmed otherwise.
    At(PlaneId),
}

/// A possible target: a region, and the slot class in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The region.
    pub region: RegionId,
    /// The class.
    pub class: SlotClass,
}

/// Up to four targets, tried in order when the plane starts the program. One byte each: the region in the high half,
/// the class in the low.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Route([u8; 4]);

impl Route {
    const END: u8 = 0xff;
    const BUFFER: u8 = 0xfe;

    /// No target: of operations that program nothing.
    pub(crate) const NOWHERE: Route = Route([Route::END; 4]);

    /// One target.
    #[inline(always)]
    pub const fn to(region: RegionId, class: SlotClass) -> Route {
        Route([region.0 << 4 | class as u8, Route::END, Route::END, Route::END])
    }

    /// Into the merge buffer of [`Layout::merges`](crate::Layout::merges), with a key: partial pages wait there for
    /// others, and are placed as [`Origin::Sealed`] when their page is full or has waited long enough. A page that the
    /// host completes part by part under the same key is placed again as host data.
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

    /// The same with another target as a fallback. A fifth is ignored.
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
        (0..self.0.len()).map_while(move |at| self.target(at))
    }

    #[inline(always)]
    fn target(self, at: usize) -> Option<Target> {
        // A class by each number that four bits can have, so that none need be checked.
        const CLASSES: [SlotClass; 16] = {
            let mut classes = [SlotClass::ALL[SlotClass::COUNT - 1]; 16];
            let mut i = 0;
            while i < SlotClass::COUNT {
                classes[i] = SlotClass::ALL[i];
                i += 1;
            }
            classes
        };
        let b = self.0[at];
        let target = Target { region: RegionId(b >> 4), class: CLASSES[(b & 15) as usize] };
        (b != Route::END).then_some(target)
    }

    /// Whether it has a single target.
    #[inline]
    pub(crate) const fn is_single(self) -> bool {
        self.0[1] == Route::END
    }

    /// Whether it falls back to another class of its first region.
    #[inline]
    pub(crate) const fn has_alternates(self) -> bool {
        self.0[1] != Route::END && self.0[0] >> 4 == self.0[1] >> 4
    }

    /// The same with renumbered regions.
    pub fn renamed(self, name: impl Fn(RegionId) -> RegionId) -> Route {
        self.targets().fold(Route::NOWHERE, |route, t| route.or(name(t.region), t.class))
    }

    /// The same with the targets of another route instead of the first of a region; the region's other targets are
    /// omitted, and so is everything after four.
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
    #[inline(always)]
    pub fn region(self) -> RegionId {
        RegionId(self.0[0] >> 4)
    }
}

/// The place of a parcel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// How to handle missing sectors.
    pub gather: Gather,
    /// The target plane.
    pub plane: PlanePick,
    /// Which slots.
    pub route: Route,
}

/// The return value of a hook, and the default of a missing hook, which is ignored.
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

/// A move of one logical page, with the place in which the scheme saw it. If the page has left that place by then, the
/// move is dropped and counted; a move that the host waits for, or that idle time started, follows a page that only GC
/// has moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Move {
    /// The page.
    pub lpn: Lpn,
    /// The place from which it moves.
    pub seen: Ppn,
    /// Its target plane; by default its home plane. If the route's region has no blocks there, the plane of the region
    /// with the most space.
    pub plane: PlanePick,
    /// Its target.
    pub route: Route,
}

/// A host read as it ended.
#[derive(Clone, Copy, Debug)]
pub struct ReadSeen {
    /// The logical page.
    pub lpn: Lpn,
    /// Its place when it was read.
    pub ppn: Ppn,
    /// Bits of the cells there.
    pub mode: CellMode,
    /// Number of read retries of the page; 0 without an error model.
    pub retries: u8,
}

/// A plane of a region that is short of free blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Need {
    /// The region.
    pub region: RegionId,
    /// The plane.
    pub plane: PlaneId,
}

/// A region, or one of its blocks, to collect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Collect {
    /// The region.
    pub region: RegionId,
    /// A closed block of the region, or its own choice.
    pub block: Option<BlockId>,
}

/// When an idle job yields to host requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Grain {
    /// After each page, and before the erase: then the scheme is called again, if the drive is still idle. Until then
    /// the job rests, unless its region runs short.
    Page,
    /// Not before its end: the die is held, also against reads.
    Block,
}

/// Work for an idle die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleWork {
    /// Move one page.
    Move(Move),
    /// Empty and erase a block, or the open block of a class. A job at rest in that plane of the region continues.
    Collect(Collect, Grain),
}

/// A change by the control loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// New maximum of blocks per plane that a region can own.
    SetQuota(RegionId, u32),
    /// New maximum of programmed slots per plane in a region's blocks.
    SetSlotQuota(RegionId, u64),
    /// Move a page in the background.
    Enqueue(Move),
}
