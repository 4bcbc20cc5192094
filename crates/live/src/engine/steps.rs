//! Executes a command piece by piece. A sector that is written in part is read first and completed. Other
//! writes and trims of the sector wait until its write is submitted, so that no two commands complete it from
//! the same old data.

use crate::engine::command::{Delivery, Fill, Role, op};
use crate::engine::core::Engine;
use crate::pieces::{Piece, asked};
use crate::protocol::numbers::{HOLE_AND_ZERO, flag};
use crate::protocol::reply::{Extent, Reply};
use crate::protocol::request::Verb;
use std::ops::Range;
use std::sync::Arc;
use wordline_ftl::{HeldData, HostData};
use wordline_units::{Attributes, HostOp, HostRequest, Lpn};
use wordline_volatile::Request;

/// Maximum number of logical pages examined for one block status. A status may cover less than requested, so
/// that other commands are not delayed.
const LOOKED_AT: u64 = 1 << 13;

/// Maximum number of extents in one block status, so that unread replies stay small.
const TOLD: usize = 1 << 12;

impl Engine {
    /// Submit the next piece of a command. End the command if no piece is left, or if one has failed.
    pub(crate) fn go_on(&mut self, id: u64) {
        let units = self.units;
        let Some(command) = self.commands.get_mut(&id) else { return };
        // A read that will fail takes as long as any other. A command whose client has disconnected stops
        // between two pieces.
        let over = command.error.is_some() && command.verb != Verb::Read || command.reply_queue.is_closed();
        match if over { None } else { command.rest.next(units) } {
            Some(piece) => self.begin(id, piece),
            None => self.finish(id),
        }
    }

    fn begin(&mut self, id: u64, piece: Piece) {
        let units = self.units;
        match piece {
            Piece::Flush => self.ask(id, Role::Body, HostRequest::new(HostOp::Flush, 0, 0), HostData::NONE),
            Piece::Read(range) => {
                let left = self.drive.volatile().left(range.clone(), self.units.sector);
                self.commands.entry(id).and_modify(|command| command.left = left);
                self.ask(id, Role::Body, asked(HostOp::Read, &range), HostData::NONE);
            }
            Piece::Write(ref range) | Piece::Zero(ref range) | Piece::Trim(ref range)
                if self.is_filling(range) =>
            {
                if let Some(command) = self.commands.get_mut(&id) {
                    command.waiting = Some(piece);
                    self.fills.waiting.push_back(id);
                }
            }
            Piece::Trim(range) => {
                let whole =
                    range.start.next_multiple_of(units.sector)..range.end / units.sector * units.sector;
                self.remember(id, whole, None);
                let range = self.part_trims.trim(range, self.size);
                self.ask(id, Role::Body, asked(HostOp::Trim, &range), HostData::NONE);
            }
            Piece::Write(range) => {
                let Some(command) = self.commands.get_mut(&id) else { return };
                let data = std::mem::replace(&mut command.data, HeldData::NONE);
                self.write(id, range, data);
            }
            Piece::Zero(range) => {
                let zeroes = HeldData::Bytes(vec![0; (range.end - range.start) as usize]);
                self.write(id, range, zeroes);
            }
        }
    }

    /// Whether a sector of a range is being completed.
    fn is_filling(&self, range: &Range<u64>) -> bool {
        self.fills.sectors.iter().any(|s| *s < range.end && range.start < *s + self.units.sector)
    }

    /// Write bytes, once their partial sectors are complete.
    fn write(&mut self, id: u64, inner: Range<u64>, data: HeldData) {
        let outer = self.units.outward(&inner);
        let awaited: Vec<u64> = self.units.torn(&inner).collect();
        if awaited.is_empty() {
            return self.put(id, &outer, data.data());
        }
        self.fills.sectors.extend(&awaited);
        if let Some(command) = self.commands.get_mut(&id) {
            command.fill = Some(Fill::new(outer, inner, &Vec::from(data), awaited.clone()));
        }
        for sector in awaited {
            let whole = sector..sector + self.units.sector;
            self.ask(id, Role::Fill(sector), asked(HostOp::Read, &whole), HostData::NONE);
        }
    }

    /// The read of a sector to be completed has ended, or has failed.
    pub(crate) fn filled(&mut self, id: u64, sector: u64) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        let Some(fill) = &mut command.fill else { return };
        if !fill.end_read(sector) {
            return;
        }
        let failed = command.error.is_some();
        let Some(fill) = command.fill.take() else { return };
        if failed {
            self.finish(id);
        } else {
            self.put(id, fill.outer(), HostData::Bytes(fill.bytes()));
        }
        self.fills.sectors.retain(|s| !fill.outer().contains(s));
        for id in std::mem::take(&mut self.fills.waiting) {
            let waiting = self.commands.get_mut(&id).and_then(|c| c.waiting.take());
            if let Some(piece) = waiting {
                self.begin(id, piece);
            }
        }
    }

    /// Put whole sectors into the volatile cache; without data they become zeroes.
    fn remember(&mut self, id: u64, range: Range<u64>, data: Option<&[u8]>) {
        let Some(command) = self.commands.get(&id).filter(|_| range.start < range.end) else { return };
        let asked = command.request;
        let request = Request {
            id,
            op: op(command.verb),
            fua: asked.has(flag::FUA),
            connection: command.reply_queue.number,
            offset: asked.offset,
            length: u64::from(asked.length),
        };
        self.drive.put_volatile(
            request,
            range.start / self.units.sector..range.end / self.units.sector,
            data,
        );
    }

    /// Write whole sectors. A volatile cache with room acknowledges them immediately, unless FUA is set.
    /// Reads return the new data from now on.
    fn put(&mut self, id: u64, outer: &Range<u64>, data: HostData<'_>) {
        if !self.drive.volatile().is_idle() {
            self.remember(id, outer.clone(), Some(&data.to_vec()));
        }
        self.part_trims.write(outer);
        self.holes.write(outer);
        let Some(command) = self.commands.get_mut(&id) else { return };
        let fua = command.verb == Verb::Write && command.request.has(flag::FUA);
        let length = u64::from(command.request.length);
        let answers = command.verb == Verb::Write && !fua && self.cache.used + length <= self.cache.bytes;
        let request = asked(HostOp::Write, outer);
        let attributes = Attributes::NONE.with_fua(fua);
        self.ask(id, Role::Body, HostRequest { attributes, ..request }, data);
        if answers {
            self.answer_early(id, length);
        }
    }

    fn answer_early(&mut self, id: u64, length: u64) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        command.answered = true;
        let Some(command) = self.commands.get(&id) else { return };
        let served = self.served(command, false);
        let reply = Reply::done(command.reply_queue.agreed, command.request.cookie);
        let delivery =
            Delivery::new(Arc::clone(&command.reply_queue), &command.request, reply, served, false);
        self.cache.used += length;
        self.drive.volatile_mut().acknowledge(id);
        self.out.push(delivery);
        self.count(Verb::Write, false);
        self.cut_if_due();
    }

    /// Submit a request to the drive, with the arrival time of the command.
    fn ask(&mut self, id: u64, role: Role, request: HostRequest, data: HostData<'_>) {
        let Some(command) = self.commands.get(&id) else { return };
        match self.drive.submit(request.at(command.arrival), data) {
            Ok(number) => {
                self.asked.insert(number, (id, role));
            }
            Err(why) => self.stop(why),
        }
    }

    /// Which parts of a range hold data, from its start, as far as one reply can state.
    pub(crate) fn extents(&mut self, range: &Range<u64>, one: bool) -> Vec<Extent> {
        let mut found: Vec<Extent> = vec![];
        let Some(device) = self.drive.device() else { return found };
        let view = device.ftl.view();
        let mut at = range.start;
        let mut left = LOOKED_AT;
        // The empty part under examination.
        let mut part: Option<Range<u64>> = None;
        while at < range.end && left > 0 {
            let hole = if self.drive.volatile().has_left() { 0 } else { self.holes.from(&(at..range.end)) };
            if hole > 0 {
                let is_all = found.len() == if one { 1 } else { TOLD };
                match found.last_mut() {
                    Some(last) if last.state == HOLE_AND_ZERO => last.length += hole as u32,
                    _ if is_all => return found,
                    _ => found.push(Extent { length: hole as u32, state: HOLE_AND_ZERO }),
                }
                at += hole;
                continue;
            }
            left -= 1;
            part = self.holes.part_at(at).or(part);
            let page = at / self.units.page;
            let held = view.sectors(Lpn(page as u32));
            let sectors = self.units.page / self.units.sector;
            for sector in (at % self.units.page) / self.units.sector..sectors {
                let end = (page * self.units.page + (sector + 1) * self.units.sector).min(range.end);
                if end <= at {
                    break;
                }
                let number = page * sectors + sector;
                let is_held = held.iter().any(|s| u64::from(s) == sector)
                    || self.drive.volatile().has_left_data(number, self.units.sector);
                let state = if is_held { 0 } else { HOLE_AND_ZERO };
                part = part.filter(|_| !is_held);
                let length = (end - at) as u32;
                let is_all = found.len() == if one { 1 } else { TOLD };
                match found.last_mut() {
                    Some(last) if last.state == state => last.length += length,
                    _ if is_all => return found,
                    _ => found.push(Extent { length, state }),
                }
                at = end;
            }
            if let Some(whole) = part.take_if(|part| part.end == at) {
                self.holes.found(&whole);
            }
        }
        found
    }
}
