//! Is the scheme that CONTRIBUTING.md shows one that compiles? Its text is `tests/sample/my_scheme.rs`, which is a module
//! of the crate when that is tested.

use std::path::Path;

const SAMPLE: &str = include_str!("../sample/my_scheme.rs");

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// The fence of CONTRIBUTING.md that begins with a scheme's head, without its indentation.
fn shown(document: &str) -> String {
    let (_, behind) = document.split_once("```rust\n").unwrap();
    let lines = behind.lines().take_while(|line| line.trim() != "```");
    lines.map(|line| format!("{}\n", line.strip_prefix("   ").unwrap_or(line))).collect()
}

#[test]
fn scheme_in_contributing_is_the_compiled_one() {
    assert!(
        shown(&read("CONTRIBUTING.md")) == SAMPLE,
        "CONTRIBUTING.md does not show tests/sample/my_scheme.rs"
    );
}

#[test]
fn contributing_names_every_hook() {
    let document = read("CONTRIBUTING.md");
    let hooks = read("crates/ftl/src/scheme.rs");
    let (_, body) = hooks.split_once("pub trait Scheme").unwrap();
    let body = body.split_once("\n}\n").unwrap().0;
    let methods = body.lines().filter_map(|line| line.strip_prefix("    fn ")?.split('(').next());
    let missing: Vec<&str> = methods.filter(|name| !document.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "CONTRIBUTING.md does not name {missing:?}");
}
