//! The page: one file that needs nothing else, neither network nor script, to be read. The
//! pictures are in it as they were drawn; the script adds what only a browser can (a crosshair with
//! values, downloads), and the style gives it a dark side, a narrow one and a printed one. Every
//! text from a report is escaped, and a content policy forbids all requests.

mod conditions;
mod config;
mod jobs;
mod lifetime;
mod measures;
mod trace;

use crate::comparison::{Comparison, hints, replicas};
use crate::figures::{Cast, Figure, Section};
use crate::number;
use crate::report::Report;
use crate::rows;
use crate::steady::{self, Reached};
use crate::svg::escape;
pub use lifetime::lifetime_html;
use std::fmt::Write;
pub use trace::trace_html;

const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");

/// `docs/not-modelled.md`, for every report.
pub const NOT_MODELLED: &str = include_str!("../../../../docs/not-modelled.md");

/// Points of one curve in a page of one or two runs; more runs share as many, so that the page
/// stays small. The figures as files have them all.
const POINTS: usize = 256;

/// The page of a comparison, or of one run.
pub fn html(comparison: &Comparison) -> String {
    let runs = comparison.reports.len();
    let cast = Cast::new(comparison, (2 * POINTS / runs.max(1)).clamp(40, POINTS));
    let mut page = Page { text: String::with_capacity(256 * 1024) };
    let title = title(comparison, &cast);
    page.head(&title);
    page.header(comparison, &cast, &title);
    page.text.push_str("<main>\n");
    page.states(comparison, &cast);
    page.hints(comparison);
    // A narrow table leaves room for the latencies beside it; one with intervals is not narrow.
    let beside = runs <= 2 && replicas(&comparison.reports).is_none();
    if runs > 0 {
        page.text.push_str("<section>\n<h2>Measures</h2>\n<div class=\"lead\">\n<div>\n");
        measures::write(&mut page.text, comparison, &cast);
        page.text.push_str("</div>\n");
        if beside {
            page.figures(&Section::Latency.figures(&cast));
        }
        page.text.push_str("</div>\n");
        conditions::write(&mut page.text, comparison, &cast);
        page.text.push_str("</section>\n");
    }
    for section in Section::ALL {
        let figures = section.figures(&cast);
        if figures.is_empty() || (beside && section == Section::Latency) {
            continue;
        }
        page.push(format_args!("<section>\n<h2>{}</h2>\n", section.title()));
        page.figures(&figures);
        page.text.push_str("</section>\n");
    }
    jobs::write(&mut page.text, comparison, &cast);
    config::write(&mut page.text, comparison, &cast);
    page.not_modelled();
    page.text.push_str("</main>\n");
    page.footer(comparison, &cast);
    page.text
}

fn title(comparison: &Comparison, cast: &Cast) -> String {
    let labels = &cast.labels;
    let device = comparison.reports.first().map_or(String::new(), |r| rows::device_label(&r.device));
    match labels.len() {
        0 => "Nothing to compare".to_string(),
        1 => format!("{} on {device}", labels[0]),
        2 => {
            let base = comparison.baseline_index();
            format!("{} against {}", labels[1 - base], labels[base])
        }
        n => format!("{n} schemes on {device}"),
    }
}

struct Page {
    text: String,
}

impl Page {
    fn push(&mut self, args: std::fmt::Arguments) {
        let _ = self.text.write_fmt(args);
    }

    fn head(&mut self, title: &str) {
        self.push(format_args!(
            concat!(
                "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ",
                "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n",
                "<meta name=\"color-scheme\" content=\"light dark\">\n",
                "<link rel=\"icon\" href=\"data:,\">\n",
                "<title>{} · Wordline</title>\n<style>\n{}</style>\n</head>\n<body>\n"
            ),
            escape(title),
            STYLE
        ));
    }

    fn header(&mut self, comparison: &Comparison, cast: &Cast, title: &str) {
        self.push(format_args!(
            "<header>\n<p class=\"brand\">{MARK}Wordline</p>\n<h1>{}</h1>\n",
            escape(title)
        ));
        self.push(format_args!("<p class=\"verdict\">{}</p>\n", escape(&comparison.verdict())));
        let facts = rows::facts(&comparison.reports);
        if !facts.is_empty() {
            self.text.push_str("<dl class=\"facts\">\n");
            for (what, value) in facts {
                self.push(format_args!("<div><dt>{what}</dt><dd>{}</dd></div>\n", escape(&value)));
            }
            self.text.push_str("<div><dt>read with care</dt><dd><a href=\"#not-modelled\">what is not modelled</a></dd></div>\n</dl>\n");
        }
        if cast.labels.len() > 1 {
            self.text.push_str("<ul class=\"cast\">\n");
            for (i, label) in cast.labels.iter().enumerate() {
                let role = if i == comparison.baseline_index() { "<small>baseline</small>" } else { "" };
                self.push(format_args!(
                    "<li>{}<b>{}</b>{role}<span>{}</span></li>\n",
                    swatch(cast, i),
                    escape(label),
                    escape(&comparison.reports[i].scheme.title)
                ));
            }
            self.text.push_str("</ul>\n");
        }
        self.text.push_str("</header>\n");
    }

    /// Whether each run has settled.
    fn states(&mut self, comparison: &Comparison, cast: &Cast) {
        let mut said: Vec<(&str, String)> = Vec::new();
        for (report, label) in comparison.reports.iter().zip(&cast.labels) {
            let Some(text) = steady::sentence(report) else { continue };
            let class = match report.steady_state.as_ref().map(|s| s.reached) {
                _ if text.starts_with("not") => "no",
                Some(Reached::Yes) if text.starts_with("steady") => "yes",
                _ => "short",
            };
            let who = if comparison.reports.len() > 1 {
                format!("<b>{}</b> is ", escape(label))
            } else {
                "The run is ".to_string()
            };
            said.push((class, format!("{who}{}", escape(&text))));
        }
        for text in crate::begun::sentences(&comparison.reports, &cast.labels) {
            said.push(("short", format!("The drive was {}", escape(&text))));
        }
        for text in crate::twins::sentences(&comparison.reports, &cast.labels) {
            said.push(("short", format!("On the twin, {}", escape(&text))));
        }
        if said.is_empty() {
            return;
        }
        self.text.push_str("<ul class=\"states\" aria-label=\"Steady state\">\n");
        for (class, text) in said {
            self.push(format_args!("<li class=\"{class}\">{text}</li>\n"));
        }
        self.text.push_str("</ul>\n");
    }

    fn hints(&mut self, comparison: &Comparison) {
        let hints = hints(&comparison.reports);
        if hints.is_empty() {
            return;
        }
        self.text.push_str("<aside class=\"hints\" aria-label=\"Hints\">\n<ul>\n");
        for hint in hints {
            self.push(format_args!("<li>{}</li>\n", escape(&hint)));
        }
        self.text.push_str("</ul>\n</aside>\n");
    }

    fn figures(&mut self, figures: &[Figure]) {
        if figures.is_empty() {
            return;
        }
        self.text.push_str("<div class=\"figures\">\n");
        for figure in figures {
            self.figure(figure);
        }
        self.text.push_str("</div>\n");
    }

    fn figure(&mut self, f: &Figure) {
        self.push(format_args!(
            concat!(
                "<figure id=\"{name}\">\n<figcaption><h3>{title}</h3>",
                "<span class=\"get\"><button type=\"button\" data-get=\"svg\">SVG</button>",
                "<button type=\"button\" data-get=\"csv\">CSV</button></span></figcaption>\n",
                "<div class=\"plot\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">{svg}</div>\n",
                "<p class=\"caption\">{caption}</p>\n<pre class=\"csv\" hidden>\n{csv}</pre>\n</figure>\n"
            ),
            name = f.name,
            title = escape(&f.title),
            svg = f.svg,
            caption = escape(&f.caption),
            csv = escape(&f.csv),
        ));
    }

    /// The page of what is not modelled, folded.
    fn not_modelled(&mut self) {
        self.text.push_str("<section id=\"not-modelled\">\n<h2>What is not modelled</h2>\n<details>\n");
        self.text.push_str(
            "<summary>What a real drive does and this one does not</summary>\n<div class=\"prose\">\n",
        );
        pulldown_cmark::html::push_html(&mut self.text, pulldown_cmark::Parser::new(NOT_MODELLED));
        self.text.push_str("</div>\n</details>\n</section>\n");
    }

    fn footer(&mut self, comparison: &Comparison, cast: &Cast) {
        self.text.push_str("<footer>\n<p><a href=\"#not-modelled\">What is not modelled</a></p>\n");
        for (r, label) in comparison.reports.iter().zip(&cast.labels) {
            self.push(format_args!(
                "<p>{}: {}, Wordline {}, {} requests/s simulated</p>\n",
                escape(label),
                results(r),
                escape(&r.version),
                escape(&number::Quantity::Iops.show(r.speed.requests_per_s)),
            ));
        }
        self.push(format_args!("</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
    }
}

/// Seed and hash of a run, or of each of its replicas.
fn results(report: &Report) -> String {
    let one = |r: &Report| format!("seed {}, result <code>{}</code>", r.seed, escape(&r.result_hash));
    match &report.replicas {
        Some(replicas) => replicas.runs.iter().map(one).collect::<Vec<_>>().join("; "),
        None => one(report),
    }
}

/// A row of cells on their line.
const MARK: &str = concat!(
    "<svg viewBox=\"0 0 44 14\" width=\"44\" height=\"14\" aria-hidden=\"true\">",
    "<path class=\"wire\" d=\"M0 7h44\" stroke=\"#9aa3ad\" stroke-width=\"1.5\"/>",
    "<rect x=\"2\" y=\"2\" width=\"8\" height=\"10\" rx=\"2\" fill=\"#0072B2\"/>",
    "<rect x=\"13\" y=\"2\" width=\"8\" height=\"10\" rx=\"2\" fill=\"#009E73\"/>",
    "<rect x=\"24\" y=\"2\" width=\"8\" height=\"10\" rx=\"2\" fill=\"#E69F00\"/>",
    "<rect x=\"35\" y=\"2\" width=\"8\" height=\"10\" rx=\"2\" fill=\"#D55E00\"/></svg>"
);

/// The square of a run's colour.
fn swatch(cast: &Cast, run: usize) -> String {
    let ink = &cast.inks[run];
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 10 10\" width=\"10\" height=\"10\" aria-hidden=\"true\">\
         <rect class=\"{}\" fill=\"{}\" width=\"10\" height=\"10\" rx=\"2.5\"/></svg>",
        ink.class, ink.colour
    )
}
