//! What survives a power cut? Random drives, schemes and operations, cut at random instants: every
//! acknowledged or flushed write is found again, and the map that recovery builds from page metadata
//! is the committed one. Then small scenes, cut at every instant at which something happens.

use crate::support::{self, Rng, Tiny};
use std::collections::{BTreeMap, HashMap, HashSet};
use wordline_device::{DeviceSpec, Trigger, Victim};
use wordline_flash::{ProgramRule, SlotClass};
use wordline_ftl::{
    Bytes, Cause, DriveInfo, EarlierBits, FreeOrder, Gather, Hooks, Initial, Layout, Located, MapKind,
    Mapped, Media, Metadata, MovedIn, NoMedia, OpKind, Origin, Outcome, Parcel, Place, PlanePick, Pool,
    PoolId, Recorded, Refusal, Region, RegionId, Route, Scheme, View,
};
use wordline_sim::{Device, Event, NoProbe, Probe};
use wordline_units::{CellMode, Fraction, HostOp, HostRequest, Lpn, Ppn, SectorMask, SimDuration, SimTime};

const SECTOR: usize = 512;

/// A cache in front of one-shot blocks whose program buffer is safe from a power cut, so that a block of the
/// cache may be erased while its last pages wait.
#[derive(Clone, Debug)]
struct ProtectedBuffer;

#[wordline_ftl::hooks]
impl Scheme for ProtectedBuffer {
    fn name(&self) -> &str {
        "safe-stager"
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let region = |name, pool, mode, rule, safe: bool| Region {
            name: std::borrow::Cow::Borrowed(name),
            pool: PoolId(pool),
            mode,
            rule,
            quota: u32::MAX,
            trigger: Trigger::FreeBlocks(Fraction::percent(30)),
            victim: if safe { Victim::Greedy } else { Victim::Fifo },
            pad_after: (!safe).then_some(SimDuration(500_000)),
            pad_host_after: SimDuration(500_000),
            protected: safe,
            earlier_bits: EarlierBits::Buffered,
            partial_victims: false,
            evicts_to_other_pool: false,
            moved_in: MovedIn::Packed,
            slot_quota: u64::MAX,
        };
        let blocks = drive.geometry.media[0].blocks_per_plane;
        Ok(Layout {
            pools: [4, blocks - 4]
                .map(|n| Pool { medium: 0, blocks_per_plane: n, free: FreeOrder::Fifo })
                .into(),
            regions: vec![
                region("S", 0, CellMode::Slc, ProgramRule::Sequential, false),
                region("D", 1, CellMode::Tlc, ProgramRule::OneShot(3), true),
            ],
            home: RegionId(1),
            second_home: None,
            map: MapKind::Page,
            merges: None,
            enabled_hooks: Hooks::ALL,
            tick_every_writes: 0,
            idle_after: SimDuration(100_000),
        })
    }
    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let (s, d) = (RegionId(0), RegionId(1));
        let route = match parcel.origin {
            Origin::Host(_) => Route::to(s, SlotClass::Next).or(d, SlotClass::Next),
            _ => Route::to(d, SlotClass::Next),
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }
}

const SCHEMES: u64 = support::SCHEMES as u64 + 1;

fn scheme(which: u64, tiny: &mut Tiny) -> (Box<dyn Scheme>, u32) {
    if which < support::SCHEMES as u64 {
        return support::scheme(which as usize, tiny);
    }
    tiny.one_shot = true;
    tiny.spare += 4;
    (Box::new(ProtectedBuffer), 3)
}

/// Sees that no torn slot is read and none programmed before its block has been erased, and when
/// anything happens.
#[derive(Default)]
struct Watch {
    torn: HashSet<Ppn>,
    slot_shift: u32,
    events: u32,
    moments: Vec<u64>,
    wrong: Option<String>,
}

impl Probe for Watch {
    const WATCHES: bool = true;
    fn event(&mut self, event: Event) {
        self.events += 1;
        assert!(self.events < 400_000, "the drive goes round in circles");
        match event {
            Event::Array { kind, ppn, start, end, .. } => {
                self.moments.extend([start.0, end.0]);
                if kind == OpKind::Erase {
                    // Nothing is read or programmed in the block until the erase has ended.
                    self.torn.retain(|t| t.0 >> self.slot_shift != ppn.0 >> self.slot_shift);
                } else if self.torn.contains(&ppn) {
                    self.wrong = Some(format!("{kind:?} of the torn place {ppn}"));
                }
            }
            Event::Bus { start, end, .. } => self.moments.extend([start.0, end.0]),
            Event::Ready { at, .. } => self.moments.push(at.0),
        }
    }
}

/// A request changed a cell: a logical page under a page map, which is written as a whole, or a
/// sector under a sector map.
struct Change {
    number: u64,
    is_trim: bool,
    after: Vec<u64>,
}

#[derive(Default)]
struct Cell {
    /// As it was found when the power last came.
    found: Vec<u64>,
    changes: Vec<Change>,
}

impl Cell {
    fn now(&self) -> &[u64] {
        self.changes.last().map_or(&self.found, |c| &c.after)
    }
}

struct Run {
    spec: DeviceSpec,
    scheme: Box<dyn Scheme>,
    device: Device<Watch, Bytes>,
    cells: Vec<Cell>,
    /// Sectors of a cell.
    per_cell: usize,
    per_unit: u64,
    /// What reads under way shall find.
    expected: HashMap<u64, Vec<u64>>,
    under_way: BTreeMap<u64, HostOp>,
    acknowledged: HashSet<u64>,
    /// Everything before this request is flushed.
    flushed: u64,
    stamp: u64,
    name: String,
    tally: Tally,
}

/// What the cases came across, so that a suite can tell that it tried what it claims.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    cuts: u64,
    torn_programs: u64,
    torn_erases: u64,
    lost_requests: u64,
    protected: u64,
    undone_trims: u64,
    logged: u64,
    /// Pages found at another copy of the same version, programmed later than the committed one.
    twins: u64,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.cuts += other.cuts;
        self.torn_programs += other.torn_programs;
        self.torn_erases += other.torn_erases;
        self.lost_requests += other.lost_requests;
        self.protected += other.protected;
        self.undone_trims += other.undone_trims;
        self.logged += other.logged;
        self.twins += other.twins;
    }
}

impl Run {
    fn new(tiny: &Tiny, bits: u32, scheme: Box<dyn Scheme>) -> Run {
        // Sectors kept apart cannot fill a drive laid out for pages: a sector takes a whole slot.
        let mut spec = tiny.spec(if bits == 0 { 2 } else { bits });
        if bits == 0 {
            let bytes = spec.logical_bytes() / tiny.sectors_per_unit as u64 / 2;
            let unit = spec.unit.0;
            spec.capacity =
                wordline_device::Capacity::Logical(wordline_units::Bytes((bytes / unit).max(1) * unit));
        }
        if tiny.map_cache > 0 {
            let (cached, changes) = (tiny.map_cache as u64, tiny.map_journal as u64);
            support::map_on_flash(&mut spec, scheme.as_ref(), cached, changes);
        }
        support::in_superblocks(&mut spec, scheme.as_ref(), tiny.superblock);
        let name = format!("{} on {tiny:?}", scheme.name());
        let geometry = spec.geometry().unwrap();
        // Half of the buffers keep pages back, under schemes that take whole pages.
        let (high, low) = (wordline_units::Fraction::ONE, wordline_units::Fraction::percent(34));
        let flush = Some(wordline_device::Flush { high, low, idle: None });
        let keeps = wordline_device::DeviceSpec { flush, ..spec.clone() };
        let is_taken =
            || Device::<Watch, Bytes>::new(&keeps, &geometry, scheme.clone(), Watch::default()).is_ok();
        if spec.ack.is_buffer() && tiny.wordlines.is_multiple_of(2) && is_taken() {
            spec = keeps;
        }
        let watch = Watch { slot_shift: geometry.slot_shift, ..Watch::default() };
        let device = Device::new(&spec, &geometry, scheme.clone(), watch).unwrap_or_else(|e| panic!("{e}"));
        let sectors = spec.logical_bytes() as usize / SECTOR;
        let by_page = device.ftl.layout().map == MapKind::Page;
        let per_cell = if by_page { tiny.sectors_per_unit as usize } else { 1 };
        Run {
            cells: (0..sectors / per_cell)
                .map(|_| Cell { found: vec![0; per_cell], changes: vec![] })
                .collect(),
            spec,
            scheme,
            device,
            per_cell,
            per_unit: tiny.sectors_per_unit as u64,
            expected: HashMap::new(),
            under_way: BTreeMap::new(),
            acknowledged: HashSet::new(),
            flushed: 0,
            stamp: 0,
            name,
            tally: Tally::default(),
        }
    }

    fn sectors(&self) -> u64 {
        (self.cells.len() * self.per_cell) as u64
    }

    fn error<T>(&self, what: String) -> Result<T, String> {
        Err(format!("{}: {what}", self.name))
    }

    /// Submit a request over some sectors, and note what it changes.
    fn submit(&mut self, op: HostOp, first: u64, last: u64, at: u64) -> Result<(), String> {
        let range = first as usize..last as usize;
        let mut data = vec![];
        self.stamp += 1;
        let blocks = if op == HostOp::Flush { 0 } else { (last - first) as u32 };
        let request = HostRequest::new(op, first, blocks).at(SimTime(at));
        if op == HostOp::Write {
            data = self.stamp.to_le_bytes().repeat(SECTOR / 8 * range.len());
        }
        // What has ended by then has ended before the request.
        self.collect(SimTime(at))?;
        let number = match self.device.submit_with(request, SimTime(at), &data) {
            Ok(number) => number,
            Err(e) => return self.error(e.to_string()),
        };
        self.under_way.insert(number, op);
        let per = self.per_cell;
        match op {
            HostOp::Read => {
                let all: Vec<u64> = range.clone().map(|s| self.cells[s / per].now()[s % per]).collect();
                self.expected.insert(number, all);
            }
            HostOp::Write | HostOp::Trim => {
                for cell in first as usize / per..(last as usize).div_ceil(per) {
                    let (from, to) = (cell * per, (cell + 1) * per);
                    let is_trim = op == HostOp::Trim;
                    if is_trim && (from < range.start || to > range.end) {
                        continue;
                    }
                    let mut after = self.cells[cell].now().to_vec();
                    let part = from.max(range.start) - from..to.min(range.end) - from;
                    after[part].fill(if is_trim { 0 } else { self.stamp });
                    self.cells[cell].changes.push(Change { number, is_trim, after });
                }
            }
            HostOp::Flush => {}
        }
        Ok(())
    }

    fn step(&mut self, rng: &mut Rng) -> Result<(), String> {
        let longest = [1, 5_000, 400_000][rng.below(3) as usize];
        let at = self.device.now().0 + rng.below(longest);
        let all = self.sectors();
        // Half of the requests meet in a few places, so that they overtake one another.
        let first = if rng.below(2) == 0 { rng.below(all) } else { rng.below(all.min(12)) };
        let last = (first + 1 + rng.below(11)).min(all);
        let op = match rng.below(20) {
            0..=11 => HostOp::Write,
            12..=14 => HostOp::Read,
            15..=17 => HostOp::Trim,
            _ => HostOp::Flush,
        };
        self.submit(op, first, last, at)
    }

    fn collect(&mut self, until: SimTime) -> Result<(), String> {
        loop {
            match self.device.next_completion(until) {
                Ok(Some(c)) => self.completed(&c)?,
                Ok(None) => break,
                Err(e) => return self.error(e.to_string()),
            }
        }
        match self.device.probe.wrong.take() {
            Some(wrong) => self.error(wrong),
            None => Ok(()),
        }
    }

    fn completed(&mut self, c: &wordline_sim::Completion) -> Result<(), String> {
        if !matches!(c.outcome, Outcome::Done | Outcome::Uncorrectable) {
            return self.error(format!("request {} ends {:?}", c.number, c.outcome));
        }
        match self.under_way.remove(&c.number) {
            None => return self.error(format!("request {} completes, and was not under way", c.number)),
            Some(HostOp::Write) => _ = self.acknowledged.insert(c.number),
            Some(HostOp::Flush) => self.flushed = self.flushed.max(c.number),
            Some(HostOp::Read | HostOp::Trim) => {}
        }
        let Some(expected) = self.expected.remove(&c.number) else { return Ok(()) };
        let found = stamps(&c.data);
        if let Some(i) = (0..found.len()).find(|i| found[*i] != expected[*i]) {
            let (sector, found, expected) = (c.request.lba.0 + i as u64, found[i], expected[i]);
            return self.error(format!(
                "request {} reads sector {sector} as {found}, which is {expected}",
                c.number
            ));
        }
        Ok(())
    }

    fn places(&mut self) -> Vec<Vec<Located>> {
        let end = self.device.ftl.own_pages().end;
        (0..end).map(|lpn| self.device.ftl.locate(Lpn(lpn))).collect()
    }

    /// Cut the power now, let it come back, and compare what is found with what may be.
    fn cut(mut self) -> Result<Run, String> {
        self.collect(self.device.now())?;
        let committed = self.places();
        let wear: Vec<_> = self.device.ftl.wear().map(|(_, erases)| erases).collect();
        let mut off = self.device.power_cut();
        let (at, protected) = (off.at, off.image.protected_pages().collect::<HashSet<Lpn>>());
        let torn = off.image.media.metadata().torn(off.probe.slot_shift);
        let mut gone: Vec<u64> = off.lost.clone();
        gone.sort_unstable();
        let geometry = self.spec.geometry().unwrap();
        let log = off.image.media.metadata().trim_pages().count() as u64;
        self.tally.cuts += 1;
        self.tally.lost_requests += gone.len() as u64;
        self.tally.protected += protected.len() as u64;
        self.tally.logged += log;
        self.tally.torn_programs += torn.len() as u64;
        self.tally.torn_erases += (0..geometry.blocks)
            .filter(|b| {
                let found = off.image.media.metadata().block(wordline_units::BlockId(*b));
                found.is_some_and(|f| f.half_erased)
            })
            .count() as u64;
        off.probe.torn = torn.iter().copied().collect();
        self.device = Device::power_on(&self.spec, &geometry, self.scheme.clone(), off)
            .unwrap_or_else(|e| panic!("{}: {e}", self.name));
        if self.device.now() < at {
            return self.error("time runs backwards".into());
        }
        if gone != self.under_way.keys().copied().collect::<Vec<_>>() {
            return self.error(format!("{:?} are under way, {gone:?} are lost", self.under_way));
        }
        self.under_way.clear();
        self.expected.clear();
        let found_wear: Vec<_> = self.device.ftl.wear().map(|(_, erases)| erases).collect();
        if wear != found_wear {
            return self.error("erase counts differ".into());
        }
        if let Err(e) = self.device.ftl.check() {
            return self.error(format!("after recovery: {e}"));
        }
        self.compare_maps(&committed, &protected, &torn)?;
        self.read_everything()
    }

    /// The recovered map against the committed one. A page that was trimmed and not flushed may be
    /// mapped again; one in protected RAM may still be found at the place that it left.
    fn compare_maps(
        &mut self,
        committed: &[Vec<Located>],
        protected: &HashSet<Lpn>,
        torn: &[Ppn],
    ) -> Result<(), String> {
        let recovered = self.places();
        let logical = self.device.ftl.trim_log().start;
        let safe = self.device.ftl.layout().regions.iter().any(|r| r.protected);
        for lpn in (0..committed.len() as u32).map(Lpn) {
            let (was, is) = (&committed[lpn.0 as usize], &recovered[lpn.0 as usize]);
            if let Some(torn) = is.iter().find(|l| torn.contains(&l.ppn)) {
                return self.error(format!("logical page {lpn} is mapped to the torn place {}", torn.ppn));
            }
            let moved = lpn.0 >= logical && was.is_empty() && safe;
            if protected.contains(&lpn) || moved {
                continue;
            }
            for sector in 0..self.per_unit as u32 {
                let bit = SectorMask(1 << sector);
                let at = |l: &[Located]| l.iter().find(|l| l.mask.covers(bit)).map(|l| l.ppn);
                let (was, is) = (at(was), at(is));
                if was == is || (lpn.0 < logical && self.trimmed_since_flush(lpn, sector)) {
                    continue;
                }
                let media = &self.device.ftl.media;
                let order = |ppn: Ppn| {
                    let oobs = media.metadata().page(ppn).iter().filter(|o| o.span.lpn == lpn);
                    oobs.filter(|o| self.per_cell > 1 || o.span.mask.covers(bit))
                        .map(|o| (o.version, o.sequence))
                        .next()
                };
                let twins = was.zip(is).is_some_and(|(was, is)| {
                    let (was, is) = (order(was).unwrap_or_default(), order(is).unwrap_or_default());
                    was.0 == is.0 && was.1 < is.1
                });
                if !twins {
                    return self.error(format!(
                        "sector {sector} of logical page {lpn} is committed at {was:?} and recovered at {is:?}"
                    ));
                }
                self.tally.twins += 1;
            }
        }
        Ok(())
    }

    fn trimmed_since_flush(&self, lpn: Lpn, sector: u32) -> bool {
        let cell = (lpn.0 as u64 * self.per_unit + sector as u64) as usize / self.per_cell;
        self.cells[cell].changes.iter().any(|c| c.is_trim && c.number >= self.flushed)
    }

    /// Every cell may be as the last change left it that is sure to have lasted, or as any later one
    /// did. What is found is what holds from now on.
    fn read_everything(mut self) -> Result<Run, String> {
        let request = HostRequest::new(HostOp::Read, 0, self.sectors() as u32).at(self.device.now());
        self.device.submit(request, self.device.now()).unwrap_or_else(|e| panic!("{e}"));
        let read = match self.device.next_completion(SimTime::NEVER) {
            Ok(Some(c)) => c,
            other => return self.error(format!("the drive cannot be read: {other:?}")),
        };
        let found = stamps(&read.data);
        for (i, found) in found.chunks(self.per_cell).enumerate() {
            let cell = &self.cells[i];
            let lasted =
                |c: &Change| c.number < self.flushed || (!c.is_trim && self.acknowledged.contains(&c.number));
            let floor = cell.changes.iter().rposition(lasted);
            let later = cell.changes[floor.unwrap_or(0)..].iter().map(|c| c.after.as_slice());
            let first = floor.is_none().then_some(cell.found.as_slice());
            let allowed: Vec<&[u64]> = first.into_iter().chain(later).collect();
            if !allowed.contains(&found) {
                let cell: Vec<String> = cell
                    .changes
                    .iter()
                    .map(|c| format!("{}{}:{:?}", if c.is_trim { "trim " } else { "" }, c.number, c.after))
                    .collect();
                return self.error(format!(
                    "cell {i} is found as {found:?}, but only {allowed:?} can be; flushed before {}, changes {cell:?}",
                    self.flushed
                ));
            }
            let is_back = self.cells[i].changes.last().is_some_and(|c| c.is_trim && c.after != found);
            self.tally.undone_trims += is_back as u64;
        }
        for (cell, found) in self.cells.iter_mut().zip(found.chunks(self.per_cell)) {
            *cell = Cell { found: found.to_vec(), changes: vec![] };
        }
        self.acknowledged.clear();
        Ok(self)
    }

    fn finish(mut self) -> Result<Tally, String> {
        self.collect(SimTime::NEVER)?;
        if let Err(e) = self.device.drain() {
            return self.error(e.to_string());
        }
        self.collect(SimTime::NEVER)?;
        if self.device.outstanding() > 0 || !self.device.ftl.is_quiet() {
            return self.error(format!("{} are left", self.device.ftl.leftovers()));
        }
        if let Err(e) = self.device.ftl.check() {
            return self.error(e.to_string());
        }
        let now = self.device.now().0;
        self.submit(HostOp::Read, 0, self.sectors(), now)?;
        self.collect(SimTime::NEVER)?;
        assert!(self.expected.is_empty(), "a read never completed");
        Ok(self.tally)
    }
}

fn stamps(data: &[u8]) -> Vec<u64> {
    data.chunks(SECTOR).map(|s| u64::from_le_bytes(s[..8].try_into().unwrap())).collect()
}

type Build = fn(&mut Tiny) -> (Box<dyn Scheme>, u32);

/// Requests on a drive, each with the time at which it is submitted.
struct Scene {
    name: &'static str,
    scheme: Build,
    /// Whether the drive is full before.
    full: bool,
    requests: Vec<(HostOp, u64, u64, u64)>,
}

impl Scene {
    fn run(&self) -> Run {
        let mut tiny = Tiny { blocks: 12, wordlines: 2, spare: 7, ..Tiny::default() };
        let (scheme, bits) = (self.scheme)(&mut tiny);
        let mut run = Run::new(&tiny, bits, scheme);
        run.name = format!("{}, {}", self.name, run.name);
        if self.full {
            let units = (run.sectors() / run.per_unit) as u32;
            run.device.ftl.precondition(&Initial::holding(Mapped::First(units)), 5).unwrap();
        }
        run
    }

    fn play(&self, run: &mut Run, until: u64) -> Result<(), String> {
        for (op, first, last, at) in self.requests.iter().filter(|r| r.3 <= until) {
            run.submit(*op, *first, *last, *at)?;
        }
        run.collect(SimTime(until))
    }

    /// Cut the power at every time at which something happens, and just before.
    fn cut_at_every_moment(&self) -> Tally {
        let mut whole = self.run();
        self.play(&mut whole, u64::MAX).unwrap_or_else(|e| panic!("{e}"));
        let moments = whole.device.probe.moments.iter().flat_map(|t| [t.saturating_sub(1), *t]);
        let moments: std::collections::BTreeSet<u64> = moments.collect();
        let mut tally = Tally::default();
        for at in moments {
            match self.cut_at(at) {
                Ok(t) => tally.add(t),
                Err(e) => panic!("cut at {at} ns: {e}"),
            }
        }
        tally
    }

    fn cut_at(&self, at: u64) -> Result<Tally, String> {
        let mut run = self.run();
        self.play(&mut run, at)?;
        run.device.advance_to(SimTime(at)).map_err(|e| e.to_string())?;
        run = run.cut()?;
        let mut rng = Rng(at);
        for i in 0..120 {
            if i == 60 {
                run = run.cut()?;
            }
            run.step(&mut rng)?;
        }
        run.finish()
    }
}

#[test]
fn a_program_may_be_cut_at_any_moment() {
    use HostOp::{Flush, Write};
    let requests = vec![(Write, 0, 4, 0), (Write, 4, 12, 0), (Write, 2, 6, 9_000), (Flush, 0, 0, 50_000)];
    let scene = Scene { name: "program", scheme: |t| support::scheme(0, t), full: false, requests };
    assert!(scene.cut_at_every_moment().torn_programs > 0);
}

#[test]
fn a_one_shot_program_may_be_cut_at_any_moment() {
    use HostOp::{Flush, Write};
    let requests = vec![(Write, 0, 16, 0), (Write, 1, 3, 100_000), (Flush, 0, 0, 120_000)];
    let scene = Scene { name: "one-shot", scheme: |t| support::scheme(1, t), full: false, requests };
    assert!(scene.cut_at_every_moment().torn_programs > 0);
}

#[test]
fn a_read_modify_write_may_be_cut_at_any_moment() {
    use HostOp::{Trim, Write};
    let requests = vec![
        (Write, 1, 3, 0),
        (Write, 4, 8, 0),
        (Write, 5, 6, 1_000),
        (Trim, 0, 4, 2_000),
        (Write, 2, 3, 2_500),
        (Write, 8, 9, 3_000),
        (Trim, 8, 12, 3_500),
    ];
    let schemes: [Build; 3] =
        [|t| support::scheme(0, t), |t| support::scheme(1, t), |t| support::scheme(2, t)];
    for scheme in schemes {
        let scene = Scene { name: "read-modify-write", scheme, full: true, requests: requests.clone() };
        assert!(scene.cut_at_every_moment().lost_requests > 0);
    }
}

#[test]
fn a_trim_and_its_flush_may_be_cut_at_any_moment() {
    use HostOp::{Flush, Trim, Write};
    let requests = vec![
        (Trim, 0, 12, 0),
        (Flush, 0, 0, 0),
        (Write, 4, 8, 5_000),
        (Trim, 4, 16, 30_000),
        (Flush, 0, 0, 31_000),
        (Flush, 0, 0, 32_000),
        (Trim, 16, 20, 33_000),
        (Write, 17, 18, 150_000),
    ];
    let schemes: [Build; 2] = [|t| support::scheme(0, t), |t| support::scheme(3, t)];
    for scheme in schemes {
        let scene = Scene { name: "trim", scheme, full: true, requests: requests.clone() };
        let tally = scene.cut_at_every_moment();
        assert!(tally.undone_trims > 0 && tally.logged > 0, "{tally:?}");
    }
}

/// Twice as many overwrites as the drive has pages, with a trim between now and then.
fn overwrites(pages: u64) -> Vec<(HostOp, u64, u64, u64)> {
    (0..pages * 2)
        .map(|i| {
            let first = i * 7 % pages * 4;
            let op = if i % 9 == 8 { HostOp::Trim } else { HostOp::Write };
            (op, first, first + 4, i * 20_000)
        })
        .collect()
}

#[test]
fn a_collection_and_its_erase_may_be_cut_at_any_moment() {
    let schemes: [Build; 4] = [
        |t| support::scheme(0, t),
        |t| support::scheme(1, t),
        |t| support::scheme(4, t),
        |t| scheme(SCHEMES - 1, t),
    ];
    for scheme in schemes {
        let mut scene = Scene { name: "collection", scheme, full: true, requests: vec![] };
        let run = scene.run();
        scene.requests = overwrites(run.sectors() / run.per_unit);
        let tally = scene.cut_at_every_moment();
        assert!(tally.torn_erases > 0 && tally.torn_programs > 0, "{tally:?}");
    }
}

/// A write whose parts are placed apart took along what waited for its page, which its other part wrote anew; both had
/// the version of the write, and what was moved last won.
#[test]
fn parts_of_a_write_that_are_placed_apart_may_be_cut_at_any_moment() {
    use HostOp::{Flush, Write};
    let mut requests = vec![];
    for round in 0..30 {
        let (first, at) = (round * 7 % 5 * 4, round * 150_000);
        requests.extend([
            (Write, first + 1, first + 2, at),
            (Write, first, first + 3, at + 3_000),
            (Write, round * 3 % 20, round * 3 % 20 + 3, at + 5_000),
        ]);
        if round % 4 == 3 {
            requests.push((Flush, 0, 0, at + 6_000));
        }
    }
    let slow: Build = |t| {
        (t.bus, t.wordlines, t.blocks) = ("20ns/B", 3, 14);
        support::scheme(21, t)
    };
    let scene = Scene { name: "divided", scheme: slow, full: false, requests };
    assert!(scene.cut_at_every_moment().lost_requests > 0);
}

fn fresh<M: Media + Default>(scheme: &str) -> (DeviceSpec, Device<NoProbe, M>) {
    let spec = Tiny::default().spec(1);
    let scheme = wordline_schemes::build(scheme).unwrap();
    let device = Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    (spec, device)
}

fn ask<M: Media>(d: &mut Device<NoProbe, M>, op: HostOp, first: u64, blocks: u32) -> SimDuration {
    let now = d.now();
    d.submit(HostRequest::new(op, first, blocks).at(now), now).unwrap();
    let c = d.next_completion(SimTime::NEVER).unwrap().unwrap();
    assert_eq!(c.outcome, Outcome::Done);
    c.at.since(now)
}

#[test]
fn a_flush_programs_what_was_trimmed_since_the_last_one_and_nothing_else() {
    let (_, mut d) = fresh::<NoMedia>("conventional:mode=slc");
    let program = SimDuration(2_048 + 20_000); // of one page: its transfer, and the array
    let logged = |d: &Device<NoProbe, NoMedia>| d.ftl.counters().program_bytes(Cause::Metadata);
    assert_eq!(ask(&mut d, HostOp::Flush, 0, 0), SimDuration(0));
    assert_eq!(ask(&mut d, HostOp::Trim, 0, 8), SimDuration(0));
    assert_eq!(ask(&mut d, HostOp::Flush, 0, 0), SimDuration(0), "nothing was ever written there");
    ask(&mut d, HostOp::Write, 0, 8);
    assert_eq!(ask(&mut d, HostOp::Trim, 0, 8), SimDuration(0));
    assert_eq!(logged(&d), 0);
    assert_eq!(ask(&mut d, HostOp::Flush, 0, 0), program);
    assert_eq!(logged(&d), 2_048);
    assert_eq!(ask(&mut d, HostOp::Flush, 0, 0), SimDuration(0));
    assert_eq!((logged(&d), d.ftl.mapped()), (2_048, 0));
    d.ftl.check().unwrap();
}

#[test]
fn what_the_media_keep_changes_no_result() {
    fn hash<M: Media + Default>() -> String {
        let (_, mut d) = fresh::<M>("conventional:mode=slc");
        let pages = d.ftl.logical_lbas() / 4;
        let mut rng = Rng(3);
        for _ in 0..2_000 {
            let op = [HostOp::Write, HostOp::Write, HostOp::Trim, HostOp::Flush, HostOp::Read]
                [rng.below(5) as usize];
            let now = d.now();
            let blocks = if op == HostOp::Flush { 0 } else { 1 + rng.below(4) as u32 };
            d.submit(HostRequest::new(op, rng.below(pages) * 4, blocks).at(now), now).unwrap();
            while d.outstanding() > 6 {
                d.next_completion(SimTime::NEVER).unwrap();
            }
        }
        d.drain().unwrap();
        assert!(d.ftl.counters().program_bytes(Cause::Metadata) > 0);
        d.metrics.result_hash(&d.ftl.counters().integers())
    }
    assert_eq!(hash::<NoMedia>(), hash::<Metadata>());
    assert_eq!(hash::<NoMedia>(), hash::<Bytes>());
}

#[test]
fn a_drive_is_ready_when_every_programmed_page_has_been_sensed() {
    let (spec, mut d) = fresh::<Metadata>("conventional:mode=slc");
    ask(&mut d, HostOp::Write, 0, 20);
    let off = d.power_cut();
    let at = off.at;
    let scheme = wordline_schemes::build("conventional:mode=slc").unwrap();
    let d = Device::power_on(&spec, &spec.geometry().unwrap(), scheme, off).unwrap();
    // Of 12 blocks of 4 pages one is full and one has a page: 4 + 1, and a blank page in 11 of them.
    assert_eq!(d.now().since(at), SimDuration(16 * 3_000));
}

#[test]
fn a_layout_that_did_not_write_the_flash_is_refused() {
    let (spec, mut d) = fresh::<Metadata>("slc-cache");
    ask(&mut d, HostOp::Write, 0, 4);
    let scheme = wordline_schemes::build("conventional").unwrap();
    let refusal = Device::power_on(&spec, &spec.geometry().unwrap(), scheme, d.power_cut()).err().unwrap();
    assert!(
        refusal.to_string().contains("with the device, scheme and parameters that it ran under"),
        "{refusal}"
    );
}

fn run(seed: u64, length: u64) -> Result<Tally, String> {
    let mut rng = Rng(seed);
    let mut tiny = Tiny::drawn(&mut rng, 4);
    let (scheme, bits) = scheme(rng.below(SCHEMES), &mut tiny);
    let mut run = Run::new(&tiny, bits, scheme);
    if rng.below(2) == 0 {
        let units = run.sectors() / run.per_unit;
        let initial = Initial::holding(Mapped::First(units as u32));
        run.device.ftl.precondition(&initial, seed).unwrap_or_else(|e| panic!("{e}"));
    }
    let mut until_cut = 1 + rng.below(200);
    for _ in 0..length {
        run.step(&mut rng)?;
        until_cut -= 1;
        if until_cut > 0 {
            continue;
        }
        until_cut = 1 + rng.below(200);
        let now = run.device.now();
        let event = run.device.next_event().unwrap_or(now);
        let at = match rng.below(5) {
            0 => now,
            1 => event,
            2 => SimTime(now.0.max(event.0.saturating_sub(1))),
            3 => SimTime(now.0 + rng.below(100_000)),
            _ => SimTime(now.0 + rng.below(2_000_000)),
        };
        run.collect(at)?;
        if run.device.advance_to(at).is_err() {
            return run.error("the drive stops".into());
        }
        run = run.cut()?;
    }
    run.finish()
}

/// The shortest failing run of a seed: the case to replay.
fn shrink(seed: u64, length: u64) -> u64 {
    (1..length).find(|shorter| catch(seed, *shorter).is_err()).unwrap_or(length)
}

fn catch(seed: u64, length: u64) -> Result<Tally, String> {
    match std::panic::catch_unwind(|| run(seed, length)) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Err(text.or(panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap_or_default())
        }
    }
}

#[test]
fn what_is_acknowledged_or_flushed_survives_any_power_cut() {
    let number =
        |name: &str, default: u64| std::env::var(name).map_or(default, |v| v.parse().expect("a number"));
    let (first, cases) = (number("WORDLINE_SEED", 1), number("WORDLINE_CASES", 400));
    let mut tally = Tally::default();
    let failures: Vec<String> = (first..first + cases)
        .filter_map(|seed| {
            let length = Rng(seed ^ 0x6375_7473).below(700);
            match catch(seed, length) {
                Ok(t) => {
                    tally.add(t);
                    None
                }
                Err(e) => {
                    let length = shrink(seed, length);
                    let replay = "cargo test -p wordline-sim --test it power_cut::replays";
                    Some(format!("{e}\n  replay: WORDLINE_CASE={seed}:{length} {replay}"))
                }
            }
        })
        .take(10)
        .collect();
    println!("{tally:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let Tally { cuts, torn_programs, torn_erases, lost_requests, protected, undone_trims, logged, .. } =
        tally;
    let met = [cuts, torn_programs, torn_erases, lost_requests, protected, undone_trims, logged];
    assert!(cases < 400 || met.iter().all(|n| *n > 0), "the cases do not try everything: {tally:?}");
}

#[test]
fn replays_the_case_that_the_environment_names() {
    let Ok(case) = std::env::var("WORDLINE_CASE") else { return };
    let (seed, length) = case.split_once(':').expect("WORDLINE_CASE=SEED:LENGTH");
    run(seed.parse().expect("a seed"), length.parse().expect("a length")).unwrap_or_else(|e| panic!("{e}"));
}
