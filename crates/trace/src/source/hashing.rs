//! The SHA-256 of a file, computed while it is read.

use crate::error::{ErrorKind, Problem, WorkloadError};
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The SHA-256 of a whole file, as hexadecimal text.
pub(crate) fn sha256_of_file(file: impl Read + Send + 'static) -> io::Result<String> {
    let mut hashing = Hashing { file: Box::new(file), hasher: Sha256::new() };
    hashing.read_through()?;
    Ok(hexadecimal(hashing.hasher))
}

/// The SHA-256 of a text, as hexadecimal text.
pub(crate) fn sha256_of_text(text: &str) -> String {
    hexadecimal(Sha256::new_with_prefix(text))
}

fn hexadecimal(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

/// The error of a file that cannot be read.
#[cold]
pub(crate) fn io_problem(place: &str, what: &str, error: &io::Error) -> WorkloadError {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "check the path; names are relative to the working directory",
        io::ErrorKind::PermissionDenied => "check the file's permissions",
        _ => "",
    };
    Problem::new(ErrorKind::Io, place, format!("{what}: {error}")).hint(hint).into()
}

struct Hashing {
    file: Box<dyn Read + Send>,
    hasher: Sha256,
}

impl Hashing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.hasher.update(&buffer[..n]);
        Ok(n)
    }

    fn read_through(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 17];
        loop {
            match self.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// A file that is hashed while it is read.
pub(crate) struct Shared(Arc<Mutex<Hashing>>);

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).read(buffer)
    }
}

/// The hash of a file that is being read.
pub(crate) struct Hash {
    label: String,
    shared: Arc<Mutex<Hashing>>,
}

impl Hash {
    /// A file, and its hash, which is computed as the file is read.
    pub fn along(label: &str, file: impl Read + Send + 'static) -> (Shared, Hash) {
        let shared = Arc::new(Mutex::new(Hashing { file: Box::new(file), hasher: Sha256::new() }));
        (Shared(Arc::clone(&shared)), Hash { label: label.to_string(), shared })
    }

    /// Reads the rest and returns the SHA-256 of the whole file, in hexadecimal.
    pub fn finish(self) -> Result<String, WorkloadError> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.read_through().map_err(|e| io_problem(&self.label, "cannot be read", &e))?;
        Ok(hexadecimal(shared.hasher.clone()))
    }
}
