//! `twin fit` as it is typed: the verdict, the drive that it chooses, and what it says of one that does not do.

use std::fs;
use std::path::Path;

/// Exit code, standard output and standard error.
fn wordline(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let done = crate::support::wordline(folder, args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap_or(-1), text(&done.stdout), text(&done.stderr))
}

/// A trace of so many writes of 1 MiB, each where the one before ended.
fn trace(folder: &Path, writes: u64) {
    let row =
        |i: u64| format!("{},x,0,Write,{},{},1\n", 128_166_372_003_061_629 + i * 20_000, i << 20, 1 << 20);
    fs::write(folder.join("t.csv"), (0..writes).map(row).collect::<String>()).unwrap();
}

#[test]
fn the_verdict_of_a_twin_is_printed_and_the_twin_runs() {
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path(), 100);
    let (code, out, err) = wordline(folder.path(), &["twin", "fit", "t.csv", "--out", "my.toml"]);
    assert_eq!(code, 0, "{err}");
    for word in [
        "difference",
        "bound",
        "counts, mix and sizes",
        "on demo-8gb under slc-cache",
        "This twin represents its trace in",
    ] {
        assert!(out.contains(word), "{word}: {out}");
    }
    assert!(out.contains("write amplification was not tested, because the trace is too short for the drive to erase a block"), "nothing was erased: {out}");
    // Its file says what was printed, line by line.
    let file = fs::read_to_string(folder.path().join("my.toml")).unwrap();
    let head: Vec<&str> = file.lines().take_while(|line| line.starts_with('#')).collect();
    for line in out.lines().filter(|line| !line.trim().is_empty()) {
        assert!(head.contains(&format!("# {line}").trim_end()), "{line} is not in\n{}", head.join("\n"));
    }
    // Like its sibling commands, it replaces a file only with --force.
    let again = ["twin", "fit", "t.csv", "--out", "my.toml"];
    let (code, _, err) = wordline(folder.path(), &again);
    assert_eq!((code, err.as_str()), (2, "error: my.toml: file exists; --force overwrites it\n"));
    let (code, _, err) = wordline(folder.path(), &[&again[..], &["--force"]].concat());
    assert_eq!(code, 0, "{err}");
    assert_eq!(fs::read_to_string(folder.path().join("my.toml")).unwrap(), file);
    let run = ["run", "--device", "demo-8gb", "--workload", "my.toml", "--scheme", "conventional"];
    let (code, _, err) = wordline(folder.path(), &run);
    assert_eq!(code, 0, "{err}");
}

// A named device that is too small for the trace is refused.
#[test]
fn drive_grows_with_the_trace_unless_named() {
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path(), 9 * 1024);
    let (code, out, err) = wordline(folder.path(), &["twin", "fit", "t.csv"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("demo-8gb enlarged 2 times"), "{out}");
    let named = ["twin", "fit", "t.csv", "--device", "demo-8gb", "--out", "my.toml"];
    let (code, out, err) = wordline(folder.path(), &named);
    assert_eq!(code, 2, "{err}");
    for word in ["--device demo-8gb", "--fit wrap", "without --device, the drive is enlarged as needed"] {
        assert!(err.contains(word), "{word}: {err}");
    }
    assert!(out.contains("trace and twin were not run on a drive"), "{out}");
    let file = fs::read_to_string(folder.path().join("my.toml")).unwrap();
    assert!(file.contains("; trace and twin were not run on a drive"), "{file}");
}
