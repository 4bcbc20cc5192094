//! A case of the swarm, drawn from its seed: a drive, a scheme, an initial state and a workload.
//! All requests are drawn before the drive runs, so that a shorter run of a case is a prefix of it.

use crate::support::{self, BySector, FastThenDense, Restless, Rng, Tiny, TwoLanes};
use std::sync::OnceLock;
use wordline_device::{
    Ack, Allocation, Arbitration, ArbitrationOrder, Capacity, DeviceSpec, Dram, Flush, GcClass, GcSpec,
    HostLink, HostQueue, Level, MergeBuffer, Multiplane, MultiplanePages, ParallelUnit, ProgramBuffer,
    Recheck, Service, ServiceOrder, Shares, SlcCache, Superblock, Suspension, Trigger, Victim, WearSpec,
    WhenFull,
};
use wordline_flash::{
    Beyond, CacheRegister, CommandOverhead, ErrorModel, Geometry, MOST_RETRIES, Medium, ModeErrors,
    ModeTiming, ProgramRule, Refresh, Topology,
};
use wordline_ftl::{DriveInfo, Ftl, Initial, Layout, MapKind, Mapped, NoMedia, Order, Scheme};
use wordline_sim::Queues;
use wordline_units::{
    Bytes, CellMode, Fraction, HostOp, HostRequest, Lpn, QueueClass, Rate, SectorMask, SimDuration, SimTime,
};

impl Rng {
    fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    fn count(&mut self, low: u32, high: u32) -> u32 {
        self.within(low as u64, high as u64) as u32
    }

    /// True once in so many times.
    fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    fn percent(&mut self, low: u64, high: u64) -> Fraction {
        Fraction::percent(self.within(low, high))
    }

    fn time(&mut self, low_us: u64, high_us: u64) -> SimDuration {
        SimDuration(self.within(low_us * 1_000, high_us * 1_000))
    }
}

/// Everything that a run is made of.
pub struct Case {
    pub spec: DeviceSpec,
    pub geometry: Geometry,
    pub scheme: Box<dyn Scheme>,
    /// How the scheme is spelled, or which stress scheme it is.
    pub label: String,
    pub layout: Layout,
    pub initial: Initial,
    pub seed: u64,
    pub requests: Vec<HostRequest>,
    /// Whether there is so much space that a write without a place is a bug.
    pub roomy: bool,
}

impl Case {
    /// The case of a seed, with its first so many requests.
    pub fn new(seed: u64, length: u64) -> Case {
        let mut rng = Rng(seed);
        let mut case = if rng.once_in(2) {
            tuned(&mut rng)
        } else {
            // A refusal is an answer, and no case: the next drive is drawn.
            (0..200).find_map(|_| random(&mut rng)).unwrap_or_else(|| tuned(&mut rng))
        };
        // Drawn apart, so that the other cases stay as they are.
        let mut apart = Rng(seed ^ 0x7765_6172);
        if apart.once_in(4) {
            case = wearing(&mut apart, case);
        }
        case = keeping_back(&mut Rng(seed ^ 0x666c_7573), case);
        case = in_superblocks(&mut Rng(seed ^ 0x7375_7065), case);
        case = taking_turns(&mut Rng(seed ^ 0x7475_726e), case);
        case.seed = seed;
        case.initial = initial(&mut rng, &case);
        case.initial.lacking = lacking(&mut Rng(seed ^ 0x6c61_636b), &case);
        case.requests = requests(&mut rng, &case, length);
        if let Some(turns) = &case.spec.arbitration {
            let (mut own, sources) = (Rng(seed ^ 0x766f_6c75), turns.queues.len() as u64);
            case.requests.iter_mut().for_each(|r| r.volume = own.below(sources) as u16);
        }
        case
    }

    /// How many requests a case has when it is not cut short.
    pub fn length(seed: u64) -> u64 {
        let mut rng = Rng(seed ^ 0x6c65_6e67);
        if rng.once_in(32) { rng.below(3_000) } else { rng.below(600) }
    }

    pub fn by_page(&self) -> bool {
        self.layout.map == MapKind::Page
    }

    /// The queues in front of the drive, where it takes turns, and how many requests it works on at once.
    pub fn queues(&self) -> Option<(Queues, u32)> {
        let turns = self.spec.arbitration.as_ref()?;
        let each = turns.queues.iter().map(|q| (q.class.unwrap_or_default(), q.depth.unwrap_or(u32::MAX)));
        Some((Queues::new(turns.order, turns.burst, each), self.spec.host.queue_depth))
    }

    /// Whether every block is programmed from its first page to its last.
    pub fn in_order(&self) -> bool {
        let regions = self.layout.regions.iter();
        regions.map(|r| r.rule).all(|r| matches!(r, ProgramRule::Sequential | ProgramRule::OneShot(_)))
    }

    /// Wordlines of a window and bits of a wordline, by region, where the rule is that of windows.
    pub fn windows(&self) -> Vec<Option<(u32, u32)>> {
        let of = |r: &wordline_ftl::Region| match r.rule {
            ProgramRule::ReprogramWindow(w) => Some((w.wordlines as u32, r.mode.bits())),
            _ => None,
        };
        self.layout.regions.iter().map(of).collect()
    }
}

/// Whether planes that share an array work together, drawn apart: all else stays what the seed meant.
fn multiplane(rng: &Rng, unit: ParallelUnit) -> Multiplane {
    let on = Rng(rng.0 ^ 0x706c_616e_6573).once_in(2) && unit == ParallelUnit::Die;
    if on { Multiplane::Opportunistic } else { Multiplane::Off }
}

/// Which pages go together where planes do, drawn apart like that.
fn multiplane_pages(rng: &Rng, spec: &DeviceSpec) -> MultiplanePages {
    let same = Rng(rng.0 ^ 0x7361_6d65).once_in(2) && spec.multiplane == Multiplane::Opportunistic;
    if same { MultiplanePages::Same } else { MultiplanePages::Any }
}

/// In which order a drive serves, and what its reads interrupt, drawn apart like that.
fn service(rng: &Rng, spec: &DeviceSpec) -> Service {
    let mut own = Rng(rng.0 ^ 0x7365_7276);
    let caches = spec.media.iter().any(|m| m.cache_register != CacheRegister::Off);
    if own.once_in(2) || caches {
        let order = own.pick(&[
            ServiceOrder::ReadFirst,
            ServiceOrder::ReadFirst,
            ServiceOrder::FirstCome,
            ServiceOrder::Shortest,
        ]);
        // Planes that work together serve several kinds of work at once.
        if own.once_in(4) && spec.multiplane == Multiplane::Off {
            let shares = std::array::from_fn(|_| own.pick(&[1, 1, 2, 7, 1000]));
            return Service { order: ServiceOrder::Shares, shares: Some(Shares(shares)), suspension: None };
        }
        return Service { order, ..Service::default() };
    }
    let time = |own: &mut Rng| own.once_in(3).then_some(own.time(0, 60));
    let (program, erase) = (time(&mut own).or(Some(SimDuration(1))), time(&mut own));
    let suspension = Suspension { program, erase, resume: own.time(0, 60), limit: own.count(1, 5) };
    Service { suspension: Some(suspension), ..Service::default() }
}

/// What it keeps in RAM, drawn apart like that.
fn dram(rng: &Rng, unit: Bytes) -> Dram {
    let mut own = Rng(rng.0 ^ 0x6472_616d);
    let read_cache = Bytes(if own.once_in(3) { own.within(1, 8) * unit.0 } else { 0 });
    Dram { read_cache, ..Dram::default() }
}

/// Whether its map is on flash, drawn apart like that, where the scheme's can be.
fn map_on_flash(rng: &Rng, spec: &mut DeviceSpec, scheme: &dyn Scheme) {
    let mut own = Rng(rng.0 ^ 0x6474_666c);
    if own.once_in(3) {
        let (cached, changes) = (own.within(1, 3), own.pick(&[0, 1, 4, 20, 100]));
        support::map_on_flash(spec, scheme, cached, changes);
    }
}

/// The drives on which each scheme is known to have room enough, with what costs no space varied.
fn tuned(rng: &mut Rng) -> Case {
    let mut tiny = Tiny {
        channels: rng.count(1, 2),
        chips: rng.count(1, 2),
        planes: rng.count(1, 2),
        blocks: rng.count(12, 15),
        wordlines: rng.count(3, 5),
        units_per_page: rng.count(1, 2),
        sectors_per_unit: rng.pick(&[1, 4, 4]),
        bus: rng.pick(&["off", "1ns/B", "20ns/B"]),
        ack_buffer: rng.once_in(3).then_some(3),
        errors: rng.pick(&["", "", support::MANY_ERRORS]),
        ..Tiny::default()
    };
    // Those that pack came later: they are drawn by a stream of their own, and leave the others their seeds.
    let (others, all) = (support::PACKING as u64, support::SCHEMES as u64);
    let mut own = Rng(rng.0 ^ 0x7061_636b);
    let packs = own.once_in(6);
    let other = rng.below(others);
    let which = if packs { others + own.below(all - others) } else { other } as usize;
    let (scheme, bits) = support::scheme(which, &mut tiny);
    // Sectors kept apart cannot fill a drive laid out for pages: a sector takes a whole slot.
    let mut spec = tiny.spec(if bits == 0 { 2 } else { bits });
    if bits == 0 {
        let bytes = spec.logical_bytes() / tiny.sectors_per_unit as u64 / 2;
        spec.capacity = Capacity::Logical(Bytes((bytes / spec.unit.0).max(1) * spec.unit.0));
    }
    spec.gc.class = rng.pick(&[GcClass::Background, GcClass::Host, GcClass::Urgent]);
    spec.parallel_unit = rng.pick(&[ParallelUnit::Die, ParallelUnit::Plane]);
    spec.multiplane = multiplane(rng, spec.parallel_unit);
    spec.multiplane_pages = multiplane_pages(rng, &spec);
    for medium in &mut spec.media {
        medium.cache_register = cache_register(rng);
    }
    spec.service = service(rng, &spec);
    spec.dram = dram(rng, spec.unit);
    spec.host = host_link(rng);
    map_on_flash(rng, &mut spec, scheme.as_ref());
    let label = format!("stress scheme {which}, {}", scheme.name());
    fitted(spec, scheme, label, true).unwrap_or_else(|why| panic!("{why}"))
}

/// Any drive under any scheme; `None` where the two do not go together.
fn random(rng: &mut Rng) -> Option<Case> {
    let two_media = rng.once_in(4);
    let (scheme, label) = any_scheme(rng, two_media);
    let sector = 512 * rng.pick(&[1, 1, 1, 2, 8]);
    let unit = sector * rng.pick(&[1, 2, 4, 4, 8]);
    let dense = rng.pick(&[CellMode::Mlc, CellMode::Tlc, CellMode::Tlc, CellMode::Qlc]);
    let needs_all = ["raro", "hotness"].contains(&scheme.name());
    let modes: Vec<CellMode> = match rng.below(8) {
        _ if needs_all => CellMode::ALL.to_vec(),
        0 => vec![CellMode::Slc],
        1 => vec![dense],
        2 => CellMode::ALL.to_vec(),
        _ => vec![CellMode::Slc, dense],
    };
    let media = if two_media {
        vec![medium(rng, "fast", &[CellMode::Slc], unit), medium(rng, "dense", &modes, unit)]
    } else {
        vec![medium(rng, "flash", &modes, unit)]
    };
    let blocks = media.iter().map(|m| m.blocks_per_plane).min()?;
    let roomy = !rng.once_in(5);
    let mut levels = [Level::Channel, Level::Chip, Level::Die, Level::Plane];
    for i in (1..4).rev() {
        levels.swap(i, rng.below(i as u64 + 1) as usize);
    }
    let static_blocks = rng.count(0, 4);
    let mut spec = DeviceSpec {
        name: "drawn".into(),
        description: String::new(),
        unit: Bytes(unit),
        sector: Bytes(sector),
        capacity: Capacity::Logical(Bytes(unit)),
        host: host_link(rng),
        arbitration: None,
        parallel_unit: rng.pick(&[ParallelUnit::Die, ParallelUnit::Plane]),
        multiplane: Multiplane::Off,
        multiplane_pages: MultiplanePages::Any,
        superblock: Superblock::Off,
        service: Service::default(),
        dram: Dram::default(),
        allocation: if rng.once_in(4) { Allocation::Dynamic } else { Allocation::Static(levels) },
        ack: match rng.below(4) {
            0 => Ack::Buffer(rng.count(1, 9)),
            1 => Ack::Merge,
            _ => Ack::Program,
        },
        flush: None,
        merge: MergeBuffer { pages: rng.count(1, 5), after: rng.time(1, 700), idle: rng.time(1, 30_000) },
        gc: GcSpec {
            trigger: trigger(rng),
            victim: rng.pick(&[
                Victim::Greedy,
                Victim::Greedy,
                Victim::Fifo,
                Victim::DChoices(2),
                Victim::WindowedGreedy(3),
                Victim::CostBenefit,
            ]),
            dead_first: rng.once_in(3),
            class: rng.pick(&[GcClass::Background, GcClass::Host, GcClass::Urgent, GcClass::Foreground]),
            hard_reserve: rng.count(1, 4.min(blocks - 1)),
            recheck: rng.pick(&[Recheck::Erase, Recheck::Erase, Recheck::Allocation]),
        },
        program_buffer: ProgramBuffer::Volatile,
        pad_after: match rng.below(4) {
            0 => None,
            // Not shorter: a group that waits for a collection is looked at again each time.
            1 => Some(rng.time(1, 3)),
            _ => Some(rng.time(20, 2_000)),
        },
        pad_host_after: SimDuration(500_000),
        slc_cache: (media.iter().any(Medium::has_slc_cache) && !rng.once_in(4)).then(|| SlcCache {
            static_blocks,
            dynamic_blocks: if static_blocks == 0 || rng.once_in(2) { rng.count(1, 3) } else { 0 },
            trigger: trigger(rng),
            when_full: rng.pick(&[WhenFull::Wait, WhenFull::Direct]),
        }),
        errors: rng.once_in(3).then(|| errors(rng)),
        wear: WearSpec::default(),
        media,
    };
    match spec.pad_after {
        Some(time) => spec.pad_host_after = time,
        None => spec.program_buffer = ProgramBuffer::Protected,
    }
    spec.multiplane = multiplane(rng, spec.parallel_unit);
    spec.multiplane_pages = multiplane_pages(rng, &spec);
    spec.service = service(rng, &spec);
    spec.dram = dram(rng, spec.unit);
    let units = room(&spec, scheme.as_ref(), roomy)?;
    let share = if roomy { rng.within(20, 100) } else { rng.within(90, 130) };
    let bytes = (units * share / 100).max(1) * unit;
    spec.capacity = Capacity::Logical(Bytes(bytes.min(spec.physical_bytes() / unit * unit)));
    map_on_flash(rng, &mut spec, scheme.as_ref());
    fitted(spec, scheme, label, roomy).ok()
}

/// The same drive with blocks that wear out soon, or with one of the other keys of wear, if the scheme still
/// fits it.
fn wearing(rng: &mut Rng, case: Case) -> Case {
    let mut spec = case.spec.clone();
    let endurance = rng.count(300, 10_000);
    for mode in spec.media.iter_mut().flat_map(|m| m.modes.iter_mut().flatten()) {
        mode.endurance = endurance;
    }
    let acceleration = (endurance / rng.count(2, 40)).max(1);
    spec.wear = WearSpec {
        enforce: !rng.once_in(4),
        acceleration,
        spread: rng.pick(&[Fraction::ZERO, Fraction::percent(10), Fraction::percent(30)]),
        bad_blocks: if rng.once_in(3) { rng.percent(1, 20) } else { Fraction::ZERO },
        dynamic: rng.once_in(2),
        static_beyond: rng.once_in(2).then(|| acceleration * rng.count(2, 4)),
    };
    let (scheme, label) = (case.scheme.clone_box(), case.label.clone());
    fitted(spec, scheme, label, false).unwrap_or(case)
}

/// The same drive with a write buffer that keeps pages back, if it has one and the scheme takes whole pages.
fn keeping_back(rng: &mut Rng, case: Case) -> Case {
    if !case.spec.ack.is_buffer() || rng.once_in(2) {
        return case;
    }
    let (high, idle) = (rng.within(2, 100), rng.once_in(2).then(|| rng.time(1, 30_000)));
    let flush =
        Flush { high: Fraction::percent(high), low: Fraction::percent(rng.within(0, high - 1)), idle };
    let spec = DeviceSpec { flush: Some(flush), ..case.spec.clone() };
    let (scheme, label) = (case.scheme.clone_box(), case.label.clone());
    fitted(spec, scheme, label, case.roomy).unwrap_or(case)
}

/// The same drive with superblocks, if the scheme can have them.
fn in_superblocks(rng: &mut Rng, case: Case) -> Case {
    if rng.once_in(2) {
        return case;
    }
    let superblock = rng.pick(&[Superblock::Die, Superblock::Chip, Superblock::Channel, Superblock::Drive]);
    let spec = DeviceSpec { superblock, ..case.spec.clone() };
    let (scheme, label) = (case.scheme.clone_box(), case.label.clone());
    // A region that begins takes a block of every plane, and reserves are for the regions that there are.
    let roomy = case.roomy && case.layout.regions.len() == 1;
    fitted(spec, scheme, label, roomy).unwrap_or(case)
}

/// The same drive with several queues before it, of which it works on few requests at once.
fn taking_turns(rng: &mut Rng, case: Case) -> Case {
    if !rng.once_in(3) {
        return case;
    }
    let weighted = rng.once_in(2);
    let mut weight = |_| rng.pick(&[1, 1, 2, 5, 32, 256]);
    let order = match weighted {
        true => ArbitrationOrder::Weighted([0; 3].map(&mut weight)),
        false => ArbitrationOrder::RoundRobin,
    };
    let burst = rng.pick(&[1, 1, 2, 7]);
    let mut queue = |n| HostQueue {
        name: format!("source{n}"),
        class: (weighted && !rng.once_in(3)).then(|| rng.pick(&QueueClass::WORDS).1),
        depth: rng.once_in(2).then(|| rng.count(1, 6)),
    };
    let queues = (0..5).map(&mut queue).collect::<Vec<_>>();
    let queues = queues[..rng.within(1, 5) as usize].to_vec();
    let mut spec = case.spec.clone();
    spec.host.queue_depth = rng.pick(&[1, 2, 3, 8, 32, 1024]);
    spec.arbitration = Some(Arbitration { order, burst, queues });
    fitted(spec, case.scheme.clone_box(), case.label.clone(), case.roomy).unwrap_or(case)
}

fn fitted(spec: DeviceSpec, scheme: Box<dyn Scheme>, label: String, roomy: bool) -> Result<Case, String> {
    // By way of a device file, as a user's would come.
    let spec = spec.checked("drawn.toml").unwrap_or_else(|e| panic!("a drawn device is wrong: {e}"));
    let geometry = spec.geometry().map_err(|e| e.to_string())?;
    let logical_pages = (spec.logical_bytes() / spec.unit.0) as u32;
    let drive = DriveInfo { spec: &spec, geometry: &geometry, logical_pages };
    let layout = accepted(&drive, scheme.as_ref())?;
    let (initial, requests) = (Initial::fresh(), vec![]);
    Ok(Case { spec, geometry, scheme, label, layout, initial, seed: 0, requests, roomy })
}

/// How a scheme lays a drive out, if neither it nor the mechanism refuses.
fn accepted(drive: &DriveInfo, scheme: &dyn Scheme) -> Result<Layout, String> {
    let ftl: Ftl<NoMedia> = Ftl::new(drive, scheme.clone_box()).map_err(|e| e.to_string())?;
    Ok(ftl.layout().clone())
}

/// Logical units that the scheme's home region holds with room to spare, or at the very most.
fn room(spec: &DeviceSpec, scheme: &dyn Scheme, roomy: bool) -> Option<u64> {
    let geometry = spec.geometry().ok()?;
    let drive = DriveInfo { spec, geometry: &geometry, logical_pages: 1 };
    let layout = accepted(&drive, scheme).ok()?;
    let home = &layout.regions[layout.home.0 as usize];
    let pool = layout.pools[home.pool.0 as usize];
    let sharing = || layout.regions.iter().filter(|r| r.pool == home.pool && r.name != home.name);
    let mut blocks = pool.blocks_per_plane;
    if roomy {
        // What others may own, for each region a block to open, one to collect and one in reserve, and
        // one more for pages that were padded.
        let others = sharing().map(|r| if r.quota < blocks { r.quota + 3 } else { 3 }).sum::<u32>();
        blocks = blocks.checked_sub(others + 4)?;
    }
    let medium = &geometry.media[pool.medium];
    let per_page = geometry.units_per_page(pool.medium);
    let mut pages = medium.pages_per_block(home.mode) * per_page;
    if roomy {
        // A block whose live pages leave less than one program free gives nothing back.
        pages -= per_page * home.rule.pages_per_program();
    }
    let units = medium.topology.planes() as u64 * blocks as u64 * pages as u64;
    // Under a map of sectors each of them may take a whole slot.
    let spread = layout.map == MapKind::Sector && roomy;
    let units = if spread { units / geometry.sectors_per_unit as u64 / 2 } else { units };
    (units > 0).then_some(units)
}

fn host_link(rng: &mut Rng) -> HostLink {
    let rate = if rng.once_in(3) { Rate { bytes: rng.within(1, 4), nanoseconds: 1 } } else { Rate::OFF };
    let mut overhead = || if rng.once_in(3) { rng.time(1, 20) } else { SimDuration::ZERO };
    HostLink { rate, read_overhead: overhead(), write_overhead: overhead(), queue_depth: 1024 }
}

fn trigger(rng: &mut Rng) -> Trigger {
    let share = rng.percent(1, 60);
    if rng.once_in(2) { Trigger::FreeBlocks(share) } else { Trigger::FreeSlots(share) }
}

fn medium(rng: &mut Rng, name: &str, modes: &[CellMode], unit: u64) -> Medium {
    let topology = loop {
        let t = Topology {
            channels: rng.count(1, 3),
            chips_per_channel: rng.count(1, 2),
            dies_per_chip: rng.count(1, 2),
            planes_per_die: rng.count(1, 3),
        };
        if t.planes() <= 8 {
            break t;
        }
    };
    let instant = rng.once_in(24);
    let endurance = if rng.once_in(2) { rng.count(300, 100_000) } else { 0 };
    let mut time = |low, high| if instant { SimDuration::ZERO } else { rng.time(low, high) };
    let mut timings = [const { None }; 4];
    for mode in modes {
        let bits = mode.bits() as usize;
        let mut timing = ModeTiming {
            read: [SimDuration::ZERO; 4],
            program: [SimDuration::ZERO; 4],
            erase: time(20, 400),
            copy_back: None,
            endurance,
            pages_per_program: 1,
        };
        timing.read[..bits].fill_with(|| time(1, 20));
        timing.program[..bits].fill_with(|| time(10, 200));
        timings[mode.index()] = Some(timing);
    }
    for (mode, timing) in CellMode::ALL.into_iter().zip(&mut timings) {
        if let Some(t) = timing
            && mode != CellMode::Slc
            && rng.once_in(2)
        {
            t.pages_per_program = mode.bits() as u8;
            let once = t.program[0];
            t.program[..mode.bits() as usize].fill(once);
        } else if let Some(t) = timing {
            t.copy_back = rng.once_in(3).then(|| rng.time(10, 200));
        }
    }
    let most = if rng.once_in(2) { 40 } else { 0 };
    let command = CommandOverhead {
        read: SimDuration(rng.within(0, most) * 50),
        program: SimDuration(rng.within(0, most) * 50),
        erase: SimDuration(rng.within(0, most) * 50),
    };
    Medium {
        name: name.into(),
        topology,
        blocks_per_plane: rng.count(7, 18),
        wordlines_per_block: rng.count(2, 6),
        // A page has at most 32 sectors.
        page: Bytes(unit * rng.pick(&[1, 1, 2, 4])),
        modes: timings,
        bus: rng.pick(&[
            Rate::OFF,
            Rate { bytes: 1, nanoseconds: 1 },
            Rate { bytes: 1, nanoseconds: 20 },
            Rate { bytes: 1_200, nanoseconds: 1_000 },
        ]),
        command,
        // Drawn aside, so that a seed means the same case but for this.
        command_further: Rng(rng.0 ^ 0x6675_7274).once_in(2).then_some(CommandOverhead {
            read: SimDuration(650),
            program: SimDuration(816),
            erase: SimDuration(700),
        }),
        cache_register: cache_register(rng),
        energy: None,
    }
}

/// Mostly none, else one of the ways to use it.
fn cache_register(rng: &mut Rng) -> CacheRegister {
    let (_, used) = rng.pick(&CacheRegister::WORDS);
    if rng.once_in(2) { used } else { CacheRegister::Off }
}

/// Thresholds so low that blocks are written anew again and again.
fn refresh(rng: &mut Rng) -> Refresh {
    Refresh {
        age: rng.once_in(4).then(|| SimDuration(rng.within(1, 800) * 3_600_000_000_000)),
        reads: rng.once_in(4).then(|| rng.count(1, 60)),
        retries: rng.once_in(4).then(|| rng.within(1, 5) as u8),
    }
}

/// Any error model, with something for the modes of which it says nothing.
fn errors(rng: &mut Rng) -> ErrorModel {
    let mut model = ErrorModel::builtin(rng.pick(&ErrorModel::NAMES)).unwrap();
    model.decode = if rng.once_in(2) { rng.time(0, 20) } else { SimDuration::ZERO };
    model.retransfer = rng.once_in(2);
    model.refresh = refresh(&mut Rng(rng.0));
    let known: Vec<ModeErrors> = model.modes.iter().flatten().cloned().collect();
    for (mode, errors) in CellMode::ALL.into_iter().zip(&mut model.modes) {
        let mut drawn = rng.pick(&known);
        for senses in &mut drawn.senses {
            *senses = 0;
        }
        drawn.senses[..mode.bits() as usize].fill_with(|| 1 + rng.below(8) as u8);
        drawn.rber.epsilon = rng.within(1, 30) as f64 / 1000.0;
        drawn.rber.gamma = rng.within(0, 3) as f64 * 1e-4;
        drawn.most_retries = rng.within(0, MOST_RETRIES as u64) as u8;
        drawn.beyond = rng.pick(&[Beyond::Clamp, Beyond::Uncorrectable]);
        *errors = Some(drawn);
    }
    model
}

fn any_scheme(rng: &mut Rng, two_media: bool) -> (Box<dyn Scheme>, String) {
    if rng.once_in(3) && only().is_empty() {
        let scheme: Box<dyn Scheme> = match rng.below(if two_media { 1 } else { 4 }) {
            0 => Box::new(FastThenDense),
            1 => Box::new(BySector),
            2 => Box::new(TwoLanes),
            _ => Box::new(Restless { turn: 0 }),
        };
        let name = scheme.name().to_string();
        return (scheme, name);
    }
    let mut spelling = spelling(rng, two_media);
    if rng.once_in(6) {
        spelling = format!("{spelling}+{}", self::spelling(rng, false)); // most do not go together
    }
    let scheme = wordline_schemes::build(&spelling).unwrap_or_else(|e| panic!("{spelling}: {e}"));
    (scheme, spelling)
}

/// The schemes that `WORDLINE_SCHEMES=a,b` asks for, where it does: half of the cases are then of these.
fn only() -> Vec<String> {
    let asked = std::env::var("WORDLINE_SCHEMES").unwrap_or_default();
    asked.split(',').filter(|name| !name.is_empty()).map(str::to_string).collect()
}

/// A registered scheme with some of its parameters set; of two media only one knows.
fn spelling(rng: &mut Rng, two_media: bool) -> String {
    let only = only();
    let asked = |name: &str| match only.is_empty() {
        true => !two_media || name == "hyssd",
        false => only.iter().any(|o| o == name),
    };
    let known = wordline_schemes::all().iter().filter(|e| asked(&e.name));
    let entry = rng.pick(&known.collect::<Vec<_>>());
    let mut given = vec![];
    for (key, values) in &values()[wordline_schemes::all().iter().position(|e| e.name == entry.name).unwrap()]
    {
        if rng.once_in(2) {
            given.push(format!("{key}={}", rng.pick(values)));
        }
    }
    let text = format!("{}:{}", entry.name, given.join(","));
    // Values that are right alone may be wrong together.
    if wordline_schemes::build(&text).is_ok() { text } else { entry.name.to_string() }
}

/// A key with the values that are tried.
type Tried = (String, Vec<String>);

/// For each parameter of each scheme the values that it takes, out of small numbers and the words
/// with which it describes itself and answers a wrong value: so that a new scheme's are drawn too.
fn values() -> &'static Vec<Vec<Tried>> {
    static VALUES: OnceLock<Vec<Vec<Tried>>> = OnceLock::new();
    VALUES.get_or_init(|| {
        let of = |entry: &wordline_schemes::Entry| -> Vec<Tried> {
            let spell = |key: &str, value: &str| format!("{}:{key}={value}", entry.name);
            let tried = entry.parameters.iter().map(|p| {
                let answer = wordline_schemes::build(&spell(&p.key, "?")).err().map(|e| e.to_string());
                let text = format!("{} {} 1 2 3 5 10% 50% 100us 5ms", p.what, answer.unwrap_or_default());
                let mut words: Vec<String> = text
                    .split(|c: char| !c.is_alphanumeric() && !"-_%.".contains(c))
                    .map(|w| w.trim_end_matches('.').to_string())
                    .filter(|w| !w.is_empty() && wordline_schemes::build(&spell(&p.key, w)).is_ok())
                    .collect();
                words.sort();
                words.dedup();
                (p.key.to_string(), words)
            });
            tried.filter(|(_, words)| !words.is_empty()).collect()
        };
        wordline_schemes::all().iter().map(of).collect()
    })
}

fn initial(rng: &mut Rng, case: &Case) -> Initial {
    let units = (case.spec.logical_bytes() / case.spec.unit.0) as u32;
    let full = rng.once_in(2);
    let mapped = match rng.below(5) {
        0 | 1 => Mapped::First(0),
        2 | 3 => Mapped::First(if full { units } else { rng.count(0, units) }),
        _ => {
            let keep = rng.within(1, 4);
            Mapped::Set((0..units).filter(|_| rng.below(4) < keep).map(Lpn).collect())
        }
    };
    Initial {
        mapped,
        lacking: vec![],
        order: rng.pick(&[Order::Sequential, Order::Random]),
        valid: if rng.once_in(3) { rng.percent(50, 100) } else { Fraction::ONE },
        aged_invalid: if rng.once_in(4) { rng.percent(1, 80) } else { Fraction::ZERO },
        aged_blocks: if rng.once_in(4) { rng.percent(1, 80) } else { Fraction::ZERO },
        data_apart: units % 2 == 1,
        aged_windows: if rng.once_in(4) { rng.percent(1, 80) } else { Fraction::ZERO },
        cycles: rng.pick(&[[0, 1, 2, 3], [0, 1, 2, 3], [900, 800, 700, 600]]),
        more_cycles: if units.is_multiple_of(3) { [0, 40, 30, 20] } else { [0; 4] },
        retention: rng.pick(&[SimDuration::ZERO, SimDuration(30 * 86_400 * 1_000_000_000)]),
    }
}

/// Sectors that some of the mapped pages do not hold, where the map knows sectors.
fn lacking(rng: &mut Rng, case: &Case) -> Vec<(Lpn, SectorMask)> {
    let sectors = case.geometry.sectors_per_unit;
    let pages: Vec<Lpn> = match &case.initial.mapped {
        _ if sectors == 1 || rng.once_in(2) => vec![],
        Mapped::First(n) => (0..*n).map(Lpn).collect(),
        Mapped::Set(set) => set.clone(),
    };
    let all = SectorMask::first(sectors);
    let some = pages.into_iter().map(|lpn| (lpn, SectorMask(rng.below(1 << sectors) as u32)));
    some.filter(|(_, mask)| !mask.is_empty() && *mask != all).collect()
}

/// What the host does in a case.
struct Traits {
    /// Longest gaps between requests in ns, of which each request takes one.
    gaps: Vec<u64>,
    /// Most sectors of a request.
    longest: u64,
    /// Sectors at the drive's start that get half of the requests.
    hot: u64,
    /// Whether requests begin and end within sectors too.
    ragged: bool,
    /// Of 20 requests, those that write, read and trim; the rest flush.
    kinds: [u64; 3],
}

impl Traits {
    fn draw(rng: &mut Rng) -> Traits {
        // From all at once, over gaps that let things happen, to gaps in which everything ends.
        const GAPS: [u64; 4] = [1, 5_000, 400_000, 20_000_000];
        Traits {
            gaps: (0..3).map(|_| GAPS[rng.below(4) as usize]).collect(),
            longest: rng.pick(&[1, 4, 11, 11, 40]),
            hot: rng.pick(&[4, 12, 12, 64]),
            ragged: rng.once_in(4),
            kinds: rng.pick(&[
                [11, 17, 19],
                [11, 17, 19],
                [18, 19, 20],
                [19, 19, 19],
                [6, 18, 20],
                [12, 12, 19],
            ]),
        }
    }
}

fn requests(rng: &mut Rng, case: &Case, length: u64) -> Vec<HostRequest> {
    let traits = Traits::draw(rng);
    let per_sector = case.spec.sector.0 / 512;
    let all = case.spec.logical_bytes() / case.spec.sector.0;
    let mut at = 0;
    let one = |_| {
        let longest = rng.pick(&traits.gaps);
        at += rng.below(longest);
        // Half of the requests meet in a few places, so that they overtake one another.
        let first = if rng.once_in(2) { rng.below(all) } else { rng.below(all.min(traits.hot)) };
        let last = (first + 1 + rng.below(traits.longest)).min(all);
        let kind = rng.below(20);
        let op = match traits.kinds.iter().position(|below| kind < *below) {
            Some(0) => HostOp::Write,
            Some(1) => HostOp::Read,
            Some(_) => HostOp::Trim,
            None => return HostRequest::new(HostOp::Flush, 0, 0).at(SimTime(at)),
        };
        let (mut from, mut to) = (first * per_sector, last * per_sector);
        if traits.ragged {
            from += rng.below(per_sector);
            to -= rng.below(per_sector.min(to - from));
        }
        let request = HostRequest::new(op, from, (to - from) as u32).at(SimTime(at));
        HostRequest { attributes: request.attributes.with_stream((first % 5) as u8), ..request }
    };
    (0..length).map(one).collect()
}
