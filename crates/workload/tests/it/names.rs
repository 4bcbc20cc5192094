//! What a workload's text may name, and what its options say.

use wordline_trace::{ErrorKind, Fit, Overrides, WorkloadError, inspect};
use wordline_workload::{Workload, check_is_trace};

fn fault(text: &str) -> WorkloadError {
    Workload::parse(text, Overrides::default()).err().unwrap_or_else(|| panic!("{text} was accepted"))
}

fn says(e: &WorkloadError, words: &[&str]) {
    for word in words {
        assert!(e.to_string().contains(word), "{word:?} is not in: {e}");
    }
}

#[test]
fn a_word_of_no_file_gets_the_built_in_names() {
    says(&fault("no-such-file.csv"), &["no such file", "zipf", "bursty"]);
    says(&fault("zpif:theta=1"), &["did you mean \"zipf\"?"]);
    assert!(!inspect("no-such-file.csv").unwrap_err().to_string().contains("zipf"));
}

#[test]
fn all_mistakes_of_a_workloads_text_come_at_once() {
    let e = fault("uniform:raed=50%,bs=1000,theta=2,span=200%,rate=1k,qd=4");
    assert_eq!(e.problems().len(), 5, "{e}");
    says(&e, &["did you mean \"read\"", "bs=1000", "unknown key \"theta\"", "more than 100 %", "closed"]);
}

#[test]
fn what_draws_its_requests_is_no_trace() {
    let jobs = format!("{}/tests/fio/zipf.fio", env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let twin = folder.path().join("mine.toml").display().to_string();
    std::fs::write(&twin, wordline_workload::twin::twin_named("dtr").unwrap().text().unwrap()).unwrap();
    let drawn = "a built-in workload is not a trace";
    for (text, what) in [
        ("zipf:theta=1", drawn),
        ("zipf:theta", drawn),
        ("twin:hm_0:scale=2", drawn),
        (jobs.as_str(), "a fio job file is not a trace: its requests depend on completions"),
        (twin.as_str(), "a twin's file is not a trace: its requests are generated"),
    ] {
        let e = check_is_trace(text).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Format);
        says(&e, &[what]);
    }
    says(&check_is_trace(&jobs).unwrap_err(), &["--workload"]);
    assert!(check_is_trace("a.csv:format=msr").is_ok());
}

/// Of two numbers or fits that contradict each other the report says which was taken.
#[test]
fn replaced_options_are_remarked() {
    let remarks = |text: &str, requests| {
        Workload::parse(text, Overrides { requests, ..Overrides::default() }).unwrap().remarks()
    };
    let both = "zipf:requests=1k,bs=16KiB";
    let said = remarks(both, Some(50));
    assert_eq!(said, ["requests 50 of the run overrides requests=1k of the workload."]);
    for agreed in [Some(1000), None] {
        assert_eq!(remarks(both, agreed), Vec::<String>::new());
    }
    let trace = b"128166372003061629,hm,0,Write,0,4096,9\n128166372016382155,hm,0,Read,0,4096,9\n";
    let fitted = |fit| {
        let over = Overrides { fit: Some(fit), ..Overrides::default() };
        Workload::in_memory("a.csv", trace, "fit=wrap", over).unwrap().remarks()
    };
    let says = "fit compact of the run overrides fit=wrap of the workload.".to_string();
    assert!(fitted(Fit::Compact).contains(&says), "{:?}", fitted(Fit::Compact));
    assert!(!fitted(Fit::Wrap).iter().any(|remark| remark.contains("replaces")));
}
