//! The measures on the page. A few runs are shown in columns, with aligned decimal points and ratios to the
//! baseline. Many runs are shown in rows with the most important figures, and all measures are folded below.

use crate::page::parts::{named, soft, table};
use crate::pictures::cast::Cast;
use crate::pictures::svg::{escape, px};
use crate::schema::comparison::Comparison;
use crate::words::figures::figure::Better;
use crate::words::labels::{eligible, replicas};
use crate::words::phrases::all_of;
use crate::words::row::{Group, Row};
use crate::words::rows;
use std::fmt::Write;

/// Maximum number of runs for which there is room to show ratios as bars.
const LEVERS: usize = 3;

pub(crate) fn write(out: &mut String, comparison: &Comparison, cast: &Cast) {
    let all = rows::groups(&comparison.reports);
    let (groups, said) = telling(all.clone());
    let several = cast.labels.len() > 1;
    if several {
        by_scheme(out, comparison, cast, &groups);
        caption(out, comparison, cast);
        caption_of(out, &said);
        let _ =
            writeln!(out, "<details>\n<summary>All measures of {} runs</summary>", all_of(cast.labels.len()));
    }
    beside(out, comparison, cast, &groups);
    if several {
        out.push_str("</details>\n");
    } else {
        caption(out, comparison, cast);
        caption_of(out, &said);
    }
    explained(out, &all);
}

fn caption_of(out: &mut String, said: &[String]) {
    if !said.is_empty() {
        let _ = writeln!(out, "<p class=\"caption\">{}</p>", escape(&said.join(" ")));
    }
}

/// The rows in which runs differ, and sentences about the others: zero in every run, or equal in all.
fn telling(mut groups: Vec<Group>) -> (Vec<Group>, Vec<String>) {
    let (mut zero, mut same) = (vec![], vec![]);
    for group in &mut groups {
        let heading = group.title.to_lowercase();
        let labels: Vec<String> = group.rows.iter().map(|row| row.label.clone()).collect();
        let mut of = String::new();
        group.rows.retain(|row| {
            // Of several parts of one label, each is named by the row that it is a part of.
            let is_one_of_many = labels.iter().filter(|label| **label == row.label).count() > 1;
            let name = match row.is_part() && is_one_of_many {
                true => format!("{heading} {of} {}", row.label),
                false => format!("{heading} {}", row.label),
            };
            if !row.is_part() {
                of.clone_from(&row.label);
            }
            let runs = row.values.len();
            if !row.any() && !row.leaves_any_out() {
                zero.push(name);
            } else if runs > 1 && row.values.iter().all(Option::is_some) && row.is_alike() {
                let sign = row.unit().sign;
                let unit = if sign.is_empty() { String::new() } else { format!(" {sign}") };
                same.push(format!("{name} {}{unit}", row.spread_texts()[0].0));
            } else {
                return true;
            }
            false
        });
    }
    groups.retain(|group| !group.rows.is_empty());
    let mut said = vec![];
    if !same.is_empty() {
        said.push(format!("The same in all runs: {}.", same.join(", ")));
    }
    if !zero.is_empty() {
        said.push(format!("Zero in every run: {}.", zero.join(", ")));
    }
    (groups, said)
}

/// Which schemes the device does not admit, and which have failed, and why.
pub(crate) fn without_report(out: &mut String, comparison: &Comparison) {
    let refused = comparison.refused.iter().map(|r| (&r.scheme, &r.reason));
    reasons(out, "Not supported on this device:", refused.collect());
    let failed = comparison.failed.iter().map(|f| (&f.scheme, &f.reason));
    reasons(out, "Failed, and not compared:", failed.collect());
}

fn reasons(out: &mut String, title: &str, found: Vec<(&String, &String)>) {
    if found.is_empty() {
        return;
    }
    let _ = writeln!(out, "<p class=\"caption\">{title}</p>\n<dl class=\"refused\">");
    for (scheme, reason) in found {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", soft(scheme), escape(reason));
    }
    out.push_str("</dl>\n");
}

/// The definition of each figure, once: folded on a screen, where a hover note also shows it, and open in
/// print.
fn explained(out: &mut String, groups: &[Group]) {
    out.push_str("<details class=\"explained\">\n<summary>What these figures are</summary>\n<dl>\n");
    for group in groups {
        let mut seen = vec![];
        for figure in group.rows.iter().filter_map(|row| row.figure) {
            if !seen.contains(&figure.about) {
                seen.push(figure.about);
                let (name, about) = (escape(&figure.under(group.title)), escape(figure.about));
                let _ = writeln!(out, "<dt>{name}</dt><dd>{about}</dd>");
            }
        }
    }
    out.push_str("</dl>\n</details>\n");
}

fn caption(out: &mut String, comparison: &Comparison, cast: &Cast) {
    let explained = replicas(&comparison.reports);
    // The head of the page says what ± means.
    if cast.labels.len() > 1 {
        let _ = writeln!(
            out,
            "<p class=\"caption\">The best of each measure is green and marked; {} is against {}. \
             Differences below 0.5 %{} are not marked.</p>",
            if explained.is_some() { "%" } else { "×" },
            escape(&cast.labels[comparison.baseline_index()]),
            if explained.is_some() { ", or within the confidence interval," } else { "" }
        );
    }
}

/// A table with one column per run and one row per measure.
fn beside(out: &mut String, comparison: &Comparison, cast: &Cast, groups: &[Group]) {
    let baseline = comparison.baseline_index();
    let eligible = eligible(&comparison.reports);
    let with_spread = replicas(&comparison.reports).is_some();
    let columns = 1 + 2 * cast.labels.len();
    table(out, "measures", "Measures", |out| {
        out.push_str("<thead><tr><th scope=\"col\"><span class=\"away\">measure and unit</span></th>");
        for i in 0..cast.labels.len() {
            let _ = write!(out, "<th scope=\"col\" colspan=\"2\">{}</th>", named(cast, i));
        }
        out.push_str("</tr></thead>\n");
        for group in groups {
            let _ = writeln!(
                out,
                "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{columns}\">{}</th></tr>",
                group.title
            );
            for row in &group.rows {
                let class = if row.is_part() { " class=\"part\"" } else { "" };
                let about = escape(row.about());
                let _ = write!(out, "<tr{class}><th scope=\"row\" title=\"{about}\">{}</th>", labelled(row));
                let (texts, best) = (row.spread_texts(), row.best(&eligible));
                for (i, (text, spread)) in texts.iter().enumerate() {
                    let value = value(text, spread, with_spread);
                    let (class, value) = match best[i] {
                        true => (" best", format!("<b title=\"best of the row\">{value}</b>")),
                        false => ("", value),
                    };
                    let against = row.against(i, baseline).unwrap_or_default();
                    let ratio = row.ratio(i, baseline).filter(|_| texts.len() <= LEVERS);
                    let lever = ratio.map_or(String::new(), |r| lever(r, row.better));
                    let _ = write!(
                        out,
                        "<td class=\"value{class}\">{value}</td><td class=\"ratio\">{}{lever}</td>",
                        escape(&against)
                    );
                }
                out.push_str("</tr>\n");
            }
            out.push_str("</tbody>\n");
        }
    });
}

/// The name of a measure, with the unit of its row.
fn labelled(row: &Row) -> String {
    match row.unit().sign {
        "" => escape(&row.label),
        sign => format!("{} <span class=\"unit\">{sign}</span>", escape(&row.label)),
    }
}

fn value(text: &str, spread: &str, with_spread: bool) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let spread = match spread {
        "" if with_spread => "<span class=\"spread\"></span>".to_string(),
        "" => String::new(),
        half => format!("<span class=\"spread\">± {}</span>", escape(half)),
    };
    format!("{}<span class=\"rest\">{}</span>{spread}", escape(whole), escape(rest))
}

/// The most important figures when there are many schemes, by the first parts of their groups' paths.
const KEY: [&[&str]; 5] = [
    &["latency_us.write.mean", "latency_us.write.p99", "latency_us.write.p999"],
    &["latency_us.read.mean", "latency_us.read.p99", "latency_us.read.p999"],
    &["throughput.iops"],
    &["waf.total"],
    &["host.failed"],
];

/// A table with one row per run and one column per measure.
fn by_scheme(out: &mut String, comparison: &Comparison, cast: &Cast, groups: &[Group]) {
    let baseline = comparison.baseline_index();
    let eligible = eligible(&comparison.reports);
    let shown: Vec<(&str, Vec<&Row>)> = KEY
        .iter()
        .filter_map(|paths| {
            let group = groups.iter().find(|g| paths.iter().any(|path| g.rows.iter().any(|r| r.is(path))))?;
            let rows = paths.iter().filter_map(|path| group.rows.iter().find(|r| r.is(path)));
            Some((group.title, rows.collect()))
        })
        .collect();
    table(out, "byscheme", "Measures by scheme", |out| {
        out.push_str("<thead><tr class=\"over\"><td></td>");
        for (title, rows) in &shown {
            let _ = match rows.len() {
                1 => write!(out, "<td></td>"),
                n => write!(out, "<th scope=\"colgroup\" colspan=\"{n}\">{title}</th>"),
            };
        }
        out.push_str("</tr>\n<tr><th scope=\"col\">scheme</th>");
        for row in shown.iter().flat_map(|(_, rows)| firsts(rows)) {
            let (first, row) = row;
            let unit = Some(row.unit().sign).filter(|s| !s.is_empty()).unwrap_or("\u{a0}");
            let label = escape(&row.label);
            let about = escape(row.about());
            let _ = write!(
                out,
                "<th scope=\"col\"{first} title=\"{about}\">{label}<span class=\"unit\">{unit}</span></th>"
            );
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for run in 0..cast.labels.len() {
            let class = if run == baseline { " class=\"baseline\"" } else { "" };
            let _ = write!(out, "<tr{class}><th scope=\"row\">{}</th>", named(cast, run));
            for (first, row) in shown.iter().flat_map(|(_, rows)| firsts(rows)) {
                let (text, spread) = &row.spread_texts()[run];
                let text = escape(text);
                let text =
                    if row.best(&eligible)[run] { format!("<b title=\"best\">▸ {text}</b>") } else { text };
                let _ = write!(out, "<td{first}>{text}");
                if !spread.is_empty() {
                    let _ = write!(out, " <span class=\"half\">±\u{a0}{}</span>", escape(spread));
                }
                if row.better != Better::Neither {
                    // Its interval is among all measures, below.
                    let against = row.against(run, baseline).unwrap_or_default();
                    let against = against.split(" ±").next().unwrap_or_default();
                    let _ = write!(out, "<span class=\"times\">{}</span>", escape(against));
                }
                out.push_str("</td>");
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n");
    });
}

/// The rows of a group. The first row is separated from the group before.
fn firsts<'a>(rows: &'a [&'a Row]) -> impl Iterator<Item = (&'static str, &'a Row)> {
    rows.iter().enumerate().map(|(i, row)| (if i == 0 { " class=\"first\"" } else { "" }, *row))
}

/// A ratio as a small bar, from 1× in the middle to 4× in either direction. The better side is green.
fn lever(ratio: f64, better: Better) -> String {
    let reach = (ratio.max(1e-3).log2() / 2.0).clamp(-1.0, 1.0) * 30.0;
    if reach.abs() < 0.3 {
        return "<svg class=\"lever\" viewBox=\"-32 0 64 10\" width=\"64\" height=\"10\" aria-hidden=\"true\">\
                <path d=\"M0 0v10\"/></svg>"
            .to_string();
    }
    let good = (reach < 0.0) == (better == Better::Lower);
    format!(
        "<svg class=\"lever\" viewBox=\"-32 0 64 10\" width=\"64\" height=\"10\" aria-hidden=\"true\">\
         <rect class=\"{}\" x=\"{}\" y=\"2\" width=\"{}\" height=\"6\" rx=\"1\"/><path d=\"M0 0v10\"/></svg>",
        if good { "good" } else { "bad" },
        px(reach.min(0.0)),
        px(reach.abs())
    )
}
