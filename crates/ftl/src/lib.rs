//! The translation layer: the mechanism that every scheme shares, and the [`Scheme`] trait by which
//! a scheme decides.
//!
//! It owns all state of the drive: the map and its inverse, block modes and counters, pools,
//! regions and their open blocks, the staging index, jobs. It has neither clock nor queue.
//!
//! Two rules carry it. **Bound late**: a decision names region, slot class and plane, and the page
//! is chosen when the plane begins the program. **Committed late**: the map changes when a program
//! ends, and only if nothing newer was committed; a relocation commits only what the map still finds
//! at its source.

mod aging;
mod ahead;
mod array;
mod backlog;
mod bind;
mod block;
mod check;
mod collect;
mod commit;
mod counters;
mod demand_map;
mod file;
mod frontier;
mod ftl;
mod gather;
mod host;
mod idle;
mod image;
mod journal;
mod latency;
mod look;
mod map;
mod media;
mod merge;
mod moves;
mod op;
mod precondition;
mod read_cache;
mod recover;
mod refresh;
mod room;
mod sample;
mod scheme;
mod stager;
mod staging;
mod state;
mod steady;
mod superblock;
mod trim;
mod untimed;
mod victim;
mod wear;
mod windows;
mod write_buffer;

pub use array::ArrayTime;
pub use bind::{Binding, Blocked};
pub use check::Broken;
pub use counters::{Cause, Counters, EnergyUsed, ReadErrors, RegionCounters};
pub use file::saved::{About, Checked, Label, Loader, Memory, Saved, Saver, StateError, StateFile};
pub use ftl::{Effect, Fault, Ftl, Outcome, Pending, Prefetch, RequestError, RequestId, Timer};
pub use image::base::Mapped;
pub use latency::{Behind, LatencyPart, LatencyParts, Piece};
pub use look::{BlockLife, BlockLook};
pub use map::{Located, MapKind, MapTable, RegionSet, Span};
pub use media::{BlockFound, BlockHeader, Bytes, Media, Metadata, NoMedia, Oob, Recorded, SlotFound};
pub use op::{Class, Emptying, Op, OpId, OpKind, Part, Reason};
pub use precondition::{Initial, InitialError, Order};
pub use recover::Remains;
pub use refresh::Due;
pub use scheme::{
    ChannelSet, Collect, Command, Drive, EarlierBits, FreeOrder, Gather, Grain, Hooks, IdleWork, Join,
    Layout, Move, MovedIn, Need, Origin, Parcel, Place, PlanePick, Pool, PoolId, ReadSeen, Refusal, Region,
    RegionId, Route, Scheme, Tag, Target, View,
};
pub use stager::Company;
pub use steady::{Begun, Law, Settling, SteadyError, UNTOUCHED, Updates};
