//! The drive that `wordline crash` runs a client on: what its log keeps, and the faults of a session.

use crate::client::{Client, FLUSH, READ, TRIM, WRITE, ZEROES};
use std::io::Write;
use wordline_live::{Recorder, Recording};
use wordline_volatile::{Event, Image, Kind, Log, SessionFault, SessionFaults};

const SECTOR: u64 = 512;
const EIO: u32 = 5;
const FUA: u16 = 1;

/// A drive of 64 KiB with a client, which may print.
struct Run {
    recorder: Recorder,
    folder: tempfile::TempDir,
    printed: std::io::PipeWriter,
}

impl Run {
    fn new(faults: Option<SessionFaults>) -> Run {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, printed) = std::io::pipe().unwrap();
        let recording = Recording { printed: pipe, faults };
        let image = Image::new(1 << 16, SECTOR);
        let recorder =
            Recorder::start(&folder.path().join("d.sock"), image, SECTOR, Some(recording)).unwrap();
        Run { recorder, folder, printed }
    }

    fn client(&self) -> Client {
        Client::new(&self.folder.path().join("d.sock"), true)
    }
}

fn sectors(byte: u8, count: u64) -> Vec<u8> {
    vec![byte; (count * SECTOR) as usize]
}

#[test]
fn log_keeps_requests_by_connection_and_marks_in_place() {
    let mut run = Run::new(None);
    let (mut one, mut two) = (run.client(), run.client());
    one.write(0, &sectors(1, 2));
    writeln!(run.printed, "one").unwrap();
    assert_eq!(two.ask(WRITE, FUA, 4 * SECTOR, SECTOR as u32, &sectors(2, 1)).0, 0);
    two.flush();
    assert_eq!(one.ask(TRIM, 0, 0, SECTOR as u32, &[]).0, 0);
    assert_eq!(one.ask(ZEROES, FUA, SECTOR, SECTOR as u32, &[]).0, 0);
    // Two requests under way: both are submitted before either is complete.
    let writes = [one.send(WRITE, 0, 0, 512, &sectors(3, 1)), one.send(FLUSH, 0, 0, 0, &[])];
    let done: Vec<u64> = writes.iter().map(|_| one.reply(|_| 0).unwrap().cookie).collect();
    assert_eq!(done, writes);
    writeln!(run.printed, "two").unwrap();
    let log = run.recorder.end();
    let write = |id, connection, offset, fua, data| Event::Write { id, connection, offset, fua, data };
    let zero = |id, offset, fua, trim| Event::Zero { id, connection: 1, offset, length: SECTOR, fua, trim };
    let expected = [
        write(1, 1, 0, false, sectors(1, 2)),
        Event::Done { id: 1 },
        Event::Mark("one".to_string()),
        write(2, 2, 4 * SECTOR, true, sectors(2, 1)),
        Event::Done { id: 2 },
        Event::Flush { id: 3, connection: 2 },
        Event::Done { id: 3 },
        zero(4, 0, false, true),
        Event::Done { id: 4 },
        zero(5, SECTOR, true, false),
        Event::Done { id: 5 },
        write(6, 1, 0, false, sectors(3, 1)),
        Event::Flush { id: 7, connection: 1 },
        Event::Done { id: 6 },
        Event::Done { id: 7 },
        Event::Mark("two".to_string()),
    ];
    assert_eq!(log.events, expected);
}

/// Faults that hit the first of two requests and not the second. `below` is what the fault draws for its place.
fn once(fault: SessionFault, kind: Kind, below: &[u64]) -> SessionFaults {
    let faults = |seed| SessionFaults::new(fault, 5000, seed);
    let hits = |seed: &u64| {
        let mut drawn = faults(*seed);
        let is_first = drawn.draw(kind).is_some();
        let is_inside = below.iter().all(|end| drawn.below(*end) > 0);
        is_first && is_inside && drawn.draw(kind).is_none()
    };
    faults((0..1000).find(hits).unwrap())
}

/// Whether the log has the fault, of a request that was completed or not.
fn has(log: &Log, fault: SessionFault, is_done: bool) -> bool {
    log.events.iter().any(|event| match event {
        Event::Fault { id, fault: of } if *of == fault => {
            log.events.contains(&Event::Done { id: *id }) == is_done
        }
        _ => false,
    })
}

#[test]
fn read_fails_once() {
    let run = Run::new(Some(once(SessionFault::ReadError, Kind::Read, &[])));
    let mut client = run.client();
    client.write(0, &sectors(7, 1));
    assert_eq!(client.ask(READ, 0, 0, 512, &[]).0, EIO);
    assert_eq!(client.read(0, 512), sectors(7, 1));
    assert!(has(&run.recorder.end(), SessionFault::ReadError, false));
}

#[test]
fn write_that_fails_is_half_there() {
    let run = Run::new(Some(once(SessionFault::HalfWrite, Kind::Write, &[8])));
    let mut client = run.client();
    assert_eq!(client.ask(WRITE, 0, 0, 4096, &sectors(7, 8)).0, EIO);
    let found = client.read(0, 4096);
    let there = found.iter().take_while(|byte| **byte == 7).count();
    assert!((512..4096).contains(&there) && there.is_multiple_of(512), "{there}");
    assert!(found[there..].iter().all(|byte| *byte == 0));
    client.write(0, &sectors(7, 8));
    let log = run.recorder.end();
    assert!(has(&log, SessionFault::HalfWrite, false), "it was never completed: {:?}", log.events);
}

#[test]
fn flush_fails_and_the_next_one_succeeds() {
    let run = Run::new(Some(once(SessionFault::FailedFlush, Kind::Flush, &[])));
    let mut client = run.client();
    client.write(0, &sectors(7, 1));
    assert_eq!(client.ask(FLUSH, 0, 0, 0, &[]).0, EIO);
    client.flush();
    assert!(has(&run.recorder.end(), SessionFault::FailedFlush, false));
}

#[test]
fn sector_is_unreadable_until_it_is_written_again() {
    let run = Run::new(Some(once(SessionFault::LatentError, Kind::Write, &[4096])));
    let mut client = run.client();
    client.write(0, &sectors(7, 8));
    let bad: Vec<u64> = (0..8).filter(|at| client.ask(READ, 0, at * SECTOR, 512, &[]).0 == EIO).collect();
    assert_eq!(bad.len(), 1, "{bad:?}");
    client.write(bad[0] * SECTOR, &sectors(8, 1));
    assert_eq!(client.read(bad[0] * SECTOR, 512), sectors(8, 1));
    assert!(has(&run.recorder.end(), SessionFault::LatentError, true));
}

#[test]
fn bit_is_inverted_without_an_error() {
    let run = Run::new(Some(once(SessionFault::Corrupt, Kind::Write, &[4096, 8])));
    let mut client = run.client();
    client.write(0, &sectors(7, 8));
    let inverted: u32 = client.read(0, 4096).iter().map(|byte| (byte ^ 7).count_ones()).sum();
    assert_eq!(inverted, 1);
    assert!(has(&run.recorder.end(), SessionFault::Corrupt, true));
}

#[test]
fn slow_request_succeeds() {
    let run = Run::new(Some(once(SessionFault::Slow, Kind::Write, &[])));
    let mut client = run.client();
    client.write(0, &sectors(7, 1));
    assert_eq!(client.read(0, 512), sectors(7, 1));
    assert!(has(&run.recorder.end(), SessionFault::Slow, true));
}
