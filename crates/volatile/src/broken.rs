//! What drives have been seen to do at a power cut that no standard permits (M. Zheng et al., "Understanding the robustness of
//! SSDs under power fault", FAST 2013).

use crate::content::Content;
use crate::image::Image;
use crate::replay::Interval;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use wordline_hash::SplitMix64;

/// What a broken drive does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// The end of a write is missing, even of an atomic one (shorn).
    Shorn,
    /// Sectors that were being written hold garbage.
    Garbage,
    /// Sectors go back to a version from before the last point of durability.
    Rollback,
    /// A write lands somewhere else.
    Misdirected,
    /// A write that was acknowledged never happened, whatever was flushed.
    Phantom,
}

/// All kinds, with their names.
const KINDS: [(Broken, &str); 5] = [
    (Broken::Shorn, "shorn"),
    (Broken::Garbage, "garbage"),
    (Broken::Rollback, "rollback"),
    (Broken::Misdirected, "misdirected"),
    (Broken::Phantom, "phantom"),
];

impl Broken {
    /// Its name.
    pub fn key(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, key)| key)
    }
}

impl FromStr for Broken {
    type Err = String;

    fn from_str(text: &str) -> Result<Broken, String> {
        let found = KINDS.iter().find(|(_, key)| *key == text).map(|(kind, _)| *kind);
        let all = KINDS.map(|(_, key)| key).join(", ");
        found.ok_or_else(|| format!("{text:?} is nothing that broken drives do\n  allowed: {all}"))
    }
}

/// One thing that a broken drive did, drawn by a seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    kind: Broken,
    seed: u64,
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let (kind, seed) = text.split_once('=').ok_or("KIND=SEED")?;
        Ok(Fault { kind: kind.parse()?, seed: seed.parse().map_err(|_| "a seed is a whole number")? })
    }
}

impl Fault {
    /// A fault of a kind, drawn by a seed.
    pub fn new(kind: Broken, seed: u64) -> Fault {
        Fault { kind, seed }
    }

    /// What was done.
    pub fn kind(self) -> Broken {
        self.kind
    }

    /// Do it to the drive that a cut left.
    pub(crate) fn apply(self, interval: &Interval, image: &mut Image) {
        let mut random = SplitMix64(self.seed);
        let cache = interval.cache();
        let size = cache.rules().sector as usize;
        let before = interval.durable();
        // What was being written, and what became durable last: sectors, each with what it held before.
        let pending = cache.writes().map(|w| w.sectors().iter().map(|s| (*s, before.sector(*s))).collect());
        let pending: Vec<Vec<(u64, Content)>> = pending.collect();
        let durable = interval.older().to_vec();
        let of = match self.kind {
            Broken::Garbage | Broken::Misdirected => pending,
            Broken::Rollback | Broken::Phantom => durable,
            Broken::Shorn => [pending, durable].concat(),
        };
        let Some(sectors) = of.get((random.bits() % of.len().max(1) as u64) as usize) else { return };
        match self.kind {
            Broken::Shorn => {
                let kept = (random.bits() % sectors.len() as u64) as usize;
                sectors[kept..].iter().for_each(|(sector, old)| image.set(*sector, old));
            }
            Broken::Garbage => {
                for (sector, _) in sectors {
                    let bytes: Arc<[u8]> = (0..size).map(|_| random.bits() as u8).collect();
                    image.set(*sector, &Content::of(&bytes, 0));
                }
            }
            Broken::Phantom => sectors.iter().for_each(|(sector, old)| image.set(*sector, old)),
            Broken::Rollback => {
                for (sector, old) in sectors.iter().filter(|_| random.bits() >> 63 == 0) {
                    image.set(*sector, old);
                }
            }
            Broken::Misdirected => {
                let end = image.size() / size as u64;
                let to = random.bits() % end.saturating_sub(sectors.len() as u64).max(1);
                for (at, (sector, old)) in sectors.iter().enumerate() {
                    let content = image.sector(*sector);
                    image.set(to + at as u64, &content);
                    image.set(*sector, old);
                }
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.kind.key(), self.seed)
    }
}
