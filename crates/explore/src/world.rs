//! A running drive without a clock: its pending events, the events that may happen next, and their effects.

use crate::drive::Drive;
use crate::media::Versions;
use serde::{Deserialize, Serialize};
use wordline_ftl::drive::{self, Driver, Waiting};
use wordline_ftl::{
    Binding, Class, Ftl, HostData, Loader, MapKind, OpId, OpKind, Outcome, QueueEntry, RequestId, Saved,
    Saver, Scheme, StateFile, Timer, saved_fields,
};
use wordline_units::{HostOp, HostRequest, Lpn, PlaneId, Ppn, SimTime};

/// An event that may happen next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A plane starts the first operation of its queue.
    Begin(u8),
    /// A plane's operation ends.
    End(u8),
    /// A timer is due, by its position among those that are set.
    Ring(u8),
    /// The drive has had no request for long.
    Idle,
    /// Nothing else is pending: operations that wait for space are released, redirected or abandoned.
    LastResort,
    /// The host writes a page, whole or its first sector.
    Write(u8),
    /// The host writes the first sector of a page.
    WritePart(u8),
    /// The host reads a page.
    Read(u8),
    /// The host trims a page.
    Trim(u8),
    /// The host issues a FLUSH.
    Flush,
}

impl Event {
    /// Whether it is an event of the host.
    pub fn is_of_host(self) -> bool {
        matches!(self, Event::Write(_) | Event::WritePart(_) | Event::Read(_) | Event::Trim(_) | Event::Flush)
    }
}

/// A request that the drive has not answered.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    number: u8,
    request: HostRequest,
    /// The version that a read must return.
    expected: u64,
}

/// Operations in the device, and the host's knowledge.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Pending {
    /// By plane and class, in order of arrival.
    pub queues: Vec<[Vec<OpId>; Class::COUNT]>,
    pub current: Vec<Option<OpId>>,
    /// Programs that found no slot, and requests blocked by a full buffer.
    pub waiting: Waiting,
    pub timers: Vec<Timer>,
    asked: Vec<Asked>,
    idle: bool,
    /// Remaining requests of the host, if limited.
    left: u16,
    /// Version of the newest write of each page; 0 if trimmed.
    newest: Vec<u64>,
}

/// Requests that the host may issue, and how many in parallel.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Pages that are written.
    pub writes: Vec<u8>,
    /// Pages of which the first sector is written.
    pub parts: Vec<u8>,
    /// Pages that are read.
    pub reads: Vec<u8>,
    /// Pages that are trimmed.
    pub trims: Vec<u8>,
    /// Whether it flushes.
    pub flushes: bool,
    /// Number of parallel requests.
    pub at_once: usize,
    /// Total number of requests, for schemes whose state grows without bound.
    pub in_all: Option<u16>,
}

/// A drive and its pending events.
pub struct World {
    ftl: Ftl,
    pending: Pending,
    drive: Drive,
    host: Host,
    /// Whether the version identifies the data of each read.
    checks_reads: bool,
    /// Requests completed since the last event started.
    ended: u32,
    wrong: Option<String>,
}

impl Saved for World {
    saved_fields! { World,
        values: [pending],
        parts: [ftl],
        rebuilt: [drive, host, checks_reads, ended, wrong],
    }
}

impl World {
    /// A fresh drive.
    ///
    /// # Errors
    /// When the scheme refuses it.
    pub fn new(drive: &Drive, scheme: Box<dyn Scheme>, host: Host) -> Result<World, String> {
        let ftl = drive.layer(scheme).map_err(|e| e.to_string())?;
        let planes = drive.geometry.planes as usize;
        let checks_reads = ftl.layout().map == MapKind::Page && drive.geometry.sectors_per_unit == 1;
        let pending = Pending {
            queues: vec![Default::default(); planes],
            current: vec![None; planes],
            waiting: Waiting::new(drive.geometry.planes),
            newest: vec![0; drive.logical_pages() as usize],
            ..Pending::default()
        };
        Ok(World { ftl, pending, drive: drive.clone(), host, checks_reads, ended: 0, wrong: None })
    }

    /// The translation layer.
    pub fn ftl(&mut self) -> &mut Ftl {
        &mut self.ftl
    }

    /// Its events that have begun or wait.
    pub(crate) fn pending(&self) -> &Pending {
        &self.pending
    }

    pub(crate) fn drive(&self) -> &Drive {
        &self.drive
    }

    /// Write all pages once, each to flash before the next, as far as they fit.
    ///
    /// # Errors
    /// When a page does not fit.
    pub fn fill(&mut self) -> Result<(), String> {
        for lpn in 0..self.drive.logical_pages() {
            self.happen(Event::Write(lpn as u8))?;
            self.come_to_rest()?;
        }
        self.pending.left = self.host.in_all.unwrap_or(0);
        Ok(())
    }

    /// Process pending events in order of arrival, until none is left.
    ///
    /// # Errors
    /// The first fault.
    pub fn come_to_rest(&mut self) -> Result<(), String> {
        for _ in 0..10_000 {
            let mut events = vec![];
            self.events(&mut events);
            match events.into_iter().find(|e| !e.is_of_host() && *e != Event::Idle) {
                Some(Event::LastResort) if !self.is_asked() => return Ok(()),
                Some(event) => _ = self.happen(event)?,
                None => return Ok(()),
            }
        }
        Err("the drive never becomes idle while it is filled".into())
    }

    /// Whether requests are outstanding.
    pub fn is_asked(&self) -> bool {
        !self.pending.asked.is_empty()
    }

    /// Events that may happen next.
    pub fn events(&self, out: &mut Vec<Event>) {
        out.clear();
        for plane in 0..self.drive.geometry.planes {
            match self.pending.current[plane as usize] {
                Some(_) => out.push(Event::End(plane as u8)),
                None if self.first(plane).is_some() => out.push(Event::Begin(plane as u8)),
                None => {}
            }
        }
        out.extend((0..self.pending.timers.len() as u8).map(Event::Ring));
        if !self.is_asked() && self.ftl.inspect().works_when_idle() && !self.pending.idle {
            out.push(Event::Idle);
        }
        if out.is_empty()
            && (self.pending.waiting.programs().next().is_some()
                || self.is_asked()
                || self.ftl.inspect().holds_a_die())
        {
            out.push(Event::LastResort);
        }
        let may = self.host.in_all.is_none() || self.pending.left > 0;
        if self.pending.asked.len() < self.host.at_once && may {
            out.extend(self.host.writes.iter().map(|lpn| Event::Write(*lpn)));
            out.extend(self.host.parts.iter().map(|lpn| Event::WritePart(*lpn)));
            out.extend(self.host.reads.iter().map(|lpn| Event::Read(*lpn)));
            out.extend(self.host.trims.iter().map(|lpn| Event::Trim(*lpn)));
            if self.host.flushes {
                out.push(Event::Flush);
            }
        }
    }

    /// The operation that a plane would begin.
    pub(crate) fn first(&self, plane: u32) -> Option<(usize, OpId)> {
        let held = self.ftl.is_held(self.drive.geometry.die_of(PlaneId(plane)));
        let classes = if held { 1 } else { Class::COUNT };
        let queues = &self.pending.queues[plane as usize][..classes];
        queues.iter().enumerate().find_map(|(class, queue)| Some((class, *queue.first()?)))
    }

    /// Something happens. Returns the number of completed requests, and whether that changed anything.
    ///
    /// # Errors
    /// The first fault.
    pub fn happen(&mut self, event: Event) -> Result<u32, String> {
        self.ended = 0;
        match event {
            Event::Begin(plane) => self.begin(u32::from(plane)),
            Event::End(plane) => self.end(u32::from(plane)),
            Event::Ring(at) => self.ring(at as usize),
            Event::Idle => {
                self.pending.idle = true;
                drive::ask_all_idle(self);
            }
            Event::LastResort => {
                if !drive::last_resort(self, self.is_asked()) && self.is_asked() {
                    return Err("deadlock: requests wait, and no event is pending".into());
                }
            }
            _ => self.ask(event),
        }
        self.verify()?;
        Ok(self.ended)
    }

    fn verify(&mut self) -> Result<(), String> {
        if let Some(fault) = self.ftl.fault() {
            return Err(fault.to_string());
        }
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        self.ftl.tables().check().map_err(|e| e.to_string())
    }

    fn ask(&mut self, event: Event) {
        let sectors = self.drive.geometry.sectors_per_unit;
        let per_unit = (self.drive.spec.unit.0 / 512) as u32;
        let of = |op, lpn: u8, blocks| HostRequest::new(op, u64::from(lpn) * u64::from(per_unit), blocks);
        let request = match event {
            Event::Write(lpn) => of(HostOp::Write, lpn, per_unit),
            Event::WritePart(lpn) => of(HostOp::Write, lpn, per_unit / sectors),
            Event::Read(lpn) => of(HostOp::Read, lpn, per_unit),
            Event::Trim(lpn) => of(HostOp::Trim, lpn, per_unit),
            _ => HostRequest::new(HostOp::Flush, 0, 0),
        };
        let taken = |number: &u8| self.pending.asked.iter().all(|asked| asked.number != *number);
        let number = (0..=u8::MAX).find(taken).unwrap_or_default();
        let asked = Asked { number, request, expected: 0 };
        self.pending.asked.push(asked);
        self.pending.left = self.pending.left.saturating_sub(1);
        self.pending.idle = false;
        drive::submit(self, request, u64::from(number), HostData::NONE);
        drive::settle(self);
    }

    fn page_of(&self, request: &HostRequest) -> usize {
        (request.lba.0 / (self.drive.spec.unit.0 / 512)) as usize
    }

    /// Free space in addition to valid data, in words.
    fn room(&mut self) -> String {
        let mapped = self.ftl.view().mapped();
        format!("{mapped} pages are mapped of {}", self.drive.logical_pages())
    }

    fn begin(&mut self, plane: u32) {
        let Some((class, id)) = self.first(plane) else { return };
        self.pending.queues[plane as usize][class].remove(0);
        if self.ftl.op(id).kind != OpKind::Program || drive::bind(self, id) == Binding::Bound {
            self.pending.current[plane as usize] = Some(id);
            self.ftl.begin_on_array(id);
        }
        drive::settle(self);
    }

    fn end(&mut self, plane: u32) {
        let Some(id) = self.pending.current[plane as usize].take() else { return };
        if self.checks_reads {
            self.check_read(id);
        }
        let die = self.drive.geometry.die_of(PlaneId(plane));
        self.pending.current[plane as usize] = drive::end(self, id, die).map(|next| next.op);
        drive::settle(self);
    }

    /// A host read has ended: check the version that it returned.
    fn check_read(&mut self, id: OpId) {
        let Some(request) = self.ftl.request_of(id) else { return };
        let pending = self.ftl.pending(request);
        let request = (pending.request.op, pending.number);
        if request.0 != HostOp::Read || self.ftl.op(id).kind != OpKind::Read {
            return;
        }
        let (ppn, lpn) = (self.ftl.op(id).ppn, self.ftl.operation(id).lpn());
        let found = self.ftl.media().as_deref().map_or(0, |media| media.version(ppn, lpn));
        let asked = self.pending.asked.iter().find(|asked| u64::from(asked.number) == request.1);
        if let Some(asked) = asked.filter(|asked| asked.expected != found) {
            let wrong = format!("page {lpn} is read with version {found}, not {}", asked.expected);
            self.wrong.get_or_insert(wrong);
        }
    }

    fn ring(&mut self, at: usize) {
        let timer = self.pending.timers.remove(at);
        // Long after it was set, for those that look at the time; then time stands still again.
        self.ftl.at(SimTime(1 << 50));
        drive::ring(self, timer);
        self.ftl.at(SimTime(0));
        drive::release_idle_dies(self);
    }

    /// The state as bytes, without its history.
    pub fn pack(&mut self) -> Vec<u8> {
        let reading = |ftl: &Ftl, id: &OpId| (ftl.op(*id).kind == OpKind::Read).then(|| ftl.op(*id).ppn);
        let mut read: Vec<Ppn> = vec![];
        for queue in self.pending.queues.iter().flatten() {
            read.extend(queue.iter().filter_map(|id| reading(&self.ftl, id)));
        }
        read.extend(self.pending.current.iter().flatten().filter_map(|id| reading(&self.ftl, id)));
        let view = self.ftl.view();
        let mut stored = self.ftl.media().get().map_or_else(|_| Versions::default(), Versions::clone).stored;
        if self.checks_reads {
            stored.retain(|(ppn, lpn), version| {
                let here = view.locate(Lpn(*lpn)) == Some(Ppn(*ppn)) || read.contains(&Ppn(*ppn));
                let expected = |asked: &Asked| asked.expected == *version;
                let known = self.pending.newest.get(*lpn as usize) == Some(version)
                    || self.pending.asked.iter().any(expected);
                here && known
            });
        } else {
            stored.clear();
        }
        let Pending { newest, asked, timers, .. } = &mut self.pending;
        if !self.checks_reads {
            newest.fill(0);
            asked.iter_mut().for_each(|asked| asked.expected = 0);
        }
        let mut versions: Vec<&mut u64> = stored.values_mut().collect();
        versions.extend(newest.iter_mut());
        versions.extend(asked.iter_mut().map(|asked| &mut asked.expected));
        self.ftl.setup().forget_history(&mut versions, timers);
        if let Ok(media) = self.ftl.media_mut() {
            *media = Versions { stored };
        }
        Saver::pack(self).unwrap_or_default()
    }

    /// Restore a state.
    ///
    /// # Errors
    /// If the bytes belong to another drive.
    pub fn unpack(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        self.wrong = None;
        let state = StateFile::packed(bytes);
        self.load(&mut Loader::of(&state)).map_err(|e| e.to_string())
    }
}

impl Driver for World {
    fn layer(&self) -> &Ftl {
        &self.ftl
    }

    fn layer_mut(&mut self) -> &mut Ftl {
        self.ftl.at(SimTime(0))
    }

    fn waiting(&self) -> &Waiting {
        &self.pending.waiting
    }

    fn waiting_mut(&mut self) -> &mut Waiting {
        &mut self.pending.waiting
    }

    fn enqueue(&mut self, entry: QueueEntry) {
        self.pending.queues[entry.plane.index()][entry.class() as usize].push(entry.op);
    }

    fn enqueue_first(&mut self, entry: QueueEntry) {
        self.pending.queues[entry.plane.index()][entry.class() as usize].insert(0, entry.op);
    }

    fn set_timer(&mut self, _: SimTime, timer: Timer) {
        self.pending.timers.push(timer);
    }

    fn admit(&mut self, request: HostRequest, number: u64, data: HostData<'_>) {
        let lpn = self.page_of(&request);
        let expected = self.pending.newest[lpn];
        if let Some(found) = self.pending.asked.iter_mut().find(|a| u64::from(a.number) == number) {
            found.expected = expected;
        }
        self.ftl.submit(request, number, data);
        match request.op {
            HostOp::Write => self.pending.newest[lpn] = self.ftl.inspect().newest_version(),
            HostOp::Trim => self.pending.newest[lpn] = 0,
            _ => {}
        }
    }

    fn complete(&mut self, id: RequestId) {
        let (number, outcome) = (self.ftl.pending(id).number, self.ftl.pending(id).outcome);
        let request = self.ftl.pending(id).request;
        self.ftl.release(id);
        self.pending.asked.retain(|asked| u64::from(asked.number) != number);
        self.ended += 1;
        if outcome != Outcome::Done {
            let room = self.room();
            let ignored = self.ftl.counters().without_effect.in_words();
            self.wrong.get_or_insert(format!("{:?} ends as {outcome:?}; {room}{ignored}", request.op));
        }
    }

    fn is_idle(&self) -> bool {
        self.pending.idle
    }

    fn is_at_rest(&self) -> bool {
        let planes = 0..self.drive.geometry.planes;
        planes.into_iter().all(|p| self.pending.current[p as usize].is_none() && self.first(p).is_none())
    }
}
