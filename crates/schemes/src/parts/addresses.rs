//! To which plane a page of two media goes: where the drive finds space, or to that of an address.
//!
//! A layer above two drives gives each page an address in the drive that holds it; an address is of one plane for good,
//! and a page that comes in takes the address that another gave up. That is DiskSim's SSD extension (`ssd_choose_element`:
//! page number modulo elements) under FCL's reverse map (`reverse_map_alloc_blk`: the address given up first, else the next
//! free one).

use crate::parameters::Parameters;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_ftl::PlanePick;
use wordline_units::PlaneId;

/// How the plane of a page is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Placing {
    /// By space and load.
    Space(PlanePick),
    /// By its address.
    Address,
}

impl Placing {
    pub fn take(p: &mut Parameters) -> Placing {
        let words = [
            ("roomiest", Placing::Space(PlanePick::MostFree)),
            ("level", Placing::Space(PlanePick::Level)),
            ("idlest", Placing::Space(PlanePick::Any)),
            ("static", Placing::Address),
        ];
        p.choice("place", &words)
    }
}

/// The addresses of pages on two media. Empty, it ignores all pages.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Addresses {
    /// The plane of each page's address; none of pages without one.
    planes: Vec<PlaneId>,
    media: Vec<AddressSpace>,
}

/// The addresses of one medium.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AddressSpace {
    first: u32,
    /// Pages with an address in each plane.
    held: Vec<u32>,
    /// The most of them.
    most: u32,
    /// Whether the two pages of a pair share an address.
    pairs: bool,
    /// The planes of addresses that were given up, the first one first.
    given_up: VecDeque<PlaneId>,
    /// The plane of the address taken or given up last.
    last: PlaneId,
}

impl Addresses {
    pub fn new(pages: u32, media: [AddressSpace; 2]) -> Addresses {
        Addresses { planes: vec![PlaneId::NONE; pages as usize], media: media.into() }
    }

    /// A page lies in a plane from the beginning.
    pub fn found(&mut self, page: u32, plane: PlaneId) {
        if let Some(of_page) = self.planes.get_mut(page as usize)
            && let Some(space) = self.media.iter_mut().find(|space| space.has(plane))
        {
            *of_page = plane;
            space.take(plane);
        }
    }

    /// The plane of a page's address in a medium: the one that it has, or one that it takes now for the one that it had
    /// in the other.
    pub fn enter(&mut self, medium: usize, page: u32) -> PlaneId {
        let plane = self.planes[page as usize];
        if self.media[medium].has(plane) {
            return plane;
        }
        self.leave(page);
        let shared = self.shared(medium, page);
        let space = &mut self.media[medium];
        let plane = shared.unwrap_or_else(|| space.next());
        space.take(plane);
        self.planes[page as usize] = plane;
        plane
    }

    /// A page gives up its address, if it has one, and the other page of its pair has no part in it.
    pub fn leave(&mut self, page: u32) {
        let Some(of_page) = self.planes.get_mut(page as usize) else { return };
        let plane = std::mem::replace(of_page, PlaneId::NONE);
        let Some(medium) = self.media.iter().position(|space| space.has(plane)) else { return };
        let is_shared = self.shared(medium, page).is_some();
        self.media[medium].give_up(plane, is_shared);
    }

    /// The plane of the other page of a pair, if both share an address of this medium.
    fn shared(&self, medium: usize, page: u32) -> Option<PlaneId> {
        let space = &self.media[medium];
        let other = *self.planes.get((page ^ 1) as usize)?;
        (space.pairs && space.has(other)).then_some(other)
    }
}

impl AddressSpace {
    /// The addresses of a medium's planes, each of which holds at most `most` pages.
    pub fn new(planes: std::ops::Range<u32>, most: u32, pairs: bool) -> AddressSpace {
        AddressSpace {
            first: planes.start,
            held: vec![0; planes.len()],
            most,
            pairs,
            given_up: VecDeque::new(),
            last: PlaneId(planes.end - 1),
        }
    }

    fn has(&self, plane: PlaneId) -> bool {
        (self.first..self.first + self.held.len() as u32).contains(&plane.0)
    }

    fn held(&mut self, plane: PlaneId) -> &mut u32 {
        &mut self.held[(plane.0 - self.first) as usize]
    }

    fn take(&mut self, plane: PlaneId) {
        *self.held(plane) += 1;
        self.last = plane;
    }

    fn give_up(&mut self, plane: PlaneId, is_shared: bool) {
        *self.held(plane) -= 1;
        if !is_shared {
            self.given_up.push_back(plane);
            self.last = plane;
        }
    }

    /// The plane of the address given up first, else of the next free one; if no plane has any, the one that holds least.
    fn next(&mut self) -> PlaneId {
        let most = self.most;
        while let Some(plane) = self.given_up.pop_front() {
            if *self.held(plane) < most {
                return plane;
            }
        }
        let planes = self.held.len() as u32;
        let behind = self.last.0 - self.first + 1;
        let in_turn = (0..planes).map(|step| ((behind + step) % planes) as usize);
        let free = in_turn.clone().find(|at| self.held[*at] < most);
        let at = free.or_else(|| in_turn.min_by_key(|at| self.held[*at])).unwrap_or(0);
        PlaneId(self.first + at as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages 0 to 7 on planes 0 and 1, the others on planes 2 to 4, where pairs share an address.
    fn addresses() -> Addresses {
        let mut a = Addresses::new(20, [AddressSpace::new(0..2, 5, false), AddressSpace::new(2..5, 6, true)]);
        (0..8).for_each(|page| a.found(page, PlaneId(page % 2)));
        (8..20).for_each(|page| a.found(page, PlaneId(2 + page / 2 % 3)));
        a
    }

    #[test]
    fn pages_that_change_places_take_each_others_plane() {
        let mut a = addresses();
        let (was, other) = (a.planes[3], a.planes[10]);
        a.leave(10);
        a.leave(11);
        assert_eq!(a.enter(1, 3), other);
        assert_eq!((a.enter(0, 10), a.enter(0, 10)), (was, was));
        assert_eq!(a.media[0].held, [4, 4]);
    }

    #[test]
    fn address_given_up_first_is_taken_first() {
        let mut a = addresses();
        let given_up = [2, 1, 7].map(|page| {
            let plane = a.planes[page as usize];
            a.leave(page);
            plane
        });
        assert_eq!([8, 9, 10].map(|page| a.enter(0, page)), given_up);
        // None is left, and the next free one is of the next plane, which has fewer than five.
        assert_eq!(a.enter(0, 11), PlaneId(0));
        assert_eq!((a.enter(0, 12), a.media[0].held.clone()), (PlaneId(1), vec![5, 5]));
        // More than there are: the least.
        assert_eq!(a.enter(0, 13), PlaneId(0));
    }

    #[test]
    fn pair_keeps_its_address_until_both_have_left() {
        let mut a = addresses();
        let plane = a.planes[8];
        a.enter(0, 8);
        assert!(a.media[1].given_up.is_empty());
        assert_eq!(a.enter(1, 8), plane);
        a.enter(0, 8);
        a.enter(0, 9);
        assert_eq!(a.media[1].given_up, [plane]);
        assert_eq!(a.enter(1, 0), plane);
        // The other page of the pair joins it.
        assert_eq!(a.enter(1, 1), plane);
    }

    #[test]
    fn empty_addresses_ignore_pages() {
        let mut a = Addresses::default();
        a.found(3, PlaneId(1));
        a.leave(3);
        assert!(a.planes.is_empty());
    }
}
