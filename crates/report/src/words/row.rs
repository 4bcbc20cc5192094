//! A row of a comparison: one measure of every run, its better direction, and the best values.

use crate::schema::estimate::Estimate;
use crate::schema::overload::{all_overloaded, overloaded_among};
use crate::schema::replicas;
use crate::schema::report::Report;
use crate::schema::steady::AfterWarmUp;
use crate::words::figures::figure::{Better, Figure};
use crate::words::number::{self, Quantity, Unit};
use std::borrow::Borrow;

/// What a table has in place of the latency of an overloaded run.
const OVERLOADED: &str = "overloaded";

/// One measure of every run.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub label: String,
    pub quantity: Quantity,
    pub better: Better,
    /// The value of each run, the mean over its replicas if any.
    pub values: Vec<Option<f64>>,
    /// The value of each replica of each run, with its seed.
    samples: Vec<Vec<(u64, f64)>>,
    /// How far the value of each steady run without replicas may be from the mean of a longer one, as a share of it.
    drifts: Vec<Option<f64>>,
    /// Runs whose value is left out since they are overloaded, and others are not.
    overloaded: Vec<bool>,
    /// Its JSON path; empty for a row made for a sentence.
    pub path: &'static str,
    /// Its figure; none for a row made for a sentence.
    pub figure: Option<&'static Figure>,
    /// The unit of the sum to which it belongs.
    pub sum_unit: Option<Unit>,
}

/// Rows under one heading.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub title: &'static str,
    pub rows: Vec<Row>,
}

impl Row {
    pub(crate) fn new(
        label: &str,
        quantity: Quantity,
        better: Better,
        reports: &[impl Borrow<Report>],
        value: impl Fn(&Report) -> Option<f64>,
    ) -> Row {
        // Under overload a latency says how long the run was: none is better than another.
        let is_latency = quantity == Quantity::Latency;
        let better = if is_latency && all_overloaded(reports) { Better::Neither } else { better };
        let overloaded = if is_latency { overloaded_among(reports) } else { vec![false; reports.len()] };
        let compared = || reports.iter().map(Borrow::borrow).zip(&overloaded);
        let mean = |r| replicas::mean(r, &value).filter(|v| v.is_finite());
        let values = compared().map(|(r, out)| if *out { None } else { mean(r) }).collect();
        let samples = |r| replicas::samples(r, &value);
        let samples = compared().map(|(r, out)| if *out { vec![] } else { samples(r) }).collect();
        Row { overloaded, ..Row::with(label, (quantity, better), values, samples) }
    }

    fn with(
        label: &str,
        (quantity, better): (Quantity, Better),
        values: Vec<Option<f64>>,
        samples: Vec<Vec<(u64, f64)>>,
    ) -> Row {
        let label = label.to_string();
        // A sum of nothing is −0, which no table should say.
        let values = values.into_iter().map(|v| v.map(|v| v + 0.0)).collect();
        let (overloaded, drifts) = (vec![false; samples.len()], vec![None; samples.len()]);
        let (path, figure, sum_unit) = ("", None, None);
        Row { label, quantity, better, values, samples, drifts, overloaded, path, figure, sum_unit }
    }

    /// The row of samples over seeds, or of one seed.
    pub(crate) fn of_samples(
        path: &'static str,
        label: &str,
        kind: (Quantity, Better),
        samples: Vec<Vec<(u64, f64)>>,
    ) -> Row {
        let mean = |of: &Vec<(u64, f64)>| {
            let sum: f64 = of.iter().map(|(_, value)| value).sum();
            (!of.is_empty()).then(|| sum / of.len() as f64).filter(|mean| mean.is_finite())
        };
        let values = samples.iter().map(mean).collect();
        Row::with(label, kind, values, samples).at_path(path)
    }

    /// The same row, for the value at a path.
    pub(crate) fn at_path(self, path: &'static str) -> Row {
        Row { path, ..self }
    }

    /// The row of a figure, with a name if it has several.
    pub(crate) fn of(
        figure: &'static Figure,
        name: &str,
        reports: &[Report],
        value: impl Fn(&Report) -> Option<f64>,
    ) -> Row {
        let row = Row::new(&figure.label_of(name), figure.quantity, figure.better, reports, value);
        Row { figure: Some(figure), ..row.at_path(figure.path).within(figure.path, reports) }
    }

    /// The same row with the intervals of steady runs for the figure at a path.
    pub(crate) fn within(self, path: &str, reports: &[impl Borrow<Report>]) -> Row {
        let drift = |r: &Report| r.replicas.is_none().then(|| drift(r.after_warm_up()?, path))?;
        Row { drifts: reports.iter().map(Borrow::borrow).map(drift).collect(), ..self }
    }

    /// Whether it shows the figure at a path of the report.
    pub(crate) fn is(&self, path: &str) -> bool {
        self.figure.is_some_and(|figure| figure.path == path)
    }

    /// Its name outside of its group: `write p99` for a latency, else its label.
    pub(crate) fn name(&self, heading: &str) -> String {
        match heading.strip_suffix(" latency") {
            Some(kind) => format!("{} {}", kind.to_lowercase(), self.label),
            None => self.label.clone(),
        }
    }

    /// Whether it is a part of the row above.
    pub(crate) fn is_part(&self) -> bool {
        self.figure.is_some_and(|figure| figure.is_part)
    }

    /// One sentence that explains it; empty for a row made for a sentence.
    pub(crate) fn about(&self) -> &'static str {
        self.figure.map_or("", |figure| figure.about)
    }

    pub(crate) fn any(&self) -> bool {
        self.values.iter().any(|v| v.is_some_and(|v| v != 0.0))
    }

    /// Whether the values of overloaded runs are left out.
    pub(crate) fn leaves_any_out(&self) -> bool {
        self.overloaded.contains(&true)
    }

    /// Whether every run has the same printed value.
    pub(crate) fn is_alike(&self) -> bool {
        self.spread_texts().windows(2).all(|two| two[0] == two[1])
    }

    /// The unit of the whole row.
    pub(crate) fn unit(&self) -> Unit {
        self.sum_unit.unwrap_or_else(|| self.quantity.unit_for(self.values.iter().flatten().copied()))
    }

    /// The values in the row's unit, each with the half-width of its interval, empty if there is none.
    pub(crate) fn spread_texts(&self) -> Vec<(String, String)> {
        let unit = self.unit();
        let text = |(run, value): (usize, &Option<f64>)| match value {
            Some(v) => self.quantity.with_spread(*v, self.half_width(run), unit),
            None if self.overloaded[run] => (OVERLOADED.to_string(), String::new()),
            None => (number::NONE.to_string(), String::new()),
        };
        let mut texts: Vec<(String, String)> = self.values.iter().enumerate().map(text).collect();
        if self.quantity == Quantity::Waf {
            self.align_decimals(&mut texts);
        }
        texts
    }

    /// Gives ratios without an interval the decimals of those with one: 0.948 and not 0.95 beside 0.951 ± 0.003.
    fn align_decimals(&self, texts: &mut [(String, String)]) {
        let decimals = |text: &str| text.split_once('.').map_or(0, |(_, part)| part.len());
        let of_spread = texts.iter().filter(|(_, half)| !half.is_empty());
        let Some(most) = of_spread.map(|(value, _)| decimals(value)).max() else { return };
        for ((text, half), value) in texts.iter_mut().zip(&self.values) {
            if let Some(value) = value.filter(|v| half.is_empty() && *v < 9.995 && decimals(text) < most) {
                *text = format!("{value:.most$}");
            }
        }
    }

    /// Half-width of the interval of a run's mean.
    pub(crate) fn half_width(&self, run: usize) -> Option<f64> {
        let values: Vec<f64> = self.samples.get(run)?.iter().map(|(_, v)| *v).collect();
        Estimate::of(&values)?.half_width_95
    }

    /// Whether chance may have made the differences between runs: the replicas of a run differ, or a run alone has an
    /// interval.
    pub(crate) fn is_uncertain(&self) -> bool {
        let runs = 0..self.values.len();
        runs.into_iter().any(|run| self.drifts[run].or(self.half_width(run)).is_some_and(|half| half > 0.0))
    }

    /// Whether chance may have made the difference of two runs: over seeds, or by the intervals of single runs.
    fn is_chance(&self, a: usize, b: usize) -> bool {
        if let Some(d) = self.difference(a, b) {
            return d.half_width_95.is_some_and(|half| d.mean.abs() <= half);
        }
        let half = |run: usize| Some(self.values[run]? * self.drifts[run]?);
        let apart = self.values[a].zip(self.values[b]).map(|(a, b)| (a - b).abs());
        apart.zip(half(a).zip(half(b))).is_some_and(|(apart, (a, b))| apart <= a.hypot(b))
    }

    /// Difference of a run with replicas from another in percent, paired by seed.
    pub(crate) fn difference(&self, run: usize, baseline: usize) -> Option<Estimate> {
        if run == baseline || self.better == Better::Neither {
            return None;
        }
        replicas::difference_percent(self.samples.get(run)?, self.samples.get(baseline)?)
    }

    /// The value of a run against the baseline as text: the difference with its interval if there are
    /// replicas, else the ratio.
    pub(crate) fn against(&self, run: usize, baseline: usize) -> Option<String> {
        match self.difference(run, baseline) {
            Some(d) => Some(number::change(d.mean, d.half_width_95)),
            None => self.ratio(run, baseline).map(number::ratio),
        }
    }

    /// The best printed values among the eligible runs. None if all are alike.
    pub(crate) fn best(&self, eligible: &[bool]) -> Vec<bool> {
        let none = vec![false; self.values.len()];
        let sign = match self.better {
            Better::Neither => return none,
            Better::Lower => 1.0,
            Better::Higher => -1.0,
        };
        // What differs by less than half a percent is a tie, and what chance may have made.
        let near = |a: f64, b: f64| (a - b).abs() <= 0.005 * a.abs().max(b.abs());
        let runs = || (0..self.values.len()).filter(|i| eligible.get(*i) == Some(&true));
        let best =
            runs().filter_map(|i| Some((i, self.values[i]? * sign))).min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((first, best)) = best else { return none };
        // Where there is nothing to compare with, nothing is best.
        if runs().filter(|i| self.values[*i].is_some()).count() < 2 {
            return none;
        }
        let mut marks = none.clone();
        for i in runs() {
            marks[i] = self.values[i].is_some_and(|v| near(v * sign, best) || self.is_chance(i, first));
        }
        if runs().all(|i| marks[i] || self.overloaded[i]) { none } else { marks }
    }

    /// A value over the baseline's.
    pub(crate) fn ratio(&self, run: usize, baseline: usize) -> Option<f64> {
        if run == baseline || self.better == Better::Neither {
            return None;
        }
        let ratio = self.values.get(run).copied()?? / self.values.get(baseline).copied()??;
        ratio.is_finite().then_some(ratio)
    }
}

/// Half-width of the interval of a figure of a steady run, as a share of its mean. That of a mean latency stands for the
/// percentiles, of which none is known better, and those of the rates for requests per second.
fn drift(after: &AfterWarmUp, path: &str) -> Option<f64> {
    let rates = [after.write_mb_per_s, after.read_mb_per_s];
    let of: &[Option<Estimate>] = match path.split('.').collect::<Vec<_>>().as_slice() {
        ["latency_us", "write", _] => &[after.write_latency_us],
        ["latency_us", "read", _] => &[after.read_latency_us],
        ["throughput", "write_mb_per_s"] => &rates[..1],
        ["throughput", "read_mb_per_s"] => &rates[1..],
        ["throughput", "iops"] => &rates,
        ["waf", "total" | "per_host_byte" | "without_pad"] => &[after.waf],
        _ => &[],
    };
    let shares = of.iter().flatten().filter_map(|e| Some(e.half_width_95? / e.mean));
    shares.filter(|share| share.is_finite()).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::steady::SteadyState;

    /// Seeds of one command once named one winner or the other, at a difference of 1.4 % and intervals of 4 and 6 %.
    #[test]
    fn difference_within_intervals_of_runs_is_chance() {
        let run = |mean: f64, half: Option<f64>| {
            let e =
                Some(Estimate { mean: 1.3 * mean, sd: None, half_width_95: half.map(|h| 1.3 * mean * h) });
            let after = AfterWarmUp { write_latency_us: e, write_mb_per_s: e, waf: e, ..Default::default() };
            let steady_state = Some(SteadyState { after: Some(after), ..SteadyState::default() });
            Report { simulated_s: mean, steady_state, ..Report::default() }
        };
        let best = |runs: &[Report], path: &str| {
            let row = Row::new("", Quantity::Latency, Better::Lower, runs, |r| Some(r.simulated_s));
            row.within(path, runs).best(&[true, true, true])
        };
        let [a, b, c] = [run(1.40, Some(0.04)), run(1.42, Some(0.06)), run(1.56, Some(0.05))];
        for path in ["latency_us.write.mean", "latency_us.write.p50", "throughput.iops", "waf.total"] {
            assert_eq!(best(&[a.clone(), b.clone(), c.clone()], path), [true, true, false], "{path}");
        }
        assert_eq!(best(&[a.clone(), b.clone()], "latency_us.write.mean"), [false, false]);
        // A figure without an interval, and a run without one, differ as they did.
        assert_eq!(best(&[a.clone(), b.clone(), c.clone()], "latency_us.read.mean"), [true, false, false]);
        assert_eq!(best(&[run(1.40, None), b, c], "latency_us.write.mean"), [true, false, false]);
    }

    /// A ratio that is the same under every seed once had fewer decimals than its neighbors.
    #[test]
    fn ratios_of_a_row_have_equal_decimals() {
        let of = |values: [f64; 3]| values.iter().zip(1..).map(|(v, seed)| (seed, *v)).collect::<Vec<_>>();
        let samples = vec![of([0.948; 3]), of([0.951, 0.952, 0.9525]), of([12.3; 3])];
        let row = Row::of_samples("", "WAF", (Quantity::Waf, Better::Lower), samples);
        let texts: Vec<String> = row.spread_texts().into_iter().map(|(value, _)| value).collect();
        assert_eq!(texts, ["0.948", "0.952", "12.3"]);
    }
}
