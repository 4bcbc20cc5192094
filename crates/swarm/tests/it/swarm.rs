//! Cases by the thousand: `make swarm N=1000 SEED=1` runs so many of them; `cargo test` a fixed number. A case that fails is
//! told as `WORDLINE_CASE=SEED:LENGTH`, and `replays` runs it alone.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, mpsc};
use std::time::{Duration, Instant};
use wordline_device::PartialPages;
use wordline_ftl::MapKind;
use wordline_schemes::Registry;
use wordline_swarm::{Failure, Outcome, Swarm, run_case, stress};

/// All schemes, or those that `WORDLINE_SCHEMES=a,b` asks for.
pub fn swarm() -> Swarm {
    let all = stress::over(&Registry::standard()).unwrap();
    let asked = std::env::var("WORDLINE_SCHEMES").unwrap_or_default();
    let names: Vec<&str> = asked.split(',').filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Swarm::over(&all);
    }
    let entries = names.iter().map(|name| all.find(name).unwrap_or_else(|e| panic!("{e}")).clone());
    Swarm::over(&entries.fold(Registry::empty(), |registry, entry| registry.with(entry).unwrap()))
}

/// The same at the edge.
pub fn at_the_edge() -> Swarm {
    swarm().at_the_edge()
}

thread_local! {
    /// Whether a panic of this thread is expected, and told with its case.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Call without the words of panics on the way, which the swarm tells itself.
pub fn quietly<T>(call: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    QUIET.set(true);
    let returned = call();
    QUIET.set(false);
    returned
}

fn replay(swarm: &Swarm, seed: u64, length: u64) -> String {
    let edge = if swarm.is_at_the_edge() { "edge:" } else { "" };
    format!(
        "replay: WORDLINE_CASE={edge}{seed}:{length} cargo test -p wordline-swarm --test it swarm::replays"
    )
}

fn told(swarm: &Swarm, failure: &Failure) -> String {
    format!("{failure}\n  {}", replay(swarm, failure.seed, failure.length))
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .map_or(default, |v| v.parse().unwrap_or_else(|_| panic!("{name}={v} is not a number")))
}

/// Longer than any case takes on any machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Past the capture of tests, which an abort would lose.
fn tell(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

/// A core's number, and since when.
type Begun = Mutex<(u64, Instant)>;

/// Calls with each number of a range, on every core. A call that never returns is named, and ends
/// everything, for it cannot be caught.
fn each(swarm: &Swarm, range: std::ops::Range<u64>, call: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(range.start);
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let begun: Vec<Begun> = (0..cores).map(|_| Mutex::new((range.start, Instant::now()))).collect();
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
        wait_for_all(swarm, &begun, &hear);
    });
}

fn wait_for_all(swarm: &Swarm, begun: &[Begun], hear: &mpsc::Receiver<usize>) {
    let mut working: BTreeSet<usize> = (0..begun.len()).collect();
    while !working.is_empty() {
        if let Ok(core) = hear.recv_timeout(PATIENCE / 4) {
            working.remove(&core);
            continue;
        }
        for core in &working {
            let (n, since) = *begun[*core].lock().unwrap();
            if since.elapsed() > PATIENCE {
                tell(&format!("the drive never ends\n  {}\n", replay(swarm, n, Swarm::length(n))));
                std::process::abort();
            }
        }
    }
}

#[test]
fn every_read_returns_newest_data_and_counts_add_up() {
    no_case_fails(&swarm(), 900);
}

#[test]
fn every_read_and_every_count_at_the_edge() {
    no_case_fails(&at_the_edge(), 400);
}

/// No case of a swarm fails, of so many or of as many as the environment says.
fn no_case_fails(swarm: &Swarm, usually: u64) {
    const SHOWN: usize = 5;
    let (first, cases) = (number("WORDLINE_SEED", 1), number("WORDLINE_CASES", usually));
    let failures = Mutex::new(BTreeMap::new());
    each(swarm, first..first + cases, |seed| {
        if failures.lock().unwrap().len() >= SHOWN {
            return;
        }
        if let Err(failure) = quietly(|| swarm.case(seed, Swarm::length(seed))) {
            failures.lock().unwrap().insert(seed, failure);
        }
    });
    let failures = failures.into_inner().unwrap().into_values();
    let shortest: Vec<Failure> = failures.map(|f| quietly(|| swarm.shortest(f))).collect();
    let shown: Vec<String> = shortest.iter().map(|f| told(swarm, f)).collect();
    if let Some(first) = shortest.first() {
        let smallest = quietly(|| swarm.smallest(first)).map_or_else(|f| f.to_string(), |s| s.to_string());
        panic!("{}\nthe first of them with less: {smallest}", shown.join("\n"));
    }
}

/// Drives that map pages, with the sectors of each page known: what a partial write lacks is read, and no more.
#[test]
fn every_read_and_every_count_by_valid_sectors() {
    let swarm = swarm();
    let run = AtomicU64::new(0);
    each(&swarm, 0..number("WORDLINE_CASES", 300), |seed| {
        let Ok(mut case) = swarm.draw(seed, Swarm::length(seed)) else { return };
        if !case.drive.by_page() {
            return;
        }
        case.drive = case.drive.changed(|spec| spec.partial = PartialPages::ValidSectors);
        if case.drive.layout.map != MapKind::ValidSectors {
            return; // its scheme or another setting does not take it
        }
        quietly(|| run_case(&case))
            .unwrap_or_else(|failure| panic!("seed {seed}, by valid sectors: {failure}"));
        run.fetch_add(1, Ordering::Relaxed);
    });
    let run = run.into_inner();
    assert!(run >= 60, "only {run} cases were run");
}

#[test]
fn case_is_deterministic_and_a_shorter_one_its_prefix() {
    let (swarm, again) = (swarm(), self::swarm());
    for seed in 1..=20 {
        let run = |swarm: &Swarm| -> Outcome {
            swarm.case(seed, 60).unwrap_or_else(|f| panic!("{}", told(swarm, &f)))
        };
        assert_eq!(run(&swarm), run(&again));
        let (long, short) = (swarm.draw(seed, 60).unwrap(), again.draw(seed, 25).unwrap());
        assert_eq!(long.requests[..25], short.requests);
        assert_eq!(long.drive.spec, short.drive.spec);
        assert_eq!(format!("{:?}", long.initial), format!("{:?}", short.initial));
    }
}

#[test]
fn replays_the_case_that_the_environment_names() {
    let Ok(case) = std::env::var("WORDLINE_CASE") else { return };
    let (swarm, case) =
        case.strip_prefix("edge:").map_or_else(|| (swarm(), &*case), |case| (at_the_edge(), case));
    let (seed, length) = case.split_once(':').expect("WORDLINE_CASE=SEED:LENGTH, or edge:SEED:LENGTH");
    let (seed, length) = (seed.parse().expect("a seed"), length.parse().expect("a length"));
    let case = swarm.draw(seed, length).unwrap_or_else(|f| panic!("{f}"));
    println!("{case}");
    run_case(&case).unwrap_or_else(|f| panic!("{f}"));
}
