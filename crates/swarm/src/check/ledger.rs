//! Observes the flash and keeps accounts of its own: what was programmed where, what was transferred over
//! which bus, and whether a resource did two things at the same time.

use crate::check::effort::Effort;
use std::collections::{HashMap, HashSet};
use wordline_device::{Multiplane, MultiplanePages, ParallelUnit};
use wordline_flash::Geometry;
use wordline_ftl::{Cause, Counters, OpKind, Part, RegionId};
use wordline_sim::{Begin, Event, Probe};
use wordline_units::{CellMode, PlaneId, Ppn, SimTime};

/// State of a block, as far as the observed operations determine it.
#[derive(Clone, Copy, Default)]
struct Block {
    /// Slots programmed since the last erase, one bit each.
    programmed: u128,
    /// Whether its contents stem from the initial state, which is not known here.
    from_before: bool,
}

/// What the ledger knows of the drive.
pub(crate) struct Drive {
    pub(crate) geometry: Geometry,
    pub(crate) parallel_unit: ParallelUnit,
    pub(crate) multiplane: Multiplane,
    pub(crate) multiplane_pages: MultiplanePages,
    /// Whether every block is programmed in page order.
    pub(crate) in_order: bool,
    /// Wordlines per window and bits per wordline of each region with the window rule.
    pub(crate) windows: Vec<Option<(u32, u32)>>,
    /// Whether there may be data from before the first operation.
    pub(crate) holds_data: bool,
}

/// The current command of an array, in one plane or, as a multi-plane command, in several.
struct Command {
    kind: OpKind,
    mode: CellMode,
    /// Its page number, if the planes of a command must have the same.
    page: Option<u32>,
    start: SimTime,
    end: SimTime,
    planes: Vec<PlaneId>,
}

#[derive(Default)]
pub(crate) struct Ledger {
    drive: Option<Drive>,
    blocks: Vec<Block>,
    /// The region of the current operation of each plane.
    regions: HashMap<u32, RegionId>,
    /// When each array and each bus is free.
    arrays: HashMap<u32, SimTime>,
    /// The last command of each array.
    commands: HashMap<u32, Command>,
    buses: HashMap<u32, SimTime>,
    moved: HashMap<u64, u64>,
    /// Number of slots covered by each program in flight.
    slots: HashMap<u64, u32>,
    /// The last read of each plane, which may use the array several times.
    sensed: HashMap<u32, u64>,
    reads: [u64; Cause::COUNT],
    programs: u64,
    copies: u64,
    programmed_bytes: u64,
    erases: [u64; 4],
    /// Programs and erases that have started in the array.
    begun: HashSet<u64>,
    effort: Effort,
    /// The first error found.
    wrong: Option<String>,
}

/// Limit on programs and erases, above that of any case; and on all events.
const MOST_WORK: u64 = 1_000_000;
const MOST_EVENTS: u64 = 30_000_000;

impl Probe for Ledger {
    const WATCHES: bool = true;

    fn begin(&mut self, begin: &Begin, _: impl Iterator<Item = Part>) {
        self.regions.insert(begin.plane.0, begin.region);
        if begin.kind == OpKind::Program {
            self.slots.insert(begin.op, begin.slots);
        }
    }

    fn event(&mut self, event: Event) {
        self.effort.count(&event, MOST_WORK, MOST_EVENTS);
        if let Err(what) = self.take(event)
            && self.wrong.is_none()
        {
            self.wrong = Some(what);
        }
    }
}

impl Ledger {
    pub(crate) fn of(drive: Drive) -> Ledger {
        let block = Block { programmed: 0, from_before: drive.holds_data };
        Ledger {
            blocks: vec![block; drive.geometry.blocks as usize],
            drive: Some(drive),
            ..Ledger::default()
        }
    }

    /// The first error found.
    pub(crate) fn wrong(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    fn take(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Bus { op, channel, bytes, start, end, .. } => {
                self.moved.insert(op, bytes);
                alone(&mut self.buses, channel.0, start, end).map_err(|at| format!("bus {channel} {at}"))
            }
            Event::Array { op, kind, cause, plane, ppn, mode, start, end, .. } => {
                let die = self.array_of(plane);
                let page = self.page_asked_for(kind, ppn, plane);
                if !self.joins(die, plane, (kind, mode, page), (start, end)) {
                    alone(&mut self.arrays, die, start, end).map_err(|at| format!("array {die} {at}"))?;
                    self.commands.insert(die, Command { kind, mode, page, start, end, planes: vec![plane] });
                }
                // The rest of a suspended operation.
                if kind != OpKind::Read && !self.begun.insert(op) {
                    return Ok(());
                }
                match kind {
                    OpKind::Read => {
                        let again = self.sensed.insert(plane.0, op) == Some(op);
                        self.reads[cause as usize] += !again as u64;
                        self.read(ppn)
                    }
                    OpKind::Program => {
                        let moved = self.moved.remove(&op).ok_or("a program whose data never moved")?;
                        let slots = self.slots.remove(&op).ok_or("a program that never began")?;
                        let bytes = slots as u64 * self.geometry().unit;
                        // A copy-back stays within its plane.
                        self.copies += u64::from(moved == 0);
                        if moved > 0 && moved != bytes {
                            return Err(format!("a program of {bytes} bytes moves {moved}"));
                        }
                        self.programs += 1;
                        self.programmed_bytes += bytes;
                        self.program(ppn, bytes)?;
                        self.in_window(plane, ppn)
                    }
                    OpKind::Erase => {
                        self.erases[mode.index()] += 1;
                        let block = self.geometry().block_of(ppn).index();
                        self.blocks[block] = Block::default();
                        Ok(())
                    }
                }
            }
            Event::Ready { .. } => Ok(()),
        }
    }

    fn geometry(&self) -> &Geometry {
        match &self.drive {
            Some(drive) => &drive.geometry,
            None => unreachable!("a ledger is made of a drive"),
        }
    }

    fn array_of(&self, plane: PlaneId) -> u32 {
        match &self.drive {
            Some(d) if d.parallel_unit == ParallelUnit::Die => d.geometry.die_of(plane).0,
            _ => plane.0,
        }
    }

    /// Number of a page in its block, if the planes of a command must work on the same page.
    fn page_asked_for(&self, kind: OpKind, ppn: Ppn, plane: PlaneId) -> Option<u32> {
        let same = self.drive.as_ref().is_some_and(|d| d.multiplane_pages == MultiplanePages::Same);
        let g = self.geometry();
        (same && kind != OpKind::Erase).then(|| g.slot_of(ppn) / g.units_per_page(g.medium_index(plane)))
    }

    /// Whether an operation belongs to the current command of an array: same start and end, same kind and
    /// mode, another plane.
    fn joins(
        &mut self,
        array: u32,
        plane: PlaneId,
        what: (OpKind, CellMode, Option<u32>),
        when: (SimTime, SimTime),
    ) -> bool {
        let on = self.drive.as_ref().is_some_and(|d| d.multiplane == Multiplane::Opportunistic);
        let command = self.commands.get_mut(&array).filter(|c| {
            on && (c.kind, c.mode, c.page) == what && (c.start, c.end) == when && !c.planes.contains(&plane)
        });
        command.map(|c| c.planes.push(plane)).is_some()
    }

    fn read(&mut self, ppn: Ppn) -> Result<(), String> {
        let (block, slot) = (self.geometry().block_of(ppn), self.geometry().slot_of(ppn));
        let b = self.blocks[block.index()];
        if b.from_before || b.programmed >> slot & 1 == 1 {
            return Ok(());
        }
        Err(format!("slot {slot} of block {block} is read before it was programmed"))
    }

    fn program(&mut self, ppn: Ppn, bytes: u64) -> Result<(), String> {
        let g = self.geometry();
        let (block, slot, slots) = (g.block_of(ppn), g.slot_of(ppn), bytes / g.unit);
        let in_order = self.drive.as_ref().is_some_and(|d| d.in_order);
        let b = &mut self.blocks[block.index()];
        let these = ((1u128 << slots) - 1) << slot;
        if b.programmed & these != 0 {
            return Err(format!("slots from {slot} of block {block} are programmed twice without an erase"));
        }
        let next = 128 - b.programmed.leading_zeros();
        if in_order && slot != next && !(b.from_before && b.programmed == 0) {
            return Err(format!(
                "slot {slot} of block {block} is programmed out of order: the next slot is {next}"
            ));
        }
        b.programmed |= these;
        Ok(())
    }

    /// Check that a page just programmed lies in the current window of its block: all slots below it are
    /// full, all above it blank. No page is programmed twice, so no wordline is reprogrammed too often.
    fn in_window(&self, plane: PlaneId, ppn: Ppn) -> Result<(), String> {
        let (Some(drive), Some(region)) = (&self.drive, self.regions.get(&plane.0)) else { return Ok(()) };
        let Some((window, bits)) = drive.windows[region.0 as usize] else { return Ok(()) };
        let g = &drive.geometry;
        let (block, slot) = (g.block_of(ppn), g.slot_of(ppn));
        let b = self.blocks[block.index()];
        let slots = window * bits * g.units_per_page(g.medium_index(plane));
        let (first, end) = (slot / slots * slots, (slot / slots * slots + slots).min(128));
        let below = (1u128 << first) - 1;
        if (!b.from_before && b.programmed & below != below) || (end < 128 && b.programmed >> end != 0) {
            return Err(format!("slot {slot} of block {block} is programmed outside the current window"));
        }
        Ok(())
    }

    /// Whether the drive's counters match what was observed.
    pub(crate) fn agrees(&self, counters: &Counters) -> Result<(), String> {
        let mut reads = [0; Cause::COUNT];
        for region in &counters.regions {
            for (sum, n) in reads.iter_mut().zip(region.reads) {
                *sum += n;
            }
        }
        let programs = counters.regions.iter().map(|r| r.ops.program_operations).sum::<u64>();
        let copies = counters.regions.iter().map(|r| r.ops.copy_backs).sum::<u64>();
        let erases = counters.regions.iter().map(|r| r.counts.erases).sum::<u64>();
        let pairs = [
            ("programs", programs, self.programs),
            ("bytes programmed, over all causes,", counters.programmed_bytes(), self.programmed_bytes),
            ("copies within a plane", copies, self.copies),
            ("erases, over all regions,", erases, self.erases.iter().sum()),
        ];
        let by_cause = Cause::ALL.map(|c| (c.key(), reads[c as usize], self.reads[c as usize]));
        let by_mode = [0, 1, 2, 3].map(|m| ("erases by mode", counters.erases[m], self.erases[m]));
        for (what, counted, seen) in pairs.into_iter().chain(by_cause).chain(by_mode) {
            if counted != seen {
                return Err(format!("{what}: {counted} are counted and {seen} were done"));
            }
        }
        Ok(())
    }
}

/// Occupy a resource from `start` to `end`. It must be free.
fn alone(free: &mut HashMap<u32, SimTime>, which: u32, start: SimTime, end: SimTime) -> Result<(), String> {
    match free.insert(which, end) {
        Some(busy) if start < busy => Err(format!("is occupied twice at {} ns", start.0)),
        _ => Ok(()),
    }
}
