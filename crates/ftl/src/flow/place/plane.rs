//! Plane of a program, if its placement leaves a choice: chosen when the data arrive, and again after waits for reads
//! or moves.

use crate::ftl::Ftl;
use crate::plan::decision::{ChannelSet, Gather, Place, PlanePick, Route};
use crate::plan::region::RegionId;
use crate::state::op::OpId;
use crate::state::program_buffer::WriteStream;
use wordline_flash::SlotClass;
use wordline_units::PlaneId;

impl Ftl {
    /// The plane that a decision means.
    pub(crate) fn pick_plane(&mut self, place: &Place, home: PlaneId) -> PlaneId {
        let region = place.route.region();
        if place.route.buffer_key().is_some() {
            return home;
        }
        let fixed = match place.plane {
            _ if !self.state.reaches(region, home) => None,
            PlanePick::Home if !self.state.dynamic => Some(home),
            PlanePick::NextChannel(unwanted) => Some(self.on_next_channel(region, home, unwanted)),
            _ => None,
        };
        if let Some(plane) = fixed {
            return self.state.least_filled_plane(region, plane, WriteStream::Host);
        }
        self.state.turn = self.state.turn.wrapping_add(1);
        let best = match place.plane {
            PlanePick::MostFree => self.state.most_free(region),
            PlanePick::Level => self.state.level(region),
            PlanePick::Avoid(channels) => self.state.least_busy(region, Some(channels)),
            _ => self.state.least_busy(region, None),
        };
        self.state.least_filled_plane(region, best.unwrap_or(home), WriteStream::Host)
    }

    /// The plane at the same position as `home` on the next channel that is not excluded, starting from that of the
    /// home; the home itself if all are excluded.
    fn on_next_channel(&self, region: RegionId, home: PlaneId, unwanted: ChannelSet) -> PlaneId {
        let (g, r) = (&self.state.geometry, &self.state.regions[region.index()]);
        let (all, channels) = (r.planes.len() as u32, g.medium_of(home).topology.channels);
        let local = home.0 - r.first_plane;
        (0..channels)
            .map(|step| PlaneId(r.first_plane + (local + step * (all / channels)) % all))
            .find(|plane| !unwanted.contains(g.channel_of(g.die_of(*plane))))
            .unwrap_or(home)
    }

    /// The plane with the most free space may have changed.
    pub(crate) fn pick_again(&mut self, lead: OpId) {
        let op = &self.state.ops[lead];
        if !matches!(op.pick, PlanePick::MostFree | PlanePick::Level) {
            return;
        }
        let place = Place { gather: Gather::AsIs, plane: op.pick, route: op.route };
        let plane = self.pick_plane(&place, op.plane);
        let mut part = lead;
        while !part.is_none() {
            self.state.ops[part].plane = plane;
            part = self.state.ops[part].chain;
        }
    }

    /// The target plane of a page from another plane: one where a page already waits for other data, if any, so that
    /// data never wait in two.
    pub(crate) fn moves_to(&mut self, region: RegionId, plane: PlanePick, home: PlaneId) -> PlaneId {
        let place = Place { gather: Gather::AsIs, plane, route: Route::to(region, SlotClass::Next) };
        self.state.waiting_plane(region).unwrap_or_else(|| self.pick_plane(&place, home))
    }
}
