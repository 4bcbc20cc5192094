//! A server whose clients may be on the same host: their file systems write back to it, and it must not wait for its
//! own write-back.

use rustix::mm::{MlockAllFlags, mlockall};

/// Send this process SIGTERM when its parent ends. Returns whether that one is still there.
pub fn end_with_parent() -> bool {
    let asked = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    asked.is_ok() && std::os::unix::process::parent_id() != 1
}

/// Privileges granted by the system to a server (as root, or with CAP_SYS_RESOURCE and CAP_IPC_LOCK).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Granted {
    /// Memory for it is found without writing anything back, which it might have to do itself.
    pub io_flusher: bool,
    /// Its memory is never swapped out.
    pub locked: bool,
}

/// Have memory come in large pieces and stay: pages of data come and go by the thousand, on every thread, and each of its own
/// heaps would ask the system for a few KiB at a time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn keep_memory() {
    const AT_ONCE: libc::c_int = 16 << 20;
    const KEPT: libc::c_int = 128 << 20;
    for (what, value) in [(libc::M_ARENA_MAX, 1), (libc::M_TOP_PAD, AT_ONCE), (libc::M_TRIM_THRESHOLD, KEPT)]
    {
        // SAFETY: the call takes numbers, and may be made at any time on any thread; where it fails all stays as it was.
        unsafe { libc::mallopt(what, value) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_memory() {}

/// `PR_SET_IO_FLUSHER` of the kernel's `prctl.h`.
#[cfg(target_os = "linux")]
const SET_IO_FLUSHER: libc::c_int = 57;

/// Ask for both, for this thread and those that it begins from now on.
pub(crate) fn ask() -> Granted {
    let zero: libc::c_ulong = 0;
    #[cfg(target_os = "linux")]
    // SAFETY: the call takes numbers, and changes nothing but a flag of the calling thread.
    let io_flusher = unsafe { libc::prctl(SET_IO_FLUSHER, 1 as libc::c_ulong, zero, zero, zero) } == 0;
    #[cfg(not(target_os = "linux"))]
    let io_flusher = zero > 0;
    let which = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let locked = io_flusher && mlockall(which).is_ok();
    Granted { io_flusher, locked }
}
