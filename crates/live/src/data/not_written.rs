//! Why changes of a drive could not be written to its folder.

use std::io;
use std::path::Path;
use wordline_ftl::OtherMedia;

/// Why changes of a drive could not be written.
#[derive(Clone, Debug)]
pub(crate) struct NotWritten {
    /// In words, with how to fix it.
    pub why: String,
    /// The disk is full.
    pub is_full: bool,
    /// The folder no longer exists.
    pub is_gone: bool,
}

impl NotWritten {
    /// Another reason.
    pub(crate) fn because(why: String) -> NotWritten {
        NotWritten { why, is_full: false, is_gone: false }
    }
}

impl From<OtherMedia> for NotWritten {
    fn from(other: OtherMedia) -> NotWritten {
        NotWritten::because(other.to_string())
    }
}

/// The folder was deleted or emptied.
pub(crate) fn gone(folder: &Path, file: &Path) -> NotWritten {
    let (folder, file) = (folder.display(), file.file_name().unwrap_or_default().display());
    let why = format!(
        "--data {folder}: {file} was deleted or replaced while the drive was served; what was written since the last \
         start may be lost\n  hint: restore the folder from a copy, or start a new one"
    );
    NotWritten { why, is_full: false, is_gone: true }
}

pub(crate) fn not_written(folder: &Path, e: &io::Error) -> NotWritten {
    let is_full = e.kind() == io::ErrorKind::StorageFull;
    let fix = if is_full { "free some space" } else { "fix the cause" };
    let why =
        format!("{}: the log cannot be written: {e}; {fix} and start the server again", folder.display());
    NotWritten { why, is_full, is_gone: false }
}
