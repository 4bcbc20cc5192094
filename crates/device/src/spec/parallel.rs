//! Parallelism in a drive, and the order in which pages are allocated.

use crate::tables::words::words;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use wordline_flash::Topology;
use wordline_units::QuantityError;

/// The unit that performs one operation at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParallelUnit {
    /// The die: its planes share one array controller.
    Die,
    /// The plane.
    Plane,
}

/// Whether operations of several planes form one command of their die.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiplane {
    /// An array works on one operation at a time.
    #[default]
    Off,
    /// When an array starts an operation, ready and equal operations of its other planes join it.
    Opportunistic,
}

/// Which pages of several planes one command can read or program.
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

/// What a page map knows about a partly written page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartialPages {
    /// That it is mapped: all of it counts as data.
    #[default]
    Whole,
    /// The written sectors: only these are read to complete a later partial write.
    ValidSectors,
}

/// Which host data share a page of several mapping units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Packing {
    /// Neighboring units of one write: the rest of the page is padded.
    #[default]
    Off,
    /// Any units of a plane, from any number of writes: the page waits until it is full.
    Page,
}

impl Packing {
    pub(crate) fn is_off(&self) -> bool {
        *self == Packing::Off
    }
}

impl PartialPages {
    pub(crate) fn are_whole(&self) -> bool {
        *self == PartialPages::Whole
    }
}

impl Multiplane {
    pub(crate) fn is_off(&self) -> bool {
        *self == Multiplane::Off
    }
}

/// Which planes form a superblock: blocks at one position in each are opened, filled, collected and erased together.
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

/// Which programs of a superblock hold parity instead of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parity {
    /// None.
    #[default]
    Off,
    /// The last program of each superpage: one in as many as the superblock has planes.
    Superpage,
}

impl Parity {
    pub(crate) fn is_off(&self) -> bool {
        *self == Parity::Off
    }
}

/// One level of the hierarchy in an allocation order.
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

/// How the plane of a logical page is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// By its number: consecutive pages step through the levels, first level fastest.
    Static([Level; 4]),
    /// Wherever the least work waits.
    Dynamic,
    /// Each plane in turn, whatever the page: a log over all planes.
    RoundRobin,
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
        match text {
            "dynamic" => return Ok(Allocation::Dynamic),
            "round-robin" => return Ok(Allocation::RoundRobin),
            _ => {}
        }
        let letter = |c: char| Level::LETTERS.iter().find(|(l, _)| *l == c.to_ascii_uppercase());
        let levels: Option<Vec<Level>> = text.chars().map(|c| letter(c).map(|(_, level)| *level)).collect();
        match levels.as_deref() {
            Some(&[a, b, c, d]) if (1..4).all(|i| ![a, b, c, d][..i].contains(&[a, b, c, d][i])) => {
                Ok(Allocation::Static([a, b, c, d]))
            }
            _ => Err(QuantityError {
                given: text.to_string(),
                expected: "an allocation order such as \"CWDP\", \"dynamic\", or \"round-robin\"",
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
            Allocation::RoundRobin => f.write_str("round-robin"),
        }
    }
}

words! {
    ParallelUnit { Die = "die", Plane = "plane" }
    Multiplane { Off = "off", Opportunistic = "opportunistic" }
    MultiplanePages { Any = "any", Same = "same" }
    PartialPages { Whole = "whole", ValidSectors = "valid-sectors" }
    Packing { Off = "off", Page = "page" }
    Parity { Off = "off", Superpage = "superpage" }
    Superblock { Off = "off", Die = "die", Chip = "chip", Channel = "channel", Drive = "drive" }
}
