//! Is a new figure three edits: its counter, the line that counts, its row? The sources are read, and a fourth place that
//! names a counter fails.

#[path = "../../../ftl/tests/it/sources.rs"]
mod shared;

use std::collections::BTreeMap;

/// Counters from which `run` computes figures of another name: shares, bytes of units, outcomes by name.
const COMPUTED: [&str; 6] =
    ["idle_gc_bytes", "premature_units", "refreshed_units", "out_of_space", "uncorrectable", "worn_out"];

/// Counters whose names many other things have.
const COMMON: [&str; 3] = ["blocks", "bytes", "ended"];

/// The sources below a folder of `crates` by their path there, without comments.
fn sources(folder: &str) -> BTreeMap<String, String> {
    let all = shared::sources(&shared::root().join("crates").join(folder));
    all.into_iter()
        .map(|(file, text)| (format!("{folder}/{file}"), shared::without_comments(&text)))
        .collect()
}

/// The body of what begins so.
fn bodies<'a>(code: &'a str, head: &str) -> Vec<&'a str> {
    let begins = code.match_indices(head).map(|(at, _)| &code[at..]);
    begins
        .filter_map(|rest| Some(&rest[rest.find('{')?..rest.find("\n}").or(rest.find("\n    }"))?]))
        .collect()
}

/// Fields with their types, each of a line: `name: type`.
fn fields(body: &str) -> Vec<(&str, &str)> {
    let lines = body.lines().filter_map(|line| line.trim().trim_start_matches("pub ").split_once(": "));
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit());
    lines.filter(|(name, _)| is_name(name)).map(|(name, rest)| (name, rest.trim_end_matches(','))).collect()
}

/// The counters that are declared in this crate.
fn declared() -> Vec<String> {
    let all = sources("counters/src");
    let blocks = all.values().flat_map(|code| bodies(code, "\ncounters! {"));
    blocks
        .flat_map(|body| fields(body).into_iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>())
        .collect()
}

/// Fields of what the engine counts in besides, with their types: those that `run` can see.
fn counted_besides() -> Vec<(String, String)> {
    let at = [
        ("ftl/src/state/counters.rs", "pub struct Counters "),
        ("ftl/src/state/counters.rs", "pub struct RegionCounters "),
        ("sim/src/metrics.rs", "pub struct Measured "),
    ];
    let owned = |(name, kind): (&str, &str)| (name.to_string(), kind.to_string());
    at.into_iter()
        .flat_map(|(file, head)| {
            let code = sources(file).into_values().next().unwrap();
            let [body] = bodies(&code, head)[..] else { panic!("{file}: {head}") };
            let public: Vec<&str> = body.lines().filter(|line| line.trim().starts_with("pub ")).collect();
            fields(&public.join("\n")).into_iter().map(owned).collect::<Vec<_>>()
        })
        .collect()
}

/// Whether code names a field.
fn names(code: &str, field: &str) -> bool {
    code.match_indices(field).any(|(at, _)| {
        let after = code[at + field.len()..].chars().next();
        code[..at].ends_with('.') && !after.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '(')
    })
}

/// What names a counter where figures are put together or declared, in a sentence each.
fn copies(
    counters: &[String],
    filling: &BTreeMap<String, String>,
    schema: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut found = vec![];
    for (path, code) in filling {
        let named = counters.iter().filter(|name| names(code, name));
        found.extend(named.map(|name| format!("{path}: {name} is copied")));
    }
    for (path, code) in schema {
        let plain = fields(code).into_iter().filter(|(_, kind)| ["u64", "u32"].contains(kind));
        let again = plain.filter(|(name, _)| counters.iter().any(|counter| counter == name));
        found.extend(again.map(|(name, _)| format!("{path}: {name} is declared again")));
    }
    found
}

/// Counters that nobody but the engine and the table of figures may name.
fn kept_apart() -> Vec<String> {
    let besides = counted_besides();
    let is_plain = |kind: &str| ["u64", "u32"].contains(&kind);
    // Arrays that are summed up under the same names.
    let arrays = |name: &String| besides.iter().any(|(other, kind)| other == name && !is_plain(kind));
    let plain = besides.iter().filter(|(_, kind)| is_plain(kind)).map(|(name, _)| name.clone());
    let all = declared().into_iter().chain(plain);
    all.filter(|name| !arrays(name) && ![&COMPUTED[..], &COMMON].concat().contains(&name.as_str())).collect()
}

fn filling() -> BTreeMap<String, String> {
    let mut all = sources("run/src/fill");
    all.retain(|path, _| !path.ends_with("/hints.rs")); // advice reads figures, and is none
    all
}

#[test]
fn report_copies_no_counter() {
    let found = copies(&kept_apart(), &filling(), &sources("report/src/schema"));
    assert!(found.is_empty(), "declare counters in crates/counters, and nowhere else:\n{}", found.join("\n"));
}

#[test]
fn a_fourth_place_is_found() {
    let counters = kept_apart();
    assert!(["reads_from_ram", "reads_unmapped", "delays"].iter().all(|n| counters.iter().any(|c| c == n)));
    let file = |text: &str| BTreeMap::from([("x.rs".to_string(), text.to_string())]);
    let none = BTreeMap::new();
    for copy in [
        "reads_from_ram: c.flash.reads_from_ram,",
        "let lost = ftl.counters().reads_unmapped;",
        "waits: seconds(i.idle_s),",
        "FlashActivity { copies: r.ops.copy_backs as f64 }",
    ] {
        assert_eq!(copies(&counters, &file(copy), &none).len(), 1, "{copy}");
    }
    assert_eq!(copies(&counters, &none, &file("    pub reads_from_ram: u64,\n")).len(), 1);
    for figure in ["counts: c.flash.figures(),", "reads_from_ram: sum(),", "retries(r)"] {
        assert_eq!(copies(&counters, &file(figure), &none), [""; 0], "{figure}");
    }
}

#[test]
fn a_counter_with_a_row_is_in_three_places() {
    let declared = declared();
    let table = shared::root().join("crates/report/src/words/figures/figures.txt");
    let table = std::fs::read_to_string(table).unwrap();
    let engine: Vec<String> =
        sources("ftl/src").into_values().chain(sources("sim/src").into_values()).collect();
    let mut rows = 0;
    for counter in &declared {
        let of_row = |path: &&str| path.split('.').any(|key| key == counter);
        let paths = table.lines().filter_map(|line| line.split(" | ").next()).filter(of_row).count();
        let twice = declared.iter().filter(|other| *other == counter).count() - 1;
        rows += paths.min(1);
        assert!(twice == 0 || counter == "erases", "{counter} is declared twice");
        assert!(
            engine.iter().any(|code| names(code, counter)),
            "{counter} is declared, and nobody counts it"
        );
    }
    assert!(rows >= 8, "{rows}");
}
