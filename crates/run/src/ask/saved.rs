//! Saved drives: the state file with which a run starts or ends, and the snapshot from which drives are forked.

use crate::ask::spec::RunSpec;
use crate::error::RunError;
use serde_json::{Value, json};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tempfile::NamedTempFile;
use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_ftl::{Checked, Label, StateError, StateFile};
use wordline_schemes::Registry;
use wordline_sim::{Device, NoProbe, Probe, RestoreError};
use wordline_units::{Opt, io_reason};

type Plain = Device<NoProbe>;

/// A verified state and its name: a file, or a drive in memory.
#[derive(Clone, Debug)]
pub(crate) struct FromState {
    path: String,
    state: Arc<StateFile>,
}

/// Name of a drive in memory in reports.
const IN_MEMORY: &str = "a drive in memory";

impl FromState {
    pub(crate) fn open(path: &str) -> Result<FromState, RunError> {
        let given = || Opt::FromState.of(path);
        let wrong = |e: &dyn std::fmt::Display| RunError::Option(given() + format!(": {e}"));
        let file = File::open(path).map_err(|e| wrong(&format!("the file cannot be read: {e}")))?;
        if !file.metadata().is_ok_and(|m| m.is_file()) {
            return Err(wrong(&"not a regular file; a state file must be seekable"));
        }
        let state = StateFile::open(file, Checked::Whole).map_err(|e| match e {
            StateError::NotAState => {
                let writes = "; a run with ";
                (given() + format!(": {e}{writes}") + Opt::SaveState.of("FILE") + " writes one").into()
            }
            _ => wrong(&e),
        })?;
        Ok(FromState { path: path.to_string(), state: Arc::new(state) })
    }

    /// The state of a drive in memory.
    pub(crate) fn of(moment: Moment) -> FromState {
        FromState { path: IN_MEMORY.to_string(), state: moment.state }
    }

    /// What it is called.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    fn wrong(&self, e: impl std::fmt::Display) -> RunError {
        if self.path == IN_MEMORY {
            return RunError::Input(format!("{IN_MEMORY}: {e}"));
        }
        (Opt::FromState.of(&self.path) + format!(": {e}")).into()
    }

    /// A fork of the drive, at time 0.
    pub(crate) fn device<P: Probe>(
        &self,
        registry: &Registry,
        label: Label,
        geometry: &Geometry,
        probe: P,
    ) -> Result<Device<P>, RunError> {
        let mut device = restored(registry, label, geometry, probe, &self.state, |e| self.wrong(e))?;
        device.start_anew().map_err(|e| self.wrong(e))?;
        Ok(device)
    }

    /// Its entry in a report.
    pub(crate) fn config(&self) -> Value {
        json!({ "file": self.path, "checksum": self.state.checksum(), "seed": self.state.about().seed })
    }

    /// Refuse a file that differs from that of a report.
    pub(crate) fn is_recorded(&self, checksum: &str) -> Result<(), RunError> {
        if self.state.checksum() == checksum {
            return Ok(());
        }
        let is = self.state.checksum();
        Err(self.wrong(format!("not the state file of the report: checksum {is}, expected {checksum}")))
    }
}

fn restored<P: Probe>(
    registry: &Registry,
    label: Label,
    geometry: &Geometry,
    probe: P,
    state: &StateFile,
    wrong: impl Fn(String) -> RunError,
) -> Result<Device<P>, RunError> {
    let built = registry.build(label.scheme)?;
    Device::restore(label, geometry, built, probe, state).map_err(|e| match e {
        RestoreError::Refused(refusal) => RunError::Refused(refusal),
        RestoreError::State(e) => wrong(e.to_string()),
        RestoreError::Media(e) => wrong(e.to_string()),
    })
}

/// Destination of a state, checked before the run; the file gets its name when it is complete.
#[derive(Debug)]
pub(crate) struct SaveTo {
    path: String,
    file: NamedTempFile,
}

impl SaveTo {
    /// Where a run should save its state, if requested.
    pub(crate) fn asked(spec: &RunSpec) -> Result<Option<SaveTo>, RunError> {
        spec.save_state.as_deref().map(SaveTo::open).transpose()
    }

    fn open(path: &str) -> Result<SaveTo, RunError> {
        let folder = Path::new(path).parent().filter(|f| !f.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".wordline-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file: the process's mask still applies.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let place = std::fs::metadata(path);
        let file = match place {
            Ok(there) if !there.is_file() => Err(io::Error::other("not a file")),
            _ if path == "-" => Err(io::Error::other("standard output has the table")),
            _ => builder.tempfile_in(folder.unwrap_or(Path::new("."))),
        };
        let file = file.map_err(|e| refused(path, &e))?;
        Ok(SaveTo { path: path.to_string(), file })
    }

    /// Write the state of a drive, and give the file its name.
    pub(crate) fn write<P: Probe>(
        mut self,
        label: Label,
        seed: u64,
        device: &Device<P>,
    ) -> Result<(), RunError> {
        device.save(label, seed, self.file.as_file_mut()).map_err(|e| refused(&self.path, &e))?;
        self.file.persist(&self.path).map_err(|e| refused(&self.path, &e.error))?;
        Ok(())
    }
}

fn refused(path: &str, e: &io::Error) -> RunError {
    (Opt::SaveState.of(path)
        + format!(": the file cannot be written: {}; choose another place", io_reason(e)))
    .into()
}

/// The state of a drive at one moment, with its outstanding work. It is in memory, in a file without a name; a drive
/// created from it costs the memory of what it changes.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    state: Arc<StateFile>,
}

impl Moment {
    /// Of a drive as it is.
    pub(crate) fn of(device: &Plain, label: Label, seed: u64) -> Result<Moment, RunError> {
        let wrong = |e: io::Error| RunError::Input(format!("cannot keep the drive in memory: {e}"));
        let mut file = unnamed().map_err(wrong)?;
        device.save(label, seed, &mut file).map_err(wrong)?;
        let state = StateFile::open(file, Checked::Body).map_err(|e| RunError::Input(e.to_string()))?;
        Ok(Moment { state: Arc::new(state) })
    }

    /// A drive that continues from here.
    pub(crate) fn device(
        &self,
        registry: &Registry,
        label: Label,
        geometry: &Geometry,
    ) -> Result<Plain, RunError> {
        restored(registry, label, geometry, NoProbe, &self.state, RunError::Input)
    }
}

/// An empty file without a name, in memory if the system supports it: used to fork a drive.
///
/// # Errors
/// When the system has none.
pub fn unnamed() -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if let Ok(file) = rustix::fs::memfd_create("wordline", rustix::fs::MemfdFlags::CLOEXEC) {
        return Ok(file.into());
    }
    tempfile::tempfile()
}

/// A drive at one moment, from which any number of drives can be forked.
#[derive(Debug)]
pub struct Snapshot {
    device: DeviceSpec,
    geometry: Geometry,
    scheme: String,
    moment: Moment,
    registry: Registry,
}

impl Snapshot {
    /// Of a drive in any state, with its outstanding work. `label` describes how it was built, and `seed` is that of
    /// its run.
    ///
    /// # Errors
    /// If memory is short, or the drive has failed.
    pub fn of(device: &Plain, geometry: &Geometry, label: Label, seed: u64) -> Result<Snapshot, RunError> {
        Ok(Snapshot {
            device: label.device.clone(),
            geometry: geometry.clone(),
            scheme: label.scheme.to_string(),
            moment: Moment::of(device, label, seed)?,
            registry: Registry::standard(),
        })
    }

    /// The same of a drive whose scheme is one of a registry.
    #[must_use]
    pub fn under(self, registry: &Registry) -> Snapshot {
        Snapshot { registry: registry.clone(), ..self }
    }

    /// A drive that continues from here.
    ///
    /// # Errors
    /// If the system has no address space for it.
    pub fn fork(&self) -> Result<Plain, RunError> {
        let label = Label { device: &self.device, scheme: &self.scheme };
        self.moment.device(&self.registry, label, &self.geometry)
    }
}
