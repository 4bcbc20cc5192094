//! Made series, of which it is known whether and from where on they are steady.

use wordline_stats::{
    BATCHES, Cut, Estimate, Role, Series, Steadiness, drift, interval, judge, mser5, trend,
};

const N: usize = 400;

/// Normal deviates from a small generator: the sum of twelve uniform ones.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// A series of mean 100 with white noise of standard deviation 5 on a shape.
fn made(seed: u64, shape: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    (0..N).map(|i| 100.0 * shape(i as f64 / N as f64) + 5.0 * noise.normal()).collect()
}

/// A first-order autoregressive series of mean 100 in its own steady state.
fn correlated(seed: u64, phi: f64) -> Vec<f64> {
    let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut x = noise.normal() / (1.0 - phi * phi).sqrt();
    (0..N)
        .map(|_| {
            x = phi * x + noise.normal();
            100.0 + 5.0 * x
        })
        .collect()
}

fn verdict(values: &[f64]) -> Steadiness {
    judge(&[(Role::Figure, Series::of_values(values))])
}

/// How many of a hundred made series have the property.
fn of_hundred(series: impl Fn(u64) -> Vec<f64>, has: impl Fn(Steadiness) -> bool) -> usize {
    (0..100).filter(|seed| has(verdict(&series(*seed)))).count()
}

fn is_steady(s: Steadiness) -> bool {
    matches!(s, Steadiness::From(_))
}

#[test]
fn a_constant_is_steady_from_the_start() {
    assert_eq!(mser5(&[0.1; N]), Cut::At(0));
    assert_eq!(verdict(&[0.1; N]), Steadiness::From(0));
    assert_eq!(trend(&[0.1; 20]).p, 1.0);
}

#[test]
fn white_noise_is_steady_from_near_the_start() {
    assert!(of_hundred(|s| made(s, |_| 1.0), is_steady) >= 97);
    let early = |v: Steadiness| matches!(v, Steadiness::From(at) if at < N / 4);
    assert!(of_hundred(|s| made(s, |_| 1.0), early) >= 80);
}

#[test]
fn a_step_in_the_first_half_is_cut_off() {
    for at in [0.1, 0.3] {
        let found = |v: Steadiness| {
            let cut = (at * N as f64) as usize;
            matches!(v, Steadiness::From(from) if from >= cut && from <= cut + N / 8)
        };
        let right = of_hundred(|s| made(s, |x| if x < at { 3.0 } else { 1.0 }), found);
        assert!(right >= 90, "{right} of 100 at {at}");
    }
}

#[test]
fn a_step_in_the_second_half_is_not_steady() {
    for at in [0.6, 0.75, 0.9] {
        let right = of_hundred(
            |s| made(s, |x| if x < at { 1.0 } else { 3.0 }),
            |v| matches!(v, Steadiness::Drifts { by, .. } if by > 0.0),
        );
        assert!(right >= 97, "{right} of 100 at {at}");
    }
}

#[test]
fn a_ramp_is_not_steady_and_its_drift_is_told() {
    let ramp = |s| made(s, |x| 1.0 + x);
    assert_eq!(of_hundred(ramp, |v| matches!(v, Steadiness::Drifts { .. })), 100);
    // Without noise the means of the third and last quarter are 1.625 and 1.875.
    let exact: Vec<f64> = (0..N).map(|i| 1.0 + (i as f64 + 0.5) / N as f64).collect();
    let by = drift(&Series::of_values(&exact));
    assert!((by - (1.875 / 1.625 - 1.0)).abs() < 1e-12, "{by}");
    assert_eq!(verdict(&exact), Steadiness::Drifts { series: 0, by });
    let falling: Vec<f64> = exact.iter().map(|v| 4.0 - v).collect();
    assert!(matches!(verdict(&falling), Steadiness::Drifts { by, .. } if by < 0.0));
}

#[test]
fn a_ramp_too_small_to_matter_is_steady() {
    let exact: Vec<f64> = (0..N).map(|i| 1.0 + 0.015 * i as f64 / N as f64).collect();
    assert!(is_steady(verdict(&exact)));
}

#[test]
fn a_drain_is_steady_after_it() {
    let drain = |s| made(s, |x| 1.0 + 4.0 * (-x / 0.05).exp());
    // After five time constants what is left is below the noise.
    let right = of_hundred(drain, |v| matches!(v, Steadiness::From(at) if (N / 20..=N / 2).contains(&at)));
    assert!(right >= 95, "{right} of 100");
}

#[test]
fn a_drain_that_lasts_is_not_steady() {
    let right = of_hundred(
        |s| made(s, |x| 1.0 + 4.0 * (-x / 0.5).exp()),
        |v| matches!(v, Steadiness::Drifts { by, .. } if by < 0.0),
    );
    assert_eq!(right, 100);
}

#[test]
fn correlated_noise_is_not_mistaken_for_a_trend() {
    for phi in [0.5, 0.9] {
        let wrong = of_hundred(|s| correlated(s, phi), |v| matches!(v, Steadiness::Drifts { .. }));
        assert!(wrong <= 5, "{wrong} of 100 at {phi}");
    }
}

#[test]
fn a_series_that_scatters_widely_is_not_a_figure_yet() {
    let wild = |seed: u64| -> Vec<f64> {
        let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (0..N).map(|_| if noise.uniform() < 0.05 { 1000.0 } else { 1.0 }).collect()
    };
    let noisy = |v: Steadiness| matches!(v, Steadiness::Noisy { half_width, .. } if half_width > 0.2);
    let right = of_hundred(wild, noisy);
    assert!(right >= 95, "{right} of 100");
}

#[test]
fn uneven_balance_is_named_before_a_drift() {
    let uneven = (Role::Balance, Series::of_values(&[0.5; N]));
    let even = (Role::Balance, Series::of_values(&[1.05; N]));
    let ramp = (Role::Figure, Series::of_values(&made(3, |x| 1.0 + x)));
    let flat = (Role::Figure, Series::of_values(&[7.0; N]));
    assert_eq!(judge(&[ramp.clone(), uneven.clone()]), Steadiness::Unbalanced { series: 1, at: 0.5 });
    assert_eq!(judge(&[flat.clone(), uneven]), Steadiness::Unbalanced { series: 1, at: 0.5 });
    assert_eq!(judge(&[flat.clone(), even.clone()]), Steadiness::From(0));
    assert!(matches!(judge(&[ramp, even]), Steadiness::Drifts { series: 0, .. }));
    // Uneven at first, then even: what is filled in the first third is never erased.
    let sums = (1..=N).map(|i| ((i as f64 - N as f64 / 3.0).max(0.0), i as f64));
    let later = judge(&[flat, (Role::Balance, Series::of_sums(sums))]);
    assert!(matches!(later, Steadiness::From(at) if at > N / 5 && at <= N / 2), "{later:?}");
}

#[test]
fn warm_up_is_cut_though_the_quietest_part_is_late() {
    // A step, then waves that die down: MSER-5 alone would cut in the second half.
    let waves =
        |seed| made(seed, |x| if x < 0.1 { 0.4 } else { 1.0 + 0.15 * (-6.0 * x).exp() * (60.0 * x).cos() });
    let right = of_hundred(waves, |v| matches!(v, Steadiness::From(at) if (N / 10..=N / 2).contains(&at)));
    assert!(right >= 95, "{right} of 100");
}

#[test]
fn latest_warm_up_counts_and_worst_drift_is_named() {
    let step = |seed, at: f64| Series::of_values(&made(seed, |x| if x < at { 2.0 } else { 1.0 }));
    let both = [(Role::Figure, step(1, 0.1)), (Role::Figure, step(2, 0.35))];
    assert!(matches!(judge(&both), Steadiness::From(at) if at >= N * 35 / 100));
    let ramp = |by: f64| Series::of_values(&made(3, |x| 1.0 + by * x));
    let three = [(Role::Figure, step(1, 0.1)), (Role::Figure, ramp(1.0)), (Role::Figure, ramp(4.0))];
    assert!(matches!(judge(&three), Steadiness::Drifts { series: 2, .. }));
}

#[test]
fn what_is_too_short_is_said_to_be() {
    assert_eq!(verdict(&[1.0; 79]), Steadiness::TooShort);
    assert_eq!(verdict(&[1.0; 80]), Steadiness::From(0));
    assert_eq!(judge(&[]), Steadiness::TooShort);
    // Nothing divides in the second half: no writes there.
    let sums = (1..=N).map(|i| (i.min(N / 2) as f64, i.min(N / 2) as f64));
    assert_eq!(judge(&[(Role::Figure, Series::of_sums(sums))]), Steadiness::Gaps { series: 0 });
}

#[test]
fn uneven_work_is_weighed_by_what_divides() {
    // One observation of weight 9 and value 1, one of weight 1 and value 11.
    let s = Series::of_sums([(9.0, 9.0), (20.0, 10.0)]);
    assert_eq!(s.mean(0, 2), Some(2.0));
    assert_eq!(s.mean(1, 2), Some(11.0));
    assert_eq!(s.mean(1, 1), None);
}

/// The interval by batch means alone.
fn by_batches(series: &Series) -> Option<Estimate> {
    let batches = Estimate::of(&series.batches(0, BATCHES)?)?;
    Some(Estimate { mean: series.mean(0, series.len())?, ..batches })
}

#[test]
fn interval_covers_the_true_mean_at_its_level() {
    let held = (0..1000)
        .filter(|seed| {
            let s = Series::of_values(&made(*seed, |_| 1.0));
            by_batches(&s).is_some_and(|e| e.holds(100.0))
        })
        .count();
    // 950 expected; the binomial's standard deviation is 6.9.
    assert!((925..=975).contains(&held), "{held} of 1000");
}

/// A series whose later course is told by its seed alone: what follows it must lie in the interval, however the noise is
/// correlated.
#[test]
fn interval_holds_what_follows_nearly_always() {
    for phi in [0.0, 0.5, 0.9] {
        let held = (0..200)
            .filter(|seed| {
                let s = Series::of_values(&correlated(*seed, phi));
                interval(&s, 0).is_some_and(|e| e.holds(100.0))
            })
            .count();
        assert!(held >= 190, "{held} of 200 at {phi}");
    }
}

#[test]
fn interval_holds_every_tenth_of_the_run() {
    let waves = Series::of_values(&made(5, |x| 1.0 + 0.3 * (25.0 * x).sin()));
    let e = interval(&waves, 0).unwrap();
    assert!(waves.batches(0, 10).unwrap().into_iter().all(|tenth| e.holds(tenth)), "{e:?}");
    assert!(e.half_width > by_batches(&waves).unwrap().half_width);
    assert_eq!(interval(&Series::of_values(&[7.0; N]), 0).unwrap().half_width, 0.0);
}
