//! Is a drive that is saved, restored and goes on the drive that was never interrupted? Random drives
//! under every scheme are cut at random events; completions, data read, counters and result hash must
//! be the same, and so must the state at the end, to the last byte.

mod files;
mod plan;

use crate::support::{caught, number};
use plan::{Plan, end, requests, serve};
use wordline_ftl::{BoxedMedia, Bytes, Checked, Metadata, StateFile};
use wordline_sim::{Device, NoProbe};
use wordline_swarm::Rng;
use wordline_units::{DieId, HostOp, HostRequest, SimTime};

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

fn metadata() -> BoxedMedia {
    Metadata::default().into()
}

fn bytes() -> BoxedMedia {
    Bytes::default().into()
}

fn midst(device: &Device<NoProbe>, dies: u32) -> Midst {
    let said = device.ftl().inspect().leftovers();
    Midst {
        operations: !said.starts_with("0 operations"),
        staged: !said.contains(" 0 staged"),
        collection: !said.ends_with("jobs []"),
        erase: said.contains("erasing: true"),
        held: (0..dies).any(|d| device.ftl().is_held(DieId(d))),
        idle_job: (0..dies).any(|d| device.ftl().inspect().idle_jobs(DieId(d)) > 0),
    }
}

/// Run through; and again, cut at random events, where the drive is saved and restored.
fn case(seed: u64, length: u64, media: fn() -> BoxedMedia) -> Vec<Midst> {
    let mut rng = Rng::new(seed);
    let plan = Plan::new(seed, &mut rng, media);
    let asked = requests(plan.spec(), &mut rng, length, SimTime(0));
    let (mut through, mut expected) = (plan.build(), vec![]);
    serve(&mut through, &asked, &mut expected);
    end(&mut through, &mut expected);

    let (mut device, mut ended, mut seen) = (plan.build(), vec![], vec![]);
    let (mut begin, dies) = (0, plan.drive.geometry.dies);
    for _ in 0..1 + rng.below(3) {
        let left = (asked.len() - begin) as u64;
        // One in four at the end, where idle time begins.
        let cut = begin + if rng.below(4) == 0 { left } else { rng.below(left + 1) } as usize;
        serve(&mut device, &asked[begin..cut], &mut ended);
        begin = cut;
        let next = asked.get(cut).map_or(SimTime::NEVER, |a| a.1);
        // A job that holds its die is rare: with a scheme that has such, go on until there is one.
        let seeks = device.ftl().inspect().works_when_idle();
        for _ in 0..if seeks { 400 } else { rng.below(40) } {
            let Some(event) = device.next_event().filter(|at| *at <= next) else { break };
            device.advance_to(event).unwrap();
            if seeks && (0..dies).any(|d| device.ftl().is_held(DieId(d))) {
                break;
            }
        }
        seen.push(midst(&device, dies));
        let (file, checksum) = plan.save(&device);
        let state = StateFile::open(file, Checked::Whole).unwrap();
        device = plan.restore(&state).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(plan.save(&device).1, checksum, "what is restored is saved as it was");

        // A fork of the same state does what it likes.
        let mut sibling: Device<NoProbe> = plan.restore(&state).unwrap();
        let elsewhere = requests(plan.spec(), &mut rng.clone(), 40, sibling.now());
        serve(&mut sibling, &elsewhere, &mut vec![]);
        end(&mut sibling, &mut vec![]);
    }
    serve(&mut device, &asked[begin..], &mut ended);
    end(&mut device, &mut ended);
    assert!(ended == expected, "{}: the same requests end at the same times with the same data", plan.name);
    let hash = |d: &Device<NoProbe>| d.metrics().result_hash(&d.ftl().counters().integers());
    assert_eq!(device.ftl().counters(), through.ftl().counters());
    assert_eq!(hash(&device), hash(&through));
    assert_eq!(
        device.metrics().latency.each_ref().map(|h| h.cumulative()),
        through.metrics().latency.each_ref().map(|h| h.cumulative())
    );
    assert_eq!(plan.save(&device).1, plan.save(&through).1, "{}: the last state is the same", plan.name);
    seen
}

fn run(seed: u64, length: u64) -> Vec<Midst> {
    match seed % 3 {
        0 => case(seed, length, BoxedMedia::none),
        1 => case(seed, length, metadata),
        _ => case(seed, length, bytes),
    }
}

fn catch(seed: u64, length: u64) -> Result<Vec<Midst>, String> {
    caught(|| Ok(run(seed, length)))
}

/// As many as the quick suite has time for.
const CASES: u64 = 300;

#[test]
fn drive_restored_at_any_event_continues_unchanged() {
    let (first, cases) = (number("WORDLINE_SEED", 1), number("WORDLINE_CASES", CASES));
    let (mut failures, mut all) = (vec![], vec![]);
    for seed in first..first + cases {
        let length = Rng::new(seed ^ 0x6c65_6e67).below(400);
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
fn cut_both(seed: u64, media: fn() -> BoxedMedia) -> [usize; 3] {
    let mut rng = Rng::new(seed);
    let plan = Plan::new(seed, &mut rng, media);
    let length = 1 + rng.below(300);
    let asked = requests(plan.spec(), &mut rng, length, SimTime(0));
    let mut device = plan.build();
    serve(&mut device, &asked, &mut vec![]);
    for _ in 0..rng.below(40) {
        let Some(event) = device.next_event() else { break };
        device.advance_to(event).unwrap();
    }
    let state = StateFile::open(plan.save(&device).0, Checked::Whole).unwrap();
    let restored = plan.restore(&state).unwrap_or_else(|e| panic!("{e}"));
    let more = requests(plan.spec(), &mut rng, 60, device.now());
    let mut seen = [0; 3];
    let ends = [device, restored].map(|device| {
        let off = device.power_cut();
        let (lost, at) = (off.lost.clone(), off.at);
        seen = [
            lost.len(),
            off.image.protected_trims(),
            off.image.media.metadata().unwrap().trim_pages().count(),
        ];
        let mut device: Device<NoProbe> =
            Device::power_on(plan.spec(), &plan.drive.geometry, plan.drive.scheme(), off)
                .unwrap_or_else(|e| panic!("{}: {e}", plan.name));
        device.ftl_mut().tables().check().unwrap_or_else(|e| panic!("{e}"));
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
fn restored_drive_recovers_from_a_cut_like_the_saved() {
    let mut all = [0; 3];
    for seed in 0..60 {
        let seen = cut_both(seed, if seed % 2 == 0 { metadata } else { bytes });
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

#[test]
fn restarted_drive_keeps_data_and_resets_counters() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let plan = Plan::new(seed, &mut rng, bytes);
        let asked = requests(plan.spec(), &mut rng, 150, SimTime(0));
        let (mut device, mut ended) = (plan.build(), vec![]);
        serve(&mut device, &asked, &mut ended);
        if device.next_event().is_some() {
            assert!(device.start_anew().unwrap_err().to_string().contains("drain the device and take"));
        }
        end(&mut device, &mut ended);
        let all = HostRequest::new(HostOp::Read, 0, (plan.spec().logical_bytes() / 512) as u32);
        let read = |device: &mut Device<NoProbe>| {
            device.submit(all, device.now()).unwrap();
            let mut ended = vec![];
            end(device, &mut ended);
            ended.pop().unwrap().3
        };
        let before = read(&mut device);
        let wear: Vec<_> = device.ftl().inspect().wear().collect();
        device.start_anew().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((device.now(), device.submitted(), device.outstanding()), (SimTime(0), 0, 0));
        assert_eq!(device.ftl().counters(), plan.build().ftl().counters());
        assert_eq!(device.metrics().requests.ended, [0; 4]);
        assert_eq!(device.ftl().inspect().wear().collect::<Vec<_>>(), wear);
        device.ftl_mut().tables().check().unwrap();

        // Saved and restored, it is the same drive anew.
        let state = StateFile::open(plan.save(&device).0, Checked::Body).unwrap();
        let mut restored: Device<NoProbe> = plan.restore(&state).unwrap_or_else(|e| panic!("{e}"));
        assert!(read(&mut restored) == before, "{}: what was there is there", plan.name);
        let (mut a, mut b) = (vec![], vec![]);
        read(&mut device);
        for (d, ended) in [(&mut device, &mut a), (&mut restored, &mut b)] {
            serve(d, &requests(plan.spec(), &mut rng.clone(), 60, d.now()), ended);
            end(d, ended);
        }
        assert!(a == b, "{}: both go on alike", plan.name);
    }
}
