//! The running drive, under one lock: requests of clients enter, time advances, and replies leave. Nothing
//! here blocks or uses a socket.

use crate::clock::TimeScale;
use crate::data::folder::Folder;
use crate::data::not_written::NotWritten;
use crate::drive::Drive;
use crate::engine::command::{Command, Delivery, Held};
use crate::engine::executor::Executor;
use crate::engine::outbox::Notes;
use crate::faults::Fault;
use crate::protocol::numbers::{NbdError, flag};
use crate::protocol::reply::Reply;
use crate::protocol::request::{Request, Verb};
use crate::reply_queue::ReplyQueue;
use crate::session::SessionLog;
use crate::spec::ServeSpec;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wordline_ftl::HeldData;
use wordline_units::SimTime;

/// How soon to look again at a drive with waiting requests but no due event: they complete as time passes.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// How long a drive that takes no time works before other threads get the lock. The clock is checked after
/// each batch of events.
const AT_ONCE: Duration = Duration::from_millis(2);
const TOGETHER: u32 = 16;

/// Number of changed pages above which changes are written to the folder although no reply waits for them.
const UNWRITTEN: usize = 256;

/// The running drive.
pub(crate) struct Engine {
    executor: Executor,
    /// The folder to which changes are written before replies are sent.
    folder: Option<Folder>,
    /// Clients cannot write to the drive.
    read_only: bool,
    /// Maximum bytes of data in RAM.
    memory: Option<u64>,
    /// A drive that takes no time has work left, because other threads were let in.
    is_behind: bool,
    /// The server ends.
    ends: bool,
    /// Why the server must end for a reason other than its drive: the folder is gone.
    gone: Option<String>,
    /// Why changes of the drive could not be written to its folder.
    unwritten: Option<String>,
    /// Until when the pacing thread sleeps, if it has the watch.
    sleeps_until: Option<Instant>,
}

impl Engine {
    pub(crate) fn new(drive: Drive, folder: Option<Folder>, spec: &ServeSpec) -> Engine {
        Engine {
            executor: Executor::new(drive, spec),
            folder,
            read_only: spec.read_only,
            memory: spec.memory,
            is_behind: false,
            ends: false,
            gone: None,
            unwritten: None,
            sleeps_until: None,
        }
    }

    /// The drive and its commands.
    pub(crate) fn executor(&self) -> &Executor {
        &self.executor
    }

    /// The drive and its commands, mutable.
    pub(crate) fn executor_mut(&mut self) -> &mut Executor {
        &mut self.executor
    }

    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// Maximum bytes of data in RAM.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Why the server must end for a reason other than its drive.
    pub(crate) fn gone(&self) -> Option<&str> {
        self.gone.as_deref()
    }

    /// Number of power cuts that have ended connections.
    pub(crate) fn epoch(&self) -> u64 {
        self.executor.power().epoch()
    }

    pub(crate) fn scale(&self) -> TimeScale {
        self.executor.power().clock().scale()
    }

    /// Whether replies or lines for the log wait to be taken.
    pub(crate) fn has_output(&self) -> bool {
        !self.executor.outbox().is_empty()
    }

    /// Take the replies, and the lines for the log.
    pub(crate) fn take_output(&mut self) -> (Vec<Delivery>, Notes) {
        self.executor.outbox_mut().take()
    }

    /// Submit a client's request, with the data of a write. Returns whether its connection still belongs to
    /// this drive.
    pub(crate) fn submit(
        &mut self,
        reply_queue: &Arc<ReplyQueue>,
        request: Request,
        data: HeldData,
        arrived: Instant,
    ) -> bool {
        if reply_queue.epoch != self.epoch() {
            return false;
        }
        if self.ends {
            let why = "the server is stopping".to_string();
            self.executor.refuse(reply_queue, &request, arrived, (NbdError::Shutdown, why));
            return true;
        }
        if !self.is_recovering(arrived) {
            self.accept(reply_queue, request, data, arrived);
            return true;
        }
        if reply_queue.epoch != self.epoch() {
            return false;
        }
        if self.executor.power().recovery().is_some_and(|recovery| recovery.fails) {
            let why = "the drive was reset, and recovers".to_string();
            self.executor.refuse(reply_queue, &request, arrived, (NbdError::Io, why));
        } else {
            self.executor.hold(Held { reply_queue: Arc::clone(reply_queue), request, data, arrived });
        }
        true
    }

    /// Accept a request, or complete it at once if it takes the drive no time.
    fn accept(&mut self, reply_queue: &Arc<ReplyQueue>, request: Request, data: HeldData, arrived: Instant) {
        let executor = &mut self.executor;
        let agreed = reply_queue.agreed;
        let space = executor.space();
        let verb = match request.check(space.size(), self.read_only, agreed) {
            Ok(verb) => verb,
            Err(refused) => return executor.refuse(reply_queue, &request, arrived, refused),
        };
        let units = space.units();
        if let Some(why) = executor.stopped().cloned() {
            return executor.refuse(reply_queue, &request, arrived, (NbdError::Io, why));
        }
        let range = request.offset..request.offset + u64::from(request.length);
        if verb == Verb::BlockStatus {
            let extents = executor.extents(&range, request.has(flag::REQ_ONE));
            let reply = Reply::extents(request.cookie, &extents);
            return executor.answer_at_once(reply_queue, &request, arrived, (reply, false));
        }
        if verb == Verb::Flush && executor.faults_mut().meets(Fault::EarlyFlush) {
            let reply = Reply::done(agreed, request.cookie);
            return executor.answer_at_once(reply_queue, &request, arrived, (reply, false));
        }
        let writes = matches!(verb, Verb::Write | Verb::WriteZeroes);
        if writes && executor.faults_mut().meets(Fault::NoSpace) {
            let why = "injected: no space".to_string();
            return executor.refuse(reply_queue, &request, arrived, (NbdError::NoSpace, why));
        }
        if request.has(flag::FAST_ZERO) && (request.has(flag::NO_HOLE) || !units.are_whole(&range)) {
            let why = "zeroing this range is no faster than writing it".to_string();
            return executor.refuse(reply_queue, &request, arrived, (NbdError::NotSupported, why));
        }
        if writes
            && let Some(most) = self.memory
            && !has_memory(executor.drive(), most, request.length)
        {
            let why = format!("the data in memory would exceed {most} bytes (--memory)");
            return executor.refuse(reply_queue, &request, arrived, (NbdError::NoSpace, why));
        }
        let arrival = executor.power().clock().arrival(arrived).unwrap_or(executor.drive().now());
        let mut command = Command::new(Arc::clone(reply_queue), request, verb, data, (arrived, arrival));
        if verb == Verb::Read && executor.faults_mut().fails(&range) {
            command.error = Some((NbdError::Io, "injected read error".to_string()));
        }
        executor.execute(command);
    }

    /// End the recovery if its time has come, and submit the requests that waited for it. Returns whether a
    /// recovery is still in progress.
    fn is_recovering(&mut self, wall: Instant) -> bool {
        while let Some(recovery) = self.executor.power().recovery() {
            let cut = self.executor.faults().next_cut();
            if let Some(at) = cut.filter(|at| *at < recovery.ready && *at <= recovery.time(wall)) {
                self.executor.cut_at(at);
                continue;
            }
            if wall < recovery.until {
                return true;
            }
            for held in self.executor.end_recovery() {
                self.accept(&held.reply_queue, held.request, held.data, held.arrived);
            }
        }
        false
    }

    /// Advance time to an instant, and complete the requests due until then. Returns whether the power was cut
    /// meanwhile.
    pub(crate) fn pump(&mut self, wall: Instant) -> bool {
        let cuts = self.epoch();
        if self.is_recovering(wall) {
            self.commit();
            return cuts != self.epoch();
        }
        let executor = &mut self.executor;
        let until = executor.power().clock().drive_time(wall);
        let mut ended = 0u32;
        self.is_behind = false;
        loop {
            let cut_at = executor.faults().next_cut();
            let target = until.unwrap_or(SimTime::NEVER).min(cut_at.unwrap_or(SimTime::NEVER));
            if executor.stopped().is_some() || until.is_none() && !executor.in_flight().has_requests() {
                break;
            }
            // If the drive takes no time, one client may submit much: let other threads run in between.
            ended += 1;
            if until.is_none() && ended.is_multiple_of(TOGETHER) && wall.elapsed() > AT_ONCE {
                self.is_behind = true;
                break;
            }
            match executor.drive_mut().next(target) {
                Ok(Some(completion)) => {
                    executor.ended(completion);
                    executor.cut_if_due();
                }
                Ok(None) if cut_at == Some(target) => {
                    executor.advance(target);
                    executor.cut_at(target);
                }
                Ok(None) if until == Some(target) => {
                    executor.advance(target);
                    break;
                }
                Ok(None) => break,
                Err(why) => executor.stop(why),
            }
            if executor.power().recovery().is_some() {
                break;
            }
        }
        self.commit();
        let failure = self.executor.drive_mut().session().and_then(SessionLog::failure);
        self.executor.outbox_mut().note(failure);
        cuts != self.epoch()
    }

    /// Let another thread complete the requests of a drive that takes no time.
    pub(crate) fn leave_work(&mut self) {
        self.is_behind |= self.executor.in_flight().has_requests();
    }

    /// The folder, unless the drive has stopped.
    fn working_folder(&mut self) -> Option<(&mut Executor, &mut Folder)> {
        let is_working = self.executor.stopped().is_none();
        self.folder.as_mut().filter(|_| is_working).map(|folder| (&mut self.executor, folder))
    }

    /// Check that the folder still exists, and write the session's events to its files. Without the folder, the
    /// server ends.
    pub(crate) fn look_at_files(&mut self) {
        self.executor.drive_mut().session().into_iter().for_each(SessionLog::write_out);
        if let Some(Err(failed)) = self.working_folder().map(|(_, folder)| folder.look()) {
            self.fail(failed);
        }
    }

    /// Stop the drive, because its changes cannot be written.
    pub(crate) fn fail(&mut self, failed: NotWritten) {
        if failed.is_gone {
            self.gone = Some(failed.why.clone());
        }
        self.unwritten.get_or_insert(failed.why.clone());
        self.executor.stop(failed.why);
    }

    /// Why changes of the drive could not be written.
    pub(crate) fn unwritten(&self) -> Option<&str> {
        self.unwritten.as_deref()
    }

    /// Commit the changes of the drive to its folder, if it has one. If that fails, nothing since the last commit is
    /// acknowledged, and the drive stops in the committed state.
    fn commit(&mut self) {
        let Some((executor, folder)) = self.working_folder() else { return };
        let waits = executor.outbox().has_promise() || executor.drive().is_unwritten();
        if !waits && executor.drive().unwritten() < UNWRITTEN {
            return;
        }
        let Err(failed) = executor.drive_mut().commit(folder) else { return };
        executor.outbox_mut().fail_promises(&failed);
        self.fail(failed);
    }

    /// The drive is idle: its folder is consistent from here on.
    pub(crate) fn close(&mut self) {
        let Some((executor, folder)) = self.working_folder() else { return };
        if let Err(failed) = executor.drive_mut().close(folder) {
            self.fail(failed);
        }
    }

    /// The server ends: all requests fail from now on.
    pub(crate) fn end(&mut self) {
        self.ends = true;
        self.executor.fail_all(NbdError::Shutdown, "the server is stopping");
    }

    /// When the next event is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let executor = &self.executor;
        let (power, next_cut) = (executor.power(), executor.faults().next_cut());
        if let Some(due) = power.recovery_due(next_cut) {
            return Some(due);
        }
        let is_working = executor.stopped().is_none();
        if self.is_behind && is_working {
            return Some(Instant::now());
        }
        let event = executor.drive().device().filter(|_| is_working).and_then(|d| d.next_event());
        let due = event.into_iter().chain(next_cut).min().and_then(|at| power.clock().instant(at));
        let waits = due.is_none() && executor.in_flight().has_requests() && is_working;
        if waits && self.scale() != TimeScale::NONE { Some(Instant::now() + LOOK_AGAIN) } else { due }
    }

    /// The pacing thread sleeps until the next event is due. Returns when that is.
    pub(crate) fn sleep_until_due(&mut self) -> Option<Instant> {
        self.sleeps_until = self.next_due();
        self.sleeps_until
    }

    /// The pacing thread has the watch, and an event is due at an instant. Returns whether the thread must wake up
    /// for it.
    pub(crate) fn wakes_sooner(&mut self, due: Option<Instant>) -> bool {
        let is_sooner = due.is_some_and(|due| self.sleeps_until.is_none_or(|until| due < until));
        if is_sooner {
            self.sleeps_until = due;
        }
        is_sooner
    }

    /// Another thread has the watch.
    pub(crate) fn end_sleep(&mut self) {
        self.sleeps_until = None;
    }
}

/// Whether a write of this length fits into a maximum number of bytes in RAM. Memory that is kept for later writes makes room
/// for it.
fn has_memory(drive: &Drive, most: u64, length: u32) -> bool {
    let left = most.checked_sub(drive.bytes_in_ram() + u64::from(length));
    left.inspect(|left| drive.page_memory().keep_at_most(*left)).is_some()
}
