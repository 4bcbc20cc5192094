//! Executes commands on the drive, piece by piece, and cuts its power. A sector that is written in part is read
//! first and completed. Other writes and trims of the sector wait until its write is submitted, so that no two
//! commands complete it from the same old data.

use crate::clock::{Clock, TimeScale};
use crate::drive::{Cut, Drive, Stopped};
use crate::engine::command::{Command, Delivery, Fill, Held, Role, WriteCache, damage_told, failure, patch};
use crate::engine::in_flight::InFlight;
use crate::engine::outbox::Outbox;
use crate::engine::recovery::{Connections, Power, told};
use crate::engine::space::Space;
use crate::faults::{CutWhen, Due, Faults};
use crate::pieces::{Piece, Units, asked};
use crate::protocol::numbers::{NbdError, flag};
use crate::protocol::reply::{Extent, Reply};
use crate::protocol::request::{Request, Verb};
use crate::reply_queue::ReplyQueue;
use crate::session_data;
use crate::spec::ServeSpec;
use crate::statistics::Served;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use wordline_ftl::{HeldData, HostData};
use wordline_hash::SplitMix64;
use wordline_sim::Completion;
use wordline_units::{Attributes, HostOp, HostRequest, SimDuration, SimTime};

/// The drive, and the commands that it executes.
pub(crate) struct Executor {
    drive: Drive,
    space: Space,
    in_flight: InFlight,
    /// Writes that are acknowledged before they are on flash.
    cache: WriteCache,
    faults: Faults,
    power: Power,
    outbox: Outbox,
    /// Why the drive takes no more requests.
    stopped: Option<Stopped>,
}

impl Executor {
    pub(crate) fn new(drive: Drive, spec: &ServeSpec) -> Executor {
        let setup = drive.setup();
        let units = Units { sector: setup.device.sector.0, page: setup.device.unit.0 };
        let whole = setup.device.logical_bytes();
        // Whole logical pages, or the requested size.
        let size = spec.size.map_or(whole, |size| size.min(whole));
        let clock = Clock::new(spec.time_scale, Instant::now(), drive.now());
        Executor {
            space: Space::new(units, size, &drive),
            drive,
            in_flight: InFlight::default(),
            cache: WriteCache { bytes: spec.write_cache, ..WriteCache::default() },
            faults: Faults::default(),
            power: Power::new(clock, spec.recovery_scale),
            outbox: Outbox::default(),
            stopped: None,
        }
    }

    pub(crate) fn drive(&self) -> &Drive {
        &self.drive
    }

    pub(crate) fn drive_mut(&mut self) -> &mut Drive {
        &mut self.drive
    }

    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    pub(crate) fn cache(&self) -> WriteCache {
        self.cache
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(crate) fn faults_mut(&mut self) -> &mut Faults {
        &mut self.faults
    }

    pub(crate) fn power(&self) -> &Power {
        &self.power
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    pub(crate) fn outbox_mut(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// Why the drive takes no more requests.
    pub(crate) fn stopped(&self) -> Option<&Stopped> {
        self.stopped.as_ref()
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
        self.answer_at_once(reply_queue, request, arrived, (reply, true));
    }

    /// Complete a command that takes the drive no time.
    pub(crate) fn answer_at_once(
        &mut self,
        reply_queue: &Arc<ReplyQueue>,
        request: &Request,
        arrived: Instant,
        (reply, failed): (Reply, bool),
    ) {
        let verb = request.verb.unwrap_or(Verb::Disconnect);
        let due = (self.power.clock().scale() != TimeScale::NONE).then_some(arrived);
        let served =
            Served { verb, bytes: request.length, failed, arrived, modelled: SimDuration::ZERO, due };
        let reply_queue = Arc::clone(reply_queue);
        self.outbox.send(Delivery::new(reply_queue, request, reply, served, verb == Verb::Flush));
    }

    /// Which parts of a range hold data, from its start, as far as one reply can state.
    pub(crate) fn extents(&mut self, range: &Range<u64>, one: bool) -> Vec<Extent> {
        self.space.extents(&self.drive, range, one)
    }

    /// Let a request wait for the end of a recovery.
    pub(crate) fn hold(&mut self, held: Held) {
        self.in_flight.hold(held);
    }

    /// End a recovery. Returns the requests that waited for it.
    pub(crate) fn end_recovery(&mut self) -> VecDeque<Held> {
        self.power.end_recovery();
        self.in_flight.take_held()
    }

    /// Change the time scale, also for the rest of a recovery.
    pub(crate) fn set_scale(&mut self, scale: TimeScale) {
        self.power.set_scale(scale, self.drive.now());
    }

    /// Execute a command.
    pub(crate) fn execute(&mut self, command: Command) {
        let (verb, connection) = (command.verb, command.reply_queue.number);
        let id = self.in_flight.add(command);
        if verb == Verb::Flush {
            self.drive.volatile_mut().flush(id);
            if let Some(writes) = session_data::writes(&mut self.drive) {
                writes.flush(id, connection);
            }
        }
        self.go_on(id);
    }

    /// Submit the next piece of a command. End the command if no piece is left, or if one has failed.
    fn go_on(&mut self, id: u64) {
        let units = self.space.units();
        let Some(command) = self.in_flight.get_mut(id) else { return };
        // A read that will fail takes as long as any other. A command whose client has disconnected stops
        // between two pieces.
        let over = command.error.is_some() && command.verb != Verb::Read || command.reply_queue.is_closed();
        match if over { None } else { command.rest.next(units) } {
            Some(piece) => self.begin(id, piece),
            None => self.finish(id),
        }
    }

    fn begin(&mut self, id: u64, piece: Piece) {
        let sector = self.space.units().sector;
        match piece {
            Piece::Flush => self.ask(id, Role::Body, HostRequest::new(HostOp::Flush, 0, 0), HostData::NONE),
            Piece::Read(range) => {
                if let Some(command) = self.in_flight.get_mut(id) {
                    command.left = self.drive.volatile().left(range.clone(), sector);
                }
                self.ask(id, Role::Body, asked(HostOp::Read, &range), HostData::NONE);
            }
            Piece::Write(ref range) | Piece::Zero(ref range) | Piece::Trim(ref range)
                if self.in_flight.is_filling(range, sector) =>
            {
                self.in_flight.wait(id, piece);
            }
            Piece::Trim(range) => {
                let whole = range.start.next_multiple_of(sector)..range.end / sector * sector;
                self.remember(id, whole.clone(), None);
                self.note_write(id, &whole, HostData::NONE);
                let range = self.space.trim(range);
                self.ask(id, Role::Body, asked(HostOp::Trim, &range), HostData::NONE);
            }
            Piece::Write(range) => {
                let Some(command) = self.in_flight.get_mut(id) else { return };
                let data = std::mem::replace(&mut command.data, HeldData::NONE);
                self.write(id, range, data);
            }
            Piece::Zero(range) => {
                let zeroes = HeldData::Bytes(vec![0; (range.end - range.start) as usize]);
                self.write(id, range, zeroes);
            }
        }
    }

    /// Write bytes, once their partial sectors are complete.
    fn write(&mut self, id: u64, inner: Range<u64>, data: HeldData) {
        let units = self.space.units();
        let outer = units.outward(&inner);
        let awaited: Vec<u64> = units.torn(&inner).collect();
        if awaited.is_empty() {
            return self.put(id, &outer, data.data());
        }
        let fill = Fill::new(outer, inner, &Vec::from(data), awaited.clone());
        self.in_flight.begin_fill(id, &awaited, fill);
        for sector in awaited {
            let whole = sector..sector + units.sector;
            self.ask(id, Role::Fill(sector), asked(HostOp::Read, &whole), HostData::NONE);
        }
    }

    /// The read of a sector to be completed has ended, or has failed.
    fn filled(&mut self, id: u64, sector: u64) {
        let Some(fill) = self.in_flight.end_read(id, sector) else { return };
        if self.in_flight.get(id).is_some_and(|command| command.error.is_some()) {
            self.finish(id);
        } else {
            self.put(id, fill.outer(), HostData::Bytes(fill.bytes()));
        }
        for id in self.in_flight.end_fill(fill.outer()) {
            if let Some(piece) = self.in_flight.take_waiting(id) {
                self.begin(id, piece);
            }
        }
    }

    /// Put whole sectors into the volatile cache; without data they become zeroes.
    fn remember(&mut self, id: u64, range: Range<u64>, data: Option<&[u8]>) {
        let Some(command) = self.in_flight.get(id).filter(|_| range.start < range.end) else { return };
        let sector = self.space.units().sector;
        self.drive.put_volatile(command.volatile_request(id), range.start / sector..range.end / sector, data);
    }

    /// Note a write, trim or zeroing of whole sectors in the session's log of writes.
    fn note_write(&mut self, id: u64, range: &Range<u64>, data: HostData<'_>) {
        if let (Some(command), Some(writes)) = (self.in_flight.get(id), session_data::writes(&mut self.drive))
            && !range.is_empty()
        {
            writes.write(&command.volatile_request(id), range, &data.to_vec());
        }
    }

    /// Write whole sectors. A volatile cache with room acknowledges them immediately, unless FUA is set.
    /// Reads return the new data from now on.
    fn put(&mut self, id: u64, outer: &Range<u64>, data: HostData<'_>) {
        if !self.drive.volatile().is_idle() {
            self.remember(id, outer.clone(), Some(&data.to_vec()));
        }
        self.note_write(id, outer, data);
        self.space.write(outer);
        let Some(command) = self.in_flight.get(id) else { return };
        let fua = command.verb == Verb::Write && command.request.has(flag::FUA);
        let length = u64::from(command.request.length);
        let answers = command.verb == Verb::Write && !fua && self.cache.used + length <= self.cache.bytes;
        let request = asked(HostOp::Write, outer);
        let attributes = Attributes::NONE.with_fua(fua);
        self.ask(id, Role::Body, HostRequest { attributes, ..request }, data);
        if answers {
            self.answer_early(id);
        }
    }

    /// Acknowledge a write before it is on flash.
    fn answer_early(&mut self, id: u64) {
        let Some(command) = self.in_flight.get_mut(id) else { return };
        command.answered = true;
        let served = command.served(false, self.drive.now(), self.power.clock());
        let reply = Reply::done(command.reply_queue.agreed, command.request.cookie);
        let reply_queue = Arc::clone(&command.reply_queue);
        self.cache.used += u64::from(command.request.length);
        self.drive.volatile_mut().acknowledge(id);
        session_data::writes(&mut self.drive).into_iter().for_each(|writes| writes.done(id, false));
        self.outbox.send(Delivery::new(reply_queue, &command.request, reply, served, false));
        self.faults.count_write();
        self.cut_if_due();
    }

    /// Submit a request to the drive, with the arrival time of the command.
    fn ask(&mut self, id: u64, role: Role, request: HostRequest, data: HostData<'_>) {
        let Some(command) = self.in_flight.get(id) else { return };
        match self.drive.submit(request.at(command.arrival), data) {
            Ok(number) => self.in_flight.ask(number, id, role),
            Err(why) => self.stop(why),
        }
    }

    /// Process all events of the drive up to a time.
    pub(crate) fn advance(&mut self, until: SimTime) {
        if let Err(why) = self.drive.advance(until) {
            self.stop(why);
        }
    }

    /// Process the end of a request of the drive.
    pub(crate) fn ended(&mut self, mut completion: Completion) {
        let Some((id, role)) = self.in_flight.answered(completion.number) else { return };
        let sectors = self.space.units().sector;
        let Some(command) = self.in_flight.get_mut(id) else { return };
        let mut read = 0..0;
        if let Some(failed) = failure(completion.outcome) {
            command.error.get_or_insert(failed);
        } else if command.verb == Verb::Read {
            let from = (command.request.offset % sectors) as usize;
            let first = command.request.offset - from as u64;
            patch(&mut completion.data, first, &command.left, sectors);
            read = command.range();
            command.brought = Some((completion.data, from..from + command.request.length as usize));
        } else if let (Role::Fill(sector), Some(fill)) = (role, &mut command.fill) {
            let left = self.drive.volatile().left(sector..sector + 1, sectors);
            patch(&mut completion.data, sector, &left, sectors);
            fill.take(sector, &completion.data);
            read = sector..sector + 1;
        }
        if !read.is_empty()
            && let Some(at) = self.drive.damaged(&read)
        {
            command.error.get_or_insert((NbdError::Io, format!("the data at byte {at} are damaged")));
            self.outbox.note_damage(damage_told(at, self.drive.take_damage_found()));
        }
        match role {
            Role::Body => self.go_on(id),
            Role::Fill(sector) => self.filled(id, sector),
        }
    }

    /// A command has ended: send its reply, unless that has been done.
    fn finish(&mut self, id: u64) {
        let Some(command) = self.in_flight.end(id) else { return };
        let in_flight = &self.in_flight;
        self.drive.volatile_mut().done(id, |other| in_flight.get(other).is_some());
        let failed = command.error.is_some();
        session_data::writes(&mut self.drive).into_iter().for_each(|writes| writes.done(id, failed));
        if !failed && matches!(command.verb, Verb::Write | Verb::WriteZeroes | Verb::Trim) {
            self.drive.heal(&command.range());
        }
        if command.answered {
            self.cache.used = self.cache.used.saturating_sub(u64::from(command.request.length));
            if let Some((_, why)) = command.error {
                self.cache.failed_behind += 1;
                self.outbox.note([format!(
                    "a write of {} bytes at {} failed after it was acknowledged from the write cache: {why}",
                    command.request.length, command.request.offset
                )]);
            }
            return;
        }
        match command.verb {
            Verb::Flush => self.drive.volatile_mut().flushed(id, failed),
            _ if !failed => self.drive.volatile_mut().acknowledge(id),
            _ => {}
        }
        match command.verb {
            Verb::Write | Verb::WriteZeroes if !failed => self.faults.count_write(),
            Verb::Flush if !failed => self.faults.count_flush(),
            _ => {}
        }
        let served = command.served(failed, self.drive.now(), self.power.clock());
        self.outbox.send(command.into_delivery(served));
    }

    /// Stop the drive: all requests fail from now on. The first reason counts.
    pub(crate) fn stop(&mut self, why: Stopped) {
        if self.stopped.is_none() {
            self.outbox.note([format!("the drive has stopped and fails every request: {why}")]);
            self.stopped = Some(why);
        }
        self.fail_all(NbdError::Io, "the drive has stopped");
    }

    /// Outstanding requests fail, and so do those that wait for a recovery.
    pub(crate) fn fail_all(&mut self, error: NbdError, why: &str) {
        self.in_flight.forget_requests();
        for id in self.in_flight.ids() {
            if let Some(command) = self.in_flight.get_mut(id) {
                command.error = Some((error, why.to_string()));
            }
            self.finish(id);
        }
        for held in self.in_flight.take_held() {
            self.refuse(&held.reply_queue, &held.request, held.arrived, (error, why.to_string()));
        }
    }

    /// Cut the power at a moment. Returns what the cut did if that is now.
    pub(crate) fn arm(&mut self, when: CutWhen, seed: Option<u64>) -> Option<Cut> {
        let (due, seed) = match when {
            CutWhen::Now => return self.cut_now(seed, Connections::End),
            CutWhen::AfterWrites(n) => (Due::Writes(n.max(1)), seed),
            CutWhen::AfterFlushes(n) => (Due::Flushes(n.max(1)), seed),
            CutWhen::Drawn { seed: drawn, within } => {
                let after = SplitMix64::new(drawn).bits() % within.max(1);
                let now = self.power.time(Instant::now(), self.drive.now());
                (Due::At(SimTime(now.0.saturating_add(after))), seed.or(Some(drawn)))
            }
        };
        self.faults.arm(due, seed);
        None
    }

    /// Cut the power if an armed cut is due.
    pub(crate) fn cut_if_due(&mut self) {
        if let Some(armed) = self.faults.due_cut() {
            self.cut_now(armed.seed, Connections::End);
        }
    }

    /// Cut the power at its due time.
    pub(crate) fn cut_at(&mut self, at: SimTime) {
        let seed = self.faults.cut_at(at).and_then(|armed| armed.seed);
        let wall = self.power.instant(at).unwrap_or_else(Instant::now);
        self.cut(at, wall, seed, Connections::End);
    }

    /// Cut the power now.
    pub(crate) fn cut_now(&mut self, seed: Option<u64>, connections: Connections) -> Option<Cut> {
        let wall = Instant::now();
        self.cut(self.power.time(wall, self.drive.now()), wall, seed, connections)
    }

    /// Cut the power. Replies completed by now are still sent; all other requests are lost, usually with their
    /// connections. A power cut during a recovery restarts it.
    fn cut(
        &mut self,
        at: SimTime,
        wall: Instant,
        seed: Option<u64>,
        connections: Connections,
    ) -> Option<Cut> {
        self.faults.disarm_all();
        self.in_flight.forget_requests();
        self.cache.used = 0;
        if connections == Connections::End {
            self.in_flight.disconnect();
        }
        let cut = match self.drive.cut(at) {
            Ok(cut) => cut,
            Err(why) => {
                self.stop(why);
                return None;
            }
        };
        self.drive.forget_undone_trims();
        let number = self.power.cuts().len() as u64 + 1;
        self.drive.volatile_mut().cut(seed, number);
        self.space.look_anew(&self.drive);
        session_data::note_cut(&mut self.drive);
        let takes = self.power.recover(cut, wall, connections);
        self.outbox.note([told(number, cut, self.drive.volatile().cuts().last(), takes)]);
        if connections != Connections::End {
            self.fail_all(NbdError::Io, "the drive was reset");
        }
        Some(cut)
    }
}
