//! Small scenes, cut at every instant at which something happens.

use std::collections::BTreeSet;
use wordline_ftl::Scheme;
use wordline_swarm::power::{Run, Tally};
use wordline_swarm::stress::ProtectedBuffer;
use wordline_swarm::{Rng, Tiny};
use wordline_units::{HostOp, SimTime};

/// A scheme, with what it changes of the drive and the bits of the cells where its data rest.
type Build = fn(&mut Tiny) -> (Box<dyn Scheme>, u32);

fn named(spelling: &str) -> Box<dyn Scheme> {
    wordline_schemes::build(spelling).unwrap()
}

fn in_slc(_: &mut Tiny) -> (Box<dyn Scheme>, u32) {
    (named("conventional:mode=slc"), 1)
}

fn one_shot(tiny: &mut Tiny) -> (Box<dyn Scheme>, u32) {
    tiny.one_shot = true;
    (named("conventional"), 3)
}

fn page_by_page(_: &mut Tiny) -> (Box<dyn Scheme>, u32) {
    (named("conventional:program=sequential"), 3)
}

fn behind_a_full_cache(tiny: &mut Tiny) -> (Box<dyn Scheme>, u32) {
    tiny.one_shot = true;
    tiny.spare += 4;
    (named("slc-cache:when_full=wait"), 3)
}

fn behind_a_dynamic_cache(tiny: &mut Tiny) -> (Box<dyn Scheme>, u32) {
    tiny.spare += 4;
    (named("slc-cache:dynamic_blocks=2,static_blocks=2"), 3)
}

fn behind_a_protected_buffer(tiny: &mut Tiny) -> (Box<dyn Scheme>, u32) {
    tiny.one_shot = true;
    tiny.spare += 4;
    (Box::new(ProtectedBuffer), 3)
}

fn by_sector(tiny: &mut Tiny) -> (Box<dyn Scheme>, u32) {
    (tiny.bus, tiny.wordlines, tiny.blocks) = ("20ns/B", 3, 14);
    tiny.one_shot = true;
    tiny.spare += 4;
    (named("sector"), 3)
}

/// Requests on a drive, each with the time at which it is submitted.
struct Scene {
    name: &'static str,
    scheme: Build,
    /// Whether the drive is full before.
    full: bool,
    requests: Vec<(HostOp, u64, u64, u64)>,
}

impl Scene {
    fn run(&self) -> Run {
        let mut tiny = Tiny { blocks: 12, wordlines: 2, spare: 7, ..Tiny::default() };
        let (scheme, bits) = (self.scheme)(&mut tiny);
        let mut run = Run::new(tiny.spec(bits), scheme).unwrap().named(self.name);
        if self.full {
            run.fill(5).unwrap();
        }
        run
    }

    fn play(&self, run: &mut Run, until: u64) -> Result<(), String> {
        for (op, first, last, at) in self.requests.iter().filter(|r| r.3 <= until) {
            run.submit(*op, *first, *last, *at)?;
        }
        run.collect(SimTime(until))
    }

    /// Cut the power at every time at which something happens, and just before.
    fn cut_at_every_moment(&self) -> Tally {
        let mut whole = self.run();
        self.play(&mut whole, u64::MAX).unwrap_or_else(|e| panic!("{e}"));
        let moments = whole.moments().iter().flat_map(|t| [t.saturating_sub(1), *t]);
        let moments: BTreeSet<u64> = moments.collect();
        let mut tally = Tally::default();
        for at in moments {
            match self.cut_at(at) {
                Ok(t) => tally += t,
                Err(e) => panic!("cut at {at} ns: {e}"),
            }
        }
        tally
    }

    fn cut_at(&self, at: u64) -> Result<Tally, String> {
        let mut run = self.run();
        self.play(&mut run, at)?;
        run.advance_to(SimTime(at))?;
        run = run.cut()?;
        let mut rng = Rng::new(at);
        for i in 0..120 {
            if i == 60 {
                run = run.cut()?;
            }
            run.step(&mut rng)?;
        }
        run.finish()
    }
}

#[test]
fn a_program_may_be_cut_at_any_moment() {
    use HostOp::{Flush, Write};
    let requests = vec![(Write, 0, 4, 0), (Write, 4, 12, 0), (Write, 2, 6, 9_000), (Flush, 0, 0, 50_000)];
    let scene = Scene { name: "program", scheme: in_slc, full: false, requests };
    assert!(scene.cut_at_every_moment().torn_programs > 0);
}

#[test]
fn a_one_shot_program_may_be_cut_at_any_moment() {
    use HostOp::{Flush, Write};
    let requests = vec![(Write, 0, 16, 0), (Write, 1, 3, 100_000), (Flush, 0, 0, 120_000)];
    let scene = Scene { name: "one-shot", scheme: one_shot, full: false, requests };
    assert!(scene.cut_at_every_moment().torn_programs > 0);
}

#[test]
fn a_read_modify_write_may_be_cut_at_any_moment() {
    use HostOp::{Trim, Write};
    let requests = vec![
        (Write, 1, 3, 0),
        (Write, 4, 8, 0),
        (Write, 5, 6, 1_000),
        (Trim, 0, 4, 2_000),
        (Write, 2, 3, 2_500),
        (Write, 8, 9, 3_000),
        (Trim, 8, 12, 3_500),
    ];
    let schemes: [Build; 3] = [in_slc, one_shot, page_by_page];
    for scheme in schemes {
        let scene = Scene { name: "read-modify-write", scheme, full: true, requests: requests.clone() };
        assert!(scene.cut_at_every_moment().lost_requests > 0);
    }
}

#[test]
fn a_trim_and_its_flush_may_be_cut_at_any_moment() {
    use HostOp::{Flush, Trim, Write};
    let requests = vec![
        (Trim, 0, 12, 0),
        (Flush, 0, 0, 0),
        (Write, 4, 8, 5_000),
        (Trim, 4, 16, 30_000),
        (Flush, 0, 0, 31_000),
        (Flush, 0, 0, 32_000),
        (Trim, 16, 20, 33_000),
        (Write, 17, 18, 150_000),
    ];
    let schemes: [Build; 2] = [in_slc, behind_a_full_cache];
    for scheme in schemes {
        let scene = Scene { name: "trim", scheme, full: true, requests: requests.clone() };
        let tally = scene.cut_at_every_moment();
        assert!(tally.undone_trims > 0 && tally.logged > 0, "{tally:?}");
    }
}

/// Twice as many overwrites as the drive has pages, with a trim between now and then.
fn overwrites(pages: u64) -> Vec<(HostOp, u64, u64, u64)> {
    (0..pages * 2)
        .map(|i| {
            let first = i * 7 % pages * 4;
            let op = if i % 9 == 8 { HostOp::Trim } else { HostOp::Write };
            (op, first, first + 4, i * 20_000)
        })
        .collect()
}

#[test]
fn gc_and_its_erase_may_be_cut_at_any_moment() {
    let schemes: [Build; 4] = [in_slc, one_shot, behind_a_dynamic_cache, behind_a_protected_buffer];
    for scheme in schemes {
        let mut scene = Scene { name: "collection", scheme, full: true, requests: vec![] };
        let run = scene.run();
        scene.requests = overwrites(run.pages());
        let tally = scene.cut_at_every_moment();
        assert!(tally.torn_erases > 0 && tally.torn_programs > 0, "{tally:?}");
    }
}

/// A write whose parts are placed apart took along what waited for its page, which its other part wrote anew; both had
/// the version of the write, and what was moved last won.
#[test]
fn parts_placed_apart_may_be_cut_at_any_moment() {
    use HostOp::{Flush, Write};
    let mut requests = vec![];
    for round in 0..30 {
        let (first, at) = (round * 7 % 5 * 4, round * 150_000);
        requests.extend([
            (Write, first + 1, first + 2, at),
            (Write, first, first + 3, at + 3_000),
            (Write, round * 3 % 20, round * 3 % 20 + 3, at + 5_000),
        ]);
        if round % 4 == 3 {
            requests.push((Flush, 0, 0, at + 6_000));
        }
    }
    let scene = Scene { name: "divided", scheme: by_sector, full: false, requests };
    assert!(scene.cut_at_every_moment().lost_requests > 0);
}
