//! Threads that have fully ended when they are joined.

use std::thread::ScopedJoinHandle;

/// Join threads including their thread-local data: a scope only waits for their closures, and the data of a Python
/// scheme on a thread must not outlive the interpreter.
pub(crate) fn join<T>(threads: Vec<ScopedJoinHandle<'_, T>>) {
    for thread in threads {
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}
