//! A workload repeated on a drive until it wears out. A life is a row of phases: one pass of the workload, with
//! each erase standing for as many as the acceleration says, and then a time on the shelf in which data grow
//! older. So a pass stands for as many passes, each followed by its share of the shelf.

use crate::VERSION;
use crate::error::RunError;
use crate::execute::{Ready, perform, ready};
use crate::fill::{YEAR_S, drive_writes_per_day};
use crate::setup::Setup;
use crate::spec::RunSpec;
use serde_json::json;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;
use wordline_report::{
    AgedLatency, DeviceInfo, LIFETIME_SCHEMA, Latency, Life, LifePhase, Lifetimes, Report, SchemeInfo,
    SchemeLife,
};
use wordline_sim::{Histogram, NoProbe};
use wordline_units::{Message, Opt, SimDuration};

/// More phases than a picture has points for: of those kept every other one is dropped then.
const PHASES_KEPT: usize = 512;
/// So many passes without wearing a drive out say that the workload hardly does.
const PHASES_MAX: u64 = 200_000;

/// What is taken to wear-out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LifetimeSpec {
    /// Device, workload, seed, replicas and initial state; its scheme is not looked at.
    pub run: RunSpec,
    /// The schemes, the baseline first.
    pub schemes: Vec<String>,
    /// Cycles that an erase stands for, in place of the device's.
    pub acceleration: Option<u32>,
    /// Time on the shelf after each phase.
    pub shelf: SimDuration,
    /// Lives that are simulated at once.
    pub threads: usize,
}

/// How far a life is.
#[derive(Clone, PartialEq, Debug)]
pub struct LifeProgress {
    /// Which scheme, from 0.
    pub scheme: usize,
    /// The seed.
    pub seed: u64,
    /// What has been written, in logical capacities.
    pub drive_writes: f64,
    /// Share of their lives that the blocks have used up on average.
    pub life_used: f64,
    /// Whether it has ended.
    pub ended: bool,
}

/// One life to simulate.
struct Plan<'a> {
    setup: &'a Setup,
    scheme: usize,
    replica: u32,
}

/// Take a drive to wear-out under each scheme, once for each seed, and the first seed again at half the
/// acceleration. `progress` is called now and then, and may break it off.
///
/// # Errors
/// What is wrong with the input, a refusal, a fault, or the interruption.
pub fn lifetime(
    spec: &LifetimeSpec,
    progress: &(dyn Fn(LifeProgress) -> ControlFlow<()> + Sync),
) -> Result<Lifetimes, RunError> {
    if let Some(file) = spec.run.from_state.as_ref().or(spec.run.save_state.as_ref()) {
        return Err(RunError::Input(format!(
            "{file}: a life begins with a new drive; leave saved states out"
        )));
    }
    let setup = accelerated(spec, spec.acceleration)?;
    let each = setup.device.wear.acceleration;
    if each > 1 && !each.is_multiple_of(2) {
        let what =
            "results are checked at half of it, and that is no whole number\n  allowed: 1, or an even number";
        return Err((Opt::Acceleration.of(each) + ": " + what).into());
    }
    let half = (each > 1).then(|| accelerated(spec, Some(each / 2))).transpose()?;
    setup.check_scheme_keys(&spec.schemes)?;
    for scheme in &spec.schemes {
        wordline_schemes::build(&setup.scheme(scheme)?)?;
    }
    let mut plans = vec![];
    for scheme in 0..spec.schemes.len() {
        plans.extend((0..spec.run.replicas).map(|replica| Plan { setup: &setup, scheme, replica }));
        plans.extend(half.as_ref().map(|setup| Plan { setup, scheme, replica: 0 }));
    }
    let mut lives = all(spec, &plans, progress)?.into_iter();
    let mut schemes = vec![];
    for name in &spec.schemes {
        let lives_of: Vec<Life> = lives.by_ref().take(spec.run.replicas as usize).collect();
        let check = half.as_ref().and_then(|_| lives.next());
        let entry = wordline_schemes::find(name.split(':').next().unwrap_or_default().trim()).ok();
        let title = entry.map_or(String::new(), |e| e.title.to_string());
        schemes.push(SchemeLife {
            scheme: SchemeInfo { name: name.clone(), title, colour: None },
            lives: lives_of,
            check,
        });
    }
    let mut config = setup.config(&setup.scheme(&spec.schemes[0])?);
    config["shelf_s"] = json!(spec.shelf.as_secs());
    Ok(Lifetimes {
        schema: LIFETIME_SCHEMA.to_string(),
        version: VERSION.to_string(),
        device: DeviceInfo { name: setup.device.name.clone(), description: setup.device.description.clone() },
        workload: crate::fill::workload(setup.workload.name(), setup.workload.resolved()),
        config,
        logical_bytes: setup.device.logical_bytes(),
        acceleration: each,
        shelf_s: spec.shelf.as_secs(),
        schemes,
    })
}

/// The run on a drive whose blocks retire, each erase standing for so many.
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

/// Simulate all lives on so many threads, in the order of the plans.
fn all(
    spec: &LifetimeSpec,
    plans: &[Plan],
    progress: &(dyn Fn(LifeProgress) -> ControlFlow<()> + Sync),
) -> Result<Vec<Life>, RunError> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Option<Result<Life, RunError>>>> =
        plans.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..spec.threads.clamp(1, plans.len().max(1)) {
            scope.spawn(|| {
                while let Some((plan, result)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    plans.get(number).zip(results.get(number))
                } {
                    let told = |p: LifeProgress| {
                        if progress(p).is_break() {
                            stop.store(true, Ordering::Relaxed);
                        }
                        stop.load(Ordering::Relaxed)
                    };
                    let life = live(spec, plan, &told);
                    if life.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    if let Ok(mut place) = result.lock() {
                        *place = Some(life);
                    }
                }
            });
        }
    });
    let mut found = vec![];
    let mut interrupted = false;
    for result in results {
        match result.into_inner().ok().flatten() {
            Some(Ok(life)) => found.push(life),
            // A life that another's error interrupted is not to blame.
            Some(Err(RunError::Interrupted)) | None => interrupted = true,
            Some(Err(e)) => return Err(e),
        }
    }
    if interrupted { Err(RunError::Interrupted) } else { Ok(found) }
}

/// What adds up over the phases of a life.
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
    hash: u64,
}

/// Repeat the workload on one drive until it has worn out.
fn live(spec: &LifetimeSpec, plan: &Plan, told: &dyn Fn(LifeProgress) -> bool) -> Result<Life, RunError> {
    let setup = plan.setup.replica(plan.replica)?;
    let spelling = setup.scheme(&spec.schemes[plan.scheme])?;
    let each = setup.device.wear.acceleration as f64;
    let capacity = setup.device.logical_bytes() as f64;
    let (mut device, _): Ready<NoProbe> = ready(&setup, &spelling, NoProbe)?;
    let (mut sums, mut phases) = (Sums::default(), Phases::default());
    let fault = |what| RunError::Fault { what, replay: setup.spec.with_scheme(&spelling).command() };
    let mut report;
    loop {
        let interrupted = std::cell::Cell::new(false);
        let mut going = |_| {
            let p = LifeProgress {
                scheme: plan.scheme,
                seed: setup.spec.seed,
                drive_writes: sums.written * each / capacity,
                life_used: 0.0,
                ended: false,
            };
            interrupted.set(told(p));
            if interrupted.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        report = perform(&setup, &spelling, 0, (&mut device, None), Instant::now(), &mut going)?;
        sums.add(&report, &device.metrics.latency);
        let worn_out = device.ftl.worn_out().is_some();
        if report.host.write_bytes == 0 && !worn_out {
            let what = ": a pass of it writes nothing, so that no drive wears out";
            return Err((Opt::Workload.of(&setup.spec.workload) + what).into());
        }
        let life_used = report.life_used.map_or(0.0, |l| l.mean);
        phases.push(sums.phase(&report, each, capacity, life_used), worn_out);
        let drive_writes = sums.written * each / capacity;
        let (scheme, seed) = (plan.scheme, setup.spec.seed);
        if told(LifeProgress { scheme, seed, drive_writes, life_used, ended: worn_out }) {
            return Err(RunError::Interrupted);
        }
        if worn_out {
            break;
        }
        if report.host.failed.contains_key("out_of_space") {
            let what = ": the drive is full before any block has worn out; lower capacity.logical, or let the \
                        workload touch less of it";
            return Err((Opt::Scheme.of(spelling) + what).into());
        }
        if phases.passed >= PHASES_MAX {
            let passed = Message::from(format!("after {PHASES_MAX} passes of "));
            let used =
                format!(" the blocks have used up {:.2} % of their lives; give a larger ", life_used * 100.0);
            let wear = passed + Opt::Workload.of(&setup.spec.workload) + used + Opt::Acceleration.name();
            return Err((wear + ", or a longer workload").into());
        }
        device.start_anew().map_err(|e| fault(e.to_string()))?;
        device.ftl.pass(spec.shelf);
    }
    if setup.spec.check {
        device.ftl.check().map_err(|e| fault(e.to_string()))?;
    }
    let lost = report.lost_blocks.unwrap_or_default();
    let total = sums.written * each;
    Ok(Life {
        seed: setup.spec.seed,
        acceleration: setup.device.wear.acceleration,
        total_bytes_written: total,
        drive_writes: total / capacity,
        drive_writes_per_day: drive_writes_per_day(total / capacity),
        years: sums.simulated_s * each / YEAR_S,
        waf: (sums.asked > 0.0).then(|| sums.programmed / sums.asked),
        write: aged(&sums.writes),
        read: aged(&sums.reads),
        retries: sums
            .uncorrectable
            .and((sums.host_pages > 0).then(|| sums.retries as f64 / sums.host_pages as f64)),
        uncorrectable: sums.uncorrectable,
        blocks: lost.blocks,
        bad_blocks: lost.bad,
        retired_blocks: lost.retired,
        levelled_blocks: lost.levelled,
        phases: phases.kept,
        result_hash: format!("{:016x}", sums.hash),
    })
}

impl Sums {
    fn add(&mut self, r: &Report, latency: &[Histogram; 4]) {
        self.written += r.host.write_bytes as f64;
        self.simulated_s += r.simulated_s;
        if let Some(waf) = &r.waf {
            self.programmed += waf.total * r.host.write_page_bytes as f64;
            self.asked += r.host.write_page_bytes as f64;
        }
        self.reads.add(&latency[0]);
        self.writes.add(&latency[1]);
        if let Some(errors) = &r.flash.errors {
            self.host_pages += errors.host_pages.values().flatten().sum::<u64>();
            self.retries += errors.retries.get("host").copied().unwrap_or(0);
            *self.uncorrectable.get_or_insert(0) += errors.uncorrectable.get("host").copied().unwrap_or(0);
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
            retired_blocks: r.lost_blocks.map_or(0, |l| l.retired),
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

/// Phases of a life, at most [`PHASES_KEPT`]: of more every second, fourth and so on, and the last.
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
