//! Synthetic workloads: the same seed gives the same requests, and what comes out has the shares,
//! sizes, addresses and arrivals that were asked for.

use crate::support::{self, digest, parse};
use std::collections::HashMap;
use wordline_trace::{DriveShape, Overrides, Pacing, Touched};
use wordline_units::{HostOp, HostRequest};
use wordline_workload::{SYNTHETICS, Workload};

const DRIVE: DriveShape = DriveShape { logical_bytes: 16 << 30, sector_bytes: 4096, unit_bytes: 16_384 };
const BLOCKS: u64 = (16 << 30) / 512;

fn requests(text: &str, seed: u64) -> Vec<HostRequest> {
    support::requests(text, DRIVE, seed)
}

/// Five standard deviations of a share `p` in `n` draws.
fn sigma5(p: f64, n: usize) -> f64 {
    5.0 * (p * (1.0 - p) / n as f64).sqrt()
}

#[test]
fn same_seed_repeats_requests_and_another_does_not() {
    for s in SYNTHETICS {
        let text = format!("{}:requests=20k", s.name);
        let once = requests(&text, 1);
        assert_eq!(once.len(), 20_000, "{}", s.name);
        assert!(once == requests(&text, 1), "{}", s.name);
        assert!(s.name == "sequential" || once != requests(&text, 2), "{}", s.name);
    }
}

/// The 50 places that most requests of a pass name.
fn hottest(workload: &Workload, pass: u64) -> Vec<u64> {
    let mut named: HashMap<u64, u32> = HashMap::new();
    for request in workload.pass(DRIVE, 7, pass).unwrap() {
        *named.entry(request.unwrap().lba.0).or_default() += 1;
    }
    let mut places: Vec<(u64, u32)> = named.into_iter().collect();
    places.sort_by_key(|&(place, n)| (std::cmp::Reverse(n), place));
    places.truncate(50);
    places.into_iter().map(|(place, _)| place).collect()
}

#[test]
fn passes_draw_anew_among_the_same_hot_places() {
    let names = SYNTHETICS.iter().map(|s| s.name).filter(|name| *name != "sequential");
    for name in names.chain(["twin:web_0"]) {
        let workload = parse(&format!("{name}:requests=5k"));
        let of = |pass| workload.pass(DRIVE, 7, pass).unwrap().map(Result::unwrap).collect::<Vec<_>>();
        assert!(of(0) == requests(&format!("{name}:requests=5k"), 7), "{name}");
        assert!(of(1) == of(1) && of(1) != of(0) && of(2) != of(1), "{name}");
    }
    for text in ["zipf:requests=100k,theta=1.2,read=0%", "bursty:requests=100k,sequential=0%"] {
        let workload = parse(text);
        let (first, third) = (hottest(&workload, 0), hottest(&workload, 2));
        let both = first.iter().filter(|place| third.contains(place)).count();
        assert!(both >= 40, "{text}: {both} of 50");
    }
}

#[test]
fn the_requests_of_a_seed_never_change() {
    // A change here changes every result that was ever published with these workloads.
    let digests: Vec<(&str, u64)> = SYNTHETICS
        .iter()
        .map(|s| (s.name, digest(&requests(&format!("{}:requests=20k", s.name), 42))))
        .collect();
    let pinned = include!("../pinned_digests.in");
    assert_eq!(digests, pinned);
}

#[test]
fn every_request_lies_in_the_span_and_is_aligned() {
    for s in SYNTHETICS {
        let requests = requests(&format!("{}:requests=50k,offset=1GiB,span=2GiB", s.name), 3);
        for r in &requests {
            assert!(
                r.lba.0 >= (1 << 30) / 512 && r.lba.0 + r.blocks as u64 <= (3u64 << 30) / 512,
                "{}",
                s.name
            );
            assert_eq!(r.lba.0 % 8, 0, "{}", s.name);
        }
    }
    for text in ["uniform", "zipf", "hot-cold", "mix", "sequential"] {
        let requests =
            requests(&format!("{text}:requests=20k,bs=4KiB@1/64KiB@1/24KiB@1,align=8KiB,span=100MiB"), 3);
        assert!(requests.iter().all(|r| r.lba.0 % 16 == 0 && r.lba.0 + r.blocks as u64 <= 204_800));
    }
}

#[test]
fn shares_of_kinds_and_sizes_are_as_asked() {
    let n = 200_000;
    let requests =
        requests(&format!("uniform:requests={n},read=30%,trim=5%,read_bs=4KiB@60/16KiB@40,write_bs=8KiB"), 9);
    let share = |f: &dyn Fn(&HostRequest) -> bool| requests.iter().filter(|r| f(r)).count() as f64 / n as f64;
    for (got, want) in [
        (share(&|r| r.op == HostOp::Read), 0.30),
        (share(&|r| r.op == HostOp::Trim), 0.05),
        (share(&|r| r.op == HostOp::Write && r.blocks == 16), 0.65),
        (share(&|r| r.op == HostOp::Read && r.blocks == 8), 0.18),
        (share(&|r| r.op == HostOp::Read && r.blocks == 32), 0.12),
    ] {
        assert!((got - want).abs() < sigma5(want, n), "{got} against {want}");
    }
}

#[test]
fn uniform_is_uniform_and_hot_cold_splits_as_asked() {
    let n = 100_000;
    let uniform = requests(&format!("uniform:requests={n}"), 5);
    for eighth in 0..8 {
        let inside = |r: &&HostRequest| r.lba.0 / (BLOCKS / 8) == eighth;
        let got = uniform.iter().filter(inside).count() as f64 / n as f64;
        assert!((got - 0.125).abs() < sigma5(0.125, n), "{eighth}: {got}");
    }
    let hot = requests(&format!("hot-cold:requests={n},hot_space=10%,hot_traffic=90%"), 5);
    let got = hot.iter().filter(|r| r.lba.0 < BLOCKS / 10 / 8 * 8).count() as f64 / n as f64;
    assert!((got - 0.9).abs() < sigma5(0.9, n), "{got}");
}

#[test]
fn zipf_favors_few_addresses_and_scatters_them() {
    let n = 400_000;
    let theta: f64 = 0.99;
    let requests = requests(&format!("zipf:requests={n},theta={theta},span=40MiB"), 8);
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for r in &requests {
        *counts.entry(r.lba.0).or_default() += 1;
    }
    let mut by_count: Vec<(usize, u64)> = counts.into_iter().map(|(l, c)| (c, l)).collect();
    by_count.sort_unstable_by(|a, b| b.cmp(a));
    let slots = 10_240;
    let sum: f64 = (1..=slots).map(|k| (k as f64).powf(-theta)).sum();
    for (rank, (count, _)) in by_count.iter().take(10).enumerate() {
        let want = ((rank + 1) as f64).powf(-theta) / sum;
        let got = *count as f64 / n as f64;
        // Sorting by count moves neighbors by a little more than their own deviation.
        assert!((got - want).abs() < 1.5 * sigma5(want, n), "rank {rank}: {got} against {want}");
    }
    let low_half = by_count.iter().take(100).filter(|(_, lba)| *lba < 40 << 10).count();
    assert!((25..75).contains(&low_half), "{low_half}");
}

#[test]
fn sequential_streams_continue_where_they_were() {
    let r = requests("sequential:requests=1000,bs=64KiB,streams=4", 0);
    for s in 0..4 {
        let stream: Vec<_> = r.iter().skip(s).step_by(4).collect();
        assert_eq!(stream[0].lba.0, s as u64 * BLOCKS / 4);
        assert!(stream.windows(2).all(|w| w[1].lba.0 == w[0].lba.0 + 128));
    }
    let around = requests("sequential:requests=20,bs=64KiB,span=512KiB", 0);
    assert_eq!(around[8].lba.0, 0);
}

#[test]
fn poisson_arrivals_have_mean_and_spread_of_their_rate() {
    let n = 200_000;
    let text = format!("uniform:requests={n},rate=10k");
    assert_eq!(parse(&text).pacing(), Pacing::Open);
    let r = requests(&text, 4);
    let gaps: Vec<f64> = r.windows(2).map(|w| (w[1].arrival.0 - w[0].arrival.0) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let deviation = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    // The mean of n exponential gaps deviates by 1/sqrt(n): five of those are 1.1 %.
    assert!((mean / 100_000.0 - 1.0).abs() < 0.011, "{mean}");
    assert!((deviation / mean - 1.0).abs() < 0.02, "{deviation}");
    let fast = requests("uniform:requests=100k,rate=500M", 4);
    let span = fast.last().unwrap().arrival.0 as f64;
    assert!((span / 200_000.0 - 1.0).abs() < 0.016, "gaps of 2 ns keep their mean: {span}");
}

#[test]
fn bounds_end_a_stream() {
    assert_eq!(requests("uniform:bytes=1MiB,bs=64KiB", 0).len(), 16);
    assert_eq!(requests("uniform:bytes=0.5x,bs=1MiB", 0).len(), 8192);
    assert_eq!(requests("uniform:bytes=1MiB,bs=64KiB,read=100%", 0).len(), 16);
    let timed = requests("uniform:rate=1k,duration=10s", 0);
    assert!((9_500..10_500).contains(&timed.len()) && timed.iter().all(|r| r.arrival.0 < 10_000_000_000));
    let endless = parse("uniform:duration=10s,span=64MiB");
    assert_eq!(endless.open(DRIVE, 0).unwrap().take(2_000_000).count(), 2_000_000);
    let f = endless.footprint(DRIVE, 0, Touched::AtAll).unwrap();
    assert_eq!((f.exact, f.count()), (false, 4096));
    assert_eq!(parse("uniform").limit(DRIVE).requests, Some(1_000_000));
    assert_eq!(parse("uniform:bytes=3x").limit(DRIVE).bytes, Some(48 << 30));
}

#[test]
fn sectors_read_before_written_match_the_requests() {
    let drive = DriveShape { logical_bytes: 1 << 30, sector_bytes: 4096, unit_bytes: 16384 };
    let w = parse("zipf:read=50%,bs=4KiB,span=16MiB,requests=5k");
    let (mut read, mut written) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    for r in w.open(drive, 3).unwrap().map(Result::unwrap) {
        for sector in r.lba.0 / 8..(r.lba.0 + r.blocks as u64).div_ceil(8) {
            match r.op {
                HostOp::Write => drop(written.insert(sector)),
                _ if written.contains(&sector) => {}
                _ => drop(read.insert(sector)),
            }
        }
    }
    let f = w.footprint(drive, 3, Touched::SectorsReadFirst).unwrap();
    let lacking: std::collections::BTreeMap<u32, u32> = f.lacking.iter().copied().collect();
    assert!(lacking.len() > 100 && lacking.len() < f.count() as usize, "{} of {}", lacking.len(), f.count());
    let held = f.pages().into_iter().flat_map(|page| {
        let mask = !lacking.get(&page).copied().unwrap_or(0) & 15;
        (0..4).filter(move |s| mask >> s & 1 == 1).map(move |s| page as u64 * 4 + s)
    });
    assert_eq!(held.collect::<std::collections::BTreeSet<_>>(), read);
}

#[test]
fn touched_and_first_read_sectors_match_the_requests() {
    let drive = DriveShape { logical_bytes: 1 << 30, sector_bytes: 4096, unit_bytes: 16384 };
    let w = parse("zipf:read=50%,bs=12KiB,span=24MiB,requests=2k");
    let (mut touched, mut first) = (HashMap::new(), HashMap::new());
    for r in w.open(drive, 3).unwrap().map(Result::unwrap) {
        let mut pages: HashMap<u32, u32> = HashMap::new();
        for sector in r.lba.0 / 8..(r.lba.0 + r.blocks as u64).div_ceil(8) {
            *pages.entry((sector / 4) as u32).or_default() |= 1 << (sector % 4);
        }
        #[allow(clippy::iter_over_hash_type, reason = "pages of a request are apart")]
        for (page, mask) in pages {
            *touched.entry(page).or_default() |= mask;
            first.entry(page).or_insert(if r.op == HostOp::Read { mask } else { 0 });
        }
    }
    first.retain(|_, mask| *mask > 0);
    for (which, expected) in [(Touched::Sectors, touched), (Touched::SectorsOfFirstRead, first)] {
        let f = w.footprint(drive, 3, which).unwrap();
        let lacking: HashMap<u32, u32> = f.lacking.iter().copied().collect();
        let held = f.pages().into_iter().map(|p| (p, !lacking.get(&p).copied().unwrap_or(0) & 15));
        assert_eq!(held.collect::<HashMap<u32, u32>>(), expected, "{which:?}");
    }
}

#[test]
fn bursty_bursts_rests_and_ends_with_a_long_burst() {
    let r = requests("bursty", 1);
    let mut bursts = vec![0u64];
    let mut last_write = 0;
    for r in &r {
        if r.op == HostOp::Write {
            if r.arrival.0 > last_write + 1_900_000_000 {
                bursts.push(0);
            }
            last_write = r.arrival.0;
            *bursts.last_mut().unwrap() += r.bytes();
        }
    }
    assert_eq!(bursts.len(), 7, "{bursts:?}");
    let drive = DRIVE.logical_bytes as f64;
    for b in &bursts[..6] {
        assert!((*b as f64 / drive / 0.01 - 1.0).abs() < 0.01, "{bursts:?}");
    }
    assert!((bursts[6] as f64 / drive / 0.15 - 1.0).abs() < 0.01, "{bursts:?}");
    let reads = r.iter().filter(|r| r.op == HostOp::Read).count();
    assert!(reads > 7 * 900 && r.windows(2).all(|w| w[0].arrival <= w[1].arrival));
    assert!(r.len() > 10_000 && r.len() < 1_000_000, "{}", r.len());
}

#[test]
fn a_span_that_does_not_fit_is_refused_when_opened() {
    for text in [
        "uniform:span=17GiB",
        "uniform:offset=16GiB",
        "uniform:span=4KiB,bs=8KiB",
        "sequential:streams=4,span=12KiB",
        "hot-cold:span=8KiB,hot_space=1%",
        "bursty:span=4KiB",
    ] {
        let e = parse(text).open(DRIVE, 0).err().unwrap_or_else(|| panic!("{text} was accepted"));
        assert!(!e.problems()[0].allowed.is_empty(), "{e}");
    }
}

#[test]
fn every_parameter_is_described_and_has_its_default() {
    for s in SYNTHETICS {
        let mut defaults = Vec::new();
        for p in s.parameters() {
            assert!(
                !p.about.is_empty() && !p.default.is_empty() && !p.unit.is_empty(),
                "{} {}",
                s.name,
                p.key
            );
            let stated = p.default.starts_with(|c: char| c.is_ascii_digit()) && !p.default.contains("if no");
            if stated {
                defaults.push(format!("{}={}", p.key, p.default));
            }
        }
        let told = requests(&format!("{}:{},requests=5k", s.name, defaults.join(",")), 6);
        assert!(told == requests(&format!("{}:requests=5k", s.name), 6), "{}", s.name);
        assert_eq!(parse(s.name).resolved()["kind"], "synthetic");
    }
}

#[test]
fn mix_takes_the_shares_given_and_refuses_a_wrong_sum() {
    let n = 50_000;
    let r =
        requests(&format!("mix:requests={n},sequential=40%,hot_cold=60%,hot_space=50%,hot_traffic=0%"), 2);
    let low = r.iter().filter(|r| r.lba.0 < BLOCKS / 2).count() as f64 / n as f64;
    // Cold requests go to the upper half; the sequential ones have not got past the lower.
    assert!((low - 0.4).abs() < sigma5(0.4, n), "{low}");
    let e = Workload::parse("mix:sequential=40%,zipf=40%", Overrides::default()).unwrap_err();
    assert!(e.to_string().contains("add up to 80%"), "{e}");
}
