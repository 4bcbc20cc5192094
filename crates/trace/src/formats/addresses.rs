//! A plain list of addresses, one per line, as cache simulators and ad-hoc tools write it. It has no times,
//! so it is replayed as a closed loop.

use crate::reading::detection::{Confidence, Detection, Miss, OptionFault, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, trimmed};
use crate::reading::record::Record;
use crate::reading::units::{UNIT, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::read_only;
use crate::text::numbers::{NumberFault, hexadecimal, unsigned};
use crate::text::parameter::{Parameter, choice, value};
use wordline_units::{Attributes, Bytes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "addresses",
    title: "plain list of addresses, one per line, without timestamps",
    grammar: "\
address

address  a number, decimal or hexadecimal with 0x; the unit is not in the file (option unit)

Lines have no size or operation: each line is a read (option op) of 4 KiB (option size). Without times,
so requests are replayed in a closed loop, 32 at a time if closed=QD does not say otherwise. Lines that begin
with # are set aside.",
    parameters: &[
        Parameter { default: "by evidence", about: "unit of the addresses; a sector is 512 bytes", ..UNIT },
        choice("op", "read", "read, write", &["read", "write"], "operation of every line"),
        value("size", "size", "4KiB", "such as 4KiB", "length of every request"),
    ],
    order: Order::Kept,
    timing: Timing::Absent,
    quirks: Quirks {
        may_lack_clock: |_| true,
        length: Some(length),
        stands_in: Some(
            "the trace has addresses only; operation and size of every request are assumed or set by \
             options.",
        ),
        ..Quirks::NONE
    },
    extents: Extents::Open,
    detect,
    open: |settings, input| LineReader::open(Addresses::of(settings), Volumes::unnamed(), input),
    write: |_| {
        read_only(
            "addresses has neither times nor sizes nor operations; it is read-only",
            "a format with times and sizes",
        )
    },
    example: Example {
        options: ",unit=byte",
        body: Body::Lines { title: "", time: |i| i.to_string(), line: |r, _| (r.sector * 512).to_string() },
    },
};

/// Length of every request in bytes.
fn length(settings: &Settings) -> u64 {
    settings.get("size").and_then(|s| s.parse::<Bytes>().ok()).map_or(4_096, |b| b.0)
}

struct Addresses {
    unit: u64,
    bytes: u64,
    op: HostOp,
}

impl Addresses {
    fn of(settings: &Settings) -> Addresses {
        Addresses {
            unit: Units::stated(1, 1, 1).with_settings(settings).offset,
            bytes: length(settings),
            op: if settings.get("op").is_some_and(|op| op == "write") { HostOp::Write } else { HostOp::Read },
        }
    }
}

impl LineFormat for Addresses {
    fn parse(&mut self, line: &[u8], _volumes: &mut Volumes) -> Result<Parsed, String> {
        let line = trimmed(line);
        if line.starts_with(b"#") {
            return Ok(Parsed::Aside);
        }
        let number = if line.starts_with(b"0x") { hexadecimal(line) } else { unsigned(line) };
        let offset = number.and_then(|n| n.checked_mul(self.unit).ok_or(NumberFault::TooLarge));
        let offset = offset.map_err(|e| e.of("address", line))?;
        let (bytes, op) = (self.bytes, self.op);
        Ok(Parsed::Request(Record { time: 0, offset, bytes, op, attributes: Attributes::NONE, volume: 0 }))
    }
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    if told.get("size").is_some_and(|s| !s.parse::<Bytes>().is_ok_and(|b| b.0 > 0)) {
        let option = OptionFault { key: "size", allowed: "a size such as 4KiB".to_string() };
        return Err(Miss { fits: 0, reason: "the size is not a size".to_string(), option: Some(option) });
    }
    let tally = Tally::of(sample, Addresses::of(told), Volumes::unnamed());
    if tally.requests * 10 < tally.lines * 9 {
        let fits = tally.requests * 1000 / tally.lines.max(1);
        return Err(Miss::new(fits, tally.first_fault));
    }
    let tally = tally.at_least_half()?;
    let reason = format!(
        "{} are a single number, without operation, size or timestamp; each becomes a {} of {} in a closed \
         loop",
        tally.share(),
        told.get("op").map_or("read", String::as_str),
        told.get("size").map_or("4KiB", String::as_str)
    );
    Ok(Detection { confidence: Confidence::Possible, reason, settings: told.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_a_4_kib_read_by_default() {
        let parse = |line: &str, told: &[(&'static str, &str)]| {
            let told = told.iter().map(|(k, v)| (*k, v.to_string())).collect();
            match Addresses::of(&told).parse(line.as_bytes(), &mut Volumes::unnamed())? {
                Parsed::Request(r) => Ok((r.offset, r.bytes, r.op)),
                _ => Err("aside".to_string()),
            }
        };
        assert_eq!(parse("8192", &[]), Ok((8192, 4096, HostOp::Read)));
        assert_eq!(
            parse("0x10", &[("unit", "4KiB"), ("op", "write"), ("size", "8KiB")]),
            Ok((65_536, 8192, HostOp::Write))
        );
        assert!(parse("12 7", &[]).is_err() && parse("-1", &[]).unwrap_err().contains("negative"));
        assert_eq!(parse("# made by hand", &[]), Err("aside".to_string()));
    }
}
