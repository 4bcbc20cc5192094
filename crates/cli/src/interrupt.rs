//! Signals: the first Ctrl-C or SIGTERM asks current work to stop and remove incomplete output; a second one ends the
//! process immediately.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag};
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Base of the exit code after a signal in shells; the signal's number is added.
const BY_SIGNAL: i32 = 128;

struct Signals {
    asked: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
    /// A further signal ends the process.
    hurried: Arc<AtomicBool>,
    /// Handler of the first signal.
    hurries: Mutex<Vec<SigId>>,
}

static SIGNALS: OnceLock<Signals> = OnceLock::new();

/// Listens to the signals from now on. If handlers cannot be installed, signals end the process as usual.
pub(crate) fn listen() {
    let signals = SIGNALS.get_or_init(|| {
        let signals = Signals {
            asked: Arc::default(),
            signal: Arc::default(),
            hurried: Arc::default(),
            hurries: Mutex::default(),
        };
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag that the first has set.
            let ends =
                flag::register_conditional_shutdown(signal, BY_SIGNAL + signal, Arc::clone(&signals.hurried));
            if ends.is_ok() {
                let _ = flag::register_usize(signal, Arc::clone(&signals.signal), signal as usize);
                let _ = flag::register(signal, Arc::clone(&signals.asked));
                let hurries = flag::register(signal, Arc::clone(&signals.hurried));
                signals.hurries.lock().unwrap_or_else(PoisonError::into_inner).extend(hurries);
            }
        }
        signals
    });
    signals.asked.store(false, Ordering::Relaxed);
    signals.hurried.store(false, Ordering::Relaxed);
    wordline_units::stop_when(is_asked);
}

/// From now on, a further signal soon after the first, as supervisors and closed terminals send, is ignored; SIGHUP
/// also asks to stop. A caller that stops calls [`hurry`] when the grace period should end.
#[cfg(feature = "live")]
pub(crate) fn be_patient() {
    use signal_hook::consts::{SIGHUP, SIGXFSZ};
    use signal_hook::low_level::unregister;
    let Some(signals) = SIGNALS.get() else { return };
    for id in signals.hurries.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        unregister(id);
    }
    // A write beyond the largest file (`ulimit -f`) fails, and does not end the process.
    let _ = flag::register(SIGXFSZ, Arc::default());
    let _ = flag::register_usize(SIGHUP, Arc::clone(&signals.signal), SIGHUP as usize);
    let _ = flag::register(SIGHUP, Arc::clone(&signals.asked));
}

/// From now on a signal ends the process.
#[cfg(feature = "live")]
pub(crate) fn hurry() {
    if let Some(signals) = SIGNALS.get() {
        signals.hurried.store(true, Ordering::Relaxed);
    }
}

/// Whether a signal has asked to stop.
pub(crate) fn is_asked() -> bool {
    SIGNALS.get().is_some_and(|s| s.asked.load(Ordering::Relaxed))
}

/// The exit code after the received signal: 130 for Ctrl-C, 143 for SIGTERM.
pub(crate) fn exit_code() -> i32 {
    let signal = SIGNALS.get().map_or(0, |s| s.signal.load(Ordering::Relaxed));
    BY_SIGNAL + if signal == 0 { SIGINT } else { signal as i32 }
}

/// The command line as it can be typed again.
pub(crate) fn command(args: &[OsString]) -> String {
    let words = args.iter().map(|a| a.to_string_lossy());
    let name = |first: String| first.rsplit('/').next().unwrap_or_default().to_string();
    let words = words.enumerate().map(|(i, word)| {
        wordline_report::quoted(&if i == 0 { name(word.into_owned()) } else { word.into_owned() })
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let args = ["/usr/bin/wordline", "run", "--set", "gc.trigger=free_blocks < 5%"].map(OsString::from);
        assert_eq!(command(&args), "wordline run --set 'gc.trigger=free_blocks < 5%'");
    }
}
