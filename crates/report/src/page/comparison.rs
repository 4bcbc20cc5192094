//! The page of a comparison, or of one run.

use crate::page::parts::{Heading, Page, named, soft};
use crate::page::{conditions, config, jobs, measures};
use crate::pictures::cast::Cast;
use crate::pictures::sections::Section;
use crate::pictures::svg::escape;
use crate::schema::comparison::Comparison;
use crate::schema::report::Report;
use crate::words::command::shell_lines;
use crate::words::facts::facts;
use crate::words::hints::hints;
use crate::words::labels::replicas;
use crate::words::names::device_label;
use crate::words::said::Said;
use crate::words::{number, reach, steady};

/// `docs/not-modelled.md`, for every report.
pub const NOT_MODELLED: &str = include_str!("../../../../docs/not-modelled.md");

/// Points of one curve in a page of one or two runs; more runs share as many, so that the page
/// stays small. The figures as files have them all.
const POINTS: usize = 256;

/// The page of a comparison, or of one run.
pub fn html(comparison: &Comparison) -> String {
    let runs = comparison.reports.len();
    let cast = Cast::new(comparison, (2 * POINTS / runs.max(1)).clamp(40, POINTS));
    let title = title(comparison, &cast);
    let mut page = Page::begin(&title);
    page.header(comparison, &cast, title);
    page.text.push_str("<main>\n");
    page.states(comparison, &cast);
    let limits = reach::sentences(&comparison.reports, &cast.labels);
    page.notes("Limits", "", &limits.into_iter().map(|said| ("warn", said)).collect::<Vec<_>>());
    let hints: Vec<_> = hints(&comparison.reports).into_iter().map(|said| ("warn", said)).collect();
    page.notes("Hints", "", &hints);
    // A narrow table leaves room for the latencies beside it; one with intervals is not narrow.
    let beside = runs <= 2 && replicas(&comparison.reports).is_none();
    if runs > 0 {
        page.section("Measures", None);
        page.text.push_str("<div class=\"lead\">\n<div>\n");
        measures::write(&mut page.text, comparison, &cast);
        page.text.push_str("</div>\n");
        if beside {
            let latency = Section::Latency.figures(&cast);
            page.figures(&latency[..latency.len().min(2)]);
        }
        page.text.push_str("</div>\n");
        conditions::write(&mut page.text, comparison, &cast);
        page.text.push_str("</section>\n");
    }
    for section in Section::ALL {
        let figures = section.figures(&cast);
        let from = if beside && section == Section::Latency { figures.len().min(2) } else { 0 };
        if figures[from..].is_empty() {
            continue;
        }
        page.section(section.title(), None);
        page.figures(&figures[from..]);
        page.text.push_str("</section>\n");
    }
    jobs::write(&mut page.text, comparison, &cast);
    config::write(&mut page.text, comparison, &cast);
    page.not_modelled();
    page.text.push_str("</main>\n");
    page.end(&footer(comparison, &cast))
}

fn title(comparison: &Comparison, cast: &Cast) -> String {
    let labels = &cast.labels;
    let device = comparison.reports.first().map_or(String::new(), |r| device_label(&r.device));
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

impl Page {
    fn header(&mut self, comparison: &Comparison, cast: &Cast, title: String) {
        let facts = facts(&comparison.reports);
        let facts = facts.into_iter().map(|(what, value)| (what.to_string(), value)).collect();
        let command = comparison.command().filter(|words| !words.is_empty());
        let command = command.map(|words| shell_lines(&words, 100).join("\n"));
        self.open_heading(&Heading { title, lead: comparison.verdict(), facts, command });
        if cast.labels.len() > 1 {
            self.text.push_str("<ul class=\"cast\">\n");
            for i in 0..cast.labels.len() {
                let role = if i == comparison.baseline_index() { "<small>baseline</small>" } else { "" };
                self.push(format_args!(
                    "<li><b>{}</b>{role} <span>{}</span></li>\n",
                    named(cast, i),
                    escape(&comparison.reports[i].scheme.title)
                ));
            }
            self.text.push_str("</ul>\n");
        }
        self.text.push_str("</header>\n");
    }

    /// Whether runs have settled, how their drives began, and what their twins are worth.
    fn states(&mut self, comparison: &Comparison, cast: &Cast) {
        let (reports, labels) = (&comparison.reports, &cast.labels);
        let capital = |said: Said, before: &str| Said { text: format!("{before}{}", said.text), ..said };
        let mut notes: Vec<(&str, Said)> = Vec::new();
        for said in steady::sentences(reports, labels) {
            let class = match said.text.as_str() {
                text if text.starts_with("not") => "no",
                text if text.starts_with("steady") => "yes",
                _ => "info",
            };
            let alone = if said.who.is_empty() {
                if reports.len() > 1 { "All runs: " } else { "The run is " }
            } else {
                ""
            };
            notes.push((class, capital(said, alone)));
        }
        for said in crate::words::begun::sentences(reports, labels) {
            let alone = if said.who.is_empty() { "The drive was " } else { "" };
            notes.push(("info", capital(said, alone)));
        }
        for text in crate::words::twins::sentences(reports, labels) {
            notes.push(("info", Said { who: vec![], text: format!("On the twin, {text}") }));
        }
        self.notes("Steady state", "plain", &notes);
    }

    /// The page of what is not modelled, folded.
    fn not_modelled(&mut self) {
        self.text.push_str(
            "<section id=\"not-modelled\">\n<h2>What is not modelled</h2>\n<details class=\"card\">\n",
        );
        self.text.push_str(
            "<summary>What a real drive does and this model does not</summary>\n<div class=\"prose\">\n",
        );
        pulldown_cmark::html::push_html(&mut self.text, pulldown_cmark::Parser::new(NOT_MODELLED));
        self.text.push_str("</div>\n</details>\n</section>\n");
    }
}

fn footer(comparison: &Comparison, cast: &Cast) -> Vec<String> {
    let line = |(r, label): (&Report, &String)| {
        format!(
            "{}: {}, Wordline {}, {} requests/s simulated",
            soft(label),
            results(r),
            escape(&r.version),
            escape(&number::Quantity::Iops.show(r.speed.requests_per_s)),
        )
    };
    let link = "Limits: <a href=\"#not-modelled\">what is not modelled</a>".to_string();
    std::iter::once(link).chain(comparison.reports.iter().zip(&cast.labels).map(line)).collect()
}

/// Seed and hash of a run, or of each of its replicas.
fn results(report: &Report) -> String {
    let one = |r: &Report| format!("seed {}, result <code>{}</code>", r.seed, escape(&r.result_hash));
    match &report.replicas {
        Some(replicas) => replicas.runs.iter().map(one).collect::<Vec<_>>().join("; "),
        None => one(report),
    }
}
