//! Wordline's own format: requests in blocks of columns, packed to the bits that they need. It keeps
//! everything that a request says, reads faster than any other format, and knows when it is damaged:
//! every block has its checksum, and the footer says how much there should have been.

use crate::formats::detection::{Confidence, Detection, Miss, Sample, Settings};
use crate::formats::format::{Extents, Format, Order, Timing};
use crate::formats::record::{Event, Input, Position, Record, RecordReader};
use crate::formats::records::Window;
use crate::formats::volumes::Volumes;
use crate::formats::writing::{Keeps, RecordWriter, Writing};
use crate::text::numbers::{TENS, grouped};
use std::io;
use twox_hash::XxHash3_64;
use wordline_units::{Attributes, HostOp, LatencyHint};

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

docs/traces.md has an example, byte by byte.",
    parameters: &[],
    order: Order::Kept,
    timing: Timing::Exact("ns"),
    dated: false,
    extents: Extents::Fixed,
    detect,
    open: |_, input| Box::new(Columns::open(input)),
    write: |_| Ok(Writing::new(Keeps::ALL, Packer::default())),
};

const MAGIC: &[u8; 8] = b"WLTRACE\x1a";
const VERSION: u32 = 3;
/// Which versions are read.
const READ: std::ops::RangeInclusive<u32> = 1..=VERSION;
const BLOCK: &[u8; 4] = b"BLK1";
const END: &[u8; 4] = b"END1";
const BLOCK_HEADER: usize = 40;
/// Bytes of the footer before its volumes.
const COUNTS: usize = 80;
/// Requests of a block: their columns stay in a core's second cache.
const MOST: usize = 4096;
/// Values that are packed to one width.
const GROUP: usize = 128;
/// Bytes that a payload may have: five columns of 64 bits, widths and a head.
const LARGEST: usize = 5 * (MOST * 8 + MOST / GROUP + 1) + 3;
/// The widest packed value that one load of 64 bits reaches from any bit of a byte.
const WIDEST: u32 = 56;
/// Bytes behind a payload that such a load may touch.
const MARGIN: usize = 8;
/// Of a name.
const LONGEST_NAME: usize = 4096;
const FUA: u64 = 4;
/// Of a kind, by the version: one past the highest. Hints stand above the third bit, streams above the fifth.
const PAST_KIND: [u64; 3] = [8, 32, 1024];
const HINT_SHIFT: u32 = 3;
const STREAM_SHIFT: u32 = 5;
const KINDS: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| b.iter().rev().fold(0, |n, b| n << 8 | *b as u32))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u32_at(bytes, at) as u64 | (u32_at(bytes, at + 4) as u64) << 32
}

/// Bits that a number needs; what a single load cannot reach takes all 64.
fn bits(n: u64) -> u32 {
    match 64 - n.leading_zeros() {
        width @ 0..=WIDEST => width,
        _ => 64,
    }
}

const fn packed_bytes(values: usize, width: u32) -> usize {
    (values * width as usize).div_ceil(8)
}

// Packing.

fn pack(values: &[u64], width: u32, out: &mut Vec<u8>) {
    let (mut word, mut filled) = (0u128, 0);
    for value in values {
        word |= (*value as u128) << filled;
        filled += width;
        while filled >= 8 {
            out.push(word as u8);
            word >>= 8;
            filled -= 8;
        }
    }
    if filled > 0 {
        out.push(word as u8);
    }
}

fn width_of(group: &[u64]) -> u32 {
    bits(group.iter().fold(0, |all, v| all | v))
}

/// Bytes of a column in groups.
fn grouped_bytes(values: &[u64]) -> usize {
    values.chunks(GROUP).map(|g| 1 + packed_bytes(g.len(), width_of(g))).sum()
}

fn write_column(values: &[u64], out: &mut Vec<u8>) {
    let plain = grouped_bytes(values);
    let mut entries: Vec<u64> = Vec::new();
    for value in values {
        if let Err(at) = entries.binary_search(value) {
            if entries.len() == 256 {
                break;
            }
            entries.insert(at, *value);
        }
    }
    let place = |value: &u64| entries.binary_search(value).ok().map(|at| at as u64);
    let width = bits(entries.len() as u64 - 1);
    let named = 1 + entries.len() * 8 + packed_bytes(values.len(), width);
    let places: Option<Vec<u64>> = (named < plain).then(|| values.iter().map(place).collect()).flatten();
    match places {
        Some(places) => {
            out.extend([1, (entries.len() - 1) as u8]);
            entries.iter().for_each(|e| out.extend(e.to_le_bytes()));
            pack(&places, width, out);
        }
        None => {
            out.push(0);
            for group in values.chunks(GROUP) {
                let width = width_of(group);
                out.push(width as u8);
                pack(group, width, out);
            }
        }
    }
}

fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

#[inline]
fn unzigzag(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

/// A file being written.
#[derive(Default)]
struct Packer {
    records: Vec<Record>,
    blocks: u64,
    requests: u64,
    first: u64,
    last: u64,
    kinds: [u64; 4],
    fua: u64,
    volumes: Vec<(u64, u64)>,
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

impl Packer {
    fn block(&mut self, out: &mut Vec<u8>) {
        let Some(first) = self.records.first().map(|r| r.time) else { return };
        let payload = payload(&self.records);
        let compressor = match &mut self.compressor {
            Some(compressor) => Some(compressor),
            none => zstd::bulk::Compressor::new(3).ok().map(|c| none.insert(c)),
        };
        // Unpacking takes time, so it must be worth a quarter.
        let small = compressor.and_then(|c| c.compress(&payload).ok());
        let small = small.filter(|s| s.len() * 4 <= payload.len() * 3);
        let stored = small.as_ref().unwrap_or(&payload);
        let start = out.len();
        out.extend(BLOCK);
        for n in [self.records.len(), payload.len(), stored.len()] {
            out.extend((n as u32).to_le_bytes());
        }
        out.extend(first.to_le_bytes());
        out.extend(XxHash3_64::oneshot(stored).to_le_bytes());
        let sum = XxHash3_64::oneshot(&out[start..]);
        out.extend(sum.to_le_bytes());
        out.extend(stored);
        self.blocks += 1;
        self.records.clear();
    }
}

fn payload(records: &[Record]) -> Vec<u8> {
    let mut before = records.first().map_or(0, |r| r.time);
    let mut times: Vec<u64> = Vec::with_capacity(records.len());
    for r in records {
        // Times never decrease in a trace that is written.
        times.push(r.time.saturating_sub(before));
        before = r.time;
    }
    let exponent = (0..TENS.len()).rev().find(|e| times.iter().all(|t| t.is_multiple_of(TENS[*e])));
    let exponent = exponent.unwrap_or(0);
    times.iter_mut().for_each(|t| *t /= TENS[exponent]);
    let shift = records.iter().fold(0, |all, r| all | r.offset | r.bytes).trailing_zeros() % 64;
    let (mut differences, mut plain) = (Vec::new(), Vec::new());
    let mut end = 0;
    for r in records {
        let offset = if r.op == HostOp::Flush { end } else { r.offset >> shift };
        differences.push(zigzag(offset.wrapping_sub(end) as i64));
        plain.push(r.offset >> shift);
        end = offset + (r.bytes >> shift);
    }
    let is_plain = grouped_bytes(&plain) < grouped_bytes(&differences);
    let column = |value: fn(&Record) -> u64| records.iter().map(value).collect::<Vec<u64>>();
    let sizes: Vec<u64> = records.iter().map(|r| r.bytes >> shift).collect();
    let mut out = vec![exponent as u8, shift as u8, is_plain as u8];
    write_column(&times, &mut out);
    write_column(if is_plain { &plain } else { &differences }, &mut out);
    write_column(&sizes, &mut out);
    write_column(&column(kind), &mut out);
    write_column(&column(|r| r.volume as u64), &mut out);
    out
}

/// The kind of a request as one number.
fn kind(r: &Record) -> u64 {
    let fua = if r.attributes.is_fua() { FUA } else { 0 };
    let (hint, stream) = (r.attributes.hint() as u64, r.attributes.stream() as u64);
    r.op as u64 | fua | hint << HINT_SHIFT | stream << STREAM_SHIFT
}

/// Whether a number is the kind of a request.
#[inline]
fn is_kind(kind: u64, version: u32) -> bool {
    let (base, past) = (kind & 7, PAST_KIND[version as usize - 1]);
    let writes = base & !FUA == HostOp::Write as u64;
    let fits = if kind >> STREAM_SHIFT > 0 { writes } else { base < 3 || writes };
    kind < past && fits || kind == HostOp::Flush as u64
}

impl RecordWriter for Packer {
    fn begin(&mut self, volumes: &[String], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend((volumes.len() as u32).to_le_bytes());
        for name in volumes {
            let name = &name.as_bytes()[..name.len().min(LONGEST_NAME)];
            out.extend((name.len() as u16).to_le_bytes());
            out.extend(name);
        }
        let sum = XxHash3_64::oneshot(&out[start..]);
        out.extend(sum.to_le_bytes());
        self.volumes = vec![(0, 0); volumes.len()];
    }

    fn write(&mut self, r: &Record, _volumes: &[String], out: &mut Vec<u8>) {
        if self.requests == 0 {
            self.first = r.time;
        }
        self.last = r.time;
        self.requests += 1;
        self.kinds[r.op as usize] += 1;
        self.fua += u64::from(r.attributes.is_fua());
        if let Some(volume) = self.volumes.get_mut(r.volume as usize) {
            *volume = (volume.0 + 1, volume.1.max(r.offset + r.bytes));
        }
        self.records.push(*r);
        if self.records.len() == MOST {
            self.block(out);
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.block(out);
        let start = out.len();
        out.extend(END);
        out.extend((self.volumes.len() as u32).to_le_bytes());
        let [reads, writes, trims, flushes] = self.kinds;
        for n in [self.blocks, self.requests, self.first, self.last, reads, writes, trims, flushes, self.fua]
        {
            out.extend(n.to_le_bytes());
        }
        for (requests, end) in &self.volumes {
            out.extend(requests.to_le_bytes());
            out.extend(end.to_le_bytes());
        }
        let sum = XxHash3_64::oneshot(&out[start..]);
        out.extend(sum.to_le_bytes());
    }
}

// Unpacking.

/// Appends `values` values of `width` bits; `bytes` has them and [`MARGIN`] more.
#[inline]
fn unpack(bytes: &[u8], width: u32, values: usize, out: &mut Vec<u64>) {
    if width == 0 {
        out.resize(out.len() + values, 0);
        return;
    }
    let mask = u64::MAX >> (64 - width);
    let width = width as usize;
    out.extend((0..values).map(|n| {
        let bit = n * width;
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[bit / 8..bit / 8 + 8]);
        u64::from_le_bytes(word) >> (bit % 8) & mask
    }));
}

/// A payload being read; behind it lie [`MARGIN`] bytes.
struct Payload<'a>(&'a [u8]);

const SHORT: &str = "the payload ends within a column";

impl Payload<'_> {
    fn take(&mut self, bytes: usize) -> Result<&[u8], &'static str> {
        if self.0.len() < bytes + MARGIN {
            return Err(SHORT);
        }
        let taken = &self.0[..bytes + MARGIN];
        self.0 = &self.0[bytes..];
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, &'static str> {
        Ok(self.take(1)?[0])
    }

    fn column(&mut self, values: usize, out: &mut Vec<u64>) -> Result<(), &'static str> {
        out.clear();
        match self.byte()? {
            0 => {
                while out.len() < values {
                    let width = self.byte()? as u32;
                    if width > WIDEST && width != 64 {
                        return Err("a group of values has a width between 56 and 64 bits, or beyond");
                    }
                    let group = GROUP.min(values - out.len());
                    unpack(self.take(packed_bytes(group, width))?, width, group, out);
                }
                Ok(())
            }
            1 => {
                let entries = self.byte()? as usize + 1;
                let named: Vec<u64> =
                    self.take(entries * 8)?[..entries * 8].chunks_exact(8).map(|e| u64_at(e, 0)).collect();
                let width = bits(entries as u64 - 1);
                unpack(self.take(packed_bytes(values, width))?, width, values, out);
                for value in out {
                    *value = *named.get(*value as usize).ok_or("a value is none of its column's entries")?;
                }
                Ok(())
            }
            _ => Err("a column is packed in a way that is not known"),
        }
    }
}

/// What the header says that a block must keep to.
#[derive(Clone, Copy)]
struct Known {
    version: u32,
    volumes: usize,
}

/// The columns of a block.
#[derive(Default)]
struct Block {
    times: Vec<u64>,
    offsets: Vec<u64>,
    sizes: Vec<u64>,
    kinds: Vec<u64>,
    volumes: Vec<u64>,
}

impl Block {
    fn read(&mut self, payload: &[u8], values: usize, first: u64, known: Known) -> Result<(), &'static str> {
        let mut p = Payload(payload);
        let (exponent, shift, way) = (p.byte()? as usize, p.byte()? as u32, p.byte()?);
        let unit = *TENS.get(exponent).ok_or("the unit of time is longer than a second")?;
        p.column(values, &mut self.times)?;
        p.column(values, &mut self.offsets)?;
        p.column(values, &mut self.sizes)?;
        p.column(values, &mut self.kinds)?;
        p.column(values, &mut self.volumes)?;
        if p.0.len() != MARGIN {
            return Err("the payload goes on behind its columns");
        }
        if shift > 63 || way > 1 {
            return Err("the offsets are shifted or counted in a way that is not known");
        }
        let mut time = first;
        for value in &mut self.times {
            let step = value.checked_mul(unit).and_then(|step| time.checked_add(step));
            time = step.ok_or("a time is beyond 2^64 ns")?;
            *value = time;
        }
        let mut end = 0u64;
        let mut lost = 0;
        for (offset, size) in self.offsets.iter_mut().zip(&mut self.sizes) {
            let at = if way == 1 { *offset } else { end.wrapping_add(unzigzag(*offset) as u64) };
            // What is shifted out at the top was no address.
            lost |= (at << shift >> shift) ^ at | (*size << shift >> shift) ^ *size;
            end = at.wrapping_add(*size);
            *offset = at << shift;
            *size <<= shift;
        }
        if lost != 0 {
            return Err("an offset or a length is beyond 2^64 bytes");
        }
        let fits = self.kinds.iter().all(|k| is_kind(*k, known.version));
        if !fits || !self.volumes.iter().all(|v| *v < known.volumes as u64) {
            return Err("a request is of a kind or on a volume that there is not");
        }
        Ok(())
    }

    #[inline]
    fn record(&self, n: usize) -> Option<Record> {
        let kind = *self.kinds.get(n)?;
        Some(Record {
            time: *self.times.get(n)?,
            offset: *self.offsets.get(n)?,
            bytes: *self.sizes.get(n)?,
            op: KINDS[kind as usize & 3],
            attributes: Attributes::NONE
                .with_fua(kind & FUA != 0)
                .with_hint(LatencyHint::ALL[(kind >> HINT_SHIFT) as usize & 3])
                .with_stream((kind >> STREAM_SHIFT) as u8),
            volume: *self.volumes.get(n)? as u16,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Header,
    Blocks,
    /// Behind the footer, or where reading had to stop.
    Over,
}

/// A file being read.
struct Columns {
    window: Window,
    stage: Stage,
    version: u32,
    block: Block,
    /// The next request of the block.
    next: usize,
    /// Byte of the file at which the thing last returned begins: its block, for a request.
    at: u64,
    blocks: u64,
    requests: u64,
    /// Requests of damaged blocks, which have been reported.
    lost: u64,
    volumes: Volumes,
    /// The numbers of the header's volumes, which may repeat a name.
    numbers: Vec<u16>,
    payload: Vec<u8>,
    decompressor: Option<zstd::bulk::Decompressor<'static>>,
}

impl Columns {
    fn open(input: Input) -> Columns {
        Columns {
            window: Window::new(input),
            stage: Stage::Header,
            version: VERSION,
            block: Block::default(),
            next: 0,
            at: 0,
            blocks: 0,
            requests: 0,
            lost: 0,
            volumes: Volumes::default(),
            numbers: Vec::new(),
            payload: Vec::new(),
            decompressor: None,
        }
    }

    /// The names, or why the file cannot be read.
    fn header(&mut self) -> io::Result<Result<(), String>> {
        let cut = || Ok(Err("the file ends within its header".to_string()));
        let mut hasher = XxHash3_64::with_seed(0);
        let mut add = |bytes: &[u8]| std::hash::Hasher::write(&mut hasher, bytes);
        let head = self.window.at_least(16)?;
        if head.len() < 16 {
            return cut();
        }
        let (version, volumes) = (u32_at(head, 8), u32_at(head, 12));
        if head[..8] != MAGIC[..] || !READ.contains(&version) {
            return Ok(Err(format!(
                "version {version} of the format is not known, but versions 1 to {VERSION} are"
            )));
        }
        self.version = version;
        add(&head[..16]);
        self.window.skip(16);
        for _ in 0..volumes {
            let head = self.window.at_least(2 + LONGEST_NAME)?;
            let length = u32_at(head, 0) as u16 as usize;
            if head.len() < 2 + length || length > LONGEST_NAME {
                return cut();
            }
            add(&head[..2 + length]);
            match self.volumes.number_of(&head[2..2 + length]) {
                Ok(number) => self.numbers.push(number),
                Err(reason) => return Ok(Err(reason)),
            }
            self.window.skip(2 + length);
        }
        let sum = self.window.at_least(8)?;
        if sum.len() < 8 {
            return cut();
        }
        if u64_at(sum, 0) != std::hash::Hasher::finish(&hasher) {
            return Ok(Err("the header is damaged: its sum differs".to_string()));
        }
        self.window.skip(8);
        Ok(Ok(()))
    }

    /// Reads the next block or the footer; what is wrong with it, if anything.
    fn advance(&mut self) -> io::Result<Option<String>> {
        self.at = self.window.offset();
        self.next = 0;
        self.block.kinds.clear();
        let content = self.window.at_least(BLOCK_HEADER + LARGEST)?;
        // Whatever is wrong with the bounds of a block, what follows cannot be found.
        self.stage = Stage::Over;
        if content.starts_with(END) {
            return self.footer();
        }
        let Some(head) = content.get(..BLOCK_HEADER).filter(|h| h.starts_with(BLOCK)) else {
            let left = content.len();
            let tag = &content[..left.min(4)];
            let is_cut = left < BLOCK_HEADER && (BLOCK.starts_with(tag) || END.starts_with(tag));
            return Ok(Some(if is_cut {
                self.truncated("before its footer")
            } else {
                self.rest_is_lost("there is neither a block nor the footer here")
            }));
        };
        let (requests, raw, stored) = (u32_at(head, 4), u32_at(head, 8) as usize, u32_at(head, 12) as usize);
        let first = u64_at(head, 16);
        let bounds = 1..=MOST;
        if XxHash3_64::oneshot(&head[..32]) != u64_at(head, 32)
            || !bounds.contains(&(requests as usize))
            || raw > LARGEST
            || stored > raw
        {
            return Ok(Some(self.rest_is_lost("the header of a block is damaged")));
        }
        let Some(payload) = content.get(BLOCK_HEADER..BLOCK_HEADER + stored) else {
            return Ok(Some(self.truncated("within a block")));
        };
        self.stage = Stage::Blocks;
        let sound = XxHash3_64::oneshot(payload) == u64_at(head, 24);
        let outcome = if !sound {
            Err("its sum differs")
        } else {
            self.payload.resize(raw + MARGIN, 0);
            let unpacked = if stored == raw {
                self.payload[..raw].copy_from_slice(payload);
                Ok(raw)
            } else {
                let decompressor = match &mut self.decompressor {
                    Some(decompressor) => decompressor,
                    none => none.insert(zstd::bulk::Decompressor::new()?),
                };
                decompressor.decompress_to_buffer(payload, &mut self.payload[..raw])
            };
            match unpacked {
                Ok(bytes) if bytes == raw => {
                    let known = Known { version: self.version, volumes: self.numbers.len() };
                    self.block.read(&self.payload, requests as usize, first, known)
                }
                _ => Err("its payload is no whole frame"),
            }
        };
        self.window.skip(BLOCK_HEADER + stored);
        self.blocks += 1;
        if let Err(reason) = outcome {
            self.block.kinds.clear();
            self.lost += requests as u64;
            let requests = grouped(requests as u64);
            return Ok(Some(format!("a block of {requests} requests is damaged: {reason}")));
        }
        Ok(None)
    }

    /// Whether the footer says what has been read; what is wrong with it, if anything.
    fn footer(&mut self) -> io::Result<Option<String>> {
        let mut hasher = XxHash3_64::with_seed(0);
        let counted = self.window.at_least(COUNTS)?;
        let Some(counted) = counted.get(..COUNTS) else {
            return Ok(Some(self.truncated("within its footer")));
        };
        let (volumes, blocks, requests) = (u32_at(counted, 4), u64_at(counted, 8), u64_at(counted, 16));
        std::hash::Hasher::write(&mut hasher, counted);
        self.window.skip(COUNTS);
        for _ in 0..volumes {
            let volume = self.window.at_least(16)?;
            let Some(volume) = volume.get(..16) else {
                return Ok(Some(self.truncated("within its footer")));
            };
            std::hash::Hasher::write(&mut hasher, volume);
            self.window.skip(16);
        }
        let sum = self.window.at_least(9)?;
        if sum.len() < 8 {
            return Ok(Some(self.truncated("within its footer")));
        }
        if u64_at(sum, 0) != std::hash::Hasher::finish(&hasher) {
            return Ok(Some("the footer is damaged: its sum differs".to_string()));
        }
        if sum.len() > 8 {
            return Ok(Some("the file goes on behind its footer".to_string()));
        }
        let read = self.requests + self.lost;
        if (blocks, requests) != (self.blocks, read) {
            return Ok(Some(format!(
                "the footer counts {} requests in {} blocks, and there are {} in {}",
                grouped(requests),
                grouped(blocks),
                grouped(read),
                grouped(self.blocks)
            )));
        }
        Ok(None)
    }

    #[cold]
    fn truncated(&self, within: &str) -> String {
        format!("the file ends {within}, after {} requests: it is truncated", grouped(self.requests))
    }

    #[cold]
    fn rest_is_lost(&self, what: &str) -> String {
        format!("{what}; what follows the first {} requests cannot be read", grouped(self.requests))
    }
}

impl RecordReader for Columns {
    #[inline]
    fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(mut record) = self.block.record(self.next) {
                self.next += 1;
                self.requests += 1;
                record.volume = self.numbers.get(record.volume as usize).copied().unwrap_or(0);
                return Ok(Some(record.checked().map_or_else(Event::Unusable, Event::Request)));
            }
            let fault = match self.stage {
                Stage::Over => return Ok(None),
                Stage::Blocks => self.advance()?,
                Stage::Header => {
                    let header = self.header()?;
                    self.stage = if header.is_ok() { Stage::Blocks } else { Stage::Over };
                    header.err()
                }
            };
            if let Some(reason) = fault {
                return Ok(Some(Event::Unusable(reason)));
            }
        }
    }

    fn position(&self) -> Position {
        Position::Byte(self.at)
    }

    fn volumes(&self) -> &Volumes {
        &self.volumes
    }
}

fn detect(sample: &Sample, _told: &Settings) -> Result<Detection, Miss> {
    if !sample.bytes.starts_with(MAGIC) {
        return Err(Miss::new(0, "it does not begin with WLTRACE"));
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
    use proptest::prelude::*;

    fn written(records: &[Record]) -> Vec<u8> {
        let (mut packer, mut out) = (Packer::default(), Vec::new());
        let volumes = ["a".to_string(), "b".to_string()];
        packer.begin(&volumes, &mut out);
        records.iter().for_each(|r| packer.write(r, &volumes, &mut out));
        packer.end(&mut out);
        out
    }

    /// The requests, and what cannot be used with its byte.
    fn read(content: Vec<u8>) -> (Vec<Record>, Vec<(u64, String)>) {
        let mut reader = Columns::open(Box::new(io::Cursor::new(content)));
        let (mut records, mut faults) = (Vec::new(), Vec::new());
        while let Some(event) = reader.next().unwrap() {
            let Position::Byte(at) = reader.position() else { panic!() };
            match event {
                Event::Request(r) => records.push(r),
                Event::Unusable(reason) => faults.push((at, reason)),
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

    proptest! {
        #[test]
        fn any_column_is_unpacked_as_it_was_packed(
            values in prop::collection::vec(
                prop_oneof![Just(0u64), 0u64..5, 0u64..1 << 20, any::<u64>()], 1..600),
            few in prop::collection::vec(0u64..3, 1..600),
        ) {
            for column in [values, few.iter().map(|n| n * 1_000_003).collect()] {
                let mut packed = Vec::new();
                write_column(&column, &mut packed);
                prop_assert!(packed.len() <= column.len() * 8 + column.len().div_ceil(GROUP) + 1);
                packed.extend([0xff; MARGIN]);
                let (mut payload, mut out) = (Payload(&packed), Vec::new());
                payload.column(column.len(), &mut out).unwrap();
                prop_assert_eq!(payload.0.len(), MARGIN);
                prop_assert_eq!(out, column);
            }
        }
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
            r(u64::MAX, 1 << 61, crate::formats::record::LONGEST_TRIM, HostOp::Trim, 1),
        ];
        assert_eq!(read(written(&records)), (records.to_vec(), vec![]));
    }

    /// The file as an earlier version would have it.
    fn as_version(version: u8, mut content: Vec<u8>) -> Vec<u8> {
        content[8] = version;
        let end = 16 + 2 * (2 + 1);
        let sum = XxHash3_64::oneshot(&content[..end]);
        content[end..end + 8].copy_from_slice(&sum.to_le_bytes());
        content
    }

    #[test]
    fn earlier_versions_are_read_and_have_no_streams_and_the_first_no_hints() {
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
            assert!(faults[0].1.contains("of a kind"), "{faults:?}");
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
        // Of writes only, with and without FUA: eight kinds a stream.
        let streams = kinds(3).split_off(hinted.len());
        assert_eq!(streams.len(), 31 * 8);
        assert_eq!((streams[0], streams[8], streams[31 * 8 - 1]), (33, 65, 1021));
    }

    #[test]
    fn a_file_cut_anywhere_gives_whole_blocks_and_says_that_it_is_truncated() {
        let all = some(MOST as u64 + 40);
        let content = written(&all);
        let second = content.windows(4).rposition(|w| w == BLOCK).unwrap();
        for cut in (0..content.len()).filter(|c| *c < 300 || *c > second - 20 || c % 97 == 0) {
            let (records, faults) = read(content[..cut].to_vec());
            assert_eq!(faults.len(), 1, "cut at {cut}: {faults:?}");
            assert!(
                faults[0].1.contains("ends") || faults[0].1.contains("known"),
                "cut at {cut}: {faults:?}"
            );
            assert_eq!(records, all[..records.len()], "cut at {cut}");
            let whole = if cut < second { 0..=MOST } else { MOST..=all.len() };
            assert!(whole.contains(&records.len()), "cut at {cut}");
        }
    }

    #[test]
    fn any_byte_that_changed_is_noticed_and_makes_no_request() {
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
    fn a_damaged_block_costs_its_own_requests_and_no_others() {
        let all = some(2 * MOST as u64);
        let mut content = written(&all);
        let first = content.windows(4).position(|w| w == BLOCK).unwrap();
        content[first + BLOCK_HEADER + 100] ^= 1;
        let (records, faults) = read(content);
        assert_eq!(records, all[MOST..]);
        let want = "a block of 4,096 requests is damaged: its sum differs".to_string();
        assert_eq!(faults, [(first as u64, want)]);
    }
}
