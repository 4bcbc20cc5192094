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

/// Every key that a device file may have, by its path.
fn every_key() -> Vec<String> {
    let tables: Vec<String> = keys("").into_iter().filter(|t| t != "medium").collect();
    assert!(tables.iter().any(|t| t == "gc") && tables.len() > 10, "{tables:?}");
    let inner = ["medium.flash", "medium.flash.tlc", "errors.qlc", "host.queue.a"].map(str::to_string);
    let of = |table: &String| -> Vec<String> {
        keys(table).into_iter().filter(|key| key != "queue").map(|key| format!("{table}.{key}")).collect()
    };
    let all: Vec<String> = tables.iter().chain(&inner).flat_map(of).collect();
    assert!(all.len() > 60, "only {} keys were seen", all.len());
    all
}

/// What is said of a key is said of that key, and not of another whose sentence names it.
#[test]
fn every_key_has_a_sentence_of_its_own() {
    let mut wrong = vec![];
    for path in every_key() {
        let key = path.rsplit('.').next().unwrap();
        let tables = ["slc", "mlc", "tlc", "qlc"];
        if tables.contains(&key) {
            assert!(!keys_of(&path).is_empty(), "[{path}] is not explained");
            continue;
        }
        let said: Vec<&str> = keys_of(&path).iter().flat_map(|t| t.sentences.clone()).collect();
        // One sentence says it, and says more than the name.
        let words = said.concat().split_whitespace().count();
        if said.len() != 1 || words < 2 {
            wrong.push(format!("{path}: {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No explanation is cut short: each value that a key takes is in it.
#[test]
fn every_value_of_a_key_is_explained() {
    let (mut wrong, mut seen) = (vec![], 0);
    for path in every_key() {
        let set = [(path.clone(), NO_KEY.to_string())];
        let Err(e) = DeviceSpec::from_toml(builtin()[0].text, "x.toml", &set) else { continue };
        let text = e.to_string();
        let of_this = text.lines().find(|line| line.contains(NO_KEY)).unwrap_or_default();
        let Some((_, values)) = of_this.split_once("is not one of ") else { continue };
        let said = keys_of(&path).iter().flat_map(|t| t.sentences.clone()).collect::<String>();
        for value in values.split(", ").filter(|value| !["true", "false"].contains(value)) {
            seen += 1;
            if !said.contains(&format!("`{value}`")) {
                wrong.push(format!("{path} = {value}: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 30, "only {seen} values were seen");
}

#[test]
fn a_key_is_found_by_its_path_or_its_name_and_nothing_by_another() {
    let said = |name: &str| keys_of(name).iter().flat_map(|t| t.sentences.clone()).collect::<Vec<_>>();
    assert!(said("gc.victim").iter().all(|s| s.starts_with("`victim`")));
    assert_eq!(said("victim"), said("gc.victim"));
    assert!(
        matches!(said("ack.pages")[..], [s] if s.starts_with("`pages`: mapping units that the write buffer"))
    );
    assert!(
        matches!(said("ack.mode")[..], [s] if s.starts_with("`mode`") && s.contains("or `buffer` (when"))
    );
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
