//! The bench device: it takes what the translation layer asks for, and begins and ends operations in an order that the
//! test chooses. Each plane is at one operation at a time, and a die that a job holds at that job's alone; of all else
//! nothing is promised, so what a read finds must be right in any order.

mod device;
mod schemes;
mod truth;

pub use device::{Drive, drive};
pub use schemes::*;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::MutexGuard;
use truth::Truth;
use wordline_ftl::drive::{self, Driver, Waiting};
use wordline_ftl::{
    Binding, Bytes, Cause, Class, Ftl, HostData, OpId, OpKind, Outcome, Part, PowerLossImage, QueueEntry,
    RequestId, Timer,
};
use wordline_units::{Attributes, HostOp, HostRequest, SimDuration, SimTime};

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// Which of the operations that could begin or end does so next.
#[derive(Clone, Debug)]
pub enum Order {
    /// What came first, and all begin that can before any ends.
    First,
    /// What came last, and what has begun last ends first.
    Last,
    /// Any.
    Shuffled(Rng),
}

/// A request that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub number: u64,
    pub outcome: Outcome,
}

/// An operation that has begun.
#[derive(Clone, Debug)]
pub struct Begun {
    pub kind: OpKind,
    pub cause: Cause,
    pub parts: Vec<Part>,
    pub time: SimDuration,
}

struct Asked {
    request: HostRequest,
    at: u64,
    expected: Expected,
}

/// What a read must find.
enum Expected {
    /// The newest data as it came, sector by sector, where they are known.
    Newest(Vec<Option<u64>>),
    /// After a power cut, some data that may be left, which are the newest then.
    OneOfThoseLeft,
}

/// The device.
pub struct Bench {
    pub ftl: Ftl,
    pub drive: Drive,
    told: Told,
    pub order: Order,
    /// Operations that have not begun, in the order in which they came; those that are under way; and programs without
    /// a slot, with requests that are held up.
    pub queue: Vec<OpId>,
    pub under_way: Vec<OpId>,
    pub waiting: Waiting,
    pub timers: Vec<(SimTime, Timer)>,
    /// Operations that neither begin nor end for now.
    pub kept: Vec<OpId>,
    pub now: SimTime,
    /// How long after the last one an operation ends.
    pub tick: u64,
    pub truth: Truth,
    asked: BTreeMap<u64, Asked>,
    numbers: u64,
    pub ended: Vec<Ended>,
    pub log: Vec<Begun>,
    idle: bool,
    /// Whether requests may fail.
    pub may_fail: bool,
}

impl Bench {
    pub fn new(plan: Plan, keys: &[(&str, &str)]) -> Bench {
        let (drive, told) = (drive(keys), Told::new(plan));
        let ftl = Ftl::over(&drive.info(), Box::new(told.clone()), Bytes::default())
            .unwrap_or_else(|e| panic!("{e}"));
        Bench::around(ftl, drive, told)
    }

    fn around(ftl: Ftl, drive: Drive, told: Told) -> Bench {
        let per_page = drive.spec.unit.0 / 512;
        let truth = Truth::new(ftl.inspect().logical_lbas(), per_page, ftl.layout().map.knows_sectors());
        Bench {
            waiting: Waiting::new(drive.geometry.planes),
            ftl,
            drive,
            told,
            order: Order::First,
            queue: vec![],
            under_way: vec![],
            timers: vec![],
            kept: vec![],
            now: SimTime(0),
            tick: 1_000,
            truth,
            asked: BTreeMap::new(),
            numbers: 0,
            ended: vec![],
            log: vec![],
            idle: false,
            may_fail: false,
        }
    }

    /// The layer of such a drive, as it was in the beginning.
    pub fn fresh(&self) -> Ftl {
        Ftl::over(&self.drive.info(), Box::new(self.told.clone()), Bytes::default())
            .unwrap_or_else(|e| panic!("{e}"))
    }

    /// What its scheme does next.
    pub fn orders(&self) -> MutexGuard<'_, Orders> {
        self.told.orders()
    }

    // What the host asks.

    pub fn ask(&mut self, request: HostRequest) -> u64 {
        let (number, request) = (self.numbers, request.at(self.now));
        self.ftl.validate(&request, number).unwrap();
        self.numbers += 1;
        self.idle = false;
        drive::submit(self, request, number, HostData::NONE);
        drive::settle(self);
        number
    }

    /// Write, read or trim sectors of a page.
    pub fn write(&mut self, page: u64, from: u64, sectors: u32) -> u64 {
        self.ask(HostRequest::new(HostOp::Write, page * 4 + from, sectors))
    }

    pub fn read(&mut self, page: u64, from: u64, sectors: u32) -> u64 {
        self.ask(HostRequest::new(HostOp::Read, page * 4 + from, sectors))
    }

    pub fn trim(&mut self, page: u64, from: u64, sectors: u32) -> u64 {
        self.ask(HostRequest::new(HostOp::Trim, page * 4 + from, sectors))
    }

    pub fn flush(&mut self) -> u64 {
        self.ask(HostRequest::new(HostOp::Flush, 0, 0))
    }

    pub fn forced(&mut self, page: u64, from: u64, sectors: u32) -> u64 {
        let request = HostRequest::new(HostOp::Write, page * 4 + from, sectors);
        self.ask(HostRequest { attributes: Attributes::FUA, ..request })
    }

    /// Whole pages, one after the other, each on flash before the next.
    pub fn fill(&mut self, pages: impl IntoIterator<Item = u64>) {
        for page in pages {
            self.write(page, 0, 4);
            self.run();
        }
    }

    /// Read the whole drive: every sector is the newest.
    pub fn verify(&mut self) {
        let sectors = self.truth.sectors();
        for lba in (0..sectors).step_by(8) {
            self.ask(HostRequest::new(HostOp::Read, lba, (sectors - lba).min(8) as u32));
        }
        self.run();
        self.check();
    }

    pub fn check(&mut self) {
        self.ftl.tables().check().unwrap_or_else(|e| panic!("{e}"));
    }

    pub fn has_ended(&self, number: u64) -> bool {
        self.ended.iter().any(|e| e.number == number)
    }

    pub fn outstanding(&self) -> u32 {
        self.ftl.outstanding() + self.waiting.requests().len() as u32
    }

    // Operations.

    /// Operations that could begin now.
    pub fn startable(&self) -> Vec<OpId> {
        let busy: BTreeSet<u32> = self.under_way.iter().map(|id| self.ftl.op(*id).plane.0).collect();
        let may = |id: &&OpId| {
            let op = self.ftl.op(**id);
            let held = self.ftl.is_held(self.drive.geometry.die_of(op.plane));
            !busy.contains(&op.plane.0) && !self.kept.contains(id) && (!held || op.class() == Class::Held)
        };
        self.queue.iter().filter(may).copied().collect()
    }

    /// Begin an operation. Returns whether it has begun: a program may find no slot, or join others.
    pub fn begin(&mut self, id: OpId) -> bool {
        self.queue.retain(|queued| *queued != id);
        let begins = self.ftl.op(id).kind != OpKind::Program || drive::bind(self, id) == Binding::Bound;
        if begins {
            self.under_way.push(id);
            self.go_to_work(id);
        }
        drive::settle(self);
        begins
    }

    fn go_to_work(&mut self, id: OpId) {
        let time = self.ftl.begin_on_array(id).all;
        let op = self.ftl.op(id);
        let (kind, cause) = (op.kind, op.cause());
        let parts = self.ftl.operation(id).parts().collect();
        self.log.push(Begun { kind, cause, parts, time });
    }

    /// End an operation that is under way.
    pub fn end(&mut self, id: OpId) {
        while self.ftl.op(id).kind == OpKind::Read && self.ftl.repeat(id) {
            self.ftl.begin_on_array(id);
        }
        self.let_pass(self.tick);
        self.under_way.retain(|under_way| *under_way != id);
        let die = self.drive.geometry.die_of(self.ftl.op(id).plane);
        let next = drive::end(self, id, die);
        self.under_way.extend(next.map(|next| next.op));
        drive::settle(self);
    }

    /// Begin and end an operation.
    pub fn perform(&mut self, id: OpId) {
        if self.begin(id) {
            self.end(id);
        }
    }

    /// The first operation of a kind and cause that has not begun.
    pub fn queued(&self, kind: OpKind, cause: Cause) -> Option<OpId> {
        let is = |id: &&OpId| self.ftl.op(**id).kind == kind && self.ftl.op(**id).cause() == cause;
        self.queue.iter().find(is).copied()
    }

    /// One operation begins or ends. Returns whether any could.
    pub fn step(&mut self) -> bool {
        assert_eq!(self.ftl.fault(), None);
        let begin = self.startable();
        let end: Vec<OpId> = self.under_way.iter().filter(|id| !self.kept.contains(id)).copied().collect();
        let all = begin.len() + end.len();
        if all == 0 {
            return false;
        }
        let next = match &mut self.order {
            Order::First => 0,
            Order::Last if begin.is_empty() => end.len() - 1,
            Order::Last => begin.len() - 1,
            Order::Shuffled(rng) => rng.below(all as u64) as usize,
        };
        match begin.get(next) {
            Some(id) => _ = self.begin(*id),
            None => self.end(end[next - begin.len()]),
        }
        true
    }

    /// Operations begin and end as long as any can, without timers.
    pub fn settle(&mut self) {
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < 100_000, "operations come without end: {}", self.ftl.inspect().leftovers());
        }
        assert_eq!(self.ftl.fault(), None);
    }

    /// Everything that is pending happens, timers too, until nothing is left but what is kept.
    pub fn run(&mut self) {
        let mut rings = 0;
        loop {
            self.settle();
            let awaited = self.outstanding() > 0 && self.kept.is_empty();
            if !self.ring() && !drive::last_resort(self, awaited) {
                break;
            }
            rings += 1;
            assert!(rings < 1_000, "timers ring without end: {:?}, {}", self.timers, self.state());
        }
        assert!(self.outstanding() == 0 || !self.kept.is_empty(), "{}", self.ftl.inspect().leftovers());
    }

    /// What is left, in words.
    fn state(&self) -> String {
        let told = |ids: &[OpId]| ids.iter().map(|id| format!("{:?}", self.ftl.op(*id))).collect::<Vec<_>>();
        let waiting: Vec<OpId> = self.waiting.programs().collect();
        let (queue, waiting) = (told(&self.queue), told(&waiting));
        format!("{}, queue {queue:?}, waiting {waiting:?}", self.ftl.inspect().leftovers())
    }

    /// The first timer is due. Returns whether there was one.
    pub fn ring(&mut self) -> bool {
        let Some(first) = (0..self.timers.len()).min_by_key(|i| self.timers[*i].0) else { return false };
        let (at, timer) = self.timers.remove(first);
        self.let_pass(at.0.saturating_sub(self.now.0));
        drive::ring(self, timer);
        drive::release_idle_dies(self);
        true
    }

    /// So much time passes without an event.
    pub fn let_pass(&mut self, time: u64) {
        self.now = SimTime(self.now.0 + time);
        self.ftl.at(self.now);
    }

    /// The drive has nothing to do: idle dies are asked for work until they have none.
    pub fn rest(&mut self) {
        self.idle = true;
        drive::ask_all_idle(self);
        self.settle();
    }

    /// The run is over: all that waits goes to flash.
    pub fn drain(&mut self) {
        drive::drain(self);
        self.rest();
        self.run();
        drive::drain(self);
        self.run();
        assert!(self.ftl.inspect().is_quiet(), "{}", self.ftl.inspect().leftovers());
        self.check();
    }

    // Power.

    /// The power fails now, and comes back: what is under way is torn, and every sector must be one of those that may
    /// be left.
    pub fn cut(self) -> Bench {
        let spoiled: Vec<OpId> = self.under_way.clone();
        self.cut_with(&spoiled, |_| {})
    }

    pub fn cut_with(self, spoiled: &[OpId], look: impl Fn(&PowerLossImage)) -> Bench {
        let mut bench = self.recovered(spoiled, look);
        bench.find_what_is_left();
        bench
    }

    fn recovered(self, spoiled: &[OpId], look: impl Fn(&PowerLossImage)) -> Bench {
        let Bench { ftl, drive, told, order, now, tick, truth, numbers, may_fail, .. } = self;
        let image = ftl.power_cut(spoiled);
        look(&image);
        let scheme = Box::new(told.clone());
        let (ftl, ready) = Ftl::recover(&drive.info(), scheme, image, now).unwrap_or_else(|e| panic!("{e}"));
        let mut bench = Bench { order, tick, truth, may_fail, ..Bench::around(ftl, drive, told) };
        (bench.now, bench.numbers) = (ready, numbers);
        drive::settle(&mut bench);
        bench
    }

    /// The same, without a look at what is left.
    pub fn cut_without_reading(self) -> Bench {
        self.recovered(&[], |_| {})
    }

    fn find_what_is_left(&mut self) {
        for lba in (0..self.truth.sectors()).step_by(4) {
            let request = HostRequest::new(HostOp::Read, lba, 4).at(self.now);
            self.asked.insert(self.numbers, Asked { request, at: 0, expected: Expected::OneOfThoseLeft });
            self.ftl.submit(request, self.numbers, HostData::NONE);
            self.numbers += 1;
        }
        drive::settle(self);
        self.run();
        self.check();
    }
}

impl Driver for Bench {
    fn layer(&self) -> &Ftl {
        &self.ftl
    }

    fn layer_mut(&mut self) -> &mut Ftl {
        self.ftl.at(self.now)
    }

    fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    fn waiting_mut(&mut self) -> &mut Waiting {
        &mut self.waiting
    }

    fn enqueue(&mut self, entry: QueueEntry) {
        self.queue.push(entry.op);
    }

    fn enqueue_first(&mut self, entry: QueueEntry) {
        self.queue.insert(0, entry.op);
    }

    fn set_timer(&mut self, at: SimTime, timer: Timer) {
        self.timers.push((at, timer));
    }

    fn admit(&mut self, request: HostRequest, number: u64, _: HostData<'_>) {
        let stamp = number + 1;
        let expected =
            Expected::Newest(if request.op == HostOp::Read { self.truth.newest(&request) } else { vec![] });
        let at = self.truth.asked(&request, stamp);
        self.asked.insert(number, Asked { request, at, expected });
        self.ftl.submit(request, number, HostData::Bytes(&truth::bytes(&request, stamp)));
    }

    fn refuse(&mut self, request: HostRequest, number: u64) {
        let at = self.truth.asked(&request, number + 1);
        self.asked.insert(number, Asked { request, at, expected: Expected::Newest(vec![]) });
        drive::refuse(&mut self.ftl, request, number);
    }

    fn complete(&mut self, id: RequestId) {
        let (number, outcome) = (self.ftl.pending(id).number, self.ftl.pending(id).outcome);
        let data = self.ftl.release(id);
        let Asked { request, at, expected } = self.asked.remove(&number).unwrap();
        let range = request.lba.0..request.lba.0 + u64::from(request.blocks);
        if outcome != Outcome::Done {
            assert!(self.may_fail, "request {number} ended {outcome:?}: {request:?}");
            self.truth.has_failed(&request);
        } else if request.op == HostOp::Read {
            for (i, (stamp, lba)) in truth::stamps(&request, &data).into_iter().zip(range).enumerate() {
                match &expected {
                    Expected::OneOfThoseLeft => self.truth.found(lba, stamp),
                    Expected::Newest(stamps) => assert!(
                        stamps[i].is_none_or(|newest| newest == stamp),
                        "request {number} found {stamp} at sector {lba}, not {:?}",
                        stamps[i]
                    ),
                }
            }
        } else if request.op == HostOp::Write {
            self.truth.is_safe(range, at);
        } else if request.op == HostOp::Flush {
            self.truth.is_safe(0..self.truth.sectors(), at);
        }
        self.ended.push(Ended { number, outcome });
    }

    fn is_idle(&self) -> bool {
        self.idle
    }

    fn is_at_rest(&self) -> bool {
        self.under_way.is_empty() && self.startable().is_empty()
    }
}
