//! Whether the program should stop: one flag for the process, checked at coarse points of long work (a block
//! of a file, some thousand requests). The source is set once by the interface: its flag for signals, or the
//! interpreter's.

use std::sync::{PoisonError, RwLock};

static ASKED: RwLock<fn() -> bool> = RwLock::new(never);

fn never() -> bool {
    false
}

/// Sets who is asked. Once set, it stays set until the current work has ended.
pub fn stop_when(asked: fn() -> bool) {
    *ASKED.write().unwrap_or_else(PoisonError::into_inner) = asked;
}

/// Whether the current work should end as soon as possible.
pub fn is_interrupted() -> bool {
    let asked = *ASKED.read().unwrap_or_else(PoisonError::into_inner);
    asked()
}
