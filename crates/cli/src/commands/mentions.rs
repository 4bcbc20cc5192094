//! `explain` of a question, or of words that are not a name: the entries that mention all of them, or most.

use crate::args::about::Kind;
use crate::commands::{keys, list, options};
use crate::console::Console;
use std::collections::BTreeSet;

/// The list of documents, with the questions that they answer.
const DOCUMENTS: &str = include_str!("../../../../docs/README.md");

/// The most entries that are printed.
const MOST: usize = 8;

/// Words that a question begins with.
const OPENINGS: [&str; 10] = ["what", "which", "how", "is", "are", "does", "do", "a", "an", "the"];

/// Further words that carry no meaning in a question.
const FILLERS: [&str; 49] = [
    "about",
    "and",
    "any",
    "as",
    "at",
    "be",
    "by",
    "can",
    "call",
    "called",
    "change",
    "configure",
    "find",
    "for",
    "from",
    "get",
    "i",
    "if",
    "in",
    "it",
    "limit",
    "make",
    "makes",
    "me",
    "mean",
    "means",
    "meaning",
    "my",
    "need",
    "of",
    "on",
    "one",
    "option",
    "or",
    "own",
    "see",
    "set",
    "should",
    "that",
    "there",
    "to",
    "use",
    "want",
    "when",
    "where",
    "why",
    "with",
    "you",
    "your",
];

/// A searchable entry: its name, and a sentence about it.
struct Entry {
    name: String,
    about: String,
    words: BTreeSet<String>,
}

impl Entry {
    fn new(name: impl Into<String>, about: impl Into<String>) -> Entry {
        let (name, about) = (name.into(), about.into());
        let words = words(&format!("{name} {about}")).collect();
        Entry { name, about, words }
    }

    /// How many of the words it mentions.
    fn mentions(&self, wanted: &BTreeSet<String>) -> usize {
        wanted.intersection(&self.words).count()
    }

    /// Whether all words of its name, without that of its section, are among the words.
    fn is_named_by(&self, wanted: &BTreeSet<String>) -> bool {
        let own = self.name.rsplit(": ").next().unwrap_or(&self.name);
        words(own).all(|word| wanted.contains(&word))
    }

    /// How many of the words its name has.
    fn named(&self, wanted: &BTreeSet<String>) -> usize {
        words(&self.name).filter(|word| wanted.contains(word)).collect::<BTreeSet<_>>().len()
    }
}

/// The subject of a question: its text without opening words and question mark.
pub(crate) fn without_question(text: &str) -> &str {
    let mut rest = text.trim().trim_end_matches('?').trim_end();
    while let Some((first, after)) = rest.split_once(' ') {
        if !OPENINGS.contains(&first.to_lowercase().as_str()) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// Entries that mention all words of a text, or else the most of them, at least two and half of them, or else those
/// whose whole name is among them; those with the words in their names come first. `None` without such entries.
pub(crate) fn page(text: &str, console: &Console) -> Option<String> {
    let wanted: BTreeSet<String> = words(text).filter(|word| !is_filler(word)).collect();
    let entries = entries(console);
    let most = entries.iter().map(|entry| entry.mentions(&wanted)).max().unwrap_or(0);
    let few = most < wanted.len() && (most < 2 || most * 2 < wanted.len());
    let is_found = |entry: &Entry| match few {
        false => entry.mentions(&wanted) == most,
        true => text.contains(' ') && entry.is_named_by(&wanted),
    };
    let mut found: Vec<Entry> = entries.into_iter().filter(is_found).collect();
    if wanted.is_empty() || found.is_empty() {
        return None;
    }
    found.sort_by_key(|entry| std::cmp::Reverse(entry.named(&wanted)));
    let missing = match (few, most) {
        (true, _) => "some of its words are ".to_string(),
        (false, most) if most < wanted.len() => format!("{most} of its words are "),
        _ => String::new(),
    };
    let mut page = format!("{text:?} is not a name; {missing}mentioned in:\n\n");
    for entry in found.iter().take(MOST) {
        page += &format!("{}\n  {}\n", console.bold(&entry.name), entry.about);
    }
    if found.len() > MOST {
        page += &format!("and {} more; add a word\n", found.len() - MOST);
    }
    Some(page)
}

fn is_filler(word: &str) -> bool {
    OPENINGS.contains(&word) || FILLERS.contains(&word)
}

/// Words in small letters, without the `s` of a plural.
fn words(text: &str) -> impl Iterator<Item = String> {
    let lower = text.to_lowercase();
    let all: Vec<String> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(singular).collect();
    all.into_iter()
}

fn singular(word: &str) -> String {
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s'));
    stem.unwrap_or(word).to_string()
}

/// Everything that can be found.
fn entries(console: &Console) -> Vec<Entry> {
    let mut all = documents();
    all.extend(wordline_report::every_explained().into_iter().map(|found| {
        let also: Vec<String> =
            found.facts.into_iter().map(|(what, text)| format!("{what}: {text}")).collect();
        Entry::new(found.name, format!("{} ({})", found.about, also.join("; ")))
    }));
    all.extend(keys::sentences().into_iter().map(|(name, about)| Entry::new(name, about)));
    all.extend(options::sentences().into_iter().map(|(name, about)| Entry::new(name, about)));
    for kind in [Kind::Schemes, Kind::Devices, Kind::Workloads, Kind::Formats] {
        all.extend(list::entries(kind, console).into_iter().map(|(name, about)| Entry::new(name, about)));
    }
    for scheme in console.registry().all() {
        all.extend(paragraphs(scheme));
        let parameters = scheme.parameters.iter();
        all.extend(parameters.map(|p| Entry::new(format!("{}:{}", scheme.name, p.key), p.what.to_string())));
    }
    all
}

/// The paragraphs and list items at the head of a scheme's file, each under its heading.
fn paragraphs(scheme: &wordline_schemes::Entry) -> Vec<Entry> {
    let head: Vec<&str> = match &scheme.described {
        Some(said) => said.lines().collect(),
        None => scheme.docs.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect(),
    };
    let (mut heading, mut text, mut found) = ("", String::new(), vec![]);
    for line in head.into_iter().chain([""]) {
        let title = line.strip_prefix("## ");
        let begins = line.starts_with(['-', '#']) || line.starts_with(|c: char| c.is_ascii_digit());
        if (line.is_empty() || begins) && !text.is_empty() {
            let name = format!("{}: {}", scheme.name, heading.to_lowercase());
            found.push(Entry::new(name.trim_end_matches(": "), std::mem::take(&mut text).replace('`', "")));
        }
        if let Some(title) = title {
            heading = title;
        } else if !line.is_empty() && !line.starts_with('#') {
            let space = if text.is_empty() { "" } else { " " };
            text += &format!("{space}{line}");
        }
    }
    found
}

/// The rows of the list of documents: a page or a question, and its contents.
fn documents() -> Vec<Entry> {
    let rows =
        DOCUMENTS.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let named = rows.filter(|(first, _)| !first.starts_with("---"));
    named.map(|(first, second)| Entry::new(with_paths(first), with_paths(second))).collect()
}

/// Markdown as plain text, with the path of a page after its title.
fn with_paths(markdown: &str) -> String {
    let mut out = String::new();
    let mut rest = markdown;
    while let Some((before, title, target, after)) = keys::link(rest) {
        let path = target.strip_prefix("../").map_or_else(|| format!("docs/{target}"), str::to_string);
        out += &format!("{before}{title} ({path})");
        rest = after;
    }
    keys::plain(&(out + rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_loses_its_opening() {
        assert_eq!(without_question("What is a drive write?"), "drive write");
        assert_eq!(without_question("gc.victim"), "gc.victim");
        assert_eq!(without_question("the"), "the");
    }

    #[test]
    fn name_of_an_entry_is_found_among_other_words() {
        let wanted = |text: &str| words(text).collect::<BTreeSet<_>>();
        let entry = Entry::new("Write amplification: WAF", "Bytes programmed over bytes written.");
        assert!(entry.is_named_by(&wanted("WAF rise")) && !entry.is_named_by(&wanted("bytes rise")));
        assert!(!Entry::new("WAF per byte", "").is_named_by(&wanted("WAF rise")));
    }

    #[test]
    fn word_is_found_in_singular_and_plural() {
        let entry = Entry::new("SLC cache", "Blocks that take host writes first.");
        let wanted = |text: &str| words(text).collect::<BTreeSet<_>>();
        assert_eq!(entry.mentions(&wanted("caches block")), 2);
        assert_eq!(entry.mentions(&wanted("cache dynamic")), 1);
        assert_eq!(entry.named(&wanted("slc caches host")), 2);
    }

    #[test]
    fn row_of_documents_has_its_path() {
        let rows = documents();
        let has = |name: &str| rows.iter().any(|row| row.name.contains(name) || row.about.contains(name));
        assert!(has("docs/lifetime.md") && has("devices/README.md"), "{} rows", rows.len());
        assert!(rows.iter().all(|row| !row.name.contains("](") && !row.about.contains("](")));
    }
}
