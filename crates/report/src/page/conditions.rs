//! The conditions of the runs. A comparison is only fair if they are equal.

use crate::page::parts::{soft, table};
use crate::pictures::cast::Cast;
use crate::pictures::svg::escape;
use crate::schema::comparison::Comparison;
use crate::words::conditions::{conditions, sentence};
use std::fmt::Write;

pub(crate) fn write(out: &mut String, comparison: &Comparison, cast: &Cast) {
    let conditions = conditions(&comparison.reports);
    if conditions.is_empty() {
        return;
    }
    let said = sentence(&conditions, &cast.labels);
    let _ = writeln!(out, "<p class=\"caption\">Conditions, {}.</p>", escape(&said));
    if !conditions.iter().any(|c| c.differs()) {
        return;
    }
    table(out, "config conditions", "Conditions", |out| {
        out.push_str("<thead><tr><th scope=\"col\">scheme</th>");
        for c in &conditions {
            let (class, note) = if c.differs() { (" class=\"differs\"", " (differs)") } else { ("", "") };
            let _ = write!(out, "<th scope=\"col\"{class}>{}{note}</th>", c.name);
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (run, label) in cast.labels.iter().enumerate() {
            let _ = write!(out, "<tr><th scope=\"row\">{}</th>", soft(label));
            for c in &conditions {
                let _ = write!(out, "<td>{}</td>", escape(&c.texts[run]));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n");
    });
}
