//! The translation layer: the mechanism shared by all schemes, and the [`Scheme`] trait for their decisions.
//!
//! It owns all state of the drive: the mapping table and its inverse, block modes and counters, pools,
//! regions and their open blocks, the staging index, jobs. It has neither clock nor queue.
//!
//! Two rules carry it. **Bound late**: a decision names region, slot class and plane, and the page
//! is chosen when the plane begins the program. **Committed late**: the map changes when a program
//! ends, and only if nothing newer was committed; a relocation commits only what the map still finds
//! at its source.
//!
//! Its files are in rooms, each of which imports only from those above it: ARCHITECTURE.md has the list, and
//! `tests/it/house.rs` holds it.

pub mod drive;
mod file;
mod flow;
mod ftl;
mod image;
mod initial;
pub mod inspect;
mod layer;
mod map;
mod media;
mod plan;
mod scheme;
mod setup;
mod start;
mod state;
mod tables;
mod view;

pub use file::saved::{Loader, Memory, Saved, Saver};
pub use file::state_file::{About, Checked, Label, StateError, StateFile};
pub use file::table::fetch;
pub use flow::begin::contents::Spread;
pub use flow::power::power_loss_image::{PowerLossImage, Protected, ProtectedWrite, Worn};
pub use flow::program::bind::Binding;
pub use ftl::Ftl;
pub use image::base::Mapped;
pub use initial::initial::{Initial, InitialError, Order};
pub use initial::steady_types::{
    Begun, Contents, Known, Law, Regime, Settling, SteadyError, UNTOUCHED, Updates,
};
pub use inspect::{BlockLife, BlockStatus, Broken, Inspect, Operation};
pub use media::boxed::{BoxedMedia, OtherMedia};
pub use media::bytes::Bytes;
pub use media::error::MediaError;
pub use media::found::{BlockFound, BlockHeader, Oob, SlotFound};
pub use media::host_data::{HeldData, HostData};
pub use media::page::PageData;
pub use media::seam::{Media, Metadata};
pub use plan::decision::{
    Answer, ChannelSet, Collect, Command, Gather, Grain, IdleWork, Move, Need, Origin, Parcel, Place,
    PlanePick, ReadSeen, Route, Tag, Target,
};
pub use plan::flash::{FlashUse, OutOfReach};
pub use plan::layout::{Answers, DriveInfo, Hooks, IdleHold, Join, Layout, Refusal};
pub use plan::region::{
    EarlierBits, FreeOrder, MapKind, MapTable, MovedIn, Pool, PoolId, Region, RegionId, RegionSet,
};
pub use plan::span::{Located, Span};
pub use scheme::{CloneScheme, Metrics, Scheme};
pub use setup::Setup;
pub use state::counters::{Counters, RegionCounters};
pub use state::latency::{BusyTime, LatencyBreakdown, LatencyPart, LatencyParts};
pub use state::op::{Class, Collecting, Op, OpId, Part, QueueEntry, Reason};
pub use state::region::WriteStream;
pub use state::request::{Effect, Fault, Outcome, Pending, Prefetch, RequestError, RequestId, Timer};
pub use state::times::ArrayTime;
pub use state::trim::trim_log_pages;
pub use state::without_effect::AnswersWithoutEffect;
pub use tables::Tables;
pub use view::View;
pub use wordline_counters::{Cause, Due, OpKind};
pub use wordline_hooks::hooks;
