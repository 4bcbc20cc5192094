//! # HySSD
//!
//! ## Source
//! Y. Oh, E. Lee, J. Choi, D. Lee, S. H. Noh, "Hybrid Solid State Drives for Improved Performance and Enhanced
//! Lifetime", MSST 2013, section II.
//!
//! ## Idea
//! A drive of two media keeps frequently written data in the faster, superior medium. A model of the cost of a page
//! write chooses its utilization, or it is chosen so that both media wear out together.
//!
//! ## Algorithm
//! 1. Every host write goes to the superior medium. A page that lay in the inferior medium moves with the write at no
//!    extra cost (II.C, passive).
//! 2. If the superior medium already holds its target number of pages, the least recently written page is destaged
//!    to the inferior medium first, and the write waits for that (II.B, C_PW_HY).
//! 3. The scheme records writes by their stack distance in an LRU order of written pages, and reads by the depth at
//!    which they find their page (II.A).
//! 4. Every N page writes, the Analyser finds the utilization u of the superior medium with the least cost per page
//!    access, trying values in ascending order (eq. 3), and sets the target accordingly. Older records count half.
//! 5. Life then moves u up by one step if the superior medium has more remaining lifetime, else down (eq. 4).
//! 6. Pages above the target that have not been written for some periods are destaged in idle time (II.C).
//! 7. GC copies pages within their medium and plane.
//! 8. If writes fill the superior medium nevertheless, GC destages the pages that it copies.
//!
//! ## Symbols
//! S, T: the regions of the superior and the inferior medium. B: pages that S can hold. u, N, L, H_w, H_r, IO_W, C: as in
//! the paper; see `cost_model.rs`.
//!
//! ## Parameters
//! - `policy`: `perf` (default), `life` or `static`; the key may be omitted.
//! - `u`: utilization of the superior medium, under `perf` and `life` until the first period ends; default 50%.
//! - `tlc_unit`: how mapping units share larger pages of T. `packed` (default): they wait for other units in a protected
//!   buffer of one page, and the Analyser charges their share of a program. `rmw`: a unit is written with the other unit
//!   of its page, which is read before; each is charged a whole program, as in C_PW_HY. Requires pages of T with two
//!   units. `unpacked`: each unit has its own page. `mixed`: packed, but charged a whole program.
//! - `rest`: cost of the read of `rmw` in the Analyser: `free` (default), as in C_PW_HY, or `charged`.
//! - `period`: N; default 65536, 110 periods of Financial.
//! - `counts`: unit of a period: written `pages` (default) or write `requests`.
//! - `used`: E_USED: mean `erases` (default) of a medium's blocks; `programs`, all bytes programmed in it over its
//!   size; `writes`, the same without GC.
//! - `reads`: a read page of T may `stay` (default) or `move` to S as if written; each write then makes space for two.
//! - `place`: plane of a write or destage: `roomiest` (default), the one with the most free space, in steps of a
//!   sixteenth of a block, which levels the planes; `level`, the idlest within one such step of the roomiest;
//!   `idlest`, of all with free space; `static`, the one that a page just left (the first of several), as in DiskSim
//!   under FCL, for `rmw` or `unpacked`.
//! - `grid`: step of u from 5 to 98 %; default 1%, in FCL 6.25%.
//! - `step`: change of u per period under Life; default `grid`.
//! - `age`: periods after which a page above the target is destaged; default 10.
//! - `idle_after`: idle time before that; default 10ms.
//!
//! ## Differs
//! The paper states none of these defaults. Values of u that leave a medium too little space are omitted.
//!
//! ## Not modelled
//! Wear leveling, which the paper assumes to be perfect: both count means.
//!
//! ## Checked by
//! `superior medium meets its target from the start`, `miss waits for the destage and a hit does not`, `no u from 5 to 98 % locks the
//! drive up`, `lifetimes count what they are told to`, `the cost model` tables, `reference model`, golden rows.

use crate::cost_model::{Costs, Hybrid, Mix};
use crate::parameters::{Parameter, Parameters, Wanted};
use crate::parts::addresses::{AddressSpace, Addresses, Placing};
use crate::parts::analyser::Analyser;
use crate::parts::classifier::Classifier;
use crate::parts::layout;
use crate::parts::lifetime_use::{Counted, Ledger, Used};
use crate::parts::pair::{Half, Pair, TlcUnit};
use crate::registry::Entry;
use serde::{Deserialize, Serialize};
use wordline_flash::{ProgramRule, SlotClass};
use wordline_ftl::{
    DriveInfo, FreeOrder, Gather, Hooks, IdleHold, IdleWork, Layout, MapKind, Memory, Metrics, Move, Origin,
    Parcel, Place, PlanePick, Pool, PoolId, ReadSeen, Refusal, Region, RegionId, Route, Scheme, Tag, View,
};
use wordline_units::{Fraction, HostRequest, Lpn, PlaneId, Ppn, Rate, SimDuration};

const S: RegionId = RegionId(0);
const T: RegionId = RegionId(1);

pub(crate) const NAME: &str = "hyssd";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(
        NAME,
        "two media, with data distributed by an analytic cost model or by remaining endurance",
        |p| Box::new(Hyssd::from_parameters(p)),
    )
    .docs(include_str!("hyssd.rs"))
    .takes(Parameter::new("policy", "perf", "perf, life or static; the key may be omitted"))
    .takes(Parameter::new("u", "50%", "utilization of the superior medium, initial or fixed"))
    .takes(Parameter::new(
        "tlc_unit",
        "packed",
        "packed, rmw, unpacked or mixed: how mapping units share larger pages, and the cost of that in the model",
    ))
    .takes(Parameter::new(
        "rest",
        "free",
        "free or charged: cost in the model of the read before a read-modify-write",
    ))
    .takes(Parameter::new("period", "65536", "writes from one analysis to the next"))
    .takes(Parameter::new("counts", "pages", "pages or requests: unit of a period"))
    .takes(Parameter::new(
        "used",
        "erases",
        "erases, programs or writes: what wears out a medium",
    ))
    .takes(Parameter::new(
        "reads",
        "stay",
        "stay or move: whether a read moves a page of the inferior medium to the superior one",
    ))
    .takes(Parameter::new(
        "place",
        "roomiest",
        "roomiest, level, idlest or static: how to choose the plane of a page",
    ))
    .takes(Parameter::new("grid", "1%", "distance of the utilizations that the model tries, 0.1% to 50%"))
    .takes(Parameter::new("step", "grid", "grid, or the step of u in a period under life"))
    .takes(Parameter::new("age", "10", "periods after which idle time moves a surplus page"))
    .takes(layout::IDLE_AFTER.or("10ms"))
    .leading("policy")
    .small("life,period=16,age=1,idle_after=100us")
    .small("perf,tlc_unit=unpacked,period=8,age=2,idle_after=50us")
    .small("perf,tlc_unit=rmw,period=8,age=2,idle_after=50us")
    .small("static,u=50%,period=16,age=1,idle_after=100us")
    .small("life,reads=move,place=level,used=programs,counts=requests,period=8,age=1,idle_after=100us")
    .small("life,tlc_unit=rmw,place=static,grid=6.25%,used=programs,period=8,age=1,idle_after=100us")
    .small("perf,tlc_unit=unpacked,place=static,reads=move,step=3%,period=8,age=2,idle_after=50us")
}

/// State of HySSD other than the layout.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Memorised {
    classifier: Classifier,
    /// Whether the contents of S were scanned.
    has_stock: bool,
    /// Pages that S shall hold.
    target: u32,
    /// Offset of Life from the u of least cost.
    offset: f64,
    page_writes: u64,
    requests: u64,
    ledger: Ledger,
    /// Page writes and u, from the beginning of each period on in which u changed.
    chosen: Vec<[f64; 2]>,
    /// Under `place=static`.
    addresses: Addresses,
}

impl Memorised {
    /// Initial state of a drive of this many pages, S of which can hold `capacity` and should hold `target`.
    fn new(logical_pages: u32, capacity: u32, target: u32) -> Memorised {
        Memorised {
            classifier: Classifier::new(logical_pages, capacity),
            has_stock: false,
            target,
            offset: 0.0,
            page_writes: 0,
            requests: 0,
            ledger: Ledger::default(),
            chosen: vec![],
            addresses: Addresses::default(),
        }
    }
}

/// Data distributed over two media by a model.
#[derive(Clone, Debug)]
pub struct Hyssd {
    analyser: Analyser,
    u: Wanted<Fraction>,
    tlc_unit: TlcUnit,
    charges_rest: bool,
    period: u32,
    counts: Counted,
    used: Used,
    moves_on_read: bool,
    placing: Placing,
    age: u32,
    idle_after: SimDuration,
    /// Bytes of S and of T. This and the rest are set by `layout`.
    bytes: [u64; 2],
    /// The most pages that a plane of S holds and can still be collected.
    most_in_plane: u64,
    known: Memorised,
}

impl Hyssd {
    pub(crate) fn from_parameters(p: &mut Parameters) -> Hyssd {
        Hyssd {
            analyser: Analyser::take(p),
            u: Wanted { value: p.within("u", Fraction::ZERO..=Fraction::ONE), is_given: p.has("u") },
            tlc_unit: TlcUnit::take(p),
            charges_rest: p.choice("rest", &[("free", false), ("charged", true)]),
            period: p.whole("period", 1..=u32::MAX),
            counts: Counted::take(p),
            used: Used::take(p),
            moves_on_read: p.choice("reads", &[("stay", false), ("move", true)]),
            placing: Placing::take(p),
            age: p.whole("age", 0..=u32::MAX),
            idle_after: layout::take_idle_after(p),
            bytes: [0, 0],
            most_in_plane: 0,
            known: Memorised::new(0, 0, 0),
        }
    }

    pub(crate) fn analyser(&self) -> &Analyser {
        &self.analyser
    }

    /// What is known of the workload.
    pub(crate) fn classifier(&self) -> &Classifier {
        &self.known.classifier
    }

    pub(crate) fn classifier_mut(&mut self) -> &mut Classifier {
        &mut self.known.classifier
    }

    /// The drive begins with data in S, or the power was cut: find them, by their numbers.
    fn take_stock(&mut self, view: &View) {
        if std::mem::replace(&mut self.known.has_stock, true) {
            return;
        }
        for page in 0..view.logical_pages() {
            let Some((plane, region)) = view.locate(Lpn(page)).map(|ppn| view.owner(ppn)) else { continue };
            if region == S {
                self.known.classifier.found(page);
            }
            self.known.addresses.found(page, plane);
        }
    }

    /// Writes so far, as periods count them.
    fn counted(&self) -> u64 {
        match self.counts {
            Counted::Pages => self.known.page_writes,
            Counted::Requests => self.known.requests,
        }
    }

    /// The period that the drive is in.
    fn now(&self) -> u32 {
        (self.counted() / self.period as u64) as u32
    }

    /// A write that counts for periods was counted.
    fn tick_over(&mut self, kind: Counted, view: &View) {
        if kind == self.counts && self.counted().is_multiple_of(self.period as u64) {
            self.analyse(view);
        }
    }

    fn write(&mut self, page: u32, view: &View, first: &mut Vec<Move>) {
        let now = self.now();
        let was_resident = self.known.classifier.write(page, now); // (1), (3)
        if !was_resident {
            self.known.addresses.leave(page);
        }
        if !was_resident || self.moves_on_read {
            let surplus = self.known.classifier.residents().saturating_sub(self.known.target);
            // One in, one out, (2); above what S can hold at all, two, and where reads bring pages as well.
            let more = self.moves_on_read || self.known.classifier.residents() > self.analyser.targets()[1];
            for _ in 0..surplus.min(1 + more as u32) {
                first.extend(self.destage(page, view));
            }
        }
        self.known.page_writes += 1;
        self.tick_over(Counted::Pages, view);
    }

    /// Make space for a written page: destage the coldest other one whose newest data are in S.
    fn destage(&mut self, written: u32, view: &View) -> Option<Move> {
        let mut others = self.known.classifier.coldest_residents().filter(|page| *page != written);
        let (page, seen) = others.find_map(|page| {
            let seen = view.locate(Lpn(page)).filter(|ppn| view.owner(*ppn).1 == S)?;
            (!view.is_staged(Lpn(page))).then_some((page, seen))
        })?;
        drop(others);
        self.known.classifier.leave(page);
        Some(self.to(T, page, seen))
    }

    /// A page moves from its medium to the other one.
    fn to(&mut self, region: RegionId, page: u32, seen: Ppn) -> Move {
        let plane = self.plane(region, page);
        Move { lpn: Lpn(page), seen, plane, route: Route::to(region, SlotClass::Next) }
    }

    /// The plane of a page in a medium.
    fn plane(&mut self, region: RegionId, page: u32) -> PlanePick {
        match self.placing {
            Placing::Space(pick) => pick,
            Placing::Address => PlanePick::At(self.known.addresses.enter(region.0 as usize, page)),
        }
    }

    /// Whether a page that GC copies in a plane of S stays there. A burst of writes may fill it while all that could
    /// make room for them is on its way itself; then collection makes it.
    fn stays(&mut self, page: u32, plane: PlaneId, view: &View) -> bool {
        if view.live_units(S, plane) > self.most_in_plane {
            // (8)
            self.known.classifier.leave(page);
        }
        self.known.classifier.is_resident(page)
    }

    fn analyse(&mut self, view: &View) {
        let Some(model) = self.analyser.consulted() else { return };
        let c = &mut self.known.classifier;
        let ((h_w, h_r), io_w) = (c.hit_rates(), c.io_w());
        c.age();
        let mix = |u: f64| Mix { h_w: h_w.at(u), h_r: h_r.at(u), io_w };
        let Some(mut u) = self.analyser.least_cost(mix) else { return }; // (4)
        if self.analyser.is_for_life() {
            let [in_s, in_t] = self.known.ledger.cycles(self.used, view, self.bytes);
            let left = [model.superior.left_after(in_s), model.inferior.left_after(in_t)];
            u = self.analyser.balanced(u, left, &mut self.known.offset); // (5)
        }
        self.known.target = self.analyser.pages(u);
        self.note();
    }

    fn note(&mut self) {
        let u = self.analyser.utilisation(self.known.target);
        self.known.chosen.push([self.known.page_writes as f64, u]);
    }
}

#[wordline_ftl::hooks]
impl Scheme for Hyssd {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let refuse = layout::refuser(NAME, drive);
        let pair = Pair::of(drive).map_err(&refuse)?;
        if let Some(complaint) = pair.complaint(self.tlc_unit, self.placing) {
            return Err(refuse(complaint));
        }
        let Pair { fast, dense } = pair;
        self.bytes = [fast, dense].map(|half| half.slots() as u64 * drive.geometry.unit);
        let a = &mut self.analyser;
        a.set_bounds(fast.slots(), drive.logical_pages.saturating_sub(dense.holds()), fast.holds());
        self.most_in_plane = fast.holds_in_plane() as u64;
        let [least, most] = a.targets();
        let asked = self.u.value.as_f64();
        let fits = !self.u.is_given && least <= most;
        let chosen = if fits { a.pages(asked).clamp(least, most) } else { a.pages(asked) };
        if a.grid().next().is_none() || !(least..=most).contains(&chosen) {
            return Err(refuse(format!(
                "with u={:.2} of its {} pages in {} the drive cannot hold its {} logical pages and run GC; \
                 allowed: u from {:.4} to {:.4}; a lower capacity.logical widens this range",
                asked,
                a.capacity(),
                fast.medium.name,
                drive.logical_pages,
                a.utilisation(least),
                a.utilisation(most)
            )));
        }
        let costs = |half: Half| Costs::of(half.medium, half.mode);
        let (Some(superior), Some(inferior)) = (costs(fast), costs(dense)) else {
            return Err(refuse("its media have no usable cell mode".into()));
        };
        a.set_model(Hybrid {
            superior,
            inferior,
            s_superior: a.capacity() as f64,
            s_inferior: dense.slots() as f64,
            d_hybrid: drive.logical_pages as f64,
            programs_per_unit: self.tlc_unit.programs(dense.units),
            slots_per_unit: self.tlc_unit.slots(dense.units),
            c_rest: if self.charges_rest { inferior.c_pr } else { 0.0 },
        });
        self.known = Memorised::new(drive.logical_pages, a.capacity(), chosen);
        if self.placing == Placing::Address {
            let space = |half: Half, pairs: bool| {
                AddressSpace::new(drive.geometry.planes_of_medium(half.at), half.holds_in_plane(), pairs)
            };
            let pairs = self.tlc_unit == TlcUnit::Rewritten;
            self.known.addresses =
                Addresses::new(drive.logical_pages, [space(fast, false), space(dense, pairs)]);
        }
        self.note();
        let moved_in = self.tlc_unit.moved_in(dense.units);
        let region = |name, pool: u8, half: Half| Region {
            pad_after: None,
            protected: true,
            ..layout::region(drive, name, PoolId(pool), half.mode, ProgramRule::Sequential)
        };
        let pool = |half: Half| Pool {
            medium: half.at,
            blocks_per_plane: half.medium.blocks_per_plane,
            free: FreeOrder::Fifo,
        };
        Ok(Layout {
            pools: vec![pool(fast), pool(dense)],
            regions: vec![region("S", 0, fast), Region { moved_in, ..region("T", 1, dense) }],
            home: T,
            second_home: Some((S, chosen)),
            map: MapKind::Page,
            merges: None,
            enabled_hooks: Hooks::ALL,
            tick_every_writes: 0,
            idle_after: self.idle_after,
            idle_hold: IdleHold::Grain,
            idle_rate: Rate::OFF,
        })
    }

    fn admit(&mut self, _: &HostRequest, view: &View) -> Tag {
        self.known.requests += 1;
        self.tick_over(Counted::Requests, view);
        Tag::default()
    }

    fn make_room(&mut self, parcel: &Parcel, view: &View, first: &mut Vec<Move>) {
        self.take_stock(view);
        for span in parcel.spans {
            self.write(span.lpn.0, view, first);
        }
    }

    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        self.take_stock(view);
        let page = parcel.spans.first().map_or(0, |span| span.lpn.0);
        let (region, plane) = match parcel.origin {
            Origin::Host(_) | Origin::Sealed => (S, self.plane(S, page)), // (1)
            Origin::Collected(S) if !self.stays(page, parcel.home, view) => (T, self.plane(T, page)), // (8)
            Origin::Collected(region) | Origin::Moved(region) => (region, PlanePick::Home), // (7)
        };
        Place { gather: Gather::Fill, plane, route: Route::to(region, SlotClass::Next) }
    }

    fn read(&mut self, seen: &ReadSeen, view: &View) -> Option<Move> {
        let page = seen.lpn.0;
        self.known.classifier.read(page); // (3)
        let has_room = self.known.classifier.residents() < self.analyser.targets()[1];
        if !self.moves_on_read || !has_room || view.draining() || view.owner(seen.ppn).1 != T {
            return None;
        }
        self.take_stock(view);
        self.known.classifier.found(page);
        Some(self.to(S, page, seen.ppn))
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        self.take_stock(view);
        let now = self.now();
        let classifier = &mut self.known.classifier;
        if view.draining() || classifier.residents() <= self.known.target || !view.takes_moves(T) {
            return None;
        }
        let page = classifier.coldest_residents().next()?;
        if now - classifier.written_in(page) < self.age || view.is_staged(Lpn(page)) {
            return None;
        }
        let seen = view.locate(Lpn(page)).filter(|ppn| view.owner(*ppn) == (plane, S))?;
        self.known.classifier.leave(page);
        Some(IdleWork::Move(self.to(T, page, seen))) // (6)
    }

    fn on_trim(&mut self, lpn: Lpn) {
        self.known.classifier.remove(lpn.0);
        self.known.addresses.leave(lpn.0);
    }

    fn metrics(&self) -> Metrics<'_> {
        vec![("u".into(), (&self.known.chosen).into())]
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Some(&mut self.known)
    }
}
