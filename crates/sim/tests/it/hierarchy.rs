//! Two levels of SLC cache, and the schemes that they are compared with: closed forms of the division, the sizes
//! of tables, and what shares a page with what.

use wordline_device::{DeviceSpec, find};
use wordline_flash::Geometry;
use wordline_ftl::{Cause, Initial, Mapped, Metadata, RegionId};
use wordline_sim::{Device, NoProbe};
use wordline_swarm::{Rng, Tiny};
use wordline_units::{HostOp, HostRequest, Lpn, PlaneId, SectorMask, SimTime};

const SECTORS: u64 = 4;
const LBAS_PER_SECTOR: u64 = 8;

/// The paper's drive.
fn paper() -> (DeviceSpec, Geometry) {
    let spec = find("hierarchy-44gb").unwrap().spec(&[]).unwrap();
    let geometry = spec.geometry().unwrap();
    (spec, geometry)
}

fn device(scheme: &str) -> Device<NoProbe> {
    let (spec, geometry) = paper();
    Device::new(&spec, &geometry, wordline_schemes::build(scheme).unwrap(), NoProbe).unwrap()
}

/// Write sectors of a page, and wait until that is answered.
fn write(device: &mut Device<NoProbe>, page: u64, from: u64, sectors: u64) {
    let lba = (page * SECTORS + from) * LBAS_PER_SECTOR;
    let request = HostRequest::new(HostOp::Write, lba, (sectors * LBAS_PER_SECTOR) as u32);
    let at = device.now();
    device.submit(request.at(at), at).unwrap();
    device.next_completion(SimTime::NEVER).unwrap().unwrap();
}

#[test]
fn the_sector_tables_are_of_the_papers_size() {
    // Section IV-C: 262,144 items of 5.5 bytes are 1.375 MB, and Sector needs twice as much.
    let hierarchy = device("hierarchy").ftl().inspect().map_tables();
    assert_eq!((hierarchy[0].entries, hierarchy[0].entry_bits), (262_144, 44));
    assert_eq!(hierarchy[0].bytes(), 11 << 17);
    let sector = device("sector").ftl().inspect().map_tables();
    assert_eq!((sector[0].entries, sector[0].entry_bits), (524_288, 44));
    assert_eq!(sector[0].bytes(), 2 * hierarchy[0].bytes());
    assert!(device("slc-cache").ftl().inspect().map_tables().is_empty());
}

/// The shares of L2 at the ends of windows, when in each seven requests `whole` write a page and the others a
/// sector.
fn shares(windows: usize, whole: impl Fn(usize) -> u64) -> Vec<f64> {
    let mut device = device("hierarchy:runs=any"); // four sectors make a page, whatever L1 holds
    for window in 0..windows {
        for i in 0..1024u64 {
            let page = (window as u64 * 1024 + i) % 500_000;
            if i % 7 < whole(window) {
                write(&mut device, page, 0, SECTORS)
            } else {
                write(&mut device, page, i % SECTORS, 1)
            }
        }
    }
    let followed = device.ftl().scheme().metrics();
    let (name, ratios) = &followed[0];
    assert_eq!(name, "cur_ratio");
    ratios.iter().map(|r| r[1]).collect()
}

#[test]
fn division_follows_a_step_at_one_page_per_write() {
    // Of seven writes three whole pages and four sectors, which make one page: three pages of four are L2's.
    // Then all are sectors, so that L2 falls back to the half that it always has.
    let (up, down) = (40, 40);
    let ratios = shares(up + down, |window| if window < up { 3 } else { 0 });
    let most = 1024.0 / 131_072.0;
    for pair in ratios.windows(2) {
        assert!((pair[1] - pair[0]).abs() <= most + 1e-12, "{pair:?}");
    }
    assert!(ratios.iter().all(|r| (0.5 - 1.0 / 131_072.0..=1.0).contains(r)));
    // 0.25 at 1/128 a window: 32 windows and one in which the step is noticed.
    let within = (0.25f64 * 128.0).ceil() as usize + 1;
    let near = |window: usize, target: f64| (ratios[window] - target).abs() < 0.002;
    assert!(near(within, 0.75) && !near(within - 4, 0.75), "{:?}", &ratios[within - 4..=within]);
    assert!(near(up + within, 0.5) && !near(up + within - 4, 0.5), "{:?}", &ratios[up + within - 4..]);
}

#[test]
fn l1_owns_at_most_half_in_use_and_one_in_transition() {
    for scheme in ["hierarchy", "hierarchy:division=page"] {
        let spec = find("hierarchy-44gb").unwrap();
        let few = [("medium.flash.wordlines_per_block".to_string(), "4".to_string())];
        let spec = spec.spec(&few).unwrap();
        let geometry = spec.geometry().unwrap();
        let mut device: Device<NoProbe> =
            Device::new(&spec, &geometry, wordline_schemes::build(scheme).unwrap(), NoProbe).unwrap();
        let mut random = Rng::new(7);
        for i in 0..30_000 {
            write(&mut device, random.below(8_000), random.below(SECTORS), 1);
            if i % 64 == 0 {
                let view = device.ftl().view();
                let most = (0..geometry.planes).map(|p| view.owned(RegionId(0), PlaneId(p))).max();
                assert!(most <= Some(32 / 2 + 1), "{scheme}: L1 owns {most:?} blocks of a plane");
            }
        }
        assert!(device.ftl().counters().regions[0].counts.erases > 100, "L1 was hardly collected");
        device.ftl_mut().tables().check().unwrap();
    }
}

#[test]
fn a_page_under_sa_is_found_in_one_place() {
    let tiny = Tiny { planes: 2, one_shot: true, spare: 9, ..Tiny::default() };
    let scheme = wordline_schemes::build("sa").unwrap();
    let spec = tiny.spec(3);
    let geometry = spec.geometry().unwrap();
    let media = Metadata::default();
    let mut device = Device::over(&spec, &geometry, scheme, NoProbe, media).unwrap();
    let pages = spec.logical_bytes() / spec.unit.0;
    let (mut random, mut shared) = (Rng::new(3), 0);
    for _ in 0..3_000 {
        let (page, from) = (random.below(pages), random.below(SECTORS));
        let sectors = 1 + random.below(SECTORS - from);
        let request = HostRequest::new(HostOp::Write, page * SECTORS + from, sectors as u32);
        let at = device.now();
        device.submit(request.at(at), at).unwrap();
        while device.next_completion(SimTime::NEVER).unwrap().is_some() {}
        let places: Vec<_> =
            (0..pages as u32).map(|lpn| device.ftl_mut().tables().locate(Lpn(lpn))).collect();
        assert!(places.iter().all(|p| p.len() <= 1), "{places:?}");
        let mut all: Vec<_> = places.iter().flatten().map(|l| l.ppn).collect();
        all.sort_unstable();
        shared += all.windows(2).filter(|w| w[0] == w[1]).count();
    }
    assert!(shared > 0, "no two pages ever shared a place");
}

#[test]
fn sectors_of_a_class_share_a_page() {
    let mut device = device("sector");
    // The first sectors of four pages are written often, then once more with a page's others: the hot four come
    // to one place, and each page's cold three stay together.
    for _ in 0..6 {
        (0..4).for_each(|page| write(&mut device, page, 0, 1));
    }
    (0..4).for_each(|page| write(&mut device, page, 1, 2));
    (0..4).for_each(|page| write(&mut device, page, 0, 3));
    device.drain().unwrap();
    let place = |device: &mut Device<NoProbe>, page: u32, sector: u32| {
        let places = device.ftl_mut().tables().locate(Lpn(page));
        places.iter().find(|l| l.mask.0 >> sector & 1 == 1).map(|l| l.ppn)
    };
    let hot: Vec<_> = (0..4).map(|page| place(&mut device, page, 0)).collect();
    assert!(hot.iter().all(|p| *p == hot[0] && p.is_some()), "{hot:?}");
    for page in 0..4 {
        assert_eq!(place(&mut device, page, 1), place(&mut device, page, 2));
        assert_ne!(place(&mut device, page, 1), hot[0]);
    }
}

/// Pages read for a cause, in all regions.
fn reads(device: &Device<NoProbe>, cause: Cause) -> u64 {
    device.ftl().counters().regions.iter().map(|r| r.reads[cause as usize]).sum()
}

#[test]
fn incomplete_page_is_read_only_for_its_own_sectors() {
    // Sectors 2 and 3 of page 0 are there; page 1 is whole.
    let lacking = vec![(Lpn(0), SectorMask::first(2))];
    let initial = Initial { lacking, ..Initial::holding(Mapped::First(2)) };
    for (scheme, filled) in [("sa", 2), ("slc-cache", 3)] {
        let mut device = device(scheme);
        device.ftl_mut().setup().precondition(&initial, 1).unwrap();
        device.ftl_mut().tables().check().unwrap();
        write(&mut device, 0, 2, 2); // replaces all that there is: a map of whole pages does not know that
        write(&mut device, 1, 0, 2);
        device.drain().unwrap();
        write(&mut device, 0, 0, 1);
        device.drain().unwrap();
        device.ftl_mut().tables().check().unwrap();
        assert_eq!(reads(&device, Cause::Rmw), filled, "{scheme}");
    }
}

#[test]
fn pages_that_share_a_place_are_read_there_once() {
    let mut device = device("hierarchy");
    // The first sectors of four pages that follow each other come to one place, which one request reads.
    (0..4).for_each(|page| write(&mut device, page, 0, 1));
    device.drain().unwrap();
    let at = device.now();
    let all = HostRequest::new(HostOp::Read, 0, (4 * SECTORS * LBAS_PER_SECTOR) as u32);
    device.submit(all.at(at), at).unwrap();
    device.next_completion(SimTime::NEVER).unwrap().unwrap();
    assert_eq!(reads(&device, Cause::Host), 1);
}

#[test]
fn gc_reads_a_place_once_for_all_it_gathers() {
    // Each of a few pages has each of its sectors in another place, together with the same sector of the others.
    // A collection that brings those pages together has to read as many places as there are, and not as many as
    // there are parts.
    let few = [("medium.flash.wordlines_per_block".to_string(), "4".to_string())];
    let spec = find("hierarchy-44gb").unwrap().spec(&few).unwrap();
    let geometry = spec.geometry().unwrap();
    let scheme = wordline_schemes::build("sector").unwrap();
    let mut device: Device<NoProbe> = Device::new(&spec, &geometry, scheme, NoProbe).unwrap();
    let pages = 12_000;
    for group in 0..pages / 4 {
        for sector in 0..SECTORS {
            (0..4).for_each(|page| write(&mut device, group * 4 + page, sector, 1));
        }
    }
    device.drain().unwrap();
    device.ftl_mut().tables().check().unwrap();
    let moved = device.ftl().counters().regions[1].program_bytes[Cause::Migrate as usize] / spec.unit.0;
    let (read, erased) = (reads(&device, Cause::Migrate), device.ftl().counters().regions[0].counts.erases);
    assert!(erased > 100 && moved > 1_000, "{erased} blocks erased, {moved} pages moved");
    // Four pages are in four places: one read a page, except where two planes collect the same at once.
    assert!((moved..moved + moved / 100).contains(&read), "{read} reads for {moved} pages");
}

#[test]
fn runs_of_a_page_stay_together_where_asked() {
    for (scheme, most) in [("hierarchy:runs=any", 4), ("hierarchy", 2)] {
        let mut device = device(scheme);
        let mut random = Rng::new(5);
        for _ in 0..4_000 {
            let (page, from) = (random.below(300), random.below(SECTORS));
            write(&mut device, page, from, 1 + random.below(SECTORS - from));
        }
        device.drain().unwrap();
        device.ftl_mut().tables().check().unwrap();
        let places = (0..300).map(|page| device.ftl_mut().tables().locate(Lpn(page)).len()).max();
        assert_eq!(places, Some(most), "{scheme}");
    }
}
