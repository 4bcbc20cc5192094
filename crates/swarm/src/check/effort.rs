//! Stops a drive in a livelock.

use wordline_ftl::OpKind;
use wordline_sim::Event;

/// Work of a drive. A read may be retried up to seventeen times, each time with a transfer. These are many
/// events and no livelock, so programs and erases have a limit of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Programs and erases.
    work: u64,
    /// All events.
    events: u64,
}

impl Effort {
    /// Count an event, with limits on programs and erases and on all events.
    ///
    /// # Panics
    /// If a limit is reached.
    pub fn count(&mut self, event: &Event, most_work: u64, most_events: u64) {
        self.work += u64::from(matches!(event, Event::Array { kind: OpKind::Program | OpKind::Erase, .. }));
        self.events += 1;
        assert!(self.work < most_work && self.events < most_events, "livelock");
    }
}
