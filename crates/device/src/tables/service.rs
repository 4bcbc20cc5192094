//! The table `[service]` of a device file: the order of service, and suspension.

use crate::tables::words::{spaced, words};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::ops::RangeInclusive;
use wordline_config::Section;
use wordline_units::SimDuration;

/// The order in which planes, arrays and buses serve waiting operations. Within a rank, first come, first served. An
/// operation that holds a die is first in any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceOrder {
    /// Host reads, urgent GC, host writes, then everything else.
    #[default]
    ReadFirst,
    /// First come, first served, whatever it is.
    FirstCome,
    /// Reads, then programs, then erases, from any source.
    Shortest,
    /// By shares of the die's time for host reads, host writes, GC and everything else.
    Shares,
}

/// Shares of a die's time: of host reads, of host writes with the reads they need, of GC, and of everything else. Only
/// their proportions count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shares(pub [u32; Shares::COUNT]);

impl Shares {
    /// Number of kinds of work.
    pub const COUNT: usize = 4;

    /// Their keys.
    const KEYS: [&str; Shares::COUNT] = ["read", "write", "collection", "background"];
}

/// The order of service, with suspension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Service {
    /// In which order.
    pub order: ServiceOrder,
    /// The shares, where the order is theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<Shares>,
    /// What host reads suspend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension: Option<Suspension>,
}

impl Service {
    /// Whether all of it is at its defaults.
    pub fn is_usual(&self) -> bool {
        *self == Service::default()
    }
}

/// Suspension of programs and erases by host reads: the array stops, serves the waiting reads, and resumes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Suspension {
    /// Time from the command to a free array, for a program; `None` where programs are not suspended.
    pub program: Option<SimDuration>,
    /// The same for an erase.
    pub erase: Option<SimDuration>,
    /// Array time of each resume.
    pub resume: SimDuration,
    /// Maximum number of suspensions of one operation.
    pub limit: u32,
    /// A program that has no more time left than this is not suspended, but ends.
    #[serde(default, skip_serializing_if = "SimDuration::is_zero")]
    pub program_min_left: SimDuration,
    /// The same for an erase.
    #[serde(default, skip_serializing_if = "SimDuration::is_zero")]
    pub erase_min_left: SimDuration,
}

const TIMES: RangeInclusive<SimDuration> = SimDuration::ZERO..=SimDuration(1_000_000_000);

pub(crate) fn read(mut section: Section<'_>, pairs: bool, caches: bool) -> Option<Service> {
    let order = section.choice("order", ServiceOrder::WORDS, ServiceOrder::default());
    let shares = section.section("shares").map(|mut shares| {
        let each = Shares::KEYS.map(|kind| shares.whole(kind, 1..=1000).unwrap_or(1));
        shares.finish();
        Shares(each)
    });
    let by_shares = order == ServiceOrder::Shares;
    if by_shares && shares.is_none() && !section.has("shares") {
        section.missing("shares", "{ read = 4, write = 2, collection = 2, background = 1 }");
    }
    if !by_shares && shares.is_some() && !section.overrides("order") {
        section.refuse("shares", "requires order = \"shares\"; set it, or remove this key");
    }
    if by_shares && pairs {
        section.refuse(
            "order",
            "not possible with multi-plane commands, which serve several kinds of work in one operation; \
             set parallel.multiplane = \"off\", or another order",
        );
    }
    let shares = shares.filter(|_| by_shares);
    let suspension = match section.section("suspend") {
        None => None,
        Some(mut suspend) => {
            let mut time = |key: &'static str| match suspend.text(key) {
                Some(word) if word == "off" => None,
                _ => suspend.take_within(key, TIMES),
            };
            let (program, erase) = (time("program"), time("erase"));
            let mut time_or_zero = |key| suspend.take_within(key, TIMES).unwrap_or(SimDuration::ZERO);
            let resume = time_or_zero("resume");
            let (program_min_left, erase_min_left) =
                (time_or_zero("program_min_left"), time_or_zero("erase_min_left"));
            let limit = suspend.whole("limit", 1..=1 << 20).unwrap_or(8);
            for (key, least, of, time) in [
                ("program_min_left", program_min_left, "program", program),
                ("erase_min_left", erase_min_left, "erase", erase),
            ] {
                if time.is_none() && !least.is_zero() {
                    let more = "the suspend latency, as in \"20us\"; set it, or remove this key";
                    suspend.refuse(key, format!("requires {of}, {more}"));
                }
            }
            let fault = if program.is_none() && erase.is_none() {
                Some("suspends nothing; set program or erase to the suspend latency, as in \"20us\"")
            } else if order != ServiceOrder::ReadFirst {
                Some("requires order = \"read-first\"; set it, or remove this key")
            } else if caches {
                Some("not possible with a cache register; set cache_register = \"off\", or remove this key")
            } else {
                None
            };
            if let Some(fault) = fault {
                section.refuse("suspend", fault);
            }
            suspend.finish();
            fault.is_none().then_some(Suspension {
                program,
                erase,
                resume,
                limit,
                program_min_left,
                erase_min_left,
            })
        }
    };
    section.finish();
    (by_shares == shares.is_some() && !(by_shares && pairs)).then_some(Service { order, shares, suspension })
}

pub(crate) fn write(service: &Service, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n[service]\norder = \"{}\"", service.order.key())?;
    if let Some(shares) = service.shares {
        let each = Shares::KEYS.iter().zip(shares.0).map(|(kind, share)| format!("{kind} = {share}"));
        writeln!(out, "shares = {{ {} }}", each.collect::<Vec<_>>().join(", "))?;
    }
    let Some(s) = service.suspension else { return Ok(()) };
    let time = |t: Option<SimDuration>| t.map_or("off".to_string(), |t| t.to_string());
    let (program, erase) = (time(s.program), time(s.erase));
    let min_left = [("program_min_left", s.program_min_left), ("erase_min_left", s.erase_min_left)];
    let min_left = min_left.into_iter().filter(|(_, least)| !least.is_zero());
    let min_left: String = min_left.map(|(key, least)| format!(", {key} = \"{least}\"")).collect();
    writeln!(
        out,
        "suspend = {{ program = \"{program}\", erase = \"{erase}\", resume = \"{}\", limit = {}{min_left} }}",
        s.resume, s.limit
    )
}

/// The same as text, for the description of a drive.
pub(crate) fn describe(service: &Service) -> String {
    let shares = |shares: Shares| {
        let each = ["host reads", "host writes", "GC", "other"].into_iter().zip(shares.0);
        each.map(|(kind, share)| format!("{kind} {share}")).collect::<Vec<_>>().join(", ")
    };
    let order = match service.order {
        ServiceOrder::ReadFirst => "host reads first",
        ServiceOrder::FirstCome => "first come, first served",
        ServiceOrder::Shortest => "reads, then programs, then erases",
        ServiceOrder::Shares => "shares of the time of a die",
    };
    let order = match service.shares {
        Some(each) => format!("{order}: {}", shares(each)),
        None => order.to_string(),
    };
    let Some(s) = service.suspension else { return order };
    let how = |time: SimDuration, least: SimDuration| match least {
        SimDuration::ZERO => format!("in {}", spaced(time)),
        least => format!("in {} (if > {} left)", spaced(time), spaced(least)),
    };
    let program = s.program.map(|time| how(time, s.program_min_left));
    let erase = s.erase.map(|time| how(time, s.erase_min_left));
    let what = match (program, erase) {
        (Some(program), Some(erase)) if program == erase => format!("programs and erases {program}"),
        (Some(program), Some(erase)) => format!("programs {program} and erases {erase}"),
        (Some(program), None) => format!("programs {program}"),
        (None, erase) => format!("erases {}", erase.unwrap_or_default()),
    };
    let resume = spaced(s.resume);
    format!("{order}; suspends {what}, at most {} times; resumes in {resume}", s.limit)
}

words! {
    ServiceOrder { ReadFirst = "read-first", FirstCome = "first-come", Shortest = "shortest", Shares = "shares" }
}
