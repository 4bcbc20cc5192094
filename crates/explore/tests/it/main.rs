//! No order of events stops a drive of a few blocks, or sends it round in circles; and the search finds those that do.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

use std::time::Duration;
use wordline_explore::{Found, Limits, Shape};
use wordline_schemes::Registry;

const LIMITS: Limits = Limits { states: 1_000_000, time: Duration::from_secs(120), faults: 1 };

#[test]
fn no_order_of_events_stalls_or_livelocks_a_small_drive() {
    let mut states = 0;
    for text in Shape::thin() {
        let found = Shape::new(text).unwrap().explore(&Registry::standard(), LIMITS).unwrap();
        if let Some(fault) = found.faults.first() {
            panic!("{text}: {}\n{}\n{}", fault.what, fault.path.join("\n"), fault.state);
        }
        assert!(found.is_whole, "{text}: {} states, and no end", found.states);
        println!("{:>8} states, {:5.1} s: {text}", found.states, found.time.as_secs_f64());
        states += found.states;
    }
    println!("{states} states in all");
}

/// What is gone through of a scheme that no line of the lists names: a part of the smallest drive that it supports and
/// that has room for its data.
fn gone_through_unlisted(scheme: &str) -> Found {
    let limits = Limits { states: 20_000, ..LIMITS };
    let mut found = Shape::small(scheme).filter_map(|s| s.explore(&Registry::standard(), limits).ok());
    let has_room =
        |found: &Found| found.faults.first().is_none_or(|fault| !fault.what.contains("OutOfSpace"));
    found.find(has_room).unwrap_or_else(|| panic!("no small drive suits {scheme}: list one in src/lists.rs"))
}

/// So a new scheme needs no line in the lists: its file and its place in the registry are all.
#[test]
fn every_scheme_is_gone_through() {
    let texts = Shape::thin().iter().chain(Shape::all());
    let shapes: Vec<Shape> = texts.map(|text| Shape::new(text).unwrap()).collect();
    let is_listed =
        |name: &str| shapes.iter().any(|shape| shape.scheme.split([':', '+']).next() == Some(name));
    let all = Registry::standard().all().iter().map(|entry| entry.name.to_string()).collect::<Vec<_>>();
    let unlisted = all.iter().map(String::as_str).filter(|name| !is_listed(name));
    for name in unlisted.chain(["hot-cold"]) {
        let found = gone_through_unlisted(name);
        assert!(found.faults.is_empty(), "{name}: {:?}", found.faults);
        assert!(found.states > 1000, "{name}: {} states", found.states);
    }
}

#[test]
fn overfull_drive_is_reported_with_the_way_there() {
    let text = "conventional:mode=slc capacity.logical=6KiB write:0 requests:1";
    let found = Shape::new(text).unwrap().explore(&Registry::standard(), LIMITS).unwrap();
    let fault = &found.faults[0];
    assert!(fault.what.contains("OutOfSpace"), "{}", fault.what);
    let path = ["host:   write page 0", "begins: program (Host, Write) of page 0 in plane 0"];
    assert_eq!(fault.path[..2], path);
    assert_eq!(fault.path.len(), 3);
}

#[test]
fn pool_whose_reserve_is_all_its_blocks_is_refused() {
    let text = "slc-cache:static_blocks=2,dynamic_blocks=0+raro:warm=1,hot=2,r1=0,r2_young=0,heat=logical,decay=3 \
                qlc medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 \
                capacity.logical=1KiB write:0 requests:1";
    let error = Shape::new(text).unwrap().explore(&Registry::standard(), LIMITS).unwrap_err();
    let expected = "a pool of 3 blocks per plane keeps 3 erased for GC, one for each region, so none is \
                    left for data; it needs 4, 1 more";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn retirement_and_static_levelling_keep_own_reserves() {
    let text = "slc-cache:static_blocks=2,dynamic_blocks=0+raro:warm=1,hot=2,r1=0,r2_young=0,heat=logical,decay=3 \
                qlc wear.static=4 medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=6 \
                capacity.logical=1KiB write:0 requests:1";
    let error = Shape::new(text).unwrap().explore(&Registry::standard(), LIMITS).unwrap_err();
    let expected = "a pool of 2 blocks per plane keeps 2 erased for GC, one for each region, and 1 for \
                    wear.enforce and wear.static, so none is left for data; it needs 3, 1";
    assert!(error.contains(expected), "{error}");
}
