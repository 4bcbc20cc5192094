//! The static home of a logical page: consecutive pages step through channels, chips, dies and
//! planes in a given order, the first level fastest.

use serde::{Deserialize, Serialize};
use std::ops::Range;
use wordline_device::Level;
use wordline_flash::Topology;
use wordline_units::{Lpn, PlaneId};

/// Static allocation over the planes of one medium.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stripe {
    first_plane: u32,
    /// Logical pages that share a physical page, which stay together.
    units_per_page: u32,
    /// The plane of each step.
    order: Vec<u32>,
    /// The step of each plane.
    step: Vec<u32>,
}

impl Stripe {
    /// The stripe over a medium whose first plane is `first_plane`.
    pub fn new(topology: Topology, first_plane: u32, units_per_page: u32, levels: [Level; 4]) -> Stripe {
        let t = topology;
        let size = |l| match l {
            Level::Channel => t.channels,
            Level::Chip => t.chips_per_channel,
            Level::Die => t.dies_per_chip,
            Level::Plane => t.planes_per_die,
        };
        let order: Vec<u32> = (0..t.planes())
            .map(|step| {
                let mut rest = step;
                let mut digit = [0u32; 4];
                for level in levels {
                    digit[level as usize] = rest % size(level);
                    rest /= size(level);
                }
                let [channel, chip, die, plane] = digit;
                ((channel * t.chips_per_channel + chip) * t.dies_per_chip + die) * t.planes_per_die + plane
            })
            .collect();
        let mut step = vec![0; order.len()];
        for (s, plane) in order.iter().enumerate() {
            step[*plane as usize] = s as u32;
        }
        Stripe { first_plane, units_per_page, order, step }
    }

    /// The planes that it steps through.
    pub fn planes(&self) -> Range<u32> {
        self.first_plane..self.first_plane + self.order.len() as u32
    }

    /// The same in the order of the steps.
    pub fn in_order(&self) -> impl Iterator<Item = u32> + '_ {
        self.order.iter().map(|plane| self.first_plane + plane)
    }

    /// Logical pages that share a physical page.
    #[inline]
    pub fn units_per_page(&self) -> u32 {
        self.units_per_page
    }

    /// The plane of a logical page.
    #[inline]
    pub fn plane(&self, lpn: Lpn) -> PlaneId {
        let page = if self.units_per_page == 1 { lpn.0 } else { lpn.0 / self.units_per_page };
        let n = self.order.len() as u32;
        let step = if n.is_power_of_two() { page & (n - 1) } else { page % n };
        PlaneId(self.first_plane + self.order[step as usize])
    }

    /// The plane of a logical page, and its position among the pages of that plane.
    pub fn home(&self, lpn: Lpn) -> (PlaneId, u32) {
        let n = self.order.len() as u32;
        let (page, unit) = (lpn.0 / self.units_per_page, lpn.0 % self.units_per_page);
        (PlaneId(self.first_plane + self.order[(page % n) as usize]), page / n * self.units_per_page + unit)
    }

    /// The logical page at a position of a plane; the inverse of [`Self::home`].
    pub fn resident(&self, plane: PlaneId, position: u32) -> Lpn {
        let n = self.order.len() as u32;
        let (row, unit) = (position / self.units_per_page, position % self.units_per_page);
        let page = row * n + self.step[(plane.0 - self.first_plane) as usize];
        Lpn(page * self.units_per_page + unit)
    }

    /// How many of the first `count` logical pages have their home in a plane.
    pub fn residents_below(&self, plane: PlaneId, count: u32) -> u32 {
        let n = self.order.len() as u32;
        let step = self.step[(plane.0 - self.first_plane) as usize];
        let (pages, rest) = (count / self.units_per_page, count % self.units_per_page);
        let whole = pages / n + (step < pages % n) as u32;
        whole * self.units_per_page + if pages % n == step { rest } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Topology = Topology { channels: 3, chips_per_channel: 2, dies_per_chip: 2, planes_per_die: 2 };

    #[test]
    fn the_first_level_steps_fastest() {
        use Level::*;
        let s = Stripe::new(T, 0, 1, [Channel, Chip, Die, Plane]);
        let plane = |lpn| s.plane(Lpn(lpn)).0;
        assert_eq!([plane(0), plane(1), plane(2), plane(3)], [0, 8, 16, 4]);
        let s = Stripe::new(T, 0, 1, [Plane, Die, Chip, Channel]);
        assert!((0..24).all(|l| s.plane(Lpn(l)).0 == l));
    }

    #[test]
    fn home_and_resident_are_inverse_and_counts_add_up() {
        use Level::*;
        for units in [1, 2, 4] {
            let s = Stripe::new(T, 5, units, [Die, Channel, Plane, Chip]);
            for lpn in 0..500 {
                let (plane, position) = s.home(Lpn(lpn));
                assert_eq!(s.resident(plane, position), Lpn(lpn));
                assert_eq!(s.plane(Lpn(lpn)), plane);
            }
            for count in [0, 1, 7, 48, 49, 50, 191, 500] {
                for p in s.planes() {
                    let brute = (0..count).filter(|l| s.plane(Lpn(*l)).0 == p).count() as u32;
                    assert_eq!(s.residents_below(PlaneId(p), count), brute, "{units} {count} {p}");
                }
            }
        }
    }
}
