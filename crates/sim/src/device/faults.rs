//! Dies that are slower than they should be: a fault that is planted.

use crate::device::Device;
use crate::probe::Probe;
use wordline_ftl::{ArrayTime, OpId};
use wordline_units::{DieId, SimDuration};

impl<P: Probe> Device<P> {
    /// Let the arrays of a die work so many times longer from their next operation on; 1 is as they should. A state that is
    /// saved, and a drive whose power was cut, know nothing of it.
    pub fn slow_die(&mut self, die: DieId, factor: u32) {
        self.slow.retain(|(slow, _)| *slow != die);
        if factor > 1 {
            self.slow.push((die, factor));
        }
    }

    /// How long an operation takes in a die that may be slow.
    #[cold]
    pub(crate) fn slowed(&self, id: OpId, time: ArrayTime) -> ArrayTime {
        let die = self.geometry.die_of(self.ftl.op(id).plane);
        let factor = self.slow.iter().find(|(slow, _)| *slow == die).map_or(1, |(_, factor)| *factor);
        let times = |t: SimDuration| SimDuration(t.0.saturating_mul(u64::from(factor)));
        ArrayTime { all: times(time.all), again: times(time.again) }
    }
}
