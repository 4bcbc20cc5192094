//! A database on a drive with a power cut after every single program. SQLite runs on the drive through a file
//! system of three files. After each program a fork of the drive loses power, recovers, and must hold an
//! intact database with every committed transaction. A drive whose FLUSH does nothing must be detected.

use crate::data::flash::Flash;
use crate::drive::Drive;
use crate::environment::from_environment;
use crate::lock;
use crate::pieces::asked;
use rusqlite::{Connection, OpenFlags};
use sqlite_vfs::{DatabaseHandle, LockKind, OpenKind, OpenOptions, Vfs, wip::WalIndex};
use std::collections::VecDeque;
use std::io::{Error, Result};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wordline_run::RunSpec;
use wordline_units::{HostOp, HostRequest};

const SECTOR: u64 = 4096;
/// Where the database, its journal and its log begin on the drive. Sector 0 holds their lengths.
const BEGIN: [u64; 3] = [1 << 20, 16 << 20, 32 << 20];
/// Maximum number of writes in flight: the volatile cache of the drive, as a client sees it.
const UNDER_WAY: usize = 16;
const ACCOUNTS: i64 = 40;
const EACH: i64 = 1000;

/// Called with the drive after each program.
type Watch = Box<dyn FnMut(&Drive) + Send>;

/// A drive with a file system of three files on it.
struct Disk {
    drive: Drive,
    /// Length of each file that exists.
    files: [Option<u64>; 3],
    under_way: VecDeque<u64>,
    programs: u64,
    watch: Option<Watch>,
    /// Whether syncs are acknowledged before the data are on flash.
    lies: bool,
}

impl Disk {
    fn of(drive: Drive) -> Disk {
        let mut disk = Disk {
            drive,
            files: [None; 3],
            under_way: VecDeque::new(),
            programs: 0,
            watch: None,
            lies: false,
        };
        let found = disk.read(0..SECTOR);
        let lengths = found.chunks_exact(8).map(|b| u64::from_be_bytes(b.try_into().unwrap()));
        for (file, length) in disk.files.iter_mut().zip(lengths) {
            *file = length.checked_sub(1);
        }
        disk
    }

    /// Process the next event. Returns the completed request, with its data.
    fn step(&mut self) -> Option<(u64, Vec<u8>)> {
        let ended = self.drive.step().unwrap();
        let regions = &self.drive.device().unwrap().ftl().counters().regions;
        let programs = regions.iter().map(|r| r.ops.program_operations).sum();
        if programs != std::mem::replace(&mut self.programs, programs)
            && let Some(mut watch) = self.watch.take()
        {
            watch(&self.drive);
            self.watch = Some(watch);
        }
        ended.map(|c| (c.number, c.data))
    }

    fn submit(&mut self, request: HostRequest, data: &[u8]) -> u64 {
        let request = request.at(self.drive.now());
        self.drive.submit(request, data.into()).unwrap()
    }

    /// Wait for a request to complete. Returns its data.
    fn wait(&mut self, number: u64) -> Vec<u8> {
        loop {
            if let Some((ended, data)) = self.step() {
                self.under_way.retain(|n| *n != ended);
                if ended == number {
                    return data;
                }
            }
        }
    }

    fn read(&mut self, sectors: Range<u64>) -> Vec<u8> {
        let number = self.submit(asked(HostOp::Read, &sectors), &[]);
        self.wait(number)
    }

    /// Submit a write of sectors, which is in flight when this returns.
    fn write(&mut self, sectors: Range<u64>, data: &[u8]) {
        while self.under_way.len() >= UNDER_WAY {
            self.wait(self.under_way[0]);
        }
        let number = self.submit(asked(HostOp::Write, &sectors), data);
        self.under_way.push_back(number);
    }

    fn sync(&mut self) {
        if !self.lies {
            let number = self.submit(HostRequest::new(HostOp::Flush, 0, 0), &[]);
            self.wait(number);
        }
    }

    fn set_length(&mut self, file: usize, length: Option<u64>) {
        self.files[file] = length;
        let mut sector: Vec<u8> =
            self.files.iter().flat_map(|f| f.map_or(0, |l| l + 1).to_be_bytes()).collect();
        sector.resize(SECTOR as usize, 0);
        self.write(0..SECTOR, &sector);
    }
}

/// An open file; also the file system.
#[derive(Clone)]
struct Files(Arc<Mutex<Disk>>);

struct File {
    disk: Arc<Mutex<Disk>>,
    file: usize,
    lock: LockKind,
}

impl DatabaseHandle for File {
    type WalIndex = NoIndex;

    fn size(&self) -> Result<u64> {
        Ok(lock(&self.disk).files[self.file].unwrap_or(0))
    }
    fn read_exact_at(&mut self, into: &mut [u8], offset: u64) -> Result<()> {
        let mut disk = lock(&self.disk);
        let (from, to) = (offset, offset + into.len() as u64);
        if to > disk.files[self.file].unwrap_or(0) {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let sectors = from / SECTOR * SECTOR..to.next_multiple_of(SECTOR);
        let found = disk.read(BEGIN[self.file] + sectors.start..BEGIN[self.file] + sectors.end);
        into.copy_from_slice(&found[(from - sectors.start) as usize..][..into.len()]);
        Ok(())
    }
    fn write_all_at(&mut self, data: &[u8], offset: u64) -> Result<()> {
        let mut disk = lock(&self.disk);
        let (from, to) = (offset, offset + data.len() as u64);
        let sectors = from / SECTOR * SECTOR..to.next_multiple_of(SECTOR);
        let on_drive = BEGIN[self.file] + sectors.start..BEGIN[self.file] + sectors.end;
        let whole = sectors == (from..to);
        let mut bytes = if whole { vec![0; data.len()] } else { disk.read(on_drive.clone()) };
        bytes[(from - sectors.start) as usize..][..data.len()].copy_from_slice(data);
        disk.write(on_drive, &bytes);
        if to > disk.files[self.file].unwrap_or(0) {
            disk.set_length(self.file, Some(to));
        }
        Ok(())
    }
    fn sync(&mut self, _: bool) -> Result<()> {
        lock(&self.disk).sync();
        Ok(())
    }
    fn set_len(&mut self, length: u64) -> Result<()> {
        lock(&self.disk).set_length(self.file, Some(length));
        Ok(())
    }
    fn lock(&mut self, lock: LockKind) -> Result<bool> {
        self.lock = lock;
        Ok(true)
    }
    fn reserved(&mut self) -> Result<bool> {
        Ok(false)
    }
    fn current_lock(&self) -> Result<LockKind> {
        Ok(self.lock)
    }
    fn wal_index(&self, _: bool) -> Result<NoIndex> {
        Err(Error::other("a log alone, without others"))
    }
}

struct NoIndex;

impl WalIndex for NoIndex {
    fn enabled() -> bool {
        false
    }
    fn map(&mut self, _: u32) -> Result<[u8; 32768]> {
        Err(Error::other("none"))
    }
    fn lock(&mut self, _: Range<u8>, _: sqlite_vfs::wip::WalIndexLock) -> Result<bool> {
        Err(Error::other("none"))
    }
    fn delete(self) -> Result<()> {
        Ok(())
    }
}

/// Index of a file among the three, by name.
fn file_of(name: &str) -> usize {
    if name.ends_with("-journal") { 1 } else { 2 * usize::from(name.ends_with("-wal")) }
}

impl Vfs for Files {
    type Handle = File;

    fn open(&self, _: &str, how: OpenOptions) -> Result<File> {
        let file = match how.kind {
            OpenKind::MainDb => 0,
            OpenKind::MainJournal => 1,
            OpenKind::Wal => 2,
            other => return Err(Error::other(format!("{other:?}: unexpected kind of file"))),
        };
        let mut disk = lock(&self.0);
        if disk.files[file].is_none() {
            disk.set_length(file, Some(0));
        }
        Ok(File { disk: Arc::clone(&self.0), file, lock: LockKind::None })
    }
    fn delete(&self, name: &str) -> Result<()> {
        let mut disk = lock(&self.0);
        disk.set_length(file_of(name), None);
        disk.sync();
        Ok(())
    }
    fn exists(&self, name: &str) -> Result<bool> {
        Ok(lock(&self.0).files[file_of(name)].is_some())
    }
    fn temporary_name(&self) -> String {
        "temporary".to_string()
    }
    fn random(&self, buffer: &mut [i8]) {
        buffer.fill(7);
    }
    fn sleep(&self, duration: Duration) -> Duration {
        duration
    }
}

fn open(vfs: &str, journal: &str) -> rusqlite::Result<Connection> {
    let database = Connection::open_with_flags_and_vfs("bank", OpenFlags::default(), vfs)?;
    database.execute_batch(&format!(
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA temp_store=MEMORY; PRAGMA journal_mode={journal}; PRAGMA synchronous=FULL;"
    ))?;
    Ok(database)
}

/// What is wrong with a bank in which `committed` transfers were committed, and perhaps one more.
fn wrong_with(vfs: &str, journal: &str, committed: u64) -> Option<String> {
    let check = || -> rusqlite::Result<Option<String>> {
        let database = open(vfs, journal)?;
        let one = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0));
        let said: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        if said != "ok" {
            return Ok(Some(said));
        }
        if committed == 0 && one("SELECT count(*) FROM sqlite_schema")? == 0 {
            return Ok(None);
        }
        let (last, count) =
            (one("SELECT coalesce(max(n), 0) FROM transfer")?, one("SELECT count(*) FROM transfer")?);
        if last != count || !(committed..=committed + 1).contains(&(last as u64)) {
            return Ok(Some(format!("{count} transfers, last {last}; {committed} were committed")));
        }
        let sum = one("SELECT sum(balance) FROM account")?;
        Ok((sum != ACCOUNTS * EACH).then(|| format!("the accounts hold {sum}")))
    };
    check().unwrap_or_else(|e| Some(e.to_string()))
}

/// A drive that acknowledges data on flash, so that writes in flight are volatile.
fn drive(scheme: &str) -> Drive {
    let set = [
        ("capacity.logical", "64MiB"),
        ("medium.flash.blocks_per_plane", "24"),
        ("slc_cache.static_blocks", "4"),
        ("ack.mode", "program"),
    ];
    let run = RunSpec {
        set: set.map(|(k, v)| (k.to_string(), v.to_string())).to_vec(),
        initial: "fill:90%,valid=80%".to_string(),
        ..RunSpec::new("fair-tlc", scheme, "uniform:requests=1")
    };
    Drive::over(&run, Flash::default()).unwrap()
}

/// Transfer between accounts until this many programs have ended, with a power cut after each of them.
/// Returns the number of cuts, and the first error found.
fn cut_at_every_program(
    scheme: &'static str,
    journal: &'static str,
    ends: u64,
    lies: bool,
) -> (u64, Option<String>) {
    let name = |what: &str| format!("{scheme}-{journal}-{lies}-{what}");
    let files = Files(Arc::new(Mutex::new(Disk::of(drive(scheme)))));
    let after = Files(Arc::new(Mutex::new(Disk::of(drive(scheme)))));
    sqlite_vfs::register(&name("live"), files.clone(), false).unwrap();
    sqlite_vfs::register(&name("after"), after.clone(), false).unwrap();
    let (committed, tried) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let wrong = Arc::new(Mutex::new(None));
    let database = open(&name("live"), journal).unwrap();
    lock(&files.0).lies = lies;
    lock(&files.0).watch = Some({
        let (committed, tried, wrong) = (Arc::clone(&committed), Arc::clone(&tried), Arc::clone(&wrong));
        let vfs = name("after");
        Box::new(move |drive| {
            if lock(&wrong).is_some() || tried.load(Ordering::Relaxed) >= ends {
                return;
            }
            let mut fork = drive.keep().unwrap().drive().unwrap();
            fork.cut(fork.now()).unwrap();
            *lock(&after.0) = Disk::of(fork);
            if let Some(what) = wrong_with(&vfs, journal, committed.load(Ordering::Relaxed)) {
                let at = tried.load(Ordering::Relaxed) + 1;
                *lock(&wrong) = Some(format!("{scheme}, {journal}, after program {at}: {what}"));
            }
            tried.fetch_add(1, Ordering::Relaxed);
        })
    });
    let begin = format!(
        "BEGIN; CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER);
         CREATE TABLE transfer (n INTEGER PRIMARY KEY, note TEXT);
         WITH RECURSIVE a(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM a WHERE id < {ACCOUNTS})
         INSERT INTO account SELECT id, {EACH} FROM a; COMMIT;"
    );
    database.execute_batch(&begin).unwrap();
    for n in 1.. {
        if tried.load(Ordering::Relaxed) >= ends || lock(&wrong).is_some() {
            break;
        }
        let (from, to) = (n * 7 % ACCOUNTS + 1, n * 13 % ACCOUNTS + 1);
        let sql = format!(
            "BEGIN; UPDATE account SET balance = balance - 1 WHERE id = {from};
             UPDATE account SET balance = balance + 1 WHERE id = {to};
             INSERT INTO transfer VALUES ({n}, hex(zeroblob({}))); COMMIT;",
            n % 900
        );
        database.execute_batch(&sql).unwrap();
        committed.store(n as u64, Ordering::Relaxed);
    }
    lock(&files.0).watch = None;
    drop(database);
    let wrong = lock(&wrong).clone();
    (tried.load(Ordering::Relaxed), wrong)
}

#[test]
fn a_database_is_whole_wherever_the_power_fails() {
    let ends = from_environment("WORDLINE_ENDS", 60);
    for (scheme, journal) in
        [("slc-cache", "DELETE"), ("sector", "WAL"), ("ips-agc", "DELETE"), ("hierarchy", "WAL")]
    {
        let (tried, wrong) = cut_at_every_program(scheme, journal, ends, false);
        assert_eq!((wrong, tried), (None, ends), "{scheme}");
    }
}

#[test]
fn lying_flush_loses_committed_data_and_is_caught() {
    for journal in ["DELETE", "WAL"] {
        let (tried, wrong) = cut_at_every_program("slc-cache", journal, 300, true);
        assert!(wrong.is_some(), "{journal}: not caught at {tried} cuts");
    }
}
