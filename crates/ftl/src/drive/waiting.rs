//! Operations and requests that wait for space in the layer.

use crate::media::host_data::HeldData;
use crate::state::op::OpId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_units::{HostRequest, PlaneId};

/// A delayed request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldUp {
    /// The request.
    pub request: HostRequest,
    /// Its number among all requests of the run.
    pub number: u64,
    /// The data of a write, if the media store data.
    pub data: HeldData,
}

/// Programs without a free slot in their plane, and requests delayed by a full write buffer or by the pacing of writes.
/// Requests are admitted in order: a delayed request delays all later ones, except reads on a drive that paces writes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Waiting {
    /// By plane, in order of arrival.
    programs: Vec<VecDeque<OpId>>,
    requests: VecDeque<HeldUp>,
}

impl Waiting {
    /// An empty set, for this many planes.
    pub fn new(planes: u32) -> Waiting {
        Waiting { programs: vec![VecDeque::new(); planes as usize], requests: VecDeque::new() }
    }

    /// Whether no request is delayed.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.requests.is_empty()
    }

    /// The delayed requests.
    #[inline(always)]
    pub fn requests(&self) -> impl ExactSizeIterator<Item = &HeldUp> {
        self.requests.iter()
    }

    /// The programs without a slot, plane by plane.
    pub fn programs(&self) -> impl Iterator<Item = OpId> + '_ {
        self.programs.iter().flatten().copied()
    }

    /// Delay a request.
    pub(super) fn hold_up(&mut self, held_up: HeldUp) {
        self.requests.push_back(held_up);
    }

    /// The next request to admit.
    #[inline(always)]
    pub(super) fn first_request(&self) -> Option<&HostRequest> {
        self.requests.front().map(|held_up| &held_up.request)
    }

    /// Take the first request, which is admitted or refused.
    pub(super) fn take_request(&mut self) -> Option<HeldUp> {
        self.requests.pop_front()
    }

    /// Add a waiting program to a plane, as its last.
    pub(super) fn set_aside(&mut self, plane: PlaneId, id: OpId) {
        self.programs[plane.index()].push_back(id);
    }

    /// Take the last waiting program of a plane.
    #[inline(always)]
    pub(super) fn take_last(&mut self, plane: PlaneId) -> Option<OpId> {
        self.programs[plane.index()].pop_back()
    }

    /// Remove waiting programs.
    pub(super) fn remove(&mut self, mut gone: Vec<OpId>) {
        if gone.is_empty() {
            return;
        }
        gone.sort_unstable_by_key(|id| id.0);
        let stays = |id: &OpId| gone.binary_search_by_key(&id.0, |gone| gone.0).is_err();
        self.programs.iter_mut().for_each(|waiting| waiting.retain(stays));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::HostOp;

    #[test]
    fn programs_of_a_plane_keep_their_order() {
        let mut waiting = Waiting::new(2);
        for (plane, id) in [(1, 5), (0, 3), (1, 4), (1, 6)] {
            waiting.set_aside(PlaneId(plane), OpId(id));
        }
        assert_eq!(waiting.programs().collect::<Vec<_>>(), [3, 5, 4, 6].map(OpId));
        waiting.remove(vec![OpId(7), OpId(4)]);
        let taken = [1, 1, 1].map(|plane| waiting.take_last(PlaneId(plane)));
        assert_eq!(taken, [Some(OpId(6)), Some(OpId(5)), None]);
        assert_eq!(waiting.programs().collect::<Vec<_>>(), [OpId(3)]);
    }

    #[test]
    fn requests_go_in_in_the_order_in_which_they_came() {
        let mut waiting = Waiting::default();
        assert!(waiting.is_open());
        for number in 0..3 {
            let request = HostRequest::new(HostOp::Write, number, 1);
            waiting.hold_up(HeldUp { request, number, data: HeldData::NONE });
        }
        assert_eq!(waiting.requests().map(|held_up| held_up.number).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(waiting.first_request().map(|request| request.lba.0), Some(0));
        assert_eq!(waiting.take_request().map(|held_up| held_up.number), Some(0));
        assert_eq!((waiting.requests().len(), waiting.is_open()), (2, false));
    }
}
