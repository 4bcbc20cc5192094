//! Do the crates stand as ARCHITECTURE.md and crates/README.md say, and the files of each: in rooms, each of which imports only from those
//! above it, with no circle of files, and none too long to be read at once?
//!
//! Document and test have one list of crates, its table, and one of each crate's rooms: a fence ` ```rooms
//! crates/ftl/src ` with the rooms from the top down, one a line or several with commas between them. A crate without
//! such a fence is held to all but rooms.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

use crate::sources::{code_of, crates, root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The most lines of a file.
const LONGEST: usize = 500;

/// Files that may be longer, since they are flat tables, by their path in the repository; each with its reason.
const FLAT_TABLES: [&str; 0] = [];

/// The sources of a crate by their path below `src`, and its rooms from the top down, none where it has no list.
struct Crate {
    sources: BTreeMap<String, String>,
    rooms: Vec<String>,
}

/// The words of code, with `::` as one, and every other mark by itself.
fn words(code: &str) -> Vec<&str> {
    let mut words = vec![];
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ':' if rest.starts_with("::") => 2,
            c if c.is_alphanumeric() || c == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

/// The paths that a tree of an import names, each with what stands before it. Returns the word behind the tree.
fn paths(words: &[&str], mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    loop {
        match words.get(at) {
            Some(&"{") => {
                at += 1;
                while words.get(at).is_some_and(|word| *word != "}") {
                    let from = at;
                    at = paths(words, at, &path, found);
                    if words.get(at) == Some(&",") || at == from {
                        at += 1;
                    }
                }
                return at + 1;
            }
            Some(&"self") if !path.is_empty() => {}
            Some(word) => path.push(word.to_string()),
            None => {}
        }
        at += 1;
        if words.get(at) != Some(&"::") {
            break;
        }
        at += 1;
    }
    found.push(path);
    if words.get(at) == Some(&"as") { at + 2 } else { at }
}

/// Whether a file is the root of a crate, which stands in no room: it names what others may use.
fn is_root(file: &str) -> bool {
    ["lib.rs", "main.rs"].contains(&file)
}

/// The path of the module that a file is.
pub fn module_of(file: &str) -> Vec<String> {
    if is_root(file) {
        return vec![];
    }
    let path = file.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.split('/').map(str::to_string).collect()
}

/// The words of a file; without what a root hands on to others, which is none of its own affairs.
fn words_of<'a>(file: &str, code: &'a str) -> Vec<&'a str> {
    let mut words = words(code);
    while let Some(at) = words.windows(2).position(|w| w == ["pub", "use"]).filter(|_| is_root(file)) {
        let length = words[at..].iter().position(|word| *word == ";").unwrap_or(words.len() - at - 1);
        words.drain(at..=at + length);
    }
    words
}

/// Every path within the crate that a file names, from the crate's root on.
fn named(file: &str, source: &str) -> Vec<Vec<String>> {
    let code = code_of(source);
    let words = words_of(file, &code);
    let own = module_of(file);
    let mods = words.windows(3).filter(|w| w[0] == "mod" && w[2] == ";");
    let children: BTreeSet<&str> = mods.map(|w| w[1]).collect();
    let mut found = vec![];
    // Of each brace that is open, whether it is that of a module within the file.
    let mut open: Vec<bool> = vec![];
    for (at, word) in words.iter().enumerate() {
        let within = open.iter().filter(|is_module| **is_module).count();
        let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at]);
        match *word {
            "{" => open.push(before(2) == "mod"),
            "}" => _ = open.pop(),
            _ => {}
        }
        if words.get(at + 1) != Some(&"::") || ["::", "$"].contains(&before(1)) {
            continue;
        }
        let start = match *word {
            "crate" | "super" | "self" => at,
            child if within == 0 && children.contains(child) => at,
            _ => continue,
        };
        let mut here = vec![];
        paths(&words, start, &[], &mut here);
        found.extend(here.into_iter().filter_map(|path| from_root(&own, within, path)));
    }
    found
}

/// A path as seen from the root, of a file whose inner modules are so many deep here; none for what lies in the file.
fn from_root(own: &[String], within: usize, path: Vec<String>) -> Option<Vec<String>> {
    let up = path.iter().take_while(|part| *part == "super").count();
    match path[0].as_str() {
        "crate" => Some(path[1..].to_vec()),
        "super" if up <= within => None,
        "super" => Some([&own[..own.len() - (up - within).min(own.len())], &path[up..]].concat()),
        "self" if within > 0 => None,
        "self" => Some([own, &path[1..]].concat()),
        _ => Some([own, &path[..]].concat()),
    }
}

impl Crate {
    /// The room of a file, by its number from the top.
    fn room(&self, file: &str) -> Option<usize> {
        let top = file.split('/').next()?;
        self.rooms.iter().position(|room| room == top)
    }

    /// The file in which a path ends.
    fn file_of(&self, path: &[String]) -> Option<String> {
        (1..=path.len()).rev().find_map(|parts| {
            let base = path[..parts].join("/");
            let files = [format!("{base}.rs"), format!("{base}/mod.rs")];
            files.into_iter().find(|file| self.sources.contains_key(file))
        })
    }

    /// Whether an item stands in lib.rs itself.
    fn is_in_lib(&self, item: &str) -> bool {
        let code = code_of(self.sources.get("lib.rs").map_or("", String::as_str));
        let kinds = ["fn", "const", "static", "struct", "enum", "trait", "type", "mod"];
        words(&code).windows(2).any(|w| kinds.contains(&w[0]) && w[1] == item)
    }

    /// What is wrong with it, whose folder is `folder`.
    fn complaints(&self, folder: &str) -> Vec<String> {
        let mut complaints = vec![];
        let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (file, source) in &self.sources {
            let room = self.room(file);
            if room.is_none() && !self.rooms.is_empty() && !is_root(file) {
                complaints.push(format!("{file} stands in none of the rooms"));
            }
            for path in named(file, source) {
                let other = match self.file_of(&path) {
                    Some(other) => other,
                    None if path.first().is_none_or(|item| self.is_in_lib(item)) => "lib.rs".to_string(),
                    None => {
                        complaints.push(format!("{file} imports {} by way of lib.rs", path.join("::")));
                        continue;
                    }
                };
                if room.is_some_and(|room| self.room(&other).is_some_and(|above| above > room)) {
                    complaints.push(format!("{file} imports upwards from {other}"));
                }
                if other != *file {
                    imports.entry(file.clone()).or_default().insert(other);
                }
            }
        }
        complaints.extend(circle(&imports).map(|files| format!("a circle of files: {}", files.join(" -> "))));
        for (file, source) in &self.sources {
            let lines = source.lines().count();
            if lines > LONGEST && !FLAT_TABLES.contains(&format!("{folder}/{file}").as_str()) {
                complaints.push(format!("{file} has {lines} lines, and {LONGEST} are the most"));
            }
        }
        for room in &self.rooms {
            if !self.sources.keys().any(|file| file.split('/').next() == Some(room)) {
                complaints.push(format!("there is no room {room}"));
            }
        }
        complaints.sort();
        complaints.dedup();
        complaints
    }
}

/// Files that import each other in a circle, the first one again at the end.
fn circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|file| circle_from(file, imports, &mut vec![], &mut done))
}

fn circle_from(
    file: &str,
    imports: &BTreeMap<String, BTreeSet<String>>,
    way: &mut Vec<String>,
    done: &mut BTreeSet<String>,
) -> Option<Vec<String>> {
    if let Some(at) = way.iter().position(|before| before == file) {
        return Some(way[at..].iter().cloned().chain([file.to_string()]).collect());
    }
    if done.contains(file) {
        return None;
    }
    way.push(file.to_string());
    let others = imports.get(file).into_iter().flatten();
    let found = others.into_iter().find_map(|other| circle_from(other, imports, way, done));
    way.pop();
    done.insert(file.to_string());
    found
}

/// The rooms that a line of a list names: its first word, and what follows a comma.
fn rooms_of(line: &str) -> Vec<String> {
    let mut rooms = vec![];
    for word in line.split_whitespace() {
        rooms.push(word.trim_end_matches(',').to_string());
        if !word.ends_with(',') {
            break;
        }
    }
    rooms
}

/// The order of the crates and of their rooms, as it is written down.
fn written_down() -> String {
    ["ARCHITECTURE.md", "crates/README.md"]
        .map(|page| fs::read_to_string(root().join(page)).unwrap())
        .concat()
}

/// The crates whose rooms are listed, by their folder.
fn listed(document: &str) -> BTreeMap<&str, Vec<String>> {
    let fences = document.split("\n```rooms ").skip(1);
    let fences = fences.map(|fence| fence.split("\n```").next().unwrap_or(""));
    fences
        .map(|fence| {
            let (folder, rooms) = fence.split_once('\n').unwrap_or((fence, ""));
            (folder.trim(), rooms.lines().flat_map(rooms_of).collect())
        })
        .collect()
}

/// The crates in the table of ARCHITECTURE.md, from the top down.
fn table(document: &str) -> Vec<&str> {
    let rows = document.split("| crate |").nth(1).unwrap_or("").lines().skip(2);
    let cells = rows.map_while(|row| row.strip_prefix("| ")?.split(" |").next());
    cells.flat_map(|cell| cell.split(", ").map(|name| name.trim_matches('`'))).collect()
}

/// The crates of this repository that one is made of, by its Cargo.toml.
fn made_of(manifest: &str) -> Vec<&str> {
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| line.strip_prefix("wordline-")?.split(['.', ' ']).next()).collect()
}

/// What is wrong with the order of crates: each with its Cargo.toml.
fn of_crates(table: &[&str], crates: &BTreeMap<String, String>) -> Vec<String> {
    let at = |name: &str| table.iter().position(|other| *other == name);
    let mut complaints = vec![];
    for (name, manifest) in crates {
        let Some(place) = at(name) else {
            complaints.push(format!("{name} is not in the table of crates"));
            continue;
        };
        let below =
            made_of(manifest).into_iter().filter(|other| at(other).is_none_or(|other| other >= place));
        complaints.extend(below.map(|other| format!("{name} uses {other}, which is not above it")));
    }
    let gone = table.iter().filter(|name| !crates.contains_key(**name));
    complaints.extend(gone.map(|name| format!("there is no crate {name}")));
    complaints
}

/// The folders of benches that are programs of several files.
fn benches() -> Vec<String> {
    let mut found = vec![];
    for name in crates() {
        let folder = format!("crates/{name}/benches");
        let Ok(entries) = fs::read_dir(root().join(&folder)) else { continue };
        for program in entries.map(Result::unwrap).filter(|entry| entry.path().join("main.rs").is_file()) {
            if sources(&program.path()).len() > 1 {
                found.push(format!("{folder}/{}", program.file_name().into_string().unwrap()));
            }
        }
    }
    found
}

#[test]
fn a_crate_uses_only_crates_above_it() {
    let document = written_down();
    let manifest =
        |name: &String| fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
    let crates = crates().into_iter().map(|name| (name.clone(), manifest(&name))).collect();
    let complaints = of_crates(&table(&document), &crates);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Sources with tests that never run, since the manifest says `test = false` of their library or program.
fn never_run<'a>(manifest: &str, sources: &'a BTreeMap<String, String>) -> Vec<&'a str> {
    let is_left_out = |target: &str| {
        let table = manifest.split("\n[").find(|table| table.starts_with(target));
        table.is_some_and(|table| table.lines().any(|line| line == "test = false"))
    };
    let (lib, main) = (is_left_out("lib]"), is_left_out("[bin]]"));
    let left_out = sources.iter().filter(|(file, _)| if *file == "main.rs" { main } else { lib });
    left_out.filter(|(_, source)| source.contains("#[test]")).map(|(file, _)| file.as_str()).collect()
}

#[test]
fn what_is_not_built_for_tests_has_none() {
    for name in crates() {
        let folder = root().join("crates").join(&name);
        let files = sources(&folder.join("src"));
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert_eq!(never_run(&manifest, &files), Vec::<&str>::new(), "{name}: take away its `test = false`");
    }
    let files = ["main.rs", "one.rs"].map(|file| (file.to_string(), "#[test]\nfn f() {}".to_string())).into();
    let said = |manifest: &str| never_run(&format!("[package]\n\n{manifest}"), &files);
    assert_eq!(said("[lib]\ntest = false\n\n[[bin]]\n"), ["one.rs"]);
    assert_eq!(said("[lib]\ndoctest = false\n\n[[bin]]\ntest = false\n"), ["main.rs"]);
}

#[test]
fn files_import_only_from_rooms_above_without_circles() {
    let document = written_down();
    let listed = listed(&document);
    assert!(listed.contains_key("crates/ftl/src"), "no list of rooms was found");
    let mut folders: Vec<String> = crates().iter().map(|name| format!("crates/{name}/src")).collect();
    folders.extend(benches());
    for folder in listed.keys().filter(|folder| **folder != FLOW) {
        assert!(folders.iter().any(|other| other == folder), "{folder} is no crate");
    }
    let mut all = vec![];
    for folder in &folders {
        let files = sources(&root().join(folder));
        let rooms = listed.get(folder.as_str()).cloned().unwrap_or_default();
        let complaints = Crate { sources: files, rooms }.complaints(folder);
        all.extend(complaints.into_iter().map(|what| format!("{folder}: {what}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// The room of `ftl` that has rooms of its own.
const FLOW: &str = "crates/ftl/src/flow";

/// What is wrong with the imports between the rooms of `flow`: each may import only from the rooms above it.
fn of_flow(files: &BTreeMap<String, String>, rooms: &[String]) -> Vec<String> {
    let room = |top: &str| rooms.iter().position(|room| room.trim_end_matches(".rs") == top);
    let mut complaints = vec![];
    for (file, source) in files.iter().filter(|(file, _)| **file != "mod.rs") {
        let own = room(file.split('/').next().unwrap().trim_end_matches(".rs"));
        if own.is_none() {
            complaints.push(format!("{file} stands in none of the rooms"));
        }
        for path in named(&format!("flow/{file}"), source).iter().filter(|path| path[0] == "flow") {
            if room(&path[1]) > own {
                complaints.push(format!("{file} imports {}, which is not above it", path[1..].join("::")));
            }
        }
    }
    complaints
}

#[test]
fn a_room_of_the_flow_imports_only_from_rooms_above_it() {
    let document = written_down();
    let files = sources(&root().join(FLOW));
    let rooms = listed(&document).get(FLOW).cloned().unwrap_or_default();
    assert!(rooms.len() > 5, "no list of rooms was found");
    let complaints = of_flow(&files, &rooms);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));

    let files = [
        ("low.rs", "use crate::flow::top::a::{one, two};"),
        ("top/a.rs", "use crate::flow::low::three; use crate::state::op::Op;"),
    ];
    let files = files.map(|(file, source)| (file.to_string(), source.to_string())).into();
    let rooms = ["low.rs", "top"].map(str::to_string);
    let upwards = ["one", "two"].map(|name| format!("low.rs imports top::a::{name}, which is not above it"));
    assert_eq!(of_flow(&files, &rooms), upwards);
    assert_eq!(of_flow(&files, &rooms[1..]).first().unwrap(), "low.rs stands in none of the rooms");
}

/// What is said of a small crate with rooms `low`, `top.rs` and `flow`, to one file of which a line has been added.
fn said(to: &str, line: &str) -> Vec<String> {
    let files = [
        ("lib.rs", "mod low; mod top; mod flow; pub use flow::a::A;"),
        ("low/mod.rs", "pub(crate) mod one; pub(crate) mod two;"),
        ("low/one.rs", "// crate::flow::a\npub struct One<'a>(&'a str); const S: &str = \"crate::flow::a\";"),
        ("low/two.rs", "use crate::low::one::One;\n#[cfg(test)]\nmod tests {\n use super::*; }"),
        ("top.rs", "macro_rules! of { () => { $crate::A } }\nuse crate::low::{one, two::{self, Two as T}};"),
        ("flow/mod.rs", "pub(crate) mod a; pub(crate) mod b;"),
        ("flow/a.rs", "use crate::top::Top;"),
        ("flow/b.rs", "use super::a::A; fn f() { crate::top::g() }"),
    ];
    let mut sources: BTreeMap<String, String> =
        files.iter().map(|(file, source)| (file.to_string(), source.to_string())).collect();
    sources.entry(to.to_string()).or_default().push_str(line);
    Crate { sources, rooms: ["low", "top.rs", "flow"].map(str::to_string).to_vec() }
        .complaints("crates/small/src")
}

#[test]
fn what_is_wrong_is_found_and_named() {
    assert_eq!(said("flow/b.rs", "\n"), Vec::<String>::new());
    assert_eq!(said("low/one.rs", "use crate::top::Top;")[1..], ["low/one.rs imports upwards from top.rs"]);
    assert_eq!(
        said("low/one.rs", "fn f() { crate::flow::a::f() }").last().unwrap(),
        "low/one.rs imports upwards from flow/a.rs"
    );
    assert_eq!(
        said("low/two.rs", "use super::super::{top::{Top}};").last().unwrap(),
        "low/two.rs imports upwards from top.rs"
    );
    assert_eq!(
        said("flow/a.rs", "use super::b::B;"),
        ["a circle of files: flow/a.rs -> flow/b.rs -> flow/a.rs"]
    );
    assert_eq!(said("flow/mod.rs", "use b::B;"), Vec::<String>::new());
    assert_eq!(
        said("flow/b.rs", "use crate::flow::C; use crate::A;"),
        ["flow/b.rs imports A by way of lib.rs"]
    );
    assert_eq!(said("flow/mod.rs", "use b::B; use crate::flow::a;"), Vec::<String>::new());
    assert_eq!(said("flow/mod.rs", "use b::B; mod c; fn f() { super::low::one::f() }"), Vec::<String>::new());
    assert_eq!(said("other.rs", ""), ["other.rs stands in none of the rooms"]);
    assert_eq!(said("flow/a.rs", &"\n".repeat(501)), ["flow/a.rs has 501 lines, and 500 are the most"]);
}

#[test]
fn without_rooms_there_is_still_no_circle() {
    let said = |lib: &str, one: &str| {
        let files = [("lib.rs", lib), ("one.rs", one), ("two.rs", "use crate::one::One;")];
        let sources = files.map(|(file, source)| (file.to_string(), source.to_string())).into();
        Crate { sources, rooms: vec![] }.complaints("crates/small/src")
    };
    let lib = "mod one; mod two; pub use two::Two; const LIST: [u8; 1] = [two::TWO];";
    assert_eq!(said(lib, ""), Vec::<String>::new());
    assert_eq!(said(lib, "use crate::two::Two;"), ["a circle of files: two.rs -> one.rs -> two.rs"]);
    assert_eq!(said(lib, "use crate::Two;"), ["one.rs imports Two by way of lib.rs"]);
    // By a list that stands in lib.rs itself.
    assert_eq!(said(lib, "use crate::LIST;"), ["a circle of files: lib.rs -> two.rs -> one.rs -> lib.rs"]);
}

#[test]
fn the_order_of_crates_and_lists_of_rooms_are_read() {
    let text = "| crate | what |\n|---|---|\n| `units` | words |\n| `cli`, `py` | faces |\n\n| other |\n";
    assert_eq!(table(text), ["units", "cli", "py"]);
    let uses = |name: &str| {
        format!("[dependencies]\nwordline-{name}.workspace = true\n\n[dev-dependencies]\nx = 1\n")
    };
    let crates = [("units", uses("cli")), ("cli", uses("units")), ("new", String::new())];
    let crates = crates.map(|(name, manifest)| (name.to_string(), manifest)).into();
    let expected = [
        "new is not in the table of crates",
        "units uses cli, which is not above it",
        "there is no crate py",
    ];
    assert_eq!(of_crates(&table(text), &crates), expected);
    let fence = "\n```rooms crates/a/src\nlow.rs, mid  what, and more\ntop\n```\n";
    assert_eq!(listed(fence)["crates/a/src"], ["low.rs", "mid", "top"]);
}
