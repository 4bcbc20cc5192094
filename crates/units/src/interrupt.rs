//! Whether somebody wants the program to stop: one question for the whole process, asked at coarse points of
//! whatever takes long (a block of a file, some thousand requests). Who can be asked is set once by the
//! face of the program: its flag for signals, or the interpreter's.

use std::sync::{PoisonError, RwLock};

static ASKED: RwLock<fn() -> bool> = RwLock::new(never);

fn never() -> bool {
    false
}

/// Sets who is asked. Once it answers yes it goes on doing so until what is under way has ended.
pub fn stop_when(asked: fn() -> bool) {
    *ASKED.write().unwrap_or_else(PoisonError::into_inner) = asked;
}

/// Whether what is under way should end as soon as it can.
pub fn is_interrupted() -> bool {
    let asked = *ASKED.read().unwrap_or_else(PoisonError::into_inner);
    asked()
}
