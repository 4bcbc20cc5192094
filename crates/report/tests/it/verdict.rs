//! The headline: does it name what decides, and does it rest on steady runs?

use crate::sample;
use wordline_report::verdict_of;
use wordline_report::{Reached, decided};

#[test]
fn headline_names_the_measure_that_decides() {
    assert_eq!(
        verdict_of(&sample::steady(sample::two())),
        "Of 2 schemes, slc-cache has the lowest mean write latency: 2.08 ms against 2.46 ms of conventional (0.85×; \
         p50 0.41×, p99.9 1.19×). slc-cache: read latency mean 1.26×, p50 0.75×, p99.9 1.59×; WAF 2.33 against 1.28 \
         (1.82×). conventional has the lowest p99.9 write latency. 2 of 2 runs steady. Up to 18 % of a run is warm-up; \
         after it the mean is 2.21 ms."
    );
    let of_four = verdict_of(&sample::steady(sample::four()));
    assert!(of_four.starts_with("Of 4 schemes, hierarchy has the lowest mean write latency:"), "{of_four}");
    assert!(verdict_of(&sample::steady(sample::with_failures())).contains("failed requests"));
}

/// The median of another scheme may be lower than that of the one with the lowest mean; the headline says so.
#[test]
fn headline_names_who_leads_at_other_points() {
    let mut c = sample::steady(sample::four());
    c.reports.truncate(3);
    let mut set = |run: usize, mean: f64, p50: f64, p999: f64| {
        let write = c.reports[run].latency_us.write.as_mut().unwrap();
        (write.mean, write.p50, write.p999) = (mean, p50, p999);
    };
    set(0, 40_200.0, 36_900.0, 119_000.0);
    set(1, 10_900.0, 3_870.0, 79_600.0);
    set(2, 9_760.0, 7_220.0, 42_900.0);
    let said = verdict_of(&c);
    assert!(
        said.starts_with(
            "Of 3 schemes, hierarchy has the lowest mean write latency: 9.76 ms against 40.2 ms of conventional \
             (0.24×; p50 0.20×, p99.9 0.36×). "
        ),
        "{said}"
    );
    assert!(said.contains(" slc-cache has the lowest p50 write latency (0.10×)."), "{said}");
    assert!(said.contains(" 3 of 3 runs steady."), "{said}");
}

/// No answer stands over runs that are not steady: it says so, and how to get one.
#[test]
fn headline_of_unsteady_runs_is_not_known() {
    let mut c = sample::steady(sample::two());
    c.reports[1].steady_state.as_mut().unwrap().reached = Reached::TooShort;
    let said = verdict_of(&c);
    assert!(
        said.starts_with(
            "The fastest of 2 schemes is not known: 1 of 2 runs steady. Run longer: wordline compare --device \
             hierarchy-44gb "
        ),
        "{said}"
    );
    assert!(said.contains(" --requests ") && !said.contains('×'), "{said}");
    let alone = |reached| {
        let mut alone = sample::steady(sample::two());
        alone.reports.truncate(1);
        alone.reports[0].steady_state.as_mut().unwrap().reached = reached;
        verdict_of(&alone)
    };
    let said = alone(Reached::Yes);
    assert!(
        said.starts_with("conventional answered 72,175 requests: writes take 2.12 ms at the median"),
        "{said}"
    );
    assert!(said.ends_with(" The run is steady."), "{said}");
    let said = alone(Reached::No);
    assert!(
        said.contains("The run is not steady, so these figures may change with its length. Run longer: "),
        "{said}"
    );
}

/// What chance may have made is no lead: schemes that differ by less than the interval share it.
#[test]
fn headline_calls_no_insignificant_difference_a_lead() {
    let mut c = sample::steady(sample::replicated());
    let replicas = c.reports[0].replicas.clone().unwrap();
    for (i, run) in c.reports[1].replicas.as_mut().unwrap().runs.iter_mut().enumerate() {
        let mean = replicas.runs[i].latency_us.write.unwrap().mean;
        run.latency_us.write.as_mut().unwrap().mean = mean * if i % 2 == 0 { 1.02 } else { 0.97 };
    }
    let said = verdict_of(&c);
    assert!(said.starts_with("Among 2 schemes no difference in mean write latency is significant"), "{said}");
    assert!(said.ends_with("16 of 16 runs steady."), "{said}");
}

/// Nor what the intervals of single runs may have made, here 2.5 % of each mean.
#[test]
fn headline_calls_no_difference_within_intervals_a_lead() {
    let said = |share: f64| {
        let mut c = sample::steady(sample::two());
        let mean = c.reports[0].steady_state.as_ref().unwrap().after.as_ref().unwrap().write_latency_us;
        let mean = mean.unwrap().mean;
        for (report, times) in c.reports.iter_mut().zip([1.0, share]) {
            report.latency_us.write.as_mut().unwrap().mean = mean * times;
        }
        verdict_of(&c)
    };
    let near = said(0.98);
    assert!(
        near.starts_with("Among 2 schemes no difference in mean write latency is significant;"),
        "{near}"
    );
    // Means of the whole run are those without its warm-up.
    assert!(near.ends_with(" 2 of 2 runs steady."), "{near}");
    let far = said(0.94);
    assert!(far.starts_with("Of 2 schemes, slc-cache has the lowest mean write latency:"), "{far}");
    assert!(far.ends_with(" Up to 18 % of a run is warm-up; after it the mean is 2.21 ms."), "{far}");
}

/// Writes that a buffer takes in no time decide nothing: reads do, and the headline says why.
#[test]
fn headline_of_writes_that_take_no_time_is_of_reads() {
    let mut c = sample::steady(sample::two());
    for report in &mut c.reports {
        let write = report.latency_us.write.as_mut().unwrap();
        (write.mean, write.p50, write.p99, write.p999, write.max) = (0.0, 0.0, 0.0, 0.0, 0.0);
    }
    let said = verdict_of(&c);
    assert!(
        said.starts_with(
            "Writes complete in 0 µs under every scheme. Of 2 schemes, conventional has the lowest mean read latency. "
        ),
        "{said}"
    );
    assert!(!said.contains(" slc-cache: read latency"), "{said}");
    let decision = decided(c).decision.unwrap();
    assert_eq!(decision.winner, Some(0));
    assert!(decision.lead.iter().all(|measure| !measure.path.starts_with("latency_us.write")));
}
