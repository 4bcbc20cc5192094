//! The head of a comparison: the measures that decide, a row each, and beside them what is gained against its cost.

use crate::page::parts::{Page, soft, table};
use crate::pictures::cast::Cast;
use crate::pictures::sections::Section;
use crate::pictures::svg::{escape, px};
use crate::pictures::tradeoff::tradeoff;
use crate::schema::comparison::Comparison;
use crate::words::decision::Leading;
use crate::words::labels::{eligible, replicas};
use crate::words::row::Row;
use crate::words::settled::{Settled, short_advice};
use std::fmt::Write;

/// More of the best than these are counted, not named.
const NAMED: usize = 2;

/// Measures, trade-off, and how sure they are.
pub(crate) fn write(page: &mut Page, comparison: &Comparison, cast: &Cast, leading: &Leading) {
    if leading.rows.is_empty() {
        return;
    }
    page.text.push_str("<div id=\"decision\">\n<h2 class=\"away\">Decision</h2>\n<div>\n");
    measures(&mut page.text, comparison, cast, leading);
    let _ = writeln!(
        page.text,
        "<p class=\"caption\" id=\"certainty\">{}</p>",
        escape(&certainty(comparison, cast))
    );
    page.text.push_str("</div>\n");
    let beside = match tradeoff(cast, leading) {
        Some(figure) => Some(figure),
        None => Section::Latency.figures(cast).into_iter().next(),
    };
    page.figures(beside.as_slice());
    page.text.push_str("</div>\n");
}

/// How much may be believed of it, in a sentence or two.
fn certainty(comparison: &Comparison, cast: &Cast) -> String {
    let reports = &comparison.reports;
    let settled = Settled::of(reports).words();
    let intervals = match replicas(reports) {
        Some(text) => text,
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
        Some(text) => format!(" Run longer {text}"),
        None => String::new(),
    };
    format!("{settled}.{longer} {intervals}{against}")
}

fn measures(out: &mut String, comparison: &Comparison, cast: &Cast, leading: &Leading) {
    let runs = cast.labels.len();
    let ok = eligible(&comparison.reports);
    let rival = match (runs, cast.winner) {
        (2, _) => Some(1 - cast.baseline),
        (_, winner) => winner.filter(|run| *run != cast.baseline),
    };
    let with_best = runs > 2;
    let shown: Vec<usize> = std::iter::once(cast.baseline).chain(rival).take(runs).collect();
    let spreads =
        leading.rows.iter().any(|(_, row)| row.spread_texts().iter().any(|(_, half)| !half.is_empty()));
    let class = if spreads { "deciding spreads" } else { "deciding" };
    table(out, class, "Measures that decide", |out| {
        out.push_str("<thead><tr><th scope=\"col\">measure</th>");
        for run in shown.iter().copied() {
            let role = match run {
                _ if runs == 1 => "",
                run if run == cast.baseline && cast.winner == Some(run) => "<small>baseline, fastest</small>",
                run if run == cast.baseline => "<small>baseline</small>",
                run if cast.winner == Some(run) => "<small>fastest</small>",
                _ => "",
            };
            let class = &cast.inks[run].class;
            let label = soft(&cast.labels[run]);
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
            let marked = row.best(&ok);
            let best: Vec<usize> = (0..runs).filter(|run| marked[*run]).collect();
            let path = row.figure.map_or("lifetime.total_bytes_written", |figure| figure.path);
            let names = best.iter().map(|run| cast.labels[*run].as_str()).collect::<Vec<_>>().join(", ");
            let unit = match row.unit().sign {
                "" => String::new(),
                sign => format!(" <span class=\"unit\">{sign}</span>"),
            };
            let _ = write!(
                out,
                "<tr data-measure=\"{}\" data-best=\"{}\"><th scope=\"row\" title=\"{}\">{}{unit}</th>",
                escape(path),
                escape(&names),
                escape(row.about()),
                escape(name)
            );
            for run in shown.iter().copied() {
                let _ =
                    write!(out, "<td class=\"number\">{}</td>", cell(row, run, cast.baseline, marked[run]));
            }
            if with_best {
                let _ = write!(out, "<td class=\"who\">{}</td>", who(row, &best, cast, &shown));
                let _ = write!(out, "<td class=\"dots\">{}</td>", dots(row, cast));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n");
    });
}

/// A value with its interval, and how it stands against the baseline's.
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

/// Who is best; with the value where no column before has it.
fn who(row: &Row, best: &[usize], cast: &Cast, shown: &[usize]) -> String {
    let Some(first) = best.first() else { return "<span class=\"soft\">alike</span>".to_string() };
    let name =
        |run: &usize| format!("<b class=\"run {}\">{}</b>", cast.inks[*run].class, soft(&cast.labels[*run]));
    let names = match best.len() {
        n if n > NAMED => format!("{n} of {} alike", cast.labels.len()),
        _ => best.iter().map(name).collect::<Vec<_>>().join(" and "),
    };
    match best.iter().any(|run| shown.contains(run)) {
        true => names,
        false => format!("{names} {}", cell(row, *first, cast.baseline, false)),
    }
}

/// All values on one line: the baseline a bar, the winner a large dot, the others small ones.
fn dots(row: &Row, cast: &Cast) -> String {
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
    order.sort_by_key(|(run, _)| (Some(*run) == cast.winner, *run == cast.baseline));
    for (run, value) in order {
        let x = px(6.0 + (to(value) - to(least)) / room * (WIDE - 12.0));
        let class = &cast.inks[run].class;
        let _ = if run == cast.baseline {
            write!(out, "<path class=\"{class}\" d=\"M{x} 2v12\" stroke-width=\"2.5\"/>")
        } else {
            let r = if Some(run) == cast.winner { "4.5" } else { "3" };
            write!(out, "<circle class=\"{class}\" cx=\"{x}\" cy=\"8\" r=\"{r}\"/>")
        };
    }
    out + "</svg>"
}
