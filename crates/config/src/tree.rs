//! A configuration as a tree of keys with their places: parsed from TOML, then changed by `--set a.b=v`
//! before anything is read.

use crate::problem::{Place, Problems, closest};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) node: Node,
}

/// The value of a key.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A string, number or bool, as text: quantities are parsed from text.
    Scalar(String),
    /// A list of such.
    List(Vec<String>),
    /// A table, in file order.
    Table(Vec<Entry>),
    /// An unsupported type, by its name.
    Other(&'static str),
}

impl Node {
    /// Its name for people.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Node::Scalar(_) => "a value",
            Node::List(_) => "a list",
            Node::Table(_) => "a table",
            Node::Other(kind) => kind,
        }
    }
}

/// Deeper than this no configuration goes.
const DEEPEST: usize = 8;

struct Lines {
    origin: Arc<str>,
    starts: Vec<usize>,
}

impl Lines {
    fn new(text: &str, origin: &str) -> Lines {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Lines { origin: origin.into(), starts }
    }

    fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|s| *s <= offset)
    }

    fn place(&self, offset: usize) -> Place {
        Place::Line { origin: self.origin.clone(), line: self.line_of(offset), column: None }
    }

    fn exact(&self, text: &str, offset: usize) -> Place {
        let line = self.line_of(offset);
        let start = self.starts[line - 1];
        let before = text.get(start..offset.min(text.len())).unwrap_or("");
        Place::Line { origin: self.origin.clone(), line, column: Some(before.chars().count() + 1) }
    }
}

/// The keys of a TOML text; `None` for broken syntax, with each error in `problems`.
pub(super) fn parse(text: &str, origin: &str, problems: &Problems) -> Option<Vec<Entry>> {
    let lines = Lines::new(text, origin);
    let (table, errors) = DeTable::parse_recoverable(text);
    for e in &errors {
        let place =
            e.span().map_or_else(|| Place::File(lines.origin.clone()), |s| lines.exact(text, s.start));
        problems.add(&place, format!("not TOML: {}", e.message()));
    }
    errors.is_empty().then(|| entries(table.into_inner(), &lines))
}

fn entries(table: DeTable<'_>, lines: &Lines) -> Vec<Entry> {
    let mut keyed: Vec<(usize, Entry)> = table
        .into_iter()
        .map(|(key, value)| {
            let at = key.span().start;
            let node = node(value, lines);
            (at, Entry { key: key.into_inner().into_owned(), place: lines.place(at), node })
        })
        .collect();
    // The parser sorts by name; people mean the order in which they wrote.
    keyed.sort_by_key(|(at, _)| *at);
    keyed.into_iter().map(|(_, e)| e).collect()
}

fn node(value: Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    match value.into_inner() {
        DeValue::Table(table) => Node::Table(entries(table, lines)),
        DeValue::Array(items) => {
            let texts: Option<Vec<String>> =
                items.into_iter().map(|item| scalar(&item.into_inner())).collect();
            texts.map_or(Node::Other("a list of tables or lists"), Node::List)
        }
        value => scalar(&value).map_or(Node::Other("a date"), Node::Scalar),
    }
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(s) => Some(s.to_string()),
        DeValue::Integer(i) if i.radix() == 10 => Some(i.as_str().replace(['_', '+'], "")),
        DeValue::Integer(i) => Some(
            u128::from_str_radix(&i.as_str().replace('_', ""), i.radix())
                .map_or_else(|_| i.to_string(), |n| n.to_string()),
        ),
        DeValue::Float(f) => Some(f.as_str().replace('_', "")),
        DeValue::Boolean(b) => Some(b.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// Change the tree as `--set path=value` says. The children of the table `named` are named items: selected by
/// name, number or `*` (all), and never created.
pub(super) fn set(root: &mut Vec<Entry>, path: &str, value: &str, named: &str, problems: &Problems) {
    let place = Place::Setting(format!("{path}={value}").into());
    let segments: Vec<&str> = path.split('.').map(str::trim).collect();
    if segments.iter().any(|s| s.is_empty()) || segments.len() > DEEPEST {
        problems.add(&place, format!("{path:?} is not a key such as \"gc.victim\""));
        return;
    }
    if let [first, name, rest @ ..] = segments.as_slice()
        && *first == named
        && let Some(Entry { node: Node::Table(children), .. }) = root.iter_mut().find(|e| e.key == *first)
    {
        let chosen = choose(children, name, named, &place, problems);
        for child in chosen {
            if rest.is_empty() {
                problems.add(&place, format!("{path:?} is a table; set one of its keys"));
            } else if let Node::Table(table) = &mut child.node {
                put(table, rest, value, &place, problems);
            }
        }
        return;
    }
    put(root, &segments, value, &place, problems);
}

fn choose<'t>(
    children: &'t mut [Entry],
    name: &str,
    named: &str,
    place: &Place,
    problems: &Problems,
) -> Vec<&'t mut Entry> {
    if name == "*" {
        return children.iter_mut().collect();
    }
    let index = children.iter().position(|c| c.key == name).or_else(|| name.parse().ok());
    if let Some(index) = index
        && index < children.len()
    {
        return children.get_mut(index).into_iter().collect();
    }
    let names: Vec<&str> = children.iter().map(|c| c.key.as_str()).collect();
    let hint = match closest(name, names.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("allowed: {}, its number, or * for all", names.join(", ")),
    };
    problems.add(place, format!("no {named} {name:?}; {hint}"));
    Vec::new()
}

/// The text of a value: of one in quotes, as a file has it, what they enclose.
fn unquoted(value: &str) -> String {
    let line = format!("v = {value}");
    let string = || {
        let (table, errors) = DeTable::parse_recoverable(&line);
        let (_, value) = table.into_inner().into_iter().next().filter(|_| errors.is_empty())?;
        scalar(&value.into_inner())
    };
    let inner = if value.starts_with(['"', '\'']) { string() } else { None };
    inner.unwrap_or_else(|| value.to_string())
}

fn put(mut table: &mut Vec<Entry>, segments: &[&str], value: &str, place: &Place, problems: &Problems) {
    let Some((last, way)) = segments.split_last() else { return };
    for (depth, key) in way.iter().enumerate() {
        let index = table.iter().position(|e| e.key == *key).unwrap_or_else(|| {
            table.push(Entry { key: key.to_string(), place: place.clone(), node: Node::Table(Vec::new()) });
            table.len() - 1
        });
        let entry = &mut table[index];
        match &mut entry.node {
            Node::Table(inner) => table = inner,
            other => {
                let path = segments[..=depth].join(".");
                problems.add(place, format!("{path:?} is {}, not a table", other.kind()));
                return;
            }
        }
    }
    let node = Node::Scalar(unquoted(value.trim()));
    match table.iter_mut().find(|e| e.key == *last) {
        Some(Entry { node: Node::Table(inner), .. }) if value.trim() != "off" => {
            let keys: Vec<&str> = inner.iter().map(|e| e.key.as_str()).collect();
            problems.add(place, format!("{last:?} is a table; set one of its keys: {}", keys.join(", ")));
        }
        Some(entry) => {
            entry.node = node;
            entry.place = place.clone();
        }
        None => table.push(Entry { key: last.to_string(), place: place.clone(), node }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `--set 'device.name="x y"'` once kept the quotes in the name.
    #[test]
    fn quoted_value_is_what_the_quotes_enclose() {
        let problems = Problems::default();
        let set = |value: &str| {
            let mut root = parse("[device]\nname = \"a\"\n", "file", &problems).unwrap();
            set(&mut root, "device.name", value, "medium", &problems);
            let Node::Table(device) = &root[0].node else { panic!("no table") };
            let Node::Scalar(text) = &device[0].node else { panic!("no value") };
            text.clone()
        };
        for quoted in [r#""x y""#, "'x y'", " \"x\\u0020y\" ", "x y"] {
            assert_eq!(set(quoted), "x y", "{quoted}");
        }
        // What is no string of TOML stays as it is.
        for odd in [r#""x"#, r#""x" y"#, "5'", "x\"y\""] {
            assert_eq!(set(odd), odd);
        }
    }
}
