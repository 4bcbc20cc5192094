//! Text about lifetime runs: figures, end conditions, the check of the acceleration, and the verdict.

use crate::schema::estimate::Estimate;
use crate::schema::lifetime::{ACCELERATION_TOLERANCE, Life, Lifetimes, SchemeLife};
use crate::schema::replicas::difference_percent;
use crate::words::names::{device_label, workload_label};
use crate::words::number::{self, DAYS_A_YEAR, Quantity, YEAR_S};
use crate::words::phrases::{self, Said, TOGETHER};
use std::collections::BTreeMap;

/// A figure of a life: name, quantity, value.
pub(crate) type LifeFigure = (&'static str, Quantity, fn(&Life) -> Option<f64>);

/// The figures of a life that are compared.
pub(crate) const FIGURES: [LifeFigure; 12] = [
    ("host writes", Quantity::Bytes, |l| Some(l.total_bytes_written)),
    ("drive writes", Quantity::Waf, |l| Some(l.drive_writes)),
    ("DWPD over 5 years", Quantity::Waf, |l| Some(l.drive_writes_per_day)),
    ("time at this pace", Quantity::Age, |l| Some(l.years * YEAR_S)),
    ("DWPD at this pace", Quantity::Waf, drive_writes_per_day_at_pace),
    ("WAF", Quantity::Waf, |l| l.waf),
    ("write mean", Quantity::Latency, |l| Some(l.write?.mean)),
    ("write p99", Quantity::Latency, |l| Some(l.write?.p99)),
    ("read mean", Quantity::Latency, |l| Some(l.read?.mean)),
    ("read p99", Quantity::Latency, |l| Some(l.read?.p99)),
    ("retries per page read", Quantity::Waf, |l| l.retries),
    ("blocks retired", Quantity::Count, |l| Some(l.retired_blocks as f64)),
];

/// The figures compared between two accelerations.
const CHECKED: [&str; 5] = ["host writes", "WAF", "write mean", "read mean", "retries per page read"];

/// Drive writes a day at the pace of the workload: with [`Life::years`] they give the same drive writes as
/// [`Life::drive_writes_per_day`] does with five years.
fn drive_writes_per_day_at_pace(life: &Life) -> Option<f64> {
    (life.years > 0.0).then(|| life.drive_writes / (life.years * DAYS_A_YEAR))
}

/// Its end condition in a few words.
fn ending(life: &Life) -> String {
    match life.ended_by.split_once(':') {
        _ if life.is_stopped() => format!("stopped at {} wear", Quantity::Share.show(life.life_used)),
        Some(("usable", share)) => format!("usable capacity below {share}"),
        Some(("spare", share)) => format!("{share} of the spare blocks left"),
        _ => match life.ended_by.as_str() {
            "capacity" => "blocks hold less than the capacity".to_string(),
            "uncorrectable" => "uncorrectable host read".to_string(),
            "out-of-space" => "out of space".to_string(),
            other => other.to_string(),
        },
    }
}

/// The distinct end conditions.
pub(crate) fn endings(of_scheme: &SchemeLife) -> String {
    let mut ways: Vec<String> = of_scheme.lives.iter().map(ending).collect();
    ways.sort();
    ways.dedup();
    if ways.is_empty() { "not started".to_string() } else { ways.join("; ") }
}

/// A figure over all lifetime runs: its mean, with an interval if it depends on the seed.
pub(crate) fn estimate(of_scheme: &SchemeLife, of: fn(&Life) -> Option<f64>) -> Option<Estimate> {
    let values: Vec<f64> = of_scheme.lives.iter().map(of).collect::<Option<_>>()?;
    let alike = values.windows(2).all(|w| w[0] == w[1]);
    match Estimate::of(&values) {
        Some(estimate) if !alike => Some(estimate),
        _ => Some(Estimate { mean: *values.first()?, sd: None, half_width_95: None }),
    }
}

/// Relative change of each figure of the first run at half the acceleration.
pub(crate) fn deviations(of_scheme: &SchemeLife) -> BTreeMap<&'static str, f64> {
    let (Some(life), Some(half)) = (of_scheme.lives.first(), &of_scheme.check) else {
        return BTreeMap::new();
    };
    let moves = |(name, _, of): &LifeFigure| {
        let (at, at_half) = (of(life)?, of(half)?);
        // What is next to nothing may double and still be next to nothing.
        (at.abs() > 1e-3).then(|| (*name, at_half / at - 1.0))
    };
    FIGURES.iter().filter(|f| CHECKED.contains(&f.0)).filter_map(moves).collect()
}

/// Whether results at both accelerations agree; `None` where there is but one.
pub fn accelerations_agree(of_scheme: &SchemeLife) -> Option<bool> {
    if of_scheme.lives.first()?.is_stopped() || of_scheme.check.as_ref()?.is_stopped() {
        return None;
    }
    Some(deviations(of_scheme).values().all(|d| d.abs() <= ACCELERATION_TOLERANCE))
}

/// P/E cycles in words: `1 cycle`, `20 cycles`.
pub(crate) fn cycles(count: u64) -> String {
    let unit = if count == 1 { "cycle" } else { "cycles" };
    format!("{} {unit}", number::count(count))
}

/// What was run, as (what, value) pairs.
pub(crate) fn facts(lifetimes: &Lifetimes) -> Vec<(&'static str, String)> {
    let seeds = |s: &SchemeLife| (s.lives.first().map(|l| l.seed), s.lives.last().map(|l| l.seed));
    let seeds = match lifetimes.schemes.first().map(seeds) {
        Some((Some(first), Some(last))) if first != last => format!("{first} to {last}"),
        Some((Some(first), _)) => first.to_string(),
        _ => number::NONE.to_string(),
    };
    let mut facts = vec![
        ("device", device_label(&lifetimes.device)),
        ("capacity", number::bytes(lifetimes.logical_bytes)),
        ("workload", workload_label(&lifetimes.workload)),
        ("one erase counts as", cycles_of(lifetimes)),
        ("ends at", lifetimes.end.clone()),
        (if seeds.contains(" to ") { "seeds" } else { "seed" }, seeds),
    ];
    if lifetimes.shelf_s > 0.0 {
        facts.insert(
            4,
            ("shelf after each phase", format!("{} days", number::significant(lifetimes.shelf_s / 86_400.0))),
        );
    }
    facts
}

/// What one simulated erase counts as: `20 cycles`.
pub(crate) fn cycles_of(lifetimes: &Lifetimes) -> String {
    cycles(lifetimes.acceleration as u64)
}

/// Passes of the workload behind the figures, and how many of them are steady; `None` of lives that an older
/// version lived.
fn settled(lifetimes: &Lifetimes) -> Option<String> {
    let sum = |of: fn(&Life) -> u64| lifetimes.schemes.iter().flat_map(|s| &s.lives).map(of).sum::<u64>();
    let (passes, steady) = (sum(|l| l.passes), sum(|l| l.steady_passes));
    let what = if passes == 1 { "pass" } else { "passes" };
    (passes > 0).then(|| {
        format!("{} of {} {what} of the workload steady", number::count(steady), number::count(passes))
    })
}

/// Why the verdict is unknown: half the acceleration gives another result.
fn doubt(lifetimes: &Lifetimes) -> Option<String> {
    let differ = lifetimes.schemes.iter().filter(|s| accelerations_agree(s) == Some(false));
    let names: Vec<&str> = differ.map(|s| s.scheme.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Lifetime unknown: under {}, half the acceleration changes the result by more than 5 %. \
             Use --acceleration below {}.",
            names.join(", "),
            lifetimes.acceleration
        )
    })
}

/// Results of the check at half the acceleration.
pub(crate) fn checks(lifetimes: &Lifetimes) -> Vec<Said> {
    let said = |(i, s): (usize, &SchemeLife)| {
        let agrees = accelerations_agree(s)?;
        let half = s.check.as_ref()?.acceleration;
        let moves: Vec<String> = deviations(s)
            .into_iter()
            .filter(|(_, d)| agrees || d.abs() > ACCELERATION_TOLERANCE)
            .map(|(name, d)| format!("{name} {:+.1} %", d * 100.0))
            .collect();
        let text = if agrees {
            format!(
                "counting one erase as {half} instead of {} cycles agrees within 5 % ({})",
                lifetimes.acceleration,
                moves.join(", ")
            )
        } else {
            format!(
                "counting one erase as {half} instead of {} cycles does NOT agree within 5 %: {}; use \
                 a smaller --acceleration",
                lifetimes.acceleration,
                moves.join(", ")
            )
        };
        Some((i, text))
    };
    let names: Vec<String> = lifetimes.schemes.iter().map(|s| s.scheme.name.clone()).collect();
    let said = lifetimes.schemes.iter().enumerate().filter_map(said).collect();
    let said = phrases::once(said, &names, TOGETHER);
    // Of a few schemes each is named, also where it is all of them.
    let named = |said: Said| if said.who.is_empty() { Said { who: names.clone(), ..said } } else { said };
    if names.len() < TOGETHER { said.into_iter().map(named).collect() } else { said }
}

/// The verdict in a sentence, with its basis.
pub(crate) fn verdict(lifetimes: &Lifetimes) -> String {
    let answer = doubt(lifetimes).unwrap_or_else(|| longest(lifetimes));
    match settled(lifetimes) {
        Some(settled) => format!("{answer} {settled}."),
        None => answer,
    }
}

/// Whether the runs are complete, and half the acceleration agrees.
pub(crate) fn is_known(lifetimes: &Lifetimes) -> bool {
    !lifetimes.stopped && doubt(lifetimes).is_none()
}

/// Position of the scheme with the longest lifetime, if known and longer than the first's.
pub(crate) fn winner(lifetimes: &Lifetimes) -> Option<usize> {
    let written = |s: &SchemeLife| estimate(s, |l| Some(l.total_bytes_written)).map_or(0.0, |e| e.mean);
    let all = lifetimes.schemes.iter().enumerate();
    let (at, best) = all.max_by(|a, b| written(a.1).total_cmp(&written(b.1)))?;
    (is_known(lifetimes) && at > 0 && lasts_longer(best, &lifetimes.schemes[0])).then_some(at)
}

fn longest(lifetimes: &Lifetimes) -> String {
    let written = |s: &SchemeLife| estimate(s, |l| Some(l.total_bytes_written)).map_or(0.0, |e| e.mean);
    let (Some(base), Some(best)) = (
        lifetimes.schemes.first(),
        lifetimes.schemes.iter().max_by(|a, b| written(a).total_cmp(&written(b))),
    ) else {
        return "Nothing was run.".to_string();
    };
    let takes = |s: &SchemeLife| Quantity::Bytes.show(written(s));
    if lifetimes.stopped {
        return "Stopped before the end: the figures cover the run so far and do not tell which scheme \
                lasts longer."
            .to_string();
    }
    if lifetimes.schemes.len() == 1 {
        return format!("Under {} the drive takes {} until it wears out.", base.scheme.name, takes(base));
    }
    if std::ptr::eq(base, best) || !lasts_longer(best, base) {
        let significantly = if base.lives.len() > 1 { "significantly " } else { "" };
        return format!(
            "No scheme makes the drive last {significantly}longer than {}, under which it takes {}.",
            base.scheme.name,
            takes(base)
        );
    }
    format!(
        "Under {} the drive takes {} until it wears out, {} what it takes under {}.",
        best.scheme.name,
        takes(best),
        number::times(written(best) / written(base)),
        base.scheme.name
    )
}

/// Whether a drive lasts significantly longer under one scheme than under another: over several runs paired by
/// seed, else by more than half a percent.
fn lasts_longer(best: &SchemeLife, base: &SchemeLife) -> bool {
    let written = |s: &SchemeLife| -> Vec<(u64, f64)> {
        s.lives.iter().map(|l| (l.seed, l.total_bytes_written)).collect()
    };
    let (ours, theirs) = (written(best), written(base));
    match difference_percent(&ours, &theirs) {
        Some(Estimate { mean, half_width_95: Some(half), .. }) => mean > half,
        _ => ours.first().zip(theirs.first()).is_some_and(|(a, b)| a.1 > b.1 * 1.005),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::report::SchemeInfo;

    fn life(drive_writes: f64, years: f64) -> Life {
        Life {
            acceleration: 20,
            ended_by: "capacity".to_string(),
            total_bytes_written: drive_writes * 1e9,
            drive_writes,
            drive_writes_per_day: drive_writes / (5.0 * DAYS_A_YEAR),
            years,
            waf: Some(2.0),
            passes: 8,
            steady_passes: 6,
            ..Life::default()
        }
    }

    fn under(name: &str, lives: Vec<Life>, check: Option<Life>) -> SchemeLife {
        SchemeLife { scheme: SchemeInfo { name: name.to_string(), ..SchemeInfo::default() }, lives, check }
    }

    fn lifetimes(schemes: Vec<SchemeLife>) -> Lifetimes {
        Lifetimes { acceleration: 20, schemes, ..Lifetimes::default() }
    }

    /// Five years at the one rate are as many drive writes as the years at the other.
    #[test]
    fn dwpd_figures_give_the_same_drive_writes() {
        let life = life(1095.75, 0.00171);
        let figure = |name| {
            let (_, _, of) = FIGURES.iter().find(|(label, ..)| *label == name).unwrap();
            of(&life).unwrap()
        };
        let years = figure("time at this pace") / YEAR_S;
        let at_pace = figure("DWPD at this pace") * years;
        assert!((at_pace / (figure("DWPD over 5 years") * 5.0) - 1.0).abs() < 1e-12, "{at_pace}");
        assert!((figure("DWPD over 5 years") - 0.6).abs() < 1e-3);
        assert_eq!(drive_writes_per_day_at_pace(&Life::default()), None);
    }

    #[test]
    fn verdict_carries_steady_passes() {
        let both = lifetimes(vec![
            under("a", vec![life(100.0, 1.0)], Some(life(101.0, 1.0))),
            under("b", vec![life(200.0, 2.0)], Some(life(201.0, 2.0))),
        ]);
        assert_eq!(
            verdict(&both).replace(number::NO_BREAK, " "),
            "Under b the drive takes 186 GiB until it wears out, 2.0× what it takes under a. 12 of 16 passes of the \
             workload steady."
        );
    }

    /// What chance may have made is no longer life.
    #[test]
    fn verdict_claims_no_insignificant_difference() {
        let lives = |writes: [f64; 3]| -> Vec<Life> {
            (1..).zip(writes).map(|(seed, w)| Life { seed, ..life(w, 1.0) }).collect()
        };
        let said = |more: [f64; 3]| {
            let schemes = vec![under("a", lives([90.0, 100.0, 110.0]), None), under("b", lives(more), None)];
            verdict(&lifetimes(schemes))
        };
        let overlapping = said([120.0, 80.0, 115.0]);
        assert!(overlapping.starts_with("No scheme makes the drive last significantly longer than a,"));
        let paired = said([100.0, 111.0, 122.0]);
        assert!(paired.starts_with("Under b the drive takes"), "{paired}");
        let alike = lifetimes(vec![
            under("a", vec![life(100.0, 1.0)], None),
            under("b", vec![life(100.2, 1.0)], None),
        ]);
        assert!(verdict(&alike).starts_with("No scheme makes the drive last longer than a,"));
    }

    #[test]
    fn verdict_is_unknown_if_half_acceleration_disagrees() {
        let said = verdict(&lifetimes(vec![
            under("a", vec![life(100.0, 1.0)], Some(life(101.0, 1.0))),
            under("b", vec![life(200.0, 2.0)], Some(life(150.0, 2.0))),
        ]));
        assert!(
            said.starts_with(
                "Lifetime unknown: under b, half the acceleration changes the result by more than 5 %"
            ),
            "{said}"
        );
        assert!(said.contains("Use --acceleration below 20."), "{said}");
    }
}
