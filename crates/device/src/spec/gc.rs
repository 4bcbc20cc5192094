//! When and how GC runs, and the SLC cache.

use crate::tables::words::words;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use wordline_config::closest;
use wordline_units::{Fraction, QuantityError, Rate, SimDuration};

/// Garbage collection.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct GcSpec {
    /// When a region of a plane is collected.
    pub trigger: Trigger,
    /// Which block.
    pub victim: Victim,
    /// Whether a block without valid data precedes the choice of the victim rule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead_first: bool,
    /// Which blocks take the pages that it copies.
    #[serde(default, skip_serializing_if = "Copies::are_together")]
    pub copies: Copies,
    /// The class in which its operations are queued.
    pub class: GcClass,
    /// Free blocks of a plane at or below which its collection becomes urgent.
    pub hard_reserve: u32,
    /// Free blocks of a plane, on average, below which host writes are paced; `None` where they never are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace_below: Option<u32>,
    /// When a plane is checked again after GC.
    pub recheck: Recheck,
}

/// When a plane that has been collected is looked at again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recheck {
    /// After the erase of its victim: GC runs until the plane is above its trigger.
    Erase,
    /// At its next allocation: one victim per check.
    Allocation,
}

/// Which blocks take copied pages, under schemes with one kind of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// The open block of host writes.
    #[default]
    Together,
    /// An open block of their own.
    Apart,
}

impl Copies {
    /// Whether they share blocks with host writes.
    pub fn are_together(&self) -> bool {
        *self == Copies::Together
    }
}

/// A threshold as a share of the region's total, in the unit in which the region counts space.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Erased blocks.
    FreeBlocks(Fraction),
    /// Slots not yet programmed, in open blocks too.
    FreeSlots(Fraction),
    /// No threshold: only when a program finds no space, or a scheme requests it.
    Never,
    /// When the region opens the last block of its quota. For schemes, not for files.
    LastBlock,
}

/// The block that collection takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Victim {
    /// The one with the fewest valid sectors; ties go to the lowest number.
    Greedy,
    /// The one that was filled first.
    Fifo,
    /// The one with the fewest valid sectors of this many drawn at random, each equally likely and with replacement
    /// (B. Van Houdt, SIGMETRICS 2013). With one block this is the random rule.
    DChoices(u32),
    /// The one with the fewest live sectors of so many that were filled first (X.-Y. Hu and others, SYSTOR 2009).
    WindowedGreedy(u32),
    /// The one with the best ratio of benefit and cost, age (1 - u) / 2u, where u is its share of valid data (A.
    /// Kawaguchi and others, USENIX 1995). Age counts the sectors that closed blocks of its plane have lost since
    /// this block last lost one.
    CostBenefit,
}

/// The class in which GC queues among host operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcClass {
    /// After all of them.
    Background,
    /// With the writes, first come first served.
    Host,
    /// Before the writes.
    Urgent,
    /// Exclusive: GC holds its die, also against reads, until its victim is erased.
    Foreground,
}

/// The blocks of each plane that serve as SLC cache.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SlcCache {
    /// Blocks of a plane that are always SLC.
    pub static_blocks: u32,
    /// Further blocks of a plane in SLC mode while the drive is empty; they shrink as it fills up.
    pub dynamic_blocks: u32,
    /// Share of the blocks of a plane that these leave to denser data: they then take all blocks in which no data rest,
    /// but for this share. `None`: they shrink in proportion to the fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_reserve: Option<Fraction>,
    /// GC trigger of the cache of a plane.
    pub trigger: Trigger,
    /// What a host write does when the cache is full.
    pub when_full: WhenFull,
    /// Migration in idle time; `None` where idle time changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleMigration>,
}

/// How idle time empties an SLC cache.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct IdleMigration {
    /// Time without requests after which migration begins.
    pub after: SimDuration,
    /// Rate at which pages leave the cache; off: as fast as the flash allows.
    pub rate: Rate,
}

/// What a host write does when the SLC cache is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// Wait for collection.
    Wait,
    /// Go to the dense region.
    Direct,
}

impl FromStr for Trigger {
    type Err = QuantityError;
    /// `free_blocks < 5%` or `never`; on a command line also `free_blocks:5%`, which needs no quotes.
    fn from_str(text: &str) -> Result<Trigger, QuantityError> {
        let fail = |hint: String| QuantityError {
            given: text.to_string(),
            expected: "a threshold such as \"free_blocks < 5%\" or \"free_slots < 30%\", or \"never\"",
            hint,
        };
        if text.trim() == "never" {
            return Ok(Trigger::Never);
        }
        let (what, share) = text
            .split_once(['<', ':'])
            .ok_or_else(|| fail("expected a counter, '<' (or ':'), and a share".into()))?;
        let share: Fraction = share.parse().map_err(|e: QuantityError| fail(e.to_string()))?;
        if share > Fraction::ONE {
            return Err(fail("a share is at most 100%".into()));
        }
        match what.trim() {
            "free_blocks" => Ok(Trigger::FreeBlocks(share)),
            "free_slots" => Ok(Trigger::FreeSlots(share)),
            other => Err(fail(format!("{other:?} is not a counter; allowed: free_blocks, free_slots"))),
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::FreeBlocks(share) => write!(f, "free_blocks < {share}"),
            Trigger::FreeSlots(share) => write!(f, "free_slots < {share}"),
            Trigger::Never => write!(f, "never"),
            Trigger::LastBlock => write!(f, "last block"),
        }
    }
}

impl Victim {
    /// The most blocks that may be drawn, or are in a window: more would only be a slow greedy.
    const MOST_CHOICES: u32 = 1024;
    const FORMS: &str = "greedy, fifo, random, d-choices:N, windowed-greedy:N, cost-benefit";
}

impl FromStr for Victim {
    type Err = String;
    /// `greedy`, `fifo`, `random`, `d-choices:10`, `windowed-greedy:20` or `cost-benefit`.
    fn from_str(text: &str) -> Result<Victim, String> {
        const WORDS: [&str; 6] =
            ["greedy", "fifo", "random", "d-choices:10", "windowed-greedy:20", "cost-benefit"];
        let among = |n: &str| match n.parse() {
            Ok(n) if (1..=Victim::MOST_CHOICES).contains(&n) => Ok(n),
            _ => Err(format!(
                "{text:?}: {n:?} is not a number of blocks from 1 to {}, as in \"d-choices:10\"",
                Victim::MOST_CHOICES
            )),
        };
        match text.split_once(':').map_or((text, None), |(word, n)| (word, Some(n))) {
            ("greedy", None) => Ok(Victim::Greedy),
            ("fifo", None) => Ok(Victim::Fifo),
            ("random", None) => Ok(Victim::DChoices(1)),
            ("cost-benefit", None) => Ok(Victim::CostBenefit),
            ("d-choices", Some(n)) => among(n).map(Victim::DChoices),
            ("windowed-greedy", Some(n)) => among(n).map(Victim::WindowedGreedy),
            (word, _) => {
                let word = word.to_lowercase();
                let near = WORDS.into_iter().find(|w| w.split_once(':').is_some_and(|(w, _)| w == word));
                let hint = near.or_else(|| closest(&word, WORDS));
                let hint = hint.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                Err(format!("{text:?} is not one of {}{hint}", Victim::FORMS))
            }
        }
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Victim::Greedy => f.write_str("greedy"),
            Victim::Fifo => f.write_str("fifo"),
            Victim::DChoices(1) => f.write_str("random"),
            Victim::DChoices(d) => write!(f, "d-choices:{d}"),
            Victim::WindowedGreedy(w) => write!(f, "windowed-greedy:{w}"),
            Victim::CostBenefit => f.write_str("cost-benefit"),
        }
    }
}

impl From<Victim> for String {
    fn from(victim: Victim) -> String {
        victim.to_string()
    }
}

impl TryFrom<String> for Victim {
    type Error = String;
    fn try_from(text: String) -> Result<Victim, String> {
        text.parse()
    }
}

impl GcSpec {
    /// Default reserve: two blocks, or half a percent of a plane.
    pub fn default_reserve(blocks_per_plane: u32) -> u32 {
        blocks_per_plane.div_ceil(200).max(2)
    }
}

words! {
    Copies { Together = "together", Apart = "apart" }
    Recheck { Erase = "erase", Allocation = "allocation" }
    GcClass { Background = "background", Host = "host", Urgent = "urgent", Foreground = "foreground" }
    WhenFull { Wait = "wait", Direct = "direct" }
}
