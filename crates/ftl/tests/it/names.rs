//! Is every test named by a handle: a name that one reads at a glance and types after `cargo test`?

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

use crate::sources::{code_of, crates, root, sources};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// The most characters of a test's name: some 50, with room for a last word. The claim in full goes into a comment.
const LONGEST: usize = 56;

/// The names of the tests in Rust code: functions behind `#[test]`.
fn of_rust(code: &str) -> Vec<&str> {
    let after = code.split("#[test]").skip(1).filter_map(|rest| rest.split("fn ").nth(1));
    after.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("")).collect()
}

/// The names of the tests in a Python file: functions that begin with `test_`.
fn of_python(source: &str) -> Vec<&str> {
    let heads =
        source.lines().filter_map(|line| line.trim_start().trim_start_matches("async ").strip_prefix("def "));
    heads.filter_map(|head| head.split('(').next().filter(|name| name.starts_with("test_"))).collect()
}

/// The names of all tests of the repository, each with its file.
fn all() -> Vec<(String, String)> {
    let mut found = vec![];
    for name in crates() {
        for (file, source) in sources(&root().join("crates").join(&name)) {
            let code = code_of(&source);
            found.extend(of_rust(&code).into_iter().map(|test| (format!("{name}/{file}"), test.to_string())));
        }
    }
    for folder in ["python/tests", "lab/tests"] {
        for entry in fs::read_dir(root().join(folder)).unwrap().map(Result::unwrap) {
            let path: PathBuf = entry.path();
            if path.extension().is_some_and(|end| end == "py") {
                let source = fs::read_to_string(&path).unwrap();
                let file = path.display().to_string();
                found.extend(of_python(&source).into_iter().map(|test| (file.clone(), test.to_string())));
            }
        }
    }
    found
}

#[test]
fn test_names_have_at_most_56_characters() {
    let all = all();
    assert!(all.len() > 1500, "{} tests were found", all.len());
    let long: Vec<String> = all
        .iter()
        .filter(|(_, test)| test.len() > LONGEST)
        .map(|(file, test)| {
            format!("{file}: {test} has {} characters, and {LONGEST} are the most", test.len())
        })
        .collect();
    assert!(
        long.is_empty(),
        "{}\nname subject, verb and object; put the claim into a comment",
        long.join("\n")
    );
    assert_eq!(
        of_rust("#[test]\n#[ignore]\nfn one() {}\nfn helper() {}\n#[test] fn two_2()"),
        ["one", "two_2"]
    );
    assert_eq!(of_python("def help():\n    def test_a(x):\nasync def test_b():"), ["test_a", "test_b"]);
}

#[test]
fn test_filters_of_the_makefile_match_a_test() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let words = makefile.lines().filter(|line| line.contains("cargo test")).flat_map(str::split_whitespace);
    let filters: BTreeSet<&str> =
        words.filter(|word| word.contains("::") && !word.starts_with('-')).collect();
    assert!(filters.len() > 3, "{filters:?}");
    let all = all();
    for filter in filters {
        let (_, test) = filter.rsplit_once("::").unwrap();
        assert!(all.iter().any(|(_, name)| name.starts_with(test)), "no test begins with {filter}");
    }
}
