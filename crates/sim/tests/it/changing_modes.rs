//! Blocks that change their mode for what is read often: RARO's worked example, what a move costs, and what
//! becomes of the drive's capacity.

use wordline_device::DeviceSpec;
use wordline_ftl::{Initial, LatencyPart, Mapped, Outcome};
use wordline_sim::{Completion, Device, Event, Log, Probe};
use wordline_units::{CellMode, HostOp, HostRequest, Lpn, SimDuration, SimTime};

const MONTH: SimDuration = SimDuration(30 * 86_400 * 1_000_000_000);
const MIB: u64 = 1 << 20;

/// RARO's drive with a few blocks a plane.
fn spec(blocks: u32, logical: &str, overrides: &[(&str, &str)]) -> DeviceSpec {
    let blocks = blocks.to_string();
    let small = [("medium.flash.blocks_per_plane", blocks.as_str()), ("capacity.logical", logical)];
    let all = small.iter().chain(overrides).map(|(k, v)| (k.to_string(), v.to_string())).collect::<Vec<_>>();
    wordline_device::find("raro-16gb").unwrap().spec(&all).unwrap()
}

fn full<P: Probe>(spec: &DeviceSpec, scheme: &str, cycles: u32, probe: P) -> Device<P> {
    let scheme = wordline_schemes::build(scheme).unwrap();
    let mut d = Device::new(spec, &spec.geometry().unwrap(), scheme, probe).unwrap();
    let pages = (spec.logical_bytes() / spec.unit.0) as u32;
    let initial =
        Initial { cycles: [0, 0, 0, cycles], retention: MONTH, ..Initial::holding(Mapped::First(pages)) };
    d.ftl_mut().setup().precondition(&initial, 7).unwrap();
    d
}

/// Read 4 KiB of a page, and let everything happen that follows.
fn read<P: Probe>(d: &mut Device<P>, page: u64) -> Completion {
    let at = d.now();
    d.submit(HostRequest::new(HostOp::Read, page * 32, 8), at).unwrap();
    let done = d.next_completion(SimTime::NEVER).unwrap().unwrap();
    d.drain().unwrap();
    done
}

fn mode_of<P: Probe>(d: &mut Device<P>, page: u32) -> CellMode {
    let at = d.ftl_mut().tables().locate(Lpn(page))[0].ppn;
    let block = d.ftl().view().geometry().block_of(at);
    d.ftl().inspect().wear().nth(block.index()).unwrap().0
}

fn usable<P: Probe>(d: &Device<P>) -> u64 {
    d.ftl().inspect().usable_bytes().0 / MIB
}

fn retries(c: &Completion) -> u64 {
    c.parts[LatencyPart::Retry] / 140_000
}

/// One page that needs 14 retries, which RARO may keep in TLC, and one that needs fewer.
fn of_many_and_few_retries(d: &mut Device<Log>) -> [u64; 2] {
    let mut found = [None; 2];
    for page in 0.. {
        let n = retries(&read(d, page));
        found[(n < 14) as usize].get_or_insert(page);
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    found.map(Option::unwrap)
}

// Its old place is stale.
#[test]
fn hot_page_of_many_retries_moves_to_slc() {
    // RARO, figures 8 to 11, with thresholds that are soon reached. What becomes of the page of many retries hangs on
    // how the paper is read: here its class is that at the read, so that it is warm first, and stays in TLC.
    let overrides = [("errors.model", "raro"), ("errors.tlc.most_retries", "0")];
    let spec = spec(16, "512MiB", &overrides);
    let mut d = full(&spec, "raro:warm=2,hot=4,r2_old=14", 900, Log::default());
    let [many, few] = of_many_and_few_retries(&mut d);
    for (page, modes) in [
        (many, [CellMode::Tlc, CellMode::Tlc, CellMode::Tlc]),
        (few, [CellMode::Qlc, CellMode::Qlc, CellMode::Slc]),
    ] {
        let before = d.ftl_mut().tables().locate(Lpn(page as u32))[0].ppn;
        for mode in modes {
            read(&mut d, page);
            assert_eq!(mode_of(&mut d, page as u32), mode, "page {page}");
        }
        assert_ne!(d.ftl_mut().tables().locate(Lpn(page as u32))[0].ppn, before);
        d.ftl_mut().tables().check().unwrap();
    }
    // From four bits to three and to one, a block each.
    assert_eq!(d.ftl().inspect().usable_bytes(), ((64 * 16 - 4 - 12) * MIB, (64 * 16 - 4 - 12) * MIB));
    assert_eq!(retries(&read(&mut d, few)), 0);
}

// A class older than the read.
#[test]
fn older_class_sends_a_hot_retried_page_to_slc() {
    // The other readings of RARO, by the place and by the page: the same page, of which no read was looked at while it
    // was warm, and one that comes back so late that it is warm.
    let overrides = [("errors.model", "raro"), ("errors.tlc.most_retries", "0")];
    let spec = spec(16, "512MiB", &overrides);
    for heat in ["physical", "logical"] {
        let build = |more: &str| {
            full(&spec, &format!("raro:warm=2,hot=4,r2_old=14,heat={heat},{more}"), 900, Log::default())
        };
        let mut d = build("class=period,period=100");
        let [many, _] = of_many_and_few_retries(&mut d);
        let other = spec.logical_bytes() / spec.unit.0 - 1;
        (0..5).for_each(|_| _ = read(&mut d, many));
        assert_eq!(
            mode_of(&mut d, many as u32),
            CellMode::Qlc,
            "{heat}: hot, and not yet at the period's end"
        );
        (0..100).for_each(|_| _ = read(&mut d, other));
        read(&mut d, many);
        assert_eq!(mode_of(&mut d, many as u32), CellMode::Slc, "{heat}, period");
        for (away, mode) in [(0, CellMode::Slc), (1, CellMode::Slc), (2, CellMode::Tlc), (5, CellMode::Qlc)] {
            let mut d = build("class=distance,hot_within=2,warm_within=4");
            let [many, _] = of_many_and_few_retries(&mut d);
            (0..5).for_each(|_| _ = read(&mut d, other));
            read(&mut d, many);
            (0..away).for_each(|_| _ = read(&mut d, other));
            read(&mut d, many);
            assert_eq!(mode_of(&mut d, many as u32), mode, "{heat}, distance {}", away + 1);
        }
    }
}

#[test]
fn hot_tlc_page_that_takes_a_retry_moves_to_slc() {
    let overrides = [("errors.model", "raro"), ("errors.tlc.epsilon", "0.02")];
    // The reads in QLC count in TLC, too, where they are the page's and not the place's.
    for (heat, to_tlc, to_slc) in [("physical", 2, 6), ("logical", 2, 4)] {
        let scheme = format!("raro:warm=2,hot=4,r2_old=0,heat={heat}");
        let mut d = full(&spec(16, "512MiB", &overrides), &scheme, 900, Log::default());
        for i in 1..8 {
            read(&mut d, 9);
            let mode = match i {
                _ if i < to_tlc => CellMode::Qlc,
                _ if i < to_slc => CellMode::Tlc,
                _ => CellMode::Slc,
            };
            assert_eq!(mode_of(&mut d, 9), mode, "{heat}, after read {i}");
        }
        // What TLC and QLC held is stale; the blocks are theirs until they are erased.
        assert_eq!(d.ftl().inspect().owned_blocks(wordline_ftl::RegionId(1)), 1);
        d.ftl_mut().tables().check().unwrap();
    }
}

#[test]
fn places_that_were_erased_are_counted_anew() {
    for (heat, stays) in [("physical", true), ("logical", false)] {
        let spec = spec(16, "512MiB", &[("medium.flash.qlc.program", "100us")]);
        let mut d = full(&spec, &format!("hotness:warm=3,hot=100,heat={heat}"), 0, Log::default());
        let before = usable(&d);
        let pages = spec.logical_bytes() / spec.unit.0;
        for page in (0..2 * pages).map(|p| p % pages) {
            read(&mut d, page);
        }
        // So often that every place is programmed again.
        for page in (0..3 * pages).map(|p| p % pages) {
            d.submit(HostRequest::new(HostOp::Write, page * 32, 32), d.now()).unwrap();
            while d.next_completion(d.now()).unwrap().is_some() {}
        }
        (0..100).for_each(|page| _ = read(&mut d, page));
        assert_eq!(usable(&d) == before, stays, "{heat}");
    }
}

#[test]
fn move_transfers_the_rest_of_the_page_without_sensing() {
    let mut d = full(&spec(16, "512MiB", &[]), "hotness:warm=1,hot=2", 0, Log::default());
    read(&mut d, 5);
    let events: Vec<(bool, u64, u64)> = d
        .probe()
        .events
        .iter()
        .filter_map(|e| match *e {
            Event::Array { start, end, .. } => Some((true, start.0, end.0)),
            Event::Bus { start, end, .. } => Some((false, start.0, end.0)),
            Event::Ready { .. } => None,
        })
        .collect();
    // 4 KiB for the host, the other 12 KiB, the whole page to its new place, and 730 us of TLC program.
    let bus = |kib: u64| kib * 1_280;
    let mut at = 140_000;
    let mut expected = vec![(true, 0, at)];
    for kib in [4, 12, 16] {
        expected.push((false, at, at + bus(kib)));
        at += bus(kib);
    }
    expected.push((true, at, at + 730_000));
    assert_eq!(events, expected);
    let counters = d.ftl().counters();
    let reads: u64 = counters.regions.iter().map(|r| r.reads.iter().sum::<u64>()).sum();
    assert_eq!((reads, counters.moves_dropped), (1, 0));
}

#[test]
fn heat_alone_moves_a_page_that_took_no_retry() {
    let spec = spec(16, "512MiB", &[]);
    for (scheme, mode) in [("hotness:warm=1,hot=2", CellMode::Slc), ("raro:warm=1,hot=2", CellMode::Qlc)] {
        let mut d = full(&spec, scheme, 0, Log::default());
        (0..3).for_each(|_| _ = read(&mut d, 5));
        assert_eq!(mode_of(&mut d, 5), mode, "{scheme}");
    }
}

#[test]
fn a_page_that_moves_already_is_not_moved_twice() {
    let mut d = full(&spec(16, "512MiB", &[]), "hotness:warm=1,hot=100", 0, Log::default());
    for i in 0..4 {
        d.submit(HostRequest::new(HostOp::Read, 5 * 32 + i * 8, 8), SimTime(0)).unwrap();
    }
    d.drain().unwrap();
    let programs: u64 = d.ftl().counters().regions.iter().map(|r| r.ops.program_operations).sum();
    assert_eq!((programs, d.ftl().counters().moves_dropped), (1, 3));
    d.ftl_mut().tables().check().unwrap();
}

#[test]
fn no_conversion_takes_what_the_host_may_store() {
    // 24 blocks of 16 MiB a plane, of which data fill 16 and collection keeps 4: at most 4 may change.
    let spec = spec(24, "1GiB", &[]);
    let mut d = full(&spec, "hotness:warm=1,hot=2", 0, Log::default());
    let pages = spec.logical_bytes() / spec.unit.0;
    for page in (0..pages).step_by(5) {
        (0..2).for_each(|_| _ = read(&mut d, page));
    }
    assert!(d.ftl().counters().capacity.conversions_refused > 0);
    let least = d.ftl().inspect().usable_bytes().1;
    assert!(least >= spec.logical_bytes(), "{least}");
    // All of it is written anew twice, and every write finds a place.
    for page in (0..2 * pages).map(|p| p * 7919 % pages) {
        d.submit(HostRequest::new(HostOp::Write, page * 32, 32), d.now()).unwrap();
        while let Some(c) = d.next_completion(d.now()).unwrap() {
            assert_eq!(c.outcome, Outcome::Done);
        }
    }
    while let Some(c) = d.next_completion(SimTime::NEVER).unwrap() {
        assert_eq!(c.outcome, Outcome::Done);
    }
    d.drain().unwrap();
    d.ftl_mut().tables().check().unwrap();
}

#[test]
fn capacity_returns_with_blocks_whose_data_are_gone() {
    let spec = spec(16, "512MiB", &[]);
    let mut d = full(&spec, "hotness:warm=1,hot=2", 0, Log::default());
    // The second and the third count for the place in TLC.
    for page in 0..2_000 {
        (0..3).for_each(|_| _ = read(&mut d, page));
    }
    let shrunk = usable(&d);
    // In each plane two blocks of SLC, one of them open still, and an open one of TLC that is stale.
    assert_eq!(shrunk, 64 * 16 - 4 * (12 + 12 + 4));
    // The hot data are written anew, to QLC, until collection has taken what they left behind.
    let pages = spec.logical_bytes() / spec.unit.0;
    for page in (0..6 * pages).map(|p| p % pages) {
        d.submit(HostRequest::new(HostOp::Write, page * 32, 32), d.now()).unwrap();
        while d.next_completion(d.now()).unwrap().is_some() {}
        if d.outstanding() > 64 {
            d.next_completion(SimTime::NEVER).unwrap();
        }
    }
    d.drain().unwrap();
    assert_eq!(usable(&d), shrunk + 4 * 12, "the full ones are QLC again");
    assert_eq!(d.ftl().inspect().usable_bytes().1 / MIB, shrunk);
    d.ftl_mut().tables().check().unwrap();
}

/// A drive on which 1,024 pages have been hot and have cooled, and another 1,024 are hot still, a full block of
/// SLC each in every plane; the host has then done something, and nothing for a second. Reads come 10 ms apart.
fn cooled(more: &str, then: impl Fn(&mut Device<Log>)) -> Device<Log> {
    let spec = spec(32, "512MiB", &[("medium.flash.qlc.program", "100us")]);
    let scheme = format!("hotness:warm=1,hot=2,heat=logical,decay=6144,idle_after=1ms{more}");
    let mut d = full(&spec, &scheme, 0, Log::default());
    let once = (0..1_024).flat_map(|page| [page; 2]);
    let often = (1_024..2_048).flat_map(|page| [page; 4]);
    once.chain(often).for_each(|page| read_after(&mut d, 10_000_000, page));
    then(&mut d);
    d.advance_to(d.now() + SimDuration(1_000_000_000)).unwrap();
    d.ftl_mut().tables().check().unwrap();
    d
}

/// Read a page so many nanoseconds after the request before.
fn read_after(d: &mut Device<Log>, ns: u64, page: u64) {
    let at = d.now() + SimDuration(ns);
    d.submit(HostRequest::new(HostOp::Read, page * 32, 8), at).unwrap();
    while d.next_completion(at).unwrap().is_some() {}
}

/// Blocks of SLC of which the capacity is back, of the eight.
fn given_back(d: &Device<Log>) -> u64 {
    // Each plane has one of TLC besides, open and stale.
    (usable(d) + 4 * (12 + 12 + 4) - 128 * 16) / 12
}

#[test]
fn cooled_blocks_return_capacity_and_hot_ones_stay() {
    let mut d = cooled(",reclaim=on", |_| ());
    assert_eq!(given_back(&d), 4);
    for (page, mode) in [(0, CellMode::Qlc), (1_023, CellMode::Qlc), (1_024, CellMode::Slc)] {
        assert_eq!(mode_of(&mut d, page), mode, "page {page}");
    }
    // 256 programs of QLC and an erase in each plane.
    let idle = &d.metrics().idle;
    assert_eq!((idle.erases, idle.program_bytes.iter().sum::<u64>()), (4, 1_024 * 16 * 1_024));
    assert_eq!(given_back(&cooled("", |_| ())), 0, "it is an option");
}

#[test]
fn a_die_gives_one_block_back_in_each_idle_time() {
    // So short of capacity that nothing has to rest first, and no idle time between the reads.
    let spec = spec(32, "512MiB", &[]);
    let scheme = "hotness:warm=1,hot=2,heat=logical,decay=4097,reclaim=on,reclaim_below=300%,idle_after=10ms";
    let mut d = full(&spec, scheme, 0, Log::default());
    (0..2_048).flat_map(|page| [page; 2]).for_each(|page| read_after(&mut d, 5_000_000, page));
    for erases in [4, 8, 8] {
        read_after(&mut d, 0, 20_000);
        d.advance_to(d.now() + SimDuration(10_000_000_000)).unwrap();
        assert_eq!(d.metrics().idle.erases, erases);
    }
}

#[test]
fn what_has_come_lately_is_not_given_back() {
    let spec = spec(32, "512MiB", &[]);
    let scheme = "hotness:warm=1,hot=2,heat=logical,decay=4096,reclaim=on,idle_after=1ms";
    let mut d = full(&spec, scheme, 0, Log::default());
    (0..1_024).flat_map(|page| [page; 2]).for_each(|page| read_after(&mut d, 10_000_000, page));
    let second = SimDuration(1_000_000_000);
    d.advance_to(d.now() + second).unwrap();
    for page in 0..1_024 {
        d.submit(HostRequest::new(HostOp::Trim, page * 32, 32), d.now()).unwrap();
    }
    // Nothing lives in the four blocks, but 2,048 pages must be read first.
    (20_000..22_047).for_each(|page| read_after(&mut d, 10_000_000, page));
    d.advance_to(d.now() + second).unwrap();
    let before = d.metrics().idle.erases;
    read_after(&mut d, 0, 22_047);
    d.advance_to(d.now() + second).unwrap();
    assert_eq!((before, d.metrics().idle.erases), (3, 4), "the last block was full a read later");
}

#[test]
fn reclaim_waits_while_the_host_would_fill_free_space() {
    // 800 MiB in 1.3 s, which leave less than that; two minutes later they are forgotten.
    let write = |d: &mut Device<Log>| {
        for part in 0..50 {
            let first = 4_096 * 32 + part % 25 * 32_768;
            d.submit(HostRequest::new(HostOp::Write, first, 32_768), d.now()).unwrap();
            d.next_completion(SimTime::NEVER).unwrap();
        }
    };
    assert_eq!(given_back(&cooled(",reclaim=on", write)), 0);
    let pause = |d: &mut Device<Log>| {
        write(d);
        read_after(d, 120_000_000_000, 30_000);
    };
    assert_eq!(given_back(&cooled(",reclaim=on", pause)), 4);
    assert_eq!(
        given_back(&cooled(",reclaim=on,reclaim_below=300%", write)),
        4,
        "short of capacity it does not"
    );
}

#[test]
fn drive_short_of_capacity_reclaims_during_gc() {
    // No idle time is long enough, and the blocks that are overwritten gain more wordlines.
    let overwrite = |d: &mut Device<Log>| {
        for page in (0..100_000).map(|i| 2_048 + i % 28_000) {
            d.submit(HostRequest::new(HostOp::Write, page * 32, 32), d.now()).unwrap();
            while d.outstanding() > 32 {
                d.next_completion(SimTime::NEVER).unwrap();
            }
        }
        (0..d.outstanding()).for_each(|_| _ = d.next_completion(SimTime::NEVER).unwrap());
    };
    let never = ",reclaim=on,idle_after=1000s";
    assert_eq!(given_back(&cooled(never, overwrite)), 0);
    assert_eq!(given_back(&cooled(&format!("{never},reclaim_below=300%"), overwrite)), 4);
}

#[test]
fn each_erase_takes_of_a_life_what_its_mode_endures() {
    let spec = spec(16, "512MiB", &[]);
    let mut d = full(&spec, "conventional", 250, Log::default());
    let (mean, most) = d.ftl().inspect().life_used().unwrap();
    // To a part in a million: a life is counted in 2^28 parts.
    assert!((mean - 0.25).abs() < 1e-6 && (most - 0.25).abs() < 1e-6, "{mean} {most}");
    let pages = spec.logical_bytes() / spec.unit.0;
    for page in (0..3 * pages).map(|p| p % pages) {
        d.submit(HostRequest::new(HostOp::Write, page * 32, 32), d.now()).unwrap();
        while d.next_completion(d.now()).unwrap().is_some() {}
    }
    d.drain().unwrap();
    let erases: u64 = d.ftl().counters().erases.iter().sum();
    let (mean, _) = d.ftl().inspect().life_used().unwrap();
    assert!(erases > 0 && (mean - 0.25 - erases as f64 / 64.0 / 1000.0).abs() < 1e-6, "{mean} {erases}");
}
