//! The page of a comparison, or of one run.

use crate::page::parts::{Heading, Page, named, soft};
use crate::page::{conditions, config, decision, findings, jobs, measures};
use crate::pictures::cast::Cast;
use crate::pictures::sections::Section;
use crate::pictures::svg::escape;
use crate::schema::comparison::Comparison;
use crate::schema::report::Report;
use crate::words::command::quoted;
use crate::words::decision::leading;
use crate::words::facts::facts;
use crate::words::hints::hints;
use crate::words::names::device_label;
use crate::words::phrases::Said;
use crate::words::verdict::command_of;
use crate::words::verdict::headline;
use crate::words::{number, reach, rows, steady};

/// `docs/not-modelled.md`, for every report.
pub const NOT_MODELLED: &str = include_str!("../../../../docs/not-modelled.md");

/// The start of the data element of a page.
const DATA: &str = "<script type=\"application/json\" id=\"data\">";

/// The data in a page of a comparison or a run: the comparison or report as JSON. `None` for other pages.
pub fn data_of(page: &str) -> Option<&str> {
    let (_, data) = page.split_once(DATA)?;
    Some(data.split_once("</script>")?.0)
}

/// Maximum points of a curve on a page of one or two runs. More runs share this number, so that the page
/// stays small. Figures saved as files have all points.
const POINTS: usize = 256;

/// The name of a page in its folder.
pub const PAGE: &str = "report.html";

/// The page of a comparison, or of one run.
pub fn html(comparison: &Comparison) -> String {
    html_at(comparison, PAGE)
}

/// The same as a file at this path, with which its commands work where the runs were made: their own paths are relative
/// to that, too.
pub fn html_at(comparison: &Comparison, path: &str) -> String {
    let runs = comparison.reports.len();
    let cast = Cast::new(comparison, (2 * POINTS / runs.max(1)).clamp(40, POINTS));
    let leading = leading(comparison);
    let mut page = Page::begin(&title(comparison, &cast));
    header(&mut page, comparison, &cast);
    page.html().push_str("<main>\n");
    let limits = reach::sentences(&comparison.reports, &cast.labels);
    page.notes("Limits", "", &limits.into_iter().map(|said| ("warn", said)).collect::<Vec<_>>());
    decision::write(&mut page, comparison, &cast, &leading);
    page.contents("Decision");
    if runs > 0 {
        page.section("Measures", "measures", &findings::measures(&rows::groups(&comparison.reports)));
        measures::write(page.html(), comparison, &cast);
        page.end_section();
        trust(&mut page, comparison, &cast);
    }
    for section in Section::ALL {
        let figures = section.telling(&cast);
        if !figures.is_empty() {
            page.section(section.title(), section.id(), &findings::of(section, &cast));
            page.figures(&figures);
            if section == Section::Why {
                ask_why(&mut page, &cast, path);
            }
            page.end_section();
        }
    }
    jobs::write(&mut page, comparison, &cast);
    schemes(&mut page, comparison, &cast);
    config::write(&mut page, comparison, &cast);
    again(&mut page, comparison, &cast, path);
    not_modelled(&mut page);
    page.html().push_str("</main>\n");
    page.end(&["Read with care: <a href=\"#not-modelled\">what is not modelled</a>".to_string()])
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

fn header(page: &mut Page, comparison: &Comparison, cast: &Cast) {
    let facts = facts(&comparison.reports);
    let facts = facts.into_iter().map(|(what, value)| (what.to_string(), value)).collect();
    let (title, lead) = (title(comparison, cast), headline(comparison));
    page.open_heading(&Heading { title, lead, facts, command: None });
    page.html().push_str("</header>\n");
}

/// The schemes of the runs, and which of them the device does not admit.
fn schemes(page: &mut Page, comparison: &Comparison, cast: &Cast) {
    if cast.labels.len() < 2 && comparison.refused.is_empty() && comparison.failed.is_empty() {
        return;
    }
    let refused = match comparison.refused.len() {
        0 => String::new(),
        n => format!(", {n} not on this device"),
    };
    let failed = match comparison.failed.len() {
        0 => String::new(),
        n => format!(", {n} failed"),
    };
    page.section("Schemes", "schemes", &format!("{} compared{refused}{failed}.", cast.labels.len()));
    page.html().push_str("<ul class=\"cast\">\n");
    for i in 0..cast.labels.len() {
        let role = if i == comparison.baseline_index() { "<small>baseline</small>" } else { "" };
        page.push(format_args!(
            "<li><b>{}</b>{role} <span>{}</span></li>\n",
            named(cast, i),
            escape(&comparison.reports[i].scheme.title)
        ));
    }
    page.html().push_str("</ul>\n");
    measures::without_report(page.html(), comparison);
    page.end_section();
}

/// Whether the figures can be trusted: steadiness, conditions, hints.
fn trust(page: &mut Page, comparison: &Comparison, cast: &Cast) {
    page.section("Steadiness and conditions", "steadiness", &findings::trust(comparison));
    states(page, comparison, cast);
    let hints: Vec<_> = hints(&comparison.reports).into_iter().map(|said| ("warn", said)).collect();
    page.notes("Hints", "", &hints);
    conditions::write(page.html(), comparison, cast);
    page.end_section();
}

/// The command that explains the slowest requests.
fn ask_why(page: &mut Page, cast: &Cast, path: &str) {
    let scheme = match cast.labels.len() {
        1 => String::new(),
        _ => format!(" --scheme {}", quoted(&cast.reports[cast.winner.unwrap_or(cast.baseline)].scheme.name)),
    };
    let command = format!("wordline why {}{scheme} --slowest 0.1%", quoted(path));
    page.command("What the slowest requests waited for:", &command);
}

/// The command, versions and hashes.
fn again(page: &mut Page, comparison: &Comparison, cast: &Cast, path: &str) {
    let hash = comparison.reports.first().map_or("", |r| r.result_hash.as_str());
    let short: String = hash.chars().take(12).collect();
    let finding = if cast.labels.len() == 1 {
        format!("Result {short}.")
    } else {
        "The command, and a hash of each result.".to_string()
    };
    let head = ["scheme", "seed", "result", "version", "simulated"];
    let runs = cast.labels.iter().zip(&comparison.reports);
    let rows: Vec<_> = runs.flat_map(|(label, report)| results(label, report)).collect();
    page.reproduce(&finding, &command_of(comparison).unwrap_or_default(), ("Results", &head), &rows);
    // A page alone is enough to repeat its runs. JSON of finite numbers cannot fail.
    if let Ok(json) = comparison.carried() {
        page.push(format_args!("{DATA}{}</script>\n", json.replace('<', "\\u003c")));
        page.command("Repeat these runs from this page:", &format!("wordline rerun {}", quoted(path)));
    }
    page.end_section();
}

/// Whether runs are steady, how their drives started, and how well twins match their traces.
fn states(page: &mut Page, comparison: &Comparison, cast: &Cast) {
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
    for said in crate::words::steady_start::sentences(reports, labels) {
        let alone = if said.who.is_empty() { "The drive was " } else { "" };
        notes.push(("info", capital(said, alone)));
    }
    for text in crate::words::twins::sentences(reports, labels) {
        notes.push(("info", Said { who: vec![], text: format!("On the twin, {text}") }));
    }
    page.notes("Steady state", "plain", &notes);
}

/// The page of what is not modeled.
fn not_modelled(page: &mut Page) {
    let finding = "What a real drive does and this model does not.";
    page.section("What is not modelled", "not-modelled", finding);
    page.html().push_str("<div class=\"prose\">\n");
    pulldown_cmark::html::push_html(page.html(), pulldown_cmark::Parser::new(NOT_MODELLED));
    page.html().push_str("</div>\n");
    page.end_section();
}

/// Seed and hash of a run, or of each of its replicas.
fn results(label: &str, report: &Report) -> Vec<Vec<String>> {
    let runs = report.replicas.as_ref().map_or(std::slice::from_ref(report), |r| r.runs.as_slice());
    let row = |run: &Report| {
        vec![
            soft(label),
            run.seed.to_string(),
            format!("<code>{}</code>", escape(&run.result_hash)),
            escape(&report.version),
            format!("{} requests/s", escape(&number::Quantity::Iops.show(run.speed.requests_per_s))),
        ]
    };
    runs.iter().map(row).collect()
}
