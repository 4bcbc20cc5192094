//! Faults of a drive during a session, which a client must notice or survive, drawn by a seed and a rate.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use wordline_hash::SplitMix64;

/// A fault of a drive during a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum SessionFault {
    /// A read fails with EIO; the next read of the same sectors succeeds.
    ReadError,
    /// A write fails with EIO after the first of its sectors were written.
    HalfWrite,
    /// A FLUSH fails with EIO. The next one succeeds but does not cover the data of this one.
    FailedFlush,
    /// A written sector is unreadable until it is written again.
    LatentError,
    /// A request takes half a second.
    Slow,
    /// A bit of a sector is written inverted.
    Corrupt,
}

/// All session faults, with their names and effects.
const KINDS: [(SessionFault, &str, &str); 6] = [
    (SessionFault::ReadError, "read-error", "the read failed with EIO, once"),
    (SessionFault::HalfWrite, "half-write", "the write failed with EIO and was half done"),
    (
        SessionFault::FailedFlush,
        "failed-flush",
        "the FLUSH failed with EIO; later ones do not cover its writes",
    ),
    (SessionFault::LatentError, "latent-error", "a sector of the write cannot be read until it is rewritten"),
    (SessionFault::Slow, "slow", "the request took half a second"),
    (SessionFault::Corrupt, "corrupt", "a bit of the write was inverted"),
];

/// Kinds of requests that a fault applies to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// READ.
    Read,
    /// WRITE.
    Write,
    /// FLUSH.
    Flush,
    /// TRIM and WRITE ZEROES.
    Zero,
}

impl SessionFault {
    /// The names of all session faults.
    pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|(_, key, _)| *key)
    }

    /// Its name.
    pub fn key(self) -> &'static str {
        KINDS.iter().find(|(kind, _, _)| *kind == self).map_or("", |(_, key, _)| key)
    }

    /// Its effect, in words.
    pub fn effect(self) -> &'static str {
        KINDS.iter().find(|(kind, _, _)| *kind == self).map_or("", |(_, _, effect)| effect)
    }

    /// Whether it applies to a kind of request.
    fn meets(self, kind: Kind) -> bool {
        match self {
            SessionFault::ReadError => kind == Kind::Read,
            SessionFault::HalfWrite | SessionFault::LatentError | SessionFault::Corrupt => {
                kind == Kind::Write
            }
            SessionFault::FailedFlush => kind == Kind::Flush,
            SessionFault::Slow => true,
        }
    }
}

impl FromStr for SessionFault {
    type Err = ();

    fn from_str(text: &str) -> Result<SessionFault, ()> {
        KINDS.iter().find(|(_, key, _)| *key == text).map(|(kind, _, _)| *kind).ok_or(())
    }
}

impl fmt::Display for SessionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// The faults of one session.
#[derive(Clone, Debug)]
pub struct SessionFaults {
    kind: SessionFault,
    /// Rate per 10,000 requests of its kind.
    rate: u64,
    random: SplitMix64,
}

impl SessionFaults {
    /// A fault that occurs in `rate` of 10,000 requests of its kind, drawn by a seed.
    pub fn new(kind: SessionFault, rate: u64, seed: u64) -> SessionFaults {
        SessionFaults { kind, rate, random: SplitMix64::new(seed) }
    }

    /// The fault of a request, if it has one.
    pub fn draw(&mut self, kind: Kind) -> Option<SessionFault> {
        (self.kind.meets(kind) && self.random.bits() % 10_000 < self.rate).then_some(self.kind)
    }

    /// A random number below `end`, which must be at least 1.
    pub fn below(&mut self, end: u64) -> u64 {
        self.random.bits() % end.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_meet_their_requests_by_rate_and_seed() {
        let met = |seed: u64, kind: Kind| {
            let mut faults = SessionFaults::new(SessionFault::FailedFlush, 1000, seed);
            (0..10_000).map(|_| faults.draw(kind).is_some()).collect::<Vec<bool>>()
        };
        let count = met(1, Kind::Flush).iter().filter(|met| **met).count();
        assert!((900..1100).contains(&count), "{count} of 10,000 at a rate of 10 %");
        assert_eq!(met(1, Kind::Flush), met(1, Kind::Flush));
        assert_ne!(met(1, Kind::Flush), met(2, Kind::Flush));
        assert!(!met(1, Kind::Write).contains(&true));
        for key in SessionFault::keys() {
            assert_eq!(key.parse::<SessionFault>().map(SessionFault::key), Ok(key));
        }
    }
}
