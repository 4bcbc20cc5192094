//! A case as text, so that it can be kept and run after the way of drawing cases has changed: its parameters,
//! then the device as a device file, then the requests.
//!
//! ```text
//! # what failed; lines like this are ignored
//! scheme hierarchy:window=16
//! seed 900044632
//! roomy true
//! mapped first 173
//! lacking 0:0111 1:0011
//! ...
//! [device]
//! ...
//! [requests]
//! 4148 write 6+1 stream 2 queue 0
//! ```
//!
//! Sectors that a page lacks are 1; the rightmost digit is the first sector. A request has its arrival in
//! nanoseconds, its first 512-byte block and its number of blocks.

use crate::case::Case;
use crate::drive::{Drive, Spelled};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use wordline_ftl::{Initial, Mapped, Order};
use wordline_schemes::Registry;
use wordline_units::{HostOp, HostRequest, Lpn, SectorMask, SimTime};

/// Pages per line of lacking sectors.
const PAGES: usize = 12;
/// The line before the device file.
const DEVICE: &str = "\n[device]\n";
const REQUESTS: &str = "\n[requests]\n";

impl Display for Case {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Case { drive, initial, requests, seed, refused: _ } = self;
        writeln!(f, "scheme {}\nseed {seed}\nroomy {}", drive.scheme, drive.roomy)?;
        write_initial(initial, drive.geometry.sectors_per_unit as usize, f)?;
        write!(f, "{}{REQUESTS}", wordline_device::to_toml(&drive.spec).trim())?;
        requests.iter().try_for_each(|r| {
            let (at, op, stream) = (r.arrival.0, r.op.key(), r.attributes.stream());
            writeln!(f, "{at} {op} {}+{} stream {stream} queue {}", r.lba.0, r.blocks, r.volume)
        })
    }
}

fn write_initial(initial: &Initial, sectors: usize, f: &mut Formatter) -> fmt::Result {
    let words = |numbers: &[u32]| numbers.iter().map(|n| format!(" {n}")).collect::<String>();
    match &initial.mapped {
        Mapped::First(n) => writeln!(f, "mapped first {n}")?,
        Mapped::Set(set) => {
            writeln!(f, "mapped{}", words(&set.iter().map(|lpn| lpn.0).collect::<Vec<_>>()))?;
        }
    }
    for pages in initial.lacking.chunks(PAGES) {
        let lacks = pages.iter().map(|(lpn, mask)| format!(" {}:{:0sectors$b}", lpn.0, mask.0));
        writeln!(f, "lacking{}", lacks.collect::<String>())?;
    }
    writeln!(f, "order {}", if initial.order == Order::Random { "random" } else { "sequential" })?;
    writeln!(f, "valid {}\naged_invalid {}", initial.valid, initial.aged_invalid)?;
    writeln!(f, "aged_blocks {}\ndata_apart {}", initial.aged_blocks, initial.data_apart)?;
    writeln!(f, "aged_windows {}", initial.aged_windows)?;
    writeln!(f, "cycles{}\nmore_cycles{}", words(&initial.cycles), words(&initial.more_cycles))?;
    writeln!(f, "retention {}", initial.retention)
}

/// Parses a case, with a scheme of a registry.
///
/// # Errors
/// If the text is invalid, with the offending words; or if the scheme refuses the device, with its
/// reason.
pub fn read_case(text: &str, registry: &Registry) -> Result<Case, String> {
    let (head, rest) = text.split_once(DEVICE).ok_or("it has no device")?;
    let (device, requests) = rest.split_once(REQUESTS).ok_or("it has no requests")?;
    let head = Head(head);
    let spelling = head.word("scheme")?;
    let scheme = registry.build(spelling).map_err(|e| e.to_string())?;
    let spec =
        wordline_device::from_toml(&format!("{DEVICE}{device}"), "case", &[]).map_err(|e| e.to_string())?;
    let drive = Drive::of(spec, &Spelled { spelling: spelling.into(), scheme }, head.one("roomy")?)?;
    let requests = requests.lines().filter(|line| !line.is_empty()).map(request);
    let requests = requests.collect::<Result<_, String>>()?;
    Ok(Case { drive, initial: initial(&head)?, requests, seed: head.one("seed")?, refused: 0 })
}

/// The lines before the device file.
struct Head<'a>(&'a str);

impl<'a> Head<'a> {
    /// The values of all lines with a key.
    fn words(&self, key: &str) -> impl Iterator<Item = &'a str> {
        let of_key = move |line: &'a str| line.strip_prefix(key)?.strip_prefix(' ');
        self.0.lines().filter_map(of_key).flat_map(str::split_whitespace)
    }

    fn word(&self, key: &str) -> Result<&'a str, String> {
        self.words(key).next().ok_or_else(|| format!("{key} is missing"))
    }

    fn one<T: FromStr>(&self, key: &str) -> Result<T, String> {
        parsed(self.word(key)?)
    }

    fn four(&self, key: &str) -> Result<[u32; 4], String> {
        let numbers = self.words(key).map(parsed).collect::<Result<Vec<u32>, String>>()?;
        numbers.try_into().map_err(|_| format!("{key} needs four numbers"))
    }
}

fn initial(head: &Head) -> Result<Initial, String> {
    let mut mapped = head.words("mapped").peekable();
    let mapped = if mapped.next_if_eq(&"first").is_some() {
        Mapped::First(parsed(mapped.next().unwrap_or_default())?)
    } else {
        Mapped::Set(mapped.map(|page| Ok(Lpn(parsed(page)?))).collect::<Result<_, String>>()?)
    };
    let lacks = |word: &str| {
        let (page, sectors) = halves(word, ':')?;
        let mask = u32::from_str_radix(sectors, 2).map_err(|e| format!("{word:?}: {e}"))?;
        Ok((Lpn(parsed(page)?), SectorMask(mask)))
    };
    Ok(Initial {
        mapped,
        lacking: head.words("lacking").map(lacks).collect::<Result<_, String>>()?,
        order: if head.word("order")? == "random" { Order::Random } else { Order::Sequential },
        valid: head.one("valid")?,
        aged_invalid: head.one("aged_invalid")?,
        aged_blocks: head.one("aged_blocks")?,
        data_apart: head.one("data_apart")?,
        aged_windows: head.one("aged_windows")?,
        cycles: head.four("cycles")?,
        more_cycles: head.four("more_cycles")?,
        retention: head.one("retention")?,
    })
}

fn request(line: &str) -> Result<HostRequest, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [at, op, place, "stream", stream, "queue", queue] = words[..] else {
        return Err(format!("{line:?} is not a request"));
    };
    let (lba, blocks) = halves(place, '+')?;
    let request = HostRequest::new(parsed::<HostOp>(op)?, parsed(lba)?, parsed(blocks)?);
    let attributes = request.attributes.with_stream(parsed(stream)?);
    Ok(HostRequest { arrival: SimTime(parsed(at)?), attributes, volume: parsed(queue)?, ..request })
}

fn halves(word: &str, by: char) -> Result<(&str, &str), String> {
    word.split_once(by).ok_or_else(|| format!("{word:?} has no {by:?}"))
}

fn parsed<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{word:?} is not valid here"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::spelling::Spellings;
    use crate::stress;

    #[test]
    fn a_case_is_read_as_it_is_written() {
        let registry = stress::over(&Registry::standard()).unwrap();
        let spellings = Spellings::of(&registry);
        for seed in 1..=60 {
            let draw = if seed % 3 == 0 { Case::at_the_edge } else { Case::draw };
            let case = Case { refused: 0, ..draw(&spellings, seed, 50).unwrap() };
            let read = read_case(&format!("# wrong\n{case}"), &registry).unwrap();
            assert_eq!(read.to_string(), case.to_string());
            assert_eq!(format!("{read:?}"), format!("{case:?}"));
        }
    }

    #[test]
    fn a_text_that_is_no_case_says_why() {
        let registry = stress::registry();
        let drawn = Case::draw(&Spellings::of(&registry), 1, 1).unwrap().to_string();
        for (from, to, why) in [
            ("[device]\n", "", "it has no device"),
            ("[requests]\n", "", "it has no requests"),
            ("seed 1", "", "seed is missing"),
            ("roomy ", "roomy very ", "\"very\" is not valid here"),
            (" stream ", " ", "is not a request"),
        ] {
            assert!(drawn.contains(from), "{drawn}");
            let error = read_case(&drawn.replace(from, to), &registry).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
