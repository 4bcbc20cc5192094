//! oracleGeneral, the binary format of libCacheSim: requests to an object cache. It has neither operations
//! nor addresses, so it is read as reads of objects that are placed in the order of their first use.

use crate::reading::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::reading::example::{Body, Example};
use crate::reading::format::{Extents, Format, Order, Quirks, Timing};
use crate::reading::record::{Event, Input, Position, Record, RecordReader};
use crate::reading::records::Window;
use crate::reading::volumes::Volumes;
use crate::reading::writing::read_only;
use crate::text::numbers::grouped;
use crate::text::parameter::choice;
use rustc_hash::FxHashMap;
use std::io;
use wordline_units::{Attributes, HostOp};

/// The format.
pub static FORMAT: Format = Format {
    name: "oracle-general",
    title: "libCacheSim oracleGeneral: requests of a cache for objects",
    grammar: "\
records of 24 bytes, little-endian, no header

u32 time (s), u64 object, u32 size (bytes), i64 next access

next access  number of the record of the next access to the object; -1 or 2^63 - 1 for never

There is not an operation and no address. Each record is a read of the whole object (option op). Objects are laid
out one behind the other in the order of their first use, each from a multiple of 4 KiB on; one that has grown
is laid out anew. Records of size 0 are set aside. All requests of a second come at one instant. An object is
remembered until its last access, in about 32 bytes.",
    parameters: &[choice("op", "read", "read, write", &["read", "write"], "operation of every record")],
    order: Order::Kept,
    timing: Timing::Exact("s"),
    quirks: Quirks {
        stands_in: Some(
            "the trace has objects without operations or addresses; each record becomes one request for an \
             object, placed in order of first use.",
        ),
        ..Quirks::NONE
    },
    extents: Extents::Fixed,
    detect,
    open: |settings, input| Box::new(Oracle::open(settings, input)),
    write: |_| {
        read_only(
            "oracle-general has objects and no addresses; it is read-only",
            "a format with addresses",
        )
    },
    example: Example {
        options: "",
        body: Body::Records {
            record: |r| {
                let next = if r.number + 8 < Example::REQUESTS { r.number as i64 + 8 } else { -1 };
                let object = r.number % 8 * 7_919;
                let (seconds, bytes) = (100 + r.number as u32, r.sectors as u32 * 512);
                let words = [seconds.to_le_bytes(), bytes.to_le_bytes()];
                [&words[0][..], &object.to_le_bytes(), &words[1], &next.to_le_bytes()].concat()
            },
            // Nothing in a record identifies it as one.
            faults: &[],
        },
    },
};

const RECORD: usize = 24;
/// Objects begin at multiples of this many bytes.
const PAGE: u64 = 4096;
/// Maximum number of objects in memory: 4 GiB at most.
const MOST_OBJECTS: usize = 1 << 27;

/// A record as in the file.
struct Access {
    seconds: u32,
    object: u64,
    size: u32,
    next: i64,
}

impl Access {
    fn of(record: &[u8; RECORD]) -> Access {
        let [a, b, c, d, rest @ ..] = *record;
        let mut words = [[0; 8]; 3];
        words[0].copy_from_slice(&rest[..8]);
        words[1][..4].copy_from_slice(&rest[8..12]);
        words[2].copy_from_slice(&rest[12..]);
        Access {
            seconds: u32::from_le_bytes([a, b, c, d]),
            object: u64::from_le_bytes(words[0]),
            size: u64::from_le_bytes(words[1]) as u32,
            next: i64::from_le_bytes(words[2]),
        }
    }

    /// The record number of the next access, if there is one.
    fn next(&self) -> Option<u64> {
        u64::try_from(self.next).ok().filter(|n| *n < i64::MAX as u64)
    }
}

struct Oracle {
    window: Window,
    op: HostOp,
    /// Start of the record last returned, as a byte of the file.
    at: u64,
    /// First page and number of pages of each object that will be accessed again.
    objects: FxHashMap<u64, (u64, u32)>,
    /// The first page that is not assigned.
    free: u64,
    volumes: Volumes,
}

impl Oracle {
    fn open(settings: &Settings, input: Input) -> Oracle {
        let op =
            if settings.get("op").is_some_and(|op| op == "write") { HostOp::Write } else { HostOp::Read };
        let window = Window::new(input);
        Oracle { window, op, at: 0, objects: FxHashMap::default(), free: 0, volumes: Volumes::unnamed() }
    }

    fn request(&mut self, access: &Access) -> Result<Event, String> {
        if access.next < -1 || access.next().is_some_and(|n| n >= MOST_RECORDS) {
            return Err(format!("the next access {} is not a record number", access.next));
        }
        if access.size == u32::MAX {
            return Err("the size is not known (-1)".to_string());
        }
        if access.size == 0 {
            return Ok(Event::Aside(1));
        }
        let pages = (access.size as u64).div_ceil(PAGE) as u32;
        let known = self.objects.get(&access.object).copied().filter(|(_, room)| *room >= pages);
        let (first, room) = known.unwrap_or_else(|| {
            let first = self.free;
            self.free += u64::from(pages);
            (first, pages)
        });
        if access.next().is_none() {
            self.objects.remove(&access.object);
        } else if known.is_none() {
            if self.objects.len() >= MOST_OBJECTS && !self.objects.contains_key(&access.object) {
                return Err(format!("more than {} distinct objects", grouped(MOST_OBJECTS as u64)));
            }
            self.objects.insert(access.object, (first, room));
        }
        let offset = first.checked_mul(PAGE).ok_or("the objects reach beyond 2^62 bytes")?;
        let record = Record {
            time: u64::from(access.seconds) * 1_000_000_000,
            offset,
            bytes: u64::from(access.size),
            op: self.op,
            attributes: Attributes::NONE,
            volume: 0,
        };
        Ok(Event::Request(record.checked()?))
    }
}

impl RecordReader for Oracle {
    fn next(&mut self) -> io::Result<Option<Event>> {
        self.at = self.window.offset();
        let content = self.window.at_least(RECORD)?;
        let left = content.len();
        let Some(record) = content.first_chunk::<RECORD>() else {
            if left == 0 {
                return Ok(None);
            }
            self.window.skip(left);
            let reason = format!("the file is truncated: the last record has {left} of {RECORD} bytes");
            return Ok(Some(Event::Unusable(reason)));
        };
        let access = Access::of(record);
        self.window.skip(RECORD);
        Ok(Some(self.request(&access).unwrap_or_else(Event::Unusable)))
    }

    fn position(&self) -> Position {
        Position::Byte(self.at)
    }

    fn volumes(&self) -> &Volumes {
        &self.volumes
    }
}

/// Maximum number of records of a trace.
const MOST_RECORDS: u64 = 1 << 40;
/// Number of links between records of the sample that makes the format certain.
const ENOUGH_LINKS: u64 = 8;

fn detect(sample: &Sample, told: &Settings) -> Result<Detection, Miss> {
    let (records, rest) = sample.bytes.as_chunks::<RECORD>();
    if records.is_empty() {
        return Err(Miss::new(0, format!("{} bytes are less than one record", sample.bytes.len())));
    }
    let all: Vec<Access> = records.iter().map(Access::of).collect();
    let backwards = all.windows(2).filter(|w| w[1].seconds < w[0].seconds).count();
    // Next accesses are counted from 0 or from 1.
    let links = |base: u64| {
        let links = all.iter().enumerate().filter_map(|(n, a)| {
            let target = all.get(usize::try_from(a.next()?.checked_sub(base)?).ok()?)?;
            Some(target.object == a.object && a.next().is_some_and(|next| next - base > n as u64))
        });
        links.fold((0u64, 0u64), |(held, all), holds| (held + u64::from(holds), all + 1))
    };
    let (held, linked) = [links(0), links(1)].into_iter().max_by_key(|(held, _)| *held).unwrap_or_default();
    let ahead = all.iter().enumerate().filter(|(n, a)| a.next().is_none_or(|next| next > *n as u64)).count();
    let odd = all.iter().filter(|a| a.next < -1 || a.next().is_some_and(|n| n >= MOST_RECORDS)).count();
    let count = grouped(all.len() as u64);
    let is_told = told.contains_key("op");
    let nearly = |part: usize| part * 10 >= all.len() * 9;
    let sound =
        nearly(all.len() - backwards) && nearly(all.len() - odd) && nearly(ahead) && held * 10 >= linked * 9;
    if !sound && !is_told {
        let fits = if linked == 0 { 0 } else { held * 1000 / linked.max(1) };
        return Err(Miss::new(
            fits.min(999),
            format!(
                "of {count} records of {RECORD} bytes the times fall or next accesses do not lead to the same object"
            ),
        ));
    }
    let is_whole = !sample.complete || rest.is_empty();
    let confidence = match held {
        n if n >= ENOUGH_LINKS && n == linked && is_whole && odd == 0 => Confidence::Certain,
        n if n > 0 && is_whole => Confidence::Likely,
        _ => Confidence::Possible,
    };
    // Without links, any increasing numbers would match, so the format must be named.
    if confidence == Confidence::Possible && !is_told && all.len() < 2 {
        return Err(Miss::new(0, "a single record does not identify a format"));
    }
    let reason = format!(
        "{count} records of {RECORD} bytes have rising times, and {} next accesses lead to a record of the \
         same object; the trace has no operations or addresses, so each record becomes a {} of an object, \
         placed in order of first use",
        grouped(held),
        told.get("op").map_or("read", String::as_str)
    );
    Ok(Detection { confidence, reason, settings: Settings::new() }.with(told))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn record(seconds: u32, object: u64, size: u32, next: i64) -> Vec<u8> {
        let (a, b) = (seconds.to_le_bytes(), object.to_le_bytes());
        [&a[..], &b, &size.to_le_bytes(), &next.to_le_bytes()].concat()
    }

    fn read(bytes: Vec<u8>) -> Vec<(u64, u64, u64)> {
        let mut oracle = Oracle::open(&Settings::new(), Box::new(Cursor::new(bytes)));
        let mut seen = Vec::new();
        while let Some(event) = oracle.next().unwrap() {
            if let Event::Request(r) = event {
                seen.push((r.time / 1_000_000_000, r.offset, r.bytes));
            }
        }
        seen
    }

    #[test]
    fn objects_are_placed_by_first_use_and_again_if_grown() {
        let bytes = [
            record(10, 77, 5_000, 2),
            record(10, 5, 100, -1),
            record(11, 77, 4_000, 3),
            record(12, 77, 9_000, i64::MAX),
            record(12, 9, 0, -1),
            record(13, 4, 1, -1),
        ];
        let want = [(10, 0, 5_000), (10, 8_192, 100), (11, 0, 4_000), (12, 12_288, 9_000), (13, 24_576, 1)];
        assert_eq!(read(bytes.concat()), want);
    }

    #[test]
    fn next_accesses_that_lead_astray_are_no_oracle() {
        let good: Vec<u8> =
            (0..40u32).flat_map(|i| record(i, u64::from(i % 4), 512, i64::from(i) + 4)).collect();
        let sample = |bytes: &[u8]| detect(&Sample { bytes, complete: true }, &Settings::new());
        assert_eq!(sample(&good).ok().unwrap().confidence, Confidence::Certain);
        let bad: Vec<u8> =
            (0..40u32).flat_map(|i| record(i, u64::from(i % 4), 512, i64::from(i) + 3)).collect();
        assert!(sample(&bad).is_err());
    }
}
