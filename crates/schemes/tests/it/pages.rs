//! One page of the documentation a scheme, from the head of its file: the pages in `docs/schemes` are
//! those of the code. `BLESS=1` rewrites them.

use std::path::{Path, PathBuf};
use wordline_schemes::{Entry, all};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemes")
}

/// The head of a scheme's file, as Markdown.
fn page(entry: &Entry) -> String {
    let head = entry.docs.lines().map_while(|l| l.strip_prefix("//!"));
    let text: Vec<&str> = head.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect();
    let file = entry.name.replace('-', "_");
    format!(
        "{}\n\n---\n\n`--scheme {}`; the head of [{file}.rs](../../crates/schemes/src/{file}.rs), written by \
         `make bless`.\n",
        text.join("\n").trim(),
        entry.name
    )
}

fn index() -> String {
    let mut text =
        "# Schemes\n\nOne file each in [crates/schemes/src](../../crates/schemes/src), and a page from its \
                    head.\n\n| scheme | what it does |\n|---|---|\n"
            .to_string();
    for entry in all() {
        text += &format!("| [{0}]({0}.md) | {1} |\n", entry.name, entry.title);
    }
    text
}

fn is_committed(name: &str, text: &str) {
    let path = folder().join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "docs/schemes/{name} is not what the code says; `make bless` rewrites it");
}

#[test]
fn every_scheme_has_the_page_that_its_file_says() {
    is_committed("README.md", &index());
    for entry in all() {
        is_committed(&format!("{}.md", entry.name), &page(entry));
    }
}

#[test]
fn there_is_no_page_of_a_scheme_that_is_gone() {
    let mut known: Vec<String> = all().iter().map(|e| format!("{}.md", e.name)).collect();
    known.push("README.md".to_string());
    for file in std::fs::read_dir(folder()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name), "docs/schemes/{name} is of no scheme");
    }
}
