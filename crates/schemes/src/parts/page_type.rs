//! The page type of a write: the seven specifiers of PA-SSD as a component, for any region whose blocks are
//! programmed page by page under the relaxed rule.
//!
//! Source: W. Zhang, H. Jiang, Q. Cao, J. Yao, "PA-SSD", ICS 2018, sections 4.2 and 4.3.2.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use wordline_flash::SlotClass;
use wordline_ftl::{RegionId, Route, View};
use wordline_units::{HostRequest, LatencyHint, PageType};

/// A way to choose the page type of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Specifier {
    /// Uniformly: the types in turn.
    Us,
    /// By the host's latency hint, if any.
    Hgs,
    /// LSB first: always LSB.
    Lfs,
    /// LSB for small requests.
    Sbs,
    /// LSB while the device's queue is long.
    Qds,
    /// LSB while the write buffer is full.
    Wbs,
    /// At random, in proportion to the pages left of each type.
    Ubs,
}

impl Specifier {
    const ALL: [(&'static str, Specifier); 7] = [
        ("US", Specifier::Us),
        ("HGS", Specifier::Hgs),
        ("LFS", Specifier::Lfs),
        ("SBS", Specifier::Sbs),
        ("QDS", Specifier::Qds),
        ("WBS", Specifier::Wbs),
        ("UBS", Specifier::Ubs),
    ];

    fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Whether it decides every request.
    fn always_decides(self) -> bool {
        matches!(self, Specifier::Us | Specifier::Lfs | Specifier::Ubs)
    }
}

/// Specifiers in order, each used if those before it do not decide, as in `QDS+UBS`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Specifiers(Vec<Specifier>);

impl FromStr for Specifiers {
    type Err = String;

    fn from_str(text: &str) -> Result<Specifiers, String> {
        let named = |word: &str| {
            let found = Specifier::ALL.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
            found.map(|(_, specifier)| *specifier).ok_or_else(|| {
                let names: Vec<&str> = Specifier::ALL.iter().map(|(name, _)| *name).collect();
                format!("{word:?} is not one of {}; join several with +, as in QDS+UBS", names.join(", "))
            })
        };
        let mut chain = text.split('+').map(|w| named(w.trim())).collect::<Result<Vec<_>, _>>()?;
        if let Some(end) = chain.iter().position(|s| s.always_decides()).filter(|at| at + 1 < chain.len()) {
            return Err(format!(
                "{text:?}: {} decides every request, so {} is never used; put it last",
                chain[end].name(),
                chain[end + 1].name()
            ));
        }
        // The paper's own fallback, section 4.2.
        if chain.last().is_none_or(|s| !s.always_decides()) {
            chain.push(Specifier::Us);
        }
        Ok(Specifiers(chain))
    }
}

impl fmt::Display for Specifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(|s| s.name()).collect::<Vec<_>>().join("+"))
    }
}

/// The replacement for a missing page of the slowest type, which the paper's Fig. 8 leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Alternates {
    /// The next slower first, which saves the fast pages.
    SlowFirst,
    /// The fastest first.
    FastFirst,
}

/// Settings of the specifiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    pub specifiers: Specifiers,
    /// QDS: with more requests than these in the drive, LSB.
    pub queue: u32,
    /// SBS: a request of at most this many pages is small.
    pub small: u32,
    pub alternates: Alternates,
}

/// What they remember.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// US: the type that is next.
    turn: u8,
    /// UBS: what it draws from.
    random: Pcg64Mcg,
}

/// The specifiers at work on a region.
#[derive(Clone, Debug)]
pub(crate) struct PageTypes {
    settings: Settings,
    region: RegionId,
    /// Bits a cell of the region holds.
    bits: u8,
    memory: Memory,
}

impl PageTypes {
    pub fn new(settings: Settings, region: RegionId, bits: u8) -> PageTypes {
        let memory = Memory { turn: 0, random: Pcg64Mcg::new(1) };
        PageTypes { settings, region, bits, memory }
    }

    /// What they remember, for a saved state.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    pub fn seed(&mut self, seed: u64) {
        self.memory.random = Pcg64Mcg::new(seed as u128);
    }

    /// The type for all parts of a host write.
    pub fn of_request(&mut self, request: &HostRequest, view: &View) -> PageType {
        let unit = view.geometry().unit;
        let first = request.lba.0 * 512 / unit;
        let pages = ((request.lba.0 + request.blocks as u64) * 512).div_ceil(unit) - first;
        for i in 0..self.settings.specifiers.0.len() {
            let chosen = match self.settings.specifiers.0[i] {
                Specifier::Us => Some(self.in_turn()),
                Specifier::Lfs => Some(PageType::Lsb),
                Specifier::Ubs => Some(self.by_chance(view)),
                Specifier::Hgs => self.by_hint(request.attributes.hint()),
                Specifier::Sbs => (pages <= self.settings.small as u64).then_some(PageType::Lsb),
                Specifier::Qds => (view.outstanding() > self.settings.queue).then_some(PageType::Lsb),
                // Without a buffer there is nothing that could fill.
                Specifier::Wbs => {
                    view.free_buffer_pages().is_none_or(|room| room <= pages).then_some(PageType::Lsb)
                }
            };
            if let Some(page) = chosen {
                return page;
            }
        }
        PageType::Lsb
    }

    /// The type for a page that GC copies: always by what is left (section 4.2, UBS).
    pub fn of_collected(&mut self, view: &View) -> PageType {
        self.by_chance(view)
    }

    /// Slots of a type, then the alternates (Fig. 8): the slowest is the last choice of the others.
    pub fn route(&self, page: PageType) -> Route {
        let mut others: Vec<PageType> =
            PageType::ALL[..self.bits as usize].iter().copied().filter(|p| *p != page).collect();
        if page as u8 + 1 == self.bits && self.settings.alternates == Alternates::SlowFirst {
            others.reverse();
        }
        let mut classes = vec![SlotClass::of(page)];
        classes.extend(others.into_iter().map(SlotClass::of));
        Route::classes(self.region, &classes)
    }

    fn in_turn(&mut self) -> PageType {
        let page = PageType::ALL[self.memory.turn as usize];
        self.memory.turn = (self.memory.turn + 1) % self.bits;
        page
    }

    fn by_hint(&self, hint: LatencyHint) -> Option<PageType> {
        Some(match hint {
            LatencyHint::None => return None,
            LatencyHint::Short => PageType::Lsb,
            LatencyHint::Medium => PageType::Csb,
            LatencyHint::Long => PageType::ALL[self.bits as usize - 1],
        })
    }

    fn by_chance(&mut self, view: &View) -> PageType {
        let left = view.free_pages(self.region);
        let all: u64 = left.iter().sum();
        let mut drawn = ((self.memory.random.next_u64() as u128 * all as u128) >> 64) as u64;
        for (page, left) in PageType::ALL.into_iter().zip(left) {
            if drawn < left {
                return page;
            }
            drawn -= left;
        }
        PageType::Lsb
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifiers_are_written_as_they_are_read() {
        for text in ["US", "LFS", "UBS", "SBS+US", "SBS+UBS", "QDS+US", "QDS+UBS", "HGS+QDS+LFS", "WBS+UBS"] {
            assert_eq!(text.parse::<Specifiers>().unwrap().to_string(), text);
        }
        assert_eq!("qds+ubs".parse::<Specifiers>().unwrap().to_string(), "QDS+UBS");
    }

    #[test]
    fn what_may_have_no_answer_falls_back_on_us() {
        for text in ["HGS", "SBS", "QDS", "WBS"] {
            assert_eq!(text.parse::<Specifiers>().unwrap().to_string(), format!("{text}+US"));
        }
    }

    #[test]
    fn a_specifier_that_would_never_be_asked_is_refused() {
        for (text, never) in [("US+UBS", "UBS"), ("LFS+US", "US"), ("QDS+UBS+SBS", "SBS")] {
            let e = text.parse::<Specifiers>().unwrap_err();
            assert!(e.contains(&format!("{never} is never used")), "{e}");
        }
        assert!("QDS+XYZ".parse::<Specifiers>().unwrap_err().contains("HGS"));
    }

    fn types(alternates: Alternates, bits: u8) -> PageTypes {
        let settings = Settings { specifiers: "US".parse().unwrap(), queue: 10, small: 1, alternates };
        PageTypes::new(settings, RegionId(0), bits)
    }

    fn classes(route: Route) -> Vec<SlotClass> {
        route.targets().map(|t| t.class).collect()
    }

    #[test]
    fn slowest_page_is_the_last_alternate_of_the_others() {
        use SlotClass::{Csb, Lsb, Msb, Tsb};
        let tlc = types(Alternates::SlowFirst, 3);
        assert_eq!(classes(tlc.route(PageType::Lsb)), [Lsb, Csb, Msb]);
        assert_eq!(classes(tlc.route(PageType::Csb)), [Csb, Lsb, Msb]);
        assert_eq!(classes(tlc.route(PageType::Msb)), [Msb, Csb, Lsb]);
        let fast = types(Alternates::FastFirst, 3);
        assert_eq!(classes(fast.route(PageType::Msb)), [Msb, Lsb, Csb]);
        assert_eq!(classes(types(Alternates::SlowFirst, 4).route(PageType::Tsb)), [Tsb, Msb, Csb, Lsb]);
    }

    #[test]
    fn us_gives_each_type_its_turn() {
        let mut mlc = types(Alternates::SlowFirst, 2);
        let turns: Vec<PageType> = (0..4).map(|_| mlc.in_turn()).collect();
        assert_eq!(turns, [PageType::Lsb, PageType::Csb, PageType::Lsb, PageType::Csb]);
    }
}
