//! The keys of a device file as `devices/README.md` has them, embedded so that every install can explain them.

const PAGE: &str = include_str!("../../../devices/README.md");

/// A part of a path that stands for a name of the user's own.
const ANY: &str = "NAME";

/// Entries of the column of defaults that mean no default.
const NONE: [&str; 2] = ["", "none"];

/// The tables of a device file that one heading of the page documents, and its rows as sentences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyTable {
    /// Paths of the tables: `gc`, or `medium.NAME.slc` and its siblings.
    pub paths: Vec<String>,
    /// A sentence for each key, with its default in brackets; Markdown.
    pub sentences: Vec<String>,
}

/// All tables, in the order of the page: a heading with their paths, and a row for each key.
pub fn key_tables() -> Vec<KeyTable> {
    let mut all: Vec<KeyTable> = vec![];
    for line in PAGE.lines() {
        if let Some(head) = line.strip_prefix("## ") {
            all.push(KeyTable { paths: paths(head), sentences: vec![] });
        } else if let (Some(table), Some(sentence)) = (all.last_mut(), sentence(line)) {
            table.sentences.push(sentence);
        }
    }
    all.retain(|table| !table.sentences.is_empty());
    all
}

/// The documentation of a table (`gc`, `medium.flash.tlc`), of those within it (`host`), or of a key by its
/// path (`gc.victim`) or by its name alone (`victim`). Empty if there is nothing of that name.
pub fn keys_of(name: &str) -> Vec<KeyTable> {
    let asked: Vec<&str> = name.trim_start_matches('[').trim_end_matches(']').split('.').collect();
    let found: Vec<KeyTable> = key_tables().into_iter().filter_map(|table| table.within(&asked)).collect();
    let [key] = asked[..] else { return found };
    if !found.is_empty() {
        return found;
    }
    key_tables().into_iter().filter_map(|table| table.of_key(key)).collect()
}

/// The path of a key that is named without its table, or with `_` behind it: `gc.victim` for `victim` and
/// `gc_victim`. `None` if no table or several have it.
pub(crate) fn path_of(name: &str) -> Option<String> {
    let mut found = vec![];
    for table in key_tables() {
        let fixed = table.paths.iter().filter(|path| !path.contains(ANY));
        let full = |path: &String| {
            let key =
                name.strip_prefix(path.as_str()).and_then(|rest| rest.strip_prefix('_')).unwrap_or(name);
            table.keys().contains(&key).then(|| format!("{path}.{key}"))
        };
        found.extend(fixed.filter_map(full));
    }
    let [only] = &found[..] else { return None };
    Some(only.clone())
}

impl KeyTable {
    /// The names of its keys.
    pub fn keys(&self) -> Vec<&str> {
        self.sentences.iter().map(|sentence| subject(sentence)).collect()
    }

    /// The whole table if `asked` names it or a table around it, the sentences of a key if it names one.
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
        let about = |sentence: &String| subject(sentence) == key;
        let sentences: Vec<String> = self.sentences.into_iter().filter(about).collect();
        (!sentences.is_empty()).then_some(KeyTable { sentences, paths: self.paths })
    }
}

/// `gc` of `` `[gc]` ``; after `` `[medium.NAME.slc]` `` a `` `.mlc` `` is its sibling.
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

/// A row of a table, `key`, default and meaning, as a sentence; nothing for other lines.
fn sentence(line: &str) -> Option<String> {
    let mut cells = line.strip_prefix("| `")?.strip_suffix(" |")?.splitn(3, " | ");
    let (key, default, meaning) = (cells.next()?, cells.next()?, cells.next()?);
    let default = if NONE.contains(&default) { String::new() } else { format!(" ({default})") };
    Some(format!("`{key}{default}: {meaning}"))
}

/// The key that a sentence is about.
fn subject(sentence: &str) -> &str {
    sentence.split('`').nth(1).unwrap_or_default()
}
