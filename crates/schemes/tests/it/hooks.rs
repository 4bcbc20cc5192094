//! Is every hook that a scheme has called, under some of its parameters? `#[hooks]` enables what a scheme has; what its
//! layout switches off again must be on with another parameter.

use crate::support::{drives, layouts};
use wordline_device::DeviceSpec;
use wordline_ftl::{Hooks, Layout};
use wordline_schemes::{Entry, Parameter, all, build};

/// What the parameters of schemes take, besides the words of their descriptions.
const NUMBERS: [&str; 5] = ["1", "2", "8", "10%", "1us"];

/// The layouts of a spelling on the drives that it suits, and all hooks that it has.
fn laid_out(spelling: &str, specs: &[DeviceSpec]) -> (Hooks, Vec<Layout>) {
    let Ok(scheme) = build(spelling) else { return (Hooks::NONE, vec![]) };
    (scheme.answers(), layouts(&*scheme, specs))
}

/// A scheme as it is, and with each of its parameters at values that its description lists.
fn variants(entry: &Entry) -> Vec<String> {
    let values = |p: &Parameter| {
        let words = p.what.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty());
        words.chain(NUMBERS).map(|value| format!("{}:{}={value}", entry.name, p.key)).collect::<Vec<_>>()
    };
    let changed = entry.parameters.iter().flat_map(values);
    std::iter::once(entry.name.to_string()).chain(changed).collect()
}

#[test]
fn every_hook_that_a_scheme_has_is_called_under_some_of_its_parameters() {
    let specs = drives();
    let mut somewhere = Hooks::NONE;
    for entry in all() {
        let (mut has, mut called) = (Hooks::NONE, Hooks::NONE);
        for spelling in variants(entry) {
            let (answers, layouts) = laid_out(&spelling, &specs);
            has = has.union(answers);
            for layout in layouts {
                let ticks = if layout.tick_every_writes > 0 { Hooks::TICK } else { Hooks::NONE };
                called = called.union(layout.enabled_hooks).union(ticks);
            }
        }
        assert_eq!(has, called, "{} has hooks that are never called, or no drive suits it", entry.name);
        somewhere = somewhere.union(has);
    }
    assert_eq!(
        somewhere,
        Hooks::ALL.union(Hooks::TICK),
        "a hook that no scheme has, or whose name is unknown"
    );
}

#[test]
fn one_scheme_over_another_has_the_hooks_that_either_wants() {
    let specs = drives();
    let enabled = |spelling| laid_out(spelling, &specs).1.first().unwrap().enabled_hooks;
    let both = enabled("turbo-write").union(enabled("pa-ssd"));
    assert_eq!(enabled("turbo-write+pa-ssd"), both);
}
