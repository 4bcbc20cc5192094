//! The queues of `[host]`: arbitration between the submission queues of the host, as in NVMe (NVM Express Base
//! Specification 2.0, section 3.4.4).

use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::ops::RangeInclusive;
use wordline_config::Section;
use wordline_units::QueueClass;

/// Arbitration between queues. The workload assigns requests to queues: each volume of a trace and each job of a job
/// file has one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Arbitration {
    /// In which order.
    pub order: ArbitrationOrder,
    /// Requests fetched from one queue before the next queue's turn (NVMe's arbitration burst).
    pub burst: u32,
    /// Settings of individual queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<HostQueue>,
}

/// The arbitration policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArbitrationOrder {
    /// Round robin.
    RoundRobin,
    /// Class urgent first; then in each round this many requests of the classes high, medium and low. Queues of one
    /// class in order of arrival.
    Weighted([u32; QueueClass::COUNT - 1]),
}

impl ArbitrationOrder {
    /// Number of requests of a class per round; `None` where nothing is weighed.
    pub fn weight(self, class: QueueClass) -> Option<u32> {
        match self {
            ArbitrationOrder::RoundRobin => None,
            ArbitrationOrder::Weighted(weights) => weights.get((class as usize).checked_sub(1)?).copied(),
        }
    }
}

/// Settings of the queue of one source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HostQueue {
    /// The source: a volume of a trace, or a job.
    pub name: String,
    /// Its priority class, if it overrides the workload's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<QueueClass>,
    /// How many of its requests the drive works on in parallel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

const WEIGHTS: RangeInclusive<u32> = 1..=256;

/// The keys of `[host]` about arbitration.
pub(crate) fn read(section: &mut Section<'_>) -> Option<Arbitration> {
    #[derive(Clone, Copy, PartialEq)]
    enum Word {
        Off,
        RoundRobin,
        Weighted,
    }
    let words = [("off", Word::Off), ("round-robin", Word::RoundRobin), ("weighted", Word::Weighted)];
    let word = section.choice("arbitration", &words, Word::Off);
    let burst = section.whole("burst", 1..=128).unwrap_or(1);
    let weights = section.section("weights").map(|mut weights| {
        let each =
            ["high", "medium", "low"].map(|class| weights.whole(class, WEIGHTS)).map(|w| w.unwrap_or(1));
        weights.finish();
        each
    });
    let queues = section.section("queue").map_or(vec![], |queues| {
        let named = queues.named_sections().into_iter();
        named.map(|(name, section)| queue(name, section, word == Word::RoundRobin)).collect()
    });
    let turned_off = section.overrides("arbitration");
    for key in ["burst", "weights", "queue"] {
        if word == Word::Off && section.has(key) && !turned_off {
            section.refuse(key, "requires arbitration = \"weighted\" or \"round-robin\"");
        }
    }
    if word == Word::RoundRobin && weights.is_some() {
        section.refuse("weights", "requires arbitration = \"weighted\"");
    }
    let order = match word {
        Word::Off => return None,
        Word::RoundRobin => ArbitrationOrder::RoundRobin,
        Word::Weighted => ArbitrationOrder::Weighted(weights.unwrap_or([1; 3])),
    };
    Some(Arbitration { order, burst, queues })
}

fn queue(name: String, mut section: Section<'_>, turns_only: bool) -> HostQueue {
    let given = section.has("class");
    let class = section.choice("class", &QueueClass::WORDS, QueueClass::default());
    if given && turns_only {
        section.refuse("class", "requires arbitration = \"weighted\"");
    }
    let depth = section.whole("depth", 1..=1 << 20);
    section.finish();
    HostQueue { name, class: given.then_some(class), depth }
}

pub(crate) fn write(arbitration: &Arbitration, out: &mut String) -> std::fmt::Result {
    match arbitration.order {
        ArbitrationOrder::RoundRobin => writeln!(out, "arbitration = \"round-robin\"")?,
        ArbitrationOrder::Weighted([high, medium, low]) => {
            writeln!(out, "arbitration = \"weighted\"")?;
            writeln!(out, "weights = {{ high = {high}, medium = {medium}, low = {low} }}")?;
        }
    }
    writeln!(out, "burst = {}", arbitration.burst)?;
    for queue in &arbitration.queues {
        writeln!(out, "\n[host.queue.{}]", wordline_config::quoted(&queue.name))?;
        if let Some(class) = queue.class {
            writeln!(out, "class = \"{}\"", class.key())?;
        }
        if let Some(depth) = queue.depth {
            writeln!(out, "depth = {depth}")?;
        }
    }
    Ok(())
}

/// The same as text, for the description of a drive.
pub(crate) fn describe(arbitration: &Arbitration) -> String {
    let order = match arbitration.order {
        ArbitrationOrder::RoundRobin => "round robin".to_string(),
        ArbitrationOrder::Weighted([high, medium, low]) => {
            format!("urgent first, then weighted round robin: high {high}, medium {medium}, low {low}")
        }
    };
    let burst = match arbitration.burst {
        1 => String::new(),
        n => format!(", bursts of up to {n}"),
    };
    format!("{order}{burst}")
}
