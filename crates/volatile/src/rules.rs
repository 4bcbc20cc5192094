//! What a drive guarantees, and which of the permitted states a cut leaves.

use std::fmt;
use std::str::FromStr;
use wordline_units::Bytes;

/// What a request does to its sectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// WRITE.
    Write,
    /// WRITE ZEROES.
    Zeroes,
    /// TRIM (NVMe: deallocate).
    Trim,
}

impl Op {
    /// Its name in reports.
    pub fn key(self) -> &'static str {
        match self {
            Op::Write => "write",
            Op::Zeroes => "write-zeroes",
            Op::Trim => "trim",
        }
    }
}

/// A request that changes sectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Its number. Numbers increase in the order of arrival.
    pub id: u64,
    /// The operation.
    pub op: Op,
    /// Whether its own sectors are durable when it is acknowledged.
    pub fua: bool,
    /// The connection of the request.
    pub connection: u64,
    /// First byte of the range.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}

/// Sizes up to which a write is all old or all new after a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Atomic {
    /// The largest such write, in bytes (NVMe AWUPF).
    pub size: u64,
    /// A write that crosses a multiple of this many bytes may be torn nevertheless (NVMe NABSPF).
    pub boundary: Option<u64>,
}

/// What a drive guarantees about writes at a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Size of a sector in bytes. Sectors are never torn.
    pub sector: u64,
    /// The atomic write unit, if it is larger than a sector.
    pub atomic: Option<Atomic>,
}

impl Rules {
    /// Whether a request is all old or all new after a cut.
    pub fn is_atomic(&self, request: &Request) -> bool {
        self.atomic.is_some_and(|atomic| {
            let last = request.offset + request.length.max(1) - 1;
            let crosses = atomic.boundary.is_some_and(|b| request.offset / b != last / b);
            request.op == Op::Write && request.length <= atomic.size && !crosses
        })
    }
}

impl FromStr for Atomic {
    type Err = String;

    fn from_str(text: &str) -> Result<Atomic, String> {
        let allowed = "allowed: SIZE or SIZE,boundary=SIZE, as in 16KiB,boundary=64KiB";
        let size = |text: &str| {
            let size: Bytes = text.parse().map_err(|e| format!("{text:?}: {e}\n  {allowed}"))?;
            if size.0 == 0 { Err(format!("{text:?}: at least one byte\n  {allowed}")) } else { Ok(size.0) }
        };
        let (first, boundary) = match text.split_once(',') {
            None => (text, None),
            Some((first, rest)) => match rest.split_once('=') {
                Some(("boundary", value)) => (first, Some(size(value)?)),
                _ => return Err(format!("{rest:?} is not a boundary\n  {allowed}")),
            },
        };
        Ok(Atomic { size: size(first)?, boundary })
    }
}

/// Which of the permitted states a cut leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PowerLoss {
    /// Each sector, independently, holds one of its possible versions.
    #[default]
    Any,
    /// Nothing acknowledged is lost.
    None,
    /// A suffix of the acknowledged writes is lost.
    Fifo,
    /// A write may be lost only while fewer than this number of later ones are acknowledged.
    Window(u64),
    /// Everything since the last FLUSH is lost.
    All,
}

impl FromStr for PowerLoss {
    type Err = String;

    fn from_str(text: &str) -> Result<PowerLoss, String> {
        let window = text.strip_prefix("window:").and_then(|n| n.parse().ok()).filter(|n| *n > 0);
        match (text, window) {
            ("any", _) => Ok(PowerLoss::Any),
            ("none", _) => Ok(PowerLoss::None),
            ("fifo", _) => Ok(PowerLoss::Fifo),
            ("all", _) => Ok(PowerLoss::All),
            (_, Some(n)) => Ok(PowerLoss::Window(n)),
            _ => Err(format!(
                "{text:?} is not a power-loss model\n  allowed: any, none, fifo, window:N (N writes, at \
                 least 1), all"
            )),
        }
    }
}

impl fmt::Display for PowerLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PowerLoss::Any => f.write_str("any"),
            PowerLoss::None => f.write_str("none"),
            PowerLoss::Fifo => f.write_str("fifo"),
            PowerLoss::Window(n) => write!(f, "window:{n}"),
            PowerLoss::All => f.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_and_sizes_are_read_or_refused() {
        for text in ["any", "none", "fifo", "window:8", "all"] {
            assert_eq!(text.parse::<PowerLoss>().unwrap().to_string(), text);
        }
        for text in ["", "window", "window:0", "window:x", "some"] {
            assert!(text.parse::<PowerLoss>().unwrap_err().contains("allowed: any"), "{text}");
        }
        assert_eq!("16KiB".parse(), Ok(Atomic { size: 16_384, boundary: None }));
        assert_eq!("4KiB,boundary=64KiB".parse(), Ok(Atomic { size: 4096, boundary: Some(65_536) }));
        for text in ["", "0", "4KiB,64KiB", "4KiB,boundary=0", "4KiB,edge=1"] {
            assert!(text.parse::<Atomic>().unwrap_err().contains("allowed: SIZE"), "{text}");
        }
    }
}
