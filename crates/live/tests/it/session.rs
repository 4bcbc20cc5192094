//! A session that was kept ends once more as it did.

use crate::client::{Client, FLUSH, READ, TRIM, WRITE};
use crate::support::{Rng, Served, spec};
use std::io::Write;
use wordline_live::{ServeSpec, is_session, rerun_session};
use wordline_run::RunSpec;

fn over() -> RunSpec {
    RunSpec::new("", "", "uniform:requests=1")
}

#[test]
fn a_session_run_again_has_the_result_of_the_live_run() {
    for scale in ["0", "0.05"] {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("session");
        let served = Served::new(ServeSpec {
            session: Some(kept.clone()),
            write_cache: 65_536,
            data: (scale == "0").then(|| folder.path().join("data")),
            ..spec("slc-cache", scale)
        });
        let mut rng = Rng(7);
        for round in 0..3 {
            let mut client = Client::new(&served.socket(), true);
            for _ in 0..200 {
                let (offset, length) = (rng.below(1 << 20), 1 + rng.below(20_000) as u32);
                match rng.below(8) {
                    0 => client.ask(TRIM, 0, offset, length, &[]),
                    1 => client.ask(FLUSH, 0, 0, 0, &[]),
                    2 | 3 => client.ask(READ, 0, offset, length, &[]),
                    _ => client.ask(WRITE, 0, offset, length, &vec![round; length as usize]),
                };
            }
            served.ctl(["inject slow-die die=1 factor=7", "inject retire block=5", "stats"][round as usize]);
            served.ctl("inject read-error offset=4KiB");
            assert_eq!(client.ask(READ, 0, 4096, 1, &[]).0, 5);
            served.ctl("cut");
        }
        let given = served.stop();
        assert!(is_session(&kept));
        let file = kept.join("session.txt");
        let text = std::fs::read_to_string(&file).unwrap();
        let orders = text.lines().filter_map(|line| line.strip_prefix("order ")?.split_once(' '));
        let orders: Vec<&str> = orders.map(|(_, words)| words).collect();
        let (error, cut) = ("inject read-error offset=4KiB", "cut");
        let wanted =
            ["inject slow-die die=1 factor=7", error, cut, "inject retire block=5", error, cut, error, cut];
        assert_eq!(orders, wanted);
        let again = rerun_session(&kept, over()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(Some(&again.again), again.recorded.as_ref(), "at scale {scale}");
        assert_eq!(given.to_json()["result_hash"], again.again.as_str());
        assert_eq!(again.cuts, 3);
        assert!(again.requests > 600, "fills are requests, too: {}", again.requests);
        std::fs::write(&file, text.lines().take(400).map(|line| format!("{line}\n")).collect::<String>())
            .unwrap();
        let said = rerun_session(&kept, over()).unwrap_err().to_string();
        assert!(said.contains("session.txt: truncated at line 400"), "{said}");
        // As a server that is killed leaves it.
        std::fs::remove_file(kept.join("report.json")).unwrap();
        std::fs::File::options().append(true).open(&file).unwrap().write_all(b"submit 17").unwrap();
        let again = rerun_session(&kept, over()).unwrap_or_else(|e| panic!("{e}"));
        let events = text.lines().take(400);
        let requests = events.filter(|line| line.starts_with("submit")).count();
        assert_eq!((again.recorded, again.requests), (None, requests as u64));
    }
}

#[test]
fn session_of_a_used_drive_begins_with_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let at = |session: Option<&str>| ServeSpec {
        data: Some(folder.path().join("data")),
        session: session.map(|name| folder.path().join(name)),
        ..spec("sector", "0")
    };
    let work = |served: &Served, seed: u64| {
        let mut rng = Rng(seed);
        let mut client = Client::new(&served.socket(), true);
        for _ in 0..600 {
            let (offset, length) = (rng.below(4 << 20), 1 + rng.below(20_000) as u32);
            match rng.below(8) {
                0 => client.ask(TRIM, 0, offset, length, &[]),
                1 => client.ask(READ, 0, offset, length, &[]),
                _ => client.ask(WRITE, 0, offset, length, &vec![seed as u8; length as usize]),
            };
        }
    };
    let served = Served::new(at(None));
    work(&served, 1);
    served.stop();
    for (round, name) in ["second", "third"].into_iter().enumerate() {
        let served = Served::new(at(Some(name)));
        work(&served, 2 + round as u64);
        served.ctl("cut");
        work(&served, 9 + round as u64);
        served.stop();
        let kept = folder.path().join(name);
        let bytes = |at: &std::path::Path| {
            let files = std::fs::read_dir(at).unwrap();
            files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>()
        };
        assert!(4 * bytes(&kept.join("drive")) < bytes(&folder.path().join("data")), "data were copied");
    }
    // Whatever has become of the drive since.
    for name in ["third", "second"] {
        let again = rerun_session(&folder.path().join(name), over()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((Some(again.again), again.cuts), (again.recorded, 1), "{name}");
    }
}

#[test]
fn what_is_no_session_is_named_with_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let error = |folder: &std::path::Path| rerun_session(folder, over()).unwrap_err().to_string();
    assert!(error(folder.path()).contains("cannot be read"));
    std::fs::write(folder.path().join("session.txt"), "hello\n").unwrap();
    assert!(error(folder.path()).contains("line 1: not a session"));
}
