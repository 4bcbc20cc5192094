//! The conditions of the runs: alike, or a comparison of them is not fair.

use crate::comparison::Comparison;
use crate::conditions::{conditions, sentence};
use crate::figures::Cast;
use crate::svg::escape;
use std::fmt::Write;

pub(super) fn write(out: &mut String, comparison: &Comparison, cast: &Cast) {
    let conditions = conditions(&comparison.reports);
    if conditions.is_empty() {
        return;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<p class=\"caption\">Conditions, {}.</p>", escape(&sentence(&conditions)));
    out.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Conditions\">\n<table class=\"config conditions\">\n<thead><tr><th scope=\"col\">condition</th>");
    for label in &cast.labels {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(label));
    }
    let several = cast.labels.len() > 1;
    out.push_str(if several {
        "<th scope=\"col\"></th></tr></thead>\n<tbody>\n"
    } else {
        "</tr></thead>\n<tbody>\n"
    });
    for condition in &conditions {
        let differs = condition.differs();
        let _ = write!(
            out,
            "<tr{}><th scope=\"row\">{}</th>",
            if differs { " class=\"differs\"" } else { "" },
            condition.name
        );
        for text in &condition.texts {
            let _ = write!(out, "<td>{}</td>", escape(text));
        }
        if several {
            let _ = write!(out, "<td class=\"note\">{}</td>", if differs { "differs" } else { "" });
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}
