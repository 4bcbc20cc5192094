//! The comparison table of the page: the rows of the terminal's table, decimal points in line.

use super::swatch;
use crate::comparison::{Comparison, eligible, replicas};
use crate::figures::Cast;
use crate::rows::{self, Better};
use crate::svg::{escape, px};
use std::fmt::Write;

pub(super) fn write(out: &mut String, comparison: &Comparison, cast: &Cast) {
    let baseline = comparison.baseline_index();
    let eligible = eligible(&comparison.reports);
    out.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Measures\">\n");
    out.push_str("<table class=\"measures\">\n<thead><tr><th scope=\"col\" colspan=\"2\"><span class=\"away\">measure and unit</span></th>");
    for (i, label) in cast.labels.iter().enumerate() {
        let _ = write!(
            out,
            "<th scope=\"col\" colspan=\"2\" title=\"{1}\">{0}{1}</th>",
            swatch(cast, i),
            escape(label)
        );
    }
    out.push_str("</tr></thead>\n");
    let columns = 2 + 2 * cast.labels.len();
    let explained = replicas(&comparison.reports);
    let with_spread = explained.is_some();
    for group in rows::groups(&comparison.reports) {
        let _ = writeln!(
            out,
            "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{columns}\">{}</th></tr>",
            group.title
        );
        for row in &group.rows {
            let class = if row.part { " class=\"part\"" } else { "" };
            let _ = write!(
                out,
                "<tr{class}><th scope=\"row\">{}</th><td class=\"unit\">{}</td>",
                escape(&row.label),
                row.unit().sign
            );
            let (texts, best) = (row.spread_texts(), row.best(&eligible));
            for (i, (text, spread)) in texts.iter().enumerate() {
                let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
                let spread = match spread.as_str() {
                    "" if with_spread => "<span class=\"spread\"></span>".to_string(),
                    "" => String::new(),
                    half => format!("<span class=\"spread\">± {}</span>", escape(half)),
                };
                let value = format!("{}<span class=\"rest\">{}</span>{spread}", escape(whole), escape(rest));
                if best[i] {
                    let _ =
                        write!(out, "<td class=\"value best\"><b title=\"best of the row\">{value}</b></td>");
                } else {
                    let _ = write!(out, "<td class=\"value\">{value}</td>");
                }
                let ratio = row.ratio(i, baseline);
                let room = texts.len() <= 3;
                let text = row.against(i, baseline).unwrap_or_default();
                let lever = ratio.filter(|_| room).map_or(String::new(), |r| lever(r, row.better));
                let _ = write!(out, "<td class=\"ratio\">{}{lever}</td>", escape(&text));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n");
    }
    out.push_str("</table>\n</div>\n");
    if cast.labels.len() > 1 {
        let _ = writeln!(
            out,
            "<p class=\"caption\">The best of each row is green and marked; {} is against {}. \
             Runs that differ by less than half a per cent{} are alike.</p>",
            if with_spread { "%" } else { "×" },
            escape(&cast.labels[baseline]),
            if with_spread { ", or by less than the interval of their difference," } else { "" }
        );
    }
    if let Some(text) = explained {
        let _ = writeln!(out, "<p class=\"caption\">{}</p>", escape(&text));
    }
    if !comparison.refused.is_empty() {
        out.push_str("<p class=\"caption\">Not on this device:</p>\n<dl class=\"refused\">\n");
        for refused in &comparison.refused {
            let (scheme, reason) = (escape(&refused.scheme), escape(&refused.reason));
            let _ = writeln!(out, "<dt>{scheme}</dt><dd>{reason}</dd>");
        }
        out.push_str("</dl>\n");
    }
}

/// A ratio as a small bar from 1× in the middle to 4× either way, the better side in green.
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
