//! A drive of one's own, as a user makes and looks at it.

use crate::support::wordline;
use std::path::Path;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const FACTS: [&str; 8] = ["--capacity", "8GiB", "--cell", "tlc", "--channels", "2", "--interface", "pcie3x4"];

#[test]
fn a_drive_of_a_few_facts_is_written_shown_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut new = vec!["device", "new", "mine.toml"];
    new.extend(FACTS);
    let done = wordline(folder.path(), &new);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("of its values are assumed"), "{}", text(&done.stderr));
    let again = wordline(folder.path(), &new);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("file exists; --force overwrites it"), "{}", text(&again.stderr));
    let shown = wordline(folder.path(), &["device", "show", "mine.toml"]);
    assert!(
        shown.status.success() && text(&shown.stdout).contains("page-level table    8 MiB"),
        "{}",
        text(&shown.stdout)
    );
    let run = [
        "run",
        "--device",
        "mine.toml",
        "--scheme",
        "slc-cache",
        "--workload",
        "bursty",
        "--requests",
        "500",
    ];
    let run = wordline(folder.path(), &run);
    assert_eq!(run.status.code(), Some(2), "it has no [slc_cache]: {}", text(&run.stderr));
    let run = [
        "run",
        "--device",
        "mine.toml",
        "--scheme",
        "conventional",
        "--workload",
        "bursty",
        "--requests",
        "500",
    ];
    assert!(wordline(folder.path(), &run).status.success());
}

#[test]
fn what_is_missing_without_a_terminal_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let done = wordline(folder.path(), &["device", "new", "-", "--capacity", "1TB", "--cell", "qlc"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("--channels is missing"), "{}", text(&done.stderr));
    let done = wordline(folder.path(), &["device", "new", "-", "--cell", "plc"]);
    assert!(
        text(&done.stderr).contains("\"plc\" is not one of slc, mlc, tlc, qlc"),
        "{}",
        text(&done.stderr)
    );
}

// An MQSim or SSDSim file becomes a device; values without a counterpart are listed beside it.
#[test]
fn import_writes_a_device_and_lists_dropped_values() {
    let folder = tempfile::tempdir().unwrap();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../device/tests/files");
    for (file, key) in [("two-channels.xml", "Temperature_Of_Operation"), ("page.parameters", "gc threshold")]
    {
        let from = files.join(file);
        let done =
            wordline(folder.path(), &["device", "import", from.to_str().unwrap(), "theirs.toml", "--force"]);
        assert!(done.status.success() && done.stdout.is_empty(), "{}", text(&done.stderr));
        assert!(
            text(&done.stderr).contains("values have no counterpart in a device file:"),
            "{}",
            text(&done.stderr)
        );
        assert!(text(&done.stderr).contains(key), "{}", text(&done.stderr));
        assert!(wordline(folder.path(), &["device", "show", "theirs.toml"]).status.success());
    }
    std::fs::write(folder.path().join("broken.xml"), "<a>").unwrap();
    let done = wordline(folder.path(), &["device", "import", "broken.xml"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("broken.xml:1:"), "{}", text(&done.stderr));
}

#[test]
fn runs_warn_of_implausible_values() {
    let folder = tempfile::tempdir().unwrap();
    let words =
        ["--device", "fair-tlc", "--scheme", "conventional", "--workload", "uniform:requests=9", "--set"];
    let run = |set: &str| wordline(folder.path(), &[&["run"][..], &words, &[set]].concat());
    let warned = text(&run("medium.flash.tlc.read=0us").stderr);
    assert!(warned.contains("warning: medium.flash.tlc.read = 0ns is implausible"), "{warned}");
    let plain = text(&run("medium.flash.tlc.read=70us").stderr);
    assert!(!plain.contains("warning"), "{plain}");
    let none = ["device", "new", "-", "--capacity", "8GiB", "--endurance", "0"];
    let refused = wordline(folder.path(), &none);
    assert!(text(&refused.stderr).contains("it must be from 1"), "{}", text(&refused.stderr));
}
