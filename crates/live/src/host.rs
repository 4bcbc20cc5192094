//! A server whose clients may run on the same host. Their file systems write back to the server, so it must
//! not wait for write-back of its own.

use rustix::mm::{MlockAllFlags, mlockall};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use rustix::{
    mm::{Advice, madvise},
    param,
};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ask the system to send this process SIGTERM when its parent ends. Returns whether the parent still runs.
pub fn end_with_parent() -> bool {
    let asked = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    asked.is_ok() && std::os::unix::process::parent_id() != 1
}

/// Privileges granted by the system to a server (as root, or with CAP_SYS_RESOURCE and CAP_IPC_LOCK).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Granted {
    /// Memory is allocated without write-back, which the server itself might have to serve.
    pub io_flusher: bool,
    /// The server's memory is never swapped out.
    pub locked: bool,
}

/// Let the allocator take memory from the system in large pieces and keep it. All threads allocate and free
/// data pages by the thousand, and a heap per thread would ask the system for a few KiB at a time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn keep_memory() {
    const AT_ONCE: libc::c_int = 16 << 20;
    const KEPT: libc::c_int = 128 << 20;
    // From here on a piece is taken from the system by itself and given back at once; 32 MiB is the most that is possible.
    const ALONE: libc::c_int = 32 << 20;
    for (what, value) in [
        (libc::M_ARENA_MAX, 1),
        (libc::M_TOP_PAD, AT_ONCE),
        (libc::M_TRIM_THRESHOLD, KEPT),
        (libc::M_MMAP_THRESHOLD, ALONE),
    ] {
        // SAFETY: the call takes only numbers, and any thread may make it at any time. If it fails, nothing
        // changes.
        unsafe { libc::mallopt(what, value) };
    }
    use_huge_pages();
}

/// Let the system back what the heap has grown by since the last call with huge pages, if it has any. Data pages lie all
/// over the heap, and with small pages the CPU looks up the address of nearly every one anew.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn use_huge_pages() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: without an increment, the call only returns where the heap ends.
    let end = unsafe { libc::sbrk(0) };
    let seen = SEEN.swap(end.addr(), Ordering::Relaxed);
    if seen == 0 || end.addr() <= seen {
        return;
    }
    let from = seen / param::page_size() * param::page_size();
    // SAFETY: the range is a part of the heap, whose contents the advice does not change. If it fails, as on a
    // system without huge pages, nothing changes.
    let _ = unsafe { madvise(end.with_addr(from).cast(), end.addr() - from, Advice::LinuxHugepage) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_memory() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn use_huge_pages() {}

/// `PR_SET_IO_FLUSHER` of the kernel's `prctl.h`.
#[cfg(target_os = "linux")]
const SET_IO_FLUSHER: libc::c_int = 57;

/// Request both privileges, for this thread and for those it starts from now on.
pub(crate) fn ask() -> Granted {
    let zero: libc::c_ulong = 0;
    #[cfg(target_os = "linux")]
    // SAFETY: the call takes only numbers, and changes only a flag of the calling thread.
    let io_flusher = unsafe { libc::prctl(SET_IO_FLUSHER, 1 as libc::c_ulong, zero, zero, zero) } == 0;
    #[cfg(not(target_os = "linux"))]
    let io_flusher = zero > 0;
    let which = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let locked = io_flusher && mlockall(which).is_ok();
    Granted { io_flusher, locked }
}
