//! The page of lifetimes, in the style of a run's page.

use crate::page::decision;
use crate::page::parts::{Heading, Page, soft, table};
use crate::pictures::lifetime::lifetime_figures;
use crate::pictures::svg::escape;
use crate::schema::estimate::Estimate;
use crate::schema::lifetime::{Life, Lifetimes, SchemeLife};
use crate::words::lifetime as text;
use crate::words::lifetime::FIGURES;
use crate::words::number::{self, Quantity, Unit};
use crate::words::phrases::Said;
use std::fmt::Write;

/// The page of lifetimes.
pub fn lifetime_html(lifetimes: &Lifetimes) -> String {
    let title = format!("{} to wear-out", lifetimes.device.name);
    let mut page = Page::begin(&title);
    let facts = text::facts(lifetimes).into_iter().map(|(what, value)| (what.to_string(), value)).collect();
    page.open_heading(&Heading { title, lead: text::verdict(lifetimes), facts, ..Heading::default() });
    page.html().push_str("</header>\n<main>\n");
    let figures = lifetime_figures(lifetimes);
    let (first, others) = figures.split_at(1.min(figures.len()));
    let is_shown = decision::write_of_lives(&mut page, lifetimes, first);
    page.contents("Decision");
    page.section("Measures", "measures", "Every measure of every scheme, and why its lifetime runs ended.");
    measures(page.html(), lifetimes);
    let notes: Vec<(&str, Said)> = (text::checks(lifetimes).into_iter())
        .map(|said| (if said.text.contains(" NOT ") { "no" } else { "yes" }, said))
        .collect();
    page.notes("Acceleration", "plain", &notes);
    if others.is_empty() {
        let said = "No drive lasts two whole passes of the workload, so its aging is not plotted.";
        page.push(format_args!("<p class=\"caption\">{said}</p>\n"));
    }
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
    page.html().push_str("</main>\n");
    page.end(&[format!("Wordline {}", escape(&lifetimes.version))])
}

/// The command, and the hash of each lifetime.
fn again(page: &mut Page, lifetimes: &Lifetimes) {
    let row = |s: &SchemeLife, life: &Life| {
        let hash = format!("<code>{}</code>", escape(&life.result_hash));
        vec![soft(&s.scheme.name), life.seed.to_string(), life.acceleration.to_string(), hash]
    };
    let lives = |s: &'_ SchemeLife| -> Vec<_> { s.lives.iter().chain(&s.check).map(|l| row(s, l)).collect() };
    let rows: Vec<_> = lifetimes.schemes.iter().flat_map(lives).collect();
    let head = ["scheme", "seed", "cycles per erase", "result"];
    page.reproduce(
        "The command, and a hash of each lifetime run.",
        &lifetimes.command,
        ("Lifetime runs", &head),
        &rows,
    );
    page.end_section();
}

/// Up to this many schemes are columns: a row per measure then fits a window without scrolling.
const COLUMNS: usize = 4;

/// A table with one row per scheme and one column per measure, or the other way round for few schemes.
fn measures(out: &mut String, lifetimes: &Lifetimes) {
    let columns: Vec<_> = FIGURES
        .iter()
        .map(|(name, quantity, of)| {
            let values: Vec<_> = lifetimes.schemes.iter().map(|s| text::estimate(s, *of)).collect();
            let unit = quantity.unit_for(values.iter().flatten().map(|e| e.mean));
            (name, quantity, unit, values)
        })
        .filter(|(_, _, _, values)| values.iter().flatten().any(|e| e.mean != 0.0))
        .collect();
    let cell = |value: Option<Estimate>, quantity: &Quantity, unit: Unit| match value {
        Some(e) => {
            let (mean, half) = quantity.with_spread(e.mean, e.half_width_95, unit);
            if half.is_empty() { mean } else { format!("{mean} ± {half}") }
        }
        None => number::NONE.to_string(),
    };
    // Writing to a string cannot fail.
    if lifetimes.schemes.len() <= COLUMNS {
        table(out, "byscheme lives", "Measures", |out| {
            out.push_str("<thead><tr><th scope=\"col\">measure</th>");
            for s in &lifetimes.schemes {
                let _ = write!(out, "<th scope=\"col\">{}</th>", soft(&s.scheme.name));
            }
            out.push_str("</tr></thead>\n<tbody>\n");
            for (name, quantity, unit, values) in &columns {
                let sign = match unit.sign {
                    "" => String::new(),
                    sign => format!(" <span class=\"unit\">{sign}</span>"),
                };
                let _ = write!(out, "<tr><th scope=\"row\">{name}{sign}</th>");
                for value in values {
                    let _ = write!(out, "<td>{}</td>", cell(*value, quantity, *unit));
                }
                out.push_str("</tr>\n");
            }
            out.push_str("<tr><th scope=\"row\">ended as</th>");
            for s in &lifetimes.schemes {
                let _ = write!(out, "<td class=\"words\">{}</td>", escape(&text::endings(s)));
            }
            out.push_str("</tr>\n</tbody>\n");
        });
        return;
    }
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
                let _ = write!(out, "<td>{}</td>", cell(values[i], quantity, *unit));
            }
            let _ = writeln!(out, "<td class=\"words\">{}</td></tr>", escape(&text::endings(s)));
        }
        out.push_str("</tbody>\n");
    });
}
