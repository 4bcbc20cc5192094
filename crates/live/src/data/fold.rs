//! Folds the log into the database, one segment per transaction, on a background thread. A checksum over the
//! rows of each table detects missing or modified rows.

use crate::data::journal::Journal;
use crate::data::merged::Merged;
use crate::data::page_file::PageFile;
use crate::data::record::{Held, Next, Part, Read, next};
use crate::data::row_id::LAST_PART;
use crate::data::segment::Segment;
use crate::data::sums::{Sums, note, noted};
use crate::lock;
use rusqlite::{Connection, TransactionBehavior};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Number of waiting segments above which writers wait.
const MOST_WAITING: usize = 4;

/// Why a segment cannot be folded into the database.
pub(crate) enum NotFolded {
    Sql(rusqlite::Error),
    /// The segment is damaged: how, in words.
    Damaged(String),
    /// The disk is full or fails.
    Machine(String),
}

impl From<rusqlite::Error> for NotFolded {
    fn from(e: rusqlite::Error) -> NotFolded {
        NotFolded::Sql(e)
    }
}

/// Where the bytes of pages go that leave the log, and how to wait until they and a segment are on the disk.
pub(crate) trait Filing {
    fn put(&self, bytes: &[u8]) -> io::Result<u64>;
    fn sync(&self, segment: &Segment) -> io::Result<()>;
}

impl Filing for Journal {
    fn put(&self, bytes: &[u8]) -> io::Result<u64> {
        self.put(bytes)
    }
    /// With all other records, so that each later FLUSH fails if this does: the system reports an error once.
    fn sync(&self, _: &Segment) -> io::Result<()> {
        self.sync_moved()
    }
}

/// The end of the file of pages. Before the drive is served, no range in it is known to be free.
pub(crate) struct Behind<'a> {
    pub pages: &'a PageFile,
    /// Bytes of a page.
    pub page: u64,
}

impl Filing for Behind<'_> {
    fn put(&self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.pages.length()?.next_multiple_of(self.page.max(1));
        self.pages.write(&mut [(at, bytes)])?;
        Ok(at)
    }
    fn sync(&self, segment: &Segment) -> io::Result<()> {
        segment.sync().and_then(|()| self.pages.sync())
    }
}

/// Result of reading a segment.
pub(crate) struct Folded {
    /// The number after its last record.
    pub next: u64,
    /// Damage in it, as lines for the log.
    pub notes: Vec<String>,
    /// Pages whose bytes are in the file of pages from now on.
    moved: Vec<(u64, Held)>,
}

/// Write the records of a segment to the database, except those already there. The segment may end within the
/// record with which the next segment, `follows`, begins; the last segment may end within any record.
pub(crate) fn fold(
    database: &mut Connection,
    (segment, follows): (&Segment, Option<u64>),
    unit: u64,
    filing: &dyn Filing,
) -> Result<Folded, NotFolded> {
    let place = segment.path.display();
    let log = segment.read().map_err(|e| NotFolded::Damaged(format!("{place}: cannot be read: {e}")))?;
    let folded: u64 = noted(database, "folded")?.unwrap_or(0);
    let (mut at, mut number, mut notes, mut newest) = (0, segment.first, vec![], folded);
    let mut merged = Merged::default();
    loop {
        match next(&log, at, number) {
            Next::End => break,
            Next::Torn if follows.is_none_or(|first| first == number) => {
                notes.push(format!(
                    "{place}: {} bytes at {at} are an incomplete record {number}, which was never acknowledged; ignored",
                    log.len() - at
                ));
                break;
            }
            Next::Torn | Next::Damaged => {
                return Err(NotFolded::Damaged(format!("{place}: record {number} at byte {at} is damaged")));
            }
            Next::Record(read) => {
                if read.is_mended {
                    notes.push(format!(
                        "{place}: record {number} at byte {at}: one copy of its description is damaged; the other is used"
                    ));
                }
                at = read.end;
                if number > folded {
                    notes.extend(
                        damage(&read, &log, unit).map(|what| format!("{place}: record {number}: {what}")),
                    );
                    merged.add(read.record, &log[read.data]);
                    newest = number;
                }
                number += 1;
            }
        }
    }
    if newest == folded {
        return Ok(Folded { next: number, notes, moved: vec![] });
    }
    let unwritten = |e: io::Error| NotFolded::Machine(format!("the pages of {place} cannot be written: {e}"));
    let moved = merged.file(|bytes| filing.put(bytes)).map_err(unwritten)?;
    // The database never refers to pages, and never has a record, that a crash of the system may undo.
    filing.sync(segment).map_err(unwritten)?;
    let t = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut sums = Sums::noted(&t)?;
    merged.apply(&t, &mut sums)?;
    note(&t, "folded", &newest)?;
    sums.note(&t)?;
    t.commit()?;
    Ok(Folded { next: number, notes, moved })
}

/// Damaged data of a record.
fn damage<'a>(read: &'a Read, log: &'a [u8], unit: u64) -> impl Iterator<Item = String> + 'a {
    read.damaged(log).map(move |part| {
        let what = match part {
            Part::Page(lpn) => {
                let from = u64::from(lpn) * unit;
                format!("the data of bytes {from} to {} of the drive", from + unit - 1)
            }
            Part::Protected(id) => {
                format!("a sector of page {} in protected RAM", id / (LAST_PART as u64 + 1))
            }
            Part::Left(sector) => format!("sector {sector}, as a power cut left it,"),
        };
        format!("{what} are damaged: reads of them fail until they are written again")
    })
}

/// Checkpoint SQLite's write-ahead log. Returns whether all of it is in the database and on disk.
pub(crate) fn settle(database: &Connection) -> bool {
    let done = database.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    });
    done.is_ok_and(|(busy, log, moved)| busy == 0 && log == moved)
}

/// The background thread that folds segments.
pub(crate) struct Folding {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Arc<Segment>>,
    busy: bool,
    ends: bool,
    /// Why a segment could not be folded. It stays in the folder for the next start.
    failed: Option<String>,
}

impl Folding {
    /// Start the thread. Segments whose rows are in the database but not checkpointed by SQLite are kept
    /// until they are.
    pub(crate) fn new(
        mut database: Connection,
        journal: Arc<Journal>,
        mut kept: Vec<Arc<Segment>>,
        unit: u64,
    ) -> std::io::Result<Folding> {
        let queue = Arc::new(Queue::default());
        let of = Arc::clone(&queue);
        let work = move || {
            while let Some(segment) = of.next() {
                let failed = match fold(&mut database, (&segment, Some(0)), unit, &*journal) {
                    Ok(folded) => {
                        journal.folded(segment.first, &folded.moved);
                        kept.push(segment);
                        if settle(&database) {
                            kept.drain(..).for_each(|segment| segment.remove());
                        }
                        journal.write_spare();
                        None
                    }
                    Err(NotFolded::Sql(e)) => Some(e.to_string()),
                    Err(NotFolded::Damaged(why) | NotFolded::Machine(why)) => Some(why),
                };
                of.done(failed);
            }
            // Try again: a fork may have ended meanwhile.
            if !kept.is_empty() && settle(&database) {
                kept.drain(..).for_each(|segment| segment.remove());
            }
        };
        let thread = std::thread::Builder::new().name("wordline-folder".to_string()).spawn(work)?;
        Ok(Folding { queue, thread: Some(thread) })
    }

    /// Queue a segment for folding.
    pub(crate) fn push(&self, segment: Arc<Segment>) {
        let mut state = lock(&self.queue.state);
        while state.waiting.len() >= MOST_WAITING && state.failed.is_none() {
            state = self.queue.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.push_back(segment);
        self.queue.changed.notify_all();
    }

    /// Wait until all queued segments are in the database. Returns why one is not.
    pub(crate) fn wait(&self) -> Result<(), String> {
        let mut state = lock(&self.queue.state);
        while (state.busy || !state.waiting.is_empty()) && state.failed.is_none() {
            state = self.queue.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failed.clone().map_or(Ok(()), Err)
    }
}

impl Queue {
    fn next(&self) -> Option<Arc<Segment>> {
        let mut state = lock(&self.state);
        loop {
            // After a failed segment, no later one is folded.
            if let Some(segment) = state.waiting.pop_front().filter(|_| state.failed.is_none()) {
                state.busy = true;
                return Some(segment);
            }
            if state.ends {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self, failed: Option<String>) {
        let mut state = lock(&self.state);
        state.busy = false;
        state.failed = failed.or(state.failed.take());
        self.changed.notify_all();
    }
}

impl Drop for Folding {
    fn drop(&mut self) {
        lock(&self.queue.state).ends = true;
        self.queue.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread has reported its panic.
            let _ = thread.join();
        }
    }
}
