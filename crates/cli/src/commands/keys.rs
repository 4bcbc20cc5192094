//! `explain` of keys of a device file.

use crate::console::Console;
use wordline_device::{KeyTable, key_tables, keys_of};

/// The name under which all keys of device files are explained.
pub(crate) const DEVICE_FILES: &str = "device-files";

/// The documentation of device keys of this name, if any.
pub(crate) fn page(name: &str, console: &Console) -> Option<String> {
    let tables = if name == DEVICE_FILES { key_tables() } else { keys_of(name) };
    let pages: Vec<String> = tables.iter().map(|t| table(t, console)).collect();
    (!pages.is_empty()).then(|| pages.join("\n"))
}

/// The tables at the root of a device file.
pub(crate) fn names() -> Vec<String> {
    let roots = key_tables().into_iter().flat_map(|t| t.paths);
    let mut names: Vec<String> = roots.filter(|path| !path.contains('.')).collect();
    names.push("medium".to_string());
    names
}

/// Every key by its path, with its sentence.
pub(crate) fn sentences() -> Vec<(String, String)> {
    let of = |table: KeyTable| -> Vec<(String, String)> {
        let first = table.paths.first().cloned().unwrap_or_default();
        let keys = table.keys();
        let each = keys.iter().zip(&table.sentences);
        each.map(|(key, text)| (format!("{first}.{key}"), about(key, &plain(text)))).collect()
    };
    key_tables().into_iter().flat_map(of).collect()
}

/// A sentence without the key at its head.
fn about(key: &str, sentence: &str) -> String {
    sentence.strip_prefix(key).unwrap_or(sentence).trim_start().to_string()
}

/// All keys with their tables, as `--set` takes them.
pub(crate) fn paths() -> Vec<String> {
    let of = |table: &KeyTable| -> Vec<String> {
        let paths = table.paths.iter();
        paths.flat_map(|path| table.keys().into_iter().map(move |key| format!("{path}.{key}"))).collect()
    };
    key_tables().iter().flat_map(of).collect()
}

fn table(table: &KeyTable, console: &Console) -> String {
    let heads: Vec<String> = table.paths.iter().map(|p| console.bold(&format!("[{p}]"))).collect();
    let first = table.paths.first().map_or("", String::as_str);
    let mut page = format!("{} of a device file, or --set {first}.KEY=VALUE\n", heads.join(", "));
    for sentence in &table.sentences {
        page += &filled(&plain(sentence), console.style().width.min(100));
    }
    page
}

/// Markdown without its marks, and a link by its text.
pub(crate) fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, title, _, after)) = link(rest) {
        text += before;
        text += title;
        rest = after;
    }
    (text + rest).replace('`', "")
}

/// The text before the first link, its title, its target, and the text after it.
pub(crate) fn link(markdown: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = markdown.find("](")?;
    let begin = markdown[..middle].rfind('[')?;
    let end = middle + markdown[middle..].find(')')?;
    Some((&markdown[..begin], &markdown[begin + 1..middle], &markdown[middle + 2..end], &markdown[end + 1..]))
}

/// A paragraph in lines of at most this many columns, the further ones indented.
fn filled(text: &str, width: usize) -> String {
    let (mut page, mut line) = (String::new(), String::from(" "));
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > width && !line.trim().is_empty() {
            page += &format!("{line}\n");
            line = String::from("     ");
        }
        line += &format!(" {word}");
    }
    page + &format!("{line}\n")
}
