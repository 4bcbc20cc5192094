//! A drive in a livelock is stopped, instead of waited for.

use wordline_ftl::OpKind;
use wordline_sim::Event;

/// What a drive has done. Reads that err are repeated up to seventeen times, each over the bus: they are many events, and
/// no circle, so that programs and erases have a bound of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Programs and erases.
    work: u64,
    /// Events of all.
    events: u64,
}

impl Effort {
    /// One more event, of fewer than this many programs and erases, and events in all.
    ///
    /// # Panics
    /// When it is one too many.
    pub fn count(&mut self, event: &Event, most_work: u64, most_events: u64) {
        self.work += u64::from(matches!(event, Event::Array { kind: OpKind::Program | OpKind::Erase, .. }));
        self.events += 1;
        assert!(self.work < most_work && self.events < most_events, "livelock");
    }
}
