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

#[test]
fn where_data_may_lie_in_any_plane_those_of_a_cache_go_where_there_is_room() {
    goes_on(&[(7_001_020, 481, "turbo-write:static_blocks=2,dynamic_blocks=0,idle_after=100us")]);
}

#[test]
fn idle_work_that_follows_its_page_is_over_where_it_ends() {
    goes_on(&[
        (10_006_464, 6, "hyssd:policy=perf,tlc_unit=packed,period=1,step=7%,idle_after=100us"),
        (10_024_087, 467, "hyssd:u=0.07,tlc_unit=unpacked,period=2,step=10%,age=1,idle_after=100us"),
    ]);
}

#[test]
fn a_page_of_the_map_that_is_being_read_is_not_read_once_more() {
    goes_on(&[(8_002_346, 23, "protected-buffer")]);
}

#[test]
fn a_move_in_a_group_does_not_wait_for_moves_that_wait_for_its_place() {
    goes_on(&[(9_005_289, 148, "hyssd:policy=static,period=5,step=10%,age=0+conventional:program=one-shot")]);
}

#[test]
fn a_program_that_is_sent_to_another_plane_finds_the_slot_for_which_it_is_sent() {
    goes_on(&[(7_108_009_464, 440, "fast-then-dense")]);
    all_go_on(&at_the_edge(), &[(205, 251, "fast-then-dense")]);
}

#[test]
fn blocks_of_the_initial_state_are_victims_by_what_emptying_them_costs() {
    goes_on(&[(8_529_004_673, 131, "hierarchy:window=16")]);
}

#[test]
fn where_data_may_lie_in_any_plane_a_collection_in_another_makes_room() {
    let scheme = "turbo-write:static_blocks=2,dynamic_blocks=0,idle_after=100us";
    all_go_on(&at_the_edge(), &[(8_429, 235, scheme)]);
}

#[test]
fn what_may_lie_in_any_plane_leaves_others_a_place() {
    all_go_on(
        &at_the_edge(),
        &[
            (10, 156, "hierarchy:division=page,runs=any,window=8"),
            (22_023, 368, "sector:static_blocks=3"),
            (42_205, 291, "hierarchy:window=16"),
        ],
    );
}

#[test]
fn a_group_that_is_padded_when_the_drive_is_drained_finds_room() {
    all_go_on(&at_the_edge(), &[(22_543, 27, "hierarchy:window=16")]);
}

#[test]
fn a_page_that_is_being_packed_waits_for_its_own_time_when_the_group_before_it_leaves() {
    all_go_on(&at_the_edge(), &[(5_005_055, 446, "restless+hot-cold:hot=30%")]);
}

/// It went on, but with a wrong count: a page of two units was packed as one unit of another page.
#[test]
fn units_of_a_group_that_is_taken_apart_share_pages_anew() {
    goes_on(&[(6_002_078, 214, "hotness:warm=1,hot=5,heat=logical,decay=2,reclaim_below=10%")]);
}
