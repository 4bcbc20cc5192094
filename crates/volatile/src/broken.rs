//! What drives have been observed to do at a power cut although no standard permits it (M. Zheng et al.,
//! "Understanding the robustness of SSDs under power fault", FAST 2013).

use crate::content::Content;
use crate::digits::{counted, grouped};
use crate::image::Image;
use crate::replay::Interval;
use crate::session::SessionFault;
use std::fmt;
use std::str::FromStr;
use wordline_hash::SplitMix64;

/// What a broken drive does at a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// The end of a write is missing, even of an atomic one (shorn write).
    Shorn,
    /// Sectors that were being written contain garbage.
    Garbage,
    /// Durable sectors return to a version from before the last point of durability. Each does with a
    /// probability of one half, or a run of this many does.
    Rollback(Option<u64>),
    /// A write goes to another address.
    Misdirected,
    /// An acknowledged write is missing, even if it was flushed.
    Phantom,
    /// A FLUSH or FUA is acknowledged and ignored.
    DroppedFlush,
}

/// All kinds of behavior at a power cut, with their names.
const KINDS: [(Broken, &str); 6] = [
    (Broken::Shorn, "shorn"),
    (Broken::Garbage, "garbage"),
    (Broken::Rollback(None), "rollback"),
    (Broken::Misdirected, "misdirected"),
    (Broken::Phantom, "phantom"),
    (Broken::DroppedFlush, "dropped-flush"),
];

impl Broken {
    /// Its name.
    pub fn key(self) -> &'static str {
        let kind = if matches!(self, Broken::Rollback(_)) { Broken::Rollback(None) } else { self };
        KINDS.iter().find(|(of, _)| *of == kind).map_or("", |(_, key)| key)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Rollback(Some(run)) => write!(f, "rollback:{run}"),
            _ => f.write_str(self.key()),
        }
    }
}

impl FromStr for Broken {
    type Err = String;

    fn from_str(text: &str) -> Result<Broken, String> {
        match text.parse()? {
            BrokenKind::AtCut(kind) => Ok(kind),
            BrokenKind::InSession(..) => {
                Err(format!("{text:?} is a fault during a session, not at a power cut"))
            }
        }
    }
}

/// What a broken drive does, at a power cut or during a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BrokenKind {
    /// At a power cut.
    AtCut(Broken),
    /// During a session, in this many of 10,000 requests of its kind.
    InSession(SessionFault, u64),
}

/// Default rate of session faults, per 10,000 requests.
const RATE: u64 = 1000;

impl FromStr for BrokenKind {
    type Err = String;

    fn from_str(text: &str) -> Result<BrokenKind, String> {
        let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
        if let Some((kind, key)) = KINDS.iter().find(|(_, key)| *key == name) {
            return match (kind, value) {
                (_, None) => Ok(BrokenKind::AtCut(*kind)),
                (Broken::Rollback(_), Some(run)) => {
                    let run = run.parse().ok().filter(|run| (1..=1 << 20).contains(run));
                    let run = run.ok_or(format!(
                        "{text:?}: not a run\n  allowed: rollback:N, N sectors from 1 to 1048576"
                    ))?;
                    Ok(BrokenKind::AtCut(Broken::Rollback(Some(run))))
                }
                (_, Some(_)) => Err(format!("{text:?}: this kind takes no value\n  allowed: {key}")),
            };
        }
        if let Ok(fault) = name.parse::<SessionFault>() {
            let rate = |value: &str| {
                let percent: f64 = value.strip_suffix('%')?.parse().ok()?;
                (percent > 0.0 && percent <= 100.0).then(|| ((percent * 100.0).round() as u64).max(1))
            };
            let rate = value.map_or(Some(RATE), rate);
            let rate = rate.ok_or(format!(
                "{text:?}: not a rate\n  allowed: {name}:P%, above 0 % and up to 100 % of requests"
            ))?;
            return Ok(BrokenKind::InSession(fault, rate));
        }
        let all: Vec<&str> = KINDS.iter().map(|(_, key)| *key).chain(SessionFault::keys()).collect();
        Err(format!("{text:?} is not a kind of broken drive\n  allowed: {}", all.join(", ")))
    }
}

/// One misbehavior of a broken drive, drawn by a seed.
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
    /// A misbehavior of a kind, drawn by a seed.
    pub fn new(kind: Broken, seed: u64) -> Fault {
        Fault { kind, seed }
    }

    /// Its kind.
    pub fn kind(self) -> Broken {
        self.kind
    }

    /// Apply it to the drive that a cut left.
    pub(crate) fn apply(self, interval: &Interval, image: &mut Image) {
        for (sector, content) in self.damage(interval, image).map_or(vec![], |damage| damage.sectors) {
            image.set(sector, &content);
        }
    }

    /// What it does to the drive that a cut left, in words. Nothing if there is nothing that it can hit.
    pub(crate) fn effect(self, interval: &Interval, image: &Image) -> Option<String> {
        self.damage(interval, image).map(|damage| damage.text)
    }

    fn damage(self, interval: &Interval, image: &Image) -> Option<Damage> {
        let mut random = SplitMix64::new(self.seed);
        let cache = interval.cache();
        let size = cache.rules().sector;
        let before = interval.durable();
        // Writes in flight, and what last became durable: sectors, each with its earlier contents.
        let pending = cache.writes().map(|w| w.sectors().iter().map(|s| (*s, before.sector(*s))).collect());
        let pending: Vec<Vec<(u64, Content)>> = pending.collect();
        let durable = interval.older().to_vec();
        let of = match self.kind {
            Broken::Garbage => pending,
            Broken::Rollback(_) | Broken::Phantom => durable,
            Broken::DroppedFlush => vec![],
            Broken::Shorn | Broken::Misdirected => [pending, durable].concat(),
        };
        let sectors = of.get((random.bits() % of.len().max(1) as u64) as usize)?;
        let (count, first) = (sectors.len(), sectors.first()?.0);
        let at = |sector: u64| grouped(sector * size);
        let written = format!("{} at {}", counted(count, "sector"), at(first));
        Some(match self.kind {
            Broken::Shorn => {
                let kept = (random.bits() % count as u64) as usize;
                let text = format!("of {written}, {kept} were written, and not the rest");
                Damage { sectors: sectors[kept..].to_vec(), text }
            }
            Broken::Garbage => {
                let mut garbage = || Content::of(&(0..size).map(|_| random.bits() as u8).collect(), 0);
                let sectors = sectors.iter().map(|(sector, _)| (*sector, garbage())).collect();
                Damage { sectors, text: format!("random bytes in {written}") }
            }
            Broken::Phantom => {
                Damage { sectors: sectors.clone(), text: format!("the write of {written} never happened") }
            }
            Broken::DroppedFlush => return None,
            Broken::Rollback(run) => {
                let older: Vec<(u64, Content)> = match run {
                    Some(run) => {
                        let run = (run as usize).min(count);
                        let from = (random.bits() % (count - run + 1) as u64) as usize;
                        sectors[from..from + run].to_vec()
                    }
                    None => sectors.iter().filter(|_| random.bits() >> 63 == 0).cloned().collect(),
                };
                let begin = older.first().map(|(sector, _)| format!(", the first at {}", at(*sector)));
                let begin = begin.unwrap_or_default();
                let text = format!("of {written}, {} returned to an older version{begin}", older.len());
                Damage { sectors: older, text }
            }
            Broken::Misdirected => {
                let to = elsewhere((first, count as u64), image, size, &mut random);
                let moved = (to..).zip(sectors).map(|(to, (sector, _))| (to, image.sector(*sector)));
                let sectors = sectors.iter().cloned().chain(moved).collect();
                Damage { sectors, text: format!("the write of {written} went to {}", at(to)) }
            }
        })
    }
}

/// What a misbehavior changes: sectors with their contents, and the same in words.
struct Damage {
    sectors: Vec<(u64, Content)>,
    text: String,
}

/// Where a misdirected write of sectors (first, count) goes: to an address that differs in a bit, or to sectors that hold data,
/// which are few on most drives.
fn elsewhere((first, count): (u64, u64), image: &Image, size: u64, random: &mut SplitMix64) -> u64 {
    let end = (image.size() / size).saturating_sub(count);
    let used: Vec<u64> = image.runs().map(|(offset, _)| offset / size).collect();
    let to = if random.bits() >> 63 == 0 || used.is_empty() {
        first ^ 1 << (random.bits() % u64::from(end.max(2).ilog2()))
    } else {
        used[(random.bits() % used.len() as u64) as usize]
    };
    to.min(end)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.kind, self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_or_refused() {
        let read = |text: &str| text.parse::<BrokenKind>();
        assert_eq!(read("rollback:8"), Ok(BrokenKind::AtCut(Broken::Rollback(Some(8)))));
        assert_eq!(read("dropped-flush"), Ok(BrokenKind::AtCut(Broken::DroppedFlush)));
        assert_eq!(read("failed-flush"), Ok(BrokenKind::InSession(SessionFault::FailedFlush, 1000)));
        assert_eq!(read("corrupt:0.5%"), Ok(BrokenKind::InSession(SessionFault::Corrupt, 50)));
        for (text, said) in [
            ("shear", "allowed: shorn, garbage, rollback, misdirected, phantom, dropped-flush, read-error"),
            ("rollback:0", "allowed: rollback:N"),
            ("shorn:2", "takes no value"),
            ("slow:200%", "allowed: slow:P%"),
            ("slow:5", "not a rate"),
        ] {
            assert!(read(text).unwrap_err().contains(said), "{text}: {:?}", read(text));
        }
        let fault: Fault = "rollback:8=77".parse().unwrap();
        assert_eq!((fault.to_string().as_str(), fault.kind()), ("rollback:8=77", Broken::Rollback(Some(8))));
    }
}
