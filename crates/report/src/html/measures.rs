//! The comparison table of the page: the rows of the terminal's table, decimal points in line.

use super::swatch;
use crate::comparison::{Comparison, eligible};
use crate::figures::Cast;
use crate::number;
use crate::rows;
use crate::svg::escape;
use std::fmt::Write;

pub(super) fn write(out: &mut String, comparison: &Comparison, cast: &Cast) {
    let baseline = comparison.baseline_index();
    let eligible = eligible(&comparison.reports);
    out.push_str("<section>\n<h2>Measures</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Measures\">\n");
    out.push_str("<table class=\"measures\">\n<thead><tr><th scope=\"col\" colspan=\"2\"><span class=\"away\">measure and unit</span></th>");
    for (i, label) in cast.labels.iter().enumerate() {
        let _ = write!(out, "<th scope=\"col\" colspan=\"2\">{}{}</th>", swatch(cast, i), escape(label));
    }
    out.push_str("</tr></thead>\n");
    let columns = 2 + 2 * cast.labels.len();
    for group in rows::groups(&comparison.reports) {
        let _ = write!(
            out,
            "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{columns}\">{}</th></tr>\n",
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
            let (texts, best) = (row.texts(), row.best(&eligible));
            for (i, text) in texts.iter().enumerate() {
                let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
                let value = format!("{}<span class=\"rest\">{}</span>", escape(whole), escape(rest));
                if best[i] {
                    let _ = write!(out, "<td class=\"value best\"><b title=\"best of the row\">{value}</b></td>");
                } else {
                    let _ = write!(out, "<td class=\"value\">{value}</td>");
                }
                let ratio = row.ratio(i, baseline).map_or(String::new(), number::ratio);
                let _ = write!(out, "<td class=\"ratio\">{}</td>", escape(&ratio));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n");
    }
    out.push_str("</table>\n</div>\n");
    if cast.labels.len() > 1 {
        let _ = writeln!(
            out,
            "<p class=\"caption\">The best of each row is green and marked; × is against {}. \
             Runs that differ by less than half a per cent are alike.</p>",
            escape(&cast.labels[baseline])
        );
    }
    out.push_str("</section>\n");
}
