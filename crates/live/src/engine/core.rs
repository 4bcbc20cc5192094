//! The running drive, under one lock: requests of clients enter, time advances, and replies leave. Nothing
//! here blocks or uses a socket.

use crate::clock::{Clock, TimeScale};
use crate::data::folder::Folder;
use crate::data::not_written::NotWritten;
use crate::drive::{Drive, Stopped, has_memory};
use crate::engine::command::{Command, Delivery, Fills, Held, Notes, Role, WriteCache, damage_told, patch};
use crate::engine::recovery::Power;
use crate::faults::{Due, Fault, Faults};
use crate::holes::Holes;
use crate::parts::PartTrims;
use crate::pieces::{Rest, Units};
use crate::protocol::numbers::{NbdError, flag};
use crate::protocol::reply::Reply;
use crate::protocol::request::{Request, Verb};
use crate::reply_queue::ReplyQueue;
use crate::spec::ServeSpec;
use crate::statistics::Served;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wordline_ftl::{HeldData, Outcome};
use wordline_run::Filled;
use wordline_sim::Completion;
use wordline_units::{SimDuration, SimTime};

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
    pub drive: Drive,
    pub clock: Clock,
    pub units: Units,
    /// The folder to which changes are written before replies are sent.
    pub folder: Option<Folder>,
    /// Size of the drive in bytes.
    pub size: u64,
    /// Clients cannot write to the drive.
    pub read_only: bool,
    /// Maximum bytes of data in RAM.
    pub memory: Option<u64>,
    pub commands: FxHashMap<u64, Command>,
    pub next_command: u64,
    /// The command and the purpose of each request of the drive, by request number.
    pub asked: FxHashMap<u64, (u64, Role)>,
    /// Sectors that are being completed, by their first byte, and the commands that wait for them.
    pub fills: Fills,
    pub faults: Faults,
    /// Writes that are acknowledged before they are on flash.
    pub cache: WriteCache,
    pub power: Power,
    /// Requests that wait for the end of a recovery.
    pub held: VecDeque<Held>,
    pub part_trims: PartTrims,
    pub holes: Holes,
    /// Why the drive takes no more requests.
    pub stopped: Option<Stopped>,
    pub out: Vec<Delivery>,
    /// Lines for the log.
    pub notes: Notes,
    /// Until when the pacing thread sleeps, if it has the watch.
    pub sleeps_until: Option<Instant>,
}

impl Engine {
    pub(crate) fn new(drive: Drive, folder: Option<Folder>, spec: &ServeSpec) -> Engine {
        let setup = drive.setup();
        let units = Units { sector: setup.device.sector.0, page: setup.device.unit.0 };
        let size = served_bytes(&drive, spec);
        let is_empty = setup.initial.filled == Filled::Fresh && folder.is_none() && drive.written() == 0;
        Engine {
            clock: Clock::new(spec.time_scale, Instant::now(), drive.now()),
            drive,
            units,
            folder,
            size,
            read_only: spec.read_only,
            memory: spec.memory,
            commands: FxHashMap::default(),
            next_command: 0,
            asked: FxHashMap::default(),
            fills: Fills::default(),
            faults: Faults::default(),
            cache: WriteCache { bytes: spec.write_cache, ..WriteCache::default() },
            power: Power::new(spec.recovery_scale),
            held: VecDeque::new(),
            part_trims: PartTrims::new(units.sector, units.page),
            holes: Holes::new(size, units.page, is_empty),
            stopped: None,
            out: vec![],
            notes: Notes::default(),
            sleeps_until: None,
        }
    }

    /// Number of power cuts that have ended connections.
    pub(crate) fn epoch(&self) -> u64 {
        self.power.cuts.len() as u64 - self.power.resets
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
        if self.power.ends {
            self.refuse(
                reply_queue,
                &request,
                arrived,
                (NbdError::Shutdown, "the server is stopping".to_string()),
            );
            return true;
        }
        if !self.is_recovering(arrived) {
            self.accept(reply_queue, request, data, arrived);
            return true;
        }
        if reply_queue.epoch != self.epoch() {
            return false;
        }
        if self.power.recovery.is_some_and(|recovery| recovery.fails) {
            let why = "the drive was reset, and recovers".to_string();
            self.refuse(reply_queue, &request, arrived, (NbdError::Io, why));
        } else {
            self.held.push_back(Held { reply_queue: Arc::clone(reply_queue), request, data, arrived });
        }
        true
    }

    /// Refuse a request.
    pub(crate) fn refuse(
        &mut self,
        reply_queue: &Arc<ReplyQueue>,
        request: &Request,
        arrived: Instant,
        (error, why): (NbdError, String),
    ) {
        let reply = Reply::error(reply_queue.agreed, request.cookie, error, &why);
        self.answer_at_once(reply_queue, request, arrived, reply, true);
    }

    /// Accept a request, or complete it at once if it takes the drive no time.
    pub(crate) fn accept(
        &mut self,
        reply_queue: &Arc<ReplyQueue>,
        request: Request,
        data: HeldData,
        arrived: Instant,
    ) {
        let agreed = reply_queue.agreed;
        let verb = match request.check(self.size, self.read_only, agreed) {
            Ok(verb) => verb,
            Err(refused) => return self.refuse(reply_queue, &request, arrived, refused),
        };
        if let Some(why) = self.stopped.clone() {
            return self.refuse(reply_queue, &request, arrived, (NbdError::Io, why));
        }
        let range = request.offset..request.offset + u64::from(request.length);
        if verb == Verb::BlockStatus {
            let extents = self.extents(&range, request.has(flag::REQ_ONE));
            self.answer_at_once(
                reply_queue,
                &request,
                arrived,
                Reply::extents(request.cookie, &extents),
                false,
            );
            return;
        }
        if verb == Verb::Flush && self.faults.meets(Fault::EarlyFlush) {
            self.answer_at_once(reply_queue, &request, arrived, Reply::done(agreed, request.cookie), false);
            return;
        }
        if matches!(verb, Verb::Write | Verb::WriteZeroes) && self.faults.meets(Fault::NoSpace) {
            let why = "injected: no space".to_string();
            return self.refuse(reply_queue, &request, arrived, (NbdError::NoSpace, why));
        }
        if request.has(flag::FAST_ZERO) && (request.has(flag::NO_HOLE) || !self.units.are_whole(&range)) {
            let why = "zeroing this range is no faster than writing it".to_string();
            return self.refuse(reply_queue, &request, arrived, (NbdError::NotSupported, why));
        }
        if matches!(verb, Verb::Write | Verb::WriteZeroes)
            && let Some(most) = self.memory
            && !has_memory(&self.drive, most, request.length)
        {
            let why = format!("the data in memory would exceed {most} bytes (--memory)");
            return self.refuse(reply_queue, &request, arrived, (NbdError::NoSpace, why));
        }
        let error = (verb == Verb::Read && self.faults.fails(&range))
            .then(|| (NbdError::Io, "injected read error".to_string()));
        let arrival = self.clock.arrival(arrived).unwrap_or(self.drive.now());
        let rest = Rest::new(verb, range, request.has(flag::NO_HOLE), request.has(flag::FUA));
        let id = self.next_command;
        self.next_command += 1;
        let command = Command {
            reply_queue: Arc::clone(reply_queue),
            request,
            verb,
            data,
            arrived,
            arrival,
            rest,
            waiting: None,
            fill: None,
            left: vec![],
            brought: None,
            error,
            answered: false,
        };
        self.commands.insert(id, command);
        if verb == Verb::Flush {
            self.drive.volatile_mut().flush(id);
        }
        self.go_on(id);
    }

    /// Complete a command that takes the drive no time.
    fn answer_at_once(
        &mut self,
        reply_queue: &Arc<ReplyQueue>,
        request: &Request,
        arrived: Instant,
        reply: Reply,
        failed: bool,
    ) {
        let verb = request.verb.unwrap_or(Verb::Disconnect);
        let due = (self.clock.scale() != TimeScale::NONE).then_some(arrived);
        let served =
            Served { verb, bytes: request.length, failed, arrived, modelled: SimDuration::ZERO, due };
        let reply_queue = Arc::clone(reply_queue);
        self.out.push(Delivery::new(reply_queue, request, reply, served, verb == Verb::Flush));
    }

    /// Advance time to an instant, and complete the requests due until then. Returns whether the power was cut
    /// meanwhile.
    pub(crate) fn pump(&mut self, wall: Instant) -> bool {
        let cuts = self.epoch();
        if self.is_recovering(wall) {
            self.commit();
            return cuts != self.epoch();
        }
        let until = self.clock.drive_time(wall);
        let mut ended = 0u32;
        self.power.is_behind = false;
        loop {
            let cut_at = self.power.next_cut();
            let target = until.unwrap_or(SimTime::NEVER).min(cut_at.unwrap_or(SimTime::NEVER));
            if self.stopped.is_some() || until.is_none() && self.asked.is_empty() {
                break;
            }
            // If the drive takes no time, one client may submit much: let other threads run in between.
            ended += 1;
            if until.is_none() && ended.is_multiple_of(TOGETHER) && wall.elapsed() > AT_ONCE {
                self.power.is_behind = true;
                break;
            }
            match self.drive.next(target) {
                Ok(Some(completion)) => {
                    self.ended(completion);
                    self.cut_if_due();
                    if self.power.recovery.is_some() {
                        break;
                    }
                }
                Ok(None) if cut_at == Some(target) => {
                    if let Err(why) = self.drive.advance(target) {
                        self.stop(why);
                    }
                    self.cut_at(target);
                    if self.power.recovery.is_some() {
                        break;
                    }
                }
                Ok(None) if until == Some(target) => {
                    if let Err(why) = self.drive.advance(target) {
                        self.stop(why);
                    }
                    break;
                }
                Ok(None) => break,
                Err(why) => self.stop(why),
            }
        }
        self.commit();
        self.notes.lines.extend(self.drive.session_failure());
        cuts != self.epoch()
    }

    /// Check that the folder still exists. If not, the server ends.
    pub(crate) fn look_at_folder(&mut self) {
        let folder = self.folder.as_mut().filter(|_| self.stopped.is_none());
        if let Some(Err(failed)) = folder.map(Folder::look) {
            self.fail(failed);
        }
    }

    /// Stop the drive, because its changes cannot be written.
    pub(crate) fn fail(&mut self, failed: NotWritten) {
        if failed.is_gone {
            self.power.gone = Some(failed.why.clone());
        }
        self.stop(failed.why);
    }

    /// Commit the changes of the drive to its folder, if it has one. If that fails, nothing since the last commit is
    /// acknowledged, and the drive stops in the committed state.
    fn commit(&mut self) {
        let Some(folder) = self.folder.as_mut().filter(|_| self.stopped.is_none()) else { return };
        let waits = self.out.iter().any(Delivery::is_promise) || self.drive.is_unwritten();
        if !waits && self.drive.unwritten() < UNWRITTEN {
            return;
        }
        let Err(failed) = self.drive.commit(folder) else { return };
        self.out.iter_mut().for_each(|delivery| delivery.fail(&failed));
        self.fail(failed);
    }

    /// The drive is idle: its folder is consistent from here on.
    pub(crate) fn close(&mut self) {
        let Some(folder) = self.folder.as_mut().filter(|_| self.stopped.is_none()) else { return };
        if let Err(NotWritten { why, .. }) = self.drive.close(folder) {
            self.stop(why);
        }
    }

    /// When the next event is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        if let Some(due) = self.power.recovery_due() {
            return Some(due);
        }
        if self.power.is_behind && self.stopped.is_none() {
            return Some(Instant::now());
        }
        let event = self.drive.device().filter(|_| self.stopped.is_none()).and_then(|d| d.next_event());
        let due = event.into_iter().chain(self.power.next_cut()).min().and_then(|at| self.clock.instant(at));
        let waits = due.is_none() && !self.asked.is_empty() && self.stopped.is_none();
        if waits && self.clock.scale() != TimeScale::NONE { Some(Instant::now() + LOOK_AGAIN) } else { due }
    }

    /// Process the end of a request of the drive.
    fn ended(&mut self, mut completion: Completion) {
        let Some((id, role)) = self.asked.remove(&completion.number) else { return };
        let failed = match completion.outcome {
            Outcome::Done => None,
            Outcome::Uncorrectable => Some((NbdError::Io, "uncorrectable read error".to_string())),
            Outcome::OutOfSpace => Some((NbdError::NoSpace, "the drive is full".to_string())),
            Outcome::WornOut => Some((NbdError::NoSpace, "too many blocks are worn out".to_string())),
        };
        let Some(command) = self.commands.get_mut(&id) else { return };
        let mut read = 0..0;
        if let Some(failed) = failed {
            command.error.get_or_insert(failed);
        } else if command.verb == Verb::Read {
            let from = (command.request.offset % self.units.sector) as usize;
            let first = command.request.offset - from as u64;
            patch(&mut completion.data, first, &command.left, self.units.sector);
            read = command.request.offset..command.request.offset + u64::from(command.request.length);
            command.brought = Some((completion.data, from..from + command.request.length as usize));
        } else if let (Role::Fill(sector), Some(fill)) = (role, &mut command.fill) {
            let left = self.drive.volatile().left(sector..sector + 1, self.units.sector);
            patch(&mut completion.data, sector, &left, self.units.sector);
            fill.take(sector, &completion.data);
            read = sector..sector + 1;
        }
        if !read.is_empty()
            && let Some(at) = self.drive.damaged(&read)
        {
            command.error.get_or_insert((NbdError::Io, format!("the data at byte {at} are damaged")));
            self.notes.of_damage.extend(damage_told(at, self.drive.take_damage_found()));
        }
        match role {
            Role::Body => self.go_on(id),
            Role::Fill(sector) => self.filled(id, sector),
        }
    }

    /// A command has ended: send its reply, unless that has been done.
    pub(crate) fn finish(&mut self, id: u64) {
        let Some(command) = self.commands.remove(&id) else { return };
        let commands = &self.commands;
        self.drive.volatile_mut().done(id, |other| commands.contains_key(&other));
        if command.error.is_none() && matches!(command.verb, Verb::Write | Verb::WriteZeroes | Verb::Trim) {
            let request = command.request;
            self.drive.heal(&(request.offset..request.offset + u64::from(request.length)));
        }
        if command.answered {
            self.cache.used = self.cache.used.saturating_sub(u64::from(command.request.length));
            if let Some((_, why)) = command.error {
                self.cache.failed_behind += 1;
                self.notes.lines.push(format!(
                    "a write of {} bytes at {} failed after it was acknowledged from the write cache: {why}",
                    command.request.length, command.request.offset
                ));
            }
            return;
        }
        let failed = command.error.is_some();
        match command.verb {
            Verb::Flush => self.drive.volatile_mut().flushed(id, failed),
            _ if !failed => self.drive.volatile_mut().acknowledge(id),
            _ => {}
        }
        self.answer(command);
    }

    /// Complete a command now, in the drive's time.
    pub(crate) fn answer(&mut self, mut command: Command) {
        let (agreed, request) = (command.reply_queue.agreed, command.request);
        let failed = command.error.is_some();
        let reply = match (command.error.take(), command.brought.take()) {
            (Some((error, why)), _) => Reply::error(agreed, request.cookie, error, &why),
            (None, Some((body, asked))) => Reply::data(agreed, request.cookie, request.offset, body, asked),
            (None, None) => Reply::done(agreed, request.cookie),
        };
        let served = self.served(&command, failed);
        let synced = command.verb == Verb::Flush || request.has(flag::FUA);
        self.out.push(Delivery::new(command.reply_queue, &request, reply, served, synced));
        self.count(command.verb, failed);
    }

    /// Record the latency of a command that ends now, in the drive's time.
    pub(crate) fn served(&self, command: &Command, failed: bool) -> Served {
        let now = self.drive.now();
        Served {
            verb: command.verb,
            bytes: command.request.length,
            failed,
            arrived: command.arrived,
            modelled: self.clock.scale().told(now.since(command.arrival.min(now))),
            due: self.clock.instant(now.max(command.arrival)),
        }
    }

    /// Count a reply towards an armed power cut.
    pub(crate) fn count(&mut self, verb: Verb, failed: bool) {
        for armed in &mut self.power.armed {
            match (&mut armed.due, verb) {
                (Due::Writes(left), Verb::Write | Verb::WriteZeroes) | (Due::Flushes(left), Verb::Flush)
                    if !failed =>
                {
                    *left = left.saturating_sub(1);
                }
                _ => {}
            }
        }
    }

    /// Stop the drive: all requests fail from now on.
    pub(crate) fn stop(&mut self, why: Stopped) {
        self.notes.lines.push(format!("the drive has stopped and fails every request: {why}"));
        self.stopped = Some(why);
        self.fail_all(NbdError::Io, "the drive has stopped");
    }

    /// No request of the drive will complete any more.
    pub(crate) fn forget_requests(&mut self) {
        self.asked.clear();
        self.fills.sectors.clear();
        self.fills.waiting.clear();
    }
}

/// Size of the export: whole logical pages, or the requested size.
fn served_bytes(drive: &Drive, spec: &ServeSpec) -> u64 {
    let whole = drive.setup().device.logical_bytes();
    spec.size.map_or(whole, |size| size.min(whole))
}
