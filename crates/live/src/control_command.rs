//! Commands of the control socket, as text.

use crate::address::Address;
use crate::clock::TimeScale;
use crate::faults::CutWhen;
use std::path::PathBuf;
use std::str::FromStr;
use wordline_units::{Bytes, SimDuration};

/// A command of the control socket.
#[derive(Clone, PartialEq, Debug)]
pub enum ControlCommand {
    /// Report all statistics.
    Stats,
    /// Cut the power; the seed determines which data of a volatile cache are lost.
    Cut(CutWhen, Option<u64>),
    /// Write a line of the client's into the session.
    Mark(String),
    /// Change the time scale.
    TimeScale(TimeScale),
    /// Make the next reads of a range fail.
    ReadError {
        /// First byte of the range.
        offset: u64,
        /// Length of the range in bytes.
        length: u64,
        /// Number of reads that fail.
        count: u64,
    },
    /// Acknowledge the next flushes without executing them.
    EarlyFlush {
        /// Number of flushes.
        count: u64,
    },
    /// Make the next writes fail for lack of space.
    NoSpace {
        /// Number of writes.
        count: u64,
    },
    /// Slow down a die.
    SlowDie {
        /// Number of the die.
        die: u32,
        /// How many times slower; 1 is the normal speed.
        factor: u32,
    },
    /// Retire a block at its next erase.
    Retire {
        /// Number of the block.
        block: u32,
    },
    /// Cancel all faults and power cuts.
    Clear,
    /// Cut the power and keep the connections. Outstanding requests fail, and so do new ones for a time.
    Reset(Option<u64>, SimDuration),
    /// List armed power cuts and injected faults.
    Armed,
    /// Cancel a power cut or a fault by its number; without a number, cancel all cuts.
    Disarm(Option<u64>),
    /// List the served forks.
    Forks,
    /// End the fork at an address.
    End(Address),
    /// Report the statistics in Prometheus' text format.
    Metrics,
    /// Save the drive as a snapshot of a new name.
    Snapshot(String),
    /// Delete a snapshot.
    Drop(String),
    /// Serve a snapshot, or the current drive, at another address.
    Fork(Fork),
}

/// A fork: a second drive that continues from a state of this drive.
#[derive(Clone, PartialEq, Debug)]
pub struct Fork {
    /// The snapshot; by default the current state of the drive.
    pub of: Option<String>,
    /// Address for clients.
    pub at: Address,
    /// Path of its control socket.
    pub control: Option<PathBuf>,
    /// Its time scale; by default that of the drive.
    pub time_scale: Option<TimeScale>,
}

const CUT: &str = "cut [seed=N]; cut writes=N [seed=N]; cut flushes=N [seed=N]; cut seed=N within=TIME";
const SHOWN_MARK: &str = "mark TEXT";
const INJECT: &str = "inject read-error [offset=BYTES] [length=BYTES] [count=N]; inject early-flush [count=N]; inject no-space \
     [count=N]; inject slow-die die=N factor=N; inject retire block=N; inject clear";
/// Minimum time, in nanoseconds, for which requests fail after a reset: 100 ms.
const DOWN: u64 = 100_000_000;
/// Maximum factor by which a die is slowed down.
const FACTOR: u32 = 100_000;
const SET: &str = "set time-scale=X";
const SNAPSHOT: &str = "snapshot NAME (letters, digits, - _ .); drop NAME";
const FORK: &str = "fork [NAME] nbd=unix:PATH [control=PATH] [time-scale=X]";
const FORKS: &str = "forks; end nbd=unix:PATH";
const RESET: &str = "reset [seed=N] [down=TIME]";
const ARMED: &str = "armed; disarm [NUMBER]";

/// Description of the allowed commands, for an error message.
fn allowed() -> String {
    format!(
        "stats; metrics; {CUT}; {RESET}; {ARMED}; {SHOWN_MARK}; {INJECT}; {SET}; {SNAPSHOT}; {FORK}; {FORKS}"
    )
}

/// What is wrong with a line of which no command came: its first word, or what follows that.
fn unknown(line: &str) -> String {
    let first = line.split_whitespace().next().unwrap_or_default();
    let all = allowed();
    let own: Vec<&str> = all.split("; ").filter(|of| of.split(' ').next() == Some(first)).collect();
    if own.is_empty() {
        format!("unknown command {line:?}\n  allowed: {all}")
    } else {
        format!("{line:?} is not a form of {first}\n  allowed: {}", own.join("; "))
    }
}

/// Values that follow keywords. Each is taken once.
struct Values<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Values<'a> {
    fn of(words: &[&'a str], allowed: &str) -> Result<Values<'a>, String> {
        let pair = |word: &&'a str| {
            word.split_once('=').ok_or_else(|| format!("{word:?} is not KEY=VALUE\n  allowed: {allowed}"))
        };
        words.iter().map(pair).collect::<Result<_, _>>().map(Values)
    }

    fn take<T: FromStr>(&mut self, key: &str, allowed: &str) -> Result<Option<T>, String> {
        let Some(at) = self.0.iter().position(|(k, _)| *k == key) else { return Ok(None) };
        let (key, value) = self.0.remove(at);
        value.parse().map(Some).map_err(|_| format!("{key}={value}: invalid value\n  allowed: {allowed}"))
    }

    /// A number of bytes, with or without a unit.
    fn bytes(&mut self, key: &str, allowed: &str) -> Result<Option<u64>, String> {
        for (_, value) in self.0.iter().filter(|(k, _)| *k == key) {
            if value.bytes().all(|byte| byte.is_ascii_digit()) && !value.is_empty() {
                return self.take::<u64>(key, allowed);
            }
        }
        Ok(self.take::<Bytes>(key, allowed)?.map(|bytes| bytes.0))
    }

    fn none_left(&self, allowed: &str) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((key, value)) => {
                Err(format!("{key}={value}: unknown or duplicate key\n  allowed: {allowed}"))
            }
        }
    }
}

/// Whether a word is valid as the name of a snapshot.
fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c))
}

fn fork(of: Option<&str>, rest: &[&str]) -> Result<ControlCommand, String> {
    let mut values = Values::of(rest, FORK)?;
    let at: Option<String> = values.take("nbd", FORK)?;
    let control: Option<PathBuf> = values.take("control", FORK)?;
    let scale: Option<String> = values.take("time-scale", FORK)?;
    values.none_left(FORK)?;
    let at = at.ok_or_else(|| format!("a fork needs an NBD address\n  allowed: {FORK}"))?;
    let time_scale = scale.map(|text| text.parse()).transpose()?;
    Ok(ControlCommand::Fork(Fork { of: of.map(str::to_string), at: at.parse()?, control, time_scale }))
}

impl FromStr for ControlCommand {
    type Err = String;

    fn from_str(line: &str) -> Result<ControlCommand, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at_least_one = |n: Option<u64>, key: &str, allowed: &str| match n {
            Some(0) => Err(format!("{key}=0: must be at least 1\n  allowed: {allowed}")),
            n => Ok(n),
        };
        match words.as_slice() {
            ["stats"] => Ok(ControlCommand::Stats),
            ["metrics"] => Ok(ControlCommand::Metrics),
            ["armed"] => Ok(ControlCommand::Armed),
            ["disarm"] => Ok(ControlCommand::Disarm(None)),
            ["disarm", number] => {
                let wrong = |_| format!("{number:?} is not a number\n  allowed: {ARMED}");
                number.parse().map(|number| ControlCommand::Disarm(Some(number))).map_err(wrong)
            }
            ["forks"] => Ok(ControlCommand::Forks),
            ["end", rest @ ..] => {
                let mut values = Values::of(rest, FORKS)?;
                let at: Option<String> = values.take("nbd", FORKS)?;
                values.none_left(FORKS)?;
                let at =
                    at.ok_or_else(|| format!("{line:?}: needs the address of a fork\n  allowed: {FORKS}"))?;
                at.parse().map(ControlCommand::End)
            }
            ["reset", rest @ ..] => {
                let mut values = Values::of(rest, RESET)?;
                let (seed, down) = (values.take("seed", RESET)?, values.take::<SimDuration>("down", RESET)?);
                values.none_left(RESET)?;
                Ok(ControlCommand::Reset(seed, down.unwrap_or(SimDuration(DOWN))))
            }
            ["cut", rest @ ..] => {
                let mut values = Values::of(rest, CUT)?;
                let writes = at_least_one(values.take("writes", CUT)?, "writes", CUT)?;
                let flushes = at_least_one(values.take("flushes", CUT)?, "flushes", CUT)?;
                let (seed, within) = (values.take("seed", CUT)?, values.take::<SimDuration>("within", CUT)?);
                values.none_left(CUT)?;
                match (writes, flushes, seed, within) {
                    (None, None, seed, None) => Ok(ControlCommand::Cut(CutWhen::Now, seed)),
                    (Some(n), None, seed, None) => Ok(ControlCommand::Cut(CutWhen::AfterWrites(n), seed)),
                    (None, Some(n), seed, None) => Ok(ControlCommand::Cut(CutWhen::AfterFlushes(n), seed)),
                    (None, None, Some(seed), Some(within)) if within.0 > 0 => {
                        Ok(ControlCommand::Cut(CutWhen::Drawn { seed, within: within.0 }, Some(seed)))
                    }
                    (None, None, None, Some(_)) => Err(format!(
                        "{line:?}: within= needs a seed=, which draws the moment\n  allowed: {CUT}"
                    )),
                    (None, None, Some(_), Some(_)) => {
                        Err(format!("{line:?}: within= must be more than 0\n  allowed: {CUT}"))
                    }
                    _ => Err(format!("{line:?}: these options exclude each other\n  allowed: {CUT}")),
                }
            }
            ["mark", _, ..] => Ok(ControlCommand::Mark(words[1..].join(" "))),
            ["set", rest @ ..] => {
                let mut values = Values::of(rest, SET)?;
                let text: Option<String> = values.take("time-scale", SET)?;
                values.none_left(SET)?;
                let text = text.ok_or_else(|| format!("{line:?}: no setting given\n  allowed: {SET}"))?;
                text.parse().map(ControlCommand::TimeScale)
            }
            ["inject", "read-error", rest @ ..] => {
                let mut values = Values::of(rest, INJECT)?;
                let offset = values.bytes("offset", INJECT)?.unwrap_or(0);
                let length = at_least_one(values.bytes("length", INJECT)?, "length", INJECT)?;
                let count = at_least_one(values.take("count", INJECT)?, "count", INJECT)?;
                values.none_left(INJECT)?;
                Ok(ControlCommand::ReadError {
                    offset,
                    length: length.unwrap_or(u64::MAX),
                    count: count.unwrap_or(1),
                })
            }
            ["inject", "early-flush", rest @ ..] => {
                let mut values = Values::of(rest, INJECT)?;
                let count = at_least_one(values.take("count", INJECT)?, "count", INJECT)?;
                values.none_left(INJECT)?;
                Ok(ControlCommand::EarlyFlush { count: count.unwrap_or(1) })
            }
            ["inject", "no-space", rest @ ..] => {
                let mut values = Values::of(rest, INJECT)?;
                let count = at_least_one(values.take("count", INJECT)?, "count", INJECT)?;
                values.none_left(INJECT)?;
                Ok(ControlCommand::NoSpace { count: count.unwrap_or(1) })
            }
            ["inject", "slow-die", rest @ ..] => {
                let mut values = Values::of(rest, INJECT)?;
                let (die, factor) = (values.take("die", INJECT)?, values.take::<u32>("factor", INJECT)?);
                values.none_left(INJECT)?;
                match (die, factor) {
                    (Some(die), Some(factor @ 1..=FACTOR)) => Ok(ControlCommand::SlowDie { die, factor }),
                    _ => Err(format!(
                        "{line:?}: needs a die and a factor from 1 to {FACTOR}\n  allowed: {INJECT}"
                    )),
                }
            }
            ["inject", "retire", rest @ ..] => {
                let mut values = Values::of(rest, INJECT)?;
                let block: Option<u32> = values.take("block", INJECT)?;
                values.none_left(INJECT)?;
                let block = block.ok_or_else(|| format!("{line:?}: needs a block\n  allowed: {INJECT}"))?;
                Ok(ControlCommand::Retire { block })
            }
            ["inject", "clear"] => Ok(ControlCommand::Clear),
            ["snapshot", name] if is_name(name) => Ok(ControlCommand::Snapshot(name.to_string())),
            ["drop", name] if is_name(name) => Ok(ControlCommand::Drop(name.to_string())),
            ["fork", name, rest @ ..] if is_name(name) => fork(Some(name), rest),
            ["fork", rest @ ..] => fork(None, rest),
            _ => Err(unknown(line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_in_a_wrong_form_is_met_with_its_own_forms() {
        let said = |line: &str| line.parse::<ControlCommand>().unwrap_err();
        let own = "\"snapshot\" is not a form of snapshot\n  allowed: snapshot NAME (letters, digits, - _ .)";
        assert_eq!(said("snapshot"), own);
        assert!(
            said("snapshoot x")
                .starts_with("unknown command \"snapshoot x\"\n  allowed: stats; metrics; cut")
        );
        assert!(said("mark").ends_with("allowed: mark TEXT"));
        for (line, why) in [
            ("cut within=5s", "within= needs a seed="),
            ("cut within=0s seed=1", "within= must be more than 0"),
            ("cut writes=1 within=5s", "these options exclude each other"),
        ] {
            assert!(said(line).contains(why), "{line}: {}", said(line));
        }
    }

    #[test]
    fn orders_are_read_word_by_word() {
        let order = |line: &str| line.parse::<ControlCommand>().unwrap();
        assert_eq!(order("stats"), ControlCommand::Stats);
        assert_eq!(order("cut"), ControlCommand::Cut(CutWhen::Now, None));
        assert_eq!(order("cut seed=7"), ControlCommand::Cut(CutWhen::Now, Some(7)));
        assert_eq!(order("cut writes=7"), ControlCommand::Cut(CutWhen::AfterWrites(7), None));
        assert_eq!(order("cut flushes=1 seed=2"), ControlCommand::Cut(CutWhen::AfterFlushes(1), Some(2)));
        assert_eq!(order("mark account 3 paid"), ControlCommand::Mark("account 3 paid".to_string()));
        let drawn = CutWhen::Drawn { seed: 3, within: 2_000_000 };
        assert_eq!(order("cut within=2ms seed=3"), ControlCommand::Cut(drawn, Some(3)));
        assert_eq!(order("set time-scale=0"), ControlCommand::TimeScale(TimeScale::NONE));
        let all = ControlCommand::ReadError { offset: 4096, length: u64::MAX, count: 2 };
        assert_eq!(order("inject read-error offset=4KiB count=2"), all);
        let bytes = ControlCommand::ReadError { offset: 4096, length: 512, count: 1 };
        assert_eq!(order("inject read-error offset=4096 length=512"), bytes);
        assert_eq!(order("reset"), ControlCommand::Reset(None, SimDuration(DOWN)));
        assert_eq!(order("reset seed=3 down=2s"), ControlCommand::Reset(Some(3), SimDuration(2_000_000_000)));
        assert_eq!(
            (order("armed"), order("disarm 2")),
            (ControlCommand::Armed, ControlCommand::Disarm(Some(2)))
        );
        assert_eq!(order("end nbd=unix:/tmp/f"), ControlCommand::End(Address::Unix("/tmp/f".into())));
        assert_eq!(order("inject early-flush"), ControlCommand::EarlyFlush { count: 1 });
        assert_eq!(order("inject clear"), ControlCommand::Clear);
        assert_eq!(order("inject no-space count=3"), ControlCommand::NoSpace { count: 3 });
        assert_eq!(order("inject slow-die factor=20 die=1"), ControlCommand::SlowDie { die: 1, factor: 20 });
        assert_eq!(order("inject retire block=9"), ControlCommand::Retire { block: 9 });
        assert_eq!(order("snapshot before-1"), ControlCommand::Snapshot("before-1".to_string()));
        assert_eq!(order("drop before-1"), ControlCommand::Drop("before-1".to_string()));
        let fork = Fork {
            of: None,
            at: Address::Unix("/tmp/f".into()),
            control: None,
            time_scale: Some(TimeScale::NONE),
        };
        assert_eq!(order("fork nbd=unix:/tmp/f time-scale=0"), ControlCommand::Fork(fork.clone()));
        let fork =
            Fork { of: Some("a".to_string()), control: Some("/tmp/c".into()), time_scale: None, ..fork };
        assert_eq!(order("fork a control=/tmp/c nbd=unix:/tmp/f"), ControlCommand::Fork(fork));
    }

    #[test]
    fn what_is_no_order_is_told_what_is() {
        for line in [
            "",
            "stats now",
            "cut writes=0",
            "cut writes=1 flushes=1",
            "cut seed=1 within=0ns",
            "cut writes=1 writes=2",
            "cut soon",
            "cut within=1ms",
            "mark",
            "set",
            "set time-scale=-1",
            "set speed=2",
            "inject",
            "inject read-error length=0",
            "inject early-flush count=x",
            "inject no-space count=0",
            "inject slow-die die=1",
            "inject slow-die die=1 factor=0",
            "inject slow-die die=1 factor=1000000",
            "inject retire",
            "inject retire block=-1",
            "snapshot",
            "snapshot a/b",
            "snapshot a b",
            "drop",
            "reset now",
            "disarm all",
            "end",
            "end nbd=/tmp/f",
            "forks all",
            "fork",
            "fork a",
            "fork a b nbd=unix:/tmp/f",
            "fork nbd=/tmp/f",
            "fork nbd=unix:/tmp/f time-scale=-1",
            "fork nbd=unix:/tmp/f speed=1",
        ] {
            assert!(line.parse::<ControlCommand>().unwrap_err().contains("allowed: "), "{line}");
        }
    }
}
