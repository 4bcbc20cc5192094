//! When a drive that ages counts as over.

use std::fmt;
use std::str::FromStr;
use wordline_units::Fraction;

/// End conditions of a drive. A write without space always ends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndOfLife {
    /// A write finds no place.
    OutOfSpace,
    /// The blocks left hold less than this share of the drive's capacity: of all of it, the drive can no longer
    /// hold what it was sold for.
    Usable(Fraction),
    /// No more than this share is left of the spare that the drive was built with, as "available spare" counts it.
    Spare(Fraction),
    /// The host could not read a page.
    Uncorrectable,
}

/// The spellings that are understood.
const ALLOWED: &str = "capacity (the remaining blocks hold less than the capacity), usable:80% (less than \
     this share of it), spare:10% (no more than this share of the spare blocks is left), uncorrectable (a \
     host read failed), out-of-space (only a write that finds no space)";

impl Default for EndOfLife {
    fn default() -> EndOfLife {
        EndOfLife::Usable(Fraction::ONE)
    }
}

impl FromStr for EndOfLife {
    type Err = String;

    fn from_str(text: &str) -> Result<EndOfLife, String> {
        let fail = || format!("{text:?} is not an end condition; allowed: {ALLOWED}");
        let share =
            |t: &str| t.trim().parse::<Fraction>().ok().filter(|f| *f <= Fraction::ONE).ok_or_else(fail);
        match text.trim().split_once(':') {
            Some(("usable", at)) => share(at).map(EndOfLife::Usable),
            Some(("spare", at)) => share(at).map(EndOfLife::Spare),
            Some(_) => Err(fail()),
            None => match text.trim() {
                "capacity" => Ok(EndOfLife::default()),
                "out-of-space" => Ok(EndOfLife::OutOfSpace),
                "uncorrectable" => Ok(EndOfLife::Uncorrectable),
                _ => Err(fail()),
            },
        }
    }
}

impl fmt::Display for EndOfLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndOfLife::OutOfSpace => f.write_str("out-of-space"),
            EndOfLife::Usable(Fraction::ONE) => f.write_str("capacity"),
            EndOfLife::Usable(share) => write!(f, "usable:{share}"),
            EndOfLife::Spare(share) => write!(f, "spare:{share}"),
            EndOfLife::Uncorrectable => f.write_str("uncorrectable"),
        }
    }
}

impl EndOfLife {
    /// Of a drive that was built with so many bytes for so many of the host, the least that it must still hold.
    pub(crate) fn least_bytes(self, built: u64, logical: u64) -> u64 {
        match self {
            EndOfLife::OutOfSpace | EndOfLife::Uncorrectable => 0,
            EndOfLife::Usable(share) => share.of_ceil(logical),
            EndOfLife::Spare(share) => logical + share.of(built.saturating_sub(logical)) + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_reads_back_and_others_are_refused() {
        for text in ["capacity", "usable:80%", "spare:10%", "uncorrectable", "out-of-space"] {
            assert_eq!(text.parse::<EndOfLife>().map(|e| e.to_string()).as_deref(), Ok(text));
        }
        assert_eq!("usable:100%".parse(), Ok(EndOfLife::default()));
        for text in ["", "never", "usable", "usable:120%", "spare:x", "capacity:1"] {
            let e = text.parse::<EndOfLife>().unwrap_err();
            assert!(e.contains("allowed: capacity") && e.contains("out-of-space"), "{e}");
        }
    }

    #[test]
    fn a_drive_is_over_when_it_holds_less_than_it_must() {
        let least = |text: &str| text.parse::<EndOfLife>().unwrap().least_bytes(1100, 1000);
        assert_eq!(least("capacity"), 1000);
        assert_eq!(least("usable:80%"), 800);
        assert_eq!(least("spare:10%"), 1011, "with 10 of 100 left it is over");
        assert_eq!(least("out-of-space"), 0);
    }
}
