//! Do the parts of a request get the pages that the paper says, and how long does each take?

use wordline_device::DeviceSpec;
use wordline_ftl::Initial;
use wordline_sim::{Device, NoProbe};
use wordline_swarm::{Rng, Tiny};
use wordline_units::{Attributes, HostOp, HostRequest, LatencyHint, SimTime};

type Drive = Device<NoProbe>;

fn device(spec: &DeviceSpec, spelling: &str) -> Drive {
    let scheme = wordline_schemes::build(spelling).unwrap();
    let mut device = Device::new(spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    device.ftl_mut().setup().precondition(&Initial::fresh(), 1).unwrap();
    device
}

/// The drive of PA-SSD's Table 1, empty.
fn paper(spelling: &str) -> Drive {
    let file = wordline_device::find("pa-ssd-288gb").unwrap();
    device(&wordline_device::from_toml(file.text, file.name, &[]).unwrap(), spelling)
}

/// Write pages of 8 KiB on the idle drive, and say how long it took in us.
fn write(d: &mut Drive, page: u64, pages: u64) -> f64 {
    let at = d.now();
    d.submit(HostRequest::new(HostOp::Write, page * 16, pages as u32 * 16), at).unwrap();
    let mut took = 0.0;
    while let Some(c) = d.next_completion(SimTime::NEVER).unwrap() {
        took = c.at.since(at).as_us();
    }
    took
}

/// Which of LSB, CSB, MSB dominated the writes since the counts were `before`.
fn dominated_since(d: &Drive, before: [u64; 4]) -> Vec<u64> {
    d.metrics().dominated.iter().zip(before).map(|(n, b)| n - b).take(3).collect()
}

#[test]
fn msb_dominates_conventional_writes_as_in_the_paper() {
    // PA-SSD, section 3 and Fig. 5: P_fast = (1/3)^n, P_slow = 1 - (2/3)^n. The next types of the planes
    // are made independent by single pages at random places in between.
    let mut d = paper("conventional-tlc");
    let mut rng = Rng::new(7);
    let pages = d.ftl().view().logical_pages() as u64;
    for _ in 0..5_000 {
        write(&mut d, rng.below(pages), 1);
    }
    for n in [1u64, 2, 3, 4, 6, 8, 16] {
        let (writes, mut counts) = (25_000, vec![0; 3]);
        for _ in 0..writes {
            write(&mut d, rng.below(pages), 1);
            let before = d.metrics().dominated;
            write(&mut d, rng.below(pages - n), n);
            for (sum, one) in counts.iter_mut().zip(dominated_since(&d, before)) {
                *sum += one;
            }
        }
        let all_fast = (1.0f64 / 3.0).powi(n as i32);
        let none_slow = (2.0f64 / 3.0).powi(n as i32);
        let expected = [all_fast, none_slow - all_fast, 1.0 - none_slow];
        for (count, expected) in counts.iter().zip(expected) {
            let share = *count as f64 / writes as f64;
            assert!((share - expected).abs() < 0.01, "n = {n}: {share:.4} for {expected:.4}");
        }
    }
}

#[test]
fn parts_of_a_request_get_the_type_of_the_request() {
    // PA-SSD, Fig. 11: 98 % and more of the parts get the type asked for, once planes have blocks with
    // pages of each type; the paper's drive is never empty.
    let mut d = paper("pa-ssd:US");
    let mut rng = Rng::new(5);
    let pages = d.ftl().view().logical_pages() as u64;
    let mut half = ([0; 4], [[0; 4]; 5]);
    for i in 0..40_000 {
        if i == 20_000 {
            half = (d.metrics().dominated, d.ftl().counters().regions[0].page_types);
        }
        write(&mut d, rng.below(pages - 16), 1 + rng.below(16));
    }
    let after = d.ftl().counters().regions[0].page_types;
    let since = |asked: usize, bit: usize| (after[asked][bit] - half.1[asked][bit]) as f64;
    let all: f64 = (1..4).flat_map(|a| (0..3).map(move |b| since(a, b))).sum();
    let as_asked: f64 = (1..4).map(|a| since(a, a - 1)).sum();
    assert!(as_asked / all > 0.98, "{as_asked} of {all}");
    // Fig. 10: then a third of the requests is dominated by each type, whatever their size.
    for count in dominated_since(&d, half.0) {
        assert!((count as f64 / 20_000.0 - 1.0 / 3.0).abs() < 0.02, "{count}");
    }
}

#[test]
fn further_bit_without_a_buffer_reads_all_lower_bits() {
    // Transfer of 8 KiB at 3 ns a byte, then 500, 2000 and 5500 us; without the buffer 100 and 200 us
    // more (section 5.1).
    let transfer = 8192.0 * 3e-3;
    for (spelling, times) in [
        ("conventional-tlc", [500.0, 2000.0, 5500.0]),
        ("conventional-tlc:wordline_buffer=off", [500.0, 2100.0, 5700.0]),
    ] {
        let mut d = paper(spelling);
        let took: Vec<f64> = (0..6).map(|_| write(&mut d, 0, 1) - transfer).collect();
        // One plane, along the diagonals: L0 L1 C0 L2 C1 M0.
        let [l, c, m] = times;
        for (took, expected) in took.iter().zip([l, l, c, l, c, m]) {
            assert!((took - expected).abs() < 0.01, "{spelling}: {took} for {expected}");
        }
    }
}

#[test]
fn qds_at_threshold_0_and_wbs_unbuffered_are_lfs() {
    let hash = |spelling: &str| {
        let mut d = paper(spelling);
        let mut rng = Rng::new(3);
        for i in 0..3_000 {
            let at = SimTime(i * 40_000);
            let op = if rng.below(3) == 0 { HostOp::Read } else { HostOp::Write };
            d.submit(HostRequest::new(op, rng.below(100_000) * 16, 16 * (1 + rng.below(20)) as u32), at)
                .unwrap();
        }
        while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
        d.metrics().result_hash(&d.ftl().counters().integers())
    };
    let lfs = hash("pa-ssd:LFS");
    assert_eq!(hash("pa-ssd:QDS+UBS,queue=0"), lfs);
    assert_eq!(hash("pa-ssd:WBS+US"), lfs);
    assert_ne!(hash("pa-ssd:QDS+UBS"), lfs);
}

#[test]
fn hinting_host_gets_its_type_and_others_the_specifier() {
    let mut d = paper("pa-ssd:HGS+LFS");
    for round in 0..20 {
        write(&mut d, round * 256, 256);
    }
    let mut typed = |hint: LatencyHint| {
        let before = d.metrics().dominated;
        let at = d.now();
        let request = HostRequest {
            attributes: Attributes::NONE.with_hint(hint),
            ..HostRequest::new(HostOp::Write, 0, 16)
        };
        d.submit(request, at).unwrap();
        while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
        dominated_since(&d, before)
    };
    assert_eq!(typed(LatencyHint::Short), [1, 0, 0]);
    assert_eq!(typed(LatencyHint::Medium), [0, 1, 0]);
    assert_eq!(typed(LatencyHint::Medium), [0, 1, 0]); // an MSB page needs the CSB pages around it
    assert_eq!(typed(LatencyHint::Long), [0, 0, 1]);
    assert_eq!(typed(LatencyHint::None), [1, 0, 0]);
}

#[test]
fn blocks_with_unused_slow_pages_are_collected_safely() {
    // LFS leaves blocks with only slow pages behind; a drive nearly full must take them back.
    for spelling in ["pa-ssd:LFS", "pa-ssd:US", "pa-ssd:UBS", "pa-ssd:QDS+UBS"] {
        let tiny = Tiny { blocks: 24, wordlines: 6, spare: 6, ..Tiny::default() };
        let spec = tiny.spec(3);
        let mut d = device(&spec, spelling);
        let pages = d.ftl().view().logical_pages() as u64;
        let per_page = d.ftl().inspect().logical_lbas() / pages;
        let mut rng = Rng::new(11);
        for _ in 0..30 * pages {
            let at = d.now();
            d.submit(HostRequest::new(HostOp::Write, rng.below(pages) * per_page, per_page as u32), at)
                .unwrap();
            while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
        }
        d.ftl_mut().tables().check().unwrap();
        assert_eq!(d.metrics().out_of_space, 0, "{spelling}");
        assert!(d.ftl().counters().collections > 100, "{spelling}");
    }
}
