//! What a device file says, resolved: the one description from which flash, translation layer and
//! clock are built.

use crate::config::closest;
use crate::dram::Dram;
use crate::queues::Arbitration;
use crate::service::{Service, ServiceOrder};
use crate::wear::WearSpec;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use wordline_flash::{ErrorModel, Geometry, GeometryError, Medium, Topology};
use wordline_units::{Bytes, Fraction, QuantityError, Rate, SimDuration};

/// A drive, with every default filled in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DeviceSpec {
    /// Short name, as in `wordline list devices`.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// The flash, one entry a kind.
    pub media: Vec<Medium>,
    /// The mapping unit (logical page).
    pub unit: Bytes,
    /// The smallest unit that masks, bus and map know.
    pub sector: Bytes,
    /// What the host sees.
    pub capacity: Capacity,
    /// The link to the host.
    pub host: HostLink,
    /// How turns are taken between several queues of the host; `None` where requests come in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<Arbitration>,
    /// Whether the planes of a die work one at a time or each on its own.
    pub parallel_unit: ParallelUnit,
    /// Whether planes of a die share its array's time.
    #[serde(default, skip_serializing_if = "Multiplane::is_off")]
    pub multiplane: Multiplane,
    /// Which pages one such command may read or program.
    #[serde(default, skip_serializing_if = "MultiplanePages::are_any")]
    pub multiplane_pages: MultiplanePages,
    /// Which planes open, fill, collect and erase their blocks together.
    #[serde(default, skip_serializing_if = "Superblock::is_off")]
    pub superblock: Superblock,
    /// In which order operations are served, and which are interrupted.
    #[serde(default, skip_serializing_if = "Service::is_usual")]
    pub service: Service,
    /// Where a write goes.
    pub allocation: Allocation,
    /// When a write is acknowledged.
    pub ack: Ack,
    /// When the write buffer empties; `None` at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<Flush>,
    /// The merge buffer of schemes that have one.
    #[serde(default, skip_serializing_if = "MergeBuffer::is_usual")]
    pub merge: MergeBuffer,
    /// What the drive keeps in RAM besides.
    #[serde(default, skip_serializing_if = "Dram::is_off")]
    pub dram: Dram,
    /// Collection of invalid pages.
    pub gc: GcSpec,
    /// Where pages wait for the rest of their wordline.
    #[serde(default)]
    pub program_buffer: ProgramBuffer,
    /// How long data that no request waits for may wait there before the wordline is padded; `None` for ever, which
    /// needs a protected buffer.
    pub pad_after: Option<SimDuration>,
    /// The same for data that a request waits for.
    #[serde(default = "pad_host_after")]
    pub pad_host_after: SimDuration,
    /// The SLC cache in front of denser flash, for schemes that use one.
    pub slc_cache: Option<SlcCache>,
    /// How the flash errs; `None` where every read succeeds at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorModel>,
    /// How blocks wear out, and what keeps their wear even.
    #[serde(default, skip_serializing_if = "WearSpec::is_off")]
    pub wear: WearSpec,
}

/// The logical capacity.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capacity {
    /// (physical − logical) / logical, physical counting every block in its densest mode but those
    /// of a static SLC cache.
    OverProvisioning(Fraction),
    /// So many bytes, however much flash stands behind them.
    Logical(Bytes),
}

/// The link to the host: a serial resource, charged a request after its last page.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct HostLink {
    /// Its rate; off costs nothing.
    pub rate: Rate,
    /// Fixed time a read spends on the link.
    pub read_overhead: SimDuration,
    /// Fixed time a write spends on the link.
    pub write_overhead: SimDuration,
    /// Requests admitted at once in an open loop; the others wait with their arrival times.
    pub queue_depth: u32,
}

/// What works one operation at a time inside a chip.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParallelUnit {
    /// The die: its planes share one array controller.
    Die,
    /// The plane.
    Plane,
}

/// Whether operations of several planes become one command of their die.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiplane {
    /// An array works on one operation at a time.
    #[default]
    Off,
    /// When an array begins an operation, those of its other planes that are ready and alike go with it.
    Opportunistic,
}

/// Which pages of several planes one command may read or program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MultiplanePages {
    /// Any, each of its own block.
    #[default]
    Any,
    /// Those with the same number in their blocks.
    Same,
}

impl MultiplanePages {
    pub(crate) fn are_any(&self) -> bool {
        *self == MultiplanePages::Any
    }
}

impl Multiplane {
    pub(crate) fn is_off(&self) -> bool {
        *self == Multiplane::Off
    }
}

/// Which planes hold a superblock together: the blocks at one position in each, opened, filled, collected and erased
/// as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Superblock {
    /// Every block stands alone.
    #[default]
    Off,
    /// The planes of a die.
    Die,
    /// Those of a chip.
    Chip,
    /// Those of a channel.
    Channel,
    /// All of a medium.
    Drive,
}

impl Superblock {
    pub(crate) fn is_off(&self) -> bool {
        *self == Superblock::Off
    }

    /// Planes that hold one together; their numbers follow each other.
    pub fn planes(self, topology: Topology) -> u32 {
        let die = topology.planes_per_die;
        let chip = die * topology.dies_per_chip;
        match self {
            Superblock::Off => 1,
            Superblock::Die => die,
            Superblock::Chip => chip,
            Superblock::Channel => chip * topology.chips_per_channel,
            Superblock::Drive => topology.planes(),
        }
    }
}

/// One level of the hierarchy in an order of allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// C.
    Channel,
    /// W (a chip; the literature's way).
    Chip,
    /// D.
    Die,
    /// P.
    Plane,
}

/// How the plane of a logical page is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// By its number: consecutive pages step through the levels, first level fastest.
    Static([Level; 4]),
    /// Wherever the least work waits.
    Dynamic,
}

/// When a write is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ack {
    /// When its last program ends.
    Program,
    /// A part of a page when a power-protected merge buffer has taken it, except the one that makes a page of
    /// the buffer go to flash, which waits for that; a whole page when its program ends, and so all writes
    /// under schemes that have no such buffer.
    Merge,
    /// When a power-protected buffer of so many pages has taken it; with FUA, when its last program ends.
    Buffer(u32),
}

impl Ack {
    /// Whether writes are answered that are in protected RAM alone.
    pub const fn answers_from_ram(self) -> bool {
        !matches!(self, Ack::Program)
    }

    /// Whether a write buffer answers them.
    pub const fn is_buffer(self) -> bool {
        matches!(self, Ack::Buffer(_))
    }
}

/// When a write buffer empties that keeps pages back, the least recently written first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flush {
    /// The share of its pages at which it begins.
    pub high: Fraction,
    /// The share at which it stops.
    pub low: Fraction,
    /// How long the drive must have had no request before all of it goes to flash; `None` where idle time changes
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<SimDuration>,
}

/// Where pages wait for the rest of the wordline that is programmed in one shot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramBuffer {
    /// In RAM that a power cut clears: a page that is moved stays valid at its old place.
    #[default]
    Volatile,
    /// In RAM that outlives a power cut: a page that is moved has left its old place.
    Protected,
}

/// How long data that a request waits for wait for the rest of their wordline, where nothing else is said.
pub(crate) const fn pad_host_after() -> SimDuration {
    SimDuration(500_000)
}

/// The buffer in which schemes that pack parts of pages let them wait for company.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MergeBuffer {
    /// Pages that fill at once.
    pub pages: u32,
    /// How long a page waits that a write waits for, where writes are answered when they are programmed.
    pub after: SimDuration,
    /// How long the drive must have had no request before all of them go to flash.
    pub idle: SimDuration,
}

impl MergeBuffer {
    fn is_usual(&self) -> bool {
        *self == MergeBuffer::default()
    }
}

impl Default for MergeBuffer {
    fn default() -> MergeBuffer {
        MergeBuffer { pages: 64, after: SimDuration(500_000), idle: SimDuration(10_000_000_000) }
    }
}

/// Garbage collection.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct GcSpec {
    /// When a region of a plane is collected.
    pub trigger: Trigger,
    /// Which block.
    pub victim: Victim,
    /// Whether a block that holds nothing live comes first, whatever the rule says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead_first: bool,
    /// Where its operations queue.
    pub class: GcClass,
    /// Free blocks of a plane at or below which its collection becomes urgent.
    pub hard_reserve: u32,
    /// When a plane that has been collected is looked at again.
    pub recheck: Recheck,
}

/// When a plane that has been collected is looked at again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recheck {
    /// When its victim has been erased: it is collected until it is above its trigger.
    Erase,
    /// When it next gives out space: one victim a look.
    Allocation,
}

/// A threshold in the unit that its region counts space in, as a share of the region's total.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Erased blocks.
    FreeBlocks(Fraction),
    /// Slots not yet programmed, in open blocks too.
    FreeSlots(Fraction),
    /// No threshold: only when a program has no place, or a scheme asks for it.
    Never,
    /// When the region opens the last block that its quota gives it. For schemes, not for files.
    LastBlock,
}

/// The block that collection takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Victim {
    /// The one with the fewest live sectors; ties go to the lowest number.
    Greedy,
    /// The one that was filled first.
    Fifo,
    /// The one with the fewest live sectors of so many drawn at random, each equally likely and with
    /// replacement (B. Van Houdt, SIGMETRICS 2013). One is the random rule.
    DChoices(u32),
    /// The one with the fewest live sectors of so many that were filled first (X.-Y. Hu and others, SYSTOR 2009).
    WindowedGreedy(u32),
    /// The one with the most benefit for its cost, age (1 - u) / 2u, where a share u of it is live (A. Kawaguchi and
    /// others, USENIX 1995). Age counts what its plane's closed blocks have lost since this one last lost something.
    CostBenefit,
}

/// Where collection queues among the host's operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcClass {
    /// After all of them.
    Background,
    /// With the writes, first come first served.
    Host,
    /// Before the writes.
    Urgent,
    /// Alone: a collection holds its die, from reads too, until its victim is erased.
    Foreground,
}

/// The blocks of each plane that serve as SLC cache.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SlcCache {
    /// Blocks of a plane that are always SLC.
    pub static_blocks: u32,
    /// Blocks of a plane that may be SLC besides while the drive is empty; they shrink as it fills.
    pub dynamic_blocks: u32,
    /// When a plane's cache is collected into the dense region.
    pub trigger: Trigger,
    /// What a host write does while the cache has no room.
    pub when_full: WhenFull,
}

/// What a host write does while the SLC cache has no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// Wait for collection.
    Wait,
    /// Go to the dense region.
    Direct,
}

/// The word of each value in files and reports, and the list of all for a reader.
macro_rules! words {
    ($($name:ident { $($variant:ident = $word:literal),* })*) => {$(
        impl $name {
            pub(crate) const WORDS: &[(&'static str, $name)] = &[$(($word, $name::$variant)),*];

            /// The word for it in device files and reports.
            pub const fn key(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }
    )*};
}

words! {
    ParallelUnit { Die = "die", Plane = "plane" }
    Multiplane { Off = "off", Opportunistic = "opportunistic" }
    MultiplanePages { Any = "any", Same = "same" }
    Superblock { Off = "off", Die = "die", Chip = "chip", Channel = "channel", Drive = "drive" }
    ServiceOrder { ReadFirst = "read-first", FirstCome = "first-come", Shortest = "shortest", Shares = "shares" }
    Recheck { Erase = "erase", Allocation = "allocation" }
    GcClass { Background = "background", Host = "host", Urgent = "urgent", Foreground = "foreground" }
    WhenFull { Wait = "wait", Direct = "direct" }
    ProgramBuffer { Volatile = "volatile", Protected = "protected" }
}

impl Level {
    const LETTERS: [(char, Level); 4] =
        [('C', Level::Channel), ('W', Level::Chip), ('D', Level::Die), ('P', Level::Plane)];

    /// The letter that the literature uses.
    pub fn letter(self) -> char {
        Self::LETTERS[self as usize].0
    }
}

impl Allocation {
    /// Channel fastest, then chip, die, plane: the usual order.
    pub const CWDP: Allocation = Allocation::Static([Level::Channel, Level::Chip, Level::Die, Level::Plane]);
}

impl FromStr for Allocation {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Allocation, QuantityError> {
        if text == "dynamic" {
            return Ok(Allocation::Dynamic);
        }
        let letter = |c: char| Level::LETTERS.iter().find(|(l, _)| *l == c.to_ascii_uppercase());
        let levels: Option<Vec<Level>> = text.chars().map(|c| letter(c).map(|(_, level)| *level)).collect();
        match levels.as_deref() {
            Some(&[a, b, c, d]) if (1..4).all(|i| ![a, b, c, d][..i].contains(&[a, b, c, d][i])) => {
                Ok(Allocation::Static([a, b, c, d]))
            }
            _ => Err(QuantityError {
                given: text.to_string(),
                expected: "an order of allocation such as \"CWDP\", or \"dynamic\"",
                hint: "each of C (channel), W (chip), D (die), P (plane) once, fastest first".into(),
            }),
        }
    }
}

impl fmt::Display for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allocation::Static(levels) => f.write_str(&levels.map(Level::letter).iter().collect::<String>()),
            Allocation::Dynamic => f.write_str("dynamic"),
        }
    }
}

impl FromStr for Trigger {
    type Err = QuantityError;
    /// `free_blocks < 5%` or `never`; on a command line also `free_blocks:5%`, which needs no quotes.
    fn from_str(text: &str) -> Result<Trigger, QuantityError> {
        let fail = |hint: String| QuantityError {
            given: text.to_string(),
            expected: "a threshold such as \"free_blocks < 5%\" or \"free_slots < 30%\", or \"never\"",
            hint,
        };
        if text.trim() == "never" {
            return Ok(Trigger::Never);
        }
        let (what, share) = text
            .split_once(['<', ':'])
            .ok_or_else(|| fail("it needs what is counted, '<' (or ':'), and a share".into()))?;
        let share: Fraction = share.parse().map_err(|e: QuantityError| fail(e.to_string()))?;
        if share > Fraction::ONE {
            return Err(fail("a share is at most 100%".into()));
        }
        match what.trim() {
            "free_blocks" => Ok(Trigger::FreeBlocks(share)),
            "free_slots" => Ok(Trigger::FreeSlots(share)),
            other => Err(fail(format!("{other:?} is not counted; free_blocks and free_slots are"))),
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::FreeBlocks(share) => write!(f, "free_blocks < {share}"),
            Trigger::FreeSlots(share) => write!(f, "free_slots < {share}"),
            Trigger::Never => write!(f, "never"),
            Trigger::LastBlock => write!(f, "last block"),
        }
    }
}

impl Victim {
    /// The most blocks that may be drawn, or stand in a window: more would only be a slow greedy.
    const MOST_CHOICES: u32 = 1024;
    const FORMS: &str = "greedy, fifo, random, d-choices:N, windowed-greedy:N, cost-benefit";
}

impl FromStr for Victim {
    type Err = String;
    /// `greedy`, `fifo`, `random`, `d-choices:10`, `windowed-greedy:20` or `cost-benefit`.
    fn from_str(text: &str) -> Result<Victim, String> {
        const WORDS: [&str; 6] =
            ["greedy", "fifo", "random", "d-choices:10", "windowed-greedy:20", "cost-benefit"];
        let among = |n: &str| match n.parse() {
            Ok(n) if (1..=Victim::MOST_CHOICES).contains(&n) => Ok(n),
            _ => Err(format!(
                "{text:?}: {n:?} is not a number of blocks from 1 to {}, as in \"d-choices:10\"",
                Victim::MOST_CHOICES
            )),
        };
        match text.split_once(':').map_or((text, None), |(word, n)| (word, Some(n))) {
            ("greedy", None) => Ok(Victim::Greedy),
            ("fifo", None) => Ok(Victim::Fifo),
            ("random", None) => Ok(Victim::DChoices(1)),
            ("cost-benefit", None) => Ok(Victim::CostBenefit),
            ("d-choices", Some(n)) => among(n).map(Victim::DChoices),
            ("windowed-greedy", Some(n)) => among(n).map(Victim::WindowedGreedy),
            (word, _) => {
                let word = word.to_lowercase();
                let near = WORDS.into_iter().find(|w| w.split_once(':').is_some_and(|(w, _)| w == word));
                let hint = near.or_else(|| closest(&word, WORDS));
                let hint = hint.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                Err(format!("{text:?} is not one of {}{hint}", Victim::FORMS))
            }
        }
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Victim::Greedy => f.write_str("greedy"),
            Victim::Fifo => f.write_str("fifo"),
            Victim::DChoices(1) => f.write_str("random"),
            Victim::DChoices(d) => write!(f, "d-choices:{d}"),
            Victim::WindowedGreedy(w) => write!(f, "windowed-greedy:{w}"),
            Victim::CostBenefit => f.write_str("cost-benefit"),
        }
    }
}

impl From<Victim> for String {
    fn from(victim: Victim) -> String {
        victim.to_string()
    }
}

impl TryFrom<String> for Victim {
    type Error = String;
    fn try_from(text: String) -> Result<Victim, String> {
        text.parse()
    }
}

impl GcSpec {
    /// The reserve where a device file gives none: two blocks, or half a per cent of a plane's.
    pub fn default_reserve(blocks_per_plane: u32) -> u32 {
        blocks_per_plane.div_ceil(200).max(2)
    }
}

impl DeviceSpec {
    /// Number the planes, blocks and places.
    ///
    /// # Errors
    /// When the geometry is impossible; see [`Geometry::new`].
    pub fn geometry(&self) -> Result<Geometry, GeometryError> {
        Geometry::new(self.media.clone(), self.unit, self.sector)
    }

    /// Whether the energy of every operation is known.
    pub fn gives_energy(&self) -> bool {
        self.media.iter().all(|m| m.energy.is_some())
    }

    /// Bytes of flash that can store logical data: every block in its densest mode, but for those
    /// of a static SLC cache, which only pass data on.
    pub fn physical_bytes(&self) -> u64 {
        let cache = self.slc_cache.map_or(0, |c| c.static_blocks);
        self.media
            .iter()
            .map(|m| {
                let cached = if m.has_slc_cache() { cache } else { 0 };
                let blocks = m.blocks_per_plane.saturating_sub(cached);
                m.topology.planes() as u64 * blocks as u64 * m.block_bytes(m.densest())
            })
            .sum()
    }

    /// Bytes that the host can address, in whole mapping units.
    pub fn logical_bytes(&self) -> u64 {
        let bytes = match self.capacity {
            Capacity::Logical(b) => b.0,
            Capacity::OverProvisioning(f) => {
                let one = Fraction::ONE.0 as u128;
                (self.physical_bytes() as u128 * one / (one + f.0 as u128)) as u64
            }
        };
        bytes / self.unit.0 * self.unit.0
    }
}
