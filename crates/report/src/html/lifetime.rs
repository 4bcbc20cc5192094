//! The page of lifetimes: the same sheet as a run's.

use super::Page;
use crate::figures::lifetime_figures;
use crate::lifetime::{FIGURES, Lifetimes};
use crate::number;
use crate::svg::escape;

/// The page of lifetimes.
pub fn lifetime_html(lifetimes: &Lifetimes) -> String {
    let mut page = Page { text: String::with_capacity(256 * 1024) };
    let title = format!("{} to wear-out", lifetimes.device.name);
    page.head(&title);
    page.push(format_args!(
        "<header>\n<p class=\"brand\">{}Wordline</p>\n<h1>{}</h1>\n<p class=\"verdict\">{}</p>\n<dl class=\"facts\">\n",
        super::MARK,
        escape(&title),
        escape(&lifetimes.verdict())
    ));
    for (what, value) in lifetimes.facts() {
        page.push(format_args!("<div><dt>{what}</dt><dd>{}</dd></div>\n", escape(&value)));
    }
    page.text.push_str("</dl>\n</header>\n<main>\n");
    let checks = lifetimes.checks();
    if !checks.is_empty() {
        page.text.push_str("<ul class=\"states\" aria-label=\"Acceleration\">\n");
        let agree = lifetimes.schemes.iter().filter_map(|s| s.agrees());
        for (text, agrees) in checks.iter().zip(agree) {
            let class = if agrees { "yes" } else { "no" };
            page.push(format_args!("<li class=\"{class}\">{}</li>\n", escape(text)));
        }
        page.text.push_str("</ul>\n");
    }
    measures(&mut page, lifetimes);
    let figures = lifetime_figures(lifetimes);
    let (first, others) = figures.split_at(1.min(figures.len()));
    page.text.push_str("<section>\n<h2>How long it lasts</h2>\n");
    page.figures(first);
    page.text.push_str("</section>\n<section>\n<h2>As it ages</h2>\n");
    page.figures(others);
    page.push(format_args!(
        "</section>\n</main>\n<footer>\n<p>Wordline {}</p>\n</footer>\n<script>\n{}</script>\n</body>\n</html>\n",
        escape(&lifetimes.version),
        super::SCRIPT
    ));
    page.text
}

fn measures(page: &mut Page, lifetimes: &Lifetimes) {
    page.text.push_str("<section>\n<h2>Measures</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Measures\">\n<table class=\"measures lives\">\n<thead><tr><th scope=\"col\" colspan=\"2\"><span class=\"away\">measure and unit</span></th>");
    for s in &lifetimes.schemes {
        page.push(format_args!("<th scope=\"col\">{}</th>", escape(&s.scheme.name)));
    }
    page.text.push_str("</tr></thead>\n<tbody>\n");
    for (name, quantity, of) in FIGURES {
        let values: Vec<_> = lifetimes.schemes.iter().map(|s| s.estimate(of)).collect();
        if values.iter().flatten().all(|e| e.mean == 0.0) {
            continue;
        }
        let unit = quantity.unit_for(values.iter().flatten().map(|e| e.mean));
        page.push(format_args!("<tr><th scope=\"row\">{name}</th><td class=\"unit\">{}</td>", unit.sign));
        for value in values {
            let text = match value {
                Some(e) => {
                    let (mean, half) = quantity.with_spread(e.mean, e.half_width_95, unit);
                    if half.is_empty() { mean } else { format!("{mean} ± {half}") }
                }
                None => number::NONE.to_string(),
            };
            page.push(format_args!("<td class=\"value\">{text}</td>"));
        }
        page.text.push_str("</tr>\n");
    }
    page.text.push_str("<tr><th scope=\"row\">ended as</th><td class=\"unit\"></td>");
    for s in &lifetimes.schemes {
        page.push(format_args!("<td class=\"value\">{}</td>", escape(&s.endings())));
    }
    page.text.push_str("</tr>\n</tbody>\n</table></div>\n</section>\n");
}
