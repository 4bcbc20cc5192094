//! A session of a served drive as a trace: its folder has the requests as a fio log, in addition to its own
//! file of events.

use crate::error::{ErrorKind, Problem, WorkloadError};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The file of a session's events, its first bytes, and its last line.
const EVENTS: &str = "session.txt";
const SCHEMA: &[u8] = b"{\"schema\":\"wordline-session/";
const END: &[u8] = b"\nend\n";
/// The file of its requests.
const REQUESTS: &str = "trace.iolog";

/// The file with a session's requests, if its folder or its file of events is named. Nothing for anything
/// else.
///
/// # Errors
/// If the session is incomplete.
pub(crate) fn requests_of(label: &str, named: &Path) -> Result<Option<PathBuf>, WorkloadError> {
    let events = if named.is_dir() { named.join(EVENTS) } else { named.to_path_buf() };
    if !events.ends_with(EVENTS) || !events.is_file() {
        return Ok(None);
    }
    let failed = |e: io::Error| {
        Problem::new(ErrorKind::Io, label, format!("{}: cannot be read: {e}", events.display()))
    };
    let (begin, end) = ends(&events).map_err(failed)?;
    if begin != SCHEMA {
        return Ok(None);
    }
    let requests = events.with_file_name(REQUESTS);
    let what = if !requests.is_file() {
        format!("the session lacks {}", requests.display())
    } else if end != END {
        format!("the session is truncated: the last line of {} is not \"end\"", events.display())
    } else {
        return Ok(Some(requests));
    };
    let problem = Problem::new(ErrorKind::Io, label, what).allowed("a session whose server has ended");
    let hint = format!("{} has the requests as far as they were written", requests.display());
    Err(if requests.is_file() { problem.hint(hint) } else { problem }.into())
}

/// The first and last bytes of a file, as many as are needed to recognize a session.
fn ends(path: &Path) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut file = File::open(path)?;
    let (mut begin, mut end) = (vec![], vec![]);
    file.by_ref().take(SCHEMA.len() as u64).read_to_end(&mut begin)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END.len() as u64)))?;
    file.read_to_end(&mut end)?;
    Ok((begin, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const WHOLE: &str = "{\"schema\":\"wordline-session/1\"}\nsubmit 1 1 read 0 8 0\nend\n";

    #[test]
    fn a_session_is_named_by_its_folder_or_its_events() {
        let folder = tempfile::tempdir().unwrap();
        let events = folder.path().join(EVENTS);
        assert_eq!(requests_of("x", folder.path()).unwrap(), None, "a folder without a session");
        fs::write(&events, WHOLE).unwrap();
        let lacks = requests_of("x", folder.path()).unwrap_err().to_string();
        assert!(lacks.contains("lacks") && lacks.contains(REQUESTS), "{lacks}");
        fs::write(folder.path().join(REQUESTS), "fio version 3 iolog\n").unwrap();
        for named in [folder.path(), &events] {
            assert_eq!(requests_of("x", named).unwrap(), Some(folder.path().join(REQUESTS)));
        }
        // Another file of that name is read like any other.
        fs::write(&events, "0 read 1 2\n").unwrap();
        assert_eq!(requests_of("x", &events).unwrap(), None);
    }

    #[test]
    fn incomplete_session_is_refused_with_its_content() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(REQUESTS), "fio version 3 iolog\n").unwrap();
        for length in SCHEMA.len()..WHOLE.len() {
            fs::write(folder.path().join(EVENTS), &WHOLE[..length]).unwrap();
            let e = requests_of("x", folder.path()).unwrap_err().to_string();
            assert!(e.contains("truncated") && e.contains(REQUESTS), "{length}: {e}");
        }
    }
}
