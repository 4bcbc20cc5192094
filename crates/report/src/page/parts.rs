//! The parts of every page: head, heading block, notes, tables, figures, commands to copy, footer. Pages from
//! Markdown are created by [`page`].

use crate::pictures::cast::Cast;
use crate::pictures::figure::Figure;
use crate::pictures::svg::escape;
use crate::words::command::{class_without_file, shell_lines};
use crate::words::label::pieces;
use crate::words::phrases::Said;
use std::fmt::Write;

const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = include_str!("../../assets/page.js");

/// A value with more characters than this gets a line of its own in the heading.
const LONG: usize = 48;
/// A title with more characters than this is listed by its id in the table of contents.
const BRIEF: usize = 14;

/// The heading of a page.
#[derive(Clone, Debug, Default)]
pub struct Heading {
    /// The full title of the page.
    pub title: String,
    /// The result, in a sentence or two.
    pub lead: String,
    /// What was run on what, as labels and values of any length.
    pub facts: Vec<(String, String)>,
    /// The command that generates the page again.
    pub command: Option<String>,
}

/// A page of any kind: the heading, a body in HTML that the caller has sanitized, and lines of the footer as
/// text.
pub fn page(heading: &Heading, body: &str, footer: &[String]) -> String {
    let mut page = Page::begin(&heading.title);
    page.open_heading(heading);
    page.text.push_str("</header>\n<main>\n<div class=\"written\">\n");
    page.text.push_str(body);
    page.text.push_str("</div>\n</main>\n");
    let lines = footer.iter().map(|line| escape(line)).collect::<Vec<_>>();
    page.end(&lines)
}

/// A section of a page from Markdown.
#[derive(Clone, Debug)]
pub struct Section {
    /// The title, as text.
    pub title: String,
    /// What it holds, in HTML that the caller has sanitized.
    pub html: String,
    /// Its result, next to the title.
    pub finding: String,
    /// What an address ends in that leads there; from the title if it is empty.
    pub id: String,
}

/// Sections as HTML below a list of contents, which calls the head of the page `head`.
pub fn sections(found: &[Section], head: &str) -> String {
    let mut page = Page::default();
    page.contents(head);
    for section in found {
        let own = if section.id.is_empty() { id_of(&section.title) } else { section.id.clone() };
        let taken = |id: &String| page.contents.iter().any(|(other, _)| other == id);
        let numbered = (2..).map(|n| format!("{own}-{n}"));
        let id = std::iter::once(own.clone()).chain(numbered).find(|id| !taken(id)).unwrap_or_default();
        page.contents.push((id.clone(), section.title.clone()));
        page.open_section(&section.title, &id, &section.finding, "body written");
        page.text.push_str(&section.html);
        page.text.push('\n');
        page.end_section();
    }
    page.insert_contents();
    page.text
}

/// What an address ends in that leads to a section of this title.
fn id_of(title: &str) -> String {
    let lower = title.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    match words.collect::<Vec<_>>().join("-") {
        id if id.is_empty() => "part".to_string(),
        id => id,
    }
}

/// A page under construction.
#[derive(Default)]
pub(crate) struct Page {
    text: String,
    /// The id of each section, and its name in the table of contents.
    contents: Vec<(String, String)>,
    /// Where to insert the table of contents, and its name for the head of the page.
    contents_at: Option<(usize, String)>,
    /// Sentences of captions already used in the section.
    said: Vec<String>,
}

impl Page {
    pub(crate) fn begin(title: &str) -> Page {
        let text = String::with_capacity(256 * 1024);
        let mut page = Page { text, ..Page::default() };
        page.push(format_args!(
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
        page
    }

    /// Where its HTML goes.
    pub(crate) fn html(&mut self) -> &mut String {
        &mut self.text
    }

    pub(crate) fn push(&mut self, args: std::fmt::Arguments) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(args);
    }

    /// Open the heading block, to which each kind of page adds its own parts.
    pub(crate) fn open_heading(&mut self, heading: &Heading) {
        self.push(format_args!(
            "<header id=\"top\">\n<p class=\"brand\">{MARK}Wordline</p>\n<h1>{}</h1>\n",
            soft(&heading.title)
        ));
        if !heading.lead.is_empty() {
            self.push(format_args!("<p class=\"lead-in\" id=\"verdict\">{}</p>\n", prose(&heading.lead)));
        }
        if !heading.facts.is_empty() {
            self.text.push_str("<dl class=\"facts\">\n");
            for (what, value) in &heading.facts {
                let long = if value.chars().count() > LONG { " class=\"long\"" } else { "" };
                let (what, value) = (escape(what), escape(value));
                self.push(format_args!("<div{long}><dt>{what}</dt><dd>{value}</dd></div>\n"));
            }
            self.text.push_str("</dl>\n");
        }
        if let Some(command) = &heading.command {
            self.made_again(command);
        }
    }

    /// The command that generates the page again.
    pub(crate) fn made_again(&mut self, command: &str) {
        self.command("Command:", command);
        if let Some(says) = class_without_file(command) {
            self.push(format_args!("<p class=\"caption\">{}</p>\n", escape(says)));
        }
    }

    /// The section with the command and the hash of each result, a row of cells in HTML, open for what a kind of page
    /// adds to it.
    pub(crate) fn reproduce(
        &mut self,
        finding: &str,
        command: &[String],
        (says, head): (&str, &[&str]),
        rows: &[Vec<String>],
    ) {
        self.section("Reproduce", "reproduce", finding);
        if !command.is_empty() {
            self.made_again(&shell_lines(command, 100).join("\n"));
        }
        table(&mut self.text, "config hashes", says, |out| {
            let heads: String = head.iter().map(|head| format!("<th scope=\"col\">{head}</th>")).collect();
            let _ = write!(out, "<thead><tr>{heads}</tr></thead>\n<tbody>\n");
            for cells in rows {
                let (first, others) = cells.split_first().map_or(("", &[][..]), |(f, o)| (f.as_str(), o));
                let others: String = others.iter().map(|cell| format!("<td>{cell}</td>")).collect();
                let _ = writeln!(out, "<tr><th scope=\"row\">{first}</th>{others}</tr>");
            }
            out.push_str("</tbody>\n");
        });
    }

    /// A command with a button that copies it.
    pub(crate) fn command(&mut self, says: &str, command: &str) {
        self.push(format_args!(
            "<div class=\"code command\"><span class=\"says\">{}</span><button type=\"button\">copy</button>\
             <pre><code>{}</code></pre></div>\n",
            escape(says),
            escape(command)
        ));
    }

    /// Notes for the reader, one per line: class (`warn`, `yes`, `no`, `info`) and sentence.
    pub(crate) fn notes(&mut self, says: &str, kind: &str, notes: &[(&str, Said)]) {
        if notes.is_empty() {
            return;
        }
        self.push(format_args!("<ul class=\"notes {kind}\" aria-label=\"{}\">\n", escape(says)));
        for (class, said) in notes {
            let who: Vec<String> = said.who.iter().map(|label| soft(label)).collect();
            let who = if who.is_empty() { String::new() } else { format!("<b>{}</b>: ", who.join(", ")) };
            self.push(format_args!("<li class=\"{class}\">{who}{}</li>\n", prose(&said.text)));
        }
        self.text.push_str("</ul>\n");
    }

    /// Pictures next to each other, as many as fit.
    pub(crate) fn figures(&mut self, figures: &[Figure]) {
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
        let caption = self.caption(&f.caption);
        let caption = if caption.is_empty() {
            caption
        } else {
            format!("<p class=\"caption\">{}</p>\n", escape(&caption))
        };
        self.push(format_args!(
            concat!(
                "<figure id=\"{name}\">\n<figcaption><h3>{title}</h3>",
                "<span class=\"get\"><button type=\"button\" data-get=\"svg\">SVG</button>",
                "<button type=\"button\" data-get=\"csv\">CSV</button></span></figcaption>\n",
                "<div class=\"plot\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">{svg}</div>\n",
                "{caption}<pre class=\"csv\" hidden>\n{csv}</pre>\n</figure>\n"
            ),
            name = f.name,
            title = escape(&f.title),
            svg = f.svg,
            caption = caption,
            csv = escape(&f.csv),
        ));
    }

    /// The sentences of a caption that its section has not used yet.
    fn caption(&mut self, caption: &str) -> String {
        let mut kept: Vec<&str> = vec![];
        let sentences = caption.split_inclusive(". ").map(str::trim).filter(|sentence| !sentence.is_empty());
        for sentence in sentences {
            if !self.said.iter().any(|said| said == sentence) {
                self.said.push(sentence.to_string());
                kept.push(sentence);
            }
        }
        kept.join(" ")
    }

    /// Insert the table of contents here, once the sections are known. `head` names the head of the page.
    pub(crate) fn contents(&mut self, head: &str) {
        self.contents_at = Some((self.text.len(), head.to_string()));
    }

    /// A section, with its result next to the title. All sections but the first are folded.
    pub(crate) fn section(&mut self, title: &str, id: &str, finding: &str) {
        self.said.clear();
        let (first, rest) = id.split_at(1.min(id.len()));
        let short = format!("{}{}", first.to_uppercase(), rest.replace('-', " "));
        let name = if title.chars().count() <= BRIEF { title.to_string() } else { short };
        self.contents.push((id.to_string(), name));
        self.open_section(title, id, finding, "body");
    }

    /// Open the section that the list of contents has last.
    fn open_section(&mut self, title: &str, id: &str, finding: &str, class: &str) {
        let open = if self.contents.len() == 1 { " open" } else { "" };
        let finding = match finding {
            "" => String::new(),
            text => format!(" <span class=\"finding\">{}</span>", escape(text)),
        };
        self.push(format_args!(
            "<details class=\"part\" id=\"{id}\"{open}>\n<summary><h2>{}</h2>{finding}</summary>\n<div class=\"{class}\">\n",
            escape(title)
        ));
    }

    pub(crate) fn end_section(&mut self) {
        self.text.push_str("</div>\n</details>\n");
    }

    fn insert_contents(&mut self) {
        let Some((at, head)) = self.contents_at.take() else { return };
        let link =
            |(id, name): &(String, String)| format!("<li><a href=\"#{id}\">{}</a></li>\n", escape(name));
        let links: String = self.contents.iter().map(link).collect();
        let nav = format!(
            "<nav class=\"contents\" aria-label=\"Contents\">\n<ul>\n<li><a href=\"#top\">{head}</a></li>\n{links}</ul>\n</nav>\n"
        );
        self.text.insert_str(at, &nav);
    }

    /// The footer, from lines in HTML, and the end of the page.
    pub(crate) fn end(mut self, lines: &[String]) -> String {
        self.insert_contents();
        self.text.push_str("<footer>\n");
        for line in lines {
            self.push(format_args!("<p>{line}</p>\n"));
        }
        self.push(format_args!("</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
        self.text
    }
}

/// A table in its own box, which scrolls if it is wider than the page. `write` writes head and bodies.
pub(crate) fn table(out: &mut String, class: &str, says: &str, write: impl FnOnce(&mut String)) {
    let _ = write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table class=\"{class}\">\n",
        escape(says)
    );
    write(out);
    out.push_str("</table>\n</div>\n");
}

/// An icon of cells on a wordline.
const MARK: &str = concat!(
    "<svg viewBox=\"0 0 44 14\" width=\"44\" height=\"14\" aria-hidden=\"true\">",
    "<path class=\"wire\" d=\"M0 7h44\" stroke=\"#9aa3ad\" stroke-width=\"1.5\"/>",
    "<rect x=\"2\" y=\"2\" width=\"8\" height=\"10\" rx=\"2\" fill=\"#0072B2\"/>",
    "<rect x=\"13\" y=\"2\" width=\"8\" height=\"10\" rx=\"2\" fill=\"#009E73\"/>",
    "<rect x=\"24\" y=\"2\" width=\"8\" height=\"10\" rx=\"2\" fill=\"#E69F00\"/>",
    "<rect x=\"35\" y=\"2\" width=\"8\" height=\"10\" rx=\"2\" fill=\"#D55E00\"/></svg>"
);

/// Running text for a page: an option such as `--requests` is not broken behind its dashes.
pub(crate) fn prose(text: &str) -> String {
    let word = |word: &str| match word.trim_start_matches('(').starts_with("--") {
        true => format!("<span class=\"option\">{}</span>", escape(word)),
        false => escape(word),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A name for a page, with a chance of a break at every place where one may be.
pub(crate) fn soft(name: &str) -> String {
    pieces(name).map(escape).collect::<Vec<_>>().join("<wbr>")
}

/// A run's name after its color mark, which stays with the first part of the name.
pub(crate) fn named(cast: &Cast, run: usize) -> String {
    let name = soft(&cast.labels[run]);
    let (first, rest) = name.split_once("<wbr>").unwrap_or((&name, ""));
    format!("<span class=\"tag\">{}{first}</span><wbr>{rest}", swatch(cast, run))
}

/// The color mark of a run. Only baseline and winner have one.
fn swatch(cast: &Cast, run: usize) -> String {
    let ink = &cast.inks[run];
    if ink.class == "other" {
        return String::new();
    }
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 12 10\" width=\"12\" height=\"10\" aria-hidden=\"true\">\
         <rect class=\"{}\" fill=\"{}\" width=\"10\" height=\"10\" rx=\"2.5\"/></svg>",
        ink.class, ink.colour
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_on_a_page_may_break_and_stays_text() {
        assert_eq!(soft("slc-cache:a=<1>"), "slc-<wbr>cache:<wbr>a=<wbr>&lt;1&gt;");
    }
}
