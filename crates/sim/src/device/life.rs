//! When the device counts as over: at the end of life that is asked for, or when it takes no more writes.

use crate::device::Device;
use crate::end::EndOfLife;
use crate::probe::Probe;
use crate::state::life::Watch;

impl<P: Probe> Device<P> {
    /// Count the device as over at this end, too, and not only when a write finds no place. `logical_bytes` are those
    /// of the host. Gives the bytes that it must still hold, and those that it does.
    pub fn live_until(&mut self, end: EndOfLife, logical_bytes: u64) -> (u64, u64) {
        let (built, left) = self.ftl.lasting_bytes();
        let least_bytes = end.least_bytes(built, logical_bytes);
        self.life = Watch { end, least_bytes, retired: self.ftl.lost_blocks().1, short: left < least_bytes };
        (least_bytes, left)
    }

    /// Whether the device is over. What is asked of it then ends as it would otherwise.
    pub fn is_over(&mut self) -> bool {
        self.ended_by().is_some()
    }

    /// What ended the device, if it is over.
    pub fn ended_by(&mut self) -> Option<EndOfLife> {
        let retired = self.ftl.lost_blocks().1;
        if retired != self.life.retired {
            self.life.retired = retired;
            self.life.short = self.ftl.lasting_bytes().1 < self.life.least_bytes;
        }
        let unread = self.life.end == EndOfLife::Uncorrectable && self.metrics.uncorrectable > 0;
        if self.life.short || unread {
            return Some(self.life.end);
        }
        self.ftl.worn_out().map(|_| EndOfLife::OutOfSpace)
    }
}
