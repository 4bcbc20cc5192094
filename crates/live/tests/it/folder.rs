//! A drive in a folder is there when its server has ended, however that was: killed at any moment, cut, or stopped.

use crate::client::{Client, FLUSH, READ, TRIM, WRITE};
use crate::support::{Rng, Served, spec};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wordline_live::{Address, ServeSpec, Server};

const SECTOR: u64 = 4096;
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

struct Server9 {
    child: Child,
    socket: PathBuf,
}

impl Server9 {
    fn new(folder: &Path, number: usize) -> Server9 {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["folder::a_server_that_is_killed", "--exact", "--nocapture", "--quiet"])
            .env("WORDLINE_FOLDER", folder)
            .env("WORDLINE_DRIVE", number.to_string())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Server9 { child, socket: within(folder, "d.sock") };
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

impl Drop for Server9 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bytes(stamp: u64) -> Vec<u8> {
    stamp.to_be_bytes().repeat((SECTOR / 8) as usize)
}

/// What a request does to sectors: writes stamps from one on, or zeroes.
#[derive(Clone, Copy)]
struct Asked {
    first: u64,
    count: u64,
    stamp: Option<u64>,
}

/// What each sector may hold.
struct Ledger {
    stamp: u64,
    may: Vec<Vec<u64>>,
}

impl Ledger {
    fn new() -> Ledger {
        Ledger { stamp: 0, may: vec![vec![0]; SECTORS as usize] }
    }

    fn ask(&mut self, rng: &mut Rng, busy: &BTreeMap<u64, Asked>) -> Option<(Asked, Vec<u8>)> {
        let is_trim = rng.below(8) == 0;
        let count = if is_trim { PAGE * (1 + rng.below(2)) } else { 1 + rng.below(6) };
        let first = rng.below(SECTORS - count) / if is_trim { PAGE } else { 1 } * if is_trim { PAGE } else { 1 };
        if busy.values().any(|b| b.first < first + count && first < b.first + b.count) {
            return None;
        }
        let stamp = (!is_trim).then_some(self.stamp + 1);
        let mut data = vec![];
        for sector in first..first + count {
            let value = if is_trim { 0 } else { self.stamp += 1; self.stamp };
            self.may[sector as usize].push(value);
            data.extend(bytes(value));
        }
        Some((Asked { first, count, stamp }, if is_trim { vec![] } else { data }))
    }

    fn answered(&mut self, asked: Asked) {
        for (i, sector) in (asked.first..asked.first + asked.count).enumerate() {
            self.may[sector as usize] = vec![asked.stamp.map_or(0, |stamp| stamp + i as u64)];
        }
    }

    fn compare(&mut self, found: &[u8]) -> Result<(), String> {
        for (sector, (found, may)) in found.chunks(SECTOR as usize).zip(&mut self.may).enumerate() {
            let stamp = u64::from_be_bytes(found[..8].try_into().unwrap());
            if found != bytes(stamp) {
                return Err(format!("sector {sector} is torn"));
            }
            if !may.contains(&stamp) {
                return Err(format!("sector {sector} holds {stamp}, and only {may:?} can be"));
            }
            *may = vec![stamp];
        }
        Ok(())
    }
}

/// Ask at random, eight at a time, and kill the server after so many answers and a moment. Returns the answers.
fn ask_until_killed(server: Server9, ledger: &mut Ledger, rng: &mut Rng) -> u64 {
    let mut client = Client::new(&server.socket, true);
    let mut busy: BTreeMap<u64, Asked> = BTreeMap::new();
    let (least, mut answers) = (rng.below(200), 0);
    while answers < least {
        while busy.len() < 8 {
            if let Some((asked, data)) = ledger.ask(rng, &busy) {
                let (offset, length) = (asked.first * SECTOR, (asked.count * SECTOR) as u32);
                let kind = if asked.stamp.is_some() { WRITE } else { TRIM };
                busy.insert(client.send(kind, rng.below(16) as u16 / 15, offset, length, &data), asked);
            }
            if rng.below(40) == 0 {
                client.send(FLUSH, 0, 0, 0, &[]);
            }
        }
        let reply = client.reply(|_| 0).unwrap();
        assert_eq!(reply.error, 0);
        if let Some(asked) = busy.remove(&reply.cookie) {
            ledger.answered(asked);
        }
        answers += 1;
    }
    std::thread::sleep(Duration::from_micros(rng.below(300)));
    server.kill();
    // What had left before the kill was answered.
    while let Some(reply) = client.reply(|_| 0) {
        if let Some(asked) = busy.remove(&reply.cookie) {
            ledger.answered(asked);
        }
    }
    answers
}

/// Kill a server again and again, each time in the midst of its work, and look.
fn kill_again_and_again(number: usize, rounds: u64, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let (mut ledger, mut rng) = (Ledger::new(), Rng(seed));
    let mut answers = 0;
    for round in 0..rounds {
        answers += ask_until_killed(Server9::new(folder.path(), number), &mut ledger, &mut rng);
        let server = Server9::new(folder.path(), number);
        let found = Client::new(&server.socket, true).read(0, (SECTORS * SECTOR) as u32);
        if let Err(wrong) = ledger.compare(&found) {
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
fn what_was_answered_is_there_after_a_kill_at_any_moment() {
    let from_environment = |name: &str, default: u64| -> u64 {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (rounds, seed) = (from_environment("WORDLINE_KILLS", 3), from_environment("WORDLINE_SEED", 1));
    for number in 0..DRIVES.len() {
        kill_again_and_again(number, rounds, seed + number as u64);
    }
}
