//! The head of a comparison: one row per measure that decides, and the trade-off of benefit against cost.

use crate::page::parts::{Page, prose, soft, table};
use crate::pictures::cast::{Cast, Roles, inks};
use crate::pictures::figure::Figure;
use crate::pictures::sections::Section;
use crate::pictures::svg::{escape, px};
use crate::pictures::tradeoff::tradeoff;
use crate::schema::comparison::Comparison;
use crate::schema::lifetime::Lifetimes;
use crate::words::decision::{LIFETIME, Leading, leading_of_lives};
use crate::words::hints::are_few;
use crate::words::labels::{eligible, replicas};
use crate::words::lifetime::is_known;
use crate::words::row::Row;
use crate::words::steadiness::{Settled, short_advice, stands};
use std::fmt::Write;

/// Up to this many best runs are named; more are only counted.
const NAMED: usize = 2;

/// Write the measures, the trade-off, and their certainty.
pub(crate) fn write(page: &mut Page, comparison: &Comparison, cast: &Cast, leading: &Leading) {
    if leading.rows.is_empty() {
        return;
    }
    page.html().push_str("<div id=\"decision\">\n<h2 class=\"away\">Decision</h2>\n<div>\n");
    measures(page.html(), &cast.roles(), leading, &eligible(&comparison.reports));
    let _ = writeln!(
        page.html(),
        "<p class=\"caption\" id=\"certainty\">{}</p>",
        prose(&(certainty(comparison, cast, leading) + extrapolated(comparison, leading)))
    );
    page.html().push_str("</div>\n");
    let beside = match tradeoff(&cast.roles(), leading) {
        Some(figure) => Some(figure),
        None => Section::Latency.figures(cast).into_iter().next(),
    };
    page.figures(beside.as_slice());
    page.html().push_str("</div>\n");
}

/// Write the same for lifetimes. If no two measures differ, the figures `or` take the place of the trade-off.
/// Returns whether they did.
pub(crate) fn write_of_lives(page: &mut Page, lifetimes: &Lifetimes, or: &[Figure]) -> bool {
    let leading = leading_of_lives(lifetimes);
    let labels: Vec<String> = lifetimes.schemes.iter().map(|s| s.scheme.name.clone()).collect();
    let own: Vec<_> = lifetimes.schemes.iter().map(|s| s.scheme.colour.as_deref()).collect();
    let inks = inks(&own, 0, leading.winner);
    let roles =
        Roles { labels: &labels, inks: &inks, baseline: 0, winner: leading.winner, first: "lasts longest" };
    page.html().push_str("<div id=\"decision\">\n<h2 class=\"away\">Decision</h2>\n<div>\n");
    // No value is marked as best if the lifetimes are not known.
    let known = vec![is_known(lifetimes); labels.len()];
    measures(page.html(), &roles, &leading, &known);
    let lives = lifetimes.schemes.iter().map(|s| s.lives.len()).max().unwrap_or(0);
    let said = match lives {
        0 | 1 => "One seed, so no confidence intervals; --replicas 3 gives them.".to_string(),
        n => format!("Means of {n} seeds ± half-width of the 95 % confidence interval (Student's t)."),
    };
    let _ = writeln!(page.html(), "<p class=\"caption\" id=\"certainty\">{}</p>\n</div>", prose(&said));
    let scatter = tradeoff(&roles, &leading);
    page.figures(scatter.as_ref().map_or(or, std::slice::from_ref));
    page.html().push_str("</div>\n");
    scatter.is_none()
}

/// A caveat where a lifetime is computed from the wear of runs that are not steady.
fn extrapolated(comparison: &Comparison, leading: &Leading) -> &'static str {
    if stands(&comparison.reports) || leading.rows.iter().all(|(_, row)| row.path != LIFETIME) {
        return "";
    }
    " Writes until wear-out are extrapolated from runs that are not all steady."
}

/// How certain the decision is, in a sentence or two.
fn certainty(comparison: &Comparison, cast: &Cast, leading: &Leading) -> String {
    let reports = &comparison.reports;
    let settled = Settled::of(reports);
    let settled = if reports.len() == 1 { settled.of_one() } else { settled.words() };
    let within = leading.rows.iter().any(|(_, row)| row.is_uncertain());
    let intervals = match replicas(reports) {
        Some(text) => text,
        None if within => {
            "One seed: values that differ by less than the 95 % confidence intervals within the runs \
                           count as equal; --replicas 5 gives intervals over seeds."
                .to_string()
        }
        None => "One seed, so no confidence intervals; --replicas 5 gives them.".to_string(),
    };
    let against = match cast.labels.len() {
        0 | 1 => String::new(),
        _ => {
            let sign = if replicas(reports).is_some() { "%" } else { "×" };
            format!(" {sign} is against {}.", cast.labels[cast.baseline])
        }
    };
    let longer = match short_advice(reports) {
        Some(text) => format!(" Run longer: {text}"),
        None => String::new(),
    };
    let few = match are_few(reports) && leading.rows.iter().any(|(_, row)| row.path.ends_with(".p999")) {
        true => " With fewer than 1,000 requests of a kind, p99.9 is the slowest of them.",
        false => "",
    };
    format!("{settled}.{longer} {intervals}{against}{few}")
}

fn measures(out: &mut String, roles: &Roles, leading: &Leading, ok: &[bool]) {
    let runs = roles.labels.len();
    let rival = match (runs, roles.winner) {
        (2, _) => Some(1 - roles.baseline),
        (_, winner) => winner.filter(|run| *run != roles.baseline),
    };
    let with_best = runs > 2;
    let shown: Vec<usize> = std::iter::once(roles.baseline).chain(rival).take(runs).collect();
    let spreads =
        leading.rows.iter().any(|(_, row)| row.spread_texts().iter().any(|(_, half)| !half.is_empty()));
    let mut class = if spreads { "deciding spreads" } else { "deciding" }.to_string();
    if with_best && shown.len() > 1 {
        class.push_str(" rivals");
    } else if runs == 1 {
        class.push_str(" alone");
    }
    table(out, &class, "Measures that decide", |out| {
        out.push_str("<thead><tr><th scope=\"col\">measure</th>");
        for run in shown.iter().copied() {
            let role = match run {
                _ if runs == 1 => String::new(),
                run if run == roles.baseline && roles.winner == Some(run) => {
                    format!("<small>baseline, {}</small>", roles.first)
                }
                run if run == roles.baseline => "<small>baseline</small>".to_string(),
                run if roles.winner == Some(run) => format!("<small>{}</small>", roles.first),
                _ => String::new(),
            };
            let class = &roles.inks[run].class;
            let label = soft(&roles.labels[run]);
            let _ = write!(
                out,
                "<th scope=\"col\" class=\"number\"><b class=\"run {class}\">{label}</b>{role}</th>"
            );
        }
        if with_best {
            let _ =
                write!(out, "<th scope=\"col\">best of {runs}</th><th scope=\"col\" class=\"dots\">all</th>");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (name, row) in &leading.rows {
            let marked = row.best(ok);
            let best: Vec<usize> = (0..runs).filter(|run| marked[*run]).collect();
            let names = best.iter().map(|run| roles.labels[*run].as_str()).collect::<Vec<_>>().join(", ");
            let unit = match row.unit().sign {
                "" => String::new(),
                sign => format!(" <span class=\"unit\">{sign}</span>"),
            };
            let _ = write!(
                out,
                "<tr data-measure=\"{}\" data-best=\"{}\"><th scope=\"row\" title=\"{}\">{}{unit}</th>",
                escape(row.path),
                escape(&names),
                escape(row.about()),
                escape(name)
            );
            for run in shown.iter().copied() {
                let _ =
                    write!(out, "<td class=\"number\">{}</td>", cell(row, run, roles.baseline, marked[run]));
            }
            if with_best {
                // Without an eligible run nothing is judged, so that nothing is equal either.
                let best_cell = match ok.contains(&true) {
                    true => who(row, &best, roles, &shown),
                    false => "<span class=\"soft\">not known</span>".to_string(),
                };
                let _ = write!(out, "<td class=\"who\">{best_cell}</td>");
                let _ = write!(out, "<td class=\"dots\">{}</td>", dots(row, roles));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n");
    });
}

/// A value with its interval, and its ratio to the baseline.
fn cell(row: &Row, run: usize, baseline: usize, is_best: bool) -> String {
    let (value, half) = &row.spread_texts()[run];
    let half = if half.is_empty() { String::new() } else { format!("\u{a0}±\u{a0}{}", escape(half)) };
    let value = format!("{}{half}", escape(value));
    let value =
        if is_best { format!("<b class=\"best\" title=\"best\">▸\u{a0}{value}</b>") } else { value };
    match row.against(run, baseline) {
        Some(against) => format!("{value} <span class=\"times\">{}</span>", escape(&against)),
        None => value,
    }
}

/// The best run, with its value if no earlier column shows it.
fn who(row: &Row, best: &[usize], roles: &Roles, shown: &[usize]) -> String {
    let Some(first) = best.first() else {
        let said = if row.is_uncertain() { "not significant" } else { "equal" };
        return format!("<span class=\"soft\">{said}</span>");
    };
    let name = |run: &usize| {
        format!("<b class=\"run {}\">{}</b>", roles.inks[*run].class, soft(&roles.labels[*run]))
    };
    let names = match best.len() {
        n if n > NAMED => format!("{n} of {} equal", roles.labels.len()),
        _ => best.iter().map(name).collect::<Vec<_>>().join(" and "),
    };
    let colon = if best.len() > NAMED { ":" } else { "" };
    match best.iter().any(|run| shown.contains(run)) {
        true => names,
        false => format!("{names}{colon} {}", cell(row, *first, roles.baseline, false)),
    }
}

/// All values on one line: the baseline as a bar, the winner as a large dot, the others as small dots.
fn dots(row: &Row, roles: &Roles) -> String {
    const WIDE: f64 = 84.0;
    let values: Vec<(usize, f64)> =
        row.values.iter().enumerate().filter_map(|(run, v)| Some((run, (*v)?))).collect();
    let least = values.iter().map(|v| v.1).fold(f64::INFINITY, f64::min);
    let most = values.iter().map(|v| v.1).fold(f64::NEG_INFINITY, f64::max);
    let log = least > 0.0 && most / least >= 4.0;
    let to = |v: f64| if log { v.ln() } else { v };
    let room = to(most) - to(least);
    if values.len() < 2 || room <= 0.0 || !room.is_finite() {
        return String::new();
    }
    let mut out = format!(
        "<svg class=\"dotted\" viewBox=\"0 0 {WIDE} 16\" width=\"{WIDE}\" height=\"16\" aria-hidden=\"true\">\
         <path class=\"wire\" d=\"M4 8h76\"/>"
    );
    let mut order = values;
    order.sort_by_key(|(run, _)| (Some(*run) == roles.winner, *run == roles.baseline));
    for (run, value) in order {
        let x = px(6.0 + (to(value) - to(least)) / room * (WIDE - 12.0));
        let class = &roles.inks[run].class;
        let _ = if run == roles.baseline {
            write!(out, "<path class=\"{class}\" d=\"M{x} 2v12\" stroke-width=\"2.5\"/>")
        } else {
            let r = if Some(run) == roles.winner { "4.5" } else { "3" };
            write!(out, "<circle class=\"{class}\" cx=\"{x}\" cy=\"8\" r=\"{r}\"/>")
        };
    }
    out + "</svg>"
}
