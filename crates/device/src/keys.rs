//! The keys of a device file as `devices/README.md` has them, embedded so that every install can explain them.

const PAGE: &str = include_str!("../../../devices/README.md");

/// A part of a path that stands for a name of the user's own.
const ANY: &str = "NAME";

/// The tables of a device file that one row of the page documents, and what it says of their keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyTable {
    /// Paths of the tables: `gc`, or `medium.NAME.slc` and its brothers.
    pub paths: Vec<String>,
    /// A sentence for each key, or for several that belong together; Markdown.
    pub sentences: Vec<&'static str>,
}

/// All tables, in the order of the page.
pub fn key_tables() -> Vec<KeyTable> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = rows.filter_map(|row| row.split_once(" | "));
    cells
        .filter(|(head, _)| head.starts_with("`["))
        .map(|(head, keys)| KeyTable { paths: paths(head), sentences: sentences(keys) })
        .collect()
}

/// What is said of a table (`gc`, `medium.flash.tlc`), of those within it (`host`), or of a key by its path
/// (`gc.victim`) or by its name alone (`victim`). Empty if there is nothing of that name.
pub fn keys_of(name: &str) -> Vec<KeyTable> {
    let asked: Vec<&str> = name.trim_start_matches('[').trim_end_matches(']').split('.').collect();
    let found: Vec<KeyTable> = key_tables().into_iter().filter_map(|table| table.within(&asked)).collect();
    let [key] = asked[..] else { return found };
    if !found.is_empty() {
        return found;
    }
    key_tables().into_iter().filter_map(|table| table.of_key(key)).collect()
}

impl KeyTable {
    /// The names of its keys.
    pub fn keys(&self) -> Vec<&'static str> {
        self.sentences.iter().flat_map(|sentence| subjects(sentence)).collect()
    }

    /// All of it if `asked` leads to it or to a table around it, the sentences of a key if it leads into it.
    fn within(self, asked: &[&str]) -> Option<KeyTable> {
        let alike =
            |path: &str| path.split('.').zip(asked).all(|(ours, theirs)| ours == ANY || ours == *theirs);
        let path = self.paths.iter().find(|path| alike(path))?;
        match asked.get(path.split('.').count()) {
            None => Some(self),
            Some(key) => self.of_key(key),
        }
    }

    /// The sentences that are about a key.
    fn of_key(self, key: &str) -> Option<KeyTable> {
        let about = |sentence: &&str| subjects(sentence).contains(&key);
        let sentences: Vec<&str> = self.sentences.iter().copied().filter(about).collect();
        (!sentences.is_empty()).then_some(KeyTable { sentences, ..self })
    }
}

/// `gc` of `` `[gc]` ``; after `` `[medium.NAME.slc]` `` a `` `.mlc` `` is its brother.
fn paths(head: &str) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    for word in head.split('`').skip(1).step_by(2) {
        let before = all.last().and_then(|path| path.rsplit_once('.')).map_or("", |(parent, _)| parent);
        all.push(match word.strip_prefix('.') {
            Some(last) => format!("{before}.{last}"),
            None => word.trim_matches(['[', ']']).to_string(),
        });
    }
    all
}

/// Cuts at each `;` that a key follows, but not within brackets.
fn sentences(keys: &'static str) -> Vec<&'static str> {
    let (mut all, mut begin, mut depth) = (vec![], 0, 0);
    for (at, letter) in keys.char_indices() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            ';' if depth == 0 && keys[at..].starts_with("; `") => {
                all.push(&keys[begin..at]);
                begin = at + 2;
            }
            _ => {}
        }
    }
    all.push(&keys[begin..]);
    all
}

/// The keys that a sentence is about: those in backticks at its head, each perhaps with its default in brackets,
/// before anything is said of them. What it names later are values, or other keys.
fn subjects(sentence: &str) -> Vec<&str> {
    let (mut keys, mut rest) = (vec![], sentence);
    // Before the first key a sentence may say what all keys of the table are about.
    let Some((_, first)) = rest.split_once('`') else { return keys };
    rest = first;
    while let Some((code, after)) = rest.split_once('`') {
        let no_name = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        keys.extend(code.split(no_name).next().filter(|name| !name.is_empty()));
        rest = without_default(after);
        let next = [", `", " and `"].into_iter().find_map(|joint| rest.strip_prefix(joint));
        let Some(next) = next else { break };
        rest = next;
    }
    keys
}

/// What is behind a default in brackets.
fn without_default(text: &str) -> &str {
    let Some(inner) = text.strip_prefix(" (") else { return text };
    let mut depth = 1;
    for (at, letter) in inner.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &inner[at + 1..];
        }
    }
    text
}
