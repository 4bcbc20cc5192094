//! Reads a file block by block. Damage is detected and skipped.

use crate::formats::wordline::layout::{
    BLOCK, BLOCK_HEADER, COUNTS, END, FUA, GROUP, HINT_SHIFT, KINDS, LARGEST, LONGEST_NAME, MAGIC, MARGIN,
    MOST, READ, STREAM_SHIFT, VERSION, WIDEST, is_kind, u32_at, u64_at,
};
use crate::formats::wordline::packing::{bits, packed_bytes, unpack, unzigzag};
use crate::reading::record::{Event, Input, Position, Record, RecordReader};
use crate::reading::records::Window;
use crate::reading::volumes::Volumes;
use crate::source::frame::FrameDecoder;
use crate::text::numbers::{TENS, grouped};
use std::io;
use twox_hash::XxHash3_64;
use wordline_units::{Attributes, LatencyHint};

/// A payload being read, followed by [`MARGIN`] bytes.
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
                        return Err("a group of values has an invalid width above 56 bits");
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
                    *value = *named.get(*value as usize).ok_or(
                        "a value is not in the dictionary of its \
                                                                column",
                    )?;
                }
                Ok(())
            }
            _ => Err("a column has an unknown encoding"),
        }
    }
}

/// Limits from the header that a block must obey.
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
            return Err("trailing data after the columns of the payload");
        }
        if shift > 63 || way > 1 {
            return Err("the offsets have an unknown encoding");
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
            // Bits lost at the top mean that this was not a valid address.
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
            return Err("a request has an unknown operation or volume");
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
    /// After the footer, or where reading had to stop.
    Over,
}

/// A file being read.
pub(crate) struct Columns {
    window: Window,
    stage: Stage,
    version: u32,
    block: Block,
    /// Index of the next request of the block.
    next: usize,
    /// Start of the item last returned, as a byte of the file; for a request, the start of its block.
    at: u64,
    blocks: u64,
    requests: u64,
    /// Number of requests in damaged blocks, which have been reported.
    lost: u64,
    volumes: Volumes,
    /// Volume numbers of the header's names, which may repeat a name.
    numbers: Vec<u16>,
    payload: Vec<u8>,
    decoder: FrameDecoder,
}

impl Columns {
    pub(crate) fn open(input: Input) -> Columns {
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
            decoder: FrameDecoder::default(),
        }
    }

    /// Reads the names, or returns why the file cannot be read.
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
            return Ok(Err(format!("unsupported format version {version}; allowed: 1 to {VERSION}")));
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
            return Ok(Err("the header is damaged: checksum mismatch".to_string()));
        }
        self.window.skip(8);
        Ok(Ok(()))
    }

    /// Reads the next block or the footer. Returns what is wrong with it, if anything.
    fn advance(&mut self) -> io::Result<Option<Event>> {
        self.at = self.window.offset();
        self.next = 0;
        self.block.kinds.clear();
        let content = self.window.at_least(BLOCK_HEADER + LARGEST)?;
        // If the limits of a block are wrong, what follows cannot be found.
        self.stage = Stage::Over;
        if content.starts_with(END) {
            return Ok(self.footer()?.map(|(lost, reason)| Event::Lost(Some(lost), reason)));
        }
        let Some(head) = content.get(..BLOCK_HEADER).filter(|h| h.starts_with(BLOCK)) else {
            let left = content.len();
            let tag = &content[..left.min(4)];
            let is_cut = left < BLOCK_HEADER && (BLOCK.starts_with(tag) || END.starts_with(tag));
            let (lost, reason) = match tag.first() {
                _ if !is_cut => (None, self.rest_is_lost("neither a block nor the footer found here")),
                Some(of_block) if *of_block == BLOCK[0] => (None, self.truncated("within a block")),
                Some(_) => (Some(0), self.cut_in_footer()),
                None => {
                    let cut = self.truncated("before its footer");
                    (Some(0), format!("{cut}; only the footer says whether more followed"))
                }
            };
            return Ok(Some(Event::Lost(lost, reason)));
        };
        let (requests, raw, stored) = (u32_at(head, 4), u32_at(head, 8) as usize, u32_at(head, 12) as usize);
        let first = u64_at(head, 16);
        let bounds = 1..=MOST;
        if XxHash3_64::oneshot(&head[..32]) != u64_at(head, 32)
            || !bounds.contains(&(requests as usize))
            || raw > LARGEST
            || stored > raw
        {
            return Ok(Some(Event::Lost(None, self.rest_is_lost("the header of a block is damaged"))));
        }
        let Some(payload) = content.get(BLOCK_HEADER..BLOCK_HEADER + stored) else {
            return Ok(Some(Event::Lost(None, self.truncated("within a block"))));
        };
        self.stage = Stage::Blocks;
        let sound = XxHash3_64::oneshot(payload) == u64_at(head, 24);
        let outcome = if !sound {
            Err("checksum mismatch")
        } else {
            self.payload.resize(raw + MARGIN, 0);
            let unpacked = if stored == raw {
                self.payload[..raw].copy_from_slice(payload);
                Some(raw)
            } else {
                self.decoder.read(payload, &mut self.payload[..raw])?
            };
            match unpacked {
                Some(bytes) if bytes == raw => {
                    let known = Known { version: self.version, volumes: self.numbers.len() };
                    self.block.read(&self.payload, requests as usize, first, known)
                }
                _ => Err("its payload is an incomplete frame"),
            }
        };
        self.window.skip(BLOCK_HEADER + stored);
        self.blocks += 1;
        if let Err(reason) = outcome {
            self.block.kinds.clear();
            self.lost += requests as u64;
            let named = grouped(requests as u64);
            let reason = format!("a block of {named} requests is damaged: {reason}");
            return Ok(Some(Event::Lost(Some(requests as u64), reason)));
        }
        Ok(None)
    }

    /// Compares the footer with what has been read. Returns what is wrong, if anything,
    /// with the number of requests that are lost: none where only the footer is damaged, since it follows all blocks.
    fn footer(&mut self) -> io::Result<Option<(u64, String)>> {
        let mut hasher = XxHash3_64::with_seed(0);
        let counted = self.window.at_least(COUNTS)?;
        let Some(counted) = counted.get(..COUNTS) else {
            return Ok(Some((0, self.cut_in_footer())));
        };
        let (volumes, blocks, requests) = (u32_at(counted, 4), u64_at(counted, 8), u64_at(counted, 16));
        std::hash::Hasher::write(&mut hasher, counted);
        self.window.skip(COUNTS);
        for _ in 0..volumes {
            let volume = self.window.at_least(16)?;
            let Some(volume) = volume.get(..16) else {
                return Ok(Some((0, self.cut_in_footer())));
            };
            std::hash::Hasher::write(&mut hasher, volume);
            self.window.skip(16);
        }
        let sum = self.window.at_least(9)?;
        if sum.len() < 8 {
            return Ok(Some((0, self.cut_in_footer())));
        }
        if u64_at(sum, 0) != std::hash::Hasher::finish(&hasher) {
            return Ok(Some((0, "the footer is damaged: checksum mismatch".to_string())));
        }
        if sum.len() > 8 {
            return Ok(Some((0, "trailing data after the footer".to_string())));
        }
        let read = self.requests + self.lost;
        if (blocks, requests) != (self.blocks, read) {
            let what = format!(
                "the footer counts {} requests in {} blocks, but the file has {} in {}",
                grouped(requests),
                grouped(blocks),
                grouped(read),
                grouped(self.blocks)
            );
            return Ok(Some((requests.saturating_sub(read), what)));
        }
        Ok(None)
    }

    #[cold]
    fn truncated(&self, within: &str) -> String {
        format!("the file is truncated {within}, after {} requests", grouped(self.requests))
    }

    #[cold]
    fn cut_in_footer(&self) -> String {
        format!("{}, all there were", self.truncated("within its footer"))
    }

    #[cold]
    fn rest_is_lost(&self, what: &str) -> String {
        format!("{what}; only the first {} requests are readable", grouped(self.requests))
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
                    header.err().map(Event::Unusable)
                }
            };
            if fault.is_some() {
                return Ok(fault);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::wordline::packing::write_column;
    use proptest::prelude::*;

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
}
