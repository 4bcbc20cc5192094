//! What the session's log of writes keeps of the drive itself: its first contents, and those after a power cut.

use crate::drive::Drive;
use crate::error::ServeError;
use crate::write_log::WriteLog;
use wordline_units::Lpn;

/// Keep the data of all writes from now on in the session, if there is one, for a drive that serves `size` bytes; with
/// its contents so far, unless it is new.
pub(crate) fn keep(drive: &mut Drive, size: u64, is_new: bool) -> Result<(), ServeError> {
    let (sector, page) = (drive.setup().device.sector.0, drive.setup().device.unit.0);
    let Some(session) = drive.session() else { return Ok(()) };
    session.keep_data(size, sector)?;
    let Some(view) = drive.device().map(|device| device.ftl().view()).filter(|_| !is_new) else {
        return Ok(());
    };
    let pages = (0..size.div_ceil(page) as u32).flat_map(|lpn| {
        let first = u64::from(lpn) * (page / sector);
        view.sectors(Lpn(lpn)).iter().map(move |n| first + u64::from(n))
    });
    let sectors: Vec<u64> = pages.chain(drive.volatile().left_sectors()).collect();
    let ranges = sectors.into_iter().map(|n| n * sector..(n + 1) * sector).filter(|range| range.end <= size);
    tell(drive, |writes, drive| writes.note_contents(ranges, |range| drive.contents(range)));
    Ok(())
}

/// The session's log of writes, if it is kept.
pub(crate) fn writes(drive: &mut Drive) -> Option<&mut WriteLog> {
    drive.session()?.writes().as_mut()
}

/// Note in that log what a power cut has left.
pub(crate) fn note_cut(drive: &mut Drive) {
    tell(drive, |writes, drive| writes.cut(|range| drive.contents(range)));
}

/// Let the log of writes note something that it asks the drive for.
fn tell(drive: &mut Drive, note: impl FnOnce(&mut WriteLog, &mut Drive)) {
    let Some(mut writes) = drive.session().and_then(|session| session.writes().take()) else { return };
    note(&mut writes, drive);
    if let Some(session) = drive.session() {
        *session.writes() = Some(writes);
    }
}
