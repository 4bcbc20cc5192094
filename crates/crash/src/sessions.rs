//! Clients on drives with faults at work: each session is a run of the client with a fault of one kind, drawn by a seed of its
//! own, and the search of what power cuts may leave of that.

use crate::command::Template;
use crate::error::CrashError;
use crate::recording::{RecordSpec, record};
use crate::report::{Coverage, Found};
use crate::search::search;
use crate::spec::SearchSpec;
use std::process::ExitStatus;
use wordline_volatile::{Log, SessionFault, SessionFaults};

/// Least number of checks of a session.
const LEAST: u64 = 20;

/// Which sessions there are.
#[derive(Clone, Debug)]
pub struct SessionSpec {
    /// The faults, each with the number of 10,000 requests that it meets, in turn.
    pub kinds: Vec<(SessionFault, u64)>,
    /// Number of sessions.
    pub count: u64,
    /// The seed of the first; each further one has the next.
    pub seed: u64,
}

/// The first session of which a state fails, or the last.
#[derive(Debug)]
pub struct Session {
    /// What the client sent.
    pub log: Log,
    /// Its fault.
    pub fault: SessionFault,
    /// Its seed.
    pub seed: u64,
    /// How the client ended.
    pub status: ExitStatus,
    /// What the search found; the coverage is that of all sessions.
    pub found: Found,
    /// Sessions that were run, and those of them in which the fault met a request.
    pub run: u64,
    /// As above.
    pub met: u64,
}

/// Run sessions until a state of one fails. Nothing if there is none.
///
/// # Errors
/// When the client or the check cannot be run, or `stops` says so.
pub fn sessions(
    (client, check): (&Template, &Template),
    (record_spec, search_spec): (&RecordSpec, &SearchSpec),
    spec: &SessionSpec,
    stops: &(dyn Fn() -> bool + Sync),
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Option<Session>, CrashError> {
    let mut last: Option<Session> = None;
    let (mut coverage, mut met) = (Coverage::default(), 0);
    for number in 0..spec.count {
        if coverage.checks >= search_spec.states {
            break;
        }
        let Some((fault, rate)) = spec.kinds.get((number % spec.kinds.len().max(1) as u64) as usize).copied()
        else {
            break;
        };
        let seed = spec.seed.wrapping_add(number);
        let of = |e: CrashError| match e {
            CrashError::Input(text) => {
                CrashError::Input(format!("session {number} ({fault}, seed {seed}): {text}"))
            }
            other => other,
        };
        let faulty =
            RecordSpec { faults: Some(SessionFaults::new(fault, rate, seed)), ..record_spec.clone() };
        let done = record(client, &faulty, stops).map_err(of)?;
        let is_met = done.log.faults_before(usize::MAX).next().is_some();
        met += u64::from(is_met);
        let (before, states) = (coverage.checks, (search_spec.states / spec.count.max(1)).max(LEAST));
        let search_spec = SearchSpec { states, ..search_spec.clone() };
        let found = if is_met {
            search(&done.log, check, &search_spec, stops, &|checks| progress(before + checks)).map_err(of)?
        } else {
            Found { coverage: Coverage::default(), failing: None }
        };
        coverage = coverage.with(found.coverage);
        let fails = found.failing.is_some();
        let found = Found { coverage, ..found };
        last = Some(Session { log: done.log, fault, seed, status: done.status, found, run: number + 1, met });
        if fails {
            break;
        }
    }
    Ok(last)
}
