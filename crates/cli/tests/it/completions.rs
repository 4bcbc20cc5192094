//! What shells complete and `man` shows, by the shells and by groff themselves where they are there.

#![allow(clippy::print_stdout)]

use std::io::Write;
use std::process::{Command, Output};

fn wordline(args: &[&str]) -> Output {
    crate::support::wordline(&std::env::current_dir().unwrap(), args)
}

fn script(shell: &str) -> String {
    let done = wordline(&["completions", shell]);
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

fn there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        println!("{program} is not installed: not tried");
    }
    found
}

/// Lines as bash splits them, and what it is to offer. The last word is being typed.
const TYPED: &[(&str, &[&str], &str)] = &[
    ("wordline comp", &["wordline", "comp"], "compare completions"),
    ("wordline trace ins", &["wordline", "trace", "ins"], "inspect"),
    ("wordline check", &["wordline", "check"], "check-log"),
    ("wordline reproduce pa", &["wordline", "reproduce", "pa"], "pa-ssd"),
    ("wordline run --scheme turbo", &["wordline", "run", "--scheme", "turbo"], "turbo-write"),
    ("wordline run --device demo", &["wordline", "run", "--device", "demo"], "demo-8gb"),
    ("wordline run --device=demo", &["wordline", "run", "--device", "=", "demo"], "demo-8gb"),
    ("wordline run --workload twin:hm", &["wordline", "run", "--workload", "twin", ":", "hm"], "hm_0 hm_1"),
    (
        "wordline run --workload=twin:hm",
        &["wordline", "run", "--workload", "=", "twin", ":", "hm"],
        "hm_0 hm_1",
    ),
    ("wordline run --format vscsi", &["wordline", "run", "--format", "vscsi"], "vscsi1 vscsi2 vscsi-csv"),
    ("wordline explain slc-", &["wordline", "explain", "slc-"], "slc-cache"),
    ("wordline twin check fina", &["wordline", "twin", "check", "fina"], "financial"),
    ("wordline list dev", &["wordline", "list", "dev"], "devices"),
    // No name begins so: bash falls back on files.
    ("wordline run --device ./min", &["wordline", "run", "--device", "./min"], ""),
];

#[test]
fn bash_completes_commands_options_and_names() {
    if !there("bash") {
        return;
    }
    let mut all = script("bash");
    for (line, words, _) in TYPED {
        let words: Vec<String> = words.iter().map(|w| format!("'{w}'")).collect();
        let (last, before) = (&words[words.len() - 1], &words[words.len() - 2]);
        all += &format!(
            "\nCOMP_LINE='{line}' COMP_POINT={} COMP_WORDS=({}) COMP_CWORD={} COMPREPLY=()\n\
             _wordline_words wordline {last} {before}\necho \"${{COMPREPLY[*]}}\"",
            line.len(),
            words.join(" "),
            words.len() - 1,
        );
    }
    // As a file: what the script has become is longer than an argument may be.
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(all.as_bytes()).unwrap();
    let done = Command::new("bash").arg("--norc").arg(file.path()).output().unwrap();
    let out = String::from_utf8(done.stdout).unwrap();
    let offered: Vec<&str> = out.lines().collect();
    let expected: Vec<&str> = TYPED.iter().map(|(_, _, offers)| *offers).collect();
    assert_eq!(offered, expected, "{}", String::from_utf8_lossy(&done.stderr));
}

// In zsh and fish; bash completes files by itself.
#[test]
fn device_and_workload_complete_to_files_too() {
    let zsh = script("zsh");
    assert!(zsh.contains(":DEV:_wordline_devices") && zsh.contains("'devices:name:(demo-8gb "), "{zsh}");
    assert!(zsh.contains(":FILE|NAME:_wordline_workloads") && zsh.contains(" twin:hm_0 "));
    let fish = script("fish");
    let device =
        fish.lines().find(|l| l.contains("using_subcommand run") && l.contains("-l device")).unwrap();
    assert!(device.contains(" -r -F -a \"demo-8gb"), "{device}");
    let reproduce =
        "complete -c wordline -n \"__fish_wordline_using_subcommand reproduce\" -f -a \"hierarchy";
    assert!(fish.contains(reproduce));
    for (shell, text) in [("zsh", zsh), ("fish", fish)] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        if there(shell) {
            let done = Command::new(shell).arg("-n").arg(file.path()).output().unwrap();
            assert!(done.status.success() && done.stderr.is_empty(), "{shell}: {done:?}");
        }
    }
}

// Each page renders without a warning.
#[test]
fn every_command_has_a_clean_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let done = wordline(&["man", root]);
    assert!(done.status.success(), "{done:?}");
    // As the note says, man finds them in the folder that was named.
    let note = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(note.contains(&format!("man -M {root} wordline")), "{note}");
    if there("man") {
        for name in ["wordline", "wordline-run"] {
            let found = Command::new("man").args(["-M", root, "-w", name]).output().unwrap();
            let path = folder.path().join("man1").join(format!("{name}.1"));
            assert_eq!(String::from_utf8_lossy(&found.stdout).trim(), path.to_str().unwrap(), "{found:?}");
        }
    }
    let pages: Vec<_> =
        std::fs::read_dir(folder.path().join("man1")).unwrap().map(|p| p.unwrap().path()).collect();
    for page in ["wordline.1", "wordline-compare.1", "wordline-trace-cut.1", "wordline-reproduce.1"] {
        let text = std::fs::read_to_string(folder.path().join("man1").join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS") && text.contains(".SH OPTIONS"), "{page}");
    }
    assert!(pages.len() > 25, "{pages:?}");
    if !there("groff") {
        return;
    }
    let done =
        Command::new("groff").args(["-man", "-Tutf8", "-Kutf8", "-ww", "-z"]).args(&pages).output().unwrap();
    assert!(done.status.success() && done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_folder_that_cannot_be_made_is_refused() {
    let done = wordline(&["man", "/dev/null/pages"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("/dev/null/pages: cannot create the folder"));
}
