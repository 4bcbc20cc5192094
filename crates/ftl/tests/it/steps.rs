//! Does a step of `flow` take the parts that it uses by name? It may take the whole `Layer` where it uses more than three of
//! its parts, with those of the steps that it calls, or where the parts would be too many parameters.

use crate::sources::{code_of, root, sources};
use std::collections::{BTreeMap, BTreeSet};

/// The most parts that a step takes by name, and the most parameters of a function.
const PARTS: usize = 3;
const PARAMETERS: usize = 5;

/// A step that takes the whole layer.
struct Step {
    /// How many parameters it has beside the layer.
    others: usize,
    parts: BTreeSet<String>,
    /// The steps that it hands the layer on to.
    calls: BTreeSet<String>,
    /// Whether it does something else with the whole layer.
    needs_all: bool,
}

/// A text that begins with a bracket, up to the one that closes it.
fn bracketed(text: &str) -> &str {
    let mut open = 0;
    let end = text.char_indices().find(|(_, mark)| {
        open += i32::from("([{".contains(*mark)) - i32::from(")]}".contains(*mark));
        open == 0
    });
    end.map_or(text, |(at, _)| &text[..=at])
}

/// The word at the end of a text.
fn last_word(text: &str) -> &str {
    let text = text.trim_end();
    &text[text.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1)..]
}

/// The word at the beginning of a text.
fn first_word(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())]
}

/// The function whose parameter stands behind a text, if one does.
fn called(before: &str) -> Option<&str> {
    let mut closed = 0;
    let open = before.char_indices().rev().find(|(_, mark)| {
        closed += i32::from(")]}".contains(*mark)) - i32::from("([{".contains(*mark));
        closed < 0
    });
    let name = last_word(&before[..open.filter(|(_, mark)| *mark == '(')?.0]);
    (!name.is_empty()).then_some(name)
}

/// The steps of a source that take the whole layer, by name.
fn steps(source: &str) -> Vec<(String, Step)> {
    let code = code_of(source.split("#[cfg(test)]\nmod ").next().unwrap_or_default());
    let functions = code.match_indices("fn ").map(|(at, _)| &code[at + 3..]);
    let of_layer = functions.filter_map(|function| {
        let head = bracketed(&function[function.find('(')?..]);
        let takes = ["(layer: &mut Layer", "(layer: &Layer"].iter().any(|first| {
            head.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").starts_with(first)
        });
        let after = &function[function.find('(')? + head.len()..];
        let body = bracketed(&after[after.find('{')?..]);
        takes.then(|| (first_word(function).to_string(), step(head, body)))
    });
    of_layer.collect()
}

fn step(head: &str, body: &str) -> Step {
    let mut open = 0;
    let mut others = 0;
    for mark in head.trim_end_matches([')', ',', ' ', '\n']).chars() {
        open += i32::from("([<".contains(mark)) - i32::from(")]>".contains(mark));
        others += usize::from(mark == ',' && open == 1);
    }
    let mut step = Step { others, parts: BTreeSet::new(), calls: BTreeSet::new(), needs_all: false };
    for (at, _) in body.match_indices("layer") {
        let (before, after) = (&body[..at], &body[at + "layer".len()..]);
        if before.ends_with(|c: char| c.is_alphanumeric() || "_.:".contains(c))
            || after.starts_with(|c: char| c.is_alphanumeric() || "_:".contains(c))
        {
            continue;
        }
        if let Some(field) = after.trim_start().strip_prefix('.') {
            step.parts.insert(first_word(field).to_string());
        } else if let Some(name) = called(before.trim_end_matches("&mut ").trim_end_matches('&')) {
            step.calls.insert(name.to_string());
        } else {
            step.needs_all = true;
        }
    }
    step
}

/// The steps that take the whole layer, and could take what they use of it by name.
fn could_take_parts(files: &BTreeMap<String, String>) -> Vec<String> {
    let all: Vec<(String, Step)> = files.values().flat_map(|source| steps(source)).collect();
    let mut whole: BTreeSet<&str> = BTreeSet::new();
    // What hands the layer on needs what those steps need: all of it, or their parts.
    loop {
        let mut found = vec![];
        let mut further = vec![];
        for (name, step) in &all {
            let mut parts = step.parts.clone();
            let mut ahead: Vec<&str> = step.calls.iter().map(String::as_str).collect();
            let mut seen: BTreeSet<&str> = BTreeSet::new();
            let mut needs_all = step.needs_all;
            while let Some(callee) = ahead.pop().filter(|_| !needs_all) {
                let named: Vec<&Step> = all.iter().filter(|(n, _)| n == callee).map(|(_, s)| s).collect();
                needs_all = named.is_empty() || whole.contains(callee) || named.iter().any(|s| s.needs_all);
                for step in named.iter().filter(|_| seen.insert(callee)) {
                    parts.extend(step.parts.iter().cloned());
                    ahead.extend(step.calls.iter().map(String::as_str));
                }
            }
            if needs_all || parts.len() > PARTS || step.others + parts.len() > PARAMETERS {
                further.extend((!whole.contains(name.as_str())).then_some(name.as_str()));
            } else {
                let parts: Vec<String> = parts.into_iter().collect();
                found.push(format!("{name} takes the whole layer for {}", parts.join(", ")));
            }
        }
        if further.is_empty() {
            return found;
        }
        whole.extend(further);
    }
}

#[test]
fn steps_take_their_parts_by_name() {
    let files = sources(&root().join("crates/ftl/src/flow"));
    let all: usize = files.values().map(|source| steps(source).len()).sum();
    assert!(all > 100, "only {all} steps are read");
    let found = could_take_parts(&files);
    assert!(found.is_empty(), "{}\ntake these parts by name, as the other steps do", found.join("\n"));
}

#[test]
fn step_with_few_parts_is_found() {
    let said = |source: &str| {
        could_take_parts(&BTreeMap::from([("x.rs".to_string(), source.to_string())])).join("; ")
    };
    let of = |body: &str| said(&format!("pub(crate) fn f(layer: &mut Layer, id: OpId) -> u8 {{ {body} }}"));
    assert_eq!(of("layer.out.ask(id); layer.state.now"), "f takes the whole layer for out, state");
    assert_eq!(of("a(&layer.a, &mut layer.b, &layer.c, &layer.d)"), "");
    // What is called counts, and a name in a text or of something else does not.
    assert_eq!(
        of("other.layer.x(\"layer.y\"); layer_of(layer::Z); layer.a"),
        "f takes the whole layer for a"
    );
    assert_eq!(
        of("g(layer, 1) } fn g(layer: &Layer, n: u8) { layer.b"),
        "f takes the whole layer for b; g takes the whole layer for b"
    );
    assert_eq!(of("g(layer) } fn g(layer: &Layer) { layer.a(layer.b, (layer.c), layer.d)"), "");
    assert_eq!(of("let Layer { state, .. } = layer; state"), "");
    assert_eq!(of("elsewhere(layer)"), "");
    // Three parts beside three others are too many parameters.
    let others = "fn f(\n    layer: &mut Layer,\n    a: u8,\n    (b, c): (u8, u8),\n    d: u8,\n) {";
    assert_eq!(said(&format!("{others} layer.x + layer.y + layer.z }}")), "");
    assert_eq!(said(&format!("{others} layer.x + layer.y }}")), "f takes the whole layer for x, y");
}
