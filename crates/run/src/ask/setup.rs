//! Resolve names and files: the device, the workload and the initial state of a run, or of several runs that differ in
//! the scheme only.

use crate::ask::initial::{Filled, InitialSpec};
use crate::ask::queues::check;
use crate::ask::saved::FromState;
use crate::ask::spec::{DEFAULT_INITIAL, REPLICAS_MAX, RunSpec};
use crate::error::RunError;
use serde_json::{Value, json};
use std::ops::Range;
use std::path::Path;
use wordline_device::{DeviceSpec, find, names_like};
use wordline_flash::Geometry;
use wordline_ftl::{Initial, Label, Mapped};
use wordline_schemes::{Entry, Registry};
use wordline_sim::{Pacing, Pauses};
use wordline_trace::{DriveShape, Limit, Overrides, Pacing as WorkloadPacing, Touched};
use wordline_units::{Fraction, Listed, Lpn, Opt, SectorMask, io_reason};
use wordline_workload::twin::with_original;
use wordline_workload::{Workload, synthetic_named, with_options};

/// Everything of a run but the scheme, resolved.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The specification with changes to workload and scheme applied; the remaining changes are those of the device.
    pub spec: RunSpec,
    /// The drive.
    pub device: DeviceSpec,
    /// Its numbering.
    pub geometry: Geometry,
    /// The workload.
    pub workload: Workload,
    /// What the workload needs to know about the drive.
    pub shape: DriveShape,
    /// The initial state as spelled.
    pub initial: InitialSpec,
    /// The same for this workload.
    pub state: Initial,
    /// The state with which the drive starts, instead of the initial one.
    pub(crate) from_state: Option<FromState>,
    /// Which pass of a repeated workload comes next, from 0.
    pub(crate) pass: u64,
    /// Whether a run ends when the drive has worn out.
    pub(crate) to_wear_out: bool,
    scheme_set: Vec<(String, String)>,
}

/// The device of a run by its name and the settings of the run, of which some are those of workload and scheme.
///
/// # Errors
/// As [`device`].
pub fn device_of_run(name: &str, set: &[(String, String)]) -> Result<DeviceSpec, RunError> {
    device(name, &of_device(set))
}

/// The settings that are neither those of the workload nor of the scheme.
fn of_device(set: &[(String, String)]) -> Vec<(String, String)> {
    let is_of_device = |key: &str| !key.starts_with("workload.") && !key.starts_with("scheme.");
    set.iter().filter(|(key, _)| is_of_device(key)).cloned().collect()
}

/// The device of a built-in name or a path, with overrides.
///
/// # Errors
/// If there is neither, the file cannot be read, or its contents are invalid.
pub fn device(name: &str, overrides: &[(String, String)]) -> Result<DeviceSpec, RunError> {
    if let Some(builtin) = find(name) {
        return Ok(builtin.spec(overrides)?);
    }
    let path = Path::new(name);
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(wordline_device::from_toml(&text, name, overrides)?),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let is_scheme = Registry::standard().find(name).is_ok();
            let other = if is_scheme { "scheme" } else { "built-in workload" };
            let hint = match names_like(name) {
                _ if is_scheme || synthetic_named(name).is_some() => format!("; {name} is a {other}"),
                Some(near) => format!("; did you mean {near:?}?"),
                None => String::new(),
            };
            let what = format!(": no built-in device or file of this name{hint}\n  hint: ");
            Err((Opt::Device.of(name) + what + Listed::Devices.by() + " lists the built-in devices").into())
        }
        Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
            Err((Opt::Device.of(name) + ": not a device file: not valid UTF-8").into())
        }
        Err(e) if e.kind() == std::io::ErrorKind::IsADirectory => {
            Err((Opt::Device.of(name) + ": is a folder; name a device file in it").into())
        }
        Err(e) => {
            Err((Opt::Device.of(name) + format!(": the file cannot be read: {}", io_reason(&e))).into())
        }
    }
}

/// These runs of pages, ascending.
fn mapped(runs: Vec<Range<u32>>) -> Mapped {
    match runs.as_slice() {
        [] => Mapped::First(0),
        [only] if only.start == 0 => Mapped::First(only.end),
        _ => Mapped::Set(runs.into_iter().flatten().map(Lpn).collect()),
    }
}

/// Granularity of pages with old data.
const EXTENT: u32 = 16;

/// A share of these ascending runs of pages, in extents spread evenly over the drive, filled up to this number with the
/// first pages outside of the runs.
fn and_first_others(runs: &[Range<u32>], own: Fraction, count: u32) -> Vec<Range<u32>> {
    let kept: Vec<Vec<Range<u32>>> = runs.iter().map(|run| share_of(run, own)).collect();
    let inside: u32 = kept.iter().flatten().map(|r| r.end - r.start).sum();
    let mut others = count.saturating_sub(inside);
    let mut filled = Vec::with_capacity(runs.len() + 1);
    let mut end = 0;
    for (run, kept) in runs.iter().zip(kept) {
        let gap = others.min(run.start - end);
        filled.push(end..end + gap);
        others -= gap;
        end = run.end;
        filled.extend(kept);
    }
    filled.push(end..end + others);
    let mut joined: Vec<Range<u32>> = vec![];
    for run in filled.into_iter().filter(|r| !r.is_empty()) {
        match joined.last_mut() {
            Some(last) if last.end == run.start => last.end = run.end,
            _ => joined.push(run),
        }
    }
    joined
}

/// The extents of a run of pages that belong to a share of all extents of the drive.
fn share_of(run: &Range<u32>, share: Fraction) -> Vec<Range<u32>> {
    if share == Fraction::ONE {
        return vec![run.clone()];
    }
    let is_in = |extent: &u32| share.of(u64::from(*extent) + 1) > share.of(u64::from(*extent));
    let extents = (run.start / EXTENT..run.end.div_ceil(EXTENT)).filter(is_in);
    extents.map(|e| (e * EXTENT).max(run.start)..((e + 1) * EXTENT).min(run.end)).collect()
}

impl Setup {
    /// Resolve everything but the scheme.
    ///
    /// # Errors
    /// Any problem of the user's input.
    pub fn resolve(spec: &RunSpec) -> Result<Setup, RunError> {
        Setup::without_state(spec)?.with_state()
    }

    /// Everything that determines the result of one run, resolved: with equal identities and one version of Wordline,
    /// two runs have equal results. Needs no pass over the workload, except to hash a file.
    ///
    /// # Errors
    /// Whatever of the user's input is wrong.
    pub fn identity(spec: &RunSpec) -> Result<Value, RunError> {
        let setup = Setup::without_state(spec)?;
        let scheme = setup.spelling(&spec.scheme)?;
        spec.registry.build(&scheme)?;
        let mut identity = setup.config(&scheme);
        identity["workload"] = setup.workload.identity();
        identity["initial"] = match &setup.from_state {
            Some(from) => from.config()["checksum"].clone(),
            None => setup.initial.to_string().into(),
        };
        Ok(identity)
    }

    /// Resolve everything that needs no pass over the workload.
    pub(crate) fn without_state(spec: &RunSpec) -> Result<Setup, RunError> {
        let of = |prefix: &str| -> Vec<(String, String)> {
            let pairs = spec.set.iter().filter_map(|(k, v)| Some((k.strip_prefix(prefix)?, v)));
            pairs.map(|(k, v)| (k.to_string(), v.clone())).collect()
        };
        let (workload_set, scheme_set) = (of("workload."), of("scheme."));
        let device_set = of_device(&spec.set);
        let device = device(&spec.device, &device_set)?;
        let workload = match &spec.traces {
            Some(folder) => with_original(&spec.workload, Path::new(folder))?,
            None => spec.workload.clone(),
        };
        let spec = RunSpec { workload, set: device_set, ..spec.clone() };
        Setup::stateless(&spec, device, &workload_set, scheme_set)
    }

    /// The same on a device that is resolved already.
    pub(crate) fn on(
        spec: &RunSpec,
        device: DeviceSpec,
        workload_set: &[(String, String)],
        scheme_set: Vec<(String, String)>,
    ) -> Result<Setup, RunError> {
        Setup::stateless(spec, device, workload_set, scheme_set)?.with_state()
    }

    /// On an existing drive, ignoring the device and initial state of the run.
    pub(crate) fn beginning_with(
        spec: &RunSpec,
        device: DeviceSpec,
        from: FromState,
    ) -> Result<Setup, RunError> {
        let spec = RunSpec { initial: DEFAULT_INITIAL.to_string(), from_state: None, ..spec.clone() };
        let mut setup = Setup::stateless(&spec, device, &[], vec![])?;
        setup.spec.from_state = Some(from.path().to_string());
        Ok(Setup { from_state: Some(from), ..setup })
    }

    /// Find the pages that the workload touches, if the initial state depends on them.
    fn with_state(mut self) -> Result<Setup, RunError> {
        if self.from_state.is_none() {
            self.state = self.initial_state()?;
        }
        Ok(self)
    }

    pub(crate) fn stateless(
        spec: &RunSpec,
        device: DeviceSpec,
        workload_set: &[(String, String)],
        scheme_set: Vec<(String, String)>,
    ) -> Result<Setup, RunError> {
        if spec.replicas == 0 || spec.replicas > REPLICAS_MAX {
            let what = format!(": invalid number of replicas\n  allowed: 1 to {REPLICAS_MAX}");
            return Err((Opt::Replicas.of(spec.replicas) + what).into());
        }
        let geometry = device.geometry().map_err(|e| RunError::Input(e.to_string()))?;
        let initial: InitialSpec = spec.initial.parse()?;
        let text = with_options(&spec.workload, workload_set);
        let workload = Workload::parse(&text, Overrides { fit: spec.fit, requests: spec.requests })?;
        let shape = DriveShape {
            logical_bytes: device.logical_bytes(),
            sector_bytes: device.sector.0 as u32,
            unit_bytes: device.unit.0 as u32,
        };
        let setup = Setup {
            spec: RunSpec { workload: workload.text().to_string(), ..spec.clone() },
            device,
            geometry,
            workload,
            shape,
            state: Initial::fresh(),
            initial,
            from_state: spec.from_state.as_deref().map(FromState::open).transpose()?,
            pass: 0,
            to_wear_out: false,
            scheme_set,
        };
        setup.bounded()?;
        setup.not_worn_out()?;
        check(&setup.device, &setup.workload, setup.pacing())?;
        if setup.from_state.is_some() && spec.initial != DEFAULT_INITIAL {
            let (initial, from) = (Opt::Initial.of(&spec.initial), Opt::FromState.name());
            let saved = initial
                + ": a drive from "
                + from
                + " is restored from the saved state; use one \
                                                              of the two";
            return Err(saved.into());
        }
        Ok(setup)
    }

    /// Refuse an initial state whose blocks have more P/E cycles behind them than they endure.
    fn not_worn_out(&self) -> Result<(), RunError> {
        for (mode, spelled) in self.initial.worn() {
            let most = self.initial.cycles[mode.index()] + self.initial.more_cycles[mode.index()];
            let timings = self.device.media.iter().filter_map(|m| Some((&m.name, m.mode(mode)?.endurance)));
            let least =
                timings.filter(|(_, endurance)| *endurance > 0).min_by_key(|(_, endurance)| *endurance);
            if let Some((medium, endurance)) = least.filter(|(_, endurance)| most > *endurance) {
                let key = format!("medium.{medium}.{}.endurance", mode.key());
                let what = format!(
                    ": {spelled} P/E cycles are more than {} blocks endure\n  allowed: up to {endurance} \
                     cycles, or a larger {key}",
                    mode.key().to_uppercase()
                );
                return Err((Opt::Initial.of(&self.spec.initial) + what).into());
            }
        }
        Ok(())
    }

    /// The same for one replica alone. The touched pages can depend on the seed, except for a trace.
    pub(crate) fn replica(&self, number: u32) -> Result<Setup, RunError> {
        let mut setup = Setup { spec: self.spec.replica(number), ..self.clone() };
        if number > 0 && self.from_state.is_none() && self.workload.is_drawn() {
            setup.state = setup.initial_state()?;
        }
        Ok(setup)
    }

    /// The spelling of a scheme with `--set scheme.KEY=VALUE` applied, if it has the key.
    ///
    /// # Errors
    /// When there is no such scheme.
    pub(crate) fn scheme(&self, spelling: &str) -> Result<String, RunError> {
        let with_keys = |(entry, part): (&Entry, &str)| {
            let known = self.scheme_set.iter().filter(|(k, _)| entry.parameters.iter().any(|p| p.key == **k));
            known.fold(part.to_string(), |part, (key, value)| {
                let separator = if part.contains(':') { "," } else { ":" };
                format!("{part}{separator}{key}={value}")
            })
        };
        let layers: Vec<String> = self.spec.registry.layers(spelling)?.into_iter().map(with_keys).collect();
        Ok(layers.join("+"))
    }

    /// The scheme of a run with `--set scheme.KEY=VALUE` applied.
    ///
    /// # Errors
    /// If the scheme does not exist, or has no such parameter.
    pub fn spelling(&self, scheme: &str) -> Result<String, RunError> {
        self.check_scheme_keys(&[scheme.to_string()])?;
        self.scheme(scheme)
    }

    /// The settings `scheme.KEY`.
    pub(crate) fn scheme_set(&self) -> &[(String, String)] {
        &self.scheme_set
    }

    /// Refuse a `scheme.KEY` that no scheme has.
    pub(crate) fn check_scheme_keys(&self, spellings: &[String]) -> Result<(), RunError> {
        for (key, value) in &self.scheme_set {
            let mut keys: Vec<&str> = vec![];
            for spelling in spellings {
                for (entry, _) in self.spec.registry.layers(spelling)? {
                    keys.extend(entry.parameters.iter().map(|p| &*p.key));
                }
            }
            if !keys.contains(&key.as_str()) {
                let near = wordline_device::config::closest(key, keys.iter().copied());
                let hint = near.map_or(String::new(), |n| format!("; did you mean {n:?}?"));
                let what = match spellings {
                    [one] => format!(": scheme {one} has no parameter {key:?}{hint}\n  allowed: "),
                    _ => format!(": no scheme of this run has the parameter {key:?}{hint}\n  allowed: "),
                };
                let given = Opt::Set.of(format!("scheme.{key}={value}"));
                return Err((given + what + keys.join(", ")).into());
            }
        }
        Ok(())
    }

    /// Parts from which a drive of this run is built.
    pub(crate) fn label<'a>(&'a self, scheme: &'a str) -> Label<'a> {
        Label { device: &self.device, scheme }
    }

    /// The bound of the workload on this drive.
    pub fn limit(&self) -> Limit {
        self.workload.limit(self.shape)
    }

    /// Arrival pacing, as the driver takes it.
    /// `None` where jobs ask by what has ended.
    pub fn pacing(&self) -> Option<Pacing> {
        Some(match self.workload.pacing() {
            WorkloadPacing::Jobs => return None,
            WorkloadPacing::Open => Pacing::Open { queue_depth: self.device.host.queue_depth },
            WorkloadPacing::Closed { queue_depth, threads } => {
                Pacing::Closed { queue_depth: queue_depth.saturating_mul(threads) }
            }
        })
    }

    /// Pauses of the client of a closed loop, if any.
    pub fn pauses(&self) -> Option<Pauses> {
        self.workload.pauses(self.shape).map(|p| Pauses { think: p.think, burst: p.burst })
    }

    /// Number of requests, if known: for a progress bar. Reads the workload through where it must.
    pub fn expected_requests(&self) -> Option<u64> {
        let limit = self.limit();
        let open = matches!(self.pacing(), Some(Pacing::Open { .. }));
        if self.workload.is_timed() {
            return None;
        }
        let counted = limit.requests.is_some() && limit.bytes.is_none() && limit.duration.is_none();
        if counted && self.workload.is_drawn() {
            return limit.requests;
        }
        if !open && limit.duration.is_some() {
            return None;
        }
        let stream = self.workload.open(self.shape, self.spec.seed).ok()?;
        Some(stream.take_while(Result::is_ok).count() as u64)
    }

    /// A closed loop must end.
    fn bounded(&self) -> Result<(), RunError> {
        let limit = self.limit();
        let endless = limit == Limit::default() && self.workload.is_drawn();
        if endless && matches!(self.pacing(), Some(Pacing::Closed { .. })) {
            let given = Opt::Workload.of(&self.spec.workload) + ": the run would never end; set ";
            let or = ", or requests=, duration= or bytes= of the workload";
            return Err((given + Opt::Requests.of("N") + or).into());
        }
        Ok(())
    }

    fn initial_state(&self) -> Result<Initial, RunError> {
        let pages = (self.shape.logical_bytes / self.device.unit.0).min(u32::MAX as u64 - 1) as u32;
        let mut lacking = vec![];
        let holding = match self.initial.filled {
            Filled::Fresh => Mapped::First(0),
            Filled::Share(share) => Mapped::First(share.of(pages as u64) as u32),
            Filled::Steady(Fraction::ONE) => Mapped::First(pages),
            Filled::Steady(share) => {
                let touched = self.workload.footprint(self.shape, self.spec.seed, Touched::AtAll)?;
                let first = share.of(pages as u64) as u32;
                let beyond = touched.runs.into_iter().filter(|r| r.end > first);
                let beyond = beyond.map(|r| r.start.max(first)..r.end);
                mapped(std::iter::once(0..first).chain(beyond).collect())
            }
            Filled::Windows(share) => {
                // Every number of windows up to the share is as frequent: half of it on average.
                let slots = self.device.physical_bytes() / self.device.unit.0;
                let live = self.initial.valid.of(share.of(slots) / 2).min(u32::MAX as u64 - 1) as u32;
                let touched = self.workload.footprint(self.shape, self.spec.seed, Touched::AtAll)?;
                mapped(and_first_others(&touched.runs, self.initial.own, live))
            }
            Filled::Preload(touched) => {
                let footprint = self.workload.footprint(self.shape, self.spec.seed, touched)?;
                let parts = footprint.lacking.into_iter();
                lacking = parts.map(|(page, mask)| (Lpn(page), SectorMask(mask))).collect();
                mapped(footprint.runs)
            }
        };
        Ok(self.initial.holding(holding, lacking))
    }

    /// The configuration with every default filled in, from which the run can be repeated.
    pub(crate) fn config(&self, scheme: &str) -> Value {
        let layers = self.spec.registry.layers(scheme).unwrap_or_default();
        let mut parameters = serde_json::Map::new();
        for (entry, part) in &layers {
            let given = entry.given(part.split_once(':').map_or("", |(_, rest)| rest));
            for p in &entry.parameters {
                let value = given.iter().rfind(|(k, _)| *k == p.key).map_or(&*p.default, |(_, v)| *v);
                let key =
                    if layers.len() == 1 { p.key.to_string() } else { format!("{}.{}", entry.name, p.key) };
                parameters.insert(key, value.into());
            }
        }
        // A scheme that is not a part of this build has its text in the report.
        let foreign = layers.iter().filter(|(entry, _)| entry.parameters.iter().any(|p| p.key == "source"));
        let sources: serde_json::Map<String, Value> =
            foreign.map(|(entry, _)| (entry.name.to_string(), (*entry.docs).into())).collect();
        let pacing = match self.pacing() {
            None => json!("jobs"),
            Some(Pacing::Open { queue_depth }) => json!({ "open": { "queue_depth": queue_depth } }),
            Some(Pacing::Closed { queue_depth }) => json!({ "closed": { "queue_depth": queue_depth } }),
        };
        let number = |cycles: String| cycles.parse::<u32>().map_or(cycles.into(), Value::from);
        let worn: serde_json::Map<String, Value> =
            self.initial.worn().map(|(mode, cycles)| (mode.key().to_string(), number(cycles))).collect();
        let initial = match &self.from_state {
            Some(from) => json!({ "spelling": "state", "state": from.config() }),
            None => json!({
                "spelling": self.initial.to_string(),
                "mapped_pages": self.state.mapped.count(),
                "cycles": worn,
            }),
        };
        let mut told_scheme = json!({ "spelling": scheme, "parameters": parameters });
        if !sources.is_empty() {
            told_scheme["sources"] = sources.into();
        }
        json!({
            "device": self.device,
            "scheme": told_scheme,
            "workload": self.workload.resolved(),
            "requests": self.spec.requests,
            "fit": self.spec.fit.map(|fit| fit.to_string()),
            "pacing": pacing,
            "seed": self.spec.seed,
            "initial": initial,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_share_of_touched_pages_is_topped_up_by_others() {
        let runs = [32..64, 100..132];
        let held = |percent| and_first_others(&runs, Fraction::percent(percent), 60);
        assert_eq!(held(100), [32..64, 100..132], "more than were asked for");
        assert_eq!(held(50), [0..28, 48..64, 112..128], "every other extent of 16 pages");
        assert_eq!(held(0), [0..32, 64..92]);
    }
}
