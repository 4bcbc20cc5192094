//! Small drives, and schemes that exist only to stress the mechanism.

pub mod one_die;

use wordline_device::{Capacity, DeviceSpec, JOURNAL_ENTRY, Superblock, Trigger, Victim, map_pages};
use wordline_flash::{ProgramRule, SlotClass};
use wordline_ftl::{
    Collect, Command, DriveInfo, EarlierBits, FreeOrder, Ftl, Gather, Grain, Hooks, IdleWork, Layout,
    MapKind, Memory, Move, MovedIn, NoMedia, Origin, Parcel, Place, PlanePick, Pool, PoolId, ReadSeen,
    Refusal, Region, RegionId, Route, Scheme, View,
};
use wordline_hash::{GOLDEN, mix};
use wordline_units::{Bytes, CellMode, Fraction, PlaneId, SimDuration};

/// SplitMix64: a case is named by its seed, so that a failure is two numbers.
#[derive(Clone)]
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0) % n
    }
}

/// A drive of a few hundred pages whose capacity leaves each plane `spare` blocks.
#[derive(Clone, Debug)]
pub struct Tiny {
    pub channels: u32,
    pub chips: u32,
    pub planes: u32,
    pub blocks: u32,
    pub wordlines: u32,
    pub units_per_page: u32,
    pub sectors_per_unit: u32,
    pub spare: u32,
    pub one_shot: bool,
    pub multiplane: bool,
    pub same_pages: bool,
    pub ack_buffer: Option<u32>,
    pub bus: &'static str,
    pub cache_register: &'static str,
    pub errors: &'static str,
    pub extra: &'static str,
    /// Pages of the map in RAM, where that is on flash; 0 where all of it is in RAM.
    pub map_cache: u32,
    /// Which planes have their blocks together, under schemes that can.
    pub superblock: Superblock,
    /// Changes of the map that may wait in RAM; 0 for no bound.
    pub map_journal: u32,
    /// Blocks a plane of a second, faster medium, with pages of a unit; 0 for none.
    pub fast_blocks: u32,
}

/// A fourth mode.
pub const QLC: &str = r#"
[medium.flash.qlc]
read = "11us"
program = ["50us", "100us", "150us", "200us"]
erase = "70us"
endurance = 1000
"#;

/// Errors in every mode, so many that reads fail, with each attempt brought out over the bus.
pub const MANY_ERRORS: &str = r#"
[errors]
model = "raro"
decode = "1us"
retransfer = true
read_reclaim = 40
refresh_retries = 3
[errors.mlc]
epsilon = 0.012
alpha = 1e-8
k = 2
beta = 1e-4
m = 0.1
n = 0.5
gamma = 1e-6
p = 0.3
q = 1.7
senses = [1, 2]
sigma_page = 0.1
most_retries = 5
[errors.tlc]
epsilon = 0.011
sigma_page = 0.2
most_retries = 4
beyond = "uncorrectable"
"#;

impl Default for Tiny {
    fn default() -> Tiny {
        Tiny {
            channels: 1,
            chips: 1,
            planes: 1,
            blocks: 12,
            wordlines: 4,
            units_per_page: 1,
            sectors_per_unit: 4,
            spare: 5,
            one_shot: false,
            multiplane: false,
            same_pages: false,
            ack_buffer: None,
            bus: "1ns/B",
            cache_register: "off",
            errors: "",
            extra: "",
            map_cache: 0,
            superblock: Superblock::Off,
            map_journal: 0,
            fast_blocks: 0,
        }
    }
}

impl Tiny {
    /// Any of some thousand drives; one in so many acknowledges writes from a buffer.
    pub fn drawn(rng: &mut Rng, buffered_one_in: u64) -> Tiny {
        Tiny {
            channels: 1 + rng.below(2) as u32,
            chips: 1 + rng.below(2) as u32,
            planes: 1 + rng.below(2) as u32,
            blocks: 12 + rng.below(4) as u32,
            wordlines: 3 + rng.below(3) as u32,
            units_per_page: 1 + rng.below(2) as u32,
            sectors_per_unit: if rng.below(3) == 0 { 1 } else { 4 },
            multiplane: Rng(rng.0 ^ 0x706c_616e_6573).below(2) == 0,
            bus: ["off", "1ns/B", "20ns/B"][rng.below(3) as usize],
            ack_buffer: (rng.below(buffered_one_in) == 0).then_some(3),
            errors: ["", "", MANY_ERRORS][rng.below(3) as usize],
            // Drawn aside, so that a seed means the same case but for this.
            cache_register: ["off", "off", "on"][Rng(rng.0 ^ 0x6361_6368).below(3) as usize],
            map_cache: [0, 0, 1, 2][Rng(rng.0 ^ 0x6474_666c).below(4) as usize],
            superblock: [Superblock::Off, Superblock::Die, Superblock::Channel, Superblock::Drive]
                [Rng(rng.0 ^ 0x7375_7065).below(4) as usize],
            map_journal: [0, 1, 5, 30][Rng(rng.0 ^ 0x6a6f_7572).below(4) as usize],
            ..Tiny::default()
        }
    }

    pub fn planes(&self) -> u32 {
        self.channels * self.chips * self.planes
    }

    /// Logical units, if data rest in blocks of so many bits.
    pub fn units(&self, bits: u32) -> u32 {
        self.planes() * (self.blocks - self.spare) * self.wordlines * bits * self.units_per_page
    }

    pub fn spec(&self, bits: u32) -> DeviceSpec {
        let unit = self.sectors_per_unit * 512;
        let ack =
            self.ack_buffer.map_or(String::new(), |n| format!("[ack]\nmode = \"buffer\"\npages = {n}\n"));
        let fast = format!(
            "[medium.fast]\nchannels = 2\nchips_per_channel = 1\ndies_per_chip = 1\nplanes_per_die = 1\n\
             blocks_per_plane = {}\nwordlines_per_block = 6\npage = \"{unit}B\"\nbus = {{ rate = \"1ns/B\" }}\n\
             [medium.fast.slc]\nread = \"2us\"\nprogram = \"15us\"\nerase = \"40us\"\ncopy_back = \"16us\"\n",
            self.fast_blocks
        );
        let fast = if self.fast_blocks > 0 { fast } else { String::new() };
        let text = format!(
            r#"
[device]
name = "tiny"
description = "for tests"
{fast}[medium.flash]
channels = {}
chips_per_channel = {}
dies_per_chip = 1
planes_per_die = {}
blocks_per_plane = {}
wordlines_per_block = {}
page = "{}B"
bus = {{ rate = "{}", width = 1 }}
cache_register = "{}"
[medium.flash.slc]
read = "3us"
program = "20us"
erase = "50us"
[medium.flash.mlc]
read = ["4us", "6us"]
program = ["30us", "60us"]
erase = "50us"
[medium.flash.tlc]
read = ["5us", "7us", "9us"]
program = {}
erase = "60us"
one_shot = {}
[parallel]
multiplane = "{}"
multiplane_pages = "{}"
[mapping]
unit = "{unit}B"
sector = "512B"
[capacity]
logical = "{}B"
[gc]
trigger = "free_blocks < 20%"
hard_reserve = 2
[slc_cache]
static_blocks = 3
dynamic_blocks = 0
trigger = "free_blocks < 50%"
when_full = "direct"
{ack}{}{}
"#,
            self.channels,
            self.chips,
            self.planes,
            self.blocks,
            self.wordlines,
            unit * self.units_per_page,
            self.bus,
            self.cache_register,
            if self.one_shot { "\"90us\"" } else { "[\"40us\", \"80us\", \"120us\"]" },
            self.one_shot,
            if self.multiplane { "opportunistic" } else { "off" },
            if self.same_pages { "same" } else { "any" },
            self.units(bits) * unit,
            self.extra,
            self.errors,
        );
        DeviceSpec::from_toml(&text, "tiny", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }
}

/// Put the map of a drive on flash, with so many of its pages in RAM and room for so many changes (0 for all), where
/// the scheme's map can be there; the host has so much less of the drive.
pub fn map_on_flash(spec: &mut DeviceSpec, scheme: &dyn Scheme, cached: u64, changes: u64) {
    let unit = spec.unit;
    let units = spec.logical_bytes() / unit.0;
    let mut with = spec.clone();
    let logical_pages = units.saturating_sub(map_pages(units, unit)).max(1) as u32;
    with.capacity = Capacity::Logical(Bytes(logical_pages as u64 * unit.0));
    with.dram.map_cache = Bytes(cached * unit.0);
    with.dram.map_journal = (changes > 0).then_some(Bytes(changes * JOURNAL_ENTRY));
    change_if_taken(spec, with, scheme);
}

/// Put the blocks of a drive together in superblocks, where the scheme can collect them so.
pub fn in_superblocks(spec: &mut DeviceSpec, scheme: &dyn Scheme, superblock: Superblock) {
    let with = DeviceSpec { superblock, ..spec.clone() };
    change_if_taken(spec, with, scheme);
}

fn change_if_taken(spec: &mut DeviceSpec, with: DeviceSpec, scheme: &dyn Scheme) {
    let geometry = with.geometry().unwrap_or_else(|e| panic!("{e}"));
    let logical_pages = (with.logical_bytes() / with.unit.0) as u32;
    let drive = DriveInfo { spec: &with, geometry: &geometry, logical_pages };
    if Ftl::<NoMedia>::new(&drive, scheme.clone_box()).is_ok() {
        *spec = with;
    }
}

fn region(name: &'static str, pool: u8, mode: CellMode, rule: ProgramRule) -> Region {
    Region {
        name: name.into(),
        pool: PoolId(pool),
        mode,
        rule,
        quota: u32::MAX,
        trigger: Trigger::FreeBlocks(Fraction::percent(25)),
        victim: Victim::Greedy,
        pad_after: Some(SimDuration(500_000)),
        pad_host_after: SimDuration(500_000),
        protected: false,
        earlier_bits: EarlierBits::Buffered,
        partial_victims: rule == ProgramRule::Relaxed,
        evicts_to_other_pool: false,
        moved_in: MovedIn::Packed,
        slot_quota: u64::MAX,
    }
}

fn layout(pools: Vec<Pool>, regions: Vec<Region>, map: MapKind) -> Layout {
    Layout {
        pools,
        home: RegionId(regions.len() as u8 - 1),
        second_home: None,
        regions,
        map,
        merges: None,
        enabled_hooks: Hooks::ALL,
        tick_every_writes: 0,
        idle_after: SimDuration(100_000),
    }
}

/// Every sector has a place of its own.
#[derive(Clone, Debug)]
pub struct BySector;

#[wordline_ftl::hooks]
impl Scheme for BySector {
    fn name(&self) -> &str {
        "by-sector"
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let blocks = drive.geometry.media[0].blocks_per_plane;
        let d = region("D", 0, CellMode::Mlc, ProgramRule::Sequential);
        Ok(layout(
            vec![Pool { medium: 0, blocks_per_plane: blocks, free: FreeOrder::Fifo }],
            vec![d],
            MapKind::Sector,
        ))
    }
    fn place(&mut self, _: &Parcel, _: &View) -> Place {
        Place { gather: Gather::AsIs, plane: PlanePick::Home, route: Route::to(RegionId(0), SlotClass::Next) }
    }
}

/// Blocks open in two classes at once: host data prefer the first, collected data the second.
#[derive(Clone, Debug)]
pub struct TwoLanes;

#[wordline_ftl::hooks]
impl Scheme for TwoLanes {
    fn name(&self) -> &str {
        "two-lanes"
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let blocks = drive.geometry.media[0].blocks_per_plane;
        let d = region("D", 0, CellMode::Mlc, ProgramRule::Relaxed);
        Ok(layout(
            vec![Pool { medium: 0, blocks_per_plane: blocks, free: FreeOrder::Fifo }],
            vec![d],
            MapKind::Page,
        ))
    }
    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let d = RegionId(0);
        let route = match parcel.origin {
            Origin::Host(_) => Route::to(d, SlotClass::Lsb).or(d, SlotClass::Csb),
            _ => Route::to(d, SlotClass::Csb).or(d, SlotClass::Lsb),
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }
}

/// Blocks change their mode, pages move when they are read, idle time is used in both grains, quotas
/// change: everything at once, for no good reason.
#[derive(Clone, Debug)]
pub struct Restless {
    pub turn: u32,
}

impl Restless {
    const S: RegionId = RegionId(0);
    const D: RegionId = RegionId(1);
}

#[wordline_ftl::hooks]
impl Scheme for Restless {
    fn name(&self) -> &str {
        "restless"
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let blocks = drive.geometry.media[0].blocks_per_plane;
        let mut s = region("S", 0, CellMode::Slc, ProgramRule::Sequential);
        s.quota = 3;
        let d = region("D", 0, CellMode::Tlc, ProgramRule::Sequential);
        let mut l = layout(
            vec![Pool { medium: 0, blocks_per_plane: blocks, free: FreeOrder::Fifo }],
            vec![s, d],
            MapKind::Page,
        );
        l.tick_every_writes = 7;
        Ok(l)
    }
    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let route = match parcel.origin {
            Origin::Host(_) => Route::to(Self::S, SlotClass::Next).or(Self::D, SlotClass::Next),
            _ => Route::to(Self::D, SlotClass::Next),
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }
    fn read(&mut self, seen: &ReadSeen, _: &View) -> Option<Move> {
        self.turn += 1;
        let to = if seen.mode == CellMode::Slc { Self::D } else { Self::S };
        self.turn.is_multiple_of(3).then_some(Move {
            lpn: seen.lpn,
            seen: seen.ppn,
            plane: PlanePick::Home,
            route: Route::to(to, SlotClass::Next).or(Self::D, SlotClass::Next),
        })
    }
    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        let block = view.best(Self::S, plane)?;
        self.turn += 1;
        let grain = if self.turn.is_multiple_of(2) { Grain::Block } else { Grain::Page };
        Some(IdleWork::Collect(Collect { region: Self::S, block: Some(block) }, grain))
    }
    fn tick(&mut self, _: &View, out: &mut Vec<Command>) {
        self.turn += 1;
        out.push(Command::SetQuota(Self::S, 1 + self.turn % 4));
    }
    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Some(&mut self.turn)
    }
}

/// Two media with pages of different size: writes go to the fast one, collection moves them to the
/// dense one.
#[derive(Clone, Debug)]
pub struct FastThenDense;

impl FastThenDense {
    const S: RegionId = RegionId(0);
    const D: RegionId = RegionId(1);
}

#[wordline_ftl::hooks]
impl Scheme for FastThenDense {
    fn name(&self) -> &str {
        "fast-then-dense"
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let media = &drive.geometry.media;
        if media.len() != 2 {
            let (scheme, device) = (self.name().to_string(), drive.spec.name.clone());
            return Err(Refusal { scheme, device, reason: "it needs two media".into() });
        }
        let on = |name, m: u8, mode| Region {
            trigger: drive.spec.gc.trigger,
            victim: drive.spec.gc.victim,
            ..region(name, m, mode, ProgramRule::Sequential)
        };
        let pools = (0..2).map(|m| Pool {
            medium: m,
            blocks_per_plane: media[m].blocks_per_plane,
            free: FreeOrder::Fifo,
        });
        let regions = vec![on("S", 0, CellMode::Slc), on("D", 1, media[1].densest())];
        Ok(layout(pools.collect(), regions, MapKind::Page))
    }
    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let (region, plane) = match parcel.origin {
            Origin::Host(_) => (Self::S, PlanePick::Any),
            Origin::Collected(Self::S) => (Self::D, PlanePick::Any),
            _ => (Self::D, PlanePick::Home),
        };
        Place { gather: Gather::Fill, plane, route: Route::to(region, SlotClass::Next) }
    }
}

/// The schemes under test by number, with the bits of the cells where their data rest.
pub fn scheme(which: usize, tiny: &mut Tiny) -> (Box<dyn Scheme>, u32) {
    let build = |s: &str| wordline_schemes::build(s).unwrap();
    match which {
        0 => (build("conventional:mode=slc"), 1),
        1 => {
            tiny.one_shot = true;
            (build("conventional"), 3)
        }
        2 => (build("conventional:program=sequential"), 3),
        3 => {
            tiny.one_shot = true;
            tiny.spare += 4;
            (build("slc-cache:when_full=wait"), 3)
        }
        4 => {
            tiny.spare += 4;
            (build("slc-cache:dynamic_blocks=2,static_blocks=2"), 3)
        }
        5 => {
            tiny.spare += 1;
            (Box::new(BySector), if tiny.sectors_per_unit > 1 { 0 } else { 2 })
        }
        6 => {
            tiny.spare += 2;
            (Box::new(TwoLanes), 2)
        }
        7 => {
            tiny.one_shot = true;
            tiny.spare += 4;
            (build("slc-cache:when_full=direct"), 3)
        }
        8 => {
            tiny.one_shot = true;
            tiny.spare += 2;
            tiny.extra = "[allocation]\norder = \"dynamic\"\n";
            (build("conventional"), 3)
        }
        9 => {
            tiny.spare += 4;
            (Box::new(Restless { turn: 0 }), 3)
        }
        10 => {
            tiny.spare += 4;
            (build("hot-cold:hot=30%"), 3)
        }
        11 => {
            tiny.one_shot = true;
            tiny.spare += 6;
            (build("turbo-write:idle_after=100us"), 3)
        }
        12 => {
            tiny.spare += 4;
            (build("turbo-write:static_blocks=1,dynamic_blocks=3,idle_after=100us"), 3)
        }
        13 => {
            tiny.spare += 3;
            (build("ips:window=2"), 3)
        }
        14 => {
            tiny.spare += 3;
            (build("ips-agc:window=3,layers=1,idle_after=100us"), 3)
        }
        15 => {
            tiny.spare += 5;
            (build("ips-cooperative:window=1,layers=1,traditional=3,idle_after=100us"), 3)
        }
        16 => {
            tiny.spare += 4;
            tiny.extra = QLC;
            (build("raro:warm=1,hot=2,r1=0,r2_young=0"), 4)
        }
        17 => {
            tiny.spare += 3;
            tiny.fast_blocks = 8;
            tiny.extra = "[allocation]\norder = \"dynamic\"\n";
            (build("hyssd:life,period=16,age=1,idle_after=100us"), 3)
        }
        18 => {
            tiny.spare += 3;
            tiny.fast_blocks = 9;
            (build("hyssd:perf,tlc_unit=unpacked,period=8,age=2,idle_after=50us"), 3)
        }
        19 => {
            tiny.spare += 4;
            tiny.extra = QLC;
            (build("hotness:warm=2,hot=3,decay=40,reclaim=on,idle_after=50us"), 4)
        }
        20 => (build(packing("sa", tiny)), 3),
        21 => (build(packing("sector", tiny)), 3),
        22 => (build(packing("hierarchy:window=16", tiny)), 3),
        23 => {
            tiny.ack_buffer = None;
            let spelling = packing("hierarchy:division=page,runs=any,window=8", tiny);
            tiny.extra = "[ack]\nmode = \"merge\"\n[merge]\npages = 2\nidle = \"3ms\"\n";
            (build(spelling), 3)
        }
        24 => {
            tiny.blocks += 4;
            tiny.spare += 6;
            (build("turbo-write:static_blocks=2,dynamic_blocks=0,idle_after=100us+pa-ssd:QDS+UBS,queue=2"), 3)
        }
        25 => {
            tiny.blocks += 4;
            tiny.spare += 6;
            (build("slc-cache:static_blocks=2,dynamic_blocks=1+ips-agc:window=2,idle_after=100us"), 3)
        }
        26 => {
            tiny.blocks += 4;
            tiny.spare += 8;
            tiny.extra = QLC;
            (build("slc-cache:static_blocks=2,dynamic_blocks=0+raro:warm=1,hot=2,r1=0,r2_young=0"), 4)
        }
        27 => {
            tiny.spare += 3;
            tiny.fast_blocks = 8;
            tiny.units_per_page = 2;
            tiny.extra = "[allocation]\norder = \"dynamic\"\n";
            (build("hyssd:perf,tlc_unit=rmw,period=8,age=2,idle_after=50us"), 3)
        }
        _ => {
            tiny.blocks += 3;
            tiny.spare += 6;
            tiny.fast_blocks = 8;
            tiny.extra = "[allocation]\norder = \"dynamic\"\n";
            (build("hyssd:static,u=50%,period=16,age=1,idle_after=100us+pa-ssd:US"), 3)
        }
    }
}

/// A drive whose pages have parts, for a scheme that packs them.
fn packing<'a>(spelling: &'a str, tiny: &mut Tiny) -> &'a str {
    (tiny.units_per_page, tiny.sectors_per_unit) = (1, 4);
    tiny.one_shot = true;
    tiny.spare += 4;
    spelling
}

/// How many schemes [`scheme`] knows.
pub const SCHEMES: usize = 29;

/// The first of them that came later: those that pack parts of pages or rewrite them, or stand over another.
pub const PACKING: usize = 20;
