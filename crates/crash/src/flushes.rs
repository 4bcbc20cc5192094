//! Ignores each FLUSH and FUA in turn, to find which of them the check notices.

use crate::check::{Check, Verdict};
use crate::command::Template;
use crate::error::CrashError;
use crate::queue::Queue;
use crate::spec::SearchSpec;
use std::collections::HashSet;
use wordline_volatile::{Flushes, Log, flushes, intervals};

/// The result of ignoring a FLUSH or FUA.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// The FLUSH or the request with FUA.
    pub flush: Flushes,
    /// Name of a state that fails without it. None if all states passed.
    pub needed: Option<String>,
    /// Number of states checked.
    pub states: u64,
}

/// Ignore each FLUSH and FUA of a log in turn, and check what a cut may leave up to the next point of
/// durability.
///
/// # Errors
/// If the check cannot be run, or `stops` is set.
pub fn drop_flushes(
    log: &Log,
    template: &Template,
    spec: &SearchSpec,
    stops: &dyn Fn() -> bool,
) -> Result<Vec<Dropped>, CrashError> {
    let all = flushes(log);
    let each = (spec.states / all.len().max(1) as u64).max(8);
    let check = Check::new(template, log, spec)?;
    all.into_iter().map(|flush| dropped(log, &check, (spec, each), flush, stops)).collect()
}

fn dropped(
    log: &Log,
    check: &Check<'_>,
    (spec, most): (&SearchSpec, u64),
    flush: Flushes,
    stops: &dyn Fn() -> bool,
) -> Result<Dropped, CrashError> {
    let intervals = intervals(log, spec.rules, Some(flush.id));
    let mut queue = Queue::new(&intervals, &[], spec.seed, false);
    let (mut seen, mut states) = (HashSet::new(), 0);
    while let Some(next) = queue.next().filter(|_| states < most) {
        let interval = &intervals[next.interval];
        let state = next.state;
        let image = state.image(interval);
        let is_new = seen.insert(image.hash());
        queue.was_equal(!is_new);
        if !is_new {
            continue;
        }
        states += 1;
        if check.run_on(image, (interval, &state), stops)?.verdict != Verdict::Passed {
            return Ok(Dropped { flush, needed: Some(state.name(interval)), states });
        }
    }
    Ok(Dropped { flush, needed: None, states })
}
