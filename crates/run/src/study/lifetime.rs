//! Lifetime runs: a workload repeated on a drive until the drive wears out. A lifetime run is a sequence of
//! phases: one pass of the workload, with each erase counted by the acceleration, and then power-off time in which
//! the data age. So a pass represents as many passes, followed by one power-off time. Generated requests are drawn
//! anew for each pass.

use crate::ask::setup::Setup;
use crate::ask::spec::{Executor, Job, JobProgress, LifetimeSpec, VERSION};
use crate::error::RunError;
use crate::execute::{Ready, perform, ready};
use crate::fill::wear::{YEAR_S, drive_writes_per_day};
use crate::study::threads::join;
use serde_json::json;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use wordline_report::{
    AgedLatency, LIFETIME_SCHEMA, Latency, Life, LifePhase, Lifetimes, Reached, Report, SchemeInfo,
    SchemeLife,
};
use wordline_sim::{EndOfLife, Histogram, NoProbe};
use wordline_units::{Message, Opt};

/// More phases than a picture has points: beyond this, every other stored phase is dropped.
const PHASES_KEPT: usize = 512;
/// Maximum number of passes without wear-out: the workload hardly wears the drive.
const PHASES_MAX: u64 = 200_000;

/// Progress of a lifetime run.
#[derive(Clone, PartialEq, Debug)]
pub struct LifeProgress {
    /// Which scheme, from 0.
    pub scheme: usize,
    /// The seed.
    pub seed: u64,
    /// P/E cycles per simulated erase.
    pub acceleration: u32,
    /// Passes of the workload that have ended.
    pub passes: u64,
    /// Host writes in them, in drive writes.
    pub drive_writes: f64,
    /// Mean share of life used of the blocks after them.
    pub life_used: f64,
    /// Completed share of all lifetime runs, estimated from wear.
    pub all_done: f64,
    /// Whether it has ended, and how.
    pub ended: Option<EndOfLife>,
}

/// The requested lifetime runs.
pub struct Lives {
    spec: LifetimeSpec,
    setup: Setup,
    /// The same at half the acceleration, if that is to be checked.
    half: Option<Setup>,
}

/// A lifetime run: a scheme with a seed and an acceleration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct WhichLife {
    /// Which scheme, from 0.
    pub scheme: usize,
    /// Which replica, from 0.
    pub replica: u32,
    /// Its seed.
    pub seed: u64,
    /// P/E cycles per simulated erase.
    pub acceleration: u32,
}

impl WhichLife {
    /// Its relative amount of work: inverse to the cycles per erase.
    fn weight(&self) -> f64 {
        1.0 / self.acceleration as f64
    }
}

impl Lives {
    /// Look at what is asked for.
    ///
    /// # Errors
    /// Invalid input, or a scheme that does not support the device.
    pub fn new(spec: &LifetimeSpec) -> Result<Lives, RunError> {
        if let Some(file) = spec.run.from_state.as_ref().or(spec.run.save_state.as_ref()) {
            return Err(RunError::Input(format!(
                "{file}: a lifetime run starts from a new drive; omit --from-state and --save-state"
            )));
        }
        let setup = accelerated(spec, spec.acceleration)?;
        let each = setup.device.wear.acceleration;
        let checks = spec.checks_acceleration && each > 1;
        if checks && !each.is_multiple_of(2) {
            let what = "results are checked at half of it, which must be a whole number\n  allowed: 1, or \
                        an even number";
            return Err((Opt::Acceleration.of(each) + ": " + what).into());
        }
        let half = checks.then(|| accelerated(spec, Some(each / 2))).transpose()?;
        setup.check_scheme_keys(&spec.schemes)?;
        for scheme in &spec.schemes {
            setup.spec.registry.build(&setup.scheme(scheme)?)?;
        }
        Ok(Lives { spec: spec.clone(), setup, half })
    }

    /// All of them: one per scheme and seed, then the first seed again at half the acceleration.
    pub fn all(&self) -> Vec<WhichLife> {
        let of = |setup: &Setup, scheme, replica| WhichLife {
            scheme,
            replica,
            seed: setup.spec.seed_of(replica),
            acceleration: setup.device.wear.acceleration,
        };
        let of_scheme = |scheme| {
            let replicas = (0..self.spec.run.replicas).map(move |replica| of(&self.setup, scheme, replica));
            replicas.chain(self.half.iter().map(move |half| of(half, scheme, 0)))
        };
        (0..self.spec.schemes.len()).flat_map(of_scheme).collect()
    }

    /// Combine the results, in the order of [`Self::all`]; one that was stopped before its first pass is missing.
    ///
    /// # Errors
    /// If the keys do not apply to the first scheme.
    pub fn together(&self, lives: Vec<Option<Life>>) -> Result<Lifetimes, RunError> {
        let setup = &self.setup;
        let mut lives = lives.into_iter();
        let mut schemes = vec![];
        for name in &self.spec.schemes {
            let lives_of: Vec<Life> =
                lives.by_ref().take(self.spec.run.replicas as usize).flatten().collect();
            let check = self.half.as_ref().and_then(|_| lives.next()).flatten();
            let entry = setup.spec.registry.find(name.split(':').next().unwrap_or_default().trim()).ok();
            let title = entry.map_or(String::new(), |e| e.title.to_string());
            schemes.push(SchemeLife {
                scheme: SchemeInfo { name: name.clone(), title, colour: None },
                lives: lives_of,
                check,
            });
        }
        let mut config = setup.config(&setup.scheme(&self.spec.schemes[0])?);
        config["shelf_s"] = json!(self.spec.shelf.as_secs());
        config["end"] = json!(self.spec.end.to_string());
        let lived = || schemes.iter().flat_map(|s: &SchemeLife| s.lives.iter().chain(&s.check));
        let stopped = lived().count() < self.all().len() || lived().any(|l| l.is_stopped());
        Ok(Lifetimes {
            schema: LIFETIME_SCHEMA.to_string(),
            version: VERSION.to_string(),
            device: crate::fill::report::device(setup),
            workload: crate::fill::report::workload(setup.workload.name(), setup.workload.resolved()),
            config,
            logical_bytes: setup.device.logical_bytes(),
            acceleration: setup.device.wear.acceleration,
            shelf_s: self.spec.shelf.as_secs(),
            end: self.spec.end.to_string(),
            stopped,
            command: self.spec.command(),
            schemes,
        })
    }
}

/// Run a drive to wear-out under each scheme, once per seed, and the first seed again at half the acceleration.
/// `progress` is called regularly, and can stop the runs: the results so far are returned, marked as stopped.
///
/// # Errors
/// Invalid input, a refusal, a fault, or an interruption before the first pass has ended.
pub fn lifetime(
    spec: &LifetimeSpec,
    progress: &(dyn Fn(LifeProgress) -> ControlFlow<()> + Sync),
) -> Result<Lifetimes, RunError> {
    let lives = Lives::new(spec)?;
    lives.together(all(&lives, progress)?)
}

/// The run on a drive whose blocks retire, with this many cycles per erase.
fn accelerated(spec: &LifetimeSpec, acceleration: Option<u32>) -> Result<Setup, RunError> {
    let mut run = spec.run.clone();
    run.set.push(("wear.enforce".to_string(), "true".to_string()));
    if let Some(each) = acceleration {
        run.set.push(("wear.acceleration".to_string(), each.to_string()));
    }
    let mut setup = Setup::resolve(&run)?;
    setup.to_wear_out = true;
    Ok(setup)
}

/// Execute all lifetime runs on this many threads, in order; those stopped before their first pass are missing.
fn all(
    lives: &Lives,
    progress: &(dyn Fn(LifeProgress) -> ControlFlow<()> + Sync),
) -> Result<Vec<Option<Life>>, RunError> {
    let plans = lives.all();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Option<Result<Life, RunError>>>> =
        plans.iter().map(|_| Mutex::new(None)).collect();
    let several = lives.spec.threads > 1 && plans.len() > 1 && lives.setup.workload.is_in_files();
    let executor = lives.setup.spec.executor.as_ref().filter(|_| several);
    let whole: f64 = plans.iter().map(WhichLife::weight).sum();
    let shares = Mutex::new(vec![0.0; plans.len()]);
    std::thread::scope(|scope| {
        let at_work = (0..lives.spec.threads.clamp(1, plans.len().max(1))).map(|_| {
            scope.spawn(|| {
                while let Some((number, plan)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    plans.get(number).map(|plan| (number, plan))
                } {
                    let told = |mut p: LifeProgress| {
                        let mut shares = shares.lock().unwrap_or_else(PoisonError::into_inner);
                        shares[number] = if p.ended.is_some() { 1.0 } else { p.life_used.min(1.0) };
                        let done = shares.iter().zip(&plans).map(|(share, plan)| share * plan.weight());
                        p.all_done = done.sum::<f64>() / whole;
                        drop(shares);
                        if progress(p).is_break() || wordline_units::is_interrupted() {
                            stop.store(true, Ordering::Relaxed);
                        }
                        stop.load(Ordering::Relaxed)
                    };
                    let is_check = plan.acceleration != lives.setup.device.wear.acceleration;
                    let setup = lives.half.as_ref().filter(|_| is_check).unwrap_or(&lives.setup);
                    let life = if stop.load(Ordering::Relaxed) {
                        Err(RunError::Interrupted)
                    } else {
                        let away = executor.and_then(|e| away(&lives.spec, setup, e, plan, &told));
                        away.unwrap_or_else(|| live(&lives.spec, setup, plan.scheme, plan.replica, &told))
                    };
                    if life.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    *results[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(life);
                }
            })
        });
        join(at_work.collect());
    });
    let mut found = vec![];
    for result in results {
        match result.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(Ok(life)) => found.push(Some(life)),
            // A life that another's error interrupted is not to blame.
            Some(Err(RunError::Interrupted)) | None => found.push(None),
            Some(Err(e)) => return Err(e),
        }
    }
    if found.iter().all(Option::is_none) { Err(RunError::Interrupted) } else { Ok(found) }
}

/// A lifetime run in another process, if it executes there: until its end, or until it is stopped after at least
/// one pass.
fn away(
    spec: &LifetimeSpec,
    setup: &Setup,
    executor: &Executor,
    plan: &WhichLife,
    told: &dyn Fn(LifeProgress) -> bool,
) -> Option<Result<Life, RunError>> {
    let spelling = match setup.scheme(&spec.schemes[plan.scheme]) {
        Ok(spelling) => spelling,
        Err(e) => return Some(Err(e)),
    };
    let alone = LifetimeSpec {
        run: spec.run.replica(plan.replica).with_scheme(&spelling),
        schemes: vec![spelling],
        acceleration: Some(plan.acceleration),
        checks_acceleration: false,
        threads: 1,
        ..spec.clone()
    };
    let far = |passes, drive_writes, life_used, ended| LifeProgress {
        scheme: plan.scheme,
        seed: plan.seed,
        acceleration: plan.acceleration,
        passes,
        drive_writes,
        life_used,
        all_done: 0.0,
        ended,
    };
    let mut passed = 0;
    let done = executor.perform(Job::Life(&alone), &mut |at| {
        let JobProgress::Life(passes, drive_writes, life_used) = at else { return ControlFlow::Continue(()) };
        passed = passes;
        match told(far(passes, drive_writes, life_used, None)) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    let only = |text: String| -> Result<Life, RunError> {
        let lifetimes = Lifetimes::from_json(&text).map_err(|e| RunError::Input(e.to_string()))?;
        let life = lifetimes.schemes.into_iter().next().and_then(|scheme| scheme.lives.into_iter().next());
        let life = life.ok_or(RunError::Interrupted)?;
        // How one ended is known by then; a stop has been told of already.
        if let Ok(end) = life.ended_by.parse::<EndOfLife>() {
            told(far(passed, life.drive_writes, life.life_used, Some(end)));
        }
        Ok(life)
    };
    Some(done.and_then(only))
}

/// Sums over the phases of a lifetime run.
#[derive(Default)]
struct Sums {
    written: f64,
    simulated_s: f64,
    programmed: f64,
    asked: f64,
    reads: Histogram,
    writes: Histogram,
    host_pages: u64,
    retries: u64,
    uncorrectable: Option<u64>,
    steady: u64,
    hash: u64,
}

/// Repeat the workload on one drive until wear-out, or until it is stopped after at least one pass.
fn live(
    spec: &LifetimeSpec,
    setup: &Setup,
    scheme: usize,
    replica: u32,
    told: &dyn Fn(LifeProgress) -> bool,
) -> Result<Life, RunError> {
    let mut setup = setup.replica(replica)?;
    let spelling = setup.scheme(&spec.schemes[scheme])?;
    let each = setup.device.wear.acceleration as f64;
    let logical = setup.device.logical_bytes();
    let capacity = logical as f64;
    let (mut device, _): Ready<NoProbe> = ready(&setup, &spelling, NoProbe)?;
    let (least, holds) = device.live_until(spec.end, logical);
    if holds < least {
        let what = format!(
            ": under {spelling} the drive must hold {least} B but holds {holds} B at the start\n  allowed: \
             a smaller capacity.logical, or another end, such as "
        );
        return Err((Opt::End.of(spec.end) + what + Opt::End.of("out-of-space")).into());
    }
    let (mut sums, mut phases) = (Sums::default(), Phases::default());
    let replay = setup.spec.with_scheme(&spelling).shell_command();
    let fault = |what| RunError::Fault { what, replay: replay.clone() };
    let mut lived: Option<Report> = None;
    let mut life_used = 0.0;
    let ended = loop {
        let so_far = LifeProgress {
            scheme,
            seed: setup.spec.seed,
            acceleration: setup.device.wear.acceleration,
            passes: phases.passed,
            drive_writes: sums.written * each / capacity,
            life_used,
            all_done: 0.0,
            ended: None,
        };
        let mut going = |_| match told(so_far.clone()) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let passed = perform(&setup, &spelling, 0, (&mut device, None), Instant::now(), &mut going);
        let report = match passed {
            // What the pass that was broken off came to is left out.
            Err(RunError::Interrupted) if lived.is_some() => break None,
            report => report?,
        };
        sums.add(&report, &device.metrics().latency);
        let ended = device.ended_by();
        if report.host.moved().write_bytes == 0 && ended.is_none() {
            let what = ": one pass writes nothing, so the drive never wears out";
            return Err((Opt::Workload.of(&setup.spec.workload) + what).into());
        }
        life_used = report.life_used.map_or(0.0, |l| l.mean);
        phases.push(sums.phase(&report, each, capacity, life_used), ended.is_some());
        let drive_writes = sums.written * each / capacity;
        let full = report.host.failed.contains_key("out_of_space");
        lived = Some(report);
        let stop = told(LifeProgress { passes: phases.passed, drive_writes, life_used, ended, ..so_far });
        if ended.is_some() || stop {
            break ended;
        }
        if full {
            let what = ": the drive is full before any block is worn out; lower capacity.logical, or use a \
                        workload with a smaller footprint";
            return Err((Opt::Scheme.of(spelling) + what).into());
        }
        if phases.passed >= PHASES_MAX {
            let passed = Message::from(format!("after {PHASES_MAX} passes of "));
            let used =
                format!(" the blocks have used {:.2} % of their endurance; use a larger ", life_used * 100.0);
            let wear = passed + Opt::Workload.of(&setup.spec.workload) + used + Opt::Acceleration.name();
            return Err((wear + ", or a longer workload").into());
        }
        setup.pass = phases.passed;
        device.start_anew().map_err(|e| fault(e.to_string()))?;
        device.ftl_mut().setup().age_by(spec.shelf);
    };
    if setup.spec.check && ended.is_some() {
        device.ftl_mut().tables().check().map_err(|e| fault(e.to_string()))?;
    }
    let lost = lived.and_then(|r| r.lost_blocks.clone()).unwrap_or_default();
    let total = sums.written * each;
    Ok(Life {
        seed: setup.spec.seed,
        acceleration: setup.device.wear.acceleration,
        ended_by: ended.map_or(Life::STOPPED.to_string(), |e| e.to_string()),
        life_used,
        total_bytes_written: total,
        drive_writes: total / capacity,
        drive_writes_per_day: drive_writes_per_day(total / capacity),
        years: sums.simulated_s * each / YEAR_S,
        passes: phases.passed,
        steady_passes: sums.steady,
        waf: (sums.asked > 0.0).then(|| sums.programmed / sums.asked),
        write: aged(&sums.writes),
        read: aged(&sums.reads),
        retries: sums
            .uncorrectable
            .and((sums.host_pages > 0).then(|| sums.retries as f64 / sums.host_pages as f64)),
        uncorrectable: sums.uncorrectable,
        blocks: lost.blocks,
        bad_blocks: lost.counts.bad,
        retired_blocks: lost.counts.retired,
        levelled_blocks: lost.counts.levelled,
        phases: phases.kept,
        result_hash: format!("{:016x}", sums.hash),
    })
}

impl Sums {
    fn add(&mut self, r: &Report, latency: &[Histogram; 4]) {
        self.written += r.host.moved().write_bytes as f64;
        self.simulated_s += r.simulated_s;
        self.steady += u64::from(r.steady_state.as_ref().is_some_and(|s| s.reached == Reached::Yes));
        if let Some(waf) = &r.waf {
            self.programmed += waf.total * r.host.page_bytes() as f64;
            self.asked += r.host.page_bytes() as f64;
        }
        // Between two passes the drive finishes what it has begun; that wears it, and belongs to its life.
        let between = r.after_last_request.as_ref().map_or(0, |after| after.program_bytes.values().sum());
        self.programmed += between as f64;
        self.reads.add(&latency[0]);
        self.writes.add(&latency[1]);
        if let Some(errors) = &r.flash.errors {
            self.host_pages += errors.counts.host_pages.values().flatten().sum::<u64>();
            self.retries += errors.counts.retries.get("host").copied().unwrap_or(0);
            *self.uncorrectable.get_or_insert(0) +=
                errors.counts.uncorrectable.get("host").copied().unwrap_or(0);
        }
        let hash = u64::from_str_radix(&r.result_hash, 16).unwrap_or_default();
        self.hash = (self.hash ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    }

    /// The phase that ends here.
    fn phase(&self, r: &Report, each: f64, capacity: f64, life_used: f64) -> LifePhase {
        let changing = r.capacity.changing.as_ref();
        let latency = |l: Option<Latency>| l.map(|l| AgedLatency { mean: l.mean, p99: l.p99 });
        LifePhase {
            drive_writes: self.written * each / capacity,
            years: self.simulated_s * each / YEAR_S,
            retired_blocks: r.lost_blocks.as_ref().map_or(0, |l| l.counts.retired),
            usable_bytes: changing.map_or(r.capacity.physical_bytes, |c| c.usable_bytes),
            life_used,
            waf: r.waf.as_ref().map(|w| w.total),
            write: latency(r.latency_us.write),
            read: latency(r.latency_us.read),
            retries: r.flash.errors.as_ref().and_then(|e| e.retries_per_host_page),
        }
    }
}

fn aged(h: &Histogram) -> Option<AgedLatency> {
    Some(AgedLatency { mean: h.mean()? / 1e3, p99: h.quantile(0.99)?.as_us() })
}

/// Phases of a lifetime run, at most [`PHASES_KEPT`]: beyond that, every second, fourth and so on, and the last.
#[derive(Default)]
struct Phases {
    kept: Vec<LifePhase>,
    every: u64,
    passed: u64,
}

impl Phases {
    fn push(&mut self, phase: LifePhase, last: bool) {
        self.every = self.every.max(1);
        self.passed += 1;
        if !last && !self.passed.is_multiple_of(self.every) {
            return;
        }
        self.kept.push(phase);
        if self.kept.len() == PHASES_KEPT && !last {
            let mut number = 0;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.every *= 2;
        }
    }
}
