//! In-place Switch: do windows, their collection and the baseline come to what the paper's arithmetic says?

use wordline_flash::SlotClass;
use wordline_ftl::{Cause, Initial, InitialError, Mapped, OpKind};
use wordline_sim::{Device, Event, NoProbe, Pacing, Probe, Stop, drive};
use wordline_units::{BlockId, Fraction, HostOp, HostRequest, SimTime};

const GB: f64 = (1u64 << 30) as f64;

/// Chips of the drive, of the paper's 32. Planes do the same beside each other, so a chip with the thirty-second
/// part of the data comes to the same figures as the drive; to have fewer blocks a plane instead would make the
/// block that collection keeps weigh more. `make closed-forms` runs the whole drive.
fn chips() -> u64 {
    if std::env::var_os("WORDLINE_WHOLE_DRIVE").is_some() { 32 } else { 1 }
}

/// Adds up how long arrays work on the host's programs.
#[derive(Default)]
struct Service {
    pages: u64,
    time: u64,
}

impl Probe for Service {
    const WATCHES: bool = true;
    fn event(&mut self, event: Event) {
        if let Event::Array { kind: OpKind::Program, cause: Cause::Host, start, end, .. } = event {
            self.pages += 1;
            self.time += end.since(start).0;
        }
    }
}

/// What a burst came to.
struct Burst {
    /// Mean service of a host page, in ms.
    service: f64,
    /// How long the burst took, in s.
    took: f64,
    /// All programs over those the host asked for.
    wa: f64,
}

/// The paper's drive, or part of it.
fn device<P: Probe>(scheme: &str, set: &[(&str, String)], probe: P) -> Device<P> {
    let file = wordline_device::find("ips-384gb").unwrap();
    let mut set: Vec<(String, String)> = set.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    for key in ["medium.flash.channels", "medium.flash.chips_per_channel"] {
        if chips() == 1 && set.iter().all(|(given, _)| given != key) {
            set.push((key.into(), "1".into()));
        }
    }
    let spec = wordline_device::from_toml(file.text, file.name, &set).unwrap();
    let scheme = wordline_schemes::build(scheme).unwrap();
    let mut device = Device::new(&spec, &spec.geometry().unwrap(), scheme, probe).unwrap();
    device.ftl_mut().setup().precondition(&Initial::fresh(), 1).unwrap();
    device
}

/// Sequential 32 KB writes, 32 at a time, without a pause: SPEC of the burst mode. The writes begin anew
/// where the drive ends.
fn burst(scheme: &str, set: &[(&str, String)], gigabytes: f64) -> Burst {
    let mut d = device(scheme, set, Service::default());
    let requests = (gigabytes * GB / 32768.0) as u64 * chips() / 32;
    let slots = d.ftl().view().logical_pages() as u64 / 8;
    let stream = (0..requests)
        .map(|i| Ok::<_, std::convert::Infallible>(HostRequest::new(HostOp::Write, i % slots * 64, 64)));
    let summary =
        drive(&mut d, stream, Pacing::Closed { queue_depth: chips() as u32 }, Stop::default(), |_| {})
            .unwrap();
    d.drain().unwrap();
    assert_eq!((summary.completed, d.metrics().out_of_space), (requests, 0));
    let counters = d.ftl().counters();
    Burst {
        service: d.probe().time as f64 / d.probe().pages as f64 / 1e6,
        took: summary.end.0 as f64 / 1e9,
        wa: counters.programmed_bytes() as f64 / counters.host.write_page_bytes as f64,
    }
}

/// Bytes of so many blocks of each plane with so many SLC pages each, in GB.
fn slc(blocks: f64, pages: f64) -> f64 {
    128.0 * blocks * pages * 4096.0 / GB
}

/// Mean service in ms and write amplification of the baseline with a cache of `s` GB, for `w` GB.
fn baseline(w: f64, s: f64) -> (f64, f64) {
    ((w.min(s) * 0.5 + (w - s).max(0.0) * 3.0) / w, (w + w.min(s)) / w)
}

/// The same of windows of `s - d` GB with a traditional cache of `d` GB.
fn windows(w: f64, s: f64, d: f64) -> (f64, f64) {
    let further = (0.5 + 2.0 * 3.0) / 3.0;
    let service = (w.min(s) * 0.5 + (w - s).max(0.0) * further) / w;
    (service, (w + d.min((w - s + d).max(0.0))) / w)
}

#[allow(clippy::print_stdout)] // `make closed-forms` shows them
fn near(what: &str, ours: f64, theory: f64) {
    println!("{what}: {ours:.4}, theory {theory:.4}, {:+.2} %", (ours / theory - 1.0) * 100.0);
    assert!((ours / theory - 1.0).abs() < 0.03, "{what}: {ours} for {theory}");
}

#[test]
fn burst_latency_and_waf_match_closed_forms() {
    for w in [4.0, 6.0, 10.0, 20.0, 40.0] {
        let (base, ips) = (burst("turbo-write", &[], w), burst("ips", &[], w));
        let (theory_base, theory) = (baseline(w, slc(64.0, 128.0)), windows(w, slc(2048.0, 4.0), 0.0));
        near(&format!("W = {w}, baseline service"), base.service, theory_base.0);
        near(&format!("W = {w}, baseline WA"), base.wa, theory_base.1);
        near(&format!("W = {w}, service ratio"), ips.service / base.service, theory.0 / theory_base.0);
        near(&format!("W = {w}, duration ratio"), ips.took / base.took, theory.0 / theory_base.0);
        near(&format!("W = {w}, WA ratio"), ips.wa / base.wa, theory.1 / theory_base.1);
    }
}

#[test]
fn cooperative_cache_matches_its_closed_forms() {
    // 64 GB of cache on both sides; the logical space is that of what then is left as TLC, 192 GB / 1.07.
    let room = ("capacity.logical", format!("{}B", (192u64 << 30) * chips() / 32 * 100 / 107 / 4096 * 4096));
    let cache = ("slc_cache.static_blocks", 1024.to_string());
    let (t, u) = (991.0, 1057.0);
    let (d, s) = (slc(t, 128.0), slc(t, 128.0) + slc(u, 4.0));
    for w in [64.0, 72.0, 96.0, 136.0] {
        let set = [room.clone(), cache.clone()];
        let base = burst("turbo-write", &set, w);
        let ours = burst("ips-cooperative", &set, w);
        let (theory_base, theory) = (baseline(w, slc(1024.0, 128.0)), windows(w, s, d));
        near(&format!("W = {w}, baseline service"), base.service, theory_base.0);
        near(&format!("W = {w}, service ratio"), ours.service / base.service, theory.0 / theory_base.0);
        near(&format!("W = {w}, WA ratio"), ours.wa / base.wa, theory.1 / theory_base.1);
    }
}

type Drive = Device<NoProbe>;

/// Two planes of one die, with so many blocks each.
fn die(scheme: &str, blocks: u32, cache: u32) -> Drive {
    let set = [
        ("medium.flash.chips_per_channel", "1".to_string()),
        ("medium.flash.channels", "1".into()),
        ("medium.flash.dies_per_chip", "1".into()),
        ("medium.flash.blocks_per_plane", blocks.to_string()),
        ("slc_cache.static_blocks", cache.to_string()),
        ("capacity.over_provisioning", "25%".into()),
    ];
    device(scheme, &set, NoProbe)
}

/// Submit a request and wait for its end; returns its latency in us.
fn ask(d: &mut Drive, op: HostOp, page: u64, pages: u64) -> f64 {
    let at = d.now();
    d.submit(HostRequest::new(op, page * 8, pages as u32 * 8), at).unwrap();
    let mut took = 0.0;
    while d.outstanding() > 0 {
        let c = d.next_completion(SimTime::NEVER).unwrap().unwrap();
        took = c.at.since(at).as_us();
    }
    took
}

/// Let so much time pass.
fn wait(d: &mut Drive, ms: f64) {
    let until = SimTime(d.now().0 + (ms * 1e6) as u64);
    while d.next_completion(until).unwrap().is_some() {}
    d.advance_to(until).unwrap();
}

const BUS: f64 = 4096.0 * 3e-3;

// It keeps its pages through both.
#[test]
fn wordline_speed_follows_bits_through_two_reprograms() {
    let mut d = die("ips", 8, 2);
    // Pages of one plane are the even ones. Seven blocks of a plane can be opened: 28 SLC pages.
    let slc: Vec<f64> = (0..28).map(|i| ask(&mut d, HostOp::Write, 2 * i, 1)).collect();
    assert!(slc.iter().all(|us| (us - 500.0 - BUS).abs() < 0.01), "{slc:?}");
    let reads = |d: &mut Drive| ask(d, HostOp::Read, 0, 1) - BUS;
    assert!((reads(&mut d) - 20.0).abs() < 0.01);
    // The next eight turn the first window, each at the latency of a TLC program, the read of the old bits in it.
    for i in 28..36 {
        let took = ask(&mut d, HostOp::Write, 2 * i, 1);
        assert!((took - 3000.0 - BUS).abs() < 0.01, "{i}: {took}");
        assert!((reads(&mut d) - 66.0).abs() < 0.01, "after the first reprogram and ever since");
        if i == 30 {
            assert!(
                (ask(&mut d, HostOp::Read, 6, 1) - BUS - 20.0).abs() < 0.01,
                "its wordline is not reached yet"
            );
        }
    }
    // Now the window above is new cache.
    assert!((ask(&mut d, HostOp::Write, 72, 1) - 500.0 - BUS).abs() < 0.01);
    let w = &d.ftl().counters().regions[0];
    assert_eq!((w.as_slc.pages[0], w.reprogrammed.pages[0], w.counts.erases), (29, 8, 0));
    d.ftl_mut().tables().check().unwrap();
}

// For the whole reclaim of a block, and for one page of an idle collection.
#[test]
fn write_waits_for_a_block_reclaim_or_one_idle_page() {
    // Fig. 7. Under the baseline a block of 128 pages is being reclaimed, each read, moved over the bus twice
    // and programmed; a write that comes is served after its erase.
    let mut d = die("turbo-write:idle_after=100ms", 16, 2);
    for i in 0..128 {
        ask(&mut d, HostOp::Write, 2 * i, 1);
    }
    wait(&mut d, 101.0);
    let held = ask(&mut d, HostOp::Write, 400, 1);
    let reclaim = 128.0 * (3000.0 + 20.0 + BUS) + 10_000.0;
    assert!(held > 0.9 * reclaim && held < 1.05 * reclaim, "{held} of {reclaim}");
    let i = &d.metrics().idle;
    assert_eq!((i.periods, i.delays.requests(), i.erases), (1, 1, 1));
    assert!(((held - i.delays.longest().0 as f64 / 1e3) - 512.0).abs() < 20.0, "{held} {i:?}");
    assert_eq!(i.program_bytes[Cause::Migrate as usize], 128 * 4096);

    // Under ips-agc it waits for a page at most.
    let mut d = die("ips-agc:idle_after=100ms", 16, 2);
    for round in 0..2 {
        for i in 0..400 {
            ask(&mut d, HostOp::Write, 2 * (i + round), 1); // the second round makes the first stale
        }
    }
    wait(&mut d, 101.0);
    let before = d.metrics().idle.delays.requests();
    let took = ask(&mut d, HostOp::Write, 4, 1);
    assert_eq!(d.metrics().idle.delays.requests(), before + 1, "it came in the middle of a page");
    assert!(took < 3_200.0 + 3_100.0, "{took}");
    assert!(d.metrics().idle.delays.longest().0 < 3_200_000, "{:?}", d.metrics().idle);
}

#[test]
fn idle_gc_adds_bits_to_windows_until_the_host_comes() {
    let mut d = die("ips-agc:idle_after=1ms", 16, 2);
    // Of each eight pages the last four lose their data again, so that no block is stale throughout.
    for round in 0..3 {
        for i in (0..60).filter(|i| round == 0 || i % 8 > 3) {
            ask(&mut d, HostOp::Write, 2 * i, 1);
        }
    }
    let reprogrammed = |d: &Drive| d.ftl().counters().regions[0].reprogrammed.pages;
    let before = reprogrammed(&d);
    wait(&mut d, 100.0);
    let some = reprogrammed(&d);
    assert!(some[Cause::Gc as usize] > before[Cause::Gc as usize], "idle time reprograms");
    ask(&mut d, HostOp::Write, 0, 1);
    let then = reprogrammed(&d)[Cause::Gc as usize];
    assert!(then <= some[Cause::Gc as usize] + 1, "a page under way is finished, and no other begun");
    // With the host busy all the time nothing is collected.
    for i in 0..50 {
        ask(&mut d, HostOp::Read, 2 * i, 1);
    }
    assert!(reprogrammed(&d)[Cause::Gc as usize] <= then + 1);
    // Given time, used windows are used up, or nothing is left that is worth moving.
    wait(&mut d, 60_000.0);
    let w = wordline_ftl::RegionId(0);
    for plane in [0, 1].map(wordline_units::PlaneId) {
        let view = d.ftl().view();
        let waits = view.frontier(w, plane, SlotClass::Reprogram).is_some();
        let stale = view.best(w, plane).is_some_and(|b| view.live_sectors(b) == 0);
        assert!(!waits || !stale, "plane {plane} has both a used window and an empty block");
    }
    d.ftl_mut().tables().check().unwrap();
}

#[test]
fn copies_overwritten_by_the_host_are_premature() {
    let mut d = die("ips-agc:idle_after=1ms", 16, 2);
    for round in 0..3 {
        for i in 0..60 {
            ask(&mut d, HostOp::Write, 2 * (i + round), 1);
        }
    }
    wait(&mut d, 10_000.0);
    let copies = d.ftl().counters().idle_gc_bytes / 4096;
    assert!(copies > 0);
    assert_eq!(d.ftl().counters().premature_units, 0, "nothing has been overwritten since");
    for i in 0..62 {
        ask(&mut d, HostOp::Write, 2 * i, 1);
    }
    let c = d.ftl().counters();
    assert!(c.premature_units > 0 && c.premature_units <= c.idle_gc_bytes / 4096, "{c:?}");
}

#[test]
fn traditional_cache_reprograms_and_ends_empty() {
    let mut d = die("ips-cooperative:traditional=6,idle_after=1ms", 24, 2);
    for i in 0..500 {
        ask(&mut d, HostOp::Write, 2 * i, 1);
    }
    let (w, t) = (wordline_ftl::RegionId(0), wordline_ftl::RegionId(1));
    assert!(d.ftl().inspect().owned_blocks(t) >= 4, "the windows alone do not hold this");
    wait(&mut d, 10_000.0);
    assert_eq!(d.ftl().inspect().owned_blocks(t), 1, "all of its full blocks are reclaimed in idle time");
    let c = &d.ftl().counters().regions;
    assert!(c[0].reprogrammed.pages[Cause::Migrate as usize] > 0, "step 3.1");
    let direct = c[0].program_pages[Cause::Migrate as usize]
        - c[0].reprogrammed.pages[Cause::Migrate as usize]
        - c[0].as_slc.pages[Cause::Migrate as usize];
    assert!(direct > 0, "step 3.2: {c:?}");
    assert_eq!(c[0].reads[Cause::Gc as usize], 0, "nothing is stale, so nothing is collected");
    assert!(d.ftl().view().frontier(w, wordline_units::PlaneId(0), SlotClass::Slc).is_some());
    d.drain().unwrap();
    assert_eq!(d.ftl().inspect().owned_blocks(t), 0, "the end of a run empties it");
    d.ftl_mut().tables().check().unwrap();
}

#[test]
fn idle_time_reclaims_full_blocks_and_the_end_the_open() {
    let mut d = die("turbo-write", 16, 2);
    for i in 0..127 {
        ask(&mut d, HostOp::Write, 2 * i, 1);
        wait(&mut d, 1.0);
    }
    wait(&mut d, 10_000.0);
    assert_eq!(d.metrics().idle.program_bytes[Cause::Migrate as usize], 0, "it has a page left");
    ask(&mut d, HostOp::Write, 2 * 127, 1);
    wait(&mut d, 410.0);
    let idle = &d.metrics().idle;
    assert_eq!((idle.program_bytes[Cause::Migrate as usize], idle.erases), (128 * 4096, 1));
    (0..5).for_each(|i| _ = ask(&mut d, HostOp::Write, 600 + 2 * i, 1));
    wait(&mut d, 10_000.0);
    let moved = |d: &Drive| d.ftl().counters().regions[1].program_pages[Cause::Migrate as usize];
    assert_eq!(moved(&d), 128);
    d.drain().unwrap();
    assert_eq!(moved(&d), 133);
    d.ftl_mut().tables().check().unwrap();
}

/// Pages moved from the cache to the dense region, and blocks of the cache erased.
fn reclaimed(d: &Drive) -> (u64, u64) {
    let regions = &d.ftl().counters().regions;
    (regions[1].program_pages[Cause::Migrate as usize], regions[0].counts.erases)
}

// It empties and erases the block, or leaves it open and moves the page.
#[test]
fn idle_time_erases_a_one_page_block_or_moves_the_page() {
    let mut d = die("turbo-write:reclaim=used", 16, 2);
    for i in 0..3 {
        ask(&mut d, HostOp::Write, 2 * i, 1);
        wait(&mut d, 20.0);
        assert_eq!(reclaimed(&d), (i + 1, i + 1));
    }
    // A write of the other plane waits for the move of the page and the erase, too.
    ask(&mut d, HostOp::Write, 6, 1);
    wait(&mut d, 0.1);
    let held = ask(&mut d, HostOp::Write, 1, 1);
    let reclaim = 20.0 + 2.0 * BUS + 3_000.0 + 10_000.0 - 100.0;
    assert!((held - reclaim - 500.0 - BUS).abs() < 5.0, "{held} for {reclaim}");
    d.drain().unwrap();
    assert_eq!(reclaimed(&d), (5, 5));
    d.ftl_mut().tables().check().unwrap();

    let mut d = die("turbo-write:reclaim=page", 16, 2);
    let page = |i: u64| 2 * i;
    for i in 0..128 {
        ask(&mut d, HostOp::Write, page(i), 1);
        wait(&mut d, 5.0);
        assert_eq!(reclaimed(&d).0, i + 1, "each page as soon as it is written");
    }
    wait(&mut d, 20.0);
    assert_eq!(reclaimed(&d), (128, 1), "and the block is erased when it is full");
    ask(&mut d, HostOp::Write, page(0), 3);
    wait(&mut d, 0.1);
    let held = ask(&mut d, HostOp::Write, page(9), 1);
    assert!(held < 3_100.0 + 600.0, "it waits for the page under way: {held}");
    d.drain().unwrap();
    assert_eq!(reclaimed(&d), (132, 3), "the end of a run erases the blocks that are being filled");
    d.ftl_mut().tables().check().unwrap();
}

// Neither the host nor another reclaim gets it before.
#[test]
fn reclaim_holds_its_channel_until_its_erase() {
    let set = |channels: &str| {
        [
            ("medium.flash.channels", channels.to_string()),
            ("medium.flash.chips_per_channel", "2".into()),
            ("medium.flash.dies_per_chip", "1".into()),
            ("medium.flash.planes_per_die", "1".into()),
            ("medium.flash.blocks_per_plane", "16".into()),
            ("slc_cache.static_blocks", "2".into()),
            ("capacity.over_provisioning", "25%".into()),
        ]
    };
    let pages = [20.0 + 2.0 * BUS + 3_000.0, 500.0 + BUS];
    let waits = |hold: &str, channels: &str, first: u64, then: u64| {
        let mut d = device(&format!("turbo-write:reclaim=used,hold={hold}"), &set(channels), NoProbe);
        ask(&mut d, HostOp::Write, first, 1);
        wait(&mut d, 0.002);
        let took = ask(&mut d, HostOp::Write, then, 1);
        wait(&mut d, 100.0);
        assert_eq!(reclaimed(&d), (2, 2), "both pages are moved in the end");
        d.ftl_mut().tables().check().unwrap();
        took
    };
    // Two dies on one channel: the other one waits for the moved page, and not for the erase.
    assert!((waits("die", "1", 0, 1) - pages[1]).abs() < 20.0);
    assert!((waits("channel", "1", 0, 1) - pages[0] - pages[1]).abs() < 20.0);
    // The same die waits for both.
    assert!((waits("channel", "1", 0, 2) - pages[0] - 10_000.0 - pages[1]).abs() < 20.0);
    // Another channel waits for nothing.
    assert!((waits("channel", "2", 0, 1) - pages[1]).abs() < 20.0);

    // Two dies with a page each: one after the other, the second while the first erases.
    let mut d = device("turbo-write:reclaim=used,hold=channel", &set("1"), NoProbe);
    ask(&mut d, HostOp::Write, 0, 2);
    wait(&mut d, 3.2);
    assert_eq!(reclaimed(&d), (1, 0));
    wait(&mut d, 3.1);
    assert_eq!(reclaimed(&d), (2, 0));
    wait(&mut d, 11.0);
    assert_eq!(reclaimed(&d), (2, 2));
}

#[test]
fn a_host_that_asks_again_at_once_leaves_no_idle_time() {
    let mut d = die("turbo-write", 16, 2);
    let stream =
        (0..1_000).map(|i| Ok::<_, std::convert::Infallible>(HostRequest::new(HostOp::Write, i * 8, 8)));
    drive(&mut d, stream, Pacing::Closed { queue_depth: 1 }, Stop::default(), |_| {}).unwrap();
    d.drain().unwrap();
    assert!(d.metrics().idle.periods <= 1, "{:?}", d.metrics().idle);
}

#[test]
fn old_data_fill_first_windows_or_ordinary_blocks() {
    // 24 of 32 windows at most: 12 of 384 pages times 12 windows on average, 70 % of them live.
    let blocks = 208;
    let live = 2 * blocks * 12 * 12 * 7 / 10;
    let initial = Initial {
        valid: Fraction::percent(70),
        aged_windows: Fraction::percent(75),
        ..Initial::holding(Mapped::First(live))
    };
    let mut d = die("ips-agc", blocks, 8);
    d.ftl_mut().setup().precondition(&initial, 5).unwrap();
    d.ftl_mut().tables().check().unwrap();
    let w = wordline_ftl::RegionId(0);
    let mut seen = [0; 33];
    for (block, _, bits, _) in d.ftl().inspect().programmed() {
        let pages: u32 = bits.iter().sum();
        assert_eq!(pages % 12, 0, "{block:?} has a window in part");
        seen[pages as usize / 12] += 1;
        let share = d.ftl().view().live_sectors(block) as f64 / pages as f64;
        assert!((share - 0.7).abs() < 0.1, "{block:?} of {pages} pages: {share}");
    }
    // 206 blocks of a plane hold data, two are kept: of the 25 numbers of windows each comes 8 times or 9.
    assert!(seen[1..25].iter().all(|n| (16..=18).contains(n)), "{seen:?}");
    assert_eq!(seen[25..], [0; 8]);
    for plane in [0, 1].map(wordline_units::PlaneId) {
        let view = d.ftl().view();
        assert!(view.best(w, plane).is_some(), "collection ahead of need has victims");
        assert!(view.frontier(w, plane, SlotClass::Slc).is_some(), "windows are blank, so serve as cache");
    }
    // A page of the image is TLC: it is read as such.
    assert!((ask(&mut d, HostOp::Read, 0, 1) - BUS - 66.0).abs() < 0.01);

    let mut d = die("turbo-write", blocks, 8);
    d.ftl_mut().setup().precondition(&initial, 5).unwrap();
    d.ftl_mut().tables().check().unwrap();
    assert_eq!(d.ftl().inspect().mapped(), live as u64);
    let dense: Vec<u32> = (0..2 * blocks).map(|b| d.ftl().view().live_sectors(BlockId(b))).collect();
    assert!(dense.iter().filter(|n| **n == 268).count() as u32 > live / 300, "70 % of 384 pages: {dense:?}");

    let mut d = die("ips", blocks, 8);
    let too_much = Initial { mapped: Mapped::First(live * 2), ..initial };
    assert!(matches!(d.ftl_mut().setup().precondition(&too_much, 5), Err(InitialError::TooMuch { .. })));
}
