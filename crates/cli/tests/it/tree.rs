//! The native binary as a process: what a user meets first.

#![allow(clippy::print_stdout)]

use crate::support;
use std::process::Output;

fn wordline(args: &[&str]) -> Output {
    support::wordline(&std::env::current_dir().unwrap(), args)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn help_lists_every_command_and_each_has_help() {
    let page = text(&wordline(&["--help"]).stdout);
    for command in ["compare", "run", "rerun", "demo", "trace", "list", "explain", "validate"] {
        assert!(page.contains(&format!("  {command}")), "{command} is not in\n{page}");
        let own = wordline(&[command, "--help"]);
        assert!(own.status.success() && text(&own.stdout).contains("Usage: wordline"), "{command}");
    }
}

/// Every command of the tree, as its words, with its help.
fn every_command(words: &[String]) -> Vec<(Vec<String>, String)> {
    let asked: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let done = wordline(&asked);
    assert!(done.status.success(), "{words:?}: {}", text(&done.stderr));
    let help = text(&done.stdout);
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let names = listed.lines().take_while(|line| !line.trim().is_empty());
    // Longer descriptions go on in lines that are indented further.
    let names = names.filter_map(|line| line.strip_prefix("  ").filter(|l| !l.starts_with(' ')));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let inner: Vec<Vec<String>> =
        names.map(|name| words.iter().cloned().chain([name.to_string()]).collect()).collect();
    let mut all = vec![(words.to_vec(), help.clone())];
    all.extend(inner.iter().flat_map(|words| every_command(words)));
    all
}

/// What help texts name of commands and options is there.
#[test]
fn help_names_only_commands_and_options_that_exist() {
    let all = every_command(&[]);
    assert!(all.len() > 30, "{}", all.len());
    let commands: Vec<String> = all.iter().map(|(words, _)| words.join(" ")).collect();
    let word = |w: &str| w.trim_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).to_string();
    let options: std::collections::BTreeSet<String> = (all.iter())
        .flat_map(|(_, help)| help.lines())
        .filter(|line| line.trim_start().starts_with('-'))
        .flat_map(|line| line.split_whitespace().take(3).map(word).collect::<Vec<_>>())
        .filter(|w| w.starts_with("--"))
        .collect();
    let mut wrong = vec![];
    for (words, help) in &all {
        let flat: Vec<&str> = help.split_whitespace().collect();
        for (i, token) in flat.iter().enumerate() {
            let named = word(token);
            if named.starts_with("--") && named.len() > 2 && !options.contains(&named) {
                wrong.push(format!("{words:?}: {named}"));
            }
            let in_code = *token == "`wordline" || (*token == "wordline" && i > 0 && flat[i - 1] == "Usage:");
            let next = flat.get(i + 1).map(|w| word(w)).filter(|w| in_code && !w.is_empty());
            let next = next.filter(|w| !w.starts_with("COMMAND") && !w.starts_with("--"));
            wrong.extend(
                next.filter(|w| !commands.iter().any(|c| c.split(' ').next() == Some(w)))
                    .map(|w| format!("{words:?}: wordline {w}")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unknown_command_gets_a_suggestion() {
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
    assert!(
        good.status.success() && text(&good.stdout).contains("WAF") && !text(&good.stdout).contains("run:")
    );
    let told = text(&good.stderr);
    assert!(told.starts_with("run: 500 requests, ") && told.lines().count() == 1, "{told}");
    // Nothing is said of a run that is refused before it begins.
    let refused = ["run", "--device", "demo-8gb", "--workload", "bursty", "--scheme", "pa-ssd"];
    let told = text(&wordline(&refused).stderr);
    assert!(told.starts_with("error: scheme pa-ssd does not support device demo-8gb: "), "{told}");
    let bad = wordline(&["explain", "demo-8bg"]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(bad.stdout.is_empty() && text(&bad.stderr).contains("did you mean \"demo-8gb\"?"));
}

#[test]
fn explanations_fit_a_terminal() {
    let done = wordline(&["explain", "figures"]);
    let said = text(&done.stdout);
    let wide: Vec<_> = said.lines().filter(|l| l.chars().count() > 100).collect();
    assert!(done.status.success() && wide.is_empty(), "{wide:?}");
}

/// The demo prints the first of them.
#[test]
fn tables_of_schemes_are_explained() {
    for name in ["SMT", "extents", "valid sectors"] {
        let done = wordline(&["explain", name]);
        assert!(done.status.success() && text(&done.stdout).contains("kind: table"), "{name}");
    }
}

#[test]
fn explanation_of_the_very_name_comes_first() {
    for (asked, first) in [("Erases", "Erases"), ("GC", "GC"), ("plain drive", "baseline")] {
        let said = text(&wordline(&["explain", asked]).stdout);
        assert_eq!(said.lines().next(), Some(first), "{said}");
    }
    let said = text(&wordline(&["explain", "--initial"]).stdout);
    assert!(said.starts_with("--initial: an option of "), "{said}");
}

#[test]
fn commands_and_options_are_explained() {
    for (words, said) in [
        (&["initial"][..], "--initial: an option of compare, run"),
        (&["rerun"][..], "rerun: a command"),
        (&["trace", "inspect"][..], "trace inspect: a command"),
        (&["dynamic", "SLC", "cache"][..], "slc_cache.dynamic_blocks"),
    ] {
        let done = wordline(&[&["explain"], words].concat());
        let text = text(&done.stdout);
        assert!(done.status.success() && text.contains(said), "{words:?}: {text}");
    }
}

#[test]
fn numbers_that_are_none_are_refused_in_plain_words() {
    let run = ["run", "--device", "fair-tlc", "--scheme", "conventional", "--workload", "uniform"];
    let told = |more: &[&str]| text(&wordline(&[&run, more].concat()).stderr);
    for more in [["--seed", "1e3"], ["--threads", "x"], ["--replicas", "2.5"], ["--around", "y"]] {
        let said = told(&more);
        assert!(said.contains("it must be a whole number, such as 1000"), "{said}");
    }
    let said = told(&["--set", "medium.flash.channels=x"]);
    assert!(said.contains("\"x\"") && !said.contains("found in string"), "{said}");
}

/// What is told before a run: how long it is, and whether its steady state can be judged then.
#[test]
fn run_says_beforehand_how_long_it_is() {
    let told = |workload: &str, more: &[&str]| {
        let run = ["run", "--device", "fair-tlc", "--scheme", "conventional", "--workload", workload];
        let done = wordline(&[&run, more].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        text(&done.stderr)
    };
    let short = told("uniform:read=0%,bs=16KiB,requests=2000", &["--initial", "fresh"]);
    assert!(
        short.starts_with(
            "run: 2,000 requests, 0.0305 drive writes, at most about a second: too short for a steady"
        ),
        "{short}"
    );
    // The number that it gives is one with which it says otherwise.
    let enough = short.rsplit_once("(--requests ").unwrap().1.trim_end().trim_end_matches(')').to_string();
    let long = told("uniform:read=0%,bs=16KiB,requests=2000", &["--initial", "fresh", "--requests", &enough]);
    assert!(long.contains(" drive writes, about "), "{long}");
    assert!(long.trim_end().ends_with(": may be long enough for a steady-state verdict"), "{long}");
    let reads = told("uniform:read=100%,requests=2k", &[]);
    assert!(reads.contains("nothing is written"), "{reads}");
    let timed = told("uniform:read=50%,duration=20ms", &[]);
    assert!(
        timed.contains("number of requests, drive writes and time are not known before the run"),
        "{timed}"
    );
    // What a large drive is settled by before the first request, no number of requests foretells.
    let settles = ["run", "--device", "hierarchy-44gb", "--scheme", "conventional", "--workload"];
    let part = ["uniform:read=0%,requests=2k,span=1GiB", "--initial", "steady:3%"];
    let reachable = ["--set", "gc.trigger=free_blocks:9%"];
    let settled = wordline(&[&settles[..], &part, &reachable].concat());
    let settled = text(&settled.stderr);
    assert!(
        settled.contains(
            "time unknown, because the drive is brought to its steady state before the first \
                          request: "
        ),
        "{settled}"
    );
    let both = told("uniform:requests=50", &["--requests", "60", "--replicas", "3"]);
    assert!(both.starts_with("run: 3 runs of 60 requests, "), "{both}");
}

/// No help promises what the command does not do: each example in it names commands and options that there are.
#[test]
fn demo_help_names_the_schemes_it_runs() {
    let help = text(&wordline(&["demo", "--help"]).stdout);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("o");
    let done = wordline(&["demo", "--requests", "500", "--out", out.to_str().unwrap()]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let heading = text(&done.stdout);
    let schemes: Vec<&str> = heading.lines().next().unwrap().split(" · ").collect();
    assert_eq!(schemes.len(), 3, "{heading}");
    for scheme in schemes {
        assert!(help.contains(scheme), "{scheme} is not in\n{help}");
    }
}

#[test]
fn what_needs_python_says_how_to_get_it() {
    let model = ["model", "hyssd", "--device", "hyssd-st", "--workload", "twin:financial"];
    let sweep = ["sweep", "--device", "demo-8gb", "--workload", "bursty", "--scheme", "conventional"];
    let atlas = ["atlas", "--device", "demo-8gb", "--workload", "bursty"];
    for (command, extra) in [(model.as_slice(), "sweep"), (&sweep, "sweep"), (&atlas, "atlas")] {
        let done = wordline(command);
        assert_eq!(done.status.code(), Some(2));
        let install = format!("pip install '.[{extra}]'");
        assert!(text(&done.stderr).contains(&install), "{}", text(&done.stderr));
    }
}

/// Commands that Python does say what replaces what in the words of a report's hint.
#[test]
fn sweep_warns_of_requests_replacing_the_workload() {
    let sweep = |requests: &str| {
        let asked = ["--workload", "zipf:requests=1k", "--workload", "uniform", "--requests", requests];
        let done =
            wordline(&[&["sweep", "--device", "demo-8gb", "--scheme", "conventional"], &asked[..]].concat());
        text(&done.stderr).matches("requests 50 of the run overrides requests=1k of the workload.").count()
    };
    assert_eq!((sweep("50"), sweep("1000")), (1, 0));
}

#[test]
fn what_is_of_the_laboratory_says_how_to_get_it() {
    for command in [["validate", "--quick"].as_slice(), &["reproduce", "ips"], &["atlas"]] {
        let done = wordline(command);
        assert_eq!(done.status.code(), Some(2));
        let said = text(&done.stderr);
        assert!(said.contains(&format!("{} is part of the laboratory", command[0])), "{said}");
        assert!(said.contains("`pip install . ./lab`"), "{said}");
    }
    let said = text(&wordline(&["reproduce", "atlas"]).stderr);
    assert!(said.contains("wordline atlas"), "{said}");
    let both = wordline(&["atlas", "--workload", "bursty", "--device", "demo-8gb", "--only", "twins"]);
    assert_eq!(both.status.code(), Some(2));
}

/// Mistakes of a new user, each with the remedy that its error names.
#[test]
fn plausible_mistakes_are_named_with_their_remedy() {
    let said = |words: &[&str]| {
        let done = wordline(words);
        assert_eq!(done.status.code(), Some(2), "{words:?}");
        text(&done.stderr)
    };
    let run = |device: &str, more: &[&str]| {
        let words = ["run", "--device", device, "--workload", "bursty", "--requests", "100"];
        said(&[&words, more].concat())
    };
    for (error, remedy) in [
        (run("conventional", &["--scheme", "fair-tlc"]), "; conventional is a scheme"),
        (run("bursty", &["--scheme", "conventional"]), "; bursty is a built-in workload"),
        (run(".", &["--scheme", "conventional"]), "--device .: is a folder; name a device file in it"),
        (run("fair-tlc", &["--scheme", "fair-tlc"]), "; fair-tlc is a device"),
        (run("fair-tlc", &["--scheme", "own.py"]), "; a class of a Python file is py:own.py#CLASS"),
        (run("fair-tlc", &["--scheme", "sector,sa"]), "; run takes one scheme, compare takes several"),
        (run("fair-tlc", &["--scheme", "sa", "--set", "victim=fifo"]), "did you mean \"gc.victim\"?"),
        (run("fair-tlc", &["--scheme", "sa", "--threads", "0"]), ": it must be from 1 to 65535"),
        (
            said(&["compare", "--device", "fair-tlc", "--workload", "bursty", "--scheme", "all"]),
            "; compare and sweep take all-compatible",
        ),
        (said(&["trace", "scale", "a.csv", "b.wl"]), "--time <FACTOR>|--footprint <FACTOR>"),
        (said(&["trace", "shift", "a.csv", "b.wl"]), "--time <TIME>|--offset <SIZE>"),
        (
            said(&["trace", "cut", "a.csv", "b.wl"]),
            "--from <TIME>|--until <TIME>|--requests <A..B>|--volume <LABEL>",
        ),
    ] {
        assert!(error.contains(remedy), "{remedy}\nis not in\n{error}");
    }
    // The user typed none of the names that a temporary file has.
    let error = run("fair-tlc", &["--scheme", "conventional", "--json", "/no/such/folder/r.json"]);
    assert!(
        error.ends_with("cannot be written: No such file or directory; does the folder exist?\n"),
        "{error}"
    );
}

/// Questions of users, each with words of its answer: one `explain` is enough.
#[test]
fn explain_answers_ten_kept_questions() {
    for (question, answer) in [
        ("which option makes the cache dynamic", "slc_cache.dynamic_blocks"),
        ("what is WAF excluding padding", "unused part of a page"),
        ("how do I get p99 as a data frame", "latency_us.write.p99"),
        ("how do I simulate a power cut", "wordline ctl SOCKET cut"),
        ("how do I replay my own trace", "--workload"),
        ("why is my p99 write latency so high", "wordline why REPORT"),
        ("how do I turn off the SLC cache", "slc_cache=off"),
        ("how do I start in steady state", "--steady-state"),
        ("how do I set the queue depth", "closed=32"),
        ("does it support zoned namespaces", "zones and FDP are not"),
    ] {
        let done = wordline(&["explain", question]);
        let said = text(&done.stdout);
        assert!(done.status.success() && said.contains(answer), "{question}\n{said}{}", text(&done.stderr));
    }
}
