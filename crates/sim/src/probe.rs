//! What can be watched of a device at work. A run that watches nothing pays nothing.

use crate::completion::Completion;
use wordline_ftl::{Cause, Class, Collecting, OpKind, Part, RegionId};
use wordline_units::{BlockId, CellMode, ChannelId, DieId, HostOp, PageType, PlaneId, Ppn, SimTime};

/// A flash operation as it begins: what it does, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Begin {
    /// Its number, unique in the run.
    pub op: u64,
    /// Kind of operation.
    pub kind: OpKind,
    /// Its cause; for a program of several pages that of its first part.
    pub cause: Cause,
    /// The region that owns the block.
    pub region: RegionId,
    /// On which channel.
    pub channel: ChannelId,
    /// On which die.
    pub die: DieId,
    /// In which plane.
    pub plane: PlaneId,
    /// At which place; the first of them for a program of several pages.
    pub ppn: Ppn,
    /// Number of slots, from that place on.
    pub slots: u32,
    /// In which mode the block is.
    pub mode: CellMode,
    /// Which bit of the wordline the page is.
    pub page: PageType,
    /// Bytes that it moves over the bus.
    pub bytes: u64,
    /// The source block of its first data, if a program moves them.
    pub from: Option<BlockId>,
    /// The block being emptied, if the operation is a part of that.
    pub empties: Option<Collecting>,
}

/// A use of a resource by a flash operation, from `start` to `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The array of a die works.
    Array {
        /// The operation, by its number in the run.
        op: u64,
        /// What it does.
        kind: OpKind,
        /// Why.
        cause: Cause,
        /// On which die.
        die: DieId,
        /// In which plane.
        plane: PlaneId,
        /// At which place; the first of them for a program of several pages.
        ppn: Ppn,
        /// In which mode the block is.
        mode: CellMode,
        /// Which bit of the wordline the page is.
        page: PageType,
        /// How often a read is repeated, in this use or in further ones.
        retries: u8,
        /// Begin.
        start: SimTime,
        /// End.
        end: SimTime,
    },
    /// A bus moves data.
    Bus {
        /// The operation.
        op: u64,
        /// On which channel.
        channel: ChannelId,
        /// From or to which plane.
        plane: PlaneId,
        /// How many.
        bytes: u64,
        /// Begin.
        start: SimTime,
        /// End.
        end: SimTime,
    },
    /// A plane has ended an operation and is ready for the next.
    Ready {
        /// The operation.
        op: u64,
        /// The plane.
        plane: PlaneId,
        /// When.
        at: SimTime,
    },
}

/// A moment at which a request or an operation continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// A request arrives at the drive, whose buffer may yet hold it up.
    Submitted {
        /// Its number in the run.
        request: u64,
        /// What it asks.
        op: HostOp,
        /// When.
        at: SimTime,
    },
    /// An operation takes its place in the queue of a plane.
    Queued {
        /// The operation, by its number in the run.
        op: u64,
        /// Its place in the order of service.
        class: Class,
        /// The plane.
        plane: PlaneId,
        /// The block that is emptied by it, if it is a part of that.
        empties: Option<Collecting>,
        /// When.
        at: SimTime,
    },
    /// A program finds no free page, and is set aside until there may be one.
    Blocked {
        /// The operation.
        op: u64,
        /// When.
        at: SimTime,
    },
    /// A request is over but for the host link, as an operation ends that its last piece was in or waited for.
    Decided {
        /// The request, by its number in the run.
        request: u64,
        /// The operation.
        op: u64,
        /// When.
        at: SimTime,
    },
}

/// Observer of every use of a resource.
pub trait Probe {
    /// Whether events are wanted at all.
    const WATCHES: bool;
    /// Something begins.
    fn event(&mut self, event: Event);
    /// An operation begins, with the logical pages that it is about; the event of its first use
    /// follows.
    fn begin(&mut self, _: &Begin, _: impl Iterator<Item = Part>) {}
    /// A request or an operation continues.
    fn moment(&mut self, _: Moment) {}
    /// A request has ended.
    fn completion(&mut self, _: &Completion) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    const WATCHES: bool = false;
    #[inline(always)]
    fn event(&mut self, _: Event) {}
}

/// Keeps every event.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// In order of their start.
    pub events: Vec<Event>,
}

impl Probe for Log {
    const WATCHES: bool = true;
    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}
