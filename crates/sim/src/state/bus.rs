//! Buses: one a channel, which moves the data of one operation at a time.

use crate::state::fair::Fair;
use crate::state::resources::{Resources, User};
use std::ops::{Deref, DerefMut};
use wordline_flash::{Geometry, Medium};
use wordline_ftl::{Saved, saved_fields};
use wordline_units::{PlaneId, SimDuration, SimTime};

/// What the bus takes for operations on a medium, ns.
#[derive(Clone, Debug)]
struct Times {
    /// By sectors moved.
    transfer: Vec<u64>,
    /// The command of a program, and that of a further plane's in a multi-plane command.
    program: u64,
    further: u64,
}

/// The buses of all channels, and which planes want them for what.
#[derive(Clone, Debug)]
pub(crate) struct Buses {
    shared: Resources,
    /// By medium.
    times: Vec<Times>,
    /// The number of the first one's event in the clock.
    first_event: u32,
}

impl Saved for Buses {
    saved_fields! { Buses,
        values: [shared],
        parts: [],
        rebuilt: [times, first_event],
    }
}

impl Buses {
    /// The buses of a drive, whose events have numbers from one on.
    pub fn new(geometry: &Geometry, first_event: u32) -> Buses {
        let mut shared = Resources::default();
        for plane in 0..geometry.planes {
            shared.add_plane(geometry.channel_of(geometry.die_of(PlaneId(plane))).0);
        }
        let sectors = |m: &Medium| m.page.0 * 4 / geometry.sector;
        let most = geometry.media.iter().map(sectors).max().unwrap_or(0);
        let times = |m: &Medium| Times {
            transfer: (0..=most).map(|sectors| m.bus.time_for(sectors * geometry.sector).0).collect(),
            program: m.command.program.0,
            further: m.further_plane().program.0,
        };
        Buses { shared, times: geometry.media.iter().map(times).collect(), first_event }
    }

    /// The number behind the last bus event: that of the host link, followed by those of the timers.
    #[inline(always)]
    pub fn events_end(&self) -> u32 {
        self.first_event + self.shared.count() as u32
    }

    /// The plane that a free bus serves next: with shares, in order of arrival.
    #[inline(always)]
    pub fn next(&mut self, channel: usize, fair: Option<&Fair>) -> Option<(usize, u64)> {
        match fair {
            None => self.shared.next(channel),
            Some(fair) => {
                self.shared.next_by(channel, fair.planes_of_channel(channel), Fair::order_of_arrival)
            }
        }
    }

    /// Time of the command of a program.
    #[inline(always)]
    pub fn command(&self, medium: usize) -> u64 {
        self.times[medium].program
    }

    /// The same for each further plane of a multi-plane command, if it differs.
    #[inline(always)]
    pub fn command_further(&self, medium: usize) -> Option<u64> {
        let Times { program, further, .. } = self.times[medium];
        (further != program).then_some(further)
    }

    /// How long a command and this many sectors take on a medium.
    #[inline(always)]
    pub fn time(&self, medium: usize, sectors: usize, command: u64) -> SimDuration {
        SimDuration(command + self.times[medium].transfer[sectors])
    }

    /// An operation occupies the bus until a time. Returns the number of its event.
    #[inline(always)]
    pub fn begin(&mut self, channel: usize, user: User, now: SimTime, end: SimTime) -> u32 {
        self.shared.take(channel, user, now, end);
        self.first_event + channel as u32
    }
}

impl Deref for Buses {
    type Target = Resources;
    #[inline(always)]
    fn deref(&self) -> &Resources {
        &self.shared
    }
}

impl DerefMut for Buses {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Resources {
        &mut self.shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_ftl::OpId;

    /// Two buses of a plane each, on which a sector takes 10 ns and the command of a program 7 or 3.
    fn buses() -> Buses {
        let mut shared = Resources::default();
        (0..2).for_each(|channel| shared.add_plane(channel));
        let times = Times { transfer: vec![0, 10, 20], program: 7, further: 3 };
        Buses { shared, times: vec![times], first_event: 4 }
    }

    #[test]
    fn transfer_takes_its_command_and_its_sectors() {
        let b = buses();
        assert_eq!((b.command(0), b.command_further(0)), (7, Some(3)));
        assert_eq!(b.time(0, 2, b.command(0)), SimDuration(27));
        assert_eq!(b.time(0, 0, 0), SimDuration::ZERO);
    }

    #[test]
    fn buses_work_apart_and_each_has_its_event() {
        let mut b = buses();
        let user = User { op: OpId(9), plane: 1 };
        assert_eq!(b.events_end(), 6);
        assert_eq!(b.begin(1, user, SimTime(0), SimTime(20)), 5);
        b.want(1, 1, 6);
        assert_eq!((b.user(1), b.is_due(1), b.is_idle(0)), (Some(user), false, true));
        assert!(!b.are_at_rest());
        assert_eq!(b.release(1), Some(user));
        assert_eq!((b.next(1, None), b.release(1)), (Some((1, 6)), None));
        assert_eq!(b.used(SimTime(30)).collect::<Vec<_>>(), [0, 20]);
    }
}
