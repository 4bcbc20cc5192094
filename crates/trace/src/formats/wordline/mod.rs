//! Wordline's own format: requests in blocks of columns, packed to the bits that they need. It keeps all
//! properties of a request, reads faster than any other format, and detects damage: every block has a
//! checksum, and the footer has the totals.

pub(crate) mod layout;
pub(crate) mod packing;
pub(crate) mod reader;
pub(crate) mod writer;

use crate::formats::wordline::layout::{MAGIC, u32_at};
use crate::formats::wordline::reader::Columns;
use crate::formats::wordline::writer::Packer;
use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Asked, Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::record::Record;
use crate::reading::writing::{Keeps, RecordWriter, Writing};
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "wordline",
    title: "Wordline's own: columns, packed and checked (.wl)",
    grammar: "\
header, blocks, footer; numbers are little-endian, sums are XXH3 of 64 bits with seed 0

header  \"WLTRACE\" 1a, u32 version (3), u32 volumes, for each u16 length and its name in UTF-8, u64 sum
        of all of it
block   \"BLK1\", u32 requests (1 to 4096), u32 bytes of the payload, u32 bytes of it as stored (fewer:
        it is a Zstandard frame), u64 time of the first request (ns), u64 sum of the payload as
        stored, u64 sum of these 32 bytes; the payload
footer  \"END1\", u32 volumes, u64 blocks, u64 requests, u64 first and u64 last time (ns), u64 reads,
        writes, trims, flushes, u64 writes with FUA, for each volume u64 requests and u64 end in
        bytes, u64 sum of all of it

payload u8 exponent of ten of the unit of time, u8 bits that offsets and lengths are shifted by,
        u8 way of the offsets, then the columns: time since the request before, offset, length, kind
        (0 read, 1 write, 2 trim, 3 flush, 5 write with FUA; and 8, 16, 24 more with the latency hint
        short, medium, long, but for a flush; and of a write 32 times the number of its stream more,
        1 to 31), volume by its place in the header
offsets way 0: difference to where the request before ended, 0, -1, 1, -2, ... as 0, 1, 2, 3, ...;
        the first counts from 0. Way 1: as they are. A flush has offset and length 0, and with way 0
        no difference
column  u8 0, then groups of 128 values: u8 width (0 to 56, or 64), the values in so many bits each, the
        lowest first, up to a whole byte. Or u8 1, u8 entries less one, the entries as u64, and the
        values as one group of places among them in as many bits as the last place needs

Version 2 has no streams, and version 1 no hints either; they are the same otherwise, and are read and no
longer written.

crates/trace/FORMAT.md has an example, byte by byte.",
    parameters: &[],
    order: Order::Kept,
    timing: Timing::Exact("ns"),
    quirks: Quirks { endings: &["wl"], ..Quirks::NONE },
    extents: Extents::Fixed,
    detect,
    open: |_, input| Box::new(Columns::open(input)),
    write: |_| Ok(Writing::new(Keeps::ALL, Packer::default())),
    example: Example {
        options: "",
        body: Body::Whole(|requests| {
            let record = |r: &Asked| Record {
                time: r.number * 997,
                offset: r.sector * 512,
                bytes: r.sectors * 512,
                op: if r.is_read { HostOp::Read } else { HostOp::Write },
                attributes: Attributes::NONE,
                volume: 0,
            };
            written(&requests.iter().map(record).collect::<Vec<_>>())
        }),
    },
};

/// A file of these requests on two volumes.
fn written(records: &[Record]) -> Vec<u8> {
    let (mut packer, mut out) = (Packer::default(), Vec::new());
    let volumes = ["a".to_string(), "b".to_string()];
    packer.begin(&volumes, &mut out);
    records.iter().for_each(|r| packer.write(r, &volumes, &mut out));
    packer.end(&mut out);
    out
}

fn detect(sample: &Sample, _told: &Settings) -> Result<Detection, Miss> {
    if !sample.bytes.starts_with(MAGIC) {
        return Err(Miss::new(0, "the magic number WLTRACE is missing"));
    }
    Ok(Detection {
        confidence: Confidence::Certain,
        reason: format!("it begins with WLTRACE, version {}", u32_at(sample.bytes, 8)),
        settings: Settings::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::wordline::layout::{BLOCK, BLOCK_HEADER, KINDS, MOST, is_kind};
    use crate::reading::record::{Event, Position, RecordReader};
    use std::io;
    use twox_hash::XxHash3_64;
    use wordline_units::LatencyHint;

    /// The requests, and the unusable items with their bytes in the file.
    fn read(content: Vec<u8>) -> (Vec<Record>, Vec<(u64, String)>) {
        let mut reader = Columns::open(Box::new(io::Cursor::new(content)));
        let (mut records, mut faults) = (Vec::new(), Vec::new());
        while let Some(event) = reader.next().unwrap() {
            let Position::Byte(at) = reader.position() else { panic!() };
            match event {
                Event::Request(r) => records.push(r),
                Event::Unusable(reason) | Event::Lost(_, reason) => faults.push((at, reason)),
                Event::Aside(_) => panic!(),
            }
        }
        (records, faults)
    }

    fn some(count: u64) -> Vec<Record> {
        let record = |n: u64| Record {
            time: n * 977,
            offset: n * 7919 % 1_009 * 512,
            bytes: 4096 << (n % 4),
            op: KINDS[(n % 3) as usize],
            attributes: Attributes::NONE
                .with_fua(n % 6 == 4)
                .with_hint(LatencyHint::ALL[(n / 5 % 4) as usize])
                .with_stream(if n % 3 == 1 { (n / 7 % 32) as u8 } else { 0 }),
            volume: (n % 2) as u16,
        };
        (0..count).map(record).collect()
    }

    #[test]
    fn the_extremes_of_a_request_survive() {
        let r = |time, offset, bytes, op, volume| Record {
            time,
            offset,
            bytes,
            op,
            attributes: Attributes::NONE,
            volume,
        };
        let records = [
            r(0, 0, 1, HostOp::Read, 0),
            r(7, (1 << 62) - 3, 3, HostOp::Write, 1),
            r(7, 0, 0, HostOp::Flush, 0),
            r(u64::MAX, 1 << 61, crate::reading::record::LONGEST_TRIM, HostOp::Trim, 1),
        ];
        assert_eq!(read(written(&records)), (records.to_vec(), vec![]));
    }

    /// The file as an earlier version would write it.
    fn as_version(version: u8, mut content: Vec<u8>) -> Vec<u8> {
        content[8] = version;
        let end = 16 + 2 * (2 + 1);
        let sum = XxHash3_64::oneshot(&content[..end]);
        content[end..end + 8].copy_from_slice(&sum.to_le_bytes());
        content
    }

    // Version 1 has neither, version 2 no streams.
    #[test]
    fn earlier_versions_read_without_streams_or_hints() {
        let all = some(MOST as u64 + 40);
        let without = |attributes: fn(Attributes) -> Attributes, records: &[Record]| -> Vec<Record> {
            records.iter().map(|r| Record { attributes: attributes(r.attributes), ..*r }).collect()
        };
        let hinted = without(|a| a.with_stream(0), &all);
        let plain = without(|a| a.with_hint(LatencyHint::None), &hinted);
        for (version, kept, too_much) in [(2, &hinted, &all), (1, &plain, &hinted)] {
            assert_eq!(read(as_version(version, written(kept))), (kept.clone(), vec![]));
            let (records, faults) = read(as_version(version, written(too_much)));
            assert!(records.is_empty() && faults.len() == 2, "{faults:?}");
            assert!(faults[0].1.contains("unknown operation or volume"), "{faults:?}");
        }
    }

    #[test]
    fn every_attribute_of_a_request_is_kept() {
        let record = |n: u64| Record {
            time: n,
            offset: 0,
            bytes: 512,
            op: HostOp::Write,
            attributes: Attributes::from(n as u8),
            volume: 0,
        };
        let all: Vec<Record> = (0..=u8::MAX as u64).map(record).collect();
        assert_eq!(read(written(&all)), (all, vec![]));
    }

    #[test]
    fn only_what_a_request_can_be_is_a_kind() {
        let kinds = |version| (0..=2048).filter(|k| is_kind(*k, version)).collect::<Vec<u64>>();
        assert_eq!(kinds(1), [0, 1, 2, 3, 5]);
        let hinted = [0, 1, 2, 3, 5, 8, 9, 10, 13, 16, 17, 18, 21, 24, 25, 26, 29];
        assert_eq!(kinds(2), hinted);
        // Streams only apply to writes, with and without FUA: eight kinds per stream.
        let streams = kinds(3).split_off(hinted.len());
        assert_eq!(streams.len(), 31 * 8);
        assert_eq!((streams[0], streams[8], streams[31 * 8 - 1]), (33, 65, 1021));
    }

    #[test]
    fn cut_file_gives_whole_blocks_and_says_truncated() {
        let all = some(MOST as u64 + 40);
        let content = written(&all);
        let second = content.windows(4).rposition(|w| w == BLOCK).unwrap();
        for cut in (0..content.len()).filter(|c| *c < 300 || *c > second - 20 || c % 97 == 0) {
            let (records, faults) = read(content[..cut].to_vec());
            assert_eq!(faults.len(), 1, "cut at {cut}: {faults:?}");
            assert!(
                faults[0].1.contains("truncated")
                    || faults[0].1.contains("ends within its header")
                    || faults[0].1.contains("known"),
                "cut at {cut}: {faults:?}"
            );
            assert_eq!(records, all[..records.len()], "cut at {cut}");
            let whole = if cut < second { 0..=MOST } else { MOST..=all.len() };
            assert!(whole.contains(&records.len()), "cut at {cut}");
        }
    }

    #[test]
    fn changed_byte_is_noticed_and_makes_no_request() {
        let all = some(MOST as u64 + 40);
        let content = written(&all);
        let second = content.windows(4).rposition(|w| w == BLOCK).unwrap();
        for at in (0..content.len()).filter(|c| *c < 300 || *c > second - 20 || c % 97 == 0) {
            let mut damaged = content.clone();
            damaged[at] ^= 0x10;
            let (records, faults) = read(damaged);
            assert!(!faults.is_empty(), "byte {at} changed unnoticed");
            assert!(records.iter().all(|r| all.contains(r)), "byte {at}: {faults:?}");
            if at >= second {
                assert_eq!(records[..MOST], all[..MOST], "byte {at}");
                assert!(faults[0].0 >= second as u64, "byte {at}: {faults:?}");
            }
        }
    }

    #[test]
    fn damaged_block_costs_only_its_own_requests() {
        let all = some(2 * MOST as u64);
        let mut content = written(&all);
        let first = content.windows(4).position(|w| w == BLOCK).unwrap();
        content[first + BLOCK_HEADER + 100] ^= 1;
        let (records, faults) = read(content);
        assert_eq!(records, all[MOST..]);
        let want = "a block of 4,096 requests is damaged: checksum mismatch".to_string();
        assert_eq!(faults, [(first as u64, want)]);
    }
}
