//! Does the format of state files follow from what is written into them? `file/layout.txt` lists the declarations of all
//! that is, as the sources have them, and the format's number is its hash.

use crate::sources::{root, sources, without_comments};
use std::collections::BTreeSet;
use std::fs;

/// The crates whose types stand in states: what is counted and remembered, and the values that it is made of.
const CRATES: [&str; 7] = ["units", "flash", "device", "counters", "ftl", "schemes", "sim"];

/// An item up to its end, which is a semicolon or the brace that closes its first one.
fn item(code: &str) -> &str {
    let mut depth = 0;
    for (at, mark) in code.char_indices() {
        match mark {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 && (mark == '}' || mark == ';') {
            return &code[..=at];
        }
    }
    code
}

/// What of a source says how something is written: structs and enums that are read back, and what does so by hand.
fn declarations(text: &str) -> Vec<String> {
    let code = without_comments(text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default());
    let derives = code.match_indices("#[derive(").filter_map(|(at, _)| {
        let rest = &code[at..];
        let end = rest.find(")]")? + 2;
        let is_written = ["Deserialize", "Pod"].iter().any(|name| rest[..end].contains(name));
        is_written.then(|| item(&rest[end..]))
    });
    let by_hand = code.match_indices("\nimpl").map(|(at, _)| item(&code[at + 1..])).filter(|body| {
        let head = body.split('{').next().unwrap_or_default();
        [" Saved for", "Serialize for", "Deserialize<'de> for"].iter().any(|of| head.contains(of))
    });
    let counters = code.match_indices("\ncounters! {").map(|(at, _)| item(&code[at + 1..]));
    let one_line = |item: &str| {
        let words = item.replace("pub(crate) ", "").replace("pub ", "");
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    derives.chain(by_hand).chain(counters).map(one_line).collect()
}

#[test]
fn format_follows_from_the_layout() {
    let crates = root().join("crates");
    let texts = CRATES.iter().flat_map(|name| sources(&crates.join(name).join("src")).into_values());
    let all: BTreeSet<String> = texts.flat_map(|text| declarations(&text)).collect();
    let layout = all.into_iter().fold(String::new(), |text, line| text + &line + "\n");
    let path = crates.join("ftl/src/file/layout.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &layout).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default().replace('\r', "");
    let (new, old): (BTreeSet<&str>, BTreeSet<&str>) =
        (layout.lines().collect(), committed.lines().collect());
    let changed: Vec<&&str> = new.symmetric_difference(&old).collect();
    assert!(
        changed.is_empty(),
        "what state files hold has changed, so their format does; BLESS=1 rewrites file/layout.txt:\n{changed:#?}"
    );
}

#[test]
fn a_field_a_type_and_an_order_are_part_of_the_layout() {
    let of = |text: &str| declarations(text);
    let told = of(
        "/// It.\n#[derive(Clone, Deserialize)]\n#[serde(transparent)]\npub struct A {\n    /// b\n    pub b: u64, // c\n}\nfn f() {}\n",
    );
    assert_eq!(told, ["#[serde(transparent)] struct A { b: u64, }"]);
    assert_eq!(of("#[derive(Pod)]\nstruct B(u32);\nstruct C;"), ["struct B(u32);"]);
    assert_eq!(of("#[derive(Clone)]\nstruct D(u32);"), [""; 0]);
    assert_eq!(
        of("\nimpl Saved for E {\n    saved! { E, values: [a, b], parts: [], rebuilt: [c] }\n}\n"),
        ["impl Saved for E { saved! { E, values: [a, b], parts: [], rebuilt: [c] } }"]
    );
}
