//! States of small logs, each held to a check that a shell runs.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wordline_crash::{CrashError, SearchSpec, Template, Verdict, drop_flushes, record, replay_state, search};
use wordline_crash::{Found, RecordSpec};
use wordline_volatile::{Atomic, Broken, Event, Log, Rules, SessionFault};

const SECTOR: u64 = 512;

fn write(id: u64, first: u64, count: u64, letter: u8) -> Event {
    let data = vec![letter; (count * SECTOR) as usize];
    Event::Write { id, connection: 1, offset: first * SECTOR, fua: false, data }
}

/// Data, then the record that says so, with a FLUSH between or without, and one behind.
fn commit(barrier: bool) -> Log {
    let mut events = vec![write(1, 8, 4, b'd'), Event::Done { id: 1 }];
    if barrier {
        events.extend([Event::Flush { id: 2, connection: 1 }, Event::Done { id: 2 }]);
    }
    events.extend([write(3, 0, 1, b'c'), Event::Done { id: 3 }]);
    events.extend([Event::Flush { id: 4, connection: 1 }, Event::Done { id: 4 }]);
    events.push(Event::Mark("committed".to_string()));
    Log { size: 64 << 10, sector: SECTOR, base: 0, events }
}

/// A committed record has its data, in each sector; and where a mark says so there is one.
const CHECK: &str = "c=$(head -c1 {image} | tr -d '\\0'); d=$(tail -c +4097 {image} | head -c2048 | tr -d '\\0' | wc -c); \
                     if [ \"$c\" = c ]; then [ $d = 2048 ]; else [ ! -s {acked} ]; fi";

fn check(text: &str) -> Template {
    Template::new("--check", text, &["image", "acked", "socket", "uri"], &["image", "uri", "socket"]).unwrap()
}

fn spec() -> SearchSpec {
    SearchSpec {
        rules: Rules { sector: SECTOR, atomic: None },
        states: 60,
        seed: 1,
        threads: 2,
        most: Duration::from_secs(60),
        is_persistent: false,
        broken: vec![],
        mount: None,
        through: None,
    }
}

fn drive() -> RecordSpec {
    let most = Duration::from_secs(60);
    RecordSpec { size: 1 << 20, sector: SECTOR, image: None, most, mount: None, faults: None }
}

fn found(log: &Log, spec: &SearchSpec) -> Found {
    search(log, &check(CHECK), spec, &|| false, &|_| {}).unwrap()
}

#[test]
fn missing_barrier_is_reduced_to_one_lost_write() {
    let log = commit(false);
    let failing = found(&log, &spec()).failing.unwrap();
    assert_eq!((failing.name.as_str(), failing.again), ("5:1", true));
    assert!(
        failing.story.contains("request 1      write            2,048 bytes at         4,096"),
        "{}",
        failing.story
    );
    assert!(
        failing.story.contains("acknowledged: LOST\n") && failing.story.contains("acknowledged: survived\n")
    );
    let (story, verdict) = replay_state(&log, &check(CHECK), &spec(), "5:1", &|| false).unwrap();
    assert!(story == failing.story && verdict == failing.verdict, "the name replays it");
    let said = replay_state(&log, &check(CHECK), &spec(), "5:7", &|| false).unwrap_err().to_string();
    assert!(said.contains("request 7 cannot be lost by a cut after 5 events"), "{said}");
}

#[test]
fn barrier_prevents_failures_and_each_flush_is_needed() {
    let log = commit(true);
    let all = found(&log, &spec());
    assert_eq!(all.failing, None);
    let coverage = all.coverage;
    assert_eq!((coverage.intervals, coverage.two_lost), (3, 3), "all of them complete");
    assert!(
        coverage.to_text().starts_with("3 intervals of 3 kinds: up to two lost"),
        "{}",
        coverage.to_text()
    );
    assert!(all.coverage.checks > 15 && all.coverage.equal > 10, "{:?}", all.coverage);
    let dropped = drop_flushes(&log, &check(CHECK), &spec(), &|| false).unwrap();
    let needed: Vec<Option<&str>> = dropped.iter().map(|d| d.needed.as_deref()).collect();
    assert_eq!(needed, [Some("7!2:1"), Some("9!4:3")]);
    // A check that looks at nothing notices nothing.
    let dropped = drop_flushes(&log, &check("test -f {image}"), &spec(), &|| false).unwrap();
    assert!(dropped.iter().all(|d| d.needed.is_none() && d.states > 0));
}

#[test]
fn torn_write_is_found_unless_it_is_atomic() {
    let mut log = commit(true);
    // The record and its data as one write that is torn.
    log.events = vec![write(1, 0, 16, b'c'), Event::Done { id: 1 }];
    let whole = "n=$(head -c8192 {image} | tr -d '\\0' | wc -c); [ $n = 0 ] || [ $n = 8192 ]";
    let find = |atomic| {
        let spec = SearchSpec { rules: Rules { sector: SECTOR, atomic }, ..spec() };
        search(&log, &check(whole), &spec, &|| false, &|_| {}).unwrap()
    };
    let failing = find(None).failing.unwrap();
    assert!(failing.story.contains("LOST: sectors 0-0 of 0-15"), "{}", failing.story);
    assert_eq!(find(Some(Atomic { size: 8192, boundary: None })).failing, None);
    assert!(find(Some(Atomic { size: 8192, boundary: Some(4096) })).failing.is_some());
}

#[test]
fn states_come_in_order_and_equal_ones_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let text = format!(
        "head -c1024 {{image}} | tr '\\0' '.' | cut -c1-1 >> {0}; tail -c1 {0} > /dev/null",
        seen.display()
    );
    let events = (1..=3).flat_map(|id| [write(id, id - 1, 1, b'0' + id as u8), Event::Done { id }]).collect();
    let log = Log { size: 4096, sector: SECTOR, base: 0, events };
    let spec = SearchSpec { threads: 1, states: 100, ..spec() };
    let all = search(&log, &check(&text), &spec, &|| false, &|_| {}).unwrap();
    // Eight subsets of three writes, all of them found; the rest of the drawn ones are equal.
    assert_eq!((all.coverage.checks, all.failing), (8, None));
    let first: String = std::fs::read_to_string(&seen).unwrap().lines().take(5).collect();
    assert_eq!(first, "11.11", "uncut, nothing lost, all lost, and the two prefixes");
}

#[test]
fn check_that_fails_with_nothing_lost_is_a_user_error() {
    let fails = search(&commit(true), &check("test ! -f {image}"), &spec(), &|| false, &|_| {}).unwrap_err();
    assert!(
        matches!(&fails, CrashError::Input(text) if text.contains("although no data are lost")),
        "{fails}"
    );
    let none =
        search(&commit(true), &check("no-such-program {image}"), &spec(), &|| false, &|_| {}).unwrap_err();
    assert!(none.to_string().contains("--check: cannot be started"), "{none}");
    let slow = SearchSpec { most: Duration::from_millis(50), ..spec() };
    let slow = search(&commit(true), &check("sleep 60; cat {image}"), &slow, &|| false, &|_| {}).unwrap_err();
    assert!(slow.to_string().contains("did not end within"), "{slow}");
}

/// The check as a loop in one process, which notes when it begins.
fn loop_of(body: &str, begun: &std::path::Path) -> Template {
    check(&format!(
        "echo begun >> {}; while read line; do if {body}; then echo ok; else echo not whole; fi; done",
        begun.display()
    ))
}

#[test]
fn persistent_check_finds_the_same_in_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("begun");
    let spec = SearchSpec { is_persistent: true, threads: 1, ..spec() };
    let of = |log: &Log| search(log, &loop_of(CHECK, &begun), &spec, &|| false, &|_| {}).unwrap();
    let failing = of(&commit(false)).failing.unwrap();
    assert_eq!((failing.name.as_str(), failing.again), ("5:1", true));
    let Verdict::Failed { how, said } = failing.verdict else { panic!("{:?}", failing.verdict) };
    assert_eq!((how.as_str(), said.as_str()), ("a reply other than ok", "not whole"));
    std::fs::remove_file(&begun).unwrap();
    let all = of(&commit(true));
    assert_eq!(
        (all.failing, all.coverage.checks),
        (None, found(&commit(true), &self::spec()).coverage.checks)
    );
    // For the uncut state, and for all others.
    assert_eq!(std::fs::read_to_string(&begun).unwrap(), "begun\nbegun\n");
    // A check that breaks down has failed in that state, and is begun anew.
    let breaks = loop_of("head -c1 {image} | grep -q c && exit 3; true", &begun);
    let log = Log { events: commit(true).events[..4].to_vec(), ..commit(true) };
    let breaks = search(&commit(true), &breaks, &spec, &|| false, &|_| {}).unwrap_err().to_string();
    assert!(breaks.contains("although no data are lost: exit status: 3"), "{breaks}");
    let ended = search(&log, &check("test -f {image}"), &spec, &|| false, &|_| {}).unwrap_err().to_string();
    assert!(ended.contains("ended without a reply\n  allowed: a check that writes one line"), "{ended}");
    let slow = SearchSpec { most: Duration::from_millis(50), ..spec.clone() };
    let slow =
        search(&log, &check("sleep 60; cat {image}"), &slow, &|| false, &|_| {}).unwrap_err().to_string();
    assert!(slow.contains("did not end within"), "{slow}");
}

#[test]
fn interrupted_search_ends_and_says_so() {
    let asked = AtomicU64::new(0);
    let stops = || asked.fetch_add(1, Ordering::Relaxed) > 3;
    let ended = search(&commit(true), &check("sleep 1; cat {image} > /dev/null"), &spec(), &stops, &|_| {});
    assert!(matches!(ended, Err(CrashError::Stopped)), "{ended:?}");
}

#[test]
fn broken_drive_is_named_in_the_story() {
    let log = commit(true);
    let runs = [None, Some(1)].map(Broken::Rollback);
    let kinds = [Broken::Shorn, runs[0], runs[1], Broken::Phantom, Broken::Misdirected, Broken::DroppedFlush];
    for kind in kinds {
        let spec = SearchSpec { broken: vec![kind], ..spec() };
        let failing = found(&log, &spec).failing.unwrap();
        assert!(failing.story.contains(&kind.to_string()), "{}", failing.story);
        let told = failing.story.lines().any(|line| line.starts_with(&format!("  {kind}: ")));
        assert_eq!(told, kind != Broken::DroppedFlush, "which sectors: {}", failing.story);
        let (_, verdict) = replay_state(&log, &check(CHECK), &spec, &failing.name, &|| false).unwrap();
        assert_ne!(verdict, Verdict::Passed, "{} replays it", failing.name);
    }
}

#[test]
fn garbage_is_in_what_was_being_written() {
    let log = commit(true);
    let check = check("c=$(head -c1 {image} | tr -d 'c\\0'); [ -z \"$c\" ]");
    let spec = SearchSpec { broken: vec![Broken::Garbage], ..spec() };
    let failing = search(&log, &check, &spec, &|| false, &|_| {}).unwrap().failing.unwrap();
    assert!(failing.story.contains("\n  garbage: random bytes in 1 sector at 0\n"), "{}", failing.story);
}

#[test]
fn failing_check_is_a_finding_if_the_drive_had_faults() {
    let mut log = commit(true);
    log.events.insert(1, Event::Fault { id: 1, fault: SessionFault::Corrupt });
    let failing =
        search(&log, &check("test ! -f {image}"), &spec(), &|| false, &|_| {}).unwrap().failing.unwrap();
    assert!(failing.story.contains("fault of the drive in request 1: corrupt"), "{}", failing.story);
    // What a FLUSH that failed was to cover, the next one does not.
    let mut log = commit(true);
    log.events[3] = Event::Fault { id: 2, fault: SessionFault::FailedFlush };
    log.events.splice(4..4, [Event::Flush { id: 5, connection: 1 }, Event::Done { id: 5 }]);
    let failing = found(&log, &spec()).failing.unwrap();
    assert!(
        failing.story.contains("request 1 ") && failing.story.contains("failed-flush"),
        "{}",
        failing.story
    );
}

#[test]
fn check_of_a_mounted_file_system_needs_one() {
    let template = Template::new("--check", "ls {mnt}", &["mnt"], &["mnt"]).unwrap();
    let error = search(&commit(true), &template, &spec(), &|| false, &|_| {}).unwrap_err().to_string();
    assert!(error.contains("allowed: {mnt} with a file system to mount"), "{error}");
}

#[test]
fn client_without_writes_leaves_an_empty_marked_log() {
    let client =
        Template::new("--run", "test -S {socket} && echo one && echo two", &["socket"], &["socket"]).unwrap();
    let spec = drive();
    let done = record(&client, &spec, &|| false).unwrap();
    assert!(done.status.success());
    assert_eq!(done.log.marks(9).collect::<Vec<_>>(), ["one", "two"]);
    let slow = Template::new("--run", "sleep 60; cat {socket}", &["socket"], &["socket"]).unwrap();
    let spec = RecordSpec { most: Duration::from_millis(50), ..spec };
    assert!(record(&slow, &spec, &|| false).unwrap_err().to_string().contains("has not ended"));
}

#[test]
fn client_begins_on_the_image_that_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("begin");
    let begin: Vec<u8> =
        (0..16 * SECTOR).map(|at| if (at / SECTOR).is_multiple_of(3) { b'x' } else { 0 }).collect();
    std::fs::write(&path, &begin).unwrap();
    let client = Template::new("--run", "test -S {socket}", &["socket"], &["socket"]).unwrap();
    let spec = RecordSpec { image: Some(path.clone()), ..drive() };
    let log = record(&client, &spec, &|| false).unwrap().log;
    assert!(log.base > 0 && log.of_client().is_empty());
    let same = format!("head -c8192 {{image}} | cmp - {}", path.display());
    let all = search(&log, &check(&same), &self::spec(), &|| false, &|_| {}).unwrap();
    assert_eq!((all.failing, all.coverage.intervals), (None, 1), "no cut is in what was there before");
    let small = RecordSpec { size: 4096, ..spec };
    assert!(record(&client, &small, &|| false).unwrap_err().to_string().contains("8192 bytes"));
}
