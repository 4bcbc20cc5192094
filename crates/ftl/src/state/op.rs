//! A flash operation, from its decision to its completion: plain data in a slab, which can be saved in mid-flight.

use crate::plan::decision::{PlanePick, Route};
use crate::plan::region::RegionId;
use crate::plan::span::Span;
pub use crate::state::id::OpId;
pub(crate) use crate::state::id::{NONE, RequestId};
use serde::{Deserialize, Serialize};
use wordline_counters::{Cause, OpKind};
use wordline_device::ServiceOrder;
use wordline_flash::{Retries, SlotClass};
use wordline_units::{BlockId, Lpn, PlaneId, Ppn, SectorMask};

/// Who waits for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Owner {
    /// A host request.
    Request(RequestId),
    /// Nobody, though the data are the host's: the request has been answered from RAM, or the drive wrote for itself.
    Answered,
    /// A program that lacks the sectors this read brings.
    Rmw(OpId),
    /// GC of a region in the plane of the data.
    Job(RegionId),
    /// Collected programs that gather their pages from several places, of which this read brings one.
    Gather,
    /// A move requested by the scheme, with the host program that waits for it, if any.
    Move(OpId),
    /// A moved unit that is written with the rest of its page, which this read brings.
    Rewrite(OpId),
    /// Waiters for an entry of the map page that this read fetches.
    Map,
    /// The other programs of a superpage, whose parity this program writes.
    Parity,
    /// Nobody any more.
    Nobody,
}

impl Owner {
    /// Whether the data belong to the host, whoever waits for them.
    #[inline(always)]
    pub const fn is_host(self) -> bool {
        matches!(self, Owner::Request(_) | Owner::Answered)
    }

    /// The request that waits.
    #[inline(always)]
    pub const fn request(self) -> Option<RequestId> {
        if let Owner::Request(id) = self { Some(id) } else { None }
    }
}

/// Order of service: lower classes first, first come first served within a class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum Class {
    /// Work of a job that holds its die.
    Held = 0,
    /// Reads of the host, and of map pages that it waits for.
    Read = 1,
    /// Collection that cannot wait.
    Urgent = 2,
    /// Writes of the host, and the reads they need.
    Write = 3,
    /// Everything else.
    Background = 4,
}

impl Class {
    /// Number of classes.
    pub const COUNT: usize = 5;
}

/// A logical page that an operation reads or writes, for those who watch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The page.
    pub lpn: Lpn,
    /// Its current or future place.
    pub ppn: Ppn,
    /// Sectors of it.
    pub sectors: u32,
    /// Why.
    pub cause: Cause,
}

/// A block being emptied, for those who watch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Collecting {
    /// The block.
    pub block: BlockId,
    /// The region that it is emptied for.
    pub region: RegionId,
    /// Why.
    pub reason: Reason,
    /// Erased blocks that its region can open in its plane at this moment.
    pub free_blocks: u32,
    /// Slots that its region can program in its plane at this moment, those of open blocks among them.
    pub free_slots: u64,
    /// Its current share of valid data, in percent.
    pub valid_percent: u8,
}

/// The reason for emptying a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Its region runs short of space.
    Shortage,
    /// The drive has nothing else to do.
    Idleness,
    /// It shall wear like the others.
    Levelling,
    /// Its data are old, or were read too often.
    Refresh,
}

/// The part of an operation in a queue, which needs no look-up: four numbers, because it is copied at each step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QueueEntry {
    /// Its order of service: the rank in the top byte, and arrival below.
    pub key: u64,
    /// The operation.
    pub op: OpId,
    /// The plane that works on it.
    pub plane: PlaneId,
    /// Kind, cause, class and the bits below.
    traits: u32,
}

const CAUSE: u32 = 2;
const CLASS: u32 = 5;
const SERVES_HOST: u32 = 8;
const IDLE: u32 = 9;
const CACHED: u32 = 10;
const GOES_ON: u32 = 11;

impl QueueEntry {
    /// The entry of no operation.
    pub const NONE: QueueEntry = QueueEntry { key: u64::MAX, op: OpId::NONE, plane: PlaneId(0), traits: 0 };

    /// The entry of an operation in a plane, of this kind and cause.
    #[inline(always)]
    pub const fn new(op: OpId, plane: PlaneId, key: u64, kind: OpKind, cause: Cause) -> QueueEntry {
        QueueEntry { key, op, plane, traits: kind as u32 | (cause as u32) << CAUSE }
    }

    /// The same for a program that can be transferred while another is in progress in its plane.
    pub const fn cached(self) -> QueueEntry {
        QueueEntry { traits: self.traits | 1 << CACHED, ..self }
    }

    /// The same of an operation that has got its number.
    #[inline(always)]
    pub(crate) const fn numbered(self, op: OpId) -> QueueEntry {
        QueueEntry { op, ..self }
    }

    /// That of an operation, by its number.
    #[inline(always)]
    pub(crate) fn of(id: OpId, op: &Op, has_windows: bool) -> QueueEntry {
        let entry = QueueEntry::new(id, op.plane, op.key, op.kind, op.cause);
        let traits = (op.class as u32) << CLASS
            | u32::from(op.owner.is_host()) << SERVES_HOST
            | u32::from(op.idle) << IDLE
            | u32::from(!op.copies && !has_windows) << CACHED
            | u32::from(op.to_bring.is_some()) << GOES_ON;
        QueueEntry { traits: entry.traits | traits, ..entry }
    }

    /// Whether it is the entry of no operation.
    #[inline(always)]
    pub const fn is_none(&self) -> bool {
        self.op.is_none()
    }

    /// Its rank among those that wait, lower ones first.
    #[inline(always)]
    pub const fn rank(&self) -> usize {
        (self.key >> 56) as usize
    }

    /// The operation of the die.
    #[inline(always)]
    pub const fn kind(&self) -> OpKind {
        const KINDS: [OpKind; 4] = [OpKind::Read, OpKind::Program, OpKind::Erase, OpKind::Erase];
        KINDS[(self.traits & 3) as usize]
    }

    /// Whether it is a read.
    #[inline(always)]
    pub const fn is_read(&self) -> bool {
        self.traits & 3 == OpKind::Read as u32
    }

    /// Whether it is a program.
    #[inline(always)]
    pub const fn is_program(&self) -> bool {
        self.traits & 3 == OpKind::Program as u32
    }

    /// Its cause.
    #[inline(always)]
    pub const fn cause(&self) -> Cause {
        use Cause::*;
        const CAUSES: [Cause; 8] = [Host, Gc, Migrate, Pad, Metadata, Rmw, Parity, Parity];
        CAUSES[(self.traits >> CAUSE & 7) as usize]
    }

    /// Its class.
    pub const fn class(&self) -> Class {
        use Class::*;
        const CLASSES: [Class; 8] =
            [Held, Read, Urgent, Write, Background, Background, Background, Background];
        CLASSES[(self.traits >> CLASS & 7) as usize]
    }

    #[inline(always)]
    const fn has(&self, bit: u32) -> bool {
        self.traits >> bit & 1 != 0
    }

    /// Whether its data are the host's.
    #[inline(always)]
    pub const fn serves_host(&self) -> bool {
        self.has(SERVES_HOST)
    }

    /// Whether it is idle work.
    #[inline(always)]
    pub const fn is_idle_work(&self) -> bool {
        self.has(IDLE)
    }

    /// Whether a program may be transferred while another is in progress in its plane: not a copy, which reads itself,
    /// nor a program that adds bits to wordlines still to be programmed.
    pub const fn may_be_cached(&self) -> bool {
        self.has(CACHED)
    }

    /// Whether it is a read that continues with the contents of its plane's register.
    pub const fn goes_on(&self) -> bool {
        self.has(GOES_ON)
    }
}

/// One operation, or a further part of a program that writes several units.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Op {
    /// Next part of the same program.
    pub(crate) chain: OpId,
    pub(crate) lpn: Lpn,
    /// Source of a read, or the bound place of a program.
    pub ppn: Ppn,
    /// Place that a relocation takes its data from.
    pub(crate) from: Ppn,
    pub(crate) owner: Owner,
    /// For a waiting program: the outstanding reads and moves before it.
    pub(crate) awaits: u32,
    /// Of a further part of a host program: the first, which counts what is awaited for all.
    pub(crate) lead: OpId,
    pub(crate) mask: SectorMask,
    pub(crate) stage: u32,
    /// Arrival number of the host write that the data come from.
    pub(crate) version: u64,
    /// Order of service: rank in the top byte, that of its class unless the drive has another order, and arrival
    /// below.
    pub key: u64,
    pub(crate) route: Route,
    /// Of a move's read and a host program: how the plane is chosen that it goes to.
    pub(crate) pick: PlanePick,
    /// The plane that works on it.
    pub plane: PlaneId,
    /// Kind of operation of the die.
    pub kind: OpKind,
    pub(crate) cause: Cause,
    pub(crate) class: Class,
    /// Which of the program's slots this part fills.
    pub(crate) slot: u8,
    /// First physical sector within the slot.
    pub(crate) offset: u8,
    /// Slots that the whole program covers.
    pub(crate) slots: u8,
    /// May open the last free block of a plane.
    pub(crate) privileged: bool,
    /// A relocation that counts among those its job has outstanding at a time.
    pub(crate) in_window: bool,
    /// The class of the slot that a program is bound to.
    pub(crate) bound_class: SlotClass,
    /// Done because the drive had nothing else to do.
    pub(crate) idle: bool,
    /// A copy within the plane, by the flash itself: its data are not read before nor moved over the bus.
    pub(crate) copies: bool,
    /// A move that has a place in the buffer of the region that it goes to.
    pub(crate) buffered: bool,
    /// For a started read, its number of retries.
    pub(crate) retries: Retries,
    /// For a read, its retries so far.
    pub(crate) repeated: u8,
    /// For a read whose page is in the plane's register, the sectors still to be transferred.
    pub(crate) to_bring: Option<u8>,
}

impl Op {
    #[inline(always)]
    pub(crate) fn new(kind: OpKind, plane: PlaneId, cause: Cause, class: Class) -> Op {
        Op {
            chain: OpId::NONE,
            lpn: Lpn::NONE,
            ppn: Ppn::NONE,
            from: Ppn::NONE,
            owner: Owner::Nobody,
            awaits: 0,
            lead: OpId::NONE,
            mask: SectorMask::EMPTY,
            stage: NONE,
            version: 0,
            key: 0,
            route: Route::NOWHERE,
            pick: PlanePick::Home,
            plane,
            kind,
            cause,
            class,
            slot: 0,
            offset: 0,
            slots: 1,
            privileged: false,
            in_window: true,
            bound_class: SlotClass::Next,
            idle: false,
            copies: false,
            buffered: false,
            retries: Retries::default(),
            repeated: 0,
            to_bring: None,
        }
    }

    /// Its rank in an order of service.
    #[inline(always)]
    fn rank(&self, order: ServiceOrder) -> u64 {
        match (order, self.class) {
            (ServiceOrder::ReadFirst, class) => class as u64,
            (_, Class::Held) => Class::Held as u64,
            (ServiceOrder::FirstCome, _) => 1,
            (ServiceOrder::Shortest, _) => 1 + self.kind as u64,
            (ServiceOrder::Shares, class) => 1 + self.share_of(class) as u64,
        }
    }

    /// The kind of work whose share it takes, by number: reads of the host, writes of the host with what they need,
    /// collection, and all else.
    fn share_of(&self, class: Class) -> usize {
        match class {
            Class::Held | Class::Urgent => 2,
            _ if self.cause == Cause::Gc => 2,
            Class::Read => 0,
            Class::Write => 1,
            Class::Background => 3,
        }
    }

    #[inline(always)]
    pub(crate) fn span(&self) -> Span {
        Span { lpn: self.lpn, mask: self.mask, offset: self.offset }
    }

    /// Its number among all operations of the run. It is unique, unlike its index in the slab.
    pub fn number(&self) -> u64 {
        self.key & (u64::MAX >> 8)
    }

    /// Number of retries of a read that has started.
    pub fn retries(&self) -> Retries {
        self.retries
    }

    /// Number of failed attempts of a read whose data were transferred.
    pub fn repeated(&self) -> u8 {
        self.repeated
    }

    /// Its class.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Its cause.
    pub fn cause(&self) -> Cause {
        self.cause
    }
}

/// The slab.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ops {
    ops: Vec<Op>,
    free: Vec<u32>,
    sequence: u64,
    order: ServiceOrder,
}

impl Ops {
    /// An empty list of operations, served in an order.
    pub fn served(order: ServiceOrder) -> Ops {
        Ops { order, ..Ops::default() }
    }

    #[inline(always)]
    pub fn add(&mut self, op: Op) -> OpId {
        let i = self.free.pop().unwrap_or_else(|| self.further());
        self.ops[i as usize] = op;
        OpId(i)
    }

    #[cold]
    fn further(&mut self) -> u32 {
        self.ops.push(Op::new(OpKind::Read, PlaneId(0), Cause::Host, Class::Read));
        self.ops.len() as u32 - 1
    }

    #[inline]
    pub fn remove(&mut self, id: OpId) {
        self.free.push(id.0);
    }

    /// Give an operation its place in the order of its class.
    #[inline]
    pub fn stamp(&mut self, id: OpId) -> &Op {
        self.sequence += 1;
        let op = &mut self.ops[id.index()];
        op.key = op.rank(self.order) << 56 | self.sequence;
        op
    }

    /// The place of a new operation in the order.
    #[inline]
    pub fn next_turn(&mut self, op: &Op) -> u64 {
        self.sequence += 1;
        op.rank(self.order) << 56 | self.sequence
    }

    /// The operations of a chain, from its first on.
    #[inline]
    pub fn chain(&self, lead: OpId) -> impl Iterator<Item = OpId> + '_ {
        std::iter::successors(Some(lead), |id| Some(self[*id].chain).filter(|next| !next.is_none()))
    }

    /// The operations that have not ended.
    pub fn alive(&self) -> Vec<OpId> {
        let mut alive = vec![true; self.ops.len()];
        for i in &self.free {
            alive[*i as usize] = false;
        }
        (0..self.ops.len() as u32).filter(|i| alive[*i as usize]).map(OpId).collect()
    }

    /// Forget the history: ended operations, and when the others got their place in the order.
    pub fn forget_history(&mut self) {
        let alive = self.alive();
        let mut gone = vec![true; self.ops.len()];
        alive.iter().for_each(|id| gone[id.index()] = false);
        self.ops.truncate(alive.last().map_or(0, |last| last.index() + 1));
        self.free = (0..self.ops.len() as u32).rev().filter(|i| gone[*i as usize]).collect();
        for i in &self.free {
            self.ops[*i as usize] = Op::new(OpKind::Read, PlaneId(0), Cause::Host, Class::Read);
        }
        for id in alive {
            let key = &mut self.ops[id.index()].key;
            *key = *key >> 56 << 56;
        }
        self.sequence = 0;
    }

    pub fn capacity(&self) -> usize {
        self.ops.len()
    }

    pub fn live(&self) -> usize {
        self.ops.len() - self.free.len()
    }
}

impl std::ops::Index<OpId> for Ops {
    type Output = Op;
    #[inline(always)]
    fn index(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }
}

impl std::ops::IndexMut<OpId> for Ops {
    #[inline(always)]
    fn index_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.ops[id.index()]
    }
}

#[cfg(test)]
mod tests;
