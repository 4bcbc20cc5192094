//! An SLC cache as drives on the market have it: is it given back in idle time after its delay and at its rate, and is it as
//! large as the flash that is free?

use wordline_ftl::{Initial, Mapped, Order, RegionId};
use wordline_sim::{Device, NoProbe};
use wordline_units::{HostOp, HostRequest, PlaneId, SimTime};

const S: RegionId = RegionId(0);
const D: RegionId = RegionId(1);
const PAGE: u64 = 16 << 10;
const PLANES: u64 = 8;
/// SLC pages of a block.
const WORDLINES: u64 = 16;
const SLC_BLOCK: u64 = WORDLINES * PAGE;
const BLOCKS: u64 = 64;
/// What a static cache of 20 blocks of each plane takes: GC keeps one of each.
const CACHE: u64 = 19 * PLANES * SLC_BLOCK;

type Drive = Device<NoProbe>;

/// A drive of eight planes with this `[slc_cache]`.
fn drive(cache: &str, initial: &Initial) -> Drive {
    let logical = if cache.contains("dynamic") { "350MiB" } else { "200MiB" };
    let text = format!(
        r#"
[device]
name = "resting"
[medium.flash]
channels = 2
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = {BLOCKS}
wordlines_per_block = {WORDLINES}
page = "16KiB"
bus = {{ rate = "1200MT/s", width = 1 }}
[medium.flash.slc]
read = "25us"
program = "200us"
erase = "2ms"
[medium.flash.tlc]
read = "60us"
program = "1ms"
one_shot = true
erase = "5ms"
[mapping]
unit = "16KiB"
[capacity]
logical = "{logical}"
[parallel]
unit = "plane"
[allocation]
order = "dynamic"
[gc]
trigger = "never"
class = "background"
[ack]
mode = "buffer"
pages = 48
[slc_cache]
trigger = "never"
when_full = "direct"
{cache}
"#
    );
    let spec = wordline_device::from_toml(&text, "resting.toml", &[]).unwrap();
    let scheme = wordline_schemes::build("slc-cache").unwrap();
    let mut device = Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    device.ftl_mut().setup().precondition(initial, 1).unwrap();
    device
}

/// Write pages one after the other, without rest.
fn write(d: &mut Drive, pages: impl IntoIterator<Item = u64>) {
    for page in pages {
        let at = d.now();
        d.submit(HostRequest::new(HostOp::Write, page * 32, 32), at).unwrap();
        while d.next_completion(SimTime::NEVER).unwrap().is_none() {}
    }
}

/// Let so much time pass after the last completion.
fn rest(d: &mut Drive, ms: u64) {
    let until = SimTime(d.now().0 + ms * 1_000_000);
    while d.next_completion(until).unwrap().is_some() {}
    d.advance_to(until).unwrap();
}

/// Bytes that a static cache could still take.
fn free(d: &Drive) -> u64 {
    d.ftl().view().free_slots_in(S) * PAGE - PLANES * SLC_BLOCK
}

fn cached(d: &Drive) -> u64 {
    d.ftl().view().live_units_in(S) * PAGE
}

#[test]
fn idle_time_returns_the_cache_after_delay_at_its_rate() {
    // A rest of t gives back R (t - D) of the cache, to a block of each plane.
    let (delay, rate) = (300, 20_000_000);
    let cache = "static_blocks = 20\nidle_after = \"300ms\"\nidle_rate = \"20MB/s\"";
    let all = CACHE;
    let mut full = drive(cache, &Initial::fresh());
    write(&mut full, 0..all / PAGE + 300);
    assert_eq!((free(&full), cached(&full)), (0, all), "it is full, and no more than that");
    for t in [0, 200, 299, 350, 700, 1_300, 2_000, 4_000] {
        let mut d = drive(cache, &Initial::fresh());
        write(&mut d, 0..all / PAGE + 300);
        rest(&mut d, t);
        let back = all.min((t.saturating_sub(delay)) * rate / 1_000);
        let moved = all - cached(&d);
        // A page may have left early. While all dies erase none leaves, and those that are late then follow at once.
        let block = PLANES * SLC_BLOCK;
        assert!(moved <= back + PAGE && moved + block >= back, "{t} ms: {moved} of {back} bytes");
        assert!(free(&d).abs_diff(back) <= block, "{t} ms gave back {} of {back} bytes", free(&d));
        let view = d.ftl().view();
        let planes = (0..PLANES as u32).map(|p| view.live_units(S, PlaneId(p)));
        let (least, most) = (planes.clone().min().unwrap(), planes.max().unwrap());
        assert!(most - least <= 2 * WORDLINES, "{t} ms: dies take turns: {least} to {most} pages left");
        d.ftl_mut().tables().check().unwrap();
    }
}

#[test]
fn request_ends_idle_migration_and_restarts_the_delay() {
    let cache = "static_blocks = 20\nidle_after = \"300ms\"\nidle_rate = \"20MB/s\"";
    let mut d = drive(cache, &Initial::fresh());
    let all = CACHE;
    write(&mut d, 0..all / PAGE);
    rest(&mut d, 400);
    let then = cached(&d);
    assert!(then < all, "it migrates");
    // A read every 200 ms keeps the drive from being idle, and waits for a page in transit at most.
    for _ in 0..20 {
        let at = d.now();
        d.submit(HostRequest::new(HostOp::Read, 0, 32), at).unwrap();
        let ended = d.next_completion(SimTime::NEVER).unwrap().unwrap().at;
        assert!(ended.since(at).as_us() < 1_200.0, "a read took {} us", ended.since(at).as_us());
        rest(&mut d, 200);
    }
    assert!(then - cached(&d) <= PLANES * PAGE, "what was on its way ended, and nothing else began");
    rest(&mut d, 200);
    let moved = then - cached(&d);
    assert!(moved >= 1_900_000, "400 ms after the last read it has migrated only {moved} bytes more");
}

// Without a delay there is none.
#[test]
fn migration_without_rate_is_full_speed() {
    let all = CACHE;
    let rested = |cache: &str| {
        let mut d = drive(cache, &Initial::fresh());
        write(&mut d, 0..all / PAGE);
        rest(&mut d, 400);
        assert_eq!(d.metrics().idle.delays.requests(), 0);
        let left = cached(&d);
        d.drain().unwrap();
        (left, all - cached(&d))
    };
    assert_eq!(rested("static_blocks = 20"), (all, 0));
    let (paced, _) = rested("static_blocks = 20\nidle_after = \"300ms\"\nidle_rate = \"20MB/s\"");
    let (fast, migrated) = rested("static_blocks = 20\nidle_after = \"300ms\"");
    assert!(paced > all - 2_100_000 && fast < all - 15_000_000, "{paced} and {fast} of {all} bytes are left");
    assert!(migrated < all - fast + 2 * SLC_BLOCK, "the end of a run migrates nothing more: {migrated}");
}

#[test]
fn cache_takes_free_flash_and_shrinks_as_data_grow() {
    // Two static blocks of each plane, and what is free but for a fifth: 64 - 2 - 13 = 49 blocks, less those of data at
    // rest, of which a row of TLC blocks over the planes holds three times as many pages as one of SLC blocks.
    let row = 3 * WORDLINES * PLANES;
    let logical = (350 << 20) / PAGE;
    for (percent, most) in [(0, 62), (0, 10), (50, 62), (80, 62), (95, 62)] {
        let cache = format!("static_blocks = 2\ndynamic_blocks = {most}\ndynamic_reserve = \"20%\"");
        let cache = if most == 62 { cache.replace("62", "61") } else { cache };
        let filled = logical * percent / 100;
        let initial =
            Initial { mapped: Mapped::First(filled as u32), order: Order::Sequential, ..Initial::fresh() };
        let mut d = drive(&cache, &initial);
        let blocks = 2 + 49u64.saturating_sub(filled.div_ceil(row)).min(most);
        let size = blocks * PLANES * SLC_BLOCK;
        // New data, until some of it goes past the cache.
        let before = d.ftl().view().taken(D).1;
        let mut written = 0;
        for page in (filled..logical).chain(filled..logical) {
            write(&mut d, [page]);
            written += PAGE;
            if d.ftl().view().taken(D).1 > before {
                break;
            }
        }
        // What the buffer still holds has been written, and planes do not run full at one moment.
        let (least, most) = (size - PLANES * SLC_BLOCK, size + 2 * PLANES * SLC_BLOCK);
        assert!((least..=most).contains(&written), "{percent} % full: {written} instead of {size} bytes");
        d.ftl_mut().tables().check().unwrap();
    }
}
