//! The native binary as a process, with its advice: what it advises must be known, in `tests/advice.jsonl`, where a test
//! follows each piece to its end.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

/// Advice that is known, without what it takes from the case.
static KNOWN: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/advice.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let of = |line: &serde_json::Value, key: &str| line[key].as_array().cloned().unwrap_or_default();
    let advice = lines.flat_map(|line| [of(&line, "advice"), of(&line, "seen")].concat());
    advice.map(|piece| shape(piece.as_str().unwrap())).collect()
});

/// A command in a folder, whose advice is looked up.
pub(crate) fn wordline(folder: &Path, args: &[&str]) -> Output {
    let record = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
    command.current_dir(folder).args(args).env("WORDLINE_ADVICE", record.path()).env_remove("NO_COLOR");
    let done = command.stdin(std::process::Stdio::null()).output().unwrap();
    let said = std::fs::read_to_string(record.path()).unwrap();
    for line in said.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for piece in pieces(line["text"].as_str().unwrap()) {
            assert!(
                KNOWN.contains(&shape(&piece)),
                "{piece:?} is in no line of tests/advice.jsonl: add a line with a command that leads to it, then \
                 `BLESS=1 pytest python/tests/test_advice.py`"
            );
        }
    }
    done
}

/// What errors allow and hint at.
fn pieces(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    lines.filter(|l| l.starts_with("allowed: ") || l.starts_with("hint: ")).map(str::to_string).collect()
}

/// A piece without names, paths and numbers; as `shape` of `python/tests/advice.py`.
fn shape(piece: &str) -> String {
    let mut quoted = false;
    let mut text = String::new();
    for part in piece.split('"') {
        text += if quoted { "\"…\"" } else { part };
        quoted = !quoted;
    }
    let ending = |w: &str| {
        let name = w.split([':', ',', ';']).next().unwrap_or(w);
        name.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty() && (2..=8).contains(&end.len()) && end.bytes().all(|c| c.is_ascii_lowercase())
        })
    };
    let word = |w: &str| {
        let behind = w.find([':', ',', ';']).map_or("", |at| &w[at..]);
        if w.contains('/') || ending(w) { format!("…{behind}") } else { w.to_string() }
    };
    // Which names are listed depends on the case, too.
    let items: Vec<&str> = text.split(", ").collect();
    if let [first, rest @ ..] = items.as_slice()
        && rest.iter().filter(|item| !item.contains(' ')).count() > 1
    {
        let head = first.rsplit_once(' ').map_or("", |(head, _)| head);
        let said = rest.iter().filter(|item| item.contains(' '));
        text = format!("{head} … {}", said.copied().collect::<Vec<_>>().join(", "));
    }
    let words: Vec<String> = text.split_whitespace().map(word).collect();
    let mut shape = String::new();
    for c in words.join(" ").chars() {
        match c {
            '0'..='9' | '.' | ',' if shape.ends_with('0') => {}
            '0'..='9' => shape.push('0'),
            c => shape.push(c),
        }
    }
    shape
}

#[test]
fn shape_leaves_out_names_paths_and_numbers() {
    for (one, other) in [
        ("hint: t.csv:skip=bad skips them", "hint: /tmp/a/bad.csv:skip=bad skips them"),
        ("hint: did you mean \"a\"?", "hint: did you mean \"b c\"?"),
        ("allowed: 0 to 1,024", "allowed: 0 to 3"),
        ("allowed: one of these: a, b, c, d", "allowed: one of these: b, c, d"),
    ] {
        assert_eq!(shape(one), shape(other));
    }
    assert_ne!(shape("hint: leave it out"), shape("hint: leave it"));
}
