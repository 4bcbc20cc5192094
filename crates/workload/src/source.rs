//! A trace file as bytes: a path or a pipe, plain or compressed. A pipe is spooled to a temporary
//! file, because a trace is read more than once (its format, its extent, then the run). The
//! compression is known by its magic number, never by the file's name, and is undone while
//! streaming. The content's SHA-256 identifies the input in a report.

use crate::error::{ErrorKind, Problem, WorkloadError};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How a file is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Not at all.
    Plain,
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// Zstandard.
    Zstd,
}

impl Compression {
    const MAGIC: [(&'static [u8], Compression); 5] = [
        (&[0x1f, 0x8b], Compression::Gzip),
        (b"BZh", Compression::Bzip2),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], Compression::Xz),
        (&[0x28, 0xb5, 0x2f, 0xfd], Compression::Zstd),
        // A skippable frame, with which parallel compressors begin.
        (&[0x50, 0x2a, 0x4d, 0x18], Compression::Zstd),
    ];

    /// What the first bytes of a file say.
    pub fn of(head: &[u8]) -> Compression {
        Self::MAGIC.iter().find(|(m, _)| head.starts_with(m)).map_or(Compression::Plain, |(_, c)| *c)
    }

    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Compression::Plain => "none",
            Compression::Gzip => "gzip",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
            Compression::Zstd => "zstd",
        }
    }
}

/// A file that can be read any number of times.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    label: String,
    path: PathBuf,
    compression: Compression,
    file_bytes: u64,
    /// Keeps a spooled pipe on disk for as long as the source lives.
    _spool: Option<Arc<tempfile::TempPath>>,
}

impl Source {
    /// Finds the file called `text`; `-` is standard input.
    pub fn find(text: &str) -> Result<Source, WorkloadError> {
        if text == "-" {
            return Source::spool("standard input", io::stdin().lock());
        }
        let path = Path::new(text);
        let failed = |e: io::Error| io_problem(text, "cannot be opened", &e);
        let mut file = File::open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?.file_type();
        if kind.is_dir() {
            return Err(Problem::new(ErrorKind::Io, text, "this is a directory")
                .allowed("a trace file, or - for standard input")
                .into());
        }
        if !kind.is_file() {
            return Source::spool(text, file);
        }
        Source::of_file(text, path.to_path_buf(), &mut file, None)
    }

    /// Copies a pipe to a temporary file.
    pub fn spool(label: &str, mut pipe: impl Read) -> Result<Source, WorkloadError> {
        let failed = |e: io::Error| io_problem(label, "cannot be spooled to a temporary file", &e);
        let mut spool = tempfile::Builder::new().prefix("wordline-").tempfile().map_err(failed)?;
        io::copy(&mut pipe, spool.as_file_mut()).map_err(failed)?;
        spool.as_file_mut().flush().map_err(failed)?;
        let (mut file, path) = spool.into_parts();
        Source::of_file(label, path.to_path_buf(), &mut file, Some(Arc::new(path)))
    }

    fn of_file(
        label: &str,
        path: PathBuf,
        file: &mut File,
        spool: Option<Arc<tempfile::TempPath>>,
    ) -> Result<Source, WorkloadError> {
        let failed = |e: io::Error| io_problem(label, "cannot be read", &e);
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut head = Vec::new();
        file.take(8).read_to_end(&mut head).map_err(failed)?;
        let file_bytes = file.metadata().map_err(failed)?.len();
        if head.is_empty() {
            return Err(Problem::new(ErrorKind::Empty, label, "the file is empty")
                .allowed("at least one request")
                .into());
        }
        let compression = Compression::of(&head);
        Ok(Source { label: label.to_string(), path, compression, file_bytes, _spool: spool })
    }

    /// What messages call the file.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// How it is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Its size as it lies on disk.
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// The content, decompressed.
    pub fn open(&self) -> Result<Box<dyn Read + Send>, WorkloadError> {
        let file = File::open(&self.path).map_err(|e| io_problem(&self.label, "cannot be opened", &e))?;
        self.decompress(file)
    }

    /// The content, decompressed, while the file's hash is taken.
    pub fn open_hashed(&self) -> Result<(Box<dyn Read + Send>, Hash), WorkloadError> {
        let file = File::open(&self.path).map_err(|e| io_problem(&self.label, "cannot be opened", &e))?;
        let shared = Arc::new(Mutex::new(Hashing { file, hasher: Sha256::new() }));
        let hash = Hash { label: self.label.clone(), shared: Arc::clone(&shared) };
        Ok((self.decompress(Shared(shared))?, hash))
    }

    fn decompress(&self, raw: impl Read + Send + 'static) -> Result<Box<dyn Read + Send>, WorkloadError> {
        let raw = io::BufReader::with_capacity(1 << 17, raw);
        Ok(match self.compression {
            Compression::Plain => Box::new(raw),
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(raw)),
            Compression::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(raw)),
            Compression::Zstd => Box::new(
                zstd::stream::read::Decoder::with_buffer(raw)
                    .map_err(|e| io_problem(&self.label, "cannot be decompressed", &e))?,
            ),
        })
    }

    /// What to say when reading fails at `place`.
    pub fn broken(&self, place: String, error: &io::Error) -> WorkloadError {
        let cut = error.kind() == io::ErrorKind::UnexpectedEof || error.to_string().contains("incomplete");
        if self.compression == Compression::Plain {
            return io_problem(&place, "the file cannot be read on", error);
        }
        let name = self.compression.name();
        let what = if cut {
            format!("the {name} stream ends too early: the file is truncated ({error})")
        } else {
            format!("the {name} stream is damaged ({error})")
        };
        Problem::new(ErrorKind::Io, place, what)
            .allowed("a complete compressed file")
            .hint(format!("fetch it again, or test it with {name} -t"))
            .into()
    }
}

#[cold]
fn io_problem(place: &str, what: &str, error: &io::Error) -> WorkloadError {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "check the path; names are relative to the working directory",
        io::ErrorKind::PermissionDenied => "check the file's permissions",
        _ => "",
    };
    Problem::new(ErrorKind::Io, place, format!("{what}: {error}")).hint(hint).into()
}

struct Hashing {
    file: File,
    hasher: Sha256,
}

impl Hashing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.hasher.update(&buffer[..n]);
        Ok(n)
    }
}

struct Shared(Arc<Mutex<Hashing>>);

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).read(buffer)
    }
}

/// The hash that a reading is taking.
pub(crate) struct Hash {
    label: String,
    shared: Arc<Mutex<Hashing>>,
}

impl Hash {
    /// Reads what the reading left and gives the SHA-256 of the whole file, as hexadecimal text.
    pub fn finish(self) -> Result<String, WorkloadError> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = vec![0; 1 << 17];
        loop {
            match shared.read(&mut buffer) {
                Ok(0) => break,
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(io_problem(&self.label, "cannot be read", &e)),
            }
        }
        let digest = shared.hasher.clone().finalize();
        Ok(digest.iter().map(|b| format!("{b:02x}")).collect())
    }
}
