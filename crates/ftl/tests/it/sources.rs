//! The sources of this repository, for tests that read them; those of other crates take this file by its path.

#![allow(clippy::unwrap_used, dead_code)] // helpers of tests, of which not every program needs all

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The folders of all crates, by name.
pub fn crates() -> Vec<String> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(Result::unwrap);
    let mut names: Vec<String> = folders
        .filter(|folder| folder.path().is_dir())
        .map(|folder| folder.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// All Rust files of a folder, or one file, by their path below it.
pub fn sources(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    read_into(folder, "", &mut found);
    assert!(!found.is_empty(), "{} has no sources", folder.display());
    found
}

fn read_into(path: &Path, file: &str, found: &mut BTreeMap<String, String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            read_into(&entry.path(), format!("{file}/{name}").trim_start_matches('/'), found);
        }
    } else if path.extension().is_some_and(|end| end == "rs") {
        found.insert(file.to_string(), fs::read_to_string(path).unwrap());
    }
}

/// What stands in a source where code does: comments, strings and letters are left out.
pub fn code_of(source: &str) -> String {
    stripped(source, |_| true)
}

/// A source without its comments.
pub fn without_comments(source: &str) -> String {
    stripped(source, |text| text.starts_with("//") || text.starts_with("/*"))
}

/// A source with a space in place of each comment, string or letter that `is_out`.
fn stripped(source: &str, is_out: impl Fn(&str) -> bool) -> String {
    let mut code = String::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = skipped(rest);
        if length > 0 {
            code.push_str(if is_out(rest) { " " } else { &rest[..length] });
        } else {
            code.push(first);
        }
        rest = &rest[length.max(first.len_utf8())..];
        // An `r` within a word begins no raw string.
        if length == 0 && (first.is_alphanumeric() || first == '_') {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            code.push_str(&rest[..word]);
            rest = &rest[word..];
        }
    }
    code
}

/// How long the comment, string or letter is with which a text begins; 0 for none.
fn skipped(text: &str) -> usize {
    let to = |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return to("*/", 2);
    }
    let raw = text.strip_prefix('r').map(|rest| rest.len() - rest.trim_start_matches('#').len());
    if let Some(marks) = raw.filter(|marks| text[1 + marks..].starts_with('"')) {
        return to(&format!("\"{}", "#".repeat(marks)), marks + 2);
    }
    if text.starts_with('"') {
        return closed(text, '"');
    }
    let mut letters = text.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some('\''), Some('\\'), _) => closed(text, '\''),
        (Some('\''), Some(letter), Some('\'')) => 2 + letter.len_utf8(),
        _ => 0,
    }
}

/// Where a string ends that begins with a mark, and may hold it behind a backslash.
fn closed(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == mark => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A source without comments and without what its functions do.
pub fn without_bodies(source: &str) -> String {
    let source = without_comments(source);
    let mut kept = String::new();
    let (mut rest, mut in_head) = (source.as_str(), false);
    // Brackets of a head that are open: in `[u8; 2]` stands no end of it.
    let mut open = 0;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = skipped(rest).max(word).max(first.len_utf8());
        match (in_head, first) {
            (true, '(' | '[') => open += 1,
            (true, ')' | ']') => open -= 1,
            (true, ';') if open == 0 => in_head = false,
            (true, '{') => {
                kept.push_str("{}");
                rest = &rest[braced(rest)..];
                in_head = false;
                continue;
            }
            // Before a bracket it is a type.
            _ if &rest[..word] == "fn" => {
                (in_head, open) = (!rest[word..].trim_start().starts_with('('), 0);
            }
            _ => {}
        }
        kept.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    kept
}

/// How long the block is with which a text begins.
fn braced(text: &str) -> usize {
    let (mut at, mut open) = (0, 0);
    while let Some(first) = text[at..].chars().next() {
        let length = skipped(&text[at..]);
        match first {
            _ if length > 0 => {}
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        at += length.max(first.len_utf8());
        if open == 0 {
            break;
        }
    }
    at
}
