//! # PA-SSD
//!
//! ## Source
//! W. Zhang, Q. Cao, H. Jiang, J. Yao, "PA-SSD: A Page-Type Aware TLC SSD for Improved Write/Read Performance and
//! Storage Efficiency", ICS 2018, section 4.
//!
//! ## Idea
//! A request is as slow as its slowest part, so all its parts get pages of one type, chosen per request. Relaxed program
//! constraints and up to three open blocks per plane make almost every choice possible.
//!
//! ## Algorithm
//! 1. When a write arrives, the specifiers choose its page type, which all its parts inherit (4.2).
//! 2. When a plane starts a program, it takes the page of that type in the open block for the type: the oldest block
//!    with such pages left, or for LSB an erased one (4.3.2, pa-BLAlloc).
//! 3. If that block has no such page that can be programmed now, the alternates follow in order (Fig. 8): CSB, MSB for
//!    LSB; LSB, MSB for CSB; CSB, LSB for MSB.
//! 4. UBS chooses the type of pages that GC copies.
//! 5. Incomplete wordlines are not buffered: a CSB page costs one extra page read, an MSB page two (section 5.1).
//! 6. A block that is open for no type can be a GC victim before all its pages are programmed (4.2, UBS).
//! 7. With `background_gc`, an idle die runs GC while LSB pages are short (section 6.3).
//!
//! ## Symbols
//! D: the region that holds all data. US, HGS, LFS, SBS, QDS, WBS, UBS: the specifiers of section 4.2.
//!
//! ## Parameters
//! - `specifier`: one, or several joined by `+`; each is used if those before it do not decide. Default QDS+UBS, the
//!   paper's best. HGS, SBS, QDS and WBS at the end fall back to US.
//! - `queue`: QDS chooses LSB if more requests than this are outstanding, reads and writes, the current one included;
//!   default 10 (section 5.3). With 0 it equals LFS.
//! - `small`: SBS chooses LSB for requests of at most this many pages; default 1 (section 5.3).
//! - `alternates`: `slow-first` (default) or `fast-first`: which type replaces a missing MSB page.
//! - `mode`: bits per cell; default the densest mode of the flash.
//! - `wordline_buffer`: `on` or `off`; default off (section 4.3.1).
//! - `background_gc`: share of free LSB pages of the drive below which idle dies run GC, or `off`; default off.
//! - `idle_after`: idle time before that starts; default 100ms.
//!
//! ## Differs
//! WBS looks at the write buffer of `ack = buffer`; without a buffer it equals LFS, as the paper says. The paper does not
//! state the order of alternates for MSB; the order here saves the scarce LSB pages.
//!
//! ## Not modelled
//! Interference between wordlines, which the paper considers acceptable.
//!
//! ## Checked by
//! `relaxed rule admits exactly its constraints`, `the candidates are those of the paper's figure 7`,
//! `every part of a request gets the type of the request`, `reference model`, golden rows.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use crate::parts::page_type::{Alternates, PageTypes, Settings};
use crate::registry::Entry;
use wordline_flash::ProgramRule;
use wordline_ftl::{
    Collect, DriveInfo, EarlierBits, Gather, Grain, Hooks, IdleWork, Layout, Memory, Origin, Parcel, Place,
    PlanePick, PoolId, Refusal, Region, RegionId, Scheme, Tag, View,
};
use wordline_units::{CellMode, Fraction, HostRequest, PageType, PlaneId, SimDuration};

const D: RegionId = RegionId(0);

pub(crate) const NAME: &str = "pa-ssd";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "one page type per request, chosen by load, size, hint or utilization", |p| {
        Box::new(PaSsd::from_parameters(p))
    })
    .docs(include_str!("pa_ssd.rs"))
    .takes(Parameter::new(
        "specifier",
        "QDS+UBS",
        "US, HGS, LFS, SBS, QDS, WBS, UBS or several joined by +; the key may be omitted",
    ))
    .takes(Parameter::new("queue", "10", "outstanding requests above which QDS selects LSB pages"))
    .takes(Parameter::new("small", "1", "largest request, in pages, that SBS treats as small"))
    .takes(Parameter::new(
        "alternates",
        "slow-first",
        "slow-first or fast-first: which page type replaces a missing MSB page",
    ))
    .takes(layout::MODE)
    .takes(layout::WORDLINE_BUFFER.or("off"))
    .takes(Parameter::new(
        "background_gc",
        "off",
        "share of free LSB pages below which idle dies run GC, or off",
    ))
    .takes(layout::IDLE_AFTER)
    .leading("specifier")
    .small("QDS+UBS,queue=2")
    .small("US")
}

/// Page types chosen for whole requests.
#[derive(Clone, Debug)]
pub struct PaSsd {
    settings: Settings,
    mode: Option<CellMode>,
    earlier_bits: EarlierBits,
    background_gc: Option<Fraction>,
    idle_after: SimDuration,
    types: PageTypes,
    /// LSB pages of the drive, set by `layout`.
    lsb_pages: u64,
}

impl PaSsd {
    fn from_parameters(p: &mut Parameters) -> PaSsd {
        let orders = [("slow-first", Alternates::SlowFirst), ("fast-first", Alternates::FastFirst)];
        let settings = Settings {
            specifiers: p.take("specifier"),
            queue: p.take("queue"),
            small: p.take("small"),
            alternates: p.choice("alternates", &orders),
        };
        let background_gc = if p.is("background_gc", "off") {
            None
        } else {
            Some(p.within("background_gc", Fraction::ZERO..=Fraction::ONE))
        };
        PaSsd {
            types: PageTypes::new(settings.clone(), D, 3),
            settings,
            mode: layout::take_mode(p),
            earlier_bits: layout::take_earlier_bits(p),
            background_gc,
            idle_after: layout::take_idle_after(p),
            lsb_pages: 0,
        }
    }
}

#[wordline_ftl::hooks]
impl Scheme for PaSsd {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let refuse = layout::refuser(NAME, drive);
        let medium = layout::only_medium(drive, &refuse)?;
        let mode = layout::by_page(medium, self.mode, layout::unpacked(drive), &refuse)?;
        self.types = PageTypes::new(self.settings.clone(), D, mode.bits() as u8);
        let blocks = medium.topology.planes() as u64 * medium.blocks_per_plane as u64;
        self.lsb_pages = blocks * medium.wordlines_per_block as u64;
        let d = Region {
            earlier_bits: self.earlier_bits,                                     // (5)
            partial_victims: true,                                               // (6)
            ..layout::region(drive, "D", PoolId(0), mode, ProgramRule::Relaxed)  // (2)
        };
        let needless = if self.background_gc.is_some() { Hooks::NONE } else { Hooks::IDLE };
        Ok(Layout {
            enabled_hooks: Hooks::ALL.without(needless),
            idle_after: self.idle_after,
            ..layout::one_region(medium, d)
        })
    }

    fn admit(&mut self, request: &HostRequest, view: &View) -> Tag {
        Tag(self.types.of_request(request, view) as u8) // (1)
    }

    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        let page = match parcel.origin {
            Origin::Host(tag) => PageType::ALL[tag.0 as usize & 3],
            Origin::Sealed | Origin::Collected(_) | Origin::Moved(_) => self.types.of_collected(view), // (4)
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route: self.types.route(page) } // (3)
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        let least = self.background_gc?.of(self.lsb_pages);
        let short = view.free_pages(D)[PageType::Lsb as usize] < least;
        // (7)
        (short && !view.draining() && view.best(D, plane).is_some())
            .then_some(IdleWork::Collect(Collect { region: D, block: None }, Grain::Page))
    }

    fn seed(&mut self, seed: u64) {
        self.types.seed(seed);
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Some(self.types.memory())
    }
}
