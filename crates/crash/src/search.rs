//! Checks all states in parallel, and reduces the first that fails.

use crate::check::{Check, Checked, Verdict};
use crate::command::Template;
use crate::error::CrashError;
use crate::lock;
use crate::queue::{Next, Queue};
use crate::report::{Coverage, Failing, Found};
use crate::spec::SearchSpec;
use crate::unread::Unread;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use wordline_volatile::{Broken, Interval, Log, State, flushes, intervals, reduce, story};

/// One in this many states that differ only in unread sectors is checked anyway.
const ANYWAY: u64 = 50;
/// Maximum number of FLUSH and FUA requests that a broken drive ignores, each in states of its own.
const DROPPED: usize = 64;

/// State shared by all threads of a search.
struct Shared<'a> {
    queue: Mutex<Queue<'a>>,
    seen: Mutex<HashSet<(u128, usize)>>,
    /// What passed checks have read, and the numbers of states that differ from a passed state only in unread
    /// sectors.
    unread: Unread,
    differ_unread: AtomicU64,
    anyway: AtomicU64,
    checks: AtomicU64,
    equal: AtomicU64,
    /// Failing states by number, and the first error.
    failing: Mutex<BTreeMap<u64, Failed>>,
    error: Mutex<Option<CrashError>>,
    ends: AtomicBool,
}

/// A failing state.
struct Failed {
    next: Next,
    verdict: Verdict,
    is_unread: bool,
}

/// Check what power cuts may leave of a log, until a state fails or `spec.states` states were checked.
/// `progress` is called with the number of checks so far.
///
/// # Errors
/// If the check cannot be run or fails on the whole log without losses, or `stops` is set.
pub fn search(
    log: &Log,
    template: &Template,
    spec: &SearchSpec,
    stops: &(dyn Fn() -> bool + Sync),
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Found, CrashError> {
    let begun = Instant::now();
    let mut intervals = intervals(log, spec.rules, None);
    let had_faults = log.faults_before(usize::MAX).next().is_some();
    // With session faults, the check may fail on what the client left.
    if !had_faults {
        uncut(log, template, spec, &intervals, stops)?;
    }
    if spec.broken.contains(&Broken::DroppedFlush) {
        intervals.extend(with_dropped(log, spec));
    }
    let shared = Shared {
        queue: Mutex::new(Queue::new(&intervals, &spec.broken, spec.seed, had_faults)),
        seen: Mutex::default(),
        unread: Unread::default(),
        differ_unread: AtomicU64::new(0),
        anyway: AtomicU64::new(0),
        checks: AtomicU64::new(0),
        equal: AtomicU64::new(0),
        failing: Mutex::default(),
        error: Mutex::default(),
        ends: AtomicBool::new(false),
    };
    std::thread::scope(|scope| -> Result<(), CrashError> {
        for _ in 0..spec.threads.max(1) {
            let check = Check::new(template, log, spec)?;
            let (shared, intervals) = (&shared, &intervals);
            scope.spawn(move || shared.work(&check, (intervals, spec), stops, progress));
        }
        Ok(())
    })?;
    if let Some(error) = lock(&shared.error).take() {
        return Err(error);
    }
    let mut coverage = {
        let queue = lock(&shared.queue);
        Coverage::of(&queue.complete(), queue.shapes())
    };
    coverage.checks = shared.checks.load(Ordering::Relaxed);
    coverage.equal = shared.equal.load(Ordering::Relaxed);
    coverage.anyway = shared.anyway.load(Ordering::Relaxed);
    coverage.unread = shared.differ_unread.load(Ordering::Relaxed) - coverage.anyway;
    let first = lock(&shared.failing).pop_first();
    let smaller =
        Smaller { check: Check::new(template, log, spec)?, log, stops, asked: 0, seen: BTreeMap::new() };
    let failing = first.map(|(_, failed)| smaller.failing(&intervals[failed.next.interval], failed));
    let failing = failing.transpose()?;
    coverage.milliseconds = begun.elapsed().as_millis() as u64;
    Ok(Found { coverage, failing })
}

/// The intervals of a drive that ignores one FLUSH or FUA, evenly spread over the log.
fn with_dropped(log: &Log, spec: &SearchSpec) -> Vec<Interval> {
    let all = flushes(log);
    let step = all.len().div_ceil(DROPPED).max(1);
    all.iter().step_by(step).flat_map(|flush| intervals(log, spec.rules, Some(flush.id))).collect()
}

/// Check that the whole log passes without losses.
fn uncut(
    log: &Log,
    template: &Template,
    spec: &SearchSpec,
    intervals: &[Interval],
    stops: &dyn Fn() -> bool,
) -> Result<(), CrashError> {
    let Some(last) = intervals.last() else { return Ok(()) };
    let check = Check::new(template, log, spec)?;
    let state = State { at: last.at(), ..State::default() };
    match check.run(last, &state, stops)? {
        Verdict::Passed => Ok(()),
        Verdict::Failed { how, said } => Err(CrashError::Input(format!(
            "--check: the check fails although no data are lost: {how}\n{said}\n  hint: the check must pass on what the client left; \
             run it by hand on such an image"
        ))),
    }
}

impl Shared<'_> {
    fn work(
        &self,
        check: &Check<'_>,
        (intervals, spec): (&[Interval], &SearchSpec),
        stops: &(dyn Fn() -> bool + Sync),
        progress: &(dyn Fn(u64) + Sync),
    ) {
        while !self.ends.load(Ordering::Relaxed) {
            let Some(next) = lock(&self.queue).next() else { return };
            let interval = &intervals[next.interval];
            let (image, marks) = (next.state.image(interval), check.marks(interval));
            let is_new = lock(&self.seen).insert((image.hash(), marks));
            let is_unread = is_new && check.is_served() && self.unread.has(&image, marks);
            let is_skipped = !is_new
                || is_unread && self.differ_unread.fetch_add(1, Ordering::Relaxed) % ANYWAY != ANYWAY - 1;
            lock(&self.queue).was_equal(is_skipped);
            if is_skipped {
                self.equal.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            self.anyway.fetch_add(u64::from(is_unread), Ordering::Relaxed);
            if self.checks.fetch_add(1, Ordering::Relaxed) >= spec.states {
                self.checks.fetch_sub(1, Ordering::Relaxed);
                return;
            }
            match check.run_on(image.clone(), (interval, &next.state), stops) {
                Ok(Checked { verdict: Verdict::Passed, read }) => {
                    read.into_iter().for_each(|read| self.unread.passed(read, &image, marks));
                }
                Ok(Checked { verdict, .. }) => {
                    self.ends.store(true, Ordering::Relaxed);
                    lock(&self.failing).insert(next.number, Failed { next, verdict, is_unread });
                }
                Err(error) => {
                    self.ends.store(true, Ordering::Relaxed);
                    lock(&self.error).get_or_insert(error);
                }
            }
            progress(self.checks.load(Ordering::Relaxed));
        }
    }
}

/// The reduction of a failing state.
struct Smaller<'a> {
    check: Check<'a>,
    log: &'a Log,
    stops: &'a (dyn Fn() -> bool + Sync),
    asked: u64,
    seen: BTreeMap<String, bool>,
}

impl Smaller<'_> {
    fn failing(mut self, interval: &Interval, failed: Failed) -> Result<Failing, CrashError> {
        let Failed { next, verdict, is_unread } = failed;
        let again = self.fails(interval, &next.state)?;
        let mut state = next.state;
        if again {
            state = self.by_request(interval, state)?;
            state = self.by_sector(interval, state)?;
        }
        let now = if again { self.check.run(interval, &state, self.stops)? } else { Verdict::Passed };
        let verdict = if now == Verdict::Passed { verdict } else { now };
        Ok(Failing {
            name: state.name(interval),
            class: next.class,
            story: story(self.log, interval, &state),
            verdict,
            again,
            is_unread,
            reductions: self.asked,
        })
    }

    fn fails(&mut self, interval: &Interval, state: &State) -> Result<bool, CrashError> {
        let name = state.name(interval);
        if let Some(known) = self.seen.get(&name) {
            return Ok(*known);
        }
        self.asked += 1;
        let fails = self.check.run(interval, state, self.stops)? != Verdict::Passed;
        self.seen.insert(name, fails);
        Ok(fails)
    }

    /// Reduce the losses of a state, split into units. Any subset of the units is a state.
    fn reduce<T: Clone>(
        &mut self,
        interval: &Interval,
        units: Vec<T>,
        state: impl Fn(&[T]) -> State,
    ) -> Result<State, CrashError> {
        let mut error = None;
        let left = reduce(units, |part| match self.fails(interval, &state(part)) {
            Ok(fails) => fails,
            Err(e) => {
                error.get_or_insert(e);
                false
            }
        });
        error.map_or_else(|| Ok(state(&left)), Err)
    }

    /// Reduce to as few lost requests as still fail.
    fn by_request(&mut self, interval: &Interval, state: State) -> Result<State, CrashError> {
        let units: Vec<(u64, BTreeSet<u64>)> = state.lost.clone().into_iter().collect();
        self.reduce(interval, units, |part| State { lost: part.iter().cloned().collect(), ..state.clone() })
    }

    /// For each request that is lost in part: lose all of it if that still fails, otherwise as few sectors as
    /// still fail.
    fn by_sector(&mut self, interval: &Interval, mut state: State) -> Result<State, CrashError> {
        let torn: Vec<(u64, BTreeSet<u64>)> = state.lost.clone().into_iter().collect();
        for (id, lost) in torn {
            let all =
                interval.cache().writes().find(|write| write.request().id == id).map(|w| w.sectors().clone());
            let Some(all) = all.filter(|all| *all != lost) else { continue };
            let mut whole = state.clone();
            whole.lost.insert(id, all);
            if self.fails(interval, &whole)? {
                state = whole;
                continue;
            }
            let with = |part: &[u64]| {
                let mut smaller = state.clone();
                smaller.lost.insert(id, part.iter().copied().collect());
                smaller
            };
            state = self.reduce(interval, lost.into_iter().collect(), with)?;
        }
        Ok(state)
    }
}

/// Check the state of this name again.
///
/// # Errors
/// If there is no such state, or the check cannot be run.
pub fn replay_state(
    log: &Log,
    template: &Template,
    spec: &SearchSpec,
    name: &str,
    stops: &dyn Fn() -> bool,
) -> Result<(String, Verdict), CrashError> {
    let wrong = |e: wordline_volatile::StateError| CrashError::Input(format!("--state {e}"));
    let (at, dropped) = State::cut_of(name).map_err(wrong)?;
    let intervals = intervals(log, spec.rules, dropped);
    let interval = intervals.iter().find(|interval| interval.at() == at).ok_or_else(|| {
        let what = format!("--state {name}: no interval of this log ends after {at} events");
        CrashError::Input(format!("{what}\n  allowed: a name that was printed for this log"))
    })?;
    let state = State::of_name(name, interval).map_err(wrong)?;
    let verdict = Check::new(template, log, spec)?.run(interval, &state, stops)?;
    Ok((story(log, interval, &state), verdict))
}
