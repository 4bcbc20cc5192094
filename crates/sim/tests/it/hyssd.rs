//! HySSD on small drives: where data lie, who waits for whom, and that no utilization locks a drive up.

use wordline_device::DeviceSpec;
use wordline_ftl::{BoxedMedia, Cause, Checked, Initial, Label, Mapped, Outcome, RegionId, StateFile};
use wordline_sim::{Device, NoProbe};
use wordline_units::{HostOp, HostRequest, Lpn, SimTime};

const S: RegionId = RegionId(0);
/// A unit in host addresses.
const UNIT: u64 = 8;

/// `hyssd-st` with few blocks: 4 x `fast` of 128 pages beside 8 x 22 of 384, and `logical` of capacity.
fn sized(fast: u32, logical: &str) -> DeviceSpec {
    let set = [
        ("medium.slc.channels", "4"),
        ("medium.slc.blocks_per_plane", fast.to_string().as_str()),
        ("medium.tlc.blocks_per_plane", "22"),
        ("capacity.logical", logical),
    ]
    .map(|(k, v)| (k.to_string(), v.to_string()));
    wordline_device::find("hyssd-st").unwrap().spec(&set).unwrap_or_else(|e| panic!("{e}"))
}

fn spec(logical: &str) -> DeviceSpec {
    sized(32, logical)
}

type Plain = Device<NoProbe>;

fn begun(spec: &DeviceSpec, scheme: &str, pages: u32) -> Result<Plain, String> {
    let scheme = wordline_schemes::build(scheme).unwrap();
    let mut device =
        Device::new(spec, &spec.geometry().unwrap(), scheme, NoProbe).map_err(|e| e.to_string())?;
    device
        .ftl_mut()
        .setup()
        .precondition(&Initial::holding(Mapped::First(pages)), 7)
        .map_err(|e| e.to_string())?;
    Ok(device)
}

fn pages(spec: &DeviceSpec) -> u32 {
    (spec.logical_bytes() / spec.unit.0) as u32
}

/// Whether the superior medium holds a page.
fn is_in_superior(device: &Plain, page: u32) -> bool {
    let view = device.ftl().view();
    view.locate(Lpn(page)).is_some_and(|ppn| view.owner(ppn).1 == S)
}

/// Pages of the superior medium that hold data.
fn in_superior(device: &Plain, pages: u32) -> u32 {
    (0..pages).filter(|page| is_in_superior(device, *page)).count() as u32
}

fn write(page: u64) -> HostRequest {
    HostRequest::new(HostOp::Write, page * UNIT, UNIT as u32)
}

/// A write to an idle drive, and how long it took in microseconds.
fn alone(device: &mut Plain, page: u64) -> f64 {
    let now = device.now();
    device.submit(write(page).at(now), now).unwrap();
    let done = device.next_completion(SimTime::NEVER).unwrap().unwrap();
    assert_eq!(done.outcome, Outcome::Done);
    done.at.since(now).as_us()
}

#[test]
fn superior_medium_meets_its_target_from_the_start() {
    let spec = spec("448MiB");
    let all = pages(&spec);
    let mut device = begun(&spec, "hyssd:static,u=60%", all).unwrap();
    let target = 4 * 32 * 128 * 6 / 10;
    assert_eq!(in_superior(&device, all), target);
    let mut random = 7u64;
    for i in 0..40_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let page = (random >> 33) % all as u64;
        let now = device.now();
        device.submit(write(page).at(now), now).unwrap();
        while device.outstanding() >= 16 {
            assert_eq!(device.next_completion(SimTime::NEVER).unwrap().unwrap().outcome, Outcome::Done);
        }
        if i % 10_000 == 9_999 {
            let held = in_superior(&device, all);
            assert!(held.abs_diff(target) <= 32, "{held} of {target} after {i} writes");
        }
    }
    device.drain().unwrap();
    device.ftl_mut().tables().check().unwrap();
    assert_eq!(device.ftl().inspect().mapped(), all as u64);
    let counters = device.ftl().counters();
    assert!(counters.regions[1].program_bytes[Cause::Migrate as usize] > 0);
    assert!(counters.regions.iter().all(|r| r.counts.erases > 0 && r.ops.copy_backs > 0), "{counters:?}");
}

#[test]
fn miss_waits_for_the_destage_and_a_hit_does_not() {
    // Unpacked: the coldest page is read (135 us) and programmed in TLC (2500 us) before the write (350 us).
    let spec = spec("448MiB");
    let mut device = begun(&spec, "hyssd:static,u=50%,tlc_unit=unpacked", pages(&spec)).unwrap();
    assert_eq!(alone(&mut device, 5), 135.0 + 2500.0 + 350.0);
    assert_eq!(alone(&mut device, 5), 350.0);
    // Packed: the page is safe in the buffer once it has been read. Its program, with a second one, begins
    // in the time of the third write, which finds room.
    let mut device = begun(&spec, "hyssd:static,u=50%", pages(&spec)).unwrap();
    for page in 5..9 {
        assert_eq!(alone(&mut device, page), 135.0 + 350.0);
    }
    assert_eq!(alone(&mut device, 8), 350.0);
    device.drain().unwrap();
    assert_eq!(device.ftl().counters().regions[1].ops.program_operations, 2);
}

#[test]
fn destage_rewrites_a_tlc_page_with_its_shared_unit() {
    // Read (135 us), then the other unit of the page if that lies in TLC (350 us), and both programmed at once
    // (2500 us), before the write (350 us).
    let spec = spec("448MiB");
    let all = pages(&spec);
    let mut device = begun(&spec, "hyssd:static,u=50%,tlc_unit=rmw", all).unwrap();
    let (mut with, mut without) = (0, 0);
    for page in 0..200 {
        let before: Vec<bool> = (0..all).map(|page| is_in_superior(&device, page)).collect();
        let units = device.ftl().counters().regions[1].program_bytes[Cause::Migrate as usize] / spec.unit.0;
        let took = alone(&mut device, page);
        let left: Vec<u32> =
            (0..all).filter(|p| before[*p as usize] && !is_in_superior(&device, *p)).collect();
        let written = device.ftl().counters().regions[1].program_bytes[Cause::Migrate as usize] / spec.unit.0;
        let (expected, own) = match left[..] {
            [] => (350.0, 0),
            // The other one is being written, and so in RAM.
            [one] if before[(one ^ 1) as usize] || u64::from(one ^ 1) == page => (135.0 + 2500.0 + 350.0, 1),
            [_] => (135.0 + 350.0 + 2500.0 + 350.0, 2),
            _ => panic!("{left:?} left for the write of {page}"),
        };
        if u64::from(left.first().copied().unwrap_or(0) ^ 1) != page {
            assert_eq!((took, written - units), (expected, own), "{left:?} left for the write of {page}");
        }
        with += (own == 2) as u32;
        without += (own == 1) as u32;
        device.ftl_mut().tables().check().unwrap();
    }
    assert!(with > 50 && without > 5, "{with} with another unit, {without} without");
    assert_eq!(device.ftl().counters().regions[1].reads[Cause::Rmw as usize], u64::from(with));
    // No page of TLC holds one unit twice, and none is lost.
    assert_eq!(device.ftl().inspect().mapped(), all as u64);
    let wide = [("medium.tlc.page".to_string(), "16KiB".to_string())];
    let wide = wordline_device::find("hyssd-st").unwrap().spec(&wide).unwrap();
    assert!(begun(&wide, "hyssd:static,tlc_unit=rmw", 0).err().unwrap().contains("requires two per page"));
}

#[test]
fn no_u_from_5_to_98_percent_locks_the_drive_up() {
    let many = &[5, 6, 8, 10, 25, 50, 75, 90, 95, 97, 98][..];
    let few = &[5, 50, 98][..];
    for (tlc_unit, utilisations) in [
        ("packed", many),
        ("rmw", few),
        ("unpacked", few),
        ("rmw,place=static", few),
        ("unpacked,place=static", few),
    ] {
        for &u in utilisations {
            // As much data as the two media admit at this u: 22 blocks a plane less the reserve and the
            // frontier, and what one program may pad in every block.
            let inferior = 8 * 20 * 766;
            let superior = 4 * 200 * 128 * u / 100;
            let logical = format!("{}KiB", (inferior + superior) * 4);
            let spec = sized(200, &logical);
            let all = pages(&spec);
            let scheme = format!("hyssd:static,u={u}%,tlc_unit={tlc_unit}");
            let mut device = begun(&spec, &scheme, all).unwrap_or_else(|e| panic!("u={u}: {e}"));
            let mut random: u64 = u;
            for i in 0..4_000u64 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // Bursts of long requests, and single pages.
                let length = if i % 64 < 8 { 32 } else { 1 };
                let page = (random >> 33) % (all as u64 - length);
                let request = HostRequest::new(HostOp::Write, page * UNIT, (length * UNIT) as u32);
                let now = device.now();
                device.submit(request.at(now), now).unwrap_or_else(|e| panic!("{scheme}: {e}"));
                while device.outstanding() >= 24 {
                    let done = device.next_completion(SimTime::NEVER);
                    let done = done.unwrap_or_else(|e| panic!("{scheme}: {e}")).unwrap();
                    assert_eq!(done.outcome, Outcome::Done, "{scheme}: request {}", done.number);
                }
            }
            device.drain().unwrap_or_else(|e| panic!("{scheme}: {e}"));
            device.ftl_mut().tables().check().unwrap();
            assert!(device.ftl().inspect().is_quiet(), "{scheme}: {}", device.ftl().inspect().leftovers());
            // One in, one out: the superior medium holds what u gives it.
            let held = in_superior(&device, all) as u64;
            assert!(held <= superior, "{scheme}: {held} pages, and u gives {superior}");
        }
    }
}

#[test]
fn overfull_drive_names_the_utilizations_it_admits() {
    let refusal = begun(&spec("530MiB"), "hyssd:static,u=5%", 0).err().unwrap();
    assert!(
        refusal.contains("a lower capacity.logical widens this range")
            && refusal.contains("capacity.logical"),
        "{refusal}"
    );
    let wrong = wordline_schemes::build("hyssd:fast").unwrap_err().to_string();
    assert!(wrong.contains("perf") && wrong.contains("static"), "{wrong}");
    let one = wordline_device::find("demo-8gb").unwrap().spec(&[]).unwrap();
    assert!(begun(&one, "hyssd", 0).err().unwrap().contains("two media"));
}

#[test]
fn cold_pages_above_target_leave_when_idle_and_old() {
    // The first period ends with a target of 5 %, since every write misses and costs least there; then
    // 45 % of the superior medium are surplus.
    let spec = spec("400MiB");
    let all = pages(&spec);
    let mut device = begun(&spec, "hyssd:perf,u=50%,period=256,age=2", all).unwrap();
    for i in 0..1_024u64 {
        alone(&mut device, i % 8);
    }
    let before = in_superior(&device, all);
    let target = (0.05 * 4.0 * 32.0 * 128.0) as u32;
    assert!(before > 2 * target, "{before} pages are left for idle time");
    let later = SimTime(device.now().0 + 60_000_000_000);
    device.advance_to(later).unwrap();
    let after = in_superior(&device, all);
    assert!(after < before && after >= 8, "{before} before a minute of idle time, {after} after it");
    assert_eq!(device.ftl().view().live_units(S, wordline_units::PlaneId(0)) > 0, after > 0);
    device.ftl_mut().tables().check().unwrap();
}

/// Writes to pages that a few hundred requests come back to, each of `length` pages, until so many pages are written.
fn written(scheme: &str, length: u64, all: u64) -> Plain {
    let spec = spec("400MiB");
    let mut device = begun(&spec, scheme, pages(&spec)).unwrap();
    for i in 0..all / length {
        let now = device.now();
        let request = HostRequest::new(HostOp::Write, i * 7919 % 40_000 * UNIT, (length * UNIT) as u32);
        device.submit(request.at(now), now).unwrap();
        assert_eq!(device.next_completion(SimTime::NEVER).unwrap().unwrap().outcome, Outcome::Done);
    }
    device
}

/// What a scheme has chosen: page writes and u.
fn chosen(device: &Plain) -> Vec<[f64; 2]> {
    device.ftl().scheme().metrics()[0].1.to_vec()
}

#[test]
fn periods_count_pages_or_requests() {
    let ends = |counts: &str| -> Vec<f64> {
        let device = written(&format!("hyssd:perf,period=256,counts={counts}"), 4, 4096);
        chosen(&device)[1..].iter().map(|at| at[0]).collect()
    };
    let (pages, requests) = (ends("pages"), ends("requests"));
    assert_eq!(pages, (1..=16).map(|i| 256.0 * i as f64).collect::<Vec<_>>());
    // The 256th request finds 255 of four pages written before it.
    assert_eq!(requests, (1..=4).map(|i| 1024.0 * i as f64 - 4.0).collect::<Vec<_>>());
}

#[test]
fn lifetimes_count_what_they_are_told_to() {
    // No block of either medium has been erased yet, so that mean erases know nothing, and Life stays where the costs
    // are least. By what was programmed the superior medium, which takes every write, has more cycles behind it, but
    // endures a hundred times as many: Life goes up from there.
    let last = |options: &str| {
        chosen(&written(&format!("hyssd:{options},period=256,u=50%"), 1, 4096)).last().unwrap()[1]
    };
    let perf = last("perf");
    assert_eq!(last("life,used=erases"), perf);
    for used in ["programs", "writes"] {
        let life = last(&format!("life,used={used}"));
        assert!(life > perf + 0.05, "{used}: {life} over {perf}");
    }
}

#[test]
fn chosen_utilizations_lie_on_the_grid() {
    // 16,384 pages of SLC: a sixteenth is a whole number of them.
    let sixteenths = |options: &str| -> Vec<f64> {
        let device = written(&format!("hyssd:{options},period=256,u=20%"), 1, 4096);
        chosen(&device)[1..].iter().map(|at| at[1] * 16.0).collect()
    };
    let perf = sixteenths("perf,grid=6.25%");
    let life = sixteenths("life,used=programs,grid=6.25%");
    for u in perf.iter().chain(&life) {
        assert_eq!(u.fract(), 0.0, "{u} sixteenths, {perf:?} and {life:?}");
    }
    // Perf takes the one next to what it takes of hundredths, and Life goes up from it, one value a period.
    let hundredths = sixteenths("perf");
    assert!(perf.iter().zip(&hundredths).all(|(a, b)| (a - b).abs() < 1.0), "{perf:?} and {hundredths:?}");
    let least = perf[0];
    assert_eq!(life[..4], [1.0, 2.0, 3.0, 4.0].map(|more| least + more));
    // A step of its own leaves the grid.
    let own = sixteenths("life,used=programs,grid=6.25%,step=1%");
    assert!(own[0] > least && own[0] < least + 0.2, "{own:?}");
    for (wrong, why) in [("grid=60%", "60% is not between 0.1% and 50%"), ("step=fast", "step")] {
        let refusal = wordline_schemes::build(&format!("hyssd:{wrong}")).unwrap_err().to_string();
        assert!(refusal.contains(why), "{refusal}");
    }
}

/// The plane of a page, and whether that is one of the superior medium.
fn lies(device: &Plain, page: u32) -> (u32, bool) {
    let view = device.ftl().view();
    let (plane, region) = view.owner(view.locate(Lpn(page)).unwrap());
    (plane.0, region == S)
}

/// Writes a page at a time, and what they move: the page, what leaves for it, if anything, and where all pages lay
/// before.
fn moved(options: &str, mut told: impl FnMut(u32, Option<u32>, &[(u32, bool)], &Plain)) {
    let spec = spec("448MiB");
    let all = pages(&spec);
    let mut device = begun(&spec, &format!("hyssd:static,u=50%,{options}"), all).unwrap();
    for i in 0..150 {
        let page = i * 7919 % all;
        let before: Vec<(u32, bool)> = (0..all).map(|page| lies(&device, page)).collect();
        alone(&mut device, u64::from(page));
        let left = (0..all).find(|p| before[*p as usize].1 && !lies(&device, *p).1);
        told(page, left, &before, &device);
        device.ftl_mut().tables().check().unwrap();
    }
}

#[test]
fn static_place_sends_a_write_to_the_plane_just_left() {
    for unit in ["unpacked", "rmw"] {
        let (mut missed, mut joined) = (0, 0);
        moved(&format!("tlc_unit={unit},place=static"), |page, left, before, device| {
            let at = |page: u32| before[page as usize];
            let Some(left) = left else {
                return assert_eq!(lies(device, page), at(page), "{unit}: a hit of {page}");
            };
            missed += 1;
            assert_eq!(lies(device, page), at(left), "{unit}: {page}, for which {left} left");
            // With its pair-mate it shares a page of TLC, and so a plane; otherwise they change places.
            let mate = left ^ 1;
            if unit == "unpacked" {
                assert_eq!(lies(device, left), at(page), "{left} left for {page}");
            } else if mate != page && !at(mate).1 {
                joined += 1;
                assert_eq!(lies(device, left), at(mate), "{left} left for {page}");
            }
        });
        assert!(missed > 100 && (joined > 50) == (unit == "rmw"), "{unit}: {joined} of {missed}");
    }
    let (mut missed, mut exchanged) = (0, 0);
    moved("tlc_unit=rmw,place=level", |page, left, before, device| {
        missed += u32::from(left.is_some());
        exchanged += u32::from(left.is_some_and(|left| lies(device, page) == before[left as usize]));
    });
    assert!(missed > 100 && exchanged < missed / 2, "{exchanged} of {missed} by chance");
    let refusal = begun(&spec("448MiB"), "hyssd:static,place=static", 0).err().unwrap();
    assert!(refusal.contains("set tlc_unit=rmw"), "{refusal}");
}

#[test]
fn saved_drive_goes_on_with_its_addresses() {
    let spec = spec("400MiB");
    let (geometry, name) =
        (spec.geometry().unwrap(), "hyssd:life,tlc_unit=rmw,place=static,grid=6.25%,period=64");
    let all = pages(&spec);
    let mut device = begun(&spec, name, all).unwrap();
    let ask = |device: &mut Plain, count: u64| {
        for i in 0..count {
            let now = device.now();
            let op = if i % 9 == 8 { HostOp::Trim } else { HostOp::Write };
            let request = HostRequest::new(op, i * 7919 % u64::from(all) * UNIT, UNIT as u32);
            device.submit(request.at(now), now).unwrap();
            while device.outstanding() > 12 {
                device.next_completion(SimTime::NEVER).unwrap();
            }
        }
    };
    ask(&mut device, 700);
    assert!(device.outstanding() > 0);
    let label = Label { device: &spec, scheme: name };
    let mut file = tempfile::tempfile().unwrap();
    device.save(label, 7, &mut file).unwrap();
    let state = StateFile::open(file, Checked::Whole).unwrap();
    let scheme = wordline_schemes::build(name).unwrap();
    let mut restored: Plain =
        Device::restore_over(label, &geometry, scheme, NoProbe, &state, BoxedMedia::none()).unwrap();
    for device in [&mut device, &mut restored] {
        ask(device, 700);
        device.drain().unwrap();
    }
    assert_eq!(device.ftl().counters(), restored.ftl().counters());
    assert!(
        (0..all).all(|page| device.ftl().view().locate(Lpn(page)) == restored.ftl().view().locate(Lpn(page)))
    );
}

#[test]
fn read_promotes_a_page_only_where_reads_move_pages() {
    let spec = spec("400MiB");
    let all = pages(&spec);
    for (reads, moves) in [("stay", false), ("move", true)] {
        let mut device = begun(&spec, &format!("hyssd:static,u=50%,reads={reads}"), all).unwrap();
        let page = (0..all).find(|page| !is_in_superior(&device, *page)).unwrap();
        let now = device.now();
        let read = HostRequest::new(HostOp::Read, page as u64 * UNIT, UNIT as u32);
        device.submit(read.at(now), now).unwrap();
        assert_eq!(device.next_completion(SimTime::NEVER).unwrap().unwrap().outcome, Outcome::Done);
        device.advance_to(SimTime(device.now().0 + 10_000_000)).unwrap();
        assert_eq!(is_in_superior(&device, page), moves, "{reads}");
        // What came in goes out with the next write, though that is a hit; a miss brings one in and sends one out.
        let held = in_superior(&device, all);
        for _ in 0..4 {
            alone(&mut device, page as u64);
        }
        assert_eq!(in_superior(&device, all), held - u32::from(moves), "{reads}");
        device.ftl_mut().tables().check().unwrap();
    }
}

#[test]
fn slc_with_mlc_meets_its_target_as_with_tlc() {
    let set = [
        ("medium.slc.blocks_per_plane", "32"),
        ("medium.mlc.blocks_per_plane", "64"),
        ("capacity.logical", "500MiB"),
    ]
    .map(|(k, v)| (k.to_string(), v.to_string()));
    let spec = wordline_device::find("hyssd-sm").unwrap().spec(&set).unwrap();
    let all = pages(&spec);
    let mut device = begun(&spec, "hyssd:static,u=60%", all).unwrap();
    assert_eq!(in_superior(&device, all), 8 * 32 * 128 * 6 / 10);
    // Read (135 us) and programmed in MLC (1400 us): a page of MLC is one unit, and none waits in RAM for others. Then the
    // write (350 us).
    let page = (0..all).find(|page| !is_in_superior(&device, *page)).unwrap();
    assert_eq!(alone(&mut device, page as u64), 135.0 + 1400.0 + 350.0);
    let refusal = begun(&spec, "hyssd:tlc_unit=rmw", 0).err().unwrap();
    assert!(refusal.contains("pages of mlc hold 1 mapping units"), "{refusal}");
}
