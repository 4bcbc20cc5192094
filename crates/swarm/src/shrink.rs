//! A case that fails is made smaller, as long as it fails: with fewer blocks per plane, then without some of its
//! requests.

use crate::case::Case;
use crate::drive::Drive;
use std::fmt::{self, Display, Formatter};
use wordline_device::Capacity;
use wordline_ftl::Mapped;
use wordline_units::{Bytes, HostRequest, Lba};

/// How often a smaller case is tried.
const TRIES: u32 = 2_000;

/// A case that fails, and no part of it that is tried can be left out.
#[derive(Clone, Debug)]
pub struct Smallest {
    /// The case.
    pub case: Case,
    /// What is wrong with it: perhaps not what was wrong at first.
    pub message: String,
}

impl Display for Smallest {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        // Told as a comment, so that all of it can be kept as it is.
        self.message.lines().try_for_each(|line| writeln!(f, "# {line}"))?;
        write!(f, "{}", self.case)
    }
}

/// Make a case smaller, as long as a call says of the smaller one what is wrong.
pub(crate) fn smallest(case: Case, message: String, fails: impl Fn(&Case) -> Option<String>) -> Smallest {
    let mut found = Smallest { case, message };
    let mut tries = 0;
    let mut smaller = |found: &mut Smallest, case: Case| {
        tries += 1;
        let message = if tries < TRIES { fails(&case) } else { None };
        message.map(|message| *found = Smallest { case, message }).is_some()
    };
    loop {
        // Blocks first, while many requests may still do it.
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

/// The same with a block less in each plane, and the host with as much less: what it asks of the rest, it asks from the
/// beginning on.
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
