//! The message of `serve`, `ctl`, and `rerun` of a session in builds without the served drive.

use crate::args::live::{CtlArgs, ServeArgs};
use crate::console::Console;
use crate::error::Failure;
use std::path::Path;

fn not_here(what: &str) -> Result<(), Failure> {
    Err(Failure::Input(format!(
        "{what}: this binary was built without the served drive (feature `live`), which needs Linux\n  \
         allowed: everything else; on Windows the served drive runs in WSL 2, on macOS in a container of \
         Linux"
    )))
}

pub(crate) fn serve(_: &ServeArgs, _: &Console) -> Result<(), Failure> {
    not_here("wordline serve")
}

pub(crate) fn ctl(_: &CtlArgs, _: &Console) -> Result<(), Failure> {
    not_here("wordline ctl")
}

/// A report is a file, a session a folder.
pub(crate) fn is_session(folder: &Path) -> bool {
    folder.is_dir()
}

pub(crate) fn rerun(folder: &Path, _: &Console) -> Result<(), Failure> {
    not_here(&format!("{}: a session of a served drive", folder.display()))
}
