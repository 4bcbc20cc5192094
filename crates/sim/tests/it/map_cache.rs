//! The map on flash: to the nanosecond what a miss costs, when a page of the map is written, how often it is there.

use crate::support::one_die;
use wordline_ftl::{Cause, LatencyPart};
use wordline_sim::{Completion, Device, DeviceError, NoProbe};
use wordline_units::{HostOp, HostRequest, SimTime};

/// Array, bus and link of a read of a page of 16 KiB, in QLC.
const SENSE: u64 = 140_000;
const BUS: u64 = 20_480;
const LINK: u64 = 1_000;
const READ: u64 = SENSE + BUS;

/// A die of 8192 logical pages of 16 KiB. A page of the map has 4096 entries of 4 B, so there are two.
const PAGES: u32 = 8192;
const ENTRIES: u64 = 4096;

struct Drive(Device<NoProbe>);

impl Drive {
    /// One that holds the first so many pages at time 0.
    fn holding(pages: u32, keys: &[(&str, &str)]) -> Drive {
        let keys = [&[("errors", "off")], keys].concat();
        Drive(one_die::holding(&one_die::spec(&keys), "conventional", pages))
    }

    fn cached(size: &str) -> Drive {
        Drive::holding(PAGES, &[("dram.map_cache", size)])
    }

    /// A request of one page that comes when all before is over.
    fn one(&mut self, op: HostOp, page: u64) -> Completion {
        self.0.drain().unwrap();
        let arrival = self.0.now();
        self.submit(op, page).unwrap();
        let done = self.0.next_completion(SimTime::NEVER).unwrap().unwrap();
        assert_eq!(done.parts.total(), done.at.since(arrival).0);
        done
    }

    fn submit(&mut self, op: HostOp, page: u64) -> Result<u64, DeviceError> {
        let arrival = self.0.now();
        self.0.submit(HostRequest { arrival, ..HostRequest::new(op, page * 32, 32) }, arrival)
    }

    fn takes(&mut self, op: HostOp, page: u64) -> u64 {
        self.one(op, page).parts.total()
    }

    /// Pages read and programmed for the map, lookups and hits.
    fn map(&mut self) -> [u64; 4] {
        self.0.drain().unwrap();
        let c = self.0.ftl().counters();
        let of =
            |what: &dyn Fn(&wordline_ftl::RegionCounters) -> u64| c.regions.iter().map(what).sum::<u64>();
        [
            of(&|r| r.reads[Cause::Metadata as usize]),
            of(&|r| r.program_pages[Cause::Metadata as usize]),
            c.map.lookups,
            c.map.hits,
        ]
    }
}

#[test]
fn two_map_pages_in_a_cache_of_one_are_read_each_time() {
    let mut drive = Drive::cached("16KiB");
    let (near, far) = (0, ENTRIES);
    // The first read misses, the second finds its entry.
    assert_eq!([near, near + 1].map(|p| drive.takes(HostOp::Read, p)), [2 * READ + LINK, READ + LINK]);
    assert_eq!(drive.map(), [1, 0, 2, 1]);
    for page in [far, near, far, near] {
        let done = drive.one(HostOp::Read, page);
        let parts = [LatencyPart::MapMiss, LatencyPart::Die, LatencyPart::Bus, LatencyPart::Link];
        assert_eq!(parts.map(|p| done.parts[p]), [READ, SENSE, BUS, LINK]);
    }
    // Nothing has changed, so nothing is written.
    assert_eq!(drive.map(), [5, 0, 6, 1]);
}

#[test]
fn changed_map_page_is_written_on_eviction() {
    let mut drive = Drive::cached("16KiB");
    let program = drive.takes(HostOp::Write, 0) - READ;
    assert_eq!(drive.map(), [1, 0, 1, 0]); // changed, and in RAM
    assert_eq!(drive.takes(HostOp::Write, 1), program);
    assert_eq!(drive.map(), [1, 0, 2, 1]);
    // It goes as the other one comes, which nobody waits for.
    let done = drive.one(HostOp::Write, ENTRIES);
    assert_eq!((done.parts.total(), done.parts[LatencyPart::MapMiss]), (READ + program, READ));
    assert_eq!(drive.map(), [2, 1, 3, 1]);
    // The other one, too; and then it is as on flash.
    assert_eq!(drive.takes(HostOp::Read, 5), 2 * READ + LINK);
    assert_eq!(drive.map(), [3, 2, 4, 1]);
    assert_eq!(drive.takes(HostOp::Read, ENTRIES), 2 * READ + LINK);
    assert_eq!(drive.map(), [4, 2, 5, 1]);
}

#[test]
fn a_trim_changes_the_map_too() {
    let mut drive = Drive::cached("16KiB");
    drive.takes(HostOp::Read, 0);
    drive.takes(HostOp::Trim, 1); // there
    drive.takes(HostOp::Trim, ENTRIES); // not there: it waits
    assert_eq!(drive.map(), [1, 0, 1, 0]);
    drive.takes(HostOp::Read, ENTRIES + 1);
    assert_eq!(drive.map(), [2, 1, 2, 0]);
    drive.takes(HostOp::Read, 0);
    assert_eq!(drive.map(), [3, 2, 3, 0]);
    // A page that was trimmed: the map says so, which takes to read it.
    let done = drive.one(HostOp::Read, ENTRIES);
    assert_eq!((done.parts.total(), done.parts[LatencyPart::MapMiss]), (READ + LINK, READ));
}

#[test]
fn full_journal_writes_its_fullest_page_and_writes_wait() {
    let bounded = |size: &str| {
        let mut drive = Drive::holding(PAGES, &[("dram.map_cache", "16KiB"), ("dram.map_journal", size)]);
        drive.takes(HostOp::Read, 0);
        drive
    };
    let trim = |drive: &mut Drive, pages: std::ops::Range<u64>| {
        pages.for_each(|page| _ = drive.takes(HostOp::Trim, ENTRIES + page));
    };
    let mut drive = bounded("16B");
    trim(&mut drive, 0..2);
    trim(&mut drive, 0..1); // trimmed already: nothing changes
    // As many as may wait.
    assert_eq!(drive.takes(HostOp::Read, 1), READ + LINK);
    assert_eq!(drive.map(), [1, 0, 2, 1]);
    // With one more the page is brought in, and displaces the other.
    trim(&mut drive, 2..3);
    assert_eq!(drive.map(), [2, 0, 2, 1]);
    // It is there, with its changes: it is programmed as it goes.
    assert_eq!(drive.takes(HostOp::Read, 0), 2 * READ + LINK);
    assert_eq!(drive.map(), [3, 1, 3, 1]);
    // A write that comes at that moment waits for the page, though its own entry is in RAM.
    trim(&mut drive, 3..5);
    let program = Drive::cached("16KiB").takes(HostOp::Write, 0) - READ;
    drive.0.drain().unwrap();
    let both = [(HostOp::Trim, ENTRIES + 5), (HostOp::Write, 0)];
    both.into_iter().for_each(|(op, page)| _ = drive.submit(op, page).unwrap());
    let [_, done] = both.map(|_| drive.0.next_completion(SimTime::NEVER).unwrap().unwrap());
    assert_eq!((done.parts.total(), done.parts[LatencyPart::MapMiss]), (READ + program, READ));
    assert_eq!(drive.map(), [4, 1, 4, 2]);
    assert_eq!(drive.0.ftl().inspect().map_journal_peak_bytes(), 3 * 8);
    // Without a bound all of them wait.
    let mut drive = bounded("unbounded");
    trim(&mut drive, 0..50);
    assert_eq!(drive.takes(HostOp::Write, 0), program);
    assert_eq!(drive.map(), [1, 0, 2, 1]);
    assert_eq!(drive.0.ftl().inspect().map_journal_peak_bytes(), 50 * 8);
}

#[test]
fn all_users_of_a_map_page_wait_for_one_read() {
    let mut drive = Drive::cached("16KiB");
    (0..4).for_each(|page| _ = drive.submit(HostOp::Read, page).unwrap());
    let mut missed = 0;
    while let Some(done) = drive.0.next_completion(SimTime::NEVER).unwrap() {
        missed += done.parts[LatencyPart::MapMiss];
    }
    assert_eq!(missed, 4 * READ);
    assert_eq!(drive.map(), [1, 0, 4, 0]);
}

#[test]
fn what_was_never_written_is_not_read() {
    let mut drive = Drive::holding(0, &[("dram.map_cache", "16KiB")]);
    assert_eq!(drive.takes(HostOp::Read, 0), LINK);
    drive.takes(HostOp::Write, 0);
    assert_eq!(drive.takes(HostOp::Read, ENTRIES), LINK);
    assert_eq!(drive.map(), [0, 1, 3, 1]);
    assert_eq!(drive.takes(HostOp::Read, 0), 2 * READ + LINK);
    assert_eq!(drive.map(), [1, 1, 4, 1]);
    // Of a drive that is filled in part, the pages of the map are there that have an entry.
    for (held, far) in [(ENTRIES as u32, LINK), (ENTRIES as u32 + 1, READ + LINK)] {
        let mut drive = Drive::holding(held, &[("dram.map_cache", "16KiB")]);
        assert_eq!([ENTRIES - 1, ENTRIES + 5].map(|p| drive.takes(HostOp::Read, p)), [2 * READ + LINK, far]);
        drive.0.ftl_mut().tables().check().unwrap();
    }
}

// On a drive that was empty.
#[test]
fn cache_of_the_whole_map_costs_nothing_when_empty() {
    let run = |size: &str| {
        let mut drive = Drive::holding(0, &[("dram.map_cache", size)]);
        let mut x = 1u64;
        let mut all = vec![];
        for i in 0..30_000u64 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let op = if x >> 60 < 6 { HostOp::Read } else { HostOp::Write };
            drive.submit(op, (x >> 33) % 5_000 + i % 3_000).unwrap();
            while drive.0.outstanding() >= 4 {
                let done = drive.0.next_completion(SimTime::NEVER).unwrap().unwrap();
                all.push((done.number, done.at, done.parts));
            }
        }
        let [reads, programs, lookups, hits] = drive.map();
        assert_eq!((reads, programs), (0, 0));
        assert_eq!(hits, lookups.saturating_sub(2)); // the first of each page
        let c = drive.0.ftl().counters();
        assert!(c.collections > 5, "{}", c.collections);
        (all, c.regions.clone(), c.collections)
    };
    assert!(run("32KiB") == run("off"));
}

#[test]
fn uniform_reads_hit_by_the_cached_share_of_the_map() {
    // 32 pages of the map: units of 4 KiB have 1024 entries each.
    let (units, all) = (32_768, 32);
    for cached in [4u64, 16, 24] {
        let size = format!("{}KiB", cached * 4);
        let mut drive = Drive::holding(units, &[("mapping.unit", "4KiB"), ("dram.map_cache", &size)]);
        let mut x = 1u64;
        let mut draw = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) % units as u64
        };
        let mut read = |drive: &mut Drive| {
            let arrival = drive.0.now();
            drive
                .0
                .submit(HostRequest { arrival, ..HostRequest::new(HostOp::Read, draw() * 8, 8) }, arrival)
                .unwrap();
            drive.0.next_completion(SimTime::NEVER).unwrap();
        };
        (0..2000).for_each(|_| read(&mut drive));
        let ([_, _, _, before], reads) = (drive.map(), 20_000);
        (0..reads).for_each(|_| read(&mut drive));
        let share = (drive.map()[3] - before) as f64 / reads as f64;
        let expected = cached as f64 / all as f64;
        // Four standard errors of as many draws.
        let error = 4.0 * (expected * (1.0 - expected) / reads as f64).sqrt();
        assert!((share - expected).abs() < error, "{cached}: {share} against {expected}");
    }
}

#[test]
fn a_map_that_is_not_one_of_pages_is_refused() {
    for (scheme, device, why) in [
        ("hierarchy", "hierarchy-44gb", "its map tracks parts of pages"),
        ("hyssd", "hyssd-st", "its data are on two media, so the location of the map is not defined"),
    ] {
        let keys = [("dram.map_cache".to_string(), "64KiB".to_string())];
        let spec = wordline_device::find(device).unwrap().spec(&keys).unwrap();
        let scheme = wordline_schemes::build(scheme).unwrap();
        let drive: Result<Device<NoProbe>, _> =
            Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe);
        let reason = drive.err().unwrap().reason;
        assert!(reason.contains(why) && reason.contains("dram.map_cache=off"), "{reason}");
    }
}
