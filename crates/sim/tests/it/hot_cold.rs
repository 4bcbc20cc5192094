//! Do hot and cold data stay apart, and does a device that cannot keep them apart say why?

use wordline_counters::Cause;
use wordline_device::{Copies, GcSpec};
use wordline_ftl::RegionId;
use wordline_sim::{Device, NoProbe};
use wordline_swarm::{Rng, Tiny};
use wordline_units::{HostOp, HostRequest, SimTime};

fn device(tiny: &Tiny, spelling: &str) -> Result<Device<NoProbe>, String> {
    let spec = tiny.spec(3);
    let scheme = wordline_schemes::build(spelling).unwrap();
    Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).map_err(|e| e.to_string())
}

/// Write every page of the drive some times, the pages in a fixed scattered order.
fn write_all(d: &mut Device<NoProbe>, times: u64) {
    let pages = d.ftl().view().logical_pages() as u64;
    let per_page = d.ftl().inspect().logical_lbas() / pages;
    for i in 0..times * pages {
        let page = i * 7919 % pages; // a prime, so that each round covers every page
        let at = d.now();
        d.submit(HostRequest::new(HostOp::Write, page * per_page, per_page as u32), at).unwrap();
        while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
    }
    d.drain().unwrap();
}

#[test]
fn region_programs_exactly_its_share_of_addresses() {
    for (spelling, hot) in [
        ("hot-cold:hot=25%", 0.25),
        ("hot-cold:hot=25%,at=end", 0.25),
        ("hot-cold:hot=25%,pools=separate", 0.25),
        ("hot-cold:hot=60%,pools=separate,spare=40%", 0.6),
    ] {
        let tiny = Tiny { blocks: 40, wordlines: 8, spare: 12, ..Tiny::default() };
        let mut d = device(&tiny, spelling).unwrap();
        write_all(&mut d, 6);
        d.ftl_mut().tables().check().unwrap();
        let pages = d.ftl().view().logical_pages();
        let in_h = (hot * pages as f64) as u64;
        let host = |r: usize| d.ftl().counters().regions[r].program_pages[0];
        assert_eq!(host(0), 6 * in_h, "{spelling}");
        assert_eq!(host(1), 6 * (pages as u64 - in_h), "{spelling}");
        assert!(d.ftl().counters().collections > 20, "{spelling}");
    }
}

#[test]
fn a_pool_too_small_is_refused_with_its_numbers() {
    let tiny = Tiny { blocks: 40, wordlines: 8, spare: 12, ..Tiny::default() };
    let e = device(&tiny, "hot-cold:pools=separate,spare=5%").err().unwrap();
    assert!(
        e.contains("spare=5%") && e.contains("each needs at least 3") && e.contains("more blocks"),
        "{e}"
    );
    let e = device(&tiny, "hot-cold:hot=100%").err().unwrap();
    assert!(e.contains("leaves one region empty"), "{e}");
}

#[test]
fn separate_pools_own_blocks_by_data_and_spare() {
    let tiny = Tiny { blocks: 40, wordlines: 8, spare: 12, ..Tiny::default() };
    let d = device(&tiny, "hot-cold:hot=25%,pools=separate,spare=50%").unwrap();
    // 28 blocks of data: 7 hot, 21 cold; of 12 spare ones half each.
    let blocks: Vec<u32> = d.ftl().layout().pools.iter().map(|p| p.blocks_per_plane).collect();
    assert_eq!(blocks, [7 + 6, 21 + 6]);
    assert_eq!(d.ftl().layout().home, RegionId(1));
}

/// Pages that the host writes and GC copies, where nine writes of ten go to a share of the pages.
fn skewed(copies: Copies, share: u64) -> [u64; 2] {
    let mut spec = Tiny { blocks: 40, wordlines: 16, spare: 12, ..Tiny::default() }.spec(3);
    spec.gc = GcSpec { copies, trigger: "free_blocks < 5%".parse().unwrap(), ..spec.gc };
    let scheme = wordline_schemes::build("conventional").unwrap();
    let mut d = Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    let pages = d.ftl().view().logical_pages() as u64;
    let (per_page, mut rng) = (d.ftl().inspect().logical_lbas() / pages, Rng::new(5));
    for i in 0..9 * pages {
        let hot = rng.below(10) < 9;
        let page = if i < pages { i } else { rng.below(if hot { pages / share } else { pages }) };
        let at = d.now();
        d.submit(HostRequest::new(HostOp::Write, page * per_page, per_page as u32), at).unwrap();
        while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
    }
    d.drain().unwrap();
    d.ftl_mut().tables().check().unwrap();
    let regions = &d.ftl().counters().regions;
    assert_eq!(regions.iter().map(|r| r.program_pages[Cause::Migrate as usize]).sum::<u64>(), 0);
    [Cause::Host, Cause::Gc].map(|cause| regions.iter().map(|r| r.program_pages[cause as usize]).sum())
}

#[test]
fn copies_apart_save_copies_of_skewed_writes_alone() {
    let of = |share| [Copies::Together, Copies::Apart].map(|copies| skewed(copies, share));
    let [[host, together], [same, apart]] = of(10);
    assert_eq!(host, same);
    assert!((apart as f64) < 0.8 * together as f64, "{apart} {together}");
    let [[_, together], [_, apart]] = of(1);
    let ratio = apart as f64 / together as f64;
    assert!((0.9..1.15).contains(&ratio), "{apart} {together}");
}
