//! Traces made of traces, as a user meets them: what is written, what is refused, and that no file is
//! ever half there.

use crate::support::wordline;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder with a trace of two volumes, every tenth request a trim.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "T,V,Op,O,S\n".to_string();
    for n in 0..3_000u64 {
        let op = ["read", "write", "write"][n as usize % 3];
        let op = if n % 10 == 9 { "trim" } else { op };
        table += &format!(
            "{},{},{op},{},4096\n",
            n * 10_000 + n % 7 * 500,
            ["a", "b"][n as usize % 2],
            n * 7919 % 500 * 4096
        );
    }
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    let done = wordline(
        folder.path(),
        &["trace", "convert", "t.csv", "t.wl", "--format", "csv:time=T:us,device=V,op=Op,offset=O,size=S"],
    );
    assert!(done.status.success(), "{}", text(&done.stderr));
    folder
}

#[test]
fn what_would_be_lost_is_counted_and_no_file_is_left() {
    let folder = folder();
    let refused = wordline(folder.path(), &["trace", "convert", "t.wl", "t.spc"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("300 trims"), "{}", text(&refused.stderr));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    let done = wordline(folder.path(), &["trace", "convert", "t.wl", "t.spc", "--lossy"]);
    assert!(done.status.success() && text(&done.stderr).contains("dropped: 300 trims"));
    let again = wordline(folder.path(), &["trace", "convert", "t.wl", "t.spc", "--lossy"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("--force"), "{}", text(&again.stderr));
}

#[test]
fn trace_survives_a_pipe_and_every_compression() {
    let folder = folder();
    let piped = wordline(folder.path(), &["trace", "convert", "t.wl", "-", "--to", "wordline"]);
    assert_eq!(piped.stdout, std::fs::read(folder.path().join("t.wl")).unwrap());
    for ending in ["gz", "zst", "bz2", "xz", "lz4"] {
        let (packed, back) = (format!("t.blkparse.{ending}"), format!("{ending}.wl"));
        for (from, to) in [("t.wl", &packed), (packed.as_str(), &back)] {
            let done = wordline(folder.path(), &["trace", "convert", from, to]);
            assert!(done.status.success(), "{from} to {to}: {}", text(&done.stderr));
        }
        let found = wordline(folder.path(), &["trace", "inspect", &packed, "--json", "-"]);
        assert!(text(&found.stdout).contains("\"requests\": 3000"), "{}", text(&found.stdout));
    }
}

#[test]
fn parts_of_a_trace_merged_again_are_as_many_requests() {
    let folder = folder();
    for (volume, out) in [("a", "a.wl"), ("b", "b.wl")] {
        assert!(wordline(folder.path(), &["trace", "cut", "t.wl", out, "--volume", volume]).status.success());
    }
    let done = wordline(folder.path(), &["trace", "merge", "a.wl", "b.wl", "both.wl"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let file = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(file("both.wl"), file("t.wl"), "cut apart and merged it is the same file");
}

#[test]
fn trace_pictures_are_whole_and_come_with_data() {
    let folder = folder();
    let done = wordline(folder.path(), &["trace", "inspect", "t.wl", "--out", "seen"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("LRU cache"), "{}", text(&done.stdout));
    let seen = folder.path().join("seen");
    let page = std::fs::read_to_string(seen.join("trace.html")).unwrap();
    let mut pictures = 0;
    for entry in std::fs::read_dir(seen.join("figures")).unwrap() {
        let path = entry.unwrap().path();
        let content = std::fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|e| e == "svg") {
            pictures += 1;
            assert!(content.starts_with("<svg") && content.ends_with("</svg>"), "{}", path.display());
            assert!(!content.contains("NaN") && !content.contains("inf"), "{}", path.display());
            assert!(page.contains(&content), "{} is not on the page", path.display());
        } else {
            assert!(content.lines().count() > 1, "{} has no data", path.display());
        }
    }
    assert_eq!(pictures, 7);
}

/// A built-in workload is no trace, and is not proposed as one.
#[test]
fn trace_commands_refuse_built_in_workloads_by_name() {
    let folder = folder();
    for name in ["sequential", "twin:hm_0"] {
        for command in [vec!["inspect", name], vec!["convert", name, "out.wl"]] {
            let done = wordline(folder.path(), &[vec!["trace"], command].concat());
            let said = text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{said}");
            assert!(said.contains("a built-in workload is not a trace"), "{said}");
            assert!(said.contains("`wordline list workloads` lists all of them"), "{said}");
            assert!(!said.contains("did you mean"), "{said}");
        }
    }
    let done = wordline(folder.path(), &["trace", "inspect", "sequentail"]);
    let said = text(&done.stderr);
    assert!(said.contains("no such file") && !said.contains("built-in"), "{said}");
    // A file of that name is one.
    std::fs::copy(folder.path().join("t.wl"), folder.path().join("sequential")).unwrap();
    let done = wordline(folder.path(), &["trace", "inspect", "./sequential"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
}
