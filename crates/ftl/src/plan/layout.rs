//! How a scheme divides the drive, on what it is given, and why it may refuse.

use crate::file::saved::Loader;
use crate::file::state_file::StateError;
use crate::plan::map_kind::MapKind;
use crate::plan::region::{MovedIn, Pool, PoolId, Region, RegionId};
use thiserror::Error;
use twox_hash::XxHash3_64;
use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_units::{CellMode, SimDuration};

/// Some of a scheme's optional hooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hooks(pub u8);

impl Hooks {
    /// [`Scheme::admit`](crate::Scheme::admit).
    pub const ADMIT: Hooks = Hooks(1);
    /// [`Scheme::read`](crate::Scheme::read).
    pub const READ: Hooks = Hooks(2);
    /// [`Scheme::collect`](crate::Scheme::collect).
    pub const COLLECT: Hooks = Hooks(4);
    /// [`Scheme::idle`](crate::Scheme::idle).
    pub const IDLE: Hooks = Hooks(8);
    /// [`Scheme::on_trim`](crate::Scheme::on_trim).
    pub const ON_TRIM: Hooks = Hooks(16);
    /// [`Scheme::make_room`](crate::Scheme::make_room).
    pub const MAKE_ROOM: Hooks = Hooks(32);
    /// [`Scheme::split_write`](crate::Scheme::split_write).
    pub const SPLIT_WRITE: Hooks = Hooks(64);
    /// [`Scheme::tick`](crate::Scheme::tick), which [`Layout::tick_every_writes`] enables.
    pub const TICK: Hooks = Hooks(128);
    /// None of them.
    pub const NONE: Hooks = Hooks(0);
    /// All that [`Layout::enabled_hooks`] may enable.
    pub const ALL: Hooks = Hooks(127);

    /// Whether a hook is among them.
    #[inline(always)]
    pub const fn contains(self, hook: Hooks) -> bool {
        self.0 & hook.0 != 0
    }

    /// What either has.
    pub const fn union(self, other: Hooks) -> Hooks {
        Hooks(self.0 | other.0)
    }

    /// What both have.
    pub const fn intersection(self, other: Hooks) -> Hooks {
        Hooks(self.0 & other.0)
    }

    /// These but for some.
    pub const fn without(self, other: Hooks) -> Hooks {
        Hooks(self.0 & !other.0)
    }

    /// The names of their methods.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        const METHODS: [&str; 8] =
            ["admit", "read", "collect", "idle", "on_trim", "make_room", "split_write", "tick"];
        METHODS.into_iter().filter(move |method| self.contains(Hooks::of(method)))
    }

    fn of(method: &str) -> Hooks {
        match method {
            "admit" => Hooks::ADMIT,
            "read" => Hooks::READ,
            "collect" => Hooks::COLLECT,
            "idle" => Hooks::IDLE,
            "on_trim" => Hooks::ON_TRIM,
            "make_room" => Hooks::MAKE_ROOM,
            "split_write" => Hooks::SPLIT_WRITE,
            "tick" => Hooks::TICK,
            _ => Hooks::NONE,
        }
    }
}

/// Which hooks a scheme has, as [`hooks`](macro@crate::hooks) has read them off its `impl`. It cannot be made otherwise, so
/// that no hook is there and forgotten here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answers(Hooks);

impl Answers {
    /// For the code that the attribute writes: the hooks among the methods of these names.
    #[doc(hidden)]
    pub fn of_impl(methods: &[&str]) -> Answers {
        Answers(methods.iter().fold(Hooks::NONE, |hooks, method| hooks.union(Hooks::of(method))))
    }

    /// The hooks.
    pub fn hooks(self) -> Hooks {
        self.0
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
    pub second_home: Option<(RegionId, u32)>,
    /// The kind of map.
    pub map: MapKind,
    /// How parts of pages find company in a merge buffer, where it has one; see [`Route::into_buffer`](crate::Route::into_buffer).
    pub merges: Option<Join>,
    /// Of the optional hooks that the scheme has, those that are called: [`Hooks::ALL`], unless a parameter or the
    /// drive makes some needless, as in `Hooks::ALL.without(Hooks::IDLE)`.
    pub enabled_hooks: Hooks,
    /// Ask [`Scheme::tick`](crate::Scheme::tick) after every so many host write requests; 0 for never.
    pub tick_every_writes: u32,
    /// How long the drive must have had no request before [`Scheme::idle`](crate::Scheme::idle) is asked.
    pub idle_after: SimDuration,
    /// What idle work keeps from the host until it is over.
    pub idle_hold: IdleHold,
}

/// What a unit of idle work, a page or a block as its [`Grain`](crate::Grain) says, keeps from the host while it is under
/// way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IdleHold {
    /// What its grain says: a block its die, a page nothing.
    #[default]
    Grain,
    /// Its die.
    Die,
    /// All dies of its channel, one unit of the channel after the other. An erase needs its die alone.
    Channel,
}

impl Layout {
    /// The mode with the most bits among the regions of a pool: what an erased block of it can be.
    pub fn densest_in(&self, pool: PoolId) -> CellMode {
        let sharing = self.regions.iter().filter(|r| r.pool == pool);
        sharing.map(|r| r.mode).max_by_key(|m| m.bits()).unwrap_or(CellMode::Slc)
    }

    /// Why writes may not share pages that hold several mapping units, if they may not: the scheme decides what does.
    pub fn packing_refusal(&self, geometry: &Geometry) -> Option<String> {
        let packs = |r: &&Region| geometry.units_per_page(self.pools[r.pool.0 as usize].medium) > 1;
        self.regions.iter().find(packs)?;
        if !self.map.is_by_page() || self.merges.is_some() {
            return Some("it packs parts of pages itself".to_string());
        }
        let region = self.regions.iter().find(|r| r.moved_in != MovedIn::Packed || r.rule.tells_types())?;
        let what = if region.moved_in == MovedIn::Packed { "its page type" } else { "what shares its page" };
        Some(format!("it decides {what} for each write to region {}", region.name))
    }

    /// Regions of a pool that collect within it, each of which keeps a block of each plane erased for that.
    pub(crate) fn collecting_within(&self, pool: PoolId) -> u32 {
        self.regions.iter().filter(|r| r.pool == pool && !r.evicts_to_other_pool).count() as u32
    }
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

/// What a scheme is given to lay itself out on.
#[derive(Clone, Copy, Debug)]
pub struct DriveInfo<'a> {
    /// The device file, resolved.
    pub spec: &'a DeviceSpec,
    /// Its numbering.
    pub geometry: &'a Geometry,
    /// Logical pages that the host can address.
    pub logical_pages: u32,
}

/// A scheme that cannot work on a device, and why.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("scheme {scheme} does not support device {device}: {reason}")]
pub struct Refusal {
    /// The scheme.
    pub scheme: String,
    /// The device.
    pub device: String,
    /// Why, and what would do.
    pub reason: String,
}

impl Layout {
    /// A number that tells layouts apart. It goes into state files, and so is made from the names that the fields
    /// had when the format was.
    pub fn fingerprint(&self) -> u64 {
        const NAMES_IN_FILES: [(&str, &str); 3] = [
            ("second_home: ", "outpost: "),
            ("enabled_hooks: ", "asks: "),
            ("evicts_to_other_pool: ", "leaves_pool: "),
        ];
        let text =
            NAMES_IN_FILES.iter().fold(format!("{self:?}"), |text, (now, then)| text.replace(now, then));
        XxHash3_64::oneshot(text.as_bytes())
    }
}

impl Loader<'_> {
    /// See that the scheme divides the drive as it did.
    ///
    /// # Errors
    /// When it does not.
    pub fn layout(&self, layout: &Layout) -> Result<(), StateError> {
        self.divided_as(layout.fingerprint())
    }
}
