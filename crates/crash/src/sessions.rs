//! Runs clients on drives with session faults. In each session the client runs with faults of one kind, drawn
//! by a seed, and the states that power cuts may leave of that run are searched.

use crate::command::Template;
use crate::error::CrashError;
use crate::recording::{RecordSpec, record};
use crate::report::{Coverage, Found};
use crate::search::search;
use crate::spec::SearchSpec;
use std::process::ExitStatus;
use wordline_volatile::{Log, SessionFault, SessionFaults};

/// Minimum number of checks per session.
const LEAST: u64 = 20;

/// Which sessions to run.
#[derive(Clone, Debug)]
pub struct SessionSpec {
    /// The faults, used in turn, each with its rate per 10,000 requests.
    pub kinds: Vec<(SessionFault, u64)>,
    /// Number of sessions.
    pub count: u64,
    /// Seed of the first session. Each further session adds 1.
    pub seed: u64,
}

/// The first session with a failing state, or the last session.
#[derive(Debug)]
pub struct Session {
    /// The log of the client's requests.
    pub log: Log,
    /// Its fault.
    pub fault: SessionFault,
    /// Its seed.
    pub seed: u64,
    /// Exit status of the client.
    pub status: ExitStatus,
    /// Result of the search. Its coverage is that of all sessions.
    pub found: Found,
    /// Number of sessions run.
    pub run: u64,
    /// Number of sessions in which the fault met a request.
    pub met: u64,
}

/// Run sessions until one has a failing state. Nothing if no session was run.
///
/// # Errors
/// If the client or the check cannot be run, or `stops` is set.
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
