//! The registers of a plane: what has them, and how long the plane has been busy.
//!
//! One register serves an operation from its begin to its end. With a cache register beside the page register a plane
//! may be at two operations: one whose data the array reads or programs, and one whose data the bus moves. A page that
//! was sensed goes over to the cache register as soon as that is free, and is brought out from there; a page that was
//! brought in waits there until the program before it has ended. Nothing comes between a program in the cache register
//! and the array, so a read waits for it, and a program does not go there while the page register may want it for a read.

use serde::{Deserialize, Serialize};
use wordline_flash::CacheRegister;
use wordline_ftl::{BusyTime, OpId, OpKind, QueueEntry};
use wordline_units::{SimDuration, SimTime};

/// What has a register, and how far it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RegisterUse {
    pub held: QueueEntry,
    /// Start time of the operation in the plane.
    pub began: SimTime,
    /// The moment between transfer and array time, whichever comes first.
    pub turned: SimTime,
    /// Time of the last sense of a read, and the array time of its retries before that.
    pub sensed: SimTime,
    pub again: SimDuration,
    /// Whether its data wait for the other register.
    pub waits: bool,
    /// With two registers, the busy time of the plane when the operation started.
    pub busy_before: BusyTime,
}

impl RegisterUse {
    pub const NOTHING: RegisterUse = RegisterUse {
        held: QueueEntry::NONE,
        began: SimTime(0),
        turned: SimTime(0),
        sensed: SimTime(0),
        again: SimDuration::ZERO,
        waits: false,
        busy_before: BusyTime::NOTHING,
    };
}

impl Default for RegisterUse {
    fn default() -> RegisterUse {
        RegisterUse::NOTHING
    }
}

/// What a plane with a cache register has besides.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct CacheRegisterUse {
    /// What has the cache register.
    cached: RegisterUse,
    /// How long a program could not have begun, as `busy` has it for reads.
    busy_for_programs: BusyTime,
    /// Until when both are counted.
    counted: SimTime,
}

/// What continues in a plane of two registers when an operation has left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// A page that was sensed is brought out.
    BringOut,
    /// A page that was brought in goes to the page register.
    BringIn,
    /// What is first in the queue.
    Offer,
}

/// The registers of a plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Registers {
    /// The operation that has the plane, or of two the one that has the page register.
    current: RegisterUse,
    /// What the cache register is used for.
    cache: CacheRegister,
    /// How long the plane has been busy with operations that have ended; where it has two registers, how long
    /// a read could not have begun, until `counted`.
    busy: BusyTime,
    /// What planes of one register do without: apart, since most have one, and each operation touches its plane.
    cache_register: Box<CacheRegisterUse>,
}

impl Registers {
    /// Free ones.
    pub fn new(cache: CacheRegister) -> Registers {
        let (current, busy) = (RegisterUse::NOTHING, BusyTime::default());
        Registers { current, cache, busy, cache_register: Box::default() }
    }

    /// Whether the plane has an operation.
    #[inline(always)]
    pub fn is_one(&self) -> bool {
        self.cache.is_off()
    }

    /// Whether sensed data leave through a register of their own.
    #[inline(always)]
    pub fn brings_out(&self) -> bool {
        self.cache.reads()
    }

    /// Whether another operation can get a register.
    #[inline(always)]
    pub fn may_begin(&self) -> bool {
        self.current.held.is_none() || !self.cache.is_off()
    }

    /// The operation in the only register, or in the page register of two.
    #[inline(always)]
    pub fn current(&self) -> &RegisterUse {
        &self.current
    }

    /// The operation in the cache register.
    pub fn cached(&self) -> &RegisterUse {
        &self.cache_register.cached
    }

    /// Whether an operation has the cache register.
    #[inline(always)]
    pub fn has_cached(&self, id: OpId) -> bool {
        !self.cache.is_off() && self.cache_register.cached.held.op == id
    }

    /// The register that an operation has.
    #[inline(always)]
    pub fn register(&self, id: OpId) -> &RegisterUse {
        if self.has_cached(id) { &self.cache_register.cached } else { &self.current }
    }

    #[inline(always)]
    fn register_mut(&mut self, id: OpId) -> &mut RegisterUse {
        if self.has_cached(id) { &mut self.cache_register.cached } else { &mut self.current }
    }

    /// The operation whose data are transferred next, if one has started.
    #[inline(always)]
    pub fn at_bus(&self) -> QueueEntry {
        let by_cache = !self.cache.is_off() && !self.cache_register.cached.held.is_none();
        if by_cache { self.cache_register.cached.held } else { self.current.held }
    }

    /// Assign an operation the only register, or, if there are two, the one that it uses first.
    #[inline(always)]
    pub fn give(&mut self, entry: QueueEntry, now: SimTime) {
        if self.is_one() {
            self.occupy(entry, now);
        } else {
            self.take_register(entry, now);
        }
    }

    /// Assign an operation the only register.
    #[inline(always)]
    pub fn occupy(&mut self, entry: QueueEntry, now: SimTime) {
        (self.current.held, self.current.began) = (entry, now);
    }

    /// Add this much array time for retries.
    #[inline(always)]
    pub fn note_again(&mut self, again: SimDuration) {
        self.current.again = again;
    }

    /// A read has been sensed, for the first time or again.
    #[inline(always)]
    pub fn note_sensed(&mut self, is_first: bool, now: SimTime) {
        if is_first {
            self.current.turned = now;
        }
        self.current.sensed = now;
    }

    /// The data of a program have been transferred in.
    #[inline(always)]
    pub fn note_brought(&mut self, now: SimTime) {
        self.current.turned = now;
    }

    /// The same, into the cache register.
    pub fn note_cached(&mut self, now: SimTime) {
        self.cache_register.cached.turned = now;
    }

    /// An operation continues with the contents of its register.
    pub fn note_goes_on(&mut self, id: OpId, now: SimTime) {
        let held = self.register_mut(id);
        (held.turned, held.sensed) = (now, now);
    }

    /// Release the only register when its operation ends.
    #[inline(always)]
    pub fn leave(&mut self, now: SimTime) {
        self.busy.add(self.current.held.cause(), now.since(self.current.began).0);
        self.current.held.op = OpId::NONE;
    }

    /// Suspend the operation that holds the only register. Returns its use of the register, and the busy time of the
    /// plane before it.
    pub fn suspend(&mut self, now: SimTime) -> (RegisterUse, BusyTime) {
        let before = (std::mem::replace(&mut self.current, RegisterUse::NOTHING), self.busy);
        self.busy.add(before.0.held.cause(), now.since(before.0.began).0);
        before
    }

    /// Resume a suspended operation.
    pub fn resume(&mut self, entry: QueueEntry, now: SimTime) {
        self.current =
            RegisterUse { held: entry, began: now, turned: now, sensed: now, ..RegisterUse::NOTHING };
    }

    /// Busy time from completed operations.
    pub fn busy(&self) -> BusyTime {
        self.busy
    }

    /// Busy time when the operation in a register started, if the plane has worked on that alone since.
    #[inline(always)]
    pub fn busy_before(&self, id: OpId) -> BusyTime {
        if self.cache.is_off() { self.busy } else { self.register(id).busy_before }
    }

    /// Busy time of the plane, including the operation in its only register.
    #[inline(always)]
    pub fn busy_until(&self, now: SimTime) -> BusyTime {
        let mut busy = self.busy;
        if !self.current.held.is_none() {
            busy.add(self.current.held.cause(), now.since(self.current.began).0);
        }
        busy
    }

    /// Restart at time 0.
    pub fn start_anew(&mut self) {
        self.cache_register.counted = SimTime(0);
    }

    /// Whether a program comes in by the cache register.
    fn is_cached(&self, entry: &QueueEntry) -> bool {
        self.cache.programs() && !entry.is_none() && entry.is_program() && entry.may_be_cached()
    }

    /// Whether an operation can get one of two registers.
    #[inline(never)]
    pub fn suit(&self, entry: &QueueEntry) -> bool {
        let (current, cached) = (&self.current.held, &self.cache_register.cached.held);
        if entry.is_program() {
            let follows = self.is_cached(current) && self.is_cached(entry);
            cached.is_none() && (current.is_none() || follows)
        } else {
            current.is_none() && (cached.is_none() || !cached.is_program())
        }
    }

    /// Assign an operation the register that it needs first: the cache register for one that continues with a page just
    /// read and for a program that may use it.
    pub fn take_register(&mut self, entry: QueueEntry, now: SimTime) {
        let busy_before = self.busy_for(entry.kind(), now);
        let by_cache = (entry.goes_on() && self.cache.reads()) || self.is_cached(&entry);
        let held = RegisterUse { held: entry, began: now, busy_before, ..RegisterUse::NOTHING };
        *(if by_cache { &mut self.cache_register.cached } else { &mut self.current }) = held;
    }

    /// An operation has ended.
    pub fn leave_register(&mut self, id: OpId, now: SimTime) {
        self.count_busy(now);
        *self.register_mut(id) = RegisterUse::NOTHING;
    }

    /// A page has been sensed. Returns whether the cache register is free for the page; otherwise the page waits.
    pub fn may_bring_out(&mut self) -> bool {
        self.current.waits = !self.cache_register.cached.held.is_none();
        !self.current.waits
    }

    /// A sensed page moves to the cache register.
    pub fn bring_out(&mut self, now: SimTime) {
        self.count_busy(now);
        self.cache_register.cached = std::mem::replace(&mut self.current, RegisterUse::NOTHING);
    }

    /// A page has been transferred into the cache register. It moves to the page register if that is free; otherwise it
    /// waits.
    pub fn bring_in(&mut self, now: SimTime) -> Option<QueueEntry> {
        self.cache_register.cached.waits = !self.current.held.is_none();
        if self.cache_register.cached.waits {
            return None;
        }
        self.count_busy(now);
        self.current = std::mem::replace(&mut self.cache_register.cached, RegisterUse::NOTHING);
        Some(self.current.held)
    }

    /// The operation that continues after another has released one of two registers.
    pub fn next(&self) -> Next {
        match (self.current.waits, self.cache_register.cached.waits) {
            (true, _) => Next::BringOut,
            (false, true) => Next::BringIn,
            (false, false) => Next::Offer,
        }
    }

    /// How long an operation of this kind could not have started in a plane with two registers, until now.
    pub fn busy_for(&mut self, kind: OpKind, now: SimTime) -> BusyTime {
        self.count_busy(now);
        if kind == OpKind::Program { self.cache_register.busy_for_programs } else { self.busy }
    }

    /// Add to what it has been busy with, before that changes.
    fn count_busy(&mut self, now: SimTime) {
        let (current, cached) = (self.current.held, self.cache_register.cached.held);
        let cached_is_program = !cached.is_none() && cached.is_program();
        let keeps_reads = if current.is_none() && cached_is_program { cached } else { current };
        let keeps_programs = if cached.is_none() && !self.is_cached(&current) { current } else { cached };
        let passed = now.since(self.cache_register.counted).0;
        self.cache_register.counted = now;
        if !keeps_reads.is_none() {
            self.busy.add(keeps_reads.cause(), passed);
        }
        if !keeps_programs.is_none() {
            self.cache_register.busy_for_programs.add(keeps_programs.cause(), passed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_counters::Cause;
    use wordline_units::PlaneId;

    const HOST: usize = 0;
    const GC: usize = 1;

    /// Operations with odd numbers are programs, of collection; reads are of the host.
    fn entry(id: u32) -> QueueEntry {
        let (kind, cause) =
            if id % 2 == 1 { (OpKind::Program, Cause::Gc) } else { (OpKind::Read, Cause::Host) };
        QueueEntry::new(OpId(id), PlaneId(0), 0, kind, cause).cached()
    }

    /// That an operation takes a register at a time.
    fn begin(registers: &mut Registers, id: u32, now: u64) {
        assert!(registers.suit(&entry(id)));
        registers.take_register(entry(id), SimTime(now));
    }

    #[test]
    fn plane_of_one_register_is_busy_from_begin_to_end() {
        let mut registers = Registers::new(CacheRegister::Off);
        registers.occupy(entry(1), SimTime(10));
        assert!(!registers.may_begin());
        let until = registers.busy_until(SimTime(25));
        assert_eq!((until.nanoseconds()[GC], registers.busy().nanoseconds()[GC]), (15, 0));
        registers.leave(SimTime(30));
        assert!(registers.may_begin());
        assert_eq!(registers.busy_until(SimTime(99)).nanoseconds(), [0, 20, 0]);
    }

    // And the time that it has taken so far counts.
    #[test]
    fn suspended_operation_frees_the_register() {
        let mut registers = Registers::new(CacheRegister::Off);
        let entry_of_host = QueueEntry::new(OpId(1), PlaneId(0), 0, OpKind::Program, Cause::Host);
        registers.occupy(entry_of_host, SimTime(10));
        let (held, before) = registers.suspend(SimTime(14));
        assert_eq!((held.held.op, held.began, before), (OpId(1), SimTime(10), BusyTime::NOTHING));
        assert!(registers.may_begin());
        assert_eq!(registers.busy().nanoseconds()[HOST], 4);
        registers.resume(entry(1), SimTime(50));
        assert_eq!(registers.current().held.op, OpId(1));
    }

    #[test]
    fn next_page_is_sensed_while_one_is_brought_out() {
        let mut registers = Registers::new(CacheRegister::Read);
        begin(&mut registers, 2, 0);
        assert!(!registers.suit(&entry(4)));
        assert!(registers.may_bring_out());
        registers.bring_out(SimTime(5));
        begin(&mut registers, 4, 5);
        // The bus is not through with the first.
        assert!(!registers.may_bring_out());
        registers.leave_register(OpId(2), SimTime(9));
        assert_eq!((registers.next(), registers.at_bus().op), (Next::BringOut, OpId(4)));
        // A read could not have begun from 0 to 9.
        assert_eq!(registers.busy_for(OpKind::Read, SimTime(9)).nanoseconds()[HOST], 9);
    }

    #[test]
    fn next_page_loads_during_a_program_and_nothing_between() {
        let mut registers = Registers::new(CacheRegister::Program);
        begin(&mut registers, 1, 0);
        assert!(registers.has_cached(OpId(1)));
        assert_eq!(registers.bring_in(SimTime(3)), Some(entry(1)));
        assert!(!registers.suit(&entry(2)));
        begin(&mut registers, 3, 3);
        assert_eq!(registers.bring_in(SimTime(6)), None);
        assert!(!registers.suit(&entry(5)));
        registers.leave_register(OpId(1), SimTime(10));
        assert!(!registers.suit(&entry(2)));
        assert_eq!(registers.next(), Next::BringIn);
        assert_eq!(registers.bring_in(SimTime(10)), Some(entry(3)));
        assert!(registers.suit(&entry(5)));
    }
}
