//! The page of lifetimes, in the style of a run's page.

use crate::page::decision;
use crate::page::parts::{Heading, Page, soft, table};
use crate::pictures::lifetime::lifetime_figures;
use crate::pictures::svg::escape;
use crate::schema::lifetime::Lifetimes;
use crate::words::command::shell_lines;
use crate::words::lifetime::FIGURES;
use crate::words::number;
use crate::words::phrases::Said;
use std::fmt::Write;

/// The page of lifetimes.
pub fn lifetime_html(lifetimes: &Lifetimes) -> String {
    let title = format!("{} to wear-out", lifetimes.device.name);
    let mut page = Page::begin(&title);
    let facts = lifetimes.facts().into_iter().map(|(what, value)| (what.to_string(), value)).collect();
    page.open_heading(&Heading { title, lead: lifetimes.verdict(), facts, ..Heading::default() });
    page.text.push_str("</header>\n<main>\n");
    let notes: Vec<(&str, Said)> = (lifetimes.checks().into_iter())
        .map(|said| (if said.text.contains(" NOT ") { "no" } else { "yes" }, said))
        .collect();
    page.notes("Acceleration", "plain", &notes);
    let figures = lifetime_figures(lifetimes);
    let (first, others) = figures.split_at(1.min(figures.len()));
    let is_shown = decision::write_of_lives(&mut page, lifetimes, first);
    page.contents("Decision");
    page.section("Measures", "measures", "Every measure of every scheme, and how its lives ended.");
    measures(&mut page.text, lifetimes);
    if !is_shown {
        page.figures(first);
    }
    page.end_section();
    if !others.is_empty() {
        page.section(
            "Aging",
            "aging",
            "Latency, retries, write amplification and capacity over what is written.",
        );
        page.figures(others);
        page.end_section();
    }
    again(&mut page, lifetimes);
    page.text.push_str("</main>\n");
    page.end(&[format!("Wordline {}", escape(&lifetimes.version))])
}

/// The command, and the hash of each lifetime.
fn again(page: &mut Page, lifetimes: &Lifetimes) {
    page.section("Reproduce", "reproduce", "The command, and a hash of each life.");
    if !lifetimes.command.is_empty() {
        page.made_again(&shell_lines(&lifetimes.command, 100).join("\n"));
    }
    table(&mut page.text, "config hashes", "Lives", |out| {
        out.push_str("<thead><tr>");
        for head in ["scheme", "seed", "cycles per erase", "result"] {
            let _ = write!(out, "<th scope=\"col\">{head}</th>");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for s in &lifetimes.schemes {
            for life in s.lives.iter().chain(&s.check) {
                let (name, hash) = (soft(&s.scheme.name), escape(&life.result_hash));
                let _ = writeln!(
                    out,
                    "<tr><th scope=\"row\">{name}</th><td>{}</td><td>{}</td><td><code>{hash}</code></td></tr>",
                    life.seed, life.acceleration
                );
            }
        }
        out.push_str("</tbody>\n");
    });
    page.end_section();
}

/// A table with one row per scheme and one column per measure.
fn measures(out: &mut String, lifetimes: &Lifetimes) {
    let columns: Vec<_> = FIGURES
        .iter()
        .map(|(name, quantity, of)| {
            let values: Vec<_> = lifetimes.schemes.iter().map(|s| s.estimate(*of)).collect();
            let unit = quantity.unit_for(values.iter().flatten().map(|e| e.mean));
            (name, quantity, unit, values)
        })
        .filter(|(_, _, _, values)| values.iter().flatten().any(|e| e.mean != 0.0))
        .collect();
    // Writing to a string cannot fail.
    table(out, "byscheme", "Measures", |out| {
        out.push_str("<thead><tr><th scope=\"col\">scheme</th>");
        for (name, _, unit, _) in &columns {
            let sign = if unit.sign.is_empty() { "\u{a0}" } else { unit.sign };
            let _ = write!(out, "<th scope=\"col\">{name}<span class=\"unit\">{sign}</span></th>");
        }
        out.push_str("<th scope=\"col\">ended as</th></tr></thead>\n<tbody>\n");
        for (i, s) in lifetimes.schemes.iter().enumerate() {
            let _ = write!(out, "<tr><th scope=\"row\">{}</th>", soft(&s.scheme.name));
            for (_, quantity, unit, values) in &columns {
                let text = match values[i] {
                    Some(e) => {
                        let (mean, half) = quantity.with_spread(e.mean, e.half_width_95, *unit);
                        if half.is_empty() { mean } else { format!("{mean} ± {half}") }
                    }
                    None => number::NONE.to_string(),
                };
                let _ = write!(out, "<td>{text}</td>");
            }
            let _ = writeln!(out, "<td class=\"words\">{}</td></tr>", escape(&s.endings()));
        }
        out.push_str("</tbody>\n");
    });
}
