//! Tencent cloud block storage: thousands of volumes of one storage node, with times in whole seconds.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, scaled, separated};
use crate::reading::record::Record;
use crate::reading::units::{STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Clock, Keeps, Naming, Row, Rows, Writing};
use crate::text::numbers::{excerpt, time, unsigned};
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "tencent",
    title: "Tencent cloud block storage CSV (SNIA IOTTA)",
    grammar: "\
Timestamp,Offset,Size,IOType,VolumeID

Timestamp     Unix seconds, whole: all requests of a second come at one instant
Offset, Size  512-byte sectors
IOType        0 read, 1 write (the opposite of five-columns)
VolumeID      number of the volume; each has its own address space

No header line, though one is stepped over. Rows are not in order, so they are sorted by time.",
    parameters: STATED,
    order: Order::Loose,
    timing: Timing::Stated { unit: "s", decimals: false },
    quirks: Quirks { dated: true, ..Quirks::NONE },
    extents: Extents::Sectors,
    detect,
    open: |settings, input| LineReader::open(Tencent::of(settings), Volumes::default(), input),
    write: |_| Ok(Writing::new(KEEPS, Rows { title: "", row })),
    example: Example {
        options: "",
        body: Body::Lines {
            title: "",
            time: |i| (1_538_323_199 + i).to_string(),
            line: |r, time| format!("{time},{},{},{},1063", r.sector, r.sectors, r.op("0", "1")),
        },
    },
};

/// Unix seconds of the years 2001 to 2065. Detection takes other numbers as another format.
const UNIX_SECONDS: std::ops::Range<u64> = 1_000_000_000..3_000_000_000;

const UNITS: Units = Units::stated(SECOND_NS, 512, 512);

struct Tencent {
    units: Units,
    /// Whether times outside this range are accepted.
    any_time: bool,
}

impl Tencent {
    fn of(settings: &Settings) -> Tencent {
        Tencent { units: UNITS.with_settings(settings), any_time: true }
    }
}

impl LineFormat for Tencent {
    #[inline]
    fn parse(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Parsed, String> {
        let [when, offset, size, kind, id] = separated(line, b',')?;
        if when == b"Timestamp" && size == b"Size" {
            return Ok(Parsed::Header);
        }
        let time = time(when, self.units.time).map_err(|e| e.of("time stamp", when))?;
        if !self.any_time && !UNIX_SECONDS.contains(&(time / SECOND_NS)) {
            return Err(format!("the time stamp {} is not in Unix seconds", excerpt(when, 24)));
        }
        let offset = scaled("offset", offset, self.units.offset)?;
        let bytes = scaled("size", size, self.units.size)?;
        let op = match kind {
            b"0" => HostOp::Read,
            b"1" => HostOp::Write,
            _ => return Err("the type is neither 0 nor 1".to_string()),
        };
        unsigned(id).map_err(|e| e.of("volume", id))?;
        let volume = volumes.number_of(id)?;
        Ok(Parsed::Request(Record { time, offset, bytes, op, attributes: Attributes::NONE, volume }))
    }
}

const KEEPS: Keeps =
    Keeps { unit: 512, tick: SECOND_NS, clock: Clock::Unix, volumes: Naming::Number, ..Keeps::TRANSFERS };

const SECOND_NS: u64 = 1_000_000_000;

fn row(r: &Record, volume: &str, out: &mut Vec<u8>) {
    let op = if r.op == HostOp::Read { ",0," } else { ",1," };
    out.number(r.time / SECOND_NS).text(",").number(r.offset / 512).text(",").number(r.bytes / 512);
    out.text(op).text(volume);
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, Tencent { any_time: false, ..Tencent::of(told) }, Volumes::default())
        .at_least_half()?;
    let what = "have five whole numbers between commas, Unix seconds first and 0 or 1 fourth";
    Ok(tally.found(Confidence::Likely, "Timestamp,Offset,Size,IOType,VolumeID", what).with(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_a_read_and_sectors_become_bytes() {
        let mut v = Volumes::default();
        let mut parse = |line: &[u8]| match Tencent::of(&Settings::new()).parse(line, &mut v) {
            Ok(Parsed::Request(r)) => r,
            _ => panic!(),
        };
        let r = parse(b"1538323199,13896880,128,0,1063");
        assert_eq!((r.time, r.offset, r.bytes), (1_538_323_199_000_000_000, 13_896_880 * 512, 65_536));
        assert_eq!((r.op, r.volume), (HostOp::Read, 0));
        let r = parse(b"1538323200,4247200,128,1,1058");
        assert_eq!((r.op, r.volume), (HostOp::Write, 1));
    }

    #[test]
    fn each_bad_field_is_named() {
        for (line, word) in [
            ("1538323199,1,8,0", "4 columns"),
            ("99999999999,1,8,0,1", "too large"),
            ("1538323199,36028797018963968,8,0,1", "offset 36028797018963968 is too large"),
            ("1538323199,1,8,2,1", "neither 0 nor 1"),
            ("1538323199,1,8,0,x", "volume"),
        ] {
            let e = Tencent::of(&Settings::new()).parse(line.as_bytes(), &mut Volumes::default());
            let e = e.err().unwrap();
            assert!(e.contains(word), "{line}: {e}");
        }
    }
}
