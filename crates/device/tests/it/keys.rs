//! What is explained of device files is what they may hold.

use wordline_device::{builtin, key_tables, keys_of};

/// A key that is near no other, so that the message lists those that there are.
const NO_KEY: &str = "qqqqqqqqqqqqqqqq";

/// The keys that the reader asks for in a table of the first built-in drive; "" is the root.
fn keys(table: &str) -> Vec<String> {
    let path = if table.is_empty() { format!("{NO_KEY}.x") } else { format!("{table}.{NO_KEY}") };
    // The other keys of this table are those of a model.
    let model = table.starts_with("errors").then(|| ("errors.model".to_string(), "raro".to_string()));
    let set: Vec<(String, String)> = [(path, "1".to_string())].into_iter().chain(model).collect();
    let text =
        wordline_device::from_toml(builtin()[0].text, "x.toml", &set).expect_err("no such key").to_string();
    let listed = text.split_once("allowed keys: ").map_or("", |(_, rest)| rest);
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
        let said: Vec<String> = keys_of(&path).iter().flat_map(|t| t.sentences.clone()).collect();
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
        let Err(e) = wordline_device::from_toml(builtin()[0].text, "x.toml", &set) else { continue };
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
fn key_is_found_by_path_or_name_only() {
    let said = |name: &str| keys_of(name).iter().flat_map(|t| t.sentences.clone()).collect::<Vec<_>>();
    assert!(said("gc.victim").iter().all(|s| s.starts_with("`victim`")));
    assert_eq!(said("victim"), said("gc.victim"));
    assert!(
        matches!(&said("ack.pages")[..], [s] if s.starts_with("`pages` (required with `buffer`): size of the write"))
    );
    assert!(
        matches!(&said("ack.mode")[..], [s] if s.starts_with("`mode`") && s.contains("or `buffer` (the write"))
    );
    assert_eq!(said("[gc]"), said("gc"));
    assert_eq!(said("medium.anything.qlc.endurance"), said("endurance"));
    assert!(said("host").len() > said("host.queue.mine").len());
    for nothing in ["gc.nothing", "nothing", "", "medium.flash.slc.nothing"] {
        assert_eq!(said(nothing), Vec::<String>::new(), "{nothing}");
    }
}

#[test]
fn a_table_has_a_row_for_each_key() {
    let gc = keys_of("gc");
    assert_eq!(gc[0].keys()[..4], ["trigger", "victim", "dead_first", "copies"]);
    assert_eq!(keys_of("medium.x.qlc.copy_back")[0].sentences.len(), 1);
    assert!(keys_of("medium.x.qlc.copy_back")[0].sentences[0].starts_with("`copy_back`: time"));
    assert!(key_tables().iter().all(|t| !t.paths.is_empty() && t.sentences.iter().all(|s| !s.is_empty())));
    assert_eq!(key_tables().iter().filter(|t| t.paths.iter().any(|path| path.contains('['))).count(), 0);
}

/// The keys of the rows are all that a device file may have, and no other.
#[test]
fn every_row_is_a_key() {
    let read = every_key();
    for table in key_tables() {
        let path = table.paths.last().unwrap().replace("queue.NAME", "queue.a").replace("NAME", "flash");
        let path = path.replace("flash.qlc", "flash.tlc");
        for key in table.keys() {
            assert!(read.contains(&format!("{path}.{key}")), "there is no {path}.{key}");
        }
    }
}

/// Drives on which the keys of a table matter, as arguments.
const MATTER: [(&str, &[(&str, &str)]); 3] = [
    ("host", &[("host.arbitration", "weighted")]),
    ("ack", &[("ack.mode", "buffer"), ("ack.pages", "64"), ("ack.flush", "idle")]),
    ("errors", &[("errors.model", "raro")]),
];

/// A default that stands in a row changes nothing where it is given, and another value is another drive.
#[test]
fn defaults_are_those_of_the_code() {
    let drive = |sets: &[(String, String)]| wordline_device::from_toml(BARE, "bare.toml", sets);
    let mut seen = 0;
    for table in key_tables() {
        let root = table.paths[0].split('.').next().unwrap();
        let path = table.paths[0].replace("NAME", if root == "host" { "a" } else { "flash" });
        for sentence in &table.sentences {
            let mut quoted = sentence.split('`').skip(1).step_by(2);
            let (key, default) = (quoted.next().unwrap(), quoted.next().unwrap_or_default());
            if !sentence.starts_with(&format!("`{key}` (`{default}`):")) || (root, key) == ("ack", "mode") {
                continue;
            }
            let matter = MATTER.iter().filter(|(of, _)| *of == path).flat_map(|(_, sets)| sets.iter());
            let mut sets: Vec<(String, String)> = matter
                .filter(|(set, _)| *set != format!("{path}.{key}"))
                .map(|(set, value)| (set.to_string(), value.to_string()))
                .collect();
            let without = drive(&sets).unwrap();
            sets.push((format!("{path}.{key}"), default.to_string()));
            let given = drive(&sets).unwrap_or_else(|e| panic!("{path}.{key} = {default}: {e}"));
            assert_eq!(given, without, "{path}.{key} is not {default} where it is not given");
            seen += 1;
        }
    }
    assert!(seen > 35, "only {seen} defaults were tried");
}

/// A drive that gives nothing but what it must.
const BARE: &str = r#"
[device]
name = "bare"
[medium.flash]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
wordlines_per_block = 32
page = "16KiB"
bus = { rate = "800MB/s" }
[medium.flash.slc]
read = "20us"
program = "160us"
erase = "2ms"
[medium.flash.tlc]
read = "66us"
program = "700us"
erase = "3ms"
[mapping]
[capacity]
over_provisioning = "20%"
[gc]
trigger = "free_blocks < 5%"
[slc_cache]
static_blocks = 8
trigger = "free_blocks < 50%"
"#;
