//! Text about steady state: whether runs are steady, since when, or why not.

use crate::schema::estimate::Estimate;
use crate::schema::overload::overload;
use crate::schema::report::Report;
use crate::schema::steady::{Reached, SteadyFrom, SteadyState};
use crate::words::number::{self, Quantity};
use crate::words::phrases::{self, Said, TOGETHER};

/// A sentence about the steady state of the reports, with the runs concerned.
pub(crate) fn sentences(reports: &[Report], labels: &[String]) -> Vec<Said> {
    let said = reports.iter().enumerate().filter_map(|(run, r)| Some((run, sentence(r)?)));
    phrases::once(said.collect(), labels, TOGETHER)
}

/// One sentence about the steady state of a report with its repeats; `None` if it was not judged.
pub(crate) fn sentence(report: &Report) -> Option<String> {
    let runs: Vec<&Report> = match &report.replicas {
        Some(r) if !r.are_identical() => r.runs.iter().collect(),
        _ => vec![report],
    };
    let states: Option<Vec<&SteadyState>> = runs.iter().map(|r| r.steady_state.as_ref()).collect();
    let states = states?;
    let count = states.len();
    // The worst verdict stands for all.
    let worst = [Reached::No, Reached::TooShort];
    let worst = worst.iter().find_map(|w| states.iter().position(|s| s.reached == *w));
    if let Some(at) = worst {
        let same = states.iter().filter(|s| s.reached == states[at].reached).count();
        let who = if count > 1 {
            let some = if same == count { phrases::all_of(count) } else { format!("{same} of {count}") };
            format!(" in {some} replicas (seed {}", runs[at].seed)
        } else {
            String::new()
        };
        let end = if count > 1 { ")" } else { "" };
        let why = &states[at].why;
        // A longer run of an overloaded drive only has a longer queue.
        let remedy = if overload(report).is_some() { "the drive is overloaded" } else { "run longer" };
        return Some(match states[at].reached {
            Reached::No => unbroken(&format!("not steady{who}: {why}{end}; {remedy}.")),
            _ => unbroken(&format!("too short to tell{who}: {why}{end}.")),
        });
    }
    let of = |value: &dyn Fn(&SteadyFrom) -> f64| {
        let values: Vec<f64> = states.iter().filter_map(|s| s.from.as_ref()).map(value).collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    let (time_s, share) = (of(&|f| f.time_s), of(&|f| f.share));
    let mut text = if time_s == 0.0 && share == 0.0 {
        "steady from the start".to_string()
    } else {
        format!("steady from {} ({:.0} % of the requests)", Quantity::Time.show(time_s), share * 100.0)
    };
    if count > 1 {
        text.push_str(&format!(" in {} replicas", phrases::all_of(count)));
    }
    let waf = |r: &Report| r.after_warm_up().and_then(|a| a.waf);
    let known = if count > 1 {
        let means: Option<Vec<f64>> = runs.iter().map(|r| waf(r).map(|w| w.mean)).collect();
        means.and_then(|m| Estimate::of(&m))
    } else {
        waf(report)
    };
    if let Some(e) = known {
        let unit = Quantity::Waf.unit_for(std::iter::once(e.mean));
        let (value, half) = Quantity::Waf.with_spread(e.mean, e.half_width_95, unit);
        let half = if half.is_empty() { String::new() } else { format!(" ± {half}") };
        text.push_str(&format!("; WAF after it {value}{half}"));
    }
    text.push('.');
    Some(unbroken(&text))
}

/// Without a line break between a number and its unit.
fn unbroken(text: &str) -> String {
    text.replace(" %", &format!("{}%", number::NO_BREAK))
        .replace(" ± ", &format!("{0}±{0}", number::NO_BREAK))
}
