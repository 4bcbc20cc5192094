//! A drive in a folder whose server is killed between two commits, again during the recovery that follows,
//! and again during the next one. Acknowledged data must be present, and data that were read once must stay
//! the same.

use crate::data::folder::Folder;
use crate::drive::Drive;
use crate::environment::from_environment;
use crate::pieces::asked;
use ledger::{Ledger, SECTOR};
use std::collections::BTreeMap;
use tempfile::TempDir;
use wordline_hash::SplitMix64;
use wordline_run::RunSpec;
use wordline_units::HostOp;

#[path = "../tests/it/ledger.rs"]
mod ledger;

/// Number of sectors that are written and checked: a few pages, so that each page has sectors of several
/// versions.
const SECTORS: u64 = 16;
/// Sectors per page.
const PAGE: u64 = 4;
/// Maximum number of requests in flight.
const UNDER_WAY: usize = 6;
/// Number of commits between two kills, so that each kill comes after several changes.
const SKIPPED: u64 = 2;
/// One in this many commits of a recovery, drawn at random, is followed by a kill. Also the steps for which a
/// recovery continues.
const ONE_IN: u64 = 12;
const STEPS: usize = 200;

/// Scheme, acknowledgement and mapping cache (for a table on flash) of each drive. The drives acknowledge
/// differently, keep different mapping tables, and some move data through protected RAM.
const DRIVES: [(&str, &str, &str); 9] = [
    ("slc-cache", "buffer", "off"),
    ("sector", "buffer", "off"),
    ("ips-agc", "buffer", "off"),
    ("conventional", "buffer", "16KiB"),
    ("hierarchy", "buffer", "off"),
    ("conventional", "program", "off"),
    ("conventional", "program", "16KiB"),
    ("sector", "program", "off"),
    ("ips-agc", "program", "off"),
];

fn run((scheme, ack, map_cache): (&str, &str, &str)) -> RunSpec {
    let set = [
        ("capacity.logical", "3500KiB"),
        ("medium.flash.channels", "2"),
        ("medium.flash.planes_per_die", "1"),
        ("medium.flash.blocks_per_plane", "16"),
        ("medium.flash.wordlines_per_block", "4"),
        ("slc_cache.static_blocks", "3"),
        ("ack.mode", ack),
        ("dram.map_cache", map_cache),
    ];
    RunSpec {
        set: set.map(|(k, v)| (k.to_string(), v.to_string())).to_vec(),
        initial: if map_cache == "off" { "fill:90%,valid=80%" } else { "fresh" }.to_string(),
        ..RunSpec::new("fair-tlc", scheme, "uniform:requests=1")
    }
}

/// The drive of a server, without the server.
struct Served {
    drive: Drive,
    folder: Folder,
    at: TempDir,
}

impl Served {
    fn begin(run: &RunSpec, at: TempDir) -> Served {
        let mut folder = Folder::open(at.path()).unwrap_or_else(|e| panic!("{e}"));
        let drive = Drive::in_folder(run, &mut folder).unwrap_or_else(|e| panic!("{e}"));
        folder.complete().unwrap();
        Served { drive, folder, at }
    }

    /// What a kill of the server at this moment leaves behind.
    fn kill(&self) -> TempDir {
        self.folder.settle();
        let to = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(self.at.path()).unwrap() {
            let name = entry.unwrap().file_name();
            std::fs::copy(self.at.path().join(&name), to.path().join(&name)).unwrap();
        }
        to
    }

    /// Process the next event and commit it. Returns the completed request with its data, and whether
    /// anything was committed.
    fn step(&mut self) -> (Option<(u64, Vec<u8>)>, bool) {
        let ended = self.drive.step().unwrap();
        let commits = self.folder.commits();
        self.drive.commit(&mut self.folder).unwrap();
        (ended.map(|c| (c.number, c.data)), self.folder.commits() != commits)
    }

    /// Cut the power: requests in flight are lost.
    fn cut(&mut self) {
        self.drive.cut(self.drive.now()).unwrap();
        self.drive.forget_undone_trims();
        self.drive.commit(&mut self.folder).unwrap();
    }

    fn submit(&mut self, op: HostOp, first: u64, count: u64, data: &[u8]) -> u64 {
        let request = asked(op, &(first * SECTOR..(first + count) * SECTOR)).at(self.drive.now());
        self.drive.submit(request, data.into()).unwrap()
    }

    fn is_at_rest(&self) -> bool {
        self.drive.device().is_none_or(|d| d.next_event().is_none())
    }

    /// Read all sectors that are checked.
    fn read(mut self) -> Vec<u8> {
        let number = self.submit(HostOp::Read, 0, SECTORS, &[]);
        loop {
            if let (Some((ended, data)), _) = self.step()
                && ended == number
            {
                return data;
            }
        }
    }
}

/// A drive under small writes and trims. Some drives get power cuts instead of trims, because a cut may undo
/// a trim.
struct Load {
    served: Served,
    ledger: Ledger,
    rng: SplitMix64,
    busy: BTreeMap<u64, (u64, u64)>,
    is_cut: bool,
}

impl Load {
    /// A drive with garbage collection: the rest of it has been written at random.
    fn new(run: &RunSpec, is_cut: bool, seed: u64) -> Load {
        let mut rng = SplitMix64::new(seed);
        let mut served = Served::begin(run, tempfile::tempdir().unwrap());
        let pages = served.drive.setup().device.logical_bytes() / SECTOR / PAGE;
        let mut under_way = 0;
        for _ in 0..2 * pages {
            let page = SECTORS / PAGE + rng.bits() % (pages - SECTORS / PAGE);
            served.submit(HostOp::Write, page * PAGE, PAGE, &[7; (PAGE * SECTOR) as usize]);
            under_way += 1;
            while under_way > 16 {
                under_way -= usize::from(served.step().0.is_some());
            }
        }
        let counters = served.drive.device().unwrap().ftl().counters();
        assert!(counters.regions.iter().any(|r| r.counts.erases > 0), "nothing is collected");
        // Restart with a short log, because each kill copies it.
        let Served { folder, at, drive } = served;
        drop(drive);
        drop(folder);
        let served = Served::begin(run, at);
        Load { served, ledger: Ledger::new(SECTORS), rng, busy: BTreeMap::new(), is_cut }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.rng.bits() % n
    }

    fn ask(&mut self) {
        let is_trim = self.below(8) == 0 && !self.is_cut;
        let (grain, count) = if is_trim { (PAGE, PAGE) } else { (1, 1 + self.below(5)) };
        let first = self.below(SECTORS - count + 1) / grain * grain;
        if self.busy.values().any(|(at, n)| *at < first + count && first < at + n) {
            return;
        }
        let number = if is_trim {
            self.ledger.trim(first, count);
            self.served.submit(HostOp::Trim, first, count, &[])
        } else {
            let data = self.ledger.write(first, count);
            self.served.submit(HostOp::Write, first, count, &data)
        };
        self.busy.insert(number, (first, count));
    }

    /// Continue to the next commit.
    fn go_on(&mut self) {
        if self.is_cut && self.below(4) == 0 {
            self.busy.clear();
            return self.served.cut();
        }
        loop {
            while self.busy.len() < UNDER_WAY && self.below(4) != 0 {
                self.ask();
            }
            let (ended, is_committed) = self.served.step();
            if let Some((first, count)) = ended.and_then(|(number, _)| self.busy.remove(&number)) {
                self.ledger.settled(first, count);
            }
            if is_committed {
                return;
            }
        }
    }
}

/// Recover from a kill, and kill again after some commits, until the drive is at rest. Returns the number of
/// kills.
fn kill_the_recovery(
    run: &RunSpec,
    left: TempDir,
    found: &[u8],
    depth: u32,
    seed: &mut SplitMix64,
) -> Result<u64, String> {
    let mut served = Served::begin(run, left);
    let (mut commits, mut kills, mut steps) = (0, 0, 0);
    while !served.is_at_rest() && steps < STEPS {
        steps += 1;
        if !served.step().1 {
            continue;
        }
        commits += 1;
        if !seed.bits().is_multiple_of(ONE_IN) {
            continue;
        }
        kills += 1;
        if Served::begin(run, served.kill()).read() != found {
            return Err(format!("commit {commits} of the recovery"));
        }
        if depth > 1 && seed.bits().is_multiple_of(ONE_IN) {
            kills += kill_the_recovery(run, served.kill(), found, depth - 1, seed)
                .map_err(|e| format!("commit {commits} of the recovery, {e}"))?;
        }
    }
    Ok(kills)
}

/// Kill a drive after this many commits: once if its power is cut, else repeatedly through its whole
/// recovery. Returns the number of kills.
fn kill_after_commits(drive: (&str, &str, &str), is_cut: bool, commits: u64, seed: u64) -> u64 {
    let run = run(drive);
    let mut load = Load::new(&run, is_cut, seed);
    let (mut kills, mut again) = (commits, SplitMix64::new(seed));
    for commit in 1..=commits {
        (0..=SKIPPED).for_each(|_| load.go_on());
        let found = Served::begin(&run, load.served.kill()).read();
        let place = || format!("{drive:?}, cut: {is_cut}, seed {seed}, killed after commit {commit}");
        if let Some(wrong) = load.ledger.clone().compare(&found) {
            panic!("{}: {wrong}", place());
        }
        if !is_cut {
            kills += kill_the_recovery(&run, load.served.kill(), &found, 2, &mut again)
                .unwrap_or_else(|wrong| panic!("{}: what was found is another after {wrong}", place()));
        }
    }
    kills
}

// Wherever the server and its recoveries are killed.
#[test]
fn acknowledged_data_survive_kills_while_recovering() {
    let (commits, seed) = (from_environment("WORDLINE_COMMITS", 5), from_environment("WORDLINE_SEED", 1));
    for drive in DRIVES {
        let kills = kill_after_commits(drive, false, commits, seed);
        println!("{drive:?}: {kills} kills");
        assert!(kills > commits || drive.1 == "program", "{drive:?}: no recovery was killed");
    }
}

#[test]
fn acknowledged_data_survive_a_power_cut_and_a_kill() {
    let (commits, seed) = (from_environment("WORDLINE_COMMITS", 5), from_environment("WORDLINE_SEED", 1));
    for drive in DRIVES {
        kill_after_commits(drive, true, 3 * commits, seed);
    }
}
