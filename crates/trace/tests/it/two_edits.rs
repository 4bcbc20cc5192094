//! A new format is two edits: its file, and its place in the list. No other source names it, as a module or by its word.

#[path = "../../../ftl/tests/it/sources.rs"]
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use wordline_trace::FORMATS;

const FOLDER: &str = "crates/trace/src/formats/";
const LIST: &str = "crates/trace/src/formats/mod.rs";

/// Words of formats that sources use for something else: the word, how the path begins, and what it is there.
const OTHERWISE: [(&str, &str, &str); 4] = [
    ("addresses", "crates/trace/src/inspect/render.rs", "a row of the inspection"),
    ("addresses", "crates/trace/src/formats/csv/missing.rs", "what no column of a table holds"),
    ("csv", "crates/cli/src/args/run.rs", "the option --csv"),
    ("wordline", "", "the program itself"),
];

/// The sources below a folder by their path in the repository, without comments and tests.
fn sources(folder: &str) -> BTreeMap<String, String> {
    let code = |text: &str| {
        let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        shared::without_comments(code)
    };
    let all = shared::sources(&shared::root().join(folder)).into_iter();
    all.map(|(file, text)| (format!("{folder}/{file}"), code(&text))).collect()
}

/// Whether a text has `word` with nothing before it that would make it part of another.
fn has(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| !text[..at].ends_with(is_part))
}

/// The files that a format of this module and these names takes; its own folder is one.
fn edits(sources: &BTreeMap<String, String>, module: &str, names: &[&str]) -> BTreeSet<String> {
    let own = format!("{FOLDER}{module}");
    let is_own = |file: &str| file.strip_prefix(&own).is_some_and(|rest| rest.starts_with(['.', '/']));
    let is_otherwise =
        |name: &str, file: &str| OTHERWISE.iter().any(|o| o.0 == name && file.starts_with(o.1));
    let takes = |file: &str, text: &str| {
        let as_module =
            has(text, &format!("formats::{module}::")) || file == LIST && has(text, &format!("{module}::"));
        let by_name = |name: &&str| has(text, &format!("\"{name}\"")) && !is_otherwise(name, file);
        is_own(file) || as_module || names.iter().any(by_name)
    };
    let taken = sources.iter().filter(|(file, text)| takes(file, text));
    taken.map(|(file, _)| if is_own(file) { own.clone() } else { file.clone() }).collect()
}

#[test]
fn a_format_is_its_file_and_its_place_in_the_list() {
    let crates = shared::crates().into_iter().map(|name| format!("crates/{name}/src"));
    let all: BTreeMap<String, String> =
        crates.chain(["fuzz/src".to_string()]).flat_map(|folder| sources(&folder)).collect();
    let list = all[LIST].clone();
    let modules: Vec<&str> = list.lines().filter_map(|l| l.strip_prefix("mod ")?.strip_suffix(';')).collect();
    let mut names = 0;
    for module in &modules {
        let is_own = |file: &String| {
            file.starts_with(&format!("{FOLDER}{module}.")) || file.starts_with(&format!("{FOLDER}{module}/"))
        };
        let own: String =
            all.iter().filter(|(file, _)| is_own(file)).map(|(_, text)| text.as_str()).collect();
        let of_module = |name: &&&str| own.contains(&format!("name: \"{name}\""));
        let known: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
        let own_names: Vec<&str> = known.iter().filter(of_module).copied().collect();
        let edits = edits(&all, module, &own_names);
        println!("{module}: {} edits", edits.len());
        assert_eq!(
            edits,
            [format!("{FOLDER}{module}"), LIST.to_string()].into(),
            "{module} is more than 2 edits"
        );
        names += own_names.len();
    }
    assert_eq!(names, FORMATS.len(), "each format is in the file of a module of the list");
}

#[test]
fn a_third_edit_is_found() {
    let file = |name: &str| format!("{FOLDER}{name}");
    let mut sources: BTreeMap<String, String> = [
        (file("new/mod.rs"), "name: \"new-one\", use crate::formats::new::rows;".to_string()),
        (LIST.to_string(), "mod new;\n&new::FORMAT,".to_string()),
        ("crates/run/src/a.rs".to_string(), "renew::FORMAT; \"new-one:time=us\"".to_string()),
    ]
    .into();
    assert_eq!(edits(&sources, "new", &["new-one"]).len(), 2);
    for third in ["match name { \"new-one\" => 1 }", "use crate::formats::new::FORMAT;"] {
        sources.insert("crates/run/src/b.rs".to_string(), third.to_string());
        assert_eq!(edits(&sources, "new", &["new-one"]).len(), 3, "{third}");
    }
}
