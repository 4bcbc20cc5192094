//! Threads that are over when they are waited for.

use std::thread::ScopedJoinHandle;

/// Wait until threads are over, with all that they keep for themselves: a scope waits for what they do alone, and what a
/// scheme in Python keeps on a thread must not outlive the interpreter.
pub(crate) fn join<T>(threads: Vec<ScopedJoinHandle<'_, T>>) {
    for thread in threads {
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}
