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
    ("DWPD at this pace", Quantity::Waf, Life::drive_writes_per_day_at_pace),
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

impl Life {
    /// Drive writes a day at the pace of the workload: with [`Life::years`] they give the same drive writes as
    /// [`Life::drive_writes_per_day`] does with five years.
    fn drive_writes_per_day_at_pace(&self) -> Option<f64> {
        (self.years > 0.0).then(|| self.drive_writes / (self.years * DAYS_A_YEAR))
    }

    /// Its end condition in a few words.
    fn ending(&self) -> String {
        match self.ended_by.split_once(':') {
            _ if self.is_stopped() => format!("stopped at {} wear", Quantity::Share.show(self.life_used)),
            Some(("usable", share)) => format!("usable capacity below {share}"),
            Some(("spare", share)) => format!("{share} of the spare blocks left"),
            _ => match self.ended_by.as_str() {
                "capacity" => "blocks hold less than the capacity".to_string(),
                "uncorrectable" => "uncorrectable host read".to_string(),
                "out-of-space" => "out of space".to_string(),
                other => other.to_string(),
            },
        }
    }
}

impl SchemeLife {
    /// The distinct end conditions.
    pub(crate) fn endings(&self) -> String {
        let mut ways: Vec<String> = self.lives.iter().map(Life::ending).collect();
        ways.sort();
        ways.dedup();
        if ways.is_empty() { "not started".to_string() } else { ways.join("; ") }
    }

    /// A figure over all lifetime runs: its mean, with an interval if it depends on the seed.
    pub(crate) fn estimate(&self, of: fn(&Life) -> Option<f64>) -> Option<Estimate> {
        let values: Vec<f64> = self.lives.iter().map(of).collect::<Option<_>>()?;
        let alike = values.windows(2).all(|w| w[0] == w[1]);
        match Estimate::of(&values) {
            Some(estimate) if !alike => Some(estimate),
            _ => Some(Estimate { mean: *values.first()?, sd: None, half_width_95: None }),
        }
    }

    /// Relative change of each figure of the first run at half the acceleration.
    pub fn deviations(&self) -> BTreeMap<&'static str, f64> {
        let (Some(life), Some(half)) = (self.lives.first(), &self.check) else { return BTreeMap::new() };
        let moves = |(name, _, of): &LifeFigure| {
            let (at, at_half) = (of(life)?, of(half)?);
            // What is next to nothing may double and still be next to nothing.
            (at.abs() > 1e-3).then(|| (*name, at_half / at - 1.0))
        };
        FIGURES.iter().filter(|f| CHECKED.contains(&f.0)).filter_map(moves).collect()
    }

    /// Whether results at both accelerations agree; `None` where there is but one.
    pub fn agrees(&self) -> Option<bool> {
        if self.lives.first()?.is_stopped() || self.check.as_ref()?.is_stopped() {
            return None;
        }
        Some(self.deviations().values().all(|d| d.abs() <= ACCELERATION_TOLERANCE))
    }
}

/// P/E cycles in words: `1 cycle`, `20 cycles`.
pub(crate) fn cycles(count: u64) -> String {
    let unit = if count == 1 { "cycle" } else { "cycles" };
    format!("{} {unit}", number::count(count))
}

impl Lifetimes {
    /// What was run, as (what, value) pairs.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let seeds = |s: &SchemeLife| (s.lives.first().map(|l| l.seed), s.lives.last().map(|l| l.seed));
        let seeds = match self.schemes.first().map(seeds) {
            Some((Some(first), Some(last))) if first != last => format!("{first} to {last}"),
            Some((Some(first), _)) => first.to_string(),
            _ => number::NONE.to_string(),
        };
        let mut facts = vec![
            ("device", device_label(&self.device)),
            ("capacity", number::bytes(self.logical_bytes)),
            ("workload", workload_label(&self.workload)),
            ("one erase counts as", self.cycles()),
            ("ends at", self.end.clone()),
            (if seeds.contains(" to ") { "seeds" } else { "seed" }, seeds),
        ];
        if self.shelf_s > 0.0 {
            facts.insert(
                4,
                ("shelf after each phase", format!("{} days", number::significant(self.shelf_s / 86_400.0))),
            );
        }
        facts
    }

    /// What one simulated erase counts as: `20 cycles`.
    pub(crate) fn cycles(&self) -> String {
        cycles(self.acceleration as u64)
    }

    /// Passes of the workload behind the figures, and how many of them are steady; `None` of lives that an older
    /// version lived.
    fn settled(&self) -> Option<String> {
        let sum = |of: fn(&Life) -> u64| self.schemes.iter().flat_map(|s| &s.lives).map(of).sum::<u64>();
        let (passes, steady) = (sum(|l| l.passes), sum(|l| l.steady_passes));
        let what = if passes == 1 { "pass" } else { "passes" };
        (passes > 0).then(|| {
            format!("{} of {} {what} of the workload steady", number::count(steady), number::count(passes))
        })
    }

    /// Why the verdict is unknown: half the acceleration gives another result.
    fn doubt(&self) -> Option<String> {
        let differ = self.schemes.iter().filter(|s| s.agrees() == Some(false));
        let names: Vec<&str> = differ.map(|s| s.scheme.name.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "Lifetime unknown: under {}, half the acceleration changes the result by more than 5 %. \
                 Use --acceleration below {}.",
                names.join(", "),
                self.acceleration
            )
        })
    }

    /// Results of the check at half the acceleration.
    pub(crate) fn checks(&self) -> Vec<Said> {
        let said = |(i, s): (usize, &SchemeLife)| {
            let agrees = s.agrees()?;
            let half = s.check.as_ref()?.acceleration;
            let moves: Vec<String> = s
                .deviations()
                .into_iter()
                .filter(|(_, d)| agrees || d.abs() > ACCELERATION_TOLERANCE)
                .map(|(name, d)| format!("{name} {:+.1} %", d * 100.0))
                .collect();
            let text = if agrees {
                format!(
                    "counting one erase as {half} instead of {} cycles agrees within 5 % ({})",
                    self.acceleration,
                    moves.join(", ")
                )
            } else {
                format!(
                    "counting one erase as {half} instead of {} cycles does NOT agree within 5 %: {}; use \
                     a smaller --acceleration",
                    self.acceleration,
                    moves.join(", ")
                )
            };
            Some((i, text))
        };
        let names: Vec<String> = self.schemes.iter().map(|s| s.scheme.name.clone()).collect();
        let said = self.schemes.iter().enumerate().filter_map(said).collect();
        let said = phrases::once(said, &names, TOGETHER);
        // Of a few schemes each is named, also where it is all of them.
        let named = |said: Said| if said.who.is_empty() { Said { who: names.clone(), ..said } } else { said };
        if names.len() < TOGETHER { said.into_iter().map(named).collect() } else { said }
    }

    /// The verdict in a sentence, with its basis.
    pub(crate) fn verdict(&self) -> String {
        let answer = self.doubt().unwrap_or_else(|| self.longest());
        match self.settled() {
            Some(settled) => format!("{answer} {settled}."),
            None => answer,
        }
    }

    /// Whether the runs are complete, and half the acceleration agrees.
    pub(crate) fn is_known(&self) -> bool {
        !self.stopped && self.doubt().is_none()
    }

    /// Position of the scheme with the longest lifetime, if known and longer than the first's.
    pub(crate) fn winner(&self) -> Option<usize> {
        let written = |s: &SchemeLife| s.estimate(|l| Some(l.total_bytes_written)).map_or(0.0, |e| e.mean);
        let all = self.schemes.iter().enumerate();
        let (at, best) = all.max_by(|a, b| written(a.1).total_cmp(&written(b.1)))?;
        (self.is_known() && at > 0 && lasts_longer(best, &self.schemes[0])).then_some(at)
    }

    fn longest(&self) -> String {
        let written = |s: &SchemeLife| s.estimate(|l| Some(l.total_bytes_written)).map_or(0.0, |e| e.mean);
        let (Some(base), Some(best)) =
            (self.schemes.first(), self.schemes.iter().max_by(|a, b| written(a).total_cmp(&written(b))))
        else {
            return "Nothing was run.".to_string();
        };
        let takes = |s: &SchemeLife| Quantity::Bytes.show(written(s));
        if self.stopped {
            return "Stopped before the end: the figures cover the run so far and do not tell which scheme \
                    lasts longer."
                .to_string();
        }
        if self.schemes.len() == 1 {
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
        assert_eq!(Life::default().drive_writes_per_day_at_pace(), None);
    }

    #[test]
    fn verdict_carries_steady_passes() {
        let both = lifetimes(vec![
            under("a", vec![life(100.0, 1.0)], Some(life(101.0, 1.0))),
            under("b", vec![life(200.0, 2.0)], Some(life(201.0, 2.0))),
        ]);
        assert_eq!(
            both.verdict().replace(number::NO_BREAK, " "),
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
            lifetimes(vec![under("a", lives([90.0, 100.0, 110.0]), None), under("b", lives(more), None)])
                .verdict()
        };
        let overlapping = said([120.0, 80.0, 115.0]);
        assert!(overlapping.starts_with("No scheme makes the drive last significantly longer than a,"));
        let paired = said([100.0, 111.0, 122.0]);
        assert!(paired.starts_with("Under b the drive takes"), "{paired}");
        let alike = lifetimes(vec![
            under("a", vec![life(100.0, 1.0)], None),
            under("b", vec![life(100.2, 1.0)], None),
        ]);
        assert!(alike.verdict().starts_with("No scheme makes the drive last longer than a,"));
    }

    #[test]
    fn verdict_is_unknown_if_half_acceleration_disagrees() {
        let said = lifetimes(vec![
            under("a", vec![life(100.0, 1.0)], Some(life(101.0, 1.0))),
            under("b", vec![life(200.0, 2.0)], Some(life(150.0, 2.0))),
        ])
        .verdict();
        assert!(
            said.starts_with(
                "Lifetime unknown: under b, half the acceleration changes the result by more than 5 %"
            ),
            "{said}"
        );
        assert!(said.contains("Use --acceleration below 20."), "{said}");
    }
}
