//! Hierarchy by the letter of its paper: the example of Fig. 3 and section III-B, Algorithm 1 line by line, where merged
//! pages go, and what reads of pages in parts cost.

use wordline_device::{DeviceSpec, find};
use wordline_flash::Geometry;
use wordline_ftl::{Cause, Initial, Mapped, RegionId};
use wordline_sim::{Device, NoProbe};
use wordline_swarm::Rng;
use wordline_units::{ChannelId, HostOp, HostRequest, Lpn, PlaneId, Ppn, SectorMask, SimTime};

const SECTORS: u64 = 4;
const LBAS_PER_SECTOR: u64 = 8;
const L1: RegionId = RegionId(0);
const L2: RegionId = RegionId(1);

type Drive = Device<NoProbe>;

/// The paper's drive under a scheme, with other settings.
fn drive(scheme: &str, settings: &[(&str, &str)]) -> Drive {
    let settings: Vec<_> = settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let spec: DeviceSpec = find("hierarchy-44gb").unwrap().spec(&settings).unwrap();
    let geometry: Geometry = spec.geometry().unwrap();
    Device::new(&spec, &geometry, wordline_schemes::build(scheme).unwrap(), NoProbe).unwrap()
}

/// Send a request for sectors of a page, and return how long it takes.
fn ask(drive: &mut Drive, op: HostOp, page: u64, from: u64, sectors: u64) -> u64 {
    let lba = (page * SECTORS + from) * LBAS_PER_SECTOR;
    let request = HostRequest::new(op, lba, (sectors * LBAS_PER_SECTOR) as u32);
    let at = drive.now();
    drive.submit(request.at(at), at).unwrap();
    let done = drive.next_completion(SimTime::NEVER).unwrap().unwrap();
    done.at.0 - at.0
}

fn write(drive: &mut Drive, page: u64, from: u64, sectors: u64) {
    ask(drive, HostOp::Write, page, from, sectors);
}

fn plane(drive: &Drive, ppn: Ppn) -> PlaneId {
    let view = drive.ftl().view();
    view.geometry().plane_of(view.geometry().block_of(ppn))
}

fn channel(drive: &Drive, ppn: Ppn) -> ChannelId {
    let view = drive.ftl().view();
    let g = view.geometry();
    g.channel_of(g.die_of(plane(drive, ppn)))
}

/// Pages that the host has read in each region.
fn host_reads(drive: &Drive) -> Vec<u64> {
    drive.ftl().counters().regions.iter().map(|r| r.reads[Cause::Host as usize]).collect()
}

#[test]
fn figure_3_example_merges_on_the_other_channel() {
    // Section III-B, with the two channels of Fig. 3: LPN0 lies whole in L2. Its last two sectors are updated and merged
    // with a partial write to LPN1; the page goes to L1 on channel 1, with two new entries of the SMT.
    for scheme in ["hierarchy", "hierarchy:merged_to=next", "hierarchy:merged_to=next,runs=any"] {
        let mut drive = drive(scheme, &[("medium.flash.channels", "2")]);
        write(&mut drive, 0, 0, SECTORS);
        let [whole] = drive.ftl_mut().tables().locate(Lpn(0))[..] else {
            panic!("{scheme}: LPN0 is not whole")
        };
        assert_eq!(channel(&drive, whole.ppn), ChannelId(0), "{scheme}");
        write(&mut drive, 0, 2, 2);
        write(&mut drive, 1, 0, 2);
        drive.drain().unwrap();
        let (lpn0, lpn1) = (drive.ftl_mut().tables().locate(Lpn(0)), drive.ftl_mut().tables().locate(Lpn(1)));
        let [run, rest] = lpn0[..] else { panic!("{scheme}: LPN0 lies in {lpn0:?}") };
        assert_eq!((run.mask, rest.mask), (SectorMask(0b1100), SectorMask(0b0011)), "{scheme}");
        assert_eq!(rest.ppn, whole.ppn, "{scheme}: what was not updated stays in L2");
        assert_eq!(channel(&drive, run.ppn), ChannelId(1), "{scheme}");
        let [other] = lpn1[..] else { panic!("{scheme}: LPN1 lies in {lpn1:?}") };
        assert_eq!((other.ppn, other.mask), (run.ppn, SectorMask(0b0011)), "{scheme}");
        // One page was programmed for both, and to read LPN0 takes one page of each level.
        let programs: Vec<u64> =
            drive.ftl().counters().regions.iter().map(|r| r.program_pages.iter().sum()).collect();
        assert_eq!(programs, [1, 1, 0], "{scheme}");
        ask(&mut drive, HostOp::Read, 0, 0, SECTORS);
        assert_eq!(host_reads(&drive), [1, 1, 0], "{scheme}");
        drive.ftl_mut().tables().check().unwrap();
    }
}

/// Algorithm 1 as it is printed, with `by_page` for lines 5 to 11 once for each page that lines 17 and 21 write.
struct Algorithm1 {
    cache_size: i64,
    l2_pages: i64,
    ratio_l2: f64,
    omega_s: u64,
    omega_l: u64,
    req_num: u64,
    window: u64,
    merging: u64,
    by_page: bool,
}

impl Algorithm1 {
    fn allocate(&mut self) {
        let cur_ratio = self.l2_pages as f64 / self.cache_size as f64;
        self.l2_pages += if self.ratio_l2 > cur_ratio { 1 } else { -1 }; // lines 5 to 11
    }

    /// A write request; returns cur_ratio where a window ends.
    fn write(&mut self, sectors: u64) -> Option<f64> {
        self.req_num += 1; // line 3
        if !self.by_page {
            self.allocate();
        }
        let merged = if sectors < SECTORS { self.merging + sectors } else { self.merging };
        self.merging = merged % SECTORS; // line 14
        let pages = if sectors < SECTORS { merged / SECTORS } else { 1 };
        for _ in 0..pages * self.by_page as u64 {
            self.allocate();
        }
        if sectors < SECTORS {
            self.omega_s += pages; // lines 17 and 18
        } else {
            self.omega_l += 1; // lines 21 and 22
        }
        if self.req_num < self.window {
            return None;
        }
        if self.omega_s + self.omega_l > 0 {
            let ratio = self.omega_l as f64 / (self.omega_s + self.omega_l) as f64; // line 27
            self.ratio_l2 = ratio.max(0.5); // section IV-A: L1 has at most half
        }
        (self.req_num, self.omega_s, self.omega_l) = (0, 0, 0);
        Some(self.l2_pages as f64 / self.cache_size as f64)
    }
}

#[test]
fn the_division_is_that_of_algorithm_1_line_by_line() {
    for (spelled, by_page) in [("request", false), ("page", true)] {
        for window in [1, 7] {
            let scheme = format!("hierarchy:runs=any,slot={spelled},window={window}");
            let mut drive = drive(&scheme, &[]);
            let cache_size = 16 * 64 * 128;
            let mut model = Algorithm1 {
                cache_size,
                l2_pages: cache_size / 2,
                ratio_l2: 0.5,
                omega_s: 0,
                omega_l: 0,
                req_num: 0,
                window,
                merging: 0,
                by_page,
            };
            let (mut random, mut expected) = (Rng::new(11), vec![]);
            for page in 0..3_000 {
                let sectors = if random.once_in(2) { SECTORS } else { 1 };
                write(&mut drive, page, 0, sectors);
                expected.extend(model.write(sectors));
            }
            let metrics = drive.ftl().scheme().metrics();
            let ratios: Vec<f64> = metrics[0].1.iter().map(|point| point[1]).collect();
            assert_eq!(ratios, expected, "{scheme}");
            assert!(ratios.iter().any(|ratio| *ratio > 0.501), "{scheme}: the share of L2 never rose");
        }
    }
}

#[test]
fn merged_page_follows_its_first_part_or_the_load() {
    for scheme in ["sa:merged_to=first", "sector:merged_to=first", "hierarchy:merged_to=next"] {
        let mut drive = drive(scheme, &[]);
        // Nothing of these pages is on flash, so that no channel is in the way.
        for first in [5, 100, 203, 1_030] {
            (first..first + 4).for_each(|page| write(&mut drive, page * 16, 0, 1));
            let home = first * 16;
            (0..4).for_each(|page| write(&mut drive, home + page + 3, 0, 1));
        }
        drive.drain().unwrap();
        for first in [5u32, 100, 203, 1_030] {
            for head in [first * 16, first * 16 + 3] {
                let [at] = drive.ftl_mut().tables().locate(Lpn(head))[..] else {
                    panic!("{scheme}: {head} is in parts")
                };
                // CWDP over 4 channels of 4 planes.
                let home = PlaneId(head % 4 * 4 + head / 4 % 4);
                assert_eq!(plane(&drive, at.ppn), home, "{scheme}: page {head}");
            }
        }
    }
}

#[test]
fn hierarchy_takes_the_next_channel_without_conflict() {
    let mut drive = drive("hierarchy:merged_to=next", &[]);
    // Pages 0 to 2 lie in L2 on channels 0 to 2, so that parts of them go to channel 3, and to the plane in it that
    // lies as page 0's home does.
    (0..3).for_each(|page| write(&mut drive, page, 0, SECTORS));
    (0..3).for_each(|page| write(&mut drive, page, page, 1));
    write(&mut drive, 16, 0, 1);
    drive.drain().unwrap();
    let run = drive.ftl_mut().tables().locate(Lpn(16))[0];
    assert_eq!(plane(&drive, run.ppn), PlaneId(3 * 4));
    // One more on channel 3: none is without conflict, and those with the fewest are as good; from page 0's on the
    // first is its own.
    write(&mut drive, 3, 0, SECTORS);
    (0..4).for_each(|page| write(&mut drive, page, page, 1));
    drive.drain().unwrap();
    let run =
        drive.ftl_mut().tables().locate(Lpn(3)).into_iter().find(|at| at.mask == SectorMask(0b1000)).unwrap();
    assert_eq!(plane(&drive, run.ppn), PlaneId(0));
}

#[test]
fn whole_page_host_reads_are_counted_by_location() {
    let mut drive = drive("sector", &[]);
    // Of page 0 each sector lies in another page of the cache, with sectors of others.
    for sector in 0..SECTORS {
        write(&mut drive, 0, sector, 1);
        (0..3).for_each(|page| write(&mut drive, 4 + 3 * sector + page, 0, 1));
    }
    write(&mut drive, 1, 0, SECTORS);
    drive.drain().unwrap();
    ask(&mut drive, HostOp::Read, 0, 0, 2 * SECTORS); // pages 0 and 1
    ask(&mut drive, HostOp::Read, 0, 1, 2); // no whole page
    let counters = drive.ftl().counters();
    assert_eq!(counters.places.host, [1, 0, 0, 1]);
    assert_eq!(counters.regions[0].counts.whole_page_reads, 5);
    assert_eq!(host_reads(&drive), [7, 0]);
}

#[test]
fn missing_sectors_cost_a_read_if_the_device_says_so() {
    // Page 0 has sectors 2 and 3; of page 1 nothing is known.
    let lacking = vec![(Lpn(0), SectorMask::first(2))];
    let initial = Initial { lacking, ..Initial::holding(Mapped::First(1)) };
    let latencies = |settings: &[(&str, &str)]| {
        let mut drive = drive("hierarchy", settings);
        drive.ftl_mut().setup().precondition(&initial, 1).unwrap();
        let read = |drive: &mut Drive, page, from, sectors| ask(drive, HostOp::Read, page, from, sectors);
        let [lacks, has, all, none] = [(0, 0, 2), (0, 2, 2), (0, 0, 4), (1, 0, 4)]
            .map(|(page, from, sectors)| read(&mut drive, page, from, sectors));
        drive.ftl_mut().tables().check().unwrap();
        (lacks, has, all, none, host_reads(&drive).iter().sum::<u64>())
    };
    let (lacks, has, all, none, reads) = latencies(&[]);
    assert_eq!((lacks, none, reads), (0, 0, 2));
    assert_eq!(all, has, "only what is there comes over the bus");
    let (lacks, has, all, none, reads) = latencies(&[("mapping.unwritten", "read")]);
    assert_eq!((lacks, none, reads), (has, 0, 3));
    // TLC's 75 us, and 12.3 us on the bus for each sector of 4 KiB at 333 MB/s.
    let bus = |sectors: u64| (sectors * 4096 * 1_000_000_000).div_ceil(333_000_000);
    assert!(has.abs_diff(75_000 + bus(2)) <= 4 && all.abs_diff(75_000 + bus(4)) <= 4, "{has} {all}");
}

#[test]
fn sectors_that_a_page_in_l1_lacks_cost_a_read_there() {
    let mut drive = drive("hierarchy", &[("mapping.unwritten", "read")]);
    (0..4).for_each(|page| write(&mut drive, page, 0, 1));
    drive.drain().unwrap();
    ask(&mut drive, HostOp::Read, 2, 1, 3);
    assert_eq!(host_reads(&drive)[L1.0 as usize], 1);
    assert_eq!(host_reads(&drive)[L2.0 as usize], 0);
    // The request for all of them senses the page that they share once.
    ask(&mut drive, HostOp::Read, 0, 0, 4 * SECTORS);
    assert_eq!(host_reads(&drive)[L1.0 as usize], 2);
    drive.ftl_mut().tables().check().unwrap();
}
