//! The fuzz targets without a fuzzer: the corpus, what was found before, and some mutations.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::path::{Path, PathBuf};

fn inputs(folder: &str, target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(target);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(path).map_or(vec![], |dir| dir.map(|e| e.unwrap().path()).collect());
    paths.sort();
    paths.into_iter().map(|p| (p.clone(), std::fs::read(p).unwrap())).collect()
}

/// The inputs with which a target begins: what is committed, and its own.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let own = wordline_fuzz::seeds(target).into_iter().map(|seed| (PathBuf::from(target), seed));
    inputs("corpus", target).into_iter().chain(own).collect()
}

#[test]
fn every_committed_input_passes_its_target() {
    for target in wordline_fuzz::targets() {
        assert!(!corpus(target).is_empty(), "no corpus for {target}: add fuzz/corpus/{target}");
        for (path, data) in corpus(target).into_iter().chain(inputs("regressions", target)) {
            println!("{}", path.display());
            wordline_fuzz::run(target, &data);
        }
    }
}

#[test]
fn the_corpus_belongs_to_targets_there_are() {
    for folder in ["corpus", "regressions"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in std::fs::read_dir(path).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(wordline_fuzz::targets().contains(&name.as_str()), "{folder}/{name} has no target");
        }
    }
}

fn dictionary() -> Vec<Vec<u8>> {
    let text = include_str!("../dictionary.txt");
    let words = text.lines().filter_map(|l| l.strip_prefix('"')?.strip_suffix('"'));
    words.map(|w| w.replace("\\x0a", "\n").into_bytes()).collect()
}

/// One change to an input.
#[derive(Clone, Debug)]
enum Edit {
    Byte(prop::sample::Index, u8),
    Word(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(i, b)| Edit::Byte(i, b)),
        (at(), "[0-9.%:,=+-]").prop_map(|(i, c)| Edit::Byte(i, c.as_bytes()[0])),
        (at(), prop::sample::select(dictionary())).prop_map(|(i, w)| Edit::Word(i, w)),
        (at(), 1usize..12).prop_map(|(i, n)| Edit::Remove(i, n)),
        (at(), 1usize..40).prop_map(|(i, n)| Edit::Repeat(i, n)),
    ]
}

fn edited(mut data: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for edit in edits {
        match edit {
            _ if data.is_empty() => return data,
            Edit::Byte(i, byte) => {
                let i = i.index(data.len());
                data[i] = *byte;
            }
            Edit::Word(i, word) => {
                let i = i.index(data.len());
                data.splice(i..i, word.iter().copied());
            }
            Edit::Remove(i, n) => {
                let i = i.index(data.len());
                data.drain(i..(i + n).min(data.len()));
            }
            Edit::Repeat(i, n) => {
                let i = i.index(data.len());
                let again = data[i..(i + n).min(data.len())].to_vec();
                data.splice(i..i, again);
            }
        }
    }
    data
}

#[test]
fn no_mutation_of_the_corpus_panics() {
    for target in wordline_fuzz::targets() {
        let corpus: Vec<Vec<u8>> = corpus(target).into_iter().map(|(_, data)| data).collect();
        let config = Config {
            cases: 250,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(1),
            ..Config::default()
        };
        let inputs = (prop::sample::select(corpus), prop::collection::vec(edit(), 1..6));
        let outcome = TestRunner::new(config).run(&inputs, |(data, edits)| {
            wordline_fuzz::run(target, &edited(data, &edits));
            Ok(())
        });
        outcome.unwrap_or_else(|e| panic!("{target}: {e}"));
    }
}
