//! Demands of an operation on its array and bus: duration, sensing operations, transfers, and energy.

use crate::ftl::Ftl;
use crate::plan::region::RegionId;
use crate::state::op::{Op, OpId};
use crate::state::times::ArrayTime;
use crate::state::wordline::{page_number, wordline_of};
use wordline_counters::OpKind;
use wordline_flash::SlotClass;
use wordline_units::SimDuration;

impl Ftl {
    /// Start an operation on an array, and return its duration. A read determines its number of retries, which take
    /// array time, too, unless each attempt includes a transfer.
    #[inline(always)]
    pub fn begin_on_array(&mut self, id: OpId) -> ArrayTime {
        if self.state.aging.is_modelled() && self.state.ops[id].kind == OpKind::Read {
            return self.begin_read(id);
        }
        ArrayTime { all: self.array_time(id), again: SimDuration::ZERO }
    }

    /// Like it, for a read that may have errors; separate, since drives without errors do not need it.
    #[inline(never)]
    fn begin_read(&mut self, id: OpId) -> ArrayTime {
        let once = self.array_time(id);
        if self.state.ops[id].repeated > 0 {
            return ArrayTime { all: self.array.decode + once, again: SimDuration::ZERO };
        }
        let retries = self.sense(id);
        let again = if self.array.retransfer { 0 } else { (once + self.array.decode).0 * retries as u64 };
        ArrayTime { all: once + SimDuration(again), again: SimDuration(again) }
    }

    /// Determine the number of retries of a read.
    #[inline]
    pub(crate) fn sense(&mut self, id: OpId) -> u8 {
        let op = &self.state.ops[id];
        let (mode, bit) = wordline_of(&self.state, self.array.has_windows, op);
        let block = self.state.geometry.block_of(op.ppn);
        let page = page_number(&self.state.geometry, op);
        let retries = self.state.sense(block, page, mode, bit);
        self.state.ops[id].retries = retries;
        retries.count
    }

    /// The data of a read have been transferred: whether they must be read again, since the decoder at the other end of
    /// the bus has failed.
    #[inline(always)]
    pub fn repeat(&mut self, id: OpId) -> bool {
        self.array.retransfer && self.repeat_by_bus(id)
    }

    #[inline(never)]
    fn repeat_by_bus(&mut self, id: OpId) -> bool {
        let op = &mut self.state.ops[id];
        let again = op.repeated < op.retries.count;
        op.repeated += again as u8;
        again
    }

    /// Whether a sensed read must be sensed again after its transfer.
    pub fn will_repeat(&self, id: OpId) -> bool {
        let op = &self.state.ops[id];
        self.array.retransfer && op.repeated < op.retries.count
    }

    /// Array time of one attempt of an operation.
    #[inline(always)]
    fn array_time(&self, id: OpId) -> SimDuration {
        let op = &self.state.ops[id];
        let (mode, bit) = wordline_of(&self.state, self.array.has_windows, op);
        let times = self.array.of(self.state.geometry.medium_index(op.plane), mode);
        SimDuration(match op.kind {
            OpKind::Erase => times.erase,
            OpKind::Read => times.read[bit],
            OpKind::Program if op.copies => times.copy_back,
            OpKind::Program => {
                let block = self.state.geometry.block_of(op.ppn);
                let region = self.state.blocks[block.index()].region as usize;
                if self.array.has_windows && self.written_whole(op, region) {
                    times.program[bit]
                } else {
                    times.program[bit] + self.array.reread(RegionId(region as u8), bit)
                }
            }
        })
    }

    /// Whether two operations in different planes can be one multi-plane command: of the same kind, cell mode and time;
    /// with [`MultiplanePages::Same`](wordline_device::MultiplanePages::Same) also on pages with the same number in
    /// their blocks, except for erases.
    pub fn are_alike(&self, one: OpId, other: OpId) -> bool {
        let (a, b) = (&self.state.ops[one], &self.state.ops[other]);
        let mode = |op: &Op| wordline_of(&self.state, self.array.has_windows, op).0;
        let page = |op: &Op| page_number(&self.state.geometry, op);
        a.kind == b.kind
            && a.copies == b.copies
            && mode(a) == mode(b)
            && self.array_time(one) == self.array_time(other)
            && (self.array.pairs_any || a.kind == OpKind::Erase || page(a) == page(b))
    }

    /// Whether a program belongs to a window that is written wordline by wordline, whose bits are in RAM.
    fn written_whole(&self, op: &Op, region: usize) -> bool {
        op.bound_class == SlotClass::Next && self.state.regions[region].region.rule.reprograms()
    }

    /// Sectors that an operation transfers: the wanted ones of a read, whole pages of a program, since the register
    /// must be filled.
    #[inline(always)]
    pub fn transfer_sectors(&self, id: OpId) -> u32 {
        let op = &self.state.ops[id];
        match op.kind {
            OpKind::Read => op.to_bring.map_or_else(|| op.mask.count(), u32::from),
            OpKind::Program if op.copies => 0,
            OpKind::Program => op.slots as u32 * self.state.geometry.sectors_per_unit,
            OpKind::Erase => 0,
        }
    }

    /// Energy of an operation, by cause.
    #[inline(never)]
    pub(crate) fn count_energy(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let medium = self.state.geometry.medium_of(op.plane);
        let (mode, bit) = wordline_of(&self.state, self.array.has_windows, op);
        let Some((byte, array)) = medium.energy.as_ref().and_then(|e| Some((e.byte, e.modes[mode.index()]?)))
        else {
            return;
        };
        // What a register still held is not sensed again.
        let senses = if op.to_bring.is_none() { op.retries.count as u64 + 1 } else { 0 };
        let transfers = if self.array.retransfer { senses.max(1) } else { 1 };
        let moved = self.transfer_sectors(id) as u64 * self.state.geometry.sector * transfers;
        let (cause, kind, copies) = (op.cause as usize, op.kind, op.copies);
        let region = self.state.blocks[self.state.geometry.block_of(op.ppn).index()].region as usize;
        let rereads = kind == OpKind::Program
            && self.array.reread(RegionId(region as u8), bit) > 0
            && !(self.array.has_windows && self.written_whole(op, region));
        let Some(used) = &mut self.state.counters.energy else { return };
        let used = &mut used[cause];
        match kind {
            OpKind::Read => used.read_j.0 += array.read[bit].0 * senses,
            OpKind::Erase => used.erase_j += array.erase,
            OpKind::Program => {
                used.program_j += array.program[bit];
                let again = if copies { bit..bit + 1 } else { 0..if rereads { bit } else { 0 } };
                array.read[again].iter().for_each(|e| used.read_j += *e);
            }
        }
        used.transfer_j.0 += byte.0 * moved;
    }
}
