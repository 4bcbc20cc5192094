//! The static home of a logical page: consecutive pages step through channels, chips, dies and
//! planes in a given order, the first level fastest.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use wordline_device::Level;
use wordline_flash::Topology;
use wordline_units::{Lpn, PlaneId};

/// Steps to a plane that has an equal share where others have not.
const STEPS: f64 = 1024.0;

/// Static allocation over the planes of one medium.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Steps", into = "Steps")]
pub struct Stripe {
    first_plane: u32,
    /// Logical pages that share a physical page, which stay together.
    units_per_page: u32,
    /// The plane of each step, and the number of the step among those of its plane.
    order: Vec<u32>,
    number: Vec<u32>,
    /// The steps of each plane, one plane after another, and where those of each begin, with the end of all.
    steps: Vec<u32>,
    begins: Vec<u32>,
}

/// A stripe as it is saved.
#[derive(Clone, Serialize, Deserialize)]
struct Steps {
    first_plane: u32,
    units_per_page: u32,
    order: Vec<u32>,
    steps: Vec<u32>,
}

impl TryFrom<Steps> for Stripe {
    type Error = &'static str;

    fn try_from(saved: Steps) -> Result<Stripe, Self::Error> {
        let planes = saved.order.iter().max().map_or(0, |last| *last as usize + 1);
        // Each plane up to the last.
        let found: BTreeSet<&u32> = saved.order.iter().collect();
        match saved.units_per_page > 0 && planes > 0 && found.len() == planes {
            true => Ok(Stripe::through(saved.first_plane, saved.units_per_page, saved.order)),
            false => Err("a stripe visits each of its planes"),
        }
    }
}

impl From<Stripe> for Steps {
    fn from(stripe: Stripe) -> Steps {
        let Stripe { first_plane, units_per_page, order, steps, .. } = stripe;
        Steps { first_plane, units_per_page, order, steps }
    }
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
        Stripe::through(first_plane, units_per_page, order)
    }

    /// The stripe that steps through planes in this order, each of them at least once.
    fn through(first_plane: u32, units_per_page: u32, order: Vec<u32>) -> Stripe {
        let mut steps: Vec<u32> = (0..order.len() as u32).collect();
        steps.sort_by_key(|step| order[*step as usize]);
        let (mut number, mut begins) = (vec![0; order.len()], vec![0]);
        for (at, step) in (0..).zip(&steps) {
            let plane = order[*step as usize] as usize;
            if at > 0 && plane == begins.len() {
                begins.push(at);
            }
            number[*step as usize] = at - begins[plane];
        }
        begins.push(steps.len() as u32);
        Stripe { first_plane, units_per_page, order, number, steps, begins }
    }

    /// The same planes with these shares of the pages, as multiples of an equal share; without shares, the same stripe.
    pub fn with_shares(&self, shares: &[f64]) -> Stripe {
        let steps = |share: &f64| ((share * STEPS).round() as u32).max(1);
        match shares.is_empty() {
            true => self.clone(),
            false => self.weighted(&shares.iter().map(steps).collect::<Vec<_>>()),
        }
    }

    /// The same planes with other numbers of steps, one for each plane, none of them 0. The steps of a plane are as evenly
    /// apart as they can be.
    fn weighted(&self, counts: &[u32]) -> Stripe {
        let mut steps: Vec<(f64, u32)> = vec![];
        for plane in &self.order {
            let count = counts[*plane as usize];
            steps.extend((0..count).map(|i| ((f64::from(i) + 0.5) / f64::from(count), *plane)));
        }
        // Of those at one place, the planes come in their order so far.
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        Stripe::through(self.first_plane, self.units_per_page, steps.into_iter().map(|s| s.1).collect())
    }

    /// The planes that it steps through.
    pub fn planes(&self) -> Range<u32> {
        self.first_plane..self.first_plane + self.begins.len() as u32 - 1
    }

    /// The same in the order of the stripe.
    pub fn in_order(&self) -> impl Iterator<Item = u32> + '_ {
        self.order.iter().map(|plane| self.first_plane + plane)
    }

    /// Logical pages that share a physical page.
    #[inline(always)]
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
        let step = (page % n) as usize;
        let plane = self.order[step];
        let row = page / n * self.steps_of(plane).len() as u32 + self.number[step];
        (PlaneId(self.first_plane + plane), row * self.units_per_page + unit)
    }

    /// The steps to a plane of the stripe, increasing.
    #[inline(always)]
    fn steps_of(&self, plane: u32) -> &[u32] {
        &self.steps[self.begins[plane as usize] as usize..self.begins[plane as usize + 1] as usize]
    }

    /// The logical page at a position of a plane; the inverse of [`Self::home`].
    pub fn resident(&self, plane: PlaneId, position: u32) -> Lpn {
        self.row(plane).resident(position)
    }

    /// The logical pages of a plane, by their positions there.
    #[inline(always)]
    pub fn row(&self, plane: PlaneId) -> Row<'_> {
        let (n, units) = (self.order.len() as u32, self.units_per_page);
        Row { steps: self.steps_of(plane.0 - self.first_plane), n, units }
    }

    /// How many of the first `count` logical pages have their home in a plane.
    pub fn residents_below(&self, plane: PlaneId, count: u32) -> u32 {
        let (n, steps) = (self.order.len() as u32, self.steps_of(plane.0 - self.first_plane));
        let (pages, rest) = (count / self.units_per_page, count % self.units_per_page);
        let before = steps.partition_point(|step| *step < pages % n);
        let whole = pages / n * steps.len() as u32 + before as u32;
        let is_next = steps.get(before) == Some(&(pages % n));
        whole * self.units_per_page + if is_next { rest } else { 0 }
    }
}

/// The steps of a stripe to one of its planes.
pub(crate) struct Row<'a> {
    steps: &'a [u32],
    /// Steps of the whole stripe.
    n: u32,
    units: u32,
}

impl Row<'_> {
    /// The logical page at a position.
    #[inline(always)]
    pub fn resident(&self, position: u32) -> Lpn {
        let (page, unit) =
            if self.units == 1 { (position, 0) } else { (position / self.units, position % self.units) };
        let (round, step) = match self.steps {
            [step] => (page, *step),
            steps => (page / steps.len() as u32, steps[(page % steps.len() as u32) as usize]),
        };
        Lpn((round * self.n + step) * self.units + unit)
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
    fn weighted_stripe_gives_each_plane_its_share() {
        use Level::*;
        let even = Stripe::new(T, 3, 1, [Channel, Plane, Die, Chip]);
        let same = even.weighted(&[5; 24]);
        assert!((0..480).all(|lpn| same.home(Lpn(lpn)) == even.home(Lpn(lpn))));
        let counts: Vec<u32> = (0..24).map(|plane| 90 + plane).collect();
        let period: u32 = counts.iter().sum();
        let s = even.weighted(&counts);
        for (plane, count) in s.planes().zip(&counts) {
            assert_eq!(s.residents_below(PlaneId(plane), 3 * period), 3 * count);
            // Of each tenth of the pages as many as of all, up to one.
            let tenth = f64::from(s.residents_below(PlaneId(plane), period / 10));
            assert!((tenth - f64::from(*count) / 10.0).abs() <= 1.0, "{plane}: {tenth} of {count}");
        }
        let bytes = postcard::to_stdvec(&s).unwrap();
        let back: Stripe = postcard::from_bytes(&bytes).unwrap();
        assert!((0..9999).all(|lpn| back.home(Lpn(lpn)) == s.home(Lpn(lpn))));
    }

    #[test]
    fn home_and_resident_are_inverse_and_counts_add_up() {
        use Level::*;
        for (units, counts_of) in [(1, None), (2, None), (4, None), (1, Some(7)), (4, Some(7))] {
            let even = Stripe::new(T, 5, units, [Die, Channel, Plane, Chip]);
            let counts = |more: u32| (0..24_u32).map(|plane| more + plane % 3).collect::<Vec<_>>();
            let s = counts_of.map_or(even.clone(), |more| even.weighted(&counts(more)));
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
