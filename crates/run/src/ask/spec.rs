//! What a user asks for, as text: the same for the command line, Python and a report's replay.

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

/// The initial state where none is given: every page that the workload touches holds data.
pub const DEFAULT_INITIAL: &str = "preload";

/// Most replicas of a run: its report holds the figures of each.
pub const REPLICAS_MAX: u32 = 1000;

/// One experiment as it was asked for, nothing resolved yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunSpec {
    /// A built-in device's name, or the path of a device file.
    pub device: String,
    /// The scheme, `NAME` or `NAME:key=value,...`.
    pub scheme: String,
    /// The workload, `NAME`, `FILE` or `-`, each perhaps with `:key=value,...`.
    pub workload: String,
    /// Changes: dotted paths of the device, `workload.KEY` and `scheme.KEY`, with their values.
    pub set: Vec<(String, String)>,
    /// The seed from which every random stream is derived.
    pub seed: u64,
    /// How often to run, the first time with `seed`, each other time with the seed after the last.
    pub replicas: u32,
    /// A folder with originals of twins, which go before the twins of their names.
    pub traces: Option<String>,
    /// The most requests to issue.
    pub requests: Option<u64>,
    /// What to do with requests beyond the drive.
    pub fit: Option<Fit>,
    /// The state of the drive before the first request; see [`crate::InitialSpec`].
    pub initial: String,
    /// A file with the state of the drive at time 0, instead of an initial state.
    pub from_state: Option<String>,
    /// Where the drive's state goes after the run.
    pub save_state: Option<String>,
    /// Recount every invariant after the run.
    pub check: bool,
    /// The schemes that there are: those of the literature, unless a caller adds some.
    pub registry: Registry,
    /// What does runs elsewhere, where several are to go at once.
    pub elsewhere: Option<Elsewhere>,
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
            elsewhere: None,
        }
    }

    /// The same for another scheme.
    pub fn with_scheme(&self, scheme: &str) -> RunSpec {
        RunSpec { scheme: scheme.to_string(), ..self.clone() }
    }

    /// The seed of a replica: seeds are counted on, and the last is followed by 0. Every random
    /// stream is a hash of its seed, so that neighbours have nothing in common.
    pub fn seed_of(&self, replica: u32) -> u64 {
        self.seed.wrapping_add(replica as u64)
    }

    /// A replica alone.
    pub(crate) fn replica(&self, number: u32) -> RunSpec {
        RunSpec { seed: self.seed_of(number), replicas: 1, ..self.clone() }
    }

    /// The command that does this run, as a shell takes it.
    pub fn shell_command(&self) -> String {
        wordline_report::shell_line(&self.command())
    }

    /// The words of the command that does this run; what is as by default is left out.
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

/// What is taken to wear-out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LifetimeSpec {
    /// Device, workload, seed, replicas and initial state; its scheme is not looked at.
    pub run: RunSpec,
    /// The schemes, the baseline first.
    pub schemes: Vec<String>,
    /// Cycles that an erase stands for, in place of the device's.
    pub acceleration: Option<u32>,
    /// Whether the first seed lives again at half of it, where an erase stands for several cycles.
    pub checks_acceleration: bool,
    /// Time on the shelf after each phase.
    pub shelf: SimDuration,
    /// What ends a life.
    pub end: EndOfLife,
    /// Lives that are simulated at once.
    pub threads: usize,
}

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub enum Errand<'a> {
    /// A run of one seed, to its report.
    Run(&'a RunSpec),
    /// The run of a report of one seed, from its configuration, to the new report.
    Rerun {
        /// What it comes to.
        spec: &'a RunSpec,
        /// The report.
        report: &'a Report,
        /// Where the workload is now, if not where the report says.
        workload: Option<&'a str>,
    },
    /// One life of one scheme, to its lifetimes.
    Life(&'a LifetimeSpec),
}

impl Errand<'_> {
    /// The run that it is, or of which the life consists.
    pub fn spec(&self) -> &RunSpec {
        match self {
            Errand::Run(spec) | Errand::Rerun { spec, .. } => spec,
            Errand::Life(life) => &life.run,
        }
    }
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Far {
    /// So many requests are completed at that time.
    Run(u64, SimTime),
    /// So many passes of the workload have ended, in which so many capacities were written, and the blocks have used up
    /// that share of their lives.
    Life(u64, f64, f64),
}

/// Told now and then how far it is; may break it off.
pub type See<'a> = &'a mut dyn FnMut(Far) -> ControlFlow<()>;

/// What it comes to, as JSON; `None` for what this process shall do itself.
pub type Done = Option<Result<String, RunError>>;

type Does = dyn Fn(Errand<'_>, See<'_>) -> Done + Send + Sync;

/// Does a run or a life elsewhere, in a process of its own; or leaves it to this one, if it is none of those that gain
/// by it.
#[derive(Clone)]
pub struct Elsewhere(Arc<Does>);

impl Elsewhere {
    /// What does it, or answers `None`.
    pub fn new(does: impl Fn(Errand<'_>, See<'_>) -> Done + Send + Sync + 'static) -> Elsewhere {
        Elsewhere(Arc::new(does))
    }

    /// The same for the runs of a report that is done again, each with a seed of its own.
    pub(crate) fn again(self, report: &Report, workload: Option<&str>) -> Elsewhere {
        // What makes it again is in its configuration.
        let asked = Report { replicas: None, config: report.config.clone(), ..report.in_brief() };
        let workload = workload.map(str::to_string);
        Elsewhere::new(move |errand, see| {
            let Errand::Run(spec) = errand else { return (self.0)(errand, see) };
            let mut asked = asked.clone();
            asked.seed = spec.seed;
            asked.config["seed"] = Value::from(spec.seed);
            (self.0)(Errand::Rerun { spec, report: &asked, workload: workload.as_deref() }, see)
        })
    }

    pub(crate) fn perform(&self, errand: Errand<'_>, see: See<'_>) -> Done {
        (self.0)(errand, see)
    }
}

impl Debug for Elsewhere {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Elsewhere")
    }
}

/// Where a run is done decides nothing of what comes out.
impl PartialEq for Elsewhere {
    fn eq(&self, _: &Elsewhere) -> bool {
        true
    }
}

impl Eq for Elsewhere {}

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
