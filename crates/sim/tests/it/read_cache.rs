//! The read cache: to the nanosecond what takes no time, what drops a page, and how often it is hit.

use crate::support::one_die;
use wordline_sim::{Device, NoProbe};
use wordline_units::{HostOp, HostRequest, SimTime};

/// Array, bus and link of a read.
const SENSE: u64 = 140_000;
const BUS: u64 = 20_480;
const LINK: u64 = 1_000;

struct Drive(Device<NoProbe>);

impl Drive {
    fn with(read_cache: &str) -> Drive {
        let spec = one_die::spec(&[("dram.read_cache", read_cache)]);
        Drive(one_die::full(&spec, "conventional"))
    }

    /// How long a request of some sectors of 512 bytes takes that comes when all before is over, ns.
    fn takes(&mut self, op: HostOp, lba: u64, sectors: u32) -> u64 {
        self.0.drain().unwrap();
        let arrival = self.0.now();
        self.0.submit(HostRequest { arrival, ..HostRequest::new(op, lba, sectors) }, arrival).unwrap();
        self.0.next_completion(SimTime::NEVER).unwrap().unwrap().at.since(arrival).0
    }

    /// The same of a read of a whole page.
    fn read(&mut self, page: u64) -> u64 {
        self.takes(HostOp::Read, page * 32, 32)
    }

    fn hits(&self) -> u64 {
        self.0.ftl().counters().flash.reads_cached.unwrap_or(0)
    }
}

const FLASH: u64 = SENSE + BUS + LINK;

#[test]
fn a_page_that_was_read_is_there_until_two_others_are() {
    let mut drive = Drive::with("32KiB"); // two pages
    assert_eq!([5, 5, 6, 5].map(|page| drive.read(page)), [FLASH, LINK, FLASH, LINK]);
    // 6 is the least recently read.
    assert_eq!([7, 5, 6].map(|page| drive.read(page)), [FLASH, LINK, FLASH]);
    assert_eq!(drive.hits(), 3);
    let mut none = Drive::with("off");
    assert_eq!([5, 5].map(|page| none.read(page)), [FLASH, FLASH]);
    assert_eq!(none.hits(), 0);
}

#[test]
fn what_changes_a_page_drops_it() {
    for op in [HostOp::Write, HostOp::Trim] {
        let mut drive = Drive::with("1MiB");
        assert_eq!([drive.read(5), drive.read(5)], [FLASH, LINK]);
        drive.takes(op, 5 * 32, 32);
        let hits = drive.hits();
        let again = drive.read(5);
        assert_eq!(drive.hits(), hits, "{op:?}");
        assert_eq!(again, if op == HostOp::Trim { LINK } else { FLASH }, "{op:?}"); // nothing is left to read
    }
}

#[test]
fn sectors_that_were_not_read_are_read_from_flash() {
    let mut drive = Drive::with("1MiB");
    let sector = BUS / 4;
    assert_eq!(drive.takes(HostOp::Read, 160, 8), SENSE + sector + LINK);
    assert_eq!(drive.takes(HostOp::Read, 160, 8), LINK);
    // The first quarter is there, the rest is brought.
    assert_eq!(drive.takes(HostOp::Read, 160, 32), SENSE + 3 * sector + LINK);
    assert_eq!(drive.takes(HostOp::Read, 160, 32), LINK);
}

#[test]
fn uniform_reads_hit_as_large_a_share_as_it_holds() {
    // Pages of a working set are as likely to be among the last read as their number says: C of N.
    let pages = 1024;
    for cached in [64u64, 256, 512] {
        let mut drive = Drive::with(&format!("{}KiB", cached * 16));
        let mut x = 1u64;
        let mut draw = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) % pages
        };
        (0..4 * pages).for_each(|_| _ = drive.read(draw()));
        let (before, reads) = (drive.hits(), 20_000);
        (0..reads).for_each(|_| _ = drive.read(draw()));
        let share = (drive.hits() - before) as f64 / reads as f64;
        let expected = cached as f64 / pages as f64;
        // Four standard errors of as many draws.
        let error = 4.0 * (expected * (1.0 - expected) / reads as f64).sqrt();
        assert!((share - expected).abs() < error, "{cached}: {share} against {expected}");
    }
}
