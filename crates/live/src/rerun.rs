//! Reruns a session without clients, bytes or wall time, to check that the result is the same.

use crate::data::folder::Folder;
use crate::data::found::Found;
use crate::drive::Drive;
use crate::error::ServeError;
use crate::session::{Event, Recorded};
use std::path::Path;
use wordline_ftl::{HostData, Metadata};
use wordline_run::RunSpec;
use wordline_units::SimTime;

/// The results of a session and of its rerun.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionRerun {
    /// Result hash of the live run; none if its server was killed, or still serves.
    pub recorded: Option<String>,
    /// Result hash of the rerun.
    pub again: String,
    /// Requests that were submitted to the drive.
    pub requests: u64,
    /// Number of power cuts.
    pub cuts: u64,
    /// The drive's time at the end.
    pub end: SimTime,
}

/// Rerun the session of a folder. `over` gives the registry of schemes and the defaults of a run.
///
/// # Errors
/// When the folder holds no session, or the drive of then cannot be made or stops.
pub fn rerun_session(folder: &Path, over: RunSpec) -> Result<SessionRerun, ServeError> {
    let mut session = Recorded::open(folder)?;
    let run = session.header.clone().into_run(over);
    let mut drive = match &session.served_before {
        None => Drive::over(&run, Metadata::default())?,
        Some(path) => {
            Drive::found(&run, &mut Folder::open(path)?, Metadata::default(), Found::without_bytes)?
        }
    };
    let stopped = |what: String| ServeError::Machine(format!("{}: {what}", folder.display()));
    let (mut requests, mut cuts) = (0, 0);
    while let Some(event) = session.events.next()? {
        match event {
            Event::Submit(at, request) => {
                requests += 1;
                // As in the live run: at its arrival, or when the drive had recovered.
                drive.advance(at).map_err(stopped)?;
                drive.submit(request, HostData::NONE).map_err(stopped)?;
            }
            Event::Slow(at, die, factor) => {
                drive.advance(at).map_err(stopped)?;
                drive.slow_die(die, factor).map_err(stopped)?;
            }
            Event::Retire(at, block) => {
                drive.advance(at).map_err(stopped)?;
                drive.retire(block).map_err(stopped)?;
            }
            // A command's effects on the drive have events of their own.
            Event::Order(..) => {}
            Event::Drain(at) => drive.advance(at.max(drive.now())).map_err(stopped)?,
            Event::Cut(at) => {
                cuts += 1;
                // During a recovery, nothing else happens.
                if at >= drive.now() {
                    drive.advance(at).map_err(stopped)?;
                    while drive.next(at).map_err(stopped)?.is_some() {}
                }
                drive.cut(at).map_err(stopped)?;
            }
        }
        let now = drive.now();
        while drive.next(now).map_err(stopped)?.is_some() {}
    }
    let end = drive.now();
    let again = drive.end().0.map_err(stopped)?;
    Ok(SessionRerun { recorded: session.result_hash, again, requests, cuts, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionLog;
    use wordline_units::{HostOp, HostRequest};

    /// A service that is ended under load has gone on for some time since its last request.
    #[test]
    fn session_that_ended_under_load_has_the_same_result_again() {
        for beyond_us in [0, 40, 700, 2_000, 30_000] {
            let folder = tempfile::tempdir().unwrap();
            let over = RunSpec::new("demo-8gb", "slc-cache", "uniform:requests=1");
            let small = [
                ("medium.flash.blocks_per_plane", "24"),
                ("slc_cache.static_blocks", "2"),
                ("capacity.logical", "768MiB"),
            ];
            let set = small.map(|(key, value)| (key.into(), value.into())).to_vec();
            let run = RunSpec { initial: "fresh".into(), set, ..over.clone() };
            let mut drive = Drive::over(&run, Metadata::default()).unwrap();
            drive.record(Some(SessionLog::create(folder.path(), &run, None).unwrap()));
            for at in 0..6_000 {
                let write = HostRequest::new(HostOp::Write, at * 7 % 4_999 * 32, 32);
                drive.submit(write.at(SimTime(at * 100_000)), HostData::NONE).unwrap();
            }
            drive.advance(SimTime(drive.now().0 + beyond_us * 1_000)).unwrap();
            let (hash, log) = drive.end();
            log.unwrap().end(&serde_json::json!({ "result_hash": hash.unwrap() })).unwrap();
            let again = rerun_session(folder.path(), over).unwrap();
            assert_eq!(Some(again.again), again.recorded, "{beyond_us} us after the last request");
        }
    }
}
