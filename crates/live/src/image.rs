//! Initial contents of a drive from a file. The nonzero parts of the file are written before clients are
//! served.

use crate::data::folder::Folder;
use crate::drive::Drive;
use crate::error::ServeError;
use crate::pieces::asked;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use wordline_ftl::{HostData, Outcome};
use wordline_run::RunError;
use wordline_sim::Completion;
use wordline_units::{HostOp, SimTime};

/// Maximum bytes per write.
const PIECE: usize = 1 << 20;
/// Bytes after which the drive's folder gets them.
const COMMITTED: u64 = 16 << 20;
/// Maximum number of writes in flight.
const UNDER_WAY: u64 = 16;

/// Write the contents of a file to a drive that serves `size` bytes, and to its folder, if it has one.
pub(crate) fn load(
    drive: &mut Drive,
    mut folder: Option<&mut Folder>,
    (path, size): (&Path, u64),
) -> Result<(), ServeError> {
    let wrong = |what: String| ServeError::Input(format!("--image {}: {what}", path.display()));
    let mut file = File::open(path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    let length = file.metadata().map_err(|e| wrong(format!("cannot be read: {e}")))?.len();
    let fits = |length: u64| match length {
        _ if length <= size => Ok(()),
        _ => Err(wrong(format!(
            "{length} bytes are more than the drive serves\n  allowed: at most {size} bytes"
        ))),
    };
    fits(length)?;
    let sector = drive.setup().device.sector.0 as usize;
    let most = PIECE.next_multiple_of(sector) as u64;
    let refused = |what| wrong(format!("the drive cannot take it: {what}"));
    let (mut piece, mut at) = (vec![], 0);
    loop {
        piece.clear();
        let read = file.by_ref().take(most).read_to_end(&mut piece);
        if read.map_err(|e| wrong(format!("cannot be read: {e}")))? == 0 {
            break;
        }
        // A pipe has no length.
        fits(at + piece.len() as u64)?;
        piece.resize(piece.len().next_multiple_of(sector), 0);
        write(drive, at, &piece, sector).map_err(refused)?;
        at += piece.len() as u64;
        if wordline_units::is_interrupted() {
            return Err(ServeError::Run(RunError::Interrupted));
        }
        if at % COMMITTED < most {
            commit(drive, &mut folder)?;
        }
    }
    while let Some(ended) = drive.next(SimTime::NEVER).map_err(refused)? {
        taken(&ended).map_err(refused)?;
    }
    commit(drive, &mut folder)
}

fn commit(drive: &mut Drive, folder: &mut Option<&mut Folder>) -> Result<(), ServeError> {
    let Some(folder) = folder else { return Ok(()) };
    drive.commit(folder).map_err(|e| ServeError::Machine(e.why))
}

/// Return an error if a completed write has failed.
fn taken(ended: &Completion) -> Result<(), String> {
    match ended.outcome {
        Outcome::Done => Ok(()),
        _ => Err("a write failed: the drive is full".to_string()),
    }
}

/// Write the sectors that are not all zeros.
fn write(drive: &mut Drive, at: u64, bytes: &[u8], sector: usize) -> Result<(), String> {
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let sectors: Vec<&[u8]> = bytes.chunks(sector).collect();
    let mut first = 0;
    for run in sectors.chunk_by(|a, b| is_zero(a) == is_zero(b)) {
        let from = first;
        first += run.len();
        if is_zero(run[0]) {
            continue;
        }
        let range = from * sector..first * sector;
        let begin = at + range.start as u64;
        let request = asked(HostOp::Write, &(begin..begin + range.len() as u64)).at(drive.now());
        drive.submit(request, HostData::Bytes(&bytes[range]))?;
        while drive.device().is_some_and(|device| device.outstanding() as u64 > UNDER_WAY) {
            let Some(ended) = drive.next(SimTime::NEVER)? else { break };
            taken(&ended)?;
        }
    }
    Ok(())
}
