//! Asks the scheme where data go, in one place, so that all answers are checked by the same rules.

use crate::ftl::Ftl;
use crate::plan::decision::{Gather, Origin, Parcel, Place, PlanePick, Route};
use crate::plan::layout::Hooks;
use crate::plan::region::RegionId;
use crate::plan::span::Span;
use crate::view::View;
use wordline_units::PlaneId;

impl Ftl {
    /// Placement of host data, if the scheme can decide; the moves that must come first are left in
    /// `moves_first`.
    pub(crate) fn place_host(&mut self, parcel: &Parcel) -> Option<Place> {
        if self.enabled_hooks.contains(Hooks::MAKE_ROOM) {
            self.scheme.make_room(parcel, &View::of(&self.state), &mut self.moves_first);
            if self.has_failed("make_room") {
                self.moves_first.clear();
                return None;
            }
        }
        let place = self.scheme.place(parcel, &View::of(&self.state));
        if self.has_failed("place") || !self.leads_somewhere(&place) {
            self.moves_first.clear();
            return None;
        }
        Some(place)
    }

    /// Placement of a sealed page of the merge buffer, if the scheme can decide.
    pub(crate) fn place_sealed(&mut self, spans: &[Span], home: PlaneId) -> Option<Place> {
        let parcel = Parcel { origin: Origin::Sealed, spans, home };
        self.place_on_flash(&parcel, "sealed")
    }

    /// Placement of a collected page: the scheme decides, if it can, except for pages of the drive's own
    /// tables.
    #[inline]
    pub(crate) fn place_collected(
        &mut self,
        region: RegionId,
        spans: &[Span],
        home: PlaneId,
    ) -> Option<Place> {
        if spans.first().is_some_and(|s| self.state.is_metadata(s.lpn)) {
            return Some(self.metadata_place());
        }
        let parcel = Parcel { origin: Origin::Collected(region), spans, home };
        self.place_on_flash(&parcel, "collected")
    }

    /// Placement of data that must not wait in the merge buffer.
    #[inline]
    fn place_on_flash(&mut self, parcel: &Parcel, kind: &str) -> Option<Place> {
        let place = self.scheme.place(parcel, &View::of(&self.state));
        if self.has_failed("place") {
            return None;
        }
        if place.route.buffer_key().is_some() {
            let state = format!("the merge buffer takes host data only, and the page is {kind}");
            self.illegal(format!("place a {kind} page in the merge buffer"), state);
            return None;
        }
        self.leads_somewhere(&place).then_some(place)
    }

    /// Whether a decision names the merge buffer or an existing region; any other is refused.
    #[inline]
    fn leads_somewhere(&mut self, place: &Place) -> bool {
        let region = place.route.region();
        let is_there = place.route.buffer_key().is_some() || region.index() < self.state.regions.len();
        if !is_there {
            self.illegal(format!("place in region {}", region.0), "unknown region".into());
        }
        is_there
    }

    /// Placement of pages of the drive's own tables: always the home region.
    pub(crate) fn metadata_place(&self) -> Place {
        let home = self.state.home;
        let r = &self.state.regions[home.index()];
        let route = Route::classes(home, r.region.rule.classes(r.shape));
        Place { gather: Gather::AsIs, plane: PlanePick::Home, route }
    }
}
