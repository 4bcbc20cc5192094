//! What is explained of device files is what they may hold.

use wordline_device::{DeviceSpec, builtin, key_tables, keys_of};

/// A key that is near no other, so that the message lists those that there are.
const NO_KEY: &str = "qqqqqqqqqqqqqqqq";

/// The keys that the reader asks for in a table of the first built-in drive; "" is the root.
fn keys(table: &str) -> Vec<String> {
    let path = if table.is_empty() { format!("{NO_KEY}.x") } else { format!("{table}.{NO_KEY}") };
    let set = [(path, "1".to_string())];
    let text = DeviceSpec::from_toml(builtin()[0].text, "x.toml", &set).expect_err("no such key").to_string();
    let listed = text.split_once("the keys here are ").map_or("", |(_, rest)| rest);
    let line = listed.lines().next().unwrap_or_default();
    line.split(", ").filter(|key| !key.is_empty()).map(str::to_string).collect()
}

#[test]
fn every_key_that_a_device_file_may_have_is_explained() {
    let tables: Vec<String> = keys("").into_iter().filter(|t| t != "medium").collect();
    assert!(tables.iter().any(|t| t == "gc") && tables.len() > 10, "{tables:?}");
    let inner = ["medium.flash", "medium.flash.tlc", "errors.qlc"].map(str::to_string);
    let mut seen = 0;
    for table in tables.iter().chain(&inner) {
        assert!(!keys_of(table).is_empty(), "[{table}] is not explained");
        for key in keys(table) {
            assert!(!keys_of(&format!("{table}.{key}")).is_empty(), "{table}.{key} is not explained");
            seen += 1;
        }
    }
    assert!(seen > 60, "only {seen} keys were seen");
}

#[test]
fn a_key_is_found_by_its_path_or_its_name_and_nothing_by_another() {
    let said = |name: &str| keys_of(name).iter().flat_map(|t| t.sentences.clone()).collect::<Vec<_>>();
    assert!(said("gc.victim").iter().all(|s| s.starts_with("`victim`")));
    assert_eq!(said("victim"), said("gc.victim"));
    assert_eq!(said("[gc]"), said("gc"));
    assert_eq!(said("medium.anything.qlc.endurance"), said("endurance"));
    assert!(said("host").len() > said("host.queue.mine").len());
    for nothing in ["gc.nothing", "nothing", "", "medium.flash.slc.nothing"] {
        assert_eq!(said(nothing), Vec::<&str>::new(), "{nothing}");
    }
}

#[test]
fn a_table_is_cut_into_the_sentences_of_its_keys() {
    let gc = keys_of("gc");
    let begins: Vec<&str> = gc[0].sentences.iter().filter_map(|s| s.split('`').nth(1)).collect();
    assert_eq!(begins[..4], ["trigger", "victim", "dead_first", "class"]);
    assert!(key_tables().iter().all(|t| !t.paths.is_empty() && t.sentences.iter().all(|s| !s.is_empty())));
}
