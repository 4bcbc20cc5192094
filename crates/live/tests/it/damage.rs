//! A folder that is not what was written: what can be read is right, what cannot is an error with a line, and nothing reads as
//! zeroes that was written.

use crate::client::{Client, FLUSH, READ, WRITE};
use crate::environment::from_environment;
use crate::ledger::{SECTOR, bytes};
use crate::support::{Rng, Served, spec};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use wordline_live::{Address, ServeSpec, Server};

const SECTORS: u64 = 96;

fn drive(scheme: &str, data: &Path) -> ServeSpec {
    let mut spec = ServeSpec { data: Some(data.to_path_buf()), ..spec(scheme, "0") };
    if scheme == "slc-cache" {
        spec.run.set.retain(|(key, _)| key != "ack.mode");
        spec.run.set.push(("ack.mode".to_string(), "buffer".to_string()));
    }
    spec
}

fn copy(from: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        std::fs::copy(from.join(&name), to.path().join(&name)).unwrap();
    }
    to
}

/// What is left of a drive whose server is killed: half of what was written is in the database, the other in the log.
fn killed(scheme: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let first = Served::new(drive(scheme, folder.path()));
    let mut client = Client::new(&first.socket(), true);
    for sector in 0..SECTORS {
        client.write(sector * SECTOR, &bytes(sector));
    }
    first.stop();
    let second = Served::new(drive(scheme, folder.path()));
    let mut client = Client::new(&second.socket(), true);
    for sector in (0..SECTORS).filter(|sector| sector % 3 != 0) {
        client.write(sector * SECTOR, &bytes(1000 + sector));
    }
    client.flush();
    copy(folder.path())
}

fn wanted(sector: u64) -> Vec<u8> {
    if sector.is_multiple_of(3) { bytes(sector) } else { bytes(1000 + sector) }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = all.filter(|path| std::fs::metadata(path).unwrap().len() > 0).collect();
    all.sort();
    all
}

/// Serve a folder, and compare all of it. Returns how many sectors cannot be read, or why it is not served.
fn look(scheme: &str, folder: &Path) -> Result<usize, String> {
    let sockets = tempfile::tempdir().unwrap();
    let socket = sockets.path().join("d.sock");
    let log = Arc::new(Mutex::new(vec![]));
    let lines = Arc::clone(&log);
    let told = move |line: &str| lines.lock().unwrap().push(line.to_string());
    let spec = ServeSpec { addresses: vec![Address::Unix(socket.clone())], ..drive(scheme, folder) };
    let server = Server::start(&spec, Arc::new(told)).map_err(|e| e.to_string())?;
    let mut client = Client::new(&socket, true);
    let mut unread = 0;
    for sector in 0..SECTORS {
        let (error, data) = client.ask(READ, 0, sector * SECTOR, SECTOR as u32, &[]);
        match error {
            0 => assert!(
                data == wanted(sector),
                "sector {sector} is another; zero: {}",
                data.iter().all(|b| *b == 0)
            ),
            5 => unread += 1,
            other => panic!("error {other}"),
        }
    }
    let log = log.lock().unwrap().join("\n");
    assert!(unread == 0 || log.contains(" damaged"), "no line says why: {log}");
    drop(server);
    Ok(unread)
}

#[test]
fn flipped_bit_is_a_named_error_and_never_other_data() {
    let (flips, seed) = (from_environment("WORDLINE_FLIPS", 24), from_environment("WORDLINE_SEED", 1));
    let mut found = [0; 3];
    for scheme in ["conventional", "slc-cache"] {
        let left = killed(scheme);
        assert_eq!(look(scheme, copy(left.path()).path()), Ok(0), "{scheme}: as it was left");
        for flip in 0..flips / 2 {
            let mut rng = Rng(seed.wrapping_mul(1_000_003) + flip);
            let folder = copy(left.path());
            let files = files(folder.path());
            let file = &files[(flip % files.len() as u64) as usize];
            let mut bytes = std::fs::read(file).unwrap();
            let bit = rng.below(bytes.len() as u64 * 8);
            bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
            std::fs::write(file, bytes).unwrap();
            let name = file.file_name().unwrap().to_string_lossy();
            println!("{scheme}: {name}, bit {bit}");
            match look(scheme, folder.path()) {
                Ok(0) => found[0] += 1,
                Ok(_) => found[1] += 1,
                Err(why) => {
                    assert!(
                        why.contains("drive.sqlite") || why.contains("drive.log"),
                        "{name}, bit {bit}: {why}"
                    );
                    found[2] += 1;
                }
            }
        }
    }
    println!(
        "{flips} flips: {} changed nothing, {} are errors of reads, {} keep the drive from starting",
        found[0], found[1], found[2]
    );
    assert!(found[1] > 0, "no flip hit data: {found:?}");
}

#[test]
fn damaged_data_fail_after_a_move_until_rewritten() {
    let left = killed("conventional");
    let log =
        files(left.path()).into_iter().find(|path| path.to_string_lossy().contains("drive.log.")).unwrap();
    let mut all = std::fs::read(&log).unwrap();
    // The newest data of sector 1 in the log.
    let data = wanted(1);
    let at = all.windows(data.len()).rposition(|window| window == data).unwrap();
    all[at + 5] ^= 4;
    std::fs::write(&log, all).unwrap();
    for _ in 0..2 {
        let drive = Served::new(drive("conventional", left.path()));
        let mut client = Client::new(&drive.socket(), true);
        assert_eq!(client.ask(READ, 0, SECTOR, SECTOR as u32, &[]).0, 5, "EIO");
        // Parts of it cannot be completed.
        assert_eq!(client.ask(WRITE, 0, SECTOR + 7, 9, &[1; 9]).0, 5);
        // Everything else is written again and again, so that its block is collected.
        for round in 0..30 {
            for at in 4..32 {
                client.write(at * 16 * SECTOR, &bytes(round).repeat(16));
            }
        }
        assert_eq!(client.ask(READ, 0, 0, 4 * SECTOR as u32, &[]).0, 5);
        assert!(
            drive.log().iter().any(|line| line.contains("the data at byte 4096 are damaged")),
            "{:?}",
            drive.log()
        );
        drive.stop();
    }
    let drive = Served::new(drive("conventional", left.path()));
    let mut client = Client::new(&drive.socket(), true);
    client.write(SECTOR, &bytes(5));
    assert!(client.read(SECTOR, SECTOR as u32) == bytes(5));
}

#[test]
fn a_record_that_cannot_be_read_is_named() {
    let left = killed("conventional");
    let log =
        files(left.path()).into_iter().find(|path| path.to_string_lossy().contains("drive.log.")).unwrap();
    let mut all = std::fs::read(&log).unwrap();
    // Both copies of a description: behind its head, and before the next.
    let marks: Vec<usize> = (0..all.len() - 4).filter(|at| &all[*at..at + 4] == b"WLre").collect();
    all[30] ^= 1;
    all[marks[0] - 8] ^= 1;
    std::fs::write(&log, all).unwrap();
    let said = look("conventional", left.path()).unwrap_err();
    assert!(
        said.contains("is damaged") && said.contains("at byte 0") && said.contains("hint: restore"),
        "{said}"
    );
}

#[test]
fn a_missing_or_empty_database_is_no_blank_drive() {
    for remove in [false, true] {
        let left = killed("conventional");
        let database = left.path().join("drive.sqlite");
        if remove {
            std::fs::remove_file(&database).unwrap()
        } else {
            std::fs::write(&database, []).unwrap()
        }
        let said = look("conventional", left.path()).unwrap_err();
        assert!(
            said.contains("drive.sqlite is missing or empty, although the folder held a drive"),
            "{said}"
        );
    }
    let left = killed("conventional");
    for file in files(left.path()).iter().filter(|file| file.to_string_lossy().contains("drive.log.")) {
        std::fs::remove_file(file).unwrap();
    }
    let said = look("conventional", left.path()).unwrap_err();
    assert!(said.contains("the log of the last server is missing"), "{said}");
}

#[test]
fn a_folder_that_goes_away_ends_the_service() {
    for empties in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let served = Served::new(drive("conventional", &data));
        let mut client = Client::new(&served.socket(), true);
        client.write(0, &bytes(1));
        if empties {
            files(&data).iter().for_each(|file| std::fs::remove_file(file).unwrap());
        } else {
            std::fs::remove_dir_all(&data).unwrap();
        }
        client.send(WRITE, 0, SECTOR, SECTOR as u32, &bytes(2));
        let _ = client.reply(|_| 0);
        assert_eq!(client.ask(FLUSH, 0, 0, 0, &[]).0, 5, "EIO");
        let why = served.failure().unwrap();
        assert!(why.contains("was deleted or replaced while the drive was served"), "{why}");
        assert!(
            served.log().iter().any(|line| line.contains("was deleted or replaced")),
            "{:?}",
            served.log()
        );
        let said = wordline_live::ask(&served.folder.path().join("d.ctl"), "cut").unwrap_err().to_string();
        assert!(said.contains("the drive has stopped"), "{said}");
    }
}

#[test]
fn a_folder_of_before_is_read() {
    let left = killed("slc-cache");
    assert_eq!(look("slc-cache", left.path()), Ok(0));
    let database = rusqlite::Connection::open(left.path().join("drive.sqlite")).unwrap();
    database
        .execute_batch(
            "DELETE FROM drive WHERE key IN ('rows', 'check', 'unit', 'folded', 'open'); DROP TABLE damaged;
             PRAGMA user_version = 1;",
        )
        .unwrap();
    drop(database);
    for file in files(left.path()).iter().filter(|file| file.to_string_lossy().contains("drive.log.")) {
        std::fs::remove_file(file).unwrap();
    }
    assert_eq!(look("slc-cache", left.path()), Ok(0));
}
