//! Host writes paced by what garbage collection frees: as many as without, with shorter stalls, and never held back for
//! long.

use wordline_ftl::{Initial, LatencyPart, Mapped};
use wordline_sim::{Completion, Device, NoProbe};
use wordline_units::{HostOp, HostRequest, SimTime};

const PAGE: u64 = 16 << 10;
const PLANES: u64 = 4;
const BLOCKS: u64 = 512;
const PAGES: u64 = 16;

type Drive = Device<NoProbe>;

/// A full drive of four planes with 20 % spare space, with the given `gc.pace_below` and `gc.class`.
fn drive(pace_below: &str, class: &str) -> Drive {
    let logical = PLANES * BLOCKS * PAGES * 16 * 80 / 100;
    let text = format!(
        r#"
[device]
name = "paced"
[medium.flash]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = {BLOCKS}
wordlines_per_block = {PAGES}
page = "16KiB"
bus = {{ rate = "1200MT/s", width = 1 }}
[medium.flash.slc]
read = "40us"
program = "300us"
erase = "3ms"
[mapping]
unit = "16KiB"
[capacity]
logical = "{logical}KiB"
[parallel]
unit = "plane"
[allocation]
order = "dynamic"
[gc]
trigger = "free_blocks < 1%"
class = "{class}"
hard_reserve = 2
pace_below = "{pace_below}"
[ack]
mode = "buffer"
pages = 32
"#
    );
    let spec = wordline_device::from_toml(&text, "paced.toml", &[]).unwrap();
    let scheme = wordline_schemes::build("conventional").unwrap();
    let mut device = Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    let pages = (spec.logical_bytes() / PAGE) as u32;
    device.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages)), 1).unwrap();
    device
}

/// A page of all but the last hundred, which are only read, by the number of a write.
fn random(number: u64, d: &Drive) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) % (d.ftl().inspect().logical_lbas() / 32 - 100)
}

/// Submit the random writes with these numbers at queue depth 32. Calls `each` at every completion.
fn saturate(d: &mut Drive, numbers: std::ops::Range<u64>, each: &mut dyn FnMut(&mut Drive, Completion)) {
    let mut next = numbers.start;
    while next < numbers.end {
        while d.outstanding() < 32 && next < numbers.end {
            let (page, now) = (random(next, d), d.now());
            d.submit(HostRequest::new(HostOp::Write, page * 32, 32).at(now), now).unwrap();
            next += 1;
        }
        let done = d.next_completion(SimTime::NEVER).unwrap().expect("a write that ends");
        each(d, done);
    }
}

fn latency(c: &Completion) -> u64 {
    c.at.since(c.request.arrival).0
}

/// Writes per second of a saturated drive that has been overwritten before, their latencies in order, and the mean of
/// its free blocks.
fn saturated(pace_below: &str, class: &str) -> (f64, Vec<u64>, f64) {
    let mut d = drive(pace_below, class);
    saturate(&mut d, 0..50_000, &mut |_, _| ());
    let (begin, mut latencies, mut free) = (d.now(), vec![], 0);
    saturate(&mut d, 50_000..80_000, &mut |d, c| {
        latencies.push(latency(&c));
        free += d.ftl().inspect().erased_blocks();
    });
    latencies.sort_unstable();
    let seconds = d.now().since(begin).0 as f64 / 1e9;
    let blocks = free as f64 / latencies.len() as f64 / PLANES as f64;
    assert_eq!(pace_below == "off", d.ftl().counters().host.writes_paced.is_none());
    (latencies.len() as f64 / seconds, latencies, blocks)
}

#[test]
fn a_paced_drive_writes_as_much_with_a_shorter_tail() {
    for class in ["host", "background"] {
        let [(rate, usual, _), (paced_rate, paced, blocks)] = ["off", "4"].map(|p| saturated(p, class));
        let at = |sorted: &[u64], share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize] as f64;
        let told = [0.5, 0.99, 0.999, 1.0].map(|share| (at(&usual, share), at(&paced, share)));
        assert!((paced_rate / rate - 1.0).abs() < 0.01, "{class}: {rate} and {paced_rate} writes a second");
        for share in [0.99, 0.999, 1.0] {
            assert!(at(&paced, share) < 0.8 * at(&usual, share), "{class}: {told:?}");
        }
        // Half-way between reserve and upper end, of which open blocks have a part.
        assert!(blocks > 2.0 && blocks < 3.0, "{class}: {blocks} free blocks of a plane");
    }
}

#[test]
fn reads_of_other_pages_overtake_paced_writes() {
    let mut d = drive("4", "background");
    let unwritten = (d.ftl().inspect().logical_lbas() / 32 - 1) * 32;
    let mut number = 0;
    let mut waited = (0, 0);
    saturate(&mut d, 0..40_000, &mut |d, c| {
        number += 1;
        if c.request.op == HostOp::Read {
            assert_eq!(c.request.lba.0 == unwritten, c.parts[LatencyPart::Admission] == 0, "{c:?}");
            let count = if c.request.lba.0 == unwritten { &mut waited.0 } else { &mut waited.1 };
            *count += 1;
        }
        // The next write takes the place of the one that has ended, and waits for its time.
        if number > 30_000 && number % 500 == 0 {
            let now = d.now();
            let page = random(number, d) * 32;
            let before = d.ftl().outstanding();
            d.submit(HostRequest::new(HostOp::Write, page, 32).at(now), now).unwrap();
            if d.ftl().outstanding() == before {
                for lba in [page, unwritten] {
                    d.submit(HostRequest::new(HostOp::Read, lba, 32).at(now), now).unwrap();
                }
            }
        }
    });
    assert!(waited.0 > 5 && waited.1 > 5, "{waited:?}");
}

#[test]
fn drive_that_collects_below_its_rate_delays_no_write() {
    let run = |pace_below: &str| {
        let mut d = drive(pace_below, "background");
        for number in 0..25_000 {
            let at = SimTime(number * 1_500_000);
            d.submit(HostRequest::new(HostOp::Write, random(number, &d) * 32, 32).at(at), at).unwrap();
            while d.poll().is_some() {}
        }
        d.drain().unwrap();
        assert!(d.ftl().counters().collections > 100);
        (d.metrics().result_hash(&[]), d.ftl().counters().host.writes_paced)
    };
    let (paced, usual) = (run("4"), run("off"));
    assert_eq!(paced, (usual.0, Some(0)));
}

#[test]
fn a_write_after_rest_goes_in_at_once() {
    let mut d = drive("4", "background");
    saturate(&mut d, 0..30_000, &mut |_, _| ());
    while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
    assert!(d.ftl().counters().host.writes_paced.is_some_and(|n| n > 1_000));
    let at = SimTime(d.now().0 + 1_000_000_000);
    d.submit(HostRequest::new(HostOp::Write, 0, 32).at(at), at).unwrap();
    let done = d.next_completion(SimTime::NEVER).unwrap().unwrap();
    assert_eq!((done.at, done.parts[LatencyPart::Admission]), (at, 0));
}
