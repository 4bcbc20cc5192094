//! A user's specification as text: the same for the command line, Python and the rerun of a report.

use crate::error::RunError;
use serde_json::Value;
use std::fmt::{self, Debug, Formatter};
use std::ops::ControlFlow;
use std::sync::Arc;
use wordline_report::Report;
use wordline_schemes::Registry;
use wordline_sim::EndOfLife;
use wordline_trace::Fit;
use wordline_units::{SimDuration, SimTime};

/// The version that reports carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The seed where none is given.
pub const DEFAULT_SEED: u64 = 1;

/// The default initial state: every page that the workload touches holds data.
pub const DEFAULT_INITIAL: &str = "preload";

/// Maximum number of replicas: a report holds the figures of each.
pub const REPLICAS_MAX: u32 = 1000;

/// An experiment as specified, nothing resolved yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunSpec {
    /// A built-in device's name, or the path of a device file.
    pub device: String,
    /// The scheme, `NAME` or `NAME:key=value,...`.
    pub scheme: String,
    /// The workload, `NAME`, `FILE` or `-`, each optionally with `:key=value,...`.
    pub workload: String,
    /// Changes: dotted paths of the device, `workload.KEY` and `scheme.KEY`, with their values.
    pub set: Vec<(String, String)>,
    /// The seed of every random stream.
    pub seed: u64,
    /// Number of runs, with consecutive seeds from `seed`.
    pub replicas: u32,
    /// A folder of original traces, which replace the twins of their names.
    pub traces: Option<String>,
    /// The most requests to issue.
    pub requests: Option<u64>,
    /// How to handle requests beyond the drive.
    pub fit: Option<Fit>,
    /// The state of the drive before the first request; see [`crate::InitialSpec`].
    pub initial: String,
    /// A file with the state of the drive at time 0, instead of an initial state.
    pub from_state: Option<String>,
    /// Destination of the drive's state after the run.
    pub save_state: Option<String>,
    /// Recount every invariant after the run.
    pub check: bool,
    /// The known schemes: those of the literature, unless a caller adds some.
    pub registry: Registry,
    /// Executes runs in other processes, where several run in parallel.
    pub executor: Option<Executor>,
}

impl RunSpec {
    /// A run with every default.
    pub fn new(device: &str, scheme: &str, workload: &str) -> RunSpec {
        RunSpec {
            device: device.to_string(),
            scheme: scheme.to_string(),
            workload: workload.to_string(),
            set: vec![],
            seed: DEFAULT_SEED,
            replicas: 1,
            traces: None,
            requests: None,
            fit: None,
            initial: DEFAULT_INITIAL.to_string(),
            from_state: None,
            save_state: None,
            check: false,
            registry: Registry::standard(),
            executor: None,
        }
    }

    /// The same for another scheme.
    pub fn with_scheme(&self, scheme: &str) -> RunSpec {
        RunSpec { scheme: scheme.to_string(), ..self.clone() }
    }

    /// The seed of a replica: seeds are consecutive, and the last is followed by 0. Every random stream is a
    /// hash of its seed, so neighbors are independent.
    pub fn seed_of(&self, replica: u32) -> u64 {
        self.seed.wrapping_add(replica as u64)
    }

    /// A replica alone.
    pub(crate) fn replica(&self, number: u32) -> RunSpec {
        RunSpec { seed: self.seed_of(number), replicas: 1, ..self.clone() }
    }

    /// The command of this run, quoted for a shell.
    pub fn shell_command(&self) -> String {
        wordline_report::shell_line(&self.command())
    }

    /// The words of the command of this run, without defaults.
    pub fn command(&self) -> Vec<String> {
        let mut words = vec!["wordline".to_string(), "run".to_string()];
        let mut add = |option: &str, value: String| words.extend([option.to_string(), value]);
        add("--device", self.device.clone());
        add("--workload", self.workload.clone());
        add("--scheme", self.registry.typed(&self.scheme));
        for (key, value) in &self.set {
            add("--set", format!("{key}={value}"));
        }
        if self.seed != DEFAULT_SEED {
            add("--seed", self.seed.to_string());
        }
        if self.replicas > 1 {
            add("--replicas", self.replicas.to_string());
        }
        if let Some(n) = self.requests {
            add("--requests", n.to_string());
        }
        if let Some(fit) = self.fit {
            add("--fit", fit.to_string());
        }
        if self.initial != DEFAULT_INITIAL {
            add("--initial", self.initial.clone());
        }
        for (option, file) in [("--from-state", &self.from_state), ("--save-state", &self.save_state)] {
            if let Some(file) = file {
                add(option, file.clone());
            }
        }
        if self.check {
            words.push("--check".to_string());
        }
        words
    }
}

/// Specification of a lifetime run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LifetimeSpec {
    /// Device, workload, seed, replicas and initial state; its scheme is ignored.
    pub run: RunSpec,
    /// The schemes, the baseline first.
    pub schemes: Vec<String>,
    /// P/E cycles per erase, instead of those of the device.
    pub acceleration: Option<u32>,
    /// Whether the first seed is repeated at half of it, if one erase counts as several cycles.
    pub checks_acceleration: bool,
    /// Time on the shelf after each phase.
    pub shelf: SimDuration,
    /// The end condition.
    pub end: EndOfLife,
    /// Lives that are simulated at once.
    pub threads: usize,
}

impl LifetimeSpec {
    /// The words of the command of these lifetime runs, without defaults.
    pub fn command(&self) -> Vec<String> {
        let mut words = self.run.command();
        words[1] = "lifetime".to_string();
        let mut options = vec![];
        let mut add = |option: &str, value: String| options.extend([option.to_string(), value]);
        for scheme in &self.schemes {
            add("--scheme", self.run.registry.typed(scheme));
        }
        if let Some(cycles) = self.acceleration {
            add("--acceleration", cycles.to_string());
        }
        if self.shelf > SimDuration::ZERO {
            add("--shelf", self.shelf.to_string());
        }
        if self.end != EndOfLife::default() {
            add("--end", self.end.to_string());
        }
        let scheme = words.iter().position(|word| word == "--scheme").unwrap_or(words.len());
        words.splice(scheme..words.len().min(scheme + 2), options);
        words
    }
}

/// A unit of work for an [`Executor`].
#[derive(Clone, Copy, Debug)]
pub enum Job<'a> {
    /// A run of one seed, to its report.
    Run(&'a RunSpec),
    /// The rerun of one seed of a report from its configuration; results in a new report.
    Rerun {
        /// Its configuration.
        spec: &'a RunSpec,
        /// The report.
        report: &'a Report,
        /// Current path of the workload, if it has moved.
        workload: Option<&'a str>,
    },
    /// One lifetime run of one scheme; results in its lifetimes.
    Life(&'a LifetimeSpec),
}

impl Job<'_> {
    /// The run of the job, or the one that a lifetime run repeats.
    pub fn spec(&self) -> &RunSpec {
        match self {
            Job::Run(spec) | Job::Rerun { spec, .. } => spec,
            Job::Life(life) => &life.run,
        }
    }
}

/// Progress of a [`Job`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum JobProgress {
    /// Completed requests, and the simulated time.
    Run(u64, SimTime),
    /// Passes of the workload, drive writes, and the share of endurance used.
    Life(u64, f64, f64),
}

/// Called from time to time with the progress; may stop the job.
pub type OnProgress<'a> = &'a mut dyn FnMut(JobProgress) -> ControlFlow<()>;

/// The result as JSON; `None` if this process must execute the job itself.
pub type JobResult = Option<Result<String, RunError>>;

type Work = dyn Fn(Job<'_>, OnProgress<'_>) -> JobResult + Send + Sync;

/// Executes jobs in other processes, or leaves them to this one if that is faster.
#[derive(Clone)]
pub struct Executor(Arc<Work>);

impl Executor {
    /// An executor that calls `does`, which returns `None` for jobs of this process.
    pub fn new(does: impl Fn(Job<'_>, OnProgress<'_>) -> JobResult + Send + Sync + 'static) -> Executor {
        Executor(Arc::new(does))
    }

    /// The same for the rerun of a report, one job per seed.
    pub(crate) fn again(self, report: &Report, workload: Option<&str>) -> Executor {
        // What makes it again is in its configuration.
        let asked = Report { replicas: None, config: report.config.clone(), ..report.in_brief() };
        let workload = workload.map(str::to_string);
        Executor::new(move |job, on_progress| {
            let Job::Run(spec) = job else { return (self.0)(job, on_progress) };
            let mut asked = asked.clone();
            asked.seed = spec.seed;
            asked.config["seed"] = Value::from(spec.seed);
            (self.0)(Job::Rerun { spec, report: &asked, workload: workload.as_deref() }, on_progress)
        })
    }

    pub(crate) fn perform(&self, job: Job<'_>, on_progress: OnProgress<'_>) -> JobResult {
        (self.0)(job, on_progress)
    }
}

impl Debug for Executor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Executor")
    }
}

/// Results do not depend on where a run executes.
impl PartialEq for Executor {
    fn eq(&self, _: &Executor) -> bool {
        true
    }
}

impl Eq for Executor {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_replay_command_survives_a_shell() {
        let mut spec = RunSpec::new("demo-8gb", "slc-cache", "a b.csv");
        spec.set.push(("gc.trigger".into(), "free_blocks < 5%".into()));
        spec.fit = Some(Fit::Compact);
        assert_eq!(
            spec.shell_command(),
            "wordline run --device demo-8gb --workload 'a b.csv' --scheme slc-cache \
             --set 'gc.trigger=free_blocks < 5%' --fit compact"
        );
    }
}
