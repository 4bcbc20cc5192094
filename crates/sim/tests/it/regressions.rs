//! What the swarm found, each by its own name: a seed means another case when drawing changes.

use wordline_ftl::{BoxedMedia, Bytes, Initial, Mapped, Outcome, RegionId, Scheme};
use wordline_sim::{Completion, Device, Event, NoProbe, Probe};
use wordline_swarm::stress::{BySector, Restless};
use wordline_swarm::{Rng, Tiny, map_on_flash};
use wordline_units::{HostOp, HostRequest, PlaneId, SimDuration, SimTime};

const NEVER_PADS: &str = "[program]\nbuffer = \"protected\"\npad_after = \"never\"\n";

fn device<P: Probe>(tiny: &Tiny, scheme: Box<dyn Scheme>, bits: u32, probe: P) -> Device<P> {
    over(tiny, scheme, bits, probe, BoxedMedia::none())
}

fn over<P: Probe>(
    tiny: &Tiny,
    scheme: Box<dyn Scheme>,
    bits: u32,
    probe: P,
    media: impl Into<BoxedMedia>,
) -> Device<P> {
    let spec = tiny.spec(bits);
    Device::over(&spec, &spec.geometry().unwrap(), scheme, probe, media).unwrap_or_else(|e| panic!("{e}"))
}

fn named(spelling: &str) -> Box<dyn Scheme> {
    wordline_schemes::build(spelling).unwrap()
}

fn write(page: u64, at: SimTime) -> HostRequest {
    HostRequest::new(HostOp::Write, page * 4, 4).at(at)
}

/// A collected page was copied over what RAM held of it, and a partial write that waited for its
/// missing sectors then programmed the old ones.
#[test]
fn page_in_a_protected_buffer_spares_newer_ram_sectors() {
    let tiny = Tiny { one_shot: true, wordlines: 2, spare: 8, extra: NEVER_PADS, ..Tiny::default() };
    for delay in 0..400 {
        let mut d = over(&tiny, named("slc-cache"), 3, NoProbe, Bytes::default());
        let bytes = |stamp: u8, sectors: usize| vec![stamp; sectors * 512];
        for page in 0..4 {
            d.submit_with(write(page, SimTime(0)), SimTime(0), &bytes(1, 4)).unwrap();
        }
        let at = SimTime(delay * 1_000);
        d.submit_with(HostRequest::new(HostOp::Write, 1, 1).at(at), at, &bytes(2, 1)).unwrap();
        d.drain().unwrap();
        while d.poll().is_some() {}
        let now = d.now();
        d.submit(HostRequest::new(HostOp::Read, 0, 4).at(now), now).unwrap();
        let read = d.next_completion(SimTime::NEVER).unwrap().unwrap();
        let stamps: Vec<u8> = read.data.chunks(512).map(|s| s[0]).collect();
        assert_eq!(stamps, [1, 2, 1, 1], "written {delay} us after the page");
    }
}

/// Draining padded what waited at its beginning, and not what a later collection put there.
#[test]
fn drain_finishes_the_group_a_collection_ended_with() {
    let tiny = Tiny { one_shot: true, spare: 8, units_per_page: 2, extra: NEVER_PADS, ..Tiny::default() };
    for writes in 1..200 {
        let mut d: Device<NoProbe> = device(&tiny, named("slc-cache"), 3, NoProbe);
        let pages = d.ftl().inspect().logical_lbas() / 4;
        for i in 0..writes {
            d.submit(write(i * 37 % pages, SimTime(0)), SimTime(0)).unwrap();
        }
        d.drain().unwrap();
        assert!(
            d.ftl().inspect().is_quiet(),
            "after {writes} writes {} are left",
            d.ftl().inspect().leftovers()
        );
        d.ftl_mut().tables().check().unwrap();
    }
}

/// Fails a run that goes round in circles.
struct Patience(u32);

impl Probe for Patience {
    const WATCHES: bool = true;
    fn event(&mut self, _: Event) {
        self.0 -= 1;
        assert!(self.0 > 0, "livelock");
    }
}

/// A page of a group waited for space, and so every other group of the plane was padded at once;
/// collection then programmed as much as it erased, for ever.
#[test]
fn full_cache_drive_ends_gc_and_runs_out_of_space() {
    let (mut full, mut done) = (0, 0);
    for seed in 0..120u64 {
        let tiny = Tiny {
            one_shot: true,
            wordlines: 2 + seed as u32 % 3,
            spare: 3,
            extra: "[program]\npad_after = \"1us\"\n",
            ..Tiny::default()
        };
        let mut random = seed;
        let scheme = ["slc-cache:when_full=wait", "slc-cache:when_full=direct"][seed as usize % 2];
        let mut d: Device<Patience> = device(&tiny, named(scheme), 3, Patience(100_000));
        let pages = d.ftl().inspect().logical_lbas() / 4;
        for _ in 0..pages * 8 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = d.now() + SimDuration((random >> 20) % 5 * 40_000);
            d.submit(write((random >> 33) % pages, at), at).unwrap();
            while let Some(c) = d.poll() {
                *(if c.outcome == Outcome::Done { &mut done } else { &mut full }) += 1;
            }
        }
        d.drain().unwrap();
        d.ftl_mut().tables().check().unwrap();
        while let Some(c) = d.poll() {
            *(if c.outcome == Outcome::Done { &mut done } else { &mut full }) += 1;
        }
    }
    assert!(full > 0 && done > 0, "{done} writes were done and {full} found no space");
}

/// A move pinned the block of a job all of whose pages were in the program buffer; the job was never asked
/// to read on, the program buffer waited for the job, and its timer for the program buffer.
#[test]
fn gc_reads_on_while_a_move_waits_in_its_buffer() {
    for seed in 0..200u64 {
        let tiny = Tiny {
            chips: 2,
            units_per_page: 4,
            blocks: 15,
            spare: 11,
            wordlines: 5,
            extra: "[allocation]\norder = \"dynamic\"\n",
            ..Tiny::default()
        };
        let scheme = Box::new(Restless { turn: seed as u32 });
        let mut d: Device<NoProbe> = device(&tiny, scheme, 3, NoProbe);
        let pages = d.ftl().inspect().logical_lbas() / 4;
        d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages as u32)), seed).unwrap();
        for i in 0..40 + seed % 17 {
            let at = d.now() + SimDuration(i % 3 * 10_000);
            d.submit(write((i * 13 + seed) % pages, at), at).unwrap();
        }
        // Every third page that is read moves, out of blocks that are being collected too.
        for i in 0..3 {
            let at = d.now() + SimDuration(i * 50_000);
            d.submit(HostRequest::new(HostOp::Read, 0, pages as u32 * 4).at(at), at).unwrap();
        }
        d.advance_to(d.now() + SimDuration(1_000_000_000)).unwrap();
        assert!(
            d.ftl().inspect().is_quiet(),
            "seed {seed}: after a second {} are left",
            d.ftl().inspect().leftovers()
        );
    }
}

/// A cache without static blocks shrank to nothing as the drive filled, and its writes waited for it
/// for ever.
#[test]
fn dynamic_cache_that_writes_wait_for_keeps_a_block() {
    let tiny = Tiny { one_shot: true, blocks: 16, spare: 9, ..Tiny::default() };
    let scheme = named("slc-cache:static_blocks=0,dynamic_blocks=3,when_full=wait");
    let mut d: Device<NoProbe> = device(&tiny, scheme, 3, NoProbe);
    let pages = d.ftl().inspect().logical_lbas() / 4;
    // The quota is looked at every 1024 writes; by the third look every page holds data.
    for i in 0..4_000 {
        let at = d.now();
        d.submit(write(i % pages, at), at).unwrap();
        while let Some(c) = d.next_completion(SimTime::NEVER).unwrap() {
            assert_eq!(c.outcome, Outcome::Done, "write {i}");
        }
    }
    d.ftl_mut().tables().check().unwrap();
}

/// Every outcome of a run, in the order of completion.
fn outcomes<P: Probe>(d: &mut Device<P>) -> Vec<(u64, Outcome)> {
    std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap()).map(|c| (c.number, c.outcome)).collect()
}

/// Pages that left the cache shared one-shot programs with pages collected in the dense region. A
/// group may do what its most privileged page may, so they used up the block that collection keeps to
/// end with: every plane had a seventh of its slots dead, a victim half emptied, and no slot for the rest.
#[test]
fn cache_pages_never_take_the_reserve_of_their_target() {
    for seed in 0..40u64 {
        let tiny = Tiny {
            one_shot: true,
            channels: 2,
            blocks: 20,
            wordlines: 8,
            // The cache and four more: an eighth and more of the dense blocks.
            spare: 7,
            extra: "[allocation]\norder = \"dynamic\"\n",
            ..Tiny::default()
        };
        let mut d: Device<NoProbe> = device(&tiny, named("slc-cache"), 3, NoProbe);
        let pages = d.ftl().inspect().logical_lbas() / 4;
        d.ftl_mut()
            .setup()
            .precondition(&Initial::holding(Mapped::First(pages as u32 * 9 / 10)), seed)
            .unwrap();
        let mut random = Rng::new(seed);
        // Many at once: with one at a time the cache's collection never waits for the region's.
        for i in 0..pages * 8 {
            let at = d.now() + SimDuration(random.below(3) * 10_000);
            d.submit(write(random.below(pages), at), at).unwrap();
            while d.outstanding() > 64
                && let Some(c) = d.next_completion(SimTime::NEVER).unwrap()
            {
                assert_eq!(c.outcome, Outcome::Done, "seed {seed}, write {} of {i}", c.number);
            }
        }
        d.drain().unwrap();
        while let Some(c) = d.poll() {
            assert_eq!(c.outcome, Outcome::Done, "seed {seed}, write {}", c.number);
        }
        d.ftl_mut().tables().check().unwrap();
    }
}

/// Collection counted what a block gives back in sectors, and moves slots. A block whose slots each
/// had one live sector left was moved for ever, and gave back nothing.
#[test]
fn full_sector_mapped_drive_ends_its_collections() {
    let tiny = Tiny { spare: 2, wordlines: 3, ..Tiny::default() };
    let mut d: Device<Patience> = device(&tiny, Box::new(BySector), 2, Patience(200_000));
    let sectors = d.ftl().inspect().logical_lbas();
    let (mut done, mut full) = (0, 0);
    let mut random = Rng::new(3);
    for i in 0..sectors * 6 {
        // One sector at a time, in slots of four: the drive is full with a quarter of its sectors.
        let sector = if i < sectors { i } else { random.below(sectors) };
        let at = d.now();
        d.submit(HostRequest::new(HostOp::Write, sector, 1).at(at), at).unwrap();
        for (_, outcome) in outcomes(&mut d) {
            *(if outcome == Outcome::Done { &mut done } else { &mut full }) += 1;
        }
    }
    d.drain().unwrap();
    d.ftl_mut().tables().check().unwrap();
    assert!(done > 0 && full > 0, "{done} writes were done and {full} found no space");
}

/// Of two blocks it is not the one with fewer live sectors that gives more back, but that with fewer
/// live slots.
#[test]
fn sector_mapped_victim_has_the_fewest_valid_slots() {
    let tiny = Tiny { wordlines: 2, blocks: 8, spare: 2, ..Tiny::default() };
    let mut d: Device<NoProbe> = device(&tiny, Box::new(BySector), 2, NoProbe);
    let mut ask = |op, from: u64, count: u32| {
        let at = d.now();
        d.submit(HostRequest::new(op, from, count).at(at), at).unwrap();
        assert_eq!(outcomes(&mut d)[0].1, Outcome::Done);
    };
    // Blocks of four slots of four sectors: one block of pages 0 to 3, the next of 4 to 7.
    for page in 0..8 {
        ask(HostOp::Write, page * 4, 4);
    }
    // Each slot of the first block keeps one sector; the second keeps one slot, whole, and a sector.
    for page in 0..4 {
        ask(HostOp::Trim, page * 4, 3);
    }
    ask(HostOp::Trim, 5 * 4, 3);
    ask(HostOp::Trim, 6 * 4, 8);
    let view = d.ftl().view();
    let best = view.best(RegionId(0), PlaneId(0)).unwrap();
    assert_eq!(view.live_sectors(best), 5, "block {best} was chosen");
}

/// A full drive forgot writes that it had acknowledged when its buffer took them.
#[test]
fn full_buffered_drive_keeps_acknowledged_data() {
    let tiny = Tiny { blocks: 12, spare: 0, ack_buffer: Some(3), ..Tiny::default() };
    let mut d = over(&tiny, named("conventional:mode=slc"), 1, NoProbe, Bytes::default());
    let pages = d.ftl().inspect().logical_lbas() / 4;
    let mut stamps = vec![0u8; pages as usize];
    let mut refused = 0;
    for page in 0..pages {
        let at = d.now();
        d.submit_with(write(page, at), at, &[page as u8 + 1; 2048]).unwrap();
        match outcomes(&mut d)[..] {
            [(_, Outcome::Done)] => stamps[page as usize] = page as u8 + 1,
            [(_, Outcome::OutOfSpace)] => refused += 1,
            ref other => panic!("write {page} ends as {other:?}"),
        }
    }
    assert!(refused > 0, "the drive never was full");
    assert_eq!(d.ftl().inspect().unplaced_bytes(), 3 * 2048, "the buffer is full of what has no place");
    let agrees = |d: &mut Device<NoProbe>, stamps: &[u8]| {
        for (page, stamp) in stamps.iter().enumerate() {
            let now = d.now();
            d.submit(HostRequest::new(HostOp::Read, page as u64 * 4, 4).at(now), now).unwrap();
            let read = d.next_completion(SimTime::NEVER).unwrap().unwrap();
            assert!(read.data.iter().all(|b| b == stamp), "page {page} is not {stamp}");
        }
    };
    agrees(&mut d, &stamps);
    // A flush cannot keep its promise, and says so.
    let now = d.now();
    d.submit(HostRequest::new(HostOp::Flush, 0, 0).at(now), now).unwrap();
    assert_eq!(outcomes(&mut d)[0].1, Outcome::OutOfSpace);
    d.drain().unwrap();
    assert_eq!(d.ftl().inspect().unplaced_bytes(), 3 * 2048);
    // With room again, what waited comes to flash, and a flush is one.
    let now = d.now();
    let half = pages / 2;
    d.submit(HostRequest::new(HostOp::Trim, 0, half as u32 * 4).at(now), now).unwrap();
    stamps[..half as usize].fill(0);
    assert_eq!(outcomes(&mut d)[0].1, Outcome::Done);
    let now = d.now();
    d.submit(HostRequest::new(HostOp::Flush, 0, 0).at(now), now).unwrap();
    assert_eq!(outcomes(&mut d)[0].1, Outcome::Done);
    assert_eq!(d.ftl().inspect().unplaced_bytes(), 0);
    agrees(&mut d, &stamps);
    d.ftl_mut().tables().check().unwrap();
}

/// A write without a place was given up when somebody asked for completions, and at the time to which
/// the drive had been told to advance.
#[test]
fn full_drive_fails_independently_of_observers() {
    #[derive(Clone, Copy, PartialEq)]
    enum Looks {
        Never,
        ByAdvancing(u64),
        ByAsking(u64),
    }
    let run = |looks: &[Looks]| {
        let tiny = Tiny { blocks: 12, spare: 0, ..Tiny::default() };
        let mut d: Device<NoProbe> = device(&tiny, named("conventional:mode=slc"), 1, NoProbe);
        let pages = d.ftl().inspect().logical_lbas() / 4;
        let mut ends = vec![];
        let mut note = |c: Completion| ends.push((c.number, c.at, c.outcome));
        for i in 0..pages * 8 {
            let at = SimTime(i * 200_000);
            for look in looks {
                let before = |gap: u64| SimTime(at.0.saturating_sub(gap));
                match *look {
                    Looks::Never => {}
                    Looks::ByAdvancing(gap) => d.advance_to(before(gap).max(d.now())).unwrap(),
                    Looks::ByAsking(gap) => {
                        while let Some(c) = d.next_completion(before(gap)).unwrap() {
                            note(c);
                        }
                    }
                }
            }
            // A trim now and then: whoever waits longer than it should finds the room.
            let page = i * 7 % pages;
            let op = if i % 16 == 15 { HostOp::Trim } else { HostOp::Write };
            d.submit(HostRequest::new(op, page * 4, 4).at(at), at).unwrap();
        }
        while let Some(c) = d.next_completion(SimTime::NEVER).unwrap() {
            note(c);
        }
        assert!(ends.iter().any(|e| e.2 == Outcome::OutOfSpace));
        (ends, d.metrics().result_hash(&d.ftl().counters().integers()))
    };
    let alone = run(&[Looks::Never]);
    assert_eq!(run(&[Looks::ByAdvancing(50_000)]), alone);
    assert_eq!(run(&[Looks::ByAsking(150_000), Looks::ByAsking(1)]), alone);
    assert_eq!(run(&[Looks::ByAdvancing(190_000), Looks::ByAsking(100_001)]), alone);
}

/// A FLUSH completed before the writes that it covers, which still stood on the host link.
#[test]
fn flush_stays_behind_earlier_writes_on_the_link() {
    let extra = "[host]\nrate = \"100MB/s\"\nwrite_overhead = \"5us\"\n";
    for ack_buffer in [None, Some(8)] {
        let tiny = Tiny { chips: 4, ack_buffer, extra, ..Tiny::default() };
        let mut d: Device<NoProbe> = device(&tiny, named("conventional:mode=slc"), 1, NoProbe);
        for page in 0..4 {
            d.submit(write(page, SimTime(0)), SimTime(0)).unwrap();
        }
        d.submit(HostRequest::new(HostOp::Flush, 0, 0), SimTime(0)).unwrap();
        let ends: Vec<(u64, u64)> = std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap())
            .map(|c| (c.number, c.at.0))
            .collect();
        let order: Vec<u64> = ends.iter().map(|e| e.0).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
        // 20.48 us for 2 KiB and 5 us for each; the flush itself takes no time on the link.
        assert!(ends[4].1 >= ends[3].1 && ends[3].1 - ends[2].1 == 25_480, "{ends:?}");
    }
}

/// Each program that found no slot served the bus from within the service before, and some thousands
/// of them overflowed the stack.
#[test]
fn many_programs_without_a_place_do_not_nest() {
    let tiny = Tiny { blocks: 12, spare: 0, ..Tiny::default() };
    let mut d: Device<NoProbe> = device(&tiny, named("conventional:mode=slc"), 1, NoProbe);
    let pages = d.ftl().inspect().logical_lbas() / 4;
    for page in 0..pages {
        d.submit(write(page, d.now()), d.now()).unwrap();
    }
    let many = 200_000;
    for i in 0..many {
        d.submit(write(i % pages, d.now()), d.now()).unwrap();
    }
    assert_eq!(outcomes(&mut d).len() as u64, pages + many);
    d.ftl_mut().tables().check().unwrap();
}

/// Parts of a page died together, and a plane that waited for space began a collection between the first and the
/// second: the block had nothing left to read, and was to be erased with a part still counted.
#[test]
fn parts_that_die_together_leave_before_gc() {
    for seed in 0..1000 {
        let mut rng = Rng::new(seed);
        let tiny = Tiny {
            planes: 1 + rng.below(2) as u32,
            blocks: 12 + rng.below(4) as u32,
            spare: 7 + rng.below(3) as u32,
            one_shot: true,
            ..Tiny::default()
        };
        let mut d: Device<NoProbe> = device(&tiny, named("hierarchy:window=16"), 3, NoProbe);
        let pages = d.ftl().inspect().logical_lbas() / 16;
        for _ in 0..400 {
            let page = rng.below(pages);
            let request = match rng.below(4) {
                0 => HostRequest::new(HostOp::Trim, page * 4, 4),
                1 => HostRequest::new(HostOp::Write, page * 4, 4),
                _ => {
                    let first = rng.below(4);
                    HostRequest::new(HostOp::Write, page * 4 + first, 1 + rng.below(4 - first) as u32)
                }
            };
            let now = d.now();
            d.submit(request.at(now), now).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            if d.outstanding() > 4 {
                d.next_completion(SimTime::NEVER).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            }
        }
        d.drain().unwrap();
    }
}

/// A write that may go to any plane waited for space in the one that it had been given, and found none when nothing
/// was pending any more, though other planes had room: pages of a map on flash have planes of their own, and fill some
/// before the others.
#[test]
fn unbound_write_fails_only_if_no_plane_has_room() {
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let tiny = Tiny {
            channels: 2,
            chips: 2,
            planes: 2,
            blocks: 15,
            wordlines: 3,
            sectors_per_unit: 1,
            spare: 7,
            one_shot: true,
            extra: "[allocation]\norder = \"dynamic\"\n",
            ..Tiny::default()
        };
        let mut spec = tiny.spec(3);
        map_on_flash(&mut spec, 1, 4);
        let geometry = spec.geometry().unwrap();
        let mut d: Device<NoProbe> = Device::new(&spec, &geometry, named("conventional"), NoProbe).unwrap();
        let pages = d.ftl().inspect().logical_lbas();
        d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages as u32)), seed).unwrap();
        for _ in 0..40 {
            let length = 1 + rng.below(40.min(pages));
            let request = HostRequest::new(HostOp::Write, rng.below(pages - length + 1), length as u32);
            let now = d.now();
            d.submit(request.at(now), now).unwrap();
            if rng.below(4) == 0 {
                d.drain().unwrap();
            }
        }
        d.drain().unwrap();
        while let Some(ended) = d.poll() {
            assert_eq!(ended.outcome, Outcome::Done, "seed {seed}");
        }
    }
}
