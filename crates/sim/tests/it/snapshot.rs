//! Is a drive that is saved, restored and goes on the drive that was never interrupted? Random drives
//! under every scheme are cut at random events; completions, data read, counters and result hash must
//! be the same, and so must the state at the end, to the last byte.

use crate::support::{self, Rng, Tiny};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{Read, Seek, Write};
use wordline_device::{Capacity, DeviceSpec, Victim};
use wordline_ftl::{
    About, Bytes, Checked, Initial, Label, Mapped, Media, Metadata, NoMedia, Recorded, Saver, StateError,
    StateFile,
};
use wordline_sim::{Device, NoProbe, RestoreError};
use wordline_units::{DieId, Fraction, HostOp, HostRequest, SimTime};

/// A case is named by its seed and length, so that a failure is two numbers.
#[derive(Clone)]
/// A drive under a scheme, as often as it is wanted.
struct Plan {
    which: usize,
    tiny: Tiny,
    spec: DeviceSpec,
    name: String,
    seed: u64,
    initial: Option<Initial>,
}

impl Plan {
    fn new(seed: u64, rng: &mut Rng) -> Plan {
        let tiny = Tiny::drawn(rng, 3);
        let which = rng.below(support::SCHEMES as u64) as usize;
        let mut laid_out = tiny.clone();
        let (scheme, bits) = support::scheme(which, &mut laid_out);
        // Sectors kept apart cannot fill a drive laid out for pages: a sector takes a whole slot.
        let mut spec = laid_out.spec(if bits == 0 { 2 } else { bits });
        if bits == 0 {
            let units = spec.logical_bytes() / tiny.sectors_per_unit as u64 / 2 / spec.unit.0;
            spec.capacity = Capacity::Logical(wordline_units::Bytes(units.max(1) * spec.unit.0));
        }
        if seed / 3 % 4 == 2 {
            spec.gc.victim = Victim::DChoices(3);
        }
        if seed % 4 == 1 {
            for mode in spec.media.iter_mut().flat_map(|m| m.modes.iter_mut().flatten()) {
                mode.endurance = 40;
            }
            spec.wear.enforce = true;
            (spec.wear.spread, spec.wear.acceleration) = (Fraction::percent(30), 8);
            spec.wear.static_beyond = (seed % 8 == 1).then_some(16);
        }
        if tiny.map_cache > 0 {
            let (cached, changes) = (tiny.map_cache as u64, tiny.map_journal as u64);
            support::map_on_flash(&mut spec, scheme.as_ref(), cached, changes);
        }
        support::in_superblocks(&mut spec, scheme.as_ref(), tiny.superblock);
        let pages = (spec.logical_bytes() / spec.unit.0) as u32;
        let initial = match rng.below(3) {
            0 => None,
            1 => Some(Initial { cycles: [3, 0, 7, 0], ..Initial::holding(Mapped::First(pages)) }),
            _ => {
                let some = (0..pages).filter(|p| p % 5 < 2).map(wordline_units::Lpn).collect();
                Some(Initial { valid: Fraction::percent(90), ..Initial::holding(Mapped::Set(some)) })
            }
        };
        Plan { which, name: scheme.name().to_string(), tiny, spec, seed, initial }
    }

    fn label(&self) -> Label<'_> {
        Label { device: &self.spec, scheme: &self.name }
    }

    fn build<M: Media + Default>(&self) -> Device<NoProbe, M> {
        let (scheme, _) = support::scheme(self.which, &mut self.tiny.clone());
        let mut device = Device::new(&self.spec, &self.spec.geometry().unwrap(), scheme, NoProbe)
            .unwrap_or_else(|e| panic!("{e}"));
        if let Some(initial) = &self.initial {
            device.ftl.precondition(initial, self.seed).unwrap_or_else(|e| panic!("{e}"));
        }
        device
    }

    fn save<M: Kept>(&self, device: &Device<NoProbe, M>) -> (File, String)
    where
        M::Page: Serialize + DeserializeOwned,
    {
        let mut file = tempfile::tempfile().unwrap();
        let checksum = device.save(self.label(), self.seed, &mut file).unwrap();
        (file, checksum)
    }

    fn restore<M: Kept>(&self, state: &StateFile) -> Result<Device<NoProbe, M>, RestoreError>
    where
        M::Page: Serialize + DeserializeOwned,
    {
        let (scheme, _) = support::scheme(self.which, &mut self.tiny.clone());
        Device::restore(self.label(), &self.spec.geometry().unwrap(), scheme, NoProbe, state)
    }
}

trait Kept: Media + Default + Serialize + DeserializeOwned {}
impl<M: Media + Default + Serialize + DeserializeOwned> Kept for M {}

/// A request, when it comes, and the bytes of a write.
type Asked = (HostRequest, SimTime, Vec<u8>);

fn requests(spec: &DeviceSpec, rng: &mut Rng, length: u64, from: SimTime) -> Vec<Asked> {
    let sectors = spec.logical_bytes() / 512;
    let mut now = from.0;
    (1..=length)
        .map(|stamp| {
            let longest = [1, 5_000, 400_000][rng.below(3) as usize];
            now += rng.below(longest);
            // Half of the requests meet in a few places, so that they overtake one another.
            let first = if rng.below(2) == 0 { rng.below(sectors) } else { rng.below(sectors.min(12)) };
            let count = (1 + rng.below(11)).min(sectors - first) as u32;
            let (op, count) = match rng.below(20) {
                0..=11 => (HostOp::Write, count),
                12..=16 => (HostOp::Read, count),
                17..=18 => (HostOp::Trim, count),
                _ => (HostOp::Flush, 0),
            };
            let bytes = if op == HostOp::Write { count as usize * 64 } else { 0 };
            let data = (stamp ^ rng.0).to_le_bytes().repeat(bytes);
            (HostRequest::new(op, first, count).at(SimTime(now)), SimTime(now), data)
        })
        .collect()
}

/// What came out of a drive: number, time, outcome and data of each request, in their order.
type Ended = Vec<(u64, SimTime, u8, Vec<u8>)>;

fn take<M: Media>(device: &mut Device<NoProbe, M>, until: SimTime, ended: &mut Ended) {
    while let Some(c) = device.next_completion(until).unwrap_or_else(|e| panic!("{e}")) {
        ended.push((c.number, c.at, c.outcome as u8, c.data));
    }
}

fn serve<M: Media>(device: &mut Device<NoProbe, M>, asked: &[Asked], ended: &mut Ended) {
    for (request, at, data) in asked {
        device.submit_with(*request, *at, data).unwrap_or_else(|e| panic!("{e}"));
        take(device, *at, ended);
    }
}

fn end<M: Media>(device: &mut Device<NoProbe, M>, ended: &mut Ended) {
    take(device, SimTime::NEVER, ended);
    device.drain().unwrap_or_else(|e| panic!("{e}"));
    take(device, SimTime::NEVER, ended);
    device.ftl.check().unwrap_or_else(|e| panic!("{e}"));
}

/// What was under way when a drive was saved.
#[derive(Clone, Copy, Default, Debug)]
struct Midst {
    operations: bool,
    staged: bool,
    collection: bool,
    erase: bool,
    held: bool,
    idle_job: bool,
}

type IsSo = fn(&Midst) -> bool;

fn midst<M: Media>(device: &Device<NoProbe, M>, dies: u32) -> Midst {
    let said = device.ftl.leftovers();
    Midst {
        operations: !said.starts_with("0 operations"),
        staged: !said.contains(" 0 staged"),
        collection: !said.ends_with("jobs []"),
        erase: said.contains("erasing: true"),
        held: (0..dies).any(|d| device.ftl.is_held(DieId(d))),
        idle_job: (0..dies).any(|d| device.ftl.idle_jobs(DieId(d)) > 0),
    }
}

/// Run through; and again, cut at random events, where the drive is saved and restored.
fn case<M: Kept>(seed: u64, length: u64) -> Vec<Midst>
where
    M::Page: Serialize + DeserializeOwned,
{
    let mut rng = Rng(seed);
    let plan = Plan::new(seed, &mut rng);
    let asked = requests(&plan.spec, &mut rng, length, SimTime(0));
    let (mut through, mut expected) = (plan.build::<M>(), vec![]);
    serve(&mut through, &asked, &mut expected);
    end(&mut through, &mut expected);

    let (mut device, mut ended, mut seen) = (plan.build::<M>(), vec![], vec![]);
    let (mut begin, dies) = (0, plan.spec.geometry().unwrap().dies);
    for _ in 0..1 + rng.below(3) {
        let left = (asked.len() - begin) as u64;
        // One in four at the end, where idle time begins.
        let cut = begin + if rng.below(4) == 0 { left } else { rng.below(left + 1) } as usize;
        serve(&mut device, &asked[begin..cut], &mut ended);
        begin = cut;
        let next = asked.get(cut).map_or(SimTime::NEVER, |a| a.1);
        // A job that holds its die is rare: with a scheme that has such, go on until there is one.
        let seeks = device.ftl.works_when_idle();
        for _ in 0..if seeks { 400 } else { rng.below(40) } {
            let Some(event) = device.next_event().filter(|at| *at <= next) else { break };
            device.advance_to(event).unwrap();
            if seeks && (0..dies).any(|d| device.ftl.is_held(DieId(d))) {
                break;
            }
        }
        seen.push(midst(&device, dies));
        let (file, checksum) = plan.save(&device);
        let state = StateFile::open(file, Checked::Whole).unwrap();
        device = plan.restore(&state).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(plan.save(&device).1, checksum, "what is restored is saved as it was");

        // A fork of the same state does what it likes.
        let mut sibling: Device<NoProbe, M> = plan.restore(&state).unwrap();
        let elsewhere = requests(&plan.spec, &mut rng.clone(), 40, sibling.now());
        serve(&mut sibling, &elsewhere, &mut vec![]);
        end(&mut sibling, &mut vec![]);
    }
    serve(&mut device, &asked[begin..], &mut ended);
    end(&mut device, &mut ended);
    assert!(ended == expected, "{}: the same requests end at the same times with the same data", plan.name);
    let hash = |d: &Device<NoProbe, M>| d.metrics.result_hash(&d.ftl.counters().integers());
    assert_eq!(device.ftl.counters(), through.ftl.counters());
    assert_eq!(hash(&device), hash(&through));
    assert_eq!(
        device.metrics.latency.each_ref().map(|h| h.cumulative()),
        through.metrics.latency.each_ref().map(|h| h.cumulative())
    );
    assert_eq!(plan.save(&device).1, plan.save(&through).1, "{}: the last state is the same", plan.name);
    seen
}

fn run(seed: u64, length: u64) -> Vec<Midst> {
    match seed % 3 {
        0 => case::<NoMedia>(seed, length),
        1 => case::<Metadata>(seed, length),
        _ => case::<Bytes>(seed, length),
    }
}

fn catch(seed: u64, length: u64) -> Result<Vec<Midst>, String> {
    std::panic::catch_unwind(|| run(seed, length)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or(panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default()
    })
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |v| v.parse().expect("a number"))
}

/// As many as the quick suite has time for.
const CASES: u64 = 300;

#[test]
fn saved_and_restored_at_any_event_a_drive_goes_on_as_if_it_had_run_through() {
    let (first, cases) = (number("WORDLINE_SEED", 1), number("WORDLINE_CASES", CASES));
    let (mut failures, mut all) = (vec![], vec![]);
    for seed in first..first + cases {
        let length = Rng(seed ^ 0x6c65_6e67).below(400);
        match catch(seed, length) {
            Ok(seen) => all.extend(seen),
            Err(e) if failures.len() < 10 => {
                let shortest = (1..length).find(|n| catch(seed, *n).is_err()).unwrap_or(length);
                failures.push(format!("{e}\n  replay: WORDLINE_CASE={seed}:{shortest}"));
            }
            Err(_) => {}
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    if cases >= CASES {
        let whichever: [(&str, IsSo); 6] = [
            ("operations", |m| m.operations),
            ("staged data", |m| m.staged),
            ("a collection", |m| m.collection),
            ("an erase", |m| m.erase),
            ("a held die", |m| m.held),
            ("an idle job", |m| m.idle_job),
        ];
        for (what, is) in whichever {
            let saved = all.iter().filter(|m| is(m)).count();
            assert!(saved > 0, "none of {} drives was saved in the middle of {what}", all.len());
        }
    }
}

/// Save a drive in the middle of its work, restore it, and cut the power of both.
fn cut_both<M: Kept + Recorded>(seed: u64) -> [usize; 3]
where
    M::Page: Serialize + DeserializeOwned,
{
    let mut rng = Rng(seed);
    let plan = Plan::new(seed, &mut rng);
    let length = 1 + rng.below(300);
    let asked = requests(&plan.spec, &mut rng, length, SimTime(0));
    let mut device = plan.build::<M>();
    serve(&mut device, &asked, &mut vec![]);
    for _ in 0..rng.below(40) {
        let Some(event) = device.next_event() else { break };
        device.advance_to(event).unwrap();
    }
    let state = StateFile::open(plan.save(&device).0, Checked::Whole).unwrap();
    let restored = plan.restore::<M>(&state).unwrap_or_else(|e| panic!("{e}"));
    let more = requests(&plan.spec, &mut rng, 60, device.now());
    let mut seen = [0; 3];
    let ends = [device, restored].map(|device| {
        let off = device.power_cut();
        let (lost, at) = (off.lost.clone(), off.at);
        seen = [lost.len(), off.image.protected_trims(), off.image.media.metadata().trim_pages().count()];
        let (scheme, _) = support::scheme(plan.which, &mut plan.tiny.clone());
        let geometry = plan.spec.geometry().unwrap();
        let mut device: Device<NoProbe, M> = Device::power_on(&plan.spec, &geometry, scheme, off)
            .unwrap_or_else(|e| panic!("{}: {e}", plan.name));
        device.ftl.check().unwrap_or_else(|e| panic!("{e}"));
        let recovered = plan.save(&device).1;
        let (mut ended, ready) = (vec![], device.now());
        for (request, came, data) in &more {
            let at = ready.max(*came);
            device.submit_with(request.at(at), at, data).unwrap_or_else(|e| panic!("{e}"));
        }
        end(&mut device, &mut ended);
        (lost, at, ended, recovered, plan.save(&device).1)
    });
    assert!(ends[0] == ends[1], "{}: seed {seed}: both come back alike", plan.name);
    seen
}

#[test]
fn a_restored_drive_comes_back_from_a_power_cut_as_the_one_that_was_saved() {
    let mut all = [0; 3];
    for seed in 0..60 {
        let seen = if seed % 2 == 0 { cut_both::<Metadata>(seed) } else { cut_both::<Bytes>(seed) };
        all = std::array::from_fn(|i| all[i] + usize::from(seen[i] > 0));
    }
    assert!(all.iter().all(|n| *n > 0), "lost requests, protected trims, log pages: {all:?}");
}

#[test]
fn replays_the_case_that_the_environment_names() {
    let Ok(case) = std::env::var("WORDLINE_CASE") else { return };
    let (seed, length) = case.split_once(':').expect("WORDLINE_CASE=SEED:LENGTH");
    run(seed.parse().expect("a seed"), length.parse().expect("a length"));
}

/// A drive in the middle of its work, and its state.
fn busy(seed: u64) -> (Plan, Vec<u8>) {
    let mut rng = Rng(seed);
    let plan = Plan::new(seed, &mut rng);
    let asked = requests(&plan.spec, &mut rng, 120, SimTime(0));
    let mut device = plan.build::<Metadata>();
    serve(&mut device, &asked, &mut vec![]);
    let mut bytes = vec![];
    let mut file = plan.save(&device).0;
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    (plan, bytes)
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Open and restore whatever the bytes are.
fn attempt(plan: &Plan, bytes: &[u8]) -> Result<String, RestoreError> {
    let state = StateFile::open(file_of(bytes), Checked::Whole)?;
    let device: Device<NoProbe, Metadata> = plan.restore(&state)?;
    Ok(plan.save(&device).1)
}

#[test]
fn a_state_file_with_any_byte_changed_or_cut_off_is_refused_or_does_not_matter() {
    let cases = number("WORDLINE_CASES", 300);
    for seed in [3, 14] {
        let (plan, bytes) = busy(seed);
        let good = attempt(&plan, &bytes).unwrap_or_else(|e| panic!("{e}"));
        let mut rng = Rng(seed ^ 0x0066_6c69);
        let interesting: Vec<usize> = (0..bytes.len()).filter(|i| *i < 64 || bytes[*i] != 0).collect();
        for i in 0..cases {
            // Where something is written, more often than in what lies between.
            let at = match i % 4 {
                0 => rng.below(bytes.len() as u64) as usize,
                1 => rng.below(64) as usize,
                _ => interesting[rng.below(interesting.len() as u64) as usize],
            };
            let mut changed = bytes.clone();
            changed[at] ^= 1 << rng.below(8);
            match attempt(&plan, &changed) {
                Ok(checksum) => {
                    let outside = at >= 64 && bytes[at] == 0;
                    assert!(outside && checksum == good, "byte {at} of {} may change", bytes.len());
                }
                Err(RestoreError::State(StateError::Damaged { .. } | StateError::NotAState)) => {}
                Err(e) => panic!("byte {at}: {e}"),
            }
            let cut = rng.below(bytes.len() as u64) as usize;
            let e = attempt(&plan, &bytes[..cut]).unwrap_err();
            assert!(
                matches!(e, RestoreError::State(StateError::Damaged { .. } | StateError::NotAState)),
                "cut at {cut}: {e}"
            );
        }
        let e = attempt(&plan, &[&bytes[..], &[0]].concat()).unwrap_err().to_string();
        assert!(e.contains("damaged: its length"), "{e}");
    }
    let (plan, _) = busy(3);
    let other = attempt(
        &plan,
        b"a report, or whatever else of more than sixty-four bytes people have in their folders",
    );
    assert!(matches!(other, Err(RestoreError::State(StateError::NotAState))));
}

#[test]
fn damage_is_told_by_the_part_that_it_is_in() {
    let (plan, bytes) = busy(3);
    let say = |at: usize| {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        attempt(&plan, &changed).unwrap_err().to_string()
    };
    let table = (65_536..bytes.len()).find(|i| bytes[*i] != 0).unwrap();
    for (at, part) in [(30, "its header"), (bytes.len() - 1, "its body"), (table, "chunk 0 of table")] {
        let e = say(at);
        assert!(e.contains("damaged") && e.contains(part) && e.contains("save it again"), "{e}");
    }
}

#[test]
fn a_state_of_another_device_or_scheme_is_refused_by_name_with_what_differs_first() {
    let (plan, bytes) = busy(3);
    let state = StateFile::open(file_of(&bytes), Checked::Whole).unwrap();
    let mut spec = plan.spec.clone();
    spec.name = "small".into();
    spec.gc.hard_reserve += 1;
    let e = state.is_of(Label { device: &spec, scheme: &plan.name }).unwrap_err().to_string();
    assert!(
        e.contains("device tiny") && e.contains("not of small") && e.contains("device.name is \"tiny\""),
        "{e}"
    );
    spec.name = plan.spec.name.clone();
    let e = state.is_of(Label { device: &spec, scheme: &plan.name }).unwrap_err().to_string();
    let (was, is) = (plan.spec.gc.hard_reserve, spec.gc.hard_reserve);
    assert!(e.contains(&format!("gc.hard_reserve is {was} in the state and {is} here")), "{e}");
    let e = state.is_of(Label { device: &plan.spec, scheme: "fast" }).unwrap_err().to_string();
    assert!(e.contains(&plan.name) && e.contains("fast"), "{e}");
}

#[test]
fn a_state_with_other_fields_is_of_another_build_and_not_misread() {
    let (plan, bytes) = busy(3);
    let about = StateFile::open(file_of(&bytes), Checked::Whole).unwrap().about().clone();
    let write = |about: &About| {
        let mut file = tempfile::tempfile().unwrap();
        let mut to = Saver::new(&mut file);
        to.shape("Device with fields of old").unwrap();
        to.finish(about).unwrap();
        StateFile::open(file, Checked::Whole).unwrap()
    };
    let e = plan.restore::<Metadata>(&write(&about)).err().unwrap().to_string();
    assert!(e.contains("another build") && e.contains("Device"), "{e}");
    let e = plan
        .restore::<Metadata>(&write(&About { layout: !about.layout, ..about }))
        .err()
        .unwrap()
        .to_string();
    assert!(e.contains("another build") && e.contains("layout"), "{e}");
}

#[test]
fn a_drive_that_starts_anew_keeps_what_it_holds_and_counts_from_zero() {
    for seed in 0..40 {
        let mut rng = Rng(seed);
        let plan = Plan::new(seed, &mut rng);
        let asked = requests(&plan.spec, &mut rng, 150, SimTime(0));
        let (mut device, mut ended) = (plan.build::<Bytes>(), vec![]);
        serve(&mut device, &asked, &mut ended);
        if device.next_event().is_some() {
            assert!(device.start_anew().unwrap_err().to_string().contains("drain the device first"));
        }
        end(&mut device, &mut ended);
        let all = HostRequest::new(HostOp::Read, 0, (plan.spec.logical_bytes() / 512) as u32);
        let read = |device: &mut Device<NoProbe, Bytes>| {
            device.submit(all, device.now()).unwrap();
            let mut ended = vec![];
            end(device, &mut ended);
            ended.pop().unwrap().3
        };
        let before = read(&mut device);
        let wear: Vec<_> = device.ftl.wear().collect();
        device.start_anew().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((device.now(), device.submitted(), device.outstanding()), (SimTime(0), 0, 0));
        assert_eq!(device.ftl.counters(), plan.build::<Bytes>().ftl.counters());
        assert_eq!(device.metrics.completed, [0; 4]);
        assert_eq!(device.ftl.wear().collect::<Vec<_>>(), wear);
        device.ftl.check().unwrap();

        // Saved and restored, it is the same drive anew.
        let state = StateFile::open(plan.save(&device).0, Checked::Body).unwrap();
        let mut restored: Device<NoProbe, Bytes> = plan.restore(&state).unwrap_or_else(|e| panic!("{e}"));
        assert!(read(&mut restored) == before, "{}: what was there is there", plan.name);
        let (mut a, mut b) = (vec![], vec![]);
        read(&mut device);
        for (d, ended) in [(&mut device, &mut a), (&mut restored, &mut b)] {
            serve(d, &requests(&plan.spec, &mut rng.clone(), 60, d.now()), ended);
            end(d, ended);
        }
        assert!(a == b, "{}: both go on alike", plan.name);
    }
}
