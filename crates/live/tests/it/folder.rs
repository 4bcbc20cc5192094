//! A drive in a folder is there when its server has ended, however that was: killed at any moment, cut, or stopped.

use crate::client::{Client, FLUSH, READ, TRIM, WRITE};
use crate::environment::from_environment;
use crate::ledger::{Ledger, SECTOR, bytes};
use crate::support::{Rng, Served, spec};
use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wordline_live::{Address, ServeSpec, Server};

/// Four pages of the drives here have as many.
const PAGE: u64 = 4;
const SECTORS: u64 = 256;

/// Drives that acknowledge differently, keep different maps, and move data by way of protected RAM.
const DRIVES: [(&str, &str); 6] = [
    ("conventional", "program"),
    ("slc-cache", "buffer"),
    ("sector", "program"),
    ("sector", "buffer"),
    ("ips-agc", "buffer"),
    ("hierarchy", "program"),
];

fn drive(number: usize, data: &Path, scale: &str) -> ServeSpec {
    let (scheme, ack) = DRIVES[number % DRIVES.len()];
    let mut spec = ServeSpec { data: Some(data.to_path_buf()), ..spec(scheme, scale) };
    spec.run.set.retain(|(key, _)| key != "ack.mode");
    spec.run.set.push(("ack.mode".to_string(), ack.to_string()));
    // Nearly full, so that little has to be written before blocks are collected.
    spec.run.initial = "fill:90%,valid=80%".to_string();
    spec
}

fn within(folder: &Path, what: &str) -> PathBuf {
    folder.join(what)
}

/// A drive in a folder of its own.
fn served(number: usize, data: &Path) -> Served {
    Served::new(drive(number, data, "0"))
}

fn refused(spec: ServeSpec) -> String {
    let spec = ServeSpec { addresses: vec![Address::Tcp("127.0.0.1:0".parse().unwrap())], ..spec };
    match Server::start(&spec, Arc::new(|_| ())) {
        Ok(_) => panic!("it is served"),
        Err(e) => {
            assert_eq!(e.exit_code(), 2, "{e}");
            e.to_string()
        }
    }
}

#[test]
fn drive_resumes_with_partial_sectors_trims_and_cuts() {
    for (number, which) in DRIVES.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let drive = served(number, folder.path());
        let mut client = Client::new(&drive.socket(), true);
        client.write(0, &bytes(1).repeat(16));
        client.write(700, &[9; 1000]);
        client.ask(TRIM, 0, 8 * SECTOR, 4 * SECTOR as u32, &[]);
        client.flush();
        client.ask(TRIM, 0, 12 * SECTOR, 4 * SECTOR as u32, &[]);
        drive.ctl("cut");
        let mut client = Client::new(&drive.socket(), true);
        // A cut may undo a trim that no FLUSH has covered; what it has left stays.
        let trimmed = client.read(12 * SECTOR, 4 * SECTOR as u32);
        assert!(trimmed == [0; 4 * 4096] || trimmed == bytes(1).repeat(4));
        client.write(15 * SECTOR, &bytes(2));
        drive.stop();
        let mut wanted = bytes(1).repeat(16);
        wanted[700..1700].fill(9);
        wanted[8 * SECTOR as usize..12 * SECTOR as usize].fill(0);
        wanted[12 * SECTOR as usize..].copy_from_slice(&trimmed);
        wanted[15 * SECTOR as usize..].copy_from_slice(&bytes(2));
        for _ in 0..2 {
            let drive = served(number, folder.path());
            let found = Client::new(&drive.socket(), true).read(0, 16 * SECTOR as u32);
            assert!(found == wanted, "{which:?}");
            drive.stop();
        }
        let names = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["drive.pages", "drive.sqlite", "lock"], "the log has gone to where it belongs");
    }
}

/// Killed or refused before it serves, a server leaves no drive behind, whichever of its files exist and are whole.
#[test]
fn start_that_never_served_leaves_no_drive() {
    let folder = tempfile::tempdir().unwrap();
    let image = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(image.path(), bytes(3)).unwrap();
    let drive = |number| drive(number, folder.path(), "0");
    let too_large = |number| ServeSpec { size: Some(1 << 50), ..drive(number) };
    for files_left in 0..4 {
        assert!(refused(too_large(0)).contains("--size"));
        if files_left < 3 {
            std::fs::write(within(folder.path(), "drive.sqlite"), "").unwrap();
            std::fs::write(within(folder.path(), "drive.sqlite-journal"), [1; 512]).unwrap();
        }
        ["drive.pages", "drive.sqlite"].iter().skip(files_left).for_each(|name| {
            std::fs::remove_file(within(folder.path(), name)).unwrap();
        });
    }
    // Another drive, with contents, which stay.
    let served = Served::new(ServeSpec { image: Some(image.path().to_path_buf()), ..drive(3) });
    served.stop();
    assert!(refused(too_large(3)).contains("--size"));
    let served = Served::new(drive(3));
    assert!(Client::new(&served.socket(), true).read(0, SECTOR as u32) == bytes(3));
}

#[test]
fn a_fork_of_a_drive_in_a_folder_keeps_what_it_found() {
    let folder = tempfile::tempdir().unwrap();
    let drive = served(1, folder.path());
    let mut client = Client::new(&drive.socket(), true);
    client.write(0, &bytes(1).repeat(64));
    drive.ctl("snapshot one");
    let fork = |of: &str, name: &str| {
        let socket = drive.folder.path().join(name);
        drive.ctl(&format!("fork {of} nbd=unix:{}", socket.display()));
        Client::new(&socket, true)
    };
    let mut early = fork("one", "early");
    // Every block that held anything is collected meanwhile.
    for stamp in 2..40 {
        for at in 0..16 {
            client.write(at * 64 * SECTOR, &bytes(stamp).repeat(64));
        }
    }
    let mut late = fork("one", "late");
    early.write(0, &bytes(77));
    let all = 64 * SECTOR as u32;
    assert!(early.read(0, all) == [bytes(77), bytes(1).repeat(63)].concat());
    assert!(late.read(0, all) == bytes(1).repeat(64));
    assert!(client.read(0, all) == bytes(39).repeat(64));
    drive.stop();
    let drive = served(1, folder.path());
    assert!(Client::new(&drive.socket(), true).read(0, all) == bytes(39).repeat(64), "a fork writes nowhere");
}

#[test]
fn bytes_changed_in_the_folder_fail_only_their_reads() {
    let folder = tempfile::tempdir().unwrap();
    let drive = served(0, folder.path());
    Client::new(&drive.socket(), true).write(0, &bytes(1).repeat(8));
    drive.stop();
    let database = rusqlite::Connection::open(folder.path().join("drive.sqlite")).unwrap();
    let place = "SELECT at FROM page WHERE logical_page = 0 AND at IS NOT NULL";
    let at: u64 = database.query_row(place, [], |row| row.get(0)).unwrap();
    drop(database);
    let pages = std::fs::File::options().write(true).open(folder.path().join("drive.pages")).unwrap();
    pages.write_all_at(&[0; 4096], at).unwrap();
    let drive = served(0, folder.path());
    let mut client = Client::new(&drive.socket(), true);
    assert_eq!(client.ask(READ, 0, 0, 4096, &[]).0, 5, "EIO");
    assert!(client.read(4 * SECTOR, 4 * SECTOR as u32) == bytes(1).repeat(4));
    client.write(0, &bytes(2).repeat(4));
    assert!(client.read(0, SECTOR as u32) == bytes(2));
}

#[test]
fn room_of_replaced_pages_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let drive = served(0, folder.path());
    let mut client = Client::new(&drive.socket(), true);
    let length = || std::fs::metadata(folder.path().join("drive.pages")).unwrap().len();
    let (hot, mut seen) = (64 * SECTOR, vec![]);
    for flushes in [false, true] {
        // 32 MiB over 1 MiB: blocks are collected, whose pages move.
        for round in 0..128 {
            for at in 0..4 {
                client.write(at * hot, &bytes(round).repeat(64));
            }
            if flushes {
                client.flush();
            }
        }
        seen.push(length());
    }
    assert!(seen.iter().all(|length| *length <= 12 * hot), "{seen:?}");
    // The pages of a fork stay until it ends.
    let socket = drive.folder.path().join("f.sock");
    drive.ctl(&format!("fork nbd=unix:{}", socket.display()));
    for round in 0..8 {
        client.write((round % 4) * hot, &bytes(1000 + round).repeat(64));
        client.flush();
    }
    assert!(length() >= seen[1] && Client::new(&socket, true).read(0, SECTOR as u32) == bytes(127));
    drive.stop();
    let drive = served(0, folder.path());
    assert!(length() <= 12 * hot, "{}", length());
    assert!(Client::new(&drive.socket(), true).read(3 * hot, SECTOR as u32) == bytes(1007));
}

#[test]
fn folder_of_another_drive_is_refused_and_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let new = drive(0, &path.join("new"), "0");
    let drive_there = Served::new(new.clone());
    assert!(refused(new.clone()).contains(
        "in use by another server\n  allowed: a folder that no server \
                                           uses"
    ));
    drive_there.stop();
    let mut other = new.clone();
    other.run.seed = 7;
    assert!(refused(other).contains("contains a different drive: seed is "));
    let mut other = new.clone();
    other.run.set.push(("capacity.logical".to_string(), "32MiB".to_string()));
    let said = refused(other);
    assert!(
        said.contains("contains a different drive: device.") && said.contains("another folder"),
        "{said}"
    );

    std::fs::create_dir(path.join("mine")).unwrap();
    std::fs::write(path.join("mine/letter.txt"), "dear").unwrap();
    let said = refused(drive(0, &path.join("mine"), "0"));
    assert!(said.contains("other files, such as letter.txt\n  allowed: a new or empty folder"), "{said}");
    let only = |at: &str| std::fs::read_dir(path.join(at)).unwrap().count();
    assert_eq!(only("mine"), 1, "nothing was written into it");

    std::fs::create_dir(path.join("text")).unwrap();
    std::fs::write(path.join("text/drive.sqlite"), "no database, though it has the name of one".repeat(99))
        .unwrap();
    let said = refused(drive(0, &path.join("text"), "0"));
    assert!(
        said.contains("is not a drive")
            && said.contains("allowed: a folder that `wordline serve --data` created"),
        "{said}"
    );

    std::fs::create_dir(path.join("books")).unwrap();
    let books = rusqlite::Connection::open(path.join("books/drive.sqlite")).unwrap();
    books.execute_batch("CREATE TABLE book (title TEXT)").unwrap();
    drop(books);
    assert!(refused(drive(0, &path.join("books"), "0")).contains("belongs to another program"));

    let database = rusqlite::Connection::open(path.join("new/drive.sqlite")).unwrap();
    database.execute("UPDATE page SET logical_page = 99999999", []).unwrap();
    database.execute("UPDATE block SET slots = '1x' WHERE block = 3", []).unwrap();
    drop(database);
    let said = refused(new.clone());
    assert!(
        said.contains("drive.sqlite is damaged: table block: ")
            && said.contains("hint: restore the folder from a copy, or start a new one"),
        "{said}"
    );
    let database = rusqlite::Connection::open(path.join("new/drive.sqlite")).unwrap();
    database.pragma_update(None, "user_version", 4).unwrap();
    drop(database);
    assert!(refused(new).contains("has format 4; this version of Wordline reads formats 1 to 3"));
}

/// A file system of a few MiB, where this user may make one.
struct Small(tempfile::TempDir);

impl Small {
    fn new(size: &str) -> Option<Small> {
        let folder = tempfile::tempdir().unwrap();
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", size, "none"]).arg(folder.path()).output();
        let made = mount.is_ok_and(|done| done.status.success());
        if !made {
            println!("no file system of a given size can be mounted here: not tried");
        }
        made.then_some(Small(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

#[test]
fn full_disk_is_reported_and_no_acknowledged_data_lost() {
    let Some(small) = Small::new("size=12m") else { return };
    let data = small.0.path().join("data");
    let drive_there = Served::new(drive(1, &data, "0"));
    let mut client = Client::new(&drive_there.socket(), true);
    let mut written = 0;
    let error = loop {
        let (error, _) = client.ask(WRITE, 0, written * SECTOR, SECTOR as u32, &bytes(written + 1));
        if error != 0 {
            break error;
        }
        written += 1;
    };
    assert!(written > 100, "{written}");
    assert_eq!(error, 28, "ENOSPC");
    assert_eq!(client.ask(WRITE, 0, 0, SECTOR as u32, &bytes(7)).0, 5, "EIO from then on");
    assert_eq!(client.ask(FLUSH, 0, 0, 0, &[]).0, 5);
    let log = drive_there.log().join("\n");
    assert!(
        log.contains("the log cannot be written: ")
            && log.contains(
                "free some space and start \
                                                                              the server again"
            ),
        "{log}"
    );
    drive_there.stop();
    let grown = Command::new("mount").args(["-o", "remount,size=64m"]).arg(small.0.path()).status().unwrap();
    assert!(grown.success());
    let drive_there = Served::new(drive(1, &data, "0"));
    let found = Client::new(&drive_there.socket(), true).read(0, (written * SECTOR) as u32);
    assert!(found == (1..=written).flat_map(bytes).collect::<Vec<u8>>());
}

/// Not a test: what another one starts, and kills.
#[test]
fn a_server_that_is_killed() {
    let (Ok(folder), Ok(number)) = (std::env::var("WORDLINE_FOLDER"), std::env::var("WORDLINE_DRIVE")) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let spec = ServeSpec {
        addresses: vec![Address::Unix(within(&folder, "d.sock"))],
        control: Some(within(&folder, "d.ctl")),
        ..drive(number.parse().unwrap(), &within(&folder, "data"), "0")
    };
    let _server = Server::start(&spec, Arc::new(|line| println!("{line}"))).unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

struct Killable {
    child: Child,
    socket: PathBuf,
}

impl Killable {
    fn new(folder: &Path, number: usize) -> Killable {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["folder::a_server_that_is_killed", "--exact", "--nocapture", "--quiet"])
            .env("WORDLINE_FOLDER", folder)
            .env("WORDLINE_DRIVE", number.to_string())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Killable { child, socket: within(folder, "d.sock") };
        let begun = Instant::now();
        while std::os::unix::net::UnixStream::connect(&server.socket).is_err() {
            assert_eq!(server.child.try_wait().unwrap(), None, "the server has ended by itself");
            assert!(begun.elapsed() < Duration::from_secs(60), "the server does not begin");
            std::thread::sleep(Duration::from_millis(2));
        }
        server
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Killable {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A write or a trim of sectors.
#[derive(Clone, Copy)]
struct Asked {
    first: u64,
    count: u64,
    is_trim: bool,
}

/// The next request, if it touches none that is under way, and the data of a write.
fn next(ledger: &mut Ledger, rng: &mut Rng, busy: &BTreeMap<u64, Asked>) -> Option<(Asked, Vec<u8>)> {
    let is_trim = rng.below(8) == 0;
    let (grain, count) = if is_trim { (PAGE, PAGE * (1 + rng.below(2))) } else { (1, 1 + rng.below(6)) };
    let first = rng.below(SECTORS - count) / grain * grain;
    if busy.values().any(|b| b.first < first + count && first < b.first + b.count) {
        return None;
    }
    let asked = Asked { first, count, is_trim };
    if is_trim {
        ledger.trim(first, count);
        return Some((asked, vec![]));
    }
    Some((asked, ledger.write(first, count)))
}

/// Ask at random, eight at a time, and kill the server after so many answers and a moment. Returns the answers.
fn ask_until_killed(server: Killable, ledger: &mut Ledger, rng: &mut Rng) -> u64 {
    let mut client = Client::new(&server.socket, true);
    let mut busy: BTreeMap<u64, Asked> = BTreeMap::new();
    let (least, mut answers) = (rng.below(200), 0);
    while answers < least {
        while busy.len() < 8 {
            if let Some((asked, data)) = next(ledger, rng, &busy) {
                let (offset, length) = (asked.first * SECTOR, (asked.count * SECTOR) as u32);
                let kind = if asked.is_trim { TRIM } else { WRITE };
                busy.insert(client.send(kind, rng.below(16) as u16 / 15, offset, length, &data), asked);
            }
            if rng.below(40) == 0 {
                client.send(FLUSH, 0, 0, 0, &[]);
            }
        }
        let reply = client.reply(|_| 0).unwrap();
        assert_eq!(reply.error, 0);
        if let Some(asked) = busy.remove(&reply.cookie) {
            ledger.settled(asked.first, asked.count);
        }
        answers += 1;
    }
    std::thread::sleep(Duration::from_micros(rng.below(300)));
    server.kill();
    // What had left before the kill was answered.
    while let Some(reply) = client.reply(|_| 0) {
        if let Some(asked) = busy.remove(&reply.cookie) {
            ledger.settled(asked.first, asked.count);
        }
    }
    answers
}

/// Kill a server again and again, each time in the midst of its work, and look.
fn kill_again_and_again(number: usize, rounds: u64, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let (mut ledger, mut rng) = (Ledger::new(SECTORS), Rng(seed));
    let mut answers = 0;
    for round in 0..rounds {
        answers += ask_until_killed(Killable::new(folder.path(), number), &mut ledger, &mut rng);
        let server = Killable::new(folder.path(), number);
        let found = Client::new(&server.socket, true).read(0, (SECTORS * SECTOR) as u32);
        if let Some(wrong) = ledger.compare(&found) {
            let kept = folder.keep();
            panic!("{:?}, seed {seed}, round {round}: {wrong}; see {}", DRIVES[number], kept.display());
        }
        // Every other time it is killed at once, in the midst of what was left to do.
        if round % 2 == 0 {
            server.kill();
        }
    }
    assert!(answers > rounds * 20, "{answers} answers in {rounds} rounds try nothing");
}

#[test]
fn acknowledged_data_survive_a_kill_at_any_moment() {
    let (rounds, seed) = (from_environment("WORDLINE_KILLS", 3), from_environment("WORDLINE_SEED", 1));
    for number in 0..DRIVES.len() {
        kill_again_and_again(number, rounds, seed + number as u64);
    }
}

#[test]
fn a_flushed_write_waits_for_one_file_without_a_switch() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::new(drive(1, folder.path(), "0"));
    let mut client = Client::new(&served.socket(), true);
    let mut pairs = |from: u64, to: u64| {
        for i in from..to {
            client.write(i * SECTOR, &bytes(i));
            client.flush();
        }
        let folder = served.ctl("stats")["drive"]["folder"].clone();
        ["disk_waits", "syncs", "syncs_by_connections"].map(|what| folder[what].as_u64().unwrap())
    };
    // The first names the log.
    let [waits, syncs, own] = pairs(0, 2);
    assert_eq!(pairs(2, 42), [waits + 40, syncs + 40, own + 40]);
}

#[test]
fn what_waits_for_the_disk_is_what_was_asked_to() {
    for (always_sync, synced) in [(false, 1), (true, 6)] {
        let folder = tempfile::tempdir().unwrap();
        let drive = Served::new(ServeSpec { always_sync, ..drive(1, folder.path(), "0") });
        let mut client = Client::new(&drive.socket(), true);
        let count = |what: &str| drive.ctl("stats")["drive"]["folder"][what].as_u64().unwrap();
        let before = count("syncs");
        for i in 0..5 {
            client.write(i * SECTOR, &bytes(i));
        }
        assert!(count("commits") >= 5);
        client.flush();
        assert!(count("syncs") - before >= synced, "{always_sync}");
        assert!(always_sync || count("syncs") - before == synced);
    }
}
