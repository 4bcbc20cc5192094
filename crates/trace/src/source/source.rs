//! A trace as bytes: a file, a pipe, a folder, a tar archive or several files, each plain or compressed. A
//! pipe is copied to a temporary file, because a trace is read more than once (format, extent, then the run).
//! So is a compressed archive, because its members are read in parallel. Compression is detected by magic
//! number, never by file name, and undone while streaming. The SHA-256 of the content identifies the input in
//! a report.

use crate::error::{ErrorKind, INTERRUPTED, Problem, WorkloadError};
use crate::source::compression::Compression;
use crate::source::decoder::decompressed;
use crate::source::hashing::{Hash, io_problem, sha256_of_file, sha256_of_text};
use crate::source::session;
use crate::source::spool::Spool;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wordline_units::is_interrupted;

/// Where the bytes are.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    File(PathBuf),
    Spooled(Spool),
    Memory(Arc<[u8]>),
}

impl Place {
    fn open(&self) -> io::Result<Box<dyn ReadSeek>> {
        Ok(match self {
            Place::File(path) => Box::new(File::open(path)?),
            Place::Spooled(spool) => Box::new(File::open(spool.path())?),
            Place::Memory(content) => Box::new(io::Cursor::new(Arc::clone(content))),
        })
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(match self {
            Place::File(path) => std::fs::metadata(path)?.len(),
            Place::Spooled(spool) => std::fs::metadata(spool.path())?.len(),
            Place::Memory(content) => content.len() as u64,
        })
    }
}

/// A readable and seekable source.
pub(crate) trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// One stream of records: a file, or a member of an archive.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Its name in messages.
    pub label: String,
    /// Its name without the folder, archive or list that it is in.
    pub name: String,
    /// Whether the user named it, rather than its folder or archive.
    pub named: bool,
    place: Place,
    /// First byte and length within the file, for a member of an archive.
    window: Option<(u64, u64)>,
    compression: Compression,
    /// Size on disk in bytes.
    pub bytes: u64,
}

/// A trace that can be read any number of times.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    label: String,
    compression: Compression,
    /// The input: name, place and bytes.
    files: Vec<(String, Place, u64)>,
    parts: Vec<Part>,
    torn_archive: Option<String>,
}

/// The name of standard input in messages, read as `-`.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// Whether a text names an input: a file, a folder, standard input, or several joined by +.
pub fn is_there(text: &str) -> bool {
    text == "-" || Path::new(text).exists() || listed(text).is_some()
}

/// The names in a list joined by +, if all of them exist.
fn listed(text: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = text.split('+').collect();
    (names.len() > 1 && names.iter().all(|n| Path::new(n).exists())).then_some(names)
}

impl Source {
    /// Finds the input called `text`; `-` is standard input.
    pub fn find(text: &str) -> Result<Source, WorkloadError> {
        if text == "-" {
            return Source::spool(STANDARD_INPUT, io::stdin().lock());
        }
        let Some(names) = listed(text).filter(|_| !Path::new(text).exists()) else {
            return Source::find_one(text);
        };
        let mut all: Option<Source> = None;
        for name in names {
            let mut next = Source::find_one(name)?;
            if let Some(torn) = &next.torn_archive {
                return Err(Problem::new(ErrorKind::Io, name, torn.clone())
                    .hint("pass such an archive alone")
                    .into());
            }
            match &mut all {
                None => all = Some(next),
                Some(all) => {
                    all.files.append(&mut next.files);
                    all.parts.append(&mut next.parts);
                }
            }
        }
        let mut all = all.ok_or_else(|| WorkloadError::from(Problem::new(ErrorKind::Io, text, "no file")))?;
        all.label = text.to_string();
        Ok(all)
    }

    fn find_one(text: &str) -> Result<Source, WorkloadError> {
        let path = Path::new(text);
        let failed = |e: io::Error| io_problem(text, "cannot be opened", &e);
        let kind = std::fs::metadata(path).map_err(failed)?.file_type();
        if let Some(requests) = session::requests_of(text, path)? {
            return Source::of_place(&requests.display().to_string(), Place::File(requests));
        }
        if kind.is_dir() {
            return Source::of_folder(text, path);
        }
        let file = File::open(path).map_err(failed)?;
        if !kind.is_file() {
            return Source::spool(text, file);
        }
        Source::of_place(text, Place::File(path.to_path_buf()))
    }

    /// The files of a folder, by name. Subfolders and hidden files are ignored.
    fn of_folder(label: &str, folder: &Path) -> Result<Source, WorkloadError> {
        let failed = |e: io::Error| io_problem(label, "the folder cannot be read", &e);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && std::fs::metadata(entry.path()).is_ok_and(|m| m.is_file()) {
                found.push((name, entry.path()));
            }
        }
        found.sort();
        let (mut files, mut parts) = (Vec::new(), Vec::new());
        for (name, path) in found {
            let part_label = path.display().to_string();
            let place = Place::File(path);
            let Some(part) = Part::of(part_label, name.clone(), place.clone())? else { continue };
            files.push((name, place, part.bytes));
            parts.push(Part { named: false, ..part });
        }
        let Some(first) = parts.first() else {
            return Err(Problem::new(ErrorKind::Empty, label, "the folder has no non-empty file")
                .allowed("a folder of trace files, such as those that blktrace writes")
                .into());
        };
        let compression = first.compression;
        Ok(Source { label: label.to_string(), compression, files, parts, torn_archive: None })
    }

    /// Copies a pipe to a temporary file.
    pub fn spool(label: &str, pipe: impl Read) -> Result<Source, WorkloadError> {
        Source::of_place(label, Place::Spooled(spooled(label, pipe)?))
    }

    /// Content in memory, under a name.
    pub fn in_memory(label: &str, content: Arc<[u8]>) -> Result<Source, WorkloadError> {
        Source::of_place(label, Place::Memory(content))
    }

    fn of_place(label: &str, place: Place) -> Result<Source, WorkloadError> {
        let name = Path::new(label).file_name().map_or(label.into(), |n| n.to_string_lossy().into_owned());
        let Some(whole) = Part::of(label.to_string(), name.clone(), place.clone())? else {
            return Err(Problem::new(ErrorKind::Empty, label, "the file is empty")
                .allowed("at least one request")
                .into());
        };
        let mut source = Source {
            label: label.to_string(),
            compression: whole.compression,
            files: vec![(name, place, whole.bytes)],
            parts: vec![whole.clone()],
            torn_archive: None,
        };
        if whole.is_archive()? {
            match whole.members()? {
                Members::Whole(members) => source.parts = members,
                Members::Torn(reason) => source.torn_archive = Some(reason),
            }
        }
        Ok(source)
    }

    /// The name of the trace in messages.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether all of it is in files that another process can open, unlike a pipe.
    pub fn is_in_files(&self) -> bool {
        self.files.iter().all(|(_, place, _)| matches!(place, Place::File(_)))
    }

    /// Why an archive is read as a single stream of bytes: its members are incomplete.
    pub fn torn_archive(&self) -> Option<&str> {
        self.torn_archive.as_deref()
    }

    /// Its compression; that of the first file, if there are several.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Its size on disk in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.files.iter().map(|(.., bytes)| bytes).sum()
    }

    /// The parts, in order of names.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Removes the parts selected by `out`.
    pub fn leave_out(&mut self, out: &[usize]) {
        let mut at = 0;
        self.parts.retain(|_| {
            at += 1;
            !out.contains(&(at - 1))
        });
    }

    /// Whether the single part is the single file.
    pub fn is_one_file(&self) -> bool {
        matches!((self.files.as_slice(), self.parts.as_slice()), ([_], [part]) if part.window.is_none())
    }

    /// Hash that identifies the input: the SHA-256 of the file, or of the list that `sha256sum` prints for
    /// several.
    pub fn sha256(&self) -> Result<String, WorkloadError> {
        let mut sums = Vec::new();
        for (name, place, _) in &self.files {
            let failed = |e: io::Error| io_problem(name, "cannot be read", &e);
            sums.push((place.open().and_then(sha256_of_file).map_err(failed)?, name));
        }
        if let [(sum, _)] = sums.as_slice() {
            return Ok(sum.clone());
        }
        let list: String = sums.iter().map(|(sum, name)| format!("{sum}  {name}\n")).collect();
        Ok(sha256_of_text(&list))
    }
}

/// The content of `pipe` in a temporary file.
fn spooled(label: &str, mut pipe: impl Read) -> Result<Spool, WorkloadError> {
    Spool::of(&mut pipe).map_err(|e| {
        let place = std::env::temp_dir();
        let what = format!("cannot be spooled to a temporary file in {}: {e}", place.display());
        let hint = "set TMPDIR to a folder with room for all of the input, which is read more than once";
        Problem::new(ErrorKind::Io, label, what).hint(hint).into()
    })
}

#[cfg_attr(not(feature = "archives"), expect(dead_code, reason = "no archive is read"))]
enum Members {
    Whole(Vec<Part>),
    /// The archive ends within a member, for this reason.
    Torn(String),
}

impl Part {
    /// A file as a part. Nothing if it is empty.
    fn of(label: String, name: String, place: Place) -> Result<Option<Part>, WorkloadError> {
        let failed = |e: io::Error| io_problem(&label, "cannot be read", &e);
        let file = place.open().map_err(failed)?;
        let bytes = place.bytes().map_err(failed)?;
        let mut head = Vec::new();
        file.take(8).read_to_end(&mut head).map_err(failed)?;
        if head.is_empty() {
            return Ok(None);
        }
        let compression = Compression::of(&head);
        Ok(Some(Part { label, name, named: true, place, window: None, compression, bytes }))
    }

    /// Whether the content begins with the header of a tar archive.
    fn is_archive(&self) -> Result<bool, WorkloadError> {
        let mut head = Vec::new();
        // A stream that is too short or damaged is reported when it is read.
        let _ = self.open()?.take(512).read_to_end(&mut head);
        Ok(head.get(257..262) == Some(b"ustar"))
    }

    /// The files in a tar archive.
    #[cfg(feature = "archives")]
    fn members(&self) -> Result<Members, WorkloadError> {
        let failed = |e: io::Error| io_problem(&self.label, "the tar archive cannot be read", &e);
        let place = if self.compression == Compression::Plain {
            self.place.clone()
        } else {
            let mut content = self.open()?;
            let mut broken = None;
            let spool = spooled(&self.label, ErrorKept { input: &mut content, error: &mut broken });
            if let Some(e) = broken {
                return Err(self.broken(self.label.clone(), &e));
            }
            Place::Spooled(spool?)
        };
        let mut archive = tar::Archive::new(place.open().map_err(failed)?);
        let end = place.bytes().map_err(failed)?;
        let mut parts = Vec::new();
        for entry in archive.entries_with_seek().map_err(failed)? {
            let entry = match entry {
                Ok(entry) => entry,
                Err(e) => return Ok(Members::Torn(format!("the tar archive is damaged: {e}"))),
            };
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let (start, bytes) = (entry.raw_file_position(), entry.size());
            if start.checked_add(bytes).is_none_or(|past| past > end) {
                let there = end.saturating_sub(start);
                return Ok(Members::Torn(format!(
                    "the tar archive is truncated: {name} has {there} of {bytes} bytes"
                )));
            }
            if !entry.header().entry_type().is_file() || bytes == 0 {
                continue;
            }
            let mut part = Part {
                label: format!("{}, {name}", self.label),
                name,
                named: false,
                place: place.clone(),
                window: Some((start, bytes)),
                compression: Compression::Plain,
                bytes,
            };
            let mut head = Vec::new();
            part.raw()?.take(8).read_to_end(&mut head).map_err(failed)?;
            part.compression = Compression::of(&head);
            parts.push(part);
        }
        if parts.is_empty() {
            return Err(Problem::new(
                ErrorKind::Empty,
                &*self.label,
                "the tar archive has no non-empty file",
            )
            .allowed("an archive of trace files")
            .into());
        }
        parts.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Members::Whole(parts))
    }

    /// Return an error: this build reads no archives.
    #[cfg(not(feature = "archives"))]
    fn members(&self) -> Result<Members, WorkloadError> {
        let what = "tar archives are not supported by this build (feature `archives` of wordline-workload)";
        Err(Problem::new(ErrorKind::Io, &*self.label, what).allowed("the files of the archive").into())
    }

    fn raw(&self) -> Result<io::Take<Box<dyn ReadSeek>>, WorkloadError> {
        let failed = |e: io::Error| io_problem(&self.label, "cannot be opened", &e);
        let mut file = self.place.open().map_err(failed)?;
        let (start, bytes) = self.window.unwrap_or((0, u64::MAX));
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        Ok(file.take(bytes))
    }

    /// The content, decompressed.
    pub fn open(&self) -> Result<Box<dyn Read + Send>, WorkloadError> {
        let raw = self.raw()?;
        Ok(Box::new(UntilInterrupted(self.decompress(raw)?)))
    }

    /// The content, decompressed, with the file's hash computed meanwhile. Only for a part that is a file.
    pub fn open_hashed(&self) -> Result<(Box<dyn Read + Send>, Hash), WorkloadError> {
        let file = self.place.open().map_err(|e| io_problem(&self.label, "cannot be opened", &e))?;
        let (file, hash) = Hash::along(&self.label, file);
        Ok((Box::new(UntilInterrupted(self.decompress(file)?)), hash))
    }

    fn decompress(&self, raw: impl Read + Send + 'static) -> Result<Box<dyn Read + Send>, WorkloadError> {
        decompressed(self.compression, raw).map_err(|e| {
            if e.kind() == io::ErrorKind::Unsupported {
                let what = format!("it is compressed with {}, and {e}", self.compression.name());
                return Problem::new(ErrorKind::Io, &*self.label, what)
                    .allowed("a file that is not compressed")
                    .into();
            }
            io_problem(&self.label, "cannot be decompressed", &e)
        })
    }

    /// The error message if reading fails at `place`.
    pub fn broken(&self, place: String, error: &io::Error) -> WorkloadError {
        let cut = error.kind() == io::ErrorKind::UnexpectedEof || error.to_string().contains("incomplete");
        if self.compression == Compression::Plain {
            return io_problem(&place, "cannot read the rest of the file", error);
        }
        let name = self.compression.name();
        let what = if cut {
            format!("the {name} stream is truncated ({error})")
        } else {
            format!("the {name} stream is damaged ({error})")
        };
        Problem::new(ErrorKind::Io, place, what)
            .allowed("a complete compressed file")
            .hint(format!("fetch it again, or test it with {name} -t"))
            .into()
    }
}

/// Reads until the program is interrupted. Readers request large blocks.
struct UntilInterrupted(Box<dyn Read + Send>);

impl Read for UntilInterrupted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Not the kind `Interrupted`, which would be retried.
        if is_interrupted() { Err(io::Error::other(INTERRUPTED)) } else { self.0.read(buffer) }
    }
}

/// Distinguishes the errors of a stream from those of the output to which it is copied.
#[cfg(feature = "archives")]
struct ErrorKept<'a> {
    input: &'a mut dyn Read,
    error: &'a mut Option<io::Error>,
}

#[cfg(feature = "archives")]
impl Read for ErrorKept<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer).or_else(|e| {
            if e.kind() == io::ErrorKind::Interrupted {
                return Err(e);
            }
            *self.error = Some(e);
            Ok(0)
        })
    }
}
