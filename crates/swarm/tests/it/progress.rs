//! Cases in which a drive stopped, kept by the rule of docs/progress.md that each broke. The scheme that a case draws is
//! named with it: where the drawing of cases changes, the test says so, and the case must be found anew or be let go.

use crate::swarm::{at_the_edge, swarm};
use wordline_swarm::Swarm;

/// Each case goes to its end, under the scheme that it is kept for.
fn goes_on(cases: &[(u64, u64, &str)]) {
    all_go_on(&swarm(), cases);
}

fn all_go_on(swarm: &Swarm, cases: &[(u64, u64, &str)]) {
    let others = cases.iter().filter_map(|(seed, length, scheme)| {
        let outcome = swarm.case(*seed, *length).unwrap_or_else(|failure| panic!("{failure}"));
        let other = outcome.scheme != *scheme;
        other.then(|| format!("case {seed}:{length} draws {} and no longer {scheme}", outcome.scheme))
    });
    let others: Vec<String> = others.collect();
    assert!(others.is_empty(), "{}", others.join("\n"));
}

// Where data may lie in any plane.
#[test]
fn cache_data_go_to_planes_with_room() {
    goes_on(&[(7_001_020, 481, "turbo-write:static_blocks=2,dynamic_blocks=0,idle_after=100us")]);
}

#[test]
fn map_page_being_read_is_not_read_again() {
    goes_on(&[(8_002_346, 23, "protected-buffer")]);
}

#[test]
fn program_sent_to_another_plane_finds_its_slot() {
    goes_on(&[(7_108_009_464, 440, "fast-then-dense")]);
    all_go_on(&at_the_edge(), &[(205, 251, "fast-then-dense")]);
}

// Where data may lie in any plane.
#[test]
fn gc_in_another_plane_makes_room() {
    let scheme = "turbo-write:static_blocks=2,dynamic_blocks=0,idle_after=100us";
    all_go_on(&at_the_edge(), &[(8_429, 235, scheme)]);
}

#[test]
fn group_padded_during_a_drain_finds_room() {
    all_go_on(&at_the_edge(), &[(22_543, 27, "hierarchy:window=16")]);
}
