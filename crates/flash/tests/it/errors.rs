//! The error model against what was published, and against itself: more wear, more time and more reads
//! never take fewer retries.

use wordline_flash::{Beyond, ErrorModel, RetryLaw, Stress};
use wordline_hash::{GOLDEN, mix};
use wordline_units::CellMode;

const MONTH: u64 = 720;

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0) % n
    }
}

fn law(model: &str, mode: CellMode) -> RetryLaw {
    RetryLaw::new(&ErrorModel::builtin(model).unwrap(), mode).unwrap()
}

/// Share of the pages with each number of retries, in percent, over blocks with so many cycles.
fn histogram(law: &RetryLaw, mode: CellMode, cycles: (u64, u64), hours: u64, reads: u64) -> [f64; 18] {
    let mut rng = Rng(7);
    let mut shares = [0.0; 18];
    let blocks = 4_000;
    for block in 0..blocks {
        let c = cycles.0 + rng.below(cycles.1 - cycles.0 + 1);
        let stress = Stress { cycles: c as f64, hours, reads };
        let steps = law.of_block(stress, block);
        for wordline in 0..64 {
            let bit = rng.below(mode.bits() as u64) as usize;
            let retries = law.of_page(steps, block, wordline, bit);
            assert!(!retries.failed);
            shares[retries.count as usize] += 100.0 / (blocks * 64) as f64;
        }
    }
    shares
}

fn agrees(found: &[f64; 18], expected: &[(usize, f64)]) {
    for (n, found) in found.iter().enumerate() {
        let share = expected.iter().find(|(at, _)| *at == n).map_or(0.0, |(_, share)| 100.0 * share);
        assert!((found - share).abs() < 1.0, "{n} retries: {found:.2} % against {share:.2} %");
    }
}

#[test]
fn the_fitted_set_has_the_retries_of_each_stage() {
    let qlc = law("raro", CellMode::Qlc);
    let of = |cycles| histogram(&qlc, CellMode::Qlc, cycles, MONTH, 0);
    // SPEC 6.3, from an independent script.
    agrees(
        &of((1, 333)),
        &[(3, 0.001), (4, 0.031), (5, 0.115), (6, 0.100), (7, 0.170), (8, 0.369), (9, 0.205), (10, 0.009)],
    );
    agrees(
        &of((334, 666)),
        &[(6, 0.015), (7, 0.076), (8, 0.080), (9, 0.165), (10, 0.259), (11, 0.226), (12, 0.165), (13, 0.014)],
    );
    agrees(
        &of((667, 1000)),
        &[
            (9, 0.007),
            (10, 0.057),
            (11, 0.068),
            (12, 0.120),
            (13, 0.243),
            (14, 0.210),
            (15, 0.202),
            (16, 0.092),
        ],
    );
}

#[test]
fn the_fitted_set_has_the_retries_at_fixed_cycles() {
    let qlc = law("raro", CellMode::Qlc);
    let of = |c| histogram(&qlc, CellMode::Qlc, (c, c), MONTH, 0);
    agrees(&of(167), &[(4, 0.002), (5, 0.176), (6, 0.073), (7, 0.040), (8, 0.641), (9, 0.069)]);
    agrees(&of(500), &[(7, 0.030), (8, 0.211), (9, 0.009), (10, 0.264), (11, 0.483), (12, 0.002)]);
    agrees(&of(833), &[(10, 0.001), (11, 0.157), (12, 0.092), (13, 0.026), (14, 0.625), (15, 0.099)]);
    agrees(&of(900), &[(11, 0.008), (12, 0.210), (13, 0.032), (14, 0.114), (15, 0.616), (16, 0.020)]);
}

#[test]
fn tlc_mode_needs_at_most_one_retry_and_only_on_reads() {
    let tlc = law("raro", CellMode::Tlc);
    for (reads, shares) in [(0, [0.0008, 0.0095, 0.188]), (1000, [0.022, 0.140, 0.266 + 0.06])] {
        for (cycles, share) in [167, 500, 900].into_iter().zip(shares) {
            let found = histogram(&tlc, CellMode::Tlc, (cycles, cycles), 24, reads);
            agrees(&found, &[(0, 1.0 - share), (1, share)]);
        }
    }
}

#[test]
fn the_wide_set_begins_with_one_retry() {
    let wide = law("fig6_all_pages", CellMode::Qlc);
    for (cycles, range, mean) in
        [((1, 333), 1..=10, 6.65), ((334, 666), 5..=13, 9.78), ((667, 1000), 9..=16, 13.37)]
    {
        let found = histogram(&wide, CellMode::Qlc, cycles, MONTH, 0);
        let within: f64 = range.map(|n| found[n]).sum();
        let average: f64 = found.iter().enumerate().map(|(n, share)| n as f64 * share / 100.0).sum();
        assert!(within > 99.5, "{within}");
        assert!((average - mean).abs() < 0.1, "{average} against {mean}");
    }
}

#[test]
fn slc_mode_is_never_read_again() {
    let slc = law("raro", CellMode::Slc);
    for cycles in [1, 1_000, 100_000] {
        assert_eq!(histogram(&slc, CellMode::Slc, (cycles, cycles), 12 * MONTH, 10_000)[0].round(), 100.0);
    }
}

#[test]
fn cycles_time_and_reads_never_lower_retries() {
    let mut rng = Rng(11);
    for name in ErrorModel::NAMES {
        let model = ErrorModel::builtin(name).unwrap();
        for mode in CellMode::ALL {
            let Some(law) = RetryLaw::new(&model, mode) else { continue };
            for _ in 0..2_000 {
                let (block, wordline) = (rng.below(1 << 20) as u32, rng.below(1 << 10) as u32);
                let bit = rng.below(mode.bits() as u64) as usize;
                let low = Stress {
                    cycles: rng.below(5_000) as f64,
                    hours: rng.below(20_000),
                    reads: rng.below(100_000),
                };
                let more = [
                    Stress { cycles: low.cycles + rng.below(5_000) as f64, ..low },
                    Stress { hours: low.hours + rng.below(20_000), ..low },
                    Stress { reads: low.reads + rng.below(100_000), ..low },
                ];
                let of = |stress| law.of_page(law.of_block(stress, block), block, wordline, bit);
                for high in more {
                    assert!(of(high).count >= of(low).count, "{name} {mode}: {low:?} {high:?}");
                    assert!(of(high).failed >= of(low).failed, "{name} {mode}: {low:?} {high:?}");
                }
            }
        }
    }
}

#[test]
fn page_takes_the_fewest_retries_the_inequality_allows() {
    // RARO, eq. 2: the errors after n retries can be corrected, and those after n - 1 cannot.
    let mut model = ErrorModel::builtin("raro").unwrap();
    let e = model.modes[CellMode::Qlc.index()].as_mut().unwrap();
    (e.sigma_block, e.sigma_page) = (0.0, 0.0);
    let (rber, senses) = (e.rber, e.senses);
    let law = RetryLaw::new(&model, CellMode::Qlc).unwrap();
    for cycles in 0..1000 {
        let stress = Stress { cycles: cycles as f64, hours: MONTH, reads: 0 };
        let steps = law.of_block(stress, 0);
        for (bit, senses) in senses.into_iter().enumerate() {
            let n = law.of_page(steps, 0, 0, bit).count as i32;
            let errors = 8192.0 * rber.at(stress.cycles, 720.0, 0.0) * senses as f64 / 3.75;
            let after = |n: i32| errors * 0.9f64.powi(n);
            // To a part in a million: steps are kept to seven digits.
            assert!(after(n) <= 72.0 * (1.0 + 1e-6) || n == 16, "{cycles} cycles, bit {bit}: {n}");
            assert!(n == 0 || after(n - 1) > 72.0 * (1.0 - 1e-6), "{cycles} cycles, bit {bit}: {n}");
        }
    }
}

#[test]
fn read_beyond_the_retry_limit_fails_if_modelled_so() {
    let mut model = ErrorModel::builtin("tlc_72_layer").unwrap();
    let worn = Stress { cycles: 20_000.0, hours: 24 * 365, reads: 0 };
    let of = |model: &ErrorModel| {
        let law = RetryLaw::new(model, CellMode::Tlc).unwrap();
        law.of_page(law.of_block(worn, 3), 3, 1, 1)
    };
    assert_eq!((of(&model).count, of(&model).failed), (16, true));
    let e = model.modes[CellMode::Tlc.index()].as_mut().unwrap();
    e.beyond = Beyond::Clamp;
    assert_eq!((of(&model).count, of(&model).failed), (16, false));
}

#[test]
fn under_a_fixed_number_every_read_takes_it() {
    let model = ErrorModel::builtin("fixed:3").unwrap();
    for mode in CellMode::ALL {
        let law = RetryLaw::new(&model, mode).unwrap();
        for block in 0..100 {
            let steps = law.of_block(Stress::default(), block);
            let retries = law.of_page(steps, block, block % 7, mode.bits() as usize - 1);
            assert_eq!((retries.count, retries.failed), (3, false));
        }
    }
    assert!(ErrorModel::builtin("fixed:32").is_none() && ErrorModel::builtin("fixed:x").is_none());
}
