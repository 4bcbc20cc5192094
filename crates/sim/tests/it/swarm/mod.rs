//! Random drives under random schemes and workloads, with every check on. Does every read return
//! the newest data that a plain map of sectors holds, whatever the drive is doing? Does every
//! request end, does every count add up, and does the same seed give the same bits?
//!
//! A case is a seed and a length, so that a failure is two numbers: `WORDLINE_CASE=SEED:LENGTH`.
//! `make swarm N=1000 SEED=1` runs so many of them; `cargo test` a fixed number.

mod draw;
mod ledger;

use crate::support::Rng;
use draw::Case;
use ledger::{Drive, Ledger};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};
use wordline_device::{Ack, ArbitrationOrder, Multiplane, MultiplanePages, ServiceOrder};
use wordline_ftl::{Bytes, Initial, Mapped, Media, NoMedia, Outcome};
use wordline_sim::{Arrivals, Completion, Device, Host, HostTurn, NoProbe, Probe, drive_host};
use wordline_units::{DieId, Fraction, HostOp, HostRequest, QueueClass, SimTime};

/// One value that a sector has had, and the request that gave it.
#[derive(Clone, Copy)]
struct Value {
    stamp: u64,
    request: u64,
}

/// What the host may expect: of each sector every value it was given, in order of arrival, which is
/// the order of linearisation.
struct Model {
    sectors: Vec<Vec<Value>>,
    /// Whether a unit (page map) or a sector holds data.
    held: Vec<bool>,
    per_unit: u64,
    per_sector: u64,
    by_page: bool,
    failed: HashSet<u64>,
}

/// A read as it was submitted: its first sector, and how many values each sector had then.
struct Expected {
    first: u64,
    values: Vec<usize>,
}

impl Model {
    fn new(case: &Case, initial: &Initial) -> Model {
        let per_unit = case.geometry.sectors_per_unit as u64;
        let sectors = case.spec.logical_bytes() / case.spec.sector.0;
        let granule = if case.by_page() { per_unit } else { 1 };
        let mut held = vec![false; (sectors / granule) as usize];
        let units = per_unit / granule;
        let mut hold = |unit: u64| held[(unit * units) as usize..((unit + 1) * units) as usize].fill(true);
        match &initial.mapped {
            Mapped::First(n) => (0..*n as u64).for_each(&mut hold),
            Mapped::Set(set) => set.iter().for_each(|lpn| hold(lpn.0 as u64)),
        }
        if granule == 1 {
            for (lpn, mask) in &initial.lacking {
                mask.iter().for_each(|s| held[(lpn.0 as u64 * per_unit + s as u64) as usize] = false);
            }
        }
        Model {
            sectors: vec![vec![]; sectors as usize],
            held,
            per_unit,
            per_sector: case.spec.sector.0 / 512,
            by_page: case.by_page(),
            failed: HashSet::new(),
        }
    }

    /// Sectors of a request: reads and writes are rounded outward, trims inward.
    fn span(&self, r: &HostRequest) -> (u64, u64) {
        let (from, to) = (r.lba.0, r.lba.0 + r.blocks as u64);
        match r.op {
            HostOp::Trim => {
                let first = from.div_ceil(self.per_sector);
                (first, (to / self.per_sector).max(first))
            }
            _ => (from / self.per_sector, to.div_ceil(self.per_sector)),
        }
    }

    fn hold(&mut self, sector: u64, holds: bool) {
        let granule = if self.by_page { self.per_unit } else { 1 };
        self.held[(sector / granule) as usize] = holds;
    }

    fn write(&mut self, r: &HostRequest, request: u64, stamp: u64, bytes: usize) -> Vec<u8> {
        let (first, last) = self.span(r);
        for s in first..last {
            self.sectors[s as usize].push(Value { stamp, request });
            self.hold(s, true);
        }
        stamp.to_le_bytes().repeat(bytes / 8 * (last - first) as usize)
    }

    fn trim(&mut self, r: &HostRequest, request: u64) {
        let (first, last) = self.span(r);
        for s in first..last {
            let unit = s / self.per_unit * self.per_unit;
            if !self.by_page || (unit >= first && unit + self.per_unit <= last) {
                self.sectors[s as usize].push(Value { stamp: 0, request });
                self.hold(s, false);
            }
        }
    }

    fn expect(&self, r: &HostRequest) -> Expected {
        let (first, last) = self.span(r);
        let values = self.sectors[first as usize..last as usize].iter().map(Vec::len).collect();
        Expected { first, values }
    }

    /// Whether a read may have found this. A write that ended without a place may have left its data
    /// or not; every other stands.
    fn judge(&self, expected: &Expected, found: &[u64]) -> Result<(), String> {
        for (i, (found, count)) in found.iter().zip(&expected.values).enumerate() {
            let sector = expected.first + i as u64;
            let given = &self.sectors[sector as usize][..*count];
            let stands = given.iter().rposition(|v| !self.failed.contains(&v.request));
            let before = if stands.is_none() { Some(0) } else { None };
            let may = given[stands.unwrap_or(0)..].iter().map(|v| v.stamp).chain(before);
            if !may.clone().any(|stamp| stamp == *found) {
                let newest = may.max().unwrap_or(0);
                return Err(format!("sector {sector} is read as {found}, which is {newest}"));
            }
        }
        Ok(())
    }
}

/// What the host has asked of the drive, and what it may expect.
struct Asked<'a> {
    case: &'a Case,
    model: Model,
    expected: HashMap<u64, Expected>,
    reads: Vec<(u64, Expected, Vec<u64>)>,
    asked: u64,
    ended: u64,
    open_writes: HashSet<u64>,
    last_end: SimTime,
    /// Requests and bytes of each kind.
    counts: HashMap<HostOp, (u64, u64)>,
    page_bytes: u64,
    stamp: u64,
}

/// A drive at work beside its model.
struct Run<'a> {
    device: Device<Ledger, Bytes>,
    host: Asked<'a>,
}

/// A drive in its initial state. A state that does not fit is refused, and the drive is fresh.
fn prepared<P: Probe, M: Media + Default>(case: &Case, probe: impl Fn(bool) -> P) -> (Device<P, M>, Initial) {
    let new = |holds| {
        Device::new(&case.spec, &case.geometry, case.scheme.clone(), probe(holds))
            .unwrap_or_else(|e| panic!("{e}"))
    };
    let mut device = new(true);
    match device.ftl.precondition(&case.initial, case.seed) {
        Ok(()) => (device, case.initial.clone()),
        Err(_) => (new(false), Initial::fresh()),
    }
}

impl<'a> Run<'a> {
    fn new(case: &'a Case) -> Result<Run<'a>, String> {
        let ledger = |holds_data| {
            Ledger::of(Drive {
                geometry: case.geometry.clone(),
                parallel_unit: case.spec.parallel_unit,
                multiplane: case.spec.multiplane,
                multiplane_pages: case.spec.multiplane_pages,
                in_order: case.in_order(),
                windows: case.windows(),
                holds_data,
            })
        };
        let (mut device, initial) = prepared(case, ledger);
        device.ftl.check().map_err(|e| format!("before the first request: {e}"))?;
        let host = Asked {
            case,
            model: Model::new(case, &initial),
            expected: HashMap::new(),
            reads: vec![],
            asked: 0,
            ended: 0,
            open_writes: HashSet::new(),
            last_end: SimTime(0),
            counts: HashMap::new(),
            page_bytes: 0,
            stamp: 0,
        };
        Ok(Run { device, host })
    }

    /// One request, and whatever ends until it arrives. A fault of the drive's surroundings, such as
    /// a power cut, would be one more thing that can happen here: it changes the device for what
    /// recovery finds, and the model for what the host may still expect.
    fn step(&mut self, r: HostRequest) -> Result<(), String> {
        let number = self.host.asked;
        let data = self.host.ask(&r);
        let given = self.device.submit_with(r, r.arrival, &data).map_err(|e| e.to_string())?;
        if given != number {
            return Err(format!("request {number} was given the number {given}"));
        }
        self.collect(r.arrival)
    }

    fn collect(&mut self, until: SimTime) -> Result<(), String> {
        while let Some(c) = self.device.next_completion(until).map_err(|e| e.to_string())? {
            self.host.ended(&c)?;
        }
        Ok(())
    }

    /// Every request of the case, and let everything end.
    fn perform(&mut self) -> Result<(), String> {
        let case = self.host.case;
        if let Some(queues) = case.queues() {
            let next = Arrivals::new(case.requests.iter().map(|r| Ok(*r)), false);
            let mut host = InQueues { next, asked: &mut self.host, data: vec![], wrong: Ok(()) };
            drive_host(&mut self.device, &mut host, Some(queues), |_| {}).map_err(|e| e.to_string())?;
            host.wrong?;
            let (all, taken) = (case.requests.len() as u64, self.host.asked);
            return if all == taken { Ok(()) } else { Err(format!("of {all} requests {taken} were taken")) };
        }
        // A recount in mid-flight is slow, so it is for some.
        let recounts = case.seed.is_multiple_of(4);
        for (i, r) in case.requests.iter().enumerate() {
            self.step(*r)?;
            if recounts && i % 32 == 0 {
                self.device.ftl.check().map_err(|e| format!("after request {i}: {e}"))?;
            }
        }
        self.collect(SimTime::NEVER)?;
        self.device.drain().map_err(|e| e.to_string())?;
        self.collect(SimTime::NEVER)
    }

    /// Compare everything, when all has ended. Returns the hash of the run.
    fn finish(mut self) -> Result<String, String> {
        if self.host.ended != self.device.submitted() {
            return Err(format!(
                "{} requests went in and {} came out",
                self.device.submitted(),
                self.host.ended
            ));
        }
        // In a full drive a collection may wait for ever for a place.
        let waits = !self.host.case.roomy && self.device.outstanding() == 0;
        if !waits && (self.device.outstanding() > 0 || !self.device.ftl.is_quiet()) {
            return Err(format!("{} are left", self.device.ftl.leftovers()));
        }
        self.device.ftl.check().map_err(|e| e.to_string())?;
        let hash = hash(&self.device);
        self.counts_add_up()?;
        let all = self.host.model.sectors.len() as u64 * self.host.model.per_sector;
        self.step(HostRequest::new(HostOp::Read, 0, all as u32).at(self.device.now()))?;
        self.collect(SimTime::NEVER)?;
        if !self.host.expected.is_empty() {
            return Err("a read never ended".into());
        }
        for (number, expected, found) in &self.host.reads {
            self.host.model.judge(expected, found).map_err(|e| format!("read {number}: {e}"))?;
        }
        self.device.ftl.check().map_err(|e| e.to_string())?;
        Ok(hash)
    }

    fn counts_add_up(&self) -> Result<(), String> {
        let counters = self.device.ftl.counters();
        if let Some(wrong) = &self.device.probe.wrong {
            return Err(wrong.clone());
        }
        self.device.probe.agrees(counters)?;
        for op in [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush] {
            let counted = (counters.host_requests[op as usize], counters.host_bytes[op as usize]);
            let asked = self.host.counts.get(&op).copied().unwrap_or_default();
            if counted != asked {
                return Err(format!(
                    "{op:?}: {counted:?} requests and bytes are counted, {asked:?} were asked"
                ));
            }
        }
        // What a worn-out drive refuses at once is not counted.
        let refused = self.device.metrics.worn_out > 0 && counters.host_bytes_page < self.host.page_bytes;
        if counters.host_bytes_page != self.host.page_bytes && !refused {
            let counted = counters.host_bytes_page;
            return Err(format!(
                "{counted} bytes of written units are counted, {} were",
                self.host.page_bytes
            ));
        }
        let held = self.host.model.held.iter().filter(|h| **h).count() as u64;
        let settled = self.host.model.failed.is_empty() && self.device.ftl.is_quiet();
        if settled && self.device.ftl.mapped() != held {
            return Err(format!("{} are mapped, and the host gave {held}", self.device.ftl.mapped()));
        }
        Ok(())
    }
}

impl Asked<'_> {
    /// The drive takes a request. Returns the data of a write.
    fn ask(&mut self, r: &HostRequest) -> Vec<u8> {
        let number = self.asked;
        self.asked += 1;
        let mut data = vec![];
        match r.op {
            HostOp::Write => {
                self.stamp += 1;
                data = self.model.write(r, number, self.stamp, self.case.spec.sector.0 as usize);
                self.open_writes.insert(number);
                let unit = self.case.spec.unit.0;
                let units = (r.lba.0 + r.blocks as u64).div_ceil(unit / 512) - r.lba.0 / (unit / 512);
                self.page_bytes += units * unit;
            }
            HostOp::Trim => self.model.trim(r, number),
            HostOp::Read => _ = self.expected.insert(number, self.model.expect(r)),
            HostOp::Flush => {}
        }
        let count = self.counts.entry(r.op).or_default();
        *count = (count.0 + 1, count.1 + r.bytes());
        data
    }

    /// A request has ended.
    fn ended(&mut self, c: &Completion) -> Result<(), String> {
        self.ended += 1;
        if c.at < self.last_end || c.at < c.request.arrival {
            return Err(format!(
                "request {} ends at {} ns, which is past at {} ns",
                c.number, c.at.0, self.last_end.0
            ));
        }
        self.last_end = c.at;
        match c.outcome {
            Outcome::Done => {}
            // The data are there for the test to see, though the drive cannot correct them.
            Outcome::Uncorrectable if c.request.op == HostOp::Read && self.case.spec.errors.is_some() => {}
            // A full drive has no place for a write, nor for the trims that a flush would log.
            outcome if self.case.roomy || !matches!(c.request.op, HostOp::Write | HostOp::Flush) => {
                return Err(format!("request {} ends {outcome:?}", c.number));
            }
            _ => {
                self.model.failed.insert(c.number);
            }
        }
        self.open_writes.remove(&c.number);
        let earlier = || self.open_writes.iter().find(|w| **w < c.number);
        if c.request.op == HostOp::Flush
            && let Some(write) = earlier()
        {
            return Err(format!("flush {} ends before write {write}, which came first", c.number));
        }
        if let Some(expected) = self.expected.remove(&c.number) {
            let sectors = c.data.chunks(self.case.spec.sector.0 as usize);
            let found: Vec<u64> = sectors.map(|s| u64::from_le_bytes(s[..8].try_into().unwrap())).collect();
            if found.len() != expected.values.len() {
                return Err(format!("read {} returns {} sectors", c.number, found.len()));
            }
            self.reads.push((c.number, expected, found));
        }
        Ok(())
    }
}

/// The same host where its requests stand in queues: what it asks when, and what the drive took and ended.
struct InQueues<'a, 'b, I> {
    next: Arrivals<I>,
    asked: &'a mut Asked<'b>,
    data: Vec<u8>,
    wrong: Result<(), String>,
}

impl<I: Iterator<Item = Result<HostRequest, Infallible>>> Host for InQueues<'_, '_, I> {
    type Error = Infallible;

    fn turn(&mut self, now: SimTime) -> Result<HostTurn, Infallible> {
        self.next.turn(now)
    }

    fn data(&mut self, request: &HostRequest) -> &[u8] {
        self.data = self.asked.ask(request);
        &self.data
    }

    fn completed(&mut self, completion: &Completion) {
        self.next.completed(completion);
        if self.wrong.is_ok() {
            self.wrong = self.asked.ended(completion);
        }
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn ends_worn(&self) -> bool {
        false
    }
}

fn hash<P: Probe, M: Media>(device: &Device<P, M>) -> String {
    device.metrics.result_hash(&device.ftl.counters().integers())
}

/// When somebody looks at a drive, besides when it gets a request.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Looks {
    Never,
    AtRandom,
}

/// The same case on a drive that nothing watches and that keeps nothing, as in a simulation. Who asks
/// for completions, and when, changes nothing.
fn plain(case: &Case, looks: Looks) -> Result<String, String> {
    let (mut device, _): (Device<NoProbe, NoMedia>, _) = prepared(case, |_| NoProbe);
    if let Some(queues) = case.queues() {
        let mut host = Arrivals::new(case.requests.iter().map(|r| Ok::<_, Infallible>(*r)), false);
        drive_host(&mut device, &mut host, Some(queues), |_| {}).map_err(|e| e.to_string())?;
        return Ok(hash(&device));
    }
    let mut random = Rng(case.seed);
    for r in &case.requests {
        while looks == Looks::AtRandom && device.now() < r.arrival && random.below(3) > 0 {
            let until = SimTime(device.now().0 + 1 + random.below(r.arrival.0 - device.now().0));
            if random.below(2) == 0 {
                device.advance_to(until).map_err(|e| e.to_string())?;
            } else if device.next_completion(until).map_err(|e| e.to_string())?.is_none() {
                break;
            }
        }
        device.submit(*r, r.arrival).map_err(|e| e.to_string())?;
    }
    while device.next_completion(SimTime::NEVER).map_err(|e| e.to_string())?.is_some() {}
    device.drain().map_err(|e| e.to_string())?;
    Ok(hash(&device))
}

fn run(case: &Case) -> Result<(), String> {
    let mut run = Run::new(case)?;
    run.perform()?;
    let watched = run.finish()?;
    for looks in [Looks::Never, Looks::AtRandom] {
        let alone = plain(case, looks)?;
        if watched != alone {
            return Err(format!("the result is {watched} when watched, and {alone} looking {looks:?}"));
        }
    }
    Ok(())
}

thread_local! {
    /// Whether a panic of this thread is expected, and caught and told by the swarm.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

fn caught(seed: u64, length: u64) -> Result<(), String> {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !CAUGHT.get() {
                usual(info);
            }
        }));
    });
    let label = Cell::new(None);
    CAUGHT.set(true);
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let case = Case::new(seed, length);
        label.set(Some(case.label.clone()));
        run(&case)
    }));
    CAUGHT.set(false);
    let result = result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(text.or(panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default())
    });
    result.map_err(|e| format!("{}: {e}", label.take().unwrap_or_default()))
}

/// The shortest failing run of a seed, with what it says.
fn shrunk(seed: u64, length: u64, error: String) -> String {
    let shortest = (0..length).find_map(|l| Some((l, caught(seed, l).err()?)));
    let (length, error) = shortest.unwrap_or((length, error));
    format!("{error}\n  {}", replay(seed, length))
}

fn replay(seed: u64, length: u64) -> String {
    format!("replay: WORDLINE_CASE={seed}:{length} cargo test -p wordline-sim --test it swarm::replays")
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |v| v.parse().unwrap_or_else(|_| panic!("{name}={v} is no number")))
}

/// Longer than any case takes on any machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Past the capture of tests, which an abort would lose.
fn tell(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

/// Calls with each number of a range, on every core. A call that never returns is named, and ends
/// everything, for it cannot be caught.
fn each(range: std::ops::Range<u64>, call: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(range.start);
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let begun: Vec<Mutex<(u64, Instant)>> =
        (0..cores).map(|_| Mutex::new((range.start, Instant::now()))).collect();
    std::thread::scope(|scope| {
        let (say, hear) = mpsc::channel::<usize>();
        for (core, begun) in begun.iter().enumerate() {
            let (say, next, call) = (say.clone(), &next, &call);
            scope.spawn(move || {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= range.end {
                        break;
                    }
                    *begun.lock().unwrap() = (n, Instant::now());
                    call(n);
                }
                say.send(core).unwrap();
            });
        }
        let mut working: HashSet<usize> = (0..cores).collect();
        while !working.is_empty() {
            match hear.recv_timeout(PATIENCE / 4) {
                Ok(core) => drop(working.remove(&core)),
                Err(_) => {
                    for core in &working {
                        let (n, since) = *begun[*core].lock().unwrap();
                        if since.elapsed() > PATIENCE {
                            tell(&format!("the drive never ends\n  {}\n", replay(n, Case::length(n))));
                            std::process::abort();
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn every_read_returns_the_newest_data_and_every_count_adds_up() {
    const SHOWN: usize = 5;
    let (first, cases) = (number("WORDLINE_SEED", 1), number("WORDLINE_CASES", 1000));
    let failures = Mutex::new(BTreeMap::new());
    each(first..first + cases, |seed| {
        if failures.lock().unwrap().len() >= SHOWN {
            return;
        }
        if let Err(e) = caught(seed, Case::length(seed)) {
            failures.lock().unwrap().insert(seed, e);
        }
    });
    let failures = failures.into_inner().unwrap();
    let shown: Vec<String> =
        failures.into_iter().map(|(seed, e)| shrunk(seed, Case::length(seed), e)).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn replays_the_case_that_the_environment_names() {
    let Ok(case) = std::env::var("WORDLINE_CASE") else { return };
    let (seed, length) = case.split_once(':').expect("WORDLINE_CASE=SEED:LENGTH");
    let case = Case::new(seed.parse().expect("a seed"), length.parse().expect("a length"));
    println!("{} on\n{}initially {:?}", case.label, wordline_device::to_toml(&case.spec), case.initial);
    case.requests.iter().for_each(|r| println!("{r:?}"));
    run(&case).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn the_cases_reach_every_scheme_and_every_kind_of_drive() {
    let cases: Vec<Case> = (1..=8000).map(|seed| Case::new(seed, 0)).collect();
    let reached = |what: &str, is: &dyn Fn(&Case) -> bool| {
        assert!(cases.iter().filter(|c| is(c)).count() >= 5, "hardly a case has {what}");
    };
    for entry in wordline_schemes::all() {
        let own = format!("{}:", entry.name);
        reached(&entry.name, &|c| c.label == entry.name || c.label.starts_with(&own));
        for p in &entry.parameters {
            reached(&format!("{own}{}=", p.key), &|c| {
                c.label.starts_with(&own) && c.label.contains(&format!("{}=", p.key))
            });
        }
    }
    reached("a scheme over another", &|c| wordline_schemes::layers(&c.label).is_ok_and(|l| l.len() == 2));
    for name in ["by-sector", "two-lanes", "restless", "fast-then-dense"] {
        reached(name, &|c| c.scheme.name() == name && !c.label.starts_with("stress"));
    }
    reached("superblocks", &|c| c.spec.superblock.planes(c.geometry.media[0].topology) > 1);
    reached("two media", &|c| c.geometry.media.len() == 2);
    reached("several units a page", &|c| c.geometry.units_per_page(0) > 1);
    reached("a buffer", &|c| c.spec.ack != Ack::Program);
    reached("dynamic allocation", &|c| c.spec.allocation == wordline_device::Allocation::Dynamic);
    reached("no padding in time", &|c| c.spec.pad_after.is_none());
    reached("planes that may work together", &|c| {
        c.spec.multiplane == Multiplane::Opportunistic && c.geometry.planes_of_die(DieId(0)).len() > 1
    });
    reached("planes that work together on pages of one number alone", &|c| {
        c.spec.multiplane_pages == MultiplanePages::Same && c.geometry.planes_of_die(DieId(0)).len() > 1
    });
    reached("a buffer that keeps pages back", &|c| c.spec.flush.is_some_and(|f| f.idle.is_none()));
    reached("a buffer that empties when the drive is idle", &|c| {
        c.spec.flush.is_some_and(|f| f.idle.is_some())
    });
    reached("a read cache", &|c| c.spec.dram.read_cache.0 > 0);
    let map_pages =
        |c: &Case| wordline_device::map_pages(c.spec.logical_bytes() / c.spec.unit.0, c.spec.unit);
    reached("a map on flash, of which not all is in RAM", &|c| {
        (1..map_pages(c) * c.spec.unit.0).contains(&c.spec.dram.map_cache.0)
    });
    reached("a bound on the changes of a map on flash", &|c| c.spec.dram.map_journal.is_some());
    reached("programs that reads interrupt", &|c| c.spec.service.suspension.is_some());
    reached("programs of several planes that reads interrupt", &|c| {
        let together = c.spec.multiplane == Multiplane::Opportunistic;
        c.spec.service.suspension.is_some() && together && c.geometry.planes_of_die(DieId(0)).len() > 1
    });
    for order in [ServiceOrder::FirstCome, ServiceOrder::Shortest, ServiceOrder::Shares] {
        reached("another order of service", &|c| c.spec.service.order == order);
    }
    for is_weighted in [false, true] {
        reached("several queues of the host, in turn or by weights", &|c| {
            c.spec.arbitration.as_ref().is_some_and(|a| {
                a.queues.len() > 1 && matches!(a.order, ArbitrationOrder::Weighted(_)) == is_weighted
            })
        });
    }
    let of_queues = |c: &Case, is: &dyn Fn(&wordline_device::HostQueue) -> bool| {
        c.spec.arbitration.as_ref().is_some_and(|a| a.queues.iter().any(is))
    };
    for (word, class) in QueueClass::WORDS {
        reached(&format!("a queue of class {word}"), &|c| of_queues(c, &|q| q.class == Some(class)));
    }
    reached("a queue with a depth of its own", &|c| of_queues(c, &|q| q.depth.is_some()));
    reached("several queues before a drive that works on one request", &|c| {
        of_queues(c, &|_| true) && c.spec.host.queue_depth == 1
    });
    reached("queues before a drive with little space", &|c| of_queues(c, &|_| true) && !c.roomy);
    reached("a host link", &|c| !c.spec.host.rate.is_off());
    reached("little space", &|c| !c.roomy);
    reached("little space behind a buffer", &|c| !c.roomy && c.spec.ack != Ack::Program);
    reached("little space under a map of sectors", &|c| !c.roomy && !c.by_page());
    reached("data at time 0", &|c| c.initial.mapped.count() > 0);
    let errors = |c: &Case| c.spec.errors.clone();
    reached("errors", &|c| errors(c).is_some());
    reached("no retransfer", &|c| errors(c).is_some_and(|e| !e.retransfer));
    reached("attempts brought out", &|c| errors(c).is_some_and(|e| e.retransfer));
    let wear = |c: &Case| c.spec.wear;
    reached("lives that end", &|c| wear(c).enforce);
    reached("lives that differ", &|c| wear(c).enforce && wear(c).spread > Fraction::ZERO);
    reached("bad blocks", &|c| wear(c).bad_blocks > Fraction::ZERO);
    reached("dynamic wear levelling", &|c| wear(c).dynamic);
    reached("static wear levelling", &|c| wear(c).static_beyond.is_some());
    reached("aged blocks", &|c| c.initial.aged_invalid.0 > 0);
}

/// A swarm that cannot fail finds nothing.
#[test]
fn a_read_of_old_data_is_noticed() {
    let case = (1..).map(|seed| Case::new(seed, 300)).find(|c| c.roomy).unwrap();
    let mut run = Run::new(&case).unwrap();
    run.perform().unwrap();
    let sectors = &mut run.host.model.sectors;
    let written = sectors.iter().position(|s| s.last().is_some_and(|v| v.stamp > 0));
    let values = &mut sectors[written.expect("a case that writes")];
    values.push(Value { stamp: u64::MAX, request: u64::MAX });
    let error = run.finish().unwrap_err();
    assert!(error.contains(&format!("which is {}", u64::MAX)), "{error}");
}
