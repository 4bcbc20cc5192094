//! The native binary as a process: what a user meets first.

#![allow(clippy::print_stdout)]

use std::process::{Command, Output};

fn wordline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wordline")).args(args).env_remove("NO_COLOR").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn help_names_every_command_and_each_has_help_of_its_own() {
    let page = text(&wordline(&["--help"]).stdout);
    for command in ["compare", "run", "rerun", "demo", "trace", "list", "explain", "validate"] {
        assert!(page.contains(&format!("  {command}")), "{command} is not in\n{page}");
        let own = wordline(&[command, "--help"]);
        assert!(own.status.success() && text(&own.stdout).contains("Usage: wordline"), "{command}");
    }
}

#[test]
fn a_command_that_does_not_exist_is_met_with_one_that_does() {
    let done = wordline(&["comprae"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("'compare'"), "{}", text(&done.stderr));
}

#[test]
fn results_go_to_standard_output_and_errors_do_not() {
    let good = wordline(&[
        "run",
        "--device",
        "demo-8gb",
        "--workload",
        "bursty",
        "--scheme",
        "slc-cache",
        "--requests",
        "500",
    ]);
    assert!(good.status.success() && good.stderr.is_empty() && text(&good.stdout).contains("WAF"));
    let bad = wordline(&["explain", "demo-8bg"]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(bad.stdout.is_empty() && text(&bad.stderr).contains("did you mean \"demo-8gb\"?"));
}

#[test]
fn what_needs_python_says_how_to_get_it() {
    let model = ["model", "hyssd", "--device", "hyssd-st", "--workload", "twin:financial"];
    let sweep = ["sweep", "--device", "demo-8gb", "--workload", "bursty", "--scheme", "conventional"];
    for (command, extra) in [
        (["validate", "--quick"].as_slice(), "validate"),
        (&model, "reproduce"),
        (&sweep, "sweep"),
        (&["reproduce", "ips"], "reproduce"),
    ] {
        let done = wordline(command);
        assert_eq!(done.status.code(), Some(2));
        let install = format!("pip install '.[{extra}]'");
        assert!(text(&done.stderr).contains(&install), "{}", text(&done.stderr));
    }
}
