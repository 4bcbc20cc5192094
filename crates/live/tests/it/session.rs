//! A session that was kept ends once more as it did.

use crate::client::{Client, FLUSH, READ, TRIM, WRITE, ZEROES};
use crate::support::{Rng, Served, spec};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use wordline_live::{ServeSpec, is_session, rerun_session};
use wordline_run::RunSpec;
use wordline_volatile::{Event, Log};

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
fn session_of_a_running_server_is_on_disk_a_second_later() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("session");
    let served = Served::new(ServeSpec { session: Some(kept.clone()), ..spec("slc-cache", "0") });
    let requests = || rerun_session(&kept, over()).unwrap_or_else(|e| panic!("{e}")).requests;
    assert_eq!(requests(), 0);
    let mut client = Client::new(&served.socket(), true);
    (0..9).for_each(|n| assert_eq!(client.ask(WRITE, 0, n * 4096, 4096, &[7; 4096]).0, 0));
    let begun = std::time::Instant::now();
    while requests() < 9 {
        assert!(begun.elapsed().as_secs() < 60, "a killed server would leave nothing");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(std::fs::read_to_string(kept.join("trace.iolog")).unwrap().lines().count() > 9);
}

#[test]
fn what_is_no_session_is_named_with_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let error = |folder: &std::path::Path| rerun_session(folder, over()).unwrap_err().to_string();
    assert!(error(folder.path()).contains("cannot be read"));
    std::fs::write(folder.path().join("session.txt"), "hello\n").unwrap();
    assert!(error(folder.path()).contains("line 1: not a session"));
}

/// The contents of a drive after all events of a session's log of writes.
fn replayed(session: &Path) -> (Log, Vec<u8>) {
    let log =
        Log::read(&mut File::open(session.join("writes.log")).unwrap()).unwrap_or_else(|e| panic!("{e}"));
    let mut bytes = vec![0; log.size as usize];
    for event in &log.events {
        match event {
            Event::Write { offset, data, .. } => {
                bytes[*offset as usize..*offset as usize + data.len()].copy_from_slice(data);
            }
            Event::Zero { offset, length, .. } => bytes[*offset as usize..(offset + length) as usize].fill(0),
            _ => {}
        }
    }
    (log, bytes)
}

/// Random requests of any length, and trims of whole units, with power cuts in between.
fn work_with_cuts(served: &Served, seed: u64) {
    let mut rng = Rng(seed);
    for round in 0..5u8 {
        let mut client = Client::new(&served.socket(), true);
        for _ in 0..80 {
            let (offset, length) = (rng.below(1 << 20), 1 + rng.below(40_000) as u32);
            match rng.below(10) {
                0 => client.ask(TRIM, 0, offset >> 14 << 14, 1 << 16, &[]),
                1 => client.ask(FLUSH, 0, 0, 0, &[]),
                2 => client.ask(ZEROES, 0, offset, length, &[]),
                3 => client.ask(WRITE, 1, offset, length, &vec![round + 100; length as usize]),
                _ => client.ask(WRITE, 0, offset, length, &vec![round + 1; length as usize]),
            };
        }
        // They are in flight at the cut.
        for at in 0..8u64 {
            client.send(WRITE, 0, at << 16, 4096, &[round + 50; 4096]);
        }
        served.ctl(&format!("mark round {round}"));
        served.ctl(&format!("cut seed={round}"));
    }
}

#[test]
fn data_of_a_session_give_the_contents_after_cuts() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    std::fs::write(&image, vec![9; 3 << 20]).unwrap();
    for (number, (scheme, write_cache)) in
        [("conventional", 0), ("sector", 0), ("slc-cache", 1 << 20)].into_iter().enumerate()
    {
        let kept = |name: &str| folder.path().join(format!("{number}-{name}"));
        let spec = |name: &str| ServeSpec {
            write_cache,
            session: Some(kept(name)),
            session_data: true,
            data: Some(kept("data")),
            ..spec(scheme, "0")
        };
        for name in ["image", "again"] {
            let image = Some(image.clone()).filter(|_| name == "image");
            let served = Served::new(ServeSpec { image, ..spec(name) });
            work_with_cuts(&served, number as u64);
            let holds = Client::new(&served.socket(), true).read(0, 4 << 20);
            served.stop();
            let (log, bytes) = replayed(&kept(name));
            assert!(bytes[..4 << 20] == holds, "{scheme} {name}: other contents");
            assert!(log.base > 0 && log.of_client().len() > 600, "{scheme} {name}: {}", log.base);
            assert_eq!(log.marks(usize::MAX).last(), Some("round 4"));
        }
    }
}
