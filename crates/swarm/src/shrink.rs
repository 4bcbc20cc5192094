//! Shrinks a failing case as long as it fails: first to fewer blocks per plane, then to fewer requests.

use crate::case::Case;
use crate::drive::Drive;
use std::fmt::{self, Display, Formatter};
use wordline_device::Capacity;
use wordline_ftl::Mapped;
use wordline_units::{Bytes, HostRequest, Lba};

/// Maximum number of smaller cases to try.
const TRIES: u32 = 2_000;

/// A failing case from which no tried part can be removed.
#[derive(Clone, Debug)]
pub struct Smallest {
    /// The case.
    pub case: Case,
    /// Its error, which may differ from the original one.
    pub message: String,
}

impl Display for Smallest {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        // Written as comments, so that the output can be saved as it is.
        self.message.lines().try_for_each(|line| writeln!(f, "# {line}"))?;
        write!(f, "{}", self.case)
    }
}

/// Shrink a case. `fails` returns the error of a smaller case, if it fails.
pub(crate) fn smallest(case: Case, message: String, fails: impl Fn(&Case) -> Option<String>) -> Smallest {
    let mut found = Smallest { case, message };
    let mut tries = 0;
    let mut smaller = |found: &mut Smallest, case: Case| {
        tries += 1;
        let message = if tries < TRIES { fails(&case) } else { None };
        message.map(|message| *found = Smallest { case, message }).is_some()
    };
    loop {
        // Blocks first, while many requests may still cause the failure.
        let mut changes = false;
        while with_fewer_blocks(&found.case).is_some_and(|case| smaller(&mut found, case)) {
            changes = true;
        }
        let before = found.case.requests.len();
        let mut size = before.div_ceil(2);
        while size > 0 {
            let mut from = 0;
            while from < found.case.requests.len() {
                let mut case = found.case.clone();
                let to = case.requests.len().min(from + size);
                case.requests.drain(from..to);
                if !smaller(&mut found, case) {
                    from += size;
                }
            }
            size /= 2;
        }
        changes |= before > found.case.requests.len();
        if !changes {
            return found;
        }
    }
}

/// The case with one block less per plane and a smaller logical capacity. Requests beyond the end wrap to the
/// beginning.
fn with_fewer_blocks(case: &Case) -> Option<Case> {
    let mut spec = case.drive.spec.clone();
    let (unit, before) = (spec.unit.0, spec.physical_bytes());
    let units = spec.logical_bytes() / unit;
    spec.media.iter_mut().for_each(|medium| medium.blocks_per_plane -= 1);
    let pages = units * spec.physical_bytes() / before;
    spec.capacity = Capacity::Logical(Bytes(pages * unit));
    let drive = Drive::of(spec, &case.drive.scheme, case.drive.roomy).ok()?;
    let mut initial = case.initial.clone();
    initial.lacking.retain(|(lpn, _)| u64::from(lpn.0) < pages);
    initial.mapped = match initial.mapped {
        Mapped::First(n) => Mapped::First(n.min(pages as u32)),
        Mapped::Set(set) => Mapped::Set(set.into_iter().filter(|lpn| u64::from(lpn.0) < pages).collect()),
    };
    let blocks = (pages * unit / 512).max(1);
    let within = |r: &HostRequest| {
        let lba = r.lba.0 % blocks;
        HostRequest { lba: Lba(lba), blocks: u64::from(r.blocks).min(blocks - lba) as u32, ..*r }
    };
    let requests = case.requests.iter().map(within).collect();
    Some(Case { drive, initial, requests, ..case.clone() })
}
