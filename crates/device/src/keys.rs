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
    // A key may be named in a sentence of another.
    let mut named: Vec<KeyTable> = key_tables().into_iter().filter_map(|table| table.of_key(key)).collect();
    let owns = |table: &KeyTable| table.sentences.iter().any(|sentence| is_of(sentence, key));
    if named.iter().any(owns) {
        named.retain(owns);
    }
    named
}

impl KeyTable {
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

    /// The sentences that name a key, those that begin with it before others.
    fn of_key(self, key: &str) -> Option<KeyTable> {
        let named = |sentence: &&str| names(sentence).any(|name| name == key);
        let begins = |sentence: &&str| is_of(sentence, key);
        let mut sentences: Vec<&str> = self.sentences.iter().copied().filter(begins).collect();
        if sentences.is_empty() {
            sentences = self.sentences.iter().copied().filter(named).collect();
        }
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

/// Whether a sentence begins with a key.
fn is_of(sentence: &str, key: &str) -> bool {
    names(sentence).next() == Some(key)
}

/// What stands in backticks, up to where it is no name any more: `bus` of `` `bus = { rate }` ``.
fn names(sentence: &str) -> impl Iterator<Item = &str> {
    let no_name = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let code = sentence.split('`').skip(1).step_by(2);
    code.map(move |code| code.split(no_name).next().unwrap_or(code)).filter(|name| !name.is_empty())
}
