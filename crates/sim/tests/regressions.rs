//! What the swarm found, each by its own name: a seed means another case when drawing changes.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod support;

use support::{Restless, Tiny};
use wordline_ftl::{Bytes, Initial, Mapped, NoMedia, Outcome, Scheme};
use wordline_sim::{Device, Event, NoProbe, Probe};
use wordline_units::{HostOp, HostRequest, SimDuration, SimTime};

const NEVER_PADS: &str = "[program]\npad_after = \"never\"\n";

fn device<P: Probe, M: wordline_ftl::Media>(
    tiny: &Tiny,
    scheme: Box<dyn Scheme>,
    bits: u32,
    probe: P,
) -> Device<P, M> {
    let spec = tiny.spec(bits);
    Device::new(&spec, &spec.geometry().unwrap(), scheme, probe).unwrap_or_else(|e| panic!("{e}"))
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
fn a_page_that_enters_a_protected_stager_leaves_newer_sectors_in_ram_alone() {
    let tiny = Tiny { one_shot: true, wordlines: 2, spare: 8, extra: NEVER_PADS, ..Tiny::default() };
    for delay in 0..400 {
        let mut d: Device<NoProbe, Bytes> = device(&tiny, named("slc-cache"), 3, NoProbe);
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
fn a_drain_leaves_no_group_that_a_collection_ended_with() {
    let tiny = Tiny { one_shot: true, spare: 8, units_per_page: 2, extra: NEVER_PADS, ..Tiny::default() };
    for writes in 1..200 {
        let mut d: Device<NoProbe, NoMedia> = device(&tiny, named("slc-cache"), 3, NoProbe);
        let pages = d.ftl.logical_lbas() / 4;
        for i in 0..writes {
            d.submit(write(i * 37 % pages, SimTime(0)), SimTime(0)).unwrap();
        }
        d.drain().unwrap();
        assert!(d.ftl.is_quiet(), "after {writes} writes {} are left", d.ftl.leftovers());
        d.ftl.check().unwrap();
    }
}

/// Fails a run that goes round in circles.
struct Patience(u32);

impl Probe for Patience {
    const WATCHES: bool = true;
    fn event(&mut self, _: Event) {
        self.0 -= 1;
        assert!(self.0 > 0, "the drive goes round in circles");
    }
}

/// A page of a group waited for space, and so every other group of the plane was padded at once;
/// collection then programmed as much as it erased, for ever.
#[test]
fn a_full_cache_drive_ends_its_collections_and_answers_out_of_space() {
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
        let mut d: Device<Patience, NoMedia> = device(&tiny, named(scheme), 3, Patience(100_000));
        let pages = d.ftl.logical_lbas() / 4;
        for _ in 0..pages * 8 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = d.now() + SimDuration((random >> 20) % 5 * 40_000);
            d.submit(write((random >> 33) % pages, at), at).unwrap();
            while let Some(c) = d.poll() {
                *(if c.outcome == Outcome::Done { &mut done } else { &mut full }) += 1;
            }
        }
        d.drain().unwrap();
        d.ftl.check().unwrap();
        while let Some(c) = d.poll() {
            *(if c.outcome == Outcome::Done { &mut done } else { &mut full }) += 1;
        }
    }
    assert!(full > 0 && done > 0, "{done} writes were done and {full} found no space");
}

/// A move pinned the block of a job all of whose pages were in the stager; the job was never asked
/// to read on, the stager waited for the job, and its timer for the stager.
#[test]
fn a_collection_reads_on_while_a_move_out_of_its_block_waits_in_the_same_stager() {
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
        let mut d: Device<NoProbe, NoMedia> = device(&tiny, scheme, 3, NoProbe);
        let pages = d.ftl.logical_lbas() / 4;
        d.ftl.precondition(&Initial::holding(Mapped::First(pages as u32)), seed).unwrap();
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
        assert!(d.ftl.is_quiet(), "seed {seed}: after a second {} are left", d.ftl.leftovers());
    }
}

/// A cache without static blocks shrank to nothing as the drive filled, and its writes waited for it
/// for ever.
#[test]
fn a_dynamic_cache_that_writes_wait_for_never_shrinks_to_nothing() {
    let tiny = Tiny { one_shot: true, blocks: 16, spare: 9, ..Tiny::default() };
    let scheme = named("slc-cache:static_blocks=0,dynamic_blocks=3,when_full=wait");
    let mut d: Device<NoProbe, NoMedia> = device(&tiny, scheme, 3, NoProbe);
    let pages = d.ftl.logical_lbas() / 4;
    // The quota is looked at every 1024 writes; by the third look every page holds data.
    for i in 0..4_000 {
        let at = d.now();
        d.submit(write(i % pages, at), at).unwrap();
        while let Some(c) = d.next_completion(SimTime::NEVER).unwrap() {
            assert_eq!(c.outcome, Outcome::Done, "write {i}");
        }
    }
    d.ftl.check().unwrap();
}
