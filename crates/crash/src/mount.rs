//! Shows the drive to clients that open no NBD: as a file, by nbdfuse, and as a file system, by mkfs, nbdfuse, a loop device and
//! mount. A file system needs root.

use crate::command::Process;
use crate::error::CrashError;
use rustix::process::geteuid;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How long nbdfuse may take to make the drive available.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait between two looks for the drive.
const STEP: Duration = Duration::from_millis(2);

/// Supported file systems: name, package, and the smallest size that its mkfs accepts.
const KINDS: [(&str, &str, u64); 2] = [("ext4", "e2fsprogs", 8 << 20), ("xfs", "xfsprogs", 300 << 20)];

/// A file system, with its options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileSystem {
    kind: &'static str,
    package: &'static str,
    /// Minimum size in bytes.
    least: u64,
    /// Options of mount.
    options: Vec<String>,
}

impl FromStr for FileSystem {
    type Err = String;

    fn from_str(text: &str) -> Result<FileSystem, String> {
        let mut parts = text.split(',').map(str::to_string);
        let name = parts.next().unwrap_or_default();
        let Some((kind, package, least)) = KINDS.iter().find(|(kind, _, _)| *kind == name) else {
            let what = format!("{name:?} is not a file system that can be mounted");
            return Err(format!(
                "{what}\n  allowed: ext4 or xfs, with options of mount, as in ext4,barrier=0"
            ));
        };
        Ok(FileSystem { kind, package, least: *least, options: parts.collect() })
    }
}

impl fmt::Display for FileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        self.options.iter().try_for_each(|option| write!(f, ",{option}"))
    }
}

/// The commands and devices of this machine.
struct Machine {
    is_root: bool,
    has: fn(&Path) -> bool,
    programs: Vec<PathBuf>,
}

impl Machine {
    fn this() -> Machine {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs =
            std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from)).collect();
        Machine { is_root: geteuid().is_root(), has: Path::exists, programs }
    }

    fn has_program(&self, name: &str) -> bool {
        self.programs.iter().any(|folder| (self.has)(&folder.join(name)))
    }

    /// What this machine lacks for a drive that is shown as a file.
    fn lacks_for_file(&self) -> Option<String> {
        let instead = "or a client that opens {uri} itself";
        let mut programs = vec![("nbdfuse", "libnbd-bin (Debian), libnbd (Fedora)")];
        if !self.is_root {
            programs.push(("fusermount3", "fuse3"));
        }
        for (program, package) in programs {
            if !self.has_program(program) {
                let allowed = format!("a machine with {program}, from the package {package}, {instead}");
                return Some(format!("{program} is not installed\n  allowed: {allowed}"));
            }
        }
        if !(self.has)(Path::new("/dev/fuse")) {
            let allowed =
                format!("a kernel with FUSE (a container needs /dev/fuse from its host), {instead}");
            return Some(format!("/dev/fuse does not exist\n  allowed: {allowed}"));
        }
        None
    }

    /// What this machine lacks for a mount.
    fn lacks(&self, of: &FileSystem) -> Option<String> {
        let kind = of.kind;
        if !self.is_root {
            return Some("needs root, for a loop device and mount\n  allowed: root, or a client that opens {uri} itself".to_string());
        }
        let mkfs = format!("mkfs.{kind}");
        let programs = [
            ("nbdfuse", "libnbd-bin (Debian), libnbd (Fedora)"),
            ("losetup", "util-linux"),
            ("mount", "util-linux"),
            (&mkfs, of.package),
        ];
        for (program, package) in programs {
            if !self.has_program(program) {
                return Some(format!(
                    "{program} is not installed\n  allowed: a machine with {program}, from the package {package}"
                ));
            }
        }
        for (device, what) in [("/dev/fuse", "FUSE"), ("/dev/loop-control", "loop devices")] {
            if !(self.has)(Path::new(device)) {
                return Some(format!(
                    "{device} does not exist\n  allowed: a kernel with {what}; a container needs {device} from its host"
                ));
            }
        }
        None
    }
}

impl FileSystem {
    /// Its name.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Minimum size in bytes.
    pub fn least(&self) -> u64 {
        self.least
    }

    /// Check that this machine can mount it.
    ///
    /// # Errors
    /// If it cannot: what is missing, and how to get it.
    pub fn check(&self) -> Result<(), CrashError> {
        let lacks = Machine::this().lacks(self);
        lacks.map_or(Ok(()), |what| Err(CrashError::Input(format!("--mount {}: {what}", self.kind))))
    }

    /// Create the file system in a new file of this size.
    pub(crate) fn make(&self, path: &Path, size: u64, options: &[String]) -> Result<(), CrashError> {
        let failed = CrashError::machine("--mount: cannot create a file for mkfs");
        File::create_new(path).and_then(|file| file.set_len(size)).map_err(failed)?;
        let mut command = Command::new(format!("mkfs.{}", self.kind));
        match self.kind {
            // Leave no initialization for the kernel to do in the background.
            "ext4" => {
                command.args(["-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0"])
            }
            _ => command.args(["-q", "-f"]),
        };
        command.args(options).arg(path);
        succeed(&mut command, "mkfs").map(|_| ())
    }

    /// Mount a device or, through a loop device, a file.
    fn mount(&self, device: &Path, at: &Path) -> Result<MountPoint, String> {
        let mut options = self.options.clone();
        if self.kind == "xfs" {
            // Several crash states of the same file system are mounted at a time.
            options.push("nouuid".to_string());
        }
        if device.is_file() {
            options.push("loop".to_string());
        }
        let mut command = Command::new("mount");
        command.args(["-t", self.kind]);
        if !options.is_empty() {
            command.args(["-o", &options.join(",")]);
        }
        let done =
            command.arg(device).arg(at).output().map_err(|e| format!("mount cannot be started: {e}"))?;
        if done.status.success() { Ok(MountPoint(at.to_path_buf())) } else { Err(said(&done)) }
    }

    /// Mount a crash state in a folder. An error is what mount printed.
    pub(crate) fn mount_image(&self, image: &Path, at: &Path) -> Result<MountPoint, String> {
        std::fs::create_dir_all(at).map_err(|e| e.to_string())?;
        self.mount(image, at)
    }
}

/// A mounted folder, unmounted when dropped.
pub(crate) struct MountPoint(PathBuf);

impl Drop for MountPoint {
    fn drop(&mut self) {
        let ways: [&[&str]; 3] = [&["umount"], &["fusermount3", "-u"], &["umount", "-l"]];
        for way in ways {
            let done = Command::new(way[0]).args(&way[1..]).arg(&self.0).output();
            if done.is_ok_and(|done| done.status.success()) {
                return;
            }
        }
    }
}

/// A served drive as a file, by nbdfuse. Its parts are dropped in this order.
pub(crate) struct DriveFile {
    path: PathBuf,
    _point: MountPoint,
    _nbdfuse: Process,
}

impl DriveFile {
    /// Check that this machine can show a drive as a file.
    ///
    /// # Errors
    /// If it cannot: what is missing, and how to get it.
    pub(crate) fn check() -> Result<(), CrashError> {
        let lacks = Machine::this().lacks_for_file();
        lacks.map_or(Ok(()), |what| Err(CrashError::Input(format!("--run: {{image}}: {what}"))))
    }

    /// Show the drive at a socket as a file, in a new folder below `folder`.
    pub(crate) fn start(socket: &Path, folder: &Path) -> Result<DriveFile, CrashError> {
        let at = folder.join("fuse");
        std::fs::create_dir_all(&at)
            .map_err(CrashError::machine("cannot create a folder for the drive image"))?;
        let path = at.join("disk");
        let mut command = Command::new("nbdfuse");
        command.arg(&path).arg("--unix").arg(socket);
        let mut nbdfuse = Process::start(command).map_err(CrashError::machine("cannot start nbdfuse"))?;
        let begun = Instant::now();
        while !path.exists() {
            let failed =
                |how: String| Err(CrashError::Machine(format!("nbdfuse did not mount the drive: {how}")));
            if let Some(status) = nbdfuse.wait(STEP, &|| false).map_err(CrashError::machine("nbdfuse"))? {
                return failed(status.to_string());
            }
            if begun.elapsed() > PATIENCE {
                return failed(format!("timed out after {} s", PATIENCE.as_secs()));
            }
        }
        Ok(DriveFile { path, _point: MountPoint(at), _nbdfuse: nbdfuse })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// A loop device, detached when dropped.
struct Loop(PathBuf);

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.0).output();
    }
}

/// A file system on a served drive. Its parts are dropped in this order.
pub(crate) struct Mounted {
    at: PathBuf,
    _point: MountPoint,
    _loop: Loop,
    _file: DriveFile,
}

impl Mounted {
    /// Mount the drive at a socket, in a folder.
    pub(crate) fn start(of: &FileSystem, socket: &Path, folder: &Path) -> Result<Mounted, CrashError> {
        let at = folder.join("mnt");
        std::fs::create_dir_all(&at).map_err(CrashError::machine("--mount: no folder"))?;
        let file = DriveFile::start(socket, folder)?;
        let mut command = Command::new("losetup");
        command.args(["--find", "--show", "--direct-io=on"]).arg(file.path());
        let device = succeed(&mut command, "losetup")?;
        let device = Loop(PathBuf::from(String::from_utf8_lossy(&device.stdout).trim()));
        let point = of.mount(&device.0, &at);
        let point = point.map_err(|what| CrashError::Machine(format!("--mount {}: {what}", of.kind)))?;
        Ok(Mounted { at, _point: point, _loop: device, _file: file })
    }

    /// The mount point.
    pub(crate) fn at(&self) -> &Path {
        &self.at
    }

    /// Flush what the kernel has cached.
    pub(crate) fn sync(&self) -> Result<(), CrashError> {
        succeed(Command::new("sync").arg("-f").arg(&self.at), "sync").map(|_| ())
    }
}

fn said(done: &Output) -> String {
    let text = String::from_utf8_lossy(&done.stderr);
    if text.trim().is_empty() { done.status.to_string() } else { text.trim().to_string() }
}

fn succeed(command: &mut Command, name: &str) -> Result<Output, CrashError> {
    let done = command.output().map_err(|e| CrashError::Machine(format!("--mount: {name}: {e}")))?;
    if done.status.success() {
        Ok(done)
    } else {
        Err(CrashError::Machine(format!("--mount: {name}: {}", said(&done))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_lacks_is_named() {
        let ext4: FileSystem = "ext4,barrier=0".parse().unwrap();
        assert_eq!((ext4.kind(), ext4.options.as_slice()), ("ext4", &["barrier=0".to_string()][..]));
        assert!("btrfs".parse::<FileSystem>().unwrap_err().contains("allowed: ext4 or xfs"));
        let programs = || vec![PathBuf::from("/bin")];
        let user = Machine { is_root: false, has: |_| true, programs: programs() };
        assert!(user.lacks(&ext4).unwrap().starts_with("needs root"));
        let bare = Machine { is_root: true, has: |path| !path.ends_with("nbdfuse"), programs: programs() };
        assert!(bare.lacks(&ext4).unwrap().contains("the package libnbd-bin"));
        let closed = Machine { is_root: true, has: |path| !path.starts_with("/dev"), programs: programs() };
        assert!(closed.lacks(&ext4).unwrap().starts_with("/dev/fuse does not exist"));
        let whole = Machine { is_root: true, has: |_| true, programs: programs() };
        assert_eq!(whole.lacks(&ext4), None);
        assert_eq!(whole.lacks_for_file(), None);
        assert!(bare.lacks_for_file().unwrap().contains("libnbd-bin") && user.lacks_for_file().is_none());
        let without = Machine { has: |path| !path.ends_with("fusermount3"), programs: programs(), ..user };
        assert!(
            without
                .lacks_for_file()
                .unwrap()
                .contains("from the package fuse3, or a client that opens {uri}")
        );
        assert!(closed.lacks_for_file().unwrap().starts_with("/dev/fuse does not exist"));
        let xfs: FileSystem = "xfs".parse().unwrap();
        let without =
            Machine { is_root: true, has: |path| !path.ends_with("mkfs.xfs"), programs: programs() };
        assert!(without.lacks(&xfs).unwrap().contains("xfsprogs"));
    }
}
