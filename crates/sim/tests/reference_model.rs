//! Does every read return the newest data that a plain map of sectors holds, whatever the drive is
//! doing? The model is an array of stamps; arrival order is the order of linearisation.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod support;

use std::collections::HashMap;
use support::Tiny;
use wordline_ftl::{Bytes, Initial, Mapped, OpKind, Outcome, Scheme};
use wordline_sim::{Device, Event, Log, Probe};
use wordline_units::{HostOp, HostRequest, SimTime};

const SECTOR: usize = 512;

/// A case is named by its seed and length, so that a failure is two numbers.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

fn tiny(rng: &mut Rng) -> Tiny {
    Tiny {
        channels: 1 + rng.below(2) as u32,
        chips: 1 + rng.below(2) as u32,
        planes: 1 + rng.below(2) as u32,
        blocks: 12 + rng.below(4) as u32,
        wordlines: 3 + rng.below(3) as u32,
        units_per_page: 1 + rng.below(2) as u32,
        sectors_per_unit: if rng.below(3) == 0 { 1 } else { 4 },
        bus: ["off", "1ns/B", "20ns/B"][rng.below(3) as usize],
        ack_buffer: (rng.below(3) == 0).then_some(3),
        ..Tiny::default()
    }
}

/// Keeps every event, and ends a run that goes round in circles.
#[derive(Default)]
struct Watch(Log);

impl Probe for Watch {
    const WATCHES: bool = true;
    fn event(&mut self, event: Event) {
        self.0.event(event);
        assert!(self.0.events.len() < 400_000, "the drive goes round in circles");
    }
}

struct Run {
    device: Device<Watch, Bytes>,
    model: Vec<u64>,
    expected: HashMap<u64, Vec<u64>>,
    per_unit: u64,
    by_page: bool,
    stamp: u64,
    name: String,
}

impl Run {
    fn new(tiny: &Tiny, bits: u32, scheme: Box<dyn Scheme>, by_page: bool) -> Run {
        // Sectors kept apart cannot fill a drive laid out for pages: a sector takes a whole slot.
        let bits_of_data = if bits == 0 { 2 } else { bits };
        let mut spec = tiny.spec(bits_of_data);
        if bits == 0 {
            let bytes = spec.logical_bytes() / tiny.sectors_per_unit as u64 / 2;
            let unit = spec.unit.0;
            spec.capacity =
                wordline_device::Capacity::Logical(wordline_units::Bytes((bytes / unit).max(1) * unit));
        }
        let geometry = spec.geometry().unwrap();
        let name = format!("{} on {tiny:?}", scheme.name());
        let device =
            Device::new(&spec, &geometry, scheme, Watch::default()).unwrap_or_else(|e| panic!("{e}"));
        let sectors = spec.logical_bytes() / SECTOR as u64;
        Run {
            device,
            model: vec![0; sectors as usize],
            expected: HashMap::new(),
            per_unit: tiny.sectors_per_unit as u64,
            by_page,
            stamp: 0,
            name,
        }
    }

    fn step(&mut self, rng: &mut Rng) -> Result<(), String> {
        let longest = [1, 5_000, 400_000][rng.below(3) as usize];
        let at = self.device.now().0 + rng.below(longest);
        let all = self.model.len() as u64;
        // Half of the requests meet in a few places, so that they overtake one another.
        let first = if rng.below(2) == 0 { rng.below(all) } else { rng.below(all.min(12)) };
        let last = (first + 1 + rng.below(11)).min(all);
        let range = first as usize..last as usize;
        let op = match rng.below(20) {
            0..=10 => HostOp::Write,
            11..=16 => HostOp::Read,
            17..=18 => HostOp::Trim,
            _ => HostOp::Flush,
        };
        let mut request = HostRequest::new(op, first, (last - first) as u32).at(SimTime(at));
        if op == HostOp::Flush {
            request.blocks = 0;
        }
        let mut data = vec![];
        self.stamp += 1;
        let expected = self.model[range.clone()].to_vec();
        match op {
            HostOp::Write => {
                for s in range {
                    self.model[s] = self.stamp;
                    data.extend(self.stamp.to_le_bytes().repeat(SECTOR / 8));
                }
            }
            HostOp::Trim => {
                for s in range {
                    let unit = s as u64 / self.per_unit;
                    let whole = unit * self.per_unit >= first && (unit + 1) * self.per_unit <= last;
                    if whole || !self.by_page {
                        self.model[s] = 0;
                    }
                }
            }
            HostOp::Read | HostOp::Flush => {}
        }
        let number = self.device.submit_with(request, SimTime(at), &data).unwrap_or_else(|e| panic!("{e}"));
        if op == HostOp::Read {
            self.expected.insert(number, expected);
        }
        self.collect(SimTime(at))
    }

    fn collect(&mut self, until: SimTime) -> Result<(), String> {
        while let Some(c) = self.device.next_completion(until).map_err(|e| format!("{}: {e}", self.name))? {
            if c.outcome != Outcome::Done {
                return Err(format!("{}: request {} ends {:?}", self.name, c.number, c.outcome));
            }
            let Some(expected) = self.expected.remove(&c.number) else { continue };
            let found: Vec<u64> =
                c.data.chunks(SECTOR).map(|s| u64::from_le_bytes(s[..8].try_into().unwrap())).collect();
            if let Some(i) = (0..found.len()).find(|i| found[*i] != expected[*i]) {
                let (sector, found, expected) = (c.request.lba.0 + i as u64, found[i], expected[i]);
                return Err(format!(
                    "{}: request {} reads sector {sector} as {found}, which is {expected}",
                    self.name, c.number
                ));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), String> {
        self.collect(SimTime::NEVER)?;
        self.device.drain().unwrap_or_else(|e| panic!("{e}"));
        self.collect(SimTime::NEVER)?;
        if self.device.outstanding() > 0 || !self.device.ftl.is_quiet() {
            return Err(format!("{}: {} are left", self.name, self.device.ftl.leftovers()));
        }
        if let Err(e) = self.device.ftl.check() {
            return Err(e.to_string());
        }
        let read = HostRequest::new(HostOp::Read, 0, self.model.len() as u32);
        let number = self.device.submit(read, self.device.now()).unwrap();
        self.expected.insert(number, self.model.clone());
        self.collect(SimTime::NEVER)?;
        assert!(self.expected.is_empty(), "a read never completed");
        self.counters_equal_operations()
    }

    fn counters_equal_operations(&self) -> Result<(), String> {
        let counters = self.device.ftl.counters();
        let count = |kind| {
            let events = self.device.probe.0.events.iter();
            events.filter(|e| matches!(e, Event::Array { kind: k, .. } if *k == kind)).count() as u64
        };
        let reads: u64 = counters.regions.iter().map(|r| r.reads.iter().sum::<u64>()).sum();
        let programs: u64 = counters.regions.iter().map(|r| r.program_ops).sum();
        let erases = counters.erases.iter().sum::<u64>();
        let counted = [(OpKind::Read, reads), (OpKind::Program, programs), (OpKind::Erase, erases)];
        for (kind, counted) in counted {
            if counted != count(kind) {
                return Err(format!(
                    "{}: {counted} of {kind:?} are counted and {} were done",
                    self.name,
                    count(kind)
                ));
            }
        }
        Ok(())
    }
}

fn run(seed: u64, length: u64) -> Result<(), String> {
    let mut rng = Rng(seed);
    let mut tiny = tiny(&mut rng);
    let which = rng.below(support::SCHEMES as u64) as usize;
    let (scheme, bits) = support::scheme(which, &mut tiny);
    let by_page = scheme.name() != "by-sector";
    let mut run = Run::new(&tiny, bits, scheme, by_page);
    if rng.below(2) == 0 {
        let units = run.model.len() as u64 / run.per_unit;
        let initial = Initial::holding(Mapped::First(units as u32));
        run.device.ftl.precondition(&initial, seed).unwrap_or_else(|e| panic!("{e}"));
        run.device.ftl.check().unwrap_or_else(|e| panic!("{e}"));
    }
    for _ in 0..length {
        run.step(&mut rng)?;
    }
    run.finish()
}

/// The shortest failing run of a seed: the case to replay.
fn shrink(seed: u64, length: u64) -> u64 {
    (1..length).find(|shorter| catch(seed, *shorter).is_err()).unwrap_or(length)
}

fn catch(seed: u64, length: u64) -> Result<(), String> {
    match std::panic::catch_unwind(|| run(seed, length)) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Err(text.or(panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default())
        }
    }
}

#[test]
fn every_read_returns_the_newest_data() {
    let number =
        |name: &str, default: u64| std::env::var(name).map_or(default, |v| v.parse().expect("a number"));
    let (first, cases) = (number("WORDLINE_SEED", 1), number("WORDLINE_CASES", 1000));
    let failures: Vec<String> = (first..first + cases)
        .filter_map(|seed| {
            let length = Rng(seed ^ 0x6c65_6e67).below(600);
            let error = catch(seed, length).err()?;
            Some(format!("{error}\n  replay: WORDLINE_CASE={seed}:{}", shrink(seed, length)))
        })
        .take(10)
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn replays_the_case_that_the_environment_names() {
    let Ok(case) = std::env::var("WORDLINE_CASE") else { return };
    let (seed, length) = case.split_once(':').expect("WORDLINE_CASE=SEED:LENGTH");
    run(seed.parse().expect("a seed"), length.parse().expect("a length")).unwrap_or_else(|e| panic!("{e}"));
}
