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
        let writes: Vec<_> = cache.writes().collect();
        let Some(write) = writes.get((random.bits() % writes.len().max(1) as u64) as usize) else { return };
        let sectors: Vec<u64> = write.sectors().iter().copied().collect();
        let before = interval.durable();
        match self.kind {
            Broken::Shorn => {
                let kept = (random.bits() % sectors.len() as u64) as usize;
                sectors[kept..].iter().for_each(|s| image.set(*s, &before.sector(*s)));
            }
            Broken::Garbage => {
                for sector in sectors {
                    let bytes: Arc<[u8]> = (0..size).map(|_| random.bits() as u8).collect();
                    image.set(sector, &Content::of(&bytes, 0));
                }
            }
            Broken::Rollback | Broken::Phantom => {
                let older = interval.older();
                let whole = self.kind == Broken::Phantom;
                let picked = older.get((random.bits() % older.len().max(1) as u64) as usize);
                for (sector, content) in picked.into_iter().flatten() {
                    if whole || random.bits() >> 63 == 0 {
                        image.set(*sector, content);
                    }
                }
            }
            Broken::Misdirected => {
                let end = image.size() / size as u64;
                let to = random.bits() % end.saturating_sub(sectors.len() as u64).max(1);
                for (at, sector) in sectors.iter().enumerate() {
                    let content = image.sector(*sector);
                    image.set(to + at as u64, &content);
                    image.set(*sector, &before.sector(*sector));
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
