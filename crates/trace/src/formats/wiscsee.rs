//! Events of WiscSee, a workload analyzer for SSDs from Wisconsin: block requests with discards.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::lines_of::{LineFormat, LineReader, Parsed, Tally, columns, scaled, spaced_up_to};
use crate::reading::record::Record;
use crate::reading::units::{SECOND, STATED, Units};
use crate::reading::volumes::Volumes;
use crate::reading::writing::{Clock, Keeps, Naming, Row, Rows, Writing};
use crate::text::numbers::{time, unsigned};
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "wiscsee",
    title: "WiscSee block events, with discards",
    grammar: "\
pid action op offset size time dt sync          (white space between)

pid           of the process; not used
action        D: sent to the device, a request; C: completed, counted aside
op            read, write or discard
offset, size  bytes
time          seconds, with decimals
dt            seconds since the event before; not used
sync          True or False; not used",
    parameters: STATED,
    order: Order::Kept,
    timing: Timing::Stated { unit: "s", decimals: true },
    quirks: Quirks::NONE,
    extents: Extents::Bytes,
    detect,
    open: |settings, input| {
        LineReader::open(Wiscsee(UNITS.with_settings(settings)), Volumes::unnamed(), input)
    },
    write: |_| Ok(Writing::new(KEEPS, Rows { title: "", row })),
    example: Example {
        options: "",
        body: Body::Lines {
            title: "",
            time: |i| format!("0.{:09}", i * 1_000),
            line: |r, time| {
                let op = r.op("read", "write");
                format!("909 D {op} {} {} {time} 0.000013 True", r.sector * 512, r.sectors * 512)
            },
        },
    },
};

const UNITS: Units = Units::stated(SECOND, 1, 1);

struct Wiscsee(Units);

impl LineFormat for Wiscsee {
    fn parse(&mut self, line: &[u8], _volumes: &mut Volumes) -> Result<Parsed, String> {
        let mut fields: [&[u8]; 8] = [&[]; 8];
        let count = spaced_up_to(line, &mut fields);
        if count != 8 {
            return Err(format!("{} instead of 8", columns(count)));
        }
        let [pid, action, op, offset, size, when, _, sync] = fields;
        unsigned(pid).map_err(|e| e.of("process", pid))?;
        let op = match op {
            b"read" => HostOp::Read,
            b"write" => HostOp::Write,
            b"discard" => HostOp::Trim,
            _ => return Err("the op is none of read, write, discard".to_string()),
        };
        if !matches!(sync, b"True" | b"False") {
            return Err("the last column is neither True nor False".to_string());
        }
        let time = time(when, self.0.time).map_err(|e| e.of("time", when))?;
        let offset = scaled("offset", offset, self.0.offset)?;
        let bytes = scaled("size", size, self.0.size)?;
        match action {
            b"D" => Ok(Parsed::Request(Record {
                time,
                offset,
                bytes,
                op,
                attributes: Attributes::NONE,
                volume: 0,
            })),
            b"C" => Ok(Parsed::Aside),
            _ => Err("the action is neither D nor C".to_string()),
        }
    }
}

const KEEPS: Keeps = Keeps { trim: true, clock: Clock::FromStart, volumes: Naming::None, ..Keeps::TRANSFERS };

fn row(r: &Record, _volume: &str, out: &mut Vec<u8>) {
    let op = match r.op {
        HostOp::Read => "0 D read ",
        HostOp::Trim => "0 D discard ",
        HostOp::Write | HostOp::Flush => "0 D write ",
    };
    out.text(op).number(r.offset).text(" ").number(r.bytes).text(" ").fixed(r.time, 9).text(" 0 True");
}

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let tally = Tally::of(sample, Wiscsee(UNITS.with_settings(told)), Volumes::unnamed()).at_least_half()?;
    let what = "have eight columns: D or C second, read, write or discard third, True or False last";
    Ok(tally.found(Confidence::Certain, "", what).with(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discard_is_a_trim_and_a_completion_is_no_request() {
        let mut v = Volumes::unnamed();
        let Ok(Parsed::Request(r)) =
            Wiscsee(UNITS).parse(b"7 D discard 4096 8192 0.000000001 5e-7 False", &mut v)
        else {
            panic!()
        };
        assert_eq!((r.time, r.offset, r.bytes, r.op), (1, 4096, 8192, HostOp::Trim));
        assert!(matches!(Wiscsee(UNITS).parse(b"7 C read 0 512 0.1 0 True", &mut v), Ok(Parsed::Aside)));
        for (line, word) in [
            ("7 D read 0 512 0.1 0", "7 columns"),
            ("x D read 0 512 0.1 0 True", "process"),
            ("7 D erase 0 512 0.1 0 True", "none of read"),
            ("7 X read 0 512 0.1 0 True", "neither D nor C"),
            ("7 D read 0 512 0.1 0 Yes", "neither True nor False"),
            ("7 D read 0x 512 0.1 0 True", "offset"),
        ] {
            let e = Wiscsee(UNITS).parse(line.as_bytes(), &mut v).err().unwrap();
            assert!(e.contains(word), "{line}: {e}");
        }
    }
}
