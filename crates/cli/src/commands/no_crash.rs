//! The message of `crash` in builds without the served drive.

use crate::args::crash::CrashArgs;
use crate::console::Console;
use crate::error::Failure;

pub(crate) fn crash(_: &CrashArgs, _: &Console) -> Result<(), Failure> {
    Err(Failure::Input(
        "wordline crash: this program is built without the served drive (feature `live`), which needs Linux\n  \
         allowed: everything else; on Windows it runs in WSL 2, on macOS in a container of Linux"
            .to_string(),
    ))
}
