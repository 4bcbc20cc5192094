//! A folder that is not what was written: what can be read is right, what cannot is an error with a line, and nothing reads as
//! zeroes that was written.

use crate::client::{Client, FLUSH, READ, WRITE};
use crate::environment::from_environment;
use crate::ledger::{SECTOR, bytes};
use crate::support::{Rng, Served, spec};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
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

/// The length of a file; 0 if there is none.
fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = all.filter(|path| length(path) > 0).collect();
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
                        ["drive.sqlite", "drive.log", "drive.pages"].iter().any(|file| why.contains(file)),
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
    for remove in [false, true] {
        let left = killed("conventional");
        let pages = left.path().join("drive.pages");
        if remove {
            std::fs::remove_file(&pages).unwrap()
        } else {
            std::fs::write(&pages, []).unwrap()
        }
        let said = look("conventional", left.path()).unwrap_err();
        let what = if remove { "missing" } else { "empty" };
        assert!(said.contains(&format!("drive.pages is {what}, although the folder held a drive")), "{said}");
    }
}

#[test]
fn pages_that_the_file_lacks_fail_and_others_are_read() {
    let left = killed("conventional");
    let pages = std::fs::File::options().write(true).open(left.path().join("drive.pages")).unwrap();
    pages.set_len(pages.metadata().unwrap().len() / 3).unwrap();
    let unread = look("conventional", left.path()).unwrap();
    assert!(unread > 0 && unread < SECTORS as usize, "{unread}");
}

#[test]
fn a_folder_that_goes_away_ends_the_service() {
    for lost in ["the folder", "its files", "drive.pages"] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let served = Served::new(drive("conventional", &data));
        let mut client = Client::new(&served.socket(), true);
        client.write(0, &bytes(1));
        match lost {
            "the folder" => std::fs::remove_dir_all(&data).unwrap(),
            "its files" => files(&data).iter().for_each(|file| std::fs::remove_file(file).unwrap()),
            file => std::fs::remove_file(data.join(file)).unwrap(),
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

/// The tables of a folder as the first formats have them: with the bytes of pages.
fn as_before(folder: &Path) -> rusqlite::Connection {
    let database = rusqlite::Connection::open(folder.join("drive.sqlite")).unwrap();
    let pages = std::fs::read(folder.join("drive.pages")).unwrap();
    database
        .execute_batch(
            "DROP VIEW spare_area; ALTER TABLE page RENAME TO page_now;
             CREATE TABLE page (
               id INTEGER PRIMARY KEY, logical_page INTEGER NOT NULL, sectors INTEGER NOT NULL,
               offset INTEGER NOT NULL, version INTEGER NOT NULL, sequence INTEGER NOT NULL, checksum INTEGER, data BLOB
             ) STRICT;
             CREATE VIEW spare_area AS SELECT id / 32 AS physical_page, length(data) AS bytes FROM page;
             INSERT INTO page
               SELECT id, logical_page, sectors, offset, version, sequence, checksum, NULL FROM page_now;",
        )
        .unwrap();
    let mut query = database.prepare("SELECT id, at, bytes FROM page_now WHERE at IS NOT NULL").unwrap();
    let place = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, usize>(1)?, row.get::<_, usize>(2)?));
    let places: Vec<(u64, usize, usize)> = query.query_map([], place).unwrap().map(Result::unwrap).collect();
    assert!(places.len() > 9);
    for (id, at, length) in places {
        let fill = "UPDATE page SET data = ?2 WHERE id = ?1";
        database.execute(fill, rusqlite::params![id, &pages[at..at + length]]).unwrap();
    }
    drop(query);
    database.execute_batch("DROP TABLE page_now; PRAGMA user_version = 1;").unwrap();
    std::fs::remove_file(folder.join("drive.pages")).unwrap();
    database
}

#[test]
fn a_folder_of_before_is_read() {
    let left = killed("slc-cache");
    assert_eq!(look("slc-cache", left.path()), Ok(0));
    let database = as_before(left.path());
    database
        .execute_batch(
            "DELETE FROM drive WHERE key IN ('rows', 'check', 'unit', 'folded', 'open'); DROP TABLE damaged;",
        )
        .unwrap();
    drop(database);
    for file in files(left.path()).iter().filter(|file| file.to_string_lossy().contains("drive.log.")) {
        std::fs::remove_file(file).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(look("slc-cache", left.path()), Ok(0));
    }
    let database = rusqlite::Connection::open(left.path().join("drive.sqlite")).unwrap();
    let of = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(of("PRAGMA user_version"), 3);
    assert!(of("SELECT sum(bytes) FROM spare_area") >= SECTORS as i64 * SECTOR as i64);
}

/// Put back blocks of a file as they were, those of the last 4 KiB that are to stay and later ones in any case.
fn undo(before: &[u8], after: &mut [u8], stay: usize, mut is_undone: impl FnMut() -> bool) {
    for (number, block) in after.chunks_mut(4096).enumerate() {
        if number * 4096 >= stay || is_undone() {
            let then = before.get(number * 4096..).unwrap_or(&[]);
            let then = &then[..then.len().min(block.len())];
            block[..then.len()].copy_from_slice(then);
            block[then.len()..].fill(0);
        }
    }
}

/// The newest segment of the log, by the number of its first record, and whether it is the only one.
fn segment(folder: &Path) -> (u64, PathBuf, bool) {
    let number = |file: &PathBuf| file.extension()?.to_str()?.parse::<u64>().ok();
    let mut segments: Vec<_> =
        files(folder).into_iter().filter_map(|file| Some((number(&file)?, file))).collect();
    segments.sort();
    let (first, path) = segments.pop().unwrap();
    (first, path, segments.is_empty())
}

/// What a crash of the system may leave: the files up to the last sync, and of what came later some blocks. A file that has
/// grown has all blocks up to some length; of the log, one block of `lost` in the zeroes that it had is missing, or none.
fn crashed(rng: &mut Rng, flushed: &Path, left: &Path, lost: u64) -> TempDir {
    let to = copy(left);
    let pages = to.path().join("drive.pages");
    let before = std::fs::read(flushed.join("drive.pages")).unwrap();
    let mut blocks = std::fs::read(&pages).unwrap();
    undo(&before, &mut blocks, usize::MAX, || rng.below(2) == 0);
    std::fs::write(&pages, blocks).unwrap();
    let log = segment(to.path()).1;
    let before = std::fs::read(flushed.join(log.file_name().unwrap())).unwrap();
    let mut blocks = std::fs::read(&log).unwrap();
    let least = before.len().min(blocks.len());
    // Records end where there are only zeroes: half of the crashes lose nothing of them but whole blocks in between.
    let end = blocks.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    let stay = if rng.below(2) == 0 { usize::MAX } else { rng.below(end as u64 + 1) as usize };
    let stays = least + rng.below((blocks.len() - least) as u64 + 1) as usize;
    undo(&before, &mut blocks[..least], stay, || lost > 0 && rng.below(lost) == 0);
    blocks.truncate(stays);
    std::fs::write(&log, blocks).unwrap();
    let database = rusqlite::Connection::open(to.path().join("drive.sqlite")).unwrap();
    database.execute("UPDATE drive SET value = 'another' WHERE key = 'boot'", []).unwrap();
    to
}

#[test]
fn what_a_flush_covered_survives_a_crash_of_the_system() {
    let tries = from_environment("WORDLINE_FLIPS", 24);
    let mut rng = Rng(from_environment("WORDLINE_SEED", 1));
    let mut newest = [0; 2];
    for round in 0..tries.div_ceil(8) {
        // Before some rounds, few bytes are flushed at a time: what follows is written into zeroes of the log. Some of these
        // are the beginning of a segment that was written before it was used.
        let is_spare = round % 3 == 2;
        let is_ahead = round % 2 == 1 || is_spare;
        let folder = tempfile::tempdir().unwrap();
        let served = Served::new(drive("conventional", folder.path()));
        let mut client = Client::new(&served.socket(), true);
        let mut stamps = vec![0; SECTORS as usize];
        let write = |client: &mut Client, rng: &mut Rng, stamp: u64| {
            let sector = rng.below(SECTORS);
            client.write(sector * SECTOR, &bytes(1000 * stamp + sector));
            sector
        };
        // Most of it is in the file of pages, whose room is used again.
        for stamp in 1..200 {
            let sector = write(&mut client, &mut rng, stamp);
            stamps[sector as usize] = stamp;
        }
        client.flush();
        for stamp in 200..if is_ahead { 203 } else { 200 } {
            let sector = write(&mut client, &mut rng, stamp);
            stamps[sector as usize] = stamp;
            client.flush();
        }
        let spare = folder.path().join("drive.log.spare");
        let (mut turns, mut current, begun) = (0, segment(folder.path()).0, Instant::now());
        while is_spare && (turns < 2 || !segment(folder.path()).2 || length(&spare) <= 16 << 20) {
            assert!(begun.elapsed() < Duration::from_secs(300), "no segment begins with zeroes");
            if turns < 2 {
                let sector = write(&mut client, &mut rng, 202);
                stamps[sector as usize] = 202;
                client.flush();
            } else {
                std::thread::sleep(Duration::from_millis(5));
            }
            let newest = segment(folder.path()).0;
            turns += u32::from(newest != current);
            current = newest;
        }
        let flushed = copy(folder.path());
        let mut later = vec![vec![]; SECTORS as usize];
        for stamp in 203..203 + rng.below(if round % 4 == 1 { 20 } else { 300 }) {
            let sector = write(&mut client, &mut rng, stamp);
            later[sector as usize].push(stamp);
        }
        let left = copy(folder.path());
        for crash in 0..8 {
            let after = crashed(&mut rng, flushed.path(), left.path(), crash * 4);
            let served = Served::new(drive("conventional", after.path()));
            let mut client = Client::new(&served.socket(), true);
            // All sectors are as of one moment.
            let (mut from, mut to) = (0, u64::MAX);
            for (sector, flushed) in stamps.iter().enumerate() {
                let found = client.read(sector as u64 * SECTOR, SECTOR as u32);
                let written = [*flushed].into_iter().chain(later[sector].iter().copied());
                let is = |stamp: u64| {
                    found
                        == if stamp == 0 {
                            vec![0; SECTOR as usize]
                        } else {
                            bytes(1000 * stamp + sector as u64)
                        }
                };
                let stamp =
                    written.clone().find(|stamp| is(*stamp)).unwrap_or_else(|| panic!("sector {sector}"));
                from = from.max(stamp);
                to = to.min(written.clone().find(|next| *next > stamp).unwrap_or(u64::MAX));
            }
            assert!(from < to, "{from} is there, {to} is not");
            newest[usize::from(is_ahead)] = from.max(newest[usize::from(is_ahead)]);
        }
    }
    assert!(newest.iter().all(|newest| *newest > 203), "nothing after a FLUSH is ever kept: {newest:?}");
}
