//! Files that a run writes as it goes. Each path is checked before the run; a file gets its name when it is
//! complete.

use crate::error::RunError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use wordline_units::io_reason;

/// A file under way, perhaps compressed.
pub(crate) struct Output {
    path: PathBuf,
    to: Encoder,
}

enum Encoder {
    Plain(Target),
    Gzip(flate2::write::GzEncoder<Target>),
    Zstd(zstd::stream::write::Encoder<'static, Target>),
}

/// A file that gets its name when it is complete, or something else, such as a pipe.
pub(crate) enum Target {
    File(BufWriter<NamedTempFile>),
    Special(BufWriter<File>),
}

fn refused(path: &Path, e: &io::Error) -> RunError {
    let hint = match e.kind() {
        io::ErrorKind::NotFound => "; does the folder exist?",
        io::ErrorKind::PermissionDenied => "; choose another place, or change its permissions",
        _ => "",
    };
    RunError::Input(format!("{}: cannot be written: {}{hint}", path.display(), io_reason(e)))
}

/// A file cannot be written on.
pub(crate) fn failed(path: &Path, e: &dyn std::fmt::Display) -> RunError {
    // Parquet puts a name before errors of others; the path is that of a temporary file.
    let text = e.to_string();
    let reason = io_reason(&io::Error::other(text.strip_prefix("External: ").unwrap_or(&text)));
    RunError::Output(format!("{}: cannot be written: {reason}", path.display()))
}

impl Target {
    /// Make sure that a file can be written.
    pub fn open(path: &Path) -> Result<Target, RunError> {
        if path == Path::new("-") {
            let what = "-: standard output has the table; name a file, or ./- for one of this name";
            return Err(RunError::Input(what.into()));
        }
        let special = match fs::metadata(path) {
            Ok(m) if m.is_dir() => {
                let what = format!("{}: is a folder; name a file in it", path.display());
                return Err(RunError::Input(what));
            }
            Ok(m) => !m.is_file(),
            Err(_) => false,
        };
        const BUFFER: usize = 1 << 17;
        let refused = |e| refused(path, &e);
        Ok(if special {
            let file = OpenOptions::new().write(true).open(path).map_err(refused)?;
            Target::Special(BufWriter::with_capacity(BUFFER, file))
        } else {
            Target::File(BufWriter::with_capacity(BUFFER, temporary(path).map_err(refused)?))
        })
    }

    /// Write the rest, and give the file its name.
    pub fn finish(self, path: &Path) -> io::Result<()> {
        match self {
            Target::File(f) => {
                f.into_inner().map_err(io::IntoInnerError::into_error)?.persist(path)?;
            }
            Target::Special(mut f) => f.flush()?,
        }
        Ok(())
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::File(f) => f.write(bytes),
            Target::Special(f) => f.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::File(f) => f.flush(),
            Target::Special(f) => f.flush(),
        }
    }
}

impl Output {
    /// Check that a file can be written; `.gz` and `.zst` compress it.
    pub fn open(path: &Path) -> Result<Output, RunError> {
        let target = Target::open(path)?;
        let to = match path.extension().and_then(|e| e.to_str()) {
            Some("gz") => {
                Encoder::Gzip(flate2::write::GzEncoder::new(target, flate2::Compression::default()))
            }
            Some("zst") => {
                Encoder::Zstd(zstd::stream::write::Encoder::new(target, 0).map_err(|e| refused(path, &e))?)
            }
            _ => Encoder::Plain(target),
        };
        Ok(Output { path: path.to_path_buf(), to })
    }

    /// Write on.
    pub fn write(&mut self, text: &str) -> Result<(), RunError> {
        let bytes = text.as_bytes();
        let written = match &mut self.to {
            Encoder::Plain(out) => out.write_all(bytes),
            Encoder::Gzip(out) => out.write_all(bytes),
            Encoder::Zstd(out) => out.write_all(bytes),
        };
        written.map_err(|e| failed(&self.path, &e))
    }

    /// Write what is left, and give the file its name.
    pub fn finish(self) -> Result<(), RunError> {
        let Output { path, to } = self;
        let target = match to {
            Encoder::Plain(out) => Ok(out),
            Encoder::Gzip(out) => out.finish(),
            Encoder::Zstd(out) => out.finish(),
        };
        target.and_then(|target| target.finish(&path)).map_err(|e| failed(&path, &e))
    }
}

/// A nameless file next to its final path.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wordline-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the process's mask still applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
