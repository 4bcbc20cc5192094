//! Cases by the thousand: `make swarm N=1000 SEED=1` runs so many of them; `cargo test` a fixed number. A case that fails is
//! told as `WORDLINE_CASE=SEED:LENGTH`, and `replays` runs it alone.

use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, mpsc};
use std::time::{Duration, Instant};
use wordline_device::PartialPages;
use wordline_ftl::MapKind;
use wordline_schemes::Registry;
use wordline_swarm::{Case, Failure, Outcome, Swarm, run_case, stress};

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

/// The command that runs a case of this kind alone, over the same schemes.
fn command(kind: &str, seed: u64, length: u64) -> String {
    let schemes = std::env::var("WORDLINE_SCHEMES").map(|names| format!("WORDLINE_SCHEMES={names} "));
    format!(
        "replay: {}WORDLINE_CASE={kind}{seed}:{length} cargo test -p wordline-swarm --test it swarm::replays",
        schemes.unwrap_or_default()
    )
}

fn replay(swarm: &Swarm, seed: u64, length: u64) -> String {
    command(if swarm.is_at_the_edge() { "edge:" } else { "" }, seed, length)
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

/// The result of a core: its number, and what a call of it panicked with.
type Ended = (usize, Option<Box<dyn Any + Send>>);

/// Calls with each number of a range, on every core. A call that panics ends all others after theirs, and its panic goes
/// on. A call that never returns is named, and ends everything, for it cannot be caught.
fn each(swarm: &Swarm, range: std::ops::Range<u64>, call: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(range.start);
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let begun: Vec<Begun> = (0..cores).map(|_| Mutex::new((range.start, Instant::now()))).collect();
    let panic = std::thread::scope(|scope| {
        let (say, hear) = mpsc::channel::<Ended>();
        for (core, begun) in begun.iter().enumerate() {
            let (say, next, call) = (say.clone(), &next, &call);
            scope.spawn(move || {
                let work = || {
                    loop {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        if n >= range.end {
                            break;
                        }
                        *begun.lock().unwrap() = (n, Instant::now());
                        call(n);
                    }
                };
                let panic = catch_unwind(AssertUnwindSafe(work)).err();
                if panic.is_some() {
                    next.store(range.end, Ordering::Relaxed);
                }
                say.send((core, panic)).unwrap();
            });
        }
        wait_for_all(swarm, &begun, &hear)
    });
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// Wait for all cores. Returns what the first that panicked did so with.
fn wait_for_all(swarm: &Swarm, begun: &[Begun], hear: &mpsc::Receiver<Ended>) -> Option<Box<dyn Any + Send>> {
    let mut working: BTreeSet<usize> = (0..begun.len()).collect();
    let mut panicked = None;
    while !working.is_empty() {
        if let Ok((core, panic)) = hear.recv_timeout(PATIENCE / 4) {
            working.remove(&core);
            panicked = panicked.or(panic);
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
    panicked
}

/// A call that panics is not taken for one that never ends: the others end what they are at, and nothing is waited for.
#[test]
fn panic_of_one_core_reaches_the_test_at_once() {
    let (since, calls) = (Instant::now(), AtomicU64::new(0));
    let all = || {
        each(&swarm(), 0..1_000_000_000, |n| {
            calls.fetch_add(1, Ordering::Relaxed);
            assert!(n != 7, "the seventh");
        });
    };
    let panic = quietly(|| catch_unwind(AssertUnwindSafe(all))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the seventh"));
    assert!(calls.into_inner() < 1_000_000_000 && since.elapsed() < PATIENCE / 4);
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

/// A case over a drive that maps pages, with the sectors of each page known; none if its drive does not take that.
fn by_valid_sectors(swarm: &Swarm, seed: u64, length: u64) -> Option<Case> {
    let mut case = swarm.draw(seed, length).ok().filter(|case| case.drive.by_page())?;
    case.drive = case.drive.changed(|spec| spec.partial = PartialPages::ValidSectors);
    // Its scheme or another setting may not take it.
    (case.drive.layout.map == MapKind::ValidSectors).then_some(case)
}

/// What a partial write lacks is read, and no more. A case that fails is replayed as `WORDLINE_CASE=valid:SEED:LENGTH`.
#[test]
fn every_read_and_every_count_by_valid_sectors() {
    let swarm = swarm();
    let (first, cases) = (number("WORDLINE_SEED", 0), number("WORDLINE_CASES", 300));
    let run = AtomicU64::new(0);
    each(&swarm, first..first + cases, |seed| {
        let Some(case) = by_valid_sectors(&swarm, seed, Swarm::length(seed)) else { return };
        quietly(|| run_case(&case))
            .unwrap_or_else(|failure| panic!("{failure}\n  {}", command("valid:", seed, failure.length)));
        run.fetch_add(1, Ordering::Relaxed);
    });
    let run = run.into_inner();
    assert!(run * 5 >= cases, "only {run} of {cases} cases were run");
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
    let (kind, case) = case.split_once(':').filter(|(_, rest)| rest.contains(':')).unwrap_or(("", &case));
    let (seed, length) = case.split_once(':').expect("WORDLINE_CASE=SEED:LENGTH, edge: or valid: before it");
    let (seed, length) = (seed.parse().expect("a seed"), length.parse().expect("a length"));
    let case = match kind {
        "" => swarm().draw(seed, length).unwrap_or_else(|f| panic!("{f}")),
        "edge" => at_the_edge().draw(seed, length).unwrap_or_else(|f| panic!("{f}")),
        "valid" => {
            by_valid_sectors(&swarm(), seed, length).expect("a drive that knows the sectors of its pages")
        }
        other => panic!("{other}: neither edge nor valid"),
    };
    println!("{case}");
    run_case(&case).unwrap_or_else(|f| panic!("{f}"));
}
