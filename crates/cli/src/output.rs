//! Files. Each place is tried before the run, so that one that cannot be written is known before any
//! time is spent; a file gets its name when it is whole.

use crate::console::Console;
use crate::error::Failure;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use wordline_report::{Comparison, Figure, PAGE, figures, html_at};
use wordline_units::io_reason;

/// Where text is to go.
pub(crate) enum Sink {
    /// Standard output.
    Stdout,
    /// A file that takes its name when it is whole.
    File(PathBuf),
    /// Something that is not a file, such as a pipe.
    Special(PathBuf, File),
}

fn refused(path: &Path, e: &io::Error) -> Failure {
    let hint = match e.kind() {
        io::ErrorKind::NotFound => "; does the folder exist?",
        io::ErrorKind::PermissionDenied => "; choose another place, or change its permissions",
        _ => "",
    };
    Failure::Input(format!("{}: cannot be written: {}{hint}", path.display(), io_reason(e)))
}

/// A nameless file next to its final path.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wordline-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the process's mask still applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

impl Sink {
    /// Make sure that a file can be written; `-` is standard output.
    pub(crate) fn open(target: &str) -> Result<Sink, Failure> {
        if target == "-" {
            return Ok(Sink::Stdout);
        }
        let path = PathBuf::from(target);
        match fs::metadata(&path) {
            Ok(m) if m.is_dir() => {
                return Err(Failure::Input(format!("{target}: is a folder; name a file in it")));
            }
            Ok(m) if !m.is_file() => {
                let file = OpenOptions::new().write(true).open(&path).map_err(|e| refused(&path, &e))?;
                return Ok(Sink::Special(path, file));
            }
            Ok(m) if m.permissions().readonly() => {
                return Err(Failure::Input(format!("{target}: cannot be written: file is read-only")));
            }
            _ => {}
        }
        // Nothing is left behind by a run that is killed.
        temporary(&path).map_err(|e| refused(&path, &e))?;
        Ok(Sink::File(path))
    }

    /// The same; an existing file is replaced only if requested.
    pub(crate) fn open_new(target: &str, force: bool) -> Result<Sink, Failure> {
        if !force && Path::new(target).is_file() {
            return Err(Failure::Input(format!("{target}: file exists; --force overwrites it")));
        }
        Sink::open(target)
    }

    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Sink::Stdout)
    }

    /// Let `write` write it in pieces; returns its result with the number of bytes. If it fails nothing has
    /// been written, but to something that is not a file.
    pub(crate) fn fill<T>(
        self,
        write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
    ) -> Result<(T, u64), Failure> {
        let place = match &self {
            Sink::Stdout => PathBuf::from("standard output"),
            Sink::File(path) | Sink::Special(path, _) => path.clone(),
        };
        let failed = |e: &io::Error| {
            Failure::Output(format!("{}: cannot be written: {}", place.display(), io_reason(e)))
        };
        let mut held = match self {
            Sink::Special(_, mut file) => return Ok((write(&mut file)?, 0)),
            Sink::File(_) => temporary(&place).map_err(|e| failed(&e))?,
            Sink::Stdout => NamedTempFile::new().map_err(|e| failed(&e))?,
        };
        let answer = write(held.as_file_mut())?;
        let bytes = held.as_file().metadata().map_err(|e| failed(&e))?.len();
        if matches!(self, Sink::Stdout) {
            let mut whole = held.reopen().map_err(|e| failed(&e))?;
            let mut out = io::stdout().lock();
            io::copy(&mut whole, &mut out)?;
            out.flush()?;
        } else {
            held.persist(&place).map_err(|e| failed(&e.error))?;
        }
        Ok((answer, bytes))
    }

    /// Write all of it.
    pub(crate) fn write(self, text: &str, console: &Console) -> Result<(), Failure> {
        let failed = |path: &Path, e: &io::Error| {
            Failure::Output(format!("{}: cannot be written: {}", path.display(), io_reason(e)))
        };
        match self {
            Sink::Stdout => console.say(text),
            Sink::Special(path, mut file) => file.write_all(text.as_bytes()).map_err(|e| failed(&path, &e)),
            Sink::File(path) => {
                let mut file = temporary(&path).map_err(|e| failed(&path, &e))?;
                file.write_all(text.as_bytes()).map_err(|e| failed(&path, &e))?;
                file.persist(&path).map_err(|e| failed(&path, &e.error))?;
                Ok(())
            }
        }
    }
}

/// A folder under a lock that ends with its file; none where the system has no such locks.
#[cfg(target_os = "linux")]
fn locked(folder: &Path) -> Result<Option<File>, Failure> {
    use rustix::fs::{FlockOperation, flock};
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Failure::Input(format!(
            "{}: another command is about to write its results here\n  allowed: a folder of its own for each \
             command, or one after the other",
            folder.display()
        ))),
        _ => Ok(Some(file)),
    }
}

#[cfg(not(target_os = "linux"))]
fn locked(_: &Path) -> Result<Option<File>, Failure> {
    Ok(None)
}

/// The folder that `--out` names. Created folders that stay empty are removed.
pub(crate) struct Folder {
    path: PathBuf,
    /// The outermost first.
    made: Vec<PathBuf>,
    /// The folder itself, locked: what two commands write into it may be of different runs.
    _locked: Option<File>,
}

impl Drop for Folder {
    fn drop(&mut self) {
        for folder in self.made.iter().rev() {
            // One that holds something stays.
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Folder {
    /// Make it with its folder of pictures, and make sure that files can be made in both.
    pub(crate) fn open(target: &Path) -> Result<Folder, Failure> {
        Folder::with(target, &target.join("figures"))
    }

    /// The same for a command that is done in Python, which writes the files.
    pub(crate) fn bare(target: &Path) -> Result<Folder, Failure> {
        Folder::with(target, target)
    }

    fn with(target: &Path, deepest: &Path) -> Result<Folder, Failure> {
        let missing = deepest.ancestors().take_while(|f| !f.as_os_str().is_empty() && !f.exists());
        let mut made: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        made.reverse();
        let mut folder = Folder { path: target.to_path_buf(), made, _locked: None };
        fs::create_dir_all(deepest).map_err(|e| refused(target, &e))?;
        for folder in [target, deepest] {
            temporary(&folder.join("report.json")).map_err(|e| refused(folder, &e))?;
        }
        folder._locked = locked(target)?;
        Ok(folder)
    }

    pub(crate) fn write(&self, name: &str, text: &str, console: &Console) -> Result<(), Failure> {
        Sink::open(&self.path.join(name).to_string_lossy())?.write(text, console)
    }

    /// Write the JSON under its name, the page, and the pictures with their data.
    pub(crate) fn fill(
        &self,
        json: (&str, &str),
        comparison: &Comparison,
        console: &Console,
    ) -> Result<(), Failure> {
        let page = html_at(comparison, &self.path.join(PAGE).to_string_lossy());
        self.fill_with(&figures(comparison), (PAGE, &page), json, console)
    }

    /// The same for any pictures and page.
    pub(crate) fn fill_with(
        &self,
        pictures: &[Figure],
        page: (&str, &str),
        json: (&str, &str),
        console: &Console,
    ) -> Result<(), Failure> {
        let of = |figure: &Figure, ending: &str| format!("figures/{}{ending}", figure.name);
        let pictures = pictures.iter().flat_map(|figure| {
            [(of(figure, ".svg"), figure.svg.as_str()), (of(figure, ".csv"), figure.csv.as_str())]
        });
        // What takes the longest to get again comes first, since the disk may be full.
        let first = [json, page].map(|(name, text)| (name.to_string(), text));
        let written = first.into_iter().chain(pictures).map(|(name, text)| self.write(&name, text, console));
        let mut failed = written.filter_map(Result::err);
        if let Some(why) = failed.next() {
            return Err(match (why, failed.count()) {
                (Failure::Output(why) | Failure::Input(why), further @ 1..) => {
                    let files = if further == 1 { "file" } else { "files" };
                    let of = self.path.display();
                    Failure::Output(format!("{why}; nor can {further} further {files} of {of}"))
                }
                (why, _) => why,
            });
        }
        console.note(&format!("Report: {}", self.path.join(page.0).display()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::Record;
    use wordline_schemes::Registry;

    /// Page and JSON in a folder once were of different runs.
    #[test]
    #[cfg(target_os = "linux")]
    fn folder_of_a_command_at_work_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("out");
        let first = Folder::open(&target).unwrap();
        let e = Folder::open(&target).err().unwrap().to_string();
        assert!(e.contains("another command is about to write its results here"), "{e}");
        assert!(target.join("figures").is_dir(), "the second leaves what the first has made");
        drop(first);
        let second = Folder::bare(&target).unwrap();
        assert!(Folder::open(&target).is_err() && Folder::bare(&target).is_err());
        drop(second);
        Folder::open(&target).unwrap();
    }

    /// A full disk or a file in the way costs what it concerns, and not the report.
    #[test]
    fn file_that_fails_leaves_the_others() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("figures/a.svg")).unwrap();
        fs::create_dir_all(place.path().join("figures/b.csv")).unwrap();
        let console = Console::new(Registry::standard(), None, Record::of(&[]));
        let folder = Folder::open(place.path()).unwrap();
        let picture = |name: &'static str| Figure {
            name: name.into(),
            title: String::new(),
            caption: String::new(),
            svg: "s".to_string(),
            csv: "c".to_string(),
        };
        let (page, json) = (("page.html", "p"), ("report.json", "j"));
        let e =
            folder.fill_with(&[picture("a"), picture("b")], page, json, &console).unwrap_err().to_string();
        assert!(e.contains("figures/a.svg: is a folder") && e.contains("nor can 1 further file of "), "{e}");
        for name in ["report.json", "page.html", "figures/a.csv", "figures/b.svg"] {
            assert!(place.path().join(name).is_file(), "{name}");
        }
    }
}
